//! Functions that find elements: those whose shapes depend on values compute them at once.

use crate::array::PyArray;
use crate::error::wrong;
use crate::operand::{OperandArgument, shape};
use crate::{computed, evaluated};
use ndjit::Side;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The indices of nonzero elements along each axis, as a tuple.
#[pyfunction]
#[pyo3(signature = (x, /))]
pub fn nonzero<'py>(py: Python<'py>, x: OperandArgument) -> PyResult<Bound<'py, PyTuple>> {
    let x = x.0;
    PyTuple::new(py, evaluated!(py, [x] => ndjit::nonzero(x))?)
}

/// Where in a sorted array elements belong: before equal ones (`"left"`) or after them (`"right"`).
#[pyfunction]
#[pyo3(signature = (x1, x2, /, *, side="left", sorter=None))]
pub fn searchsorted(
    py: Python<'_>,
    x1: OperandArgument,
    x2: OperandArgument,
    side: &str,
    sorter: Option<OperandArgument>,
) -> PyResult<PyArray> {
    let side = match side {
        "left" => Side::Left,
        "right" => Side::Right,
        _ => return Err(wrong(format!("side is \"left\" or \"right\", not {side:?}"))),
    };
    let (x, values) = (x1.0, x2.0);
    match sorter {
        None => computed!(py, ndjit::searchsorted(x, values, side)),
        Some(order) => {
            let order = order.0;
            let x = evaluated!(py, [x, order] => ndjit::take(x, order, 0))?.operand(py)?;
            computed!(py, ndjit::searchsorted(x, values, side))
        }
    }
}

/// The elements at indices along an axis.
#[pyfunction]
#[pyo3(signature = (x, indices, /, *, axis=None))]
pub fn take(py: Python<'_>, x: OperandArgument, indices: OperandArgument, axis: Option<isize>) -> PyResult<PyArray> {
    let (x, indices) = (x.0, indices.0);
    let axis = match (axis, &x) {
        (Some(axis), _) => axis,
        (None, x) => match shape(x).rank() {
            1 => 0,
            rank => return Err(wrong(format!("take: of an array with {rank} axes `axis` is needed"))),
        },
    };
    evaluated!(py, [x, indices] => ndjit::take(x, indices, axis))
}

/// The elements at indices along an axis, one for each index.
#[pyfunction]
#[pyo3(signature = (x, indices, /, *, axis=-1), text_signature = "(x, indices, /, *, axis=-1)")]
pub fn take_along_axis(py: Python<'_>, x: OperandArgument, indices: OperandArgument, axis: isize) -> PyResult<PyArray> {
    let (x, indices) = (x.0, indices.0);
    evaluated!(py, [x, indices] => ndjit::take_along_axis(x, indices, axis))
}

/// Whether elements are among others.
#[pyfunction]
#[pyo3(signature = (x1, x2, /, *, invert=false))]
pub fn isin(py: Python<'_>, x1: OperandArgument, x2: OperandArgument, invert: bool) -> PyResult<PyArray> {
    let (x, others) = (x1.0, x2.0);
    match invert {
        false => computed!(py, ndjit::isin(x, others)),
        true => computed!(py, ndjit::logical_not(ndjit::isin(x, others))),
    }
}

/// A named tuple of results.
fn named<'py>(py: Python<'py>, class: &str, results: Vec<PyArray>) -> PyResult<Bound<'py, PyAny>> {
    py.import("ndjit._results")?.getattr(class)?.call1(PyTuple::new(py, results)?)
}

/// The unique elements, the index of the first of each, the index of each element's among them, and how many of each there are.
#[pyfunction]
#[pyo3(signature = (x, /))]
pub fn unique_all<'py>(py: Python<'py>, x: OperandArgument) -> PyResult<Bound<'py, PyAny>> {
    let x = x.0;
    let found = evaluated!(py, [x] => {
        let found = ndjit::unique_all(x);
        vec![found.values, found.indices, found.inverse_indices, found.counts]
    })?;
    named(py, "UniqueAllResult", found)
}

/// The unique elements, and how many of each there are.
#[pyfunction]
#[pyo3(signature = (x, /))]
pub fn unique_counts<'py>(py: Python<'py>, x: OperandArgument) -> PyResult<Bound<'py, PyAny>> {
    let x = x.0;
    named(py, "UniqueCountsResult", evaluated!(py, [x] => ndjit::unique_counts(x))?)
}

/// The unique elements, and the index of each element's among them.
#[pyfunction]
#[pyo3(signature = (x, /))]
pub fn unique_inverse<'py>(py: Python<'py>, x: OperandArgument) -> PyResult<Bound<'py, PyAny>> {
    let x = x.0;
    named(py, "UniqueInverseResult", evaluated!(py, [x] => ndjit::unique_inverse(x))?)
}

/// The unique elements, in ascending order.
#[pyfunction]
#[pyo3(signature = (x, /))]
pub fn unique_values(py: Python<'_>, x: OperandArgument) -> PyResult<PyArray> {
    let x = x.0;
    evaluated!(py, [x] => ndjit::unique_values(x))
}
