//! Type and shape inference with [`ndjit_ir::infer`], with errors for users: the mismatched operands, their origins, and a fix. Both traced
//! and lazy operations use it. Scalars must fit the dtypes of their uses, and arrays memory.

use crate::request::OperationRequest;
use crate::settings::{Settings, or_falling_back};
use ndjit_inspect::explain::{Origin, Site};
use ndjit_inspect::words::{KnownOperand, NUMBERED, Origins, What, explained, without_array, worded};
use ndjit_ir::graph::{Graph, NodeKind, Slot, SourceLocs, Value};
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::{Reduce, TypeRequest};
use ndjit_ir::support::adapt::{Adapted, OperandCast};
use ndjit_ir::support::{CastReason, Support};
use ndjit_ir::{DType, Error, ErrorCode, Kind, Policy, Result, Shape, SourceLoc, ValueType};
use smallvec::SmallVec;

impl<'a> OperationRequest<'a> {
    /// The function's name.
    pub fn what(self) -> &'static str {
        match self {
            OperationRequest::Op(op) => op.name(),
            OperationRequest::Reduction(request) => request.function.name(),
            OperationRequest::Movement(movement) => movement.function.what,
        }
    }

    /// Its name in errors, and source location, for so many operands.
    fn site(self, operands: usize, place: SourceLoc) -> What<'a> {
        let names = match self {
            OperationRequest::Op(op) => op.row().operands,
            OperationRequest::Reduction(request) => request.function.row().operands,
            OperationRequest::Movement(movement) => movement.function.names(operands),
        };
        let site = match self {
            OperationRequest::Op(op) => Site::of_op(op, place),
            OperationRequest::Reduction(_) | OperationRequest::Movement(_) => Site::of(self.what(), place),
        };
        What { names, site }
    }

    /// The operation on operands of these shapes.
    fn operation(self, operands: &[KnownOperand<'_>], policy: Policy) -> Result<Operation<'static>> {
        match self {
            OperationRequest::Op(op) => Ok(Operation::op(op, policy)),
            OperationRequest::Reduction(request) => request.operation(operands[0].shape, policy),
            OperationRequest::Movement(movement) => {
                let shapes: SmallVec<[&Shape; 3]> = operands.iter().map(|operand| operand.shape).collect();
                (movement.of)(&shapes).map_err(|error| error.of(movement.function.what))
            }
        }
    }
}

/// An operation with its inferred types.
pub struct InferredOperation {
    /// The operation.
    pub operation: Operation<'static>,
    /// The type of the result.
    pub ty: ValueType,
    /// The shape of the result.
    pub shape: Shape,
    /// The cast of each operand that a casting mode inserts; empty if there are none.
    pub casts: SmallVec<[OperandCast; 3]>,
}

/// The operation, the type and shape of its result, and its casts.
///
/// # Errors
/// A mismatch, in the words of a user.
pub fn infer(
    asked: OperationRequest<'_>,
    settings: Settings,
    operands: &[KnownOperand<'_>],
    place: SourceLoc,
    origins: Origins<'_>,
) -> Result<InferredOperation> {
    let in_words = |error| explained(error, asked.site(operands.len(), place), operands, place, origins);
    // By reference: an operation is as large as a view.
    let operation = match asked.operation(operands, settings.policy) {
        Ok(operation) => operation,
        Err(error) => return Err(in_words(error)),
    };
    match or_falling_back(settings, |settings| inferred(&operation, asked.what(), settings, operands)) {
        Ok((ty, shape, casts)) => Ok(InferredOperation { operation, ty, shape, casts }),
        Err(error) => Err(in_words(error)),
    }
}

fn inferred(
    operation: &Operation<'_>,
    what: &str,
    settings: Settings,
    operands: &[KnownOperand<'_>],
) -> Result<(ValueType, Shape, SmallVec<[OperandCast; 3]>)> {
    let policy = settings.policy;
    // Indices have no inputs; an operand only determines their device.
    let own = if let NodeKind::Iota(..) = operation.kind { &[] } else { operands };
    let types: SmallVec<[ValueType; 3]> = own.iter().map(|operand| operand.ty).collect();
    let Adapted { types, casts } = match operation.kind {
        NodeKind::Op(..) | NodeKind::Reduce(_) | NodeKind::Scan(..) | NodeKind::Sort(..) => {
            settings.support.resolve(operation, &types)?
        }
        _ => Adapted {
            types: operation.types(&types).map_err(|clash| worded(clash, operation, what))?,
            casts: SmallVec::new(),
        },
    };
    let compute = policy.commit(types.compute);
    let known: SmallVec<[(ValueType, &Shape); 3]> = own.iter().map(|operand| (operand.ty, operand.shape)).collect();
    operation.check_function(types.result, &known).map_err(|mismatch| worded(mismatch, operation, what))?;
    for (i, operand) in own.iter().enumerate() {
        let cast = casts.get(i).copied().flatten();
        if let Some((dtype, _)) = cast {
            operand.shape.bytes(dtype.bytes()).map_err(|e| e.of(what))?;
        }
        let dtype = used_as(operation, i, compute, cast);
        // Scalars become bools by comparison with zero, not by rounding; a cast of a mode may drop a fraction, but preserves an integer's
        // value.
        if let (Some(dtype), Some(literal)) = (dtype.filter(|dtype| *dtype != DType::Bool), operand.literal)
            && (cast.is_none() || !matches!(operation.kind, NodeKind::Op(..)) || literal.ty().kind() == Kind::Int)
        {
            fits(literal, dtype, operands).map_err(|e| e.of(what))?;
        }
    }
    let shapes: SmallVec<[&Shape; 3]> = own.iter().map(|operand| operand.shape).collect();
    let shape = operation.shape(&shapes).map_err(|mismatch| worded(mismatch, operation, what))?.into_owned();
    shape.bytes(policy.commit(types.result).bytes()).map_err(|e| e.of(what))?;
    Ok((types.result, shape, casts))
}

/// The dtype in which operand `i`, a scalar, is used; `None` if it takes any.
fn used_as(operation: &Operation<'_>, i: usize, compute: DType, cast: OperandCast) -> Option<DType> {
    match operation.kind {
        NodeKind::Op(op, _) => Some(cast.map_or_else(|| op.operand_dtype(i, compute), |(dtype, _)| dtype)),
        // Under a requested dtype it is cast; corrections and indices are unchanged.
        NodeKind::Reduce(Reduce { request, .. }) | NodeKind::Scan(_, _, request) | NodeKind::Sort(_, _, request) => {
            (i == 0 && request.dtype.is_none()).then_some(compute)
        }
        NodeKind::Gather | NodeKind::Scatter(_) => (i != 1).then_some(compute),
        _ => Some(compute),
    }
}

/// Checks that a scalar among these operands fits the dtype of its use. Without arrays, there is no alternative cast.
fn fits(literal: Literal, dtype: DType, operands: &[KnownOperand<'_>]) -> Result<()> {
    literal.to_repr(dtype).map(drop).map_err(|error| {
        let alone = operands.iter().all(|operand| operand.literal.is_some());
        if alone { without_array(error, literal, dtype) } else { error }
    })
}

/// The operation of a traced graph that scalars `passed` at a call do not fit, with the error of the same literal.
pub fn misfit(
    (graph, places): (&Graph<ValueType>, &SourceLocs),
    settings: Settings,
    passed: &[(usize, Literal)],
    origin: &dyn Fn(Value) -> Origin,
) -> Option<Error> {
    // Support was checked when the function was traced; casts of modes are operations of the graph.
    let settings = Settings { support: Support::default(), ..settings };
    let slot = |value: Value| match graph.node(graph.producer(value)).kind {
        NodeKind::Literal(slot) => graph.slots().get(slot.index()),
        _ => None,
    };
    let number = |value: Value| match slot(value)? {
        Slot::Value(literal) => Some(*literal),
        Slot::Argument { index, .. } => passed.iter().find(|(n, _)| n == index).map(|(_, literal)| *literal),
    };
    let is_passed = |value: &Value| matches!(slot(*value), Some(Slot::Argument { .. }));
    let operands_of = |id| graph.operands(id).iter().copied();
    let found = graph.node_ids().filter(|&id| operands_of(id).any(|value| is_passed(&value))).find_map(|id| {
        let place = places.first(id)?;
        let known = |value| KnownOperand { ty: graph.ty(value), shape: graph.shape(value), literal: number(value) };
        let known: SmallVec<[KnownOperand<'_>; 3]> = operands_of(id).map(known).collect();
        let all = |name: &'static str, dtype: DType| {
            let mut numbers = known.iter().filter_map(|operand| operand.literal);
            numbers.find_map(|literal| fits(literal, dtype, &known).err()).map(|error| error.of(name))
        };
        let policy = settings.policy;
        let kind = graph.node(id).kind;
        let (what, error) = match kind {
            NodeKind::Op(op, policy) => {
                let what = What { names: op.row().operands, site: Site::of_op(op, place) };
                let settings = Settings { policy, ..settings };
                (what, inferred(&Operation::op(op, policy), op.name(), settings, &known).err()?)
            }
            _ if let Some((function, TypeRequest { dtype, policy })) = kind.type_request() => {
                let types = graph.operation(id).ok()??.types(&[known[0].ty]).ok()?;
                let what = What { names: function.row().operands, site: Site::of(function.name(), place) };
                // As in the trace: requested dtypes are casts, and bools are comparisons with zero.
                let used = Some(policy.commit(types.compute)).filter(|used| dtype.is_none() && *used != DType::Bool);
                (what, all(function.name(), used.unwrap_or(policy.commit(known[0].ty)))?)
            }
            NodeKind::Concat(..) => {
                let what = What { names: NUMBERED, site: Site::of("concat", place) };
                (what, all("concat", policy.commit(graph.ty(graph.node(id).first())))?)
            }
            // An explicit cast accepts any value.
            NodeKind::Cast(CastReason::Explicit) => return None,
            // A fraction may be dropped; an integer keeps its value.
            NodeKind::Cast(CastReason::Mode(_)) => {
                let to = policy.commit(graph.ty(graph.node(id).first()));
                let error = known[0].literal.filter(|literal| literal.ty().kind() == Kind::Int)?.to_repr(to).err()?;
                (What { names: &["number"], site: Site::of("call", place) }, error.of("call"))
            }
            NodeKind::Cast(CastReason::Promotion) => {
                let to = policy.commit(graph.ty(graph.node(id).first()));
                let error = known[0].literal?.to_repr(to).err()?.of("call");
                let error = error.fact(format_args!("it becomes {to} there: where a loop begins or ends, or in an array that it is put into"));
                let what = What { names: &["number"], site: Site::of("call", place) };
                (
                    what,
                    error.help(format!(
                        "pass a number that {to} holds, or give the array, what the body gives, or the other bound a wider dtype{}",
                        known[0].literal.and_then(|literal| literal.wider(to)).map_or(String::new(), |wider| format!(", as {wider}"))
                    )),
                )
            }
            // These take the scalar unchanged.
            _ => {
                let misfits = |operand: &KnownOperand<'_>| {
                    let (literal, dtype) = (operand.literal?, policy.commit(operand.ty));
                    Some(without_array(literal.to_repr(dtype).err()?, literal, dtype).of("call"))
                };
                let (n, error) = known.iter().enumerate().find_map(|(n, operand)| Some((n, misfits(operand)?)))?;
                let what = What { names: &["number"], site: Site::of("call", place) };
                let value = operands_of(id).nth(n)?;
                return Some(explained(error, what, &known[n..=n], place, &|_| origin(value)));
            }
        };
        let operands: SmallVec<[Value; 3]> = operands_of(id).collect();
        let error = (error.code() == ErrorCode::Literal).then_some(error)?;
        Some(explained(error, what, &known, place, &|n| origin(operands[n])))
    });
    found.or_else(|| {
        // A result without operations has its default dtype.
        graph.outputs().iter().filter(|value| is_passed(value)).find_map(|&value| {
            let (literal, dtype) = (number(value)?, settings.policy.commit(graph.ty(value)));
            let error = without_array(literal.to_repr(dtype).err()?, literal, dtype).of("call");
            Some(error.fact(format_args!("the number: {} ({} {})", graph.ty(value), literal.value(), origin(value))))
        })
    })
}
