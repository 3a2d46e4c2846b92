//! In which bin each element lies: [`digitize`].

use crate::api::indexing::{Side, searched};
use crate::api::manipulation::refused;
use crate::api::parts::{FunctionParts, only_axis};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayOperand, Computed, Meet, Operand};
use ndjit_ir::view::{self, Slice};
use ndjit_ir::{Op, Place, Result};

/// Which edge belongs to a bin.
///
/// ```
/// use ndjit::{Array, Closed};
///
/// let edges = Array::from([0, 10]);
/// assert_eq!(Closed::Left.digitize(&Array::from([0, 10]), &edges).to_string(), "[1 2]");
/// assert_eq!(Closed::Right.digitize(&Array::from([0, 10]), &edges).to_string(), "[0 1]");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Closed {
    /// The smaller one: the bins are `edges[i - 1] <= x < edges[i]`.
    #[default]
    Left,
    /// The larger one: the bins are `edges[i - 1] < x <= edges[i]`.
    Right,
}

/// In which bin between `edges`, which ascend or descend, each element of `x` lies: 0 before the first edge, as many as there are edges behind the last.
/// Of two edges of a bin the smaller one belongs to it; [`Closed::Right`] has [`digitize`](Closed::digitize) with the larger.
///
/// ```
/// use ndjit::{Array, Closed, digitize};
///
/// let edges = Array::from([0.0f32, 1.0, 10.0]);
/// let x = Array::from([-1.0f32, 0.0, 0.5, 1.0, 10.0, f32::NAN]);
/// assert_eq!(digitize(&x, &edges).to_string(), "[0 1 1 2 3 3]");
/// assert_eq!(Closed::Right.digitize(&x, &edges).to_string(), "[0 0 1 1 2 3]");
/// assert_eq!(digitize(&x, edges.flip(0)).to_string(), "[3 2 2 1 0 0]");
/// ```
///
/// - Result: the dtype of indices, as of [`argsort`](fn@crate::argsort), of the shape of `x`. Elements and edges meet in their common dtype.
/// - Edges descend if the last is less than the first: bins are counted from the largest then, and NaN lies before all. Else it lies behind all. Whether they are in order is not looked at.
/// - A [`searchsorted`](fn@crate::searchsorted), compiled again where the number of edges gets past 15, 255, 4095, and so on.
///
/// Source: NumPy's [`digitize`](https://numpy.org/doc/stable/reference/generated/numpy.digitize.html), whose `right=True` is [`Closed::Right`].
///
/// # Errors
/// Poisoned with `Shape` if the edges have not one axis; with `DType` for complex numbers; with `Promotion` if the dtypes have no common one.
#[doc(alias = "bucketize")]
#[doc(alias = "cut")]
#[track_caller]
pub fn digitize<X: Operand + Meet<E>, E: Operand>(x: X, edges: E) -> X::Out {
    bins_of(x.operand(), edges.operand(), Closed::Left, Place::caller())
}

impl Closed {
    /// [`digitize`](fn@crate::digitize) with bins to which this edge belongs.
    ///
    /// ```
    /// use ndjit::{Array, Closed};
    ///
    /// let edges = Array::from([1, 2, 3]);
    /// assert_eq!(Closed::Right.digitize(&Array::from([1, 3]), &edges).to_string(), "[0 2]");
    /// ```
    #[track_caller]
    pub fn digitize<X: Operand + Meet<E>, E: Operand>(self, x: X, edges: E) -> X::Out {
        bins_of(x.operand(), edges.operand(), self, Place::caller())
    }
}

fn bins_of<R: Computed>(x: AnyOperand, edges: AnyOperand, closed: Closed, place: Place) -> R {
    let parts = FunctionParts::<R>::new("digitize", place);
    match found(&parts, &x, &edges, closed) {
        Ok(bins) => parts.value(&bins).part_of(parts.what, &[x, edges], place),
        Err(error) if error.place().is_some() => R::failed(error),
        Err(error) => refused(parts.what, &[x, edges], place, &error.unnamed()),
    }
}

fn found<R: Computed>(
    parts: &FunctionParts<R>,
    x: &AnyOperand,
    edges: &AnyOperand,
    closed: Closed,
) -> Result<AnyOperand> {
    x.describe(parts.what)?;
    let side = match closed {
        Closed::Left => Side::Right,
        Closed::Right => Side::Left,
    };
    let search = |edges: AnyOperand| -> Result<AnyOperand> {
        let found: R = searched(parts.what, edges, x.clone(), side, parts.place)?;
        Ok(found.operand())
    };
    let len = only_axis(parts.what, "an array of edges", edges)?;
    if len < 2 {
        return search(edges.clone());
    }
    let end = |at: isize| parts.seen(edges, |shape| view::slice(shape, &[Slice::Index(at)]));
    let descends = parts.op(Op::Less, &[&end(-1), &end(0)]);
    let turned = parts.seen(edges, |shape| view::flip(shape, &[0]));
    let bins = search(parts.op(Op::Where, &[&descends, &turned, edges]))?;
    let from_last = parts.op(Op::Subtract, &[&parts.number(len as i64), &bins]);
    Ok(parts.op(Op::Where, &[&descends, &from_last, &bins]))
}

/// Bins: documented where it stands alone.
impl Expr {
    /// [`digitize`](fn@crate::digitize) as a method.
    ///
    /// ```
    /// use ndjit::{Array, Expr, jit};
    ///
    /// let f = jit(|x: Expr, edges: Expr| x.digitize(edges));
    /// assert_eq!(f(&Array::from([5]), &Array::from([0, 4, 8])).to_string(), "[2]");
    /// ```
    #[track_caller]
    pub fn digitize(self, edges: impl Operand) -> Expr {
        digitize(self, edges)
    }
}

/// Bins: documented where it stands alone.
impl Array {
    /// [`digitize`](fn@crate::digitize) as a method.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// assert_eq!(Array::from([5]).digitize(&Array::from([0, 4, 8])).to_string(), "[2]");
    /// ```
    #[track_caller]
    pub fn digitize(&self, edges: impl ArrayOperand) -> Array {
        digitize(self, edges)
    }
}
