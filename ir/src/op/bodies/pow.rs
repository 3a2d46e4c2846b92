//! Powers of floats, `f32` and `f64`: `x^y = 2^(y log2 |x|)`, where the logarithm and its product with `y` are sums of two
//! floats, good to about 2^-37 (`f32`) and 2^-66 (`f64`).
//!
//! `|x| = 2^k m` with `m` between 0.703 and 1.406, and `r = m c - 1` for a `c` of few bits from a table, so that `r` is exact.
//! Then `log2 |x| = k - log2 c + (r - r^2/2 + r^3/2 q(r)) / ln 2` with `|r| <= 1/64` (Tang 1990 reduces so; the exact `r` by `fma`
//! is that of ARM's optimized routines). `2^f = 1 + f ln 2 + f^2 w(f)` with `|f| <= 1/2`. The polynomials `q` and `w` are own minimax
//! fits by a Remez exchange in 240-bit arithmetic; the relative errors left in `log(1 + r)` and `2^f` after rounding the
//! coefficients are 2^-38.2 and 2^-29.7 (`f32`), 2^-69.6 and 2^-58.7 (`f64`). The largest error found among 1.5 million normal
//! `f32` results is 0.65 ULP; of as many `f64` 1.1 % are not the nearest.

use super::pow_table::{ROWS, START};
use super::util::{Format, is_nan, polynomial, power_of_two, sign_of, times, xor_sign};
use crate::body::{BodyBuilder, Reg};
use crate::dtype::PrimType;
use std::f64::consts::{LN_2, LOG2_E};

/// What depends on the format.
struct Constants {
    /// `1 / ln 2` and `ln 2` less their nearest floats.
    log2_e_low: f64,
    ln2_low: f64,
    q: &'static [f64],
    w: &'static [f64],
    /// Powers of two beyond this exponent are infinite or 0 after rounding; half of it is an exponent of the format.
    limit: f64,
    /// `k` and entries of the table that are multiples of this have an exact sum.
    unit: f64,
}

const SINGLE: Constants = Constants {
    log2_e_low: 1.925963033500011e-08,
    ln2_low: -1.9046542121259336e-09,
    q: &[0.6666666865348816, -0.5, 0.4000973701477051, -0.33340704441070557],
    w: &[
        0.24022650718688965,
        0.05550410598516464,
        0.009618042968213558,
        0.0013333812821656466,
        0.0001546548883197829,
        1.5215963685477618e-05,
    ],
    limit: 200.0,
    unit: 1.0 / (1u64 << 15) as f64,
};

const DOUBLE: Constants = Constants {
    log2_e_low: 2.0355273740931033e-17,
    ln2_low: 2.3190468138462996e-17,
    q: &[
        0.6666666666666666,
        -0.5,
        0.4000000000018107,
        -0.3333333333338881,
        0.2857142633822341,
        -0.24999998848383864,
        0.22233076448398043,
        -0.20007792840087232,
    ],
    w: &[
        0.24022650695910072,
        0.05550410866482164,
        0.009618129107628347,
        0.001333355814640221,
        0.00015403530393626874,
        1.5252733846615952e-05,
        1.3215486596617993e-06,
        1.017805475837784e-07,
        7.054976106127952e-09,
        4.4561884685832854e-10,
        2.5621128434549886e-11,
    ],
    limit: 1200.0,
    unit: 1.0 / (1u64 << 42) as f64,
};

fn constants(ty: PrimType) -> &'static Constants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

/// `x` to the power `y`.
pub(super) fn pow(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let magnitude = b.fabs(x);
    let logarithm = log2(b, magnitude);
    let power = exp2_of_product(b, y, logarithm);
    special_cases(b, x, y, power)
}

/// The natural logarithm of a positive finite number as a sum of two floats.
pub(super) fn log_parts(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg) {
    let ty = b.ty(x);
    let logarithm = log2(b, x);
    let ln2 = (b.float(ty, LN_2), b.float(ty, constants(ty).ln2_low));
    times(b, logarithm, ln2)
}

/// The base-2 logarithm of a positive finite number as a sum of two floats.
fn log2(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg) {
    let f = Format::of(b.ty(x));
    let c = constants(f.ty);
    let (k, m, index) = reduced(b, x, f);
    let (inverse, high, low) = table(b, index, f.ty);
    let minus_one = b.float(f.ty, -1.0);
    let r = b.fma(m, inverse, minus_one);

    // u + v = log(1 + r)
    let half = b.float(f.ty, 0.5);
    let half_r = b.fmul(half, r);
    let half_square = b.fmul(half_r, r);
    let minus = b.fneg(half_square);
    let error = b.fma(half_r, r, minus);
    let u = b.fsub(r, half_square);
    let gone = b.fsub(r, u);
    let v = b.fsub(gone, half_square);
    let v = b.fsub(v, error);
    let half_cube = b.fmul(half_square, r);
    let q = polynomial(b, r, c.q);
    let v = b.fma(half_cube, q, v);

    // p + t = (u + v) / ln 2
    let (log2_e, log2_e_low) = (b.float(f.ty, LOG2_E), b.float(f.ty, c.log2_e_low));
    let p = b.fmul(u, log2_e);
    let minus_p = b.fneg(p);
    let t = b.fma(u, log2_e, minus_p);
    let t = b.fma(u, log2_e_low, t);
    let t = b.fma(v, log2_e, t);

    // The sum of k and high is exact; unless it is 0 its exponent is not below that of p.
    let whole = b.fadd(k, high);
    let sum = b.fadd(whole, p);
    let left = b.fsub(whole, sum);
    let rest = b.fadd(left, p);
    let t = b.fadd(t, low);
    (sum, b.fadd(rest, t))
}

/// `(k, m, index)` with `x = 2^k m`: `k` a float, `m` in the table's range, `index` that of its row.
fn reduced(b: &mut BodyBuilder, x: Reg, f: Format) -> (Reg, Reg, Reg) {
    let int = f.ty.as_int();
    let smallest_normal = b.float(f.ty, 2f64.powi(1 - f.bias as i32));
    let subnormal = b.flt(x, smallest_normal);
    let lift = i64::from(f.mantissa) + 2;
    let factor = b.float(f.ty, (1u64 << lift) as f64);
    let lifted = b.fmul(x, factor);
    let x = b.select(subnormal, lifted, x);
    let bits = b.bitcast(x, int);
    let start = b.float(f.ty, START);
    let start = b.bitcast(start, int);
    let above = b.isub(bits, start);
    let shift = b.int(int, i64::from(f.mantissa));
    let k = b.sshr(above, shift);
    let field = b.shl(k, shift);
    let m = b.isub(bits, field);
    let m = b.bitcast(m, f.ty);

    let index_bits = ROWS.len().ilog2();
    let shift = b.int(int, i64::from(f.mantissa - index_bits));
    let index = b.ushr(above, shift);
    let mask = b.int(int, ROWS.len() as i64 - 1);
    let index = b.and(index, mask);
    let index = b.itrunc(index, PrimType::I32);

    let (zero, lift) = (b.int(int, 0), b.int(int, lift));
    let lifted_by = b.select(subnormal, lift, zero);
    let k = b.isub(k, lifted_by);
    // A small integer in the low bits of 1.5 * 2^mantissa; subtracting that leaves it as a float.
    let magic = b.float(f.ty, f.magic());
    let magic_bits = b.bitcast(magic, int);
    let k = b.iadd(k, magic_bits);
    let k = b.bitcast(k, f.ty);
    (b.fsub(k, magic), m, index)
}

/// A row as floats: `c = k / 64`, and `-log2 c` in two parts.
fn table(b: &mut BodyBuilder, index: Reg, ty: PrimType) -> (Reg, Reg, Reg) {
    let unit = constants(ty).unit;
    let high = |row: &(u8, f64, f64)| (row.1 / unit).round_ties_even() * unit;
    let bits = |value: f64| {
        if ty == PrimType::F32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
    };
    let inverses: Vec<u64> = ROWS.iter().map(|row| bits(f64::from(row.0) / 64.0)).collect();
    let highs: Vec<u64> = ROWS.iter().map(|row| bits(high(row))).collect();
    let lows: Vec<u64> = ROWS.iter().map(|row| bits((row.1 - high(row)) + row.2)).collect();
    (b.table(ty, &inverses, index), b.table(ty, &highs, index), b.table(ty, &lows, index))
}

/// 2 to the power `y` times a sum of two floats.
fn exp2_of_product(b: &mut BodyBuilder, y: Reg, (high, low): (Reg, Reg)) -> Reg {
    let f = Format::of(b.ty(y));
    let int = f.ty.as_int();
    let c = constants(f.ty);
    let product = b.fmul(y, high);
    let minus = b.fneg(product);
    let error = b.fma(y, high, minus);
    let error = b.fma(y, low, error);
    let (limit, minus_limit) = (b.float(f.ty, c.limit), b.float(f.ty, -c.limit));
    let bounded = b.fmin(product, limit);
    let bounded = b.fmax(bounded, minus_limit);
    let (zero, one) = (b.float(f.ty, 0.0), b.float(f.ty, 1.0));
    let within = b.feq(bounded, product);
    let error = b.select(within, error, zero);

    // Adding 1.5 * 2^mantissa rounds to an integer and leaves it in the low bits.
    let magic = b.float(f.ty, f.magic());
    let shifted = b.fadd(bounded, magic);
    let whole = b.fsub(shifted, magic);
    let first = b.fsub(bounded, whole);
    let fraction = b.fadd(first, error);
    let gone = b.fsub(first, fraction);
    let tail = b.fadd(gone, error);

    // The sum of 1 and the first term is kept with its error.
    let (ln2, ln2_low) = (b.float(f.ty, LN_2), b.float(f.ty, c.ln2_low));
    let sum = b.fma(fraction, ln2, one);
    let less = b.fsub(one, sum);
    let rest = b.fma(fraction, ln2, less);
    let rest = b.fma(tail, ln2, rest);
    let rest = b.fma(fraction, ln2_low, rest);
    let square = b.fmul(fraction, fraction);
    let w = polynomial(b, fraction, c.w);
    let rest = b.fma(square, w, rest);
    let power = b.fadd(sum, rest);

    let bits = b.bitcast(shifted, int);
    let magic_bits = b.bitcast(magic, int);
    let n = b.isub(bits, magic_bits);
    // 2^n may lie outside the format, each half of it does not; only the second product can round.
    let shift = b.int(int, 1);
    let half = b.sshr(n, shift);
    let other = b.isub(n, half);
    let half = power_of_two(b, half, f);
    let other = power_of_two(b, other, f);
    let scaled = b.fmul(power, half);
    b.fmul(scaled, other)
}

/// The sign, and what the Array API says of zeros, infinities, NaN and negative bases. `power` is `|x|^y` for a finite
/// `|x| > 0` and finite `y`, and right for an infinite `y` unless `|x| = 1`.
fn special_cases(b: &mut BodyBuilder, x: Reg, y: Reg, power: Reg) -> Reg {
    let ty = b.ty(x);
    let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
    let (inf, nan) = (b.float(ty, f64::INFINITY), b.float(ty, f64::NAN));
    let magnitude = b.fabs(x);
    let (at_zero, at_inf) = (b.feq(magnitude, zero), b.feq(magnitude, inf));
    let positive = b.flt(zero, y);
    let grows = b.xor(positive, at_zero);
    let end = b.select(grows, inf, zero);
    let at_end = b.or(at_zero, at_inf);
    let power = b.select(at_end, end, power);
    let at_unit = b.feq(magnitude, one);
    let power = b.select(at_unit, one, power);

    let trunc = b.ftrunc(y);
    let integral = b.feq(trunc, y);
    let half = b.float(ty, 0.5);
    let half_y = b.fmul(half, y);
    let half_trunc = b.ftrunc(half_y);
    let halves = b.fne(half_trunc, half_y);
    let odd = b.and(integral, halves);
    let sign = sign_of(b, x);
    let signed = xor_sign(b, power, sign);
    let power = b.select(odd, signed, power);

    let fraction = b.not(integral);
    let (below_zero, finite) = (b.flt(x, zero), b.flt(magnitude, inf));
    let outside = b.and(below_zero, finite);
    let outside = b.and(outside, fraction);
    let (x_nan, y_nan) = (is_nan(b, x), is_nan(b, y));
    let outside = b.or(outside, x_nan);
    let outside = b.or(outside, y_nan);
    let power = b.select(outside, nan, power);
    let (base_one, exponent_zero) = (b.feq(x, one), b.feq(y, zero));
    let always_one = b.or(base_one, exponent_zero);
    b.select(always_one, one, power)
}
