//! Exponential and hyperbolic tangent on `f32` and `f64`.
//!
//! `x = k ln 2 + r` with `|r| <= ln(2)/2` (Cody and Waite, `ln 2` in two parts of which the first times `k` is exact), then
//! `e^r - 1 = r + r^2 q(r)`. The polynomials `q` are own minimax fits: a Remez exchange in 200-bit arithmetic on
//! `(e^r - 1 - r) / r^2` over `|r| <= 0.34661`, weighted with `r^2 / (e^r - 1)`, each coefficient then rounded to the format;
//! the largest relative error left in `e^r - 1` is 2^-28.3 (`f32`) and 2^-56.2 (`f64`).

use super::util::{Format, copysign, polynomial, power_of_two};
use crate::body::{BodyBuilder, Reg};
use crate::dtype::PrimType;

/// `1 / ln 2`.
const LOG2_E: f64 = std::f64::consts::LOG2_E;

/// What depends on the format: `ln 2` in two parts, the polynomial, the clamps beyond which results do not change.
struct Constants {
    ln2_high: f64,
    ln2_low: f64,
    q: &'static [f64],
    /// Above, `e^x` is infinite.
    largest: f64,
    /// Below, `e^x` is 0.
    smallest: f64,
    /// Above, `tanh` is 1.
    tanh_one: f64,
}

const SINGLE: Constants = Constants {
    ln2_high: 0.693145751953125,
    ln2_low: 1.428606765330187e-06,
    q: &[
        0.5,
        0.1666666716337204,
        0.04166632518172264,
        0.008333220146596432,
        0.0013943208614364266,
        0.0001996218488784507,
    ],
    largest: 89.0,
    smallest: -104.5,
    tanh_one: 10.0,
};

const DOUBLE: Constants = Constants {
    ln2_high: 0.6931471803691238,
    ln2_low: 1.9082149292705877e-10,
    q: &[
        0.5000000000000001,
        0.1666666666666667,
        0.04166666666665229,
        0.008333333333326153,
        0.0013888888895597134,
        0.00019841269874765812,
        2.4801574538112827e-05,
        2.755725546096703e-06,
        2.7567927136823274e-07,
        2.510519452187155e-08,
        1.7687748130284484e-09,
    ],
    largest: 710.0,
    smallest: -746.0,
    tanh_one: 20.0,
};

fn constants(ty: PrimType) -> &'static Constants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

/// e to the power `x`.
pub(super) fn exp(b: &mut BodyBuilder, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let c = constants(f.ty);
    let (largest, smallest) = (b.float(f.ty, c.largest), b.float(f.ty, c.smallest));
    let x = b.fmin(x, largest);
    let x = b.fmax(x, smallest);
    let (k, e) = reduced(b, x);
    let one = b.float(f.ty, 1.0);
    let power = b.fadd(e, one);
    // 2^k may lie outside the format, each half of it does not; only the second product can round.
    let one = b.int(int, 1);
    let half = b.sshr(k, one);
    let rest = b.isub(k, half);
    let half = power_of_two(b, half, f);
    let rest = power_of_two(b, rest, f);
    let scaled = b.fmul(power, half);
    b.fmul(scaled, rest)
}

/// Hyperbolic tangent: with `t = e^(2|x|) - 1` it is `t / (t + 2)`.
pub(super) fn tanh(b: &mut BodyBuilder, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let c = constants(f.ty);
    let magnitude = b.fabs(x);
    let limit = b.float(f.ty, c.tanh_one);
    let magnitude = b.fmin(magnitude, limit);
    let twice = b.fadd(magnitude, magnitude);
    let (k, e) = reduced(b, twice);
    let power = power_of_two(b, k, f);
    let one = b.float(f.ty, 1.0);
    let less = b.fsub(power, one);
    let t = b.fma(power, e, less);
    let two = b.float(f.ty, 2.0);
    let divisor = b.fadd(t, two);
    let quotient = b.fdiv(t, divisor);
    copysign(b, quotient, x)
}

/// `(k, e^r - 1)` with `x = k ln 2 + r`, `k` an integer register.
fn reduced(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg) {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let c = constants(f.ty);
    // Adding 1.5 * 2^mantissa rounds to an integer and leaves it in the low bits.
    let magic = b.float(f.ty, f.magic());
    let log2_e = b.float(f.ty, LOG2_E);
    let shifted = b.fma(x, log2_e, magic);
    let whole = b.fsub(shifted, magic);
    let minus_high = b.float(f.ty, -c.ln2_high);
    let minus_low = b.float(f.ty, -c.ln2_low);
    let r = b.fma(whole, minus_high, x);
    let r = b.fma(whole, minus_low, r);
    let q = polynomial(b, r, c.q);
    let square = b.fmul(r, r);
    let e = b.fma(square, q, r);
    let bits = b.bitcast(shifted, int);
    let magic_bits = b.bitcast(magic, int);
    (b.isub(bits, magic_bits), e)
}
