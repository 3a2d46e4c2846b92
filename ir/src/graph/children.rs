//! The graphs that a graph calls: each stored once, and freed iteratively at any depth.

use super::{Graph, Type};
use crate::nested::{Nested, TreeNode};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The children of a graph.
#[derive(Clone, Debug)]
pub(super) struct Children<T: Type> {
    pub all: Nested<Graph<T>>,
    /// Child numbers by address.
    numbers: FxHashMap<usize, u32>,
}

impl<T: Type> Default for Children<T> {
    fn default() -> Children<T> {
        Children { all: Nested::default(), numbers: FxHashMap::default() }
    }
}

impl<T: Type> Children<T> {
    /// Adds a graph, or finds an identical one.
    pub fn number(&mut self, child: Arc<Graph<T>>) -> u32 {
        let next = self.all.all().len() as u32;
        // The list keeps the graph alive, so its address stays unique.
        let number = *self.numbers.entry(Arc::as_ptr(&child).addr()).or_insert(next);
        if number == next {
            self.all.push(child);
        }
        number
    }
}

impl<T: Type> TreeNode for Graph<T> {
    fn children(&mut self) -> &mut Nested<Graph<T>> {
        &mut self.children.all
    }
}
