//! Reductions of rows: the accumulators of a block of lanes stay in registers over all steps. In memory each step would wait
//! for the previous store: 0.22 ns instead of 0.08 per element in sums of 100000 `f32`.
//!
//! The loop over steps, the last but one, is emitted inside the loop over blocks of lanes. The first inputs are the
//! accumulators, in the order of the outputs; the others move by [`LANES`] elements from step to step.

use super::lanes::{Emitter, LaneValue, Regs};
use super::memory::OperandStream;
use super::nest::{Args, NestEmitter, argument};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use ndjit_ir::PrimType;
use ndjit_ir::loops::Stride;
use ndjit_ir::reduction::LANES;

impl NestEmitter<'_> {
    /// All steps of a block of lanes: returns the words of the accumulators after the last. `env` has the invariants.
    pub(super) fn steps(
        &self,
        b: &mut FunctionBuilder<'_>,
        args: &mut Args,
        inputs: &[OperandStream],
        mut env: Vec<LaneValue>,
        lanes: u32,
    ) -> Vec<LaneValue> {
        let (accumulators, elements) = inputs.split_at(self.nest.outputs.len());
        let types: Vec<PrimType> = self.body.output_types().collect();
        let steps = b.ins().load(types::I64, argument(), args.extents, 8 * (self.nest.rank as i32 - 2));
        let strides: Vec<Option<Value>> = elements
            .iter()
            .map(|stream| stream.stride.map(|stride| b.ins().ishl_imm_u(stride, i64::from(LANES.ilog2()))))
            .collect();
        let mut emitter = self.emitter(b, args, lanes);
        let words: Vec<LaneValue> = accumulators.iter().flat_map(|stream| emitter.load(stream)).collect();
        let first = registers(&mut emitter, &words, &types);

        let header = b.create_block();
        let mut arguments = self.moving(elements, steps);
        arguments.extend(first.iter().flatten().map(|&value| BlockArg::Value(value)));
        b.ins().jump(header, &arguments);
        b.switch_to_block(header);
        let mut inputs = inputs.to_vec();
        let elements = &mut inputs[self.nest.outputs.len()..];
        let left = self.rebind(b, header, elements);
        for (word, (values, ty)) in first.iter().zip(&types).enumerate() {
            let parameter = |&value: &Value| {
                let ty = b.func.dfg.value_type(value);
                b.append_block_param(header, ty)
            };
            env[word] = LaneValue::Lanes { regs: values.iter().map(parameter).collect(), bits: ty.bits() };
        }
        let mut emitter = self.emitter(b, args, lanes);
        let words = self.values(&mut emitter, &inputs, &mut env);
        let after = registers(&mut emitter, &words, &types);
        for (stream, stride) in inputs[self.nest.outputs.len()..].iter_mut().zip(&strides) {
            let bytes = (LANES * stream.access.dtype.bytes()) as i64;
            match (stream.access.inner, *stride) {
                (Stride::Contiguous, _) => stream.pointer = b.ins().iadd_imm_s(stream.pointer, bytes),
                (Stride::Strided, Some(stride)) => stream.pointer = b.ins().iadd(stream.pointer, stride),
                (Stride::Strided, None) | (Stride::Broadcast, _) => {}
            }
        }
        let left = b.ins().iadd_imm_s(left, -1);
        let mut arguments = self.moving(&inputs[self.nest.outputs.len()..], left);
        arguments.extend(after.iter().flatten().map(|&value| BlockArg::Value(value)));
        let exit = b.create_block();
        b.ins().brif(left, header, &arguments, exit, &[]);
        b.switch_to_block(exit);
        after.into_iter().zip(&types).map(|(regs, ty)| LaneValue::Lanes { regs, bits: ty.bits() }).collect()
    }
}

/// The registers of words in memory.
pub(super) fn registers(emitter: &mut Emitter<'_, '_>, words: &[LaneValue], types: &[PrimType]) -> Vec<Regs> {
    words.iter().zip(types).map(|(word, &ty)| emitter.regs(word, ty, ty.bits())).collect()
}
