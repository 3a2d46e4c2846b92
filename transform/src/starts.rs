//! Starts: insertions from indices known at run time become scatters of single elements, where the caller of a kernel computes no
//! addresses: on a device, and without fusion. Transformations that have no rule of their own for a start compute the same positions.

use crate::append::{Appender, SlopeTerm};
use ndjit_ir::graph::{Graph, NodeKind, Rewriter, Scatter, Slot, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::reduction::AxisSet;
use ndjit_ir::view::View;
use ndjit_ir::{DType, Error, ErrorCode, Op, Result, Shape};

/// A graph that takes operations on integers.
pub(crate) trait PositionOps {
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
pub(crate) fn positions<I: PositionOps>(
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

struct TypedPositionOps<'a>(&'a mut Graph<DType>);

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

/// Replaces insertions from starts. `None` if there are none.
///
/// # Errors
/// `Verify` if the graph is not valid.
pub fn starts(graph: &Graph<DType>) -> Result<Option<Graph<DType>>> {
    let inserts = |kind| if let NodeKind::Insert(view) = kind { Some(view) } else { None };
    if !graph.node_ids().any(|id| inserts(graph.node(id).kind).is_some() && graph.operands(id).len() > 2) {
        return Ok(None);
    }
    let (mut out, mut notes) = (Graph::like(graph), ());
    let mut rewriter = Rewriter::new((graph, &()), (&mut out, &mut notes));
    for id in graph.node_ids() {
        rewriter.begin(id);
        let (Some(view), &[x, updates, ref starts @ ..]) = (inserts(graph.node(id).kind), graph.operands(id)) else {
            rewriter.copy(id);
            continue;
        };
        if starts.is_empty() {
            rewriter.copy(id);
            continue;
        }
        let (shape, put) = (graph.shape(x), graph.shape(updates));
        let own: Vec<Value> = starts.iter().map(|&start| rewriter.value(start)).collect();
        let [of, updates] = [x, updates].map(|value| rewriter.value(value));
        let index = positions(&mut TypedPositionOps(rewriter.new), graph.view_of(view), [shape, put], &own)?;
        let flat = Shape::from(shape.size()?);
        let flattened = rewriter.new.reshape(of, &flat);
        let result = (graph.ty(x), rewriter.new.intern(&flat));
        let made = rewriter.new.add(NodeKind::Scatter(Scatter::Set), &[flattened, index, updates], &[result]);
        let made = rewriter.new.reshape(made, shape);
        rewriter.set(id, made);
    }
    rewriter.finish();
    Ok(Some(out))
}
