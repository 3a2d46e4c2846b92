//! Results in double precision by other methods than ndjit's: complex quotients by the listing of C99 G.5.1 (example 2), powers by
//! logarithms, reciprocal roots, logarithms of sums and of the gamma function.

/// A result, with its error bound.
pub struct Bounded {
    pub parts: [f64; 2],
    /// Relative to the larger part.
    pub share: f64,
    /// Plus an absolute error.
    pub absolute: f64,
}

impl Bounded {
    pub fn share(parts: [f64; 2], share: f64) -> Bounded {
        Bounded { parts, share, absolute: 0.0 }
    }
}

/// `x / y` with parts up to `largest`: beyond it they are infinite.
pub fn quotient(x: [f64; 2], y: [f64; 2], largest: f64) -> [f64; 2] {
    let ([a, b], [c, d]) = (x, y);
    let plain = |z: [f64; 2]| z[0].is_finite() && z[1].is_finite();
    // With an infinity only signs matter: the listing's scaling loses small parts, and large ones could overflow.
    if (a.is_infinite() || b.is_infinite()) && plain(y) && y != [0.0; 2] {
        let [a, b] = x.map(|part| if part.is_finite() { 0.0 } else { part });
        let [c, d] = y.map(|part| if part == 0.0 { part } else { 1f64.copysign(part) });
        let parts = [a * c + b * d, b * c - a * d];
        if !parts.iter().all(|part| part.is_nan()) {
            return parts;
        }
    }
    // The listing's logb and scalbn, also of the dividend, so that no product overflows.
    let (divisor, dividend) = (exponent(y), exponent(x));
    let [sc, sd] = y.map(|part| part * 2f64.powi(divisor));
    let [sa, sb] = x.map(|part| part * 2f64.powi(dividend));
    let denominator = sc * sc + sd * sd;
    let (half, rest) = ((divisor - dividend) / 2, (divisor - dividend) - (divisor - dividend) / 2);
    let unscaled = |part: f64| part * 2f64.powi(half) * 2f64.powi(rest);
    let parts = [(sa * sc + sb * sd) / denominator, (sb * sc - sa * sd) / denominator].map(unscaled);
    let parts = parts.map(|part| if part.abs() > largest { part * f64::INFINITY } else { part });
    if !parts.iter().all(|part| part.is_nan()) {
        return parts;
    }
    let boxed = |part: f64| if part.is_infinite() { 1f64.copysign(part) } else { 0f64.copysign(part) };
    if denominator == 0.0 && (!a.is_nan() || !b.is_nan()) {
        let infinity = f64::INFINITY.copysign(c);
        [infinity * a, infinity * b]
    } else if (a.is_infinite() || b.is_infinite()) && c.is_finite() && d.is_finite() {
        let (a, b) = (boxed(a), boxed(b));
        [f64::INFINITY * (a * c + b * d), f64::INFINITY * (b * c - a * d)]
    } else if (c.is_infinite() || d.is_infinite()) && a.is_finite() && b.is_finite() {
        let (c, d) = (boxed(c), boxed(d));
        // The signs of overflowing sums matter as well.
        [0f64.copysign(a * c + b * d), 0f64.copysign(b * c - a * d)]
    } else {
        parts
    }
}

/// The exponent of a power of two that scales the larger part to about 1; 0 if there is none.
fn exponent(z: [f64; 2]) -> i32 {
    let largest = z[0].abs().max(z[1].abs());
    let usual = largest != 0.0 && largest.is_finite();
    if usual { -(largest.log2().floor() as i32).clamp(-1022, 1022) } else { 0 }
}

/// `x^y` as `e^(y log x)`; `None` with infinities, zeros, NaN or angles without digits.
pub fn power(x: [f64; 2], y: [f64; 2], single: bool) -> Option<Bounded> {
    let plain = |z: [f64; 2]| z.iter().all(|part| part.is_finite());
    if !plain(x) || !plain(y) || x == [0.0; 2] {
        return None;
    }
    let scale = 2f64.powi(exponent(x));
    let (log, angle) = ((x[0] * scale).hypot(x[1] * scale).ln() - scale.ln(), x[1].atan2(x[0]));
    let (re, im) = (y[0] * log - y[1] * angle, y[0] * angle + y[1] * log);
    let size = (y[0].hypot(y[1])) * (log.abs() + scale.ln().abs() + 4.0);
    let (limit, unit) = if single { (80.0, 2f64.powi(-23)) } else { (650.0, 0.0) };
    let error = 2f64.powi(-50) * (size + 4.0) + 2.0 * unit;
    let parts = [re.exp() * im.cos(), re.exp() * im.sin()];
    (re.abs() < limit && size < 1000.0).then(|| Bounded::share(parts, error))
}

/// `1 / sqrt(z)` of a finite nonzero value.
pub fn reciprocal_root(z: [f64; 2], unit: f64) -> Bounded {
    let even = exponent(z) / 2;
    let [x, y] = z.map(|part| part * 2f64.powi(even) * 2f64.powi(even));
    let modulus = x.hypot(y);
    let root = ((x.abs() + modulus) / 2.0).sqrt();
    let (large, small) = (root / modulus, y.abs() / (2.0 * root * modulus));
    let parts = if x < 0.0 { [small, large] } else { [large, small] };
    let [re, im] = parts.map(|part| part * 2f64.powi(even));
    Bounded::share([re, im.copysign(-y)], 4.0 * unit)
}

/// `log1p(z)` near 0.
pub fn small_log1p([x, y]: [f64; 2], unit: f64) -> Bounded {
    Bounded::share([(x * (2.0 + x) + y * y).ln_1p() / 2.0, y.atan2(1.0 + x)], 4.0 * unit)
}

/// The logarithm of `base^x + base^y` for finite operands. If the sum cancels it may be off by a unit of the larger operand.
pub fn log_of_sum(x: f64, y: f64, base: f64, unit: f64) -> Bounded {
    let (large, difference) = (x.max(y), (x - y).abs());
    let value = large + (-difference * base.ln()).exp().ln_1p() / base.ln();
    let share = 3.0 * unit + f64::EPSILON * (4.0 + difference.min(2000.0));
    Bounded { parts: [value, 0.0], share, absolute: (unit + 4.0 * f64::EPSILON) * large.abs() }
}

/// `log(|gamma(x)|)` for finite `x` by Stirling's series, with reflection. Digits are lost near its zeros.
pub fn lgamma(x: f64, unit: f64) -> Bounded {
    use std::f64::consts::PI;
    let positive = if x < 0.5 { 1.0 - x } else { x };
    let steps = (20.0 - positive).ceil().max(0.0) as usize;
    let (product, z) = (0..steps).fold((1.0, positive), |(product, z), _| (product * z, z + 1.0));
    let tail = 1.0 / (12.0 * z) - 1.0 / (360.0 * z.powi(3)) + 1.0 / (1260.0 * z.powi(5)) - 1.0 / (1680.0 * z.powi(7));
    let stirling = (z - 0.5) * (z.ln() - 1.0) - 0.5 + 0.5 * (2.0 * PI).ln() + tail - f64::ln(product);
    let sine = (PI * (x - x.round())).sin().abs();
    let value = match x {
        _ if x >= 0.5 => stirling,
        _ if sine == 0.0 => f64::INFINITY,
        _ => (PI / sine).ln() - stirling,
    };
    Bounded { parts: [value, 0.0], share: 4.0 * unit, absolute: 1e-13 * positive.min(100.0) + 1e-14 * stirling.abs() }
}

/// `log(|gamma(1 + e)|)` or `log(|gamma(2 + e)|)` by Taylor's series, for `|e| <= 1e-4`.
pub fn lgamma_at_its_zeros(x: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    // zeta(n) / n
    let zetas = [0.822_467_033_424_113_2, 0.400_685_634_386_531_4, 0.270_580_808_427_784_6];
    let e = if x < 1.5 { x - 1.0 } else { x - 2.0 };
    let tail = e * e * (zetas[0] - e * (zetas[1] - e * zetas[2]));
    // log(gamma(2 + e)) = log(1 + e) + log(gamma(1 + e)), without the cancelling terms.
    let logarithm = e * e * (-0.5 + e * (1.0 / 3.0 - e * 0.25));
    if x < 1.5 { -EULER * e + tail } else { (1.0 - EULER) * e + (tail + logarithm) }
}
