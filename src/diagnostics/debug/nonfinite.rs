//! Which operation makes the first NaN or infinity: what is found, and a check of the results of every call.

use ndjit_eval::nonfinite::{self, FirstFound};
use ndjit_ir::{DType, Place};
use std::fmt;

/// The first operation of a function that gives NaN (or infinity) though its operands hold none.
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
    /// The operation, as the traced graph prints it; `argument 0` or `captured array 0` where no operation makes one, but an array
    /// holds one that reaches a result.
    pub operation: String,
    /// Where it was written.
    pub place: Option<Place>,
    /// The operation written there, of whose slope it is, if a derivative made it.
    pub slope_of: Option<&'static str>,
    /// Which step of which loop, or which branch, it is in, the outermost first: `step 3 of for at src/main.rs:5:9, counted from 0`.
    pub within: Vec<String>,
    /// The dtype of its result.
    pub dtype: DType,
    /// Elements of the result that are NaN (or infinite) and not because of an operand's.
    pub elements: usize,
    /// Elements of the result.
    pub of: usize,
    /// The index of the first of them.
    pub index: Vec<usize>,
    /// What it holds there.
    pub value: String,
    /// What its operands hold there, each with its name in `operation`: of operations element by element.
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

/// Runs `body` with a check of the results of functions called and arrays evaluated in it: a NaN makes the call an error that names the
/// [first operation](crate::debug::first_nan) that gave one, as JAX's `jax_debug_nans`. A call is then run again, operation by operation. The environment
/// variable `NDJIT_DEBUG_NANS=1` does this for the whole process, [`Jitted::check_nans`](crate::Jitted::check_nans) for one function. Of thread pools see
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
