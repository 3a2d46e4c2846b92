//! The verifiers of graphs. They check, of every node,
//!
//! - operands exist and come before the node;
//! - parameters are the first nodes, in order, each listed once;
//! - an op has as many operands as its row says, a cast one, parameters and literals none; all of these have one result;
//! - an op's operands broadcast, and the result has the broadcast shape; a cast keeps the shape; a literal is a scalar;
//! - no array is larger than memory can address;
//! - a reduction has the operands its row names, of which all but the first are scalars, along axes that the first has; its
//!   result has the shape without them, or with extent 1 there; it has elements if it needs any;
//! - a scan has one operand, goes along an axis of it and keeps its shape;
//! - a view finds elements of its one operand only; a reshape keeps the number of elements; operands of a join have equal extents
//!   but along its axis, and the result their sum there; each keeps its operands' type, of a join the common one;
//! - a gather has two operands, the first one's first axis has elements unless the result has none, and what remains of its shape
//!   broadcasts with the second one's to the result's; it keeps the first one's type, and the second is an `i64`;
//! - a scatter has three operands, of the shapes and types that a gather of the first two has, keeps shape and type of the first and takes its
//!   dtype;
//! - a literal's slot exists;
//! - control flow exists, not too deep, its graphs take the operands that they say, and give the result; they are well-formed;
//! - a number that is passed at each call is of one kind wherever in the program it is used;
//! - outputs exist.
//!
//! Of traced graphs (`Graph<ValueType>`) besides
//!
//! - a literal has its slot's type; a weak parameter is stored as a dtype of its kind;
//! - the result type of an op, a reduction or a scan is what its policy makes of its operands' types;
//! - a cast gives a dtype;
//! - a call's child exists, takes what the call passes and gives what the call results in, at least one value; children are well-formed.
//!
//! Of typed graphs (`Graph<DType>`) besides
//!
//! - a literal has a dtype that its slot's value fits (for an argument: that any value of its kind fits but for its range);
//! - the operands of an op have the dtypes it computes in, so every conversion is a cast; the op takes that dtype; the result
//!   has the dtype the op gives;
//! - a reduction is elementary, it and a scan keeps the dtype of its operand, or gives positions that fit, accumulates values of it, and no dtype is asked for;
//! - an op or a reduction has the default policy, a cast no reason, and there are no calls: policies are resolved and calls inlined before.
//!
//! Not checked: that equal nodes are one, which [`Graph::add`] sees to.

use super::control::{Wanted, wanted};
use super::{Graph, MAX_NESTING, NodeId, NodeKind, Slot, Type, Value};
use crate::dtype::DType;
use crate::error::Result;
use crate::op::Operands;
use crate::problems::Problems;
use crate::promotion::Policy;
use crate::reduction::{MAX_RANK, Reduce, Reduction, Scan};
use crate::shape::Shape;
use crate::support::CastReason;
use crate::value_type::{ValueType, Weak};

impl Graph<ValueType> {
    /// Checks the invariants of a traced graph, of all graphs it calls, and of those of its control flow.
    ///
    /// # Errors
    /// `Verify`, one fact per problem: the node's line and what is wrong.
    pub fn verify(&self) -> Result<()> {
        verify(self, traced_types, "graph")
    }
}

impl Graph<DType> {
    /// Checks the invariants of a typed graph, and of those of its control flow.
    ///
    /// # Errors
    /// `Verify`, one fact per problem: the node's line and what is wrong.
    pub fn verify(&self) -> Result<()> {
        verify(self, typed_types, "typed graph")
    }
}

/// What must hold of the type of a node of a stage.
type Types<T> = fn(&Graph<T>, &Controls<T>, NodeId) -> Result<(), String>;

/// What each piece of control flow of a graph asks of its nodes, or what is wrong with it.
type Controls<T> = [Result<Wanted<T>, String>];

fn verify<T: Type>(graph: &Graph<T>, types: Types<T>, stage: &str) -> Result<()> {
    let mut problems = Problems::default();
    if graph.nesting() > MAX_NESTING {
        problems.note(format!("control flow stands more than {MAX_NESTING} deep in control flow"));
    }
    let numbers = graph.numbers();
    for graph in graph.whole() {
        check(graph, types, &mut problems);
        let passed = graph.slots.iter().filter_map(Slot::argument);
        for (index, ty) in passed.filter(|(index, ty)| numbers.get(index) != Some(ty)) {
            problems.note(format!("argument {index} is {ty} here and {} elsewhere", numbers[&index]));
        }
    }
    problems.verdict(stage)
}

/// Checks what does not depend on the stage, then the types of each node that is sound so far.
fn check<T: Type>(graph: &Graph<T>, types: Types<T>, problems: &mut Problems) {
    let controls: Vec<_> = graph.controls().iter().map(|control| wanted(control)).collect();
    for id in graph.node_ids() {
        if problems.is_full() {
            return;
        }
        let checked = structure(graph, id).and_then(|()| types(graph, &controls, id)).and_then(|()| {
            let mut results = graph.node(id).results();
            results.try_for_each(|value| match graph.shape(value).bytes(graph.ty(value).stored().bytes()) {
                Ok(_) => Ok(()),
                Err(error) => Err(error.headline().to_owned()),
            })
        });
        problems.check(checked, || graph.display_node(id).to_string());
    }
    for (what, values) in [("parameter", &graph.params), ("output", &graph.outputs)] {
        if let Some(value) = values.iter().find(|value| value.index() >= graph.value_count()) {
            problems.note(format!("{what} {value} does not exist"));
        }
    }
    if graph.node_ids().take(graph.params.len()).any(|id| !matches!(graph.node(id).kind, NodeKind::Param(..))) {
        problems
            .note(format!("{} parameters are listed, not all of the first nodes are parameters", graph.params.len()));
    }
}

fn structure<T: Type>(graph: &Graph<T>, id: NodeId) -> Result<(), String> {
    let node = graph.node(id);
    let operands = graph.operands(id);
    if let Some(operand) = operands.iter().find(|operand| **operand >= node.first) {
        return Err(format!("operand {operand} does not come before the node"));
    }
    let counts = |takes: usize| match (operands.len() == takes, node.results) {
        (false, _) => Err(format!("takes {takes} operands, has {}", operands.len())),
        (true, 1) => Ok(()),
        (true, n) => Err(format!("has {n} results instead of 1")),
    };
    match node.kind {
        NodeKind::Param(n, _) => {
            counts(0)?;
            match graph.params.get(n as usize) {
                Some(&value) if value == node.first && id.0 == n => Ok(()),
                _ => Err(format!("parameter {n} is node {}; parameters are the first nodes, in order", id.index())),
            }
        }
        NodeKind::Literal(slot) => {
            counts(0)?;
            if slot.index() >= graph.slots.len() {
                return Err(format!("slot {slot} does not exist"));
            }
            same_shape(graph, node.first, &Shape::scalar())
        }
        NodeKind::Op(op, _) => {
            counts(op.arity())?;
            let mut shape = graph.shape(operands[0]).clone();
            for &operand in &operands[1..] {
                let other = graph.shape(operand);
                shape = shape.broadcast(other).ok_or_else(|| format!("shapes {shape} and {other} do not broadcast"))?;
            }
            same_shape(graph, node.first, &shape)
        }
        NodeKind::Cast(_) => {
            counts(1)?;
            same_shape(graph, node.first, graph.shape(operands[0]))
        }
        NodeKind::Reduce(reduce) => {
            counts(operands.len().clamp(1, reduce.reduction.row().operands.len()))?;
            let shape = graph.shape(operands[0]);
            if reduce.reduction.scans() {
                return Err(format!("{} is a scan, no reduction", reduce.reduction));
            }
            if !reduce.axes.within(shape.rank()) {
                return Err(format!("axes {} of an operand of shape {shape}", reduce.axes));
            }
            if reduce.contracts && reduce.reduction != Reduction::Sum {
                return Err(format!("a {} that contracts, as sums alone do", reduce.reduction));
            }
            if reduce.reduction.needs_elements() && reduce.axes.count(shape) == 0 {
                return Err(format!("{} of no elements", reduce.reduction));
            }
            if let Some(&other) = operands[1..].iter().find(|&&other| graph.shape(other).rank() > 0) {
                return Err(format!("operand {other} is no scalar"));
            }
            same_shape(graph, node.first, &reduce.axes.reduced(shape, reduce.keepdims))
        }
        NodeKind::Scan(scan) => {
            counts(1)?;
            let shape = graph.shape(operands[0]);
            if !scan.reduction.scans() {
                return Err(format!("{} is a reduction, no scan", scan.reduction));
            }
            if scan.axis as usize >= shape.rank().min(MAX_RANK) {
                return Err(format!("axis {} of an operand of shape {shape}", scan.axis));
            }
            same_shape(graph, node.first, shape)
        }
        NodeKind::View(view) => {
            counts(1)?;
            let Some(view) = graph.views.get(view.index()) else { return Err(format!("{view} does not exist")) };
            view.check(graph.shape(operands[0]), graph.shape(node.first))
        }
        NodeKind::Reshape => {
            counts(1)?;
            let [from, to] = [operands[0], node.first].map(|value| graph.shape(value));
            if from.size().ok() == to.size().ok() { Ok(()) } else { Err(format!("{from} as {to}")) }
        }
        NodeKind::Concat(axis, _) => {
            counts(operands.len().max(1))?;
            let shapes: Vec<&Shape> = operands.iter().map(|&operand| graph.shape(operand)).collect();
            same_shape(graph, node.first, &crate::view::concat_shape(&shapes, axis as usize)?)
        }
        NodeKind::Iota(axes) => {
            counts(0)?;
            let shape = graph.shape(node.first);
            if axes.within(shape.rank()) { Ok(()) } else { Err(format!("axes {axes} of shape {shape}")) }
        }
        NodeKind::Gather => {
            counts(2)?;
            same_shape(graph, node.first, &crate::view::gathered(graph.shape(operands[0]), graph.shape(operands[1]))?)
        }
        NodeKind::Control(n, _) => {
            counts(operands.len())?;
            if (n as usize) < graph.controls().len() { Ok(()) } else { Err(format!("control flow {n} does not exist")) }
        }
        NodeKind::Scatter(_) => {
            counts(3)?;
            let [x, index, updates] = [0, 1, 2].map(|n| graph.shape(operands[n]));
            let space = crate::view::scattered(x, index)?;
            if updates.broadcast(&space).as_ref() != Some(&space) {
                return Err(format!("{updates} does not broadcast to {space}"));
            }
            same_shape(graph, node.first, x)
        }
        NodeKind::Call(child) => {
            let Some(child) = graph.children().get(child as usize) else {
                return Err(format!("child @{child} does not exist"));
            };
            if node.results == 0 {
                return Err("a call without results".to_owned());
            }
            same_values(graph, operands.iter().copied(), child, &child.params, "operand")?;
            same_values(graph, node.results(), child, &child.outputs, "result")
        }
    }
}

fn same_shape<T: Type>(graph: &Graph<T>, value: Value, shape: &Shape) -> Result<(), String> {
    let found = graph.shape(value);
    if found == shape { Ok(()) } else { Err(format!("the result's shape is {shape}, not {found}")) }
}

/// Values outside and inside a call must agree in number, type and shape.
fn same_values<T: Type>(
    graph: &Graph<T>,
    outside: impl Iterator<Item = Value>,
    child: &Graph<T>,
    inside: &[Value],
    what: &str,
) -> Result<(), String> {
    let outside: Vec<Value> = outside.collect();
    if outside.len() != inside.len() {
        return Err(format!("the child has {} {what}s, the call {}", inside.len(), outside.len()));
    }
    for (position, (&out, &inn)) in outside.iter().zip(inside).enumerate() {
        if inn.index() >= child.value_count() {
            return Err(format!("{what} {position} of the child does not exist"));
        }
        let (here, there) = ((graph.ty(out), graph.shape(out)), (child.ty(inn), child.shape(inn)));
        if here != there {
            return Err(format!("{what} {position} is {}{}, the child's {}{}", here.0, here.1, there.0, there.1));
        }
    }
    Ok(())
}

fn traced_types(graph: &Graph<ValueType>, controls: &Controls<ValueType>, id: NodeId) -> Result<(), String> {
    let node = graph.node(id);
    let found = |expected: ValueType| match graph.ty(node.first) {
        ty if ty == expected => Ok(()),
        ty => Err(format!("the result's type is {expected}, not {ty}")),
    };
    match node.kind {
        NodeKind::Literal(slot) => found(graph.slots[slot.index()].ty()),
        NodeKind::Op(op, policy) => {
            let types: Vec<ValueType> = graph.operands(id).iter().map(|&operand| graph.ty(operand)).collect();
            match policy.resolve_op(op, &types) {
                Ok(types) => found(types.result),
                Err(error) => Err(error.headline().to_owned()),
            }
        }
        NodeKind::Reduce(Reduce { reduction, dtype, policy, .. })
        | NodeKind::Scan(Scan { reduction, dtype, policy, .. }) => {
            match policy.resolve_reduction(reduction, dtype, graph.ty(graph.operands(id)[0])) {
                Ok(types) => found(types.result.into()),
                Err(error) => Err(error.headline().to_owned()),
            }
        }
        NodeKind::Iota(_) => found(DType::I64.into()),
        NodeKind::View(_) | NodeKind::Reshape => found(graph.ty(graph.operands(id)[0])),
        NodeKind::Gather => match graph.ty(graph.operands(id)[1]) {
            ty if ty == DType::I64.into() => found(graph.ty(graph.operands(id)[0])),
            ty => Err(format!("positions are i64, not {ty}")),
        },
        NodeKind::Control(n, result) => controlled(graph, controls, id, (n, result)),
        NodeKind::Scatter(_) => match graph.ty(graph.operands(id)[1]) {
            ty if ty == DType::I64.into() => found(graph.ty(graph.operands(id)[0])),
            ty => Err(format!("positions are i64, not {ty}")),
        },
        NodeKind::Concat(_, policy) => {
            let types: Vec<ValueType> = graph.operands(id).iter().map(|&operand| graph.ty(operand)).collect();
            match policy.resolve(Operands::Join, &types) {
                Ok(types) => found(types.compute),
                Err(clash) => Err(clash.to_string()),
            }
        }
        NodeKind::Cast(_) if graph.ty(node.first).is_weak() => Err("a cast to a weak type".to_owned()),
        NodeKind::Cast(CastReason::Promotion) => match (graph.ty(graph.operands(id)[0]), graph.ty(node.first)) {
            (ValueType::Weak(weak), ValueType::Strong(to)) if weak.promotes_to(to) => Ok(()),
            (from, to) => Err(format!("{from} is not promoted to {to}")),
        },
        NodeKind::Param(_, stored) if !can_store(graph.ty(node.first), stored) => {
            Err(format!("a parameter of type {} is not stored as {stored}", graph.ty(node.first)))
        }
        NodeKind::Param(..) | NodeKind::Cast(_) | NodeKind::Call(_) => Ok(()),
    }
}

fn typed_types(graph: &Graph<DType>, controls: &Controls<DType>, id: NodeId) -> Result<(), String> {
    let node = graph.node(id);
    let result = graph.ty(node.first);
    match node.kind {
        NodeKind::Literal(slot) => match &graph.slots[slot.index()] {
            Slot::Value(literal) => match literal.to_repr(result) {
                Ok(_) => Ok(()),
                Err(error) => Err(error.headline().to_owned()),
            },
            Slot::Argument { ty, .. } if ty.promotes_to(result) => Ok(()),
            Slot::Argument { ty, .. } => Err(format!("an argument of type {ty} becomes {result} by a cast only")),
        },
        NodeKind::Op(_, policy) if policy != Policy::default() => Err(format!("the {policy} policy is not resolved")),
        NodeKind::Op(op, _) => {
            let compute = graph.compute_dtype(id, op);
            for (index, &operand) in graph.operands(id).iter().enumerate() {
                let (expected, found) = (op.operand_dtype(index, compute), graph.ty(operand));
                if expected != found {
                    return Err(format!("operand {operand} is {found}, {op} in {compute} takes {expected}"));
                }
            }
            if !op.row().domain.contains(compute) {
                return Err(format!("{op} does not compute in {compute}"));
            }
            match op.result_dtype(compute) {
                expected if expected == result => Ok(()),
                expected => Err(format!("the result's type is {expected}, not {result}")),
            }
        }
        NodeKind::Reduce(Reduce { reduction, dtype, policy, .. })
        | NodeKind::Scan(Scan { reduction, dtype, policy, .. }) => {
            let operand = graph.operands(id)[0];
            if (dtype, policy) != (None, Policy::default()) {
                Err(format!(
                    "policy and dtype of the {} are not resolved",
                    if reduction.scans() { "scan" } else { "reduction" }
                ))
            } else if !reduction.stores(graph.ty(operand), result) {
                Err(format!("operand {operand} is {}, the result {result}", graph.ty(operand)))
            } else if !reduction.accumulates(graph.ty(operand)) {
                Err(format!("{reduction} does not accumulate {result}"))
            } else if let NodeKind::Scan(Scan { axis, .. }) = node.kind
                && !holds_positions(reduction, result, graph.shape(operand).extents()[axis as usize])
            {
                Err(format!("{result} does not hold the positions along axis {axis}"))
            } else {
                Ok(())
            }
        }
        NodeKind::Concat(_, policy) if policy != Policy::default() => {
            Err(format!("the {policy} policy is not resolved"))
        }
        NodeKind::View(_) | NodeKind::Reshape | NodeKind::Concat(..) => {
            match graph.operands(id).iter().find(|&&operand| graph.ty(operand) != result) {
                Some(&operand) => Err(format!("operand {operand} is {}, the result {result}", graph.ty(operand))),
                None => Ok(()),
            }
        }
        NodeKind::Gather => match [0, 1].map(|n| graph.ty(graph.operands(id)[n])) {
            [ty, _] if ty != result => Err(format!("the operand is {ty}, the result {result}")),
            [_, DType::I64] => Ok(()),
            [_, ty] => Err(format!("positions are i64, not {ty}")),
        },
        NodeKind::Control(n, which) => controlled(graph, controls, id, (n, which)),
        NodeKind::Scatter(scatter) => match [0, 1, 2].map(|n| graph.ty(graph.operands(id)[n])) {
            _ if !scatter.takes(result) => Err(format!("{} of {result}", scatter.name())),
            [x, DType::I64, updates] if [x, updates] == [result; 2] => Ok(()),
            [x, index, updates] => Err(format!("operands are {x}, {index} and {updates}, the result {result}")),
        },
        NodeKind::Iota(_) if result != DType::I64 => Err(format!("positions are i64, not {result}")),
        NodeKind::Iota(_) => Ok(()),
        NodeKind::Call(_) => Err("a call that was not inlined".to_owned()),
        NodeKind::Param(_, stored) if stored != result => {
            Err(format!("a {result} parameter is not stored as {stored}"))
        }
        NodeKind::Cast(reason) if reason != CastReason::Explicit => Err("the reason of a cast is kept".to_owned()),
        NodeKind::Param(..) | NodeKind::Cast(_) => Ok(()),
    }
}

/// Whether the positions that a scan gives along an axis of this extent, if it gives positions, are numbers of the dtype.
fn holds_positions(scan: Reduction, dtype: DType, extent: usize) -> bool {
    scan != Reduction::ArgSort || dtype.int_range().is_some_and(|(_, most)| extent as i128 <= most + 1)
}

/// Whether the graphs of control flow fit a node of it.
fn controlled<T: Type>(
    graph: &Graph<T>,
    controls: &Controls<T>,
    id: NodeId,
    (n, result): (u32, u32),
) -> Result<(), String> {
    let seen = |value: Value| (graph.ty(value), graph.shape(value).clone());
    let control = &graph.controls()[n as usize];
    if !graph.continues(id, n, graph.operands(id)) {
        let operands: Vec<(T, Shape)> = graph.operands(id).iter().map(|&operand| seen(operand)).collect();
        let wanted = controls[n as usize].as_ref().map_err(String::clone)?;
        super::control::check(control.kind, wanted, &operands)?;
    }
    super::control::check_result(control, result as usize, &seen(graph.node(id).first))
}

/// Whether values of this type may be stored as `dtype`.
fn can_store(ty: ValueType, dtype: DType) -> bool {
    match ty {
        ValueType::Strong(own) => own == dtype,
        ValueType::Weak(Weak::Int) => dtype.is_int(),
        ValueType::Weak(Weak::Float) => dtype.is_float(),
        ValueType::Weak(Weak::Complex) => dtype.is_complex(),
    }
}
