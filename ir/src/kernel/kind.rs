//! Kinds of kernels: the destination of the values that a body computes.

use crate::graph::{Scatter, Value};
use crate::reduction::{AxisFunction, AxisSet, Reduction, Scan, Sort};
use crate::view::View;
use smallvec::SmallVec;

/// The destination of the body's outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelKind {
    /// Stored, each at its index.
    Map,
    /// Stored as a part of the kernel's one output.
    Part(Box<Part>),
    /// Reduced.
    Reduce(KernelReduce),
    /// Scanned.
    Scan(KernelScan),
    /// Sorted.
    Sort(KernelScan<Sort>),
    /// One sum of [products](super::OpBody::is_product) of two arrays, which may be computed as a matrix product.
    Contract(KernelReduce),
    /// Scattered into rows of an array.
    Scatter(KernelScatter),
}

/// The part of its output that a kernel stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The map to the output's indices, one to one: from its [starts](crate::view::ViewStart) and the iteration space.
    pub view: View,
    /// A value of the output's type and shape, for the rest of the output. Without one, other kernels store the rest.
    pub into: Option<Value>,
    /// Run-time integers, the indices along the first axes of the view. If one is out of bounds, nothing is stored.
    pub starts: SmallVec<[Value; 1]>,
}

/// A reduction of all outputs of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelReduce {
    /// Axes of the iteration space. The results lack them, or have extent 1 there.
    pub axes: AxisSet,
    /// The elementary reduction of each output.
    pub outputs: SmallVec<[Reduction; 1]>,
}

/// A scan of all outputs of a kernel, or a sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelScan<F = Scan> {
    /// The axis of the iteration space.
    pub axis: usize,
    /// The scan or sort of each output.
    pub outputs: SmallVec<[F; 1]>,
}

/// A scatter: the kernel stores the array of input `into`, with the body's first output scattered into it at the index of the
/// second output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelScatter {
    /// The function that combines elements.
    pub scatter: Scatter,
    /// The input whose [rows](super::Reads::GatherSource) are read.
    pub into: u32,
}

impl KernelKind {
    /// The axes of the iteration space that are reduced, scanned or sorted.
    pub fn axes(&self) -> AxisSet {
        match self {
            KernelKind::Reduce(KernelReduce { axes, .. }) | KernelKind::Contract(KernelReduce { axes, .. }) => *axes,
            KernelKind::Scan(KernelScan { axis, .. }) => AxisSet::one(*axis),
            KernelKind::Sort(KernelScan { axis, .. }) => AxisSet::one(*axis),
            KernelKind::Map | KernelKind::Part(_) | KernelKind::Scatter(_) => AxisSet::NONE,
        }
    }

    /// The axes of the iteration space that results do not have.
    pub fn reduced(&self) -> AxisSet {
        match self {
            KernelKind::Reduce(KernelReduce { axes, .. }) | KernelKind::Contract(KernelReduce { axes, .. }) => *axes,
            KernelKind::Map
            | KernelKind::Part(_)
            | KernelKind::Scan(_)
            | KernelKind::Sort(_)
            | KernelKind::Scatter(_) => AxisSet::NONE,
        }
    }

    /// The function of an output along [axes](KernelKind::axes); `None` if there is none.
    pub fn function(&self, output: usize) -> Option<AxisFunction> {
        match self {
            KernelKind::Reduce(KernelReduce { outputs, .. }) | KernelKind::Contract(KernelReduce { outputs, .. }) => {
                outputs.get(output).copied().map(AxisFunction::from)
            }
            KernelKind::Scan(KernelScan { outputs, .. }) => outputs.get(output).copied().map(AxisFunction::from),
            KernelKind::Sort(KernelScan { outputs, .. }) => outputs.get(output).copied().map(AxisFunction::from),
            KernelKind::Map | KernelKind::Part(_) | KernelKind::Scatter(_) => None,
        }
    }

    /// The part of the output that the kernel stores; `None` for all of it.
    pub fn part(&self) -> Option<&Part> {
        match self {
            KernelKind::Part(part) => Some(part),
            KernelKind::Map
            | KernelKind::Reduce(_)
            | KernelKind::Scan(_)
            | KernelKind::Sort(_)
            | KernelKind::Contract(_)
            | KernelKind::Scatter(_) => None,
        }
    }

    /// The kernel's verb along [axes](KernelKind::axes), in its text.
    pub(super) const fn verb(&self) -> Option<&'static str> {
        match self {
            KernelKind::Reduce(_) => Some("reduces"),
            KernelKind::Contract(_) => Some("contracts"),
            KernelKind::Scan(_) => Some("scans"),
            KernelKind::Sort(_) => Some("sorts"),
            KernelKind::Map | KernelKind::Part(_) | KernelKind::Scatter(_) => None,
        }
    }
}
