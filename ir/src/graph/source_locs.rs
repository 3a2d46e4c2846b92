//! Source places of a graph's nodes, in a side table: compilation does not depend on them.

use super::NodeId;
use crate::nested::{Nested, TreeNode};
use crate::source_loc::SourceLoc;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// A place of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeLoc {
    /// The place.
    pub place: SourceLoc,
    /// The operation at the place, if the node is of its derivative.
    pub slope_of: Option<&'static str>,
}

impl From<SourceLoc> for NodeLoc {
    fn from(place: SourceLoc) -> NodeLoc {
        NodeLoc { place, slope_of: None }
    }
}

impl fmt::Display for NodeLoc {
    /// `src/a.rs:12:9`, or `slope of sin at src/a.rs:12:9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(of) = self.slope_of {
            write!(f, "slope of {of} at ")?;
        }
        write!(f, "{}", self.place)
    }
}

/// The places of each node: several for shared equal nodes.
#[derive(Clone, Debug, Default)]
pub struct SourceLocs {
    places: Vec<NodeLoc>,
    ids: FxHashMap<NodeLoc, u32>,
    first: Vec<u32>,
    more: FxHashMap<u32, Vec<u32>>,
    children: Nested<SourceLocs>,
    controls: Vec<Vec<Arc<SourceLocs>>>,
}

const NONE: u32 = u32::MAX;

impl TreeNode for SourceLocs {
    fn children(&mut self) -> &mut Nested<SourceLocs> {
        &mut self.children
    }
}

impl SourceLocs {
    /// Adds a place of `node`.
    pub fn note(&mut self, node: NodeId, place: impl Into<NodeLoc>) {
        let place = place.into();
        let next = self.places.len() as u32;
        let id = *self.ids.entry(place).or_insert(next);
        if id == next {
            self.places.push(place);
        }
        if self.first.len() <= node.index() {
            self.first.resize(node.index() + 1, NONE);
        }
        let first = &mut self.first[node.index()];
        if *first == NONE {
            *first = id;
        } else if *first != id {
            let more = self.more.entry(node.0).or_default();
            if !more.contains(&id) {
                more.push(id);
            }
        }
    }

    /// Adds the places of the graph's next child.
    pub fn add_child(&mut self, places: Arc<SourceLocs>) {
        self.children.push(places);
    }

    /// The places of child graph `n`; empty if never added.
    pub fn child(&self, n: u32) -> Arc<SourceLocs> {
        self.children.all().get(n as usize).cloned().unwrap_or_default()
    }

    /// Sets the places of the graphs of control flow `n`.
    pub fn set_control(&mut self, n: u32, places: Vec<Arc<SourceLocs>>) {
        if self.controls.len() <= n as usize {
            self.controls.resize_with(n as usize + 1, Default::default);
        }
        self.controls[n as usize] = places;
    }

    /// The places of graph `which` of control flow `n`; empty if never set.
    pub fn control(&self, n: u32, which: usize) -> Arc<SourceLocs> {
        self.controls.get(n as usize).and_then(|graphs| graphs.get(which)).cloned().unwrap_or_default()
    }

    /// Sets the places of the graphs of control flow `to` from those of control flow `from` in `other`, if set there.
    pub(super) fn follow_controls(&mut self, other: &SourceLocs, from: u32, to: u32) {
        other.controls.get(from as usize).into_iter().for_each(|graphs| self.set_control(to, graphs.clone()));
    }

    /// The first place of a node.
    pub fn first(&self, node: NodeId) -> Option<SourceLoc> {
        self.written(node).next().map(|written| written.place)
    }

    /// All places of a node, in the order added.
    pub fn all(&self, node: NodeId) -> impl Iterator<Item = SourceLoc> + '_ {
        self.written(node).map(|written| written.place)
    }

    /// The operation whose derivative a node belongs to, if the user did not write the node.
    pub fn slope_of(&self, node: NodeId) -> Option<&'static str> {
        let mut of = self.written(node).map(|written| written.slope_of);
        let first = of.next()??;
        of.all(|other| other.is_some()).then_some(first)
    }

    /// All places of a node with their operations, in the order added.
    pub fn written(&self, node: NodeId) -> impl Iterator<Item = NodeLoc> + '_ {
        let first = self.first.get(node.index()).filter(|&&id| id != NONE);
        let more = self.more.get(&node.0).into_iter().flatten();
        first.into_iter().chain(more).map(|&id| self.places[id as usize])
    }
}
