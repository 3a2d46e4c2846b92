//! Arrays and operations on them for tests of this folder.

use crate::array::node::{ArrayRef, LazyOperand};
use crate::lazy::noting::apply;
use crate::request::{Movement, OperationRequest, Request, RequestAxes};
use ndjit_ir::infer::Operation;
use ndjit_ir::view::{Slice, broadcast_to, slice};
use ndjit_ir::{DType, Op, Reduction, Shape, SourceLoc};
use ndjit_runtime::Buffer;
use std::sync::Arc;

fn noted(asked: OperationRequest<'_>, operands: &[&ArrayRef]) -> ArrayRef {
    let mut own = operands.iter().map(|&array| LazyOperand::Array(array.clone())).collect();
    apply(asked, &mut own, SourceLoc::caller())
}

/// One axis of equal elements.
pub(crate) fn data(element: f32, len: usize) -> ArrayRef {
    let buffer = Buffer::from_vec(vec![element; len]);
    ArrayRef::concrete(DType::F32, DType::F32, Shape::from(len), Arc::new(buffer))
}

/// One axis of equal elements, one of which is in memory.
pub(super) fn broadcast(element: f32, len: usize) -> ArrayRef {
    let of = |shapes: &[&Shape]| {
        broadcast_to(shapes[0], &Shape::from(len)).map(|(view, shape)| Operation::view(view, shape))
    };
    noted(OperationRequest::Movement(&Movement { function: "broadcast_to".into(), of: &of }), &[&data(element, 1)])
}

/// Some elements of an array of one axis.
pub(super) fn sliced(x: &ArrayRef, start: isize, end: isize) -> ArrayRef {
    let part = Slice::Range { start: Some(start), end: Some(end), step: 1 };
    let of = |shapes: &[&Shape]| slice(shapes[0], &[part]).map(|(view, shape)| Operation::view(view, shape));
    noted(OperationRequest::Movement(&Movement { function: "slice".into(), of: &of }), &[x])
}

/// An op, element by element.
pub(crate) fn op(op: Op, operands: &[&ArrayRef]) -> ArrayRef {
    noted(OperationRequest::Op(op), operands)
}

/// `sin(x) * cos(y)`, too expensive for a third computation.
pub(super) fn product(x: &ArrayRef, y: &ArrayRef) -> ArrayRef {
    op(Op::Multiply, &[&op(Op::Sin, &[x]), &op(Op::Cos, &[y])])
}

/// The reduction of all elements.
pub(super) fn reduced(reduction: Reduction, x: &ArrayRef) -> ArrayRef {
    let request = Request::new(reduction, None, RequestAxes { axes: None, keepdims: false });
    noted(OperationRequest::Reduction(&request), &[x])
}

/// The first element.
pub(super) fn first(x: &ArrayRef) -> f32 {
    ndjit_runtime::pod::element(x.buffer().expect("computed").as_bytes(), 0).expect("has one")
}
