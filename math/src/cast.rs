//! Casts between all dtypes, loads from stored words to registers, and stores.
//!
//! Every cast rounds at most once, from the exact value, to nearest even. Floats become integers by truncation, saturating,
//! NaN to 0; anything nonzero (NaN too) becomes true; a complex number becomes real by losing its imaginary part; integers
//! become narrower by wrapping.

use crate::kinds::half::{round, to_odd};
use crate::kit::util::is_nan;
use ndjit_ir::body::{Body, BodyBuilder, Reg};
use ndjit_ir::dtype::{DType, Kind, PrimType};

/// The body of a cast: `repr` registers of `from` to those of `to`.
pub fn cast_body(from: DType, to: DType) -> Body {
    let mut b = BodyBuilder::new(from.repr());
    let x = b.inputs();
    let outputs = match (from.kind(), to.kind()) {
        _ if from == to => x,
        (Kind::Complex, Kind::Complex) => {
            let target = to.repr()[0];
            vec![resize(&mut b, x[0], target), resize(&mut b, x[1], target)]
        }
        (_, Kind::Complex) => {
            let re = real(&mut b, x[0], from, to.real());
            let im = b.float(to.repr()[0], 0.0);
            vec![re, im]
        }
        (Kind::Complex, Kind::Bool) => {
            let (re, im) = (real(&mut b, x[0], from.real(), to), real(&mut b, x[1], from.real(), to));
            vec![b.or(re, im)]
        }
        (Kind::Complex, Kind::UInt | Kind::Int | Kind::Float) => vec![real(&mut b, x[0], from.real(), to)],
        (Kind::Bool | Kind::UInt | Kind::Int | Kind::Float, Kind::Bool | Kind::UInt | Kind::Int | Kind::Float) => {
            vec![real(&mut b, x[0], from, to)]
        }
    };
    b.finish(&outputs)
}

/// From a stored element to registers: `storage` words in, `repr` registers out.
pub fn load_body(dtype: DType) -> Body {
    let mut b = BodyBuilder::new(dtype.storage());
    let x = b.inputs();
    let outputs = match dtype {
        DType::Bool => {
            let zero = b.int(PrimType::I8, 0);
            vec![b.ine(x[0], zero)]
        }
        DType::Bf16 => {
            let wide = b.zext(x[0], PrimType::I32);
            let shift = b.int(PrimType::I32, 16);
            let bits = b.shl(wide, shift);
            vec![b.bitcast(bits, PrimType::F32)]
        }
        DType::F16 => vec![load_f16(&mut b, x[0])],
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => x,
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => x,
    };
    b.finish(&outputs)
}

/// From registers to a stored element: `repr` registers in, `storage` words out. A half's NaN is stored as the canonical one.
pub fn store_body(dtype: DType) -> Body {
    let mut b = BodyBuilder::new(dtype.repr());
    let x = b.inputs();
    let outputs = match dtype {
        DType::Bool => vec![b.mask(x[0], PrimType::I8)],
        DType::Bf16 => {
            let nan = is_nan(&mut b, x[0]);
            let canonical = b.float(PrimType::F32, f64::NAN);
            let value = b.select(nan, canonical, x[0]);
            let bits = b.bitcast(value, PrimType::I32);
            let shift = b.int(PrimType::I32, 16);
            let high = b.ushr(bits, shift);
            vec![b.itrunc(high, PrimType::I16)]
        }
        DType::F16 => vec![store_f16(&mut b, x[0])],
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => x,
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => x,
    };
    b.finish(&outputs)
}

/// The exponent field moves up by 112; subnormals are integers times 2^-24.
fn load_f16(b: &mut BodyBuilder, stored: Reg) -> Reg {
    let (i32, f32) = (PrimType::I32, PrimType::F32);
    let wide = b.zext(stored, i32);
    let low = b.bits(i32, 0x7fff);
    let magnitude = b.and(wide, low);
    let shift = b.int(i32, 13);
    let aligned = b.shl(magnitude, shift);
    let rebias = b.bits(i32, 112 << 23);
    let normal = b.iadd(aligned, rebias);
    // Infinity and NaN have all exponent bits set.
    let special = b.or(aligned, rebias);
    let exponent_ones = b.bits(i32, 0x7f80_0000);
    let special = b.or(special, exponent_ones);
    let first_special = b.int(i32, 0x7c00);
    let finite = b.slt(magnitude, first_special);
    let normal = b.select(finite, normal, special);
    let unit = b.float(f32, 1.0 / f64::from(1 << 24));
    let subnormal = b.fromsint(magnitude, f32);
    let subnormal = b.fmul(subnormal, unit);
    let subnormal = b.bitcast(subnormal, i32);
    let first_normal = b.int(i32, 0x400);
    let small = b.slt(magnitude, first_normal);
    let bits = b.select(small, subnormal, normal);
    let sign = b.bits(i32, 0x8000);
    let sign = b.and(wide, sign);
    let to_top = b.int(i32, 16);
    let sign = b.shl(sign, to_top);
    let bits = b.or(bits, sign);
    b.bitcast(bits, f32)
}

fn store_f16(b: &mut BodyBuilder, x: Reg) -> Reg {
    let (i32, f32) = (PrimType::I32, PrimType::F32);
    let magnitude = b.fabs(x);
    let bits = b.bitcast(magnitude, i32);
    let rebias = b.bits(i32, 112 << 23);
    let normal = b.isub(bits, rebias);
    let shift = b.int(i32, 13);
    let normal = b.ushr(normal, shift);
    let units = b.float(f32, f64::from(1 << 24));
    let subnormal = b.fmul(magnitude, units);
    let subnormal = b.tosint(subnormal, i32);
    let first_normal = b.bits(i32, 0x3880_0000);
    let small = b.slt(bits, first_normal);
    let result = b.select(small, subnormal, normal);
    let inf = b.bits(i32, 0x7c00);
    let infinite = b.bits(i32, 0x7f80_0000);
    let is_inf = b.ieq(bits, infinite);
    let result = b.select(is_inf, inf, result);
    let signed_bits = b.bitcast(x, i32);
    let to_bottom = b.int(i32, 16);
    let sign = b.ushr(signed_bits, to_bottom);
    let sign_bit = b.bits(i32, 0x8000);
    let sign = b.and(sign, sign_bit);
    let result = b.or(result, sign);
    let canonical = b.bits(i32, 0x7e00);
    let nan = is_nan(b, x);
    let result = b.select(nan, canonical, result);
    b.itrunc(result, PrimType::I16)
}

/// Between real dtypes, bool among them.
fn real(b: &mut BodyBuilder, x: Reg, from: DType, to: DType) -> Reg {
    match (from.kind(), to.kind()) {
        _ if from == to => x,
        (Kind::Bool, Kind::Bool) => x,
        (Kind::Bool, Kind::UInt | Kind::Int) => b.mask(x, to.repr()[0]),
        (Kind::Bool, Kind::Float) => {
            let (one, zero) = (b.float(to.repr()[0], 1.0), b.float(to.repr()[0], 0.0));
            b.select(x, one, zero)
        }
        (Kind::UInt | Kind::Int, Kind::Bool) => {
            let zero = b.int(b.ty(x), 0);
            b.ine(x, zero)
        }
        (Kind::Float, Kind::Bool) => {
            let zero = b.float(b.ty(x), 0.0);
            b.fne(x, zero)
        }
        (Kind::UInt | Kind::Int, Kind::UInt | Kind::Int) => resize_int(b, x, from.is_signed(), to.repr()[0]),
        (Kind::UInt | Kind::Int, Kind::Float) => int_to_float(b, x, from.is_signed(), to),
        (Kind::Float, Kind::UInt | Kind::Int) => float_to_int(b, x, to),
        (Kind::Float, Kind::Float) => float_to_float(b, x, to),
        (Kind::Complex, _) | (_, Kind::Complex) => unreachable!("complex casts go part by part"),
    }
}

fn resize(b: &mut BodyBuilder, x: Reg, to: PrimType) -> Reg {
    if to == PrimType::F64 { b.fpromote(x, to) } else { b.fdemote(x, to) }
}

fn resize_int(b: &mut BodyBuilder, x: Reg, signed: bool, to: PrimType) -> Reg {
    if b.ty(x).bits() > to.bits() {
        b.itrunc(x, to)
    } else if signed {
        b.sext(x, to)
    } else {
        b.zext(x, to)
    }
}

fn float_to_float(b: &mut BodyBuilder, x: Reg, to: DType) -> Reg {
    if !to.is_half() {
        return resize(b, x, to.repr()[0]);
    }
    let single = if b.ty(x) == PrimType::F64 { demote_to_odd(b, x) } else { x };
    round(b, single, to)
}

/// `f64` to `f32`, inexact values to the adjacent float with an odd last bit, so that a second rounding is the only one.
fn demote_to_odd(b: &mut BodyBuilder, x: Reg) -> Reg {
    let single = b.fdemote(x, PrimType::F32);
    let back = b.fpromote(single, PrimType::F64);
    let (back, exact) = (b.fabs(back), b.fabs(x));
    let above = b.flt(back, exact);
    let below = b.flt(exact, back);
    to_odd(b, single, above, below)
}

fn float_to_int(b: &mut BodyBuilder, x: Reg, to: DType) -> Reg {
    let target = to.repr()[0];
    let wide = if target == PrimType::I64 { PrimType::I64 } else { PrimType::I32 };
    let value = if to.is_signed() { b.tosint(x, wide) } else { b.touint(x, wide) };
    let value = match to.int_range() {
        Some((low, high)) if target.bits() < 32 => {
            let high = b.int(wide, high as i64);
            if to.is_signed() {
                let low = b.int(wide, low as i64);
                let value = b.smax(value, low);
                b.smin(value, high)
            } else {
                b.umin(value, high)
            }
        }
        _ => value,
    };
    b.itrunc(value, target)
}

fn int_to_float(b: &mut BodyBuilder, x: Reg, signed: bool, to: DType) -> Reg {
    let narrow = b.ty(x).bits() < 32;
    let x = if narrow { resize_int(b, x, signed, PrimType::I32) } else { x };
    // Zero-extended narrow integers are positive i32.
    let signed = signed || narrow;
    let target = to.repr()[0];
    if !to.is_half() {
        return from_int(b, x, signed, target);
    }
    let single = match b.ty(x) {
        _ if narrow => b.fromsint(x, PrimType::F32),
        _ if to == DType::F16 => clamped_for_f16(b, x, signed),
        _ => int_to_odd(b, x, signed),
    };
    round(b, single, to)
}

fn from_int(b: &mut BodyBuilder, x: Reg, signed: bool, to: PrimType) -> Reg {
    if signed { b.fromsint(x, to) } else { b.fromuint(x, to) }
}

/// Integers beyond 2^20 are infinite in `f16`; the others are exact in `f32`.
fn clamped_for_f16(b: &mut BodyBuilder, x: Reg, signed: bool) -> Reg {
    let ty = b.ty(x);
    let high = b.int(ty, 1 << 20);
    let x = if signed {
        let low = b.int(ty, -(1 << 20));
        let x = b.smin(x, high);
        b.smax(x, low)
    } else {
        b.umin(x, high)
    };
    let x = b.itrunc(x, PrimType::I32);
    b.fromsint(x, PrimType::F32)
}

/// An integer wider than a float's mantissa as an `f32`, rounded to odd: the excess low bits become one sticky bit.
fn int_to_odd(b: &mut BodyBuilder, x: Reg, signed: bool) -> Reg {
    let ty = b.ty(x);
    let zero = b.int(ty, 0);
    let negative = if signed { b.slt(x, zero) } else { b.bool(false) };
    let minus = b.isub(zero, x);
    let magnitude = b.select(negative, minus, x);
    // 8 low bits go from 32, 40 from 64: 24 stay.
    let (drop, keep) = (ty.bits() - 24, 24);
    let low = b.bits(ty, (1 << drop) - 1);
    let lost = b.and(magnitude, low);
    let lost = b.ine(lost, zero);
    let sticky = b.bits(ty, 1 << drop);
    let sticky = b.select(lost, sticky, zero);
    let high = b.bits(ty, !((1u64 << drop) - 1));
    let kept = b.and(magnitude, high);
    let odd = b.or(kept, sticky);
    let single = if ty == PrimType::I64 {
        let limit = b.bits(ty, 1 << 53);
        let fits = b.ult(magnitude, limit);
        let exact = b.select(fits, magnitude, odd);
        let double = b.fromuint(exact, PrimType::F64);
        demote_to_odd(b, double)
    } else {
        let limit = b.bits(ty, 1 << keep);
        let fits = b.ult(magnitude, limit);
        let exact = b.select(fits, magnitude, odd);
        b.fromuint(exact, PrimType::F32)
    };
    let negated = b.fneg(single);
    b.select(negative, negated, single)
}
