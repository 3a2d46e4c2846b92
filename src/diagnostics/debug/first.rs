//! [`first_nan`], [`first_nonfinite`]: the first operation of a function with a NaN or infinite result.

use super::nonfinite::NonFinite;
use super::traced;
use crate::jit::arguments::CallArgs;
use crate::jit::caller;
use crate::jit::function::JitFn;
use crate::jit::input::Inputs;
use crate::jit::jitted::Jitted;
use ndjit_eval::nonfinite::{Sought, find};
use ndjit_ir::{Result, SourceLoc};

/// Runs a function operation by operation, and returns the first that gives NaN from operands without NaN. For an
/// elementwise operation, these are the operands' elements at the same index; for a reduction or a scan, the elements
/// that it combines.
///
/// A loop or a branch that gives NaN from operands without NaN runs again step by step. [`within`](NonFinite::within)
/// has the step of the operation. If more than 65,536 steps of a loop precede it, the loop itself is the result. If no
/// operation gives NaN but a result has one, the argument or captured array with a NaN is returned. The result is
/// `None` if no computed value is NaN.
///
/// All intermediate arrays are in memory at once.
///
/// ```
/// use ndjit::{debug::first_nan, jit, log, Array};
///
/// let f = jit(|x, y| log(x - y) * 0.5);
/// let found = first_nan(&f, (&Array::from([3.0f32, 1.0]), &Array::from([2.0f32, 2.0])))?.unwrap();
/// assert_eq!((found.operation.as_str(), &found.index[..]), ("%3 = log %2 : f32[2]", &[1][..]));
/// assert_eq!(found.operands, [("%2".to_owned(), "-1.".to_owned())]);
/// println!("{found}");
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Those of [`Jitted::call`].
#[track_caller]
pub fn first_nan<'a, M, const N: usize, F: JitFn<M, N>>(
    function: &Jitted<M, N, F>,
    inputs: impl Inputs<'a, N>,
) -> Result<Option<NonFinite>> {
    of_function(function, inputs, Sought::Nan, SourceLoc::caller())
}

/// Runs a function like [`first_nan`], and searches for NaN and infinity.
///
/// ```
/// use ndjit::{debug::first_nonfinite, jit, Array};
///
/// let f = jit(|x| (1 / x) * 0);
/// let found = first_nonfinite(&f, (&Array::from([2.0f32, 0.0]),))?.unwrap();
/// assert_eq!((found.operation.as_str(), found.value.as_str()), ("%2 = divide %1, %0 : f32[2]", "inf"));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Those of [`Jitted::call`].
#[track_caller]
pub fn first_nonfinite<'a, M, const N: usize, F: JitFn<M, N>>(
    function: &Jitted<M, N, F>,
    inputs: impl Inputs<'a, N>,
) -> Result<Option<NonFinite>> {
    of_function(function, inputs, Sought::NonFinite, SourceLoc::caller())
}

fn of_function<'a, M, const N: usize, F: JitFn<M, N>>(
    function: &Jitted<M, N, F>,
    inputs: impl Inputs<'a, N>,
    sought: Sought,
    place: SourceLoc,
) -> Result<Option<NonFinite>> {
    let search = || {
        let mut args = CallArgs::of::<M, F>(inputs)?;
        let (args, structure) = args.parts();
        let settings = function.core.settings(args, Some(place))?;
        let (steps, given, results) = traced::steps(&function.core, (args, structure), settings, place)?;
        let found = find(&steps, &given, &results, sought, settings)?;
        Ok(found.map(NonFinite::new))
    };
    search().map_err(|e| caller::called(e, Some(place)))
}
