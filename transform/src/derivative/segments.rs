//! Loops as scans, for reverse mode, which needs the state of each step. A loop of constant trip count is a scan. A
//! scan with too many states becomes nested scans: the outer one saves the state before each inner one, whose states
//! reverse mode recomputes; both are shorter, and are segmented again if still too long.

use crate::append::{Appender, ControlPiece, ParamType};
use ndjit_ir::Shape;
use ndjit_ir::graph::{ControlKind, ForArity, NodeKind, ScanArity, Slot, Value};
use ndjit_ir::literal::LiteralValue;

/// The minimum number of steps of a scan to segment.
const SHORT: usize = 8;

/// Computes the results of a loop by scans, for a loop of constant trip count, and for a scan whose states exceed the
/// memory. `None` for other loops.
pub(super) fn as_scans(to: &Appender, n: u32, operands: &[Value]) -> Option<Vec<Value>> {
    let piece = ControlPiece::of(to, n);
    match piece.control.kind {
        ControlKind::Scan(steps) => segmented(to, &piece, (operands, steps)),
        ControlKind::For(counts) => counted(to, &piece, (operands, counts)),
        ControlKind::Cond | ControlKind::While => None,
    }
}

/// Replaces a loop over a constant range by a scan whose state includes the index.
fn counted(to: &Appender, piece: &ControlPiece, (operands, counts): (&[Value], ForArity)) -> Option<Vec<Value>> {
    let carried = counts.carried as usize;
    let (start, end) = (integer(to, operands[carried])?, integer(to, operands[carried + 1])?);
    let length = usize::try_from(end.checked_sub(start)?.max(0)).ok()?;
    // The index instead of the start; the end is unused.
    let mut all = operands.to_vec();
    all.remove(carried + 1);
    all[carried] = to.term(operands[carried]).cast(counts.index).value;
    let mut types = piece.operand_types(to, operands);
    types.remove(carried + 1);
    types[carried] = (counts.index.into(), counts.index, Shape::scalar());
    let (graph, places) = &piece.bodies[0];
    let body = to.graph(&types, |inner, params| {
        let own = |param: usize| match piece.operand(0, param) {
            operand if operand > carried => params[operand - 1],
            operand => params[operand],
        };
        let arguments: Vec<Value> = (0..graph.params().len()).map(own).collect();
        let mut outputs = inner.run((graph, places), &arguments);
        outputs.push((inner.term(params[carried]) + 1.0).value);
        outputs
    });
    let steps = ScanArity { length, carried: counts.carried + 1, sliced: 0, reverse: false };
    let mut results = to.control(ControlKind::Scan(steps), vec![(body, (0..all.len() as u32).collect())], &all);
    results.truncate(carried);
    Some(results)
}

/// Returns the integer value of a literal.
fn integer(to: &Appender, value: Value) -> Option<i64> {
    to.read(|graph| {
        let mut id = graph.producer(value);
        // Wider integers have the same value.
        while let NodeKind::Cast(_) = graph.node(id).kind {
            let (from, own) = (graph.operands(id)[0], graph.node(id).first());
            let [from_dtype, dtype] = [from, own].map(|value| graph.storage_dtype(value, to.policy));
            if !dtype.is_int() || !dtype.is_signed() || dtype.bytes() < from_dtype.bytes() {
                return None;
            }
            id = graph.producer(from);
        }
        let NodeKind::Literal(slot) = graph.node(id).kind else { return None };
        match graph.slots().get(slot.index()) {
            Some(Slot::Value(literal)) => match literal.value() {
                LiteralValue::Int(n) => i64::try_from(n).ok(),
                _ => None,
            },
            _ => None,
        }
    })
}

/// Computes the results of a scan whose states exceed the memory by nested scans; `None` for other scans.
fn segmented(to: &Appender, piece: &ControlPiece, (operands, steps): (&[Value], ScanArity)) -> Option<Vec<Value>> {
    let (carried, sliced) = (steps.carried as usize, steps.sliced as usize);
    let types = piece.operand_types(to, operands);
    let bytes = |(_, dtype, shape): &ParamType| shape.bytes(dtype.bytes()).unwrap_or(usize::MAX);
    let each = types[..carried].iter().map(bytes).fold(0usize, usize::saturating_add);
    if steps.length <= SHORT || each.saturating_mul(steps.length) <= to.state_bytes {
        return None;
    }
    let length = steps.length.isqrt() + 1;
    let count = steps.length / length;
    let (used, rest) = (count * length, steps.length % length);
    // A reverse scan begins with the last slices.
    let (first, tail) =
        if steps.reverse { ((rest, steps.length), (0, rest)) } else { ((0, used), (used, steps.length)) };
    let is_sliced = |n: usize| (carried..carried + sliced).contains(&n);
    let part = |(start, end): (usize, usize), n: usize| match is_sliced(n) {
        true => to.term(operands[n]).slice(0, start, end).value,
        false => operands[n],
    };
    let taking: Vec<u32> = (0..piece.params(0).len()).map(|param| piece.operand(0, param) as u32).collect();
    // A segment's types: slices of shorter arrays.
    let segment_types: Vec<ParamType> = types
        .iter()
        .enumerate()
        .map(|(n, (ty, dtype, shape))| match is_sliced(n) {
            true => (*ty, *dtype, with_extent(length, &Shape::from(&shape.extents()[1..]))),
            false => (*ty, *dtype, shape.clone()),
        })
        .collect();
    let body = to.graph(&segment_types, |inner, params| {
        let kind = ControlKind::Scan(ScanArity { length, ..steps });
        inner.control(kind, vec![(piece.bodies[0].clone(), taking.clone())], params)
    });
    let all: Vec<Value> = (0..operands.len())
        .map(|n| {
            let value = part(first, n);
            if !is_sliced(n) {
                return value;
            }
            let slice = Shape::from(&to.shape(value).extents()[1..]);
            to.term(value).reshape(&with_extent(count, &with_extent(length, &slice))).value
        })
        .collect();
    let outer = ControlKind::Scan(ScanArity { length: count, ..steps });
    let results = to.control(outer, vec![(body, (0..all.len() as u32).collect())], &all);
    let results: Vec<Value> = results
        .into_iter()
        .enumerate()
        .map(|(n, value)| match n < carried {
            true => value,
            false => {
                let slice = Shape::from(&to.shape(value).extents()[2..]);
                to.term(value).reshape(&with_extent(used, &slice)).value
            }
        })
        .collect();
    if rest == 0 {
        return Some(results);
    }
    let all: Vec<Value> = (0..operands.len()).map(|n| if n < carried { results[n] } else { part(tail, n) }).collect();
    let kind = ControlKind::Scan(ScanArity { length: rest, ..steps });
    let last = to.control(kind, vec![(piece.bodies[0].clone(), taking)], &all);
    let joined = results.iter().zip(&last).enumerate().map(|(n, (&first, &last))| match n < carried {
        true => last,
        false => {
            let parts = if steps.reverse { [last, first] } else { [first, last] };
            to.concat(0, &parts.map(|value| to.term(value))).value
        }
    });
    Some(joined.collect())
}

/// Returns a shape with another axis in front.
pub(super) fn with_extent(extent: usize, of: &Shape) -> Shape {
    Shape::from([extent].into_iter().chain(of.extents().iter().copied()).collect::<Vec<usize>>())
}
