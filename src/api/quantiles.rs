//! Medians and quantiles: order statistics along axes. Free functions and methods; an [`Interpolation`] has [`quantile`] as
//! a method.
//!
//! A NaN among the elements makes the result NaN. Each function sorts along the axes and takes as long as a sort.

use crate::api::config::{policy, with_parts};
use crate::api::manipulation::{joined, part, refused, reshaped, seen};
use crate::api::parts::reduction_types;
use crate::api::reductions::{self, Axes, IntoAxes};
use crate::api::sorting::{IntoSorting, sorted};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand, UnaryOperand};
use crate::trace::scalar::{Number, Scalar};
use ndjit_eval::request::Request;
use ndjit_ir::literal::Literal;
use ndjit_ir::view::{expand_dims, permute_dims};
use ndjit_ir::{
    CastAdvice, DType, Error, ErrorCode, Help, Kind, LiteralValue, Op, Reduction, Result, Shape, Sort, SourceLoc,
};

/// The median: the middle of the sorted elements, or the mean of the middle two. NaN for no elements.
///
/// ```
/// use ndjit::{Array, median};
/// let x = Array::from_rows(&[[3.0f32, 1.0, 2.0, 10.0], [0.0, f32::NAN, 1.0, 2.0]]);
/// assert_eq!(median(&x, 1).to_string(), "[2.5 nan]");
/// assert_eq!(median(Array::from([5, 1, 9]), ..).item::<f32>()?, 5.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Result: the dtype of a [`mean`](fn@crate::mean). NaN if any element is NaN. Complex numbers are in the order of
///   [`sort`](fn@crate::sort).
/// - Accuracy: an element, or the mean of two, rounded once and finite if both are.
///
/// Source: NumPy's [`median`](https://numpy.org/doc/stable/reference/generated/numpy.median.html), which is infinite where the sum of the
/// two overflows.
///
/// # Errors
/// Poisoned with `Shape` for an axis out of range or repeated, with `Promotion` where the policy refuses a mean.
#[track_caller]
pub fn median<X: UnaryOperand>(x: X, axes: impl IntoAxes) -> X::Out {
    let (what, place, x) = ("median", SourceLoc::caller(), x.operand());
    let rows = match SortedRows::of::<X::Out>(what, &x, axes.axes(), place) {
        Ok(rows) => rows,
        Err(error) => return refused(what, &[x], place, &error),
    };
    let middle: X::Out = match rows.len {
        // The mean of no elements is NaN.
        0 => {
            let none: X::Out = X::Out::convert(&rows.part::<X::Out>(0, 0).operand(), rows.compute, place);
            with_parts(|| reductions::reduce(Reduction::Mean, None, none.operand(), (-1).axes(), place))
        }
        len if len % 2 == 1 => rows.element(len / 2),
        len => rows.mean([len / 2 - 1, len / 2]),
    };
    rows.finished::<X::Out>(middle).part_of(what, &[x], place)
}

/// Interpolation of a quantile between two sorted elements, at the fractional index `h = q (n - 1)`.
///
/// ```
/// use ndjit::{Array, Interpolation};
/// let x = Array::from([1, 2, 4]);
/// assert_eq!(Interpolation::Lower.quantile(&x, 0.7, ..).item::<i32>()?, 2);
/// assert_eq!(Interpolation::Linear.quantile(&x, 0.75, ..).item::<f32>()?, 3.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Linear interpolation at `h`.
    Linear,
    /// The lower element.
    Lower,
    /// The higher element.
    Higher,
    /// The mean of both.
    Midpoint,
    /// The nearer element; in a tie the one with the even index.
    Nearest,
}

/// The quantile `q`, from 0 to 1: the value at the fractional index `h = q (n - 1)` among the `n` sorted elements, by linear
/// interpolation between two elements. [`Interpolation`] has other methods. Several quantiles lie along a new first axis;
/// the elements are sorted once.
///
/// ```
/// use ndjit::{Array, quantile};
/// let x = Array::from([4.0f32, 1.0, 3.0, 2.0]);
/// assert_eq!(quantile(&x, 0.5, ..).item::<f32>()?, 2.5);
/// assert_eq!(quantile(&x, 1, ..).item::<f32>()?, 4.0);
/// assert_eq!(quantile(&x, [0.25, 0.75], ..).to_vec::<f32>()?, [1.75, 3.25]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Result: the dtype of a [`mean`](fn@crate::mean), or that of the elements if one is selected. NaN if any element is NaN.
///   Halves are computed in `f32` and rounded once.
/// - Accuracy: exact at an element. Between `a` and `b` three roundings: of `b - a`, of its product with the fraction, of
///   the sum. The fraction is that of `h`, in `f64`, rounded to the dtype. The result lies between `a` and `b`, also where
///   `b - a` overflows.
/// - Between elements of which one or both are infinite the result is that infinity, NaN between -inf and inf: `a + b`, as
///   for a mean.
///
/// Source: NumPy's [`quantile`](https://numpy.org/doc/stable/reference/generated/numpy.quantile.html). It computes `b - a`
/// also if that overflows or is not finite, and interpolates with the next element even at an element: the result is
/// infinite or NaN there.
///
/// # Errors
/// Poisoned with `Argument` for a `q` outside of 0 to 1, or an empty list, with `Shape` for an axis out of range or repeated
/// and for no elements, with `DType` for complex numbers, with `Promotion` where the policy refuses a mean.
#[doc(alias = "percentile")]
#[track_caller]
pub fn quantile<X: UnaryOperand>(x: X, q: impl IntoQuantiles, axes: impl IntoAxes) -> X::Out {
    Interpolation::Linear.of(x.operand(), q.quantiles(), axes.axes(), SourceLoc::caller())
}

impl Interpolation {
    /// [`quantile`](fn@crate::quantile) with this interpolation.
    ///
    /// ```
    /// use ndjit::{Array, Interpolation};
    /// let x = Array::from([1, 2, 4]);
    /// assert_eq!(Interpolation::Nearest.quantile(&x, 0.9, ..).item::<i32>()?, 4);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn quantile<X: UnaryOperand>(self, x: X, q: impl IntoQuantiles, axes: impl IntoAxes) -> X::Out {
        self.of(x.operand(), q.quantiles(), axes.axes(), SourceLoc::caller())
    }

    fn of<R: ArrayLike>(self, x: AnyOperand, q: Quantiles, axes: Axes, place: SourceLoc) -> R {
        let what = "quantile";
        let found =
            q.fractions().and_then(|fractions| Ok((fractions, SortedRows::of::<R>(what, &x, axes, place)?.of_some()?)));
        let (fractions, rows) = match found {
            Ok(found) => found,
            Err(error) => return refused(what, &[x], place, &error),
        };
        let made: R = match (&fractions[..], q.many) {
            (&[q], false) => self.at(q, &rows),
            _ => {
                let apart = |q: &f64| -> R {
                    let one: R = self.at(*q, &rows);
                    seen(what, one.operand(), place, |shape| expand_dims(shape, &[0]))
                };
                joined(what, fractions.iter().map(|q| apart(q).operand()).collect(), 0, place)
            }
        };
        made.part_of(what, &[x], place)
    }

    /// Returns one quantile of each row.
    fn at<R: ArrayLike>(self, q: f64, rows: &SortedRows) -> R {
        let h = q * (rows.len - 1) as f64;
        let (below, distance) = (h.floor() as usize, h - h.floor());
        let chosen = match self {
            Interpolation::Lower => Some(below),
            Interpolation::Higher => Some(h.ceil() as usize),
            Interpolation::Nearest => Some(h.round_ties_even() as usize),
            Interpolation::Linear | Interpolation::Midpoint => None,
        };
        if let Some(index) = chosen {
            return rows.or_nan(rows.at(index));
        }
        let value = match self {
            _ if distance == 0.0 => rows.element(below),
            Interpolation::Midpoint => rows.mean([below, below + 1]),
            _ => rows.between([below, below + 1], distance),
        };
        rows.finished(value)
    }
}

/// The requested quantiles: one, or several along a new axis.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Quantiles {
    numbers: Vec<Literal>,
    many: bool,
}

impl Quantiles {
    fn fractions(&self) -> Result<Vec<f64>> {
        if self.numbers.is_empty() {
            return Err(Error::new(ErrorCode::Argument, "no q is given").help("name a number from 0 to 1, or several"));
        }
        self.numbers.iter().map(|&q| fraction(q)).collect()
    }
}

/// The `q` argument of [`quantile`]: a number from 0 to 1, or an array, a slice or a `Vec` of them. They are constants of a
/// trace, since they determine the elements that are read.
///
/// ```
/// use ndjit::{Array, IntoQuantiles, quantile};
///
/// fn spread(x: &Array, q: impl IntoQuantiles) -> Array {
///     quantile(x, q, ..)
/// }
/// let x = Array::from([1.0f32, 2.0, 3.0, 4.0, 5.0]);
/// assert_eq!((spread(&x, 0.5).to_string(), spread(&x, vec![0.25, 1.0]).to_string()), ("3.".into(), "[2. 5.]".into()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of quantiles",
    label = "not a number, nor an array of numbers",
    note = "write `0.9`, or `[0.25, 0.5, 0.75]`; quantiles that are computed are not taken: sort, and `take` what stands at `q * (n - 1)`"
)]
pub trait IntoQuantiles {
    #[doc(hidden)]
    fn quantiles(self) -> Quantiles;
}

impl<Q: Number> IntoQuantiles for Q {
    fn quantiles(self) -> Quantiles {
        Quantiles { numbers: vec![self.literal()], many: false }
    }
}

impl<Q: Number> IntoQuantiles for &[Q] {
    fn quantiles(self) -> Quantiles {
        Quantiles { numbers: self.iter().map(|q| q.literal()).collect(), many: true }
    }
}

impl<Q: Number, const N: usize> IntoQuantiles for [Q; N] {
    fn quantiles(self) -> Quantiles {
        self[..].quantiles()
    }
}

impl<Q: Number, const N: usize> IntoQuantiles for &[Q; N] {
    fn quantiles(self) -> Quantiles {
        self[..].quantiles()
    }
}

impl<Q: Number> IntoQuantiles for Vec<Q> {
    fn quantiles(self) -> Quantiles {
        self[..].quantiles()
    }
}

impl<Q: Number> IntoQuantiles for &Vec<Q> {
    fn quantiles(self) -> Quantiles {
        self[..].quantiles()
    }
}

/// A number from 0 to 1.
fn fraction(q: Literal) -> Result<f64> {
    let number = match q.value() {
        LiteralValue::Int(n) => Some(n as f64),
        LiteralValue::Float(x) => Some(x),
        LiteralValue::Bool(_) | LiteralValue::Complex(..) => None,
    };
    number.filter(|q| (0.0..=1.0).contains(q)).ok_or_else(|| {
        Error::new(ErrorCode::Argument, format!("q is {}, not a number from 0 to 1", q.value()))
            .help("a percentile is a hundredth: `0.9` for the 90th")
    })
}

/// The sorted elements along some axes, as the last axis.
struct SortedRows {
    what: &'static str,
    place: SourceLoc,
    sorted: AnyOperand,
    /// The number of elements along it.
    len: usize,
    /// The extents of the other axes.
    kept: Vec<isize>,
    /// The extents of the result.
    result: Vec<isize>,
    dtype: DType,
    /// The computing dtype and the result dtype of a mean.
    compute: DType,
    mean: DType,
}

impl SortedRows {
    fn of<R: ArrayLike>(what: &'static str, x: &AnyOperand, axes: Axes, place: SourceLoc) -> Result<SortedRows> {
        let (ty, own, shape) = x.describe(what)?;
        let (axes, keepdims) =
            Request::new(Reduction::Mean, None, axes.requested()).on(&shape).map_err(Error::unnamed)?;
        let types = reduction_types(Reduction::Mean, None, ty).map_err(|error| {
            let to = policy().defaults().float;
            error.unnamed().help(Help::from("cast the array, as in ").casts([CastAdvice::NamedOperand("x", to)]))
        })?;
        let (reduced, kept): (Vec<usize>, Vec<usize>) = (0..shape.rank()).partition(|&axis| axes.contains(axis));
        let order: Vec<isize> = kept.iter().chain(&reduced).map(|&axis| axis as isize).collect();
        let extents = |shape: &Shape| shape.extents().iter().map(|&extent| extent as isize).collect::<Vec<isize>>();
        let len = axes.count(&shape);
        let kept: Vec<isize> = kept.iter().map(|&axis| shape.extents()[axis] as isize).collect();
        let rows: Vec<isize> = kept.iter().copied().chain([len as isize]).collect();
        let x = types.before.map_or(x.clone(), |dtype| R::convert(x, dtype, place).operand());
        let seen: R = seen(what, x, place, |shape| permute_dims(shape, &order));
        let joined: R = reshaped(what, seen.operand(), &rows, place);
        let sorted: R = with_parts(|| sorted(Sort::Sort, None, joined.operand(), (-1).sorting(), place));
        Ok(SortedRows {
            what,
            place,
            sorted: sorted.operand(),
            len,
            kept,
            result: extents(&axes.reduced(&shape, keepdims)),
            dtype: types.before.unwrap_or(own),
            compute: if types.compute.is_half() { DType::F32 } else { types.compute },
            mean: types.result,
        })
    }

    /// Checks that a quantile of the rows exists.
    fn of_some(self) -> Result<SortedRows> {
        if self.dtype.kind() == Kind::Complex {
            return Err(Error::new(
                ErrorCode::DType,
                "complex numbers have no quantiles: nothing is between two of them",
            )
            .help("take those of the moduli, `abs(x)`, or of a part, `real(x)`"));
        }
        if self.len == 0 {
            return Err(Error::new(ErrorCode::Shape, "there are no elements")
                .help("give the array elements, or take the median: that of none is NaN"));
        }
        Ok(self)
    }

    /// A range of elements of each row.
    fn part<R: ArrayLike>(&self, start: usize, end: usize) -> R {
        seen(self.what, self.sorted.clone(), self.place, |shape| part(shape, self.kept.len(), start, end, 1))
    }

    /// One element of each row.
    fn at<R: ArrayLike>(&self, index: usize) -> R {
        reshaped(self.what, self.part::<R>(index, index + 1).operand(), &self.kept, self.place)
    }

    /// One element of each row, in the computing dtype.
    fn element<R: ArrayLike>(&self, index: usize) -> R {
        R::convert(&self.at::<R>(index).operand(), self.compute, self.place)
    }

    fn op<R: ArrayLike>(&self, op: Op, operands: &[&AnyOperand]) -> R {
        let operands: Vec<AnyOperand> = operands.iter().map(|&operand| operand.clone()).collect();
        with_parts(|| R::compute(op, &operands, self.place))
    }

    /// A scalar of the real computing dtype.
    fn number(&self, n: f64) -> AnyOperand {
        AnyOperand::Scalar(Scalar(Literal::strong(n, self.compute.real()).unwrap_or(Literal::weak(n)), None))
    }

    /// The mean of two elements of each row, rounded once.
    fn mean<R: ArrayLike>(&self, pair: [usize; 2]) -> R {
        let pair = pair.map(|index| self.element::<R>(index).operand());
        if !self.compute.is_complex() {
            return self.mean_of(&pair);
        }
        // Each part overflows separately.
        let [re, im] = [Op::Real, Op::Imag].map(|part| {
            let parts = [&pair[0], &pair[1]].map(|z| self.op::<R>(part, &[z]).operand());
            self.mean_of::<R>(&parts).operand()
        });
        self.op(Op::Complex, &[&re, &im])
    }

    fn mean_of<R: ArrayLike>(&self, [a, b]: &[AnyOperand; 2]) -> R {
        let op = |op, operands: &[&AnyOperand]| self.op::<R>(op, operands).operand();
        let half = self.number(0.5);
        let sum = op(Op::Add, &[a, b]);
        // If the sum overflows, the halves are exact; otherwise a half may be rounded.
        let halves = op(Op::Add, &[&op(Op::Multiply, &[a, &half]), &op(Op::Multiply, &[b, &half])]);
        let mean = op(Op::Multiply, &[&sum, &half]);
        self.op(Op::Where, &[&op(Op::IsInf, &[&sum]), &halves, &mean])
    }

    /// Interpolates between two elements of each row, at a fraction between 0 and 1, both exclusive.
    fn between<R: ArrayLike>(&self, pair: [usize; 2], distance: f64) -> R {
        let [a, b] = pair.map(|index| self.element::<R>(index).operand());
        let op = |op, operands: &[&AnyOperand]| self.op::<R>(op, operands).operand();
        // Starting from the nearer element keeps the result between both.
        let from_first = distance < 0.5;
        let part = if from_first { distance } else { 1.0 - distance };
        let apart = op(Op::Subtract, &[&b, &a]);
        // If the difference overflows, the halves are exact. Other finite values have a finite difference.
        let half = self.number(0.5);
        let half_apart = op(Op::Subtract, &[&op(Op::Multiply, &[&b, &half]), &op(Op::Multiply, &[&a, &half])]);
        let way = op(Op::Multiply, &[&apart, &self.number(part)]);
        let long_way = op(Op::Multiply, &[&half_apart, &self.number(2.0 * part)]);
        let way = op(Op::Where, &[&op(Op::IsFinite, &[&apart]), &way, &long_way]);
        let between = match from_first {
            true => op(Op::Add, &[&a, &way]),
            false => op(Op::Subtract, &[&b, &way]),
        };
        // An infinite element determines the result.
        let sum = op(Op::Add, &[&a, &b]);
        self.op(Op::Where, &[&op(Op::IsFinite, &[&half_apart]), &between, &sum])
    }

    /// The result, from one value of each row in the computing dtype.
    fn finished<R: ArrayLike>(&self, value: R) -> R {
        self.or_nan(R::convert(&value.operand(), self.mean, self.place))
    }

    /// The result, from one value of each row: NaN if the last element is NaN, since NaN sorts last.
    fn or_nan<R: ArrayLike>(&self, value: R) -> R {
        let SortedRows { what, place, len, dtype, .. } = *self;
        let may_be_nan = dtype.is_float() || dtype.is_complex();
        let value = if len > 0 && may_be_nan {
            let last: R = reshaped(what, self.part::<R>(len - 1, len).operand(), &self.kept, place);
            let last = last.operand();
            with_parts(|| {
                let nan = R::compute(Op::IsNan, std::slice::from_ref(&last), place).operand();
                R::compute(Op::Where, &[nan, last, value.operand()], place)
            })
        } else {
            value
        };
        reshaped(what, value.operand(), &self.result, place)
    }
}

/// Medians and quantiles as methods: see the free functions.
impl Expr {
    /// The median: [`median`](fn@crate::median).
    ///
    /// ```
    /// use ndjit::{Array, Expr, jit};
    /// let f = jit(|x: Expr| x.median(..));
    /// assert_eq!(f(&Array::from([3.0f32, 1.0, 2.0])).item::<f32>()?, 2.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn median(self, axes: impl IntoAxes) -> Expr {
        median(self, axes)
    }

    /// The quantile `q`, a number from 0 to 1: [`quantile`](fn@crate::quantile).
    ///
    /// ```
    /// use ndjit::{Array, Expr, jit};
    /// let f = jit(|x: Expr| x.quantile(0.5, ..));
    /// assert_eq!(f(&Array::from([3.0f32, 1.0, 2.0])).item::<f32>()?, 2.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn quantile(self, q: impl IntoQuantiles, axes: impl IntoAxes) -> Expr {
        quantile(self, q, axes)
    }
}

/// Medians and quantiles as methods: see the free functions.
impl Array {
    /// The median: [`median`](fn@crate::median).
    ///
    /// ```
    /// use ndjit::Array;
    /// assert_eq!(Array::from([3.0f32, 1.0, 2.0]).median(..).item::<f32>()?, 2.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn median(&self, axes: impl IntoAxes) -> Array {
        median(self, axes)
    }

    /// The quantile `q`, a number from 0 to 1: [`quantile`](fn@crate::quantile).
    ///
    /// ```
    /// use ndjit::Array;
    /// assert_eq!(Array::from([3.0f32, 1.0, 2.0]).quantile(1, ..).item::<f32>()?, 3.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn quantile(&self, q: impl IntoQuantiles, axes: impl IntoAxes) -> Array {
        quantile(self, q, axes)
    }
}
