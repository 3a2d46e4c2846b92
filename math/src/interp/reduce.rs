//! Evaluation of reductions, scans, sorts and indices on tensors.

use super::elementwise::{Function, Functions, advance};
use super::tensor::{Tensor, Words};
use crate::store_body;
use ndjit_ir::dtype::DType;
use ndjit_ir::error::{Error, ErrorCode, Result};
use ndjit_ir::reduction::{AxisSet, Reduce, Reduction, Scan, Sort, fold, scan, sorted};
use ndjit_ir::reserve::collect;
use ndjit_ir::shape::Shape;
use smallvec::SmallVec;

/// Returns the storage words of an elementary reduction of no elements.
pub(super) fn empty_result(reduction: Reduction, dtype: DType) -> Result<Words> {
    let Some(literal) = reduction.empty_result() else {
        return Err(Error::new(ErrorCode::Verify, format!("interpreter: {reduction} of no elements")));
    };
    Ok(Words::from_vec(store_body(dtype).eval(&literal.to_repr(dtype)?)))
}

/// Reduces a tensor along axes, in the order of [`fold`].
pub(super) fn reduce(functions: &mut Functions, reduce: Reduce<DType>, operand: &Tensor) -> Result<Tensor> {
    let Reduce { reduction, axes, keepdims, .. } = reduce;
    let dtype = operand.dtype;
    let Some(op) = reduction.combine() else {
        return Err(Error::new(ErrorCode::Verify, format!("interpreter: {reduction} is not elementary")));
    };
    let combine = functions.body(Function::Op(op, dtype));
    let walk = |reduced: bool| StridedIter::new(&operand.shape, |axis| axes.contains(axis) == reduced);
    let reduced = collect("interpreter", walk(true))?;
    let mut result = Tensor::zeros(dtype, axes.reduced(&operand.shape, keepdims))?;
    for (position, start) in walk(false).enumerate() {
        let element = |i: usize| operand.get(start + reduced[i]);
        let meet = |a: Words, b: Words| Words::from_vec(combine.eval(&[a, b].concat()));
        let words = match fold(reduced.len(), element, meet) {
            Some(words) => words,
            None => empty_result(reduction, dtype)?,
        };
        result.set(position, &words);
    }
    Ok(result)
}

/// Scans a tensor along an axis, in the order of [`scan`].
pub(super) fn scanned(functions: &mut Functions, function: Scan, axis: u32, operand: &Tensor) -> Result<Tensor> {
    let (op, dtype) = (function.combine(), operand.dtype);
    let combine = functions.body(Function::Op(op, dtype));
    let walk = |along: bool| StridedIter::new(&operand.shape, |other| (other == axis as usize) == along);
    let along = collect("interpreter", walk(true))?;
    let mut result = Tensor::zeros(dtype, operand.shape.clone())?;
    for start in walk(false) {
        let element = |i: usize| operand.get(start + along[i]);
        let meet = |a: Words, b: Words| Words::from_vec(combine.eval(&[a, b].concat()));
        scan(along.len(), element, meet, |i, words| result.set(start + along[i], &words));
    }
    Ok(result)
}

/// Sorts a tensor along an axis, in the order of [`sorted`]: its elements, or their indices of this dtype.
pub(super) fn sort(function: Sort, axis: usize, operand: &Tensor, dtype: DType) -> Result<Tensor> {
    let walk = |along: bool| StridedIter::new(&operand.shape, |other| (other == axis) == along);
    let along = collect("interpreter", walk(true))?;
    let mut result = Tensor::zeros(dtype, operand.shape.clone())?;
    for start in walk(false) {
        let elements = collect("interpreter", along.iter().map(|i| operand.repr(start + i)))?;
        for (i, from) in sorted(operand.dtype, &elements)?.into_iter().enumerate() {
            let words = match function {
                Sort::ArgSort => Words::from_slice(&[from as u64]),
                Sort::Sort => operand.get(start + along[from]),
            };
            result.set(start + along[i], &words);
        }
    }
    Ok(result)
}

/// Returns the row-major index along the axes.
pub(super) fn iota(axes: AxisSet, shape: &Shape) -> Result<Tensor> {
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, shape.rank());
    let steps = axes.steps(shape);
    let mut result = Tensor::zeros(DType::I64, shape.clone())?;
    for position in 0..result.len() {
        let at: usize = index.iter().zip(&steps).map(|(i, step)| i * step).sum();
        result.set(position, &[at as u64]);
        advance(&mut index, shape.extents());
    }
    Ok(result)
}

/// The offsets of the elements of a C-contiguous array whose index is 0 along all axes except some, in row-major order.
struct StridedIter {
    extents: SmallVec<[usize; 4]>,
    strides: SmallVec<[usize; 4]>,
    index: SmallVec<[usize; 4]>,
    left: usize,
}

impl StridedIter {
    fn new(shape: &Shape, walked: impl Fn(usize) -> bool) -> StridedIter {
        let axes = (0..shape.rank()).filter(|&axis| walked(axis));
        let strides = shape.contiguous_strides();
        let (extents, strides): (SmallVec<[usize; 4]>, SmallVec<[usize; 4]>) =
            axes.map(|axis| (shape.extents()[axis], strides[axis] as usize)).unzip();
        let left = extents.iter().product();
        StridedIter { index: SmallVec::from_elem(0, extents.len()), extents, strides, left }
    }
}

impl Iterator for StridedIter {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let at = self.index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum();
        advance(&mut self.index, &self.extents);
        Some(at)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}
