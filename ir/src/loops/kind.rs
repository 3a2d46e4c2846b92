//! Kinds of loop nests: what becomes of the values that the body computes at each index.

use crate::kernel::KernelScatter;
use crate::reduction::{AxisFunction, Reduction, Scan, Sort};
use smallvec::SmallVec;

/// What becomes of the body's values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NestKind {
    /// They are stored, each at its index.
    Map,
    /// Those of the innermost loops are reduced to one, in the order of [`fold`](crate::reduction::fold).
    Reduce(NestReduce),
    /// As a reduction by one sum of [products](crate::kernel::OpBody::is_product) of two arrays, in an order that is the device's.
    Contract(NestReduce),
    /// They are scanned along the innermost loop, in the order of [`scan`](crate::reduction::scan).
    Scan(NestScan),
    /// They are sorted along the innermost loop, in the order of [`sorted`](crate::reduction::sorted), by this for each output. Outputs may
    /// hold indices.
    Sort(SmallVec<[Sort; 1]>),
    /// They are put into rows of the array that is the output, which is the one that input `into` has the rows of. The body's last output is
    /// the row's index. The output moves as an element of a row.
    Scatter(KernelScatter),
}

/// A reduction of loops.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NestReduce {
    /// The number of reduction loops, the innermost ones, at least 1. The others are parallel.
    pub loops: usize,
    /// The elementary reduction of each output, in the dtype of that output.
    pub outputs: SmallVec<[Reduction; 1]>,
    /// The loop that vectors lie along.
    pub along: VectorLoop,
}

/// A scan of the innermost loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NestScan {
    /// The scan of each output, in the dtype of that output.
    pub outputs: SmallVec<[Scan; 1]>,
    /// The loop that vectors lie along.
    pub along: VectorLoop,
}

/// The loop that vectors of a nest that reduces or scans lie along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorLoop {
    /// The innermost loop, if some are reduced elements of one row. Of a scan it is the one that is scanned, and there are no vectors:
    /// each element waits for the one before.
    Reduction,
    /// The innermost parallel loop: elements of many columns.
    Parallel,
}

impl NestKind {
    /// The number of loops along which elements meet, the innermost ones.
    pub fn loops(&self) -> usize {
        match self {
            NestKind::Reduce(reduce) | NestKind::Contract(reduce) => reduce.loops,
            NestKind::Scan(_) | NestKind::Sort(_) => 1,
            NestKind::Map | NestKind::Scatter(_) => 0,
        }
    }

    /// The reduction, if it is one: results do not move along its loops.
    pub fn reduction(&self) -> Option<&NestReduce> {
        match self {
            NestKind::Reduce(reduce) | NestKind::Contract(reduce) => Some(reduce),
            NestKind::Map | NestKind::Scan(_) | NestKind::Sort(_) | NestKind::Scatter(_) => None,
        }
    }

    /// The number of loops that results do not move along, the innermost ones.
    pub fn reduction_loops(&self) -> usize {
        self.reduction().map_or(0, |reduce| reduce.loops)
    }

    /// What becomes of an output's values along [loops](NestKind::loops); `None` where they are stored as they are.
    pub fn function(&self, output: usize) -> Option<AxisFunction> {
        match self {
            NestKind::Reduce(NestReduce { outputs, .. }) | NestKind::Contract(NestReduce { outputs, .. }) => {
                outputs.get(output).copied().map(AxisFunction::from)
            }
            NestKind::Scan(NestScan { outputs, .. }) => outputs.get(output).copied().map(AxisFunction::from),
            NestKind::Sort(outputs) => outputs.get(output).copied().map(AxisFunction::from),
            NestKind::Map | NestKind::Scatter(_) => None,
        }
    }

    /// The number of functions along loops, one for each output where elements meet.
    pub fn functions(&self) -> usize {
        match self {
            NestKind::Reduce(NestReduce { outputs, .. }) | NestKind::Contract(NestReduce { outputs, .. }) => {
                outputs.len()
            }
            NestKind::Scan(NestScan { outputs, .. }) => outputs.len(),
            NestKind::Sort(outputs) => outputs.len(),
            NestKind::Map | NestKind::Scatter(_) => 0,
        }
    }

    /// The loop that vectors lie along.
    pub fn along(&self) -> VectorLoop {
        match self {
            NestKind::Reduce(NestReduce { along, .. })
            | NestKind::Contract(NestReduce { along, .. })
            | NestKind::Scan(NestScan { along, .. }) => *along,
            NestKind::Map | NestKind::Sort(_) | NestKind::Scatter(_) => VectorLoop::Reduction,
        }
    }

    /// What is done with the values of outputs, in loop text.
    pub(super) const fn stores(&self) -> &'static str {
        match self {
            NestKind::Map | NestKind::Scatter(_) => "store",
            NestKind::Reduce(_) => "reduce",
            NestKind::Contract(_) => "contract",
            NestKind::Scan(_) => "scan",
            NestKind::Sort(_) => "sort",
        }
    }
}
