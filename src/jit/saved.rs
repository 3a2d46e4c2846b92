//! Saved programs: [`Program::save`] and [`Program::load`].
//!
//! The graph's text is the program; `ndjit_formats::saved` is the container. Saved beside the text are the policy, the arrays that the
//! function captured, names, debug output and places. Options that do not change results, threads and device, are not saved. A program that
//! was saved and loaded has the same text, gives the same bits, and saves as the same bytes.
//!
//! Files are untrusted. Loading checks, in this order: the length; container and checksum; opset; text; the verifier; the policies, which
//! are built in; an estimate of memory; and that arguments, captured arrays, names and places are those of the graph. It takes time and
//! memory in proportion to the file, compiles nothing and runs nothing.

use crate::api::config::{Config, with_policy};
use crate::array::node::Array;
use crate::jit::program::Program;
use crate::jit::spec::Spec;
use crate::trace::print::Printing;
use crate::trace::recording::Recording;
use ndjit_eval::argument::{ArgumentLayout, ArgumentType};
use ndjit_formats::npy;
use ndjit_formats::replacement::Replacement;
use ndjit_formats::saved::{SavedArgument, SavedConstant, SavedPlace, SavedPrint, SavedProgram, damaged, failed};
use ndjit_ir::graph::{Graph, Identity, NodeId, NodeKind, NodeLoc, SourceLocs};
use ndjit_ir::opset::version;
use ndjit_ir::promotion::Policy;
use ndjit_ir::support::Supports;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc, ValueType, Weak};
use ndjit_runtime::Buffer;
use ndjit_transform::canonical::canonical_views;
use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

/// Limits for programs of strangers, checked while they are loaded: the length of the file, and the estimated memory of a call.
///
/// ```
/// use ndjit::{DType, ErrorCode, LoadLimits, Program, spec};
///
/// let bytes = Program::trace(&[spec(DType::F32, [1000])], |p| vec![p[0] * 2])?.to_bytes()?;
/// let small = LoadLimits::default().memory(1000);
/// assert_eq!(Program::from_bytes_within(&bytes, small).unwrap_err().code(), ErrorCode::Size);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadLimits {
    file: usize,
    memory: u64,
}

impl Default for LoadLimits {
    /// Files of 64 MiB, calls of 4 GiB.
    fn default() -> LoadLimits {
        LoadLimits { file: 64 << 20, memory: 4 << 30 }
    }
}

impl LoadLimits {
    /// Sets the largest length of a file in bytes: 64 MiB by default. Loading takes up to twelve times as much memory.
    ///
    /// ```
    /// use ndjit::{ErrorCode, LoadLimits, Program};
    ///
    /// let limits = LoadLimits::default().file(100);
    /// assert_eq!(Program::from_bytes_within(&[0; 101], limits).unwrap_err().code(), ErrorCode::Size);
    /// ```
    pub fn file(self, bytes: usize) -> LoadLimits {
        LoadLimits { file: bytes, ..self }
    }

    /// Sets the largest estimate of a call's memory in bytes, without its arguments: 4 GiB by default. The estimate is
    /// made from the shapes of the graph, before anything is compiled: every operation stores its result for as long as it
    /// is used, and takes 4 KiB itself. Fusion takes less: [`Program::memory`] is exact, and compiles the program.
    ///
    /// ```
    /// use ndjit::{DType, LoadLimits, Program, arange, spec};
    ///
    /// let text = "graph () {\n  %0 = iota axes [0] : i64[9000000000]\n  %1 = sum %0 axes [0] : i64[]\n  return %1\n}";
    /// let bytes = Program::parse(text)?.to_bytes()?;
    /// assert!(Program::from_bytes(&bytes).is_err());
    /// let program = Program::from_bytes_within(&bytes, LoadLimits::default().memory(1 << 40))?;
    /// assert_eq!(program.results()[0].to_string(), "i64[]");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn memory(self, bytes: u64) -> LoadLimits {
        LoadLimits { memory: bytes, ..self }
    }

    pub(super) fn check_length(self, length: u64) -> Result<()> {
        if length <= self.file as u64 {
            return Ok(());
        }
        Err(Error::new(ErrorCode::Size, format!("load: the program has {length} bytes, the limit is {}", self.file))
            .help(format!("if you trust it, raise the limit: `LoadLimits::default().file({length})`")))
    }

    fn check_memory(self, graph: &Graph<ValueType>) -> Result<()> {
        let (arrays, operations) = (graph.estimated_bytes(), graph.expanded() as u64);
        let bytes = operations.saturating_mul(OPERATION).saturating_add(arrays);
        if bytes <= self.memory {
            return Ok(());
        }
        let headline = format!("load: a call may take {bytes} bytes, the limit is {}", self.memory);
        Err(Error::new(ErrorCode::Size, headline)
            .fact(format_args!("arrays: {arrays} bytes; operations: {operations}, of {OPERATION} bytes each"))
            .help(format!("if you trust it, raise the limit: `LoadLimits::default().memory({bytes})`")))
    }
}

/// An upper bound on the memory of an operation in the stages, kernels and plan of a program.
const OPERATION: u64 = 4096;

impl Program {
    /// Saves the program as a file, by custom `.ndjit`, which replaces an existing one when it is complete. See
    /// [`to_bytes`](Program::to_bytes).
    ///
    /// ```
    /// use ndjit::{Array, DType, Program, spec};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-program-save-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("double.ndjit");
    /// Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?.save(&path)?;
    /// let program = Program::load(&path)?;
    /// assert_eq!(program.call([&Array::from([1.0f32, 2.0])])?[0].to_vec::<f32>()?, [2.0, 4.0]);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`to_bytes`](Program::to_bytes); `Io` if the file cannot be written.
    #[track_caller]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let place = SourceLoc::caller();
        write(path.as_ref(), self.encoded()).map_err(|e| e.at(place))
    }

    /// Returns the program as bytes for [`from_bytes`](Program::from_bytes): its graph, the arrays that the function
    /// [captured](Program::captured_bytes), its policy, names and places. Equal programs give equal bytes.
    ///
    /// `docs/compatibility.md` says which versions of ndjit read them.
    ///
    /// ```
    /// use ndjit::{Array, DType, Program, spec};
    ///
    /// let weights = Array::from([1.0f32, 10.0]);
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * &weights])?;
    /// let loaded = Program::from_bytes(&program.to_bytes()?)?;
    /// assert_eq!(loaded.call([&Array::from([1.0f32, 2.0])])?[0].to_vec::<f32>()?, [1.0, 20.0]);
    /// assert_eq!(loaded.to_bytes()?, program.to_bytes()?);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Promotion` if an operation has a policy that is not built in, which other processes lack; those of evaluating the
    /// captured arrays.
    #[track_caller]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let place = SourceLoc::caller();
        self.encoded().map_err(|e| e.at(place))
    }

    /// Loads a [saved](Program::save) program. The file may be a stranger's: see [`from_bytes`](Program::from_bytes).
    ///
    /// ```
    /// use ndjit::{ErrorCode, Program};
    ///
    /// assert_eq!(Program::load("no such file.ndjit").unwrap_err().code(), ErrorCode::Io);
    /// ```
    ///
    /// # Errors
    /// Those of [`from_bytes`](Program::from_bytes); `Io` if the file cannot be read.
    #[track_caller]
    pub fn load(path: impl AsRef<Path>) -> Result<Program> {
        Program::load_within(path, LoadLimits::default())
    }

    /// Loads a saved program within other limits.
    ///
    /// ```
    /// use ndjit::{DType, LoadLimits, Program, spec};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-program-load-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("double.ndjit");
    /// Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?.save(&path)?;
    /// let program = Program::load_within(&path, LoadLimits::default().memory(1 << 20))?;
    /// assert_eq!(program.results(), [spec(DType::F32, [2])]);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`load`](Program::load).
    #[track_caller]
    pub fn load_within(path: impl AsRef<Path>, limits: LoadLimits) -> Result<Program> {
        let place = SourceLoc::caller();
        read(path.as_ref(), limits, |bytes| Program::decoded(&bytes, limits)).map_err(|e| e.at(place))
    }

    /// Loads a program from the bytes of [`to_bytes`](Program::to_bytes).
    ///
    /// The bytes may be a stranger's: they are verified, nothing of them runs, and time and memory are in proportion to
    /// their number. The checksum finds damage; it is no signature. A program of more than 64 MiB, or of which a call may
    /// take more than 4 GiB, needs [other limits](Program::from_bytes_within). A call of a loaded program can take any time,
    /// as loops can: see [`with_cancellation`](crate::with_cancellation).
    ///
    /// ```
    /// use ndjit::{ErrorCode, Program};
    ///
    /// let error = Program::from_bytes(b"no program").unwrap_err();
    /// assert_eq!((error.code(), error.headline()), (ErrorCode::Io, "load: these bytes are no saved program"));
    /// ```
    ///
    /// # Errors
    /// `Io` for other bytes, for damaged ones, and for a format or an operation of a newer version, with what to do;
    /// `Parse` and `Verify` for an invalid graph; `Size` beyond a limit; `Allocation` if an allocation fails.
    #[track_caller]
    pub fn from_bytes(bytes: &[u8]) -> Result<Program> {
        Program::from_bytes_within(bytes, LoadLimits::default())
    }

    /// Loads a program from bytes within other limits.
    ///
    /// ```
    /// use ndjit::{DType, LoadLimits, Program, spec};
    ///
    /// let bytes = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?.to_bytes()?;
    /// let program = Program::from_bytes_within(&bytes, LoadLimits::default().file(1 << 10).memory(1 << 20))?;
    /// assert_eq!(program.inputs(), [spec(DType::F32, [2])]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`from_bytes`](Program::from_bytes).
    #[track_caller]
    pub fn from_bytes_within(bytes: &[u8], limits: LoadLimits) -> Result<Program> {
        let place = SourceLoc::caller();
        Program::decoded(bytes, limits).map_err(|e| e.at(place))
    }

    fn encoded(&self) -> Result<Vec<u8>> {
        self.content()?.encode()
    }

    /// The content of the file.
    pub(super) fn content(&self) -> Result<SavedProgram<'static>> {
        let Recording { graph, places, closed_over, printed, .. } = &*self.recording;
        let policy = self.settings().policy;
        if let Some(own) = graph.policies().into_iter().chain([policy]).find(|policy| !policy.is_built_in()) {
            let headline = format!("save: the policy `{}` is known to this process alone", own.name());
            return Err(Error::new(ErrorCode::Promotion, headline)
                .help("trace the program under a built-in policy: `Policy::ALL` lists them"));
        }
        let constants = closed_over.iter().map(|array| {
            let (dtype, mut bytes) = (array.dtype(), Vec::new());
            // Writing to a vector does not fail.
            let _ = npy::write_elements(&mut bytes, dtype, &array.to_bytes()?);
            Ok(SavedConstant { dtype, shape: array.shape().clone(), bytes: bytes.into() })
        });
        let names = self.argument_names();
        let arguments = self.arguments.iter().enumerate().map(|(n, argument)| SavedArgument {
            number: match (&argument.layout, argument.ty) {
                (ArgumentLayout::Scalar, ValueType::Weak(kind)) => Some(kind),
                _ => None,
            },
            name: names.get(n).cloned().unwrap_or_default().into(),
        });
        let needed = graph.needed_opset();
        let mut files: Vec<&'static str> = Vec::new();
        let places = saved_places(graph, places, &mut files);
        Ok(SavedProgram {
            opset: needed.opset,
            text: graph.to_string().into(),
            extents: Vec::new(),
            inputs: Vec::new(),
            policy: policy.to_string().into(),
            arguments: arguments.collect(),
            tree: self.tree().to_owned().into(),
            constants: constants.collect::<Result<Vec<_>>>()?,
            printed: printed.iter().map(saved_print).collect(),
            files: files.into_iter().map(Cow::Borrowed).collect(),
            places,
            operation: needed.operation.into(),
            least: version(needed.opset).unwrap_or_default().into(),
            writer: env!("CARGO_PKG_VERSION").into(),
        })
    }

    fn decoded(bytes: &[u8], limits: LoadLimits) -> Result<Program> {
        limits.check_length(bytes.len() as u64)?;
        let saved = SavedProgram::decode(bytes)?;
        if saved.extents.is_empty() {
            return Program::of_content(&saved, &saved.text, limits, None);
        }
        Err(failed(format!("its extents have names: {}", saved.extents.join(", ").escape_debug()))
            .help("it is for all sizes: load it as a `SymbolicProgram`"))
    }

    /// The program of a file's content and this text; captured arrays may be loaded before.
    pub(super) fn of_content(
        saved: &SavedProgram<'_>,
        text: &str,
        limits: LoadLimits,
        captured: Option<&[Array]>,
    ) -> Result<Program> {
        let mut graph: Graph<ValueType> = text.parse()?;
        if graph.whole().into_iter().any(is_expanded_by_saving) {
            return Err(damaged("it has calls or rules of derivatives, which are expanded"));
        }
        graph.check_expansion()?;
        let mut places = loaded_places(&graph, saved)?;
        if !saved.extents.is_empty() {
            (graph, places) = canonical_views(&graph, &places);
        }
        graph.verify()?;
        if graph.needed_opset().opset != saved.opset {
            return Err(damaged("its operations are of another opset"));
        }
        let policy: Policy = saved.policy.parse().map_err(|unknown| damaged(&format!("{unknown}")))?;
        if !graph.policies().into_iter().chain([policy]).all(Policy::is_built_in) {
            return Err(damaged("a policy is not built in"));
        }
        limits.check_memory(&graph)?;
        let arguments = with_policy(policy, || arguments(&graph, saved))?;
        let closed_over = closed_over(&graph, saved, captured)?;
        if saved.printed.len() > graph.outputs().len() {
            return Err(damaged("it prints more values than it has"));
        }
        let printed = saved.printed.iter().map(loaded_print).collect::<Result<Vec<_>>>()?;
        let names: Vec<String> = saved.arguments.iter().map(|argument| argument.name.clone().into_owned()).collect();
        let recording = Recording { graph, places, supports: Supports::default(), closed_over, printed };
        let program = Program::new(arguments, recording, Config { policy: Some(policy), ..Config::default() });
        let program = program.with_tree(&saved.tree);
        if names.iter().all(String::is_empty) {
            return Ok(program);
        }
        program.with_names(names).map_err(|error| damaged("its names do not fit").fact(error.headline()))
    }
}

/// Writes a file, which replaces an existing one when it is complete.
pub(super) fn write(path: &Path, bytes: Result<Vec<u8>>) -> Result<()> {
    let write = |bytes: Vec<u8>| {
        let replacement = Replacement::create(path).map_err(|e| e.unnamed().of("save"))?;
        let refused = |error: std::io::Error| Error::new(ErrorCode::Io, error.to_string()).of("save");
        let mut file = File::options().write(true).open(replacement.path()).map_err(refused)?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(refused)?;
        replacement.finish().map_err(|e| e.unnamed().of("save"))
    };
    bytes.and_then(write).map_err(|e: Error| e.in_file(path))
}

/// Reads a file within the limit of its length.
pub(super) fn read<R>(path: &Path, limits: LoadLimits, load: impl FnOnce(Vec<u8>) -> Result<R>) -> Result<R> {
    let read = || {
        let refused = |error: std::io::Error| failed(error.to_string()).help("name a file that you may read");
        let file = File::open(path).map_err(refused)?;
        limits.check_length(file.metadata().map_err(refused)?.len())?;
        let (mut bytes, most) = (Vec::new(), (limits.file as u64).saturating_add(1));
        // A pipe has no length.
        file.take(most).read_to_end(&mut bytes).map_err(refused)?;
        load(bytes)
    };
    read().map_err(|e: Error| e.in_file(path))
}

/// Whether a graph has what tracing has expanded.
fn is_expanded_by_saving(graph: &Graph<ValueType>) -> bool {
    let is_rule = |id: NodeId| matches!(graph.node(id).kind, NodeKind::Identity(Identity::Ruled(_)));
    !graph.children().is_empty() || graph.node_ids().any(is_rule)
}

/// The arguments: arrays are the first parameters of the graph, captured arrays the others.
fn arguments(graph: &Graph<ValueType>, saved: &SavedProgram<'_>) -> Result<Vec<ArgumentType>> {
    let mut params = graph.params().iter();
    let mut arguments = Vec::with_capacity(saved.arguments.len());
    for argument in &saved.arguments {
        arguments.push(match argument.number {
            Some(kind) => Spec::number(kind).argument()?,
            None => {
                let param = params.next().map(|&param| (param, graph.node(graph.producer(param)).kind));
                let Some((param, NodeKind::Param(_, dtype))) = param else {
                    return Err(damaged("it has fewer parameters than arguments"));
                };
                let (ty, shape) = (graph.ty(param), graph.shape(param).clone());
                shape.bytes(dtype.bytes())?;
                ArgumentType { ty, dtype, shape, layout: ArgumentLayout::Contiguous }
            }
        });
    }
    let kind = |index: usize| saved.arguments.get(index).and_then(|argument| argument.number);
    match graph.numbers().into_iter().find(|&(index, used): &(usize, Weak)| kind(index) != Some(used)) {
        Some((index, used)) => Err(damaged(&format!("its operations take a number {used} as argument {index}"))),
        None => Ok(arguments),
    }
}

/// The captured arrays: the last parameters of the graph.
fn closed_over(graph: &Graph<ValueType>, saved: &SavedProgram<'_>, captured: Option<&[Array]>) -> Result<Vec<Array>> {
    let arrays = saved.arguments.iter().filter(|argument| argument.number.is_none()).count();
    let params = graph.params().get(arrays..).unwrap_or_default();
    if params.len() != saved.constants.len() {
        return Err(damaged("it has not as many captured arrays as parameters for them"));
    }
    let array = |(n, (&param, constant)): (usize, (_, &SavedConstant<'_>))| {
        let stored = match graph.node(graph.producer(param)).kind {
            NodeKind::Param(_, stored) => Some(stored),
            _ => None,
        };
        if (stored, graph.shape(param)) != (Some(constant.dtype), &constant.shape) {
            return Err(damaged("a captured array is of another type or shape than its parameter"));
        }
        if let Some(array) = captured.and_then(|arrays| arrays.get(n)).filter(|a| a.value_type() == graph.ty(param)) {
            return Ok(array.clone());
        }
        let mut buffer = Buffer::from_bytes(&constant.bytes)?;
        npy::elements(constant.dtype, buffer.as_bytes_mut()?)?;
        Ok(Array::concrete(graph.ty(param), constant.dtype, constant.shape.clone(), Arc::new(buffer)))
    };
    params.iter().zip(&saved.constants).enumerate().map(array).collect()
}

fn saved_print(print: &Printing) -> SavedPrint<'static> {
    let SourceLoc { file, line, column } = print.place;
    SavedPrint { label: print.label.to_string().into(), file: file.into(), line, column }
}

fn loaded_print(saved: &SavedPrint<'_>) -> Result<Printing> {
    // Labels of strangers go to terminals.
    if saved.label.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(damaged("a label that is printed has control characters"));
    }
    let place = place(&saved.file, saved.line, saved.column).unwrap_or(UNKNOWN);
    Ok(Printing { label: (&*saved.label).into(), place })
}

/// The place of a print whose file's name is not kept.
const UNKNOWN: SourceLoc = SourceLoc { file: "<saved>", line: 1, column: 1 };

/// A place in a file of any name. Names with control characters, which errors would print, are not kept.
fn place(file: &str, line: u32, column: u32) -> Option<SourceLoc> {
    let file = Some(file).filter(|file| !file.chars().any(char::is_control)).and_then(SourceLoc::file)?;
    Some(SourceLoc { file, line, column })
}

/// The places of each block's nodes, if there are any. Adds their files.
fn saved_places<'a>(
    graph: &Graph<ValueType>,
    places: &SourceLocs,
    files: &mut Vec<&'static str>,
) -> Vec<Vec<SavedPlace<'a>>> {
    let mut numbers = rustc_hash::FxHashMap::default();
    let mut number = |file: &'static str| {
        *numbers.entry(file).or_insert_with(|| {
            files.push(file);
            files.len() as u32 - 1
        })
    };
    let blocks = graph.blocks();
    let of_block = |(block, places): (&ndjit_ir::graph::GraphBlock<'_, ValueType>, Arc<SourceLocs>)| {
        let mut saved = Vec::new();
        for id in block.graph.node_ids() {
            for NodeLoc { place: SourceLoc { file, line, column }, slope_of } in places.written(id) {
                let slope = slope_of.unwrap_or_default().into();
                saved.push(SavedPlace { node: id.0, file: number(file), line, column, slope });
            }
        }
        saved
    };
    let saved: Vec<Vec<SavedPlace<'a>>> = blocks.iter().zip(graph.block_places(places)).map(of_block).collect();
    if saved.iter().all(Vec::is_empty) { Vec::new() } else { saved }
}

fn loaded_places(graph: &Graph<ValueType>, saved: &SavedProgram<'_>) -> Result<SourceLocs> {
    if saved.places.is_empty() {
        return Ok(SourceLocs::default());
    }
    let blocks = graph.blocks();
    if blocks.len() != saved.places.len() {
        return Err(damaged("its places are of another graph"));
    }
    let mut loaded: Vec<Arc<SourceLocs>> = Vec::with_capacity(blocks.len());
    for (block, places) in blocks.iter().zip(&saved.places) {
        let mut own = SourceLocs::default();
        for SavedPlace { node, file, line, column, slope } in places {
            let Some(file) = saved.files.get(*file as usize).filter(|_| (*node as usize) < block.graph.node_count())
            else {
                return Err(damaged("its places are of another graph"));
            };
            let slope_of = NodeKind::<ValueType>::word(slope);
            if slope_of.is_none() && !slope.is_empty() {
                return Err(damaged("a place is of the slope of an unknown operation"));
            }
            if let Some(place) = place(file, *line, *column) {
                own.note(NodeId(*node), NodeLoc { place, slope_of });
            }
        }
        for (n, graphs) in block.controls.iter().enumerate() {
            let graphs = graphs.iter().map(|&number| loaded.get(number).cloned().unwrap_or_default());
            own.set_control(n as u32, graphs.collect());
        }
        loaded.push(Arc::new(own));
    }
    Ok(loaded.pop().map(Arc::unwrap_or_clone).unwrap_or_default())
}
