//! Values of one lane, and their batched values.

use crate::append::{Appender, OpenGraph, appended};
use ndjit_ir::graph::{NodeId, Value};
use ndjit_ir::{Error, ErrorCode, Result, Shape, SourceLoc};
use rustc_hash::FxHashMap;

/// Values of one lane, and their batched values.
#[derive(Clone, Debug)]
pub struct Batching {
    /// The number of lanes.
    pub(super) lanes: usize,
    /// For each value of one lane the array of all lanes, along its first axis.
    pub(super) known: FxHashMap<Value, Value>,
    pub(super) first: NodeId,
}

impl Batching {
    /// Creates an empty map for this number of lanes.
    pub fn new(lanes: usize) -> Batching {
        Batching { lanes, known: FxHashMap::default(), first: NodeId(u32::MAX) }
    }

    /// Adds a value for one lane of an array, whose lanes are along a given axis.
    ///
    /// # Errors
    /// `Size` if an array is too large.
    pub fn lane(&mut self, graph: OpenGraph<'_>, array: Value, axis: usize, place: SourceLoc) -> Result<Value> {
        appended(graph, place, |to| {
            let all = to.term(array).moveaxis(axis, 0).value;
            self.lane_of(to, all)
        })
    }

    /// Adds a value for one lane along the first axis.
    pub(super) fn lane_of(&mut self, to: &Appender, all: Value) -> Value {
        let shape = to.shape(all);
        let one = match self.lanes {
            // There is no lane to select.
            0 => to.empty_lane(all, &Shape::from(&shape.extents()[1..])),
            _ => to.term(all).slice(0, 0, 1).reshape(&Shape::from(&shape.extents()[1..])).value,
        };
        let lane = to.variable(one);
        let id = to.read(|graph| graph.producer(lane));
        self.first = self.first.min(id);
        self.known.insert(lane, all);
        lane
    }

    /// Returns the batched value; `None` if it is the same for all lanes.
    pub(super) fn of(&self, value: Value) -> Option<Value> {
        self.known.get(&value).copied()
    }

    /// Sets the batched value.
    pub(super) fn put(&mut self, value: Value, all: Value) {
        self.known.insert(value, all);
    }

    /// Computes the batched value, repeated if it is the same for all lanes.
    pub(super) fn whole(&self, to: &Appender, value: Value) -> Value {
        self.of(value).unwrap_or_else(|| {
            let shape = self.shape(&to.shape(value));
            to.term(value).broadcast(&shape).value
        })
    }

    /// Returns the batched shape.
    pub(super) fn shape(&self, lane: &Shape) -> Shape {
        Shape::from([self.lanes].into_iter().chain(lane.extents().iter().copied()).collect::<Vec<usize>>())
    }
}

/// Records an error for an unsupported operation.
pub(super) fn refuse(to: &Appender, words: &str) {
    to.fail(Error::new(ErrorCode::Verify, format!("vmap: {words}")));
}
