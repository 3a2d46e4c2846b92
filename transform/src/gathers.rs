//! Gathers: rows of a computed value are computed from the rows of its operands, if they have no more elements than the
//! whole. The whole is then computed only for its other uses, and not stored for the gather: the log-probabilities of
//! labels are a few numbers, not a matrix.

use crate::views::see;
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Rewriter, Value};
use ndjit_ir::view::{Slice, View, broadcast_to, slice};
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape};
use rustc_hash::FxHashSet;

/// The maximum number, and nesting, of operations computed for one gather.
const MAX_OPERATIONS: usize = 32;

/// Moves gathers before elementwise operations. `None` if there are none to move.
///
/// # Errors
/// `Shape` if the graph is not valid.
pub fn gathers(graph: &Graph<DType>) -> Result<Option<Graph<DType>>> {
    if !graph.node_ids().any(|id| graph.node(id).kind == NodeKind::Gather) {
        return Ok(None);
    }
    let stored = stored(graph);
    let found: FxHashSet<NodeId> = graph.node_ids().filter(|&id| is_computed(graph, id, &stored)).collect();
    if found.is_empty() {
        return Ok(None);
    }
    let (mut out, mut notes) = (Graph::like(graph), ());
    let mut rewriter = Rewriter::new((graph, &()), (&mut out, &mut notes));
    for id in graph.node_ids() {
        rewriter.begin(id);
        if !found.contains(&id) {
            rewriter.copy(id);
            continue;
        }
        let (value, operands) = (graph.node(id).first(), graph.operands(id));
        let index = rewriter.value(operands[1]);
        let mut rows = GatheredRows { rewriter: &mut rewriter, whole: graph.shape(operands[0]), index };
        let made = rows.of(operands[0], None)?;
        let shape = graph.shape(value);
        let made = match rewriter.new.shape(made) == shape {
            true => made,
            // All rows are equal.
            false => {
                let (view, shape) = broadcast_to(rewriter.new.shape(made), shape)?;
                rewriter.new.view(made, view, &shape)
            }
        };
        rewriter.set(id, made);
    }
    rewriter.finish();
    Ok(Some(out))
}

/// Returns the values stored because an operation other than a gather reads them from memory.
fn stored(graph: &Graph<DType>) -> Vec<bool> {
    let mut stored = vec![false; graph.value_count()];
    graph.outputs().iter().for_each(|&output| stored[output.index()] = true);
    for id in graph.node_ids().rev() {
        let operands = graph.operands(id);
        let in_memory = match graph.node(id).kind {
            NodeKind::Sort(..) | NodeKind::Control(..) => operands,
            NodeKind::Scatter(_) | NodeKind::Insert(_) => &operands[..1],
            kind if kind.row().is_view && stored[graph.node(id).first().index()] => operands,
            _ => &[],
        };
        in_memory.iter().for_each(|operand| stored[operand.index()] = true);
    }
    stored
}

/// Returns `true` if a node gathers rows of a value computed only for that, and the rows have no more elements.
fn is_computed(graph: &Graph<DType>, id: NodeId, stored: &[bool]) -> bool {
    if graph.node(id).kind != NodeKind::Gather {
        return false;
    }
    let size = |value: Value| graph.shape(value).size().unwrap_or(usize::MAX);
    let from = graph.operands(id)[0];
    // An extent of 1 broadcasts: such an operand may or may not have the gathered row.
    let rows = graph.shape(from).extents().first().copied().unwrap_or(0);
    if rows < 2 || size(graph.node(id).first()) > size(from) {
        return false;
    }
    let (mut open, mut seen, mut operations) = (vec![from], FxHashSet::default(), 0);
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        let own = graph.producer(value);
        match graph.node(own).kind {
            NodeKind::Op(..) | NodeKind::Cast(_) if graph.shape(value).rank() > 0 => {
                operations += 1;
                if operations > MAX_OPERATIONS || stored[value.index()] {
                    return false;
                }
                open.extend(graph.operands(own));
            }
            NodeKind::View(_) => open.extend(graph.operands(own)),
            // Iotas have no memory now; gathering them would store them.
            NodeKind::Iota(_) => return false,
            _ => {}
        }
    }
    operations > 0
}

/// Computes rows of an array of this shape.
struct GatheredRows<'a, 'g> {
    rewriter: &'a mut Rewriter<'g, DType>,
    whole: &'g Shape,
    index: Value,
}

impl GatheredRows<'_, '_> {
    /// Computes the rows of a value that broadcasts to the whole, seen through a view. The number of operations bounds
    /// the recursion.
    fn of(&mut self, value: Value, seen: Option<(View, Shape)>) -> Result<Value> {
        let graph = self.rewriter.old;
        let (id, own) = (graph.producer(value), graph.shape(value));
        match graph.node(id).kind {
            NodeKind::View(inner) => {
                let inner = graph.view_of(inner);
                let through = match seen {
                    None => (inner.clone(), own.clone()),
                    Some((view, shape)) => (view.of(inner).canonical(&shape), shape),
                };
                self.of(graph.operands(id)[0], Some(through))
            }
            kind @ (NodeKind::Op(..) | NodeKind::Cast(_)) if own.rank() > 0 => {
                let (mut operands, mut shape) = (Vec::new(), Shape::from(&[][..]));
                for &operand in graph.operands(id) {
                    let through = match &seen {
                        Some((view, to)) if graph.shape(operand).rank() > 0 => {
                            let (wide, _) = broadcast_to(graph.shape(operand), own)?;
                            Some((view.of(&wide).canonical(to), to.clone()))
                        }
                        _ => None,
                    };
                    let made = self.of(operand, through)?;
                    let both = shape.broadcast(self.rewriter.new.shape(made));
                    shape = both.ok_or_else(|| Error::new(ErrorCode::Shape, "gathers: rows that do not fit"))?;
                    operands.push(made);
                }
                let out = &mut *self.rewriter.new;
                let (shape, gather) = (out.intern(&shape), out.making());
                out.make_from(graph.origins(id));
                let made = out.add(kind, &operands, &[(graph.ty(value), shape)]);
                out.make_from(&gather);
                Ok(made)
            }
            _ => self.read(value, seen),
        }
    }

    /// Gathers the rows of a value from memory.
    fn read(&mut self, value: Value, seen: Option<(View, Shape)>) -> Result<Value> {
        let own = self.rewriter.value(value);
        let (view, shape) = match seen {
            Some(seen) => seen,
            None => {
                let shape = self.rewriter.old.shape(value).clone();
                (slice(&shape, &vec![Slice::ALL; shape.rank()])?.0, shape)
            }
        };
        if shape.rank() < self.whole.rank() {
            return Ok(self.rewriter.new.view(own, view, &shape));
        }
        let has_rows = shape.extents()[0] == self.whole.extents()[0]
            && view.axes.iter().any(|axis| axis.terms.iter().any(|term| term.axis == 0));
        if !has_rows {
            let mut parts = vec![Slice::ALL; shape.rank()];
            parts[0] = Slice::Index(0);
            let (first, one) = slice(&shape, &parts)?;
            return Ok(see(self.rewriter.new, own, &first.of(&view).canonical(&one), &one));
        }
        let from = see(self.rewriter.new, own, &view, &shape);
        let out = &mut *self.rewriter.new;
        let row = Shape::from(&shape.extents()[1..]);
        let all = row.broadcast(out.shape(self.index));
        let all = all.ok_or_else(|| Error::new(ErrorCode::Shape, "gathers: an index that does not fit"))?;
        let all = out.intern(&all);
        Ok(out.add(NodeKind::Gather, &[from, self.index], &[(out.ty(from), all)]))
    }
}
