//! The loops around a body.
//!
//! The innermost dimension is: what does not change along it, a loop over whole blocks of lanes, and a loop over units under a mask
//! for what remains. Both are made from the same body.

use super::Code;
use super::allocate::{Allocator, load, pressure};
use super::assembler::{Address, Assembler, Label, Operand as Op, When};
use super::forms;
use super::frame::{EXTENTS, Frame, LIMIT, PAIRS, POINTERS, STRIDES, TAIL, TOTAL};
use super::inst::{Base, Class, Inst, Kind, Place, V, Values};
use super::select::{Known, Operand, Select, Stream, Tail};
use crate::clif::{Form, Located, is_long, most_alive};
use iced_x86::{Code as X, Register};
use ndjit_ir::body::{Body, InstKind, Prim};
use ndjit_ir::loops::{LoopNest, Stride};
use ndjit_ir::reduction::LANES;
use ndjit_ir::{PrimType, Result};

/// Bits of a register.
const BITS: u32 = 512;
/// Vector registers that a body always has for itself, beyond what it needs at once.
const SPARE: usize = 2;
/// Mask registers for masks that do not change.
const PINNED_MASKS: usize = 2;

/// A nest on its way to code.
pub(super) struct Nest<'a> {
    pub nest: &'a LoopNest,
    pub body: &'a Body,
    pub hoisted: usize,
    pub form: Form,
}

/// What is made of the body, before registers are given to it.
struct Selected {
    once: Vec<Inst>,
    /// Loads of accumulators into values, blocks of lanes, stores.
    whole: Block,
    /// The same of one unit under a mask.
    rest: Block,
}

#[derive(Default)]
struct Block {
    before: Vec<Inst>,
    insts: Vec<Inst>,
    after: Vec<Inst>,
    /// What each accumulator is before the first step, what holds it, and what it is after a step.
    carried: Vec<(V, V, V)>,
    lanes: u32,
}

impl Nest<'_> {
    /// The code; `None` if something in it is for other code generators.
    pub(super) fn emit(&self) -> Result<Option<Code>> {
        let moves = |access: &ndjit_ir::loops::Access| access.inner == Stride::Strided || access.index;
        if self.nest.inputs.iter().chain(&self.nest.outputs).any(moves) {
            return Ok(None);
        }
        let lanes = match self.form {
            Form::Rows => self.lanes().min(LANES as u32),
            _ => self.lanes(),
        };
        let mut values = Values::default();
        let mut known = Known::default();
        let Some(selected) = self.select(&mut values, &mut known, lanes) else { return Ok(None) };
        let reserved = self.pin(&mut values, &selected, lanes);
        self.write(&mut values, &mut known, &selected, lanes, reserved)
    }

    /// Lanes of a unit: of the widest type as many as a register has.
    fn lanes(&self) -> u32 {
        fn widest(body: &Body) -> u32 {
            let types = body.types.iter().filter(|&&ty| ty != PrimType::Bool).map(|ty| ty.bits());
            let inside = body.insts.iter().map(|inst| match &inst.kind {
                InstKind::If(inner) | InstKind::Repeat { body: inner, .. } => widest(inner),
                // Products and shifts of bytes are made of 16 bits.
                InstKind::Prim(Prim::Imul | Prim::Smulhi | Prim::Umulhi | Prim::Shl | Prim::Ushr | Prim::Sshr) => 16,
                InstKind::Prim(_) | InstKind::Const(_) | InstKind::Table(_) => 8,
            });
            types.chain(inside).max().unwrap_or(8)
        }
        BITS / widest(self.body)
    }

    /// Units of a block: as many as registers hold, up to four, which hides what instructions wait for each other.
    fn units(&self, lanes: u32) -> usize {
        match self.form {
            Form::Rows => LANES / lanes as usize,
            Form::Pairs => 1,
            Form::Plain | Form::Columns | Form::Steps { .. } => match (size(self.body), most_alive(self.body)) {
                (0..=60, 0..=6) => 4,
                (0..=250, 0..=13) => 2,
                _ => 1,
            },
        }
    }

    fn select(&self, values: &mut Values, known: &mut Known, lanes: u32) -> Option<Selected> {
        let inputs = self.streams();
        let mut select =
            Select { values, known, insts: Vec::new(), units: 1, lanes, tail: None, located: Located::Nowhere };
        let mut env: Vec<Operand> = Vec::with_capacity(self.body.types.len());
        for (n, access) in self.nest.inputs.iter().enumerate() {
            env.extend(access.dtype.storage().iter().map(|_| Operand::Input(n)));
        }
        let literals = self.nest.literals.iter().flat_map(|dtype| dtype.repr());
        for (n, &ty) in literals.enumerate() {
            env.push(Operand::Same(select.literal(ty, n)));
        }
        let mut used = vec![false; self.body.types.len()];
        let read = self.body.insts.iter().flat_map(|i| &i.args).chain(&self.body.outputs);
        read.for_each(|reg| used[reg.index()] = true);
        for stream in &inputs {
            let words = stream.first..stream.first + stream.access.dtype.storage().len();
            if stream.access.inner == Stride::Broadcast && words.clone().any(|word| used[word]) {
                select.load_first(ndjit_ir::body::Reg::from_index(words.start), &mut env, &inputs);
            }
        }
        select.insts(self.body, &self.body.insts[..self.hoisted], &mut env, &inputs, true)?;
        // Truth values that are constant are made once, too.
        for reg in 0..env.len() {
            if matches!(env[reg], Operand::Const(_)) && self.body.types[reg] == PrimType::Bool {
                env[reg] = Operand::Same(select.unit(&env[reg].clone(), PrimType::Bool, 0));
            }
        }
        let once = std::mem::take(&mut select.insts);

        select.units = self.units(lanes);
        let whole = self.block(&mut select, env.clone(), &inputs)?;
        let frame = |offset: i32| Place { base: Base::Frame, offset, broadcast: None };
        let mut mask = |offset: i32| select.values.make_known(Class::Mask, frame(offset));
        select.tail = Some(Tail { lanes: mask(TAIL), pairs: PAIRS.map(&mut mask) });
        select.units = 1;
        let rest = self.block(&mut select, env, &inputs)?;
        Some(Selected { once, whole, rest })
    }

    /// The body on a block of lanes.
    fn block(&self, select: &mut Select<'_>, mut env: Vec<Operand>, inputs: &[Stream]) -> Option<Block> {
        let mut block = Block { lanes: select.lanes * select.units as u32, ..Block::default() };
        let accumulators = if self.form == Form::Rows { self.nest.outputs.len() } else { 0 };
        for stream in &inputs[..accumulators] {
            for (word, operand) in select.load(stream).into_iter().enumerate() {
                let Operand::Units(first) = operand else { return None };
                let held = first.iter().map(|_| select.values.make(Class::Vector)).collect();
                env[stream.first + word] = Operand::Units(held);
                let Operand::Units(held) = &env[stream.first + word] else { return None };
                block.carried.extend(first.iter().zip(held).map(|(&first, &held)| (first, held, held)));
            }
        }
        block.before = std::mem::take(&mut select.insts);
        select.insts(self.body, &self.body.insts[self.hoisted..], &mut env, inputs, true)?;
        for &output in &self.body.outputs {
            select.load_first(output, &mut env, inputs);
        }
        let mut after = self.body.outputs.iter().map(|output| env[output.index()].clone());
        if accumulators > 0 {
            let mut carried = block.carried.iter_mut();
            for (output, ty) in after.zip(self.body.output_types()) {
                for unit in 0..select.units {
                    let (_, _, last) = carried.next()?;
                    *last = select.unit(&output, ty, unit);
                }
            }
            block.insts = std::mem::take(&mut select.insts);
            let mut held = block
                .carried
                .chunks(select.units)
                .map(|units| Operand::Units(units.iter().map(|&(_, held, _)| held).collect()));
            self.stores(select, &mut held);
            block.after = std::mem::take(&mut select.insts);
        } else {
            self.stores(select, &mut after);
            block.insts = std::mem::take(&mut select.insts);
        }
        Some(block)
    }

    fn stores(&self, select: &mut Select<'_>, values: &mut dyn Iterator<Item = Operand>) {
        for (n, access) in self.nest.outputs.iter().enumerate() {
            select.located = Located::Store(n);
            let words: Vec<Operand> = values.take(access.dtype.storage().len()).collect();
            let stream = Stream { operand: self.nest.inputs.len() + n, access: *access, first: 0 };
            select.store(&stream, &words);
        }
        select.located = Located::Nowhere;
    }

    fn streams(&self) -> Vec<Stream> {
        let mut first = 0;
        let mut streams = Vec::new();
        for (operand, &access) in self.nest.inputs.iter().enumerate() {
            streams.push(Stream { operand, access, first });
            first += access.dtype.storage().len();
        }
        streams
    }

    /// Gives registers to what does not change in the innermost loop, the most used first, and memory to the rest of it. Returns the
    /// registers.
    fn pin(&self, values: &mut Values, selected: &Selected, _: u32) -> u64 {
        let mut free = (0..32u8).rev();
        let mut free_masks = (33..40u8).rev();
        let mut reserved = 0u64;
        let mut most = 32 - SPARE - pressure(&selected.whole.insts, values).min(32 - SPARE);
        for block in [&selected.whole, &selected.rest] {
            let mut free = free.clone();
            for &(_, held, _) in &block.carried {
                let Some(register) = free.next() else { continue };
                values.pin(held, register);
                reserved |= 1 << register;
            }
        }
        let accumulators = selected.whole.carried.len();
        most = most.saturating_sub(accumulators);
        (0..accumulators).for_each(|_| _ = free.next());

        let mut uses = vec![0usize; values.len()];
        count(&selected.whole.insts, &mut uses);
        let mut rest = vec![0usize; values.len()];
        count(&selected.rest.insts, &mut rest);
        let mut made = vec![false; values.len()];
        results(&selected.once, &mut |v| made[v.0 as usize] = true);
        let mut fixed: Vec<V> = (0..values.len() as u32)
            .map(V)
            .filter(|&v| {
                let n = v.0 as usize;
                let constant = values.get(v).class == Class::Vector && values.get(v).known.is_some();
                (uses[n] > 0 || (made[n] && rest[n] > 0)) && (made[n] || constant)
            })
            .collect();
        fixed.sort_by_key(|v| std::cmp::Reverse(uses[v.0 as usize]));
        let mut masks = PINNED_MASKS;
        for v in fixed {
            let register = match values.get(v).class {
                Class::Vector if most > 0 && uses[v.0 as usize] > 0 => {
                    most -= 1;
                    free.next()
                }
                Class::Mask if masks > 0 => {
                    masks -= 1;
                    free_masks.next()
                }
                Class::Vector | Class::Mask => None,
            };
            if let Some(register) = register {
                values.pin(v, register);
                reserved |= 1 << register;
            }
        }
        reserved
    }

    /// All code, outermost loops first.
    fn write(
        &self,
        values: &mut Values,
        known: &mut Known,
        selected: &Selected,
        lanes: u32,
        reserved: u64,
    ) -> Result<Option<Code>> {
        let operands = self.nest.inputs.len() + self.nest.outputs.len();
        let outer = self.nest.rank - 1 - usize::from(self.form == Form::Rows);
        let mut frame = Frame::new(operands, outer);
        // What is made once and has no register has memory.
        let mut made = Vec::new();
        results(&selected.once, &mut |v| made.push(v));
        let mut needed = vec![0usize; values.len()];
        count(&selected.whole.insts, &mut needed);
        count(&selected.rest.insts, &mut needed);
        for block in [&selected.whole, &selected.rest] {
            block.carried.iter().for_each(|&(_, _, last)| needed[last.0 as usize] += 1);
            count(&block.after, &mut needed);
        }
        for v in made {
            if needed[v.0 as usize] > 0 && values.get(v).pinned.is_none() && values.get(v).known.is_none() {
                values.set_known(v, Place { base: Base::Frame, offset: frame.slot(), broadcast: None });
            }
        }

        let mut code = Assembler::default();
        let code = &mut code;
        let exit = code.label();
        let mut writer = Writer { nest: self, values, frame: &mut frame, code, reserved, failed: false };
        writer.start(selected.whole.lanes, exit);
        let headers = writer.outer_loops(outer);
        writer.bases();
        writer.stretch(&selected.once, &[], &[]);
        if self.form == Form::Rows {
            writer.rows(selected, lanes);
        } else {
            writer.innermost(selected, lanes);
        }
        writer.end_outer_loops(&headers);
        writer.code.bind(exit);
        let failed = writer.failed;
        frame.leave(code);
        if failed || frame.is_too_large() {
            return Ok(None);
        }
        let mut entry = Assembler::default();
        frame.enter(&mut entry);
        let assembled = entry.followed_by(std::mem::take(code)).finish()?;
        let constants = std::mem::take(&mut known.constants.cells);
        Ok(Some(Code {
            bytes: assembled.bytes,
            places: assembled.places,
            constants,
            lanes: selected.whole.lanes as usize,
        }))
    }
}

/// Code being written.
struct Writer<'a> {
    nest: &'a Nest<'a>,
    values: &'a Values,
    frame: &'a mut Frame,
    code: &'a mut Assembler,
    reserved: u64,
    failed: bool,
}

const INDEX: Op = Op::Register(POINTERS.index);
const COUNT: Op = Op::Register(POINTERS.count);
const SCRATCH: Op = Op::Register(POINTERS.scratch);

/// The function's memory at this offset.
fn stack(offset: i32) -> Op {
    Op::Memory(Address::at(Register::RSP, offset))
}

impl Writer<'_> {
    fn rank(&self) -> usize {
        self.nest.nest.rank
    }

    fn operands(&self) -> usize {
        self.nest.nest.inputs.len() + self.nest.nest.outputs.len()
    }

    /// Leaves if there is nothing to do; notes extents and pointers; loads what keeps its register in all loops.
    fn start(&mut self, lanes: u32, exit: Label) {
        for axis in 0..self.rank() {
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
        for n in 0..self.values.len() as u32 {
            let value = self.values.get(V(n));
            if let (Some(register), Some(place)) = (value.pinned, value.known) {
                load(self.code, self.frame, place, register);
            }
        }
    }

    /// The beginnings of the loops around the innermost one.
    fn outer_loops(&mut self, outer: usize) -> Vec<Label> {
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

    fn end_outer_loops(&mut self, headers: &[Label]) {
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
    fn bases(&mut self) {
        let outer = self.rank() - 1 - usize::from(self.nest.form == Form::Rows);
        for operand in 0..self.operands() {
            if let Ok(register) = self.frame.base(operand) {
                self.code.add(X::Mov_r64_rm64, &[Op::Register(register), stack(self.frame.pointer(outer, operand))]);
            }
        }
    }

    /// Instructions, after which values are used; then those move where the first of each pair is.
    fn stretch(&mut self, insts: &[Inst], last: &[V], moves: &[(V, V)]) {
        let mut allocator = Allocator::new(self.values, self.frame, self.code, insts, last, self.reserved);
        allocator.run(insts);
        allocator.carry(moves);
        self.failed |= allocator.failed;
        self.code.located = Located::Nowhere;
    }

    fn innermost(&mut self, selected: &Selected, lanes: u32) {
        let (whole, rest, tail, done) = (self.code.label(), self.code.label(), self.code.label(), self.code.label());
        self.code.add(X::Xor_rm32_r32, &[Op::Register(Register::EAX), Op::Register(Register::EAX)]);
        self.code.add(X::Cmp_rm64_imm32, &[stack(LIMIT), Op::Immediate32(0)]);
        self.code.jump(When::Less, rest);
        self.code.align();
        self.code.bind(whole);
        self.stretch(&selected.whole.insts, &[], &[]);
        self.code.add(X::Add_rm64_imm32, &[INDEX, Op::Immediate32(selected.whole.lanes as i32)]);
        self.code.add(X::Cmp_r64_rm64, &[INDEX, stack(LIMIT)]);
        self.code.jump(When::LessOrEqual, whole);
        self.code.bind(rest);
        self.code.add(X::Cmp_r64_rm64, &[INDEX, stack(TOTAL)]);
        self.code.jump(When::Below, tail);
        self.code.jump(When::Always, done);
        self.code.bind(tail);
        self.mask(lanes);
        self.stretch(&selected.rest.insts, &[], &[]);
        self.code.add(X::Add_rm64_imm32, &[INDEX, Op::Immediate32(lanes as i32)]);
        self.code.jump(When::Always, rest);
        self.code.bind(done);
    }

    /// Blocks of at most as many lanes as accumulators have, each of them over all steps.
    fn rows(&mut self, selected: &Selected, lanes: u32) {
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
        self.mask(lanes);
        self.steps(&selected.rest);
        self.code.add(X::Add_rm64_imm32, &[INDEX, Op::Immediate32(lanes as i32)]);
        // What there is not leaves the index beyond the end.
        self.code.add(X::Cmp_r64_rm64, &[INDEX, stack(TOTAL)]);
        self.code.jump(When::Below, next);
        self.code.bind(done);
    }

    fn steps(&mut self, block: &Block) {
        let (rank, steps) = (self.rank(), self.frame.counter(self.rank() - 2));
        let first: Vec<V> = block.carried.iter().map(|&(first, ..)| first).collect();
        let moves: Vec<(V, V)> = block.carried.iter().map(|&(first, held, _)| (held, first)).collect();
        self.stretch(&block.before, &first, &moves);
        self.code.add(X::Mov_r64_rm64, &[SCRATCH, stack(EXTENTS)]);
        self.code.add(X::Mov_r64_rm64, &[COUNT, Op::Memory(Address::at(POINTERS.scratch, 8 * (rank as i32 - 2)))]);
        self.code.add(X::Mov_rm64_r64, &[stack(steps), COUNT]);
        let step = self.code.label();
        self.code.align();
        self.code.bind(step);
        let last: Vec<V> = block.carried.iter().map(|&(.., last)| last).collect();
        let moves: Vec<(V, V)> = block.carried.iter().map(|&(_, held, last)| (held, last)).collect();
        self.stretch(&block.insts, &last, &moves);
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
        self.code.add(X::Sub_rm64_imm32, &[stack(steps), Op::Immediate32(1)]);
        self.code.jump(When::NotEqual, step);
        self.stretch(&block.after, &[], &[]);
        self.bases_again();
    }

    /// Pointers as they were before the steps.
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

    /// Notes which lanes of a unit are there.
    fn mask(&mut self, lanes: u32) {
        let ones = Op::Immediate32(-1);
        self.code.add(X::Mov_r64_rm64, &[COUNT, stack(TOTAL)]);
        self.code.add(X::Sub_rm64_r64, &[COUNT, INDEX]);
        self.code.add(X::Mov_rm64_imm32, &[SCRATCH, Op::Immediate32(lanes as i32)]);
        self.code.add(X::Cmp_r64_rm64, &[COUNT, SCRATCH]);
        self.code.add(X::Cmova_r64_rm64, &[COUNT, SCRATCH]);
        self.code.add(X::Mov_rm64_imm32, &[SCRATCH, ones]);
        self.code.add(X::VEX_Bzhi_r64_rm64_r64, &[SCRATCH, SCRATCH, COUNT]);
        self.code.add(X::Mov_rm64_r64, &[stack(TAIL), SCRATCH]);
        let nest = self.nest.nest;
        if nest.inputs.iter().chain(&nest.outputs).any(|access| access.dtype.storage().len() > 1) {
            self.code.add(X::Add_rm64_r64, &[COUNT, COUNT]);
            self.code.add(X::Mov_rm64_imm32, &[SCRATCH, ones]);
            self.code.add(X::VEX_Bzhi_r64_rm64_r64, &[SCRATCH, SCRATCH, COUNT]);
            self.code.add(X::Mov_rm64_r64, &[stack(PAIRS[0]), SCRATCH]);
            self.code.add(X::Shr_rm64_imm8, &[SCRATCH, Op::Immediate8(lanes as u8)]);
            self.code.add(X::Mov_rm64_r64, &[stack(PAIRS[1]), SCRATCH]);
        }
    }
}

impl Select<'_> {
    /// The value of a literal's register.
    fn literal(&mut self, ty: PrimType, number: usize) -> V {
        let offset = crate::clif::abi::CELL * number as i32;
        let place = |bits| Place { base: Base::Literals, offset, broadcast: Some(bits) };
        if ty != PrimType::Bool {
            return self.known.at(self.values, place(ty.bits()));
        }
        let bytes = self.known.at(self.values, place(8));
        self.make(Class::Mask, Kind::Plain(forms::mask_of_bytes()), &[bytes])
    }
}

/// Counts the instructions in which values are used, but for those out of the way.
fn count(insts: &[Inst], uses: &mut [usize]) {
    for inst in insts {
        inst.args.iter().chain(&inst.mask).for_each(|v| uses[v.0 as usize] += 1);
        if let Kind::If(inner) = &inst.kind {
            inner.results.iter().for_each(|(_, default)| uses[default.0 as usize] += 1);
            count(&inner.cold, uses);
        }
    }
}

fn results(insts: &[Inst], f: &mut dyn FnMut(V)) {
    for inst in insts {
        inst.result.into_iter().for_each(&mut *f);
        if let Kind::If(inner) = &inst.kind {
            inner.results.iter().for_each(|&(result, _)| f(result));
        }
    }
}

/// Instructions, with those of inner bodies but for the long ones of rare cases.
fn size(body: &Body) -> usize {
    let sizes = body.insts.iter().map(|inst| match &inst.kind {
        InstKind::Const(_) => 0,
        InstKind::If(inner) | InstKind::Repeat { body: inner, .. } if is_long(inner) => 1,
        InstKind::Prim(_) | InstKind::Table(_) => 1,
        InstKind::If(inner) | InstKind::Repeat { body: inner, .. } => size(inner),
    });
    sizes.sum()
}
