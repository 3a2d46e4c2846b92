//! Bodies of ops on `f32` and `f64` registers. Halves share those whose result needs no rounding.

use crate::complex::polar;
use crate::complex::root::modulus;
use crate::emitter::ScalarEmitter::{self, Binary, Quaternary, Ternary, Unary};
use crate::kit::util::{copysign_of_number, is_finite, is_inf, is_nan};
use crate::real::{
    asin, atan, degrees, digamma, erf, erfinv, exp, expm1, finite, float_parts, gamma, gelu, hyperbolic,
    inverse_hyperbolic, log, log_sum, log1p, logistic, polygamma, pow, remainder, root, scale, sinc, softplus, trig,
};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::{DType, PrimType};
use ndjit_ir::op::Op;

/// The body of `op` on float registers of one type.
pub(crate) const fn op(op: Op) -> Option<ScalarEmitter> {
    Some(match op {
        Op::Add => Binary(BodyBuilder::fadd),
        Op::Subtract => Binary(BodyBuilder::fsub),
        Op::Multiply => Binary(BodyBuilder::fmul),
        Op::MultiplyNoNan => Binary(|b, x, y| {
            let (product, zero) = (b.fmul(x, y), b.float(b.ty(x), 0.0));
            let (x, y) = (b.feq(x, zero), b.feq(y, zero));
            let vanishes = b.or(x, y);
            b.select(vanishes, zero, product)
        }),
        Op::Square => Unary(|b, x| b.fmul(x, x)),
        Op::Divide => Binary(BodyBuilder::fdiv),
        Op::FloorDivide => Binary(remainder::floor_divide),
        Op::Fmod => Binary(remainder::fmod),
        Op::Remainder => Binary(remainder::remainder),
        Op::Negative => Unary(BodyBuilder::fneg),
        Op::Abs => Unary(BodyBuilder::fabs),
        Op::Sign => Unary(sign),
        Op::Sqrt => Unary(BodyBuilder::fsqrt),
        Op::Reciprocal => Unary(|b, x| {
            let one = b.float(b.ty(x), 1.0);
            b.fdiv(one, x)
        }),
        Op::MulAdd => Ternary(BodyBuilder::fma),
        Op::Minimum => Binary(BodyBuilder::fmin),
        Op::Maximum => Binary(BodyBuilder::fmax),
        Op::Fmin => Binary(|b, x, y| {
            let smaller = b.fmin(x, y);
            number_of(b, x, y, smaller)
        }),
        Op::Fmax => Binary(|b, x, y| {
            let larger = b.fmax(x, y);
            number_of(b, x, y, larger)
        }),
        Op::Clip => Ternary(|b, x, low, high| {
            let raised = b.fmax(x, low);
            b.fmin(raised, high)
        }),
        Op::Floor => Unary(BodyBuilder::ffloor),
        Op::Ceil => Unary(BodyBuilder::fceil),
        Op::Conj | Op::Real | Op::Positive => Unary(|_, x| x),
        Op::Angle => Unary(polar::angle_of_real),
        Op::Imag => Unary(|b, x| b.float(b.ty(x), 0.0)),
        Op::Trunc | Op::ModfInteger => Unary(BodyBuilder::ftrunc),
        Op::Round | Op::Rint => Unary(BodyBuilder::fround),
        Op::Ldexp => Binary(scale::ldexp),
        Op::FrexpMantissa => Unary(scale::frexp_mantissa),
        Op::FrexpExponent => Unary(scale::frexp_exponent),
        Op::ModfFraction => Unary(scale::modf_fraction),
        Op::IsClose => Quaternary(finite::isclose),
        Op::NanToNum => Unary(|b, x| {
            let dtype = if b.ty(x) == PrimType::F32 { DType::F32 } else { DType::F64 };
            finite::nan_to_num(b, x, dtype)
        }),
        Op::Equal => Binary(BodyBuilder::feq),
        Op::NotEqual => Binary(BodyBuilder::fne),
        Op::Less => Binary(BodyBuilder::flt),
        Op::LessEqual => Binary(BodyBuilder::fle),
        Op::Greater => Binary(|b, x, y| b.flt(y, x)),
        Op::GreaterEqual => Binary(|b, x, y| b.fle(y, x)),
        Op::IsNan => Unary(is_nan),
        Op::IsInf => Unary(is_inf),
        Op::IsFinite => Unary(is_finite),
        Op::Signbit => Unary(float_parts::signbit),
        Op::Copysign => Binary(|b, x, y| {
            let magnitude = b.fabs(x);
            copysign_of_number(b, magnitude, y)
        }),
        Op::Nextafter => Binary(float_parts::nextafter),
        Op::Rsqrt => Unary(root::rsqrt),
        Op::Cbrt => Unary(root::cbrt),
        Op::Hypot => Binary(|b, x, y| modulus(b, (x, y))),
        Op::Pow => Binary(pow::pow),
        Op::Exp => Unary(exp::exp),
        Op::Log => Unary(log::log),
        Op::Sin => Unary(trig::sin),
        Op::Cos => Unary(trig::cos),
        Op::Tan => Unary(trig::tan),
        Op::Asin => Unary(asin::asin),
        Op::Acos => Unary(asin::acos),
        Op::Atan => Unary(atan::atan),
        Op::Atan2 => Binary(atan::atan2),
        Op::Degrees => Unary(degrees::degrees),
        Op::Radians => Unary(degrees::radians),
        Op::Tanh => Unary(hyperbolic::tanh),
        Op::Log1p => Unary(log1p::log1p),
        Op::Expm1 => Unary(expm1::expm1),
        Op::Log2 => Unary(log::log2),
        Op::Log10 => Unary(log::log10),
        Op::Exp2 => Unary(exp::exp2),
        Op::Cosh => Unary(hyperbolic::cosh),
        Op::Sinh => Unary(hyperbolic::sinh),
        Op::Asinh => Unary(inverse_hyperbolic::asinh),
        Op::Acosh => Unary(inverse_hyperbolic::acosh),
        Op::Atanh => Unary(inverse_hyperbolic::atanh),
        Op::Logaddexp => Binary(log_sum::logaddexp),
        Op::Exp10 => Unary(exp::exp10),
        Op::Logaddexp2 => Binary(log_sum::logaddexp2),
        Op::FloatPower => Binary(pow::pow),
        Op::Sigmoid => Unary(logistic::sigmoid),
        Op::LogSigmoid => Unary(softplus::log_sigmoid),
        Op::Softplus => Unary(softplus::softplus),
        Op::Silu => Unary(logistic::silu),
        Op::Gelu => Unary(gelu::gelu),
        Op::GeluTanh => Unary(logistic::gelu_tanh),
        Op::Relu => Unary(|b, x| {
            let zero = b.float(b.ty(x), 0.0);
            b.fmax(x, zero)
        }),
        Op::Heaviside => Binary(heaviside),
        Op::Sinc => Unary(sinc::sinc),
        Op::Erf => Unary(erf::erf),
        Op::Erfc => Unary(erf::erfc),
        Op::Erfinv => Unary(erfinv::erfinv),
        Op::Lgamma => Unary(gamma::lgamma),
        Op::Tgamma => Unary(gamma::tgamma),
        Op::Digamma => Unary(digamma::digamma),
        Op::Polygamma => Binary(polygamma::polygamma),
        _ => return None,
    })
}

fn sign(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (zero, one, minus_one) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, -1.0));
    let negative = b.flt(x, zero);
    let signed = b.select(negative, minus_one, one);
    let is_zero = b.feq(x, zero);
    let signed = b.select(is_zero, zero, signed);
    let nan = is_nan(b, x);
    b.select(nan, x, signed)
}

/// 0 for negative `x`, 1 for positive ones, `at_zero` at zeros, NaN for NaN.
fn heaviside(b: &mut BodyBuilder, x: Reg, at_zero: Reg) -> Reg {
    let ty = b.ty(x);
    let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
    let positive = b.flt(zero, x);
    let step = b.select(positive, one, zero);
    let is_zero = b.feq(x, zero);
    let step = b.select(is_zero, at_zero, step);
    let nan = is_nan(b, x);
    b.select(nan, x, step)
}

/// The only number of two operands, or `both` if both are.
fn number_of(b: &mut BodyBuilder, x: Reg, y: Reg, both: Reg) -> Reg {
    let (x_nan, y_nan) = (is_nan(b, x), is_nan(b, y));
    let value = b.select(y_nan, x, both);
    b.select(x_nan, y, value)
}
