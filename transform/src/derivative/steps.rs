//! Reverse mode of loops with unknown trip count. Such a loop saves as many states as it has slots, and recomputes the
//! others.

use super::pullback::pullback;
use super::saved::{ControlGroup, KeptLoop, SavedLoop, kept_loop};
use super::tangent::Tangent;
use crate::append::ops::*;
use crate::append::{Appender, ControlPiece, ParamType, SlopeTerm};
use ndjit_ir::graph::{ControlKind, ForArity, Scatter, Value};
use ndjit_ir::{DType, Shape, ValueType};

/// The maximum memory for the states of a loop of unknown trip count: it is zeroed at each call.
const BYTES: usize = 16 << 20;
/// The minimum and maximum number of slots.
const SLOTS: (usize, usize) = (2, 4096);

/// Computes the trip count of a counted loop.
pub(super) fn trips<'a>(to: &'a Appender, counts: ForArity, operands: &[Value]) -> SlopeTerm<'a> {
    let [start, end] = [0, 1].map(|n| to.term(operands[counts.carried as usize + n]).cast(DType::I64));
    let distance = end - start;
    maximum(distance, distance.number(0.0))
}

/// Returns the type of an index.
fn counter() -> ParamType {
    (DType::I64.into(), DType::I64, Shape::scalar())
}

/// Adds a loop from 0 to `end`, an `i64`. `step` receives the index, the state and the invariants.
fn counted(
    to: &Appender,
    end: SlopeTerm<'_>,
    (state, state_types): (&[Value], &[ParamType]),
    (invariants, invariant_types): (&[Value], &[ParamType]),
    step: impl FnOnce(&Appender, Value, &[Value], &[Value]) -> Vec<Value>,
) -> Vec<Value> {
    let mut all = state.to_vec();
    all.extend([to.number(0.0, DType::I64).value, end.value]);
    all.extend(invariants);
    let carried = state.len();
    let types: Vec<ParamType> = state_types.iter().chain([&counter()]).chain(invariant_types).cloned().collect();
    let body =
        to.graph(&types, |inner, params| step(inner, params[carried], &params[..carried], &params[carried + 1..]));
    let taking = (0..all.len() as u32).filter(|&at| at as usize != carried + 1).collect();
    let kind = ControlKind::For(ForArity { carried: carried as u32, index: DType::I64 });
    to.control(kind, vec![(body, taking)], &all)
}

/// Computes the number of slots for states of these types from half of the memory: the other half holds the states
/// recomputed between two slots.
fn slot_count(to: &Appender, types: &[ParamType]) -> usize {
    let bytes = types.iter().map(|(_, dtype, shape)| shape.bytes(dtype.bytes()).unwrap_or(usize::MAX));
    let each = bytes.fold(1usize, usize::saturating_add);
    (to.state_bytes.min(BYTES) / 2 / each).clamp(SLOTS.0, SLOTS.1)
}

/// Returns the types of the slots: arrays of `count` states.
fn slot_types(types: &[ParamType], count: usize) -> Vec<ParamType> {
    let slots = |(ty, dtype, shape): &ParamType| {
        let extents: Vec<usize> = [count].into_iter().chain(shape.extents().iter().copied()).collect();
        (*ty, *dtype, Shape::from(extents))
    };
    types.iter().map(slots).collect()
}

/// Creates slots filled with zeros.
fn slots(to: &Appender, types: &[ParamType], count: usize) -> Vec<Value> {
    let empty = |(ty, dtype, shape): &ParamType| {
        let extents: Vec<usize> = [count].into_iter().chain(shape.extents().iter().copied()).collect();
        // Weak leaves stay weak, as in the body.
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

/// Stores a state in the slot of its step. Steps that are no multiple of `stride`, and steps beyond the last slot,
/// store nothing.
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

/// Loads the state in a slot.
fn loaded(to: &Appender, slots: &[Value], at: SlopeTerm<'_>) -> Vec<Value> {
    slots.iter().map(|&slots| to.term(slots).gather(to.term(at.value)).value).collect()
}

/// The body of a loop over steps.
struct StepBody<'p> {
    piece: &'p ControlPiece,
    carried: usize,
    /// The parameter of each leaf.
    params: Vec<Option<usize>>,
    /// The other operands: the first index, and the invariants.
    others: Vec<usize>,
    /// The types of the leaves, and of the others.
    types: (Vec<ParamType>, Vec<ParamType>),
}

impl<'p> StepBody<'p> {
    fn new(to: &Appender, piece: &'p ControlPiece, operands: &[Value]) -> StepBody<'p> {
        let (carried, body) = (piece.control.carried(), piece.last());
        let count = piece.bodies[body].0.params().len();
        let params = (0..carried).map(|leaf| (0..count).find(|&param| piece.operand(body, param) == leaf)).collect();
        let mut types = piece.operand_types(to, operands);
        let other_types = types.split_off(carried.min(types.len()));
        StepBody { piece, carried, params, others: (carried..operands.len()).collect(), types: (types, other_types) }
    }

    fn is_counted(&self) -> Option<ForArity> {
        if let ControlKind::For(counts) = self.piece.control.kind { Some(counts) } else { None }
    }

    /// Returns the leaves of the state that are parameters of the body.
    fn taken(&self) -> Vec<usize> {
        (0..self.carried).filter(|&leaf| self.params[leaf].is_some()).collect()
    }

    /// Returns the types of these leaves.
    fn taken_types(&self) -> Vec<ParamType> {
        self.taken().into_iter().map(|leaf| self.types.0[leaf].clone()).collect()
    }

    /// Returns the arguments of the body at a step. `leaf` gives the values of the state.
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

    /// Runs the body on a state, and returns the next state.
    fn next(&self, to: &Appender, step: Value, leaf: impl Fn(usize) -> Value, others: &[Value]) -> Vec<Value> {
        let (graph, places) = &self.piece.bodies[self.piece.last()];
        let arguments = self.arguments(to, step, leaf, others);
        to.run((graph, places), &arguments)
    }
}

/// Adds a loop over steps that saves states. `trips` is set for a counted loop.
pub(super) fn keeping_steps(
    to: &Appender,
    piece: &ControlPiece,
    of: ControlGroup,
    state: Vec<Value>,
    trips: Option<SlopeTerm<'_>>,
) -> KeptLoop {
    let operands = &of.1;
    let body = StepBody::new(to, piece, operands);
    let (carried, taken) = (body.carried, body.taken());
    let types = body.taken_types();
    let count = slot_count(to, &types);
    let (empty, slot_types) = (slots(to, &types, count), slot_types(&types, count));
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
        let all_types: Vec<ParamType> = body.types.0.iter().chain(&slot_types).cloned().collect();
        let invariant_types: Vec<ParamType> = [counter()].into_iter().chain(body.types.1.iter().cloned()).collect();
        counted(to, end, (&all, &all_types), (&invariants, &invariant_types), |inner, step, state, invariants| {
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
    // The trip count is unknown: one loop saves the first states and counts. It runs again if it had more steps than
    // slots.
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
    let mut param_types = body.types.0.clone();
    param_types.push(counter());
    param_types.extend(slot_types.iter().chain(&body.types.1).cloned());
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

/// Computes the cotangents of the operands of a loop over steps.
pub(super) fn reverse_steps(
    to: &Appender,
    piece: &ControlPiece,
    operands: &[Value],
    saved: &SavedLoop,
    active: &[bool],
    cotangents: &[Tangent],
) -> Vec<Tangent> {
    let SavedLoop::Slots { slots: all_slots, steps, stride, count, .. } = saved else {
        return vec![Tangent::Zero; operands.len()];
    };
    let body = StepBody::new(to, piece, operands);
    let (carried, taken) = (body.carried, body.taken());
    let spaces = piece.spaces(to, operands);
    let with_tangents = active.iter().zip(&spaces).map(|(active, space)| *active && space.is_some()).collect();
    let active = piece.closed(to, with_tangents);
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
    // One step back: computes the cotangents before a step from those after it.
    let back = |to: &Appender, step: Value, state: &[Value], given: &[Value], others: &[Value]| {
        let leaf = |leaf: usize| taken.binary_search(&leaf).map_or(Value(0), |at| state[at]);
        let arguments = body.arguments(to, step, leaf, others);
        let mut seeds = vec![Tangent::Zero; carried];
        for (at, &n) in wanted_operands.iter().enumerate().filter(|(_, n)| **n < carried) {
            seeds[n] = Tangent::Of { value: given[at], negative: false };
        }
        to.in_step.set(true);
        let found = pullback(to, &piece.bodies[piece.last()], &arguments, &wanted, &seeds, |_| Tangent::Zero);
        let sum = |(at, &n): (usize, &usize)| {
            let space = spaces[n].as_ref()?;
            let first = if at < leaves { Tangent::Zero } else { Tangent::Of { value: given[at], negative: false } };
            let own = wanted.iter().zip(&found).filter(|(param, _)| piece.operand(piece.last(), **param) == n);
            Some(own.fold(first, |sum, (_, &g)| sum.plus(to, g, space)).term(to, space).flushed().value)
        };
        wanted_operands.iter().enumerate().filter_map(sum).collect::<Vec<Value>>()
    };
    let kept: Vec<Value> = all_slots.iter().flatten().copied().collect();
    let others: Vec<Value> = body.others.iter().map(|&n| operands[n]).collect();
    let invariants: Vec<Value> = [*steps, *stride].into_iter().chain(kept.iter().copied()).chain(others).collect();
    let start_types = to.param_types(&start);
    let between_types = slot_types(&body.taken_types(), *count);
    let mut invariant_types = vec![counter(); 2];
    invariant_types.extend(between_types.iter().chain(&body.types.1).cloned());
    let split = |invariants: &[Value]| {
        let (counts, rest) = invariants.split_at(2);
        let (kept, others) = rest.split_at(kept.len());
        (counts.to_vec(), kept.to_vec(), others.to_vec())
    };
    let simple = |to: &Appender, given: &[Value], invariants: &[Value]| {
        let steps = to.term(invariants[0]);
        counted(to, steps, (given, &start_types), (invariants, &invariant_types), |inner, n, given, invariants| {
            let (counts, kept, others) = split(invariants);
            let step = inner.term(counts[0]) - 1.0 - inner.term(n);
            let state = loaded(inner, &kept, step);
            back(inner, step.value, &state, given, &others)
        })
    };
    let segments = |to: &Appender, given: &[Value], invariants: &[Value]| {
        let (counts, ..) = split(invariants);
        let [steps, stride] = [0, 1].map(|n| to.term(counts[n]));
        let all = floor_divide(steps + stride - 1.0, stride);
        let between = slots(to, &body.taken_types(), *count);
        let state: Vec<Value> = given.iter().chain(&between).copied().collect();
        let inner_stride = floor_divide(stride + (*count as f64 - 1.0), stride.number(*count as f64));
        let invariants: Vec<Value> =
            [all.value, inner_stride.value].into_iter().chain(invariants.iter().copied()).collect();
        let state_types: Vec<ParamType> = start_types.iter().chain(&between_types).cloned().collect();
        let types: Vec<ParamType> = [counter(), counter()].into_iter().chain(invariant_types.iter().cloned()).collect();
        let results = counted(to, all, (&state, &state_types), (&invariants, &types), |inner, n, state, invariants| {
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
                (first, length, inner_stride, *count),
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
    let types: Vec<ParamType> = start_types.iter().chain(&invariant_types).cloned().collect();
    let branch = |write: &WayBack<'_>| {
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

/// A function from the index of a step, its state, the cotangents after it and the invariants to the cotangents before
/// it.
type StepBack<'a> = dyn Fn(&Appender, Value, &[Value], &[Value], &[Value]) -> Vec<Value> + 'a;

/// A function from the cotangents after a loop and the invariants to the cotangents before it.
type WayBack<'a> = dyn Fn(&Appender, &[Value], &[Value]) -> Vec<Value> + 'a;

/// Runs the steps of a segment in reverse, and recomputes its states from the first one.
fn segment_back(
    to: &Appender,
    body: &StepBody<'_>,
    (first, length, stride, count): (SlopeTerm<'_>, SlopeTerm<'_>, SlopeTerm<'_>, usize),
    (given, between, state, others): (&[Value], &[Value], &[Value], &[Value]),
    back: &StepBack<'_>,
) -> Vec<Value> {
    let taken = body.taken();
    let leaf = |state: &[Value], leaf: usize| taken.binary_search(&leaf).map_or(Value(0), |at| state[at]);
    // These states have only the leaves that are parameters of the body.
    let advance = |to: &Appender, step: Value, state: &[Value], others: &[Value]| {
        let next = body.next(to, step, |n| leaf(state, n), others);
        taken.iter().map(|&n| next[n]).collect::<Vec<Value>>()
    };
    let all: Vec<Value> = state.iter().chain(between).copied().collect();
    let invariants: Vec<Value> = [first.value, stride.value].into_iter().chain(others.iter().copied()).collect();
    let between_types = slot_types(&body.taken_types(), count);
    let types: Vec<ParamType> = body.taken_types().into_iter().chain(between_types.iter().cloned()).collect();
    let other_types: Vec<ParamType> = [counter(), counter()].into_iter().chain(body.types.1.iter().cloned()).collect();
    let length_end = to.term(length.value);
    let filled = counted(to, length_end, (&all, &types), (&invariants, &other_types), |inner, n, all, invariants| {
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
    let mut types = vec![counter(); 3];
    types.extend(between_types.iter().chain(&body.types.1).cloned());
    let given_types = to.param_types(given);
    let mut results =
        counted(to, length_end, (given, &given_types), (&invariants, &types), |inner, n, given, invariants| {
            let [first, length, stride] = [0, 1, 2].map(|n| inner.term(invariants[n]));
            let (between, others) = invariants[3..].split_at(slots);
            let n = length - 1.0 - inner.term(n);
            let slot = floor_divide(n, stride);
            let from = slot * stride;
            let state = loaded(inner, between, slot);
            let invariants: Vec<Value> = [(first + from).value].into_iter().chain(others.iter().copied()).collect();
            let (own_types, taken_types) = (&other_types[1..], body.taken_types());
            let state = counted(
                inner,
                n - from,
                (&state, &taken_types),
                (&invariants, own_types),
                |inner, n, state, invariants| {
                    let step = inner.term(invariants[0]) + inner.term(n);
                    advance(inner, step.value, state, &invariants[1..])
                },
            );
            back(inner, (first + n).value, &state, given, others)
        });
    results.extend(between);
    results
}
