//! Operands with known slopes that the formula does not give: the kinks, poles and ends of docs/transforms.md, and limits
//! at infinities.

use crate::digamma as psi;
use crate::references as own;

/// The slope of the larger of two operands with respect to the one that is `lead` larger.
pub fn share(lead: f64) -> f64 {
    match () {
        // Equal infinities.
        () if lead.is_nan() || lead == 0.0 => 0.5,
        () => f64::from(u8::from(lead > 0.0)),
    }
}

/// The product with `0 * inf = 0`.
fn scaled(x: f64, y: f64) -> f64 {
    if x == 0.0 || y == 0.0 { 0.0 } else { x * y }
}

fn special(x: f64) -> bool {
    x == 0.0 || !x.is_finite()
}

pub fn not_finite(x: &[f64]) -> Option<f64> {
    (!x[0].is_finite()).then_some(f64::NAN)
}

/// None for equal infinities.
pub fn divide(x: &[f64]) -> Option<f64> {
    (special(x[0]) && special(x[1])).then(|| -(x[0] / x[1] / x[1]))
}

/// None for an infinite dividend, whose remainder is NaN.
pub fn remainder(x: &[f64]) -> Option<f64> {
    match () {
        () if !x[0].is_finite() || x[1] == 0.0 => Some(f64::NAN),
        () if x[0] == 0.0 || x[1].is_infinite() => Some(-own::floor_divide(x[0], x[1])),
        () => None,
    }
}

/// As [`remainder`].
pub fn fmod(x: &[f64]) -> Option<f64> {
    remainder(&[x[0].abs(), x[1].abs()])
}

pub fn not_frexp(x: &[f64]) -> Option<f64> {
    special(x[0]).then_some(f64::NAN)
}

/// 0 at the tip; none for two infinities.
pub fn both_zero(x: &[f64]) -> Option<f64> {
    match () {
        () if x[0] == 0.0 && x[1] == 0.0 => Some(0.0),
        () if x[0].is_infinite() && x[1].is_infinite() => Some(f64::NAN),
        () => None,
    }
}

fn is_integer(x: f64) -> bool {
    x.floor() == x
}

/// From here on adjacent integers may be missing in `f32`: the parity of the next one is unknown.
const LARGE: f64 = 4_194_304.0;

pub fn power_by_base(x: &[f64]) -> Option<f64> {
    let (x, y) = (x[0], x[1]);
    match () {
        () if x.is_sign_negative() && !(is_integer(y) && y.is_finite()) => Some(f64::NAN),
        () if x.is_sign_negative() && special(x) && y.abs() >= LARGE => Some(f64::NAN),
        () if special(x) || special(y) => Some(scaled(y, core_math::pow(x, y - 1.0))),
        () => None,
    }
}

pub fn power_by_exponent(x: &[f64]) -> Option<f64> {
    let (x, y) = (x[0], x[1]);
    match () {
        () if x == 0.0 && y >= 0.0 => Some(0.0),
        () if x < 0.0 => Some(f64::NAN),
        () if special(x) || y.is_infinite() => Some(scaled(core_math::pow(x, y), core_math::log(x))),
        () => None,
    }
}

pub fn equal_infinities(x: &[f64]) -> Option<f64> {
    (x[0].is_infinite() && x[0] == x[1]).then(|| if x[0] > 0.0 { 0.5 } else { 0.0 })
}

pub fn atanh(x: &[f64]) -> Option<f64> {
    (x[0].abs() > 1.0).then_some(f64::NAN)
}

pub fn erfinv(x: &[f64]) -> Option<f64> {
    match x[0].abs() {
        m if m > 1.0 => Some(f64::NAN),
        1.0 => Some(f64::INFINITY),
        _ => None,
    }
}

pub fn erfinv_bend(x: &[f64]) -> Option<f64> {
    erfinv(x).map(|slope| slope * x[0])
}

/// With respect to the operand, for order `n`.
pub fn polygamma_of_order(n: f64, x: f64) -> Option<f64> {
    if n >= LARGE || !is_integer(n) { Some(f64::NAN) } else { polygamma(n + 1.0, x) }
}

/// At zeros, infinities and poles.
pub fn polygamma(n: f64, x: f64) -> Option<f64> {
    match () {
        () if special(x) || x < 0.0 && is_integer(x) => Some(psi::polygamma(n, x)),
        () if n < 0.0 || !n.is_finite() || !is_integer(n) => Some(f64::NAN),
        // For negative operands the op supports three orders.
        () if x < 0.0 && n > 2.0 => Some(f64::NAN),
        () => None,
    }
}

pub fn tgamma(x: &[f64]) -> Option<f64> {
    match x[0] {
        0.0 => Some(f64::NEG_INFINITY),
        x if x == f64::INFINITY => Some(x),
        x if x < 0.0 && is_integer(x) => Some(f64::NAN),
        _ => None,
    }
}

pub fn tgamma_bend(x: &[f64]) -> Option<f64> {
    match x[0] {
        0.0 => Some(f64::INFINITY.copysign(x[0])),
        _ => tgamma(x),
    }
}
