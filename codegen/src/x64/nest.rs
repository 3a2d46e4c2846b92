//! A nest: values computed once, blocks of the body, and their loops.
//!
//! The innermost loop is: invariants, a loop over whole blocks of lanes, of short bodies a loop over whole
//! units, and a loop over masked units for the rest. All come from the same body.
//!
//! A nest that accumulates along rows, with a nest that combines accumulators, gives whole blocks of a reduction: accumulators begin
//! in registers, go through all steps and the rest of one, are combined by halves, and one result is stored.

use super::assembler::Assembler;
use super::code::VectorCode;
use super::context::{Combine, LoopBlock, NestContext, Pairs, Selected};
use super::forms;
use super::frame::{Frame, PAIRS, TAIL};
use super::inst::{Base, InvariantAddress, MachineInstKind, RegClass, V, Values};
use super::liveness::{count, results};
use super::loops::LoopEmitter;
use super::pin::pin;
use super::scans;
use super::select::{ConstantTable, Select, SelectedValue, Stream, Tail};
use super::set::Set;
use crate::clif::{AccumulatorLayout, Located, is_long, most_alive};
use ndjit_ir::body::{Body, InstKind, Prim, Reg};
use ndjit_ir::loops::{Access, Role, Stride};
use ndjit_ir::reduction::LANES;
use ndjit_ir::{PrimType, Result};
use smallvec::SmallVec;
use std::iter;

/// The maximum number of instructions of a body with code for whole units: in rows of 126 elements of a stencil, masked units took half of the
/// time. Longer bodies take long beside a mask.
const SHORT: usize = 64;

impl NestContext<'_> {
    /// The code; `None` if a part is for other code generators.
    pub(super) fn emit(&self) -> Result<Option<VectorCode>> {
        let moves = |access: &Access| {
            access.inner == Stride::Strided && !access.is_index() && !self.alternate || access.role == Role::Rows
        };
        if self.nest.inputs.iter().chain(&self.nest.outputs).any(moves) {
            return Ok(None);
        }
        let lanes = match self.form {
            AccumulatorLayout::Rows => self.lanes_of_rows(),
            _ => self.lanes(),
        };
        if self.is_blocks() && !self.has_blocks() || self.prefixes().is_some() && !self.has_scan(lanes) {
            return Ok(None);
        }
        let mut values = Values::default();
        let mut known = ConstantTable::default();
        let operands = self.nest.inputs.len() + self.nest.outputs.len();
        let outer = self.nest.rank - 1 - usize::from(self.form == AccumulatorLayout::Rows);
        let mut frame = Frame::new(self.set, operands, outer);
        for (operand, access) in self.nest.inputs.iter().enumerate().filter(|(_, access)| access.is_index()) {
            let units = if access.inner == Stride::Broadcast { 0 } else { self.units() };
            frame.take_indices(operand, units);
            if self.set == Set::Avx512 && units > 0 && frame.numbers.is_none() {
                let lanes = (units as u32 * self.set.bytes()) as usize / 8;
                let numbers: Vec<u8> = (0..lanes as u64).flat_map(u64::to_le_bytes).collect();
                frame.numbers = Some(known.constants.vector(&numbers));
            }
        }
        let Some(selected) = self.select(&mut values, &mut known, lanes, &frame) else { return Ok(None) };
        let reserved = pin(self.set, &mut values, &selected);
        self.write(&mut values, &mut known, &selected, (lanes, reserved), frame)
    }

    fn is_alternate(&self, access: &Access) -> bool {
        self.alternate && access.inner == Stride::Strided && !access.is_index()
    }

    /// Returns `true` for whole blocks of a reduction.
    pub(super) fn is_blocks(&self) -> bool {
        self.combine.is_some() && self.prefixes().is_none()
    }

    /// Returns the combination of a scan.
    pub(super) fn prefixes(&self) -> Option<Combine<'_>> {
        self.combine.filter(|combine| combine.pairs == Pairs::Prefixes)
    }

    /// Returns `true` if there are elements of 16 bytes, whose addresses take another register.
    pub(super) fn has_wide_elements(&self) -> bool {
        self.nest.inputs.iter().chain(&self.nest.outputs).any(|access| access.dtype.bytes() > 8)
    }

    /// Lanes of a unit: as many of the widest type as a register has.
    fn lanes(&self) -> u32 {
        fn widest(body: &Body, set: Set) -> u32 {
            let types = body.types.iter().filter(|&&ty| ty != PrimType::Bool).map(|ty| ty.bits());
            let inside = body.insts.iter().map(|inst| match &inst.kind {
                InstKind::If(inner) | InstKind::Repeat { body: inner, .. } => widest(inner, set),
                // AVX2 shifts lanes of 32 bits and more by separate counts.
                InstKind::Prim(Prim::Shl | Prim::Ushr | Prim::Sshr)
                    if set == Set::Avx2 && !is_constant(body, inst.args[1]) =>
                {
                    32
                }
                // Products and shifts of bytes are computed in 16 bits.
                InstKind::Prim(Prim::Imul | Prim::Smulhi | Prim::Umulhi | Prim::Shl | Prim::Ushr | Prim::Sshr) => 16,
                InstKind::Prim(_) | InstKind::Const(_) | InstKind::Table(_) | InstKind::Gather { .. } => 8,
            });
            types.chain(inside).max().unwrap_or(8)
        }
        self.set.bits() / widest(self.body, self.set)
    }

    /// Units of a block: as many as fit the registers, up to four, which hides latencies.
    fn units(&self) -> usize {
        match self.form {
            AccumulatorLayout::Rows => self.units_of_rows(),
            AccumulatorLayout::Pairs => 1,
            AccumulatorLayout::Plain
            | AccumulatorLayout::Columns
            | AccumulatorLayout::Steps { .. }
            | AccumulatorLayout::While { .. } => match (self.set, size(self.body), most_alive(self.body)) {
                (Set::Avx512, 0..=250, 0..=6) | (Set::Avx2, 0..=250, 0..=3) => 4,
                (Set::Avx512, 0..=400, 0..=13) | (Set::Avx2, 0..=400, 0..=6) => 2,
                _ => 1,
            },
        }
    }

    /// Units of the accumulators of rows.
    pub(super) fn units_of_rows(&self) -> usize {
        LANES / self.lanes_of_rows() as usize
    }

    /// Lanes of their units.
    fn lanes_of_rows(&self) -> u32 {
        self.lanes().min(LANES as u32)
    }

    fn select(&self, values: &mut Values, known: &mut ConstantTable, lanes: u32, frame: &Frame) -> Option<Selected> {
        let inputs = self.streams(frame);
        let mut select = Select {
            set: self.set,
            values,
            known,
            insts: Vec::new(),
            units: 1,
            lanes,
            tail: None,
            located: Located::Nowhere,
        };
        let mut env: Vec<SelectedValue> = Vec::with_capacity(self.body.types.len());
        for (n, access) in self.nest.inputs.iter().enumerate() {
            env.extend(access.dtype.storage().iter().map(|_| SelectedValue::Input(n)));
        }
        let literals = self.nest.literals.iter().flat_map(|dtype| dtype.repr());
        for (n, &ty) in literals.enumerate() {
            env.push(SelectedValue::Same(select.literal(ty, n)));
        }
        let mut used = vec![false; self.body.types.len()];
        let read = self.body.insts.iter().flat_map(|i| &i.args).chain(&self.body.outputs);
        read.for_each(|reg| used[reg.index()] = true);
        if self.prefixes().is_some() {
            used[..scans::BEFORE].fill(true);
        }
        for stream in &inputs {
            let words = stream.first..stream.first + stream.access.dtype.storage().len();
            if stream.access.inner == Stride::Broadcast && words.clone().any(|word| used[word]) {
                select.load_first(Reg::from_index(words.start), &mut env, &inputs);
            }
        }
        select.insts(self.body, &self.body.insts[..self.hoisted], &mut env, &inputs, true)?;
        // Constant bools are made once, too.
        for (operand, &ty) in env.iter_mut().zip(&self.body.types) {
            if matches!(operand, SelectedValue::Const(_)) && ty == PrimType::Bool {
                *operand = SelectedValue::Same(select.unit(operand, PrimType::Bool, 0));
            }
        }
        let once = std::mem::take(&mut select.insts);

        if let Some(combine) = self.prefixes() {
            // What is held from unit to unit.
            let held = select.values.make(RegClass::Vector);
            let whole = self.scanned(&mut select, env.clone(), &inputs, (combine, held))?;
            select.tail = Some(self.masked(select.values));
            let rest = vec![self.scanned(&mut select, env, &inputs, (combine, held))?];
            return Some(Selected { once, whole, unit: None, rest, finish: Vec::new() });
        }
        select.units = self.units();
        let whole = self.block(&mut select, env.clone(), &inputs)?;
        if let Some(combine) = self.combine {
            return self.select_rest_of_blocks(select, (once, whole), &env, &inputs, combine);
        }
        let several = std::mem::replace(&mut select.units, 1) > 1;
        let unit = match several && self.form != AccumulatorLayout::Rows && size(self.body) <= SHORT {
            true => Some(self.block(&mut select, env.clone(), &inputs)?),
            false => None,
        };
        select.tail = Some(self.masked(select.values));
        let rest = vec![self.block(&mut select, env, &inputs)?];
        Some(Selected { once, whole, unit, rest, finish: Vec::new() })
    }

    /// The selection of a unit's existing lanes.
    pub(super) fn masked(&self, values: &mut Values) -> Tail {
        let frame = |offset: i32| InvariantAddress { base: Base::Frame, offset, broadcast: None };
        let mut mask = |offset: i32| values.make_known(RegClass::Mask, frame(offset));
        match self.set {
            Set::Avx512 => Tail::Masked { lanes: mask(TAIL), pairs: PAIRS.map(&mut mask) },
            Set::Avx2 => Tail::Counted,
        }
    }

    /// The body on a block of lanes.
    fn block(&self, select: &mut Select<'_>, mut env: Vec<SelectedValue>, inputs: &[Stream]) -> Option<LoopBlock> {
        let mut block = LoopBlock { lanes: select.lanes * select.units as u32, ..LoopBlock::default() };
        let accumulators = if self.form == AccumulatorLayout::Rows { self.nest.outputs.len() } else { 0 };
        for stream in &inputs[..accumulators] {
            for (word, operand) in self.begin(select, stream).into_iter().enumerate() {
                let first: SmallVec<[V; 4]> = match operand {
                    SelectedValue::Units(first) => first,
                    SelectedValue::Same(first) => SmallVec::from_elem(first, select.units),
                    SelectedValue::Const(_) | SelectedValue::Input(_) => return None,
                };
                let held = first.iter().map(|_| select.values.make(RegClass::Vector)).collect();
                env[stream.first + word] = SelectedValue::Units(held);
                let SelectedValue::Units(held) = &env[stream.first + word] else { return None };
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
            if self.is_blocks() {
                return Some(block);
            }
            let mut held = block
                .carried
                .chunks(select.units)
                .map(|units| SelectedValue::Units(units.iter().map(|&(_, held, _)| held).collect()));
            self.stores(select, &mut held);
            block.after = std::mem::take(&mut select.insts);
        } else {
            self.stores(select, &mut after);
            block.insts = std::mem::take(&mut select.insts);
        }
        Some(block)
    }

    /// The initial accumulators.
    fn begin(&self, select: &mut Select<'_>, stream: &Stream) -> Vec<SelectedValue> {
        match self.is_blocks() {
            true => {
                let access = Access { inner: Stride::Broadcast, ..stream.access };
                select.load(&Stream { access, ..*stream })
            }
            false => select.load(stream),
        }
    }

    pub(super) fn stores(&self, select: &mut Select<'_>, values: &mut dyn Iterator<Item = SelectedValue>) {
        for (n, access) in self.nest.outputs.iter().enumerate() {
            select.located = Located::Store(n);
            let words: Vec<SelectedValue> = values.take(access.dtype.storage().len()).collect();
            let (operand, alternate) = (self.nest.inputs.len() + n, self.is_alternate(access));
            let stream = Stream { operand, access: *access, first: 0, indices: None, alternate };
            select.store(&stream, &words);
        }
        select.located = Located::Nowhere;
    }

    fn streams(&self, frame: &Frame) -> Vec<Stream> {
        let mut first = 0;
        let mut streams = Vec::new();
        for (operand, &access) in self.nest.inputs.iter().enumerate() {
            let indices = frame.indices(operand).map(|[_, lanes]| lanes);
            streams.push(Stream { operand, access, first, indices, alternate: self.is_alternate(&access) });
            first += access.dtype.storage().len();
        }
        streams
    }

    /// All code, outermost loops first.
    fn write(
        &self,
        values: &mut Values,
        known: &mut ConstantTable,
        selected: &Selected,
        (lanes, reserved): (u32, u64),
        mut frame: Frame,
    ) -> Result<Option<VectorCode>> {
        let outer = self.nest.rank - 1 - usize::from(self.form == AccumulatorLayout::Rows);
        // Values made once without a register have memory.
        let mut made = Vec::new();
        results(&selected.once, &mut |v| made.push(v));
        let mut needed = vec![0usize; values.len()];
        count(&selected.finish, &mut needed);
        for block in iter::once(&selected.whole).chain(&selected.unit).chain(&selected.rest) {
            count(&block.insts, &mut needed);
            block.carried.iter().for_each(|&(_, _, last)| needed[last.0 as usize] += 1);
            count(&block.after, &mut needed);
        }
        for v in made {
            if needed[v.0 as usize] > 0 && values.get(v).pinned.is_none() && values.get(v).known.is_none() {
                values.set_known(v, InvariantAddress { base: Base::Frame, offset: frame.slot(), broadcast: None });
            }
        }

        let mut code = Assembler::default();
        let code = &mut code;
        let exit = code.label();
        let mut writer = LoopEmitter::new(self, values, &mut frame, code, reserved);
        writer.start(selected.whole.lanes, exit);
        let headers = writer.outer_loops(outer);
        writer.bases();
        writer.stretch(&selected.once, &[], &[]);
        if self.is_blocks() {
            writer.blocks(selected, lanes);
        } else if self.form == AccumulatorLayout::Rows {
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
        Ok(Some(VectorCode {
            bytes: assembled.bytes,
            places: assembled.places,
            constants,
            set: self.set,
            lanes: selected.whole.lanes as usize,
        }))
    }
}

impl Select<'_> {
    /// The value of a literal's register.
    fn literal(&mut self, ty: PrimType, number: usize) -> V {
        let offset = crate::clif::abi::CELL * number as i32;
        let place = |bits| InvariantAddress { base: Base::Literals, offset, broadcast: Some(bits) };
        if ty != PrimType::Bool {
            return self.known.at(self.values, place(ty.bits()));
        }
        let bytes = self.known.at(self.values, place(8));
        if self.set == Set::Avx2 {
            return bytes;
        }
        self.make(RegClass::Mask, MachineInstKind::Plain(forms::mask_of_bytes()), &[bytes])
    }
}

fn is_constant(body: &Body, reg: Reg) -> bool {
    body.definition(reg).is_some_and(|inst| matches!(inst.kind, InstKind::Const(_)))
}

/// The number of instructions, with those of inner bodies except long cold paths.
fn size(body: &Body) -> usize {
    let sizes = body.insts.iter().map(|inst| match &inst.kind {
        InstKind::Const(_) => 0,
        InstKind::If(inner) | InstKind::Repeat { body: inner, .. } if is_long(inner) => 1,
        InstKind::Prim(_) | InstKind::Table(_) | InstKind::Gather { .. } => 1,
        InstKind::If(inner) | InstKind::Repeat { body: inner, .. } => size(inner),
    });
    sizes.sum()
}
