//! Control flow with lanes: one loop if all lanes agree, or for small states until the last lane stops; else lane after
//! lane.

use super::lanes::{Batching, refuse};
use crate::append::{Appender, ControlPiece, LocatedGraph, ParamType};
use ndjit_ir::ValueType;
use ndjit_ir::graph::{ControlKind, Graph, NodeId, NodeKind, ScanArity, Value};
use ndjit_ir::reduction::{AxisSet, Reduction};

/// The maximum number of state elements of a lane for which stopped lanes are recomputed, instead of running lane after
/// lane.
const SMALL: usize = 64;

/// Records the batched results of control flow.
pub(super) fn batched(batching: &mut Batching, to: &Appender, (id, n): (NodeId, u32), operands: &[Value]) {
    let results: Vec<Value> = to.read(|graph| graph.node(id).results().collect());
    let piece = ControlPiece::of(to, n);
    let has_lanes: Vec<bool> = operands.iter().map(|&operand| batching.of(operand).is_some()).collect();
    let active = closed(&piece, has_lanes);
    let made = match piece.control.kind {
        ControlKind::Scan(steps) => scan(batching, to, &piece, operands, &active, steps),
        ControlKind::Cond if !active[0] => together(batching, to, &piece, operands, &active),
        ControlKind::For(counts) => {
            let first = counts.carried as usize;
            match active[first] || active[first + 1] {
                true => lane_after_lane(batching, to, (n, &piece), operands),
                false => together(batching, to, &piece, operands, &active),
            }
        }
        ControlKind::While => match condition_has_lanes(&piece, &active) {
            false => together(batching, to, &piece, operands, &active),
            true if is_small(&piece) => lockstep(batching, to, &piece, operands),
            true => lane_after_lane(batching, to, (n, &piece), operands),
        },
        ControlKind::Cond if is_small(&piece) => chosen(batching, to, &piece, operands),
        ControlKind::Cond => lane_after_lane(batching, to, (n, &piece), operands),
    };
    if made.len() < results.len() {
        refuse(to, "control flow gives fewer results for all lanes");
    }
    results.into_iter().zip(made).for_each(|(value, all)| batching.put(value, all));
}

/// Returns the values of a graph that depend on some of its parameters.
fn reached(graph: &Graph<ValueType>, from: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut reached = vec![false; graph.value_count()];
    for (param, value) in graph.params().iter().enumerate() {
        reached[value.index()] = from(param);
    }
    for id in graph.node_ids() {
        let depends = graph.operands(id).iter().any(|operand| reached[operand.index()]);
        graph.node(id).results().for_each(|value| reached[value.index()] |= depends);
    }
    reached
}

/// Adds the leaves of the state that acquire lanes.
fn closed(piece: &ControlPiece, mut active: Vec<bool>) -> Vec<bool> {
    let (carried, last) = (piece.control.carried(), piece.last());
    let graph = &piece.bodies[last].0;
    loop {
        let reached = reached(graph, |param| active[piece.operand(last, param)]);
        let mut changed = false;
        for (leaf, output) in graph.outputs().iter().take(carried).enumerate() {
            changed |= !active[leaf] && reached[output.index()];
            active[leaf] |= reached[output.index()];
        }
        if !changed {
            return active;
        }
    }
}

fn condition_has_lanes(piece: &ControlPiece, active: &[bool]) -> bool {
    let graph = &piece.bodies[0].0;
    let reached = reached(graph, |param| active[piece.operand(0, param)]);
    graph.outputs().iter().any(|output| reached[output.index()])
}

/// Returns `true` if its graphs have small arrays, and no computation better done only for the lanes that need it.
fn is_small(piece: &ControlPiece) -> bool {
    piece.bodies.iter().all(|(graph, _)| {
        let small = |value: Value| graph.shape(value).size().is_ok_and(|size| size <= SMALL);
        let simple = |id: NodeId| {
            !matches!(
                graph.node(id).kind,
                NodeKind::Control(..) | NodeKind::Call(_) | NodeKind::Scatter(_) | NodeKind::Sort(..)
            ) && graph.node(id).results().all(small)
        };
        graph.node_ids().all(simple)
    })
}

/// Returns the batched type of a parameter.
fn with_lanes(batching: &Batching, (ty, dtype, shape): &ParamType) -> ParamType {
    (*ty, *dtype, batching.shape(shape))
}

/// Records a batched graph of the parameters with lanes, and of the outputs that need them.
fn graph(
    batching: &Batching,
    to: &Appender,
    params: &[ParamType],
    active: &[bool],
    outputs: &[bool],
    run: impl FnOnce(&Appender, &[Value]) -> Vec<Value>,
) -> LocatedGraph {
    let types: Vec<ParamType> = params
        .iter()
        .zip(active)
        .map(|(param, active)| if *active { with_lanes(batching, param) } else { param.clone() })
        .collect();
    to.graph(&types, |inner, given| {
        let mut own = Batching::new(batching.lanes);
        let lanes: Vec<Value> = given
            .iter()
            .zip(active)
            .map(|(&value, active)| if *active { own.lane_of(inner, value) } else { value })
            .collect();
        let made = run(inner, &lanes);
        let made = own.run(inner, &made);
        let all = |(n, &value): (usize, &Value)| match outputs.get(n) {
            Some(false) => value,
            _ => own.whole(inner, value),
        };
        made.iter().enumerate().map(all).collect()
    })
}

/// Returns the operands, batched where they or the state have lanes.
fn given(batching: &Batching, to: &Appender, operands: &[Value], active: &[bool]) -> Vec<Value> {
    let one = |(&operand, active): (&Value, &bool)| if *active { batching.whole(to, operand) } else { operand };
    operands.iter().zip(active).map(one).collect()
}

/// Batches loops and branches with equal conditions in all lanes: the same control flow, with lanes in its graphs.
fn together(
    batching: &Batching,
    to: &Appender,
    piece: &ControlPiece,
    operands: &[Value],
    active: &[bool],
) -> Vec<Value> {
    let carried = piece.control.carried();
    let outputs: Vec<bool> = match piece.control.kind {
        ControlKind::Cond => vec![true; piece.control.results()],
        _ => active[..carried].to_vec(),
    };
    let all = given(batching, to, operands, active);
    let mut graphs = Vec::new();
    for which in 0..piece.bodies.len() {
        let params = piece.params(which);
        let own: Vec<bool> = (0..params.len()).map(|param| active[piece.operand(which, param)]).collect();
        let taking = (0..params.len()).map(|param| piece.operand(which, param) as u32).collect();
        let (body, places) = &piece.bodies[which];
        let is_condition = matches!(piece.control.kind, ControlKind::While) && which == 0;
        let outputs = if is_condition { vec![false] } else { outputs.clone() };
        let made = graph(batching, to, &params, &own, &outputs, |inner, given| inner.run((body, places), given));
        graphs.push((made, taking));
    }
    let results = to.control(piece.control.kind, graphs, &all);
    let whole = |(n, value): (usize, Value)| match outputs.get(n) {
        Some(true) => value,
        _ => to.term(value).broadcast(&batching.shape(&to.shape(value))).value,
    };
    results.into_iter().enumerate().map(whole).collect()
}

/// Batches a scan. The axis of the lanes follows that of the steps in slices.
fn scan(
    batching: &Batching,
    to: &Appender,
    piece: &ControlPiece,
    operands: &[Value],
    active: &[bool],
    steps: ScanArity,
) -> Vec<Value> {
    let carried = steps.carried as usize;
    let mut all = given(batching, to, operands, active);
    for n in (0..operands.len()).filter(|&n| steps.slices(n) && active[n]) {
        all[n] = to.term(all[n]).moveaxis(0, 1).value;
    }
    let params = piece.params(0);
    let own: Vec<bool> = (0..params.len()).map(|param| active[piece.operand(0, param)]).collect();
    let taking = (0..params.len()).map(|param| piece.operand(0, param) as u32).collect();
    let (body, places) = &piece.bodies[0];
    let outputs: Vec<bool> = (0..piece.control.results()).map(|n| n >= carried || active[n]).collect();
    let made = graph(batching, to, &params, &own, &outputs, |inner, given| inner.run((body, places), given));
    let results = to.control(piece.control.kind, vec![(made, taking)], &all);
    let whole = |(n, value): (usize, Value)| match (n < carried, outputs[n]) {
        (true, true) => value,
        (true, false) => to.term(value).broadcast(&batching.shape(&to.shape(value))).value,
        (false, _) => to.term(value).moveaxis(1, 0).value,
    };
    results.into_iter().enumerate().map(whole).collect()
}

/// Runs both branches, and selects the results of each lane.
fn chosen(batching: &Batching, to: &Appender, piece: &ControlPiece, operands: &[Value]) -> Vec<Value> {
    let mut own = Batching::new(batching.lanes);
    let lanes: Vec<Value> =
        operands.iter().map(|&operand| batching.of(operand).map_or(operand, |all| own.lane_of(to, all))).collect();
    let mut branches = Vec::new();
    for which in 0..2 {
        let taken: Vec<Value> =
            (0..piece.params(which).len()).map(|param| lanes[piece.operand(which, param)]).collect();
        let (body, places) = &piece.bodies[which];
        branches.push(to.run((body, places), &taken));
    }
    let choose =
        |(&first, &second): (&Value, &Value)| to.term(first).where_else(to.term(lanes[0]), to.term(second)).value;
    let made: Vec<Value> = branches[0].iter().zip(&branches[1]).map(choose).collect();
    let made = own.run(to, &made);
    made.into_iter().map(|value| own.whole(to, value)).collect()
}

/// Runs a loop until the last lane stops. Stopped lanes keep their state.
fn lockstep(batching: &Batching, to: &Appender, piece: &ControlPiece, operands: &[Value]) -> Vec<Value> {
    let carried = piece.control.carried();
    let active: Vec<bool> = (0..operands.len()).map(|n| n < carried || batching.of(operands[n]).is_some()).collect();
    let all = given(batching, to, operands, &active);
    let state: Vec<ParamType> = piece.operand_types(to, operands);
    let run = |inner: &Appender, which: usize, lanes: &[Value]| {
        let (body, places) = &piece.bodies[which];
        let taken: Vec<Value> =
            (0..piece.params(which).len()).map(|param| lanes[piece.operand(which, param)]).collect();
        inner.run((body, places), &taken)
    };
    let taking: Vec<u32> = (0..operands.len() as u32).collect();
    let condition = {
        let types: Vec<ParamType> =
            state.iter().zip(&active).map(|(p, a)| if *a { with_lanes(batching, p) } else { p.clone() }).collect();
        to.graph(&types, |inner, given| {
            let mut own = Batching::new(batching.lanes);
            let lanes: Vec<Value> = given
                .iter()
                .zip(&active)
                .map(|(&value, active)| if *active { own.lane_of(inner, value) } else { value })
                .collect();
            let goes_on = run(inner, 0, &lanes);
            let goes_on = own.run(inner, &goes_on);
            let all = own.whole(inner, goes_on[0]);
            vec![inner.term(all).reduce(Reduction::Any, AxisSet::one(0), false).value]
        })
    };
    let outputs = vec![true; carried];
    let body = graph(batching, to, &state, &active, &outputs, |inner, lanes| {
        let goes_on = inner.term(run(inner, 0, lanes)[0]);
        let next = run(inner, 1, lanes);
        let keep = |(&next, &before): (&Value, &Value)| inner.term(next).where_else(goes_on, inner.term(before)).value;
        next.iter().zip(lanes).map(keep).collect()
    });
    let graphs = vec![(condition, taking.clone()), (body, taking)];
    to.control(ControlKind::While, graphs, &all)
}

/// Runs one lane after the other, by a scan over the lanes with the original control flow as its body.
fn lane_after_lane(
    batching: &Batching,
    to: &Appender,
    (n, piece): (u32, &ControlPiece),
    operands: &[Value],
) -> Vec<Value> {
    let (sliced, same): (Vec<usize>, Vec<usize>) =
        (0..operands.len()).partition(|&n| batching.of(operands[n]).is_some());
    let order: Vec<usize> = sliced.iter().chain(&same).copied().collect();
    let own_types = piece.operand_types(to, operands);
    let types: Vec<ParamType> = order.iter().map(|&n| own_types[n].clone()).collect();
    let control = to.read(|graph| std::sync::Arc::clone(&graph.controls()[n as usize]));
    let bodies: Vec<LocatedGraph> = piece.bodies.clone();
    let body = to.graph(&types, |inner, params| {
        let mut own = vec![Value(0); operands.len()];
        order.iter().zip(params).for_each(|(&n, &value)| own[n] = value);
        let graphs = bodies.iter().cloned().zip(control.graphs.iter().map(|inner| inner.operands.clone())).collect();
        inner.control(control.kind, graphs, &own)
    });
    let mut all: Vec<Value> = sliced.iter().map(|&n| batching.whole(to, operands[n])).collect();
    all.extend(same.iter().map(|&n| operands[n]));
    let steps = ScanArity { length: batching.lanes, carried: 0, sliced: sliced.len() as u32, reverse: false };
    let taking = (0..all.len() as u32).collect();
    to.control(ControlKind::Scan(steps), vec![(body, taking)], &all)
}
