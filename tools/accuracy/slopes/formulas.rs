//! Slopes in multi-precision.

use crate::activations as act;
use crate::digamma as psi;
use crate::error_function::{erfc, precise_inverse};
use crate::format::{F64, power_of_two};
use crate::multi::Real;
use crate::references as own;

fn number(x: f64) -> Real {
    Real::from(x)
}

fn square(x: &Real) -> Real {
    x * x
}

pub fn inverse(x: &Real) -> Real {
    number(1.0) / x
}

pub fn floor_divide(x: &Real, y: &Real) -> Real {
    own::precise_floor_divide(x, y)
}

pub fn trunc_divide(x: &Real, y: &Real) -> Real {
    let quotient = own::precise_floor_divide(&x.abs(), &y.abs());
    if x.is_negative() == y.is_negative() { quotient } else { -quotient }
}

pub fn square_of_hypot(x: &Real, y: &Real) -> Real {
    square(x) + square(y)
}

pub fn share_of_hypot(x: &Real, y: &Real) -> Real {
    x / square_of_hypot(x, y).sqrt()
}

/// The power of a base with logarithm `ln`, times a power of that.
pub fn exponential(x: &Real, ln: Real, times: u32) -> Real {
    (0..times).fold((x * &ln).exp(), |power, _| power * &ln)
}

/// The slope of the logarithm to a base with logarithm `ln`, or the second slope.
pub fn logarithm(x: &Real, ln: Real, times: u32) -> Real {
    let slope = inverse(&ln) / x;
    if times == 1 { slope } else { -(slope / x) }
}

pub fn tan(x: &Real) -> Real {
    inverse(&square(&x.cos()))
}

pub fn tanh(x: &Real) -> Real {
    inverse(&square(&x.cosh()))
}

/// `1 - x^2`.
pub fn arc(x: &Real) -> Real {
    (number(1.0) - x) * (x + 1.0)
}

pub fn arc_bend(x: &Real) -> Real {
    arc(x).rsqrt() / arc(x) * x
}

/// `1 + x^2`.
pub fn beyond_one(x: &Real) -> Real {
    square(x) + 1.0
}

pub fn acosh(x: &Real) -> Real {
    (x - number(1.0)).rsqrt() * (x + 1.0).rsqrt()
}

pub fn acosh_bend(x: &Real) -> Real {
    -(acosh(x) / (x - number(1.0)) * x / (x + 1.0))
}

pub fn sigmoid(x: &Real) -> Real {
    act::precise_sigmoid(x)
}

pub fn sigmoid_slope(x: &Real) -> Real {
    sigmoid(x) * sigmoid(&-x)
}

/// `s (1 - s) (1 - 2 s)`.
pub fn sigmoid_bend(x: &Real) -> Real {
    -(sigmoid_slope(x) * (x / 2.0).tanh())
}

pub fn silu(x: &Real) -> Real {
    sigmoid(x) + x * sigmoid_slope(x)
}

pub fn silu_bend(x: &Real) -> Real {
    sigmoid_slope(x) * 2.0 + x * sigmoid_bend(x)
}

fn normal_density(x: &Real) -> Real {
    (-(square(x) / 2.0)).exp() / (Real::pi() * 2.0).sqrt()
}

pub fn gelu(x: &Real) -> Real {
    erfc(&(-x / number(2.0).sqrt())) / 2.0 + x * normal_density(x)
}

pub fn gelu_bend(x: &Real) -> Real {
    normal_density(x) * (number(2.0) - square(x))
}

/// `(x + a x^3) b` with its two slopes, the argument of the logistic function in `gelu_tanh`.
fn inner(x: &Real) -> [Real; 3] {
    let scale = (number(2.0) / Real::pi()).sqrt() * 2.0;
    let cubic = number(44715.0) / 1e6;
    let squares = square(x) * &cubic;
    [(&squares + 1.0) * x * &scale, (squares * 3.0 + 1.0) * &scale, x * cubic * 6.0 * scale]
}

pub fn gelu_tanh(x: &Real) -> Real {
    let [u, slope, _] = inner(x);
    sigmoid(&u) + x * sigmoid_slope(&u) * slope
}

pub fn gelu_tanh_bend(x: &Real) -> Real {
    let [u, slope, bend] = inner(x);
    sigmoid_slope(&u) * (&slope * 2.0 + x * bend) + x * sigmoid_bend(&u) * square(&slope)
}

/// `pi x`, with its cosine and sine, for `x` modulo 2.
fn turn(x: &Real) -> [Real; 3] {
    let number = x.nearest(F64);
    let angle = Real::from(number - 2.0 * (number / 2.0).round_ties_even()) * Real::pi();
    [x * Real::pi(), angle.cos(), angle.sin()]
}

/// Near 0 the terms of quotients cancel, and two terms of the series suffice.
fn near_zero(x: &Real) -> bool {
    !x.exceeds(&number(power_of_two(-40)))
}

pub fn sinc(x: &Real) -> Real {
    let [z, cosine, sine] = turn(x);
    if near_zero(x) {
        return (square(&z) / 10.0 - number(1.0)) * z * Real::pi() / 3.0;
    }
    (cosine - sine / &z) / x
}

pub fn sinc_bend(x: &Real) -> Real {
    let [z, cosine, sine] = turn(x);
    if near_zero(x) {
        return (square(&z) / 10.0 - number(1.0) / 3.0) * square(&Real::pi());
    }
    let sinc = sine / &z;
    -((&sinc + (cosine - &sinc) * 2.0 / square(&z)) * square(&Real::pi()))
}

pub fn gauss(x: &Real) -> Real {
    (-square(x)).exp() * 2.0 / Real::pi().sqrt()
}

pub fn erfinv(x: &Real) -> Real {
    square(&precise_inverse(x)).exp() * Real::pi().sqrt() / 2.0
}

pub fn erfinv_bend(x: &Real) -> Real {
    let value = precise_inverse(x);
    square(&value).exp() * square(&value).exp() * value * Real::pi() / 2.0
}

pub fn digamma(x: &Real) -> Real {
    psi::precise_digamma(x)
}

pub fn polygamma(n: f64, x: &Real) -> Real {
    psi::precise_polygamma(&number(n), x)
}

pub fn polygamma_of(n: &Real, x: &Real) -> Real {
    psi::precise_polygamma(n, x)
}

pub fn gamma(x: &Real) -> Real {
    psi::precise_gamma(x)
}

pub fn gamma_bend(x: &Real) -> Real {
    gamma(x) * (square(&digamma(x)) + polygamma(1.0, x))
}
