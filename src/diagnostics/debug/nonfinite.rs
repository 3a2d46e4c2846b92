//! The first operation with a NaN or infinite result, and a check of the results of every call.

use ndjit_eval::nonfinite::{self, FirstFound};
use ndjit_ir::{DType, SourceLoc};
use std::fmt;

/// The first operation of a function that gives NaN (or infinity) from operands without NaN (or infinity).
///
/// ```
/// use ndjit::{Array, debug::first_nan, jit, log};
///
/// let f = jit(|x| log(x) * 2);
/// let found = first_nan(&f, (&Array::from([1.0f32, -1.0]),))?.unwrap();
/// assert_eq!((found.index, found.value.as_str()), (vec![1], "nan"));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NonFinite {
    /// The operation, in the format of the traced graph. It is `argument 0` or `captured array 0` if no operation gives
    /// a NaN (or infinity), but one of this array reaches a result.
    pub operation: String,
    /// Its place in the source.
    pub place: Option<SourceLoc>,
    /// The operation whose derivative contains this one, if there is one. `place` is then the place of that operation.
    pub slope_of: Option<&'static str>,
    /// The steps of loops, and the branches, around the operation, outermost first:
    /// `step 3 of for at src/main.rs:5:9, counted from 0`.
    pub within: Vec<String>,
    /// The dtype of its result.
    pub dtype: DType,
    /// The number of NaN (or infinite) elements that do not come from an operand.
    pub elements: usize,
    /// The number of elements of the result.
    pub of: usize,
    /// The index of the first such element.
    pub index: Vec<usize>,
    /// The element at this index.
    pub value: String,
    /// The elements of its operands at this index, each with its name in `operation`. Only for elementwise operations.
    pub operands: Vec<(String, String)>,
}

impl fmt::Display for NonFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operation)?;
        if let Some(place) = self.place {
            let slope = self.slope_of.map_or(String::new(), |of| format!("in the slope of {of} "));
            write!(f, "\n  {slope}at {place}")?;
        }
        self.within.iter().try_for_each(|within| write!(f, "\n  in {within}"))?;
        let NonFinite { elements, of, index, value, .. } = self;
        let mut facts = nonfinite::facts([*elements, *of], index, value, &self.operands);
        facts.try_for_each(|fact| write!(f, "\n  {fact}"))
    }
}

impl NonFinite {
    pub(super) fn new(found: FirstFound) -> NonFinite {
        let FirstFound { operation, place, slope_of, within, dtype, elements, of, index, value, operands, .. } = found;
        NonFinite { operation, place, slope_of, within, dtype, elements, of, index, value, operands }
    }
}

/// Runs `body` with a check for NaN in the results of its calls and evaluations, like `jax_debug_nans` in JAX. A NaN
/// makes the call an error with the [first operation](crate::debug::first_nan) that gives one. To find the operation,
/// the call runs again, operation by operation. The environment variable `NDJIT_DEBUG_NANS=1` enables the check for the
/// whole process, [`Jitted::check_nans`](crate::Jitted::check_nans) for one function. For thread pools see
/// [`with_policy`](crate::with_policy).
///
/// ```
/// use ndjit::{debug::with_nan_check, jit, sqrt, Array, ErrorCode};
///
/// let f = jit(|x| sqrt(x) + 1);
/// let error = with_nan_check(|| f.call((&Array::from([4.0f32, -1.0]),))).unwrap_err();
/// assert_eq!((error.code(), error.headline()), (ErrorCode::Nan, "sqrt: a result is NaN"));
/// ```
pub fn with_nan_check<R>(body: impl FnOnce() -> R) -> R {
    nonfinite::with_check(body)
}
