//! Functions that are several operations of the tables: those with two results, the choice among several arrays, norms.

use crate::operand::{AnyOperand, Computed, Math, Meet, Number, Operand};
use crate::reductions::{self, IntoAxes};
use ndjit_ir::{Error, ErrorCode, Kind, LiteralValue, Op, Place, Reduction};

/// Mantissa and exponent, `x = mantissa * 2^exponent` with the mantissa's magnitude in [0.5, 1), as C's and NumPy's `frexp`:
/// [`frexp_mantissa`](crate::frexp_mantissa) and [`frexp_exponent`](crate::frexp_exponent), an `i32`. Integers become floats;
/// [`ldexp`](crate::ldexp) puts the two together again.
///
/// ```
/// use ndjit::{Array, frexp, ldexp};
/// let x = Array::from([8.0f32, -0.75, 0.0]);
/// let (mantissa, exponent) = frexp(&x);
/// assert_eq!(mantissa.to_vec::<f32>()?, [0.5, -0.75, 0.0]);
/// assert_eq!(exponent.to_vec::<i32>()?, [4, 0, 0]);
/// assert_eq!(ldexp(&mantissa, &exponent).to_vec::<f32>()?, [8.0, -0.75, 0.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn frexp<X: Math>(x: X) -> (X::Out, X::Out) {
    both([Op::FrexpMantissa, Op::FrexpExponent], x, Place::caller())
}

/// Fraction and integer part, both with the sign of `x`, as C's and NumPy's `modf`: [`modf_fraction`](crate::modf_fraction) and
/// [`modf_integer`](crate::modf_integer). Integers become floats.
///
/// ```
/// use ndjit::{Array, modf};
/// let (fraction, integer) = modf(Array::from([2.25f32, -1.5]));
/// assert_eq!(fraction.to_vec::<f32>()?, [0.25, -0.5]);
/// assert_eq!(integer.to_vec::<f32>()?, [2.0, -1.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn modf<X: Math>(x: X) -> (X::Out, X::Out) {
    both([Op::ModfFraction, Op::ModfInteger], x, Place::caller())
}

fn both<X: Math>(ops: [Op; 2], x: X, place: Place) -> (X::Out, X::Out) {
    let x = [x.operand()];
    let [first, second] = ops.map(|op| X::Out::compute(op, &x, place));
    (first, second)
}

/// The norm of vectors along some axes: of order 2 [`norm`](fn@crate::norm), of 1 the sum of moduli, of infinity the largest and of
/// minus infinity the smallest modulus, of 0 the number of elements that are nonzero, of another `p` the root
/// `sum(abs(x)^p)^(1/p)`. Integers become floats, complex numbers give their parts' dtype.
///
/// ```
/// use ndjit::{Array, vector_norm};
/// let x = Array::from([3.0f32, -4.0]);
/// assert_eq!(vector_norm(&x, 2, ..).item::<f32>()?, 5.0);
/// assert_eq!(vector_norm(&x, 1, ..).item::<f32>()?, 7.0);
/// assert_eq!(vector_norm(&x, f64::INFINITY, ..).item::<f32>()?, 4.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Accuracy: order 0 is the number of elements rounded, infinite orders give a modulus; 1 is as exact as
///   [`sum`](fn@crate::sum), 2 as [`norm`](fn@crate::norm). Of another `p` each power is rounded to the dtype, the sum and `1 / p` too,
///   so that the error is at most `(c / p + abs(log(result)) + 2) u`, where `c` is the sum's bound and 3 more.
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.vector_norm.html).
///
/// # Errors
/// Poisoned with `Shape` for axes that are not there, and where a largest modulus is asked of no elements.
#[track_caller]
pub fn vector_norm<X: Math>(x: X, order: impl Number, axes: impl IntoAxes) -> X::Out {
    let (x, axes, place) = (x.operand(), axes.axes(), Place::caller());
    let order = match order.literal().value() {
        LiteralValue::Int(n) => n as f64,
        LiteralValue::Float(p) => p,
        LiteralValue::Bool(_) | LiteralValue::Complex(..) => {
            let error = Error::new(ErrorCode::Argument, "vector_norm: the order is no real number");
            return X::Out::failed(error.help("orders are 0, 1, 2, other numbers, and infinities").at(place));
        }
    };
    let reduce = |reduction, x: AnyOperand| -> X::Out { reductions::reduce(reduction, None, x, axes.clone(), place) };
    let op = |op, operands: &[AnyOperand]| -> AnyOperand { X::Out::compute(op, operands, place).operand() };
    if order == 2.0 {
        return reduce(Reduction::Norm, x);
    }
    // True division makes floats of integers, whose least one has a modulus only there, and leaves floats as they are.
    let float = op(Op::Divide, &[x, 1.operand()]);
    let modulus = op(Op::Abs, &[float]);
    match order {
        0.0 => {
            // One for each that is nonzero, in the modulus's dtype.
            let nonzero = op(Op::NotEqual, &[modulus.clone(), 0.operand()]);
            let ones = op(Op::Where, &[nonzero, 1.operand(), modulus]);
            reduce(Reduction::Sum, ones)
        }
        1.0 => reduce(Reduction::Sum, modulus),
        f64::INFINITY => reduce(Reduction::Max, modulus),
        f64::NEG_INFINITY => reduce(Reduction::Min, modulus),
        p => {
            let powers = op(Op::Pow, &[modulus, p.operand()]);
            let sum = reduce(Reduction::Sum, powers).operand();
            X::Out::compute(Op::Pow, &[sum, (1.0 / p).operand()], place)
        }
    }
}

/// From each element's case: `cases[which]`. All broadcast against each other; the cases meet in their common dtype. `which` holds
/// integers, or bools that choose between two; one below 0 takes the first case, one beyond the last case takes that. As
/// [`jax.lax.select_n`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.select_n.html), which leaves those open.
///
/// ```
/// use ndjit::{Array, select_n};
/// let which = Array::from([0, 2, 1]);
/// let cases = [Array::from([1.0f32, 2.0, 3.0]), Array::from([10.0f32, 20.0, 30.0]), Array::from([0.5f32, 0.5, 0.5])];
/// assert_eq!(select_n(which, cases).to_vec::<f32>()?, [1.0, 0.5, 30.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Dtype` for a `which` of floats or complex numbers. No case at all does not compile.
#[track_caller]
pub fn select_n<W, X, const N: usize>(which: W, cases: [X; N]) -> <W as Meet<X>>::Out
where
    W: Operand + Meet<X>,
    X: Operand,
{
    const { assert!(N > 0, "select_n takes a case at least") };
    let place = Place::caller();
    let which = which.operand();
    let cases = cases.map(Operand::operand);
    match which.describe("select_n") {
        Ok((ty, ..)) if !matches!(ty.kind(), Kind::Bool | Kind::UInt | Kind::Int) => {
            let error = Error::new(ErrorCode::DType, format!("select_n: which is {ty}, not an integer or bool"));
            return Computed::failed(error.help("cast it: `which.cast(DType::I32)`, which truncates").at(place));
        }
        Ok(_) | Err(_) => {}
    }
    let from = |index: usize, others: AnyOperand| {
        let reached: <W as Meet<X>>::Out =
            Computed::compute(Op::GreaterEqual, &[which.clone(), index.operand()], place);
        Computed::compute(Op::Where, &[reached.operand(), cases[index].clone(), others], place)
    };
    let mut chosen = cases[0].clone();
    for index in 1..N - 1 {
        let of_more: <W as Meet<X>>::Out = from(index, chosen);
        chosen = of_more.operand();
    }
    from(N - 1, chosen)
}
