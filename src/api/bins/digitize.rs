//! The bin of each element: [`digitize`].

use crate::api::indexing::{Side, searched};
use crate::api::manipulation::refused;
use crate::api::parts::{FunctionParts, only_axis};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, ArrayOperand, BinaryOperand, Operand};
use ndjit_eval::request::NamedFunction;
use ndjit_ir::view::{self, Slice};
use ndjit_ir::{Op, Result, SourceLoc};

/// The edge that belongs to a bin.
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
    /// The lower one: the bins are `edges[i - 1] <= x < edges[i]`.
    #[default]
    Left,
    /// The upper one: the bins are `edges[i - 1] < x <= edges[i]`.
    Right,
}

/// The index of the bin of each element of `x`, between ascending or descending `edges`: 0 before the first edge, the number
/// of edges after the last. A bin includes its lower edge; [`Closed::Right`] has [`digitize`](Closed::digitize) with the
/// upper.
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
/// - Result: the dtype of indices, as in [`argsort`](fn@crate::argsort), of the shape of `x`. Elements and edges are cast to
///   their common dtype.
/// - Edges descend if the last is less than the first. Bins are then counted from the largest, with NaN before all;
///   otherwise NaN lies after all. The order of the edges is not checked.
/// - A [`searchsorted`](fn@crate::searchsorted). It is recompiled where the number of edges exceeds 15, 255, 4095, and so on.
///
/// Source: NumPy's [`digitize`](https://numpy.org/doc/stable/reference/generated/numpy.digitize.html), whose `right=True` is [`Closed::Right`].
///
/// # Errors
/// Poisoned with `Shape` unless the edges have one axis; with `DType` for complex numbers; with `Promotion` without a common dtype.
#[doc(alias = "bucketize")]
#[doc(alias = "cut")]
#[track_caller]
pub fn digitize<X: Operand + BinaryOperand<E>, E: Operand>(x: X, edges: E) -> X::Out {
    bins_of(x.operand(), edges.operand(), Closed::Left, SourceLoc::caller())
}

impl Closed {
    /// [`digitize`](fn@crate::digitize) with this closed edge.
    ///
    /// ```
    /// use ndjit::{Array, Closed};
    ///
    /// let edges = Array::from([1, 2, 3]);
    /// assert_eq!(Closed::Right.digitize(&Array::from([1, 3]), &edges).to_string(), "[0 2]");
    /// ```
    #[track_caller]
    pub fn digitize<X: Operand + BinaryOperand<E>, E: Operand>(self, x: X, edges: E) -> X::Out {
        bins_of(x.operand(), edges.operand(), self, SourceLoc::caller())
    }
}

fn bins_of<R: ArrayLike>(x: AnyOperand, edges: AnyOperand, closed: Closed, place: SourceLoc) -> R {
    let parts = FunctionParts::<R>::new("digitize", place);
    let function = NamedFunction::new(parts.what, &["x", "edges"]);
    match found(&parts, &x, &edges, closed) {
        Ok(bins) => parts.value(&bins).part_of(function, &[x, edges], place),
        Err(error) if error.place().is_some() => R::failed(error),
        Err(error) => refused(function, &[x, edges], place, &error.unnamed()),
    }
}

fn found<R: ArrayLike>(
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

/// Bins as a method: see the free function.
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

/// Bins as a method: see the free function.
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
