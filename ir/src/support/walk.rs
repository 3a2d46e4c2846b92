//! What a traced function supports: every dtype is tried as that of its arguments, node by node.
//!
//! Only types are computed anew. What an explicit cast gives does not depend on the argument, so nothing after it does. (Ivy
//! intersects the sets of all functions that are called, whatever dtype they are called with.) Casts that a mode inserted are
//! not counted: the question is what is supported without them. Literals are not looked at.

use super::adapt::Support;
use super::modes::CastReason;
use super::query::{Unsupported, unsupported};
use super::restriction::Restriction;
use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, ErrorCode, Result};
use crate::graph::{Graph, NodeKind, Places};
use crate::op::Op;
use crate::place::Place;
use crate::value_type::ValueType;
use std::fmt;

/// A dtype that a function does not support, and the first thing in it that does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion {
    /// The dtype.
    pub dtype: DType,
    /// The op that does not take it; `None` if it is a declaration, or the device that has no such dtype.
    pub op: Option<Op>,
    /// Where that stands.
    pub place: Option<Place>,
    /// Why.
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

/// What a function supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// The dtypes its arguments may have.
    pub supported: DTypeSet,
    /// The others.
    pub unsupported: Vec<Exclusion>,
}

/// The dtypes that the first `arguments` parameters of a graph without calls may have, all at once. `declared` is about them
/// alone, the restrictions of `support` about every op.
///
/// # Errors
/// `Verify` if the graph has calls.
pub fn infer(
    graph: &Graph<ValueType>,
    places: &Places,
    arguments: usize,
    support: Support,
    declared: Option<Restriction>,
) -> Result<Inferred> {
    let mut inferred = Inferred { supported: DTypeSet::EMPTY, unsupported: Vec::new() };
    let refuses = |restriction: &Restriction, dtype| !restriction.dtypes().contains(dtype);
    for dtype in DType::ALL {
        let declared = declared.filter(|restriction| refuses(restriction, dtype));
        let exclusion = match declared.or(support.restrictions.excluding(dtype)) {
            Some(restriction) => Some(Exclusion::declared(dtype, restriction)),
            None => excluded(graph, places, arguments, support, dtype)?,
        };
        match exclusion {
            Some(exclusion) => inferred.unsupported.push(exclusion),
            None => inferred.supported = inferred.supported | dtype,
        }
    }
    Ok(inferred)
}

fn excluded(
    graph: &Graph<ValueType>,
    places: &Places,
    arguments: usize,
    support: Support,
    dtype: DType,
) -> Result<Option<Exclusion>> {
    let found = |op, place, reason| Ok(Some(Exclusion { dtype, op, place, reason }));
    if let Some(device) = support.device.filter(|device| device.invalid(dtype).is_some()) {
        return found(None, None, Unsupported::Invalid(device, dtype).to_string());
    }
    let mut types: Vec<ValueType> = Vec::with_capacity(graph.value_count());
    for id in graph.node_ids() {
        let node = graph.node(id);
        let operands: Vec<ValueType> = graph.operands(id).iter().map(|o| types[o.index()]).collect();
        let traced = graph.ty(node.first());
        types.push(match node.kind {
            NodeKind::Param(n, _) if (n as usize) < arguments => dtype.into(),
            NodeKind::Param(..) | NodeKind::Literal(_) | NodeKind::Cast(CastReason::Explicit) => traced,
            NodeKind::Cast(CastReason::Mode(_) | CastReason::Back) => operands[0],
            NodeKind::Op(op, policy) => {
                let place = places.first(id);
                let resolved = match policy.resolve_op(op, &operands) {
                    Ok(resolved) => resolved,
                    Err(error) => return found(Some(op), place, error.headline().to_owned()),
                };
                let compute = policy.commit(resolved.compute);
                if let Some(restriction) = support.restrictions.excluding(compute) {
                    let reason = format!("{op} computes in {compute}, which is declared unsupported");
                    return found(Some(op), Some(restriction.place()), reason);
                }
                if let Some(why) = unsupported(op, compute, support.device) {
                    return found(Some(op), place, why.to_string());
                }
                resolved.result
            }
            NodeKind::Call(_) => {
                return Err(Error::new(ErrorCode::Verify, "support: the graph has calls; inline runs before"));
            }
        });
    }
    Ok(None)
}
