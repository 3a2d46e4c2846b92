//! Counts of elements per bin: [`histogram`].

use super::count::counted;
use super::edges::{BinEdges, Bins, IntoBins};
use crate::api::config::with_parts;
use crate::api::indexing::{Side, searched};
use crate::api::manipulation::{joined, part, refused};
use crate::api::parts::{FunctionParts, meeting};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, BinaryOperand, Operand};
use ndjit_eval::request::NamedFunction;
use ndjit_ir::view::{self, Slice};
use ndjit_ir::{DType, Error, ErrorCode, Kind, Op, Reduction, Result, Sort, SourceLoc};

/// The number of elements of `x` in each bin, and the edges of the bins: see [`IntoBins`]. Bins are half-open, with their
/// first edge; the last bin includes both edges.
///
/// ```
/// use ndjit::{Array, density, histogram, jit, weights};
///
/// let x = Array::from([1.0f32, 2.0, 1.0, 5.0]);
/// let (counts, edges) = histogram(&x, 4);
/// assert_eq!((counts.to_string(), edges.to_string()), ("[2 1 0 1]".into(), "[1. 2. 3. 4. 5.]".into()));
/// assert_eq!(histogram(&x, (2, 0.0..=2.0)).0.to_string(), "[0 3]");
/// let counts = jit(|x, edges| histogram(x, edges).0);
/// assert_eq!(counts(&x, &Array::from([0.0f32, 2.0, 10.0])).to_string(), "[2 2]");
///
/// assert_eq!(density().histogram(&x, (2, 1.0..=5.0)).0.to_string(), "[0.375 0.125]");
/// assert_eq!(weights(Array::from([1.0f32, 0.5, 1.0, 3.0])).histogram(&x, 2).0.to_string(), "[2.5 3. ]");
/// ```
///
/// - Counts: one axis, with an element for each bin, of the dtype of indices as in [`argsort`](fn@crate::argsort). `x` has
///   any shape: all its elements are counted.
/// - Edges: one axis, with one element more. Given edges are unchanged; others have the dtype of `x / 2`, or that of
///   `linspace` for a given range. Elements and edges are cast to their common dtype. The order of edges is not checked.
/// - Elements before the first edge, after the last, and NaN are not counted. Without a range, a NaN or an infinite element
///   makes the edges NaN, and nothing is counted: give a range. Without elements the edges go from 0 to 1; for equal
///   elements from a half below to a half above.
/// - Bins of equal width are computed from the element's fraction of the range, as in NumPy. Given edges use a sort of the
///   elements, or with weights a binary search in the edges, which is recompiled where their number exceeds 15, 255, 4095,
///   and so on.
///
/// Source: NumPy's [`histogram`](https://numpy.org/doc/stable/reference/generated/numpy.histogram.html), which refuses NaN
/// without a range.
///
/// # Errors
/// Both poisoned: with `Argument` for no bins and for a range that is not finite or descends; with `Shape` unless the edges
/// have one axis and at least one element; with `DType` for complex numbers; with `Promotion` without a common dtype.
#[track_caller]
pub fn histogram<X, B>(x: X, bins: B) -> (X::Out, X::Out)
where
    X: Operand + BinaryOperand<B::Edges>,
    B: IntoBins,
{
    histograms(x.operand(), bins.bins(), None, false, SourceLoc::caller())
}

/// Histograms with an integral of 1: made by [`density`].
///
/// ```
/// use ndjit::{Array, Density, density};
///
/// let normed: Density = density();
/// assert_eq!(normed.histogram(&Array::from([1, 2, 2]), (2, 1..=3)).0.to_string(), "[0.33333334 0.6666667 ]");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Density;

/// [`histogram`] of densities: each count divided by the width of its bin and the total count, so that the integral is 1.
/// With weights: `weights(w).density()`.
///
/// ```
/// use ndjit::{Array, density, weights};
///
/// let x = Array::from([0.5f32, 1.5, 1.5, 7.0]);
/// assert_eq!(density().histogram(&x, &Array::from([0.0f32, 1.0, 2.0, 10.0])).0.to_string(), "[0.25    0.5     0.03125]");
/// assert_eq!(weights(2.0).density().histogram(&x, (2, 0.0..=8.0)).0.to_string(), "[0.1875 0.0625]");
/// ```
///
/// - Result: the dtype of the quotient of counts and edges. NaN if nothing is counted.
pub fn density() -> Density {
    Density
}

impl Density {
    /// [`histogram`](fn@crate::histogram) of densities.
    ///
    /// ```
    /// use ndjit::{Array, density};
    ///
    /// assert_eq!(density().histogram(&Array::from([0, 1, 2, 4]), 2).0.to_string(), "[0.25 0.25]");
    /// ```
    #[track_caller]
    pub fn histogram<X, B>(self, x: X, bins: B) -> (X::Out, X::Out)
    where
        X: Operand + BinaryOperand<B::Edges>,
        B: IntoBins,
    {
        histograms(x.operand(), bins.bins(), None, true, SourceLoc::caller())
    }
}

/// Returns counts or sums of weights per bin, and the edges.
pub(crate) fn histograms<R: ArrayLike>(
    x: AnyOperand,
    bins: Bins,
    weights: Option<AnyOperand>,
    density: bool,
    place: SourceLoc,
) -> (R, R) {
    let parts = FunctionParts::<R>::new("histogram", place);
    let edges = match &bins {
        Bins::Between(edges) => Some(edges),
        Bins::Equal(..) => None,
    };
    let named = [("x", Some(&x)), ("edges", edges), ("weights", weights.as_ref())];
    let (names, operands): (Vec<&str>, Vec<AnyOperand>) =
        named.into_iter().filter_map(|(name, operand)| Some((name, operand?.clone()))).unzip();
    let function = NamedFunction::new(parts.what, &names);
    match made(&parts, &x, bins, weights.as_ref(), density) {
        Ok((counts, edges)) => {
            let both = [counts, edges].map(|part| parts.value(&part).part_of(function, &operands, place));
            let [counts, edges] = both;
            (counts, edges)
        }
        Err(error) if error.place().is_some() => (R::failed(error.clone()), R::failed(error)),
        Err(error) => {
            let error = error.unnamed();
            (refused(function, &operands, place, &error), refused(function, &operands, place, &error))
        }
    }
}

fn made<R: ArrayLike>(
    parts: &FunctionParts<R>,
    given: &AnyOperand,
    bins: Bins,
    weights: Option<&AnyOperand>,
    density: bool,
) -> Result<(AnyOperand, AnyOperand)> {
    let (_, dtype, _) = given.describe(parts.what)?;
    if dtype.kind() == Kind::Complex {
        return Err(Error::new(ErrorCode::DType, format!("{dtype} is not ordered"))
            .help("take the histogram of the moduli, `abs(x)`, or of a part, `real(x)`"));
    }
    let BinEdges { edges, bins, compare } = BinEdges::new(parts, given, bins)?;
    // With computed edges an array has their dtype; with the user's edges both have their common one.
    let x = compare.map_or_else(|| given.clone(), |dtype| parts.cast(given, dtype));
    let counts = match (compare, weights) {
        (None, None) => in_order(parts, &x, &edges, bins)?,
        (Some(dtype), _) if !dtype.is_half() => {
            counted(parts, &bin_of_equal(parts, &x, &edges, bins, dtype), bins, weights)?
        }
        _ => counted(parts, &bin_between(parts, &x, &edges, bins)?, bins, weights)?,
    };
    if !density {
        return Ok((counts, edges));
    }
    let (of_edges, ..) = edges.describe(parts.what)?;
    let types = match weights {
        // Counts have no dtype of their own.
        None => vec![of_edges],
        Some(_) => vec![counts.describe(parts.what)?.0, of_edges],
    };
    let dtype = meeting(Op::Divide, &types)?;
    let compute = if dtype.is_half() { DType::F32 } else { dtype };
    let (counts, wide) = (parts.cast(&counts, compute), parts.cast(&edges, compute.real()));
    let side = |start: Option<isize>, end: Option<isize>| {
        parts.seen(&wide, |shape| view::slice(shape, &[Slice::Range { start, end, step: 1 }]))
    };
    let widths = parts.op(Op::Subtract, &[&side(Some(1), None), &side(None, Some(-1))]);
    let all = parts.reduced(Reduction::Sum, Some(compute), &counts, ..);
    let heights = parts.op(Op::Divide, &[&parts.op(Op::Divide, &[&counts, &widths]), &all]);
    Ok((parts.cast(&heights, dtype), edges))
}

/// Counts the elements in each bin, by a sort.
fn in_order<R: ArrayLike>(
    parts: &FunctionParts<R>,
    x: &AnyOperand,
    edges: &AnyOperand,
    bins: usize,
) -> Result<AnyOperand> {
    let sorted = parts.along(Sort::Sort, None, &parts.reshaped(x, &[-1]));
    let before = |start: usize, end: usize, side: Side| -> Result<AnyOperand> {
        let edges = parts.seen(edges, |shape| part(shape, 0, start, end, 1));
        let found: R = searched(parts.what, sorted.clone(), edges, side, parts.place)?;
        Ok(found.operand())
    };
    let ends = vec![before(0, bins, Side::Left)?, before(bins, bins + 1, Side::Right)?];
    let ends: R = with_parts(|| joined(parts.what, ends, 0, parts.place));
    let ends = ends.operand();
    let [low, high] =
        [(0, bins), (1, bins + 1)].map(|(start, end)| parts.seen(&ends, |shape| part(shape, 0, start, end, 1)));
    Ok(parts.op(Op::Subtract, &[&high, &low]))
}

/// Returns the bin of each element, -1 without one.
fn bin_between<R: ArrayLike>(
    parts: &FunctionParts<R>,
    x: &AnyOperand,
    edges: &AnyOperand,
    bins: usize,
) -> Result<AnyOperand> {
    let behind: R = searched(parts.what, edges.clone(), x.clone(), Side::Right, parts.place)?;
    let bin = parts.op(Op::Subtract, &[&parts.cast(&behind.operand(), DType::I64), &parts.number(1)]);
    // The last bin includes its last edge.
    let last = parts.seen(edges, |shape| view::slice(shape, &[Slice::Index(-1)]));
    let at_end = R::compute(Op::Equal, &[x.clone(), last], parts.place).operand();
    Ok(parts.op(Op::Where, &[&at_end, &parts.number(bins as i64 - 1), &bin]))
}

/// Returns the same for bins of equal width, from the element's fraction of the range. Rounding may give the adjacent bin.
fn bin_of_equal<R: ArrayLike>(
    parts: &FunctionParts<R>,
    x: &AnyOperand,
    edges: &AnyOperand,
    bins: usize,
    dtype: DType,
) -> AnyOperand {
    let op = |op, a: &AnyOperand, b: &AnyOperand| parts.op(op, &[a, b]);
    let edge = |at: isize| parts.seen(edges, |shape| view::slice(shape, &[Slice::Index(at)]));
    let (first, last) = (edge(0), edge(-1));
    // If the difference of the ends overflows, their halves are exact.
    let fits = parts.op(Op::IsFinite, &[&op(Op::Subtract, &last, &first)]);
    let scale = parts.op(Op::Where, &[&fits, &parts.float(1.0, dtype), &parts.float(0.5, dtype)]);
    let scaled = |x: &AnyOperand| op(Op::Multiply, x, &scale);
    let low = scaled(&first);
    let way = op(Op::Divide, &op(Op::Subtract, &scaled(x), &low), &op(Op::Subtract, &scaled(&last), &low));
    let bin = parts.cast(&op(Op::Multiply, &way, &parts.float(bins as f64, dtype)), DType::I64);
    let end = parts.number(bins as i64 - 1);
    let bin = parts.op(Op::Clip, &[&bin, &parts.number(0), &end]);
    let next = op(Op::Add, &bin, &parts.number(1));
    let before = op(Op::Less, x, &parts.gathered(edges, &bin));
    let behind = op(Op::LogicalAnd, &op(Op::GreaterEqual, x, &parts.gathered(edges, &next)), &op(Op::Less, &bin, &end));
    let moved = parts.op(Op::Where, &[&before, &op(Op::Subtract, &bin, &parts.number(1)), &bin]);
    let moved = parts.op(Op::Where, &[&behind, &next, &moved]);
    let inside = op(Op::LogicalAnd, &op(Op::GreaterEqual, x, &first), &op(Op::LessEqual, x, &last));
    parts.op(Op::Where, &[&inside, &moved, &parts.number(-1)])
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Histograms as a method: see the free function.
        impl $of {
            /// [`histogram`](fn@crate::histogram) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from([0, 1, 4]).histogram(2).0.to_string(), "[2 1]");
            /// ```
            #[track_caller]
            pub fn histogram<B>($self: $receiver, bins: B) -> (<$of as BinaryOperand<B::Edges>>::Out, <$of as BinaryOperand<B::Edges>>::Out)
            where
                B: IntoBins,
                $of: BinaryOperand<B::Edges>,
            {
                histograms($self.operand(), bins.bins(), None, false, SourceLoc::caller())
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
