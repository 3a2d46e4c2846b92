//! Creation functions.

use crate::array::{PyArray, device, finish, finish_all, operation};
use crate::dtype::DTypeArgument;
use crate::error::{OrRaise, wrong};
use crate::operand::{DiagonalArgument, IntegersArgument, NumberArgument, OperandArgument};
use crate::signals::detached;
use crate::{capsule, computed, elements};
use ndjit::creation::{Eye, Typed};
use ndjit::operand::AnyOperand;
use ndjit::{Array, Indexing, weak};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Creates an array, of the asked dtype or the inferred one, without the lock of the interpreter; signals interrupt it.
fn create(
    py: Python<'_>,
    dtype: Option<DTypeArgument>,
    on: Option<&str>,
    asked: impl FnOnce(Typed) -> Array + Send,
    inferred: impl FnOnce() -> Array + Send,
) -> PyResult<PyArray> {
    device(on)?;
    let made = detached(py, || {
        operation(|| match dtype {
            Some(dtype) => asked(ndjit::dtype(dtype.0)),
            None => inferred(),
        })
    })?;
    finish(py, made)
}

/// Creates an array like another, of the asked dtype or the other's.
fn create_like(
    py: Python<'_>,
    (x, dtype, on): (OperandArgument, Option<DTypeArgument>, Option<&str>),
    asked: impl FnOnce(Typed, AnyOperand) -> AnyOperand,
    inferred: impl FnOnce(AnyOperand) -> AnyOperand,
) -> PyResult<PyArray> {
    device(on)?;
    let x = x.0;
    let made = operation(|| match dtype {
        Some(dtype) => asked(ndjit::dtype(dtype.0), x),
        None => inferred(x),
    });
    finish(py, made)
}

/// An array of a number, nested sequences, another array, or an object with `__dlpack__`, `__array__` or a buffer. Numbers get
/// the policy's default dtypes. Arrays of other libraries are copied, unless they are read-only or `copy=False` says that
/// nobody will write to them.
#[pyfunction]
#[pyo3(signature = (obj, /, *, dtype=None, device=None, copy=None))]
pub fn asarray(
    py: Python<'_>,
    obj: &Bound<'_, PyAny>,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
    copy: Option<bool>,
) -> PyResult<Py<PyArray>> {
    self::device(device)?;
    let dtype = dtype.map(|dtype| dtype.0);
    if let Ok(array) = obj.cast::<PyArray>()
        && dtype.is_none_or(|dtype| array.get().element(py).is_ok_and(|own| own == dtype))
        && copy != Some(true)
    {
        return Ok(array.clone().unbind());
    }
    // The elements of a nested list may be traced values.
    if let Some(made) = crate::traced::nested(obj, dtype)? {
        return Py::new(py, made);
    }
    Py::new(py, finish(py, elements::from_object(obj, dtype, copy)?)?)
}

/// The array of an object with `__dlpack__`, sharing its memory unless `copy=True`. Nobody may write to the memory while the
/// array exists.
#[pyfunction]
#[pyo3(signature = (x, /, *, device=None, copy=None))]
pub fn from_dlpack(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
    copy: Option<bool>,
) -> PyResult<PyArray> {
    // A device of this package, or a pair of DLPack.
    match device.map(|device| device.extract::<(i32, i32)>()) {
        Some(Ok(pair)) if pair == capsule::HOST => {}
        Some(Ok(pair)) => return Err(wrong(format!("there is no device {pair:?}"))),
        Some(Err(_)) => self::device(device.map(|device| device.extract::<&str>()).transpose()?).map(drop)?,
        None => {}
    }
    let tensor = capsule::import(x)?;
    let array = py.detach(|| ndjit::from_dlpack(tensor, None, copy)).or_raise(py)?;
    finish(py, array)
}

/// Numbers from `start` (0, if `stop` is left out) below `stop`, `step` apart.
#[pyfunction]
#[pyo3(signature = (start, /, stop=None, step=NumberArgument(weak(1)), *, dtype=None, device=None), text_signature = "(start, /, stop=None, step=1, *, dtype=None, device=None)")]
pub fn arange(
    py: Python<'_>,
    start: NumberArgument,
    stop: Option<NumberArgument>,
    step: NumberArgument,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
) -> PyResult<PyArray> {
    let steps = match stop {
        Some(stop) => (start.0, stop.0, step.0),
        None => (weak(0), start.0, step.0),
    };
    create(py, dtype, device, |typed| typed.arange(steps), || ndjit::arange(steps))
}

/// `num` numbers from `start` to `stop`, the same distance apart; `endpoint=False` leaves `stop` out.
#[pyfunction]
#[pyo3(signature = (start, stop, /, num, *, dtype=None, device=None, endpoint=true))]
pub fn linspace(
    py: Python<'_>,
    start: NumberArgument,
    stop: NumberArgument,
    num: usize,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
    endpoint: bool,
) -> PyResult<PyArray> {
    let (start, stop) = (start.0, stop.0);
    match endpoint {
        true => {
            create(py, dtype, device, |typed| typed.linspace(start..=stop, num), || ndjit::linspace(start..=stop, num))
        }
        false => {
            create(py, dtype, device, |typed| typed.linspace(start..stop, num), || ndjit::linspace(start..stop, num))
        }
    }
}

/// An array of zeros.
#[pyfunction]
#[pyo3(signature = (shape, *, dtype=None, device=None))]
pub fn zeros(
    py: Python<'_>,
    shape: IntegersArgument,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
) -> PyResult<PyArray> {
    let shape = shape.extents()?;
    create(py, dtype, device, |typed| typed.zeros(&shape), || ndjit::zeros(&shape))
}

/// An array of ones.
#[pyfunction]
#[pyo3(signature = (shape, *, dtype=None, device=None))]
pub fn ones(
    py: Python<'_>,
    shape: IntegersArgument,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
) -> PyResult<PyArray> {
    let shape = shape.extents()?;
    create(py, dtype, device, |typed| typed.ones(&shape), || ndjit::ones(&shape))
}

/// An array of zeros: elements without a value do not exist.
#[pyfunction]
#[pyo3(signature = (shape, *, dtype=None, device=None))]
pub fn empty(
    py: Python<'_>,
    shape: IntegersArgument,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
) -> PyResult<PyArray> {
    zeros(py, shape, dtype, device)
}

/// An array of one number.
#[pyfunction]
#[pyo3(signature = (shape, fill_value, *, dtype=None, device=None))]
pub fn full(
    py: Python<'_>,
    shape: IntegersArgument,
    fill_value: NumberArgument,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
) -> PyResult<PyArray> {
    let (shape, number) = (shape.extents()?, fill_value.0);
    create(py, dtype, device, |typed| typed.full(&shape, number), || ndjit::full(&shape, number))
}

/// An array of zeros with the shape and the dtype of another, unless `dtype` is given.
#[pyfunction]
#[pyo3(signature = (x, /, *, dtype=None, device=None))]
pub fn zeros_like(
    py: Python<'_>,
    x: OperandArgument,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
) -> PyResult<PyArray> {
    create_like(py, (x, dtype, device), |typed, x| typed.zeros_like(x), |x| ndjit::zeros_like(x))
}

/// An array of ones with the shape and the dtype of another, unless `dtype` is given.
#[pyfunction]
#[pyo3(signature = (x, /, *, dtype=None, device=None))]
pub fn ones_like(
    py: Python<'_>,
    x: OperandArgument,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
) -> PyResult<PyArray> {
    create_like(py, (x, dtype, device), |typed, x| typed.ones_like(x), |x| ndjit::ones_like(x))
}

/// An array of zeros with the shape and the dtype of another, unless `dtype` is given.
#[pyfunction]
#[pyo3(signature = (x, /, *, dtype=None, device=None))]
pub fn empty_like(
    py: Python<'_>,
    x: OperandArgument,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
) -> PyResult<PyArray> {
    zeros_like(py, x, dtype, device)
}

/// An array of one number with the shape and the dtype of another, unless `dtype` is given.
#[pyfunction]
#[pyo3(signature = (x, /, fill_value, *, dtype=None, device=None))]
pub fn full_like(
    py: Python<'_>,
    x: OperandArgument,
    fill_value: NumberArgument,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
) -> PyResult<PyArray> {
    let number = fill_value.0;
    create_like(py, (x, dtype, device), |typed, x| typed.full_like(x, number), |x| ndjit::full_like(x, number))
}

/// A matrix with ones on its diagonal `k`, zeros elsewhere.
#[pyfunction]
#[pyo3(signature = (n_rows, n_cols=None, /, *, k=DiagonalArgument(0), dtype=None, device=None), text_signature = "(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)")]
pub fn eye(
    py: Python<'_>,
    n_rows: usize,
    n_cols: Option<usize>,
    k: DiagonalArgument,
    dtype: Option<DTypeArgument>,
    device: Option<&str>,
) -> PyResult<PyArray> {
    let eye = Eye { rows: n_rows, columns: n_cols.unwrap_or(n_rows), diagonal: k.0 };
    create(py, dtype, device, |typed| typed.eye(eye), || ndjit::eye(eye))
}

/// The coordinates of a grid, of vectors: as `"xy"` of axes 1 and 0, or as `"ij"` in their order.
#[pyfunction]
#[pyo3(signature = (*arrays, indexing="xy"))]
pub fn meshgrid<'py>(py: Python<'py>, arrays: Vec<OperandArgument>, indexing: &str) -> PyResult<Bound<'py, PyTuple>> {
    let indexing = match indexing {
        "xy" => Indexing::Xy,
        "ij" => Indexing::Ij,
        _ => return Err(wrong(format!("indexing is \"xy\" or \"ij\", not {indexing:?}"))),
    };
    let arrays = arrays.into_iter().map(|x| x.0);
    PyTuple::new(py, finish_all(py, operation(|| ndjit::meshgrid(arrays, indexing)))?)
}

/// The lower triangles of matrices: zeros above the diagonal `k`.
#[pyfunction]
#[pyo3(signature = (x, /, *, k=DiagonalArgument(0)), text_signature = "(x, /, *, k=0)")]
pub fn tril(py: Python<'_>, x: OperandArgument, k: DiagonalArgument) -> PyResult<PyArray> {
    let x = x.0;
    computed!(py, ndjit::tril(x, k.0))
}

/// The upper triangles of matrices: zeros below the diagonal `k`.
#[pyfunction]
#[pyo3(signature = (x, /, *, k=DiagonalArgument(0)), text_signature = "(x, /, *, k=0)")]
pub fn triu(py: Python<'_>, x: OperandArgument, k: DiagonalArgument) -> PyResult<PyArray> {
    let x = x.0;
    computed!(py, ndjit::triu(x, k.0))
}
