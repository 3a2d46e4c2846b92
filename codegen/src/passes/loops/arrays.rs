//! Arrays of a loop's state whose elements each step reads and stores at indices. They stay in memory: all reads of a step come before
//! its stores, so that a read after a store compares the indices.

use super::{LoopBuilder, LoopGraph, StepInput, is_one};
use ndjit_ir::graph::{NodeKind, Value};
use ndjit_ir::kernel::{ScalarId, StmtKind};
use ndjit_ir::loops::{Layout, Role};
use ndjit_ir::{DType, Op, Result};
use ndjit_transform::access::contiguous;
use smallvec::smallvec;

/// An array of the state after some stores of the step.
#[derive(Clone, Debug)]
pub(super) struct ArrayVersion {
    /// The result.
    pub(super) state: usize,
    pub(super) elements: usize,
    pub(super) dtype: DType,
    /// The stores since the step began, in order.
    pub(super) stores: Vec<ElementStore>,
}

/// An element stored at an index, unless that is out of bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ElementStore {
    pub(super) row: ScalarId,
    pub(super) value: ScalarId,
}

/// The maximum number of stores to an array in one step: a later read of the step compares its index with each.
const MAX_STORES: usize = 8;

impl LoopBuilder<'_> {
    /// Returns an array of the state after a store of one element, or a choice of two such arrays; `None` if the node is neither.
    pub(super) fn stored(&mut self, walk: &mut LoopGraph<'_>, value: Value) -> Result<Option<ArrayVersion>> {
        let graph = walk.graph;
        let id = graph.producer(value);
        let operands = graph.operands(id);
        match graph.node(id).kind {
            NodeKind::Scatter(scatter) => {
                let &[x, index, updates] = operands else { return Ok(None) };
                let Some(mut version) = walk.version(x)?.cloned() else { return Ok(None) };
                let rows = graph.shape(x).extents().first() == Some(&version.elements);
                if !rows
                    || version.stores.len() >= MAX_STORES
                    || !is_one(graph.shape(index))
                    || !is_one(graph.shape(updates))
                {
                    return Ok(None);
                }
                let (Some(row), Some(mut value)) = (self.scalar(walk, index)?, self.scalar(walk, updates)?) else {
                    return Ok(None);
                };
                if let Some(op) = scatter.combine() {
                    let known = self.read(&version, row);
                    value = self.body.push(StmtKind::Op(op), &[known, value], version.dtype);
                }
                version.stores.push(ElementStore { row, value });
                Ok(Some(version))
            }
            NodeKind::Insert(view) => {
                // Single elements at run-time indices are scatters.
                let &[x, updates] = operands else { return Ok(None) };
                let Some(mut version) = walk.version(x)?.cloned() else { return Ok(None) };
                if version.stores.len() >= MAX_STORES || !is_one(graph.shape(updates)) {
                    return Ok(None);
                }
                let whole = contiguous(graph.shape(x), version.dtype)?;
                let offset = graph.view_of(view).layout(&whole).offset;
                let Some(value) = self.scalar(walk, updates)? else { return Ok(None) };
                let row = self.number(offset / version.dtype.bytes());
                version.stores.push(ElementStore { row, value });
                Ok(Some(version))
            }
            NodeKind::Op(Op::Where, ()) => {
                let &[condition, x, y] = operands else { return Ok(None) };
                let (Some(x), Some(y)) = (walk.version(x)?.cloned(), walk.version(y)?.cloned()) else {
                    return Ok(None);
                };
                if !is_one(graph.shape(condition)) || graph.shape(value).size()? != x.elements {
                    return Ok(None);
                }
                let Some(condition) = self.scalar(walk, condition)? else { return Ok(None) };
                Ok(self.chosen(condition, x, y))
            }
            _ => Ok(None),
        }
    }

    /// One of two arrays: the stores of both, each with no row unless it is of the chosen one. `None` if there are too many.
    pub(super) fn chosen(&mut self, condition: ScalarId, x: ArrayVersion, y: ArrayVersion) -> Option<ArrayVersion> {
        if x.state != y.state {
            return None;
        }
        let same = x.stores.iter().zip(&y.stores).take_while(|(x, y)| x == y).count();
        let none = self.number(usize::MAX);
        let mut stores = x.stores[..same].to_vec();
        let mut guarded = |own: &[ElementStore], args: fn([ScalarId; 3]) -> [ScalarId; 3]| {
            for &ElementStore { row, value } in &own[same..] {
                let row = self.body.push(StmtKind::Op(Op::Where), &args([condition, row, none]), DType::I64);
                stores.push(ElementStore { row, value });
            }
        };
        guarded(&x.stores, |args| args);
        guarded(&y.stores, |[condition, row, none]| [condition, none, row]);
        (stores.len() <= MAX_STORES).then_some(ArrayVersion { stores, ..x })
    }

    /// The element of an array of the state in the row nearest to an index.
    pub(super) fn read(&mut self, version: &ArrayVersion, row: ScalarId) -> ScalarId {
        let rows = self.array(version);
        if version.stores.is_empty() {
            return self.body.push(StmtKind::Gather(rows), &[row], version.dtype);
        }
        let (first, last) = (self.number(0), self.number(version.elements - 1));
        let row = self.body.push(StmtKind::Op(Op::Maximum), &[row, first], DType::I64);
        let row = self.body.push(StmtKind::Op(Op::Minimum), &[row, last], DType::I64);
        let mut element = self.body.push(StmtKind::Gather(rows), &[row], version.dtype);
        self.weight += version.stores.len();
        for store in &version.stores {
            let same = self.body.push(StmtKind::Op(Op::Equal), &[row, store.row], DType::Bool);
            element = self.body.push(StmtKind::Op(Op::Where), &[same, store.value, element], version.dtype);
        }
        element
    }

    /// The input with the elements of an array of the state as rows.
    pub(super) fn array(&mut self, version: &ArrayVersion) -> u32 {
        if let Some(&rows) = self.arrays.get(&version.state) {
            return rows;
        }
        let (last, stride) = (version.elements - 1, version.dtype.bytes());
        let layout = Layout { offset: 0, strides: smallvec![0; self.state.rank()] };
        let operand = Some(version.state as u32);
        let rows = self.input(StepInput { operand, role: Role::Rows, layout, step: 0 }, version.dtype);
        for number in [last, stride] {
            let number = self.constant(number);
            self.input(number, DType::I64);
        }
        self.arrays.insert(version.state, rows);
        rows
    }
}

impl LoopGraph<'_> {
    /// Returns the array of the state that a value is: all its elements, in their order.
    pub(super) fn version(&self, value: Value) -> Result<Option<&ArrayVersion>> {
        let Some(version) = self.versions.get(&self.accesses.base(value)) else { return Ok(None) };
        let shape = self.graph.shape(value);
        let whole = shape.size()? == version.elements && version.elements > 0;
        Ok((whole && contiguous(shape, version.dtype)?.same_elements(&self.layout(value)?, shape)).then_some(version))
    }
}
