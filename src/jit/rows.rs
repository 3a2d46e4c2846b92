//! Which programs can be run on some rows after the other, and such a program for another number of rows. Rows are the indices along
//! axis 0.
//!
//! A value either has rows, each of which depends on the same row of other values alone, or is the same for all rows. Where a
//! value that has rows meets one that is the same for all, that must not be laid along them.

use ndjit_ir::graph::{Graph, NodeKind, Value};
use ndjit_ir::view::{AxisIndex, View};
use ndjit_ir::{Shape, ValueType};

/// How many rows the results of a graph without calls have, if it can be run on some of them after the other.
pub(super) fn count(graph: &Graph<ValueType>) -> Option<usize> {
    analysed(graph).map(|(rows, _)| rows)
}

/// The same graph for another number of rows; its nodes keep their order.
pub(super) fn with(graph: &Graph<ValueType>, rows: usize) -> Option<Graph<ValueType>> {
    let (_, has_rows) = analysed(graph)?;
    let mut out = Graph::with_slots(graph);
    for id in graph.node_ids() {
        let node = graph.node(id);
        let value = node.first();
        let mut extents = graph.shape(value).extents().to_vec();
        if let (true, Some(first)) = (has_rows[value.index()], extents.first_mut()) {
            *first = rows;
        }
        let shape = Shape::from(extents);
        // Parameters come first, and everything else keeps its operands, so ids do not change.
        let made = match node.kind {
            NodeKind::Param(_, stored) => out.param_stored(graph.ty(value), stored, &shape),
            NodeKind::Literal(slot) => out.slot_value(slot, graph.ty(value)),
            kind => {
                let kind = graph.kind_in(kind, &mut out);
                let shape = out.intern(&shape);
                out.add(kind, graph.operands(id), &[(graph.ty(value), shape)])
            }
        };
        if made != value {
            return None;
        }
    }
    out.set_outputs(graph.outputs().to_vec());
    Some(out)
}

/// The number of rows, and which values have them.
fn analysed(graph: &Graph<ValueType>) -> Option<(usize, Vec<bool>)> {
    let rows = *graph.shape(*graph.outputs().first()?).extents().first()?;
    // Of parameters of fewer axes the first is not that of the rows, but matched with a later one.
    let rank = graph.params().iter().map(|&p| graph.shape(p)).filter(|shape| is_long(shape, rows)).map(Shape::rank).max()?;
    let mut has_rows = vec![false; graph.value_count()];
    for id in graph.node_ids() {
        let node = graph.node(id);
        let (value, operands) = (node.first(), graph.operands(id));
        let shape = graph.shape(value);
        let with_rows = |operand: &&Value| has_rows[operand.index()];
        let goes_on = match node.kind {
            NodeKind::Param(..) => shape.rank() == rank && is_long(shape, rows),
            NodeKind::Literal(_) | NodeKind::Iota(_) => false,
            NodeKind::Call(_) => return None,
            _ if !operands.iter().any(|operand| has_rows[operand.index()]) => false,
            NodeKind::Op(..) => {
                let meets = |operand: &Value| {
                    let own = graph.shape(*operand);
                    match has_rows[operand.index()] {
                        true => own.rank() == shape.rank(),
                        false => own.rank() < shape.rank() || own.extents().first() == Some(&1),
                    }
                };
                operands.iter().all(meets).then_some(true)?
            }
            NodeKind::Cast(_) => true,
            NodeKind::Reduce(reduce) => {
                (!reduce.axes.contains(0) && !has_rows_elsewhere(operands, &has_rows)).then_some(true)?
            }
            NodeKind::Scan(scan) => (scan.axis != 0).then_some(true)?,
            NodeKind::View(view) => keeps_rows(graph.view_of(view)).then_some(true)?,
            // Elements keep their order, so rows of as many elements stay together.
            NodeKind::Reshape => is_long(shape, rows).then_some(true)?,
            NodeKind::Concat(axis, _) => {
                (axis != 0 && operands.iter().filter(with_rows).count() == operands.len()).then_some(true)?
            }
        };
        if goes_on && !is_long(shape, rows) {
            return None;
        }
        has_rows[value.index()] = goes_on;
    }
    graph.outputs().iter().all(|output| has_rows[output.index()]).then_some((rows, has_rows))
}

/// Whether a shape has as many rows.
fn is_long(shape: &Shape, rows: usize) -> bool {
    shape.extents().first() == Some(&rows)
}

/// Whether what is reduced besides the array, the correction of a variance, has rows.
fn has_rows_elsewhere(operands: &[Value], has_rows: &[bool]) -> bool {
    operands.iter().skip(1).any(|operand| has_rows[operand.index()])
}

/// Whether row `n` of a view is of row `n` of its operand, for any number of rows.
fn keeps_rows(view: &View) -> bool {
    let Some((first, others)) = view.axes.split_first() else { return false };
    let depends = |index: &AxisIndex| index.terms.iter().any(|term| term.axis == 0);
    *first == AxisIndex::along(0, 0, 1) && !others.iter().any(depends)
}
