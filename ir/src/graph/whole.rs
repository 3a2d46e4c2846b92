//! A graph with its callees and the graphs of its control flow: the list of them, their numeric arguments, and the size when calls are
//! expanded.

use super::{Graph, NodeKind, Slot, Type};
use crate::error::{Error, ErrorCode, Result};
use crate::value_type::Weak;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of nodes that calls and control flow may add when expanded: 2^20. It bounds the memory of a text's program.
pub const MAX_EXPANSION: usize = 1 << 20;

impl<T: Type> Graph<T> {
    /// The graph, its callees and the graphs of control flow, each once.
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

    /// The kinds of numbers passed at each call, by the argument's index, in the whole program.
    pub fn numbers(&self) -> BTreeMap<usize, Weak> {
        let slots = self.whole().into_iter().flat_map(|graph| graph.slots());
        slots.filter_map(Slot::argument).collect()
    }

    /// Counts the expanded nodes of a new node.
    pub(super) fn count(&mut self, kind: NodeKind<T>) {
        let added = match kind {
            NodeKind::Call(child) => self.children().get(child as usize).map_or(0, |child| child.expanded()),
            NodeKind::Control(n) => self.controls().get(n as usize).map_or(0, |control| control.expanded()),
            _ => 0,
        };
        self.beyond = self.beyond.saturating_add(added);
    }

    /// The number of nodes with all calls and control flow expanded; saturates at `usize::MAX`.
    pub fn expanded(&self) -> usize {
        self.node_count().saturating_add(self.beyond)
    }

    /// Checks that a program is small enough to expand.
    ///
    /// # Errors
    /// `Size` if [`expanded`](Graph::expanded) is more than [`MAX_EXPANSION`] above the nodes of [all its graphs](Graph::whole).
    pub fn check_expansion(&self) -> Result<()> {
        // Few programs have enough nodes to require a look at their graphs.
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
    /// Index and kind of the argument, if the slot is one.
    pub fn argument(&self) -> Option<(usize, Weak)> {
        match *self {
            Slot::Argument { index, ty } => Some((index, ty)),
            Slot::Value(_) => None,
        }
    }
}
