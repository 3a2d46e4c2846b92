//! Kinds of kernels: what becomes of the values that the body of a kernel computes. A new kind is one more variant, which every place that
//! has to do with kinds then has to name.

use crate::graph::{Scatter, Value};
use crate::reduction::{AxisFunction, AxisSet, Reduction, Scan, Sort};
use crate::view::View;
use smallvec::SmallVec;

/// What becomes of the body's outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelKind {
    /// They are stored, each at its index.
    Map,
    /// They are stored as a part of the kernel's one output.
    Part(Box<Part>),
    /// They are reduced.
    Reduce(KernelReduce),
    /// They are scanned.
    Scan(KernelScan),
    /// They are sorted.
    Sort(KernelScan<Sort>),
    /// They are one sum of [products](super::OpBody::is_product) of two arrays, which may be made as matrices are multiplied.
    Contract(KernelReduce),
    /// They are put into rows of an array.
    Scatter(KernelScatter),
}

/// Which part of its one output a kernel makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where in the output each index of the iteration space is stored: in a place of its own.
    pub view: View,
    /// A value of the output's type and shape, which the output is elsewhere. Without one other kernels make the rest.
    pub into: Option<Value>,
    /// An integer, by which the index along the first axis is greater: known when the program runs. Where the output has no such index nothing is stored.
    pub row: Option<Value>,
}

/// A reduction of all outputs of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelReduce {
    /// Axes of the iteration space. The results may have them with extent 1, or be without them.
    pub axes: AxisSet,
    /// The elementary reduction of each output.
    pub outputs: SmallVec<[Reduction; 1]>,
}

/// A scan of all outputs of a kernel, or a sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelScan<F = Scan> {
    /// The axis of the iteration space.
    pub axis: usize,
    /// The scan of each output, or what sorts it.
    pub outputs: SmallVec<[F; 1]>,
}

/// A scatter: what the kernel stores is the array whose rows input `into` reads, with the body's first output put into it at the index that
/// the second one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelScatter {
    /// What becomes of elements that are there.
    pub scatter: Scatter,
    /// The input, of which [rows](super::Reads::GatherSource) are read.
    pub into: u32,
}

impl KernelKind {
    /// The axes of the iteration space along which elements meet: those that are reduced, scanned or sorted.
    pub fn axes(&self) -> AxisSet {
        match self {
            KernelKind::Reduce(KernelReduce { axes, .. }) | KernelKind::Contract(KernelReduce { axes, .. }) => *axes,
            KernelKind::Scan(KernelScan { axis, .. }) => AxisSet::one(*axis),
            KernelKind::Sort(KernelScan { axis, .. }) => AxisSet::one(*axis),
            KernelKind::Map | KernelKind::Part(_) | KernelKind::Scatter(_) => AxisSet::NONE,
        }
    }

    /// The axes of the iteration space that results do not move along.
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

    /// What becomes of an output's values along [axes](KernelKind::axes); `None` where they are stored as they are.
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

    /// The part of its output that the kernel makes, where it does not make all of it.
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

    /// What the kernel does along [axes](KernelKind::axes), as its text says it.
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
