//! The support of each node of a traced graph: a side table beside the graph, like its [places](crate::graph::SourceLocs).
//!
//! It does not affect compilation. Equal nodes are shared, so a node may have several supports: all of them apply. Nodes without
//! limits are not in the table.

use super::adapt::Support;
use super::modes::CastingModes;
use crate::graph::{NodeId, Notes};
use crate::nested::{Nested, TreeNode};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// For each op its supports, and for each parameter those of its argument.
#[derive(Clone, Debug, Default)]
pub struct Supports {
    nodes: FxHashMap<u32, SmallVec<[Support; 1]>>,
    children: Nested<Supports>,
    controls: Vec<Vec<Arc<Supports>>>,
}

impl TreeNode for Supports {
    fn children(&mut self) -> &mut Nested<Supports> {
        &mut self.children
    }
}

impl Notes for Supports {
    fn follow(&mut self, other: &Supports, from: NodeId, to: NodeId) {
        other.of(from).iter().for_each(|&support| self.note(to, support));
    }

    fn follow_control(&mut self, other: &Supports, from: u32, to: u32) {
        other.controls.get(from as usize).into_iter().for_each(|inner| self.set_control(to, inner.clone()));
    }

    fn follow_child(&mut self, other: &Supports, from: u32) {
        other.child(from).into_iter().for_each(|child| self.add_child(Arc::clone(child)));
    }
}

impl Supports {
    /// Adds `support` to `node`, without its casting modes, which are no limits.
    pub fn note(&mut self, node: NodeId, support: Support) {
        if support.is_unlimited() {
            return;
        }
        let support = Support { casting: CastingModes::ERROR, ..support };
        let noted = self.nodes.entry(node.0).or_default();
        if !noted.contains(&support) {
            noted.push(support);
        }
    }

    /// Adds the table of the graph's next child.
    pub fn add_child(&mut self, supports: Arc<Supports>) {
        self.children.push(supports);
    }

    /// The table of child graph `n`, if there is one.
    pub fn child(&self, n: u32) -> Option<&Arc<Supports>> {
        self.children.all().get(n as usize)
    }

    /// Sets the tables of the graphs of control flow `n`.
    pub fn set_control(&mut self, n: u32, supports: Vec<Arc<Supports>>) {
        if self.controls.len() <= n as usize {
            self.controls.resize_with(n as usize + 1, Default::default);
        }
        self.controls[n as usize] = supports;
    }

    /// The table of graph `which` of control flow `n`, if there is one.
    pub fn control(&self, n: u32, which: usize) -> Option<&Arc<Supports>> {
        self.controls.get(n as usize)?.get(which)
    }

    /// The supports of a node.
    pub fn of(&self, node: NodeId) -> &[Support] {
        self.nodes.get(&node.0).map_or(&[], |noted| noted)
    }
}
