//! One item of a program of what waits.

use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Shape, ValueType};
use smallvec::SmallVec;

/// One item of a program: what keys its plan.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum ProgramItem {
    /// An array of this type, stored as this dtype, with this layout if it is not in row-major order.
    Leaf(ValueType, DType, Shape, Option<Layout>),
    Argument(ndjit_ir::Weak),
    Value(Literal),
    Step(Operation<'static>, SmallVec<[u32; 3]>, ValueType, Shape),
}
