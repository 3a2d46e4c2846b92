//! Nodes with one more axis, the first, along which the lanes are.

use super::lanes::{Batching, refuse};
use crate::append::ops::clipped;
use crate::append::{Appender, SlopeTerm};
use crate::starts::appended_positions;
use ndjit_ir::graph::{Identity, NodeId, NodeKind, RuleKind, Scatter, Value};
use ndjit_ir::infer::Operation;
use ndjit_ir::reduction::{AxisSet, Reduce, Reduction};
use ndjit_ir::view::{AxisIndex, View, ViewStart};
use ndjit_ir::{Op, Shape};
use std::sync::Arc;

/// Adds the batched value of a node with lanes in some operand.
pub(super) fn batched(batching: &Batching, to: &Appender, id: NodeId, operands: &[Value]) -> Value {
    let (kind, value) = to.read(|graph| (graph.node(id).kind, graph.node(id).first()));
    let shape = to.shape(value);
    let of = |n: usize| batching.of(operands[n]);
    let whole = |n: usize| batching.whole(to, operands[n]);
    match kind {
        NodeKind::Op(op, policy) => {
            let aligned: Vec<Value> = (0..operands.len())
                .map(|n| of(n).map_or(operands[n], |all| aligned(to, all, shape.rank()).value))
                .collect();
            to.add(&Operation::op(op, policy), &aligned)
        }
        NodeKind::Cast(reason) => {
            let ty = to.read(|graph| graph.ty(value));
            to.add(&Operation::cast(reason, ty), &[whole(0)])
        }
        NodeKind::Identity(Identity::Variable(_)) => to.variable(whole(0)),
        NodeKind::Identity(identity @ Identity::Ruled(rule)) => {
            let inputs = match rule.kind {
                // A recomputed output has lanes as its value has.
                RuleKind::Checkpoint => 1 + rule.outputs as usize,
                RuleKind::Jvp | RuleKind::Vjp => operands.len(),
            };
            let own = |n: usize| if n < inputs { whole(n) } else { of(n).unwrap_or(operands[n]) };
            to.add(&NodeKind::Identity(identity).into(), &(0..operands.len()).map(own).collect::<Vec<Value>>())
        }
        NodeKind::Identity(identity) => to.add(&NodeKind::Identity(identity).into(), &[whole(0)]),
        NodeKind::Reduce(reduce) => reduced(batching, to, reduce, operands),
        NodeKind::Scan(scan, axis, request) => to.add(&NodeKind::Scan(scan, axis + 1, request).into(), &[whole(0)]),
        NodeKind::Sort(sort, axis, request) => to.add(&NodeKind::Sort(sort, axis + 1, request).into(), &[whole(0)]),
        NodeKind::View(view) => {
            let view = to.read(|graph| Arc::clone(&graph.views()[view.index()]));
            let all = batching.shape(&shape);
            to.term(whole(0)).view((with_lanes(&view, &all), all)).value
        }
        NodeKind::Reshape => to.term(whole(0)).reshape(&batching.shape(&shape)).value,
        NodeKind::Concat(axis, policy) => {
            let parts: Vec<Value> = (0..operands.len()).map(whole).collect();
            to.add(&Operation::concat(axis + 1, policy), &parts)
        }
        NodeKind::Gather => {
            let x = match of(0) {
                None => to.term(operands[0]),
                Some(x) => rows_first(to, x, shape.rank()),
            };
            let index = of(1).map_or(to.term(operands[1]), |index| aligned(to, index, shape.rank()));
            let taken = x.gather(index);
            // An index without lanes, of an array without further axes, has no axis for them.
            let all = batching.shape(&shape);
            if taken.shape() == all { taken.value } else { taken.broadcast(&all).value }
        }
        NodeKind::Slice(view) => {
            let view = to.read(|graph| Arc::clone(&graph.views()[view.index()]));
            let (own, starts) = (to.shape(operands[0]), &operands[1..]);
            let found = view.starts(&own, &shape, starts.len()).unwrap_or_default();
            if (1..operands.len()).all(|n| of(n).is_none()) {
                let all = batching.shape(&shape);
                return to.term(whole(0)).sliced((lanes_from_starts(&view, &found, &all), all), starts).value;
            }
            // A start per lane: elements of each lane's array, flattened.
            let start = |n: usize| {
                let start = of(n).map_or(to.term(operands[n]), |all| aligned(to, all, shape.rank()));
                clipped(start, found.get(n - 1).map_or(0, |start| start.count))
            };
            let starts: Vec<SlopeTerm> = (1..operands.len()).map(start).collect();
            let index = appended_positions(to, &view, [&own, &shape], &starts);
            let size = own.size().unwrap_or(usize::MAX);
            let taken = match of(0) {
                None => to.term(operands[0]).reshape(&Shape::from(size)).gather(index),
                Some(x) => {
                    let x = to.term(x).reshape(&Shape::from([batching.lanes, size]));
                    rows_first(to, x.value, shape.rank()).gather(index)
                }
            };
            taken.reshape(&batching.shape(&shape)).value
        }
        NodeKind::Scatter(how) => {
            let own = to.shape(operands[0]);
            let rows = own.extents().first().copied().unwrap_or(0);
            let rest = Shape::from(own.extents().get(1..).unwrap_or_default());
            let index = to.shape(operands[1]);
            let Some(space) = rest.broadcast(&index) else {
                refuse(to, "a scatter of shapes that do not fit");
                return operands[0];
            };
            let x = rows_first(to, whole(0), space.rank());
            let other = |n: usize| of(n).map_or(to.term(operands[n]), |all| aligned(to, all, space.rank()));
            let put = x.scatter(how, other(1), other(2));
            let extents = [rows, batching.lanes].into_iter().chain(rest.extents().iter().copied());
            put.reshape(&Shape::from(extents.collect::<Vec<usize>>())).moveaxis(1, 0).value
        }
        NodeKind::Insert(view) => {
            let view = to.read(|graph| Arc::clone(&graph.views()[view.index()]));
            let (updates, starts) = (to.shape(operands[1]), &operands[2..]);
            if (2..operands.len()).all(|n| of(n).is_none()) {
                let found = view.starts(&shape, &updates, starts.len()).unwrap_or_default();
                let view = lanes_from_starts(&view, &found, &batching.shape(&updates));
                return to.term(whole(0)).insert(view, to.term(whole(1)), starts).value;
            }
            // A start per lane: elements of each lane's array, flattened.
            let start = |n: usize| of(n).map_or(to.term(operands[n]), |all| aligned(to, all, updates.rank()));
            let starts: Vec<SlopeTerm> = (2..operands.len()).map(start).collect();
            let index = appended_positions(to, &view, [&shape, &updates], &starts);
            let size = shape.size().unwrap_or(usize::MAX);
            let x = to.term(whole(0)).reshape(&Shape::from([batching.lanes, size]));
            let x = rows_first(to, x.value, updates.rank());
            let put = x.scatter(Scatter::Set, index, to.term(whole(1)));
            let put = put.reshape(&Shape::from([size, batching.lanes])).moveaxis(1, 0);
            put.reshape(&batching.shape(&shape)).value
        }
        NodeKind::Iota(_) | NodeKind::Param(..) | NodeKind::Literal(_) | NodeKind::Control(..) | NodeKind::Call(_) => {
            refuse(to, "a node that has no lanes");
            operands.first().copied().unwrap_or(value)
        }
    }
}

/// Reshapes a batched value for operands of this rank: axes of extent 1 follow that of the lanes.
fn aligned<'a>(to: &'a Appender, all: Value, rank: usize) -> SlopeTerm<'a> {
    let term = to.term(all);
    let shape = term.shape();
    let (lanes, own) = (shape.extents()[0], &shape.extents()[1..]);
    let missing = rank.saturating_sub(own.len());
    let extents = [lanes].into_iter().chain(std::iter::repeat_n(1, missing)).chain(own.iter().copied());
    term.reshape(&Shape::from(extents.collect::<Vec<usize>>()))
}

/// Moves the rows of a batched array to the first axis and the lanes to the second; the others have this rank.
fn rows_first<'a>(to: &'a Appender, all: Value, rank: usize) -> SlopeTerm<'a> {
    let moved = to.term(all).moveaxis(0, 1);
    let shape = moved.shape();
    let (first, own) = (&shape.extents()[..2], &shape.extents()[2..]);
    let missing = rank.saturating_sub(own.len());
    let extents = first.iter().copied().chain(std::iter::repeat_n(1, missing)).chain(own.iter().copied());
    moved.reshape(&Shape::from(extents.collect::<Vec<usize>>()))
}

/// Extends a view to all lanes.
fn with_lanes(view: &View, result: &Shape) -> View {
    let own = view.axes.iter().map(|index| {
        let mut moved = AxisIndex::fixed(index.start);
        index.terms.iter().for_each(|term| moved.add(term.axis + 1, term.step));
        moved
    });
    let axes = [AxisIndex::along(0, 0, 1)].into_iter().chain(own).collect();
    View { rank: view.rank + 1, axes }.canonical(result)
}

/// Extends a view from starts to all lanes.
fn lanes_from_starts(view: &View, starts: &[ViewStart], result: &Shape) -> View {
    let moved: Vec<(usize, usize)> = starts.iter().map(|start| (start.axis + 1, start.step)).collect();
    with_lanes(&view.without_starts(starts.len()), result).with_starts(&moved)
}

fn reduced(batching: &Batching, to: &Appender, reduce: Reduce, operands: &[Value]) -> Value {
    let x = batching.whole(to, operands[0]);
    let axes = reduce.axes.iter().take_while(|&axis| axis + 1 < ndjit_ir::reduction::MAX_RANK);
    let axes = axes.fold(AxisSet::NONE, |all, axis| all.with(axis + 1));
    let shifted = Reduce { axes, ..reduce };
    let Some(&correction) = operands.get(1) else { return to.add(&NodeKind::Reduce(shifted).into(), &[x]) };
    let Some(corrections) = batching.of(correction) else {
        return to.add(&NodeKind::Reduce(shifted).into(), &[x, correction]);
    };
    // A correction per lane: the variance without correction, times the number of elements, over that number less the
    // correction.
    let plain = Reduce { reduction: Reduction::Var, ..shifted };
    let variance = to.term(to.add(&NodeKind::Reduce(plain).into(), &[x]));
    let count = variance.number(reduce.axes.count(&Shape::from(&to.shape(x).extents()[1..])) as f64);
    let corrections = aligned(to, corrections, variance.shape().rank() - 1).cast(variance.dtype());
    let less = count - corrections;
    let divisor = SlopeTerm::op(Op::Maximum, &[less, less.number(0.0)]);
    let all = variance * count / divisor;
    if reduce.reduction == Reduction::Std { SlopeTerm::op(Op::Sqrt, &[all]).value } else { all.value }
}
