//! [`Compiled`]: a function compiled for one signature.

use crate::diagnostics::inspect::StageDiff;
use crate::jit::arguments::CallArgs;
use crate::jit::caller::called;
use crate::jit::function::JitFn;
use crate::jit::input::{Arg, Destinations, Inputs, Sinks, known};
use crate::jit::output::{Outputs, Parts};
use crate::jit::run::{fits, run_fresh, run_into};
use crate::jit::stage::Stage;
use ndjit_eval::argument::{ArgumentType, CallArgument};
use ndjit_eval::plan::compiled::Plan;
use ndjit_inspect::forms::{self, PictureFormat};
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// A function compiled for one signature. It can be called from any thread.
///
/// ```
/// use ndjit::{DType, jit, spec};
///
/// let f = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?.compile()?;
/// assert_eq!(f.call((&[1u8, 2, 3],))?.to_vec::<f32>()?, [0.5, 1.0, 1.5]);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub struct Compiled<M, const N: usize, F: JitFn<M, N>> {
    pub(crate) plan: Arc<Plan>,
    pub(super) marker: PhantomData<fn() -> (M, F)>,
}

impl<M, const N: usize, F: JitFn<M, N>> Compiled<M, N, F> {
    /// Returns the text of a stage.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec, Stage};
    ///
    /// let f = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?.compile()?;
    /// assert!(f.explain(Stage::Loops).starts_with("nest rank 1"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn explain(&self, stage: Stage) -> String {
        self.plan.explain(stage.of_program())
    }

    /// Writes a page of all stages side by side: see [`Jitted::explain_html`](crate::Jitted::explain_html).
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let compiled = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?.lower()?.compile()?;
    /// # let folder = std::env::temp_dir().join(format!("ndjit-compiled-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("out.html");
    /// compiled.explain_html(&path)?;
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if the file cannot be written.
    pub fn explain_html(&self, path: impl AsRef<Path>) -> Result<()> {
        self.plan.inspection().write_page(path.as_ref(), None)
    }

    /// Returns a stage in the DOT language of Graphviz: graphs, kernels and loops as clusters of statements.
    ///
    /// ```
    /// use ndjit::{DType, Stage, jit, spec};
    ///
    /// let compiled = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?.lower()?.compile()?;
    /// assert!(compiled.dot(Stage::Kernels)?.starts_with("digraph"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` for a stage without a drawing; `Size` for one of more than 10000 nodes.
    pub fn dot(&self, stage: Stage) -> Result<String> {
        forms::stage(&self.plan.lowered, stage.of_program(), PictureFormat::Dot)
    }

    /// Draws a stage as an SVG document: graphs, kernels and loops.
    ///
    /// ```
    /// use ndjit::{DType, Stage, jit, spec};
    ///
    /// let compiled = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?.lower()?.compile()?;
    /// assert!(compiled.svg(Stage::Kernels)?.contains("<svg"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` for a stage without a drawing; `Size` for one of more than 10000 nodes.
    pub fn svg(&self, stage: Stage) -> Result<String> {
        forms::stage(&self.plan.lowered, stage.of_program(), PictureFormat::Svg)
    }

    /// Returns a stage as JSON (feature `json`).
    ///
    /// ```
    /// use ndjit::{DType, Stage, jit, spec};
    ///
    /// let compiled = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?.lower()?.compile()?;
    /// assert!(compiled.json(Stage::Typed)?.contains("multiply"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// None at present.
    #[cfg(feature = "json")]
    pub fn json(&self, stage: Stage) -> Result<String> {
        Ok(forms::stage_json(&self.plan.lowered, stage.of_program(), || self.explain(stage)))
    }

    /// Compares two stages, line by line.
    ///
    /// ```
    /// use ndjit::{DType, Stage, jit, spec};
    ///
    /// let compiled = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?.lower()?.compile()?;
    /// println!("{}", compiled.diff(Stage::Typed, Stage::Simplified));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn diff(&self, from: Stage, to: Stage) -> StageDiff {
        let names = (from.name().to_owned(), to.name().to_owned());
        let [from, to] = [from, to].map(|stage| self.plan.inspection().listing(stage.of_program()));
        StageDiff::new(names, &from, &to)
    }

    /// Returns the number of kernels of a call. Loop nests that run together tile by tile count once. A loop or a
    /// branch counts as one; the kernels of its graphs count separately.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let f = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?.compile()?;
    /// assert_eq!(f.kernel_count(), 1);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn kernel_count(&self) -> usize {
        self.plan.lowered.kernel_count()
    }

    /// Calls the function without compiling. Arguments of another signature are an error.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let f = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?.compile()?;
    /// assert_eq!(f.call((&[1u8, 2, 3],))?.to_vec::<f32>()?, [0.5, 1.0, 1.5]);
    /// assert!(f.call((&[1u8, 2],)).is_err());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` for an argument of another type, shape or layout; `Allocation` if an allocation fails.
    #[track_caller]
    pub fn call<'a>(&self, inputs: impl Inputs<'a, N>) -> Result<<F::Outputs as Outputs>::Arrays> {
        let place = SourceLoc::caller();
        let mut args = CallArgs::of::<M, F>(inputs).map_err(|e| called(e, Some(place)))?;
        let args = self.checked(&mut args, place)?;
        let arrays = run_fresh(&self.plan, args).map_err(|e| called(e, Some(place)))?;
        Ok(F::Outputs::arrays(&mut Parts::new(arrays, self.plan.lengths.clone())))
    }

    /// Writes the results of a [`call`](Compiled::call) to memory of the caller.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let f = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?.compile()?;
    /// let mut out = [0.0f32; 3];
    /// f.call_into((&[1u8, 2, 3],), &mut out)?;
    /// assert_eq!(out, [0.5, 1.0, 1.5]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`call`](Compiled::call); `Arity` and `Argument` for destinations that do not match the results.
    #[track_caller]
    pub fn call_into<'a, 'b>(&self, inputs: impl Inputs<'a, N>, into: impl Destinations<'b>) -> Result<()> {
        let place = SourceLoc::caller();
        let mut args = CallArgs::of::<M, F>(inputs).map_err(|e| called(e, Some(place)))?;
        let args = self.checked(&mut args, place)?;
        let mut destinations: Sinks<'b> = Sinks::new();
        into.destinations(&mut destinations);
        fits(&self.plan, &destinations).map_err(|e| e.at(place))?;
        run_into(&self.plan, args, &mut destinations).map_err(|e| called(e, Some(place)))
    }

    /// Checks that arguments match the compiled signature, and returns their leaves.
    fn checked<'s, 'a>(&self, args: &'s mut CallArgs<'a, N>, place: SourceLoc) -> Result<&'s mut [Arg<'a>]> {
        let (args, structure) = args.parts();
        if self.plan.accepts(&self.plan.settings, structure, known(args)) {
            return Ok(args);
        }
        let error = unexpected("compiled", &self.plan.arguments, args, ArgumentType::accepts);
        Err(error.at(place).help("call the jitted function itself to compile for other arguments, or convert them"))
    }
}

/// Returns the error of arguments that do not match the signature of a program.
pub(crate) fn unexpected(
    made: &str,
    expected: &[ArgumentType],
    args: &[Arg<'_>],
    accepts: impl Fn(&ArgumentType, &CallArgument<'_>) -> bool,
) -> Error {
    let mut error = Error::new(ErrorCode::Argument, format!("call: the arguments are not what was {made} for"));
    for (i, (expected, arg)) in expected.iter().zip(known(args)).enumerate() {
        let given = arg.argument_type();
        if !accepts(expected, arg) {
            error = error
                .fact(format_args!("argument {i}: {made} for {expected}"))
                .fact(format_args!("            given {given}"));
        }
    }
    error
}
