//! Linear interpolation: [`interp`]. [`left`], [`right`] and [`period`] set the values outside of the data.

use crate::api::config::with_parts;
use crate::api::indexing::{Side, searched};
use crate::api::manipulation::{joined, refused};
use crate::api::parts::{FunctionParts, meeting, only_axis};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, BinaryOperand, Operand};
use crate::trace::scalar::{Number, Scalar};
use ndjit_eval::request::NamedFunction;
use ndjit_ir::literal::Literal;
use ndjit_ir::view::{self, Slice};
use ndjit_ir::{DType, Error, ErrorCode, LiteralValue, Op, Result, Sort, SourceLoc};

/// Piecewise linear interpolation of the points `(xp[i], fp[i])`, evaluated at `x`. Before the first point the result is the
/// first of `fp`, after the last point the last: see [`left`], [`right`] and [`period`] for others.
///
/// ```
/// use ndjit::{Array, interp, left, period};
///
/// let (xp, fp) = (Array::from([1.0f32, 2.0, 4.0]), Array::from([10.0f32, 20.0, 0.0]));
/// let x = Array::from([0.0f32, 1.5, 3.0, 9.0]);
/// assert_eq!(interp(&x, &xp, &fp).to_string(), "[10. 15. 10.  0.]");
/// assert_eq!(left(-1).right(f32::NAN).interp(&x, &xp, &fp).to_string(), "[-1. 15. 10. nan]");
/// assert_eq!(period(4).interp(&x, &xp, &fp).to_string(), "[ 0. 15. 10. 10.]");
/// ```
///
/// - Result: the shape of `x`; the dtype of `fp / xp / x`, where `fp` may be complex.
/// - `xp` must ascend; this is not checked. At a point the result is that of `fp`; NaN for NaN.
/// - Accuracy: `fp[i] + (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]) * (x - xp[i])`, each operation rounded; if the result is
///   NaN, the same from the next point. Halves are computed in `f32` and rounded once.
/// - A binary search in one kernel. It is recompiled where the number of points exceeds 15, 255, 4095, and so on.
///
/// Source: NumPy's [`interp`](https://numpy.org/doc/stable/reference/generated/numpy.interp.html), which maps NaN to the
/// value of the point if there is only one.
///
/// # Errors
/// Poisoned with `Shape` unless `xp` and `fp` have one axis of the same extent and at least one element; with `DType` for
/// complex `x` and `xp`; with `Promotion` without a common dtype.
#[track_caller]
pub fn interp<X, P, F>(x: X, xp: P, fp: F) -> <X::Out as BinaryOperand<F>>::Out
where
    X: Operand + BinaryOperand<P>,
    P: Operand,
    F: Operand,
    X::Out: BinaryOperand<F>,
{
    Beyond::default().of([x.operand(), xp.operand(), fp.operand()], SourceLoc::caller())
}

/// Options of [`interp`] outside of its points: made by [`left`], [`right`] and [`period`].
///
/// ```
/// use ndjit::{Array, Beyond, left};
///
/// let zero: Beyond = left(0).right(0);
/// let (xp, fp) = (Array::from([1.0f32, 2.0]), Array::from([5.0f32, 6.0]));
/// assert_eq!(zero.interp(&Array::from([0.0f32, 2.0, 3.0]), &xp, &fp).to_string(), "[0. 6. 0.]");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beyond {
    left: Option<Scalar>,
    right: Option<Scalar>,
    period: Option<Scalar>,
}

/// [`interp`] with this value before the first point.
///
/// ```
/// use ndjit::{Array, left};
///
/// let (xp, fp) = (Array::from([1.0f32, 2.0]), Array::from([5.0f32, 6.0]));
/// assert_eq!(left(0).interp(&Array::from([0.0f32, 3.0]), &xp, &fp).to_string(), "[0. 6.]");
/// ```
#[track_caller]
pub fn left(number: impl Number) -> Beyond {
    Beyond::default().left(number)
}

/// [`interp`] with this value after the last point.
///
/// ```
/// use ndjit::{Array, right};
///
/// let (xp, fp) = (Array::from([1.0f32, 2.0]), Array::from([5.0f32, 6.0]));
/// assert_eq!(right(0).interp(&Array::from([0.0f32, 3.0]), &xp, &fp).to_string(), "[5. 0.]");
/// ```
#[track_caller]
pub fn right(number: impl Number) -> Beyond {
    Beyond::default().right(number)
}

/// [`interp`] of a periodic function: `x` and `xp` are taken modulo `period`, and the points need no order. No value lies
/// outside of the points then, so [`left`] and [`right`] have no effect.
///
/// ```
/// use ndjit::{Array, period};
///
/// let (angle, height) = (Array::from([0.0f32, 90.0, 180.0, 270.0]), Array::from([0.0f32, 1.0, 0.0, -1.0]));
/// assert_eq!(period(360).interp(&Array::from([-45.0f32, 405.0]), &angle, &height).to_string(), "[-0.5  0.5]");
/// ```
///
/// # Errors
/// The interpolation is poisoned with `Argument` for a period that is 0 or not a finite real number.
#[track_caller]
pub fn period(period: impl Number) -> Beyond {
    Beyond::default().period(period)
}

impl Beyond {
    /// Sets the value before the first point.
    ///
    /// ```
    /// use ndjit::{Array, right};
    ///
    /// let (xp, fp) = (Array::from([1.0f32, 2.0]), Array::from([5.0f32, 6.0]));
    /// assert_eq!(right(9).left(8).interp(&Array::from([0.0f32, 3.0]), &xp, &fp).to_string(), "[8. 9.]");
    /// ```
    #[track_caller]
    pub fn left(self, number: impl Number) -> Beyond {
        Beyond { left: Some(placed(number, SourceLoc::caller())), ..self }
    }

    /// Sets the value after the last point.
    ///
    /// ```
    /// use ndjit::{Array, left};
    ///
    /// let (xp, fp) = (Array::from([1.0f32, 2.0]), Array::from([5.0f32, 6.0]));
    /// assert_eq!(left(8).right(9).interp(&Array::from([0.0f32, 3.0]), &xp, &fp).to_string(), "[8. 9.]");
    /// ```
    #[track_caller]
    pub fn right(self, number: impl Number) -> Beyond {
        Beyond { right: Some(placed(number, SourceLoc::caller())), ..self }
    }

    /// Sets the period: [`period`](fn@crate::period).
    ///
    /// ```
    /// use ndjit::{Array, left};
    ///
    /// let (xp, fp) = (Array::from([0.0f32, 1.0]), Array::from([5.0f32, 6.0]));
    /// assert_eq!(left(8).period(2).interp(&Array::from([-1.0f32]), &xp, &fp).to_string(), "[6.]");
    /// ```
    #[track_caller]
    pub fn period(self, period: impl Number) -> Beyond {
        Beyond { period: Some(placed(period, SourceLoc::caller())), ..self }
    }

    /// [`interp`](fn@crate::interp) with these options.
    ///
    /// ```
    /// use ndjit::{Array, left};
    ///
    /// let (xp, fp) = (Array::from([1, 2]), Array::from([5, 6]));
    /// assert_eq!(left(0).interp(&Array::from([0.0f32, 1.5]), &xp, &fp).to_string(), "[0.  5.5]");
    /// ```
    #[track_caller]
    pub fn interp<X, P, F>(self, x: X, xp: P, fp: F) -> <X::Out as BinaryOperand<F>>::Out
    where
        X: Operand + BinaryOperand<P>,
        P: Operand,
        F: Operand,
        X::Out: BinaryOperand<F>,
    {
        self.of([x.operand(), xp.operand(), fp.operand()], SourceLoc::caller())
    }

    fn of<R: ArrayLike>(self, operands: [AnyOperand; 3], place: SourceLoc) -> R {
        let parts = FunctionParts::<R>::new("interp", place);
        let function = NamedFunction::new(parts.what, &["x", "xp", "fp"]);
        match Points::new(&parts, &operands, self.period).and_then(|points| points.at(&parts, self)) {
            Ok(values) => parts.value(&values).part_of(function, &operands, place),
            Err(error) if error.place().is_some() => R::failed(error),
            Err(error) => refused(function, &operands, place, &error.unnamed()),
        }
    }
}

fn placed(number: impl Number, place: SourceLoc) -> Scalar {
    Scalar(number.literal(), Some(place))
}

/// The points and `x`, in their computing dtypes.
struct Points {
    x: AnyOperand,
    xp: AnyOperand,
    fp: AnyOperand,
    len: usize,
    compute: DType,
    result: DType,
    periodic: bool,
}

impl Points {
    fn new<R: ArrayLike>(
        parts: &FunctionParts<R>,
        operands: &[AnyOperand; 3],
        period: Option<Scalar>,
    ) -> Result<Points> {
        let [x, xp, fp] = operands;
        let (of_x, dtype, _) = x.describe(parts.what)?;
        let [(of_xp, own, _), (of_fp, ..)] = [xp.describe(parts.what)?, fp.describe(parts.what)?];
        let [len, values] =
            [only_axis(parts.what, "an array of points", xp)?, only_axis(parts.what, "an array of values", fp)?];
        if len != values || len == 0 {
            let headline = format!("{values} values at {len} points");
            return Err(
                Error::new(ErrorCode::Shape, headline).help("give a value for each point, and one point at least")
            );
        }
        if let Some(dtype) = [dtype, own].into_iter().find(|dtype| dtype.is_complex()) {
            return Err(Error::new(ErrorCode::DType, format!("{dtype} is not ordered"))
                .help("points are real; only their values, the last argument, may be complex"));
        }
        let result = meeting(Op::Divide, &[of_fp, of_xp, of_x])?;
        let compute = if result.is_half() { DType::F32 } else { result };
        let real = compute.real();
        let [x, xp, fp] = [parts.cast(x, real), parts.cast(xp, real), parts.cast(fp, compute)];
        let points = Points { x, xp, fp, len, compute, result, periodic: false };
        match period {
            None => Ok(points),
            Some(period) => points.periodic(parts, period),
        }
    }

    /// The points of one period in order, with the last one before and the first one after them.
    fn periodic<R: ArrayLike>(self, parts: &FunctionParts<R>, period: Scalar) -> Result<Points> {
        let number = match period.0.value() {
            LiteralValue::Int(n) => Some(n as f64),
            LiteralValue::Float(x) => Some(x),
            LiteralValue::Bool(_) | LiteralValue::Complex(..) => None,
        };
        let number = number.filter(|n| n.is_finite() && *n != 0.0).ok_or_else(|| {
            Error::new(ErrorCode::Argument, format!("a period of {}", period.0.value()))
                .help("give a finite number other than 0")
        })?;
        let period = parts.float(number.abs(), self.compute.real());
        let within = |x: &AnyOperand| parts.op(Op::Remainder, &[x, &period]);
        let (x, xp) = (within(&self.x), within(&self.xp));
        let order = parts.along(Sort::ArgSort, Some(DType::I64), &xp);
        let [xp, fp] = [&xp, &self.fp].map(|x| parts.gathered(x, &order));
        let end = |x: &AnyOperand, part: Slice| parts.seen(x, |shape| view::slice(shape, &[part]));
        let first = Slice::Range { start: None, end: Some(1), step: 1 };
        let last = Slice::Range { start: Some(-1), end: None, step: 1 };
        let beside = |x: &AnyOperand, before: AnyOperand, behind: AnyOperand| -> AnyOperand {
            let all: R = with_parts(|| joined(parts.what, vec![before, x.clone(), behind], 0, parts.place));
            all.operand()
        };
        let before = parts.op(Op::Subtract, &[&end(&xp, last), &period]);
        let behind = parts.op(Op::Add, &[&end(&xp, first), &period]);
        let (xp, fp) = (beside(&xp, before, behind), beside(&fp, end(&fp, last), end(&fp, first)));
        Ok(Points { x, xp, fp, len: self.len + 2, periodic: true, ..self })
    }

    /// The values at `x`.
    fn at<R: ArrayLike>(&self, parts: &FunctionParts<R>, beyond: Beyond) -> Result<AnyOperand> {
        let Points { x, xp, fp, len, compute, result, periodic } = self;
        let behind: R = with_parts(|| searched(parts.what, xp.clone(), x.clone(), Side::Right, parts.place))?;
        let behind = parts.cast(&behind.operand(), DType::I64);
        let last = *len as i64 - 1;
        let clipped = |index: &AnyOperand| parts.op(Op::Clip, &[index, &parts.number(0), &parts.number(last)]);
        let [low, high] = [clipped(&parts.op(Op::Subtract, &[&behind, &parts.number(1)])), clipped(&behind)];
        let [x0, x1] = [&low, &high].map(|index| parts.gathered(xp, index));
        let [f0, f1] = [&low, &high].map(|index| parts.gathered(fp, index));
        let way = [x, &x0, &x1];
        let value = match compute.is_complex() {
            false => between(parts, way, [&f0, &f1]),
            true => {
                let part = |part| between(parts, way, [&f0, &f1].map(|f| parts.op(part, &[f])).each_ref());
                parts.op(Op::Complex, &[&part(Op::Real), &part(Op::Imag)])
            }
        };
        let value = parts.op(Op::Where, &[&parts.op(Op::Equal, &[x, &x0]), &f0, &value]);
        let end = |index: isize| {
            let end = |x: &AnyOperand| parts.seen(x, |shape| view::slice(shape, &[Slice::Index(index)]));
            (end(xp), end(fp))
        };
        let number = |number: Option<Scalar>, own: AnyOperand| -> Result<AnyOperand> {
            match number.filter(|_| !periodic) {
                None => Ok(own),
                Some(Scalar(number, place)) => {
                    Ok(AnyOperand::Scalar(Scalar(Literal::from_repr(*compute, &number.to_repr(*compute)?), place)))
                }
            }
        };
        let ((first, left), (last, right)) = (end(0), end(-1));
        let (left, right) = (number(beyond.left, left)?, number(beyond.right, right)?);
        let value = parts.op(Op::Where, &[&parts.op(Op::Less, &[x, &first]), &left, &value]);
        let value = parts.op(Op::Where, &[&parts.op(Op::Greater, &[x, &last]), &right, &value]);
        let value = parts.op(Op::Where, &[&parts.op(Op::IsNan, &[x]), &parts.cast(x, *compute), &value]);
        Ok(parts.cast(&value, *result))
    }
}

/// The value at `x` of the line through two points, from the first, or from the second if that is NaN.
fn between<R: ArrayLike>(
    parts: &FunctionParts<R>,
    [x, x0, x1]: [&AnyOperand; 3],
    [f0, f1]: [&AnyOperand; 2],
) -> AnyOperand {
    let op = |op, a: &AnyOperand, b: &AnyOperand| parts.op(op, &[a, b]);
    let slope = op(Op::Divide, &op(Op::Subtract, f1, f0), &op(Op::Subtract, x1, x0));
    let from = |x0: &AnyOperand, f0: &AnyOperand| op(Op::Add, &op(Op::Multiply, &slope, &op(Op::Subtract, x, x0)), f0);
    let is_nan = |x: &AnyOperand| parts.op(Op::IsNan, &[x]);
    let (first, second) = (from(x0, f0), from(x1, f1));
    // Equal values make a line, even infinite ones.
    let same = op(Op::Equal, f0, f1);
    let second = parts.op(Op::Where, &[&op(Op::LogicalAnd, &is_nan(&second), &same), f0, &second]);
    parts.op(Op::Where, &[&is_nan(&first), &second, &first])
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Interpolation as a method: see the free function.
        impl $of {
            /// [`interp`](fn@crate::interp) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// let (xp, fp) = (Array::from([0.0f32, 1.0]), Array::from([0.0f32, 10.0]));
            /// assert_eq!(Array::from([0.25f32]).interp(&xp, &fp).to_string(), "[2.5]");
            /// ```
            #[track_caller]
            pub fn interp<P: Operand, F: Operand>($self: $receiver, xp: P, fp: F) -> <<$of as BinaryOperand<P>>::Out as BinaryOperand<F>>::Out
            where
                $of: BinaryOperand<P>,
                <$of as BinaryOperand<P>>::Out: BinaryOperand<F>,
            {
                Beyond::default().of([$self.operand(), xp.operand(), fp.operand()], SourceLoc::caller())
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
