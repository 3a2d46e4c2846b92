//! Recording of operations on arrays. Nothing is computed, except views of existing elements, and programs beyond the limit of pending
//! operations.

use crate::array::node::{ArrayRef, ElementSource, LazyOperand, NODE_LIMIT, PendingOp};
use crate::infer::{InferredOperation, infer};
use crate::lazy::evaluate::evaluate;
use crate::request::OperationRequest;
use crate::settings::{check_value, settings};
use ndjit_inspect::explain::Origin;
use ndjit_inspect::words::KnownOperand;
use ndjit_ir::graph::{NodeKind, TypeOf};
use ndjit_ir::infer::Operation;
use ndjit_ir::support::adapt::OperandCast;
use ndjit_ir::support::{CastReason, Device};
use ndjit_ir::{DType, ErrorCode, Shape, SourceLoc, ValueType};
use ndjit_runtime::Fallback;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::LazyLock;

static SCALAR: LazyLock<Shape> = LazyLock::new(Shape::scalar);

/// Operands of an operation to record.
pub type LazyOperands = SmallVec<[LazyOperand; 2]>;

impl LazyOperand {
    fn shape(&self) -> &Shape {
        self.array().map_or(&SCALAR, ArrayRef::shape)
    }

    fn known(&self) -> KnownOperand<'_> {
        match self {
            LazyOperand::Array(array) => KnownOperand { ty: array.value_type(), shape: array.shape(), literal: None },
            LazyOperand::Literal(number, _) => KnownOperand { ty: number.ty(), shape: &SCALAR, literal: Some(*number) },
        }
    }
}

/// Records the cast of an operand that a casting mode inserts.
fn adapt(operand: &mut LazyOperand, cast: OperandCast, place: SourceLoc, fallback: Fallback) {
    if let Some((dtype, mode)) = cast {
        let cast = Operation::cast(CastReason::Mode(mode), dtype.into());
        let shape = operand.shape().clone();
        let pending_op = PendingOp::new(cast, SmallVec::from_iter([operand.clone()]), place, fallback);
        *operand = LazyOperand::Array(note(dtype.into(), dtype, shape, pending_op));
    }
}

/// Records an operation on valid arrays of one device and scalars, which are taken out of the list. A view of computed elements is not
/// copied if strides can express it.
pub fn apply(asked: OperationRequest<'_>, own: &mut LazyOperands, place: SourceLoc) -> ArrayRef {
    // The settings of the operation, for the device of the arrays.
    let settings = match settings().on(device_of(own)) {
        Ok(settings) => settings,
        Err(error) => return ArrayRef::poisoned(error.at(place)),
    };
    let (policy, fallback) = (settings.policy, settings.fallback);
    let inferred = {
        let known: SmallVec<[KnownOperand<'_>; 3]> = own.iter().map(LazyOperand::known).collect();
        infer(asked, settings, &known, place, &|i| origin(&own[i]))
    };
    let InferredOperation { operation, ty, shape, casts } = match inferred {
        Ok(inferred) => inferred,
        Err(error) => return ArrayRef::poisoned(error),
    };
    for (operand, cast) in own.iter_mut().zip(casts) {
        adapt(operand, cast, place, fallback);
    }
    let row = operation.kind.row();
    let views = row.is_view;
    // Joined arrays have a type of their own.
    let moves = row.moves_elements && row.ty == TypeOf::Operand;
    if moves
        && let Some(operand) = own.first_mut()
        && let LazyOperand::Literal(literal, _) = operand
    {
        // An array from here on, stored under the current policy.
        match ArrayRef::from_literal(literal, literal.ty(), policy.commit(literal.ty())) {
            Ok(array) => *operand = LazyOperand::Array(array),
            Err(error) => return ArrayRef::poisoned(error.at(place)),
        }
    }
    let dtype = match &own[..] {
        [LazyOperand::Array(array), ..] if moves => {
            if views && let Some(seen) = array.seen(&operation, &shape) {
                return seen;
            }
            array.dtype()
        }
        _ => policy.commit(ty),
    };
    let device = device_of(own);
    // Indices have no inputs; an array only determines their device.
    let operands = if let NodeKind::Iota(..) = operation.kind { SmallVec::new() } else { std::mem::take(own) };
    note_on(device, ty, dtype, shape, PendingOp::new(operation, operands, place, fallback))
}

/// The origin of an operand.
fn origin(operand: &LazyOperand) -> Origin {
    let array = match operand {
        LazyOperand::Literal(number, place) => return Origin::Literal(*number, *place),
        LazyOperand::Array(array) => array,
    };
    match &*array.0.source.lock() {
        ElementSource::Pending(pending_op) => {
            Origin::Computed { value: None, what: pending_op.operation.kind.name(), place: Some(pending_op.place) }
        }
        ElementSource::Nothing | ElementSource::Retained(_) => Origin::Data,
    }
}

/// Records a cast of any operand.
pub fn convert(x: LazyOperand, dtype: DType, place: SourceLoc) -> ArrayRef {
    match x {
        LazyOperand::Array(array) => converted(&array, dtype, place),
        LazyOperand::Literal(..) => converted_to(x, Device::CPU, SCALAR.clone(), dtype, place),
    }
}

/// Records a cast to the dtype that the policy substitutes for this one.
pub fn cast(array: &ArrayRef, dtype: DType, place: SourceLoc) -> ArrayRef {
    converted(array, settings().policy.width(dtype), place)
}

/// Records a cast.
fn converted(array: &ArrayRef, dtype: DType, place: SourceLoc) -> ArrayRef {
    if let Some(error) = array.error() {
        return ArrayRef::poisoned(error.clone());
    }
    converted_to(LazyOperand::Array(array.clone()), array.device(), array.shape().clone(), dtype, place)
}

fn converted_to(operand: LazyOperand, device: Device, shape: Shape, dtype: DType, place: SourceLoc) -> ArrayRef {
    let settings = match settings().on(device) {
        Ok(settings) => settings,
        Err(error) => return ArrayRef::poisoned(error.at(place)),
    };
    let allowed = check_value(settings, "cast", dtype);
    if let Err(error) = allowed.and_then(|()| shape.bytes(dtype.bytes())) {
        return ArrayRef::poisoned(error.at(place));
    }
    let cast = Operation::cast(CastReason::Explicit, dtype.into());
    note(dtype.into(), dtype, shape, PendingOp::new(cast, SmallVec::from_iter([operand]), place, settings.fallback))
}

/// The device of operands: all arrays are on one.
fn device_of(operands: &[LazyOperand]) -> Device {
    operands.iter().find_map(LazyOperand::array).map_or(Device::CPU, ArrayRef::device)
}

fn note(ty: ValueType, dtype: DType, shape: Shape, pending_op: PendingOp) -> ArrayRef {
    note_on(device_of(&pending_op.operands), ty, dtype, shape, pending_op)
}

fn note_on(device: Device, ty: ValueType, dtype: DType, shape: Shape, pending_op: PendingOp) -> ArrayRef {
    let mut waiting = 1usize;
    let mut before: SmallVec<[usize; 3]> = SmallVec::new();
    for operand in &pending_op.operands {
        if let LazyOperand::Array(array) = operand {
            if !array.waits() || before.contains(&array.identity()) {
                continue;
            }
            before.push(array.identity());
            waiting = waiting.saturating_add(array.0.waiting);
        }
    }
    // Shared operands count more than once; the exact count matters only above the limit.
    if waiting > NODE_LIMIT {
        waiting = 1 + count_waiting(&pending_op);
    }
    let array = ArrayRef::waiting(ty, dtype, shape, device, pending_op, waiting);
    if waiting > NODE_LIMIT
        && let Err(error) = evaluate(&array)
        && error.code() != ErrorCode::Allocation
    {
        return ArrayRef::poisoned(error);
    }
    array
}

/// The number of distinct pending operations below one; stops beyond the limit.
fn count_waiting(pending_op: &PendingOp) -> usize {
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    let mut stack = waiting_operands(pending_op);
    while let Some(array) = stack.pop() {
        if seen.len() > NODE_LIMIT {
            break;
        }
        if seen.insert(array.identity())
            && let Some(pending_op) = array.0.source.lock().pending_op()
        {
            stack.extend(waiting_operands(pending_op));
        }
    }
    seen.len()
}

fn waiting_operands(pending_op: &PendingOp) -> Vec<ArrayRef> {
    pending_op.operands.iter().filter_map(LazyOperand::array).filter(|array| array.waits()).cloned().collect()
}
