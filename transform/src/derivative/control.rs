//! Tangents and cotangents through branches and loops, by branches and loops of the same kind.

use super::cone::{Cone, DerivativeMode, reached};
use super::loops::reverse_scan;
use super::pullback::{pullback, tangent_type};
use super::saved::{ControlGroup, SavedLoop};
use super::steps::reverse_steps;
use super::tangent::Tangent;
use crate::append::{Appender, TangentSpace, linear};
use crate::append::{ControlPiece, ParamType};
use ndjit_ir::graph::{ControlKind, ForArity, NodeId, ScanArity, Value};
use ndjit_ir::{DType, Error, ErrorCode};

impl ControlPiece {
    /// Returns the graphs whose outputs are the results.
    fn giving(&self) -> std::ops::Range<usize> {
        match self.control.kind {
            ControlKind::While => 1..2,
            ControlKind::Cond | ControlKind::Scan(_) | ControlKind::For(_) => 0..self.bodies.len(),
        }
    }

    /// Computes the space of a result's tangents.
    pub fn result_space(&self, to: &Appender, n: usize) -> Option<TangentSpace> {
        let (_, shape) = self.control.result(n)?;
        Some(TangentSpace { dtype: linear(self.control.storage_dtype(n, to.policy))?, shape })
    }

    /// Computes the tangent spaces of operands, in the dtypes of its graphs' parameters.
    pub fn spaces(&self, to: &Appender, operands: &[Value]) -> Vec<Option<TangentSpace>> {
        let types = self.operand_types(to, operands);
        let space = |(_, dtype, shape): ParamType| Some(TangentSpace { dtype: linear(dtype)?, shape });
        types.into_iter().map(space).collect()
    }

    /// Adds the leaves of the state that depend on active operands.
    pub fn closed(&self, to: &Appender, mut active: Vec<bool>) -> Vec<bool> {
        let carried = self.control.carried();
        let body = &self.bodies[self.last()].0;
        loop {
            let variables: Vec<Value> = (0..body.params().len())
                .filter(|&param| active[self.operand(self.last(), param)])
                .map(|param| body.params()[param])
                .collect();
            let all = (NodeId(0), NodeId(body.node_count().saturating_sub(1) as u32));
            let reached = reached(body, &variables, all, to.policy);
            let mut changed = false;
            for (leaf, &output) in body.outputs().iter().take(carried).enumerate() {
                if !active[leaf] && reached[body.producer(output).index()] && self.result_space(to, leaf).is_some() {
                    (active[leaf], changed) = (true, true);
                }
            }
            if !changed {
                return active;
            }
        }
    }
}

/// Computes the tangents of the results.
pub(super) fn forward(to: &Appender, n: u32, operands: &[Value], tangents: &[Tangent]) -> Vec<Tangent> {
    let piece = ControlPiece::of(to, n);
    let (kind, carried) = (piece.control.kind, piece.control.carried());
    let spaces = piece.spaces(to, operands);
    let given = tangents.iter().zip(&spaces).map(|(t, space)| !t.is_zero() && space.is_some()).collect();
    let active = piece.closed(to, given);
    // Operands in their groups, each group followed by its tangents.
    let sliced = if let ControlKind::Scan(steps) = kind { steps.sliced as usize } else { 0 };
    let first = kind.arrays(piece.control.results());
    let groups = match kind {
        ControlKind::Scan(_) => vec![0..carried, carried..carried + sliced, carried + sliced..operands.len()],
        ControlKind::While | ControlKind::For(_) => vec![0..carried, carried..first, first..operands.len()],
        ControlKind::Cond => vec![0..1, 1..operands.len()],
    };
    let (mut all, mut at, mut tangent_at) = (Vec::new(), vec![0; operands.len()], vec![None; operands.len()]);
    for group in groups {
        for n in group.clone() {
            at[n] = all.len() as u32;
            all.push(operands[n]);
        }
        for n in group.filter(|&n| active[n]) {
            let Some(space) = &spaces[n] else { continue };
            tangent_at[n] = Some(all.len() as u32);
            all.push(taken(to, operands[n], tangents[n], space));
        }
    }
    // The results with tangents: active leaves of the state, and a graph's other outputs.
    let results = piece.control.results();
    let mut moving: Vec<bool> = (0..results).map(|n| n < carried && active[n]).collect();
    for which in piece.giving() {
        let graph = &piece.bodies[which].0;
        let variables: Vec<Value> = (0..graph.params().len())
            .filter(|&param| active[piece.operand(which, param)])
            .map(|param| graph.params()[param])
            .collect();
        let whole = (NodeId(0), NodeId(graph.node_count().saturating_sub(1) as u32));
        let reached = reached(graph, &variables, whole, to.policy);
        for (n, &output) in graph.outputs().iter().enumerate().skip(carried) {
            moving[n] |= reached[graph.producer(output).index()] && piece.result_space(to, n).is_some();
        }
    }
    // A leaf keeps the dtype of its tangent, even if no body has it as a parameter.
    let leaf_space = |n: usize| spaces.get(n).filter(|_| n < carried).cloned().flatten();
    let mut graphs = Vec::new();
    for which in 0..piece.bodies.len() {
        let own: Vec<usize> = (0..piece.params(which).len()).map(|param| piece.operand(which, param)).collect();
        let mut taken: Vec<u32> = own.iter().map(|&operand| at[operand]).collect();
        if !piece.giving().contains(&which) {
            graphs.push((piece.bodies[which].clone(), taken));
            continue;
        }
        let moving_params: Vec<usize> = (0..own.len()).filter(|&param| tangent_at[own[param]].is_some()).collect();
        let mut params = piece.params(which);
        let body_space = |param: usize| {
            let (_, dtype, shape) = &params[param];
            linear(*dtype).map(|dtype| TangentSpace { dtype, shape: shape.clone() })
        };
        let spaces: Vec<TangentSpace> = moving_params.iter().filter_map(|&param| body_space(param)).collect();
        taken.extend(moving_params.iter().filter_map(|&param| tangent_at[own[param]]));
        params.extend(spaces.iter().map(tangent_type));
        let (graph, places) = &piece.bodies[which];
        let body = to.graph(&params, |inner, params| {
            let (own, beside) = params.split_at(own.len());
            let outputs = inner.run((graph, places), own);
            let variables: Vec<Value> = moving_params.iter().map(|&param| own[param]).collect();
            let cone = Cone::new(inner, &variables, &outputs, DerivativeMode::Forward);
            let given: Vec<Tangent> = beside.iter().map(|&t| Tangent::Of { value: t, negative: false }).collect();
            let made = cone.forward(inner, &given);
            let tangent = |n: usize| {
                let space = inner.space(outputs[n]).filter(|_| moving[n])?;
                let kept = leaf_space(n).or_else(|| piece.result_space(to, n));
                let dtype = kept.map_or(space.dtype, |own| own.dtype);
                Some(made[n].term(inner, &space).cast(dtype).value)
            };
            let mut all: Vec<Value> = outputs[..carried].to_vec();
            all.extend((0..carried).filter_map(tangent));
            all.extend(&outputs[carried..]);
            all.extend((carried..results).filter_map(tangent));
            all
        });
        graphs.push((body, taken));
    }
    let leaves = moving[..carried].iter().filter(|moves| **moves).count() as u32;
    let kind = match kind {
        ControlKind::Scan(steps) => ControlKind::Scan(ScanArity {
            carried: steps.carried + leaves,
            sliced: steps.sliced + (carried..carried + sliced).filter(|&n| tangent_at[n].is_some()).count() as u32,
            ..steps
        }),
        ControlKind::For(counts) => ControlKind::For(ForArity { carried: counts.carried + leaves, ..counts }),
        ControlKind::While | ControlKind::Cond => kind,
    };
    let made = to.control(kind, graphs, &all);
    if made.len() != results + moving.iter().filter(|moves| **moves).count() {
        to.fail(Error::new(ErrorCode::Verify, "derivative: control flow gives other results than its tangents"));
        return vec![Tangent::Zero; results];
    }
    let mut tangents = vec![Tangent::Zero; results];
    let (mut next, mut stacked) = (carried, carried + leaves as usize + (results - carried));
    for (n, tangent) in tangents.iter_mut().enumerate().filter(|(n, _)| moving[*n]) {
        let at = if n < carried { &mut next } else { &mut stacked };
        let value = to.term(made[*at]);
        let value = piece.result_space(to, n).map_or(value, |own| value.cast(own.dtype)).value;
        *tangent = Tangent::Of { value, negative: false };
        *at += 1;
    }
    tangents
}

/// Casts a tangent of an operand to the space of the graphs' parameters.
fn taken(to: &Appender, operand: Value, tangent: Tangent, space: &TangentSpace) -> Value {
    let own = to.space(operand).unwrap_or_else(|| space.clone());
    tangent.term(to, &own).cast(space.dtype).value
}

/// Casts cotangents to the operands' spaces.
fn given_back(to: &Appender, operands: &[Value], made: Vec<Tangent>, spaces: &[Option<TangentSpace>]) -> Vec<Tangent> {
    let one = |((&operand, g), space): ((&Value, Tangent), &Option<TangentSpace>)| match (to.space(operand), space) {
        (Some(own), Some(space)) if own.dtype != space.dtype => g.map(to, space, |term| term.cast(own.dtype)),
        _ => g,
    };
    operands.iter().zip(made).zip(spaces).map(one).collect()
}

/// Takes the known cotangents of a scan's invariants. The scan adds to them step by step, so that a segmented scan has
/// the same order of additions. `take` removes and returns the known cotangent of a value.
pub(super) fn accumulating(
    to: &Appender,
    (n, operands): &ControlGroup,
    active: &[bool],
    mut take: impl FnMut(Value) -> Option<Tangent>,
) -> Vec<Tangent> {
    let mut onto = vec![Tangent::Zero; operands.len()];
    let piece = ControlPiece::of(to, *n);
    if let ControlKind::Scan(steps) = piece.control.kind {
        let spaces = piece.spaces(to, operands);
        for n in (steps.carried + steps.sliced) as usize..operands.len() {
            if active[n] && spaces[n].is_some() && to.space(operands[n]) == spaces[n] {
                onto[n] = take(operands[n]).unwrap_or(Tangent::Zero);
            }
        }
    }
    onto
}

/// Computes the cotangents of the active operands. A scan adds them to the known ones ([`accumulating`]).
pub(super) fn reverse(
    to: &Appender,
    (n, operands): &ControlGroup,
    saved: Option<&SavedLoop>,
    active: &[bool],
    cotangents: &[Tangent],
    onto: &[Tangent],
) -> Vec<Tangent> {
    let piece = ControlPiece::of(to, *n);
    let made = match (piece.control.kind, saved) {
        (ControlKind::Cond, _) => branches(to, &piece, operands, active, cotangents),
        (ControlKind::Scan(steps), Some(saved)) => {
            reverse_scan(to, &piece, (operands, steps), saved, active, (cotangents, onto))
        }
        (ControlKind::While | ControlKind::For(_), Some(saved)) => {
            reverse_steps(to, &piece, operands, saved, active, cotangents)
        }
        _ => {
            to.fail(Error::new(ErrorCode::Verify, "derivative: a loop that keeps nothing for the reverse mode"));
            vec![Tangent::Zero; operands.len()]
        }
    };
    given_back(to, operands, made, &piece.spaces(to, operands))
}

/// Computes the cotangents of the taken branch.
fn branches(
    to: &Appender,
    piece: &ControlPiece,
    operands: &[Value],
    active: &[bool],
    cotangents: &[Tangent],
) -> Vec<Tangent> {
    let own_spaces = piece.spaces(to, operands);
    let wanted: Vec<usize> = (1..operands.len()).filter(|&n| active[n] && own_spaces[n].is_some()).collect();
    let given: Vec<usize> = (0..cotangents.len()).filter(|&n| !cotangents[n].is_zero()).collect();
    let mut all = operands.to_vec();
    let spaces: Vec<TangentSpace> = given.iter().filter_map(|&n| piece.result_space(to, n)).collect();
    all.extend(given.iter().zip(&spaces).map(|(&n, space)| cotangents[n].term(to, space).value));
    let mut graphs = Vec::new();
    for which in 0..piece.bodies.len() {
        let mut params = piece.params(which);
        let own = params.len();
        let mut taken: Vec<u32> = (0..own).map(|param| piece.operand(which, param) as u32).collect();
        taken.extend((operands.len()..all.len()).map(|n| n as u32));
        params.extend(spaces.iter().map(tangent_type));
        let body = to.graph(&params, |inner, params| {
            let (own, beside) = params.split_at(own);
            let mut seeds = vec![Tangent::Zero; cotangents.len()];
            given.iter().zip(beside).for_each(|(&n, &value)| seeds[n] = Tangent::Of { value, negative: false });
            let taking: Vec<usize> =
                (0..own.len()).filter(|&param| wanted.contains(&piece.operand(which, param))).collect();
            let made = pullback(inner, &piece.bodies[which], own, &taking, &seeds, |_| Tangent::Zero);
            let of = |&operand: &usize| {
                let space = own_spaces[operand].clone().unwrap_or_else(|| inner.number(0.0, DType::F32).space());
                let mut sum = Tangent::Zero;
                for (_, &g) in taking.iter().zip(&made).filter(|(param, _)| piece.operand(which, **param) == operand) {
                    sum = sum.plus(inner, g, &space);
                }
                sum.term(inner, &space).value
            };
            wanted.iter().map(of).collect()
        });
        graphs.push((body, taken));
    }
    let mut made = vec![Tangent::Zero; operands.len()];
    if wanted.is_empty() {
        return made;
    }
    let results = to.control(ControlKind::Cond, graphs, &all);
    wanted.iter().zip(results).for_each(|(&n, value)| made[n] = Tangent::Of { value, negative: false });
    made
}
