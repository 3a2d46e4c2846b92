//! Differences of adjacent elements along an axis, and integrals by the trapezoidal rule. Free functions, and methods of the
//! same names. [`prepend`] and [`append`] have [`diff`] as a method, [`positions`] has [`trapezoid`].

use crate::api::config;
use crate::api::manipulation::{joined, part, refused, seen};
use crate::api::reductions::IntoAxes;
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, BinaryOperand, Operand, UnaryOperand};
use crate::trace::scalar::{Number, Scalar};
use ndjit_eval::request::Request;
use ndjit_ir::axes::position;
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::{Literal, LiteralValue};
use ndjit_ir::reduction::Reduction;
use ndjit_ir::reserve::check_values;
use ndjit_ir::view::{broadcast_to, expand_dims};
use ndjit_ir::{DType, Error, ErrorCode, Op, Result, Shape, SourceLoc, ValueType};

/// The `n`-th differences of adjacent elements along an axis: each element minus the one before. For bools, whether they differ.
///
/// ```
/// use ndjit::{Array, diff};
/// let x = Array::from([1, 4, 9, 16]);
/// assert_eq!(diff(&x, 1, 0).to_vec::<i32>()?, [3, 5, 7]);
/// assert_eq!(diff(&x, 2, 0).to_vec::<i32>()?, [2, 2]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// With elements before the first or after the last: [`prepend`] and [`append`].
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.diff.html).
///
/// # Errors
/// Poisoned with `Shape` for an axis out of range, with `Size` for more than 2^20 times, with the errors of
/// [`subtract`](fn@crate::subtract).
#[track_caller]
pub fn diff<X: UnaryOperand>(x: X, n: usize, axis: isize) -> X::Out {
    let (x, place) = (x.operand(), SourceLoc::caller());
    differences::<X::Out>("diff", x.clone(), n, axis, place).part_of("diff", &[x], place)
}

fn differences<R: ArrayLike>(what: &'static str, x: AnyOperand, n: usize, axis: isize, place: SourceLoc) -> R {
    let (dtype, at, shape) = match along(what, &x, axis) {
        Ok(found) => found,
        Err(error) => return refused(what, &[x], place, &error),
    };
    // After as many differences as elements, only the type remains.
    let (extent, times) = match shape.extents()[at] {
        extent if n < extent => (extent, n),
        _ => (0, n.min(1)),
    };
    if let Err(error) = check_values(what, times).map_err(Error::unnamed) {
        return refused(what, &[x], place, &error.help("take differences of the differences, and `eval` between"));
    }
    let op = if dtype == DType::Bool { Op::NotEqual } else { Op::Subtract };
    let mut result: R = seen(what, x, place, |shape| part(shape, at, 0, extent, 1));
    for taken in 0..times {
        let [low, high]: [R; 2] = adjacent(what, result.operand(), at, extent.saturating_sub(taken), place);
        result = R::compute(op, &[high.operand(), low.operand()], place);
    }
    result
}

/// Returns an operand's dtype, the index of the axis, and the shape.
fn along(what: &'static str, x: &AnyOperand, axis: isize) -> Result<(DType, usize, Shape)> {
    let (_, dtype, shape) = x.describe(what)?;
    let at = position(axis, shape.rank())?;
    Ok((dtype, at, shape))
}

/// All elements except the last along an axis, and all except the first.
fn adjacent<R: ArrayLike>(what: &'static str, x: AnyOperand, at: usize, extent: usize, place: SourceLoc) -> [R; 2] {
    let ends = extent.saturating_sub(1);
    [(0, ends), (extent - ends, extent)]
        .map(|(start, end)| seen(what, x.clone(), place, |shape| part(shape, at, start, end, 1)))
}

/// Elements before and after an array along the axis of [`diff`], as the options of these names in NumPy: made by
/// [`prepend`] and [`append`]; `()` for none.
///
/// ```
/// use ndjit::{Array, prepend};
///
/// let ends = prepend(0).append(0);
/// assert_eq!(ends.diff(&Array::from([1, 3]), 1, 0).to_string(), "[ 1  2 -3]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends<B, A> {
    before: B,
    after: A,
}

/// NumPy's `prepend` option of `diff`, for [`Ends::diff`]: an array before the operand along the axis, with the same extents
/// along all other axes, or a scalar before every first element. All are cast to their common dtype. Use
/// [`concat`](fn@crate::concat) to join arrays.
///
/// ```
/// use ndjit::{Array, append, cumulative_sum, prepend};
/// let x = Array::from([3, 1, 4]);
/// let sums = cumulative_sum(&x, 0);
/// assert_eq!(prepend(0).diff(&sums, 1, 0).to_vec::<i32>()?, [3, 1, 4]);
/// assert_eq!(append(Array::from([5, 9])).diff(&x, 1, 0).to_vec::<i32>()?, [-2, 3, 1, 4]);
/// assert_eq!(prepend(0).append(0).diff(&x, 2, 0).to_vec::<i32>()?, [-5, 5, -7]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - The ends are added once, before all `n` differences; with an `n` of 0 the array is unchanged, as in NumPy.
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.diff.html).
///
/// # Errors
/// Those of [`diff`]; poisoned with `Shape` if shapes differ in more than the axis, with `Promotion` without a common dtype.
pub fn prepend<B: Operand>(before: B) -> Ends<B, ()> {
    Ends { before, after: () }
}

/// NumPy's `append` option of `diff`, for [`Ends::diff`]: elements after the array along the axis. See [`prepend`]. NumPy's
/// function `append` is [`concat`](fn@crate::concat).
///
/// ```
/// use ndjit::{Array, append};
///
/// assert_eq!(append(9).diff(&Array::from([1, 3]), 1, 0).to_string(), "[2 6]");
/// ```
pub fn append<A: Operand>(after: A) -> Ends<(), A> {
    Ends { before: (), after }
}

impl<B> Ends<B, ()> {
    /// Adds this after the array.
    ///
    /// ```
    /// use ndjit::{Array, prepend};
    ///
    /// assert_eq!(prepend(0).append(0).diff(&Array::from([1, 3]), 1, 0).to_string(), "[ 1  2 -3]");
    /// ```
    pub fn append<A: Operand>(self, after: A) -> Ends<B, A> {
        Ends { before: self.before, after }
    }
}

impl<A> Ends<(), A> {
    /// Adds this before the array.
    ///
    /// ```
    /// use ndjit::{Array, append};
    ///
    /// assert_eq!(append(0).prepend(0).diff(&Array::from([1, 3]), 1, 0).to_string(), "[ 1  2 -3]");
    /// ```
    pub fn prepend<B: Operand>(self, before: B) -> Ends<B, A> {
        Ends { before, after: self.after }
    }
}

/// An end of an `X`: an operand, or `()` for none.
///
/// ```
/// use ndjit::{Array, append};
///
/// let first = Array::from([5, 9]);
/// assert_eq!(append(&first).diff(&Array::from([1, 3]), 1, 0).to_string(), "[2 2 4]");
/// ```
pub trait End<X> {
    /// The type of an operation on both.
    type Out: ArrayLike;

    /// Returns the operand, if any.
    #[doc(hidden)]
    fn end(self) -> Option<AnyOperand>;
}

impl<X: UnaryOperand> End<X> for () {
    type Out = X::Out;

    fn end(self) -> Option<AnyOperand> {
        None
    }
}

impl<R: Operand, X: BinaryOperand<R>> End<X> for R {
    type Out = X::Out;

    fn end(self) -> Option<AnyOperand> {
        Some(self.operand())
    }
}

impl<B, A> Ends<B, A> {
    /// [`diff`](fn@diff) with these ends.
    ///
    /// ```
    /// use ndjit::{Array, prepend};
    ///
    /// assert_eq!(prepend(0).diff(&Array::from([1, 3]), 1, 0).to_string(), "[1 2]");
    /// ```
    #[track_caller]
    pub fn diff<X: UnaryOperand>(self, x: X, n: usize, axis: isize) -> A::Out
    where
        B: End<X>,
        A: End<B::Out>,
    {
        let (what, place) = ("diff", SourceLoc::caller());
        let x = x.operand();
        let (at, shape) = match along(what, &x, axis) {
            Ok((_, at, shape)) => (at, shape),
            Err(error) => return refused(what, &[x], place, &error),
        };
        if n == 0 {
            return differences(what, x, 0, axis, place);
        }
        let mut one = shape.extents().to_vec();
        one[at] = 1;
        let one = Shape::from(one);
        let ends = [self.before.end(), self.after.end()];
        let types = ends.iter().flatten().chain([&x]).filter_map(|operand| operand.describe(what).ok());
        let types: Vec<ValueType> = types.map(|(ty, ..)| ty).collect();
        let meet = Operation::concat(at as u32, config::policy()).types(&types).map(|types| types.result);
        // A scalar before every first element, exact in the common dtype.
        let end = |end: AnyOperand| match end.describe(what) {
            Ok((ty, _, own)) if own.rank() == 0 => {
                let end = meet.as_ref().map_or(Ok(end.clone()), |&meet| typed::<A::Out>(end, ty, meet, place))?;
                let wide: A::Out = seen(what, end, place, |own| broadcast_to(own, &one));
                Ok(wide.operand())
            }
            Ok(_) | Err(_) => Ok(end),
        };
        let operands: Vec<AnyOperand> = [&x].into_iter().chain(ends.iter().flatten()).cloned().collect();
        let [before, after] = match ends.map(|operand| operand.map(end).transpose()) {
            [Ok(before), Ok(after)] => [before, after],
            [Err(error), _] | [_, Err(error)] => return refused(what, &operands, place, &error),
        };
        let all = before.into_iter().chain([x]).chain(after).collect();
        let all: A::Out = joined(what, all, axis, place);
        differences::<A::Out>(what, all.operand(), n, axis, place).part_of(what, &operands, place)
    }
}

/// The integral along an axis by the trapezoidal rule, with spacing `dx`: the sum of the means of adjacent elements, each
/// times `dx`.
///
/// ```
/// use ndjit::{Array, trapezoid};
/// let y = Array::from([0.0f32, 1.0, 4.0, 9.0]);
/// assert_eq!(trapezoid(&y, 0.5, 0).item::<f32>()?, 4.75);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Result: the dtype of `y * 0.5 * dx`, summed as by [`sum`](fn@crate::sum). 0 for fewer than two values.
/// - Accuracy: that of the sum, plus three roundings of each value: of the mean, of `dx`, and of their product.
/// - Values with unequal spacing: [`positions`].
///
/// Source: NumPy's [`trapezoid`](https://numpy.org/doc/stable/reference/generated/numpy.trapezoid.html).
///
/// # Errors
/// Poisoned with `Shape` for an axis out of range, with `Promotion` where the policy refuses multiplication by a float.
#[track_caller]
pub fn trapezoid<X: UnaryOperand>(y: X, dx: impl Number, axis: isize) -> X::Out {
    let place = SourceLoc::caller();
    let y = y.operand();
    let (at, shape) = match along("trapezoid", &y, axis) {
        Ok((_, at, shape)) => (at, shape),
        Err(error) => return refused("trapezoid", &[y], place, &error),
    };
    let dx = beside(&y, dx.literal(), Some(place));
    let means: X::Out = means(y.clone(), at, shape.extents()[at], place);
    // Sum areas rather than means: the sum of means may overflow where the integral does not.
    let areas = X::Out::compute(Op::Multiply, &[means.operand(), dx], place);
    let sum = X::Out::reduce(&Request::new(Reduction::Sum, None, axis.axes().requested()), &[areas.operand()], place);
    sum.part_of("trapezoid", &[y], place)
}

/// The means of adjacent elements along an axis.
fn means<R: ArrayLike>(y: AnyOperand, at: usize, extent: usize, place: SourceLoc) -> R {
    let half = beside(&y, Literal::weak(0.5), None);
    let halves = R::compute(Op::Multiply, &[y, half], place);
    let parts: [R; 2] = adjacent("trapezoid", halves.operand(), at, extent, place);
    R::compute(Op::Add, &parts.map(|part| part.operand()), place)
}

/// A factor for an array: of the array's dtype if that can represent it, so no policy refuses it.
fn beside(x: &AnyOperand, literal: Literal, place: Option<SourceLoc>) -> AnyOperand {
    let inexact = |dtype: DType| dtype.is_float() || dtype.is_complex();
    let typed = match (x.describe("trapezoid"), literal.value()) {
        (Ok((ValueType::Strong(dtype), ..)), number @ (LiteralValue::Int(_) | LiteralValue::Float(_)))
            if inexact(dtype) =>
        {
            Literal::strong(number, dtype).ok()
        }
        _ => None,
    };
    AnyOperand::Scalar(Scalar(typed.unwrap_or(literal), place))
}

/// A weak scalar in its common type with another operand. Otherwise it would be rounded to the default dtype, as an array is.
pub(crate) fn typed<R: ArrayLike>(
    number: AnyOperand,
    own: ValueType,
    meet: ValueType,
    place: SourceLoc,
) -> Result<AnyOperand> {
    let (ValueType::Weak(_), ValueType::Strong(dtype)) = (own, meet) else { return Ok(number) };
    let strong = |literal: LiteralValue, place| Ok(AnyOperand::Scalar(Scalar(Literal::strong(literal, dtype)?, place)));
    match number {
        AnyOperand::Scalar(Scalar(literal, written)) => strong(literal.value(), written),
        AnyOperand::Expr(_) => {
            let none = strong(Literal::weak(false).value(), None)?;
            let always = AnyOperand::Scalar(Scalar(true.into(), None));
            Ok(R::compute(Op::Where, &[always, number, none], place).operand())
        }
        AnyOperand::Array(_) => Ok(number),
    }
}

/// The positions of the values of an integral: made by [`positions`].
///
/// ```
/// use ndjit::{Array, positions};
///
/// let at = Array::from([0.0f32, 1.0, 3.0]);
/// assert_eq!(positions(&at).trapezoid(&Array::from([1.0f32, 1.0, 1.0]), 0).item::<f32>()?, 3.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Positions<P>(P);

/// [`trapezoid`] of values at these positions: the sum of the means of adjacent elements, each times their distance. The
/// positions are an array of one axis, as long as that of the integral, or of the shape of the values.
///
/// ```
/// use ndjit::{Array, positions};
/// let x = Array::from([0.0f32, 1.0, 3.0]);
/// let y = Array::from_rows(&[[0.0f32, 1.0, 3.0], [1.0, 1.0, 1.0]]);
/// assert_eq!(positions(&x).trapezoid(&y, 1).to_vec::<f32>()?, [4.5, 3.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Result: the common dtype of `y * 0.5` and the differences, summed as by [`sum`](fn@crate::sum). 0 for fewer than two
///   values. Distances are those of [`diff`], so decreasing unsigned positions wrap.
/// - Accuracy: that of the sum, plus three roundings of each value.
///
/// Source: NumPy's [`trapezoid`](https://numpy.org/doc/stable/reference/generated/numpy.trapezoid.html).
///
/// # Errors
/// Those of [`trapezoid`]; poisoned with `Shape` for positions of another shape, with `Promotion` without a common dtype.
pub fn positions<P: Operand>(x: P) -> Positions<P> {
    Positions(x)
}

impl<P: Operand> Positions<P> {
    /// [`trapezoid`](fn@trapezoid) of values at these positions.
    ///
    /// ```
    /// use ndjit::{Array, positions};
    ///
    /// let at = Array::from([0.0f32, 1.0, 3.0]);
    /// assert_eq!(positions(&at).trapezoid(&Array::from([1.0f32, 1.0, 1.0]), 0).item::<f32>()?, 3.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn trapezoid<Y: UnaryOperand + BinaryOperand<P>>(self, y: Y, axis: isize) -> <Y as BinaryOperand<P>>::Out {
        integral(self.0.operand(), y.operand(), axis, SourceLoc::caller())
    }
}

fn integral<R: ArrayLike>(x: AnyOperand, y: AnyOperand, axis: isize, place: SourceLoc) -> R {
    let what = "trapezoid";
    let found = along(what, &y, axis).and_then(|(_, at, shape)| Ok((at, shape, x.describe(what)?.2)));
    let (at, shape, own) = match found {
        Ok(found) => found,
        Err(error) => return refused(what, &[y], place, &error),
    };
    let (extent, rank) = (shape.extents()[at], shape.rank());
    let operands = [x.clone(), y.clone()];
    let distances: R = if own == shape {
        differences(what, x, 1, axis, place)
    } else if own.extents() == [extent] {
        let distances: R = differences(what, x, 1, 0, place);
        // Broadcast along the axes after the integral's.
        let others: Vec<isize> = (1..).take(rank - at - 1).collect();
        seen(what, distances.operand(), place, |shape| expand_dims(shape, &others))
    } else {
        let error = Error::new(ErrorCode::Shape, format!("positions of shape {own} for values of shape {shape}"))
            .fact(format_args!("along axis {at}, which has {extent}"))
            .help(format!("give positions of shape [{extent}], or one for each value"));
        return refused(what, &operands, place, &error);
    };
    let means: R = means(y, at, extent, place);
    let areas = R::compute(Op::Multiply, &[means.operand(), distances.operand()], place);
    let sum = R::reduce(&Request::new(Reduction::Sum, None, axis.axes().requested()), &[areas.operand()], place);
    sum.part_of(what, &operands, place)
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Differences and integrals as methods: see the free functions.
        impl $of {
            /// [`diff`](fn@crate::diff) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from([1, 4, 9]).diff(1, 0).to_string(), "[3 5]");
            /// ```
            #[track_caller]
            pub fn diff($self: $receiver, n: usize, axis: isize) -> $of {
                diff($self, n, axis)
            }

            /// [`trapezoid`](fn@crate::trapezoid) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from([1.0f32, 1.0, 1.0]).trapezoid(0.5, 0).item::<f32>()?, 1.0);
            /// # Ok::<(), ndjit::Error>(())
            /// ```
            #[track_caller]
            pub fn trapezoid($self: $receiver, dx: impl Number, axis: isize) -> $of {
                trapezoid($self, dx, axis)
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
