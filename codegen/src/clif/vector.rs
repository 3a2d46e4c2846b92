//! Primitives on groups of vector registers. Each is emitted for all registers of a group before the next, so that
//! independent chains interleave: Cranelift keeps the order, and has no scheduler.
//!
//! Only forms that Cranelift supports are emitted: it panics on others. Primitives without vector instructions of the target run
//! lane by lane.

use super::lanes::{Emitter, HIGH, LOW, LaneValue, ODD, Regs, cells, int_vector, lane_bits, scalar_type, vector_type};
use super::scalar::{self, float_condition, int_condition};
use crate::target::PrimSupport;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use ndjit_ir::PrimType;
use ndjit_ir::body::Prim;

impl Emitter<'_, '_> {
    /// Emits `prim`. `from` is the type of the operands (for a select: of the chosen values), `to` of the result.
    pub(super) fn prim(&mut self, prim: Prim, from: PrimType, to: PrimType, args: &[LaneValue]) -> LaneValue {
        let constant = match args[args.len() - 1] {
            LaneValue::Const(bits) => Some(bits),
            LaneValue::Lanes { .. } | LaneValue::Literal(_) | LaneValue::Splat(_) | LaneValue::Input(_) => None,
        };
        if self.lanes == 1 {
            let values: Vec<Value> = (0..args.len())
                .map(|i| {
                    let ty = if prim == Prim::Select && i == 0 { PrimType::Bool } else { from };
                    self.regs(&args[i], ty, 0)[0]
                })
                .collect();
            let value = scalar::emit(self.b, prim, from, to, &values, constant);
            return LaneValue::Lanes { regs: Regs::from_slice(&[value]), bits: to.bits() };
        }
        if let (Prim::Shl | Prim::Ushr | Prim::Sshr, Some(count)) = (prim, constant) {
            let regs = self.regs(&args[0], from, 0);
            return LaneValue::Lanes { regs: self.shift_all(prim, from, &regs, count), bits: from.bits() };
        }
        if matches!(prim, Prim::Shl | Prim::Ushr | Prim::Sshr)
            && let Some(count) = self.uniform(&args[1], from)
        {
            let regs = self.regs(&args[0], from, 0);
            return LaneValue::Lanes { regs: self.shift_by(prim, from, &regs, count), bits: from.bits() };
        }
        match self.target.support(prim, from, to) {
            PrimSupport::Vector => self.whole(prim, from, to, args),
            PrimSupport::Scalar | PrimSupport::None => self.per_lane(prim, from, to, args),
        }
    }

    fn per_lane(&mut self, prim: Prim, from: PrimType, to: PrimType, args: &[LaneValue]) -> LaneValue {
        let args: Vec<Regs> = args.iter().map(|a| self.regs(a, from, 0)).collect();
        let result = |e: &mut Self, lane: usize| {
            let values: Vec<Value> = args.iter().map(|a| e.lane(a, from.bits(), lane as u32)).collect();
            scalar::emit(e.b, prim, from, to, &values, None)
        };
        LaneValue::Lanes { regs: self.gather(to, result), bits: to.bits() }
    }

    fn whole(&mut self, prim: Prim, from: PrimType, to: PrimType, args: &[LaneValue]) -> LaneValue {
        if prim == Prim::Select {
            return self.select(from, args);
        }
        // Masks of different widths take the narrower one: fewer registers.
        let mask = args.iter().filter_map(|a| self.mask_bits(a)).min().unwrap_or_else(|| self.narrowest_mask());
        let mask = if prim == Prim::Mask { to.bits() } else { mask };
        let bits = lane_bits(from, mask);
        let regs: Vec<Regs> = args.iter().map(|a| self.regs(a, from, mask)).collect();
        let x = &regs[0];
        let to_bits = lane_bits(to, bits);
        #[expect(clippy::wildcard_enum_match_arm, reason = "the others go register by register, where all are listed")]
        let out: Regs = match prim {
            Prim::Sext => self.widen(x, bits, to_bits, true),
            Prim::Zext => self.widen(x, bits, to_bits, false),
            Prim::Itrunc => self.truncate(x, bits, to_bits),
            Prim::Fpromote => self.halves(x, |e, v| e.b.ins().fvpromote_low(v)),
            Prim::Fdemote => {
                let narrow: Regs = x.iter().map(|&v| self.b.ins().fvdemote(v)).collect();
                self.pairs(&narrow, |e, a, b| e.shuffle(a, b, LOW))
            }
            Prim::FromSint if bits < to_bits => self.halves(x, |e, v| {
                let wide = e.b.ins().swiden_low(v);
                e.b.ins().fcvt_from_sint(types::F64X2, wide)
            }),
            Prim::FromUint if bits < to_bits => self.halves(x, |e, v| {
                let wide = e.b.ins().uwiden_low(v);
                e.b.ins().fcvt_from_uint(types::F64X2, wide)
            }),
            Prim::Smulhi | Prim::Umulhi => self.high_product(prim, bits, x, &regs[1]),
            _ => (0..x.len())
                .map(|i| {
                    let y = regs.get(1).map_or(x[i], |r| r[i]);
                    let z = regs.get(2).map_or(x[i], |r| r[i]);
                    self.register(prim, from, to, x[i], y, z)
                })
                .collect(),
        };
        LaneValue::Lanes { regs: out, bits: to_bits }
    }

    /// A primitive that maps registers to registers one by one.
    fn register(&mut self, prim: Prim, from: PrimType, to: PrimType, x: Value, y: Value, z: Value) -> Value {
        if let Some(condition) = float_condition(prim) {
            return self.b.ins().fcmp(condition, x, y);
        }
        if let Some(condition) = int_condition(prim) {
            return self.b.ins().icmp(condition, x, y);
        }
        match prim {
            Prim::Fadd => self.b.ins().fadd(x, y),
            Prim::Fsub => self.b.ins().fsub(x, y),
            Prim::Fmul => self.b.ins().fmul(x, y),
            Prim::Fdiv => self.b.ins().fdiv(x, y),
            Prim::Fsqrt => self.b.ins().sqrt(x),
            Prim::Fma => self.b.ins().fma(x, y, z),
            Prim::Fneg => self.b.ins().fneg(x),
            Prim::Fabs => {
                // Cranelift's form makes the mask at each use.
                let magnitude = self.constant(from.as_int(), from.mask() >> 1);
                let bits = self.bitcast(int_vector(from.bits()), x);
                let bits = self.b.ins().band(bits, magnitude);
                self.bitcast(vector_type(from, from.bits()), bits)
            }
            Prim::Fmin | Prim::Fmax if self.target.blend => self.extreme(prim, from, x, y),
            Prim::Fmin => self.b.ins().fmin(x, y),
            Prim::Fmax => self.b.ins().fmax(x, y),
            Prim::Ffloor => self.b.ins().floor(x),
            Prim::Fceil => self.b.ins().ceil(x),
            Prim::Ftrunc => self.b.ins().trunc(x),
            Prim::Fround => self.b.ins().nearest(x),
            Prim::Iadd => self.b.ins().iadd(x, y),
            Prim::Isub => self.b.ins().isub(x, y),
            Prim::Imul if from == PrimType::I8 => self.multiply_bytes(x, y),
            Prim::Imul => self.b.ins().imul(x, y),
            Prim::Smin => self.b.ins().smin(x, y),
            Prim::Smax => self.b.ins().smax(x, y),
            Prim::Umin => self.b.ins().umin(x, y),
            Prim::Umax => self.b.ins().umax(x, y),
            Prim::And => self.b.ins().band(x, y),
            Prim::Or => self.b.ins().bor(x, y),
            Prim::Xor => self.b.ins().bxor(x, y),
            Prim::Not => self.b.ins().bnot(x),
            Prim::Bitcast => self.bitcast(vector_type(to, to.bits()), x),
            Prim::Mask => {
                let one = self.constant(to, 1);
                self.b.ins().band(x, one)
            }
            Prim::FromSint => self.b.ins().fcvt_from_sint(vector_type(to, to.bits()), x),
            Prim::FromUint => self.b.ins().fcvt_from_uint(vector_type(to, to.bits()), x),
            Prim::ToSint => self.b.ins().fcvt_to_sint_sat(vector_type(to, to.bits()), x),
            Prim::ToUint => self.b.ins().fcvt_to_uint_sat(vector_type(to, to.bits()), x),
            Prim::Feq
            | Prim::Fne
            | Prim::Flt
            | Prim::Fle
            | Prim::Ieq
            | Prim::Ine
            | Prim::Slt
            | Prim::Sle
            | Prim::Ult
            | Prim::Ule
            | Prim::Smulhi
            | Prim::Umulhi
            | Prim::Sdiv
            | Prim::Udiv
            | Prim::Srem
            | Prim::Urem
            | Prim::Shl
            | Prim::Ushr
            | Prim::Sshr
            | Prim::Select
            | Prim::Sext
            | Prim::Zext
            | Prim::Itrunc
            | Prim::Fpromote
            | Prim::Fdemote => unreachable!("{prim} on {from}: no form on whole registers, or emitted before"),
        }
    }

    /// The minimum or maximum of floats on x86, where `minps` and `maxps` return the second operand if the operands are equal or one
    /// is NaN: without NaN the two orders differ only in the sign of zero. Cranelift's form clears NaN's payload and takes 8 instructions,
    /// 7 of them dependent; this one takes 5, 3 of them dependent (minimum and maximum of rows: 1.4 times as fast).
    fn extreme(&mut self, prim: Prim, ty: PrimType, x: Value, y: Value) -> Value {
        let (lesser, greater) = if prim == Prim::Fmin { ((x, y), (y, x)) } else { ((y, x), (x, y)) };
        let one = self.b.ins().fcmp(FloatCC::LessThan, lesser.0, lesser.1);
        let other = self.b.ins().fcmp(FloatCC::LessThan, greater.0, greater.1);
        let one = self.choose_reg(one, x, y);
        let other = self.choose_reg(other, y, x);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, x, y);
        let bits = int_vector(ty.bits());
        let [one, other, nan] = [one, other, nan].map(|v| self.bitcast(bits, v));
        let met = if prim == Prim::Fmin { self.b.ins().bor(one, other) } else { self.b.ins().band(one, other) };
        let met = self.b.ins().bor(met, nan);
        self.bitcast(vector_type(ty, ty.bits()), met)
    }

    fn select(&mut self, ty: PrimType, args: &[LaneValue]) -> LaneValue {
        let narrowest = args.iter().filter_map(|a| self.mask_bits(a)).min().unwrap_or_else(|| self.narrowest_mask());
        let bits = lane_bits(ty, narrowest);
        let mask = self.regs(&args[0], PrimType::Bool, bits);
        let a = self.regs(&args[1], ty, bits);
        let b = self.regs(&args[2], ty, bits);
        LaneValue::Lanes { regs: self.choose(&mask, &a, &b), bits }
    }

    /// Twice as many registers: `f` of the low half of each register, and of its high half moved down.
    fn halves(&mut self, regs: &Regs, f: impl Fn(&mut Self, Value) -> Value) -> Regs {
        let pairs = regs.iter().flat_map(|&reg| {
            let low = f(self, reg);
            let moved = self.shuffle(reg, reg, HIGH);
            [low, f(self, moved)]
        });
        pairs.collect()
    }

    fn shift_all(&mut self, prim: Prim, ty: PrimType, regs: &Regs, count: u64) -> Regs {
        let width = u64::from(ty.bits());
        if count >= width && prim != Prim::Sshr {
            let zero = self.constant(ty, 0);
            return regs.iter().map(|_| zero).collect();
        }
        let count = self.b.ins().iconst(types::I32, count.min(width - 1) as i64);
        let shift = |&reg: &Value| {
            if prim == Prim::Shl {
                self.b.ins().ishl(reg, count)
            } else if prim == Prim::Ushr {
                self.b.ins().ushr(reg, count)
            } else {
                self.b.ins().sshr(reg, count)
            }
        };
        regs.iter().map(shift).collect()
    }

    /// The common value of all lanes of an operand, not a bool, as a scalar; `None` if lanes may differ.
    fn uniform(&mut self, operand: &LaneValue, ty: PrimType) -> Option<Value> {
        match operand {
            LaneValue::Literal(offset) => {
                Some(self.b.ins().load(scalar_type(ty), cells(), self.literals_base, *offset))
            }
            LaneValue::Splat(value) => Some(self.b.ins().extractlane(*value, 0)),
            LaneValue::Lanes { .. } | LaneValue::Const(_) | LaneValue::Input(_) => None,
        }
    }

    /// Shifts by one count, which may be the width or more.
    fn shift_by(&mut self, prim: Prim, ty: PrimType, regs: &Regs, count: Value) -> Regs {
        let width = i64::from(ty.bits());
        if prim == Prim::Sshr {
            let last = self.b.ins().iconst(scalar_type(ty), width - 1);
            let count = self.b.ins().umin(count, last);
            return regs.iter().map(|&reg| self.b.ins().sshr(reg, count)).collect();
        }
        let inside = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, count, width);
        let byte = self.b.ins().ineg(inside);
        let mask = self.b.ins().splat(types::I8X16, byte);
        let mask = self.bitcast(int_vector(ty.bits()), mask);
        let mut shifted = regs.clone();
        for reg in &mut shifted {
            *reg = if prim == Prim::Shl { self.b.ins().ishl(*reg, count) } else { self.b.ins().ushr(*reg, count) };
        }
        shifted.iter().map(|&reg| self.b.ins().band(reg, mask)).collect()
    }

    /// Products of bytes: even and odd ones as 16-bit products.
    fn multiply_bytes(&mut self, x: Value, y: Value) -> Value {
        let (x, y) = (self.bitcast(types::I16X8, x), self.bitcast(types::I16X8, y));
        let even = self.b.ins().imul(x, y);
        let low = self.constant(PrimType::I16, 0xff);
        let even = self.b.ins().band(even, low);
        let eight = self.b.ins().iconst(types::I32, 8);
        let (x, y) = (self.b.ins().ushr(x, eight), self.b.ins().ushr(y, eight));
        let odd = self.b.ins().imul(x, y);
        let odd = self.b.ins().ishl(odd, eight);
        let both = self.b.ins().bor(even, odd);
        self.bitcast(types::I8X16, both)
    }

    /// High halves of products of lanes of up to 32 bits, by products of twice the width.
    fn high_product(&mut self, prim: Prim, bits: u32, x: &Regs, y: &Regs) -> Regs {
        let signed = prim == Prim::Smulhi;
        let (x, y) = (self.widen(x, bits, 2 * bits, signed), self.widen(y, bits, 2 * bits, signed));
        let products: Regs = x.iter().zip(&y).map(|(&x, &y)| self.b.ins().imul(x, y)).collect();
        if bits == 32 {
            return self.pairs(&products, |e, a, b| {
                let high = e.shuffle(a, b, ODD);
                e.bitcast(int_vector(32), high)
            });
        }
        let count = self.b.ins().iconst(types::I32, i64::from(bits));
        let shift = |&p: &Value| if signed { self.b.ins().sshr(p, count) } else { self.b.ins().ushr(p, count) };
        let high: Regs = products.iter().map(shift).collect();
        // The halves fit: nothing saturates.
        self.pairs(&high, |e, a, b| if signed { e.b.ins().snarrow(a, b) } else { e.b.ins().unarrow(a, b) })
    }
}
