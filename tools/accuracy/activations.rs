//! References of the logistic function and its relatives: in `f64`, exact to a few units in its last place, which is enough for
//! the narrower formats; in multi-precision for `f64` itself. Special values are right in both.

use crate::error_function::erfc;
use crate::format::F64;
use crate::multi::Real;
use std::f64::consts::{LN_2, PI, SQRT_2};

pub fn sigmoid(x: f64) -> f64 {
    let power = core_math::exp(-x.abs());
    if x < 0.0 { power / (1.0 + power) } else { 1.0 / (1.0 + power) }
}

pub fn precise_sigmoid(x: &Real) -> Real {
    Real::from(1.0) / ((-x).exp() + 1.0)
}

pub fn softplus(x: f64) -> f64 {
    if x.is_nan() { x } else { x.max(0.0) + core_math::log1p(core_math::exp(-x.abs())) }
}

pub fn precise_softplus(x: &Real) -> Real {
    if x.is_negative() { x.exp().ln_1p() } else { x + (-x).exp().ln_1p() }
}

/// A product with `x` that vanishes at -inf. An underflow is the smallest positive value, not an exact zero.
fn weighted(x: f64, weight: f64) -> f64 {
    match x * weight {
        _ if x == f64::NEG_INFINITY => -0.0,
        0.0 if x != 0.0 => F64.tiny().copysign(x),
        product => product,
    }
}

pub fn silu(x: f64) -> f64 {
    weighted(x, sigmoid(x))
}

pub fn precise_silu(x: &Real) -> Real {
    x * precise_sigmoid(x)
}

pub fn gelu(x: f64) -> f64 {
    weighted(x, core_math::erfc(-x / SQRT_2) / 2.0)
}

pub fn precise_gelu(x: &Real) -> Real {
    x * erfc(&(-x / Real::from(2.0).sqrt())) / 2.0
}

/// `(1 + tanh t) / 2` is `sigmoid(2 t)`, which does not cancel.
pub fn gelu_tanh(x: f64) -> f64 {
    weighted(x, sigmoid(2.0 * (2.0 / PI).sqrt() * (x + 0.044715 * x * x * x)))
}

pub fn precise_gelu_tanh(x: &Real) -> Real {
    let inner = x + x * x * x * 44715.0 / 1e6;
    let root = (Real::from(2.0) / Real::pi()).sqrt();
    x * precise_sigmoid(&(inner * root * 2.0))
}

pub fn relu(x: f64) -> f64 {
    if x > 0.0 || x.is_nan() { x } else { 0.0 }
}

pub fn heaviside(x: f64, h: f64) -> f64 {
    match () {
        () if x.is_nan() => x,
        () if x == 0.0 => h,
        () => f64::from(u8::from(x > 0.0)),
    }
}

pub fn sinc(x: f64) -> f64 {
    match () {
        () if x == 0.0 => 1.0,
        // The limit, and the zeros.
        () if x.is_infinite() || x == x.trunc() => 0.0,
        () => core_math::sinpi(x) / (PI * x),
    }
}

/// For non-integers, so at most 53 bits are before the point.
pub fn precise_sinc(x: &Real) -> Real {
    let angle = x * Real::pi();
    angle.sin() / angle
}

pub fn logaddexp2(x: f64, y: f64) -> f64 {
    match () {
        () if x.is_nan() || y.is_nan() => f64::NAN,
        () if x == y => x + 1.0,
        () => x.max(y) + core_math::log1p(core_math::exp2(-(x - y).abs())) / LN_2,
    }
}

pub fn precise_logaddexp2(x: &Real, y: &Real) -> Real {
    let (difference, ln) = (y - x, Real::from(2.0).ln());
    let [larger, beyond] = if difference.is_negative() { [x, &difference] } else { [y, &-&difference] };
    larger + beyond.exp2().ln_1p() / ln
}
