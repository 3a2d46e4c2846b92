//! Functions that move elements.

use crate::array::{PyArray, finish, finish_all, operation};
use crate::computed;
use crate::error::{OrRaise, wrong};
use crate::operand::{IntegersArgument, OperandArgument, operand, shape};
use ndjit::operand::AnyOperand;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

fn all(arrays: Vec<OperandArgument>) -> impl Iterator<Item = AnyOperand> {
    arrays.into_iter().map(|x| x.0)
}

/// The arrays, broadcast to their common shape.
#[pyfunction]
#[pyo3(signature = (*arrays))]
pub fn broadcast_arrays<'py>(py: Python<'py>, arrays: Vec<OperandArgument>) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, finish_all(py, operation(|| ndjit::broadcast_arrays(all(arrays))))?)
}

/// The common shape of shapes.
#[pyfunction]
#[pyo3(signature = (*shapes))]
pub fn broadcast_shapes<'py>(py: Python<'py>, shapes: Vec<IntegersArgument>) -> PyResult<Bound<'py, PyTuple>> {
    let shapes: Vec<Vec<usize>> = shapes.into_iter().map(IntegersArgument::extents).collect::<PyResult<_>>()?;
    let common = operation(|| ndjit::broadcast_shapes(shapes)).or_raise(py)?;
    PyTuple::new(py, common.extents())
}

/// The array, repeated along axes to have this shape.
#[pyfunction]
#[pyo3(signature = (x, /, shape))]
pub fn broadcast_to(py: Python<'_>, x: OperandArgument, shape: IntegersArgument) -> PyResult<PyArray> {
    let (x, shape) = (x.0, shape.extents()?);
    computed!(py, ndjit::broadcast_to(x, shape))
}

/// Arrays one after another along an axis; `axis=None` of their elements in row-major order.
#[pyfunction]
#[pyo3(signature = (arrays, /, *, axis=0))]
pub fn concat(py: Python<'_>, arrays: Vec<OperandArgument>, axis: Option<isize>) -> PyResult<PyArray> {
    if arrays.is_empty() {
        return Err(wrong("give an array at least"));
    }
    let joined = || match axis {
        Some(axis) => ndjit::concat(all(arrays), axis),
        None => ndjit::concat(all(arrays).map(|x| ndjit::reshape(x, -1)), 0),
    };
    finish(py, operation(joined))
}

/// Arrays one after another along a new axis.
#[pyfunction]
#[pyo3(signature = (arrays, /, *, axis=0))]
pub fn stack(py: Python<'_>, arrays: Vec<OperandArgument>, axis: isize) -> PyResult<PyArray> {
    if arrays.is_empty() {
        return Err(wrong("give an array at least"));
    }
    finish(py, operation(|| ndjit::stack(all(arrays), axis)))
}

/// The arrays along an axis, as a tuple.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=0))]
pub fn unstack<'py>(py: Python<'py>, x: OperandArgument, axis: isize) -> PyResult<Bound<'py, PyTuple>> {
    let parts = operation(|| ndjit::unstack(x.0, axis)).or_raise(py)?;
    PyTuple::new(py, finish_all(py, parts)?)
}

/// The array with new axes of extent 1 at these positions.
#[pyfunction]
#[pyo3(signature = (x, /, axis))]
pub fn expand_dims(py: Python<'_>, x: OperandArgument, axis: IntegersArgument) -> PyResult<PyArray> {
    let (x, axes) = (x.0, axis.0);
    computed!(py, ndjit::expand_dims(x, axes))
}

/// The array without these axes, of extent 1.
#[pyfunction]
#[pyo3(signature = (x, /, axis))]
pub fn squeeze(py: Python<'_>, x: OperandArgument, axis: IntegersArgument) -> PyResult<PyArray> {
    let (x, axes) = (x.0, axis.0);
    computed!(py, ndjit::squeeze(x, axes))
}

/// The elements in reverse order along these axes, or all.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None))]
pub fn flip(py: Python<'_>, x: OperandArgument, axis: Option<IntegersArgument>) -> PyResult<PyArray> {
    let x = x.0;
    let axes = match axis {
        Some(axes) => axes.0,
        None => (0..shape(&x).rank() as isize).collect(),
    };
    computed!(py, ndjit::flip(x, axes))
}

/// The array with these axes at other positions.
#[pyfunction]
#[pyo3(signature = (x, source, destination, /))]
pub fn moveaxis(
    py: Python<'_>,
    x: OperandArgument,
    source: IntegersArgument,
    destination: IntegersArgument,
) -> PyResult<PyArray> {
    let x = x.0;
    computed!(py, ndjit::moveaxis(x, source.0, destination.0))
}

/// The array with its axes in this order.
#[pyfunction]
#[pyo3(signature = (x, /, axes))]
pub fn permute_dims(py: Python<'_>, x: OperandArgument, axes: IntegersArgument) -> PyResult<PyArray> {
    let x = x.0;
    computed!(py, ndjit::permute_dims(x, axes.0))
}

/// The transposes of the matrices in the last two axes.
#[pyfunction]
#[pyo3(signature = (x, /))]
pub fn matrix_transpose(py: Python<'_>, x: OperandArgument) -> PyResult<PyArray> {
    let x = x.0;
    computed!(py, ndjit::matrix_transpose(x))
}

/// Each element as often as `repeats` says, along an axis or in row-major order.
#[pyfunction]
#[pyo3(signature = (x, repeats, /, *, axis=None))]
pub fn repeat(
    py: Python<'_>,
    x: OperandArgument,
    repeats: &Bound<'_, PyAny>,
    axis: Option<isize>,
) -> PyResult<PyArray> {
    let times = match repeats.cast::<PyArray>() {
        Ok(array) => PyArray::evaluated(array, "repeat", "give the numbers of repetitions as known integers")?
            .reshape(-1)
            .cast(ndjit::DType::I64)
            .to_vec::<i64>()
            .or_raise(py)?,
        Err(_) => repeats.extract::<IntegersArgument>()?.0.into_iter().map(|n| n as i64).collect(),
    };
    let x = x.0;
    match axis {
        Some(axis) => computed!(py, ndjit::repeat(x, times, axis)),
        None => computed!(py, ndjit::repeat(ndjit::reshape(x, -1), times, 0)),
    }
}

/// The elements in another shape, in row-major order; one extent may be -1.
#[pyfunction]
#[pyo3(signature = (x, /, shape, *, copy=None))]
pub fn reshape(py: Python<'_>, x: OperandArgument, shape: IntegersArgument, copy: Option<bool>) -> PyResult<PyArray> {
    // Values never change, so a copy is never to be seen, and none is ever needed.
    let _ = copy;
    let (x, shape) = (x.0, shape.0);
    computed!(py, ndjit::reshape(x, shape))
}

/// The elements moved on by `shift` along axes, or in row-major order; those beyond the end come first.
#[pyfunction]
#[pyo3(signature = (x, /, shift, *, axis=None))]
pub fn roll(
    py: Python<'_>,
    x: OperandArgument,
    shift: IntegersArgument,
    axis: Option<IntegersArgument>,
) -> PyResult<PyArray> {
    let x = x.0;
    match axis {
        Some(IntegersArgument(axes)) => {
            let mut shifts = shift.0;
            if shifts.len() == 1 {
                shifts.resize(axes.len(), shifts[0]);
            }
            computed!(py, ndjit::roll(x, shifts, axes))
        }
        None => {
            let shape: Vec<isize> = shape(&x).extents().iter().map(|&extent| extent as isize).collect();
            let shift: isize = shift.0.iter().fold(0, |all, &one| all.wrapping_add(one));
            computed!(py, ndjit::reshape(ndjit::roll(ndjit::reshape(x, -1), shift, 0), shape))
        }
    }
}

/// The array, repeated along each axis.
#[pyfunction]
#[pyo3(signature = (x, repetitions, /))]
pub fn tile(py: Python<'_>, x: OperandArgument, repetitions: IntegersArgument) -> PyResult<PyArray> {
    let x = x.0;
    computed!(py, ndjit::tile(x, repetitions.0))
}

/// Differences of neighbours along an axis, `n` times.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=-1, n=1, prepend=None, append=None), text_signature = "(x, /, *, axis=-1, n=1, prepend=None, append=None)")]
pub fn diff(
    py: Python<'_>,
    x: OperandArgument,
    axis: isize,
    n: usize,
    prepend: Option<&Bound<'_, PyAny>>,
    append: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyArray> {
    let end = |end: Option<&Bound<'_, PyAny>>| match end {
        Some(end) => operand(end),
        None => Ok(None),
    };
    let (before, after, x) = (end(prepend)?, end(append)?, x.0);
    match (before, after) {
        (None, None) => computed!(py, ndjit::diff(x, n, axis)),
        (Some(b), None) => computed!(py, ndjit::prepend(b).diff(x, n, axis)),
        (None, Some(a)) => computed!(py, ndjit::append(a).diff(x, n, axis)),
        (Some(b), Some(a)) => computed!(py, ndjit::prepend(b).append(a).diff(x, n, axis)),
    }
}

/// The minimum and the maximum of elements and bounds; either bound may be left out. The result has the dtype of `x`.
#[pyfunction]
#[pyo3(signature = (x, /, min=None, max=None))]
pub fn clip(
    py: Python<'_>,
    x: OperandArgument,
    min: Option<&Bound<'_, PyAny>>,
    max: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyArray> {
    let bound = |bound: Option<&Bound<'_, PyAny>>| match bound {
        Some(bound) => Ok(Some(bound.extract::<OperandArgument>()?.0)),
        None => Ok::<_, PyErr>(None),
    };
    let (lo, hi, x) = (bound(min)?, bound(max)?, x.0);
    match (lo, hi) {
        (None, None) => computed!(py, ndjit::positive(x)),
        (Some(lo), None) => computed!(py, ndjit::maximum(x, lo)),
        (None, Some(hi)) => computed!(py, ndjit::minimum(x, hi)),
        (Some(lo), Some(hi)) => {
            finish(py, operation(|| ndjit::dynamic::apply::<AnyOperand>(ndjit::Op::Clip, &[x, lo, hi])))
        }
    }
}
