//! Casts between floats and integers without AVX2 instructions.
//!
//! An integer below 2^52, in the low bits of 2^52, which are zero, gives the sum of both: sums and differences of such numbers cast
//! integers.

use super::forms;
use super::inst::V;
use super::select::Select;
use super::set::Set;
use ndjit_ir::PrimType;
use ndjit_ir::PrimType::{F32, F64, I32, I64};
use ndjit_ir::body::Prim;

const SET: Set = Set::Avx2;

/// The bits of a number.
fn bits(ty: PrimType, number: f64) -> u64 {
    if ty == F32 { u64::from((number as f32).to_bits()) } else { number.to_bits() }
}

fn power(exponent: i32) -> f64 {
    2f64.powi(exponent)
}

impl Select<'_> {
    fn number(&mut self, ty: PrimType, number: f64) -> V {
        self.constant(ty, bits(ty, number))
    }

    /// Rounded to nearest even.
    pub(super) fn float_of(&mut self, signed: bool, from: PrimType, to: PrimType, x: V) -> Option<V> {
        match (from, to) {
            (I32, F64) => {
                let long = self.one(Prim::Zext, I32, I64, &[x], None)?;
                let base = self.number(F64, power(52));
                let sum = self.both(Prim::Or, I64, long, base)?;
                self.both(Prim::Fsub, F64, sum, base)
            }
            (I32, F32) => {
                let low = self.constant(I32, 0xffff);
                let low = self.both(Prim::And, I32, x, low)?;
                let high = self.shifted(Prim::Ushr, I32, x, 16)?;
                self.of_halves(F32, [low, high], [power(23), power(39)])
            }
            (I64, F64) => {
                let low = self.constant(I64, 0xffff_ffff);
                let low = self.both(Prim::And, I64, x, low)?;
                if !signed {
                    let high = self.shifted(Prim::Ushr, I64, x, 32)?;
                    return self.of_halves(F64, [low, high], [power(52), power(84)]);
                }
                // With the other sign bit the high half is unsigned and 2^31 too large.
                let sign = self.constant(I64, 1 << 63);
                let other = self.both(Prim::Xor, I64, x, sign)?;
                let high = self.shifted(Prim::Ushr, I64, other, 32)?;
                self.of_halves_less(F64, [low, high], [power(52), power(84)], power(63))
            }
            (I64, F32) => {
                let exact = self.odd(signed, x)?;
                let double = self.float_of(signed, I64, F64, exact)?;
                self.one(Prim::Fdemote, F64, F32, &[double], None)
            }
            _ => None,
        }
    }

    /// Two parts of an integer, in the low bits of numbers; their sum is rounded once.
    fn of_halves(&mut self, ty: PrimType, halves: [V; 2], bases: [f64; 2]) -> Option<V> {
        self.of_halves_less(ty, halves, bases, 0.0)
    }

    /// The same, minus `less`.
    fn of_halves_less(&mut self, ty: PrimType, halves: [V; 2], bases: [f64; 2], less: f64) -> Option<V> {
        let based = bases.map(|base| self.number(ty, base));
        let low = self.both(Prim::Or, ty.as_int(), halves[0], based[0])?;
        let high = self.both(Prim::Or, ty.as_int(), halves[1], based[1])?;
        // Exact.
        let excess = self.number(ty, bases[1] + less + bases[0]);
        let high = self.both(Prim::Fsub, ty, high, excess)?;
        self.both(Prim::Fadd, ty, high, low)
    }

    /// Integers that are exact in `f64` and round to `f32` like the originals: the last bits of large ones become one sticky bit (Boldo and
    /// Melquiond 2008, rounding to odd).
    fn odd(&mut self, signed: bool, x: V) -> Option<V> {
        let size = if signed {
            let sign = self.shifted(Prim::Sshr, I64, x, 63)?;
            self.both(Prim::Xor, I64, x, sign)?
        } else {
            self.shifted(Prim::Ushr, I64, x, 1)?
        };
        let most = self.constant(I64, if signed { (1 << 53) - 1 } else { (1 << 52) - 1 });
        let large = self.vector(forms::greater(I64), &[size, most]);
        let last = self.constant(I64, 0x7ff);
        let rest = self.both(Prim::And, I64, x, last)?;
        // A carry into the bit above.
        let carried = self.both(Prim::Iadd, I64, rest, last)?;
        let all = self.both(Prim::Or, I64, x, carried)?;
        let kept = self.constant(I64, !0x7ff);
        let odd = self.both(Prim::And, I64, all, kept)?;
        Some(self.vector(super::moves::blend(SET, 64), &[x, odd, large]))
    }

    /// Truncates and saturates; NaN gives 0.
    pub(super) fn signed_of(&mut self, from: PrimType, to: PrimType, x: V) -> Option<V> {
        if (from, to) == (F32, I64) {
            let double = self.one(Prim::Fpromote, F32, F64, &[x], None)?;
            return self.signed_of(F64, I64, double);
        }
        let compare = forms::compare_floats(SET, from);
        let ordered = self.vector_by(compare, &[x, x], forms::ORDERED);
        let number = self.both(Prim::And, from.as_int(), x, ordered)?;
        if (from, to) == (F64, I32) {
            let (least, most) = (self.number(F64, -power(31)), self.number(F64, power(31) - 1.0));
            let number = self.vector(forms::larger(SET, F64), &[number, least]);
            let number = self.vector(forms::lesser(SET, F64), &[number, most]);
            return Some(self.vector(forms::to_int(SET, Prim::ToSint, F64, I32)?, &[number]));
        }
        let limit = power(to.bits() as i32 - 1);
        let above = self.number(from, limit);
        let large = self.vector_by(compare, &[number, above], forms::GREATER_EQUAL);
        if to == I32 {
            // Too large ones give the smallest, and all other bits are the largest's.
            let converted = self.vector(forms::to_int(SET, Prim::ToSint, F32, I32)?, &[number]);
            return self.both(Prim::Xor, I32, converted, large);
        }
        let below = self.number(F64, -limit);
        let number = self.vector(forms::larger(SET, F64), &[number, below]);
        let converted = self.long_of(number)?;
        let most = self.constant(I64, i64::MAX as u64);
        Some(self.vector(super::moves::blend(SET, 64), &[converted, most, large]))
    }

    /// Truncates and saturates; NaN gives 0.
    pub(super) fn unsigned_of(&mut self, from: PrimType, to: PrimType, x: V) -> Option<V> {
        if (from, to) == (F32, I64) {
            let double = self.one(Prim::Fpromote, F32, F64, &[x], None)?;
            return self.unsigned_of(F64, I64, double);
        }
        // For NaN and a number the instruction returns the second.
        let zero = self.constant(from, 0);
        let number = self.vector(forms::larger(SET, from), &[x, zero]);
        let compare = forms::compare_floats(SET, from);
        match (from, to) {
            (F64, I32) => {
                let most = self.number(F64, power(32) - 1.0);
                let number = self.vector(forms::lesser(SET, F64), &[number, most]);
                let whole = self.one(Prim::Ftrunc, F64, F64, &[number], None)?;
                let base = self.number(F64, power(52));
                let based = self.both(Prim::Fadd, F64, whole, base)?;
                self.one(Prim::Itrunc, I64, I32, &[based], None)
            }
            (F32, _) => {
                // From 2^31 on 2^31 is subtracted, which is the top bit.
                let half = self.number(F32, power(31));
                let upper = self.vector_by(compare, &[number, half], forms::GREATER_EQUAL);
                let excess = self.both(Prim::And, I32, upper, half)?;
                let rest = self.both(Prim::Fsub, F32, number, excess)?;
                let converted = self.vector(forms::to_int(SET, Prim::ToSint, F32, I32)?, &[rest]);
                let top = self.shifted(Prim::Shl, I32, upper, 31)?;
                let converted = self.both(Prim::Xor, I32, converted, top)?;
                let above = self.number(F32, power(32));
                let large = self.vector_by(compare, &[number, above], forms::GREATER_EQUAL);
                self.both(Prim::Or, I32, converted, large)
            }
            _ => {
                let above = self.number(F64, power(64));
                let large = self.vector_by(compare, &[number, above], forms::GREATER_EQUAL);
                let converted = self.long_of(number)?;
                self.both(Prim::Or, I64, converted, large)
            }
        }
    }

    /// The 64-bit integers to which numbers in range truncate, by halves.
    fn long_of(&mut self, x: V) -> Option<V> {
        let whole = self.one(Prim::Ftrunc, F64, F64, &[x], None)?;
        let (down, up) = (self.number(F64, power(-32)), self.number(F64, -power(32)));
        let scaled = self.both(Prim::Fmul, F64, whole, down)?;
        let high = self.one(Prim::Ffloor, F64, F64, &[scaled], None)?;
        let low = self.one(Prim::Fma, F64, F64, &[high, up, whole], None)?;
        // A negative half borrows from 2^51, and the 32 low bits of neither have it.
        let (signed, unsigned) = (self.number(F64, power(52) + power(51)), self.number(F64, power(52)));
        let high = self.both(Prim::Fadd, F64, high, signed)?;
        let high = self.shifted(Prim::Shl, I64, high, 32)?;
        let low = self.both(Prim::Fadd, F64, low, unsigned)?;
        let low = self.both(Prim::Xor, I64, low, unsigned)?;
        self.both(Prim::Or, I64, high, low)
    }
}
