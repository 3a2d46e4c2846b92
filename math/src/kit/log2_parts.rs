//! The base-2 logarithm as a double-word number, accurate to about 2^-37 (`f32`) and 2^-66 (`f64`), for powers and
//! complex logarithms.
//!
//! `x = 2^k m` with `m` between 0.703 and 1.406, and `r = m c - 1` for a `c` of few bits from a table, so that `r` is
//! exact. Then `log2 x = k - log2 c + (r - r^2/2 + r^3/2 q(r)) / ln 2` with `|r| <= 1/64` (Tang 1990 reduces so; the
//! exact `r` by `fma` is that of ARM's optimized routines). The polynomials `q` are own minimax fits by a Remez
//! exchange in 240-bit arithmetic; the relative errors left in `log(1 + r)` after rounding the coefficients are 2^-38.2
//! (`f32`) and 2^-69.6 (`f64`).

use crate::kit::decompose::{decompose, lifted, small_integer};
use crate::kit::double_word::{DoubleWord, constant, product};
use crate::kit::pow_table::{ROWS, START};
use crate::kit::util::{Format, polynomial, power_of_two, two_sum};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// `1 / ln 2`, and its rounding error.
const LOG2_E: (f64, f64) = (std::f64::consts::LOG2_E, 2.0355273740931033e-17);

/// `ln 2`, and its rounding error.
const LN_2: (f64, f64) = (std::f64::consts::LN_2, 2.3190468138462996e-17);

const Q_SINGLE: &[f64] = &[0.6666666865348816, -0.5, 0.4000973701477051, -0.33340704441070557];
const Q_DOUBLE: &[f64] = &[
    0.6666666666666666,
    -0.5,
    0.4000000000018107,
    -0.3333333333338881,
    0.2857142633822341,
    -0.24999998848383864,
    0.22233076448398043,
    -0.20007792840087232,
];

/// Returns the unit of table entries: the sum of `k` and a multiple of it is exact.
fn unit(ty: PrimType) -> f64 {
    if ty == PrimType::F32 { 1.0 / (1u64 << 15) as f64 } else { 1.0 / (1u64 << 42) as f64 }
}

/// Computes the base-2 logarithm of a positive finite number.
pub(crate) fn log2_parts(b: &mut BodyBuilder, x: Reg) -> DoubleWord {
    let (x, magic) = lifted(b, x);
    log2_of_lifted(b, x, magic)
}

/// Computes the base-2 logarithm of a positive normal number, less the excess of `magic` over [`Format::magic`].
pub(crate) fn log2_of_lifted(b: &mut BodyBuilder, x: Reg, magic: Reg) -> DoubleWord {
    let f = Format::of(b.ty(x));
    let m = decompose(b, x, START);
    let k = m.exponent_from(b, magic);
    let row = table(b, m.above, f);
    let minus_one = b.float(f.ty, -1.0);
    let r = b.fma(m.m, row.c, minus_one);
    assembled(b, k, row, r, None)
}

/// Computes the natural logarithm of a positive finite number.
pub(crate) fn log_parts(b: &mut BodyBuilder, x: Reg) -> DoubleWord {
    let logarithm = log2_parts(b, x);
    let ln2 = constant(b, b.ty(x), LN_2);
    product(b, logarithm, ln2)
}

/// Computes the base-2 logarithm of `4^k (x + rest.0 + rest.1)`: `x` positive and normal, `rest` at most a few ULP of
/// it, `k` an integer register. Near 1 the result is relatively accurate.
pub(crate) fn log2_of_sum(b: &mut BodyBuilder, x: Reg, rest: DoubleWord, k: Reg) -> DoubleWord {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let m = decompose(b, x, START);
    let exponent = m.exponent(b);
    let zero = b.int(int, 0);
    let minus_k = b.isub(zero, exponent);
    let down = power_of_two(b, minus_k, f);
    let rest = (b.fmul(rest.0, down), b.fmul(rest.1, down));
    let twice = b.iadd(k, k);
    let k = b.iadd(exponent, twice);
    let k = small_integer(b, k, f);
    let row = table(b, m.above, f);
    let minus_one = b.float(f.ty, -1.0);
    let r = b.fma(m.m, row.c, minus_one);
    let more = b.fmul(rest.0, row.c);
    let (r, low) = two_sum(b, r, more);
    let low = b.fma(rest.1, row.c, low);
    assembled(b, k, row, r, Some(low))
}

/// A row of the table as floats.
#[derive(Clone, Copy)]
struct TableRow {
    c: Reg,
    /// `-log2 c` in two parts.
    high: Reg,
    low: Reg,
}

/// Selects the row of a mantissa, by its place in the octave from `above`.
fn table(b: &mut BodyBuilder, above: Reg, f: Format) -> TableRow {
    let (ty, int) = (f.ty, f.ty.as_int());
    let shift = b.int(int, i64::from(f.mantissa - ROWS.len().ilog2()));
    let index = b.ushr(above, shift);
    let mask = b.int(int, ROWS.len() as i64 - 1);
    let index = b.and(index, mask);
    let index = b.itrunc(index, PrimType::I32);
    let unit = unit(ty);
    let high = |row: &(u8, f64, f64)| (row.1 / unit).round_ties_even() * unit;
    let bits = |value: f64| {
        if ty == PrimType::F32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
    };
    let inverses: Vec<u64> = ROWS.iter().map(|row| bits(f64::from(row.0) / 64.0)).collect();
    let highs: Vec<u64> = ROWS.iter().map(|row| bits(high(row))).collect();
    let lows: Vec<u64> = ROWS.iter().map(|row| bits((row.1 - high(row)) + row.2)).collect();
    TableRow { c: b.table(ty, &inverses, index), high: b.table(ty, &highs, index), low: b.table(ty, &lows, index) }
}

/// Computes `k - log2 c + log2(1 + r + low)`.
fn assembled(b: &mut BodyBuilder, k: Reg, row: TableRow, r: Reg, low: Option<Reg>) -> DoubleWord {
    let ty = b.ty(r);
    // u + v = log(1 + r + low)
    let half = b.float(ty, 0.5);
    let half_r = b.fmul(half, r);
    let half_square = b.fmul(half_r, r);
    let minus = b.fneg(half_square);
    let error = b.fma(half_r, r, minus);
    let u = b.fsub(r, half_square);
    let gone = b.fsub(r, u);
    let v = b.fsub(gone, half_square);
    let v = b.fsub(v, error);
    let half_cube = b.fmul(half_square, r);
    let q = polynomial(b, r, if ty == PrimType::F32 { Q_SINGLE } else { Q_DOUBLE });
    let v = b.fma(half_cube, q, v);
    let v = match low {
        Some(low) => {
            let minus_r = b.fneg(r);
            let low = b.fma(minus_r, low, low);
            b.fadd(v, low)
        }
        None => v,
    };

    let log2_e = constant(b, ty, LOG2_E);
    let (p, t) = product(b, (u, v), log2_e);

    // The sum of k and row.high is exact for |k| < 2^11 (2^8 in `f32`), enough for all floats; a square may have twice
    // that. Unless the sum is 0, its exponent is not below that of p.
    let whole = b.fadd(k, row.high);
    let t = match low {
        Some(_) => {
            let high = b.fsub(whole, k);
            let lost = b.fsub(row.high, high);
            b.fadd(t, lost)
        }
        None => t,
    };
    let sum = b.fadd(whole, p);
    let left = b.fsub(whole, sum);
    let rest = b.fadd(left, p);
    let t = b.fadd(t, row.low);
    (sum, b.fadd(rest, t))
}
