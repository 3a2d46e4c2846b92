//! Affine rows: in a loop over steps, rows that move by the same number in every step. The code before the loop checks their bounds in
//! its first and its last step; in the loop they are a base and an offset that all rows with the same motion share. If a check fails,
//! the steps run in a loop that checks each row.
//!
//! Registers are affine by their instructions (LLVM's scalar evolution: a constant added in each step). The numbers come from the
//! evaluation of the same instructions for the first two steps.

mod checks;

use super::AccumulatorLayout;
use super::memory::OperandStream;
use super::nest::NestEmitter;
use super::steps::AddressedStore;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use ndjit_ir::body::{Inst, InstKind, Prim, Reg};
use ndjit_ir::loops::{Role, Stride};
use smallvec::SmallVec;

/// The minimum number of steps: the checks take the time of about four.
const MIN_STEPS: i64 = 4;

/// Steps, and distances from step to step, are below: a product of two fits.
const LIMIT: i64 = 1 << 31;

/// A register from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evolution {
    Invariant,
    /// Moved by the same number in each step. Registers with the same id move by the same number.
    Affine(usize),
    Varying,
}

/// A condition of all steps under which a register is affine.
#[derive(Clone, Copy, Debug)]
enum Within {
    /// The signed numbers of its type.
    Signed,
    /// The unsigned numbers of its type.
    Unsigned,
    /// At least an invariant.
    Above(Reg),
    /// At most an invariant.
    Below(Reg),
}

/// Elements that a body reads or stores at an affine row.
#[derive(Clone, Copy, Debug)]
struct RowAccess {
    /// The input with the rows.
    input: usize,
    row: Reg,
    evolution: Evolution,
}

/// A store at an affine row.
#[derive(Clone, Copy, Debug)]
struct RowStore {
    access: usize,
    /// The register that must be true, and the one of the row or -1.
    condition: Option<[Reg; 2]>,
}

/// The affine rows of a body.
pub(super) struct AffineRows {
    evolutions: Vec<Evolution>,
    /// The registers that a register equals under the conditions.
    same: Vec<Option<Reg>>,
    within: Vec<(Reg, Within)>,
    accesses: Vec<RowAccess>,
    /// For each output with rows, the store.
    stores: Vec<Option<RowStore>>,
    /// The number of ids.
    ids: usize,
}

/// What a loop over steps with affine rows needs: values computed before it.
pub(super) struct AffineLoop {
    /// The number of steps.
    pub(super) total: Value,
    /// The condition of a `while` loop after them.
    pub(super) goes_on: Option<Value>,
    /// The words after the last step of accumulators that no step needs.
    pub(super) last: Vec<Option<Value>>,
    /// The offset that is not zero before the last step: id, and the value after it.
    end: Option<(usize, Value)>,
    /// The address of each access in the first step.
    bases: Vec<Value>,
    /// The first row of each access.
    rows: Vec<Value>,
    /// For each id of accesses the distance of two steps.
    distances: Vec<Option<Value>>,
}

/// The addresses of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct StepRows {
    /// By access: input, row, base, offset in elements, bytes of an element.
    elements: Vec<(usize, Reg, Value, Option<Value>, usize)>,
    flags: Flags,
    /// The registers that the step needs.
    live: Vec<bool>,
}

/// Whether an access reads what a store stored in the step before: bits of one integer, which takes one register.
#[derive(Clone, Debug, Default)]
pub(super) struct Flags {
    bits: Option<Value>,
    /// Access and store of each bit.
    pairs: SmallVec<[(usize, usize); 4]>,
}

impl AffineRows {
    /// The affine rows of a nest's steps; `None` if there are none.
    pub(super) fn new(nest: &NestEmitter<'_>, streams: &[OperandStream], accumulators: usize) -> Option<AffineRows> {
        let body = nest.body;
        let mut rows = AffineRows {
            evolutions: Vec::with_capacity(body.types.len()),
            same: vec![None; body.types.len()],
            within: Vec::new(),
            accesses: Vec::new(),
            stores: Vec::new(),
            ids: 0,
        };
        for (n, stream) in streams[..nest.nest.inputs.len()].iter().enumerate() {
            let still = stream.access.inner == Stride::Broadcast;
            let evolution = match stream.access.role {
                Role::Memory if n < accumulators => rows.accumulator(nest, stream),
                Role::Memory | Role::Rows if !still => Evolution::Varying,
                Role::Index if !still => rows.moved(),
                Role::Memory | Role::Rows | Role::Index => Evolution::Invariant,
            };
            rows.evolutions.extend(stream.access.words().iter().map(|_| evolution));
        }
        rows.evolutions.resize(body.inputs, Evolution::Invariant);
        for (n, inst) in body.insts.iter().enumerate() {
            let evolution = if n < nest.hoisted { Evolution::Invariant } else { rows.evolution(nest, inst) };
            rows.evolutions.extend(inst.result_regs().map(|_| evolution));
        }
        for inst in &body.insts[nest.hoisted..] {
            if let InstKind::Gather { input, .. } = inst.kind {
                rows.access(streams, input as usize, inst.args[1]);
            }
        }
        for stream in &streams[nest.nest.inputs.len()..] {
            let store = rows.store(nest, streams, stream);
            rows.stores.push(store);
        }
        (!rows.accesses.is_empty()).then_some(rows)
    }

    fn moved(&mut self) -> Evolution {
        self.ids += 1;
        Evolution::Affine(self.ids - 1)
    }

    fn of(&self, reg: Reg) -> Evolution {
        self.evolutions[reg.index()]
    }

    /// An accumulator that each step adds an invariant to, or subtracts one from.
    fn accumulator(&mut self, nest: &NestEmitter<'_>, stream: &OperandStream) -> Evolution {
        let (body, own) = (nest.body, Reg::from_index(stream.first));
        if stream.access.words().len() != 1 || !body.ty(own).is_int() {
            return Evolution::Varying;
        }
        let output = body.outputs[stream.first];
        let known = |reg: Reg| {
            let hoisted = nest.body.insts[..nest.hoisted].last().map_or(body.inputs, |inst| inst.first.index() + 1);
            let mut moving = nest.nest.inputs.iter().flat_map(|access| access.words().iter().map(move |_| access));
            let input = moving.nth(reg.index());
            reg.index() < hoisted && input.is_none_or(|access| access.inner == Stride::Broadcast)
        };
        match body.definition(output) {
            _ if output == own => Evolution::Invariant,
            Some(Inst { kind: InstKind::Prim(Prim::Iadd), args, .. })
                if (args[0] == own && known(args[1])) || (args[1] == own && known(args[0])) =>
            {
                self.moved()
            }
            Some(Inst { kind: InstKind::Prim(Prim::Isub), args, .. }) if args[0] == own && known(args[1]) => {
                self.moved()
            }
            _ => Evolution::Varying,
        }
    }

    fn evolution(&mut self, nest: &NestEmitter<'_>, inst: &Inst) -> Evolution {
        use Evolution::{Affine, Invariant, Varying};
        let prim = match inst.kind {
            InstKind::Const(_) => return Invariant,
            InstKind::Prim(prim) => prim,
            InstKind::Table(_) | InstKind::Gather { .. } | InstKind::If(_) | InstKind::Repeat { .. } => return Varying,
        };
        let own: SmallVec<[Evolution; 3]> = inst.args.iter().map(|&arg| self.of(arg)).collect();
        if own.iter().all(|&evolution| evolution == Invariant) {
            return Invariant;
        }
        match (prim, &own[..]) {
            (Prim::Iadd, [affine @ Affine(_), Invariant] | [Invariant, affine @ Affine(_)])
            | (Prim::Isub, [affine @ Affine(_), Invariant]) => *affine,
            (Prim::Iadd | Prim::Isub, [Affine(_), Affine(_)])
            | (Prim::Isub, [Invariant, Affine(_)])
            | (Prim::Imul | Prim::Shl, [Affine(_), Invariant])
            | (Prim::Imul, [Invariant, Affine(_)])
            | (Prim::Itrunc, [Affine(_)]) => self.moved(),
            (Prim::Sext, [affine @ Affine(_)]) => {
                self.within.push((inst.args[0], Within::Signed));
                *affine
            }
            (Prim::Zext, [affine @ Affine(_)]) => {
                self.within.push((inst.args[0], Within::Unsigned));
                *affine
            }
            // Bounds that hold, and negative indices that do not occur.
            (Prim::Smax, [affine @ Affine(_), Invariant]) => self.is(inst, (0, *affine), Within::Above(inst.args[1])),
            (Prim::Smin, [affine @ Affine(_), Invariant]) => self.is(inst, (0, *affine), Within::Below(inst.args[1])),
            (Prim::Select, [_, _, affine @ Affine(_)]) => {
                let compared = nest.body.definition(inst.args[0]);
                match compared.map(|compared| (&compared.kind, &compared.args[..])) {
                    Some((InstKind::Prim(Prim::Slt), &[x, limit]))
                        if x == inst.args[2] && self.of(limit) == Invariant =>
                    {
                        self.is(inst, (2, *affine), Within::Above(limit))
                    }
                    _ => Varying,
                }
            }
            _ => Varying,
        }
    }

    /// An instruction whose result is an operand while that is within these bounds.
    fn is(&mut self, inst: &Inst, (operand, evolution): (usize, Evolution), within: Within) -> Evolution {
        self.within.push((inst.args[operand], within));
        self.same[inst.first.index()] = Some(inst.args[operand]);
        evolution
    }

    /// The number of the access of a row; `None` if it is not affine.
    fn access(&mut self, streams: &[OperandStream], input: usize, row: Reg) -> Option<usize> {
        if let Some(known) = self.find(input, row) {
            return Some(known);
        }
        let (evolution, rows) = (self.of(row), streams[input].access);
        if evolution == Evolution::Varying || rows.role != Role::Rows || rows.inner != Stride::Broadcast {
            return None;
        }
        self.accesses.push(RowAccess { input, row, evolution });
        Some(self.accesses.len() - 1)
    }

    fn store(&mut self, nest: &NestEmitter<'_>, streams: &[OperandStream], stream: &OperandStream) -> Option<RowStore> {
        let AddressedStore { input, row, .. } = nest.addressed(streams, stream)?;
        if let Some(access) = self.access(streams, input, row) {
            return Some(RowStore { access, condition: None });
        }
        let [condition, chosen] = nest.chosen(row)?;
        Some(RowStore { access: self.access(streams, input, chosen)?, condition: Some([condition, row]) })
    }

    /// The registers that the checks evaluate.
    fn needed(&self, nest: &NestEmitter<'_>, accumulators: usize) -> Vec<bool> {
        let body = nest.body;
        let mut needed = vec![false; body.types.len()];
        let limits = self.within.iter().filter_map(|(_, within)| match *within {
            Within::Above(limit) | Within::Below(limit) => Some(limit),
            Within::Signed | Within::Unsigned => None,
        });
        let moved = (0..accumulators).filter(|&n| matches!(self.evolutions[n], Evolution::Affine(_)));
        let moved = moved.map(|n| body.outputs[n]);
        let rows = self.accesses.iter().map(|access| access.row);
        let compared = self.compared(nest).into_iter().flat_map(|(_, compared)| compared);
        let roots = self.within.iter().map(|&(reg, _)| reg).chain(limits).chain(moved).chain(rows).chain(compared);
        roots.for_each(|reg| needed[reg.index()] = true);
        for inst in body.insts.iter().rev() {
            if inst.result_regs().any(|reg| needed[reg.index()]) {
                match self.same[inst.first.index()] {
                    Some(same) => needed[same.index()] = true,
                    None => inst.args.iter().for_each(|arg| needed[arg.index()] = true),
                }
            }
        }
        needed
    }

    /// The registers that a step needs, besides those of rows: of stores, of conditions, and of accumulators that are not known otherwise.
    fn live(&self, nest: &NestEmitter<'_>, accumulators: usize) -> Vec<bool> {
        let body = nest.body;
        let mut live = vec![false; body.types.len()];
        let (mut at, outputs) = (0, &nest.nest.outputs);
        // Reads compare rows with those of such stores.
        let mut compared = false;
        let conditional = matches!(nest.form, AccumulatorLayout::While { .. });
        for (n, access) in outputs.iter().enumerate() {
            let known = match access.role {
                _ if conditional && n + 1 == outputs.len() => true,
                Role::Index => n > 0 && self.stores[n - 1].is_some(),
                Role::Memory | Role::Rows => n < accumulators && self.known(n),
            };
            for word in 0..access.dtype.storage().len() {
                live[body.outputs[at + word].index()] |= !known;
            }
            at += access.dtype.storage().len();
            let condition = self.stores[n].and_then(|store| store.condition);
            compared |= access.role == Role::Rows && (self.stores[n].is_none() || condition.is_some());
            condition.into_iter().flatten().for_each(|reg| live[reg.index()] = true);
        }
        for inst in body.insts.iter().rev() {
            if inst.result_regs().any(|reg| live[reg.index()]) {
                match inst.kind {
                    InstKind::Gather { input, .. }
                        if !compared && self.find(input as usize, inst.args[1]).is_some() => {}
                    InstKind::Const(_)
                    | InstKind::Prim(_)
                    | InstKind::Table(_)
                    | InstKind::Gather { .. }
                    | InstKind::If(_)
                    | InstKind::Repeat { .. } => inst.args.iter().for_each(|arg| live[arg.index()] = true),
                }
            }
        }
        for n in (0..accumulators).filter(|&n| self.known(n)) {
            if live[n] {
                live[body.outputs[n].index()] = true;
            }
        }
        live
    }

    fn known(&self, accumulator: usize) -> bool {
        self.evolutions[accumulator] != Evolution::Varying
    }

    fn find(&self, input: usize, row: Reg) -> Option<usize> {
        self.accesses.iter().position(|access| access.input == input && access.row == row)
    }

    /// The operands of the comparison by which a `while` loop ends, and 1 if the loop goes on where they are equal.
    fn compared(&self, nest: &NestEmitter<'_>) -> Option<(i64, [Reg; 2])> {
        let AccumulatorLayout::While { .. } = nest.form else { return None };
        let mut compared = nest.body.definition(*nest.body.outputs.last()?)?;
        // A bool is stored as an integer.
        if matches!(compared.kind, InstKind::Prim(Prim::Mask)) {
            compared = nest.body.definition(compared.args[0])?;
        }
        let InstKind::Prim(prim @ (Prim::Slt | Prim::Sle)) = compared.kind else { return None };
        let equal = i64::from(prim == Prim::Sle);
        let [x, y] = compared.args[..] else { return None };
        let one = matches!(
            (self.of(x), self.of(y)),
            (Evolution::Affine(_), Evolution::Invariant) | (Evolution::Invariant, Evolution::Affine(_))
        );
        one.then_some((equal, [x, y]))
    }

    /// The offsets that move from step to step: id, and distance.
    pub(super) fn offsets<'a>(&self, steps: &'a AffineLoop) -> impl Iterator<Item = (usize, Value)> + use<'a> {
        steps.distances.iter().enumerate().filter_map(|(id, distance)| Some((id, (*distance)?)))
    }

    /// The access of an output's rows, and the condition of its store.
    pub(super) fn stored(&self, output: usize) -> Option<(usize, Option<Reg>)> {
        let store = self.stores[output]?;
        Some((store.access, store.condition.map(|[condition, _]| condition)))
    }

    /// Which accesses read what stores stored in the step before.
    pub(super) fn flags(&self, b: &mut FunctionBuilder<'_>, steps: &AffineLoop, stores: &[AddressedStore]) -> Flags {
        let mut flags = Flags::default();
        for (number, stored) in stores.iter().enumerate() {
            let Some((own, None)) = self.stored(stored.output) else { continue };
            let RowAccess { input, evolution, .. } = self.accesses[own];
            let before = match self.distance(steps, evolution) {
                Some(distance) => b.ins().isub(steps.rows[own], distance),
                None => steps.rows[own],
            };
            for (n, access) in self.accesses.iter().enumerate() {
                if access.input == input && access.evolution == evolution && flags.pairs.len() < 64 {
                    let flag = b.ins().icmp(IntCC::Equal, steps.rows[n], before);
                    let flag = b.ins().uextend(types::I64, flag);
                    let flag = b.ins().ishl_imm_u(flag, flags.pairs.len() as i64);
                    flags.bits = Some(flags.bits.map_or(flag, |bits| b.ins().bor(bits, flag)));
                    flags.pairs.push((n, number));
                }
            }
        }
        flags
    }

    fn distance(&self, steps: &AffineLoop, evolution: Evolution) -> Option<Value> {
        match evolution {
            Evolution::Affine(id) => steps.distances[id],
            Evolution::Invariant | Evolution::Varying => None,
        }
    }

    /// The address of a store's element in the step before the first, if the first step reads it; else one of any element.
    pub(super) fn before(
        &self,
        b: &mut FunctionBuilder<'_>,
        (steps, streams): (&AffineLoop, &[OperandStream]),
        flags: &Flags,
        (number, output): (usize, usize),
    ) -> Option<Value> {
        let (own, _) = self.stored(output)?;
        let mask = flags.pairs.iter().enumerate().filter(|(_, (_, store))| *store == number);
        let mask = mask.fold(0, |mask, (bit, _)| mask | 1u64 << bit);
        let read = b.ins().band_imm_u(flags.bits?, mask as i64);
        let access = self.accesses[own];
        let rows = streams[access.input];
        let before = match self.distance(steps, access.evolution) {
            Some(distance) => {
                let bytes = b.ins().imul_imm_s(distance, rows.access.dtype.bytes() as i64);
                b.ins().isub(steps.bases[own], bytes)
            }
            None => steps.bases[own],
        };
        Some(b.ins().select(read, before, rows.pointer))
    }

    /// The rows of a step whose offsets are these.
    pub(super) fn rows(
        &self,
        nest: &NestEmitter<'_>,
        (steps, streams): (&AffineLoop, &[OperandStream]),
        offsets: &[(usize, Value)],
        flags: Flags,
    ) -> StepRows {
        let elements = self.accesses.iter().zip(&steps.bases).map(|(access, &base)| {
            let offset = offsets.iter().find(|(id, _)| access.evolution == Evolution::Affine(*id));
            let bytes = streams[access.input].access.dtype.bytes();
            (access.input, access.row, base, offset.map(|(_, offset)| *offset), bytes)
        });
        StepRows { elements: elements.collect(), flags, live: self.live(nest, steps.last.len()) }
    }

    /// Whether there are more steps, after the one that ends with these offsets; `None` if no offset counts them.
    pub(super) fn more(
        &self,
        b: &mut FunctionBuilder<'_>,
        steps: &AffineLoop,
        offsets: &[(usize, Value)],
    ) -> Option<Value> {
        let (id, end) = steps.end?;
        let (_, offset) = offsets.iter().find(|(own, _)| *own == id)?;
        Some(b.ins().icmp(IntCC::NotEqual, *offset, end))
    }
}

impl StepRows {
    /// The access of a row of an input.
    pub(super) fn find(&self, input: usize, row: Reg) -> Option<usize> {
        self.elements.iter().position(|&(own, of, ..)| own == input && of == row)
    }

    pub(super) fn address(&self, b: &mut FunctionBuilder<'_>, access: usize) -> Value {
        let (.., base, offset, bytes) = self.elements[access];
        let Some(offset) = offset else { return base };
        let offset = b.ins().ishl_imm_u(offset, i64::from(bytes.trailing_zeros()));
        b.ins().iadd(base, offset)
    }

    /// Whether an access reads what a store stored in the step before; `None` if it never does.
    pub(super) fn flag(&self, b: &mut FunctionBuilder<'_>, access: usize, store: usize) -> Option<Value> {
        let bit = self.flags.pairs.iter().position(|&pair| pair == (access, store))?;
        Some(b.ins().band_imm_u(self.flags.bits?, (1u64 << bit) as i64))
    }

    /// Whether the step needs a register.
    pub(super) fn needs(&self, reg: Reg) -> bool {
        self.live.get(reg.index()).is_none_or(|&live| live)
    }
}
