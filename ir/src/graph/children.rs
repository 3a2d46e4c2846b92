//! The graphs that a graph calls: each stored once, and freed iteratively at any depth.

use crate::nested::{Nested, TreeNode};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The children of a graph.
#[derive(Clone, Debug)]
pub(super) struct Children<N: TreeNode> {
    pub all: Nested<N>,
    /// Child numbers by address.
    numbers: FxHashMap<usize, u32>,
}

impl<N: TreeNode> Default for Children<N> {
    fn default() -> Children<N> {
        Children { all: Nested::default(), numbers: FxHashMap::default() }
    }
}

impl<N: TreeNode> Children<N> {
    /// Adds a graph, or finds an identical one.
    pub fn number(&mut self, child: Arc<N>) -> u32 {
        let next = self.all.all().len() as u32;
        // The list keeps the graph alive, so its address stays unique.
        let number = *self.numbers.entry(Arc::as_ptr(&child).addr()).or_insert(next);
        if number == next {
            self.all.push(child);
        }
        number
    }
}
