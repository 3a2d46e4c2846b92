//! The first elements along an axis, of dynamic number.

use super::checked::whole_number;
use crate::api::config::with_parts;
use crate::api::manipulation::refused;
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, ArrayOperand, BinaryOperand, Operand};
use ndjit_eval::request::Movement;
use ndjit_ir::axes::{AxisSet, position};
use ndjit_ir::infer::Operation;
use ndjit_ir::{Error, ErrorCode, Op, Result, Shape, SourceLoc};

/// The first `length` elements of `x` along an axis, and `fill` from index `length` on, in the shape of `x`. The length may
/// be a traced value.
///
/// ```
/// use ndjit::{Array, Expr, jit, prefix};
///
/// let x = Array::from([3, 1, 4, 1, 5]);
/// assert_eq!(prefix(&x, 2, 0, 0).to_vec::<i32>()?, [3, 1, 0, 0, 0]);
///
/// // The sum of the first n.
/// let sum = jit(|x: Expr, n: Expr| x.prefix(n, 0, 0).sum(..));
/// assert_eq!(sum(&x, &Array::from(3)).item::<i32>()?, 8);
/// assert_eq!(sum(&x, &Array::from(-1)).item::<i32>()?, 0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// A reduction of a prefix along its axis takes time proportional to `length`, if `fill` is its neutral element: 0 in a sum,
/// 1 in a product, `-inf` or the least integer in a maximum. A loop over the rows of a triangle therefore does only the work
/// of a triangle. The result equals `where_(iota < length, x, fill)`, bit for bit.
///
/// - Result: the shape of `x`, and the common dtype of `x` and `fill`, as in [`where_`](fn@crate::where_).
/// - Length: one integer of any dtype, clamped to 0 and the extent.
///
/// # Errors
/// Poisoned with `Shape` for an axis out of range and for a length that is not a scalar, with `DType` for a non-integer length.
#[doc(alias = "mask")]
#[track_caller]
pub fn prefix<X: Operand + BinaryOperand<N>, N: Operand>(
    x: X,
    length: N,
    axis: isize,
    fill: impl ArrayOperand,
) -> X::Out {
    first(x.operand(), length.operand(), axis, fill.operand(), SourceLoc::caller())
}

fn first<R: ArrayLike>(x: AnyOperand, length: AnyOperand, axis: isize, fill: AnyOperand, place: SourceLoc) -> R {
    const WHAT: &str = "prefix";
    let made: Result<R> = (|| {
        let (_, _, shape) = x.describe(WHAT)?;
        let (ty, dtype, of) = length.describe(WHAT)?;
        if !dtype.is_int() {
            return Err(Error::new(ErrorCode::DType, format!("a length is an integer, not {ty}"))
                .help("cast it, as in `cast(length, DType::I64)`"));
        }
        if of.rank() > 0 {
            return Err(Error::new(ErrorCode::Shape, format!("a length of shape {of}"))
                .help("one number says how many elements there are; `where_(index.lt(lengths), x, fill)` has a length for each row"));
        }
        let axis = position(axis, shape.rank())?;
        let extents: Vec<usize> =
            (axis..shape.rank()).map(|n| if n == axis { shape.extents()[n] } else { 1 }).collect();
        let index = |_: &[&Shape]| Ok(Operation::iota(AxisSet::one(0), Shape::from(&extents[..])));
        let index: R = R::movement(&Movement { function: WHAT.into(), of: &index }, std::slice::from_ref(&x), place);
        let length = whole_number::<R>(&length, dtype, place);
        let mask: R = with_parts(|| R::compute(Op::Less, &[index.operand(), length], place));
        Ok(R::compute(Op::Where, &[mask.operand(), x.clone(), fill.clone()], place))
    })();
    let operands = [x, length, fill];
    match made {
        Ok(made) => made.part_of(WHAT, &operands, place),
        Err(error) => refused(WHAT, &operands, place, &error),
    }
}

/// Prefixes of dynamic length.
impl Expr {
    /// [`prefix`](fn@crate::prefix) as a method.
    ///
    /// ```
    /// use ndjit::{Array, Expr, jit};
    ///
    /// let f = jit(|x: Expr, n: Expr| x.prefix(n, -1, 9));
    /// assert_eq!(f(&Array::from([5, 6, 7]), &Array::from(1)).to_vec::<i32>()?, [5, 9, 9]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn prefix(self, length: impl Operand, axis: isize, fill: impl ArrayOperand) -> Expr {
        first(self.operand(), length.operand(), axis, fill.operand(), SourceLoc::caller())
    }
}

/// Prefixes of an array's length.
impl Array {
    /// [`prefix`](fn@crate::prefix) as a method.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// assert_eq!(Array::from([5, 6, 7]).prefix(&Array::from(2), 0, 0).to_vec::<i32>()?, [5, 6, 0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn prefix(&self, length: impl ArrayOperand, axis: isize, fill: impl ArrayOperand) -> Array {
        first(self.operand(), length.operand(), axis, fill.operand(), SourceLoc::caller())
    }
}
