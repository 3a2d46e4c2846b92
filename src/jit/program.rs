//! [`Program`]: a traced function with any number of arguments, without Rust types, for front ends.
//!
//! A program has one signature. It runs the recorded graph, with a plan for each memory layout of the arguments.

use crate::api::config::{self, Config, Settings};
use crate::array::node::Array;
use crate::jit::compiled::unexpected;
use crate::jit::erased::{self, Core};
use crate::jit::input::{Arg, Destinations, Input, Sinks, known};
use crate::jit::lowering::lower;
use crate::jit::output::Collected;
use crate::jit::spec::Spec;
use crate::jit::stage::Stage;
use crate::jit::staged;
use crate::trace::expr::Expr;
use crate::trace::recorder;
use crate::trace::recording::Recording;
use crate::trace::replay;
use ndjit_codegen::Lowered;
use ndjit_codegen::pipeline::inlined;
use ndjit_eval::argument::{self, ArgumentLayout, ArgumentType};
use ndjit_eval::plan::compiled::{Lengths, Plan};
use ndjit_inspect::clock::Clock;
use ndjit_inspect::explain::{self, Explanation};
use ndjit_inspect::listing::Inspection;
use ndjit_ir::graph::{Graph, NodeKind, SourceLocs};
use ndjit_ir::support::{Device, Supports};
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc, ValueType};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A function of any number of arrays and numbers, traced for one signature from a closure over a slice of [`Expr`]s,
/// or parsed from the text of a graph. For front ends, whose functions are not written in Rust; otherwise
/// [`jit`](fn@crate::jit) is simpler.
///
/// ```
/// use ndjit::{Array, DType, Program, spec};
///
/// let specs = [spec(DType::F32, [3]), spec(DType::I8, [])];
/// let program = Program::trace(&specs, |p| vec![p[0] + p[1] * 2])?;
/// let (x, y) = (Array::from([1.0f32, 2.0, 3.0]), Array::from(10i8));
/// let results = program.call([&x, &y])?;
/// assert_eq!(results[0].to_vec::<f32>()?, [21.0, 22.0, 23.0]);
///
/// // The text of a graph is a program too.
/// let same = Program::parse(&program.to_string())?;
/// assert_eq!(same.to_string(), program.to_string());
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// A program keeps the promotion policy of the thread that traced it. `Display` writes the graph, as [`Stage::Graph`]
/// without places.
pub struct Program {
    pub(super) core: Core,
    pub(super) recording: Arc<Recording>,
    pub(super) arguments: Arc<[ArgumentType]>,
    /// The names of all arguments, or none.
    pub(super) names: Arc<[String]>,
    /// The structure of arguments and results, for front ends.
    pub(super) tree: Arc<str>,
}

impl Program {
    /// Traces a function for arguments of these types, without data. Numbers that change from call to call are
    /// [`Spec::number`]; captured arrays become closed-over constants.
    ///
    /// ```
    /// use ndjit::{DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert_eq!(program.results(), [spec(DType::F32, [2])]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error of the function, with its place (see [`with_place`](crate::with_place)); `Size` if no array can
    /// have the shape.
    #[track_caller]
    pub fn trace(specs: &[Spec], function: impl FnOnce(&[Expr]) -> Vec<Expr>) -> Result<Program> {
        let place = SourceLoc::caller();
        let arguments: Result<Vec<ArgumentType>> = specs.iter().map(Spec::argument).collect();
        let arguments = arguments.map_err(|e| e.at(place))?;
        let params: Vec<_> = arguments.iter().map(erased::param).collect();
        let recording = recorder::record(None, &params, Some(place), |params, outputs| *outputs = function(params));
        let recording = recording.map_err(|failure| failure.error.at(place))?;
        let (graph, places) = inlined(&recording.graph, &recording.places)?;
        Ok(Program::new(arguments, Recording { graph, places, ..recording }, configured()))
    }

    /// Parses the text of a graph, in the format of [`Stage::Graph`] and `.graph` files. Array parameters are arguments
    /// in their order. A number passed at each call, `argument 1`, is the argument at that index.
    ///
    /// ```
    /// use ndjit::{Array, Program};
    ///
    /// let text = "graph (%0: f32[2]) {\n  %1 = literal #0 2 : i*[]\n  %2 = multiply %0, %1 : f32[2]\n  return %2\n}";
    /// let results = Program::parse(text)?.call([&Array::from([1.5f32, 2.0])])?;
    /// assert_eq!(results[0].to_vec::<f32>()?, [3.0, 4.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Parse` with line and column for invalid text; `Verify` for types and shapes that do not fit.
    #[track_caller]
    pub fn parse(text: &str) -> Result<Program> {
        let place = SourceLoc::caller();
        let program = || {
            let graph: Graph<ValueType> = text.parse()?;
            // Limits the memory of the expanded graph before the expansion.
            graph.check_expansion()?;
            graph.verify()?;
            let (graph, places) = inlined(&graph, &SourceLocs::default())?;
            let arguments = arguments_of(&graph)?;
            let recording = Recording {
                graph,
                places,
                supports: Supports::default(),
                closed_over: Vec::new(),
                printed: Vec::new(),
            };
            Ok(Program::new(arguments, recording, configured()))
        };
        program().map_err(|e: Error| e.at(place))
    }

    /// Returns the number of operations in the text of a graph after expansion, including parameters and literals. A
    /// function counts once for each of its calls, a graph of control flow once for each occurrence. The memory of
    /// [`parse`](Program::parse) depends on it, so check it before the call. The number saturates at `usize::MAX`.
    ///
    /// ```
    /// use ndjit::Program;
    ///
    /// assert_eq!(Program::count_operations("graph (%0: f32[2]) {\n  %1 = sin %0 : f32[2]\n  return %1\n}")?, 2);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Parse` with line and column for invalid text.
    #[track_caller]
    pub fn count_operations(text: &str) -> Result<usize> {
        let graph: Result<Graph<ValueType>> = text.parse();
        Ok(graph.map_err(|e| e.at(SourceLoc::caller()))?.expanded())
    }

    pub(super) fn new(arguments: Vec<ArgumentType>, recording: Recording, config: Config) -> Program {
        let recording = Arc::new(recording);
        let (arity, recorded) = (arguments.len(), Arc::clone(&recording));
        let function = move |params: &Collected| Collected {
            exprs: replay::replay(&recorded, &params.exprs),
            ..Collected::default()
        };
        Program {
            core: Core::new((arity, Lengths::new()), config, ("program", SourceLoc::caller()), Arc::new(function)),
            recording,
            arguments: arguments.into(),
            names: Arc::default(),
            tree: Arc::default(),
        }
    }

    fn configured(self, change: impl FnOnce(&mut Config)) -> Program {
        let mut config = self.core.config;
        change(&mut config);
        Program { core: self.core.with(config), ..self }
    }

    /// Sets the maximum number of threads, like [`Jitted::threads`](crate::Jitted::threads).
    ///
    /// ```
    /// use ndjit::{Array, DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert_eq!(program.threads(1).call([&Array::from([1.0f32, 2.0])])?[0].to_vec::<f32>()?, [2.0, 4.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn threads(self, threads: usize) -> Program {
        self.configured(|c| c.threads = Some(threads.max(1)))
    }

    /// Runs the program on a device, regardless of the device of its arguments. The results stay there.
    ///
    /// ```
    /// use ndjit::{Array, DType, Device, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert_eq!(program.on(Device::CPU).call([&Array::from([1.0f32, 2.0])])?[0].device(), Device::CPU);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn on(self, device: Device) -> Program {
        self.configured(|c| c.device = Some(device))
    }

    /// The program with the names of this one.
    pub(super) fn named_as(&self, program: Program) -> Program {
        Program { names: Arc::clone(&self.names), tree: Arc::clone(&self.tree), ..program }
    }

    /// Returns the type and shape of each argument.
    ///
    /// ```
    /// use ndjit::{DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert_eq!(program.inputs(), [spec(DType::F32, [2])]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn inputs(&self) -> Vec<Spec> {
        self.arguments.iter().map(Spec::of_argument).collect()
    }

    /// Returns the type and shape of each result.
    ///
    /// ```
    /// use ndjit::{DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert_eq!(program.results()[0].to_string(), "f32[2]");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn results(&self) -> Vec<Spec> {
        staged::results(&self.recording, self.core.config.settings().policy)
    }

    /// Calls the program on its [inputs](Input): `[&x, &y]` for arrays, or [`AnyOperand`](crate::operand::AnyOperand)s
    /// if some are numbers.
    ///
    /// ```
    /// use ndjit::{Array, DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert_eq!(program.call([&Array::from([1.0f32, 2.0])])?[0].to_vec::<f32>()?, [2.0, 4.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Arity` for another number of inputs; `Argument` for an input of another type or shape; those of
    /// [`Jitted::call`](crate::Jitted::call).
    #[track_caller]
    pub fn call<'a, I: Input<'a>>(&self, inputs: impl IntoIterator<Item = I>) -> Result<Vec<Array>> {
        let place = SourceLoc::caller();
        let call = || {
            let mut args = inputs.into_iter().map(I::arg).collect::<Result<Vec<Arg<'a>>>>()?;
            self.call_args(&mut args, place)
        };
        call().map_err(|e: Error| e.at(place))
    }

    pub(super) fn call_args(&self, args: &mut [Arg<'_>], place: SourceLoc) -> Result<Vec<Array>> {
        self.check(args)?;
        Ok(self.core.call(args, &[], Some(place))?.items().to_vec())
    }

    /// Writes the results of a [`call`](Program::call) to memory of the caller, in row-major order: `&mut [T]`, or a tuple
    /// of these for several results.
    ///
    /// ```
    /// use ndjit::{Array, DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// let mut doubled = [0f32; 2];
    /// program.call_into([&Array::from([1.0f32, 2.0])], &mut doubled)?;
    /// assert_eq!(doubled, [2.0, 4.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`call`](Program::call); `Arity` if the number of destinations differs from that of results; `Argument` for
    /// a destination with another dtype or size than its result.
    #[track_caller]
    pub fn call_into<'a, 'b, I: Input<'a>>(
        &self,
        inputs: impl IntoIterator<Item = I>,
        into: impl Destinations<'b>,
    ) -> Result<()> {
        let place = SourceLoc::caller();
        let mut destinations = Sinks::new();
        into.destinations(&mut destinations);
        let call = || {
            let mut args = inputs.into_iter().map(I::arg).collect::<Result<Vec<Arg<'a>>>>()?;
            self.check(&args)?;
            self.core.call_into((&mut args, &[]), &mut destinations, place)
        };
        call().map_err(|e: Error| e.at(place))
    }

    fn check(&self, args: &[Arg<'_>]) -> Result<()> {
        let (takes, given) = (self.arguments.len(), args.len());
        if takes != given {
            return Err(Error::new(
                ErrorCode::Arity,
                format!("call: the program takes {takes} arguments, {given} given"),
            )
            .help("pass one for each of `Program::inputs`"));
        }
        if self.arguments.iter().zip(known(args)).all(|(argument, arg)| argument.is_of(arg)) {
            return Ok(());
        }
        Err(unexpected("traced", &self.arguments, args, ArgumentType::is_of)
            .help("a program is for one signature: trace it for these arguments, or convert them"))
    }

    /// Returns the text of a stage, for arguments in row-major order.
    ///
    /// ```
    /// use ndjit::{DType, Program, Stage, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert!(program.explain(Stage::Simplified)?.contains("multiply"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Literal` if a number is out of range for its dtype; `Size` if an array would be too large; `Device` if the
    /// device does not exist.
    pub fn explain(&self, stage: Stage) -> Result<String> {
        self.inspect(|inspection| Ok(inspection.listing(stage.of_program()).to_string()))
    }

    /// Writes a page of all stages side by side: see [`Jitted::explain_html`](crate::Jitted::explain_html). `source` is
    /// the program text, if it is in no file: the lines of its [places](crate::with_place).
    ///
    /// ```
    /// use ndjit::{DType, SourceLoc, Program, spec, with_place};
    ///
    /// let place = SourceLoc { file: "<formula>", line: 1, column: 3 };
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![with_place(place, || p[0] * 2)])?;
    /// # let folder = std::env::temp_dir().join(format!("ndjit-program-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("out.html");
    /// program.explain_html(&path, Some("x * 2"))?;
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`explain`](Program::explain); `Io` if the file cannot be written.
    pub fn explain_html(&self, path: impl AsRef<Path>, source: Option<&str>) -> Result<()> {
        self.inspect(|inspection| inspection.write_page(path.as_ref(), source))
    }

    fn inspect<R>(&self, inspect: impl FnOnce(&Inspection<'_>) -> Result<R>) -> Result<R> {
        let config = &self.core.config;
        let settings = config.settings().on(config.device.unwrap_or_default())?;
        let inputs = argument::inputs(&self.arguments, self.recording.closed_over.len());
        inspect(&config.plan_options().inspection(&self.lowered()?, settings, inputs))
    }

    /// Explains the dtype of a result. `None` for an index out of range.
    ///
    /// ```
    /// use ndjit::{DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert!(program.explain_dtype(0).unwrap().to_string().starts_with("f32"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn explain_dtype(&self, result: usize) -> Option<Explanation> {
        let Recording { graph, places, closed_over, .. } = &*self.recording;
        let inputs = argument::inputs(&self.arguments, closed_over.len());
        let value = *graph.outputs().get(result)?;
        explain::value(graph, places, &inputs, self.core.config.settings().policy, value).ok()
    }

    /// Returns the peak memory of a call in bytes: its results, intermediate arrays and temporary memory of kernels. It
    /// does not include arguments and [captured](Program::captured_bytes) arrays. The kernels are compiled for it.
    ///
    /// ```
    /// use ndjit::{DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert_eq!(program.memory()?, 8);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`explain`](Program::explain); `Backend` if the kernels cannot be compiled.
    pub fn memory(&self) -> Result<usize> {
        let config = &self.core.config;
        let settings = config.settings().on(config.device.unwrap_or_default())?;
        let (lowered, arguments) = (Arc::new(self.lowered()?), self.arguments.to_vec());
        let (captured, options) = (Array::refs(&self.recording.closed_over), config.plan_options());
        let plan = Plan::compile(lowered, arguments, &captured, &options, settings, Clock::default())?;
        Ok(usize::try_from(plan.planned_memory()?.peak).unwrap_or(usize::MAX))
    }

    /// Returns the size of captured arrays in bytes, which live as long as the program. It does not include arrays that
    /// kernels compute from indices, such as `arange`.
    ///
    /// ```
    /// use ndjit::{Array, DType, Program, arange, spec};
    ///
    /// let (x, y) = (Array::from([1.0f32, 2.0]), arange(2));
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * &x + &y])?;
    /// assert_eq!(program.captured_bytes(), 8);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn captured_bytes(&self) -> usize {
        let bytes = |array: &Array| array.shape().bytes(array.dtype().bytes()).unwrap_or(usize::MAX);
        self.recording.closed_over.iter().map(bytes).fold(0, usize::saturating_add)
    }

    /// Returns the number of rows, for a program that can run on some rows of its arguments at a time. All results and
    /// some arguments of such a program have the same extent along axis 0, and each row of a result depends only on the
    /// same row of these arguments. See [`with_rows`](Program::with_rows).
    ///
    /// ```
    /// use ndjit::{DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert_eq!(program.rows(), Some(2));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn rows(&self) -> Option<usize> {
        ndjit_transform::rows::count(&self.recording.graph)
    }

    /// Returns the same program for another number of rows, in the arguments whose [`inputs`](Program::inputs) differ,
    /// and in the results. It is `None` if [`rows`](Program::rows) is.
    ///
    /// ```
    /// use ndjit::{Array, DType, Program, spec};
    ///
    /// let specs = [spec(DType::F32, [1000, 3]), spec(DType::F32, [3])];
    /// let whole = Program::trace(&specs, |p| vec![p[0] + p[1]])?;
    /// let two = whole.with_rows(2).unwrap();
    /// assert_eq!(two.inputs(), [spec(DType::F32, [2, 3]), spec(DType::F32, [3])]);
    /// assert_eq!(two.results(), [spec(DType::F32, [2, 3])]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn with_rows(&self, rows: usize) -> Option<Program> {
        let recording = &self.recording;
        let (graph, places) = ndjit_transform::rows::with(&recording.graph, &recording.places, rows)?;
        let mut arrays = graph.params().iter();
        let arguments = self.arguments.iter().map(|argument| match argument.layout {
            ArgumentLayout::Scalar => Some(argument.clone()),
            _ => arrays.next().map(|&array| ArgumentType { shape: graph.shape(array).clone(), ..argument.clone() }),
        });
        let arguments = arguments.collect::<Option<Vec<ArgumentType>>>()?;
        let (closed_over, printed) = (recording.closed_over.clone(), recording.printed.clone());
        let recording = Recording { graph, places, supports: Supports::default(), closed_over, printed };
        Some(self.named_as(Program::new(arguments, recording, self.core.config)))
    }

    /// Replays the program on these expressions in the current trace.
    pub(super) fn replayed(&self, parameters: &[Expr]) -> Vec<Expr> {
        replay::replay(&self.recording, parameters)
    }

    /// Returns the settings of the trace.
    pub(super) fn settings(&self) -> Settings {
        self.core.config.settings()
    }

    fn lowered(&self) -> Result<Lowered> {
        let config = &self.core.config;
        let settings = config.settings().on(config.device.unwrap_or_default())?;
        let Recording { graph, places, closed_over, .. } = &*self.recording;
        lower((graph, places), &self.arguments, closed_over, config, settings, &mut Clock::default())
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.recording.graph)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({} arguments, {} results)", self.arguments.len(), self.recording.graph.outputs().len())
    }
}

/// Returns the configuration with the policy of the program's trace.
fn configured() -> Config {
    Config { policy: Some(config::policy()), ..Config::default() }
}

/// Returns the arguments of a graph: its parameters, and numbers at the indices of their slots.
fn arguments_of(graph: &Graph<ValueType>) -> Result<Vec<ArgumentType>> {
    // The verifier has checked that each argument is of one kind.
    let numbers = graph.numbers();
    let count = graph.params().len() + numbers.len();
    if let Some(index) = numbers.keys().find(|&&index| index >= count) {
        return Err(Error::new(ErrorCode::Verify, format!("graph: argument {index} is beyond the last"))
            .fact(format_args!("arguments: {} arrays and {} numbers", graph.params().len(), numbers.len()))
            .help(format!("arguments are numbered from 0 to {}", count - 1)));
    }
    let mut arrays = graph.params().iter();
    let mut arguments = Vec::with_capacity(count);
    for index in 0..count {
        let spec = match (numbers.get(&index), arrays.len()) {
            (Some(&kind), _) => Spec::number(kind),
            (None, _) => {
                let Some(&array) = arrays.next() else { continue };
                let NodeKind::Param(_, dtype) = graph.node(graph.producer(array)).kind else { continue };
                let (ty, shape) = (graph.ty(array), graph.shape(array).clone());
                shape.bytes(dtype.bytes())?;
                arguments.push(ArgumentType { ty, dtype, shape, layout: ArgumentLayout::Contiguous });
                continue;
            }
        };
        arguments.push(spec.argument()?);
    }
    Ok(arguments)
}
