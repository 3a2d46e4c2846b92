//! Branches in steps of scalars: both are computed, and the condition chooses. No operation traps, and a gather stays in its array, so the
//! results are those of the branch alone.

use super::{LoopBuilder, LoopGraph, StepOutput, is_one};
use crate::lower::LoweredStep;
use ndjit_ir::graph::{ControlKind, NodeId, NodeKind, Value};
use ndjit_ir::kernel::StmtKind;
use ndjit_ir::{Op, Result};
use ndjit_transform::access::contiguous;

impl LoopBuilder<'_> {
    /// Computes both branches of a `cond` of scalars and arrays of the state, and chooses; returns `false` if that is not supported.
    /// Recursion is bounded by the nesting of control flow.
    pub(super) fn branches(&mut self, walk: &mut LoopGraph<'_>, id: NodeId) -> Result<bool> {
        let graph = walk.graph;
        let NodeKind::Control(number) = graph.node(id).kind else { return Ok(false) };
        let control = &*graph.controls()[number as usize];
        let operands = graph.operands(id);
        let steps = walk.program.steps.iter().filter_map(LoweredStep::control);
        let lowered = steps.into_iter().find(|own| std::ptr::eq(&raw const *own.fused.control.0, control));
        let (ControlKind::Cond, 0, Some(lowered)) = (control.kind, self.state.rank(), lowered) else {
            return Ok(false);
        };
        let Some(condition) = self.scalar(walk, operands[0])? else { return Ok(false) };
        let mut both = Vec::with_capacity(2);
        for (inner, program) in control.graphs.iter().zip(&lowered.bodies) {
            let given: Vec<Value> = inner.operands.iter().map(|&n| operands[n as usize]).collect();
            let known = given.iter().map(|&value| walk.operand(value)).collect::<Result<_>>()?;
            let mut branch = LoopGraph::new(program, known)?;
            for (&param, &value) in branch.graph.params().iter().zip(&given) {
                if !branch.reads(param) {
                    continue;
                }
                match self.value(walk, value)? {
                    Some(StepOutput::Scalar(scalar)) if is_one(graph.shape(value)) => {
                        branch.scalars.insert(param, scalar);
                    }
                    Some(StepOutput::Array(version)) => {
                        branch.versions.insert(param, version);
                    }
                    // An array that is gathered from.
                    Some(StepOutput::Scalar(_)) | None if walk.operand(value)?.is_some() => {}
                    Some(StepOutput::Scalar(_)) | None => return Ok(false),
                }
            }
            let Some(outputs) = self.outputs(branch)? else { return Ok(false) };
            both.push(outputs);
        }
        let [Some(otherwise), Some(then)] = [both.pop(), both.pop()] else { return Ok(false) };
        for ((value, x), y) in graph.node(id).results().zip(then).zip(otherwise) {
            match (x, y) {
                (StepOutput::Scalar(x), StepOutput::Scalar(y)) if is_one(graph.shape(value)) => {
                    let chosen = self.body.push(StmtKind::Op(Op::Where), &[condition, x, y], graph.ty(value));
                    walk.scalars.insert(value, chosen);
                }
                (StepOutput::Array(x), StepOutput::Array(y)) => {
                    let Some(version) = self.chosen(condition, x, y) else { return Ok(false) };
                    walk.versions.insert(value, version);
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

impl LoopGraph<'_> {
    /// Whether a node reads a parameter, or it is an output.
    fn reads(&self, param: Value) -> bool {
        let mut read = self.graph.node_ids().flat_map(|id| self.graph.operands(id)).chain(self.graph.outputs());
        read.any(|&value| value == param)
    }

    /// The operand of the loop that a value is, all of it.
    fn operand(&self, value: Value) -> Result<Option<u32>> {
        let base = self.accesses.base(value);
        let NodeKind::Param(n, _) = self.graph.node(self.graph.producer(base)).kind else { return Ok(None) };
        let (shape, dtype) = (self.graph.shape(value), self.graph.ty(value));
        let whole = shape.size()? == self.graph.shape(base).size()?
            && contiguous(shape, dtype)?.same_elements(&self.layout(value)?, shape);
        Ok(self.operands[n as usize].filter(|_| whole))
    }
}
