//! Scans of rows, and loops over scalars: the accumulators stay in registers over the steps of the innermost loop, so each step waits
//! for one op, not for the previous store. One lane at a time.

use super::AccumulatorLayout;
use super::lanes::{Emitter, LaneValue, Located, StepStores, StoredElement, scalar_type};
use super::memory::OperandStream;
use super::nest::{Args, NestEmitter};
use super::rows::registers;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Type, Value, types};
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
        mut env: Vec<LaneValue>,
        accumulators: usize,
    ) {
        // What stays where it is would take a register and an addition in every step. Where a condition ends the loop, accumulators take them
        // nevertheless: the registers are allocated otherwise then, and steps of Runge and Kutta took 12.7 ns in place of 15.
        let mut streams = streams.to_vec();
        let outputs = &mut streams[self.nest.inputs.len()..];
        let leaves = matches!(self.form, AccumulatorLayout::While { .. });
        let still = if leaves { outputs.len() - 1..outputs.len() } else { 0..accumulators };
        outputs[still].iter_mut().for_each(|stream| stream.access.inner = Stride::Broadcast);
        let streams = &streams[..];
        let words = self.nest.outputs[..accumulators].iter().map(|access| access.dtype.storage().len()).sum();
        let types: Vec<PrimType> = self.body.output_types().take(words).collect();
        let mut emitter = self.emitter(b, args, 1);
        let loaded: Vec<LaneValue> = streams[..accumulators].iter().flat_map(|stream| emitter.load(stream)).collect();
        let first = registers(&mut emitter, &loaded, &types);

        let unforeseen = self.unforeseen(accumulators);
        let known = self.element_stores(streams, &unforeseen);
        let none: Vec<Value> = known.iter().flat_map(|stored| stored.nothing(self, &mut emitter)).collect();

        let (header, exit) = (b.create_block(), b.create_block());
        let mut arguments = self.moving(&streams[accumulators..], total);
        arguments.extend(first.iter().flatten().chain(&none).map(|&value| BlockArg::Value(value)));
        b.ins().jump(header, &arguments);
        b.switch_to_block(header);
        let mut moved = streams.to_vec();
        let left = self.rebind(b, header, &mut moved[accumulators..]);
        let mut before = Vec::with_capacity(first.len());
        for (word, (values, ty)) in first.iter().zip(&types).enumerate() {
            let parameter = |&value: &Value| {
                let ty = b.func.dfg.value_type(value);
                b.append_block_param(header, ty)
            };
            let regs: SmallVec<[Value; 4]> = values.iter().map(parameter).collect();
            env[word] = LaneValue::Lanes { regs: regs.clone(), bits: ty.bits() };
            before.push(regs);
        }
        let mut parameter = |ty: Type| b.append_block_param(header, ty);
        let elements = known.iter().map(|stored| stored.parameters(self, &mut parameter)).collect();
        let (inputs, outputs) = moved.split_at(self.nest.inputs.len());
        let mut emitter = self.emitter(b, args, 1);
        emitter.step = Some(StepStores { elements, unforeseen });
        let values = self.values(&mut emitter, inputs, &mut env);
        let after = registers(&mut emitter, &values[..words], &types);
        // A step whose condition is false changes nothing.
        let condition = if let AccumulatorLayout::While { .. } = self.form {
            let condition = values.len() - 1;
            let types: Vec<PrimType> = self.body.output_types().skip(condition).collect();
            let condition = registers(&mut emitter, &values[condition..], &types);
            Some(condition[0][0])
        } else {
            None
        };
        let stored = accumulators..outputs.len() - usize::from(condition.is_some());
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
                Role::Rows => {
                    let address = match self.chosen(self.body.outputs[stream.first + words]) {
                        Some([condition, address]) => (Some(&env[condition.index()]), &env[address.index()]),
                        None => (None, &values[words]),
                    };
                    emitter.store_at(address, stream, &values[..words]);
                }
                Role::Index => {}
            }
        }
        emitter.locate(Located::Nowhere);
        let stored: Vec<Value> = known.iter().flat_map(|stored| stored.stored(self, &mut emitter, &env)).collect();
        for stream in &mut moved[accumulators..] {
            let bytes = stream.access.dtype.bytes() as i64;
            match (stream.access.inner, stream.stride) {
                (Stride::Contiguous, _) => stream.pointer = b.ins().iadd_imm_s(stream.pointer, bytes),
                (Stride::Strided, Some(stride)) => stream.pointer = b.ins().iadd(stream.pointer, stride),
                (Stride::Strided, None) | (Stride::Broadcast, _) => {}
            }
        }
        let left = b.ins().iadd_imm_s(left, -1);
        let mut arguments = self.moving(&moved[accumulators..], left);
        arguments.extend(after.iter().flatten().chain(&stored).map(|&value| BlockArg::Value(value)));
        let leaving = condition.map(|condition| leave(&after, condition)).unwrap_or_default();
        b.ins().brif(left, header, &arguments, exit, &leaving);
        b.switch_to_block(exit);
        let mut last = after;
        if condition.is_some() {
            let mut parameter = |value: &mut Value| *value = b.append_block_param(exit, b.func.dfg.value_type(*value));
            last.iter_mut().flatten().for_each(&mut parameter);
        }
        let last_condition = condition.map(|condition| b.append_block_param(exit, b.func.dfg.value_type(condition)));
        let mut emitter = self.emitter(b, args, 1);
        if let (Some(condition), Some(stream)) = (last_condition, streams.last()) {
            let bits = self.body.output_types().last().map_or(8, |ty| ty.bits());
            emitter.store(stream, &[LaneValue::Lanes { regs: smallvec![condition], bits }]);
        }
        let last: Vec<LaneValue> =
            last.into_iter().zip(&types).map(|(regs, ty)| LaneValue::Lanes { regs, bits: ty.bits() }).collect();
        for stream in &streams[self.nest.inputs.len()..][..accumulators] {
            let words = stream.access.dtype.storage().len();
            emitter.store(stream, &last[stream.first..][..words]);
        }
    }

    /// The condition and the address, of an address that is -1 unless the condition holds.
    fn chosen(&self, address: Reg) -> Option<[Reg; 2]> {
        let chosen = self.body.definition(address)?;
        let &[condition, address, otherwise] = &chosen.args[..] else { return None };
        let none = matches!(self.body.definition(otherwise)?.kind, InstKind::Const(u64::MAX));
        (none && matches!(chosen.kind, InstKind::Prim(Prim::Select))).then_some([condition, address])
    }

    /// The stores at addresses whose elements the next step may read, at foreseen indices, of inputs with few of them.
    fn element_stores(&self, streams: &[OperandStream], unforeseen: &[bool]) -> Vec<AddressedStore> {
        let (inputs, outputs) = streams.split_at(self.nest.inputs.len());
        let of = |stream: &OperandStream| {
            let dtype = stream.access.dtype;
            let words = stream.first..stream.first + dtype.storage().len();
            let [condition, address] = self.chosen(*self.body.outputs.get(words.end)?)?;
            let row = *self.body.definition(condition)?.args.first()?;
            let base = self.body.definition(address)?.args.clone();
            let rows = |input: &OperandStream| {
                let Access { role, dtype: own, .. } = input.access;
                role == Role::Rows && own == dtype && base.iter().any(|reg| reg.index() == input.first)
            };
            Some(AddressedStore { input: inputs.iter().position(rows)?, row, words: self.body.outputs[words].into() })
        };
        let stores = outputs.iter().filter(|stream| stream.access.role == Role::Rows);
        let stores: Option<Vec<AddressedStore>> = stores.map(of).collect();
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

/// A store at an address: the input with the rows, and the registers of the row and of the words.
struct AddressedStore {
    input: usize,
    row: Reg,
    words: SmallVec<[Reg; 2]>,
}

impl AddressedStore {
    /// The values before the first step: no row.
    fn nothing(&self, nest: &NestEmitter<'_>, emitter: &mut Emitter<'_, '_>) -> Vec<Value> {
        let row = emitter.regs(&LaneValue::Const(u64::MAX), PrimType::I64, 64)[0];
        let zero = |word: &Reg| {
            let ty = nest.body.ty(*word);
            emitter.regs(&LaneValue::Const(0), ty, ty.bits())[0]
        };
        let words: Vec<Value> = self.words.iter().map(zero).collect();
        [row].into_iter().chain(words).collect()
    }

    /// The values of the step before.
    fn parameters(&self, nest: &NestEmitter<'_>, parameter: &mut impl FnMut(Type) -> Value) -> StoredElement {
        let row = parameter(types::I64);
        let words = self.words.iter().map(|&word| parameter(scalar_type(nest.body.ty(word)))).collect();
        StoredElement { input: self.input, row, words }
    }

    /// The values of this step.
    fn stored(&self, nest: &NestEmitter<'_>, emitter: &mut Emitter<'_, '_>, env: &[LaneValue]) -> Vec<Value> {
        let value = |reg: &Reg| {
            let ty = nest.body.ty(*reg);
            emitter.regs(&env[reg.index()], ty, ty.bits())[0]
        };
        [self.row].iter().chain(&self.words).map(value).collect()
    }
}
