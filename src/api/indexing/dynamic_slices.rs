//! Slices with dynamic starts.

use super::at::At;
use super::indices::{ArrayIndices, Index, Indices};
use crate::api::integers::Integers;
use crate::api::manipulation::refused;
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::UnaryOperand;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};
use smallvec::SmallVec;

/// The slice of `x` from the given start with the given lengths: along the first axis, or along the first axes for a tuple
/// of starts and as many lengths. Starts may be traced values; lengths are constants of the trace. The other axes are whole.
///
/// ```
/// use ndjit::{Array, Expr, jit, slice_dynamic};
///
/// let x = Array::from_rows(&[[1, 2, 3], [4, 5, 6]]);
/// let f = jit(|x: Expr, j: Expr| slice_dynamic(x, (0, j), [2, 2]));
/// assert_eq!(f(&x, &Array::from(1)).to_string(), "[[2 3]\n [5 6]]");
/// // There is no slice of two columns that begins at the last one.
/// assert_eq!(f(&x, &Array::from(2)).to_string(), "[[2 3]\n [5 6]]");
/// assert_eq!(x.slice_dynamic(1, 1).to_string(), "[[4 5 6]]");
/// ```
///
/// - Result: the dtype of `x`, weak if `x` is; the lengths along the first axes.
/// - Starts: integers of any dtype; negative ones count from the end. Each is clamped so that the slice lies within the array.
/// - [`dynamic_range`](crate::dynamic_range) is such a slice in [`Expr::at`], which also updates it.
///
/// Source: [`jax.lax.dynamic_slice`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.dynamic_slice.html).
///
/// # Errors
/// Poisoned with `Shape` for another number of lengths than of starts, for a start that is not a scalar, and for a length
/// that is negative or greater than the extent; with `DType` for non-integer starts.
#[doc(alias = "dynamic_slice")]
#[track_caller]
pub fn slice_dynamic<X: UnaryOperand>(x: X, starts: impl Indices, lengths: impl Integers) -> X::Out {
    let place = SourceLoc::caller();
    let (x, starts, lengths) = (x.operand(), starts.indices(), lengths.integers());
    match ranges(starts, &lengths) {
        Ok(ranges) => At::new(x, ranges, place).get(),
        Err(error) => refused("slice_dynamic", &[x], place, &error),
    }
}

/// Returns the ranges from the starts, of these lengths.
fn ranges(starts: SmallVec<[Index; 4]>, lengths: &[isize]) -> Result<SmallVec<[Index; 4]>> {
    if starts.len() != lengths.len() {
        let headline = format!("{} starts and {} lengths", starts.len(), lengths.len());
        return Err(Error::new(ErrorCode::Shape, headline)
            .help("there is a length for each start, as in `x.slice_dynamic((i, j), [3, 2])`"));
    }
    let range = |(start, &length): (Index, &isize)| match (start, usize::try_from(length)) {
        (Index::Elements(start), Ok(length)) => Ok(Index::Dynamic(start, length)),
        (_, Err(_)) => Err(Error::new(ErrorCode::Shape, format!("a slice of {length} elements"))
            .help("a length is a number of elements, known when the function is traced")),
        _ => Err(Error::new(ErrorCode::Shape, "a range is not a start")
            .help("a start is an integer; `x.at((.., dynamic_range(i, 3))).get()` has both")),
    };
    starts.into_iter().zip(lengths).map(range).collect()
}

/// Slices with dynamic starts.
impl Expr {
    /// [`slice_dynamic`](fn@crate::slice_dynamic) as a method.
    ///
    /// ```
    /// use ndjit::{Array, Expr, jit};
    ///
    /// let f = jit(|x: Expr, i: Expr| x.slice_dynamic(i, 2));
    /// assert_eq!(f(&Array::from([5, 6, 7]), &Array::from(1)).to_vec::<i32>()?, [6, 7]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn slice_dynamic(self, starts: impl Indices, lengths: impl Integers) -> Expr {
        slice_dynamic(self, starts, lengths)
    }
}

/// Slices with array starts.
impl Array {
    /// [`slice_dynamic`](fn@crate::slice_dynamic) as a method.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// assert_eq!(Array::from([5, 6, 7]).slice_dynamic(Array::from(-1), 2).to_vec::<i32>()?, [6, 7]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn slice_dynamic(&self, starts: impl ArrayIndices, lengths: impl Integers) -> Array {
        slice_dynamic(self, starts, lengths)
    }
}
