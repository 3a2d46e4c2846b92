//! Insertions: kernels that change a part of an array in place, and what they may read of it.

use super::{Fusing, PlanKind};
use ndjit_ir::graph::{NodeKind, Value};
use ndjit_ir::view::View;
use ndjit_transform::access::contiguous;
use rustc_hash::FxHashSet;

impl PlanKind {
    /// The array of which the kernel changes a part.
    pub(super) fn changed(&self) -> Option<Value> {
        match self {
            PlanKind::Scatter(_, x) => Some(*x),
            PlanKind::Kind(kind) => kind.part()?.into,
        }
    }
}

impl Fusing<'_> {
    /// Returns `true` if the updates of an insertion are computed from elements of the array other than the replaced ones. The kernel that
    /// stores them would copy the array first, so they are stored before.
    pub(super) fn reads_elsewhere(&self, updates: Value, (x, view): (Value, &View), starts: &[Value]) -> bool {
        let (graph, shape, space) = (self.graph, self.graph.shape(x), self.graph.shape(updates));
        let Ok(whole) = contiguous(shape, graph.ty(x)) else { return true };
        let own = view.without_starts(starts.len()).layout(&whole);
        let index = |&start: &Value| self.accesses.start(graph, start);
        let is_own = |value: Value| {
            let found = self.accesses.view(value).filter(|_| graph.shape(value) == space);
            let rows = self.accesses.rows(value).iter().map(|row| row.index);
            found.is_some_and(|(_, layout)| *layout == own) && rows.eq(starts.iter().map(index))
        };
        let (mut open, mut seen) = (vec![updates], FxHashSet::default());
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            if self.accesses.base(value) == self.accesses.base(x) {
                match is_own(value) {
                    true => continue,
                    false => return true,
                }
            }
            let id = graph.producer(value);
            if self.accesses.view(value).is_none()
                && matches!(graph.node(id).kind, NodeKind::Op(..) | NodeKind::Cast(_) | NodeKind::Gather)
            {
                open.extend(graph.operands(id));
            }
        }
        false
    }
}
