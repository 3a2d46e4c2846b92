//! The loops as machine code: counts, pointers and masks around instructions, with register allocation.

use super::allocate::{Allocator, load};
use super::assembler::{Address, AsmOperand as Op, Assembler, CodeLabel, When};
use super::context::{LoopBlock, NestContext, Selected};
use super::frame::{EXTENTS, Frame, LIMIT, PAIRS, POINTERS, STRIDES, TAIL, TAKEN, TOTAL};
use super::inst::{MachineInst, V, Values};
use super::set::Set;
use super::streams::ALTERNATE;
use crate::clif::{AccumulatorLayout, Located};
use iced_x86::{Code as X, Register};
use ndjit_ir::loops::Stride;
use ndjit_ir::reduction::LANES;

/// Code under construction.
pub(super) struct LoopEmitter<'a> {
    nest: &'a NestContext<'a>,
    values: &'a Values,
    frame: &'a mut Frame,
    pub code: &'a mut Assembler,
    reserved: u64,
    /// True if there were too few registers.
    pub failed: bool,
}

const INDEX: Op = Op::Register(POINTERS.index);
const COUNT: Op = Op::Register(POINTERS.count);
const SCRATCH: Op = Op::Register(POINTERS.scratch);

/// The frame's memory at this offset.
fn stack(offset: i32) -> Op {
    Op::Memory(Address::at(Register::RSP, offset))
}

impl<'a> LoopEmitter<'a> {
    pub(super) fn new(
        nest: &'a NestContext<'a>,
        values: &'a Values,
        frame: &'a mut Frame,
        code: &'a mut Assembler,
        reserved: u64,
    ) -> LoopEmitter<'a> {
        LoopEmitter { nest, values, frame, code, reserved, failed: false }
    }

    fn rank(&self) -> usize {
        self.nest.nest.rank
    }

    fn operands(&self) -> usize {
        self.nest.nest.inputs.len() + self.nest.nest.outputs.len()
    }

    /// Exits if there is nothing to do; stores extents and pointers; loads pinned values.
    pub(super) fn start(&mut self, lanes: u32, exit: CodeLabel) {
        // Blocks may have no whole step, or no rest.
        let inner = if self.nest.is_blocks() { 2 } else { 0 };
        for axis in 0..self.rank() - inner {
            let extent = Op::Memory(Address::at(Register::RSI, 8 * axis as i32));
            self.code.add(X::Cmp_rm64_imm32, &[extent, Op::Immediate32(0)]);
            self.code.jump(When::Equal, exit);
        }
        let innermost = Op::Memory(Address::at(Register::RSI, 8 * (self.rank() as i32 - 1)));
        self.code.add(X::Mov_r64_rm64, &[COUNT, innermost]);
        self.code.add(X::Mov_rm64_r64, &[stack(TOTAL), COUNT]);
        self.code.add(X::Sub_rm64_imm32, &[COUNT, Op::Immediate32(lanes as i32)]);
        self.code.add(X::Mov_rm64_r64, &[stack(LIMIT), COUNT]);
        for operand in 0..self.operands() {
            let pointer = Op::Memory(Address::at(Register::RDI, 8 * operand as i32));
            self.code.add(X::Mov_r64_rm64, &[COUNT, pointer]);
            self.code.add(X::Mov_rm64_r64, &[stack(self.frame.pointer(0, operand)), COUNT]);
        }
        self.distances();
        for n in 0..self.values.len() as u32 {
            let value = self.values.get(V(n));
            if let (Some(register), Some(place)) = (value.pinned, value.known) {
                load(self.code, self.frame, place, register);
            }
        }
    }

    /// The operands that are indices and move along the innermost loop.
    fn moving(&self) -> Vec<(usize, [i32; 2])> {
        let inputs = self.nest.nest.inputs.iter().enumerate().filter(|(_, access)| access.inner != Stride::Broadcast);
        inputs.filter_map(|(operand, _)| Some((operand, self.frame.indices(operand)?))).collect()
    }

    /// The stride of an operand along a loop.
    fn stride(&mut self, operand: usize, axis: usize) {
        let offset = 8 * (operand * self.rank() + axis) as i32;
        self.code.add(X::Mov_r64_rm64, &[SCRATCH, stack(STRIDES)]);
        self.code.add(X::Mov_r64_rm64, &[SCRATCH, Op::Memory(Address::at(POINTERS.scratch, offset))]);
    }

    /// Stores the distances of the lanes' indices from a block's start.
    fn distances(&mut self) {
        for (operand, [_, lanes]) in self.moving() {
            self.stride(operand, self.rank() - 1);
            if let Some(numbers) = self.frame.numbers {
                let [all, some] = [Register::ZMM0, Register::ZMM1].map(Op::Register);
                self.code.add(X::EVEX_Vpbroadcastq_zmm_k1z_r64, &[all, SCRATCH]);
                for start in (0..8 * self.frame.lanes_of_indices(operand)).step_by(64) {
                    let number = Op::Memory(Address::at(POINTERS.constants, numbers + start));
                    self.code.add(X::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64, &[some, all, number]);
                    self.code.add(X::EVEX_Vmovups_zmmm512_k1z_zmm, &[stack(lanes + start), some]);
                }
                continue;
            }
            self.code.add(X::Mov_rm64_imm32, &[COUNT, Op::Immediate32(0)]);
            for lane in 0..self.frame.lanes_of_indices(operand) {
                self.code.add(X::Mov_rm64_r64, &[stack(lanes + 8 * lane), COUNT]);
                self.code.add(X::Add_rm64_r64, &[COUNT, SCRATCH]);
            }
        }
    }

    /// Stores the indices of the block at the index.
    fn indices(&mut self) {
        let outer = self.rank() - 1 - usize::from(self.nest.form == AccumulatorLayout::Rows);
        for (operand, [first, _]) in self.moving() {
            self.stride(operand, self.rank() - 1);
            self.code.add(X::Imul_r64_rm64, &[SCRATCH, INDEX]);
            self.code.add(X::Add_r64_rm64, &[SCRATCH, stack(self.frame.pointer(outer, operand))]);
            self.code.add(X::Mov_rm64_r64, &[stack(first), SCRATCH]);
        }
    }

    /// The starts of the loops around the innermost one.
    pub(super) fn outer_loops(&mut self, outer: usize) -> Vec<CodeLabel> {
        let mut headers = Vec::new();
        for axis in 0..outer {
            self.code.add(X::Mov_r64_rm64, &[SCRATCH, stack(EXTENTS)]);
            self.code.add(X::Mov_r64_rm64, &[COUNT, Op::Memory(Address::at(POINTERS.scratch, 8 * axis as i32))]);
            self.code.add(X::Mov_rm64_r64, &[stack(self.frame.counter(axis)), COUNT]);
            let header = self.code.label();
            self.code.bind(header);
            for operand in 0..self.operands() {
                self.code.add(X::Mov_r64_rm64, &[COUNT, stack(self.frame.pointer(axis, operand))]);
                self.code.add(X::Mov_rm64_r64, &[stack(self.frame.pointer(axis + 1, operand)), COUNT]);
            }
            headers.push(header);
        }
        headers
    }

    pub(super) fn end_outer_loops(&mut self, headers: &[CodeLabel]) {
        for (axis, &header) in headers.iter().enumerate().rev() {
            self.code.add(X::Mov_r64_rm64, &[SCRATCH, stack(STRIDES)]);
            for operand in 0..self.operands() {
                let stride = 8 * (operand * self.rank() + axis) as i32;
                self.code.add(X::Mov_r64_rm64, &[COUNT, Op::Memory(Address::at(POINTERS.scratch, stride))]);
                self.code.add(X::Add_rm64_r64, &[stack(self.frame.pointer(axis, operand)), COUNT]);
            }
            self.code.add(X::Sub_rm64_imm32, &[stack(self.frame.counter(axis)), Op::Immediate32(1)]);
            self.code.jump(When::NotEqual, header);
        }
    }

    /// The pointers of the innermost loop.
    pub(super) fn bases(&mut self) {
        let outer = self.rank() - 1 - usize::from(self.nest.form == AccumulatorLayout::Rows);
        for operand in 0..self.operands() {
            if let Ok(register) = self.frame.base(operand) {
                self.code.add(X::Mov_r64_rm64, &[Op::Register(register), stack(self.frame.pointer(outer, operand))]);
            }
            if let Some([first, _]) = self.frame.indices(operand) {
                self.code.add(X::Mov_r64_rm64, &[SCRATCH, stack(self.frame.pointer(outer, operand))]);
                self.code.add(X::Mov_rm64_r64, &[stack(first), SCRATCH]);
            }
        }
    }

    /// Instructions, after which values are used; then moves, from the second to the first of each pair.
    pub(super) fn stretch(&mut self, insts: &[MachineInst], last: &[V], moves: &[(V, V)]) {
        let mut allocator = Allocator::new(self.values, self.frame, self.code, insts, last, self.reserved);
        allocator.run(insts);
        allocator.carry(moves);
        self.failed |= allocator.failed;
        self.code.located = Located::Nowhere;
    }

    pub(super) fn innermost(&mut self, selected: &Selected, lanes: u32) {
        let [again, whole, tail, done] = [0; 4].map(|_| self.code.label());
        self.before_steps(&selected.whole);
        self.code.add(X::Xor_rm32_r32, &[Op::Register(Register::EAX), Op::Register(Register::EAX)]);
        if let Some((operand, size)) = self.aligned(lanes) {
            self.head((operand, size), (lanes, selected.whole.lanes), again);
            self.code.jump(When::Always, tail);
        }
        self.code.bind(again);
        self.code.add(X::Cmp_r64_rm64, &[INDEX, stack(LIMIT)]);
        let short = self.code.label();
        self.code.jump(When::LessOrEqual, whole);
        self.code.jump(When::Always, short);
        self.code.align();
        self.code.bind(whole);
        self.indices();
        self.step(&selected.whole);
        self.code.add(X::Add_rm64_imm32, &[INDEX, Op::Immediate32(selected.whole.lanes as i32)]);
        self.code.add(X::Cmp_r64_rm64, &[INDEX, stack(LIMIT)]);
        self.code.jump(When::LessOrEqual, whole);
        self.code.bind(short);
        if let Some(block) = &selected.unit {
            let (unit, none) = (self.code.label(), self.code.label());
            self.code.bind(unit);
            self.code.add(X::Mov_r64_rm64, &[COUNT, stack(TOTAL)]);
            self.code.add(X::Sub_rm64_r64, &[COUNT, INDEX]);
            self.code.add(X::Cmp_rm64_imm32, &[COUNT, Op::Immediate32(block.lanes as i32)]);
            self.code.jump(When::Less, none);
            self.indices();
            self.step(block);
            self.code.add(X::Add_rm64_imm32, &[INDEX, Op::Immediate32(block.lanes as i32)]);
            self.code.jump(When::Always, unit);
            self.code.bind(none);
        }
        let rest = self.code.label();
        self.code.add(X::Cmp_r64_rm64, &[INDEX, stack(TOTAL)]);
        self.code.jump(When::Below, rest);
        self.code.jump(When::Always, done);
        self.code.bind(rest);
        self.left(lanes);
        self.code.bind(tail);
        self.code.add(X::Mov_rm64_r64, &[stack(TAKEN), COUNT]);
        self.mask(lanes);
        self.indices();
        selected.rest.iter().for_each(|rest| self.step(rest));
        self.code.add(X::Add_r64_rm64, &[INDEX, stack(TAKEN)]);
        self.code.jump(When::Always, again);
        self.code.bind(done);
    }

    /// The output whose blocks begin at addresses of whole registers, and bytes of its elements: the first one, if a unit of it fills a
    /// register. Elsewhere each load and store of a stencil's row, which begins behind a border, took two cache lines.
    fn aligned(&self, lanes: u32) -> Option<(usize, usize)> {
        let nest = self.nest.nest;
        let access = nest.outputs.first().filter(|access| access.inner == Stride::Contiguous)?;
        let size = access.dtype.bytes();
        let plain = self.frame.set == Set::Avx512 && self.nest.combine.is_none();
        let fills = access.dtype.storage().len() == 1 && lanes as usize * size == self.frame.set.bytes() as usize;
        (plain && fills).then_some((nest.inputs.len(), size))
    }

    /// Counts the elements before the first aligned one. Without any, or in a row of fewer than two blocks, the blocks follow.
    fn head(&mut self, (operand, size): (usize, usize), (lanes, block): (u32, u32), blocks: CodeLabel) {
        self.code.add(X::Cmp_rm64_imm32, &[stack(TOTAL), Op::Immediate32(2 * block as i32)]);
        self.code.jump(When::Less, blocks);
        let outer = self.rank() - 1;
        self.code.add(X::Xor_r64_rm64, &[COUNT, COUNT]);
        self.code.add(X::Sub_r64_rm64, &[COUNT, stack(self.frame.pointer(outer, operand))]);
        self.code.add(X::Shr_rm64_imm8, &[COUNT, Op::Immediate8(size.trailing_zeros() as u8)]);
        self.code.add(X::And_rm64_imm32, &[COUNT, Op::Immediate32(lanes as i32 - 1)]);
        self.code.jump(When::Equal, blocks);
    }

    /// Blocks of at most as many lanes as the accumulators, each over all steps.
    pub(super) fn rows(&mut self, selected: &Selected, lanes: u32) {
        let (next, tail, done) = (self.code.label(), self.code.label(), self.code.label());
        self.code.add(X::Xor_rm32_r32, &[Op::Register(Register::EAX), Op::Register(Register::EAX)]);
        self.code.bind(next);
        self.code.add(X::Cmp_r64_rm64, &[INDEX, stack(TOTAL)]);
        self.code.jump(When::Equal, done);
        self.code.add(X::Cmp_r64_rm64, &[INDEX, stack(LIMIT)]);
        let whole = self.code.label();
        self.code.jump(When::LessOrEqual, whole);
        self.code.jump(When::Always, tail);
        self.code.bind(whole);
        self.steps(&selected.whole);
        self.code.add(X::Add_rm64_imm32, &[INDEX, Op::Immediate32(selected.whole.lanes as i32)]);
        self.code.jump(When::Always, next);
        self.code.bind(tail);
        self.left(lanes);
        self.mask(lanes);
        selected.rest.iter().for_each(|rest| self.steps(rest));
        self.code.add(X::Add_rm64_imm32, &[INDEX, Op::Immediate32(lanes as i32)]);
        // Missing blocks leave the index beyond the end.
        self.code.add(X::Cmp_r64_rm64, &[INDEX, stack(TOTAL)]);
        self.code.jump(When::Below, next);
        self.code.bind(done);
    }

    /// Blocks of a reduction: all lanes over all steps, then the lanes of the last, partial step, which give one element.
    pub(super) fn blocks(&mut self, selected: &Selected, lanes: u32) {
        let done = self.code.label();
        self.code.add(X::Xor_rm32_r32, &[Op::Register(Register::EAX), Op::Register(Register::EAX)]);
        self.before_steps(&selected.whole);
        self.trips(&selected.whole);
        for (operand, [first, _]) in self.moving() {
            self.code.add(X::Mov_r64_rm64, &[SCRATCH, stack(first)]);
            self.code.add(X::Mov_rm64_r64, &[stack(self.frame.pointer(self.rank() - 2, operand)), SCRATCH]);
        }
        for (unit, rest) in selected.rest.iter().enumerate() {
            self.code.add(X::Mov_rm64_imm32, &[INDEX, Op::Immediate32((unit as u32 * lanes) as i32)]);
            self.code.add(X::Cmp_rm64_r64, &[stack(TOTAL), INDEX]);
            self.code.jump(When::LessOrEqual, done);
            self.left(lanes);
            self.mask(lanes);
            self.indices();
            self.step(rest);
        }
        self.code.bind(done);
        self.code.add(X::Xor_rm32_r32, &[Op::Register(Register::EAX), Op::Register(Register::EAX)]);
        self.stretch(&selected.finish, &[], &[]);
    }

    fn steps(&mut self, block: &LoopBlock) {
        self.indices();
        self.before_steps(block);
        self.trips(block);
        self.stretch(&block.after, &[], &[]);
        self.bases_again();
    }

    /// The initial accumulators.
    fn before_steps(&mut self, block: &LoopBlock) {
        let first: Vec<V> = block.carried.iter().map(|&(first, ..)| first).collect();
        let moves: Vec<(V, V)> = block.carried.iter().map(|&(first, held, _)| (held, first)).collect();
        self.stretch(&block.before, &first, &moves);
    }

    /// One step.
    fn step(&mut self, block: &LoopBlock) {
        let last: Vec<V> = block.carried.iter().map(|&(.., last)| last).collect();
        let moves: Vec<(V, V)> = block.carried.iter().map(|&(_, held, last)| (held, last)).collect();
        self.stretch(&block.insts, &last, &moves);
    }

    /// All whole steps.
    fn trips(&mut self, block: &LoopBlock) {
        let (rank, steps) = (self.rank(), self.frame.counter(self.rank() - 2));
        self.code.add(X::Mov_r64_rm64, &[SCRATCH, stack(EXTENTS)]);
        self.code.add(X::Mov_r64_rm64, &[COUNT, Op::Memory(Address::at(POINTERS.scratch, 8 * (rank as i32 - 2)))]);
        // A count in memory would make each step wait for the previous one.
        let left = if self.nest.has_wide_elements() { stack(steps) } else { COUNT };
        if left != COUNT {
            self.code.add(X::Mov_rm64_r64, &[left, COUNT]);
        }
        let (step, done) = (self.code.label(), self.code.label());
        if self.nest.is_blocks() {
            self.code.add(X::Cmp_rm64_imm32, &[COUNT, Op::Immediate32(0)]);
            self.code.jump(When::Equal, done);
        }
        self.code.align();
        self.code.bind(step);
        self.step(block);
        let outputs = self.nest.nest.outputs.len();
        for (operand, access) in self.nest.nest.inputs.iter().enumerate().skip(outputs) {
            if access.inner != Stride::Contiguous {
                continue;
            }
            let base = match self.frame.base(operand) {
                Ok(register) => Op::Register(register),
                Err(offset) => stack(offset),
            };
            let bytes = (LANES * access.dtype.bytes()) as i32;
            self.code.add(X::Add_rm64_imm32, &[base, Op::Immediate32(bytes)]);
        }
        for (operand, [first, _]) in self.moving() {
            self.stride(operand, rank - 2);
            self.code.add(X::Add_rm64_r64, &[stack(first), SCRATCH]);
        }
        self.code.add(X::Sub_rm64_imm32, &[left, Op::Immediate32(1)]);
        self.code.jump(When::NotEqual, step);
        self.code.bind(done);
    }

    /// Restores the pointers from before the steps.
    fn bases_again(&mut self) {
        let nest = self.nest.nest;
        let strides = |access: &ndjit_ir::loops::Access| access.inner == Stride::Contiguous;
        for (operand, access) in nest.inputs.iter().enumerate().skip(nest.outputs.len()) {
            if !strides(access) {
                continue;
            }
            let bytes = (LANES * access.dtype.bytes()) as i32;
            self.code.add(X::Mov_r64_rm64, &[SCRATCH, stack(EXTENTS)]);
            let steps = Address::at(POINTERS.scratch, 8 * (nest.rank as i32 - 2));
            self.code.add(X::Mov_r64_rm64, &[COUNT, Op::Memory(steps)]);
            self.code.add(X::Imul_r64_rm64_imm32, &[COUNT, COUNT, Op::Immediate32(bytes)]);
            let base = match self.frame.base(operand) {
                Ok(register) => Op::Register(register),
                Err(offset) => stack(offset),
            };
            self.code.add(X::Sub_rm64_r64, &[base, COUNT]);
        }
    }

    /// Counts the elements that are left, at most a unit.
    fn left(&mut self, lanes: u32) {
        self.code.add(X::Mov_r64_rm64, &[COUNT, stack(TOTAL)]);
        self.code.add(X::Sub_rm64_r64, &[COUNT, INDEX]);
        self.code.add(X::Mov_rm64_imm32, &[SCRATCH, Op::Immediate32(lanes as i32)]);
        self.code.add(X::Cmp_r64_rm64, &[COUNT, SCRATCH]);
        self.code.add(X::Cmova_r64_rm64, &[COUNT, SCRATCH]);
    }

    /// Stores the mask of as many of a unit's lanes as were counted.
    fn mask(&mut self, lanes: u32) {
        let ones = Op::Immediate32(-1);
        if self.frame.set == Set::Avx2 {
            return self.code.add(X::Mov_rm64_r64, &[stack(TAIL), COUNT]);
        }
        self.code.add(X::Mov_rm64_imm32, &[SCRATCH, ones]);
        self.code.add(X::VEX_Bzhi_r64_rm64_r64, &[SCRATCH, SCRATCH, COUNT]);
        self.code.add(X::Mov_rm64_r64, &[stack(TAIL), SCRATCH]);
        let nest = self.nest.nest;
        if self.nest.alternate || nest.inputs.iter().chain(&nest.outputs).any(|access| access.dtype.storage().len() > 1)
        {
            self.code.add(X::Add_rm64_r64, &[COUNT, COUNT]);
            self.code.add(X::Mov_rm64_imm32, &[SCRATCH, ones]);
            self.code.add(X::VEX_Bzhi_r64_rm64_r64, &[SCRATCH, SCRATCH, COUNT]);
            if self.nest.alternate {
                self.code.add(X::And_rm64_imm32, &[SCRATCH, Op::Immediate32(ALTERNATE as i32)]);
            }
            self.code.add(X::Mov_rm64_r64, &[stack(PAIRS[0]), SCRATCH]);
            self.code.add(X::Shr_rm64_imm8, &[SCRATCH, Op::Immediate8(lanes as u8)]);
            self.code.add(X::Mov_rm64_r64, &[stack(PAIRS[1]), SCRATCH]);
        }
    }
}
