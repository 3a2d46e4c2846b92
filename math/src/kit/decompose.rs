//! The decomposition of a float for its logarithm: `x = 2^k m` with `m` in a given octave.
//!
//! There are no arithmetic shifts: few machines have them for lanes of 64 bits.

use crate::kit::util::{Format, is_not_positive_normal};
use ndjit_ir::body::{BodyBuilder, Reg};

/// The parts of a positive normal float.
#[derive(Clone, Copy)]
pub(crate) struct Decomposed {
    /// The mantissa, from `start` to twice that.
    pub m: Reg,
    /// The bits of `m` less those of `start`, and above them `k` with a bias: the highest of the lower bits give the
    /// place of `m` in the octave.
    pub above: Reg,
    f: Format,
}

/// Decomposes `x = 2^k m`, with `m` from `start`, which is near 1, to twice that. `x` is positive and normal.
pub(crate) fn decompose(b: &mut BodyBuilder, x: Reg, start: f64) -> Decomposed {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let bits = b.bitcast(x, int);
    let start = b.float(f.ty, start);
    let start = b.bitcast(start, int);
    let bias = b.int(int, bias(f) << f.mantissa);
    let above = b.isub(bits, start);
    let above = b.iadd(above, bias);
    let low = b.int(int, (1 << f.mantissa) - 1);
    let fraction = b.and(above, low);
    let m = b.iadd(fraction, start);
    Decomposed { m: b.bitcast(m, f.ty), above, f }
}

/// Returns the bias that makes exponents positive.
fn bias(f: Format) -> i64 {
    f.bias + 1
}

impl Decomposed {
    /// Returns `k` as an integer.
    pub fn exponent(self, b: &mut BodyBuilder) -> Reg {
        let int = self.f.ty.as_int();
        let shift = b.int(int, i64::from(self.f.mantissa));
        let k = b.ushr(self.above, shift);
        let bias = b.int(int, bias(self.f));
        b.isub(k, bias)
    }

    /// Returns `k` as a float. `magic` is [`Format::magic`], or that plus a number to subtract from `k`: see
    /// [`lifted`].
    pub fn exponent_from(self, b: &mut BodyBuilder, magic: Reg) -> Reg {
        let k = self.exponent(b);
        float_less(b, k, magic, self.f)
    }
}

/// Converts a small integer to a float.
pub(crate) fn small_integer(b: &mut BodyBuilder, k: Reg, f: Format) -> Reg {
    let magic = b.float(f.ty, f.magic());
    float_less(b, k, magic, f)
}

/// Converts a small integer to a float, less the excess of `magic` over [`Format::magic`]: it represents itself in the
/// low bits of `magic`.
fn float_less(b: &mut BodyBuilder, k: Reg, magic: Reg, f: Format) -> Reg {
    let plain = b.float(f.ty, f.magic());
    let plain = b.bitcast(plain, f.ty.as_int());
    let sum = b.iadd(k, plain);
    let sum = b.bitcast(sum, f.ty);
    b.fsub(sum, magic)
}

/// Scales subnormals into the normal range. Returns `(x, magic)` for [`exponent_from`](Decomposed::exponent_from). With
/// this `magic` the exponent of 0 is minus infinity, that of infinity is infinite, and that of negative numbers and NaN
/// is NaN, like their logarithms.
pub(crate) fn lifted(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg) {
    let f = Format::of(b.ty(x));
    let magic = b.float(f.ty, f.magic());
    let rare = is_not_positive_normal(b, x);
    let results = b.if_any(rare, &[x, magic], &[x], |b, x| {
        let lift = f.mantissa + 2;
        let factor = b.float(f.ty, (1u64 << lift) as f64);
        let magic = b.float(f.ty, f.magic() + f64::from(lift));
        let (zero, inf) = (b.float(f.ty, 0.0), b.float(f.ty, f64::INFINITY));
        let (minus_inf, nan) = (b.float(f.ty, f64::NEG_INFINITY), b.float(f.ty, f64::NAN));
        let (at_zero, at_inf) = (b.feq(x[0], zero), b.feq(x[0], inf));
        let positive = b.fle(zero, x[0]);
        let magic = b.select(at_zero, inf, magic);
        let magic = b.select(at_inf, minus_inf, magic);
        vec![b.fmul(x[0], factor), b.select(positive, magic, nan)]
    });
    (results[0], results[1])
}
