//! Complex functions in multi-precision, by formulas without cancellation, or with exact cancellation (Kahan 1987, "Branch
//! cuts for complex elementary functions"). A part is NaN if the precision is insufficient or at a pole.

use crate::multi::{Complex, Real};

fn one() -> Real {
    Real::from(1.0)
}

fn nan() -> Complex {
    [Real::from(-1.0).ln(), Real::from(-1.0).ln()]
}

/// `i z`.
fn turned([x, y]: &Complex) -> Complex {
    [-y, x.clone()]
}

/// `-i z`.
fn turned_back([x, y]: &Complex) -> Complex {
    [y.clone(), -x]
}

fn norm([x, y]: &Complex) -> Real {
    x * x + y * y
}

/// `1 - |z|^2`, exact where it is small and `x` the larger part.
fn one_less(x: &Real, y: &Real) -> Real {
    (one() - x) * (one() + x) - y * y
}

pub fn abs(z: &Complex) -> Real {
    norm(z).sqrt()
}

pub fn add([a, b]: &Complex, [c, d]: &Complex) -> Complex {
    [a + c, b + d]
}

pub fn subtract([a, b]: &Complex, [c, d]: &Complex) -> Complex {
    [a - c, b - d]
}

pub fn multiply([a, b]: &Complex, [c, d]: &Complex) -> Complex {
    [a * c - b * d, a * d + b * c]
}

pub fn divide([a, b]: &Complex, w: &Complex) -> Complex {
    let ([c, d], norm) = (w, norm(w));
    [(a * c + b * d) / &norm, (b * c - a * d) / norm]
}

pub fn square(z: &Complex) -> Complex {
    multiply(z, z)
}

pub fn reciprocal(z: &Complex) -> Complex {
    let norm = norm(z);
    [&z[0] / &norm, -&z[1] / norm]
}

pub fn sign(z: &Complex) -> Complex {
    let modulus = abs(z);
    [&z[0] / &modulus, &z[1] / modulus]
}

pub fn sqrt(z: &Complex) -> Complex {
    let [x, y] = z;
    let large = ((abs(z) + x.abs()) / 2.0).sqrt();
    let small = y.abs() / (&large * 2.0);
    let [re, im] = if x.is_negative() { [small, large] } else { [large, small] };
    [re, if y.is_negative() { -im } else { im }]
}

pub fn rsqrt(z: &Complex) -> Complex {
    reciprocal(&sqrt(z))
}

pub fn exp([x, y]: &Complex) -> Complex {
    let modulus = x.exp();
    [&modulus * y.cos(), modulus * y.sin()]
}

pub fn exp2([x, y]: &Complex) -> Complex {
    let ln = Real::from(2.0).ln();
    // A larger angle has too few bits after the point.
    if y.exponent() > 128 { nan() } else { exp(&[x * &ln, y * ln]) }
}

pub fn expm1([x, y]: &Complex) -> Complex {
    let sine = (y / 2.0).sin();
    [x.exp_m1() * y.cos() - &sine * &sine * 2.0, x.exp() * y.sin()]
}

pub fn log(z: &Complex) -> Complex {
    let [x, y] = z;
    let norm = norm(z);
    let twice = if norm.exponent().abs() > 1 {
        norm.ln()
    } else if y.exceeds(x) {
        (-one_less(y, x)).ln_1p()
    } else {
        (-one_less(x, y)).ln_1p()
    };
    [twice / 2.0, y.atan2(x)]
}

fn log_to(z: &Complex, base: f64) -> Complex {
    let ([re, im], ln) = (log(z), Real::from(base).ln());
    [re / &ln, im / ln]
}

pub fn log2(z: &Complex) -> Complex {
    log_to(z, 2.0)
}

pub fn log10(z: &Complex) -> Complex {
    log_to(z, 10.0)
}

pub fn log1p([x, y]: &Complex) -> Complex {
    let shifted = [x + 1.0, y.clone()];
    if norm(&shifted).exponent().abs() > 1 {
        return log(&shifted);
    }
    // The distance of |1 + z|^2 from 1.
    let beyond = x * (x + 2.0) + y * y;
    [beyond.ln_1p() / 2.0, y.atan2(&shifted[0])]
}

/// Valid if the logarithm of the power is below 1024: larger results are as uncertain as their operands.
pub fn pow(z: &Complex, w: &Complex) -> Complex {
    let power = multiply(w, &log(z));
    if norm(&power).exponent() >= 20 { nan() } else { exp(&power) }
}

pub fn sinh([x, y]: &Complex) -> Complex {
    [x.sinh() * y.cos(), x.cosh() * y.sin()]
}

pub fn cosh([x, y]: &Complex) -> Complex {
    [x.cosh() * y.cos(), x.sinh() * y.sin()]
}

pub fn tanh([x, y]: &Complex) -> Complex {
    let (sinh, cosine) = (x.sinh(), y.cos());
    let norm = &sinh * &sinh + &cosine * &cosine;
    [sinh * x.cosh() / &norm, y.sin() * cosine / norm]
}

pub fn sin(z: &Complex) -> Complex {
    turned_back(&sinh(&turned(z)))
}

pub fn cos(z: &Complex) -> Complex {
    cosh(&turned(z))
}

pub fn tan(z: &Complex) -> Complex {
    turned_back(&tanh(&turned(z)))
}

/// The roots of `1 - z` and `1 + z`.
fn roots([x, y]: &Complex) -> [Complex; 2] {
    [sqrt(&[one() - x, -y]), sqrt(&[one() + x, y.clone()])]
}

pub fn asin(z: &Complex) -> Complex {
    let [[a, b], [c, d]] = roots(z);
    // The conjugate of the first root times the second.
    let im = &a * &d - &b * &c;
    [z[0].atan2(&(a * c - b * d)), im.asinh()]
}

pub fn acos(z: &Complex) -> Complex {
    let [[a, b], [c, d]] = roots(z);
    let im = &c * &b - &d * &a;
    [a.atan2(&c) * 2.0, im.asinh()]
}

pub fn acosh([x, y]: &Complex) -> Complex {
    let [a, b] = sqrt(&[x - 1.0, y.clone()]);
    let [c, d] = sqrt(&[x + 1.0, y.clone()]);
    [(&a * &c + &b * d).asinh(), b.atan2(&c) * 2.0]
}

pub fn asinh(z: &Complex) -> Complex {
    turned_back(&asin(&turned(z)))
}

pub fn atanh(z: &Complex) -> Complex {
    let [x, y] = z;
    let less = one() - x.abs();
    let away = &less * &less + y * y;
    if away.exponent() < Real::from(0.0).exponent() {
        return nan();
    }
    let re = (x.abs() * 4.0 / away).ln_1p() / 4.0;
    let rest = if y.exceeds(x) { one_less(y, x) } else { one_less(x, y) };
    [if x.is_negative() { -re } else { re }, (y * 2.0).atan2(&rest) / 2.0]
}

pub fn atan(z: &Complex) -> Complex {
    turned_back(&atanh(&turned(z)))
}

#[cfg(test)]
mod tests;
