//! Logarithms to the bases e, 2 and 10 on `f32` and `f64`, and the core of `log1p` and the inverse hyperbolic functions.
//!
//! `x = 2^k m` with `m` between `sqrt(1/2)` and `sqrt 2`, `f = m - 1`. `f32`: `log(1 + f) = f - f^2/2 + f^3 p(f)`. `f64`, with
//! `s = f / (2 + f)`: `log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 r(s^2))`, the form of Sun's fdlibm. Both polynomials are own
//! minimax fits by a Remez exchange in 200-bit arithmetic, weighted for the relative error of `log(1 + f)`, which is 2^-28.3
//! and 2^-58.9 after rounding the coefficients.
//!
//! The other bases multiply the unrounded sum of `f` and the rest, in two floats, by a factor in two floats, and add
//! `k log 2` with the error of that sum: `log2` of powers of two and `log10` of powers of ten are exact.

use crate::kit::decompose::{decompose, lifted};
use crate::kit::double_word::times_constant;
use crate::kit::util::{LOG10_2_DOUBLE, LOG10_2_SINGLE, fast_two_sum, is_inf, ln2, polynomial};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

const P_SINGLE: &[f64] = &[
    0.3333331346511841,
    -0.25000008940696716,
    0.2000211924314499,
    -0.1666799634695053,
    0.14219553768634796,
    -0.1240558996796608,
    0.11888153105974197,
    -0.11675631254911423,
    0.06746625900268555,
];

const R_DOUBLE: &[f64] = &[
    0.6666666666666734,
    0.399999999994143,
    0.2857142874247897,
    0.22222198563131837,
    0.18183564883178302,
    0.1531403543691255,
    0.14796109336156382,
];

/// A base other than e.
struct LogBase {
    /// `1 / ln(base)`, and its rounding error in the format.
    factor: (f64, f64),
    /// `log 2` to the base in two parts, of which the first times an exponent is exact; none if it is 1.
    log2: Option<(f64, f64)>,
}

const TWO_SINGLE: LogBase = LogBase { factor: (1.4426950216293335, 1.925963033500011e-08), log2: None };
const TWO_DOUBLE: LogBase = LogBase { factor: (std::f64::consts::LOG2_E, 2.0355273740931033e-17), log2: None };
const TEN_SINGLE: LogBase =
    LogBase { factor: (0.4342944920063019, -1.0103049952192578e-08), log2: Some(LOG10_2_SINGLE) };
const TEN_DOUBLE: LogBase =
    LogBase { factor: (std::f64::consts::LOG10_E, 1.098319650216765e-17), log2: Some(LOG10_2_DOUBLE) };

/// Natural logarithm of `x`.
pub(crate) fn log(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (lifted, magic) = lifted(b, x);
    let (k, f) = decomposed(b, lifted, magic);
    let (ln2_high, ln2_low) = ln2(ty);
    let ln2_low = b.float(ty, ln2_low);
    let low = b.fmul(k, ln2_low);
    let rest = rest_of_log(b, f, low);
    let sum = b.fadd(f, rest);
    let ln2_high = b.float(ty, ln2_high);
    b.fma(k, ln2_high, sum)
}

/// Logarithm of `x` to base 2.
pub(crate) fn log2(b: &mut BodyBuilder, x: Reg) -> Reg {
    let base = base_2(b.ty(x));
    to_base(b, x, base)
}

fn base_2(ty: PrimType) -> &'static LogBase {
    if ty == PrimType::F32 { &TWO_SINGLE } else { &TWO_DOUBLE }
}

/// Logarithm of `x` to base 10.
pub(crate) fn log10(b: &mut BodyBuilder, x: Reg) -> Reg {
    let base = if b.ty(x) == PrimType::F32 { TEN_SINGLE } else { TEN_DOUBLE };
    to_base(b, x, &base)
}

fn to_base(b: &mut BodyBuilder, x: Reg, base: &LogBase) -> Reg {
    let ty = b.ty(x);
    let (lifted, magic) = lifted(b, x);
    let (k, f) = decomposed(b, lifted, magic);
    let zero = b.float(ty, 0.0);
    let rest = rest_of_log(b, f, zero);
    let (sum, error) = parts_to_base(b, k, (f, rest), base);
    let result = b.fadd(sum, error);
    // An infinite exponent leaves a NaN of the error.
    let infinite = is_inf(b, k);
    b.select(infinite, k, result)
}

/// `k log 2` to the base plus the natural logarithm `f + rest` times the factor, as an unrounded sum of two floats; `|f| >= |rest|`.
fn parts_to_base(b: &mut BodyBuilder, k: Reg, (f, rest): (Reg, Reg), base: &LogBase) -> (Reg, Reg) {
    let ty = b.ty(f);
    let (high, low) = fast_two_sum(b, f, rest);
    let (product, error) = times_constant(b, (high, low), base.factor);
    let (whole, error) = match base.log2 {
        Some((high, low)) => {
            let (high, low) = (b.float(ty, high), b.float(ty, low));
            (b.fmul(k, high), b.fma(k, low, error))
        }
        None => (k, error),
    };
    // |k log 2| is larger unless k = 0.
    let (sum, lost) = fast_two_sum(b, whole, product);
    (sum, b.fadd(error, lost))
}

/// Like `parts_to_base`, for base 2.
pub(crate) fn parts_to_base_2(b: &mut BodyBuilder, k: Reg, parts: (Reg, Reg)) -> (Reg, Reg) {
    let base = base_2(b.ty(k));
    parts_to_base(b, k, parts, base)
}

/// `(k, m - 1)` of a positive normal `x`, both floats.
fn decomposed(b: &mut BodyBuilder, x: Reg, magic: Reg) -> (Reg, Reg) {
    let parts = decompose(b, x, std::f64::consts::FRAC_1_SQRT_2);
    let one = b.float(b.ty(x), 1.0);
    (parts.exponent_from(b, magic), b.fsub(parts.m, one))
}

/// `log(1 + f) - f + low` for `1 + f` between `sqrt(1/2)` and `sqrt 2`.
pub(crate) fn rest_of_log(b: &mut BodyBuilder, f: Reg, low: Reg) -> Reg {
    if b.ty(f) == PrimType::F32 { rest_single(b, f, low) } else { rest_double(b, f, low) }
}

fn rest_single(b: &mut BodyBuilder, f: Reg, low: Reg) -> Reg {
    let ty = b.ty(f);
    let p = polynomial(b, f, P_SINGLE);
    let square = b.fmul(f, f);
    let cube = b.fmul(square, f);
    let y = b.fma(cube, p, low);
    let minus_half = b.float(ty, -0.5);
    let minus_half_f = b.fmul(minus_half, f);
    b.fma(minus_half_f, f, y)
}

fn rest_double(b: &mut BodyBuilder, f: Reg, low: Reg) -> Reg {
    let ty = b.ty(f);
    let two = b.float(ty, 2.0);
    let divisor = b.fadd(two, f);
    let s = b.fdiv(f, divisor);
    let z = b.fmul(s, s);
    let r = polynomial(b, z, R_DOUBLE);
    let half = b.float(ty, 0.5);
    let half_f = b.fmul(half, f);
    let half_square = b.fmul(half_f, f);
    let inner = b.fma(z, r, half_square);
    let inner = b.fma(s, inner, low);
    b.fsub(inner, half_square)
}
