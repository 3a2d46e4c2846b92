//! Starts: slices and insertions from indices known at run time become views, gathers and scatters. Transformations that have no rule of
//! their own for a start compute the same positions.

use crate::append::{Appender, SlopeTerm};
use ndjit_ir::graph::{Graph, NodeKind, Rewriter, Scatter, Slot, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::reduction::AxisSet;
use ndjit_ir::view::View;
use ndjit_ir::{DType, Error, ErrorCode, Op, Result, Shape};

/// A graph that takes operations on integers.
trait PositionOps {
    /// A value of the graph.
    type Term: Copy;

    /// Adds a literal.
    fn number(&mut self, n: isize) -> Self::Term;

    /// Adds indices along an axis.
    fn iota(&mut self, axis: usize, shape: &Shape) -> Self::Term;

    /// Adds an op.
    fn op(&mut self, op: Op, operands: &[Self::Term]) -> Self::Term;
}

/// Computes the row-major indices in the operand, of this shape, at which updates of that shape are inserted; -1 if a start is out of
/// bounds. It has the shape of the updates, broadcast with the starts.
fn positions<I: PositionOps>(
    to: &mut I,
    view: &View,
    [operand, updates]: [&Shape; 2],
    starts: &[I::Term],
) -> Result<I::Term> {
    let found = view.starts(operand, updates, starts.len());
    let found = found.ok_or_else(|| Error::new(ErrorCode::Verify, "an insertion out of bounds"))?;
    let layout = view.layout(&Layout { offset: 0, strides: operand.contiguous_strides() });
    let (of_starts, strides) = layout.strides.split_at(starts.len());
    let mut at = to.number(isize::try_from(layout.offset).unwrap_or(isize::MAX));
    let mut add = |to: &mut I, index: I::Term, stride: isize| {
        let stride = to.number(stride);
        let moved = to.op(Op::Multiply, &[index, stride]);
        at = to.op(Op::Add, &[at, moved]);
    };
    for (axis, (&extent, &stride)) in updates.extents().iter().zip(strides).enumerate() {
        // One axis at least gives the rank.
        if extent != 1 || axis == 0 {
            let mut extents = vec![1; updates.rank()];
            extents[axis] = extent;
            let index = to.iota(axis, &Shape::from(extents));
            add(to, index, stride);
        }
    }
    starts.iter().zip(of_starts).for_each(|(&start, &stride)| add(to, start, stride));
    for (&start, of) in starts.iter().zip(&found) {
        let (zero, count, nowhere) = (to.number(0), to.number(of.count as isize), to.number(-1));
        let ends = [to.op(Op::GreaterEqual, &[start, zero]), to.op(Op::Less, &[start, count])];
        let inside = to.op(Op::LogicalAnd, &ends);
        at = to.op(Op::Where, &[inside, at, nowhere]);
    }
    Ok(at)
}

impl<'a> PositionOps for &'a Appender {
    type Term = SlopeTerm<'a>;

    fn number(&mut self, n: isize) -> SlopeTerm<'a> {
        Appender::number(self, n as f64, DType::I64)
    }

    fn iota(&mut self, axis: usize, shape: &Shape) -> SlopeTerm<'a> {
        Appender::iota(self, axis, shape)
    }

    fn op(&mut self, op: Op, operands: &[SlopeTerm<'a>]) -> SlopeTerm<'a> {
        SlopeTerm::op(op, operands)
    }
}

/// The [positions] in a graph that transformations append to. It records an error.
pub(crate) fn appended_positions<'a>(
    mut to: &'a Appender,
    view: &View,
    shapes: [&Shape; 2],
    starts: &[SlopeTerm<'a>],
) -> SlopeTerm<'a> {
    positions(&mut to, view, shapes, starts).unwrap_or_else(|error| {
        to.fail(error);
        to.number(-1.0, DType::I64)
    })
}

struct TypedPositionOps<'a>(&'a mut Graph<DType>);

impl TypedPositionOps<'_> {
    fn clamped(&mut self, start: Value, count: usize) -> Value {
        let ends = [self.number(0), self.number(count.saturating_sub(1) as isize)];
        self.op(Op::Clip, &[start, ends[0], ends[1]])
    }
}

impl PositionOps for TypedPositionOps<'_> {
    type Term = Value;

    fn number(&mut self, n: isize) -> Value {
        self.0.literal(Slot::Value(Literal::weak(n as i64)), DType::I64)
    }

    fn iota(&mut self, axis: usize, shape: &Shape) -> Value {
        let shape = self.0.intern(shape);
        self.0.add(NodeKind::Iota(AxisSet::one(axis)), &[], &[(DType::I64, shape)])
    }

    fn op(&mut self, op: Op, operands: &[Value]) -> Value {
        let all = operands.iter().map(|&value| self.0.shape(value));
        let shape = all.fold(Shape::scalar(), |shape, own| shape.broadcast(own).unwrap_or(shape));
        let dtype = match op {
            Op::GreaterEqual | Op::Less | Op::LogicalAnd => DType::Bool,
            _ => DType::I64,
        };
        let shape = self.0.intern(&shape);
        self.0.add(NodeKind::Op(op, ()), operands, &[(dtype, shape)])
    }
}

/// Replaces slices from starts, and if the callers of kernels compute no `addresses` insertions. `None` if there are none.
///
/// A slice is a row of the view of all slices: with addresses, it is a view. Where all slices might be computed or stored, single elements are
/// gathered.
///
/// A part of an array inserted into another part of it is a value of its own: the kernel that stores it would copy the whole array first.
///
/// # Errors
/// `Verify` if the graph is not valid.
pub fn starts(graph: &Graph<DType>, addresses: bool) -> Result<Option<Graph<DType>>> {
    let has_starts = |id| match graph.node(id).kind {
        NodeKind::Insert(_) => graph.operands(id).len() > 2,
        kind => matches!(kind, NodeKind::Slice(_)),
    };
    if !graph.node_ids().any(has_starts) {
        return Ok(None);
    }
    let (mut out, mut notes) = (Graph::like(graph), ());
    let mut rewriter = Rewriter::new((graph, &()), (&mut out, &mut notes));
    for id in graph.node_ids() {
        rewriter.begin(id);
        if !has_starts(id) {
            rewriter.copy(id);
            continue;
        }
        let (value, operands) = (graph.node(id).first(), rewriter.operands(id));
        let (shape, of) = (graph.shape(value), graph.operands(id)[0]);
        let flat = Shape::from(graph.shape(of).size()?);
        let out = &mut *rewriter.new;
        let made = match (graph.node(id).kind, &operands[..]) {
            (NodeKind::Slice(view), &[x, ref starts @ ..]) => {
                let view = graph.view_of(view);
                let found = view.starts(graph.shape(of), shape, starts.len());
                let found = found.ok_or_else(|| Error::new(ErrorCode::Verify, "a slice out of bounds"))?;
                let counts = found.iter().map(|start| start.count);
                let extents: Vec<usize> = counts.chain(shape.extents().iter().copied()).collect();
                let slices = Shape::from(&extents[..]).size().unwrap_or(usize::MAX);
                match graph.shape(of).size()? >= slices || addresses && is_in_memory(graph, of) {
                    true => rows_of_slices(out, x, view, (&extents, starts)),
                    false => {
                        let mut to = TypedPositionOps(out);
                        let clamped: Vec<Value> =
                            starts.iter().zip(&found).map(|(&start, of)| to.clamped(start, of.count)).collect();
                        let index = positions(&mut to, view, [graph.shape(of), shape], &clamped)?;
                        let flattened = out.reshape(x, &flat);
                        let result = (graph.ty(of), out.shape_id(index));
                        let taken = out.add(NodeKind::Gather, &[flattened, index], &[result]);
                        out.reshape(taken, shape)
                    }
                }
            }
            (NodeKind::Insert(view), &[x, updates, ref starts @ ..]) if !addresses => {
                let put = graph.shape(graph.operands(id)[1]);
                let index = positions(&mut TypedPositionOps(out), graph.view_of(view), [shape, put], starts)?;
                let flattened = out.reshape(x, &flat);
                let result = (graph.ty(of), out.intern(&flat));
                let made = out.add(NodeKind::Scatter(Scatter::Set), &[flattened, index, updates], &[result]);
                out.reshape(made, shape)
            }
            (kind @ NodeKind::Insert(_), &[x, updates, ref starts @ ..]) => {
                let updates = match base(graph, graph.operands(id)[1]) == base(graph, of) {
                    true => {
                        let result = (out.ty(updates), out.shape_id(updates));
                        out.add(NodeKind::Op(Op::Positive, ()), &[updates], &[result])
                    }
                    false => updates,
                };
                let operands: Vec<Value> = [x, updates].into_iter().chain(starts.iter().copied()).collect();
                let (kind, result) = (graph.kind_in(kind, out), (graph.ty(value), out.intern(shape)));
                out.add(kind, &operands, &[result])
            }
            _ => return Err(Error::new(ErrorCode::Verify, "starts: operands are missing")),
        };
        rewriter.set(id, made);
    }
    rewriter.finish();
    Ok(Some(out))
}

/// Gathers the rows at starts of the view of all slices, which has these extents.
fn rows_of_slices(out: &mut Graph<DType>, x: Value, view: &View, (extents, starts): (&[usize], &[Value])) -> Value {
    let all = Shape::from(extents);
    let mut taken = out.view(x, view.clone().canonical(&all), &all);
    for (n, &start) in starts.iter().enumerate() {
        let result = (out.ty(taken), out.intern(&Shape::from(&extents[n + 1..])));
        taken = out.add(NodeKind::Gather, &[taken, start], &[result]);
    }
    taken
}

/// Returns the value of which a value is a part.
fn base(graph: &Graph<DType>, mut value: Value) -> Value {
    loop {
        let id = graph.producer(value);
        match graph.node(id).kind {
            NodeKind::View(_) | NodeKind::Reshape | NodeKind::Gather | NodeKind::Slice(_) => {
                value = graph.operands(id)[0]
            }
            _ => return value,
        }
    }
}

/// Returns `true` if a value is a part of one that is in memory, whoever reads it. Other passes move views before the operations of a
/// computed value, which would then compute all slices.
fn is_in_memory(graph: &Graph<DType>, value: Value) -> bool {
    matches!(
        graph.node(graph.producer(base(graph, value))).kind,
        NodeKind::Param(..) | NodeKind::Control(_) | NodeKind::Insert(_) | NodeKind::Scatter(_)
    )
}
