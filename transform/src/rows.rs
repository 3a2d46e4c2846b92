//! Programs that can run on blocks of rows, one after the other, and their graphs for another number of rows. Rows are
//! the indices along axis 0.
//!
//! A value either has rows, each of which depends only on the same row of other values, or is the same for all rows. A
//! value without rows must not be broadcast along them by shape.

use ndjit_ir::graph::{Dependence, Graph, NodeKind, Rewriter, SourceLocs, Value};
use ndjit_ir::view::{AxisIndex, View};
use ndjit_ir::{Shape, ValueType};

/// Returns the number of rows of the results of a graph without calls, if it can run on blocks of them.
pub fn count(graph: &Graph<ValueType>) -> Option<usize> {
    analysed(graph).map(|(rows, _)| rows)
}

/// Returns the same graph, with its places, for another number of rows.
pub fn with(graph: &Graph<ValueType>, places: &SourceLocs, rows: usize) -> Option<(Graph<ValueType>, SourceLocs)> {
    let (_, has_rows) = analysed(graph)?;
    let (mut out, mut out_places) = (Graph::like(graph), SourceLocs::default());
    let mut rewriter = Rewriter::new((graph, places), (&mut out, &mut out_places));
    for id in graph.node_ids() {
        let node = graph.node(id);
        let (value, ty) = (node.first(), graph.ty(node.first()));
        let operands = rewriter.operands(id);
        let mut extents = graph.shape(value).extents().to_vec();
        if let (true, Some(first)) = (has_rows[value.index()], extents.first_mut()) {
            *first = rows;
        }
        let shape = Shape::from(extents);
        let made = match (node.kind, operands.first()) {
            (NodeKind::Param(_, stored), _) => rewriter.new.param_stored(ty, stored, &shape),
            (NodeKind::View(view), Some(&of)) => {
                rewriter.new.view(of, graph.view_of(view).clone().canonical(&shape), &shape)
            }
            (NodeKind::Reshape, Some(&of)) => rewriter.new.reshape(of, &shape),
            // Control flow has no rows.
            (NodeKind::Literal(_) | NodeKind::Control(_), _) => {
                rewriter.copy(id);
                continue;
            }
            _ => {
                rewriter.reshaped(id, &operands, &shape);
                continue;
            }
        };
        // With one row, different views may become equal.
        match operands.contains(&made) {
            true => rewriter.replace(id, made),
            false => rewriter.set(id, made),
        }
    }
    rewriter.finish();
    Some((out, out_places))
}

/// Returns the number of rows, and for each value whether it has rows.
fn analysed(graph: &Graph<ValueType>) -> Option<(usize, Vec<bool>)> {
    let rows = *graph.shape(*graph.outputs().first()?).extents().first()?;
    // The first axis of parameters of lower rank is not that of the rows, but matched with a later one.
    let rank =
        graph.params().iter().map(|&p| graph.shape(p)).filter(|shape| is_long(shape, rows)).map(Shape::rank).max()?;
    let mut has_rows = vec![false; graph.value_count()];
    for id in graph.node_ids() {
        let node = graph.node(id);
        let (value, operands) = (node.first(), graph.operands(id));
        let shape = graph.shape(value);
        let with_rows = |operand: &Value| has_rows[operand.index()];
        let goes_on = match node.kind.dependence() {
            Dependence::None => {
                matches!(node.kind, NodeKind::Param(..)) && shape.rank() == rank && is_long(shape, rows)
            }
            _ if matches!(node.kind, NodeKind::Call(_)) => return None,
            _ if !operands.iter().any(with_rows) => false,
            Dependence::Element => {
                let meets = |operand: &Value| {
                    let own = graph.shape(*operand);
                    match with_rows(operand) {
                        true => own.rank() == shape.rank(),
                        false => own.rank() < shape.rank() || own.extents().first() == Some(&1),
                    }
                };
                // Only operands of ops broadcast.
                (node.kind.op().is_none() || operands.iter().all(meets)).then_some(true)?
            }
            Dependence::Axes(axes) => {
                let fits = match node.kind {
                    // A matrix product of fewer rows may have another order. The correction of a variance must have no rows.
                    NodeKind::Reduce(reduce) => !reduce.contracts && !operands.iter().skip(1).any(with_rows),
                    _ => operands.iter().all(with_rows),
                };
                (fits && !axes.contains(0)).then_some(true)?
            }
            Dependence::Other => match node.kind {
                NodeKind::View(view) => keeps_rows(graph.view_of(view)).then_some(true)?,
                // Elements keep their order, so rows of as many elements stay together.
                NodeKind::Reshape => is_long(shape, rows).then_some(true)?,
                // Rows of a gathered array are other rows, and indices may be.
                _ => return None,
            },
        };
        if goes_on && !is_long(shape, rows) {
            return None;
        }
        has_rows[value.index()] = goes_on;
    }
    graph.outputs().iter().all(|output| has_rows[output.index()]).then_some((rows, has_rows))
}

/// Returns `true` if a shape has this number of rows.
fn is_long(shape: &Shape, rows: usize) -> bool {
    shape.extents().first() == Some(&rows)
}

/// Returns `true` if row `n` of a view is of row `n` of its operand, for any number of rows.
fn keeps_rows(view: &View) -> bool {
    let Some((first, others)) = view.axes.split_first() else { return false };
    let depends = |index: &AxisIndex| index.terms.iter().any(|term| term.axis == 0);
    *first == AxisIndex::along(0, 0, 1) && !others.iter().any(depends)
}
