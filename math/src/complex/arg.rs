//! The angle of a point as a double-word number, good to about 2^-37 (`f32`) and 2^-66 (`f64`).
//!
//! With `n <= d` the magnitudes of the coordinates and `c` the multiple of 1/32 nearest to `n / d`, `atan(n / d) = atan c + atan r`
//! where `r = (n - c d) / (d + c n)` and `|r| <= 1/64`. `n - c d` is exact in two floats, the divisor is rounded to two, and the
//! remainder of the division makes the quotient so; `atan r` is its series.

use crate::kit::angle::quarter_turns;
use crate::kit::double_word::{DoubleWord, exact_product};
use crate::kit::util::{
    Format, Pair, copysign, fast_two_sum, in_order, polynomial, power_scale, select_pair, sign_of, xor_sign,
};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// `(atan r - r) / r^3` in `r^2`.
const SERIES: [f64; 5] = [-1.0 / 3.0, 1.0 / 5.0, -1.0 / 7.0, 1.0 / 9.0, -1.0 / 11.0];

/// `atan(j / 32)` for `j` from 0 to 32, to 2^-107, computed in 240-bit arithmetic.
const ATAN: [(f64, f64); 33] = [
    (0.0, 0.0),
    (0.031239833430268277, -1.188442711587748e-18),
    (0.06241880999595735, -1.5490756308295046e-18),
    (0.09347678115858947, -6.2844725995420954e-18),
    (0.12435499454676144, -3.1253241424539383e-18),
    (0.15499674192394097, 9.585415594114324e-18),
    (0.18534794999569476, 4.180692268843079e-18),
    (0.21535769969773805, 4.738160130078733e-19),
    (0.24497866312686414, 1.0698755618734451e-17),
    (0.2741674511196588, 8.261353575163773e-18),
    (0.3028848683749714, -1.1010827903001369e-17),
    (0.3310960767041321, -7.952610375793799e-18),
    (0.35877067027057225, -2.4623815582638635e-17),
    (0.38588266939807375, 2.378822732491941e-17),
    (0.4124104415973873, -1.587652227770689e-17),
    (0.43833655985795783, -2.494277030626541e-17),
    (0.4636476090008061, 2.2698777452961687e-17),
    (0.48833395105640554, -1.1373236189329585e-17),
    (0.5123894603107377, -2.5462781472855804e-17),
    (0.5358112379604637, -4.0637956834825575e-18),
    (0.5585993153435624, -5.4556305485916264e-18),
    (0.5807563535676704, -1.441464378193067e-17),
    (0.6022873461349642, 2.950430737228402e-17),
    (0.6231993299340659, 2.672403885140095e-17),
    (0.6435011087932844, 1.5834785051444286e-17),
    (0.6632029927060933, -3.076054864429649e-17),
    (0.6823165548747481, 6.943223671560008e-18),
    (0.7008544078844502, -1.987626234335816e-17),
    (0.7188299996216245, -2.1478388444456983e-17),
    (0.7362574289814281, 3.473937648299457e-17),
    (0.7531512809621944, -2.4256934659182068e-17),
    (0.7695264804056583, -3.704991905602721e-17),
    (std::f64::consts::FRAC_PI_4, 3.061616997868383e-17),
];

/// The angle in [-pi, pi] between the positive x axis and the point `(x + low, y)`, where `low` is a rounding error of `x`.
/// The signs of zeros count; for two infinities it is halfway.
pub(crate) fn arg(b: &mut BodyBuilder, (x, y): Pair, low: Option<Reg>) -> DoubleWord {
    let f = Format::of(b.ty(x));
    let (ax, ay) = (b.fabs(x), b.fabs(y));
    let turned = b.flt(ax, ay);
    let zero = b.float(f.ty, 0.0);
    let (n, d) = in_order(b, ax, ay);
    let factors = scale(b, d);
    let (n_low, d_low) = match low {
        Some(low) => {
            let sign = sign_of(b, x);
            let low = xor_sign(b, low, sign);
            let low = scaled(b, low, factors);
            (b.select(turned, low, zero), b.select(turned, zero, low))
        }
        None => (zero, zero),
    };
    let (n, d) = quotient(b, n, d, factors);
    let (a, a_low) = atan_of_quotient(b, (n, n_low), (d, d_low));

    let bits = b.bitcast(x, f.ty.as_int());
    let origin = b.int(f.ty.as_int(), 0);
    let left = b.slt(bits, origin);
    let [none, quarter, half] = [0, 1, 2].map(|count| quarter_turns(b, f.ty, count));
    let base = select_pair(b, left, half, none);
    let base = select_pair(b, turned, quarter, base);
    let backwards = b.xor(turned, left);
    let (minus_a, minus_low) = (b.fneg(a), b.fneg(a_low));
    let (a, a_low) = select_pair(b, backwards, (minus_a, minus_low), (a, a_low));
    let (high, error) = fast_two_sum(b, base.0, a);
    let low = b.fadd(base.1, a_low);
    let low = b.fadd(error, low);
    let (high, low) = fast_two_sum(b, high, low);
    let sign = sign_of(b, y);
    (copysign(b, high, y), xor_sign(b, low, sign))
}

/// Two powers of two whose product scales `d` so far above 1 that the remainder of a division by it is not subnormal; the first
/// is as large as the format allows for smaller numbers.
fn scale(b: &mut BodyBuilder, d: Reg) -> Pair {
    let ty = b.ty(d);
    let (down, _, _) = power_scale(b, d);
    let (one, inf) = (b.float(ty, 1.0), b.float(ty, f64::INFINITY));
    let lift = b.float(ty, 2f64.powi(if ty == PrimType::F32 { 60 } else { 500 }));
    let both = b.fmul(down, lift);
    let at_once = b.flt(both, inf);
    select_pair(b, at_once, (both, one), (lift, down))
}

fn scaled(b: &mut BodyBuilder, x: Reg, factors: Pair) -> Reg {
    let x = b.fmul(x, factors.0);
    b.fmul(x, factors.1)
}

/// The smaller and the larger magnitude, scaled. 1 and 1 for two infinities, 0 and 1 if one is infinite or both are 0.
fn quotient(b: &mut BodyBuilder, n: Reg, d: Reg, factors: Pair) -> Pair {
    let ty = b.ty(n);
    let (zero, one, inf) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, f64::INFINITY));
    let (n_scaled, d_scaled) = (scaled(b, n, factors), scaled(b, d, factors));
    let (infinite, at_zero) = (b.feq(d, inf), b.feq(d, zero));
    let equal = b.feq(n, inf);
    // 0, or NaN.
    let rest = b.fmul(n, zero);
    let n_unit = b.select(equal, one, rest);
    let n = b.select(infinite, n_unit, n_scaled);
    let d = b.select(infinite, one, d_scaled);
    (n, b.select(at_zero, one, d))
}

/// The inverse tangent of `n / d`, which is between 0 and 1.
fn atan_of_quotient(b: &mut BodyBuilder, n: DoubleWord, d: DoubleWord) -> DoubleWord {
    let f = Format::of(b.ty(n.0));
    let int = f.ty.as_int();
    let quotient = b.fdiv(n.0, d.0);
    // Adding 1.5 * 2^mantissa rounds to an integer and leaves it in the low bits.
    let (magic, steps) = (b.float(f.ty, f.magic()), b.float(f.ty, 32.0));
    let shifted = b.fma(quotient, steps, magic);
    let whole = b.fsub(shifted, magic);
    let step = b.float(f.ty, 1.0 / 32.0);
    let c = b.fmul(whole, step);
    let (bits, magic_bits) = (b.bitcast(shifted, int), b.bitcast(magic, int));
    let index = b.isub(bits, magic_bits);
    let index = b.itrunc(index, PrimType::I32);

    let minus_c = b.fneg(c);
    let (near, near_error) = exact_product(b, c, d.0);
    let over = b.fsub(n.0, near);
    let over_low = b.fsub(n.1, near_error);
    let over_low = b.fma(minus_c, d.1, over_low);
    let (shift, shift_error) = exact_product(b, c, n.0);
    let (under, under_error) = fast_two_sum(b, d.0, shift);
    let under_low = b.fadd(under_error, shift_error);
    let under_low = b.fadd(under_low, d.1);
    let under_low = b.fma(c, n.1, under_low);

    let one = b.float(f.ty, 1.0);
    let inverse = b.fdiv(one, under);
    let r = b.fmul(over, inverse);
    let minus_r = b.fneg(r);
    let rest = b.fma(minus_r, under, over);
    let rest = b.fadd(rest, over_low);
    let rest = b.fma(minus_r, under_low, rest);
    let r_low = b.fmul(rest, inverse);

    let z = b.fmul(r, r);
    let terms = if f.ty == PrimType::F32 { &SERIES[..2] } else { &SERIES[..] };
    let series = polynomial(b, z, terms);
    let cube = b.fmul(z, r);
    let minus_z = b.fneg(z);
    let low = b.fma(minus_z, r_low, r_low);
    let low = b.fma(cube, series, low);
    let (at_c, at_c_low) = table(b, index, f.ty);
    let (sum, error) = fast_two_sum(b, at_c, r);
    let low = b.fadd(low, at_c_low);
    (sum, b.fadd(error, low))
}

/// `atan(index / 32)`.
fn table(b: &mut BodyBuilder, index: Reg, ty: PrimType) -> DoubleWord {
    let parts = |&(high, low): &(f64, f64)| {
        if ty == PrimType::F64 {
            return (high.to_bits(), low.to_bits());
        }
        let rounded = high as f32;
        (u64::from(rounded.to_bits()), u64::from(((high - f64::from(rounded)) as f32).to_bits()))
    };
    let (highs, lows): (Vec<u64>, Vec<u64>) = ATAN.iter().map(parts).unzip();
    (b.table(ty, &highs, index), b.table(ty, &lows, index))
}
