//! The digamma function, the slope of `log |gamma|`, on `f32` and `f64`.
//!
//! Between 1 and 2 it is `t g(t)` with the distance `t` from its positive zero in two floats, which is relatively accurate near
//! the zero. The recurrence `psi(1 + a) = psi(a) + 1 / a` leads there, its inverses summed as one fraction of
//! two double-word numbers. For large magnitudes, the asymptotic series `log |x| - 1 / (2x) - s(1/x^2) / x^2`. For negative `x` the
//! reflection `psi(x) = psi(1 - x) - pi / tan(pi x)`; with `psi(1 + a)` nothing of `1 - x` is rounded. The polynomials are own minimax
//! fits by a Remez exchange in 260-bit arithmetic with rounded coefficients; their errors are documented beside them.

use crate::kit::double_word::{DoubleWord, constant, difference, product, quotient_of, rounded, sum, times};
use crate::kit::log2_parts::log_parts;
use crate::kit::util::{Pair, if_any_pair, is_nan, polynomial, select_pair, sign_of, two_sum, xor_sign};
use crate::real::trig::sin_cos_of_small;
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// The positive zero of the function, less 1.
const ZERO: (f64, f64) = (0.46163214496836236, -1.5522348162858677e-17);
pub(super) const PI: (f64, f64) = (std::f64::consts::PI, 1.2246467991473532e-16);

/// The constants of a format.
struct DigammaConstants {
    /// `psi(1 + zero + t) / t` for `1 + zero + t` between 1 and 2, and the rounding error of the first coefficient.
    g: &'static [f64],
    g_low: f64,
    /// `x^2 (log x - 1 / (2x) - psi(x))` as a polynomial in `1 / x^2`.
    s: &'static [f64],
    /// From this magnitude on the asymptotic series is used.
    large: f64,
    /// Below it only `-1 / x` counts.
    tiny: f64,
}

/// Relative errors: 2^-29.2 (`g`), 2^-31.5 of the result (`s`).
const SINGLE: DigammaConstants = DigammaConstants {
    g: &[
        0.9676722288131714,
        -0.44276317954063416,
        0.2584998905658722,
        -0.16394175589084625,
        0.10781753808259964,
        -0.07222254574298859,
        0.04892544448375702,
        -0.03295242786407471,
        0.021574335172772408,
        -0.01607157476246357,
        0.014448576606810093,
        -0.007625225931406021,
    ],
    g_low: 1.6204969810473813e-08,
    s: &[0.08333318680524826, -0.008318517357110977, 0.0035355887375772],
    large: 4.0,
    tiny: 1.0 / (1u64 << 30) as f64,
};

/// Relative errors: 2^-56.7 (`g`), 2^-58.7 of the result (`s`).
const DOUBLE: DigammaConstants = DigammaConstants {
    g: &[
        0.9676722454476212,
        -0.44276316898359214,
        0.25849976095565097,
        -0.16394270544239908,
        0.10782405069127139,
        -0.07219956125730646,
        0.048804288163808794,
        -0.03316112642983069,
        0.022597648227724667,
        -0.015424767226128074,
        0.01053879222238188,
        -0.007204510761351368,
        0.004926763684881665,
        -0.0033700711788646853,
        0.0023053972394284057,
        -0.001574948847512146,
        0.001076343736201089,
        -0.0007473567518788464,
        0.0005189714805031183,
        -0.00032005657531003603,
        0.0001889641428471441,
        -0.00019310984414259126,
        0.00019577329098511184,
        -8.315932006752688e-05,
    ],
    g_low: -3.3814508158006356e-17,
    s: &[
        0.08333333333332583,
        -0.008333333323895652,
        0.003968250004118662,
        -0.004165897479164296,
        0.007499496585889287,
        -0.017269519873138628,
    ],
    large: 8.0,
    tiny: 1.0 / (1u64 << 60) as f64,
};

fn constants(ty: PrimType) -> &'static DigammaConstants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

/// The slope of the logarithm of the gamma function.
pub(crate) fn digamma(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let c = constants(ty);
    let (zero, minus_one) = (b.float(ty, 0.0), b.float(ty, -1.0));
    let magnitude = b.fabs(x);
    let large = b.float(ty, c.large);
    let (is_large, negative) = (b.fle(large, magnitude), b.flt(x, zero));
    let near = near_zero(b, x, is_large);
    let value = if_any_pair(b, is_large, near, &[x], |b, args| asymptotic(b, args[0]));
    let value = if_any_pair(b, negative, value, &[x, value.0, value.1], |b, args| {
        let cotangent = pi_cotangent(b, args[0]);
        difference(b, (args[1], args[2]), cotangent)
    });
    let result = rounded(b, value);

    let tiny = b.float(ty, c.tiny);
    let is_tiny = b.flt(magnitude, tiny);
    let pole = b.fdiv(minus_one, x);
    let result = b.select(is_tiny, pole, result);
    let (inf, nan) = (b.float(ty, f64::INFINITY), b.float(ty, f64::NAN));
    let at_infinity = b.feq(x, inf);
    let result = b.select(at_infinity, inf, result);
    // Also -inf.
    let floor = b.ffloor(x);
    let integral = b.feq(floor, x);
    let pole = b.and(integral, negative);
    let result = b.select(pole, nan, result);
    let unordered = is_nan(b, x);
    b.select(unordered, x, result)
}

/// For `|x|` below `large`: `psi(x)`, for a negative `x` `psi(1 - x)`.
fn near_zero(b: &mut BodyBuilder, x: Reg, is_large: Reg) -> DoubleWord {
    let ty = b.ty(x);
    let c = constants(ty);
    let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
    let magnitude = b.fabs(x);
    // psi(1 + a), with an exact a.
    let less = b.fsub(x, one);
    let below_one = b.flt(x, one);
    let a = b.select(below_one, magnitude, less);
    let n = b.ffloor(a);
    let fraction = b.fsub(a, n);
    let base = between_one_and_two(b, fraction);

    // 1 / a + 1 / (a - 1) + … as a fraction.
    let count = b.select(is_large, zero, n);
    let state = b.repeat(c.large as u32, &[zero, zero, one, zero, a, count], &[], |b, state, _| {
        let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
        let go_on = b.flt(zero, state[5]);
        let (numerator, divisor, factor) = ((state[0], state[1]), (state[2], state[3]), state[4]);
        let numerator = times(b, numerator, factor);
        let numerator = sum(b, numerator, divisor);
        let divisor = times(b, divisor, factor);
        let factor = b.fsub(factor, one);
        let count = b.fsub(state[5], one);
        (go_on, vec![numerator.0, numerator.1, divisor.0, divisor.1, factor, count])
    });
    let inverses = quotient_of(b, (state[0], state[1]), (state[2], state[3]));
    let value = sum(b, base, inverses);

    // Between 0 and 1 one step the other way.
    let inverse = quotient_of(b, (one, zero), (x, zero));
    let less = difference(b, value, inverse);
    let not_negative = b.fle(zero, x);
    let step = b.and(not_negative, below_one);
    select_pair(b, step, less, value)
}

/// `psi(1 + fraction)`.
fn between_one_and_two(b: &mut BodyBuilder, fraction: Reg) -> DoubleWord {
    let ty = b.ty(fraction);
    let c = constants(ty);
    let zero = constant(b, ty, ZERO);
    let minus = b.fneg(zero.0);
    let (t, lost) = two_sum(b, fraction, minus);
    let t_low = b.fsub(lost, zero.1);

    let (g, g_low, twice) = (b.float(ty, c.g[0]), b.float(ty, c.g_low), b.float(ty, 2.0 * c.g[1]));
    let high = b.fmul(t, g);
    let minus = b.fneg(high);
    let low = b.fma(t, g, minus);
    let low = b.fma(t, g_low, low);
    let slope = b.fma(t, twice, g);
    let low = b.fma(t_low, slope, low);
    let rest = polynomial(b, t, &c.g[1..]);
    let square = b.fmul(t, t);
    let low = b.fma(square, rest, low);
    two_sum(b, high, low)
}

/// For an `|x|` from `large` on: `psi(x)`, for a negative `x` `psi(1 - x)`, which is `psi(-x) - 1 / x`.
fn asymptotic(b: &mut BodyBuilder, x: Reg) -> Pair {
    let ty = b.ty(x);
    let (one, minus_half) = (b.float(ty, 1.0), b.float(ty, -0.5));
    let magnitude = b.fabs(x);
    let (log, low) = log_parts(b, magnitude);
    let inverse = b.fdiv(one, x);
    let square = b.fmul(inverse, inverse);
    let s = polynomial(b, square, constants(ty).s);
    let rest = b.fmul(square, s);
    let low = b.fsub(low, rest);
    let low = b.fma(inverse, minus_half, low);
    two_sum(b, log, low)
}

/// Sine and cosine of `pi u`, where `u` between 0 and 1/4 is the distance of `x` from the nearest quarter turn, and whether the
/// two are swapped; the exact distance `x - round(x)` too.
pub(super) struct Turn {
    pub sine: DoubleWord,
    pub cosine: DoubleWord,
    pub exchanged: Reg,
    pub distance: Reg,
}

/// Of `pi x`.
pub(super) fn turn(b: &mut BodyBuilder, x: Reg) -> Turn {
    let ty = b.ty(x);
    let (quarter, half) = (b.float(ty, 0.25), b.float(ty, 0.5));
    let whole = b.fround(x);
    let distance = b.fsub(x, whole);
    let near = b.fabs(distance);
    let exchanged = b.flt(quarter, near);
    let far = b.fsub(half, near);
    let u = b.select(exchanged, far, near);
    let pi = constant(b, ty, PI);
    let angle = times(b, pi, u);
    let (sine, cosine) = sin_cos_of_small(b, angle);
    Turn { sine, cosine, exchanged, distance }
}

/// `pi / tan(pi x)` for an `x` that is no integer.
pub(super) fn pi_cotangent(b: &mut BodyBuilder, x: Reg) -> DoubleWord {
    let turn = turn(b, x);
    let numerator = select_pair(b, turn.exchanged, turn.sine, turn.cosine);
    let divisor = select_pair(b, turn.exchanged, turn.cosine, turn.sine);
    let cotangent = quotient_of(b, numerator, divisor);
    let pi = constant(b, b.ty(x), PI);
    let (high, low) = product(b, cotangent, pi);
    let sign = sign_of(b, turn.distance);
    (xor_sign(b, high, sign), xor_sign(b, low, sign))
}
