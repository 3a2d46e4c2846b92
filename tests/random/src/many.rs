//! Random kernels that read many arrays: elementwise ops on most parameters, then reductions, scans, sorts, gathers, scatters or joins.

use crate::graph::Builder;
use ndjit_ir::dtype::DType;
use ndjit_ir::graph::Value;
use ndjit_ir::op::Op;

/// Cheap ops that combine elements, so that the number of inputs limits kernels, not their computation.
const OPS: [Op; 8] =
    [Op::Add, Op::Add, Op::Multiply, Op::Multiply, Op::Subtract, Op::Maximum, Op::BitwiseXor, Op::NotEqual];

impl Builder<'_> {
    /// One value of many parameters, and a kernel on it that reads them.
    pub(super) fn read_many(&mut self) {
        let Some(value) = self.meet() else { return };
        match self.rng.below(8) {
            0..=4 if self.limits.reductions => self.reduce_of(value),
            5 if self.limits.movement && self.limits.dtypes.contains(DType::I64) => self.gather(value),
            6 if self.limits.movement => {
                let others = 4 + self.rng.below(8);
                self.concat(value, others);
            }
            _ => {}
        }
    }

    /// Some parameters and the last value, one op after the other, with occasional views.
    fn meet(&mut self) -> Option<Value> {
        let params = self.graph.params().to_vec();
        let first = self.rng.below(params.len());
        // Few ops, and in half of the programs one dtype: chains of all of them end in bools, or exceed a kernel's computation.
        let ops = [self.rng.pick(&OPS), self.rng.pick(&OPS)];
        let mut met = params[first];
        for at in 1..params.len() - self.rng.below(params.len() / 2 + 1) {
            let param = params[(first + at) % params.len()];
            let param = if self.limits.movement && self.rng.one_in(6) { self.seen(param) } else { param };
            let shapes = [met, param].map(|value| self.graph.shape(value).clone());
            let fits = shapes[0].broadcast(&shapes[1]).and_then(|shape| shape.size().ok());
            if fits.is_none_or(|size| size > self.limits.elements) {
                continue;
            }
            let op = self.rng.pick(&ops);
            let mut pair = [met, param];
            let result = match self.result_type(op, &pair) {
                Some(result) => result,
                None => {
                    let Some(dtype) = self.dtype_in(op.row().domain) else { continue };
                    pair = pair.map(|value| self.cast(value, dtype));
                    let Some(result) = self.result_type(op, &pair) else { continue };
                    result
                }
            };
            met = self.add(op, &pair, result);
        }
        Some(met)
    }
}
