//! Scans of more states than are kept: scans of scans. The outer one keeps the state before each inner one, whose states are computed again where the
//! reverse mode needs them; both are shorter, and are cut again if they are too long still.

use super::rules::output;
use crate::append::{Appender, ControlPiece, ParamType};
use ndjit_ir::Shape;
use ndjit_ir::graph::{ControlKind, DerivativeRule, RuleKind, ScanArity, Value};

/// Steps that are not cut.
const SHORT: usize = 8;

/// The results of a scan whose states are more bytes than are kept, as scans of scans; `None` of other loops.
pub(super) fn segmented(to: &Appender, n: u32, operands: &[Value]) -> Option<Vec<Value>> {
    let piece = ControlPiece::of(to, n);
    let ControlKind::Scan(steps) = piece.control.kind else { return None };
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
    // A scan in reverse begins with the last slices.
    let (first, tail) =
        if steps.reverse { ((rest, steps.length), (0, rest)) } else { ((0, used), (used, steps.length)) };
    let is_sliced = |n: usize| (carried..carried + sliced).contains(&n);
    let part = |(start, end): (usize, usize), n: usize| match is_sliced(n) {
        true => to.term(operands[n]).slice(0, start, end).value,
        false => operands[n],
    };
    let taking: Vec<u32> = (0..piece.params(0).len()).map(|param| piece.operand(0, param) as u32).collect();
    // A segment, whose slices are of arrays of so many.
    let segment_types: Vec<ParamType> = types
        .iter()
        .enumerate()
        .map(|(n, (ty, dtype, shape))| match is_sliced(n) {
            true => (*ty, *dtype, with_extent(length, &Shape::from(&shape.extents()[1..]))),
            false => (*ty, *dtype, shape.clone()),
        })
        .collect();
    let body = to.graph(&segment_types, |inner, params| {
        let inputs: Vec<Value> = params.iter().map(|&param| inner.variable(param)).collect();
        let kind = ControlKind::Scan(ScanArity { length, ..steps });
        let results = inner.control(kind, vec![(piece.bodies[0].clone(), taking.clone())], &inputs);
        let beside: Vec<Value> = results.iter().chain(&inputs).copied().collect();
        let rule =
            |n: usize| DerivativeRule { kind: RuleKind::Checkpoint, output: n as u16, outputs: results.len() as u16 };
        results.iter().enumerate().map(|(n, &value)| output(inner, rule(n), value, &beside)).collect()
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

/// A shape with another axis, the first.
fn with_extent(extent: usize, of: &Shape) -> Shape {
    Shape::from([extent].into_iter().chain(of.extents().iter().copied()).collect::<Vec<usize>>())
}
