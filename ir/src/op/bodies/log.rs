//! Natural logarithm on `f32` and `f64`.
//!
//! `x = 2^k m` with `m` between `sqrt(1/2)` and `sqrt 2`, `f = m - 1`. `f32`: `log(1 + f) = f - f^2/2 + f^3 p(f)`. `f64`, with
//! `s = f / (2 + f)`: `log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 r(s^2))`, the form of Sun's fdlibm. Both polynomials are own
//! minimax fits by a Remez exchange in 200-bit arithmetic, weighted for the relative error of `log(1 + f)`, which is 2^-28.3
//! and 2^-58.9 after rounding the coefficients.

use super::util::{Format, polynomial};
use crate::body::{BodyBuilder, Reg};
use crate::dtype::PrimType;

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

/// Natural logarithm of `x`.
pub(super) fn log(b: &mut BodyBuilder, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let (k, fraction) = decomposed(b, x, f);
    let result = if f.ty == PrimType::F32 { single(b, k, fraction) } else { double(b, k, fraction) };
    let (zero, inf) = (b.float(f.ty, 0.0), b.float(f.ty, f64::INFINITY));
    let finite = b.flt(x, inf);
    let result = b.select(finite, result, x);
    let at_zero = b.feq(x, zero);
    let minus_inf = b.float(f.ty, f64::NEG_INFINITY);
    let result = b.select(at_zero, minus_inf, result);
    let negative = b.flt(x, zero);
    let nan = b.float(f.ty, f64::NAN);
    b.select(negative, nan, result)
}

/// `(k, m - 1)` of a positive finite `x`, both floats.
fn decomposed(b: &mut BodyBuilder, x: Reg, f: Format) -> (Reg, Reg) {
    let int = f.ty.as_int();
    let smallest_normal = b.float(f.ty, 2f64.powi(1 - f.bias as i32));
    let subnormal = b.flt(x, smallest_normal);
    let lift = i64::from(f.mantissa) + 2;
    let factor = b.float(f.ty, (1u64 << lift) as f64);
    let lifted = b.fmul(x, factor);
    let x = b.select(subnormal, lifted, x);
    let bits = b.bitcast(x, int);
    let root = b.float(f.ty, std::f64::consts::FRAC_1_SQRT_2);
    let root = b.bitcast(root, int);
    let above = b.isub(bits, root);
    let shift = b.int(int, i64::from(f.mantissa));
    let k = b.sshr(above, shift);
    let field = b.shl(k, shift);
    let bits = b.isub(bits, field);
    let m = b.bitcast(bits, f.ty);
    let one = b.float(f.ty, 1.0);
    let fraction = b.fsub(m, one);
    let (zero, lift) = (b.int(int, 0), b.int(int, lift));
    let lifted_by = b.select(subnormal, lift, zero);
    let k = b.isub(k, lifted_by);
    // A small integer in the low bits of 1.5 * 2^mantissa; subtracting that leaves it as a float.
    let magic = b.float(f.ty, f.magic());
    let magic_bits = b.bitcast(magic, int);
    let k = b.iadd(k, magic_bits);
    let k = b.bitcast(k, f.ty);
    (b.fsub(k, magic), fraction)
}

fn single(b: &mut BodyBuilder, k: Reg, f: Reg) -> Reg {
    let ty = b.ty(f);
    let p = polynomial(b, f, P_SINGLE);
    let square = b.fmul(f, f);
    let cube = b.fmul(square, f);
    let y = b.fmul(cube, p);
    let ln2_low = b.float(ty, 1.428606765330187e-06);
    let y = b.fma(k, ln2_low, y);
    let minus_half = b.float(ty, -0.5);
    let minus_half_f = b.fmul(minus_half, f);
    let y = b.fma(minus_half_f, f, y);
    let sum = b.fadd(f, y);
    let ln2_high = b.float(ty, 0.693145751953125);
    b.fma(k, ln2_high, sum)
}

fn double(b: &mut BodyBuilder, k: Reg, f: Reg) -> Reg {
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
    let inner = b.fmul(s, inner);
    let ln2_low = b.float(ty, 1.9082149292705877e-10);
    let inner = b.fma(k, ln2_low, inner);
    let rest = b.fsub(half_square, inner);
    let sum = b.fsub(f, rest);
    let ln2_high = b.float(ty, 0.6931471803691238);
    b.fma(k, ln2_high, sum)
}
