//! Kernels after the schedule pass: loop nests with their run-time arguments.

use ndjit_ir::DType;
use ndjit_ir::graph::{SlotId, Value};
use ndjit_ir::loops::{IterationDomain, LoopNest};
use ndjit_transform::access::{TracedIndex, TracedRow};
use std::fmt::{self, Display, Formatter};

/// One kernel after the schedule pass.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// The loops: the key of the kernel cache.
    pub nest: LoopNest,
    /// Their run-time arguments.
    pub domain: IterationDomain,
    /// The simplified graph's value of each input.
    pub inputs: Vec<Value>,
    /// The simplified graph's value that each output stores, in whole or in part: a C-contiguous array of that value's
    /// shape and dtype.
    pub outputs: Vec<Value>,
    /// The value of the rest of a partial output, of its shape and dtype.
    pub rest: Option<Value>,
    /// Operands, inputs before outputs, that begin at a row of run-time index. An out-of-bounds index is clamped for an input; an
    /// output stores nothing.
    pub rows: Vec<(usize, TracedRow)>,
    /// The number of trips of a loop that have an effect.
    pub trips: Option<TracedTrips>,
    /// Slot and dtype of each literal.
    pub literals: Vec<(SlotId, DType)>,
    /// The loop to cut into tiles, in a launch of several kernels.
    pub tile: Option<TileLoop>,
}

impl Display for Scheduled {
    /// The loops, their run-time arguments, and the loop that ends early.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.nest, self.domain)?;
        let Some(TracedTrips { index, count, more }) = self.trips else { return Ok(()) };
        write!(f, "\n; i{index} ends after as many trips as {} says, and {more} more", count.value)
    }
}

/// The run-time trip count of a reduced loop. Further trips would change no bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedTrips {
    /// The loop.
    pub index: usize,
    /// An integer: the trip count, clamped to the loop's extent.
    pub count: TracedIndex,
    /// Additional trips.
    pub more: isize,
}

/// The loop that tiles cut in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLoop {
    /// The loop.
    pub index: usize,
    /// The number of trips per index of the tiles' axis.
    pub step: usize,
}
