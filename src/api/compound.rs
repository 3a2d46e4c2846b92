//! Functions that consist of several operations of the tables: those with two results, `select_n`, and norms.

use crate::api::config::{policy, with_parts};
use crate::api::manipulation::refused;
use crate::api::parts::{ReductionDTypes, reduction_types};
use crate::api::reductions::{self, Axes, IntoAxes};
use crate::trace::operand::{AnyOperand, ArrayLike, BinaryOperand, Operand, UnaryOperand};
use crate::trace::scalar::{Number, Scalar};
use ndjit_eval::request::Request;
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::promotion::Policy;
use ndjit_ir::{
    CastAdvice, DType, Error, ErrorCode, Help, Kind, LiteralValue, Op, Reduction, Result, SourceLoc, ValueType,
};
use std::slice;

/// Mantissa and exponent, `x = mantissa * 2^exponent` with the mantissa's magnitude in [0.5, 1), as in C and NumPy:
/// [`frexp_mantissa`](crate::frexp_mantissa) and [`frexp_exponent`](crate::frexp_exponent), an `i32`. Integers become
/// floats. [`ldexp`](crate::ldexp) is the inverse.
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
pub fn frexp<X: UnaryOperand>(x: X) -> (X::Out, X::Out) {
    both("frexp", [Op::FrexpMantissa, Op::FrexpExponent], x, SourceLoc::caller())
}

/// Fractional and integer part, both with the sign of `x`, as in C and NumPy: [`modf_fraction`](crate::modf_fraction) and
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
pub fn modf<X: UnaryOperand>(x: X) -> (X::Out, X::Out) {
    both("modf", [Op::ModfFraction, Op::ModfInteger], x, SourceLoc::caller())
}

fn both<X: UnaryOperand>(what: &'static str, ops: [Op; 2], x: X, place: SourceLoc) -> (X::Out, X::Out) {
    let x = [x.operand()];
    let [first, second] = ops.map(|op| X::Out::compute(op, &x, place).part_of(what, &x, place));
    (first, second)
}

/// The norm of vectors along some axes. Order 2 is [`norm`](fn@crate::norm), 1 the sum of moduli, infinity the largest and
/// minus infinity the smallest modulus, 0 the number of nonzero elements, and another `p` is `sum(abs(x)^p)^(1/p)`. Integers
/// become floats, complex numbers give the dtype of their parts.
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
/// - Accuracy: order 0 is the number of elements rounded, infinite orders give a modulus; 1 is as accurate as
///   [`sum`](fn@crate::sum), 2 as [`norm`](fn@crate::norm). For another `p` each power is rounded to the dtype, the sum and
///   `1 / p` too: the error is at most `(c / p + abs(log(result)) + 2) u`, where `c` is the sum's bound and 3 more.
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.vector_norm.html).
///
/// # Errors
/// Poisoned with `Shape` for axes out of range, and for an infinite order of no elements.
#[track_caller]
pub fn vector_norm<X: UnaryOperand>(x: X, order: impl Number, axes: impl IntoAxes) -> X::Out {
    let (x, axes, place) = (x.operand(), axes.axes(), SourceLoc::caller());
    let reduce = |reduction, x: AnyOperand| -> X::Out { reductions::reduce(reduction, None, x, axes.clone(), place) };
    let order = match order.literal().value() {
        LiteralValue::Int(n) => n as f64,
        LiteralValue::Float(p) => p,
        LiteralValue::Bool(_) | LiteralValue::Complex(..) => {
            let error = Error::new(ErrorCode::Argument, "the order is not a real number")
                .help("orders are 0, 1, 2, other numbers, and infinities");
            return refused("vector_norm", &[x], place, &error);
        }
    };
    if order == 2.0 {
        return reduce(Reduction::Norm, x.clone()).part_of("vector_norm", &[x], place);
    }
    let dtypes = match dtypes_of_norm(&x, order, &axes) {
        Ok(dtypes) => dtypes,
        Err(error) => return refused("vector_norm", slice::from_ref(&x), place, &error),
    };
    let norm: X::Out = with_parts(|| {
        let given = &x;
        let cast = |x: &AnyOperand, dtype: DType| X::Out::convert(x, dtype, place).operand();
        let op = |op, operands: &[AnyOperand]| X::Out::compute(op, operands, place).operand();
        let x = dtypes.before.map_or(given.clone(), |dtype| cast(given, dtype));
        let number =
            |n: f64| AnyOperand::Scalar(Scalar(Literal::strong(n, dtypes.result).unwrap_or(Literal::weak(n)), None));
        let modulus = op(Op::Abs, &[cast(&x, dtypes.compute)]);
        match order {
            0.0 => {
                let nonzero = op(Op::NotEqual, &[modulus, number(0.0)]);
                reduce(Reduction::Sum, cast(&nonzero, dtypes.result))
            }
            1.0 => reduce(Reduction::Sum, modulus),
            f64::INFINITY => reduce(Reduction::Max, modulus),
            f64::NEG_INFINITY => reduce(Reduction::Min, modulus),
            p => {
                let powers = op(Op::Pow, &[modulus, number(p)]);
                let sum = reduce(Reduction::Sum, powers).operand();
                X::Out::compute(Op::Pow, &[sum, number(1.0 / p)], place)
            }
        }
    });
    norm.part_of("vector_norm", &[x], place)
}

/// Returns the dtypes of a norm of an order along these axes, those of the Euclidean norm, or an error.
fn dtypes_of_norm(x: &AnyOperand, order: f64, axes: &Axes) -> Result<ReductionDTypes> {
    let (ty, _, shape) = x.describe("vector_norm")?;
    let (along, _) =
        Request::new(Reduction::Norm, None, axes.clone().requested()).on(&shape).map_err(Error::unnamed)?;
    if order.is_infinite() && along.count(&shape) == 0 {
        let error = Error::new(ErrorCode::Shape, "there are no elements, of which none is the largest or smallest");
        return Err(error
            .fact(format_args!("along axes {along} of shape {shape}"))
            .help("give the array elements, or take a norm of a finite order: that of no elements is 0"));
    }
    reduction_types(Reduction::Norm, None, ty).map_err(|error| {
        let defaults = policy().defaults();
        let to = if ty.kind() == Kind::Complex { defaults.complex } else { defaults.float };
        error.unnamed().help(Help::from("cast the array, as in ").casts([CastAdvice::NamedOperand("x", to)]))
    })
}

/// Selects elements from `cases`: `cases[which]`. All operands broadcast, and the cases are cast to their common dtype.
/// `which` contains integers, or bools for two cases. It is clamped to the number of cases;
/// [`jax.lax.select_n`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.select_n.html) leaves that undefined.
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
/// `DType` for a `which` of floats or complex numbers. An empty `cases` does not compile.
#[track_caller]
pub fn select_n<W, X, const N: usize>(which: W, cases: [X; N]) -> <W as BinaryOperand<X>>::Out
where
    W: Operand + BinaryOperand<X>,
    X: Operand,
{
    const { assert!(N > 0, "select_n takes a case at least") };
    let place = SourceLoc::caller();
    let (which, cases) = (which.operand(), cases.map(Operand::operand));
    let (ty, dtype) = match which.describe("select_n") {
        Ok((ty, dtype, _)) if matches!(ty.kind(), Kind::Bool | Kind::UInt | Kind::Int) => (ty, dtype),
        Ok((ty, ..)) => {
            let error = Error::new(ErrorCode::DType, format!("which is {ty}, not an integer or bool"))
                .help("cast it: `cast(which, DType::I32)`, which truncates");
            return refused("select_n", &[which], place, &error);
        }
        Err(error) => return ArrayLike::failed(error.at(place)),
    };
    let operands: Vec<AnyOperand> = cases.iter().chain([&which]).cloned().collect();
    if let Err(error) = common(&which, &cases) {
        return refused("select_n", &operands, place, &error);
    }
    // The comparison `which >= index`, as an operand that every policy accepts.
    let reached = |index: usize| -> AnyOperand {
        let number = match ty {
            ValueType::Weak(_) => Ok(Literal::weak(index as i64)),
            // A bool is true only for the second case; between equal cases the choice is irrelevant.
            ValueType::Strong(DType::Bool) if index < 2 => return which.clone(),
            ValueType::Strong(_) => Literal::strong(index as i64, dtype),
        };
        // No element equals a number outside of its dtype.
        let Ok(number) = number else { return false.operand() };
        let number = AnyOperand::Scalar(Scalar(number, None));
        let reached: <W as BinaryOperand<X>>::Out =
            with_parts(|| ArrayLike::compute(Op::GreaterEqual, &[which.clone(), number], place));
        reached.operand()
    };
    let from = |index: usize, others: AnyOperand| -> <W as BinaryOperand<X>>::Out {
        let chosen: <W as BinaryOperand<X>>::Out =
            ArrayLike::compute(Op::Where, &[reached(index), cases[index].clone(), others], place);
        chosen.part_of("select_n", &operands, place)
    };
    let mut chosen = cases[0].clone();
    for index in 1..N - 1 {
        chosen = from(index, chosen).operand();
    }
    from(N - 1, chosen)
}

/// Checks that the cases and `which` have a common shape, and the cases a common dtype.
fn common(which: &AnyOperand, cases: &[AnyOperand]) -> Result<()> {
    let (_, _, mut shape) = which.describe("select_n")?;
    let mut types = Vec::with_capacity(cases.len());
    for (n, case) in cases.iter().enumerate() {
        let (ty, _, own) = case.describe("select_n")?;
        types.push(ty);
        shape = shape.broadcast(&own).ok_or_else(|| {
            Error::new(ErrorCode::Shape, format!("shape {own} of case {n} does not broadcast with {shape}"))
                .help("axes are matched from the last; extents must be equal or 1")
        })?;
    }
    // The result has the type of the cases in one array. The policy refuses a pair without a common dtype.
    let together = |policy| Operation::concat(0, policy).types(&types);
    together(policy()).map(drop).map_err(|clash| {
        clash.error().help(match together(Policy::Standard) {
            Ok(types) => {
                let dtype = Policy::Standard.commit(types.result);
                format!("cast the cases to a common dtype, as in `cast(x, DType::{dtype:?})`")
            }
            Err(_) => "cast the cases to a common dtype".to_owned(),
        })
    })
}
