//! Scans of rows, and loops over scalars: the accumulators stay in registers over the steps of the innermost loop, so each step waits
//! for one op, not for the previous store. One lane at a time.

use super::AccumulatorLayout;
use super::lanes::{LaneValue, Located};
use super::memory::OperandStream;
use super::nest::{Args, NestEmitter};
use super::rows::registers;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use ndjit_ir::PrimType;
use ndjit_ir::loops::Stride;
use smallvec::SmallVec;

impl NestEmitter<'_> {
    /// The innermost loop. `env` has the invariants; the first `accumulators` inputs and outputs do not move. A loop that ends by its
    /// condition evaluates its body once more at the end: no primitive traps.
    pub(super) fn take_steps(
        &self,
        b: &mut FunctionBuilder<'_>,
        args: &mut Args,
        streams: &[OperandStream],
        total: Value,
        mut env: Vec<LaneValue>,
        accumulators: usize,
    ) {
        let words = self.nest.outputs[..accumulators].iter().map(|access| access.dtype.storage().len()).sum();
        let types: Vec<PrimType> = self.body.output_types().take(words).collect();
        let mut emitter = self.emitter(b, args, 1);
        let loaded: Vec<LaneValue> = streams[..accumulators].iter().flat_map(|stream| emitter.load(stream)).collect();
        let first = registers(&mut emitter, &loaded, &types);

        let (header, exit) = (b.create_block(), b.create_block());
        let mut arguments = self.moving(&streams[accumulators..], total);
        arguments.extend(first.iter().flatten().map(|&value| BlockArg::Value(value)));
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
        let (inputs, outputs) = moved.split_at(self.nest.inputs.len());
        let mut emitter = self.emitter(b, args, 1);
        let values = self.values(&mut emitter, inputs, &mut env);
        let after = registers(&mut emitter, &values[..words], &types);
        for (n, stream) in outputs.iter().enumerate().skip(accumulators) {
            let words = stream.access.dtype.storage().len();
            emitter.locate(Located::Store(n));
            emitter.store(stream, &values[stream.first..][..words]);
        }
        emitter.locate(Located::Nowhere);
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
        arguments.extend(after.iter().flatten().map(|&value| BlockArg::Value(value)));
        let (more, last) = if let AccumulatorLayout::While { .. } = self.form {
            let condition = values.len() - 1;
            let types: Vec<PrimType> = self.body.output_types().skip(condition).collect();
            let condition = registers(&mut self.emitter(b, args, 1), &values[condition..], &types);
            (condition[0][0], before)
        } else {
            (left, after)
        };
        b.ins().brif(more, header, &arguments, exit, &[]);
        b.switch_to_block(exit);
        let mut emitter = self.emitter(b, args, 1);
        let last: Vec<LaneValue> =
            last.into_iter().zip(&types).map(|(regs, ty)| LaneValue::Lanes { regs, bits: ty.bits() }).collect();
        for stream in &streams[self.nest.inputs.len()..][..accumulators] {
            let words = stream.access.dtype.storage().len();
            emitter.store(stream, &last[stream.first..][..words]);
        }
    }
}
