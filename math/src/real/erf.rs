//! The error function and its complement on `f32` and `f64`.
//!
//! `erf` of `f32` is `x + x q(x^2)` near 0, and beyond a polynomial about a point where it is almost 1; of `f64` it is one of the
//! polynomials of a table. The complement is `1 - erf x` near 0; beyond, in both formats, `erfc x = e^(-x^2) h(t) / (x + K)` with
//! `t = (x - K) / (x + K)` (Shepherd and Laframboise 1981): `x^2`, the exponential, `h` and the quotient are each in two floats, so
//! that little more than the last rounding is lost. All polynomials are own minimax fits with rounded coefficients (Sollya's
//! `fpminimax`); their errors are documented beside them.

use crate::kit::double_word::product;
use crate::kit::util::{Format, at_most, fast_two_sum, fma_two_sum, polynomial, sign_of, two_sum, xor_sign};
use crate::real::erf_table::{PIECE, ROWS};
use crate::real::exp::{exp_unscaled, scale};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// `erf(x) / x - 1` as a polynomial in `x^2`, for `|x| <= 1`, with an absolute error of 2^-29.5.
const Q_SINGLE: &[f64] = &[
    0.12837916612625122,
    -0.3761262893676758,
    0.11283618956804276,
    -0.02685517445206642,
    0.005190844647586346,
    -0.0008031835895963013,
    7.924130477476865e-05,
];

/// The same for `|x| <= 3/4`, with an absolute error of 2^-56.1.
const Q_DOUBLE: &[f64] = &[
    0.1283791670955126,
    -0.3761263890318389,
    0.11283791670959396,
    -0.026866170645631956,
    0.005223977627110406,
    -0.0008548326870733295,
    0.00012055314490609649,
    -1.4924771207140092e-05,
    1.6438812468936918e-06,
    -1.600437188661196e-07,
    1.1690492180353937e-08,
];

/// `erf` about `CENTRE`, from 1 to 4, with an absolute error of 2^-30.1.
const TAIL_SINGLE: &[f64] = &[
    0.9999669790267944,
    0.0002040813851635903,
    -0.000599135470110923,
    0.0011046025902032852,
    -0.0014211632078513503,
    0.001337071298621595,
    -0.0009315817733295262,
    0.00046316077350638807,
    -0.0001354348351014778,
    -9.713861004456703e-08,
    1.888822043838445e-05,
    -1.3542638953367714e-05,
    6.050969204807188e-06,
    1.8641219412529608e-06,
    -1.4167483186611207e-06,
    -3.52744336851174e-07,
];

/// `e^(x^2) erfc(x) (x + K)` as a polynomial in `t`, for `x` from 3/4 to 10.1, `K = 5/2`, with a relative error of 2^-30.1.
const H_SINGLE: &[f64] = &[
    1.0540318201245285,
    -0.8046518564224243,
    0.45391416549682617,
    -0.17125070095062256,
    0.028359927237033844,
    0.008386744186282158,
    -0.004801516886800528,
    -0.0004071053408551961,
    0.0006293838378041983,
];

/// The same for `x` from 3/4 to 27.3 and `K = 3`, with a relative error of 2^-58.4.
const H_DOUBLE: &[f64] = &[
    1.0740069070883398,
    -0.8833944531698837,
    0.5902283571041016,
    -0.3104672619005495,
    0.11952776128730182,
    -0.0268272346252857,
    -0.0012124166272318446,
    0.003034062017527423,
    -0.0005483096981676865,
    -0.0002767780242535885,
    0.00010756161847415227,
    3.039929048043616e-05,
    -1.74717647697353e-05,
    -4.7534315081991e-06,
    2.771322347350849e-06,
    1.0075609394677949e-06,
    -4.245662081345738e-07,
    -2.4075778102751977e-07,
    7.093199407751365e-08,
    4.684724860738695e-08,
    -1.6953042922756177e-08,
];

/// The rounding error of the first coefficient of `h`.
const H_LOW_SINGLE: f64 = -2.8782942251837085e-08;
const H_LOW_DOUBLE: f64 = -8.795545091792323e-17;

/// The split of `f32`'s `erf` between its two polynomials.
const SPLIT_SINGLE: f64 = 1.0;
/// The split of the others between a polynomial and the exponential.
const SPLIT: f64 = 0.75;
/// `erf` is so close to a multiple of 2^-24 here that the constant term of the polynomial about it has no error; the difference to
/// every `x` from 1 on is exact.
const CENTRE: f64 = 2.9356000423431396;

/// The error function.
pub(crate) fn erf(b: &mut BodyBuilder, x: Reg) -> Reg {
    let magnitude = b.fabs(x);
    let result = if b.ty(x) == PrimType::F32 { of_single(b, magnitude) } else { of_double(b, magnitude) };
    let sign = sign_of(b, x);
    xor_sign(b, result, sign)
}

fn of_single(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let q = near_zero(b, x);
    let near = b.fma(x, q, x);
    // 1 after rounding from there on.
    let limit = b.float(ty, 4.0);
    let bounded = at_most(b, x, limit);
    let centre = b.float(ty, CENTRE);
    let t = b.fsub(bounded, centre);
    let far = polynomial(b, t, TAIL_SINGLE);
    let split = b.float(ty, SPLIT_SINGLE);
    let is_near = b.flt(x, split);
    b.select(is_near, near, far)
}

/// From a table: `erf x = erf c + t p(t)` with `t = x - c` is never the difference of close numbers.
fn of_double(b: &mut BodyBuilder, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    // 1 after rounding from there on.
    let limit = b.float(f.ty, 5.9375);
    let x = at_most(b, x, limit);
    let (per_unit, minus_half, magic) = (b.float(f.ty, 1.0 / PIECE), b.float(f.ty, -0.5), b.float(f.ty, f.magic()));
    let place = b.fma(x, per_unit, minus_half);
    let shifted = b.fadd(place, magic);
    let whole = b.fsub(shifted, magic);
    let index = b.bitcast(shifted, f.ty.as_int());
    let mask = b.int(f.ty.as_int(), ROWS.len().next_power_of_two() as i64 - 1);
    let index = b.and(index, mask);
    let index = b.itrunc(index, PrimType::I32);
    let column = |b: &mut BodyBuilder, column: usize| {
        let mut values: Vec<u64> = ROWS.iter().map(|row| row[column].to_bits()).collect();
        values.resize(ROWS.len().next_power_of_two(), 0);
        b.table(f.ty, &values, index)
    };

    let (half_piece, minus_piece) = (b.float(f.ty, PIECE / 2.0), b.float(f.ty, -PIECE));
    let beyond = b.fsub(x, half_piece);
    let t = b.fma(whole, minus_piece, beyond);
    let zero = b.float(f.ty, 0.0);
    let first = b.feq(whole, zero);
    let t = b.select(first, x, t);
    let highest = column(b, ROWS[0].len() - 1);
    let p = (2..ROWS[0].len() - 1).rev().fold(highest, |sum, power| {
        let coefficient = column(b, power);
        b.fma(sum, t, coefficient)
    });
    let (high, low) = (column(b, 0), column(b, 1));
    let high = b.select(first, x, high);
    let rest = b.fma(t, p, low);
    b.fadd(high, rest)
}

/// `1 - erf(x)`, relatively accurate where it is small.
pub(crate) fn erfc(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (one, two, zero) = (b.float(ty, 1.0), b.float(ty, 2.0), b.float(ty, 0.0));
    let minus = b.fneg(x);
    let (near, lost) = fast_two_sum(b, one, minus);
    let q = near_zero(b, x);
    let rest = b.fma(minus, q, lost);
    let near = b.fadd(near, rest);

    let magnitude = b.fabs(x);
    // 0 after rounding from here on.
    let limit = b.float(ty, if ty == PrimType::F32 { 10.5 } else { 27.3 });
    let bounded = at_most(b, magnitude, limit);
    let (high, low, k) = complement(b, bounded);
    let value = b.fadd(high, low);
    // A product that underflows is slower than all of this.
    let beyond = b.flt(limit, magnitude);
    let value = b.select(beyond, zero, value);
    let value = scale(b, value, k);
    let reflected = b.fsub(two, value);
    let negative = b.flt(x, zero);
    let far = b.select(negative, reflected, value);

    let split = b.float(ty, SPLIT);
    let is_near = b.flt(magnitude, split);
    b.select(is_near, near, far)
}

/// `erf(x) / x - 1` near 0.
fn near_zero(b: &mut BodyBuilder, x: Reg) -> Reg {
    let square = b.fmul(x, x);
    polynomial(b, square, if b.ty(x) == PrimType::F32 { Q_SINGLE } else { Q_DOUBLE })
}

/// `(high, low, k)` with `erfc(x) = 2^k (high + low)`, for `x` of at least 3/4.
fn complement(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg, Reg) {
    let ty = b.ty(x);
    let (h, h_low, centre) =
        if ty == PrimType::F32 { (H_SINGLE, H_LOW_SINGLE, 2.5) } else { (H_DOUBLE, H_LOW_DOUBLE, 3.0) };
    let minus_x = b.fneg(x);
    let exponent = b.fmul(minus_x, x);
    let minus_exponent = b.fneg(exponent);
    let exponent_low = b.fma(minus_x, x, minus_exponent);
    let ((power, power_low), k) = exp_unscaled(b, exponent, exponent_low);

    // 1 / (x + K) with its error, and t = 1 - 2 K / (x + K).
    let (one, centre, minus_twice) = (b.float(ty, 1.0), b.float(ty, centre), b.float(ty, -2.0 * centre));
    let (sum, sum_low) = two_sum(b, x, centre);
    let inverse = b.fdiv(one, sum);
    let minus_inverse = b.fneg(inverse);
    let error = b.fma(minus_inverse, sum, one);
    let error = b.fma(minus_inverse, sum_low, error);
    let inverse_low = b.fmul(inverse, error);
    let t = b.fma(minus_twice, inverse, one);

    let (first, second) = (b.float(ty, h[0]), b.float(ty, h[2]));
    let rest = polynomial(b, t, &h[1..]);
    let (h, h_error) = fma_two_sum(b, t, rest, first);
    let h_low = b.float(ty, h_low);
    let h_low = b.fadd(h_error, h_low);
    // t has the error of the quotient too; the derivative of h to two terms.
    let t_low = b.fmul(minus_twice, inverse_low);
    let slope = b.fma(t, second, rest);
    let h_low = b.fma(t_low, slope, h_low);

    let scaled = product(b, (power, power_low), (h, h_low));
    let (high, low) = product(b, scaled, (inverse, inverse_low));
    (high, low, k)
}
