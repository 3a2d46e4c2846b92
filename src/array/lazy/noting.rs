//! Noting operations on arrays: nothing is computed, but for views of elements that are there, and where too many operations wait.

use crate::api::config::{self, Settings};
use crate::api::support;
use crate::array::lazy::evaluate::evaluate;
use crate::array::node::{Array, ElementSource, LazyOperand, PendingOp};
use crate::trace::asked::OperationRequest;
use crate::trace::escape;
use crate::trace::expr::Expr;
use crate::trace::infer::{InferredOperation, infer};
use crate::trace::operand::{AnyOperand, apart};
use crate::trace::scalar::Scalar;
use ndjit_inspect::explain::Origin;
use ndjit_inspect::words::KnownOperand;
use ndjit_ir::infer::Operation;
use ndjit_ir::support::adapt::OperandCast;
use ndjit_ir::support::{CastReason, Device};
use ndjit_ir::{DType, ErrorCode, Place, Shape, ValueType};
use ndjit_runtime::Fallback;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::LazyLock;

/// Operands of an operation to be noted.
struct LazyOperands<'a> {
    known: SmallVec<[KnownOperand<'a>; 3]>,
    own: SmallVec<[LazyOperand; 2]>,
    /// What the operation is made under, for the device that the arrays are on.
    settings: Settings,
}

static SCALAR: LazyLock<Shape> = LazyLock::new(Shape::scalar);

/// The operands, or the array that is the error of one.
fn gather<'a>(
    what: &'static str,
    operands: &'a [AnyOperand],
    place: Place,
) -> std::result::Result<LazyOperands<'a>, Array> {
    let mut gathered = LazyOperands { known: SmallVec::new(), own: SmallVec::new(), settings: config::settings() };
    let LazyOperands { known, own, settings } = &mut gathered;
    let mut device: Option<(Device, usize)> = None;
    for (n, operand) in operands.iter().enumerate() {
        match operand {
            AnyOperand::Array(array) => {
                if let Some(error) = array.error() {
                    return Err(Array::poisoned(error.clone()));
                }
                match device {
                    Some((first, at)) if first != array.device() => {
                        return Err(Array::poisoned(apart(what, operands, [at, n], place)));
                    }
                    _ => device = Some((array.device(), n)),
                }
                known.push(KnownOperand { ty: array.value_type(), shape: array.shape(), literal: None });
                own.push(LazyOperand::Array(array.clone()));
            }
            AnyOperand::Scalar(number) => {
                known.push(KnownOperand { ty: number.0.ty(), shape: &SCALAR, literal: Some(number.0) });
                own.push(LazyOperand::Literal(*number));
            }
            AnyOperand::Expr(x) => return Err(outside(what, *x, place)),
        }
    }
    match settings.on(device.map_or(Device::CPU, |(device, _)| device)) {
        Ok(on) => *settings = on,
        Err(error) => return Err(Array::poisoned(error.at(place))),
    }
    Ok(gathered)
}

fn outside(what: &str, x: Expr, place: Place) -> Array {
    Array::poisoned(escape::outside(what, x).at(place))
}

/// Notes the cast that a casting mode inserts before an operand.
fn adapt(operand: &mut LazyOperand, shape: &Shape, cast: OperandCast, place: Place, fallback: Fallback) {
    if let Some((dtype, mode)) = cast {
        let cast = Operation::Cast(CastReason::Mode(mode), dtype.into());
        let pending_op = PendingOp::new(cast, SmallVec::from_iter([operand.clone()]), place, fallback);
        *operand = LazyOperand::Array(note(dtype.into(), dtype, shape.clone(), pending_op));
    }
}

/// Notes what is asked of arrays and numbers. A view of an array that holds its elements is made without a copy where strides say where they are.
pub(crate) fn apply(asked: OperationRequest<'_>, operands: &[AnyOperand], place: Place) -> Array {
    let LazyOperands { known, mut own, settings } = match gather(asked.what(), operands, place) {
        Ok(operands) => operands,
        Err(poisoned) => return poisoned,
    };
    let (policy, fallback) = (settings.policy, settings.fallback);
    let InferredOperation { operation, ty, shape, casts } =
        match infer(asked, settings, &known, place, &|i| origin(&own[i])) {
            Ok(inferred) => inferred,
            Err(error) => return Array::poisoned(error),
        };
    for ((operand, known), cast) in own.iter_mut().zip(&known).zip(casts) {
        adapt(operand, known.shape, cast, place, fallback);
    }
    let views = matches!(operation, Operation::View(..) | Operation::Reshape(_));
    let moves = views || matches!(operation, Operation::Gather | Operation::Scatter(_));
    if moves
        && let Some(operand) = own.first_mut()
        && let LazyOperand::Literal(Scalar(literal, _)) = operand
    {
        // An array from here on, stored as the policy says that is in force now.
        match Array::from_literal(literal, literal.ty(), policy.commit(literal.ty())) {
            Ok(array) => *operand = LazyOperand::Array(array),
            Err(error) => return Array::poisoned(error.at(place)),
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
    let device = device_of(&own);
    // Indices are made of nothing; an array says no more than where they are wanted.
    let operands = if let Operation::Iota(..) = operation { SmallVec::new() } else { own };
    note_on(device, ty, dtype, shape, PendingOp::new(operation, operands, place, fallback))
}

/// Where an operand comes from.
fn origin(operand: &LazyOperand) -> Origin {
    let array = match operand {
        LazyOperand::Literal(number) => return Origin::Literal(number.0, number.1),
        LazyOperand::Array(array) => array,
    };
    match &*array.0.source.lock() {
        ElementSource::Pending(pending_op) => {
            Origin::Computed { value: None, what: pending_op.operation.name(), place: Some(pending_op.place) }
        }
        ElementSource::Nothing | ElementSource::Kept(_) => Origin::Data,
    }
}

/// Notes a cast of an operand of any sort.
pub(crate) fn convert(x: &AnyOperand, dtype: DType, place: Place) -> Array {
    match x {
        AnyOperand::Array(array) => converted(array, dtype, place),
        AnyOperand::Scalar(number) => {
            converted_to(LazyOperand::Literal(*number), Device::CPU, SCALAR.clone(), dtype, place)
        }
        AnyOperand::Expr(x) => outside("cast", *x, place),
    }
}

/// Notes a cast to the dtype that the policy takes where this one is asked for.
pub(crate) fn cast(array: &Array, dtype: DType, place: Place) -> Array {
    converted(array, config::settings().policy.width(dtype), place)
}

/// Notes a cast.
fn converted(array: &Array, dtype: DType, place: Place) -> Array {
    if let Some(error) = array.error() {
        return Array::poisoned(error.clone());
    }
    converted_to(LazyOperand::Array(array.clone()), array.device(), array.shape().clone(), dtype, place)
}

fn converted_to(operand: LazyOperand, device: Device, shape: Shape, dtype: DType, place: Place) -> Array {
    let settings = match config::settings().on(device) {
        Ok(settings) => settings,
        Err(error) => return Array::poisoned(error.at(place)),
    };
    let allowed = support::check_value(settings, "cast", dtype);
    if let Err(error) = allowed.and_then(|()| shape.bytes(dtype.bytes())) {
        return Array::poisoned(error.at(place));
    }
    let cast = Operation::Cast(CastReason::Explicit, dtype.into());
    note(dtype.into(), dtype, shape, PendingOp::new(cast, SmallVec::from_iter([operand]), place, settings.fallback))
}

/// The device that operands are on: all arrays are on one.
fn device_of(operands: &[LazyOperand]) -> Device {
    operands.iter().find_map(LazyOperand::array).map_or(Device::CPU, Array::device)
}

fn note(ty: ValueType, dtype: DType, shape: Shape, pending_op: PendingOp) -> Array {
    note_on(device_of(&pending_op.operands), ty, dtype, shape, pending_op)
}

fn note_on(device: Device, ty: ValueType, dtype: DType, shape: Shape, pending_op: PendingOp) -> Array {
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
    // Shared operands count more than once; only a number over the limit is worth counting exactly.
    if waiting > Array::NODE_LIMIT {
        waiting = 1 + count_waiting(&pending_op);
    }
    let array = Array::waiting(ty, dtype, shape, device, pending_op, waiting);
    if waiting > Array::NODE_LIMIT
        && let Err(error) = evaluate(&array)
        && error.code() != ErrorCode::Allocation
    {
        return Array::poisoned(error);
    }
    array
}

/// The number of different operations that wait below a pending operation; stops counting beyond the limit.
fn count_waiting(pending_op: &PendingOp) -> usize {
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    let mut stack = waiting_operands(pending_op);
    while let Some(array) = stack.pop() {
        if seen.len() > Array::NODE_LIMIT {
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

fn waiting_operands(pending_op: &PendingOp) -> Vec<Array> {
    pending_op.operands.iter().filter_map(LazyOperand::array).filter(|array| array.waits()).cloned().collect()
}
