//! The parts of joins, by the values that only they use.

use ndjit_ir::DType;
use ndjit_ir::graph::{Graph, NodeKind};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Nothing reads the value.
const UNREAD: u32 = u32::MAX;

pub(super) fn is_join(kind: NodeKind<DType>) -> bool {
    matches!(kind, NodeKind::Concat(..))
}

/// Returns for each value the number of the only part of a join that uses it, or 0: values of different parts are in
/// different kernels, even of equal shapes. It is empty for a graph without joins.
pub(super) fn parts(graph: &Graph<DType>) -> Vec<u32> {
    if !graph.node_ids().any(|id| is_join(graph.node(id).kind)) {
        return Vec::new();
    }
    let mut numbers: FxHashMap<SmallVec<[usize; 4]>, u32> = FxHashMap::default();
    let mut starts: Vec<SmallVec<[usize; 4]>> = vec![SmallVec::new()];
    let mut parts: Vec<u32> = vec![UNREAD; graph.value_count()];
    graph.outputs().iter().for_each(|output| parts[output.index()] = 0);
    for id in graph.node_ids().rev() {
        let value = graph.node(id).first();
        let own = if parts[value.index()] == UNREAD { 0 } else { parts[value.index()] };
        let kind = graph.node(id).kind;
        let mut offset = 0;
        for &operand in graph.operands(id) {
            let part = match kind {
                NodeKind::Op(..) | NodeKind::Cast(_) => own,
                NodeKind::Concat(axis, ()) => {
                    let rank = graph.shape(value).rank();
                    let mut from = if own == 0 { smallvec![0; rank] } else { starts[own as usize].clone() };
                    if from.len() == rank {
                        from[axis as usize] += offset;
                    }
                    offset += graph.shape(operand).extents()[axis as usize];
                    *numbers.entry(from.clone()).or_insert_with(|| {
                        starts.push(from);
                        starts.len() as u32 - 1
                    })
                }
                _ => 0,
            };
            let known = &mut parts[operand.index()];
            *known = if *known == UNREAD || *known == part { part } else { 0 };
        }
    }
    parts
}
