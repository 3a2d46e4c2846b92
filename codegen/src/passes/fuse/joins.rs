//! Joins: the kernel of each joined array stores it as a part of the result. Joins of joins are flattened; joins with
//! equal cuts share kernels if their parts are computed from the same values.

use super::parts::is_join;
use super::{Fusing, KernelPlan, PlanKind};
use ndjit_ir::graph::{NodeKind, Value};
use ndjit_ir::kernel::{KernelKind, Part};
use ndjit_ir::view::View;
use smallvec::SmallVec;

/// A joined array, and its start indices.
type JoinedPart = (Value, SmallVec<[usize; 4]>);

impl Fusing<'_> {
    /// Plans the kernels of joins with equal cuts: one for each part, shared if the parts are computed from the same
    /// values.
    pub(super) fn joining(&self, joins: &[Value], needed: &[bool]) -> Vec<KernelPlan> {
        let mut plans: Vec<KernelPlan> = Vec::new();
        for (n, &join) in joins.iter().enumerate() {
            for (number, (operand, starts)) in self.joined(join, needed).into_iter().enumerate() {
                let computed = self.computing(operand, needed);
                // The plans of the first join are in the order of its parts.
                let like = plans.get_mut(number).filter(|like| {
                    n > 0 && computed == Some(like.group) && like.roots.len() < self.groups.limits.outputs
                });
                if let Some(like) = like {
                    like.roots.push(operand);
                    like.stored.push(join);
                    continue;
                }
                let shape = self.graph.shape(operand).clone();
                let view = View::placing(&starts, &shape);
                plans.push(KernelPlan {
                    group: computed.unwrap_or(self.groups.group(join)),
                    space: shape,
                    roots: vec![operand],
                    stored: vec![join],
                    kind: PlanKind::Kind(KernelKind::Part(Box::new(Part {
                        view,
                        into: None,
                        starts: SmallVec::new(),
                    }))),
                });
            }
        }
        plans
    }

    /// Returns `true` if two values are joins with equal cuts.
    pub(super) fn joins_alike(&self, a: Value, b: Value, needed: &[bool]) -> bool {
        let cut = |(part, starts): &JoinedPart| (self.graph.shape_id(*part), starts.clone());
        [a, b].iter().all(|&value| is_join(self.kind(value)))
            && self.graph.shape_id(a) == self.graph.shape_id(b)
            && self.joined(a, needed).iter().map(cut).eq(self.joined(b, needed).iter().map(cut))
    }

    /// Returns the arrays of a join with their start indices, including those of joins without other uses.
    fn joined(&self, join: Value, needed: &[bool]) -> Vec<JoinedPart> {
        let graph = self.graph;
        let mut parts = Vec::new();
        let mut stack = vec![(join, SmallVec::from_elem(0, graph.shape(join).rank()))];
        while let Some((value, starts)) = stack.pop() {
            let inner = self.fuse && !needed[value.index()] && self.groups.is_read_once(value);
            let NodeKind::Concat(axis, ()) = self.kind(value) else {
                parts.push((value, starts));
                continue;
            };
            if value != join && !inner {
                parts.push((value, starts));
                continue;
            }
            let mut starts: SmallVec<[usize; 4]> = starts;
            let first = stack.len();
            for &operand in graph.operands(graph.producer(value)) {
                stack.push((operand, starts.clone()));
                starts[axis as usize] += graph.shape(operand).extents()[axis as usize];
            }
            stack[first..].reverse();
        }
        parts
    }
}
