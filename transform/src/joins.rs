//! Joins: computations on joined arrays become joins of computations on the parts. `f(concat(a, b))` is
//! `concat(f(a), f(b))`, so an op on a rolled, padded or stacked array reads the original array: each part is a loop of
//! its own over a box of the result, and the joined array is not stored.
//!
//! One walk finds the cuts of each op's operands along each axis; these *cuts* divide its result into boxes. An op
//! needed as an array is divided together with its operands, each computed once for each box. A join needed as an array
//! for another reason is read as one.

use ndjit_ir::graph::{Graph, NodeId, NodeKind, Rewriter, Value};
use ndjit_ir::view::{AxisIndex, View};
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// The maximum number of boxes of a result: three along each of three axes.
const MAX_BOXES: usize = 27;
/// The maximum number of nodes computed for each box.
const MAX_NODES: usize = 96;
/// The maximum number of rounds that refuse divisions, after which nothing is divided: time is linear in the graph.
const MAX_ROUNDS: usize = 64;
/// The maximum growth of the graph in nodes, as a factor, if it is not small.
const MAX_GROWTH: usize = 8;
/// The number of nodes by which a small graph may grow.
const SMALL: usize = 4096;

/// Along each axis the indices at which parts begin, in order.
type Cuts = SmallVec<[SmallVec<[usize; 2]>; 4]>;

/// A box: along each axis the first index and the extent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct JoinBox {
    starts: SmallVec<[usize; 4]>,
    shape: Shape,
}

impl JoinBox {
    /// Returns the part of an array of shape `own` that is broadcast to the box of an array of shape `wide`.
    fn of(&self, own: &Shape, wide: &Shape) -> JoinBox {
        let fewer = self.starts.len() - own.rank();
        let (mut starts, mut extents) = (SmallVec::new(), Vec::new());
        for (axis, &extent) in own.extents().iter().enumerate() {
            let whole = extent != wide.extents()[axis + fewer];
            starts.push(if whole { 0 } else { self.starts[axis + fewer] });
            extents.push(if whole { extent } else { self.shape.extents()[axis + fewer] });
        }
        JoinBox { starts, shape: Shape::from(extents) }
    }
}

/// Divides computations on joins. `None` if there are none.
///
/// # Errors
/// `Verify` if the graph is not valid.
pub fn joins(graph: &Graph<DType>) -> Result<Option<Graph<DType>>> {
    if !graph.node_ids().any(|id| is_join(graph, id)) {
        return Ok(None);
    }
    let Some(plan) = Division::of(graph) else { return Ok(None) };
    let (mut out, mut notes) = (Graph::like(graph), ());
    let rewriter = Rewriter::new((graph, &()), (&mut out, &mut notes));
    let mut dividing = Dividing { plan: &plan, rewriter, parts: FxHashMap::default() };
    for id in graph.node_ids() {
        let is_param = matches!(graph.node(id).kind, NodeKind::Param(..));
        if !is_param && !graph.node(id).results().any(|value| plan.used[value.index()]) {
            continue;
        }
        dividing.rewriter.begin(id);
        let value = graph.node(id).first();
        let (boxed, whole) = (plan.is_boxed(graph, id), plan.whole[value.index()]);
        match &plan.cuts[value.index()] {
            // Computed where a box of it is read, if any.
            _ if boxed && !whole => {}
            Some(cuts) if boxed => {
                let joined = dividing.joined(value, cuts)?;
                dividing.rewriter.set(id, joined);
            }
            _ => {
                dividing.rewriter.copy(id);
            }
        }
    }
    dividing.rewriter.finish();
    Ok(Some(out))
}

fn is_elementwise(graph: &Graph<DType>, id: NodeId) -> bool {
    matches!(graph.node(id).kind, NodeKind::Op(..) | NodeKind::Cast(_))
}

fn is_join(graph: &Graph<DType>, id: NodeId) -> bool {
    matches!(graph.node(id).kind, NodeKind::Concat(..))
}

/// Returns the operand of a view, if it is a join.
fn viewed(graph: &Graph<DType>, view: NodeId) -> Option<Value> {
    let operand = graph.operands(view)[0];
    is_join(graph, graph.producer(operand)).then_some(operand)
}

/// The divided values, and their cuts.
struct Division {
    /// The cuts of each value: ops, joins and views of joins. `None` for others, and for unchanged values.
    cuts: Vec<Option<Cuts>>,
    /// True for values needed as arrays.
    whole: Vec<bool>,
    /// True for values needed at all.
    used: Vec<bool>,
}

impl Division {
    /// Computes the division; `None` if nothing is divided. Each round removes refused values, until nothing changes.
    fn of(graph: &Graph<DType>) -> Option<Division> {
        let mut refused = vec![false; graph.value_count()];
        for id in graph.node_ids() {
            // The operands of these are computed in their kernels.
            if matches!(graph.node(id).kind, NodeKind::Reduce(_) | NodeKind::Scan(..) | NodeKind::Sort(..)) {
                refused[graph.operands(id)[0].index()] = true;
            }
        }
        for _ in 0..MAX_ROUNDS {
            let plan = Division::without(graph, &refused);
            let mut changed = plan.refuse_large(graph, &mut refused);
            for id in graph.node_ids().filter(|&id| is_join(graph, id)) {
                let index = graph.node(id).first().index();
                // A join that is an array anyway is read as one.
                let stored = plan.cuts[index].is_some() && plan.whole[index];
                changed |= stored && !std::mem::replace(&mut refused[index], true);
            }
            if !changed {
                let divided = |id| is_elementwise(graph, id) && plan.cuts[graph.node(id).first().index()].is_some();
                return graph.node_ids().any(divided).then_some(plan);
            }
        }
        None
    }

    /// Returns the division without these values.
    fn without(graph: &Graph<DType>, refused: &[bool]) -> Division {
        let values = graph.value_count();
        let mut plan = Division { cuts: vec![None; values], whole: vec![false; values], used: vec![false; values] };
        for id in graph.node_ids() {
            let value = graph.node(id).first();
            if !refused[value.index()] {
                plan.cuts[value.index()] = plan.cut(graph, id);
            }
        }
        plan.want(graph);
        plan
    }

    /// Computes the cuts of a node's result from those of its operands.
    fn cut(&self, graph: &Graph<DType>, id: NodeId) -> Option<Cuts> {
        let shape = graph.shape(graph.node(id).first());
        if shape.rank() == 0 || shape.extents().contains(&0) {
            return None;
        }
        let mut cuts: Cuts = smallvec![SmallVec::new(); shape.rank()];
        let mut is_cut = false;
        match graph.node(id).kind {
            NodeKind::Op(..) | NodeKind::Cast(_) => {
                for &operand in graph.operands(id) {
                    let Some(own) = &self.cuts[operand.index()] else { continue };
                    is_cut = true;
                    let fewer = shape.rank() - own.len();
                    own.iter().enumerate().for_each(|(axis, own)| cuts[axis + fewer].extend_from_slice(own));
                }
            }
            NodeKind::Concat(along, ()) => {
                is_cut = true;
                let (along, mut start) = (along as usize, 0);
                for &operand in graph.operands(id) {
                    for (axis, own) in self.cuts[operand.index()].iter().flatten().enumerate() {
                        let offset = if axis == along { start } else { 0 };
                        cuts[axis].extend(own.iter().map(|at| at + offset));
                    }
                    start += graph.shape(operand).extents()[along];
                    cuts[along].push(start);
                    if cuts[along].len() > 2 * MAX_BOXES {
                        return None;
                    }
                }
            }
            NodeKind::View(view) => {
                let own = self.cuts[graph.operands(id)[0].index()].as_ref().filter(|_| viewed(graph, id).is_some())?;
                is_cut = true;
                for (index, own) in graph.view_of(view).axes.iter().zip(own) {
                    match index.terms[..] {
                        [] => {}
                        _ if own.is_empty() => {}
                        [term] => {
                            cuts[term.axis as usize].extend(own.iter().map(|&at| first_behind(index, term.step, at)))
                        }
                        _ => return None,
                    }
                }
            }
            _ => {}
        }
        let mut boxes = 1usize;
        for (own, &extent) in cuts.iter_mut().zip(shape.extents()) {
            own.retain(|at| (1..extent).contains(at));
            own.sort_unstable();
            own.dedup();
            boxes = boxes.saturating_mul(own.len() + 1);
        }
        (is_cut && boxes <= MAX_BOXES).then_some(cuts)
    }

    /// Finds the values needed as arrays.
    fn want(&mut self, graph: &Graph<DType>) {
        let mut seen = vec![false; graph.value_count()];
        for output in graph.outputs() {
            (self.whole[output.index()], self.used[output.index()]) = (true, true);
        }
        for id in graph.node_ids().rev() {
            let results = graph.node(id).results();
            if !results.into_iter().any(|value| self.used[value.index()]) {
                continue;
            }
            let value = graph.node(id).first();
            let boxed = self.is_boxed(graph, id);
            for &operand in graph.operands(id) {
                let from = graph.producer(operand);
                let read_through = match graph.node(id).kind {
                    NodeKind::Op(..) | NodeKind::Cast(_) => boxed,
                    NodeKind::View(_) => boxed && self.cuts[value.index()].is_some(),
                    // Values behind views of a join are not computed for each view.
                    _ => boxed && (!seen[value.index()] || !is_elementwise(graph, from)),
                };
                let index = operand.index();
                self.used[index] = true;
                self.whole[index] |= !read_through;
                seen[index] |=
                    matches!(graph.node(id).kind, NodeKind::View(_)) || is_join(graph, id) && seen[value.index()];
            }
        }
    }

    /// Returns `true` if a node is computed box by box: a cut op, or one that only such ops use; a join, or a view of
    /// one, that is not an array.
    fn is_boxed(&self, graph: &Graph<DType>, id: NodeId) -> bool {
        let index = graph.node(id).first().index();
        match graph.node(id).kind {
            NodeKind::Op(..) | NodeKind::Cast(_) => self.cuts[index].is_some() || !self.whole[index],
            NodeKind::Concat(..) | NodeKind::View(_) => self.cuts[index].is_some() && !self.whole[index],
            _ => false,
        }
    }

    /// Refuses results that need too many nodes. Returns `true` if there are any.
    fn refuse_large(&self, graph: &Graph<DType>, refused: &mut [bool]) -> bool {
        let mut left = SMALL.max(graph.node_count().saturating_mul(MAX_GROWTH));
        let mut changed = false;
        for id in graph.node_ids().filter(|&id| is_elementwise(graph, id)) {
            let value = graph.node(id).first();
            let Some(cuts) = self.cuts[value.index()].as_ref().filter(|_| self.whole[value.index()]) else { continue };
            let boxes: usize = cuts.iter().map(|own| own.len() + 1).product();
            let nodes = self.nodes(graph, id).saturating_mul(boxes);
            if nodes > MAX_NODES * boxes || nodes > left {
                changed |= !std::mem::replace(&mut refused[value.index()], true);
            } else {
                left -= nodes;
            }
        }
        changed
    }

    /// Returns the number of nodes computed for each box. The count stops above [`MAX_NODES`].
    fn nodes(&self, graph: &Graph<DType>, id: NodeId) -> usize {
        let (mut known, mut open) = (FxHashSet::default(), vec![id]);
        while let Some(id) = open.pop() {
            if known.len() <= MAX_NODES && self.is_boxed(graph, id) && known.insert(id) {
                open.extend(graph.operands(id).iter().map(|&operand| graph.producer(operand)));
            }
        }
        known.len()
    }
}

/// Returns the first index of a view from which on the operand's index is on the other side of `at`.
fn first_behind(index: &AxisIndex, step: isize, at: usize) -> usize {
    let (start, at, size) = (index.start as i128, at as i128, step.unsigned_abs() as i128);
    let behind = if step > 0 { (at - start + size - 1).div_euclid(size) } else { (start - at).div_euclid(size) + 1 };
    usize::try_from(behind).unwrap_or(0)
}

/// A graph being divided.
struct Dividing<'a> {
    plan: &'a Division,
    rewriter: Rewriter<'a, DType>,
    parts: FxHashMap<(Value, JoinBox), Value>,
}

impl Dividing<'_> {
    /// Computes an op's result box by box, and joins the boxes.
    fn joined(&mut self, value: Value, cuts: &Cuts) -> Result<Value> {
        let shape = self.rewriter.old.shape(value).clone();
        // The boxes in row-major order; the last axis is joined first.
        let mut parts: Vec<JoinBox> = vec![JoinBox { starts: SmallVec::new(), shape: Shape::scalar() }];
        for (own, &extent) in cuts.iter().zip(shape.extents()) {
            let starts: SmallVec<[usize; 4]> = std::iter::once(0).chain(own.iter().copied()).collect();
            let ends = own.iter().copied().chain([extent]);
            let ranges: Vec<(usize, usize)> = starts.into_iter().zip(ends).collect();
            let longer = |part: &JoinBox| {
                let part = part.clone();
                ranges.clone().into_iter().map(move |(start, end)| {
                    let mut longer = part.clone();
                    longer.starts.push(start);
                    longer.shape = Shape::from([part.shape.extents(), &[end - start]].concat());
                    longer
                })
            };
            parts = parts.iter().flat_map(longer).collect();
        }
        let mut made: Vec<Value> = parts.iter().map(|part| self.part(value, part)).collect::<Result<_>>()?;
        for (axis, own) in cuts.iter().enumerate().rev().filter(|(_, own)| !own.is_empty()) {
            let out = &mut *self.rewriter.new;
            let join = |parts: &[Value]| {
                let mut extents = out.shape(parts[0]).extents().to_vec();
                extents[axis] = shape.extents()[axis];
                let result = (out.ty(parts[0]), out.intern(&Shape::from(extents)));
                out.add(NodeKind::Concat(axis as u32, ()), parts, &[result])
            };
            made = made.chunks(own.len() + 1).map(join).collect();
        }
        Ok(made[0])
    }

    /// Computes a box of a value. The number of nodes of a box bounds the recursion.
    fn part(&mut self, value: Value, part: &JoinBox) -> Result<Value> {
        if let Some(&made) = self.parts.get(&(value, part.clone())) {
            return Ok(made);
        }
        let graph = self.rewriter.old;
        let id = graph.producer(value);
        let made = match graph.node(id).kind {
            NodeKind::Literal(_) => self.rewriter.value(value),
            kind @ (NodeKind::Op(..) | NodeKind::Cast(_)) if self.plan.is_boxed(graph, id) => {
                let mut operands: SmallVec<[Value; 3]> = SmallVec::new();
                for &operand in graph.operands(id) {
                    operands.push(self.part(operand, &part.of(graph.shape(operand), graph.shape(value)))?);
                }
                let out = &mut *self.rewriter.new;
                let (shape, making) = (out.intern(&part.shape), out.making());
                out.make_from(graph.origins(id));
                let made = out.add(kind, &operands, &[(graph.ty(value), shape)]);
                out.make_from(&making);
                made
            }
            NodeKind::Concat(axis, ()) if self.plan.is_boxed(graph, id) => {
                let (n, offset) = holding(graph, id, axis as usize, part.starts[axis as usize])?;
                let mut inner = part.clone();
                inner.starts[axis as usize] -= offset;
                self.part(graph.operands(id)[n], &inner)?
            }
            _ => self.seen(value, View::placing(&part.starts, &part.shape), &part.shape)?,
        };
        self.parts.insert((value, part.clone()), made);
        Ok(made)
    }

    /// Returns a value through a view. For a join it is the operand that contains the view.
    fn seen(&mut self, mut value: Value, mut view: View, shape: &Shape) -> Result<Value> {
        let graph = self.rewriter.old;
        loop {
            let id = graph.producer(value);
            match graph.node(id).kind {
                NodeKind::Concat(axis, ()) if self.plan.is_boxed(graph, id) => {
                    let start = &mut view.axes[axis as usize].start;
                    let (n, offset) = holding(graph, id, axis as usize, start.unsigned_abs())?;
                    *start -= offset as isize;
                    value = graph.operands(id)[n];
                }
                NodeKind::View(inner) if self.plan.is_boxed(graph, id) => {
                    view = view.of(graph.view_of(inner)).canonical(shape);
                    value = graph.operands(id)[0];
                }
                _ => break,
            }
        }
        let (own, out) = (self.rewriter.value(value), &mut *self.rewriter.new);
        let id = out.producer(own);
        let (operand, view) = match out.node(id).kind {
            NodeKind::View(inner) => (out.operands(id)[0], view.of(out.view_of(inner)).canonical(shape)),
            _ => (own, view),
        };
        let is_whole = view.is_identity(out.shape(operand), shape);
        Ok(if is_whole { operand } else { out.view(operand, view, shape) })
    }
}

/// Returns the operand of a join that contains an index, and the operand's start.
fn holding(graph: &Graph<DType>, join: NodeId, axis: usize, index: usize) -> Result<(usize, usize)> {
    let mut start = 0;
    for (n, &operand) in graph.operands(join).iter().enumerate() {
        let end = start + graph.shape(operand).extents()[axis];
        if (start..end).contains(&index) {
            return Ok((n, start));
        }
        start = end;
    }
    Err(Error::new(ErrorCode::Verify, format!("joins: index {index} of {}", graph.display_node(join))))
}
