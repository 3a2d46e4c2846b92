//! Loop nests: the memory accesses and the computation of one kernel. Extents, strides and literals are run-time arguments
//! ([`IterationDomain`]), so one nest serves all sizes; the nest itself, compared as a value, is the key of the kernel cache.
//!
//! All loads of an index come before its stores, and outputs do not overlap each other, except those of rows of one array, which are
//! stored in order. An output may share its memory with an input of the same domain.

mod bounds;
mod kind;
mod parse;
mod text;
mod verify;

pub use crate::layout::Layout;
pub use kind::{NestKind, NestReduce, NestScan, VectorLoop};
pub use parse::parse_nests;
pub use text::LoopLine;

use crate::body::Body;
use crate::dtype::{DType, PrimType};
use crate::kernel::{OpBody, StmtKind};
use smallvec::SmallVec;
use std::sync::Arc;

/// The stride of an operand along the innermost loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stride {
    /// One element.
    Contiguous,
    /// Zero.
    Broadcast,
    /// A run-time number of bytes, possibly negative.
    Strided,
}

/// An array operand of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Dtype in memory.
    pub dtype: DType,
    /// Stride along the innermost loop (in a nest that reduces: along its [vector loop](LoopNest::vector_loop)). Strides along other
    /// loops are run-time arguments.
    pub inner: Stride,
    /// The source of its elements.
    pub role: Role,
}

/// The source of an operand's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Memory: the element at the index is read or written.
    Memory,
    /// No memory: the element is the address itself, an `i64` of offset and strides. Indices along axes need no array.
    Index,
    /// Memory with gathered rows: the operand is the address of the element in the first row, as an `i64`. The next two operands, without
    /// memory, are the last row and the row stride in bytes, both broadcast along all loops. An output is stored at the
    /// [address](crate::kernel::StmtKind::Address) that the next output, without memory, is; or in a scatter in the row of the index.
    Rows,
}

impl Access {
    /// Elements in memory.
    pub fn memory(dtype: DType, inner: Stride) -> Access {
        Access { dtype, inner, role: Role::Memory }
    }

    /// Returns `true` if the operand has no memory.
    pub fn is_index(&self) -> bool {
        self.role == Role::Index
    }

    /// The register types of an element.
    pub fn words(&self) -> &'static [PrimType] {
        match self.role {
            Role::Memory => self.dtype.storage(),
            Role::Index | Role::Rows => &[PrimType::I64],
        }
    }
}

/// The computation at each index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LoopBody {
    /// Ops on dtypes.
    Ops(Arc<OpBody>),
    /// Primitives on machine types, after expansion. Inputs: the storage words of each input in order, then the registers
    /// of each literal in order. Outputs: the storage words of each output in order.
    Prims {
        /// The primitives.
        body: Body,
        /// The first `hoisted` instructions depend only on literals and on inputs that are `Broadcast` along the innermost
        /// loop: they run once before it.
        hoisted: usize,
    },
}

/// Nested loops over the iteration space, outermost first, with one body at the innermost level.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoopNest {
    /// The number of loops, at least 1.
    pub rank: usize,
    /// Arrays read.
    pub inputs: Vec<Access>,
    /// Dtype of each literal.
    pub literals: Vec<DType>,
    /// Arrays written; never `Broadcast`. `Contiguous` in a nest that reduces; in a scan the stride is along the
    /// [vector loop](LoopNest::vector_loop).
    pub outputs: Vec<Access>,
    /// The computation at each index.
    pub body: LoopBody,
    /// The destination of the body's values.
    pub kind: NestKind,
}

impl LoopNest {
    /// A nest that stores its body's values.
    pub fn map(rank: usize, inputs: Vec<Access>, literals: &[DType], outputs: Vec<Access>, body: OpBody) -> LoopNest {
        let (literals, body) = (literals.to_vec(), LoopBody::Ops(Arc::new(body)));
        LoopNest { rank, inputs, literals, outputs, body, kind: NestKind::Map }
    }

    /// Whether outputs are stored at addresses, where a later index may read.
    pub fn stores_at_addresses(&self) -> bool {
        self.kind == NestKind::Map && self.outputs.iter().any(|access| access.role == Role::Rows)
    }

    /// The input in whose rows output `n` of a body of ops is stored, at the address that the next output is.
    pub fn address_of(&self, n: usize) -> Option<u32> {
        let LoopBody::Ops(body) = &self.body else { return None };
        match body.stmts.get(body.outputs.get(n + 1)?.index())?.kind {
            StmtKind::Address(input) => Some(input),
            _ => None,
        }
    }

    /// The number of loops that outputs move along: all except reduced ones.
    pub fn output_rank(&self) -> usize {
        self.rank - self.kind.reduction_loops().min(self.rank)
    }

    /// The number of loops that are neither reduced nor scanned nor sorted.
    pub fn parallel_rank(&self) -> usize {
        self.rank - self.kind.loops().min(self.rank)
    }

    /// The loop of the operands' [strides](Access::inner).
    pub fn vector_loop(&self) -> usize {
        match self.kind.along() {
            VectorLoop::Parallel => self.parallel_rank().saturating_sub(1),
            VectorLoop::Reduction => self.rank.saturating_sub(1),
        }
    }
}

/// The run-time arguments of a nest, except pointers and literals.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct IterationDomain {
    /// Trip count of each loop, outermost first.
    pub extents: SmallVec<[usize; 4]>,
    /// Layout of each input.
    pub inputs: Vec<Layout>,
    /// Layout of each output.
    pub outputs: Vec<Layout>,
}

impl IterationDomain {
    /// The number of indices; saturates.
    pub fn size(&self) -> usize {
        self.extents.iter().fold(1, |n: usize, &e| n.saturating_mul(e))
    }
}
