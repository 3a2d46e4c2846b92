//! [`IncludedProgram`]: a saved program in the executable.

use crate::array::node::Array;
use crate::jit::input::Input;
use crate::jit::program::Program;
use crate::jit::saved::LoadLimits;
use crate::jit::symbolic::SymbolicProgram;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};
use std::fmt;
use std::sync::OnceLock;

/// A [saved](crate::Program::save) program in the executable, by [`include_program!`](crate::include_program): a function with
/// these numbers of arguments and results. It is loaded at the first call, and compiled at the first call for each memory
/// layout. The file may be a [`SymbolicProgram`] too.
///
/// ```
/// use ndjit::{Array, IncludedProgram, include_program};
///
/// // By custom `include_program!("control.ndjit")`, relative to the source file.
/// static CONTROL: IncludedProgram<2, 5> =
///     include_program!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/saved/control.ndjit"));
///
/// let [halved, ..] = CONTROL.call([&Array::from([0.0, 1.0, 2.0, 3.0]), &Array::from(4)])?;
/// assert_eq!(halved.to_vec::<f64>()?, [0.0, 0.5, 1.0, 1.5]);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub struct IncludedProgram<const ARGUMENTS: usize, const RESULTS: usize> {
    bytes: &'static [u8],
    loaded: OnceLock<Result<LoadedProgram>>,
}

enum LoadedProgram {
    Fixed(Box<Program>),
    Symbolic(Box<SymbolicProgram>),
}

impl<const ARGUMENTS: usize, const RESULTS: usize> IncludedProgram<ARGUMENTS, RESULTS> {
    /// Creates the function of a file's bytes, without loading it.
    ///
    /// ```
    /// use ndjit::{ErrorCode, IncludedProgram};
    ///
    /// static NOTHING: IncludedProgram<0, 0> = IncludedProgram::new(b"");
    /// assert_eq!(NOTHING.call([0; 0]).unwrap_err().code(), ErrorCode::Io);
    /// ```
    pub const fn new(bytes: &'static [u8]) -> IncludedProgram<ARGUMENTS, RESULTS> {
        IncludedProgram { bytes, loaded: OnceLock::new() }
    }

    /// Calls the program.
    ///
    /// ```
    /// use ndjit::{Array, IncludedProgram, include_program};
    ///
    /// static CONTROL: IncludedProgram<2, 1> =
    ///     include_program!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/saved/control.ndjit"));
    ///
    /// let error = CONTROL.call([&Array::from([0.0, 1.0, 2.0, 3.0]), &Array::from(4)]).unwrap_err();
    /// assert_eq!(error.headline(), "include_program: the program has 2 arguments and 5 results");
    /// ```
    ///
    /// # Errors
    /// `Io` for bytes that are no saved program; `Arity` for other numbers of arguments and results than the program's;
    /// those of [`Program::call`].
    #[track_caller]
    pub fn call<'a, I: Input<'a>>(&self, inputs: [I; ARGUMENTS]) -> Result<[Array; RESULTS]> {
        let place = SourceLoc::caller();
        let loaded = self.loaded.get_or_init(|| loaded(self.bytes)).as_ref().map_err(|e| e.clone().at(place))?;
        let (takes, results) = match loaded {
            LoadedProgram::Fixed(program) => (program.inputs().len(), program.call(inputs)),
            LoadedProgram::Symbolic(program) => (program.input_types().len(), program.call(inputs)),
        };
        let gives = results.as_ref().map_or(RESULTS, Vec::len);
        if (takes, gives) != (ARGUMENTS, RESULTS) {
            let what = match &results {
                Ok(_) => format!("the program has {takes} arguments and {gives} results"),
                Err(_) => format!("the program has {takes} arguments"),
            };
            return Err(Error::new(ErrorCode::Arity, what)
                .of("include_program")
                .fact(format_args!("declared is IncludedProgram<{ARGUMENTS}, {RESULTS}>"))
                .help("declare the numbers of its arguments and results")
                .at(place));
        }
        let results = results.map_err(|e| e.at(place))?;
        results.try_into().map_err(|_| Error::new(ErrorCode::Arity, "include_program: another number of results"))
    }
}

/// Files in the executable are trusted: they have no limits.
fn loaded(bytes: &[u8]) -> Result<LoadedProgram> {
    let limits = LoadLimits::default().file(usize::MAX).memory(u64::MAX);
    if SymbolicProgram::is_symbolic(bytes) {
        return Ok(LoadedProgram::Symbolic(Box::new(SymbolicProgram::from_bytes_within(bytes, limits)?)));
    }
    Program::from_bytes_within(bytes, limits).map(|program| LoadedProgram::Fixed(Box::new(program)))
}

impl<const ARGUMENTS: usize, const RESULTS: usize> fmt::Debug for IncludedProgram<ARGUMENTS, RESULTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IncludedProgram({} bytes, {ARGUMENTS} arguments, {RESULTS} results)", self.bytes.len())
    }
}

/// Includes a [saved](crate::Program::save) program in the executable, as an [`IncludedProgram`]. The path is relative to the source
/// file, as that of `include_bytes!`.
///
/// ```
/// use ndjit::{Array, IncludedProgram, include_program};
///
/// static FLIP: IncludedProgram<3, 6> =
///     include_program!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/saved/symbolic.ndjit"));
/// assert!(format!("{FLIP:?}").contains("3 arguments"));
/// ```
#[macro_export]
macro_rules! include_program {
    ($($path:tt)+) => {
        $crate::IncludedProgram::new(include_bytes!($($path)+))
    };
}
