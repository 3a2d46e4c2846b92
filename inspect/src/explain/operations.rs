//! The operations of a recording in trace order, and those of several recordings side by side.

use super::explainer::Explainer;
use crate::source::Sources;
use ndjit_ir::graph::{Graph, NodeId, NodeKind, SourceLocs, TypeOf};
use ndjit_ir::promotion::Policy;
use ndjit_ir::support::CastReason;
use ndjit_ir::{DType, SourceLoc, ValueType};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The key that identifies an operation across policies.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct OperationKey {
    /// The op's name, the reduction's, or `cast`.
    pub what: &'static str,
    /// Its source location.
    pub place: Option<SourceLoc>,
    /// The number of earlier operations with the same name and place.
    pub nth: usize,
}

/// One recorded operation under one policy.
pub struct Recorded {
    /// Its key.
    pub key: OperationKey,
    /// Its source text, if readable.
    pub written: Option<String>,
    /// Its type, and its stored dtype.
    pub ty: (ValueType, DType),
}

/// The operations of all columns, in the order of the first; additional ones of a later column keep their order relative to its
/// others.
pub fn merged(columns: &[Vec<Recorded>]) -> Vec<OperationKey> {
    let mut rows: Vec<OperationKey> = Vec::new();
    for column in columns {
        let known: HashSet<OperationKey> = rows.iter().copied().collect();
        let mut preceding: HashMap<OperationKey, Vec<OperationKey>> = HashMap::new();
        let mut new = Vec::new();
        for Recorded { key, .. } in column {
            match known.contains(key) {
                true => preceding.entry(*key).or_default().append(&mut new),
                false => new.push(*key),
            }
        }
        rows = rows
            .into_iter()
            .flat_map(|row| preceding.remove(&row).unwrap_or_default().into_iter().chain([row]))
            .collect();
        rows.append(&mut new);
    }
    rows
}

/// The operations of graphs, at most so many nodes of each.
pub fn recorded<'a>(
    graphs: impl IntoIterator<Item = (&'a Graph<ValueType>, &'a SourceLocs, usize)>,
    policy: Policy,
    sources: &Sources,
) -> Vec<Recorded> {
    let mut reader = OperationReader { policy, sources, counts: HashMap::new(), found: Vec::new() };
    for (graph, places, nodes) in graphs {
        reader.read(graph, places, nodes);
    }
    reader.found
}

struct OperationReader<'a> {
    policy: Policy,
    sources: &'a Sources,
    counts: HashMap<(&'static str, Option<SourceLoc>), usize>,
    found: Vec<Recorded>,
}

/// A graph in reading.
struct Level<'a> {
    graph: &'a Graph<ValueType>,
    places: Arc<SourceLocs>,
    rest: std::vec::IntoIter<NodeId>,
    /// Control flow already read.
    seen: HashSet<u32>,
}

fn level(graph: &Graph<ValueType>, places: Arc<SourceLocs>, limit: usize) -> Level<'_> {
    let nodes: Vec<NodeId> = graph.node_ids().take(limit).collect();
    Level { graph, places, rest: nodes.into_iter(), seen: HashSet::new() }
}

impl OperationReader<'_> {
    /// Reads the first operations of a graph, with those of called functions at their calls, and those of control flow after
    /// it.
    fn read(&mut self, graph: &Graph<ValueType>, places: &SourceLocs, limit: usize) {
        let mut stack = vec![level(graph, Arc::new(places.clone()), limit)];
        while let Some(Level { graph, places, rest, seen }) = stack.last_mut() {
            let Some(id) = rest.next() else {
                stack.pop();
                continue;
            };
            match graph.node(id).kind {
                NodeKind::Cast(CastReason::Mode(_) | CastReason::Promotion) => {}
                NodeKind::Control(n) => {
                    self.note("control flow", id, graph, places);
                    // Several nodes may share control flow.
                    let control = graph.controls().get(n as usize).filter(|_| seen.insert(n));
                    let graphs = control.map_or(&[][..], |control| &control.graphs);
                    let inner = graphs.iter().enumerate();
                    let inner = inner.map(|(which, inner)| level(&inner.graph, places.control(n, which), usize::MAX));
                    let inner: Vec<_> = inner.collect();
                    stack.extend(inner.into_iter().rev());
                }
                NodeKind::Call(n) => {
                    if let Some(child) = graph.children().get(n as usize) {
                        let places = places.child(n);
                        stack.push(level(child, places, usize::MAX));
                    }
                }
                kind if kind.row().ty == TypeOf::Given => {}
                kind => self.note(kind.name(), id, graph, places),
            }
        }
    }

    fn note(&mut self, what: &'static str, id: NodeId, graph: &Graph<ValueType>, places: &SourceLocs) {
        let read = |site| self.sources.snippet(site);
        let explainer = Explainer::new(graph, places).source(&read);
        let mut at: Vec<Option<SourceLoc>> = places.all(id).map(Some).collect();
        if at.is_empty() {
            at.push(None);
        }
        for value in graph.node(id).results() {
            let ty = (graph.ty(value), graph.storage_dtype(value, self.policy));
            for &place in &at {
                let count = self.counts.entry((what, place)).or_default();
                let key = OperationKey { what, place, nth: *count };
                *count += 1;
                let written = place.and_then(|place| explainer.written(id, place)).map(|snippet| snippet.text);
                self.found.push(Recorded { key, written, ty });
            }
        }
    }
}
