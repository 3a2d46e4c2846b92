//! A graph with all that it calls and the graphs of its control flow: each of them once, the numbers that they are passed, and how large it is
//! when calls are written out.

use super::{Graph, NodeId, NodeKind, Slot, Type, Value};
use crate::error::{Error, ErrorCode, Result};
use crate::value_type::Weak;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Nodes that calls and control flow may add to those of a program, each graph counted wherever it is called: 2^20. Memory for a text stays
/// in proportion to the text and this.
pub const MAX_EXPANSION: usize = 1 << 20;

impl<T: Type> Graph<T> {
    /// The graph, all that it calls and the graphs of control flow, each once.
    pub fn whole(&self) -> Vec<&Graph<T>> {
        let mut seen: FxHashSet<*const Graph<T>> = FxHashSet::default();
        let (mut all, mut stack) = (Vec::new(), vec![self]);
        while let Some(graph) = stack.pop() {
            all.push(graph);
            let inner = graph.controls().iter().flat_map(|control| &control.graphs).map(|inner| &inner.graph);
            let new = graph.children().iter().chain(inner).filter(|graph| seen.insert(Arc::as_ptr(graph)));
            stack.extend(new.map(|graph| &**graph));
        }
        all
    }

    /// The numbers that are passed at each call, by the position of the argument, wherever in the program they are used.
    pub fn numbers(&self) -> BTreeMap<usize, Weak> {
        let slots = self.whole().into_iter().flat_map(|graph| graph.slots());
        slots.filter_map(Slot::argument).collect()
    }

    /// Counts what a new node adds, written out: control flow once, however many of its results are nodes.
    pub(super) fn count(&mut self, kind: NodeKind<T>, operands: &[Value]) {
        let added = match kind {
            NodeKind::Call(child) => self.children().get(child as usize).map_or(0, |child| child.expanded()),
            NodeKind::Control(n, _) => {
                let next = NodeId::from_index(self.nodes.len());
                match !self.continues(next, n, operands) && self.counted.insert((n, operands.into())) {
                    true => self.controls().get(n as usize).map_or(0, |control| control.expanded()),
                    false => 0,
                }
            }
            _ => 0,
        };
        self.beyond = self.beyond.saturating_add(added);
    }

    /// Returns `true` if the node before is a result of the same control flow, of the same operands, as most are that have several.
    pub(super) fn continues(&self, next: NodeId, n: u32, operands: &[Value]) -> bool {
        let before = next.index().checked_sub(1).map(NodeId::from_index);
        before.is_some_and(|before| {
            matches!(self.node(before).kind, NodeKind::Control(own, _) if own == n) && self.operands(before) == operands
        })
    }

    /// Its nodes, and for each call and each time that control flow stands in it those of its graphs, however often it has the same one;
    /// `usize::MAX` if they are more than that.
    pub fn expanded(&self) -> usize {
        self.node_count().saturating_add(self.beyond)
    }

    /// Refuses a program that is not to be written out.
    ///
    /// # Errors
    /// `Size` if [`expanded`](Graph::expanded) is more than [`MAX_EXPANSION`] above the nodes of [all its graphs](Graph::whole).
    pub fn check_expansion(&self) -> Result<()> {
        // Few programs have so many nodes that their graphs must be looked at.
        let most = || self.whole().iter().map(|graph| graph.node_count()).sum::<usize>().saturating_add(MAX_EXPANSION);
        if self.beyond <= MAX_EXPANSION || self.expanded() <= most() {
            return Ok(());
        }
        let size = match self.expanded() {
            usize::MAX => "more than memory can address".to_owned(),
            size => size.to_string(),
        };
        Err(Error::new(ErrorCode::Size, "inline: calls make the program too large")
            .fact(format_args!("operations, those of a function at each of its calls: {size}"))
            .fact(format_args!("limit: {MAX_EXPANSION} more than are written"))
            .help("repeat with a loop, `fori_loop(0, n, x, |_, x| f.inline((x,)))`, whose body is there once; or jit the parts and call them one after the other"))
    }
}

impl Slot {
    /// Position and kind of the number that fills it, if that is passed at each call.
    pub fn argument(&self) -> Option<(usize, Weak)> {
        match *self {
            Slot::Argument { index, ty } => Some((index, ty)),
            Slot::Value(_) => None,
        }
    }
}
