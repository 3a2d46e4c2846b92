//! Access: the layout of views' elements in the memory of their operands. A view never has memory of its own. A reshape
//! has its own if no strides give its order: it is a copy. If the host computes addresses, the row of a gather at one
//! index is a view too; its start depends on the run-time index.
//!
//! It is an analysis of a graph, which it does not change: the pipeline lists it among the passes, whose rewrites read it.

use ndjit_ir::graph::{Fusion, Graph, NodeKind, Value};
use ndjit_ir::loops::Layout;
use ndjit_ir::reduction::AxisSet;
use ndjit_ir::view::reshaped;
use ndjit_ir::{DType, Result, Shape};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::fmt::{self, Display, Formatter};

/// A run-time integer in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedIndex {
    /// The value whose memory contains it.
    pub value: Value,
    /// Its dtype.
    pub dtype: DType,
    /// Its offset in bytes.
    pub offset: usize,
}

/// A row at a run-time index, which moves the start of reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedRow {
    /// The index.
    pub index: TracedIndex,
    /// The last row.
    pub last: usize,
    /// The row stride in bytes.
    pub stride: isize,
}

/// Rows of one view: a row of a row has two.
pub type TracedRows = SmallVec<[TracedRow; 1]>;

/// The minimum number of elements that justifies a kernel only to store the row's index.
const LEAST_ROW: usize = 16;

/// The layout of a view.
#[derive(Clone, Debug)]
struct StoredView {
    base: Value,
    layout: Layout,
    rows: TracedRows,
}

/// The views of a graph.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// For each view the value whose memory contains its elements, and their layout.
    of: Vec<Option<StoredView>>,
    /// True if rows at one index are views.
    rows: bool,
    /// The offset of each parameter's first element.
    params: Vec<usize>,
    /// The starts of insertions, which are stored anyway.
    starts: FxHashSet<Value>,
}

impl Display for Accesses {
    /// A line for each view:
    ///
    /// ```text
    ///
    /// ; %2 is in %0: offset 0, strides [4, 12]
    /// ; %5 is in %1: offset 0, strides [4], from the row at the index in %3
    /// ```
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (n, view) in self.of.iter().enumerate() {
            let Some(StoredView { base, layout, rows }) = view else { continue };
            write!(f, "\n; {} is in {base}: {layout}", Value::from_index(n))?;
            rows.iter().try_for_each(|row| write!(f, ", from the row at the index in {}", row.index.value))?;
        }
        Ok(())
    }
}

impl Accesses {
    /// Computes the accesses of `graph` for parameters of these layouts. Computed values are C-contiguous. `rows` is
    /// true if rows at one index are views.
    ///
    /// # Errors
    /// `Size` if an array cannot exist.
    pub fn new(graph: &Graph<DType>, params: &[Layout], rows: bool) -> Result<Accesses> {
        let mut this =
            Accesses { rows, params: params.iter().map(|layout| layout.offset).collect(), ..Accesses::default() };
        for id in graph.node_ids().filter(|&id| matches!(graph.node(id).kind, NodeKind::Insert(_))) {
            this.starts.extend(graph.operands(id).iter().skip(2));
        }
        let may_be = |kind: NodeKind<DType>| kind.row().is_view || rows && kind == NodeKind::Gather;
        if !graph.node_ids().any(|id| may_be(graph.node(id).kind)) {
            return Ok(this);
        }
        this.of.resize(graph.value_count(), None);
        for id in graph.node_ids() {
            let value = graph.node(id).first();
            let kind = graph.node(id).kind;
            if !may_be(kind) {
                continue;
            }
            let operands = graph.operands(id);
            let operand = operands[0];
            let StoredView { base, layout, rows } = match &this.of[operand.index()] {
                Some(access) => access.clone(),
                None => {
                    let layout = layout_of(graph, operand, params)?;
                    StoredView { base: operand, layout, rows: TracedRows::new() }
                }
            };
            this.of[value.index()] = match kind {
                NodeKind::View(view) => Some(StoredView { base, layout: graph.view_of(view).layout(&layout), rows }),
                NodeKind::Gather => this.row(graph, value, (operand, operands[1]), StoredView { base, layout, rows }),
                _ => reshaped(&layout, graph.shape(operand), graph.shape(value)).map(|layout| StoredView {
                    base,
                    layout,
                    rows,
                }),
            };
        }
        Ok(this)
    }

    /// Returns the row of `x` at one index.
    fn row(
        &self,
        graph: &Graph<DType>,
        value: Value,
        (x, index): (Value, Value),
        of: StoredView,
    ) -> Option<StoredView> {
        let StoredView { base, layout, mut rows } = of;
        let (&stride, strides) = layout.strides.split_first()?;
        let shape = graph.shape(value);
        let worth = self.starts.contains(&index) || shape.size().is_ok_and(|size| size >= LEAST_ROW);
        let row = self.traced_row(graph, index, graph.shape(x), stride, worth)?;
        if !has_memory(graph, base) {
            return None;
        }
        let seen = Shape::from(graph.shape(x).extents().get(1..)?);
        rows.push(row);
        let layout = Layout { offset: layout.offset, strides: strides.iter().copied().collect() };
        Some(StoredView { base, layout: layout.broadcast(&seen, shape), rows })
    }

    /// Returns the row at an index of an array of this shape and row stride, if the index is one integer in memory. A
    /// computed index is stored only if the row is `worth` it.
    pub fn traced_row(
        &self,
        graph: &Graph<DType>,
        index: Value,
        rows: &Shape,
        stride: isize,
        worth: bool,
    ) -> Option<TracedRow> {
        let last = rows.extents().first()?.checked_sub(1)?;
        Some(TracedRow { index: self.traced_index(graph, index, worth)?, last, stride })
    }

    /// Returns the location of an integer in memory. A computed integer is stored only if that is `worth` it.
    pub fn traced_index(&self, graph: &Graph<DType>, index: Value, worth: bool) -> Option<TracedIndex> {
        if !self.rows || graph.shape(index).size() != Ok(1) {
            return None;
        }
        let mut index = index;
        loop {
            let (dtype, id) = (graph.ty(index), graph.producer(index));
            let found = |value, offset| dtype.is_int().then_some(TracedIndex { value, dtype, offset });
            match (self.of.get(index.index()).and_then(Option::as_ref), graph.node(id).kind) {
                // Values that have no memory, or whose location depends on an index.
                (Some(access), _) if !access.rows.is_empty() || !has_memory(graph, access.base) => return None,
                // An element of a parameter or of a stored array.
                (Some(access), _) if graph.shape(access.base).size() != Ok(1) => {
                    return found(access.base, access.layout.offset);
                }
                (Some(access), _) => index = access.base,
                (None, NodeKind::Cast(())) if keeps(graph.ty(graph.operands(id)[0]), dtype) => {
                    index = graph.operands(id)[0];
                }
                (None, NodeKind::Param(n, _)) => return found(index, *self.params.get(n as usize)?),
                (None, kind) if has_memory(graph, index) && (worth || kind.row().fusion == Fusion::Root) => {
                    return found(index, 0);
                }
                (None, _) => return None,
            }
        }
    }

    /// Returns the location of the start of an insertion. One that is in no memory, as a literal, or whose location depends on
    /// another index, is copied to memory of its own.
    pub fn start(&self, graph: &Graph<DType>, start: Value) -> TracedIndex {
        let own = TracedIndex { value: start, dtype: graph.ty(start), offset: 0 };
        self.traced_index(graph, start, true).unwrap_or(own)
    }

    /// Returns the location of an integer that a kernel reads.
    pub fn number(&self, graph: &Graph<DType>, value: Value) -> Option<TracedIndex> {
        let dtype = graph.ty(value);
        let offset = match (self.of.get(value.index()).and_then(Option::as_ref), graph.node(graph.producer(value)).kind)
        {
            (Some(access), _) if access.rows.is_empty() => access.layout.offset,
            (Some(_), _) => return None,
            (None, NodeKind::Param(n, _)) => *self.params.get(n as usize)?,
            (None, _) => 0,
        };
        let base = self.base(value);
        let one = self.rows && graph.shape(value).size() == Ok(1) && has_memory(graph, base) && dtype.is_int();
        one.then_some(TracedIndex { value: base, dtype, offset })
    }

    /// Returns the value of which a value is a view, and the layout there; `None` for a value with memory of its own.
    pub fn view(&self, value: Value) -> Option<(Value, &Layout)> {
        self.of.get(value.index())?.as_ref().map(|access| (access.base, &access.layout))
    }

    /// Returns the rows at which a view begins.
    pub fn rows(&self, value: Value) -> &[TracedRow] {
        self.of.get(value.index()).and_then(Option::as_ref).map_or(&[], |access| &access.rows)
    }

    /// Returns the value stored for a result of the program. For a reshape of a kernel's output it is the output, which
    /// has the same elements in the same order.
    pub fn result(&self, graph: &Graph<DType>, value: Value) -> Value {
        let Some((base, layout)) = self.view(value) else { return value };
        let stored = graph.node(graph.producer(base)).kind.row().fusion != Fusion::Leaf;
        let elements = |value| graph.shape(value).size().ok();
        let shape = graph.shape(value);
        let same = || {
            self.rows(value).is_empty()
                && contiguous(shape, graph.ty(value)).is_ok_and(|own| own.same_elements(layout, shape))
        };
        if stored && elements(base) == elements(value) && same() { base } else { value }
    }

    /// Returns the value whose memory serves random access to a value's elements. Iotas and literals have no memory:
    /// they are stored for it.
    pub fn in_memory(&self, graph: &Graph<DType>, value: Value) -> Value {
        let base = self.base(value);
        match graph.node(graph.producer(base)).kind {
            NodeKind::Iota(_) | NodeKind::Literal(_) => value,
            _ => base,
        }
    }

    /// Returns the value whose memory is exactly a value's elements in row-major order, if there is one.
    pub fn whole(&self, graph: &Graph<DType>, value: Value, params: &[Layout]) -> Option<Value> {
        let Some((base, layout)) = self.view(value) else {
            return self.is_whole(graph, value, params).then_some(value);
        };
        let shape = graph.shape(value);
        let same = self.rows(value).is_empty()
            && graph.shape(base).size() == shape.size()
            && contiguous(shape, graph.ty(value)).is_ok_and(|own| own.same_elements(layout, shape));
        (same && self.is_whole(graph, base, params)).then_some(base)
    }

    /// Returns `true` if all elements of a value lie in row-major order in memory of its own.
    pub fn is_whole(&self, graph: &Graph<DType>, value: Value, params: &[Layout]) -> bool {
        let own = || contiguous(graph.shape(value), graph.ty(value));
        match graph.node(graph.producer(value)).kind {
            NodeKind::Iota(_) | NodeKind::Literal(_) => false,
            NodeKind::Param(n, _) => own()
                .is_ok_and(|own| params.get(n as usize).is_some_and(|at| own.same_elements(at, graph.shape(value)))),
            _ => self.view(value).is_none(),
        }
    }

    /// Returns the value whose memory contains a value's elements.
    pub fn base(&self, value: Value) -> Value {
        self.view(value).map_or(value, |(base, _)| base)
    }
}

/// Returns `true` if a value that is not a view has memory.
fn has_memory(graph: &Graph<DType>, value: Value) -> bool {
    !matches!(graph.node(graph.producer(value)).kind, NodeKind::Iota(_) | NodeKind::Literal(_))
}

/// Returns `true` if a cast of integers preserves all values.
pub fn keeps(from: DType, to: DType) -> bool {
    from.is_int()
        && to.is_int()
        && to.int_range().zip(from.int_range()).is_some_and(|(to, from)| to.0 <= from.0 && from.1 <= to.1)
}

/// Returns the layout of a value that is not a view: a parameter's own, an iota's strides, else C-contiguous.
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

/// Returns the layout of a C-contiguous array.
///
/// # Errors
/// `Size` if the array cannot exist.
pub fn contiguous(shape: &Shape, dtype: DType) -> Result<Layout> {
    shape.bytes(dtype.bytes())?;
    let strides = shape.contiguous_strides().iter().map(|s| s.saturating_mul(dtype.bytes() as isize)).collect();
    Ok(Layout { offset: 0, strides })
}

/// Returns the layout of an iota: its strides are indices, not bytes.
fn indices(along: AxisSet, shape: &Shape) -> Layout {
    let strides = along.steps(shape).into_iter().map(|step| isize::try_from(step).unwrap_or(isize::MAX)).collect();
    Layout { offset: 0, strides }
}
