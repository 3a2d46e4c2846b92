//! Loop nests: what one kernel does to memory. Extents, strides and literals are run-time arguments ([`Geometry`]), so one
//! nest serves all sizes; the nest itself, compared as a value, is the key of the kernel cache.
//!
//! All loads of an index come before its stores, and outputs do not overlap each other. An output may share its memory
//! with an input of the same geometry.

mod bounds;
mod text;
mod verify;

use crate::body::Body;
use crate::dtype::DType;
use crate::kernel::OpBody;
use smallvec::SmallVec;
use std::sync::Arc;

/// How an operand moves along the innermost loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stride {
    /// By one element.
    Contiguous,
    /// Not at all.
    Broadcast,
    /// By a number of bytes known at run time, possibly negative.
    Strided,
}

/// An array operand of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Element type in memory.
    pub dtype: DType,
    /// Movement along the innermost loop. Along outer loops every stride is a run-time argument.
    pub inner: Stride,
}

/// What happens at each index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LoopBody {
    /// Ops on dtypes.
    Ops(Arc<OpBody>),
    /// Primitives on machine types, after expansion. Inputs: the storage words of each input in order, then the registers
    /// of each literal in order. Outputs: the storage words of each output in order.
    Prims {
        /// The primitives.
        body: Body,
        /// The first `hoisted` instructions depend on literals and on inputs that are `Broadcast` along the innermost
        /// loop alone: they run once before it.
        hoisted: usize,
    },
}

/// A nest of loops over the iteration space, outermost first, with one body at the innermost level.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoopNest {
    /// The number of loops, at least 1.
    pub rank: usize,
    /// Arrays read.
    pub inputs: Vec<Access>,
    /// Dtype of each literal.
    pub literals: Vec<DType>,
    /// Arrays written; never `Broadcast`.
    pub outputs: Vec<Access>,
    /// What happens at each index.
    pub body: LoopBody,
}

/// Where an operand's elements lie, in bytes relative to its buffer.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Layout {
    /// The element at index 0.
    pub offset: usize,
    /// Step along each loop, outermost first.
    pub strides: SmallVec<[isize; 4]>,
}

/// The run-time arguments of a nest, except pointers and literals.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Geometry {
    /// Trip count of each loop, outermost first.
    pub extents: SmallVec<[usize; 4]>,
    /// Layout of each input.
    pub inputs: Vec<Layout>,
    /// Layout of each output.
    pub outputs: Vec<Layout>,
}

impl Geometry {
    /// The number of indices; saturates.
    pub fn size(&self) -> usize {
        self.extents.iter().fold(1, |n: usize, &e| n.saturating_mul(e))
    }
}
