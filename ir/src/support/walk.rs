//! The dtypes that a traced function supports: each is tried for its arguments, node by node.
//!
//! Only types are recomputed. The result of an explicit cast does not depend on the argument, so neither do its users. (Ivy
//! intersects the sets of all callees, whatever their dtypes.) Casts of modes are ignored: the result is the support without
//! them. Literals are not checked. Callees are walked for each call, and the graphs of control flow once: loops keep the types
//! of their state, branches agree.

use super::adapt::Support;
use super::modes::{CastReason, CastingModes};
use super::query::Unsupported;
use super::restriction::Restriction;
use super::supports::Supports;
use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, ErrorCode, Result};
use crate::graph::{ControlKind, Graph, Inner, NodeId, NodeKind, SourceLocs, TypeOf, Value};
use crate::infer::{InferenceError, Operation};
use crate::op::Op;
use crate::source_loc::SourceLoc;
use crate::value_type::ValueType;
use smallvec::{SmallVec, smallvec};
use std::fmt;
use std::sync::Arc;

/// An unsupported dtype of a function, and the first reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion {
    /// The dtype.
    pub dtype: DType,
    /// The op that does not support it; `None` for a reduction, a declaration, or a device without the dtype.
    pub op: Option<Op>,
    /// The place of the op or the declaration.
    pub place: Option<SourceLoc>,
    /// The reason.
    pub reason: String,
}

impl Exclusion {
    fn declared(dtype: DType, restriction: Restriction) -> Exclusion {
        Exclusion { dtype, op: None, place: Some(restriction.place()), reason: "declared unsupported".to_owned() }
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.dtype, self.reason)?;
        match self.place {
            Some(place) => write!(f, ", at {place}"),
            None => Ok(()),
        }
    }
}

/// The dtypes that a function supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// The dtypes its arguments may have.
    pub supported: DTypeSet,
    /// The others.
    pub unsupported: Vec<Exclusion>,
}

/// The dtypes that the first `arguments` parameters of a graph support, all at once. They are values under `support`; each op,
/// also of callees, is checked under its entry in `supports`.
///
/// # Errors
/// `Verify` if a call and its child differ in the number of operands.
pub fn infer(
    graph: &Graph<ValueType>,
    places: &SourceLocs,
    supports: &Supports,
    arguments: usize,
    support: Support,
) -> Result<Inferred> {
    let mut inferred = Inferred { supported: DTypeSet::EMPTY, unsupported: Vec::new() };
    let places = Arc::new(places.clone());
    for dtype in DType::ALL {
        let types = vec![dtype.into(); arguments];
        let walk = Walk {
            dtype,
            stack: vec![WalkFrame {
                places: Arc::clone(&places),
                supports: Some(supports),
                ..WalkFrame::new(graph, types)
            }],
        };
        let exclusion = match (support.restrictions.excluding(dtype), support.device) {
            (Some(restriction), _) => Some(Exclusion::declared(dtype, restriction)),
            (None, Some(device)) if device.invalid(dtype).is_some() => {
                let reason = Unsupported::Invalid(device, dtype).to_string();
                Some(Exclusion { dtype, op: None, place: None, reason })
            }
            (None, _) => walk.exclusion()?,
        };
        match exclusion {
            Some(exclusion) => inferred.unsupported.push(exclusion),
            None => inferred.supported = inferred.supported | dtype,
        }
    }
    Ok(inferred)
}

/// The state of a graph's walk: the next node and the types so far. The frame above another is its callee.
struct WalkFrame<'a> {
    graph: &'a Graph<ValueType>,
    places: Arc<SourceLocs>,
    supports: Option<&'a Supports>,
    /// The types of the first parameters; the others keep their traced types.
    arguments: Vec<ValueType>,
    types: Vec<ValueType>,
    next: u32,
    /// True if it is a graph of control flow.
    inner: bool,
    /// The result types of the current control flow's graphs, as far as walked.
    walked: Vec<Vec<ValueType>>,
}

impl<'a> WalkFrame<'a> {
    fn new(graph: &'a Graph<ValueType>, arguments: Vec<ValueType>) -> WalkFrame<'a> {
        WalkFrame {
            graph,
            places: Arc::default(),
            supports: None,
            arguments,
            types: Vec::with_capacity(graph.value_count()),
            next: 0,
            inner: false,
            walked: Vec::new(),
        }
    }
}

struct Walk<'a> {
    /// The dtype being tried.
    dtype: DType,
    stack: Vec<WalkFrame<'a>>,
}

impl<'a> Walk<'a> {
    fn exclusion(mut self) -> Result<Option<Exclusion>> {
        while let Some(frame) = self.stack.last_mut() {
            let (graph, id) = (frame.graph, NodeId(frame.next));
            if id.index() == graph.node_count() {
                let results: Vec<ValueType> = graph.outputs().iter().map(|o| frame.types[o.index()]).collect();
                let inner = self.stack.pop().is_some_and(|frame| frame.inner);
                match self.stack.last_mut() {
                    Some(outer) if inner => outer.walked.push(results),
                    Some(outer) => outer.types.extend(results),
                    None => {}
                }
                continue;
            }
            frame.next += 1;
            match frame.node(id, self.dtype)? {
                WalkStep::Types(types) => frame.types.extend(types),
                WalkStep::Call(called) => self.stack.push(called),
                WalkStep::Inner(graph) => {
                    // The node is visited again when its graphs are done.
                    frame.next -= 1;
                    self.stack.push(graph);
                }
                WalkStep::Excluded(exclusion) => return Ok(Some(exclusion)),
            }
        }
        Ok(None)
    }
}

/// The result of a node.
enum WalkStep<'a> {
    /// The types of its results.
    Types(SmallVec<[ValueType; 1]>),
    Call(WalkFrame<'a>),
    /// A graph of the current node's control flow.
    Inner(WalkFrame<'a>),
    Excluded(Exclusion),
}

impl<'a> WalkFrame<'a> {
    fn node(&mut self, id: NodeId, dtype: DType) -> Result<WalkStep<'a>> {
        let (graph, node) = (self.graph, self.graph.node(id));
        let operands: Vec<ValueType> = graph.operands(id).iter().map(|o| self.types[o.index()]).collect();
        let traced = graph.ty(node.first());
        let supports = self.supports.map_or(&[][..], |supports| supports.of(id));
        Ok(match node.kind {
            NodeKind::Param(n, _) => {
                let ty = self.arguments.get(n as usize).copied().unwrap_or(traced);
                match refused_argument(ty, supports, dtype) {
                    Some(exclusion) => WalkStep::Excluded(exclusion),
                    None => WalkStep::Types(smallvec![ty]),
                }
            }
            NodeKind::Cast(CastReason::Mode(_)) => WalkStep::Types(smallvec![operands[0]]),
            NodeKind::Control(n) => self.control(id, n, &operands, dtype)?,
            NodeKind::Call(n) => {
                let child = &graph.children()[n as usize];
                if child.params().len() != operands.len() {
                    return Err(Error::new(
                        ErrorCode::Verify,
                        "support: a call's operands are not its child's parameters",
                    ));
                }
                WalkStep::Call(WalkFrame {
                    places: self.places.child(n),
                    supports: self.supports.and_then(|supports| supports.child(n)).map(|child| &**child),
                    ..WalkFrame::new(child, operands)
                })
            }
            kind => match kind.row().ty {
                TypeOf::Given | TypeOf::Asked | TypeOf::Graph => WalkStep::Types(smallvec![traced]),
                TypeOf::Operand => WalkStep::Types(smallvec![operands[0]]),
                TypeOf::Policy => {
                    let operation = graph.operation(id).ok().flatten();
                    match operation.map_or(Ok(traced), |operation| computed(&operation, &operands, supports)) {
                        Ok(result) => WalkStep::Types(smallvec![result]),
                        Err((reason, place)) => {
                            let place = place.or(self.places.first(id));
                            WalkStep::Excluded(Exclusion { dtype, op: kind.op(), place, reason })
                        }
                    }
                }
            },
        })
    }

    /// Control flow: walks its graphs in turn, then gives the types of its results.
    fn control(&mut self, id: NodeId, n: u32, operands: &[ValueType], dtype: DType) -> Result<WalkStep<'a>> {
        let graph = self.graph;
        let control = &graph.controls()[n as usize];
        let which = self.walked.len();
        if let Some(inner) = control.graphs.get(which) {
            let taken = inner.operands.iter().map(|&operand| operands.get(operand as usize).copied());
            let Some(arguments) = taken.collect::<Option<Vec<ValueType>>>() else {
                return Err(Error::new(ErrorCode::Verify, "support: a graph of control flow takes what is no operand"));
            };
            return Ok(WalkStep::Inner(WalkFrame {
                places: self.places.control(n, which),
                supports: self.supports.and_then(|supports| supports.control(n, which)).map(|inner| &**inner),
                inner: true,
                ..WalkFrame::new(&inner.graph, arguments)
            }));
        }
        let walked = std::mem::take(&mut self.walked);
        let (Some(made), Some(Inner { graph: last, .. })) = (walked.last(), control.graphs.last()) else {
            return Err(Error::new(ErrorCode::Verify, "support: control flow without graphs"));
        };
        let mut types = SmallVec::with_capacity(made.len());
        for (leaf, (&ty, &output)) in made.iter().zip(last.outputs()).enumerate() {
            let state = || (operands[leaf], is_number_cast(graph, graph.operands(id)[leaf]));
            let (other, cast) = match control.kind {
                ControlKind::While | ControlKind::For(_) => state(),
                ControlKind::Scan(steps) if leaf < steps.carried as usize => state(),
                // Stacked results have the body's type.
                ControlKind::Scan(_) => (ty, false),
                ControlKind::Cond => {
                    let first = &control.graphs[0].graph;
                    (walked[0][leaf], is_number_cast(first, first.outputs()[leaf]))
                }
            };
            types.push(match ty == other {
                true => ty,
                // The literal was cast to the traced dtype; it would be cast to the new one.
                false if cast || is_number_cast(last, output) => last.ty(output),
                false => {
                    let reason = match control.kind {
                        ControlKind::While | ControlKind::Scan(_) | ControlKind::For(_) => {
                            format!("leaf {leaf} of a loop's state is {other}, the body gives {ty}")
                        }
                        ControlKind::Cond => format!("leaf {leaf} of branches is {other} if true, {ty} if false"),
                    };
                    let place = self.places.first(id);
                    return Ok(WalkStep::Excluded(Exclusion { dtype, op: None, place, reason }));
                }
            });
        }
        Ok(WalkStep::Types(types))
    }
}

/// Returns `true` if a value is a cast of a literal.
fn is_number_cast(graph: &Graph<ValueType>, value: Value) -> bool {
    let id = graph.producer(value);
    matches!(graph.node(id).kind, NodeKind::Cast(CastReason::Explicit | CastReason::Promotion))
        && graph.operands(id).iter().all(|&operand| graph.ty(operand).is_weak())
}

/// The declaration that excludes an argument of this type. Weak arguments are always allowed.
fn refused_argument(ty: ValueType, supports: &[Support], dtype: DType) -> Option<Exclusion> {
    let ValueType::Strong(passed) = ty else { return None };
    let restriction = supports.iter().find_map(|support| support.restrictions.excluding(passed))?;
    let mut exclusion = Exclusion::declared(dtype, restriction);
    if passed != dtype {
        exclusion.reason = format!("{passed} is passed to a function, which is declared unsupported");
    }
    Some(exclusion)
}

/// The type of an operation's result under all of these supports, or the reason why there is none and the place of the declaration.
fn computed(
    operation: &Operation<'_>,
    operands: &[ValueType],
    supports: &[Support],
) -> Result<ValueType, (String, Option<SourceLoc>)> {
    let named = |mismatch: InferenceError| match mismatch {
        InferenceError::Clash(clash) => (format!("{}: {clash}", operation.kind.name()), None),
        other => (other.to_string(), None),
    };
    let result = operation.types(operands).map_err(named)?.result;
    for support in supports {
        let refused = match (&operation.kind, operation.kind.type_request()) {
            (&NodeKind::Op(op, policy), _) => {
                let adapted = support.adapt(policy, op, operands, CastingModes::ERROR);
                adapted.err().map(|refused| support.op_refused(op, refused))
            }
            (_, Some((function, request))) => {
                let adapted = support.adapt_reduction(function, request, operands[0], CastingModes::ERROR);
                adapted.err().map(|refused| support.reduction_refused(function, refused))
            }
            _ => None,
        };
        refused.map_or(Ok(()), Err)?;
    }
    Ok(result)
}
