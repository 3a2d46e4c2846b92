//! [`Array`] as data: elements in memory, or the operation that gives them when they are read.
//!
//! What it holds, and how it is computed, is of the crate `ndjit-eval`.

use ndjit_eval::array::ArrayRef;

/// An n-dimensional array: elements of one [`DType`](crate::DType), or a computation that gives them.
///
/// Operators and methods do not compute: they note what is to be done. Reading ([`to_vec`](Array::to_vec),
/// [`item`](Array::item), printing), passing to a jitted function, or [`eval`](Array::eval) compiles and runs what was noted
/// as one program. When more than [`Array::NODE_LIMIT`] operations wait, they run at once, so memory stays bounded.
/// Of operations on the way to what is read nothing is stored at first. An operation that runs again has its result kept in the array that holds it,
/// unless it is cheap: loops that read as they go take as long for each step, and hold no more than arrays computed at once would. Where memory is
/// refused, what was kept is given back and computed when it is needed.
///
/// An operation that fails gives a poisoned array, and whatever reads it, or computes with it, gets the first error; printing shows it. Such
/// an array has neither dtype nor shape: [`dtype`](Array::dtype), [`shape`](Array::shape) and what follows from them are
/// those of a `bool` scalar, so ask [`error`](Array::error) first where an operation may have failed. What is found out only when
/// it runs, such as memory that is refused, is an error of each reading, and the array is not poisoned. `Clone` is cheap and shares the elements.
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
    /// What the crate that evaluates arrays knows of some.
    pub(crate) fn refs(arrays: &[Array]) -> Vec<ArrayRef> {
        arrays.iter().map(|array| array.0.clone()).collect()
    }
}
