//! Access: where the elements of views lie, in the memory of what they are views of. A view never has memory of its own; a
//! reshape has where no strides reach its operand's elements in the new order: it is a copy.

use ndjit_ir::graph::{Fusion, Graph, NodeKind, Value};
use ndjit_ir::loops::Layout;
use ndjit_ir::reduction::AxisSet;
use ndjit_ir::view::reshaped;
use ndjit_ir::{DType, Result, Shape};

/// What the views of a graph are views of.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// For each value that is a view: the value whose memory holds its elements, and where.
    of: Vec<Option<(Value, Layout)>>,
}

impl Accesses {
    /// The accesses of `graph`, whose parameters have these layouts. Values that are computed are C-contiguous.
    ///
    /// # Errors
    /// `Size` if an array cannot exist.
    pub fn new(graph: &Graph<DType>, params: &[Layout]) -> Result<Accesses> {
        let mut this = Accesses::default();
        if !graph.node_ids().any(|id| graph.node(id).kind.row().is_view) {
            return Ok(this);
        }
        this.of.resize(graph.value_count(), None);
        for id in graph.node_ids() {
            let value = graph.node(id).first();
            let kind = graph.node(id).kind;
            if !kind.row().is_view {
                continue;
            }
            let operand = graph.operands(id)[0];
            let (base, layout) = match &this.of[operand.index()] {
                Some((base, layout)) => (*base, layout.clone()),
                None => (operand, layout_of(graph, operand, params)?),
            };
            this.of[value.index()] = match kind {
                NodeKind::View(view) => Some((base, graph.view_of(view).layout(&layout))),
                _ => reshaped(&layout, graph.shape(operand), graph.shape(value)).map(|layout| (base, layout)),
            };
        }
        Ok(this)
    }

    /// What a value is a view of, and where its elements lie there; `None` of a value that has memory of its own.
    pub fn view(&self, value: Value) -> Option<(Value, &Layout)> {
        self.of.get(value.index())?.as_ref().map(|(base, layout)| (*base, layout))
    }

    /// The value that is stored where a value is a result of the program: of a reshape of what a kernel stores that, as it has
    /// the same elements in the same order.
    pub fn result(&self, graph: &Graph<DType>, value: Value) -> Value {
        let Some((base, layout)) = self.view(value) else { return value };
        let stored = graph.node(graph.producer(base)).kind.row().fusion != Fusion::Leaf;
        let elements = |value| graph.shape(value).size().ok();
        let shape = graph.shape(value);
        let same = || contiguous(shape, graph.ty(value)).is_ok_and(|own| own.same_elements(layout, shape));
        if stored && elements(base) == elements(value) && same() { base } else { value }
    }

    /// The value whose memory is read where any element of a value may be: not indices, nor a number, which have none. They are
    /// stored for that.
    pub fn in_memory(&self, graph: &Graph<DType>, value: Value) -> Value {
        let base = self.base(value);
        match graph.node(graph.producer(base)).kind {
            NodeKind::Iota(_) | NodeKind::Literal(_) => value,
            _ => base,
        }
    }

    /// Whether all elements of a value lie in row-major order in memory of its own.
    pub fn is_whole(&self, graph: &Graph<DType>, value: Value, params: &[Layout]) -> bool {
        let own = || contiguous(graph.shape(value), graph.ty(value));
        match graph.node(graph.producer(value)).kind {
            NodeKind::Iota(_) | NodeKind::Literal(_) => false,
            NodeKind::Param(n, _) => own()
                .is_ok_and(|own| params.get(n as usize).is_some_and(|at| own.same_elements(at, graph.shape(value)))),
            _ => self.view(value).is_none(),
        }
    }

    /// The value whose memory holds a value's elements.
    pub fn base(&self, value: Value) -> Value {
        self.view(value).map_or(value, |(base, _)| base)
    }
}

/// The layout of a value that is no view: of a parameter its own, of indices their numbers, else C-contiguous.
///
/// # Errors
/// `Size` if the array cannot exist.
pub fn layout_of(graph: &Graph<DType>, value: Value, params: &[Layout]) -> Result<Layout> {
    match graph.node(graph.producer(value)).kind {
        NodeKind::Param(n, _) => Ok(params[n as usize].clone()),
        NodeKind::Iota(along) => Ok(indices(along, graph.shape(value))),
        _ => contiguous(graph.shape(value), graph.ty(value)),
    }
}

/// The layout of a C-contiguous array.
///
/// # Errors
/// `Size` if the array cannot exist.
pub fn contiguous(shape: &Shape, dtype: DType) -> Result<Layout> {
    shape.bytes(dtype.bytes())?;
    let strides = shape.contiguous_strides().iter().map(|s| s.saturating_mul(dtype.bytes() as isize)).collect();
    Ok(Layout { offset: 0, strides })
}

/// The layout of indices along axes: an index steps by numbers, not by bytes.
fn indices(along: AxisSet, shape: &Shape) -> Layout {
    let strides = along.steps(shape).into_iter().map(|step| isize::try_from(step).unwrap_or(isize::MAX)).collect();
    Layout { offset: 0, strides }
}
