//! The sign bit of a float, and its adjacent floats, in all four formats.
//!
//! The sign of a NaN is not specified, so nothing here depends on it.

use crate::kit::util::{copysign, is_nan};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::{DType, PrimType};

/// A mask that the sign bit of a number is set; false for NaN.
pub(crate) fn signbit(b: &mut BodyBuilder, x: Reg) -> Reg {
    let int = b.ty(x).as_int();
    let bits = b.bitcast(x, int);
    let zero = b.int(int, 0);
    let set = b.slt(bits, zero);
    let number = b.feq(x, x);
    b.and(set, number)
}

/// The float adjacent to `x` towards `y`, in `f32` or `f64`.
pub(crate) fn nextafter(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let ty = b.ty(x);
    let smallest = b.bits(ty, 1);
    towards(b, x, y, smallest, |b, outward| step_bits(b, x, outward, 1))
}

/// The half adjacent to `x` towards `y`, both halves.
pub(crate) fn nextafter_half(b: &mut BodyBuilder, x: Reg, y: Reg, dtype: DType) -> Reg {
    if dtype == DType::F16 {
        let smallest = b.float(PrimType::F32, F16_UNIT);
        return towards(b, x, y, smallest, |b, outward| step_f16(b, x, outward));
    }
    // A bf16 is the upper half of an f32, in all its ranges.
    let smallest = b.bits(PrimType::F32, BF16_UNIT as u64);
    towards(b, x, y, smallest, |b, outward| step_bits(b, x, outward, BF16_UNIT))
}

const BF16_UNIT: i64 = 1 << 16;

/// The smallest `f16`, the spacing of those below 2^-13.
const F16_UNIT: f64 = 1.0 / (1 << 24) as f64;

/// The rules of every format. `step` moves a nonzero `x` by one, away from zero if its operand is true.
fn towards(b: &mut BodyBuilder, x: Reg, y: Reg, smallest: Reg, step: impl FnOnce(&mut BodyBuilder, Reg) -> Reg) -> Reg {
    let ty = b.ty(x);
    let zero = b.float(ty, 0.0);
    let (up, negative) = (b.flt(x, y), b.flt(x, zero));
    let outward = b.xor(up, negative);
    let moved = step(b, outward);
    let from_zero = copysign(b, smallest, y);
    let at_zero = b.feq(x, zero);
    let moved = b.select(at_zero, from_zero, moved);
    let equal = b.feq(x, y);
    let moved = b.select(equal, y, moved);
    let (x_nan, y_nan) = (is_nan(b, x), is_nan(b, y));
    let unordered = b.or(x_nan, y_nan);
    let nan = b.float(ty, f64::NAN);
    b.select(unordered, nan, moved)
}

/// A float's bits are ordered by magnitude; infinity follows the largest.
fn step_bits(b: &mut BodyBuilder, x: Reg, outward: Reg, unit: i64) -> Reg {
    let ty = b.ty(x);
    let int = ty.as_int();
    let bits = b.bitcast(x, int);
    let (plus, minus) = (b.int(int, unit), b.int(int, -unit));
    let unit = b.select(outward, plus, minus);
    let bits = b.iadd(bits, unit);
    b.bitcast(bits, ty)
}

/// An `f16` has 13 bits below its last one as an `f32`, except for the subnormals, which are equally spaced, and for
/// infinity.
fn step_f16(b: &mut BodyBuilder, x: Reg, outward: Reg) -> Reg {
    let ty = PrimType::F32;
    let magnitude = b.fabs(x);
    let normal = step_bits(b, magnitude, outward, 1 << 13);
    let (largest, inf) = (b.float(ty, 65504.0), b.float(ty, f64::INFINITY));
    let beyond = b.flt(largest, normal);
    let limit = b.select(outward, inf, largest);
    let normal = b.select(beyond, limit, normal);
    let (plus, minus) = (b.float(ty, F16_UNIT), b.float(ty, -F16_UNIT));
    let unit = b.select(outward, plus, minus);
    let small = b.fadd(magnitude, unit);
    let least_normal = b.float(ty, 1.0 / f64::from(1 << 14));
    let is_small = b.fle(magnitude, least_normal);
    let moved = b.select(is_small, small, normal);
    copysign(b, moved, x)
}
