//! Batching: the computation of one lane, applied to all lanes at once.
//!
//! A function is traced on values that represent one lane ([`Batching::lane`]). Each node that depends on them is
//! copied with one more axis, the first; other nodes are the same for all lanes. Loops whose lanes stop together stay
//! one loop. If lanes stop separately, a loop of small states runs until the last one stops; other control flow runs
//! lane after lane. Results equal those of a loop over the lanes bit for bit, except matrix products, which are within
//! their error bound.

mod control;
mod lanes;
mod nodes;

pub use lanes::Batching;

use crate::append::{Appender, OpenGraph, appended};
use ndjit_ir::graph::{Identity, NodeId, NodeKind, RuleKind, Value};
use ndjit_ir::{Result, SourceLoc};
use rustc_hash::FxHashMap;

impl Batching {
    /// Returns the batched outputs, with the lanes along the first axis. Outputs equal for all lanes are repeated.
    ///
    /// # Errors
    /// `Size` if an array is too large; `Shape` if the rank exceeds the maximum.
    pub fn all(&mut self, graph: OpenGraph<'_>, outputs: &[Value], place: SourceLoc) -> Result<Vec<Value>> {
        appended(graph, place, |to| {
            let outputs = self.run(to, outputs);
            outputs.into_iter().map(|output| self.whole(to, output)).collect()
        })
    }

    /// Batches the dependencies of outputs. Returns the outputs, with calls inlined.
    pub(super) fn run(&mut self, to: &Appender, outputs: &[Value]) -> Vec<Value> {
        let mut outputs = outputs.to_vec();
        loop {
            let nodes = self.dependent(to, &outputs);
            let is_call = |id: &NodeId| to.read(|graph| matches!(graph.node(*id).kind, NodeKind::Call(_)));
            if !nodes.iter().any(is_call) || to.has_failed() {
                break;
            }
            outputs = to.rewrite(nodes[0], &mut FxHashMap::default(), &outputs, |id, operands| {
                nodes.binary_search(&id).ok().and_then(|_| to.called(id, operands))
            });
        }
        for id in self.dependent(to, &outputs) {
            let (kind, operands, value) =
                to.read(|graph| (graph.node(id).kind, graph.operands(id).to_vec(), graph.node(id).first()));
            if self.known.contains_key(&value) {
                continue;
            }
            to.at(id);
            match kind {
                NodeKind::Control(n) => control::batched(self, to, (id, n), &operands),
                _ => {
                    let made = nodes::batched(self, to, id, &operands);
                    self.known.insert(value, made);
                }
            }
        }
        outputs
    }

    /// Returns the nodes that depend on lanes and on which outputs depend.
    fn dependent(&self, to: &Appender, outputs: &[Value]) -> Vec<NodeId> {
        to.read(|graph| {
            let base = self.first.index();
            let last = outputs.iter().map(|&output| graph.producer(output).index()).max();
            let Some(count) = last.and_then(|last| (last + 1).checked_sub(base)) else { return Vec::new() };
            let mut reached = vec![false; count];
            let at = |value: Value| graph.producer(value).index().checked_sub(base);
            self.known.keys().filter_map(|&lane| at(lane)).filter(|&at| at < count).for_each(|at| reached[at] = true);
            let mut again = true;
            while std::mem::take(&mut again) {
                for n in 0..count {
                    let id = NodeId((n + base) as u32);
                    let operands = graph.operands(id);
                    reached[n] |= operands.iter().any(|&operand| at(operand).is_some_and(|at| reached[at]));
                    // If a rule of derivatives has lanes, so have all its variables for tangents.
                    let NodeKind::Identity(Identity::Ruled(rule)) = graph.node(id).kind else { continue };
                    let Some(parts) = rule.parts(operands).filter(|_| reached[n]) else { continue };
                    if rule.kind != RuleKind::Checkpoint {
                        for other in parts.outputs.iter().chain(parts.inputs).filter_map(|&value| at(value)) {
                            again |= !std::mem::replace(&mut reached[other], true);
                        }
                    }
                }
            }
            let mut needed = vec![false; count];
            outputs.iter().filter_map(|&output| at(output)).for_each(|at| needed[at] = true);
            for n in (0..count).rev() {
                if needed[n] && reached[n] {
                    let operands = graph.operands(NodeId((n + base) as u32));
                    operands.iter().filter_map(|&operand| at(operand)).for_each(|at| needed[at] = true);
                }
            }
            (0..count).filter(|&n| reached[n] && needed[n]).map(|n| NodeId((n + base) as u32)).collect()
        })
    }
}
