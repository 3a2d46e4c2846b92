//! [`Array`] as data: elements in memory, or a pending operation.
//!
//! The crate `ndjit-eval` has the representation and the evaluation.

use ndjit_eval::array::ArrayRef;

/// An n-dimensional array: elements of one [`DType`](crate::DType), or a pending computation of them.
///
/// Operators and methods record operations and compute nothing. Reading ([`to_vec`](Array::to_vec),
/// [`item`](Array::item), printing), passing to a jitted function, or [`eval`](Array::eval) compiles and runs the
/// recorded operations as one program. More than [`Array::NODE_LIMIT`] pending operations run at once, so memory stays
/// bounded.
///
/// Intermediate results are not stored at first. An operation that runs again has its result cached in its array,
/// unless it is cheap. A loop that reads in each step takes constant time per step, and no more memory than eager
/// evaluation. When an allocation fails, cached results are freed and computed again on demand.
///
/// A failed operation gives a poisoned array. Reading it or computing with it gives the first error; printing shows it.
/// A poisoned array has neither dtype nor shape: [`dtype`](Array::dtype), [`shape`](Array::shape) and related methods
/// return those of a `bool` scalar, so check [`error`](Array::error) first. Errors at run time, such as a failed
/// allocation, are errors of each read and do not poison the array. `Clone` is cheap and shares the elements.
///
/// ```
/// use ndjit::{Array, DType};
///
/// let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]);
/// let y = (&x * 2).sum(0); // nothing is computed yet
/// assert_eq!((y.dtype(), y.to_vec::<f32>()?), (DType::F32, vec![8.0, 12.0]));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone)]
pub struct Array(pub(crate) ArrayRef);

impl Array {
    /// Returns the evaluator's references to arrays.
    pub(crate) fn refs(arrays: &[Array]) -> Vec<ArrayRef> {
        arrays.iter().map(|array| array.0.clone()).collect()
    }
}
