//! Reverse mode of loops: loops that save their states, and the loops that run backwards over them.
//!
//! A scan stacks the state of each step. A loop of unknown trip count saves as many states as it has slots, a fixed
//! number of steps apart; the states between two of them are recomputed, in two levels if they exceed the slots. Saving
//! states changes no bit.

use super::pullback::{pullback, tangent_type};
use super::saved::{KeptLoop, SavedLoop, kept_loop};
use super::steps::{keeping_steps, trips};
use super::tangent::Tangent;
use crate::append::{Appender, ControlPiece, ParamType, TangentSpace};
use ndjit_ir::Shape;
use ndjit_ir::graph::{ControlKind, ScanArity, Value};

/// Replaces a loop by one that saves its states; `None` for branches.
pub(super) fn keeping(to: &Appender, n: u32, operands: &[Value]) -> Option<KeptLoop> {
    let piece = ControlPiece::of(to, n);
    match piece.control.kind {
        ControlKind::Cond => None,
        ControlKind::Scan(_) => Some(stacking(to, &piece, operands)),
        ControlKind::For(counts) => {
            let trips = trips(to, counts, operands);
            let carried = counts.carried as usize;
            let state = operands[..carried].to_vec();
            Some(keeping_steps(to, &piece, (n, operands.to_vec()), state, Some(trips)))
        }
        ControlKind::While => {
            let state = operands[..piece.control.carried()].to_vec();
            Some(keeping_steps(to, &piece, (n, operands.to_vec()), state, None))
        }
    }
}

/// Adds a scan that also stacks its states.
fn stacking(to: &Appender, piece: &ControlPiece, operands: &[Value]) -> KeptLoop {
    let carried = piece.control.carried();
    let (graph, places) = &piece.bodies[0];
    let param_of = |leaf: usize| (0..graph.params().len()).find(|&param| piece.operand(0, param) == leaf);
    let taken: Vec<Option<usize>> = (0..carried).map(param_of).collect();
    let body = to.graph(&piece.params(0), |inner, params| {
        let mut outputs = inner.run((graph, places), params);
        outputs.extend(taken.iter().flatten().map(|&param| params[param]));
        outputs
    });
    let taking: Vec<u32> = (0..graph.params().len()).map(|param| piece.operand(0, param) as u32).collect();
    let results = to.control(piece.control.kind, vec![(body, taking)], operands);
    let mut next = piece.control.results();
    let stacked = taken.iter().map(|param| {
        param.map(|_| {
            next += 1;
            results[next - 1]
        })
    });
    let saved = SavedLoop::Stacked(stacked.collect());
    kept_loop(to, &results, saved)
}

/// Computes the cotangents of a scan's operands, by a scan from the last step to the first.
pub(super) fn reverse_scan(
    to: &Appender,
    piece: &ControlPiece,
    (operands, steps): (&[Value], ScanArity),
    saved: &SavedLoop,
    active: &[bool],
    (cotangents, onto): (&[Tangent], &[Tangent]),
) -> Vec<Tangent> {
    let SavedLoop::Stacked(stacked) = saved else { return vec![Tangent::Zero; operands.len()] };
    let (carried, sliced) = (steps.carried as usize, steps.sliced as usize);
    let spaces = piece.spaces(to, operands);
    let with_tangents = active.iter().zip(&spaces).map(|(active, space)| *active && space.is_some()).collect();
    let active = piece.closed(to, with_tangents);
    // The stacked states are not results of the original loop.
    let results = cotangents.len();
    let given: Vec<usize> = (carried..results).filter(|&n| !cotangents[n].is_zero()).collect();
    let (graph, _) = &piece.bodies[0];
    let params = graph.params().len();
    let leaves: Vec<usize> = (0..carried).filter(|&n| active[n]).collect();
    let slices: Vec<usize> = (carried..carried + sliced).filter(|&n| active[n]).collect();
    let invariants: Vec<usize> = (carried + sliced..operands.len()).filter(|&n| active[n]).collect();
    let space = |n: usize| spaces[n].clone();
    // The state: cotangents of the leaves and of the invariants.
    let mut all: Vec<Value> = Vec::new();
    let mut types: Vec<ParamType> = Vec::new();
    for (&n, cotangent) in leaves.iter().map(|n| (n, cotangents[*n])).chain(invariants.iter().map(|n| (n, onto[*n]))) {
        let Some(space) = space(n) else { continue };
        all.push(cotangent.term(to, &space).value);
        types.push(tangent_type(&space));
    }
    let own = all.len();
    // Slices: states, the body's slices, cotangents of stacked results.
    let mut from: Vec<Option<usize>> = vec![None; operands.len()];
    let own_params = piece.params(0);
    let param_of = |operand: usize| (0..params).find(|&param| piece.operand(0, param) == operand);
    for (n, value) in stacked.iter().enumerate() {
        if let (Some(value), Some(param)) = (value, param_of(n)) {
            from[n] = Some(all.len());
            all.push(*value);
            types.push(own_params[param].clone());
        }
    }
    for n in carried..carried + sliced {
        if let Some(param) = param_of(n) {
            from[n] = Some(all.len());
            all.push(operands[n]);
            types.push(own_params[param].clone());
        }
    }
    let seeds = all.len();
    for &n in &given {
        if let Some(space) = piece.result_space(to, n) {
            all.push(cotangents[n].term(to, &space).value);
            let slice = TangentSpace { shape: Shape::from(&space.shape.extents()[1..]), ..space };
            types.push(tangent_type(&slice));
        }
    }
    let sliced_end = all.len();
    for n in carried + sliced..operands.len() {
        if let Some(param) = param_of(n) {
            from[n] = Some(all.len());
            all.push(operands[n]);
            types.push(own_params[param].clone());
        }
    }
    let wanted: Vec<usize> = (0..params).filter(|&param| active[piece.operand(0, param)]).collect();
    let body = to.graph(&types, |inner, given_params| {
        let arguments: Vec<Value> =
            (0..params).map(|param| from[piece.operand(0, param)].map_or(Value(0), |at| given_params[at])).collect();
        let mut cotangents = vec![Tangent::Zero; graph.outputs().len()];
        let of = |value: Value| Tangent::Of { value, negative: false };
        leaves.iter().enumerate().for_each(|(at, &leaf)| cotangents[leaf] = of(given_params[at]));
        given.iter().enumerate().for_each(|(at, &n)| cotangents[n] = of(given_params[seeds + at]));
        // The known cotangent of an invariant is added in the step, use by use, for the first of its parameters.
        let so_far = |param: usize| {
            let n = piece.operand(0, param);
            let at = invariants.iter().position(|&own| own == n).filter(|_| param_of(n) == Some(param));
            at.map_or(Tangent::Zero, |at| of(given_params[leaves.len() + at]))
        };
        inner.in_step.set(true);
        let made = pullback(inner, &piece.bodies[0], &arguments, &wanted, &cotangents, so_far);
        let sum = |n: usize, first: Tangent, space: &TangentSpace| {
            let own = wanted.iter().zip(&made).filter(|(param, _)| piece.operand(0, **param) == n);
            own.fold(first, |sum, (_, &g)| sum.plus(inner, g, space))
        };
        let mut outputs = Vec::new();
        for (at, &n) in leaves.iter().chain(&invariants).enumerate() {
            let Some(space) = space(n) else { continue };
            let is_taken = at < leaves.len() || param_of(n).is_some();
            let first = if is_taken { Tangent::Zero } else { of(given_params[at]) };
            outputs.push(sum(n, first, &space).term(inner, &space).flushed().value);
        }
        for &n in &slices {
            let Some(space) = space(n) else { continue };
            let slice = TangentSpace { shape: Shape::from(&space.shape.extents()[1..]), ..space };
            outputs.push(sum(n, Tangent::Zero, &slice).term(inner, &slice).value);
        }
        outputs
    });
    let kind = ControlKind::Scan(ScanArity {
        length: steps.length,
        carried: own as u32,
        sliced: (sliced_end - own) as u32,
        reverse: !steps.reverse,
    });
    let mut made = vec![Tangent::Zero; operands.len()];
    let order: Vec<usize> = leaves.iter().chain(&invariants).chain(&slices).copied().collect();
    if order.is_empty() {
        return made;
    }
    let taking = (0..all.len() as u32).collect();
    let results = to.control(kind, vec![(body, taking)], &all);
    order.into_iter().zip(results).for_each(|(n, value)| made[n] = Tangent::Of { value, negative: false });
    made
}
