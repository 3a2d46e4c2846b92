//! Functions on dtypes.

use crate::array::{PyArray, device, finish, operation};
use crate::dtype::{DTypeArgument, PyDType, object};
use crate::error::{OrRaise, wrong_type};
use crate::operand::{OperandArgument, number, value_type};
use crate::settings::policy;
use ndjit::{DType, DTypeSet, ValueType};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// The type of an array, a dtype or a number.
fn type_of(x: &Bound<'_, PyAny>) -> PyResult<ValueType> {
    if let Ok(array) = x.cast::<PyArray>() {
        return Ok(value_type(&array.get().operand(x.py())?));
    }
    match number(x)? {
        Some(number) => Ok(number.value_type()),
        None => dtype_of(x).map(ValueType::Strong),
    }
}

/// The dtype of an array, or a dtype.
fn dtype_of(x: &Bound<'_, PyAny>) -> PyResult<DType> {
    match x.cast::<PyArray>() {
        Ok(array) => array.get().element(x.py()),
        Err(_) => x.extract::<DTypeArgument>().map(|dtype| dtype.0),
    }
}

/// The array, converted to a dtype.
#[pyfunction]
#[pyo3(signature = (x, dtype, /, *, copy=true, device=None))]
pub fn astype(x: &Bound<'_, PyAny>, dtype: DTypeArgument, copy: bool, device: Option<&str>) -> PyResult<Py<PyArray>> {
    self::device(device)?;
    match x.cast::<PyArray>() {
        Ok(x) => PyArray::astype(x, dtype, copy),
        Err(_) => {
            PyArray::astype(&Bound::new(x.py(), finish(x.py(), x.extract::<OperandArgument>()?.0)?)?, dtype, copy)
        }
    }
}

/// The dtype of an operation on these arrays, dtypes and numbers, under the current policy.
#[pyfunction]
#[pyo3(signature = (*arrays_and_dtypes))]
pub fn result_type(py: Python<'_>, arrays_and_dtypes: &Bound<'_, PyTuple>) -> PyResult<Py<PyDType>> {
    let types: Vec<ValueType> = arrays_and_dtypes.iter().map(|x| type_of(&x)).collect::<PyResult<_>>()?;
    if types.is_empty() {
        return Err(wrong_type("give an array or a dtype at least"));
    }
    let ty = operation(|| ndjit::result_type(&types)).or_raise(py)?;
    object(py, policy().commit(ty))
}

/// Whether promotion under the current policy converts to this dtype.
#[pyfunction]
#[pyo3(signature = (from_, to, /))]
pub fn can_cast(py: Python<'_>, from_: &Bound<'_, PyAny>, to: DTypeArgument) -> PyResult<bool> {
    let from = ValueType::Strong(dtype_of(from_)?);
    operation(|| ndjit::can_cast(from, to.0)).or_raise(py)
}

/// Whether a dtype is of a kind: a dtype, `"bool"`, `"signed integer"`, `"unsigned integer"`, `"integral"`, `"real floating"`,
/// `"complex floating"`, `"numeric"`, or a tuple of these.
#[pyfunction]
#[pyo3(signature = (dtype, kind))]
pub fn isdtype(py: Python<'_>, dtype: DTypeArgument, kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    fn set(py: Python<'_>, kind: &Bound<'_, PyAny>) -> PyResult<DTypeSet> {
        if let Ok(kinds) = kind.cast::<PyTuple>() {
            return kinds.iter().try_fold(DTypeSet::EMPTY, |all, kind| Ok(all.union(set(py, &kind)?)));
        }
        match kind.cast::<PyString>() {
            Ok(name) => name.to_str()?.parse().or_raise(py),
            Err(_) => Ok(DTypeSet::from(kind.extract::<DTypeArgument>()?.0)),
        }
    }
    Ok(ndjit::isdtype(dtype.0, set(py, kind)?))
}

/// The limits of a floating-point dtype, as numbers of Python.
#[pyclass(frozen, get_all, module = "ndjit", name = "finfo_object")]
pub struct FloatLimits {
    bits: u32,
    eps: f64,
    max: f64,
    min: f64,
    smallest_normal: f64,
    smallest_subnormal: f64,
    dtype: Py<PyDType>,
}

/// The limits of an integer dtype.
#[pyclass(frozen, get_all, module = "ndjit", name = "iinfo_object")]
pub struct IntLimits {
    bits: u32,
    max: i128,
    min: i128,
    dtype: Py<PyDType>,
}

/// The limits of a floating-point dtype, or of the parts of a complex one.
#[pyfunction]
#[pyo3(signature = (r#type, /))]
pub fn finfo(py: Python<'_>, r#type: &Bound<'_, PyAny>) -> PyResult<FloatLimits> {
    let ndjit::FloatInfo { dtype, bits, eps, max, min, smallest_normal, smallest_subnormal, .. } =
        ndjit::finfo(dtype_of(r#type)?).or_raise(py)?;
    Ok(FloatLimits { bits, eps, max, min, smallest_normal, smallest_subnormal, dtype: object(py, dtype)? })
}

/// The limits of an integer dtype.
#[pyfunction]
#[pyo3(signature = (r#type, /))]
pub fn iinfo(py: Python<'_>, r#type: &Bound<'_, PyAny>) -> PyResult<IntLimits> {
    let ndjit::IntInfo { dtype, bits, max, min } = ndjit::iinfo(dtype_of(r#type)?).or_raise(py)?;
    Ok(IntLimits { bits, max, min, dtype: object(py, dtype)? })
}
