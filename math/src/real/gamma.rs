//! The gamma function and the logarithm of its magnitude on `f32` and `f64`.
//!
//! Both come from `log |gamma|` as a sum of two floats. Around 0, `x = n + y` with a small `y`: the recurrence leads to
//! `gamma(2 + y)` times or over a product of exact factors, whose logarithm is added to `y t(y) = log gamma(2 + y)`, which is
//! relatively accurate near 1 and 2. For large `x`, Stirling: `(x - 1/2) (log x - 1) + c + s(1/x^2) / x`; for large
//! negative ones also the reflection `gamma(x) gamma(-x) = -pi / (x sin(pi x))`. The logarithm is that of `pow`, in two floats.
//! All polynomials are own minimax fits with rounded coefficients (Sollya's `fpminimax`); their errors are documented beside them.

use crate::kit::double_word::times;
use crate::kit::log2_parts::log_parts;
use crate::kit::util::{Pair, fast_two_sum, if_any_pair, is_nan, polynomial, sign_of, two_sum, xor_sign};
use crate::real::exp::{clamp, exp_unscaled, scale};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// The constants of a format.
struct GammaConstants {
    /// `log(gamma(2 + y)) / y` for `|y| <= 1/2`, and the rounding error of the first coefficient.
    t: &'static [f64],
    t_low: f64,
    /// `x (log(gamma(x)) - (x - 1/2) (log x - 1) - c)` as a polynomial in `1 / x^2`.
    s: &'static [f64],
    /// `log(2 pi) / 2 - 1/2`, and its rounding error.
    c: (f64, f64),
    /// `(sin(pi r) / (pi r) - 1) / r^2` as a polynomial in `r^2`, for `|r| <= 1/2`.
    z: &'static [f64],
    /// From this magnitude on Stirling's formula is used.
    large: f64,
    /// Beyond these the function is infinite, or 0.
    range: (f64, f64),
    /// From here on constants do not change `x`.
    huge: f64,
}

/// Relative errors: 2^-28.0 (`t`), 2^-24.0 (`s`), 2^-27.5 (`z`).
const SINGLE: GammaConstants = GammaConstants {
    t: &[
        0.4227843345461846,
        0.32246702909469604,
        -0.06735220551490784,
        0.020581353455781937,
        -0.007387767545878887,
        0.002880765125155449,
        -0.001175454817712307,
        0.000566271017305553,
        -0.00027486050385050476,
    ],
    t_low: 6.085491222052042e-09,
    s: &[0.0833333283662796, -0.0027768013533204794, 0.0007489333511330187],
    c: (0.418938547372818, -1.4168145251383733e-08),
    z: &[-1.644934058189392, 0.8117419481277466, -0.19074416160583496, 0.026097174733877182, -0.0022008693777024746],
    large: 4.5,
    range: (-60.5, 40.0),
    huge: 1e30,
};

/// Relative errors: 2^-58.1 (`t`), 2^-52.0 (`s`), 2^-55.6 (`z`).
const DOUBLE: GammaConstants = GammaConstants {
    t: &[
        0.42278433509846713,
        0.32246703342411326,
        -0.06735230105319828,
        0.020580808427777496,
        -0.0073855510286538655,
        0.0028905103311593003,
        -0.0011927539125699044,
        0.0005096695127770153,
        -0.00022315473925245297,
        9.945770436476833e-05,
        -4.492648233894949e-05,
        2.0505380370349436e-05,
        -9.43757536823101e-06,
        4.385539211326163e-06,
        -2.048392902806084e-06,
        9.182695786417111e-07,
        -4.229830967556951e-07,
        2.8032630477292567e-07,
        -1.4065658293440893e-07,
    ],
    t_low: 5.2827871469990554e-18,
    s: &[
        0.08333333333333331,
        -0.0027777777776830707,
        0.0007936507133904109,
        -0.0005952130694686078,
        0.0008381946701208527,
        -0.001680045294544703,
    ],
    c: (0.4189385332046727, 1.6728209650585413e-17),
    z: &[
        -1.6449340668482264,
        0.811742425283348,
        -0.1907518241217696,
        0.02614784780982021,
        -0.00234608093170639,
        0.00014842801201662994,
        -6.972518092196971e-06,
        2.454465934837193e-07,
    ],
    large: 8.5,
    range: (-200.5, 180.0),
    huge: 1e300,
};

fn constants(ty: PrimType) -> &'static GammaConstants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

/// The logarithm of the magnitude of the gamma function.
pub(crate) fn lgamma(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (high, low) = log_gamma(b, x);
    let sum = b.fadd(high, low);
    let magnitude = b.fabs(x);
    let huge = b.float(ty, constants(ty).huge);
    let is_huge = b.fle(huge, magnitude);
    let (high, sum) = if_any_pair(b, is_huge, (high, sum), &[magnitude], |b, args| log_gamma_of_huge(b, args[0]));
    let (zero, inf) = (b.float(ty, 0.0), b.float(ty, f64::INFINITY));
    // The low part of an infinite one is NaN. Poles and both infinities are infinite.
    let whole = b.fround(x);
    let integral = b.feq(whole, x);
    let not_positive = b.fle(x, zero);
    let pole = b.and(integral, not_positive);
    let overflow = b.feq(high, inf);
    let infinite = b.or(pole, overflow);
    let at_infinity = b.feq(magnitude, inf);
    let infinite = b.or(infinite, at_infinity);
    let result = b.select(infinite, inf, sum);
    let nan = is_nan(b, x);
    b.select(nan, x, result)
}

/// `log gamma(x)` if only `x (log x - 1)` counts, and half its high part before it: that may be infinite although the rounded sum with
/// the low part is not.
fn log_gamma_of_huge(b: &mut BodyBuilder, x: Reg) -> Pair {
    let ty = b.ty(x);
    let (half, one) = (b.float(ty, 0.5), b.float(ty, 1.0));
    let half_x = b.fmul(half, x);
    let (log, log_low) = log_parts(b, x);
    let less = b.fsub(log, one);
    let (high, low) = times(b, (less, log_low), half_x);
    let sum = b.fadd(high, low);
    (high, b.fadd(sum, sum))
}

/// The gamma function.
pub(crate) fn tgamma(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (least, most) = constants(ty).range;
    let bounded = clamp(b, x, least, most);
    let (high, low) = log_gamma(b, bounded);
    let (high, low) = two_sum(b, high, low);
    let ((power, power_low), k) = exp_unscaled(b, high, low);
    let power = b.fadd(power, power_low);
    let magnitude = scale(b, power, k);

    let (zero, half) = (b.float(ty, 0.0), b.float(ty, 0.5));
    let floor = b.ffloor(x);
    let half_floor = b.fmul(floor, half);
    let even = b.ffloor(half_floor);
    let odd = b.fne(even, half_floor);
    let negative = b.flt(x, zero);
    let minus = b.and(negative, odd);
    let flipped = b.fneg(magnitude);
    let result = b.select(minus, flipped, magnitude);

    let integral = b.feq(floor, x);
    let pole = b.and(integral, negative);
    let (inf, nan) = (b.float(ty, f64::INFINITY), b.float(ty, f64::NAN));
    let result = b.select(pole, nan, result);
    let at_zero = b.feq(x, zero);
    let sign = sign_of(b, x);
    let signed_inf = xor_sign(b, inf, sign);
    let result = b.select(at_zero, signed_inf, result);
    let nan = is_nan(b, x);
    b.select(nan, x, result)
}

/// `log |gamma(x)|` as an unrounded sum of two floats, for a finite `x` that is not a pole.
fn log_gamma(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg) {
    let ty = b.ty(x);
    let c = constants(ty);
    let magnitude = b.fabs(x);
    let large = b.float(ty, c.large);
    let is_large = b.fle(large, magnitude);

    let near = near_zero(b, x);
    let argument = b.select(is_large, magnitude, near.product.0);
    let log = log_parts(b, argument);

    // The logarithm of the product, with the recurrence's sign.
    let correction = b.fdiv(near.product.1, near.product.0);
    let low = b.fadd(log.1, correction);
    let (minus_log, minus_low) = (b.fneg(log.0), b.fneg(low));
    let log_product = (b.select(near.over, minus_log, log.0), b.select(near.over, minus_low, low));
    let far = stirling(b, magnitude, log);

    let high = b.select(is_large, far.0, near.log.0);
    let next = b.select(is_large, far.1, log_product.0);
    let (sum, error) = two_sum(b, high, next);
    let near_low = b.fadd(near.log.1, log_product.1);
    let low = b.select(is_large, far.2, near_low);
    let low = b.fadd(error, low);

    let minus_large = b.float(ty, -c.large);
    let reflected = b.fle(x, minus_large);
    let parts =
        b.if_any(reflected, &[sum, low], &[magnitude, sum, low], |b, args| reflect(b, args[0], (args[1], args[2])));
    (parts[0], parts[1])
}

/// The least argument of [`stirling_rest`].
pub(super) fn large(ty: PrimType) -> f64 {
    constants(ty).large
}

/// The difference of `log gamma(x)` and Stirling's `(x - 1/2) log x - x + log(2 pi) / 2`.
pub(super) fn stirling_rest(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let one = b.float(ty, 1.0);
    let inverse = b.fdiv(one, x);
    let square = b.fmul(inverse, inverse);
    let s = polynomial(b, square, constants(ty).s);
    b.fmul(inverse, s)
}

/// The recurrence: `|gamma(x)| = gamma(2 + y)` times or over a product.
struct Near {
    /// `log gamma(2 + y)` in two parts.
    log: (Reg, Reg),
    /// The magnitude of the product in two parts.
    product: (Reg, Reg),
    /// True if it divides.
    over: Reg,
}

/// For `|x|` below `large`.
fn near_zero(b: &mut BodyBuilder, x: Reg) -> Near {
    let ty = b.ty(x);
    let c = constants(ty);
    let (zero, one, two, minus_one) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, 2.0), b.float(ty, -1.0));
    let half = b.float(ty, 0.5);
    let n = b.fadd(x, half);
    let n = b.ffloor(n);
    let y = b.fsub(x, n);

    // n >= 2: (x - 1) … (y + 2). n = 1: 1 + y. Else x (x + 1) … (y + 1).
    let over = b.flt(n, two);
    let positive = b.flt(zero, n);
    let (s, s_low) = two_sum(b, one, y);
    let s = b.select(over, s, one);
    let s_low = b.select(over, s_low, zero);
    let last = b.select(positive, one, y);
    let product = times(b, (s, s_low), last);
    let up = b.fneg(n);
    let down = b.fsub(n, two);
    let count = b.select(positive, down, up);
    let step = b.select(positive, minus_one, one);
    let first = b.fadd(x, step);
    let factor = b.select(positive, first, x);
    let state = b.repeat(c.large as u32, &[product.0, product.1, factor, count], &[step], |b, state, fixed| {
        let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
        let go_on = b.flt(zero, state[3]);
        let product = times(b, (state[0], state[1]), state[2]);
        let factor = b.fadd(state[2], fixed[0]);
        let count = b.fsub(state[3], one);
        (go_on, vec![product.0, product.1, factor, count])
    });
    let sign = sign_of(b, state[0]);
    let product = (xor_sign(b, state[0], sign), xor_sign(b, state[1], sign));

    // y t(y), its first product exact.
    let (t, t_low) = (b.float(ty, c.t[0]), b.float(ty, c.t_low));
    let high = b.fmul(y, t);
    let minus = b.fneg(high);
    let low = b.fma(y, t, minus);
    let low = b.fma(y, t_low, low);
    let rest = polynomial(b, y, &c.t[1..]);
    let square = b.fmul(y, y);
    let low = b.fma(square, rest, low);
    Near { log: (high, low), product, over }
}

/// `log gamma(x)` as a sum of three floats, given `log x` in two.
fn stirling(b: &mut BodyBuilder, x: Reg, (log, log_low): (Reg, Reg)) -> (Reg, Reg, Reg) {
    let ty = b.ty(x);
    let c = constants(ty);
    let (half, one) = (b.float(ty, 0.5), b.float(ty, 1.0));
    let less = b.fsub(log, one);
    let factor = b.fsub(x, half);
    let (product, product_low) = times(b, (less, log_low), factor);
    let inverse = b.fdiv(one, x);
    let square = b.fmul(inverse, inverse);
    let s = polynomial(b, square, c.s);
    let (high, low) = (b.float(ty, c.c.0), b.float(ty, c.c.1));
    let low = b.fadd(product_low, low);
    let low = b.fma(inverse, s, low);
    (product, high, low)
}

/// `log |gamma(-x)|` from `log gamma(x)`.
fn reflect(b: &mut BodyBuilder, x: Reg, (log, low): (Reg, Reg)) -> Vec<Reg> {
    let ty = b.ty(x);
    // x |sin(pi x)| / pi
    let whole = b.fround(x);
    let r = b.fsub(x, whole);
    let r = b.fabs(r);
    let square = b.fmul(r, r);
    let z = polynomial(b, square, constants(ty).z);
    let cube = b.fmul(square, r);
    let rest = b.fmul(cube, z);
    let sine = fast_two_sum(b, r, rest);

    let product = times(b, sine, x);
    let (sine_log, sine_low) = log_parts(b, product.0);
    let correction = b.fdiv(product.1, product.0);
    let low = b.fadd(low, sine_low);
    let low = b.fadd(low, correction);
    let (sum, error) = two_sum(b, log, sine_log);
    let low = b.fadd(error, low);
    vec![b.fneg(sum), b.fneg(low)]
}
