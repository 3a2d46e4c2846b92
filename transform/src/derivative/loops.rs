//! Loops in reverse: what they keep of their states as they run, and the loops that run backwards over it.
//!
//! A scan stacks the state of each step. A loop whose steps nobody knows keeps as many states as fit a number of slots, each so many steps after
//! the last; between two of them the states are computed again, as far apart as they fit the slots, and from those once more. What is kept changes
//! no bit.

use super::cone::ControlKey;
use super::control::{pullback, tangent_type};
use super::tangent::Tangent;
use crate::append::ops::*;
use crate::append::{Appender, SlopeTerm, TangentSpace};
use crate::append::{ParamType, Piece};
use ndjit_ir::graph::{ControlKind, ForArity, NodeKind, ScanArity, Scatter, Value};
use ndjit_ir::{DType, Shape, ValueType};

/// Bytes that a loop of unknown length takes for states, unless a few of them are more.
const BYTES: usize = 16 << 20;
/// Slots that it has at least and at most.
const SLOTS: (usize, usize) = (32, 1024);

/// What a loop keeps for the reverse mode.
#[derive(Clone, Debug)]
pub(crate) enum SavedLoop {
    /// For each leaf of the state that the body takes its values before each step, stacked.
    Stacked(Vec<Option<Value>>),
    /// States before some steps.
    Slots {
        /// The loop that was written.
        of: ControlKey,
        /// For each leaf that the body takes its slots.
        slots: Vec<Option<Value>>,
        /// The number of steps, an `i64`.
        steps: Value,
        /// Steps from one slot to the next, an `i64`.
        stride: Value,
        /// The number of slots.
        count: usize,
    },
}

/// A loop that keeps what the reverse mode needs, the results of the loop that it stands for, and what it keeps.
pub(super) type KeptLoop = (ControlKey, Vec<Value>, SavedLoop);

/// The loop that keeps its states; `None` of branches.
pub(super) fn keeping(to: &Appender, n: u32, operands: &[Value]) -> Option<KeptLoop> {
    let piece = Piece::of(to, n);
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

/// A scan that stacks its states too.
fn stacking(to: &Appender, piece: &Piece, operands: &[Value]) -> KeptLoop {
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

/// A loop with these results.
fn kept_loop(to: &Appender, results: &[Value], saved: SavedLoop) -> KeptLoop {
    let key = to.read(|graph| {
        let id = graph.producer(results[0]);
        match graph.node(id).kind {
            NodeKind::Control(number, _) => (number, graph.operands(id).to_vec()),
            _ => (0, Vec::new()),
        }
    });
    (key, results.to_vec(), saved)
}

/// The cotangents of a scan's operands: a scan from its last step to its first.
pub(super) fn reverse_scan(
    to: &Appender,
    piece: &Piece,
    (operands, steps): (&[Value], ScanArity),
    saved: &SavedLoop,
    active: &[bool],
    cotangents: &[Tangent],
) -> Vec<Tangent> {
    let SavedLoop::Stacked(stacked) = saved else { return vec![Tangent::Zero; operands.len()] };
    let (carried, sliced) = (steps.carried as usize, steps.sliced as usize);
    let spaces: Vec<Option<TangentSpace>> = operands.iter().map(|&operand| to.space(operand)).collect();
    let with_tangents = active.iter().zip(&spaces).map(|(active, space)| *active && space.is_some()).collect();
    let active = piece.closed(with_tangents);
    // What stacked states are is no result of the loop that was written.
    let results = cotangents.len();
    let given: Vec<usize> = (carried..results).filter(|&n| !cotangents[n].is_zero()).collect();
    let (graph, _) = &piece.bodies[0];
    let params = graph.params().len();
    let leaves: Vec<usize> = (0..carried).filter(|&n| active[n]).collect();
    let slices: Vec<usize> = (carried..carried + sliced).filter(|&n| active[n]).collect();
    let invariants: Vec<usize> = (carried + sliced..operands.len()).filter(|&n| active[n]).collect();
    let space = |n: usize| spaces[n].clone();
    // The state: cotangents of the leaves and of what is the same in each step.
    let mut all: Vec<Value> = Vec::new();
    let mut types: Vec<ParamType> = Vec::new();
    for (&n, cotangent) in
        leaves.iter().map(|n| (n, cotangents[*n])).chain(invariants.iter().map(|n| (n, Tangent::Zero)))
    {
        let Some(space) = space(n) else { continue };
        all.push(cotangent.term(to, &space).value);
        types.push(tangent_type(&space));
    }
    let own = all.len();
    // Slices: states, what the body takes slices of, cotangents of what it stacks.
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
        if let Some(space) = piece.result_space(n) {
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
        let made = pullback(inner, &piece.bodies[0], &arguments, &wanted, &cotangents);
        let sum = |n: usize, first: Tangent, space: &TangentSpace| {
            let own = wanted.iter().zip(&made).filter(|(param, _)| piece.operand(0, **param) == n);
            own.fold(first, |sum, (_, &g)| sum.plus(inner, g, space))
        };
        let mut outputs = Vec::new();
        for (at, &n) in leaves.iter().chain(&invariants).enumerate() {
            let Some(space) = space(n) else { continue };
            let first = if at < leaves.len() { Tangent::Zero } else { of(given_params[at]) };
            outputs.push(sum(n, first, &space).term(inner, &space).value);
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

/// The number of steps of a loop that counts.
fn trips<'a>(to: &'a Appender, counts: ForArity, operands: &[Value]) -> SlopeTerm<'a> {
    let [start, end] = [0, 1].map(|n| to.term(operands[counts.carried as usize + n]).cast(DType::I64));
    let distance = end - start;
    maximum(distance, distance.number(0.0))
}

/// A loop from 0 to `end`, an `i64`: `step` gets its index, the state, and what is the same in each step.
fn counted(
    to: &Appender,
    end: SlopeTerm<'_>,
    state: &[Value],
    invariants: &[Value],
    step: impl FnOnce(&Appender, Value, &[Value], &[Value]) -> Vec<Value>,
) -> Vec<Value> {
    let mut all = state.to_vec();
    all.extend([to.number(0.0, DType::I64).value, end.value]);
    all.extend(invariants);
    let carried = state.len();
    let mut types = to.param_types(&all);
    types.remove(carried + 1);
    let body =
        to.graph(&types, |inner, params| step(inner, params[carried], &params[..carried], &params[carried + 1..]));
    let taking = (0..all.len() as u32).filter(|&at| at as usize != carried + 1).collect();
    let kind = ControlKind::For(ForArity { carried: carried as u32, index: DType::I64 });
    to.control(kind, vec![(body, taking)], &all)
}

/// The numbers of slots for states of these types.
fn slot_count(types: &[ParamType]) -> usize {
    let bytes = types.iter().map(|(_, dtype, shape)| shape.bytes(dtype.bytes()).unwrap_or(usize::MAX));
    let each = bytes.fold(1usize, usize::saturating_add);
    (BYTES / each).clamp(SLOTS.0, SLOTS.1)
}

/// Slots without states.
fn slots(to: &Appender, types: &[ParamType], count: usize) -> Vec<Value> {
    let empty = |(ty, dtype, shape): &ParamType| {
        let extents: Vec<usize> = [count].into_iter().chain(shape.extents().iter().copied()).collect();
        // What is weak stays so: the body is that of weak leaves.
        let zero = match ty {
            ValueType::Weak(weak) => to.weak_zero(*weak),
            ValueType::Strong(_) => {
                to.number(0.0, if *dtype == DType::Bool { DType::I32 } else { *dtype }).cast(*dtype)
            }
        };
        zero.broadcast(&Shape::from(extents)).value
    };
    types.iter().map(empty).collect()
}

/// A state in a slot of each; none where the step is between two slots, or there is no such slot.
fn stored(to: &Appender, slots: &[Value], state: &[Value], step: SlopeTerm<'_>, stride: SlopeTerm<'_>) -> Vec<Value> {
    let [step, stride] = [step.value, stride.value].map(|value| to.term(value));
    let between = not_equal(remainder(step, stride), step.number(0.0));
    let at = where_(between, step.number(-1.0), floor_divide(step, stride));
    let store = |(&slots, &value): (&Value, &Value)| {
        let slots = to.term(slots);
        slots.scatter(Scatter::Set, at, to.term(value)).value
    };
    slots.iter().zip(state).map(store).collect()
}

/// The state in a slot.
fn loaded(to: &Appender, slots: &[Value], at: SlopeTerm<'_>) -> Vec<Value> {
    slots.iter().map(|&slots| to.term(slots).gather(to.term(at.value)).value).collect()
}

/// What steps of a loop need: the leaves of the state that the body takes, and how the body runs.
struct StepBody<'p> {
    piece: &'p Piece,
    carried: usize,
    /// The parameter of each leaf.
    params: Vec<Option<usize>>,
    /// The operands beside the state: the first index, and what is the same in each step.
    others: Vec<usize>,
}

impl<'p> StepBody<'p> {
    fn new(piece: &'p Piece, operands: usize) -> StepBody<'p> {
        let (carried, body) = (piece.control.carried(), piece.last());
        let count = piece.bodies[body].0.params().len();
        let params = (0..carried).map(|leaf| (0..count).find(|&param| piece.operand(body, param) == leaf)).collect();
        let others = (carried..operands).collect();
        StepBody { piece, carried, params, others }
    }

    fn is_counted(&self) -> Option<ForArity> {
        if let ControlKind::For(counts) = self.piece.control.kind { Some(counts) } else { None }
    }

    /// The leaves that the body takes.
    fn taken(&self) -> Vec<usize> {
        (0..self.carried).filter(|&leaf| self.params[leaf].is_some()).collect()
    }

    /// Arguments of the body at a step: of a whole state, or of the leaves that it takes.
    fn arguments(&self, to: &Appender, step: Value, leaf: impl Fn(usize) -> Value, others: &[Value]) -> Vec<Value> {
        let body = self.piece.last();
        let argument = |param: usize| {
            let operand = self.piece.operand(body, param);
            match operand.checked_sub(self.carried) {
                None => leaf(operand),
                Some(at) => match self.is_counted() {
                    Some(counts) if counts.is_index(operand) => {
                        (to.term(others[at]) + to.term(step).cast(counts.index)).value
                    }
                    _ => others[at],
                },
            }
        };
        (0..self.piece.bodies[body].0.params().len()).map(argument).collect()
    }

    /// The next state.
    fn next(&self, to: &Appender, step: Value, leaf: impl Fn(usize) -> Value, others: &[Value]) -> Vec<Value> {
        let (graph, places) = &self.piece.bodies[self.piece.last()];
        let arguments = self.arguments(to, step, leaf, others);
        to.run((graph, places), &arguments)
    }
}

/// A loop over steps that keeps states: its results, and what it keeps. `trips` is known of one that counts.
fn keeping_steps(
    to: &Appender,
    piece: &Piece,
    of: ControlKey,
    state: Vec<Value>,
    trips: Option<SlopeTerm<'_>>,
) -> KeptLoop {
    let operands = &of.1;
    let body = StepBody::new(piece, operands.len());
    let (carried, taken) = (body.carried, body.taken());
    let own = piece.params(piece.last());
    let types: Vec<ParamType> =
        taken.iter().filter_map(|&leaf| body.params[leaf].map(|param| own[param].clone())).collect();
    // As the body takes it, a state keeps its type.
    let state: Vec<Value> = state;
    let count = slot_count(&types);
    let empty = slots(to, &types, count);
    let others: Vec<Value> = body.others.iter().map(|&n| operands[n]).collect();
    let spread = |steps: SlopeTerm<'_>| {
        let steps = to.term(steps.value);
        let stride = floor_divide(steps + (count as f64 - 1.0), steps.number(count as f64));
        maximum(stride, stride.number(1.0))
    };
    let one_pass = |to: &Appender,
                    end: SlopeTerm<'_>,
                    stride: SlopeTerm<'_>,
                    state: &[Value],
                    slots: &[Value],
                    others: &[Value]| {
        let all: Vec<Value> = state.iter().chain(slots).copied().collect();
        let invariants: Vec<Value> = [stride.value].into_iter().chain(others.iter().copied()).collect();
        counted(to, end, &all, &invariants, |inner, step, state, invariants| {
            let (state, slots) = state.split_at(carried);
            let kept: Vec<Value> = taken.iter().map(|&leaf| state[leaf]).collect();
            let slots = stored(inner, slots, &kept, inner.term(step), inner.term(invariants[0]));
            let mut next = body.next(inner, step, |leaf| state[leaf], &invariants[1..]);
            next.extend(slots);
            next
        })
    };
    let by_leaf = |slots: &[Value]| {
        let mut by_leaf = vec![None; carried];
        taken.iter().zip(slots).for_each(|(&leaf, &slots)| by_leaf[leaf] = Some(slots));
        by_leaf
    };
    if let Some(trips) = trips {
        let stride = spread(trips);
        let results = one_pass(to, to.term(trips.value), stride, &state, &empty, &others);
        let (results, slots) = results.split_at(carried);
        let slots = by_leaf(slots);
        let saved = SavedLoop::Slots { of: of.clone(), slots, steps: trips.value, stride: stride.value, count };
        return kept_loop(to, results, saved);
    }
    // A loop that keeps its first states and counts; if it had more steps than slots, it runs again.
    let zero = to.number(0.0, DType::I64).value;
    let mut all = state.clone();
    all.push(zero);
    all.extend(&empty);
    let first_other = all.len();
    all.extend(&others);
    let at = |operand: usize| match operand.checked_sub(carried) {
        None => operand as u32,
        Some(other) => (first_other + other) as u32,
    };
    let condition_takes = (0..piece.params(0).len()).map(|param| at(piece.operand(0, param))).collect();
    let param_types = to.param_types(&all);
    let looped = to.graph(&param_types, |inner, params| {
        let (state, rest) = params.split_at(carried);
        let (step, rest) = (inner.term(rest[0]), &rest[1..]);
        let (slots, others) = rest.split_at(taken.len());
        let kept: Vec<Value> = taken.iter().map(|&leaf| state[leaf]).collect();
        let slots = stored(inner, slots, &kept, step, step.number(1.0));
        let mut next = body.next(inner, step.value, |leaf| state[leaf], others);
        next.push((step + 1.0).value);
        next.extend(slots);
        next
    });
    let graphs = vec![(piece.bodies[0].clone(), condition_takes), (looped, (0..all.len() as u32).collect())];
    let results = to.control(ControlKind::While, graphs, &all);
    let steps = to.term(results[carried]);
    let stride = spread(steps);
    let again = where_(greater(steps, steps.number(count as f64)), steps, steps.number(0.0));
    let kept = one_pass(to, again, stride, &state, &results[carried + 1..], &others);
    let slots = by_leaf(&kept[carried..]);
    let saved = SavedLoop::Slots { of: of.clone(), slots, steps: steps.value, stride: stride.value, count };
    kept_loop(to, &results[..carried], saved)
}

/// The cotangents of the operands of a loop over steps.
pub(super) fn reverse_steps(
    to: &Appender,
    piece: &Piece,
    operands: &[Value],
    saved: &SavedLoop,
    active: &[bool],
    cotangents: &[Tangent],
) -> Vec<Tangent> {
    let SavedLoop::Slots { slots: all_slots, steps, stride, count, .. } = saved else {
        return vec![Tangent::Zero; operands.len()];
    };
    let body = StepBody::new(piece, operands.len());
    let (carried, taken) = (body.carried, body.taken());
    let spaces: Vec<Option<TangentSpace>> = operands.iter().map(|&operand| to.space(operand)).collect();
    let with_tangents = active.iter().zip(&spaces).map(|(active, space)| *active && space.is_some()).collect();
    let active = piece.closed(with_tangents);
    let wanted_operands: Vec<usize> = (0..operands.len()).filter(|&n| active[n] && spaces[n].is_some()).collect();
    let leaves = wanted_operands.iter().filter(|&&n| n < carried).count();
    let start: Vec<Value> = wanted_operands
        .iter()
        .filter_map(|&n| {
            let cotangent = if n < carried { cotangents[n] } else { Tangent::Zero };
            spaces[n].as_ref().map(|space| cotangent.term(to, space).value)
        })
        .collect();
    let mut made = vec![Tangent::Zero; operands.len()];
    if start.is_empty() {
        return made;
    }
    let params = piece.bodies[piece.last()].0.params().len();
    let wanted: Vec<usize> = (0..params).filter(|&param| active[piece.operand(piece.last(), param)]).collect();
    // One step back: cotangents before it, of those after it.
    let back = |to: &Appender, step: Value, state: &[Value], given: &[Value], others: &[Value]| {
        let leaf = |leaf: usize| taken.binary_search(&leaf).map_or(Value(0), |at| state[at]);
        let arguments = body.arguments(to, step, leaf, others);
        let mut seeds = vec![Tangent::Zero; carried];
        for (at, &n) in wanted_operands.iter().enumerate().filter(|(_, n)| **n < carried) {
            seeds[n] = Tangent::Of { value: given[at], negative: false };
        }
        let found = pullback(to, &piece.bodies[piece.last()], &arguments, &wanted, &seeds);
        let sum = |(at, &n): (usize, &usize)| {
            let space = spaces[n].as_ref()?;
            let first = if at < leaves { Tangent::Zero } else { Tangent::Of { value: given[at], negative: false } };
            let own = wanted.iter().zip(&found).filter(|(param, _)| piece.operand(piece.last(), **param) == n);
            Some(own.fold(first, |sum, (_, &g)| sum.plus(to, g, space)).term(to, space).value)
        };
        wanted_operands.iter().enumerate().filter_map(sum).collect::<Vec<Value>>()
    };
    let kept: Vec<Value> = all_slots.iter().flatten().copied().collect();
    let others: Vec<Value> = body.others.iter().map(|&n| operands[n]).collect();
    let invariants: Vec<Value> = [*steps, *stride].into_iter().chain(kept.iter().copied()).chain(others).collect();
    let split = |invariants: &[Value]| {
        let (counts, rest) = invariants.split_at(2);
        let (kept, others) = rest.split_at(kept.len());
        (counts.to_vec(), kept.to_vec(), others.to_vec())
    };
    let simple = |to: &Appender, given: &[Value], invariants: &[Value]| {
        let steps = to.term(invariants[0]);
        counted(to, steps, given, invariants, |inner, n, given, invariants| {
            let (counts, kept, others) = split(invariants);
            let step = inner.term(counts[0]) - 1.0 - inner.term(n);
            let state = loaded(inner, &kept, step);
            back(inner, step.value, &state, given, &others)
        })
    };
    let segments = |to: &Appender, given: &[Value], invariants: &[Value]| {
        let (counts, kept, _) = split(invariants);
        let [steps, stride] = [0, 1].map(|n| to.term(counts[n]));
        let all = floor_divide(steps + stride - 1.0, stride);
        let own_types: Vec<ParamType> = to
            .param_types(&kept)
            .into_iter()
            .map(|(ty, dtype, shape)| (ty, dtype, Shape::from(&shape.extents()[1..])))
            .collect();
        let between = slots(to, &own_types, *count);
        let state: Vec<Value> = given.iter().chain(&between).copied().collect();
        let inner_stride = floor_divide(stride + (*count as f64 - 1.0), stride.number(*count as f64));
        let invariants: Vec<Value> =
            [all.value, inner_stride.value].into_iter().chain(invariants.iter().copied()).collect();
        let results = counted(to, all, &state, &invariants, |inner, n, state, invariants| {
            let [all, inner_stride] = [0, 1].map(|n| inner.term(invariants[n]));
            let (counts, kept, others) = split(&invariants[2..]);
            let [steps, stride] = [0, 1].map(|n| inner.term(counts[n]));
            let (given, between) = state.split_at(start.len());
            let segment = all - 1.0 - inner.term(n);
            let first = segment * stride;
            let length = minimum(stride, steps - first);
            segment_back(
                inner,
                &body,
                (first, length, inner_stride),
                (given, between, &loaded(inner, &kept, segment), &others),
                &back,
            )
        });
        results[..start.len()].to_vec()
    };
    // Most loops have no more steps than slots.
    let all: Vec<Value> = start.iter().chain(&invariants).copied().collect();
    let steps = to.term(*steps);
    let fits = less_equal(steps, steps.number(*count as f64));
    let types = to.param_types(&all);
    let branch = |write: &dyn Fn(&Appender, &[Value], &[Value]) -> Vec<Value>| {
        to.graph(&types, |inner, params| {
            let (given, invariants) = params.split_at(start.len());
            write(inner, given, invariants)
        })
    };
    let graphs = [branch(&simple), branch(&segments)];
    let operands: Vec<Value> = [fits.value].into_iter().chain(all).collect();
    let taking: Vec<u32> = (1..operands.len() as u32).collect();
    let results = to.control(ControlKind::Cond, graphs.map(|graph| (graph, taking.clone())).to_vec(), &operands);
    wanted_operands.iter().zip(results).for_each(|(&n, value)| made[n] = Tangent::Of { value, negative: false });
    made
}

/// The steps of a segment back: its states are computed again from the first.
fn segment_back(
    to: &Appender,
    body: &StepBody<'_>,
    (first, length, stride): (SlopeTerm<'_>, SlopeTerm<'_>, SlopeTerm<'_>),
    (given, between, state, others): (&[Value], &[Value], &[Value], &[Value]),
    back: &dyn Fn(&Appender, Value, &[Value], &[Value], &[Value]) -> Vec<Value>,
) -> Vec<Value> {
    let taken = body.taken();
    let leaf = |state: &[Value], leaf: usize| taken.binary_search(&leaf).map_or(Value(0), |at| state[at]);
    // A state as far as the body takes it.
    let advance = |to: &Appender, step: Value, state: &[Value], others: &[Value]| {
        let next = body.next(to, step, |n| leaf(state, n), others);
        taken.iter().map(|&n| next[n]).collect::<Vec<Value>>()
    };
    let all: Vec<Value> = state.iter().chain(between).copied().collect();
    let invariants: Vec<Value> = [first.value, stride.value].into_iter().chain(others.iter().copied()).collect();
    let filled = counted(to, to.term(length.value), &all, &invariants, |inner, n, all, invariants| {
        let (state, between) = all.split_at(taken.len());
        let n = inner.term(n);
        let between = stored(inner, between, state, n, inner.term(invariants[1]));
        let step = inner.term(invariants[0]) + n;
        let mut next = advance(inner, step.value, state, &invariants[2..]);
        next.extend(between);
        next
    });
    let between = &filled[taken.len()..];
    let invariants: Vec<Value> = [first.value, length.value, stride.value]
        .into_iter()
        .chain(between.iter().copied())
        .chain(others.iter().copied())
        .collect();
    let slots = between.len();
    let mut results = counted(to, to.term(length.value), given, &invariants, |inner, n, given, invariants| {
        let [first, length, stride] = [0, 1, 2].map(|n| inner.term(invariants[n]));
        let (between, others) = invariants[3..].split_at(slots);
        let n = length - 1.0 - inner.term(n);
        let slot = floor_divide(n, stride);
        let from = slot * stride;
        let state = loaded(inner, between, slot);
        let invariants: Vec<Value> = [(first + from).value].into_iter().chain(others.iter().copied()).collect();
        let state = counted(inner, n - from, &state, &invariants, |inner, n, state, invariants| {
            let step = inner.term(invariants[0]) + inner.term(n);
            advance(inner, step.value, state, &invariants[1..])
        });
        back(inner, (first + n).value, &state, given, others)
    });
    results.extend(between);
    results
}
