//! Values of a block of lanes: groups of 128-bit registers, and changes of lane width.
//!
//! In vector code a value of `lanes` lanes of `bits` bits takes `lanes * bits / 128` registers; every type of a kernel
//! fills at least one. In scalar code `lanes` is 1 and a value is one scalar. A bool is a mask: all ones or all
//! zeros in each lane, of any lane width; in scalar code an `i8` of 0 or 1.

use super::abi::{CELL, Cell};
use super::affine::StepRows;
use super::constants::ConstantPool;
use crate::target::Target;
use cranelift_codegen::ir::{self, Endianness, InstBuilder, MemFlagsData, Opcode, SourceLoc, Type, types};
use cranelift_frontend::FunctionBuilder;
use ndjit_ir::PrimType;
use ndjit_ir::body::Reg;
use smallvec::{SmallVec, smallvec};

/// The registers of one value, lowest lanes first.
pub(super) type Regs = SmallVec<[ir::Value; 4]>;

/// The location of a register's value.
#[derive(Clone, Debug)]
pub(super) enum LaneValue {
    /// In SSA values, in lanes of `bits` bits.
    Lanes { regs: Regs, bits: u32 },
    /// A constant, loaded from the table at each use.
    Const(u64),
    /// A literal, loaded from its cell at this offset at each use.
    Literal(i32),
    /// Vector code only: the same value in all lanes, one vector for every register. A mask has lanes of bytes.
    Splat(ir::Value),
    /// A word of this input, loaded before its first use.
    Input(usize),
}

/// The instructions of one block of lanes being emitted.
pub(super) struct Emitter<'a, 'f> {
    pub(super) b: &'a mut FunctionBuilder<'f>,
    pub(super) target: &'a Target,
    pub(super) constants: &'a mut ConstantPool,
    /// Base of the constants table.
    pub(super) constants_base: ir::Value,
    /// Base of the literals.
    pub(super) literals_base: ir::Value,
    /// Lanes per block; 1 is scalar code.
    pub(super) lanes: u32,
    /// Record the body's register of each instruction.
    pub(super) located: bool,
    /// The elements that the step before stored, if the code is that of steps, one after the other.
    pub(super) step: Option<StepStores>,
    /// The lanes of the last look-up's index, and their block: several tables are often indexed by the same lanes.
    pub(super) looked_up: Option<(ir::Block, Regs, Vec<ir::Value>)>,
}

/// What the previous step stored at addresses, in order: a step that reads it again would wait for the store.
#[derive(Clone, Debug, Default)]
pub(super) struct StepStores {
    pub(super) elements: Vec<StoredElement>,
    /// For each register of the body whether it depends on elements that are read, other than accumulators: an index in it repeats
    /// without a pattern, and a branch on it is mispredicted.
    pub(super) unforeseen: Vec<bool>,
    /// The affine rows.
    pub(super) rows: StepRows,
}

/// An element of the rows of an input, as stored: its row, which may be out of bounds, unless flags of affine rows tell who reads it; and
/// its words.
#[derive(Clone, Debug)]
pub(super) struct StoredElement {
    pub(super) input: usize,
    pub(super) row: Option<ir::Value>,
    pub(super) words: SmallVec<[ir::Value; 2]>,
}

/// The origin of the next instructions, stored as their source location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Located {
    /// This register of the body.
    Register(Reg),
    /// The store of this output.
    Store(usize),
    /// The loops.
    #[default]
    Nowhere,
}

/// Source locations from here on are stores. Bodies have fewer registers.
const STORES: u32 = 1 << 30;

impl Located {
    pub(super) fn location(self) -> SourceLoc {
        match self {
            Located::Register(reg) => SourceLoc::new(reg.0),
            Located::Store(output) => SourceLoc::new(STORES + output as u32),
            Located::Nowhere => SourceLoc::default(),
        }
    }

    /// Decodes a source location.
    pub(crate) fn of(location: SourceLoc) -> Located {
        match location {
            location if location.is_default() => Located::Nowhere,
            location if location.bits() >= STORES => Located::Store((location.bits() - STORES) as usize),
            location => Located::Register(Reg(location.bits())),
        }
    }
}

/// Returns the flags of memory with valid addresses, of any alignment.
pub(super) fn data() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// Returns the flags of cells: aligned, and unchanged while the kernel runs.
pub(super) fn cells() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly()
}

/// Returns the CLIF type of one lane. A bool is an `i8`.
pub(super) fn scalar_type(ty: PrimType) -> Type {
    match ty {
        PrimType::Bool | PrimType::I8 => types::I8,
        PrimType::I16 => types::I16,
        PrimType::I32 => types::I32,
        PrimType::I64 => types::I64,
        PrimType::F32 => types::F32,
        PrimType::F64 => types::F64,
    }
}

/// Returns the 128-bit type with integer lanes of this width.
pub(super) fn int_vector(bits: u32) -> Type {
    match bits {
        8 => types::I8X16,
        16 => types::I16X8,
        32 => types::I32X4,
        _ => types::I64X2,
    }
}

/// Returns the 128-bit type of `ty` in lanes of `bits` bits. Only masks depend on `bits`.
pub(super) fn vector_type(ty: PrimType, bits: u32) -> Type {
    match ty {
        PrimType::F32 => types::F32X4,
        PrimType::F64 => types::F64X2,
        PrimType::Bool | PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => int_vector(bits),
    }
}

/// Returns the lane width of `ty`, with masks of `mask` bits.
pub(super) fn lane_bits(ty: PrimType, mask: u32) -> u32 {
    if ty == PrimType::Bool { mask } else { ty.bits() }
}

/// Returns the byte indices of a shuffle that selects the 32-bit lanes `picks` of two registers (0..=3 the first's,
/// 4..=7 the second's).
const fn dwords(picks: [u8; 4]) -> [u8; 16] {
    let mut bytes = [0; 16];
    let mut i = 0;
    while i < 16 {
        bytes[i] = picks[i / 4] * 4 + (i % 4) as u8;
        i += 1;
    }
    bytes
}

/// Even 32-bit lanes of two registers.
pub(super) const EVEN: [u8; 16] = dwords([0, 2, 4, 6]);
/// Odd 32-bit lanes of two registers.
pub(super) const ODD: [u8; 16] = dwords([1, 3, 5, 7]);
/// Low halves of two registers.
pub(super) const LOW: [u8; 16] = dwords([0, 1, 4, 5]);
/// High halves of two registers.
pub(super) const HIGH: [u8; 16] = dwords([2, 3, 6, 7]);
/// Low 32-bit lanes of two registers, alternating.
pub(super) const ZIP_LOW: [u8; 16] = dwords([0, 4, 1, 5]);
/// High 32-bit lanes of two registers, alternating.
pub(super) const ZIP_HIGH: [u8; 16] = dwords([2, 6, 3, 7]);

impl Emitter<'_, '_> {
    /// Sets the origin of the next instructions, if recorded.
    pub(super) fn locate(&mut self, what: Located) {
        if self.located {
            self.b.set_srcloc(what.location());
        }
    }

    /// Returns the number of registers of a value in lanes of `bits` bits.
    pub(super) fn count(&self, bits: u32) -> usize {
        if self.lanes == 1 { 1 } else { (self.lanes * bits / 128) as usize }
    }

    /// Returns the CLIF type of one register of a value.
    pub(super) fn reg_type(&self, ty: PrimType, bits: u32) -> Type {
        if self.lanes == 1 { scalar_type(ty) } else { vector_type(ty, bits) }
    }

    /// Returns the registers of an operand of type `ty`; a mask in lanes of `mask` bits.
    pub(super) fn regs(&mut self, operand: &LaneValue, ty: PrimType, mask: u32) -> Regs {
        let bits = lane_bits(ty, mask);
        let count = self.count(bits);
        let reg_type = self.reg_type(ty, bits);
        let reg = match operand {
            LaneValue::Lanes { regs, bits: given } => {
                return if self.lanes == 1 || *given == bits { regs.clone() } else { self.mask_to(regs, *given, bits) };
            }
            LaneValue::Const(value) if self.lanes == 1 && !ty.is_float() => {
                self.b.ins().iconst(scalar_type(ty), immediate(*value, scalar_type(ty)))
            }
            LaneValue::Const(value) => {
                let offset = self.constants.splat(ty, *value);
                self.b.ins().load(reg_type, cells(), self.constants_base, offset)
            }
            LaneValue::Literal(offset) => {
                let value = self.b.ins().load(reg_type, cells(), self.literals_base, *offset);
                if self.lanes == 1 && ty == PrimType::Bool { self.b.ins().band_imm_u(value, 1) } else { value }
            }
            LaneValue::Splat(value) if ty == PrimType::Bool => self.bitcast(int_vector(bits), *value),
            LaneValue::Splat(value) => *value,
            LaneValue::Input(_) => unreachable!("inputs are loaded before their first use"),
        };
        smallvec![reg; count]
    }

    /// Returns the lane width of a mask operand.
    pub(super) fn mask_bits(&self, operand: &LaneValue) -> Option<u32> {
        match operand {
            LaneValue::Lanes { bits, .. } => Some(*bits),
            LaneValue::Const(_) | LaneValue::Literal(_) | LaneValue::Splat(_) | LaneValue::Input(_) => None,
        }
    }

    /// Returns the smallest lane width of a mask: the width at which it fills one register.
    pub(super) fn narrowest_mask(&self) -> u32 {
        (128 / self.lanes).max(8)
    }

    /// Copies `value`, the only register of a scalar operand, to all lanes of a vector.
    pub(super) fn splat(&mut self, ty: PrimType, value: ir::Value) -> ir::Value {
        if ty != PrimType::Bool {
            return self.b.ins().splat(vector_type(ty, ty.bits()), value);
        }
        let byte = self.b.ins().ineg(value);
        self.b.ins().splat(types::I8X16, byte)
    }

    /// Returns a vector constant: `bits` in all lanes of type `ty`.
    pub(super) fn constant(&mut self, ty: PrimType, bits: u64) -> ir::Value {
        let offset = self.constants.splat(ty, bits);
        self.b.ins().load(vector_type(ty, ty.bits()), cells(), self.constants_base, offset)
    }

    /// Reinterprets bits as another type of 128 bits.
    pub(super) fn bitcast(&mut self, to: Type, value: ir::Value) -> ir::Value {
        if self.b.func.dfg.value_type(value) == to {
            return value;
        }
        self.b.ins().bitcast(to, MemFlagsData::new().with_endianness(Endianness::Little), value)
    }

    /// Shuffles the bytes of two registers. The result has the type of the first.
    pub(super) fn shuffle(&mut self, a: ir::Value, b: ir::Value, bytes: [u8; 16]) -> ir::Value {
        let ty = self.b.func.dfg.value_type(a);
        let (a, b) = (self.bitcast(types::I8X16, a), self.bitcast(types::I8X16, b));
        let mask = self.b.func.dfg.immediates.push(bytes.to_vec().into());
        let value = self.b.ins().shuffle(a, b, mask);
        self.bitcast(ty, value)
    }

    /// Extends integer lanes of `from` bits to `to` bits.
    pub(super) fn widen(&mut self, regs: &Regs, from: u32, to: u32, sign: bool) -> Regs {
        let mut regs = regs.clone();
        for _ in 0..(to / from).trailing_zeros() {
            let halves = regs.iter().flat_map(|&reg| {
                let ins = |e: &mut Self, high: bool| match (sign, high) {
                    (true, false) => e.b.ins().swiden_low(reg),
                    (true, true) => e.b.ins().swiden_high(reg),
                    (false, false) => e.b.ins().uwiden_low(reg),
                    (false, true) => e.b.ins().uwiden_high(reg),
                };
                [ins(self, false), ins(self, true)]
            });
            regs = halves.collect();
        }
        regs
    }

    /// Truncates integer lanes of `from` bits to their low `to` bits.
    pub(super) fn truncate(&mut self, regs: &Regs, from: u32, to: u32) -> Regs {
        let (mut regs, mut bits) = (regs.clone(), from);
        while bits > to {
            regs = if bits == 64 {
                self.pairs(&regs, |e, a, b| e.narrow_64(a, b))
            } else {
                let ty = if bits == 32 { PrimType::I32 } else { PrimType::I16 };
                let low = self.constant(ty, (1 << (bits / 2)) - 1);
                let clean: Regs = regs.iter().map(|&reg| self.b.ins().band(reg, low)).collect();
                self.pairs(&clean, |e, a, b| e.b.ins().unarrow(a, b))
            };
            bits /= 2;
        }
        regs
    }

    /// Changes the lane width of a mask.
    pub(super) fn mask_to(&mut self, regs: &Regs, from: u32, to: u32) -> Regs {
        if from <= to {
            return self.widen(regs, from, to, true);
        }
        let (mut regs, mut bits) = (regs.clone(), from);
        while bits > to {
            regs = if bits == 64 {
                self.pairs(&regs, |e, a, b| e.narrow_64(a, b))
            } else {
                self.pairs(&regs, |e, a, b| e.b.ins().snarrow(a, b))
            };
            bits /= 2;
        }
        regs
    }

    fn narrow_64(&mut self, a: ir::Value, b: ir::Value) -> ir::Value {
        let value = self.shuffle(a, b, EVEN);
        self.bitcast(types::I32X4, value)
    }

    /// Computes one register from each pair.
    pub(super) fn pairs(
        &mut self,
        regs: &Regs,
        mut f: impl FnMut(&mut Self, ir::Value, ir::Value) -> ir::Value,
    ) -> Regs {
        regs.chunks_exact(2).map(|pair| f(self, pair[0], pair[1])).collect()
    }

    /// Selects `a` where the mask is set, else `b`. All three have lanes of one width, or are scalars.
    pub(super) fn choose(&mut self, mask: &Regs, a: &Regs, b: &Regs) -> Regs {
        (0..a.len()).map(|i| self.choose_reg(mask[i], a[i], b[i])).collect()
    }

    /// Selects between single registers.
    pub(super) fn choose_reg(&mut self, mask: ir::Value, a: ir::Value, b: ir::Value) -> ir::Value {
        if a == b {
            return a;
        }
        if self.lanes == 1 {
            return self.b.ins().select(mask, a, b);
        }
        let ty = self.b.func.dfg.value_type(a);
        // Cranelift makes a bitselect a blend only if it sees the comparison.
        let dfg = &self.b.func.dfg;
        let compared = dfg.value_def(mask).inst().map(|inst| dfg.insts[inst].opcode());
        if self.target.blend && compared != Some(Opcode::Fcmp) {
            // Cranelift sees through a cast of a float comparison, but not through one of an integer comparison.
            let of = if compared == Some(Opcode::Icmp) { dfg.value_type(mask) } else { types::I8X16 };
            let [mask, a, b] = [mask, a, b].map(|v| self.bitcast(of, v));
            let ins = self.b.ins();
            let value = if compared == Some(Opcode::Icmp) { ins.bitselect(mask, a, b) } else { ins.blendv(mask, a, b) };
            return self.bitcast(ty, value);
        }
        let mask = self.bitcast(ty, mask);
        self.b.ins().bitselect(mask, a, b)
    }

    /// Returns an `i8` that is nonzero if any lane of a mask is set.
    pub(super) fn any(&mut self, mask: &Regs) -> ir::Value {
        if self.lanes == 1 {
            return mask[0];
        }
        let mut regs = mask.clone();
        while regs.len() > 1 {
            regs = self.pairs(&regs, |e, a, b| e.b.ins().bor(a, b));
        }
        self.b.ins().vany_true(regs[0])
    }

    /// Extracts lane `lane` of a value.
    pub(super) fn lane(&mut self, regs: &Regs, bits: u32, lane: u32) -> ir::Value {
        let per_reg = 128 / bits;
        self.b.ins().extractlane(regs[(lane / per_reg) as usize], (lane % per_reg) as u8)
    }

    /// Assembles a value from its lanes. Each lane is computed just before its insertion: Cranelift combines a load
    /// with its use only if no other load is between them.
    pub(super) fn gather(&mut self, ty: PrimType, mut lane: impl FnMut(&mut Self, usize) -> ir::Value) -> Regs {
        let per_reg = (128 / ty.bits()) as usize;
        let vector = vector_type(ty, ty.bits());
        (0..self.count(ty.bits()))
            .map(|reg| {
                let first = lane(self, reg * per_reg);
                let mut value = self.first_lane(ty, vector, first);
                for i in 1..per_reg {
                    let lane = lane(self, reg * per_reg + i);
                    value = self.b.ins().insertlane(value, lane, i as u8);
                }
                value
            })
            .collect()
    }

    /// Returns a register whose lane 0 is `lane`.
    fn first_lane(&mut self, ty: PrimType, vector: Type, lane: ir::Value) -> ir::Value {
        if ty.bits() >= 32 {
            return self.b.ins().scalar_to_vector(vector, lane);
        }
        // Cranelift supports no narrower lane here.
        let wide = self.b.ins().uextend(types::I32, lane);
        let reg = self.b.ins().scalar_to_vector(types::I32X4, wide);
        self.bitcast(vector, reg)
    }

    /// Returns the location of a literal's cell.
    pub(super) fn literal(index: usize) -> LaneValue {
        LaneValue::Literal(index as i32 * CELL)
    }
}

/// Returns the immediate of an `iconst` of type `ty`: Cranelift requires zeros above its width.
fn immediate(bits: u64, ty: Type) -> i64 {
    let unused = 64 - ty.bits();
    ((bits << unused) >> unused) as i64
}

const _: () = assert!(size_of::<Cell>() == CELL as usize);

#[cfg(test)]
mod tests {
    use super::*;
    use ndjit_ir::DType;

    #[test]
    fn stored_words_are_named_as_in_clif() {
        for word in DType::ALL.into_iter().flat_map(DType::storage) {
            assert_eq!(scalar_type(*word).to_string(), word.name());
        }
    }
}
