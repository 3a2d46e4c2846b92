//! Kernels after the schedule pass: loop nests with their run-time arguments.

use ndjit_ir::DType;
use ndjit_ir::graph::{SlotId, Value};
use ndjit_ir::loops::{IterationDomain, LoopNest};
use ndjit_transform::access::{TracedIndex, TracedRow};
use smallvec::SmallVec;
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
    /// Loops of which only some indices have an effect.
    pub ranges: SmallVec<[LoopRange; 1]>,
    /// Slot and dtype of each literal.
    pub literals: Vec<(SlotId, DType)>,
    /// The loop to cut into tiles, in a launch of several kernels.
    pub tile: Option<TileLoop>,
}

impl Display for Scheduled {
    /// The loops, their run-time arguments, and the loops that begin late or end early.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.nest, self.domain)?;
        self.ranges.iter().try_for_each(|range| write!(f, "\n; {range}"))
    }
}

/// The indices of a loop that have an effect: others would change no bit. At least one is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopRange {
    /// The loop.
    pub index: usize,
    /// The number of its indices per integer.
    pub step: usize,
    /// The first one, clamped to the loop.
    pub from: Option<RangeEnd>,
    /// The one behind the last, clamped to the loop.
    pub to: Option<RangeEnd>,
}

/// An end of a range: an integer in memory, and a number to add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeEnd {
    /// The integer.
    pub count: TracedIndex,
    /// The number to add.
    pub more: isize,
}

impl LoopRange {
    /// A range that includes both; `None` if that is not known to exclude anything.
    pub(crate) fn join(self, other: LoopRange) -> Option<LoopRange> {
        let outer = |own: Option<RangeEnd>, other: Option<RangeEnd>, of: fn(isize, isize) -> isize| {
            let (own, other) = own.zip(other).filter(|(own, other)| own.count == other.count)?;
            Some(RangeEnd { count: own.count, more: of(own.more, other.more) })
        };
        let (from, to) = (outer(self.from, other.from, isize::min), outer(self.to, other.to, isize::max));
        let same = (self.index, self.step) == (other.index, other.step);
        (same && (from.is_some() || to.is_some())).then_some(LoopRange { from, to, ..self })
    }

    /// A range that includes all that is in both.
    pub(crate) fn meet(self, other: LoopRange) -> LoopRange {
        if (self.index, self.step) != (other.index, other.step) {
            return self;
        }
        LoopRange { from: self.from.or(other.from), to: self.to.or(other.to), ..self }
    }
}

impl Display for LoopRange {
    /// `i1 from 2 * (%4 + 1) to 2 * (%4 + 3)`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let LoopRange { index, step, from, to } = *self;
        write!(f, "i{index}")?;
        for (word, end) in [("from", from), ("to", to)] {
            let Some(RangeEnd { count, more }) = end else { continue };
            match (step, more) {
                (1, 0) => write!(f, " {word} {}", count.value)?,
                (1, _) => write!(f, " {word} {} + {more}", count.value)?,
                _ => write!(f, " {word} {step} * ({} + {more})", count.value)?,
            }
        }
        Ok(())
    }
}

/// The loop that tiles cut in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLoop {
    /// The loop.
    pub index: usize,
    /// The number of trips per index of the tiles' axis.
    pub step: usize,
}
