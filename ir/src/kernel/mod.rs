//! Fused kernels, each the part of a graph that one loop nest computes, and the steps of a program: kernels and control flow. The
//! fuse pass makes them for the schedule pass.
//!
//! A kernel reads values of the graph (broadcast to its iteration space), computes straight-line ops on scalars, and stores
//! one or more values of the full iteration space.

mod kind;
mod parse;
mod step;
mod text;
mod verify;

pub use kind::{KernelKind, KernelReduce, KernelScan, KernelScatter, Part};
pub(crate) use parse::read_control;
pub use parse::{parse_kernels, parse_steps};
pub(crate) use parse::{read_function, read_scalar, read_scatter, read_stmt};
pub use step::{ControlRef, ControlText, FusedControl, FusedStep, StepText};
pub use text::StepLine;
pub use verify::verify_steps;
pub(crate) use verify::{check_body, output_dtype};

use crate::dtype::DType;
use crate::graph::{SlotId, Value};
use crate::id::entity;
use crate::op::Op;
use crate::origin::StatementOrigin;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::sync::Arc;

entity! {
    /// A scalar of an [`OpBody`]: the result of its `n`th statement.
    ScalarId "t"
}

/// The kind of a statement: of one scalar, where a [node](crate::graph::NodeKind) is of whole arrays. What moves elements there is an
/// access of an input here, so that only ops and casts are in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StmtKind {
    /// The element of input `n` at the current index.
    Load(u32),
    /// The element of input `n` in the row of the operand, an `i64`; out-of-bounds indices are clamped. Inputs `n + 1` and `n + 2` are the
    /// last row and the row stride.
    Gather(u32),
    /// The address of the element of input `n` in the row of the operand, as for [`Gather`](StmtKind::Gather): an `i64`; -1 if there is no
    /// such row. An output of [rows](crate::loops::Role::Rows) is stored there.
    Address(u32),
    /// Literal `n`.
    Literal(u32),
    /// An op on operands of its computing dtype.
    Op(Op),
    /// A cast to the statement's dtype.
    Cast,
}

/// One statement: one scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stmt {
    /// The kind.
    pub kind: StmtKind,
    /// Operands, earlier statements.
    pub args: SmallVec<[ScalarId; 3]>,
    /// Result dtype.
    pub dtype: DType,
    /// The origin, in a part of a kernel.
    pub origin: StatementOrigin,
}

/// Straight-line ops on scalars: the inside of a loop before expansion.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct OpBody {
    /// Dtype of each input.
    pub inputs: Vec<DType>,
    /// Dtype of each literal.
    pub literals: Vec<DType>,
    /// Statements; operands come before their uses.
    pub stmts: Vec<Stmt>,
    /// The scalar each output stores.
    pub outputs: Vec<ScalarId>,
}

impl OpBody {
    /// The dtype of a scalar.
    pub fn dtype(&self, scalar: ScalarId) -> DType {
        self.stmts[scalar.index()].dtype
    }

    /// Adds a statement.
    pub fn push(&mut self, kind: StmtKind, args: &[ScalarId], dtype: DType) -> ScalarId {
        self.push_from(StatementOrigin::Own, kind, args, dtype)
    }

    /// Adds a statement with an origin in another body.
    pub fn push_from(&mut self, origin: StatementOrigin, kind: StmtKind, args: &[ScalarId], dtype: DType) -> ScalarId {
        self.stmts.push(Stmt { kind, args: SmallVec::from_slice(args), dtype, origin });
        ScalarId::from_index(self.stmts.len() - 1)
    }

    /// Returns `true` if the body only multiplies an element of one input by one of another.
    pub fn is_product(&self) -> bool {
        let [left, right, product] = &self.stmts[..] else { return false };
        let factors = [[ScalarId(0), ScalarId(1)], [ScalarId(1), ScalarId(0)]];
        (left.kind, right.kind, product.kind) == (StmtKind::Load(0), StmtKind::Load(1), StmtKind::Op(Op::Multiply))
            && factors.iter().any(|factors| product.args[..] == factors[..])
            && self.outputs == [ScalarId(2)]
    }

    /// Returns `true` if the body only loads an element.
    pub fn is_load(&self) -> bool {
        matches!(&self.stmts[..], [Stmt { kind: StmtKind::Load(0), .. }]) && self.outputs == [ScalarId(0)]
    }

    /// The computing dtype of an op statement.
    pub fn compute_dtype(&self, stmt: &Stmt, op: Op) -> DType {
        self.dtype(stmt.args[op.joined().start])
    }
}

/// An input of a kernel: a value of the graph, broadcast to the iteration space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInput {
    /// The value.
    pub value: Value,
    /// The value's shape.
    pub shape: Shape,
    /// The part that the kernel reads.
    pub reads: Reads,
}

/// The part of an array that a kernel reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reads {
    /// The element at the current index.
    Elements,
    /// Elements of any row along the first axis, by [`StmtKind::Gather`]. The next two inputs are `GatherBound` and `GatherStride`
    /// of the same value.
    GatherSource,
    /// The index of the last row, an `i64`: negative if there are no rows.
    GatherBound,
    /// The row stride in bytes, an `i64`.
    GatherStride,
}

impl KernelInput {
    /// The shape to broadcast.
    pub fn seen(&self) -> Shape {
        match self.reads {
            Reads::Elements => self.shape.clone(),
            Reads::GatherSource => Shape::from(self.shape.extents().get(1..).unwrap_or(&[])),
            Reads::GatherBound | Reads::GatherStride => Shape::scalar(),
        }
    }
}

/// A part of a graph computed in one loop nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusedKernel {
    /// The iteration space. Every output has this shape, or that without reduced axes.
    pub shape: Shape,
    /// Arrays read, in the order of `body.inputs`.
    pub inputs: Vec<KernelInput>,
    /// Literal slots read, in the order of `body.literals`.
    pub literals: Vec<SlotId>,
    /// The computation at each index. Kernels with equal bodies share one.
    pub body: Arc<OpBody>,
    /// The graph's values stored, in the order of `body.outputs`.
    pub outputs: Vec<Value>,
    /// The destination of the body's outputs.
    pub kind: KernelKind,
    /// The graph's value of each statement. Equality of kernels ignores it.
    pub statements: Statements,
}

/// The graph's value of each statement of a kernel; empty for a parsed kernel.
#[derive(Clone, Debug, Default)]
pub struct Statements(pub Vec<Value>);

impl PartialEq for Statements {
    fn eq(&self, _: &Statements) -> bool {
        true
    }
}

impl Eq for Statements {}

impl FusedKernel {
    /// Returns `true` if the kernel stores results of this shape, or a part of them.
    pub fn stores(&self, shape: &Shape) -> bool {
        let whole = || *shape == self.shape;
        match &self.kind {
            KernelKind::Map | KernelKind::Scan(_) | KernelKind::Sort(_) => whole(),
            KernelKind::Part(part) => part.view.starts(shape, &self.shape, part.starts.len()).is_some(),
            KernelKind::Reduce(KernelReduce { axes, .. }) | KernelKind::Contract(KernelReduce { axes, .. }) => {
                [false, true].iter().any(|&keepdims| axes.reduced(&self.shape, keepdims) == *shape)
            }
            KernelKind::Scatter(KernelScatter { into, .. }) => {
                self.inputs.get(*into as usize).is_some_and(|input| input.shape == *shape)
            }
        }
    }
}
