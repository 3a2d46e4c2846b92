//! Kinds of loop nests: the destination of the values that the body computes at each index.

use crate::kernel::KernelScatter;
use crate::reduction::{AxisFunction, Reduction, Scan, Sort};
use smallvec::SmallVec;

/// The destination of the body's values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NestKind {
    /// Stored, each at its index.
    Map,
    /// Reduced along the innermost loops, in the order of [`fold`](crate::reduction::fold).
    Reduce(NestReduce),
    /// Reduced to one sum of [products](crate::kernel::OpBody::is_product) of two arrays, in the device's order.
    Contract(NestReduce),
    /// Scanned along the innermost loop, in the order of [`scan`](crate::reduction::scan).
    Scan(NestScan),
    /// Sorted along the innermost loop, in the order of [`sorted`](crate::reduction::sorted), with a function per output. Outputs may be
    /// indices.
    Sort(SmallVec<[Sort; 1]>),
    /// Scattered into rows of the output, the array of input `into`. The body's last output is the row's index. The output's layout is
    /// that of an element of a row.
    Scatter(KernelScatter),
}

/// A reduction of loops.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NestReduce {
    /// The number of reduction loops, the innermost ones, at least 1. The others are parallel.
    pub loops: usize,
    /// The elementary reduction of each output, in the dtype of that output.
    pub outputs: SmallVec<[Reduction; 1]>,
    /// The loop to vectorize.
    pub along: VectorLoop,
}

/// A scan of the innermost loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NestScan {
    /// The scan of each output, in the dtype of that output.
    pub outputs: SmallVec<[Scan; 1]>,
    /// The loop to vectorize.
    pub along: VectorLoop,
}

/// The loop to vectorize in a nest that reduces or scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorLoop {
    /// The innermost loop: vectors are elements of one row. A scan has no vectors along it, since each element depends on the previous
    /// one.
    Reduction,
    /// The innermost parallel loop: elements of many columns.
    Parallel,
}

impl NestKind {
    /// The number of innermost loops that are reduced, scanned or sorted.
    pub fn loops(&self) -> usize {
        match self {
            NestKind::Reduce(reduce) | NestKind::Contract(reduce) => reduce.loops,
            NestKind::Scan(_) | NestKind::Sort(_) => 1,
            NestKind::Map | NestKind::Scatter(_) => 0,
        }
    }

    /// The reduction, if the nest is one.
    pub fn reduction(&self) -> Option<&NestReduce> {
        match self {
            NestKind::Reduce(reduce) | NestKind::Contract(reduce) => Some(reduce),
            NestKind::Map | NestKind::Scan(_) | NestKind::Sort(_) | NestKind::Scatter(_) => None,
        }
    }

    /// The number of innermost loops that results do not move along.
    pub fn reduction_loops(&self) -> usize {
        self.reduction().map_or(0, |reduce| reduce.loops)
    }

    /// The function of an output along [loops](NestKind::loops); `None` if there is none.
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

    /// The number of functions along loops: one for each output, or none.
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

    /// The loop to vectorize.
    pub fn along(&self) -> VectorLoop {
        match self {
            NestKind::Reduce(NestReduce { along, .. })
            | NestKind::Contract(NestReduce { along, .. })
            | NestKind::Scan(NestScan { along, .. }) => *along,
            NestKind::Map | NestKind::Sort(_) | NestKind::Scatter(_) => VectorLoop::Reduction,
        }
    }

    /// The verb of outputs in loop text.
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
