//! Bodies of ops on `f16` and `bf16`, and rounding an `f32` to a half.
//!
//! Sums, roots and quotients of `p`-bit numbers rounded to 24 bits and again to `p <= 11` bits are correctly rounded, since
//! `24 >= 2p + 2`; products are exact in `f32`. That is true for the subnormals of `f32` too: a `bf16` product of 2^-134 or
//! more has its last bit at 2^-149 or above, and a quotient stays 2^-142 away from the ties of `bf16`. Only multiply-add needs care:
//! it rounds to odd first.

use crate::emitter::ScalarEmitter;
use crate::kinds::float;
use crate::kit::util::{copysign, is_nan, two_sum};
use crate::real::{finite, float_parts};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::{DType, PrimType};
use ndjit_ir::op::{Op, ResultRule};

const F32: PrimType = PrimType::F32;
const I32: PrimType = PrimType::I32;

/// The method of an op on `f32` registers with halves.
#[derive(Clone, Copy)]
enum Method {
    /// Like `f32`: the result is a half, or not a float.
    Same(ScalarEmitter),
    /// Like `f32`, then rounded.
    Rounded(ScalarEmitter),
    /// A separate body with its own rounding.
    Own,
}

const fn method(op: Op) -> Option<Method> {
    let Some(float) = float::op(op) else { return None };
    Some(match op {
        Op::MulAdd | Op::Nextafter | Op::NanToNum => Method::Own,
        Op::Negative
        | Op::Positive
        | Op::Copysign
        | Op::Abs
        | Op::Sign
        | Op::Minimum
        | Op::Maximum
        | Op::Fmin
        | Op::Fmax
        | Op::Clip
        | Op::Relu
        | Op::Heaviside
        | Op::Floor
        | Op::Ceil
        | Op::Conj
        | Op::Real
        | Op::Imag
        | Op::Trunc
        | Op::Round
        | Op::Rint
        | Op::FrexpMantissa
        | Op::ModfFraction
        | Op::ModfInteger => Method::Same(float),
        _ if matches!(op.row().result, ResultRule::Bool | ResultRule::Int32) => Method::Same(float),
        _ => Method::Rounded(float),
    })
}

/// Returns `true` if `op` has a body on halves.
pub(crate) const fn has(op: Op) -> bool {
    method(op).is_some()
}

/// Emits `op` on `f32` registers with halves.
pub(crate) fn emit(b: &mut BodyBuilder, op: Op, dtype: DType, args: &[Reg]) -> Option<Reg> {
    Some(match method(op)? {
        Method::Same(float) => float.emit(b, args),
        Method::Rounded(float) => {
            let wide = float.emit(b, args);
            round(b, wide, dtype)
        }
        Method::Own if op == Op::Nextafter => float_parts::nextafter_half(b, args[0], args[1], dtype),
        Method::Own if op == Op::NanToNum => finite::nan_to_num(b, args[0], dtype),
        Method::Own if dtype == DType::Bf16 => mul_add_bf16(b, args[0], args[1], args[2]),
        Method::Own => mul_add_f16(b, args[0], args[1], args[2]),
    })
}

/// The half nearest to an `f32`, ties to even, as an `f32`; NaN becomes the canonical one.
pub(crate) fn round(b: &mut BodyBuilder, x: Reg, dtype: DType) -> Reg {
    let rounded = if dtype == DType::F16 { round_f16(b, x) } else { round_bf16(b, x) };
    let nan = is_nan(b, x);
    let canonical = b.float(F32, f64::NAN);
    b.select(nan, canonical, rounded)
}

/// Rounds integer `bits` to a multiple of `2^drop`, ties to even.
fn round_bits(b: &mut BodyBuilder, bits: Reg, drop: u32) -> Reg {
    let shift = b.int(I32, i64::from(drop));
    let one = b.int(I32, 1);
    let last = b.ushr(bits, shift);
    let last = b.and(last, one);
    let below_half = b.int(I32, (1 << (drop - 1)) - 1);
    let bits = b.iadd(bits, below_half);
    let bits = b.iadd(bits, last);
    let keep = b.int(I32, -1 << drop);
    b.and(bits, keep)
}

/// `bf16` is the upper half of an `f32`, in all its ranges; a carry out of the largest gives infinity.
fn round_bf16(b: &mut BodyBuilder, x: Reg) -> Reg {
    let bits = b.bitcast(x, I32);
    let bits = round_bits(b, bits, 16);
    b.bitcast(bits, F32)
}

fn round_f16(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ax = b.fabs(x);
    let bits = b.bitcast(ax, I32);
    let normal = round_bits(b, bits, 13);
    let largest = b.bits(I32, 0x477f_e000);
    let inf = b.bits(I32, 0x7f80_0000);
    let overflow = b.slt(largest, normal);
    let normal = b.select(overflow, inf, normal);
    let normal = b.bitcast(normal, F32);
    // Adding 0.75 leaves units of 2^-24, the smallest f16.
    let magic = b.float(F32, 0.75);
    let subnormal = b.fadd(ax, magic);
    let subnormal = b.fsub(subnormal, magic);
    let smallest_normal = b.bits(I32, 0x3880_0000);
    let small = b.slt(bits, smallest_normal);
    let magnitude = b.select(small, subnormal, normal);
    copysign(b, magnitude, x)
}

const SCALE: f64 = (1u128 << 100) as f64;

/// Moves `value`, the float nearest to an exact value, to the adjacent float with an odd last bit if the exact value is
/// `above` or `below` it in magnitude. Rounding the result to 22 or fewer bits is rounding the exact value.
pub(crate) fn to_odd(b: &mut BodyBuilder, value: Reg, above: Reg, below: Reg) -> Reg {
    let bits = b.bitcast(value, I32);
    let (zero, one, minus_one) = (b.int(I32, 0), b.int(I32, 1), b.int(I32, -1));
    let step = b.select(below, minus_one, zero);
    let step = b.select(above, one, step);
    let moved = b.iadd(bits, step);
    let last = b.and(bits, one);
    let odd = b.ine(last, zero);
    let bits = b.select(odd, bits, moved);
    b.bitcast(bits, F32)
}

/// The product is exact and so is the error of the sum (Knuth's TwoSum), so the sum can be rounded to odd.
fn mul_add_f16(b: &mut BodyBuilder, x: Reg, y: Reg, z: Reg) -> Reg {
    let product = b.fmul(x, y);
    let (sum, error) = two_sum(b, product, z);
    let zero = b.float(F32, 0.0);
    let positive = b.flt(zero, error);
    let negative = b.flt(error, zero);
    let down = b.flt(sum, zero);
    let up = b.flt(zero, sum);
    let above = outward(b, up, positive, down, negative);
    let below = outward(b, up, negative, down, positive);
    let odd = to_odd(b, sum, above, below);
    round(b, odd, DType::F16)
}

/// A mask that the error points away from zero: `up` and `plus`, or `down` and `minus`.
fn outward(b: &mut BodyBuilder, up: Reg, plus: Reg, down: Reg, minus: Reg) -> Reg {
    let positive = b.and(up, plus);
    let negative = b.and(down, minus);
    b.or(positive, negative)
}

/// Rounding the `f32` result again is wrong only if it is halfway between two `bf16` without being exact. A cold path then
/// finds the side of the exact value.
fn mul_add_bf16(b: &mut BodyBuilder, x: Reg, y: Reg, z: Reg) -> Reg {
    let nearest = b.fma(x, y, z);
    let bits = b.bitcast(nearest, I32);
    let low = b.bits(I32, 0xffff);
    let dropped = b.and(bits, low);
    let half = b.bits(I32, 0x8000);
    let tie = b.ieq(dropped, half);
    let odd = b.if_any(tie, &[nearest], &[x, y, z, nearest], |b, args| {
        vec![break_tie_bf16(b, args[0], args[1], args[2], args[3])]
    })[0];
    round(b, odd, DType::Bf16)
}

/// Moves `r`, the `f32` nearest to `x * y + z` with all but the highest of its low 16 bits zero, to the side of the exact
/// value. The sign of `x * y + z - r` is that of `x * y - w - v` with `w + v = r - z` exactly. All are scaled by the same
/// power of two, 2^-15 (exact for 16 zero bits, no overflow) or for small `r` 2^100 (no underflow).
fn break_tie_bf16(b: &mut BodyBuilder, x: Reg, y: Reg, z: Reg, r: Reg) -> Reg {
    let (ax, ay, ar) = (b.fabs(x), b.fabs(y), b.fabs(r));
    let threshold = b.float(F32, 1.0 / f64::from(1 << 20));
    let small = b.flt(ar, threshold);
    let up = b.float(F32, SCALE);
    let down = b.float(F32, 1.0 / f64::from(1 << 15));
    let scale = b.select(small, up, down);
    let swap = b.flt(ay, ax);
    let smaller = b.select(swap, y, x);
    let larger = b.select(swap, x, y);
    let smaller = b.fmul(smaller, scale);
    let scaled_z = b.fmul(z, scale);
    let scaled_r = b.fmul(r, scale);
    let minus_z = b.fneg(scaled_z);
    let (w, v) = two_sum(b, scaled_r, minus_z);
    let minus_w = b.fneg(w);
    let rest = b.fma(smaller, larger, minus_w);
    let zero = b.float(F32, 0.0);
    let positive = b.flt(v, rest);
    let negative = b.flt(rest, v);
    let (r_up, r_down) = (b.flt(zero, r), b.flt(r, zero));
    let above = outward(b, r_up, positive, r_down, negative);
    let below = outward(b, r_up, negative, r_down, positive);
    to_odd(b, r, above, below)
}
