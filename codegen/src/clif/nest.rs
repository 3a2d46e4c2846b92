//! The loops around a body.
//!
//! Outer loops are bottom-tested, with the remaining trips and one pointer per operand in SSA values. The innermost
//! loop is: invariants, a vector loop over whole blocks of lanes, and a scalar loop over the rest, emitted from the
//! same body.

use super::AccumulatorLayout;
use super::cold::is_long;
use super::constants::ConstantPool;
use super::lanes::{Emitter, LaneValue, Located};
use super::memory::OperandStream;
use crate::target::Target;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use ndjit_ir::PrimType;
use ndjit_ir::body::{Body, Inst, InstKind, Reg};
use ndjit_ir::loops::{Access, LoopNest, Stride};

/// A nest being emitted.
pub(super) struct NestEmitter<'a> {
    pub(super) nest: &'a LoopNest,
    pub(super) body: &'a Body,
    pub(super) hoisted: usize,
    pub(super) target: &'a Target,
    /// Lanes of a block of the vector loop; 1 for no such loop.
    pub(super) lanes: u32,
    /// The layout of its accumulators.
    pub(super) form: AccumulatorLayout,
    /// True to record the register of each instruction.
    pub(super) located: bool,
}

/// The kernel's arguments.
pub(super) struct Args {
    pub(super) extents: Value,
    strides: Value,
    literals: Value,
    constants: Value,
    /// The constants table.
    table: ConstantPool,
}

/// The maximum number of registers for accumulators. More would be spilled, and each step would wait for the previous
/// store.
const MOST_KEPT: u32 = 8;

/// Returns the number of lanes of a block: some registers of the widest type, and at least one full register of the
/// narrowest.
///
/// Four registers hide the latency of short chains; with more live values they spill (`asin` of `f64` takes 1.25 times
/// as long as with two). With one, long bodies stall: two make `pow` and `tgamma` of `f32` 1.4 times as fast. More
/// registers cost time in the loop and far more in Cranelift's register allocator.
pub(super) fn block_lanes(body: &Body, form: AccumulatorLayout) -> u32 {
    let mut widths = Vec::new();
    collect_widths(body, &mut widths);
    let widest = widths.iter().copied().max().unwrap_or(8);
    let narrowest = widths.iter().copied().min().unwrap_or(8);
    let registers = match (size(body), most_alive(body)) {
        _ if form == AccumulatorLayout::Pairs => 1,
        (0..=60, 0..=7) => 4,
        (0..=400, 0..=24) => 2,
        _ => 1,
    };
    let kept = if matches!(form, AccumulatorLayout::Rows | AccumulatorLayout::Columns) {
        body.outputs.len() as u32
    } else {
        0
    };
    let registers = if registers * kept > MOST_KEPT { (registers / 2).max(1) } else { registers };
    (registers * 128 / widest).max(128 / narrowest)
}

fn collect_widths(body: &Body, widths: &mut Vec<u32>) {
    widths.extend(body.types.iter().filter(|&&ty| ty != PrimType::Bool).map(|ty| ty.bits()));
    for inst in &body.insts {
        match &inst.kind {
            InstKind::If(inner) if is_long(inner) => {}
            InstKind::If(inner) | InstKind::Repeat { body: inner, .. } => collect_widths(inner, widths),
            InstKind::Const(_) | InstKind::Prim(_) | InstKind::Table(_) | InstKind::Gather { .. } => {}
        }
    }
}

/// Returns the number of vector instructions, with those of inner bodies except long cold paths.
fn size(body: &Body) -> usize {
    let sizes = body.insts.iter().map(|inst| match &inst.kind {
        InstKind::Const(_) => 0,
        InstKind::If(inner) if is_long(inner) => 1,
        InstKind::Prim(_) | InstKind::Table(_) | InstKind::Gather { .. } => 1,
        InstKind::If(inner) | InstKind::Repeat { body: inner, .. } => size(inner),
    });
    sizes.sum()
}

/// Returns the largest number of live instruction results.
pub(crate) fn most_alive(body: &Body) -> usize {
    let mut last = vec![0; body.types.len()];
    for (at, inst) in body.insts.iter().enumerate() {
        inst.args.iter().for_each(|a| last[a.index()] = at);
    }
    body.outputs.iter().for_each(|o| last[o.index()] = body.insts.len());
    let (mut alive, mut most) = (0usize, 0);
    let mut ends = vec![0; body.insts.len() + 1];
    for (at, inst) in body.insts.iter().enumerate() {
        if !matches!(inst.kind, InstKind::Const(_)) {
            for reg in inst.result_regs() {
                alive += 1;
                ends[last[reg.index()]] += 1;
            }
        }
        most = most.max(alive);
        alive -= ends[at];
        ends[at] = 0;
    }
    most
}

impl NestEmitter<'_> {
    fn operands(&self) -> impl Iterator<Item = &Access> {
        self.nest.inputs.iter().chain(&self.nest.outputs)
    }

    /// Emits the whole function. Returns its constants.
    pub(super) fn emit(&self, b: &mut FunctionBuilder<'_>) -> ConstantPool {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let params = b.block_params(entry).to_vec();
        let mut args = Args {
            extents: params[1],
            strides: params[2],
            literals: params[3],
            constants: params[4],
            table: ConstantPool::default(),
        };

        let start = b.create_block();
        let exit = b.create_block();
        self.leave_if_empty(b, &args, start, exit);
        b.switch_to_block(start);
        let count = self.operands().count();
        let pointers: Vec<Value> =
            (0..count).map(|i| b.ins().load(types::I64, argument(), params[0], 8 * i as i32)).collect();

        let mut pointers = pointers;
        let mut outer = Vec::new();
        for axis in 0..self.nest.rank - 1 - usize::from(self.form == AccumulatorLayout::Rows) {
            let extent = b.ins().load(types::I64, argument(), args.extents, 8 * axis as i32);
            let header = b.create_block();
            let mut first = vec![BlockArg::Value(extent)];
            first.extend(pointers.iter().map(|&p| BlockArg::Value(p)));
            b.ins().jump(header, &first);
            b.switch_to_block(header);
            let left = b.append_block_param(header, types::I64);
            pointers = (0..count).map(|_| b.append_block_param(header, types::I64)).collect();
            outer.push((header, left, pointers.clone()));
        }
        self.innermost(b, &mut args, &pointers);
        for (axis, (header, left, pointers)) in outer.into_iter().enumerate().rev() {
            let left = b.ins().iadd_imm_s(left, -1);
            let mut next = vec![BlockArg::Value(left)];
            for (operand, &pointer) in pointers.iter().enumerate() {
                let stride = self.stride(b, &args, operand, axis);
                next.push(BlockArg::Value(b.ins().iadd(pointer, stride)));
            }
            let after = b.create_block();
            b.ins().brif(left, header, &next, after, &[]);
            b.switch_to_block(after);
        }
        b.ins().jump(exit, &[]);
        b.switch_to_block(exit);
        b.ins().return_(&[]);
        args.table
    }

    fn leave_if_empty(&self, b: &mut FunctionBuilder<'_>, args: &Args, start: Block, exit: Block) {
        let mut empty: Option<Value> = None;
        for axis in 0..self.nest.rank {
            let extent = b.ins().load(types::I64, argument(), args.extents, 8 * axis as i32);
            let zero = b.ins().icmp_imm_s(IntCC::Equal, extent, 0);
            empty = Some(match empty {
                Some(other) => b.ins().bor(other, zero),
                None => zero,
            });
        }
        match empty {
            Some(empty) => b.ins().brif(empty, exit, &[], start, &[]),
            None => b.ins().jump(start, &[]),
        };
    }

    fn stride(&self, b: &mut FunctionBuilder<'_>, args: &Args, operand: usize, axis: usize) -> Value {
        let offset = 8 * (operand * self.nest.rank + axis) as i32;
        b.ins().load(types::I64, argument(), args.strides, offset)
    }

    /// Emits the innermost loop, which has at least one trip.
    fn innermost(&self, b: &mut FunctionBuilder<'_>, args: &mut Args, pointers: &[Value]) {
        let axis = self.nest.rank - 1;
        let total = b.ins().load(types::I64, argument(), args.extents, 8 * axis as i32);
        let mut streams = self.streams(b, args, pointers);
        let once = self.once(&mut self.emitter(b, args, 1), &streams);
        if let AccumulatorLayout::Steps { accumulators } | AccumulatorLayout::While { accumulators } = self.form {
            return self.take_steps(b, args, &streams, total, once, accumulators);
        }

        let (header, exit) = (b.create_block(), b.create_block());
        let mut left = total;
        if self.lanes > 1 {
            let splats = self.splats(&mut self.emitter(b, args, 1), &once);
            let enough = b.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, left, i64::from(self.lanes));
            let blocks = b.create_block();
            let moving = self.moving(&streams, left);
            b.ins().brif(enough, blocks, &moving, header, &moving);
            self.run(b, args, (blocks, header), &streams, splats, self.lanes);
            left = self.rebind(b, header, &mut streams);
            let done = b.ins().icmp_imm_s(IntCC::Equal, left, 0);
            let rest = b.create_block();
            let moving = self.moving(&streams, left);
            b.ins().brif(done, exit, &[], rest, &moving);
            self.run(b, args, (rest, exit), &streams, once, 1);
        } else {
            let moving = self.moving(&streams, left);
            b.ins().jump(header, &moving);
            self.run(b, args, (header, exit), &streams, once, 1);
        }
        b.switch_to_block(exit);
    }

    /// Emits one loop over blocks of `lanes` lanes, from `header` to `exit`. It ends when fewer trips than lanes
    /// remain; `exit` then receives the moving values, unless no trips can remain.
    fn run(
        &self,
        b: &mut FunctionBuilder<'_>,
        args: &mut Args,
        (header, exit): (Block, Block),
        streams: &[OperandStream],
        mut env: Vec<LaneValue>,
        lanes: u32,
    ) {
        let mut streams = streams.to_vec();
        b.switch_to_block(header);
        // The parameters of a loop's header are the moving values.
        let left = self.rebind(b, header, &mut streams);
        let (inputs, outputs) = streams.split_at(self.nest.inputs.len());
        let values = if self.form == AccumulatorLayout::Rows {
            self.steps(b, args, inputs, env, lanes)
        } else {
            self.values(&mut self.emitter(b, args, lanes), inputs, &mut env)
        };
        let mut emitter = self.emitter(b, args, lanes);
        for (n, stream) in outputs.iter().enumerate() {
            let words = stream.access.dtype.storage().len();
            emitter.locate(Located::Store(n));
            emitter.store(stream, &values[stream.first..][..words]);
        }
        emitter.locate(Located::Nowhere);
        for stream in &mut streams {
            let bytes = i64::from(lanes) * stream.access.dtype.bytes() as i64;
            match (stream.access.inner, stream.stride) {
                (Stride::Contiguous, _) => stream.pointer = b.ins().iadd_imm_s(stream.pointer, bytes),
                (Stride::Strided, Some(stride)) => {
                    let step =
                        if lanes == 1 { stride } else { b.ins().ishl_imm_u(stride, i64::from(lanes.trailing_zeros())) };
                    stream.pointer = b.ins().iadd(stream.pointer, step);
                }
                (Stride::Strided, None) | (Stride::Broadcast, _) => {}
            }
        }
        let left = b.ins().iadd_imm_s(left, -i64::from(lanes));
        let moving = self.moving(&streams, left);
        if lanes == 1 {
            b.ins().brif(left, header, &moving, exit, &[]);
        } else {
            let enough = b.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, left, i64::from(lanes));
            b.ins().brif(enough, header, &moving, exit, &moving);
        }
        b.switch_to_block(exit);
    }

    /// Emits the body for a block of lanes, and returns the words to store.
    pub(super) fn values(
        &self,
        emitter: &mut Emitter<'_, '_>,
        inputs: &[OperandStream],
        env: &mut Vec<LaneValue>,
    ) -> Vec<LaneValue> {
        for inst in &self.body.insts[self.hoisted..] {
            if emitter.step.as_ref().is_none_or(|step| inst.result_regs().any(|reg| step.rows.needs(reg))) {
                emitter.insts(self.body, std::slice::from_ref(inst), env, inputs);
            } else {
                env.extend(inst.result_regs().map(|_| LaneValue::Const(0)));
            }
        }
        for &output in &self.body.outputs {
            emitter.load_first(output, env, inputs);
        }
        emitter.locate(Located::Nowhere);
        self.body.outputs.iter().map(|output| env[output.index()].clone()).collect()
    }

    pub(super) fn emitter<'e, 'f>(
        &'e self,
        b: &'e mut FunctionBuilder<'f>,
        args: &'e mut Args,
        lanes: u32,
    ) -> Emitter<'e, 'f> {
        Emitter {
            b,
            target: self.target,
            constants_base: args.constants,
            literals_base: args.literals,
            constants: &mut args.table,
            lanes,
            located: self.located,
            step: None,
            looked_up: None,
        }
    }

    /// Returns the operands at the start of the innermost loop. `first` of an output counts the body's outputs.
    fn streams(&self, b: &mut FunctionBuilder<'_>, args: &Args, pointers: &[Value]) -> Vec<OperandStream> {
        let axis = self.nest.rank - 1;
        let mut first = 0;
        let mut streams = Vec::with_capacity(pointers.len());
        for (i, (access, &pointer)) in self.operands().zip(pointers).enumerate() {
            if i == self.nest.inputs.len() {
                first = 0;
            }
            let stride = (access.inner == Stride::Strided).then(|| self.stride(b, args, i, axis));
            streams.push(OperandStream { access: *access, pointer, stride, first });
            first += if i < self.nest.inputs.len() { access.words() } else { access.dtype.storage() }.len();
        }
        streams
    }

    /// Returns the values that change from trip to trip as arguments of a loop's header: the trips left and the moving
    /// pointers.
    pub(super) fn moving(&self, streams: &[OperandStream], left: Value) -> Vec<BlockArg> {
        let pointers = streams.iter().filter(|s| s.access.inner != Stride::Broadcast).map(|s| s.pointer);
        std::iter::once(left).chain(pointers).map(BlockArg::Value).collect()
    }

    /// Replaces the moving values by new parameters of `block`, and returns the trips left.
    pub(super) fn rebind(&self, b: &mut FunctionBuilder<'_>, block: Block, streams: &mut [OperandStream]) -> Value {
        let left = b.append_block_param(block, types::I64);
        for stream in streams.iter_mut().filter(|s| s.access.inner != Stride::Broadcast) {
            stream.pointer = b.append_block_param(block, types::I64);
        }
        left
    }

    /// Emits the values computed once before the innermost loops, as scalars: the operands of the inputs and literals
    /// and of the hoisted instructions.
    fn once(&self, emitter: &mut Emitter<'_, '_>, streams: &[OperandStream]) -> Vec<LaneValue> {
        let mut env = Vec::with_capacity(self.body.types.len());
        for (input, access) in self.nest.inputs.iter().enumerate() {
            env.extend(access.words().iter().map(|_| LaneValue::Input(input)));
        }
        let literals: usize = self.nest.literals.iter().map(|d| d.repr().len()).sum();
        env.extend((0..literals).map(Emitter::literal));
        let used = self.used();
        for stream in &streams[..self.nest.inputs.len()] {
            let words = stream.first..stream.first + stream.access.words().len();
            if stream.access.inner == Stride::Broadcast && words.clone().any(|r| used[r]) {
                emitter.load_first(Reg::from_index(words.start), &mut env, streams);
            }
        }
        emitter.insts(self.body, &self.body.insts[..self.hoisted], &mut env, streams);
        emitter.locate(Located::Nowhere);
        env
    }

    /// Broadcasts the values of `once` to all lanes of a register, for vector code.
    fn splats(&self, emitter: &mut Emitter<'_, '_>, once: &[LaneValue]) -> Vec<LaneValue> {
        let mut used = vec![false; self.body.types.len()];
        mark(&self.body.insts[self.hoisted..], &self.body.outputs, &mut used);
        let operands = once.iter().enumerate().map(|(reg, operand)| {
            if let LaneValue::Lanes { regs, .. } = operand
                && used[reg]
            {
                LaneValue::Splat(emitter.splat(self.body.ty(Reg::from_index(reg)), regs[0]))
            } else {
                operand.clone()
            }
        });
        operands.collect()
    }

    fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.body.types.len()];
        mark(&self.body.insts, &self.body.outputs, &mut used);
        used
    }
}

fn mark(insts: &[Inst], outputs: &[Reg], used: &mut [bool]) {
    for reg in insts.iter().flat_map(|i| &i.args).chain(outputs) {
        used[reg.index()] = true;
    }
}

/// Returns the flags for loads of the kernel's own arguments: valid, aligned words.
pub(super) fn argument() -> MemFlagsData {
    MemFlagsData::trusted()
}
