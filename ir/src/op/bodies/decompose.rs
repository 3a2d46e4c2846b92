//! A float taken apart for its logarithm: `x = 2^k m` with `m` in an octave of the caller's choice.

use super::util::{Format, is_normal};
use crate::body::{BodyBuilder, Reg};

/// The parts of a positive float.
pub(super) struct Decomposed {
    /// The exponent, a float.
    pub k: Reg,
    /// The mantissa, from `start` to twice that.
    pub m: Reg,
    /// The bits of `m` less those of `start`, and above them an exponent: what stands highest among the lower bits tells where in
    /// the octave `m` lies.
    pub above: Reg,
}

/// `x = 2^k m` with `m` from `start` to twice that, which is near 1, for a positive normal `x`; `magic` is [`Format::magic`], or
/// that plus what is to be taken from `k`.
///
/// Nothing is shifted arithmetically: most machines cannot do that to lanes of 64 bits.
pub(super) fn decompose(b: &mut BodyBuilder, x: Reg, start: f64, magic: Reg) -> Decomposed {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let bits = b.bitcast(x, int);
    let start = b.float(f.ty, start);
    let start = b.bitcast(start, int);
    // Exponents become positive by a bias.
    let bias = b.int(int, (f.bias + 1) << f.mantissa);
    let above = b.isub(bits, start);
    let above = b.iadd(above, bias);
    let low = b.int(int, (1 << f.mantissa) - 1);
    let fraction = b.and(above, low);
    let m = b.iadd(fraction, start);
    let m = b.bitcast(m, f.ty);
    // A small integer in the low bits of 1.5 * 2^mantissa; subtracting that leaves it as a float.
    let shift = b.int(int, i64::from(f.mantissa));
    let k = b.ushr(above, shift);
    let plain = b.float(f.ty, f.magic());
    let plain = b.bitcast(plain, int);
    let bias = b.int(int, f.bias + 1);
    let plain = b.isub(plain, bias);
    let k = b.iadd(k, plain);
    let k = b.bitcast(k, f.ty);
    Decomposed { k: b.fsub(k, magic), m, above }
}

/// The exponent `k` of a positive normal `x`, an integer: `2^-k x` is from `start` to twice that.
pub(super) fn exponent(b: &mut BodyBuilder, x: Reg, start: f64) -> Reg {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let bits = b.bitcast(x, int);
    let start = b.float(f.ty, start);
    let start = b.bitcast(start, int);
    let bias = b.int(int, (f.bias + 1) << f.mantissa);
    let above = b.isub(bits, start);
    let above = b.iadd(above, bias);
    let shift = b.int(int, i64::from(f.mantissa));
    let k = b.ushr(above, shift);
    let bias = b.int(int, f.bias + 1);
    b.isub(k, bias)
}

/// What is not a positive normal number, as a mask, with subnormals lifted out of their range: `(rare, x, magic)` for
/// [`decompose`].
pub(super) fn lifted(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg, Reg) {
    let f = Format::of(b.ty(x));
    let magic = b.float(f.ty, f.magic());
    let normal = is_normal(b, x);
    let rare = b.not(normal);
    let results = b.if_any(rare, &[x, magic], &[x], |b, x| {
        let lift = f.mantissa + 2;
        let factor = b.float(f.ty, (1u64 << lift) as f64);
        let magic = b.float(f.ty, f.magic() + f64::from(lift));
        vec![b.fmul(x[0], factor), magic]
    });
    (rare, results[0], results[1])
}
