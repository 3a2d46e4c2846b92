//! Evaluation of views, reshapes and joins on tensors: elements are copied without computation.

use super::elementwise::{Function, Functions, advance};
use super::tensor::Tensor;
use ndjit_ir::error::{Error, ErrorCode, Result};
use ndjit_ir::graph::Scatter;
use ndjit_ir::loops::Layout;
use ndjit_ir::shape::Shape;
use ndjit_ir::view::{View, scattered};
use smallvec::SmallVec;

/// Copies the elements that a view selects.
pub(super) fn view(operand: &Tensor, view: &View, shape: &Shape) -> Result<Tensor> {
    let mut result = Tensor::zeros(operand.dtype, shape.clone())?;
    let layout = view.layout(&Layout { offset: 0, strides: operand.shape.contiguous_strides() });
    for (n, at) in offsets(&layout, shape).enumerate() {
        result.set(n, &operand.get(at));
    }
    Ok(result)
}

/// Copies the elements to another shape.
pub(super) fn reshape(operand: &Tensor, shape: &Shape) -> Result<Tensor> {
    Ok(Tensor { shape: shape.clone(), ..operand.copied()? })
}

/// Copies the rows at clamped indices.
pub(super) fn gather(operand: &Tensor, index: &Tensor, shape: &Shape) -> Result<Tensor> {
    let mut result = Tensor::zeros(operand.dtype, shape.clone())?;
    let (extents, strides) = (operand.shape.extents(), operand.shape.contiguous_strides());
    let rows = Shape::from(&extents[1..]);
    let row = Layout { offset: 0, strides: SmallVec::from_slice(&strides[1..]) }.broadcast(&rows, shape);
    let index_at = Layout { offset: 0, strides: index.shape.contiguous_strides() }.broadcast(&index.shape, shape);
    for (n, (row, at)) in offsets(&row, shape).zip(offsets(&index_at, shape)).enumerate() {
        let position = index.get(at)[0] as i64;
        let nearest = position.clamp(0, extents[0] as i64 - 1) as usize;
        result.set(n, &operand.get(row + nearest * strides[0].unsigned_abs()));
    }
    Ok(result)
}

/// Copies the first tensor, and scatters elements of the third into its rows at the indices of the second.
pub(super) fn scatter(functions: &mut Functions, scatter: Scatter, operands: [&Tensor; 3]) -> Result<Tensor> {
    let [x, index, updates] = operands;
    let mut result = x.copied()?;
    let space = scattered(&x.shape, &index.shape).map_err(|what| Error::new(ErrorCode::Verify, what.to_string()))?;
    let (extents, strides) = (x.shape.extents(), x.shape.contiguous_strides());
    let rows = Shape::from(&extents[1..]);
    let row = Layout { offset: 0, strides: SmallVec::from_slice(&strides[1..]) }.broadcast(&rows, &space);
    let own = |tensor: &Tensor| {
        Layout { offset: 0, strides: tensor.shape.contiguous_strides() }.broadcast(&tensor.shape, &space)
    };
    let (index_at, update_at) = (own(index), own(updates));
    let places = offsets(&row, &space).zip(offsets(&index_at, &space)).zip(offsets(&update_at, &space));
    for ((row, at), update) in places {
        let position = index.get(at)[0] as i64;
        if !(0..extents[0] as i64).contains(&position) {
            continue;
        }
        let place = row + position as usize * strides[0].unsigned_abs();
        let mut words = updates.get(update).to_vec();
        if let Some(op) = scatter.combine() {
            words = functions.body(Function::Op(op, x.dtype)).eval(&[&result.get(place)[..], &words].concat());
        }
        result.set(place, &words);
    }
    Ok(result)
}

/// Copies the first tensor, with elements of the second at the elements that the view selects.
/// Returns the elements that a view selects from starts, each clamped.
pub(super) fn slice(x: &Tensor, starts: &[&Tensor], view: &View, shape: &Shape) -> Result<Tensor> {
    let all = view.starts(&x.shape, shape, starts.len()).unwrap_or_default();
    let mut layout = view.layout(&Layout { offset: 0, strides: x.shape.contiguous_strides() });
    for (start, of) in starts.iter().zip(&all) {
        let index = (start.get(0)[0] as i64).clamp(0, of.count.saturating_sub(1) as i64);
        layout.offset = layout.offset.wrapping_add_signed(index as isize * layout.strides.remove(0));
    }
    let mut result = Tensor::zeros(x.dtype, shape.clone())?;
    for (n, at) in offsets(&layout, shape).enumerate() {
        result.set(n, &x.get(at));
    }
    Ok(result)
}

pub(super) fn insert(x: &Tensor, updates: &Tensor, starts: &[&Tensor], view: &View) -> Result<Tensor> {
    let mut result = x.copied()?;
    let all = view.starts(&x.shape, &updates.shape, starts.len()).unwrap_or_default();
    let mut layout = view.layout(&Layout { offset: 0, strides: x.shape.contiguous_strides() });
    for (start, of) in starts.iter().zip(&all) {
        let index = start.get(0)[0] as i64;
        if !(0..of.count as i64).contains(&index) {
            return Ok(result);
        }
        layout.offset = layout.offset.wrapping_add_signed(index as isize * layout.strides.remove(0));
    }
    for (n, at) in offsets(&layout, &updates.shape).enumerate() {
        result.set(at, &updates.get(n));
    }
    Ok(result)
}

/// Joins tensors along an axis.
pub(super) fn concat(operands: &[&Tensor], axis: usize, shape: &Shape) -> Result<Tensor> {
    let mut result = Tensor::zeros(operands[0].dtype, shape.clone())?;
    let mut layout = Layout { offset: 0, strides: shape.contiguous_strides() };
    for operand in operands {
        for (n, at) in offsets(&layout, &operand.shape).enumerate() {
            result.set(at, &operand.get(n));
        }
        layout.offset += operand.shape.extents()[axis] * layout.strides[axis].unsigned_abs();
    }
    Ok(result)
}

/// Returns the offsets of the elements of an array of this shape, in row-major order.
fn offsets<'a>(layout: &'a Layout, shape: &'a Shape) -> impl Iterator<Item = usize> + 'a {
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, shape.rank());
    let count = shape.extents().iter().product();
    (0..count).map(move |_| {
        let steps = index.iter().zip(&layout.strides);
        let at = steps.fold(layout.offset, |at, (&i, &stride)| at.wrapping_add_signed(i as isize * stride));
        advance(&mut index, shape.extents());
        at
    })
}
