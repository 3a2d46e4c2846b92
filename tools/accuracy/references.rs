//! References of real functions in `f64`, for those missing in Rust and CORE-MATH: exact, or rounded once, for operands of
//! the narrower formats and for `f64` itself, unless the function's row in `functions.rs` says otherwise.

use crate::format::{F64, Format, power_of_two};
use crate::multi::Real;

pub fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x.abs() } else { 1f64.copysign(x) }
}

/// For real arguments: pi if the sign bit is set.
pub fn angle(x: f64) -> f64 {
    match x.is_sign_negative() {
        _ if x.is_nan() => x,
        true => std::f64::consts::PI,
        false => 0.0,
    }
}

/// The first result of C's `frexp`.
pub fn mantissa(x: f64) -> f64 {
    let normal = if x.abs() < f64::MIN_POSITIVE { x * power_of_two(60) } else { x };
    if normal == 0.0 || !normal.is_finite() {
        return x;
    }
    f64::from_bits(normal.to_bits() & !(0x7ff << 52) | 0x3fe << 52)
}

/// The first result of C's `modf`.
pub fn fraction(x: f64) -> f64 {
    if x.is_infinite() { 0f64.copysign(x) } else { (x - x.trunc()).copysign(x) }
}

/// Exact for narrower formats; for `f64` right at zeros and non-finite values.
pub fn ldexp(x: f64, n: f64) -> f64 {
    x * power_of_two(n.clamp(-600.0, 600.0) as i32)
}

/// Whether `x` comes before `y`; -0 before +0.
fn before(x: f64, y: f64) -> bool {
    x < y || x == y && x.is_sign_negative()
}

pub fn fmin(x: f64, y: f64) -> f64 {
    if y.is_nan() || before(x, y) { x } else { y }
}

pub fn fmax(x: f64, y: f64) -> f64 {
    if y.is_nan() || before(y, x) { x } else { y }
}

pub fn minimum(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { fmin(x, y) }
}

pub fn maximum(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { fmax(x, y) }
}

pub fn clip(_: Format, x: f64, low: f64, high: f64) -> f64 {
    minimum(maximum(x, low), high)
}

/// The sign of a NaN is not specified.
pub fn copysign(x: f64, y: f64) -> f64 {
    if y.is_nan() { x.abs() } else { x.copysign(y) }
}

pub fn nextafter(format: Format, x: f64, y: f64) -> f64 {
    match () {
        () if x.is_nan() || y.is_nan() => f64::NAN,
        () if x == y => y,
        () if x == 0.0 => format.tiny().copysign(y),
        () if x.is_infinite() => format.max().copysign(x),
        () => format.next(x, (x < y) == (x > 0.0)),
    }
}

/// Python's remainder, with the sign of `y`. The sum is rounded once.
pub fn remainder(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest.abs().copysign(y) }
}

/// The quotient for non-finite or zero operands.
fn special_floor_divide(x: f64, y: f64) -> Option<f64> {
    match () {
        () if y == 0.0 => Some(x / y),
        () if !x.is_finite() || y.is_nan() => Some(f64::NAN),
        () if y.is_infinite() => Some(if x != 0.0 && (x < 0.0) != (y < 0.0) { -1.0 } else { x / y }),
        () => None,
    }
}

/// Exact except for two roundings in `f64`.
pub fn floor_divide(x: f64, y: f64) -> f64 {
    special_floor_divide(x, y).unwrap_or_else(|| {
        let rest = x % y;
        let truncated = (x - rest) / y;
        match rest != 0.0 && (rest < 0.0) != (y < 0.0) {
            true => truncated - 1.0,
            // A zero result has the sign of the quotient.
            false if truncated == 0.0 => 0f64.copysign(x / y),
            false => truncated,
        }
    })
}

/// The remainder is exact, so the quotient is an integer except for the last of 256 bits.
pub fn precise_floor_divide(x: &Real, y: &Real) -> Real {
    let (dividend, divisor) = (x.nearest(F64), y.nearest(F64));
    let rest = dividend % divisor;
    let truncated = (x - Real::from(rest)) / y;
    if rest != 0.0 && (rest < 0.0) != (divisor < 0.0) { truncated - 1.0 } else { truncated }
}

/// `x * y + z` rounded to odd in `f64`, so a second rounding to a narrower format is correct (Boldo and Melquiond 2008); for
/// `f64` fused.
pub fn mul_add(format: Format, x: f64, y: f64, z: f64) -> f64 {
    if format == F64 {
        return x.mul_add(y, z);
    }
    let product = x * y;
    let sum = product + z;
    let z_part = sum - product;
    let error = (product - (sum - z_part)) + (z - z_part);
    if !sum.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    f64::from_bits(if (error > 0.0) == (sum > 0.0) { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// Within a few units in the last place of the larger operand in `f64`.
pub fn logaddexp(x: f64, y: f64) -> f64 {
    match () {
        () if x.is_nan() || y.is_nan() => f64::NAN,
        () if x == y => x + std::f64::consts::LN_2,
        () => maximum(x, y) + core_math::log1p(core_math::exp(-(x - y).abs())),
    }
}

pub fn precise_logaddexp(x: &Real, y: &Real) -> Real {
    let difference = y - x;
    if difference.is_negative() { x + difference.exp().ln_1p() } else { y + (-difference).exp().ln_1p() }
}
