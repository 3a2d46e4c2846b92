//! Products of matrices and tensors.

use crate::array::PyArray;
use crate::computed;
use crate::error::wrong_type;
use crate::operand::{IntegersArgument, OperandArgument};
use ndjit::operand::AnyOperand;
use pyo3::prelude::*;

fn arrays(what: &str, operands: [OperandArgument; 2]) -> PyResult<[AnyOperand; 2]> {
    let operands = operands.map(|x| x.0);
    match operands.iter().any(|x| matches!(x, AnyOperand::Scalar(_))) {
        true => Err(wrong_type(format!("{what} is of two arrays; `*` multiplies by a number"))),
        false => Ok(operands),
    }
}

/// The product of matrices in the last two axes, or of vectors.
#[pyfunction]
#[pyo3(signature = (x1, x2, /))]
pub fn matmul(py: Python<'_>, x1: OperandArgument, x2: OperandArgument) -> PyResult<PyArray> {
    let [x, y] = arrays("matmul", [x1, x2])?;
    computed!(py, ndjit::matmul(x, y))
}

/// Products summed over pairs of axes, or over the last `axes` of one array and the first of the other.
#[pyfunction]
#[pyo3(signature = (x1, x2, /, *, axes=None), text_signature = "(x1, x2, /, *, axes=2)")]
pub fn tensordot(
    py: Python<'_>,
    x1: OperandArgument,
    x2: OperandArgument,
    axes: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyArray> {
    let [x, y] = arrays("tensordot", [x1, x2])?;
    let Some(axes) = axes else { return computed!(py, ndjit::tensordot(x, y, 2)) };
    if let Ok(count) = axes.extract::<usize>() {
        return computed!(py, ndjit::tensordot(x, y, count));
    }
    let (left, right): (IntegersArgument, IntegersArgument) = axes.extract()?;
    computed!(py, ndjit::tensordot(x, y, (left.0, right.0)))
}

/// Products summed along an axis, of the conjugate of the first array.
#[pyfunction]
#[pyo3(signature = (x1, x2, /, *, axis=-1), text_signature = "(x1, x2, /, *, axis=-1)")]
pub fn vecdot(py: Python<'_>, x1: OperandArgument, x2: OperandArgument, axis: isize) -> PyResult<PyArray> {
    let [x, y] = arrays("vecdot", [x1, x2])?;
    computed!(py, ndjit::vecdot(x, y, axis))
}
