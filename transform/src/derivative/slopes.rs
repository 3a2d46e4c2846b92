//! The table of slopes: for each operand of each op the linear map from its tangent to the result's. A missing row
//! fails to compile.
//!
//! Operands and result are in the op's computing dtype, halves in `f32`. Slopes have the forms that keep their accuracy
//! at the ends of the domain; at kinks they are the element of least norm of the subdifferential, at poles and ends the
//! limit from within.

use super::forms::*;
use super::maps::LinearMap::{self, Cast, Conj, Imag, Negate, Pick, Real, Scale};
use crate::append::SlopeTerm;
use crate::append::ops::*;
use ndjit_ir::{DType, Op};
use smallvec::{SmallVec, smallvec};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, LN_10, LOG2_E, LOG10_E, PI};

/// A composition of linear maps.
pub(super) type Path = SmallVec<[LinearMap; 2]>;
/// Linear maps whose results are added; empty if the result does not depend on the operand.
pub(super) type Paths = SmallVec<[Path; 1]>;

fn flat() -> Paths {
    Paths::new()
}

fn same() -> Paths {
    smallvec![Path::new()]
}

fn path<const N: usize>(maps: [LinearMap; N]) -> Paths {
    smallvec![maps.into_iter().collect()]
}

fn minus() -> Paths {
    path([Negate])
}

fn times(slope: SlopeTerm<'_>) -> Paths {
    path([Scale(slope.value)])
}

/// Returns the map with the slope `1 / divisor`. A quotient would not be 0 for a zero tangent and a divisor of 0 or
/// NaN.
fn over(divisor: SlopeTerm<'_>) -> Paths {
    times(1.0 / divisor)
}

fn where_true(condition: SlopeTerm<'_>) -> Paths {
    path([Pick { condition: condition.value, when: true }])
}

/// Returns the map of operand `n` of an op.
pub(super) fn slope<'a>(op: Op, n: usize, operands: &[SlopeTerm<'a>], r: SlopeTerm<'a>) -> Paths {
    let x = operands[0];
    let y = operands.get(1).copied().unwrap_or(x);
    let z = operands.get(2).copied().unwrap_or(x);
    let is_complex = x.is_complex();
    match (op, n) {
        (Op::Add | Op::Positive | Op::ModfFraction, _) => same(),
        (Op::Subtract, 0) => same(),
        (Op::Subtract, _) => minus(),
        (Op::Multiply | Op::MultiplyNoNan, 0) => times(y),
        (Op::Multiply | Op::MultiplyNoNan, _) => times(x),
        (Op::Divide, 0) => over(y),
        (Op::Divide, _) => times(-(r / y)),
        (Op::Remainder | Op::Fmod, 0) => same(),
        (Op::Remainder, _) => times(-floor_divide(x, y)),
        // A truncated quotient may have been rounded to the next integer.
        (Op::Fmod, _) => times(floor_divide(abs(x), abs(y)) * -(sign(x) * sign(y))),
        (Op::Negative, _) => minus(),
        (Op::Abs, _) if is_complex => path([Scale(conj(sign(x)).value), Real]),
        (Op::Abs, _) => times(sign(x)),
        (Op::Sign, _) if is_complex => {
            let (modulus, whole) = (abs(x).cast(x.dtype()), x.dtype());
            let mut paths = over(modulus);
            paths.extend(path([Scale(conj(r).value), Real, Cast(whole), Scale((-(r / modulus)).value)]));
            paths
        }
        (Op::Sign, _) => flat(),
        (Op::Square, _) => times(x * 2.0),
        (Op::Sqrt, _) if is_complex => over(r * 2.0),
        // At -0 the same as at 0.
        (Op::Sqrt, _) => over((r + 0.0) * 2.0),
        (Op::Reciprocal, _) => times(-(r * r)),
        (Op::MulAdd, 0) => times(y),
        (Op::MulAdd, 1) => times(x),
        (Op::MulAdd, _) => same(),
        (Op::Minimum, 0) => times(share(x, less(x, y), equal(x, y))),
        (Op::Minimum, _) => times(share(x, less(y, x), equal(x, y))),
        (Op::Maximum, 0) => times(share(x, greater(x, y), equal(x, y))),
        (Op::Maximum, _) => times(share(x, greater(y, x), equal(x, y))),
        (Op::Fmin, 0) => times(share(x, logical_or(isnan(y), less(x, y)), equal(x, y))),
        (Op::Fmin, _) => times(share(x, logical_or(isnan(x), less(y, x)), equal(x, y))),
        (Op::Fmax, 0) => times(share(x, logical_or(isnan(y), greater(x, y)), equal(x, y))),
        (Op::Fmax, _) => times(share(x, logical_or(isnan(x), greater(y, x)), equal(x, y))),
        (Op::Clip, 0) => where_true(logical_and(greater(x, y), less(x, z))),
        (Op::Clip, 1) => where_true(logical_and(less(x, y), less(y, z))),
        (Op::Clip, _) => where_true(greater(maximum(x, y), z)),
        (Op::Complex, 0) => path([Cast(r.dtype())]),
        (Op::Complex, _) => path([Cast(r.dtype()), Scale(i(r).value)]),
        (Op::Polar, 0) => path([Cast(r.dtype()), Scale(polar(x.number(1.0), y).value)]),
        (Op::Polar, _) => path([Cast(r.dtype()), Scale((r * i(r)).value)]),
        (Op::Angle, _) if is_complex => path([Scale((conj(sign(x)) / abs(x).cast(x.dtype())).value), Imag]),
        (Op::Conj, _) if is_complex => path([Conj]),
        (Op::Real, _) if is_complex => path([Real]),
        (Op::Imag, _) if is_complex => path([Imag]),
        (Op::Conj | Op::Real, _) => same(),
        (Op::Where, 0) => flat(),
        (Op::Where, 1) => where_true(x),
        (Op::Where, _) => path([Pick { condition: x.value, when: false }]),
        (Op::NanToNum, _) => where_true(isfinite(x)),
        (Op::Copysign, 0) => times(copysign(x.number(1.0), x) * copysign(x.number(1.0), y)),
        (Op::Nextafter, 0) => same(),
        (Op::Copysign | Op::Nextafter, _) => flat(),
        (Op::Rsqrt, _) => times(r * -0.5 / x),
        (Op::Ldexp, 0) => times(ldexp(x.number(1.0), y)),
        (Op::Ldexp, _) => flat(),
        (Op::FrexpMantissa, _) => times(ldexp(x.number(1.0), frexp_exponent(-x).negated_count())),
        // A quotient by x would be one of infinities, and cancel in second derivatives.
        (Op::Cbrt, _) => over(r * r * 3.0),
        (Op::Hypot, 0) => times(part(x, r)),
        (Op::Hypot, _) => times(part(y, r)),
        (Op::Pow, 0) => times(power_slope(x, y, r, pow)),
        (Op::FloatPower, 0) => times(power_slope(x, y, r, float_power)),
        (Op::Pow | Op::FloatPower, _) => {
            let slope = r.scaled(log(x));
            let at_zero = equal(x, x.number(0.0));
            let constant = if is_complex { at_zero } else { logical_and(at_zero, greater_equal(y, y.number(0.0))) };
            times(slope.unless(constant, x.number(0.0)))
        }
        (Op::Exp, _) => times(r),
        (Op::Log, _) => over(x),
        (Op::Sin, _) => times(cos(x)),
        (Op::Cos, _) => times(-sin(x)),
        (Op::Tan, _) => times(r * r + 1.0),
        (Op::Asin, _) => over(sqrt(rest_of_square(x))),
        (Op::Acos, _) => over(-sqrt(rest_of_square(x))),
        (Op::Atan, _) => times(atan_slope(x)),
        (Op::Atan2, 0) => {
            let h = hypot(x, y);
            times(part(part(y, h), h))
        }
        (Op::Atan2, _) => {
            let h = hypot(x, y);
            times(-part(part(x, h), h))
        }
        (Op::Degrees, _) => times(x.number(180.0 / PI)),
        (Op::Radians, _) => times(x.number(PI / 180.0)),
        (Op::Tanh, _) if is_complex => times(1.0 - r * r),
        (Op::Tanh, _) => times(tanh_slope(x, r)),
        (Op::Log1p, _) => over(x + 1.0),
        (Op::Expm1, _) => times(exp(x)),
        (Op::Log2, _) => times(LOG2_E / x),
        (Op::Log10, _) => times(LOG10_E / x),
        (Op::Exp2, _) => times(r * LN_2),
        (Op::Exp10, _) => times(r * LN_10),
        (Op::Cosh, _) => times(sinh(x)),
        (Op::Sinh, _) => times(cosh(x)),
        (Op::Asinh, _) if is_complex => over(sqrt(x * x + 1.0)),
        (Op::Asinh, _) => over(hypot(x, x.number(1.0))),
        (Op::Acosh, _) => over(sqrt(x - 1.0) * sqrt(x + 1.0)),
        (Op::Atanh, _) => over(rest_of_square(x)),
        (Op::Logaddexp, 0) => times(logistic_share(x, y, r, false)),
        (Op::Logaddexp, _) => times(logistic_share(y, x, r, false)),
        (Op::Logaddexp2, 0) => times(logistic_share(x, y, r, true)),
        (Op::Logaddexp2, _) => times(logistic_share(y, x, r, true)),
        (Op::Sigmoid, _) => times(sigmoid_slope(x, r)),
        (Op::LogSigmoid, _) => times(sigmoid(-x)),
        (Op::Softplus, _) => times(sigmoid(x)),
        (Op::Silu, _) => times(sigmoid(x).scaled(x.scaled(sigmoid(-x)) + 1.0)),
        (Op::Gelu, _) => times(erfc(x * -FRAC_1_SQRT_2) * 0.5 + x.scaled(normal_density(x))),
        (Op::GeluTanh, _) => {
            // x (1 + tanh u) / 2 is x sigmoid(2 u), where u = sqrt(2 / pi) (x + 0.044715 x^3).
            let scale = FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * 2.0;
            let twice = x * (x * x * 0.044715 + 1.0) * scale;
            let slope = (x * x * (3.0 * 0.044715) + 1.0) * scale;
            let (rising, falling) = (sigmoid(twice), sigmoid(-twice));
            times(rising.scaled(x.scaled(falling).scaled(slope) + 1.0))
        }
        (Op::Relu, _) => where_true(greater(x, x.number(0.0))),
        (Op::Heaviside, 0) => flat(),
        (Op::Heaviside, _) => where_true(equal(x, x.number(0.0))),
        (Op::Sinc, _) => times(sinc_slope(x)),
        (Op::Erf, _) => times(gauss(x) * FRAC_2_SQRT_PI),
        (Op::Erfc, _) => times(gauss(x) * -FRAC_2_SQRT_PI),
        (Op::Erfinv, _) => times(exp(r * r) * (1.0 / FRAC_2_SQRT_PI)),
        (Op::Lgamma, _) => times(digamma(x)),
        (Op::Tgamma, _) => times(r * digamma(x)),
        (Op::Digamma, _) => times(polygamma(x.number(1.0), x)),
        // Orders are integers.
        (Op::Polygamma, 0) => flat(),
        (Op::Polygamma, _) => times(polygamma(x + 1.0, y)),
        (
            Op::FloorDivide
            | Op::Floor
            | Op::Ceil
            | Op::Trunc
            | Op::Round
            | Op::Rint
            | Op::Angle
            | Op::Imag
            | Op::Equal
            | Op::NotEqual
            | Op::Less
            | Op::LessEqual
            | Op::Greater
            | Op::GreaterEqual
            | Op::LogicalAnd
            | Op::LogicalOr
            | Op::LogicalXor
            | Op::LogicalNot
            | Op::BitwiseAnd
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::BitwiseInvert
            | Op::BitwiseLeftShift
            | Op::BitwiseRightShift
            | Op::IsNan
            | Op::IsInf
            | Op::IsFinite
            | Op::IsClose
            | Op::Signbit
            | Op::FrexpExponent
            | Op::ModfInteger
            | Op::Gcd
            | Op::Lcm
            | Op::RotateLeft
            | Op::RotateRight
            | Op::SaturatingAdd
            | Op::SaturatingSubtract
            | Op::Popcount
            | Op::Clz
            | Op::Ctz
            | Op::Threefry2x32,
            _,
        ) => flat(),
    }
}

impl<'a> SlopeTerm<'a> {
    /// Negates the count.
    fn negated_count(self) -> SlopeTerm<'a> {
        -self.cast(DType::I32)
    }
}
