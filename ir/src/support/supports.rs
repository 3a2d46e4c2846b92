//! What each node of a traced graph was made under: a side table beside the graph, as its [places](crate::graph::Places) are.
//!
//! It is kept apart because it changes nothing that is compiled. Equal nodes are shared, so one may be made under several
//! supports: all of them hold. Nodes made without limits are not in the table.

use super::adapt::Support;
use super::modes::CastingModes;
use crate::graph::{NodeId, Notes};
use crate::nested::{Nested, TreeNode};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// For each op the supports it was made under, and for each parameter those that its argument must meet.
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
    /// Notes that `node` was made under `support`. Casting modes are left out: they are no limits.
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

    /// What was noted of a node.
    pub fn of(&self, node: NodeId) -> &[Support] {
        self.nodes.get(&node.0).map_or(&[], |noted| noted)
    }
}
