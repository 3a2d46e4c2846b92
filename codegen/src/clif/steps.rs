//! Scans of rows, and loops over scalars: the accumulators stay in registers over the steps of the innermost loop, so each step waits
//! for one op, not for the previous store. One lane at a time.

use super::AccumulatorLayout;
use super::affine::{AffineLoop, AffineRows};
use super::lanes::{Emitter, LaneValue, Located, Regs, StepStores, StoredElement, scalar_type};
use super::memory::OperandStream;
use super::nest::{Args, NestEmitter};
use super::rows::registers;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use ndjit_ir::PrimType;
use ndjit_ir::body::{Inst, InstKind, Prim, Reg};
use ndjit_ir::loops::{Access, Role, Stride};
use smallvec::{SmallVec, smallvec};

impl NestEmitter<'_> {
    /// The innermost loop. `env` has the invariants; the first `accumulators` inputs and outputs do not move. A loop that ends by its
    /// condition evaluates its body once more at the end, without its stores: no primitive traps.
    pub(super) fn take_steps(
        &self,
        b: &mut FunctionBuilder<'_>,
        args: &mut Args,
        streams: &[OperandStream],
        total: Value,
        env: Vec<LaneValue>,
        accumulators: usize,
    ) {
        let words = self.nest.outputs[..accumulators].iter().map(|access| access.dtype.storage().len()).sum();
        let types: Vec<PrimType> = self.body.output_types().take(words).collect();
        let mut emitter = self.emitter(b, args, 1);
        let loaded: Vec<LaneValue> = streams[..accumulators].iter().flat_map(|stream| emitter.load(stream)).collect();
        let first = registers(&mut emitter, &loaded, &types);
        let all = StepLoop { streams, env: &env, accumulators, first: &first, types: &types, total };
        let rows = if words == accumulators { AffineRows::new(self, streams, accumulators) } else { None };
        let entered =
            rows.as_ref().and_then(|rows| rows.enter(self, (&mut *b, &mut *args), streams, (total, &env, &first)));
        let (Some(rows), Some((holds, affine))) = (&rows, &entered) else {
            let exit = self.step_loop(b, args, &all, None);
            b.switch_to_block(exit);
            return;
        };
        let (unchecked, checked) = (b.create_block(), b.create_block());
        b.ins().brif(*holds, unchecked, &[], checked, &[]);
        b.switch_to_block(unchecked);
        let exit = self.step_loop(b, args, &all, Some((rows, affine)));
        b.switch_to_block(checked);
        let other = self.step_loop(b, args, &all, None);
        b.switch_to_block(other);
        b.ins().jump(exit, &[]);
        b.switch_to_block(exit);
    }

    /// A loop over steps, with the stores of the accumulators at its end. Returns the block after it.
    fn step_loop(
        &self,
        b: &mut FunctionBuilder<'_>,
        args: &mut Args,
        &StepLoop { streams, env, accumulators, first, types, total }: &StepLoop<'_>,
        affine: Option<(&AffineRows, &AffineLoop)>,
    ) -> Block {
        // What stays where it is would take a register and an addition in every step. Where a condition ends the loop, accumulators take them
        // nevertheless: the registers are allocated otherwise then, and steps of Runge and Kutta took 12.7 ns in place of 15.
        let mut streams = streams.to_vec();
        let outputs = &mut streams[self.nest.inputs.len()..];
        let conditional = matches!(self.form, AccumulatorLayout::While { .. });
        let leaves = conditional && affine.is_none();
        let last = outputs.len() - usize::from(conditional);
        let still = |n: usize| n >= last || (n < accumulators && !leaves);
        let still = outputs.iter_mut().enumerate().filter(|(n, _)| still(*n));
        still.for_each(|(_, stream)| stream.access.inner = Stride::Broadcast);
        let streams = &streams[..];
        let total = affine.map_or(total, |(_, affine)| affine.total);
        let (mut env, words) = (env.to_vec(), types.len());

        let unforeseen = self.unforeseen(accumulators);
        let known = self.element_stores(streams, &unforeseen);
        let flags = affine.map(|(rows, affine)| rows.flags(b, affine, &known)).unwrap_or_default();
        let by_flag = |stored: &AddressedStore| {
            matches!(affine.and_then(|(rows, _)| rows.stored(stored.output)), Some((_, None)))
        };
        let mut none: Vec<Value> = Vec::new();
        for (number, stored) in known.iter().enumerate() {
            let before =
                affine.and_then(|(rows, affine)| rows.before(b, (affine, streams), &flags, (number, stored.output)));
            none.extend(stored.first(
                self,
                &mut self.emitter(b, args, 1),
                before.filter(|_| by_flag(stored)),
                by_flag(stored),
            ));
        }

        let (header, exit) = (b.create_block(), b.create_block());
        let mut arguments = self.moving(&streams[accumulators..], total);
        arguments.extend(first.iter().flatten().chain(&none).map(|&value| BlockArg::Value(value)));
        let distances: Vec<(usize, Value)> =
            affine.map(|(rows, affine)| rows.offsets(affine).collect()).unwrap_or_default();
        let zero = b.ins().iconst(types::I64, 0);
        arguments.extend(distances.iter().map(|_| BlockArg::Value(zero)));
        b.ins().jump(header, &arguments);
        b.switch_to_block(header);
        let mut moved = streams.to_vec();
        let left = self.rebind(b, header, &mut moved[accumulators..]);
        let mut before = Vec::with_capacity(first.len());
        for (word, (values, ty)) in first.iter().zip(types).enumerate() {
            let parameter = |&value: &Value| {
                let ty = b.func.dfg.value_type(value);
                b.append_block_param(header, ty)
            };
            let regs: SmallVec<[Value; 4]> = values.iter().map(parameter).collect();
            env[word] = LaneValue::Lanes { regs: regs.clone(), bits: ty.bits() };
            before.push(regs);
        }
        let mut parameter = |ty: Type| b.append_block_param(header, ty);
        let elements = known.iter().map(|stored| stored.parameters(self, &mut parameter, by_flag(stored))).collect();
        let offsets: Vec<(usize, Value)> = distances.iter().map(|(id, _)| (*id, parameter(types::I64))).collect();
        let rows = affine.map(|(rows, affine)| rows.rows(self, (affine, streams), &offsets, flags)).unwrap_or_default();
        let (inputs, outputs) = moved.split_at(self.nest.inputs.len());
        let mut emitter = self.emitter(b, args, 1);
        emitter.step = Some(StepStores { elements, unforeseen, rows });
        let values = self.values(&mut emitter, inputs, &mut env);
        let step = emitter.step.clone().unwrap_or_default();
        let mut after = registers(&mut emitter, &values[..words], types);
        // What stays the same in a loop takes no register.
        for (word, last) in affine.iter().flat_map(|(_, affine)| affine.last.iter().enumerate()) {
            if last.is_some() {
                after[word] = before[word].clone();
            }
        }
        // A step whose condition is false changes nothing.
        let condition = if leaves {
            let condition = values.len() - 1;
            let types: Vec<PrimType> = self.body.output_types().skip(condition).collect();
            let condition = registers(&mut emitter, &values[condition..], &types);
            Some(condition[0][0])
        } else {
            None
        };
        let stored = accumulators..outputs.len() - usize::from(conditional);
        let leave = |state: &[SmallVec<[Value; 4]>], condition: Value| -> SmallVec<[BlockArg; 8]> {
            state.iter().flatten().chain([&condition]).map(|&value| BlockArg::Value(value)).collect()
        };
        if let Some(condition) = condition {
            let go_on = emitter.b.create_block();
            emitter.b.ins().brif(condition, go_on, &[], exit, &leave(&before, condition));
            emitter.b.switch_to_block(go_on);
        }
        for n in stored {
            let (stream, words) = (&outputs[n], outputs[n].access.dtype.storage().len());
            let values = &values[stream.first..];
            emitter.locate(Located::Store(n));
            match stream.access.role {
                Role::Memory => emitter.store(stream, &values[..words]),
                Role::Rows => match affine.and_then(|(rows, _)| rows.stored(n)) {
                    Some((access, condition)) => {
                        let condition = condition.map(|condition| &env[condition.index()]);
                        emitter.store_affine((condition, access), stream, &values[..words]);
                    }
                    None => {
                        let address = match self.chosen(self.body.outputs[stream.first + words]) {
                            Some([condition, address]) => (Some(&env[condition.index()]), &env[address.index()]),
                            None => (None, &values[words]),
                        };
                        emitter.store_at(address, stream, &values[..words]);
                    }
                },
                Role::Index => {}
            }
        }
        emitter.locate(Located::Nowhere);
        let mut next: Vec<Value> = Vec::new();
        for stored in &known {
            next.extend(stored.stored(self, &mut emitter, &env, by_flag(stored)));
        }
        let index = |stream: &OperandStream, n: usize| n < self.nest.inputs.len() && stream.access.role == Role::Index;
        let needs = |stream: &OperandStream, n| !index(stream, n) || step.rows.needs(Reg::from_index(stream.first));
        for (n, stream) in moved.iter_mut().enumerate().skip(accumulators) {
            let bytes = stream.access.dtype.bytes() as i64;
            match (stream.access.inner, stream.stride) {
                _ if !needs(stream, n) => {}
                (Stride::Contiguous, _) => stream.pointer = b.ins().iadd_imm_s(stream.pointer, bytes),
                (Stride::Strided, Some(stride)) => stream.pointer = b.ins().iadd(stream.pointer, stride),
                (Stride::Strided, None) | (Stride::Broadcast, _) => {}
            }
        }
        let along = offsets.iter().zip(&distances);
        let next_offsets: Vec<(usize, Value)> =
            along.map(|(&(id, offset), &(_, distance))| (id, b.ins().iadd(offset, distance))).collect();
        next.extend(next_offsets.iter().map(|&(_, offset)| offset));
        let ends = affine.and_then(|(rows, affine)| rows.more(b, affine, &next_offsets));
        let next_left = if ends.is_some() { left } else { b.ins().iadd_imm_s(left, -1) };
        let mut arguments = self.moving(&moved[accumulators..], next_left);
        arguments.extend(after.iter().flatten().chain(&next).map(|&value| BlockArg::Value(value)));
        let leaving = condition.map(|condition| leave(&after, condition)).unwrap_or_default();
        b.ins().brif(ends.unwrap_or(next_left), header, &arguments, exit, &leaving);
        b.switch_to_block(exit);
        let mut last = after;
        if condition.is_some() {
            let mut parameter = |value: &mut Value| *value = b.append_block_param(exit, b.func.dfg.value_type(*value));
            last.iter_mut().flatten().for_each(&mut parameter);
        }
        for (word, known) in affine.iter().flat_map(|(_, affine)| affine.last.iter().enumerate()) {
            known.iter().for_each(|&known| last[word] = Regs::from_slice(&[known]));
        }
        let last_condition = condition.map(|condition| b.append_block_param(exit, b.func.dfg.value_type(condition)));
        let last_condition = last_condition.or_else(|| affine?.1.goes_on);
        let mut emitter = self.emitter(b, args, 1);
        if let (Some(condition), Some(stream)) = (last_condition, streams.last()) {
            let bits = self.body.output_types().last().map_or(8, |ty| ty.bits());
            emitter.store(stream, &[LaneValue::Lanes { regs: smallvec![condition], bits }]);
        }
        let last: Vec<LaneValue> =
            last.into_iter().zip(types).map(|(regs, ty)| LaneValue::Lanes { regs, bits: ty.bits() }).collect();
        for stream in &streams[self.nest.inputs.len()..][..accumulators] {
            let words = stream.access.dtype.storage().len();
            emitter.store(stream, &last[stream.first..][..words]);
        }
        let done = b.create_block();
        b.ins().jump(done, &[]);
        done
    }

    /// The condition and the address, of an address that is -1 unless the condition holds.
    pub(super) fn chosen(&self, address: Reg) -> Option<[Reg; 2]> {
        let chosen = self.body.definition(address)?;
        let &[condition, address, otherwise] = &chosen.args[..] else { return None };
        let none = matches!(self.body.definition(otherwise)?.kind, InstKind::Const(u64::MAX));
        (none && matches!(chosen.kind, InstKind::Prim(Prim::Select))).then_some([condition, address])
    }

    /// The store of an output at an address: the input whose rows it stores; `None` for addresses of another form.
    pub(super) fn addressed(&self, streams: &[OperandStream], stream: &OperandStream) -> Option<AddressedStore> {
        let (inputs, outputs) = streams.split_at(self.nest.inputs.len());
        let dtype = stream.access.dtype;
        let words = stream.first..stream.first + dtype.storage().len();
        if stream.access.role != Role::Rows {
            return None;
        }
        let [condition, address] = self.chosen(*self.body.outputs.get(words.end)?)?;
        let row = *self.body.definition(condition)?.args.first()?;
        let base = self.body.definition(address)?.args.clone();
        let rows = |input: &OperandStream| {
            let Access { role, dtype: own, .. } = input.access;
            role == Role::Rows && own == dtype && base.iter().any(|reg| reg.index() == input.first)
        };
        let output = outputs.iter().position(|other| other.first == stream.first)?;
        Some(AddressedStore {
            output,
            input: inputs.iter().position(rows)?,
            row,
            words: self.body.outputs[words].into(),
        })
    }

    /// The stores at addresses whose elements the next step may read, at foreseen indices, of inputs with few of them.
    fn element_stores(&self, streams: &[OperandStream], unforeseen: &[bool]) -> Vec<AddressedStore> {
        let outputs = &streams[self.nest.inputs.len()..];
        let stores = outputs.iter().filter(|stream| stream.access.role == Role::Rows);
        let stores: Option<Vec<AddressedStore>> = stores.map(|stream| self.addressed(streams, stream)).collect();
        let mut stores = stores.unwrap_or_default();
        let count = |input: usize| stores.iter().filter(|stored| stored.input == input).count();
        let read = |input: usize| {
            let reads = |inst: &Inst| {
                let own = matches!(inst.kind, InstKind::Gather { input: from, .. } if from as usize == input);
                own && !unforeseen[inst.args[1].index()]
            };
            self.body.insts.iter().any(reads)
        };
        let useful: Vec<bool> =
            stores.iter().map(|stored| count(stored.input) <= MAX_KNOWN && read(stored.input)).collect();
        let mut useful = useful.into_iter();
        stores.retain(|_| useful.next() == Some(true));
        stores
    }

    /// For each register whether it depends on elements that are read, other than accumulators.
    fn unforeseen(&self, accumulators: usize) -> Vec<bool> {
        let mut unforeseen = vec![false; self.body.types.len()];
        let mut at = 0;
        for (n, access) in self.nest.inputs.iter().enumerate() {
            let read = n >= accumulators && access.role == Role::Memory && access.inner != Stride::Broadcast;
            unforeseen[at..at + access.words().len()].fill(read);
            at += access.words().len();
        }
        for inst in &self.body.insts {
            let read = matches!(inst.kind, InstKind::Gather { .. });
            let read = read || inst.args.iter().any(|arg| unforeseen[arg.index()]);
            inst.result_regs().for_each(|reg| unforeseen[reg.index()] = read);
        }
        unforeseen
    }
}

/// The maximum number of stores to an array whose elements the next step compares its reads with.
const MAX_KNOWN: usize = 2;

/// The loop over steps before it is emitted: the operands, the invariants, the accumulators' words before the first step.
struct StepLoop<'a> {
    streams: &'a [OperandStream],
    env: &'a [LaneValue],
    accumulators: usize,
    first: &'a [Regs],
    types: &'a [PrimType],
    total: Value,
}

/// A store at an address: the output, the input with the rows, and the registers of the row and of the words.
pub(super) struct AddressedStore {
    pub(super) output: usize,
    pub(super) input: usize,
    pub(super) row: Reg,
    words: SmallVec<[Reg; 2]>,
}

impl AddressedStore {
    /// The values before the first step: no row, unless flags tell; the words at an address, if there is one.
    fn first(
        &self,
        nest: &NestEmitter<'_>,
        emitter: &mut Emitter<'_, '_>,
        before: Option<Value>,
        by_flag: bool,
    ) -> Vec<Value> {
        let row = (!by_flag).then(|| emitter.regs(&LaneValue::Const(u64::MAX), PrimType::I64, 64)[0]);
        let words = self.words.iter().enumerate().map(|(word, &reg)| {
            let ty = nest.body.ty(reg);
            match before {
                Some(address) => emitter.load_word(ty, address, word),
                None => emitter.regs(&LaneValue::Const(0), ty, ty.bits())[0],
            }
        });
        let words: Vec<Value> = words.collect();
        row.into_iter().chain(words).collect()
    }

    /// The values of the step before.
    fn parameters(
        &self,
        nest: &NestEmitter<'_>,
        parameter: &mut impl FnMut(Type) -> Value,
        by_flag: bool,
    ) -> StoredElement {
        let row = (!by_flag).then(|| parameter(types::I64));
        let words = self.words.iter().map(|&word| parameter(scalar_type(nest.body.ty(word)))).collect();
        StoredElement { input: self.input, row, words }
    }

    /// The values of this step.
    fn stored(
        &self,
        nest: &NestEmitter<'_>,
        emitter: &mut Emitter<'_, '_>,
        env: &[LaneValue],
        by_flag: bool,
    ) -> Vec<Value> {
        let value = |reg: &Reg| {
            let ty = nest.body.ty(*reg);
            emitter.regs(&env[reg.index()], ty, ty.bits())[0]
        };
        [self.row].iter().skip(usize::from(by_flag)).chain(&self.words).map(value).collect()
    }
}
