//! The second pass over groups: reductions that wait for others, and values with a single later kernel as their reader.

use super::groups::{Group, Groups, MAX_OPEN, NONE, Waiting, is_root};
use ndjit_ir::DType;
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Value};
use ndjit_transform::access::Accesses;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// The maximum number of pairs of reductions compared for common reads.
const MAX_SEARCHES: usize = 32;
/// Several groups read the value.
const SEVERAL: u32 = NONE - 1;

impl Groups {
    /// Finds the reductions that could share the kernel of a later one by waiting for it. The later one must not depend
    /// on them.
    pub(super) fn waiting(&self, graph: &Graph<DType>) -> Waiting {
        let mut waiting = Waiting::default();
        let mut searches = 0;
        for (n, &early) in self.reductions.iter().enumerate() {
            let Group { level, nodes, .. } = &self.groups[early as usize];
            let mut later = self.reductions[n + 1..].iter().take(MAX_OPEN).map(|&group| &self.groups[group as usize]);
            let found = later.find(|late| {
                let fits = late.level > *level
                    && late.nodes.len() + nodes.len() <= self.limits.reduced()
                    && late.nodes.iter().all(|&other| nodes.iter().all(|&id| self.beside(graph, id, other)));
                searches += usize::from(fits);
                fits && searches <= MAX_SEARCHES && !needs(graph, &late.nodes, nodes)
            });
            if let Some(late) = found {
                waiting.levels.extend(nodes.iter().map(|&id| (id, late.level)));
                prompt(graph, &late.nodes, &mut waiting.prompt);
            }
        }
        waiting
    }

    /// Merges groups into the only later one that reads them, if it has the same shape. Their values then need no
    /// memory.
    pub(super) fn sink(&mut self, graph: &Graph<DType>, accesses: &Accesses) {
        let mut readers = vec![NONE; self.groups.len()];
        for id in graph.node_ids() {
            let reader = self.group(graph.node(id).first());
            for (n, &operand) in graph.operands(id).iter().enumerate() {
                let rows = n == 0 && matches!(graph.node(id).kind, NodeKind::Gather | NodeKind::Scatter(_));
                let (read, reader) = match accesses.view(operand) {
                    // Operands of views and gathers are stored.
                    Some(_) => (self.group(accesses.base(operand)), SEVERAL),
                    None if rows => (self.group(operand), SEVERAL),
                    None => (self.group(operand), if reader == NONE { SEVERAL } else { reader }),
                };
                if read != NONE && read != reader {
                    let known = &mut readers[read as usize];
                    *known = if *known == NONE || *known == reader { reader } else { SEVERAL };
                }
            }
        }
        for index in rows(graph, accesses) {
            let read = self.group(index);
            if read != NONE {
                readers[read as usize] = SEVERAL;
            }
        }
        let mut last_first: Vec<u32> = (0..self.groups.len() as u32).collect();
        last_first.sort_by_key(|&group| std::cmp::Reverse(self.groups[group as usize].level));
        for group in last_first {
            let reader = readers[group as usize];
            if reader == NONE || reader == SEVERAL {
                continue;
            }
            let reader = self.merged(reader);
            let [from, into] = [group, reader].map(|group| &self.groups[group as usize]);
            let (Some(&a), Some(&b)) = (from.nodes.first(), into.nodes.first()) else { continue };
            let elementwise = [a, b].iter().all(|&id| !is_root(graph.node(id).kind));
            let [a, b] = [a, b].map(|id| graph.shape_id(graph.node(id).first()));
            if elementwise && a == b && from.level < into.level {
                self.merge(&[reader, group], &mut SmallVec::new());
            }
        }
    }
}

/// Returns the values that the runtime reads as indices of rows.
fn rows(graph: &Graph<DType>, accesses: &Accesses) -> Vec<Value> {
    let mut found = Vec::new();
    for id in graph.node_ids() {
        found.extend(accesses.rows(graph.node(id).first()).iter().map(|row| row.index.value));
        if let (NodeKind::Scatter(_), &[x, index, ..]) = (graph.node(id).kind, graph.operands(id)) {
            found.extend(accesses.traced_row(graph, index, graph.shape(x), 0, true).map(|row| row.index.value));
        }
        if let NodeKind::Insert(_) = graph.node(id).kind {
            found.extend(graph.operands(id)[2..].iter().map(|&start| accesses.start(graph, start).value));
        }
    }
    found
}

/// Adds the dependencies of these nodes through ops only.
fn prompt(graph: &Graph<DType>, nodes: &[NodeId], found: &mut FxHashSet<Value>) {
    let mut open: Vec<NodeId> = nodes.to_vec();
    while let Some(id) = open.pop() {
        for &operand in graph.operands(id) {
            let producer = graph.producer(operand);
            if matches!(graph.node(producer).kind, NodeKind::Op(..) | NodeKind::Cast(_)) && found.insert(operand) {
                open.push(producer);
            }
        }
    }
}

/// Returns `true` if one of `nodes` depends on one of `others`, which come before them.
fn needs(graph: &Graph<DType>, nodes: &[NodeId], others: &[NodeId]) -> bool {
    let Some(first) = others.iter().min() else { return false };
    let Some(last) = nodes.iter().max() else { return false };
    let mut of = vec![false; graph.value_count()];
    others.iter().flat_map(|&id| graph.node(id).results()).for_each(|value| of[value.index()] = true);
    for id in graph.node_ids().skip_while(|id| id <= first).take_while(|id| id <= last) {
        let made_of = graph.operands(id).iter().any(|operand| of[operand.index()]);
        graph.node(id).results().for_each(|value| of[value.index()] |= made_of);
    }
    nodes.iter().any(|&id| of[graph.node(id).first().index()])
}
