//! Windows: reductions of short sliding windows, of few elements, and of one element, become ops on the array, one view per index of the
//! window. A moving average of seven elements reads seven contiguous views, and is one kernel with its users; so is the distance of
//! points in space.
//!
//! Elements combine in the order of [`fold`]. A window's extents are constants of the program, so programs for arrays of other sizes
//! still share kernels. An array's own extent is one only up to [`FEW`].

use crate::views::see;
use ndjit_ir::graph::{Graph, NodeKind, Rewriter, Value};
use ndjit_ir::reduction::{AxisSet, LANES, Reduce, fold};
use ndjit_ir::view::{Slice, View, slice};
use ndjit_ir::{DType, Op, Result, Shape};
use ndjit_math::shared_body;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum number of primitives of a window, over all its elements.
const MAX_WEIGHT: usize = 200;

/// The maximum number of elements of a reduction that does not slide. As ops, sums of 8 `f32` of a row took 0.3 ns an element instead of
/// 0.7, of 2 elements 0.12 instead of 0.55; columns 0.1 instead of 0.35. Sums of 16 took longer.
const FEW: usize = 8;

/// The maximum number of primitives of such an element, which a strided loop computes.
const MAX_FEW_WEIGHT: usize = 8;

/// The minimum number of such reductions: a kernel of a few rows is not worth another one for each extent.
const LEAST_ROWS: usize = 16;

/// Replaces reductions of windows. `None` if there are none.
///
/// # Errors
/// `Shape` if the graph is not valid.
pub fn windows(graph: &Graph<DType>) -> Result<Option<Graph<DType>>> {
    let found: FxHashMap<Value, (AxisSet, Op)> = graph
        .node_ids()
        .filter_map(|id| Some((graph.node(id).first(), window(graph, graph.node(id).first())?)))
        .collect();
    if found.is_empty() {
        return Ok(None);
    }
    let (mut out, mut notes) = (Graph::like(graph), ());
    let mut rewriter = Rewriter::new((graph, &()), (&mut out, &mut notes));
    for id in graph.node_ids() {
        rewriter.begin(id);
        match found.get(&graph.node(id).first()) {
            Some(&(axes, op)) => {
                let value = combined(&mut rewriter, graph.operands(id)[0], axes, op)?;
                rewriter.set(id, value);
            }
            None => {
                rewriter.copy(id);
            }
        }
    }
    rewriter.finish();
    Ok(Some(out))
}

/// Returns the axes and the op of a reduction of short windows.
fn window(graph: &Graph<DType>, value: Value) -> Option<(AxisSet, Op)> {
    let id = graph.producer(value);
    let NodeKind::Reduce(Reduce { reduction, axes, keepdims: false, contracts, .. }) = graph.node(id).kind else {
        return None;
    };
    let operand = graph.operands(id)[0];
    let count = axes.count(graph.shape(operand));
    if !(1..=LANES).contains(&count) {
        return None;
    }
    let op = reduction.combine()?;
    if count == 1 {
        // One element is its own sum.
        return Some((axes, op));
    }
    let ElementsRead { weight, slides } = ElementsRead::of(graph, operand, axes, MAX_WEIGHT / count);
    let is_few = || count <= FEW && !contracts && graph.shape(value).size().is_ok_and(|rows| rows >= LEAST_ROWS);
    let most = match slides {
        true => MAX_WEIGHT / count,
        false if is_few() => MAX_FEW_WEIGHT,
        false => return None,
    };
    (weight <= most).then_some((axes, op))
}

/// The cost of computing an array's elements.
pub(crate) struct ElementsRead {
    /// The number of primitives from stored or viewed values on; more than the bound if there are many.
    pub weight: usize,
    /// True if windows slide along the axes over a value.
    pub slides: bool,
}

impl ElementsRead {
    /// Computes the cost of an array's elements, up to a bound of `most`.
    pub(crate) fn of(graph: &Graph<DType>, array: Value, axes: AxisSet, most: usize) -> ElementsRead {
        let mut read = ElementsRead { weight: 0, slides: false };
        let mut seen = FxHashSet::default();
        let mut open = vec![array];
        while let Some(value) = open.pop() {
            let id = graph.producer(value);
            if read.weight > most || !seen.insert(value) {
                continue;
            }
            match graph.node(id).kind {
                NodeKind::Op(op, _) => read.weight += shared_body(op, graph.compute_dtype(id, op)).insts.len(),
                NodeKind::Cast(_) => read.weight += 4,
                NodeKind::View(view) => {
                    let ranks = (graph.shape(array).rank(), graph.shape(value).rank());
                    read.slides |= slides_along(graph.view_of(view), axes, ranks.0 - ranks.1);
                    continue;
                }
                _ => continue,
            }
            open.extend(graph.operands(id));
        }
        read
    }
}

/// Returns `true` if an axis of the operand is indexed along one of the axes and along another. The view has `fewer`
/// axes than the reduction.
fn slides_along(view: &View, axes: AxisSet, fewer: usize) -> bool {
    view.axes.iter().any(|index| {
        let reduced = index.terms.iter().filter(|term| axes.contains(term.axis as usize + fewer)).count();
        reduced > 0 && reduced < index.terms.len()
    })
}

/// Combines the elements of each window.
fn combined(rewriter: &mut Rewriter<'_, DType>, operand: Value, axes: AxisSet, op: Op) -> Result<Value> {
    let shape = rewriter.old.shape(operand);
    let count = axes.count(shape);
    let mut elements = Vec::new();
    for position in 0..count {
        let mut element = WindowElement::new(shape, axes, position);
        elements.push(if count == 1 { element.seen(rewriter, operand)? } else { element.of(rewriter, operand)? });
    }
    let out = &mut *rewriter.new;
    let result = (out.ty(elements[0]), out.shape_id(elements[0]));
    let combine = |a, b| out.add(NodeKind::Op(op, ()), &[a, b], &[result]);
    let first = elements[0];
    Ok(fold(elements.len(), |n| elements[n], combine).unwrap_or(first))
}

/// One element of each window.
pub(crate) struct WindowElement {
    /// Its indices along the reduced axes.
    at: Vec<Option<usize>>,
    made: FxHashMap<Value, Value>,
    /// True if a view of a view is composed.
    through: bool,
}

impl WindowElement {
    /// Creates the element at an index, in row-major order, along the axes of an array of this shape.
    pub(crate) fn new(shape: &Shape, axes: AxisSet, position: usize) -> WindowElement {
        let mut left = position;
        let mut at = vec![None; shape.rank()];
        for axis in (0..shape.rank()).rev().filter(|&axis| axes.contains(axis)) {
            at[axis] = Some(left % shape.extents()[axis]);
            left /= shape.extents()[axis];
        }
        WindowElement { at, made: FxHashMap::default(), through: false }
    }

    /// Composes views with views. Their operands then have many forms, and are computed once for all windows.
    pub(crate) fn through_views(self) -> WindowElement {
        WindowElement { through: true, ..self }
    }

    /// Computes the element of a value of the reduced shape or one that broadcasts to it. Callers count the ops first.
    pub(crate) fn of(&mut self, rewriter: &mut Rewriter<'_, DType>, operand: Value) -> Result<Value> {
        let graph = rewriter.old;
        let mut open = vec![(operand, false)];
        while let Some((value, ready)) = open.pop() {
            if self.made.contains_key(&value) {
                continue;
            }
            let id = graph.producer(value);
            let made = match graph.node(id).kind {
                NodeKind::Literal(_) => rewriter.value(value),
                kind @ (NodeKind::Op(..) | NodeKind::Cast(_)) if graph.shape(value).rank() > 0 => {
                    if !ready {
                        open.push((value, true));
                        open.extend(graph.operands(id).iter().map(|&operand| (operand, false)));
                        continue;
                    }
                    let operands: Vec<Value> = graph.operands(id).iter().map(|o| self.made[o]).collect();
                    let (_, shape) = slice(graph.shape(value), &self.parts(graph.shape(value)))?;
                    let out = &mut *rewriter.new;
                    let (shape, reduction) = (out.intern(&shape), out.making());
                    out.make_from(graph.origins(id));
                    let made = out.add(kind, &operands, &[(graph.ty(value), shape)]);
                    out.make_from(&reduction);
                    made
                }
                _ => self.seen(rewriter, value)?,
            };
            self.made.insert(value, made);
        }
        Ok(self.made[&operand])
    }

    /// Returns the element of a value as a view.
    pub(crate) fn seen(&mut self, rewriter: &mut Rewriter<'_, DType>, value: Value) -> Result<Value> {
        let shape = rewriter.old.shape(value);
        let (view, shape) = slice(shape, &self.parts(shape))?;
        let own = rewriter.value(value);
        Ok(match self.through {
            true => see(rewriter.new, own, &view, &shape),
            false => rewriter.new.view(own, view, &shape),
        })
    }

    /// Returns the slice of an array that broadcasts to the reduced shape.
    fn parts(&self, shape: &Shape) -> Vec<Slice> {
        let fewer = self.at.len() - shape.rank();
        let axes = shape.extents().iter().zip(&self.at[fewer..]);
        axes.map(|(&extent, at)| match at {
            Some(at) => Slice::Index((*at).min(extent - 1) as isize),
            None => Slice::ALL,
        })
        .collect()
    }
}
