//! [`SymbolicProgram`]: a program for arguments of all sizes, whose extents have names.
//!
//! A graph has the extents of one signature. A symbolic program has a [template](ndjit_ir::template) instead: the text of the graph, in
//! which numbers are affine functions of the names. It is made from traces for several sizes, of which the last checks it. For the sizes
//! of a call the template gives a text, which is loaded as a saved program is: parsed, verified, within limits. So a call is always of a
//! valid program; whether the function, traced for these sizes, would be the same program is known only for the sizes of the traces.

use crate::array::node::Array;
use crate::jit::input::{Arg, Input, known};
use crate::jit::program::Program;
use crate::jit::saved::LoadLimits;
use crate::jit::spec::{Spec, spec};
use crate::trace::expr::Expr;
use ndjit_formats::saved::{SavedProgram, damaged, failed};
use ndjit_ir::lock::Mutex;
use ndjit_ir::template::{Template, check_names, given};
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, SourceLoc, Weak};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A program for arguments of all sizes: extents have names, equal names are equal sizes.
///
/// ```
/// use ndjit::{Array, SymbolicProgram};
///
/// let scale = |p: &[ndjit::Expr]| vec![(p[0] - p[0].mean(0)) * p[1]];
/// let program = SymbolicProgram::trace(&["x: f32[n, 2]", "w: f32[2]"], scale)?;
/// let w = Array::from([1.0f32, 10.0]);
/// for n in [1, 2, 5] {
///     let results = program.call([&ndjit::ones([n, 2]), &w])?;
///     assert_eq!(results[0].shape().extents(), [n, 2]);
/// }
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// The function is traced for several sizes of each name. Its operations must be the same ones for all of them, and every
/// number in their text, such as an extent, the start of a slice or a literal, an affine function of the sizes: `n - 1`,
/// `2*n + m`. Otherwise the trace is an error. A function that asks for a shape, and does something else beyond a size that
/// is not tried, is not noticed: the program is what was traced.
pub struct SymbolicProgram {
    saved: SavedProgram<'static>,
    template: Template,
    inputs: Vec<SymbolicSpec>,
    limits: LoadLimits,
    /// The captured arrays, which the programs of all sizes share.
    captured: OnceLock<Vec<Array>>,
    /// The programs of the latest sizes.
    bound: Mutex<Vec<(Vec<usize>, Arc<Program>)>>,
}

/// The number of sizes whose programs are kept.
const BOUND: usize = 64;

/// The sizes of traces, by name: distinct primes, for no other extents are likely to equal them.
const FIRST: [usize; 8] = [211, 223, 227, 229, 233, 239, 241, 251];
const SECOND: [usize; 8] = [307, 311, 313, 317, 331, 337, 347, 349];
const LAST: [usize; 8] = [401, 409, 419, 421, 431, 433, 439, 443];

/// The type of an argument, with names for extents: `f32[n, 3]`, or `f*` for a number passed at each call.
#[derive(Clone, Debug, PartialEq)]
enum SymbolicSpec {
    Array(DType, Vec<SymbolicExtent>),
    Number(Weak),
}

/// An extent: a number, or a name.
#[derive(Clone, Debug, PartialEq)]
enum SymbolicExtent {
    Number(usize),
    Name(usize),
}

impl SymbolicSpec {
    /// Parses a type; adds names that are new.
    fn parse(text: &str, names: &mut Vec<String>) -> Result<SymbolicSpec> {
        let wrong = |what: &str| {
            Error::new(ErrorCode::Parse, format!("extents: `{}`: {what}", text.escape_debug()))
                .help("write arrays as `f32[n, 3]`, numbers as `f*`, with a name as `x: f32[n, 3]`")
        };
        let Some((dtype, extents)) = text.split_once('[') else {
            let number = Weak::ALL.into_iter().find(|weak| weak.name() == text);
            return number.map(SymbolicSpec::Number).ok_or_else(|| wrong("no type"));
        };
        let dtype = dtype.trim().parse::<DType>().map_err(|_| wrong("no dtype"))?;
        let extents = extents.strip_suffix(']').ok_or_else(|| wrong("no `]` at its end"))?;
        let extents = extents.split(',').map(str::trim).filter(|extent| !extent.is_empty()).map(|extent| {
            if let Ok(number) = extent.parse() {
                return SymbolicExtent::Number(number);
            }
            let at = names.iter().position(|name| name == extent).unwrap_or_else(|| {
                names.push(extent.to_owned());
                names.len() - 1
            });
            SymbolicExtent::Name(at)
        });
        let extents = extents.collect();
        check_names(names)?;
        Ok(SymbolicSpec::Array(dtype, extents))
    }

    fn text(&self, names: &[String]) -> String {
        match self {
            SymbolicSpec::Number(kind) => kind.name().to_owned(),
            SymbolicSpec::Array(dtype, extents) => {
                let extents: Vec<String> = extents
                    .iter()
                    .map(|extent| match extent {
                        SymbolicExtent::Number(number) => number.to_string(),
                        SymbolicExtent::Name(name) => names[*name].clone(),
                    })
                    .collect();
                format!("{dtype}[{}]", extents.join(", "))
            }
        }
    }

    /// The type for these sizes.
    fn with_sizes(&self, sizes: &[usize]) -> Spec {
        match self {
            SymbolicSpec::Number(kind) => Spec::number(*kind),
            SymbolicSpec::Array(dtype, extents) => {
                let extent = |extent: &SymbolicExtent| match *extent {
                    SymbolicExtent::Number(number) => number,
                    SymbolicExtent::Name(name) => sizes[name],
                };
                spec(*dtype, Shape::from(extents.iter().map(extent).collect::<Vec<usize>>()))
            }
        }
    }
}

impl SymbolicProgram {
    /// Traces a function for arguments of these types: `f32[n, 3]`, or `f*` for a number that is passed at each call, each
    /// with a name or all without: `x: f32[n, 3]`.
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode, SymbolicProgram};
    ///
    /// let dot = SymbolicProgram::trace(&["x: f64[n]", "y: f64[n]"], |p| vec![(p[0] * p[1]).sum(0)])?;
    /// let error = dot.call([&Array::from([1.0, 2.0]), &Array::from([3.0])]).unwrap_err();
    /// assert_eq!((error.code(), error.headline()), (ErrorCode::Argument, "call: the extent n has two sizes"));
    ///
    /// // The operations depend on the size.
    /// let unrolled = |p: &[ndjit::Expr]| vec![(1..p[0].shape()[0]).fold(p[0], |x, _| x.sin())];
    /// assert_eq!(SymbolicProgram::trace(&["f64[n]"], unrolled).unwrap_err().code(), ErrorCode::Shape);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Parse` and `Argument` for the texts; `Shape` for a function whose program depends on the sizes otherwise than by
    /// affine functions; those of [`Program::trace`] and [`Program::to_bytes`].
    #[track_caller]
    pub fn trace(inputs: &[&str], function: impl Fn(&[Expr]) -> Vec<Expr>) -> Result<SymbolicProgram> {
        let place = SourceLoc::caller();
        let (mut extents, mut specs, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for text in inputs {
            let (name, ty) = text.split_once(':').map_or(("", *text), |(name, ty)| (name.trim(), ty.trim()));
            names.push(name.to_owned());
            specs.push(SymbolicSpec::parse(ty, &mut extents).map_err(|e| e.at(place))?);
        }
        let count = extents.len();
        let mut sizes = vec![FIRST[..count].to_vec()];
        sizes.extend((0..count).map(|name| {
            let mut sizes = FIRST[..count].to_vec();
            sizes[name] = SECOND[name];
            sizes
        }));
        sizes.push(LAST[..count].to_vec());
        let (mut texts, mut contents) = (Vec::with_capacity(sizes.len()), Vec::with_capacity(sizes.len()));
        for sizes in sizes {
            let types: Vec<Spec> = specs.iter().map(|spec| spec.with_sizes(&sizes)).collect();
            let traced = Program::trace(&types, &function);
            let program = traced.map_err(|e| e.fact(format_args!("the trace was for {}", given(&extents, &sizes))))?;
            let program =
                if names.iter().all(String::is_empty) { program } else { program.with_names(names.clone())? };
            let mut content = program.content().map_err(|e| e.at(place))?;
            texts.push((sizes, std::mem::take(&mut content.text).into_owned()));
            contents.push(content);
        }
        let template = Template::generalize(&extents, &texts).map_err(|e| e.at(place))?;
        let differ = contents.windows(2).any(|pair| pair[0] != pair[1]);
        let Some(first) = contents.pop().filter(|_| !differ) else {
            return Err(Error::new(ErrorCode::Shape, "extents: captured arrays, prints or places depend on the sizes")
                .help("pass such arrays as arguments")
                .at(place));
        };
        let text = |spec: &SymbolicSpec| spec.text(&extents).into();
        let saved = SavedProgram {
            text: template.to_string().into(),
            inputs: specs.iter().map(text).collect(),
            extents: extents.iter().map(|name| name.clone().into()).collect(),
            ..first
        };
        SymbolicProgram::of_content(saved, LoadLimits::default()).map_err(|e| e.at(place))
    }

    fn of_content(saved: SavedProgram<'static>, limits: LoadLimits) -> Result<SymbolicProgram> {
        let names: Vec<String> = saved.extents.iter().map(|name| name.clone().into_owned()).collect();
        if names.is_empty() {
            return Err(failed("its extents have no names").help("it is for one shape: load it as a `Program`"));
        }
        let template = Template::parse(&saved.text, &names)?;
        let mut known = names.clone();
        let read = |text: &std::borrow::Cow<'_, str>| SymbolicSpec::parse(text, &mut known);
        let inputs: Vec<SymbolicSpec> = saved.inputs.iter().map(read).collect::<Result<_>>()?;
        let named = |name: usize| {
            inputs.iter().any(|spec| match spec {
                SymbolicSpec::Array(_, extents) => extents.contains(&SymbolicExtent::Name(name)),
                SymbolicSpec::Number(_) => false,
            })
        };
        if known.len() != names.len() || inputs.len() != saved.arguments.len() || !(0..names.len()).all(named) {
            return Err(damaged("the types of its arguments do not have the names of its extents"));
        }
        Ok(SymbolicProgram { saved, template, inputs, limits, captured: OnceLock::new(), bound: Mutex::default() })
    }

    /// Returns the names of extents, in the order of their first use.
    ///
    /// ```
    /// use ndjit::SymbolicProgram;
    ///
    /// let program = SymbolicProgram::trace(&["f32[n, m]", "f32[m]"], |p| vec![p[0] * p[1]])?;
    /// assert_eq!(program.extents(), ["n", "m"]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn extents(&self) -> &[String] {
        self.template.names()
    }

    /// Returns the type of each argument, as text with the names of extents.
    ///
    /// ```
    /// use ndjit::SymbolicProgram;
    ///
    /// let program = SymbolicProgram::trace(&["f32[n]", "i*"], |p| vec![p[0] * p[1]])?;
    /// assert_eq!(program.input_types(), ["f32[n]", "i*"]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn input_types(&self) -> Vec<String> {
        self.inputs.iter().map(|input| input.text(self.template.names())).collect()
    }

    /// Returns the program for these sizes, one for each of [`extents`](SymbolicProgram::extents). Programs of the latest 64
    /// sizes are kept.
    ///
    /// ```
    /// use ndjit::{DType, SymbolicProgram, spec};
    ///
    /// let program = SymbolicProgram::trace(&["f32[n]"], |p| vec![ndjit::concat([p[0], p[0]], 0)])?;
    /// assert_eq!(program.with_sizes(&[3])?.results(), [spec(DType::F32, [6])]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Arity` for another number of sizes; `Shape` if there is no program of these sizes; `Size` if a call may take more
    /// memory than the limit.
    #[track_caller]
    pub fn with_sizes(&self, sizes: &[usize]) -> Result<Arc<Program>> {
        let place = SourceLoc::caller();
        self.bind(sizes).map_err(|e| e.at(place))
    }

    fn bind(&self, sizes: &[usize]) -> Result<Arc<Program>> {
        let names = self.template.names();
        if names.len() != sizes.len() {
            let what = format!("extents: {} sizes for {} names", sizes.len(), names.len());
            return Err(Error::new(ErrorCode::Arity, what).help(format!("give one for each of {}", names.join(", "))));
        }
        let mut bound = self.bound.lock();
        if let Some(at) = bound.iter().position(|(own, _)| own == sizes) {
            let program = Arc::clone(&bound[at].1);
            // The latest ones are last.
            bound[at..].rotate_left(1);
            return Ok(program);
        }
        drop(bound);
        let program = Arc::new(self.made(sizes)?);
        let mut bound = self.bound.lock();
        if bound.len() == BOUND {
            bound.remove(0);
        }
        bound.push((sizes.to_vec(), Arc::clone(&program)));
        Ok(program)
    }

    fn made(&self, sizes: &[usize]) -> Result<Program> {
        let (names, text) = (self.template.names(), self.template.text(sizes)?);
        let captured = self.captured.get().map(Vec::as_slice);
        let made = Program::of_content(&self.saved, &text, self.limits, captured);
        let program = made.map_err(|error| match error.code() {
            ErrorCode::Parse | ErrorCode::Verify => {
                let what = format!("extents: there is no program for {}", given(names, sizes));
                let other = Error::new(ErrorCode::Shape, what).fact(error.headline());
                error
                    .facts()
                    .iter()
                    .take(1)
                    .fold(other, Error::fact)
                    .help("some operation is not defined for arrays so small or so large")
            }
            _ => error,
        })?;
        let expected: Vec<Spec> = self.inputs.iter().map(|input| input.with_sizes(sizes)).collect();
        let same = |(own, expected): (&Spec, &Spec)| {
            (own.value_type(), own.shape(), own.is_number())
                == (expected.value_type(), expected.shape(), expected.is_number())
        };
        if !program.inputs().iter().zip(&expected).all(same) {
            return Err(damaged("its parameters are not of the types of its arguments"));
        }
        // Another thread may have set them.
        let _ = self.captured.set(program.recording.closed_over.clone());
        Ok(program)
    }

    /// Calls the program for the sizes of these arguments.
    ///
    /// ```
    /// use ndjit::{Array, SymbolicProgram};
    ///
    /// let program = SymbolicProgram::trace(&["i32[n]"], |p| vec![p[0].flip(0) + 1])?;
    /// assert_eq!(program.call([&Array::from([1, 2])])?[0].to_vec::<i32>()?, [3, 2]);
    /// assert_eq!(program.call([&Array::from([1, 2, 3])])?[0].to_vec::<i32>()?, [4, 3, 2]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Arity` and `Argument` for other arguments, or two sizes of one extent, with its name; those of
    /// [`with_sizes`](SymbolicProgram::with_sizes) and [`Program::call`].
    #[track_caller]
    pub fn call<'a, I: Input<'a>>(&self, inputs: impl IntoIterator<Item = I>) -> Result<Vec<Array>> {
        let place = SourceLoc::caller();
        let call = || {
            let mut args = inputs.into_iter().map(I::arg).collect::<Result<Vec<Arg<'a>>>>()?;
            let sizes = self.sizes(&args)?;
            self.bind(&sizes)?.call_args(&mut args, place)
        };
        call().map_err(|e: Error| e.at(place))
    }

    /// The sizes of the extents in these arguments.
    fn sizes(&self, args: &[Arg<'_>]) -> Result<Vec<usize>> {
        let (takes, given) = (self.inputs.len(), args.len());
        if takes != given {
            return Err(Error::new(
                ErrorCode::Arity,
                format!("call: the program takes {takes} arguments, {given} given"),
            )
            .help("pass one for each of `SymbolicProgram::input_types`"));
        }
        let names = self.template.names();
        let mut sizes: Vec<Option<(usize, usize)>> = vec![None; names.len()];
        for (n, (spec, arg)) in self.inputs.iter().zip(known(args)).enumerate() {
            let SymbolicSpec::Array(_, extents) = spec else { continue };
            let shape = &arg.shape;
            let fact = |n: usize, size: String| {
                let name = self.saved.arguments.get(n).map(|argument| &*argument.name).filter(|name| !name.is_empty());
                format!(
                    "argument {n}{}: {}, {size}",
                    name.map_or(String::new(), |name| format!(" `{name}`")),
                    self.inputs[n].text(names)
                )
            };
            let fits = |(extent, &own): (&SymbolicExtent, &usize)| match extent {
                SymbolicExtent::Number(number) => *number == own,
                SymbolicExtent::Name(_) => true,
            };
            if shape.rank() != extents.len() || !extents.iter().zip(shape.extents()).all(fits) {
                return Err(Error::new(ErrorCode::Argument, "call: an argument is of another shape")
                    .fact(fact(n, format!("given {shape}")))
                    .help("extents with names have any size, the others are fixed"));
            }
            for (extent, &own) in extents.iter().zip(shape.extents()) {
                let SymbolicExtent::Name(name) = extent else { continue };
                match sizes[*name] {
                    Some((first, size)) if size != own => {
                        let name = &names[*name];
                        return Err(Error::new(ErrorCode::Argument, format!("call: the extent {name} has two sizes"))
                            .fact(fact(first, format!("{name} = {size}")))
                            .fact(fact(n, format!("{name} = {own}")))
                            .help("extents of one name are of one size"));
                    }
                    Some(_) => {}
                    None => sizes[*name] = Some((n, own)),
                }
            }
        }
        // Each name is in an argument.
        Ok(sizes.into_iter().map(|size| size.map_or(0, |(_, size)| size)).collect())
    }

    /// Returns the program as bytes: see [`Program::to_bytes`].
    ///
    /// ```
    /// use ndjit::{Array, SymbolicProgram};
    ///
    /// let program = SymbolicProgram::trace(&["i32[n]"], |p| vec![p[0].flip(0)])?;
    /// let loaded = SymbolicProgram::from_bytes(&program.to_bytes()?)?;
    /// assert_eq!(loaded.call([&Array::from([1, 2])])?[0].to_vec::<i32>()?, [2, 1]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Size` for a text of 4 GiB.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.saved.encode()
    }

    /// Saves the program as a file: see [`Program::save`].
    ///
    /// ```
    /// use ndjit::SymbolicProgram;
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-symbolic-save-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("flip.ndjit");
    /// SymbolicProgram::trace(&["i32[n]"], |p| vec![p[0].flip(0)])?.save(&path)?;
    /// assert_eq!(SymbolicProgram::load(&path)?.extents(), ["n"]);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if the file cannot be written.
    #[track_caller]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let place = SourceLoc::caller();
        super::saved::write(path.as_ref(), self.to_bytes()).map_err(|e| e.at(place))
    }

    /// Loads a saved symbolic program. The file may be a stranger's: see [`Program::from_bytes`]. The limit of memory is
    /// checked for each list of sizes.
    ///
    /// ```
    /// use ndjit::{ErrorCode, SymbolicProgram};
    ///
    /// assert_eq!(SymbolicProgram::load("no such file.ndjit").unwrap_err().code(), ErrorCode::Io);
    /// ```
    ///
    /// # Errors
    /// Those of [`Program::load`].
    #[track_caller]
    pub fn load(path: impl AsRef<Path>) -> Result<SymbolicProgram> {
        let (place, limits) = (SourceLoc::caller(), LoadLimits::default());
        let load = |bytes: Vec<u8>| SymbolicProgram::decoded(&bytes, limits);
        super::saved::read(path.as_ref(), limits, load).map_err(|e| e.at(place))
    }

    /// Whether bytes are of a symbolic program, as far as their sections can be read.
    ///
    /// ```
    /// use ndjit::SymbolicProgram;
    ///
    /// let program = SymbolicProgram::trace(&["i32[n]"], |p| vec![p[0].flip(0)])?;
    /// assert!(SymbolicProgram::is_symbolic(&program.to_bytes()?));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn is_symbolic(bytes: &[u8]) -> bool {
        SavedProgram::decode(bytes).is_ok_and(|saved| !saved.extents.is_empty())
    }

    /// Loads a symbolic program from the bytes of [`to_bytes`](SymbolicProgram::to_bytes).
    ///
    /// ```
    /// use ndjit::{ErrorCode, SymbolicProgram};
    ///
    /// assert_eq!(SymbolicProgram::from_bytes(b"other").unwrap_err().code(), ErrorCode::Io);
    /// ```
    ///
    /// # Errors
    /// Those of [`Program::from_bytes`].
    #[track_caller]
    pub fn from_bytes(bytes: &[u8]) -> Result<SymbolicProgram> {
        SymbolicProgram::from_bytes_within(bytes, LoadLimits::default())
    }

    /// Loads a symbolic program within other limits.
    ///
    /// ```
    /// use ndjit::{ErrorCode, LoadLimits, SymbolicProgram};
    ///
    /// let bytes = SymbolicProgram::trace(&["i32[n]"], |p| vec![p[0].flip(0)])?.to_bytes()?;
    /// let program = SymbolicProgram::from_bytes_within(&bytes, LoadLimits::default().memory(1 << 20))?;
    /// assert_eq!(program.with_sizes(&[1 << 20]).unwrap_err().code(), ErrorCode::Size);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`from_bytes`](SymbolicProgram::from_bytes).
    #[track_caller]
    pub fn from_bytes_within(bytes: &[u8], limits: LoadLimits) -> Result<SymbolicProgram> {
        let place = SourceLoc::caller();
        SymbolicProgram::decoded(bytes, limits).map_err(|e| e.at(place))
    }

    fn decoded(bytes: &[u8], limits: LoadLimits) -> Result<SymbolicProgram> {
        limits.check_length(bytes.len() as u64)?;
        SymbolicProgram::of_content(SavedProgram::decode(bytes)?.into_owned(), limits)
    }
}

impl fmt::Display for SymbolicProgram {
    /// Writes the template: the text of the graph, with functions of names in place of numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.template)
    }
}

impl fmt::Debug for SymbolicProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SymbolicProgram({})", self.input_types().join(", "))
    }
}
