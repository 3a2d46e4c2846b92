//! Indexing of arrays and lists.

use crate::error::Problem;
use crate::node::{Id, IndexPart};
use crate::value::{NodeValue, PlacedArgument};
use ndjit::manipulation::Slice;

/// Evaluates an index such as `x[1:, ::-1, None]`. Ranges are clipped to their axis, as in Python.
pub(crate) fn index(
    x: &NodeValue,
    parts: &[IndexPart],
    argument: impl Fn(Id) -> PlacedArgument,
    column: u32,
) -> Result<NodeValue, Problem> {
    let int = |id: Id| {
        match argument(id) {
        PlacedArgument { value: NodeValue::Expr(_), column } => Err(Problem::new(column, "an index that is an array")
            .help("elements are chosen by `where(condition, x, y)`; expressions index by integers and ranges, Rust's `take` and `at` by arrays")),
        PlacedArgument { value, column } => value.int("an index", column),
    }
    };
    if let NodeValue::List(items) = x {
        let [IndexPart::Index(id)] = parts else {
            return Err(Problem::new(column, "a list has one index").help("as in `x.shape[0]`"));
        };
        let at = int(*id)?;
        let at = if at < 0 { at.saturating_add(items.len() as isize) } else { at };
        let item = usize::try_from(at).ok().and_then(|at| items.get(at));
        return item.cloned().ok_or_else(|| {
            let last = items.len().saturating_sub(1);
            Problem::new(column, format!("a list of {} has no item {at}", items.len()))
                .help(format!("items are counted from 0 to {last}, or from the end, -1 the last"))
        });
    }
    let of = x.expr("an index", column)?;
    let shape = of.shape();
    let takes = |part: &&IndexPart| matches!(part, IndexPart::Index(_) | IndexPart::Range { .. });
    let whole = shape.rank().saturating_sub(parts.iter().filter(takes).count());
    let mut axis = 0;
    let mut slices = Vec::with_capacity(parts.len());
    for part in parts {
        slices.push(match part {
            IndexPart::NewAxis => Slice::NewAxis,
            IndexPart::Ellipsis => {
                axis += whole;
                Slice::Ellipsis
            }
            IndexPart::Index(id) => {
                axis += 1;
                Slice::Index(int(*id)?)
            }
            IndexPart::Range { start, end, step } => {
                let extent = shape.extents().get(axis).copied().unwrap_or(0);
                axis += 1;
                let [start, end, step] = [*start, *end, *step].map(|id| match id {
                    Some(id) if matches!(argument(id).value, NodeValue::None) => Ok(None),
                    Some(id) => int(id).map(Some),
                    None => Ok(None),
                });
                range(start?, end?, step?.unwrap_or(1), extent)
            }
        });
    }
    Ok(NodeValue::Expr(of.slice(slices)))
}

/// Python's range `start:end:step` of an axis.
fn range(start: Option<isize>, end: Option<isize>, step: isize, extent: usize) -> Slice {
    let extent = isize::try_from(extent).unwrap_or(isize::MAX);
    let from_first = |bound: isize| if bound < 0 { bound.saturating_add(extent) } else { bound };
    let (start, end) = if step < 0 {
        // A negative step runs from the start down to the end, exclusive. A range of the axis has these bounds in
        // reverse.
        let clip = |bound: isize| from_first(bound).clamp(-1, extent - 1);
        (end.map_or(0, |end| clip(end) + 1), start.map_or(extent, |start| clip(start) + 1))
    } else {
        let clip = |bound: isize| from_first(bound).clamp(0, extent);
        (start.map_or(0, clip), end.map_or(extent, clip))
    };
    Slice::Range { start: Some(start), end: Some(end.max(start)), step }
}
