//! Slices of an array selected by a mask: [`compress`]. Their number depends on values; in traced functions [`size`] fixes it.

use crate::api::indexing::{index_dtype, taken};
use crate::api::manipulation::refused;
use crate::api::parts::{FunctionParts, only_axis};
use crate::api::selection::{found, outside};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, ArrayOperand, BinaryOperand, Operand, UnaryOperand};
use crate::trace::scalar::{Number, Scalar};
use ndjit_eval::request::NamedFunction;
use ndjit_ir::axes::position;
use ndjit_ir::graph::Scatter;
use ndjit_ir::literal::Literal;
use ndjit_ir::view::{self, Slice};
use ndjit_ir::{DType, Error, ErrorCode, Op, Result, Scan, Shape, SourceLoc};

/// The slices of `x` along an axis where a mask is true, in order. The mask has one axis; if it is shorter than that of `x`,
/// the rest is dropped.
///
/// ```
/// use ndjit::{Array, Expr, compress, jit, size};
///
/// let x = Array::from_rows(&[[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(compress(Array::from([true, false, true]), &x, 1).to_string(), "[[1 3]\n [4 6]]");
/// assert_eq!(compress(Array::from([false, true]), &x, 0).to_string(), "[[4 5 6]]");
///
/// // Traced, so many are taken, and a number stands for those that are missing.
/// let f = jit(|x: Expr| size(3).fill(-1).compress(x.gt(2), x, 0));
/// assert_eq!(f(&Array::from([1, 5, 2, 7])).to_string(), "[ 5  7 -1]");
/// ```
///
/// - Result: the dtype of `x`; its shape, with the number of true elements of the mask as the extent along the axis.
///   Non-bool elements are true if nonzero.
/// - Whole elements by a mask of several axes: `x.at(&mask).get()`.
///
/// Source: NumPy's [`compress`](https://numpy.org/doc/stable/reference/generated/numpy.compress.html).
///
/// # Errors
/// Poisoned with `Traced` in a traced function; with `Shape` for an axis out of range, and for a mask of another rank than 1
/// or longer than that of `x`.
#[doc(alias = "boolean_mask")]
#[doc(alias = "masked_select")]
#[track_caller]
pub fn compress<M: Operand + BinaryOperand<X>, X: Operand>(mask: M, x: X, axis: isize) -> M::Out {
    compressed(mask.operand(), x.operand(), axis, None, SourceLoc::caller())
}

/// A fixed result size for functions whose shapes depend on values, and the fill value: made by [`size`].
///
/// ```
/// use ndjit::{Array, Expr, FixedSize, jit, size};
///
/// const MOST: usize = 3;
/// fn most() -> FixedSize {
///     size(MOST).fill(-1)
/// }
/// let f = jit(|x: Expr| most().nonzero(x).remove(0));
/// assert_eq!(f(&Array::from([0, 7, 0, 9])).to_string(), "[ 1  3 -1]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedSize {
    size: usize,
    fill: Scalar,
}

/// [`compress`] and [`nonzero`](fn@crate::nonzero) with results of this size, for traced functions: the first of the
/// results, padded with 0 or another fill value.
///
/// ```
/// use ndjit::{Array, Expr, jit, size};
///
/// let f = jit(|x: Expr| size(2).nonzero(x).remove(0));
/// assert_eq!(f(&Array::from([0, 7, 0, 9, 8])).to_string(), "[1 3]");
/// assert_eq!(size(2).fill(9).compress(Array::from([false, true]), &Array::from([5, 6]), 0).to_string(), "[6 9]");
/// ```
///
/// Source: `size` and `fill_value` of JAX's [`nonzero`](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nonzero.html) and
/// [`compress`](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.compress.html).
pub fn size(size: usize) -> FixedSize {
    FixedSize { size, fill: Scalar(Literal::weak(0), None) }
}

impl FixedSize {
    /// Sets the fill value. It must fit the dtype of the result.
    ///
    /// ```
    /// use ndjit::{Array, size};
    ///
    /// assert_eq!(size(3).fill(-1).nonzero(&Array::from([0, 5]))[0].to_string(), "[ 1 -1 -1]");
    /// ```
    #[track_caller]
    pub fn fill(self, number: impl Number) -> FixedSize {
        FixedSize { fill: Scalar(number.literal(), Some(SourceLoc::caller())), ..self }
    }

    /// The indices of nonzero elements along each axis, of this size: [`nonzero`](fn@crate::nonzero).
    ///
    /// ```
    /// use ndjit::{Array, size};
    ///
    /// let [rows, columns] = &size(2).nonzero(&Array::from_rows(&[[0, 5], [7, 8]]))[..] else { unreachable!() };
    /// assert_eq!((rows.to_string(), columns.to_string()), ("[0 1]".into(), "[1 0]".into()));
    /// ```
    #[track_caller]
    pub fn nonzero<X: UnaryOperand>(self, x: X) -> Vec<X::Out> {
        let (what, place, x) = ("nonzero", SourceLoc::caller(), x.operand());
        let parts = FunctionParts::<X::Out>::new(what, place);
        match self.indices(&parts, &x) {
            Ok(axes) => {
                axes.iter().map(|axis| parts.value(axis).part_of(what, std::slice::from_ref(&x), place)).collect()
            }
            Err(error) => {
                let rank = x.describe(what).map_or(1, |(.., shape)| shape.rank().max(1));
                (0..rank).map(|_| refused(what, std::slice::from_ref(&x), place, &error)).collect()
            }
        }
    }

    /// The slices where the mask is true, of this number: [`compress`](fn@crate::compress).
    ///
    /// ```
    /// use ndjit::{Array, size};
    ///
    /// let mask = Array::from([true, true, false]);
    /// assert_eq!(size(1).compress(&mask, &Array::from([5, 6, 7]), 0).to_string(), "[5]");
    /// ```
    #[track_caller]
    pub fn compress<M: Operand + BinaryOperand<X>, X: Operand>(self, mask: M, x: X, axis: isize) -> M::Out {
        compressed(mask.operand(), x.operand(), axis, Some(self), SourceLoc::caller())
    }

    /// The first indices where a mask of one axis is true, as `i64`, padded with -1.
    fn first<R: ArrayLike>(self, parts: &FunctionParts<R>, mask: &AnyOperand, extent: usize) -> Result<AnyOperand> {
        let mask = parts.cast(mask, DType::Bool);
        let counted = parts.along(Scan::CumulativeSum, Some(DType::I64), &parts.cast(&mask, DType::I64));
        let place = parts.op(Op::Subtract, &[&counted, &parts.number(1)]);
        let place = parts.op(Op::Where, &[&mask, &place, &parts.number(-1)]);
        let none = parts.filled(&mask, &parts.number(-1), DType::I64, &Shape::from(self.size));
        parts.scattered(Scatter::Set, &none, self.size, &place, &parts.iota(&mask, extent))
    }

    fn indices<R: ArrayLike>(self, parts: &FunctionParts<R>, x: &AnyOperand) -> Result<Vec<AnyOperand>> {
        let (.., shape) = x.describe(parts.what)?;
        if shape.rank() == 0 {
            return Err(Error::new(ErrorCode::Shape, "an array without axes has no indices")
                .help("`x.reshape(1)` has one axis"));
        }
        let dtype = index_dtype(shape.extents().iter().copied().max().unwrap_or(0))?;
        let fill = self.filling(dtype)?;
        let flat = self.first(parts, &parts.reshaped(x, &[-1]), shape.size()?)?;
        let missing = parts.op(Op::Less, &[&flat, &parts.number(0)]);
        let (mut left, mut axes) = (flat, Vec::with_capacity(shape.rank()));
        for &extent in shape.extents().iter().rev() {
            let extent = parts.number(i64::try_from(extent.max(1)).unwrap_or(i64::MAX));
            let index = parts.cast(&parts.op(Op::Remainder, &[&left, &extent]), dtype);
            axes.push(parts.op(Op::Where, &[&missing, &fill, &index]));
            left = parts.op(Op::FloorDivide, &[&left, &extent]);
        }
        axes.reverse();
        Ok(axes)
    }

    /// The fill value in a dtype.
    fn filling(self, dtype: DType) -> Result<AnyOperand> {
        let Scalar(number, place) = self.fill;
        Ok(AnyOperand::Scalar(Scalar(Literal::from_repr(dtype, &number.to_repr(dtype)?), place)))
    }
}

fn compressed<R: ArrayLike>(
    mask: AnyOperand,
    x: AnyOperand,
    axis: isize,
    size: Option<FixedSize>,
    place: SourceLoc,
) -> R {
    let parts = FunctionParts::<R>::new("compress", place);
    let function = NamedFunction::new(parts.what, &["mask", "x"]);
    let operands = [mask, x];
    match chosen(&parts, &operands, axis, size) {
        Ok(made) => made.part_of(function, &operands, place),
        Err(error) if error.place().is_some() => R::failed(error),
        Err(error) => refused(function, &operands, place, &error),
    }
}

fn chosen<R: ArrayLike>(
    parts: &FunctionParts<R>,
    [mask, x]: &[AnyOperand; 2],
    axis: isize,
    size: Option<FixedSize>,
) -> Result<R> {
    let (_, dtype, shape) = x.describe(parts.what)?;
    let at = position(axis, shape.rank())?;
    let (len, extent) = (only_axis(parts.what, "a mask", mask)?, shape.extents()[at]);
    if len > extent {
        return Err(Error::new(ErrorCode::Shape, format!("a mask of {len} elements for an axis that has {extent}"))
            .about_axis()
            .fact(format_args!("axis {at} of shape {shape}"))
            .help("give an element for each index of the axis, or fewer"));
    }
    let take = |indices: AnyOperand| -> R { taken(parts.what, x.clone(), indices, at as isize, false, parts.place) };
    let Some(size) = size else {
        let instead = "`size(n).compress(mask, x, axis)` takes `n` and fills up what is missing; `where_(mask, x, 0)` keeps the shape";
        let mut indices: Vec<R> =
            outside(parts.what, mask, parts.place, instead, 1, |mask| found(mask, DType::I64, parts.place));
        return Ok(indices.pop().map_or_else(|| R::failed(lost(parts)), |indices| take(indices.operand())));
    };
    let fill = size.filling(dtype)?;
    let indices = size.first(parts, mask, len)?;
    if extent == 0 {
        let extents: Vec<usize> =
            shape.extents().iter().enumerate().map(|(n, &own)| if n == at { size.size } else { own }).collect();
        return Ok(parts.value(&parts.filled(x, &fill, dtype, &Shape::from(extents))));
    }
    let behind: Vec<Slice> = [Slice::ALL].into_iter().chain(vec![Slice::NewAxis; shape.rank() - at - 1]).collect();
    let missing = parts.op(Op::Less, &[&indices, &parts.number(0)]);
    let missing = parts.seen(&missing, |shape| view::slice(shape, &behind));
    let there = parts.op(Op::Maximum, &[&indices, &parts.number(0)]);
    Ok(parts.value(&parts.op(Op::Where, &[&missing, &fill, &take(there).operand()])))
}

fn lost<R>(parts: &FunctionParts<R>) -> Error {
    Error::new(ErrorCode::Verify, "a result is missing").of(parts.what).at(parts.place)
}

/// Masks as methods: see the free function.
impl Expr {
    /// The slices along an axis where a mask is true, an error in a traced function: [`compress`](fn@crate::compress).
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode, Expr, jit};
    ///
    /// let f = jit(|x: Expr| x.compress(x.gt(2), 0));
    /// assert_eq!(f.call((&Array::from([1, 5]),)).unwrap_err().code(), ErrorCode::Traced);
    /// ```
    #[track_caller]
    pub fn compress(self, mask: impl Operand, axis: isize) -> Expr {
        compressed(mask.operand(), self.operand(), axis, None, SourceLoc::caller())
    }
}

/// Masks as methods: see the free function.
impl Array {
    /// The slices along an axis where a mask is true: [`compress`](fn@crate::compress).
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let x = Array::from([1, 5, 7]);
    /// assert_eq!(x.compress(x.gt(2), 0).to_string(), "[5 7]");
    /// ```
    #[track_caller]
    pub fn compress(&self, mask: impl ArrayOperand, axis: isize) -> Array {
        compressed(mask.operand(), self.operand(), axis, None, SourceLoc::caller())
    }
}
