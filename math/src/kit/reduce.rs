//! Reduction of an angle by multiples of pi/2, for every finite argument, in radians or in another unit.
//!
//! Below a limit: Cody and Waite with a quarter turn in three parts and `fma`. The first difference is exact, and the
//! rounding errors of the second are recovered: the result is a float and a correction. Beyond the limit, a cold path
//! after Payne and Hanek multiplies the mantissa by the bits of its inverse that determine quadrant and fraction, in
//! integers of the float's width.

use crate::kit::double_word::{self, constant, exact_product};
use crate::kit::util::{Format, fast_two_sum, two_sum};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// pi/2 rounded to 24 bits, the rest again, and again.
const PI_2_SINGLE: [f64; 3] = [1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15];
/// pi/2 rounded to 53 bits, the rest again, and again.
const PI_2_DOUBLE: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33];

/// The binary digits of 2/pi after the point.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
];

/// The unit of an angle.
pub(crate) struct Unit {
    /// A quarter turn in three parts, each the nearest float to the remainder of those before.
    single: [f64; 3],
    double: [f64; 3],
    /// The binary digits of its inverse after the point; a word of zeros precedes them in the tables.
    digits: [u64; 19],
    /// Radians in a unit and the rounding error, unless 1.
    radians: Option<(f64, f64)>,
}

const RADIANS: Unit = Unit { single: PI_2_SINGLE, double: PI_2_DOUBLE, digits: TWO_OVER_PI, radians: None };

/// The angle of `2^(ix)` is `x ln 2`. A quarter turn is `pi / (2 ln 2)`.
pub(crate) const BINARY: Unit = Unit {
    single: [2.2661800384521484, 3.2461446863862875e-08, 1.603450945086046e-15],
    double: [2.266180070913597, -1.7290587296149343e-16, -1.0508274702698301e-32],
    digits: [
        0x70f7263dfa5a6eec,
        0xb608582e55fef3dd,
        0x8e13becd1d495c36,
        0x1d72013aea9f8fca,
        0x76e866fc9b48be48,
        0x15f5cb6fd8bee211,
        0x0394db3020d6eb52,
        0x30ffa9ae90cbc735,
        0x51358ced67c0db3c,
        0x490d15bdd91a29f5,
        0x682402af5e8f9c23,
        0xbff15cbc71f05fed,
        0xfe0bb0622a8c8f67,
        0x7309c45a7502282a,
        0xead0c2435c5527bb,
        0x759f345e2d0628e8,
        0xb1a563a253e62918,
        0xea5ffdabeac0d479,
        0xcfedb1b6fc78b439,
    ],
    radians: Some((std::f64::consts::LN_2, 2.3190468138462996e-17)),
};

/// Returns pi/2 in three parts.
pub(crate) fn pi_2(ty: PrimType) -> [f64; 3] {
    if ty == PrimType::F32 { PI_2_SINGLE } else { PI_2_DOUBLE }
}

/// Reduces an angle in radians, like [`reduce_from`].
pub(crate) fn reduce(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg, Reg) {
    reduce_from(b, x, &RADIANS)
}

/// Computes `(r, low, q)` such that the angle of `x >= 0` units is `q pi/2 + r + low` radians, `|r|` up to about pi/4
/// and `q` known in its low two bits; NaN for infinity and NaN.
pub(crate) fn reduce_from(b: &mut BodyBuilder, x: Reg, unit: &Unit) -> (Reg, Reg, Reg) {
    let f = Format::of(b.ty(x));
    let quarter = if f.ty == PrimType::F32 { unit.single } else { unit.double };
    let parts = quarter.map(|part| b.float(f.ty, -part));
    let magic = b.float(f.ty, f.magic());
    let turns = b.float(f.ty, 1.0 / unit.double[0]);
    let shifted = b.fma(x, turns, magic);
    let k = b.fsub(shifted, magic);
    let first = b.fma(k, parts[0], x);
    // The second product may cancel all of the difference, so its error counts.
    let (product, product_error) = exact_product(b, k, parts[1]);
    let (r, error) = two_sum(b, first, product);
    let low = b.fadd(error, product_error);
    let low = b.fma(k, parts[2], low);
    let (r, low) = match unit.radians {
        Some(radians) => {
            let radians = constant(b, f.ty, radians);
            double_word::product(b, (r, low), radians)
        }
        None => (r, low),
    };
    let q = b.bitcast(shifted, f.ty.as_int());

    let limit = if f.ty == PrimType::F32 { f64::from(1 << 17) } else { f64::from(1 << 20) };
    let limit = b.float(f.ty, limit);
    let inf = b.float(f.ty, f64::INFINITY);
    let large = b.fle(limit, x);
    let finite = b.flt(x, inf);
    let cold = b.and(large, finite);
    let results = b.if_any(cold, &[r, low, q], &[x], |b, args| reduce_large(b, args[0], unit));
    (results[0], results[1], results[2])
}

/// Reduces a finite `x` of at least 2^17 (`f32`) or 2^20 (`f64`), like [`reduce_from`].
fn reduce_large(b: &mut BodyBuilder, x: Reg, unit: &Unit) -> Vec<Reg> {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let width = i64::from(f.ty.bits());
    let bits = b.bitcast(x, int);
    let low = b.bits(int, (1 << f.mantissa) - 1);
    let hidden = b.bits(int, 1 << f.mantissa);
    let m = b.and(bits, low);
    let m = b.or(m, hidden);
    let shift = b.int(int, i64::from(f.mantissa));
    let field = b.ushr(bits, shift);
    let window = digits(b, field, f, unit);

    // The product of m and the window, modulo its size: the two upper words. The lowest one has no effect.
    let carried = b.umulhi(m, window[2]);
    let middle = b.imul(m, window[1]);
    let mid = b.iadd(middle, carried);
    let carry = b.ult(mid, middle);
    let carry = b.mask(carry, int);
    let top = b.imul(m, window[0]);
    let overflow = b.umulhi(m, window[1]);
    let hi = b.iadd(top, overflow);
    let hi = b.iadd(hi, carry);

    // Two bits of quarter turns, rounded to nearest; the rest is a signed fraction.
    let half = b.bits(int, 1 << (width - 3));
    let rounded = b.iadd(hi, half);
    let two = b.int(int, 2);
    let top_two = b.int(int, width - 2);
    let q = b.ushr(rounded, top_two);
    let hi = b.shl(hi, two);
    let spill = b.ushr(mid, top_two);
    let hi = b.or(hi, spill);
    let mid = b.shl(mid, two);
    let zero = b.int(int, 0);
    let negative = b.slt(hi, zero);
    let minus_mid = b.isub(zero, mid);
    let complement = b.not(hi);
    let no_borrow = b.ieq(mid, zero);
    let no_borrow = b.mask(no_borrow, int);
    let minus_hi = b.iadd(complement, no_borrow);
    let hi = b.select(negative, minus_hi, hi);
    let mid = b.select(negative, minus_mid, mid);

    let (r, low) = quarter_turns(b, hi, mid, f);
    let (minus_r, minus_low) = (b.fneg(r), b.fneg(low));
    vec![b.select(negative, minus_r, r), b.select(negative, minus_low, low), q]
}

/// Selects three words of digits. For `x = m 2^e` they begin at digit `e - 1`: earlier digits contribute whole turns.
fn digits(b: &mut BodyBuilder, field: Reg, f: Format, unit: &Unit) -> [Reg; 3] {
    let int = f.ty.as_int();
    let width = i64::from(f.ty.bits());
    let words: Vec<u64> = if f.ty == PrimType::F32 {
        unit.digits[..4].iter().flat_map(|w| [w >> 32, w & 0xffff_ffff]).collect()
    } else {
        unit.digits.to_vec()
    };
    let table: Vec<u64> = std::iter::once(0).chain(words).collect();
    let offset = b.int(int, width - 2 - f.bias - i64::from(f.mantissa));
    let start = b.iadd(field, offset);
    let log = b.int(int, width.ilog2().into());
    let word = b.ushr(start, log);
    let word = b.itrunc(word, PrimType::I32);
    let mask = b.int(int, width - 1);
    let shift = b.and(start, mask);
    let width = b.int(int, width);
    let back = b.isub(width, shift);
    let w = [0, 1, 2, 3].map(|i| {
        let i = b.int(PrimType::I32, i);
        let index = b.iadd(word, i);
        b.table(int, &table, index)
    });
    [0, 1, 2].map(|i| {
        let high = b.shl(w[i], shift);
        let low = b.ushr(w[i + 1], back);
        b.or(high, low)
    })
}

/// Converts the fraction `hi:mid` of a quarter turn to radians, as a float and a correction.
fn quarter_turns(b: &mut BodyBuilder, hi: Reg, mid: Reg, f: Format) -> (Reg, Reg) {
    let int = f.ty.as_int();
    let (width, precision) = (i64::from(f.ty.bits()), i64::from(f.mantissa) + 1);
    // Pieces from the top, each exact in a float.
    let spare = b.int(int, width - precision);
    let top = b.ushr(hi, spare);
    let rest = b.bits(int, (1 << (width - precision)) - 1);
    let rest = b.and(hi, rest);
    let up = b.int(int, 2 * precision - width);
    let rest = b.shl(rest, up);
    let down = b.int(int, 2 * (width - precision));
    let next = b.ushr(mid, down);
    let second = b.or(rest, next);
    let last = b.bits(int, (1 << (2 * (width - precision))) - 1);
    let third = b.and(mid, last);
    let piece = |b: &mut BodyBuilder, bits: Reg, exponent: i64| {
        let value = b.fromsint(bits, f.ty);
        let unit = b.float(f.ty, 2f64.powi(-exponent as i32));
        b.fmul(value, unit)
    };
    let a = piece(b, top, precision);
    let c = piece(b, second, 2 * precision);
    let d = piece(b, third, 2 * width);
    let (sum, error) = fast_two_sum(b, a, c);
    let error = b.fadd(error, d);
    let (sum, error) = fast_two_sum(b, sum, error);
    let [high_part, low_part, _] = pi_2(f.ty).map(|part| b.float(f.ty, part));
    let r = b.fmul(sum, high_part);
    let minus = b.fneg(r);
    let low = b.fma(sum, high_part, minus);
    let low = b.fma(sum, low_part, low);
    (r, b.fma(error, high_part, low))
}
