//! The class of arrays: a handle, which `x[k] = v` and `x += y` set to another array, over a value of the library, which never changes.
//!
//! The value is an array, or a value of a function being traced: functions take operands of any type, and give what they make of them.

use crate::dtype::{DTypeArgument, PyDType, object};
use crate::error::{OrRaise, wrong, wrong_type};
use crate::scope::FunctionScope;
use crate::signals::detached;
use crate::{capsule, elements, place, settings, traced};
use ndjit::dynamic::{self, TracedRef};
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{Array, DType, Device, Shape};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Mutex, PoisonError};

/// An array: elements of one dtype, or an operation that computes them when they are read. Operations take and give values:
/// a slice is no view into its array, and `x[k] = v` changes only what the name `x` refers to.
#[pyclass(frozen, module = "ndjit", name = "Array", weakref)]
pub struct PyArray {
    /// Locked for a copy or an exchange only: code of Python, and other threads, may set the handle at any other time.
    value: Mutex<ArrayValue>,
    /// The traced function that made the handle.
    scope: FunctionScope,
}

/// What an array of Python refers to.
#[derive(Clone)]
pub enum ArrayValue {
    /// Elements, or operations that compute them.
    Array(Array),
    /// A value of a function that is being traced, or was.
    Traced(TracedRef),
}

/// Runs an operation, with the policy of the Python code that calls it. In a trace it has the place of that code.
pub fn operation<R>(body: impl FnOnce() -> R) -> R {
    let place = match dynamic::is_tracing() {
        true => Python::attach(place::of_user).unwrap_or(place::BINDING),
        false => place::BINDING,
    };
    settings::scoped(|| ndjit::with_place(place, body))
}

/// Calls a function of the library with operands of any type. The result is an array, or an exception at the user's line.
#[macro_export]
macro_rules! computed {
    ($py:expr, $call:expr) => {
        $crate::array::finish($py, $crate::array::operation(|| $call))
    };
}

/// Calls a function of the library that reads elements: with arrays without the lock of the interpreter. The result is
/// [finished](Finish).
#[macro_export]
macro_rules! evaluated {
    ($py:expr, [$($x:ident),+] => $call:expr) => {
        match [$(&$x),+].iter().any(|x| matches!(x, ndjit::operand::AnyOperand::Expr(_))) {
            true => $crate::array::Finish::finish($crate::array::operation(|| $call), $py),
            false => {
                $(let $x = $crate::operand::array($x);)+
                let made = $crate::signals::detached($py, || $crate::array::operation(|| $call))?;
                $crate::array::Finish::finish(made, $py)
            }
        }
    };
}

/// Results of functions that become arrays of Python.
pub trait Finish {
    /// The results.
    type Finished;

    /// Their arrays, or the exception at the user's line.
    fn finish(self, py: Python<'_>) -> PyResult<Self::Finished>;
}

macro_rules! finished {
    ($($t:ty)*) => {$(
        impl Finish for $t {
            type Finished = PyArray;

            fn finish(self, py: Python<'_>) -> PyResult<PyArray> {
                finish(py, self)
            }
        }
    )*};
}

finished! { Array AnyOperand }

impl<R: Operand> Finish for Vec<R> {
    type Finished = Vec<PyArray>;

    fn finish(self, py: Python<'_>) -> PyResult<Vec<PyArray>> {
        finish_all(py, self)
    }
}

impl<R: Operand> Finish for (R, R) {
    type Finished = Vec<PyArray>;

    fn finish(self, py: Python<'_>) -> PyResult<Vec<PyArray>> {
        finish_all(py, [self.0, self.1])
    }
}

/// The array of a result. Arrays of Python are never weak: a name tells nobody that its array's dtype may change.
pub fn finish(py: Python<'_>, made: impl Operand) -> PyResult<PyArray> {
    let array = match made.operand() {
        AnyOperand::Array(array) => array,
        AnyOperand::Scalar(number) => Array::from(number),
        AnyOperand::Expr(x) => return traced::finish(py, x),
    };
    if let Some(error) = array.error() {
        return Err(traced::raised(py, error));
    }
    let array = if array.is_weak() { operation(|| ndjit::cast(&array, array.dtype())) } else { array };
    Ok(PyArray::from(ArrayValue::Array(array)))
}

/// The arrays of results.
pub fn finish_all<R: Operand>(py: Python<'_>, arrays: impl IntoIterator<Item = R>) -> PyResult<Vec<PyArray>> {
    arrays.into_iter().map(|array| finish(py, array)).collect()
}

impl From<TracedRef> for PyArray {
    fn from(value: TracedRef) -> PyArray {
        PyArray::from(ArrayValue::Traced(value))
    }
}

impl From<ArrayValue> for PyArray {
    fn from(value: ArrayValue) -> PyArray {
        PyArray { value: Mutex::new(value), scope: FunctionScope::current() }
    }
}

impl PyArray {
    /// The value.
    pub fn value(&self) -> ArrayValue {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The value as an array with elements, for what reads them: `what`, with a way to do without.
    pub fn array(&self, py: Python<'_>, what: &str, instead: &str) -> PyResult<Array> {
        match self.value() {
            ArrayValue::Array(array) => Ok(array),
            ArrayValue::Traced(x) => Err(traced::no_elements(py, x, what, instead)),
        }
    }

    /// The value as an operand. After its trace a traced value is an exception.
    pub fn operand(&self, py: Python<'_>) -> PyResult<AnyOperand> {
        match self.value() {
            ArrayValue::Array(array) => Ok(array.operand()),
            ArrayValue::Traced(x) => traced::value(py, x).map(AnyOperand::Expr),
        }
    }

    /// The dtype of the elements.
    pub fn element(&self, py: Python<'_>) -> PyResult<DType> {
        match self.value() {
            ArrayValue::Array(array) => Ok(array.dtype()),
            ArrayValue::Traced(x) => traced::value(py, x).map(|x| x.dtype()),
        }
    }

    /// The extents.
    pub fn extents(&self, py: Python<'_>) -> PyResult<Shape> {
        match self.value() {
            ArrayValue::Array(array) => Ok(array.shape().clone()),
            ArrayValue::Traced(x) => traced::value(py, x).map(|x| x.shape()),
        }
    }

    fn len(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.extents(py)?.size().unwrap_or(0))
    }

    /// Sets the handle to another array of the same dtype and shape.
    pub fn rebind(slf: &Bound<'_, Self>, other: PyArray) -> PyResult<()> {
        let py = slf.py();
        let (handle, made) = (slf.get(), other.value());
        if matches!(made, ArrayValue::Traced(_)) && handle.scope != FunctionScope::current() {
            return Err(traced::captured(py));
        }
        let (own, dtype) = (handle.element(py)?, other.element(py)?);
        if own != dtype {
            let (own, other) = (own.row().long, dtype.row().long);
            return Err(wrong_type(format!("the result is {other}, which an array of {own} does not hold in place")));
        }
        let (own, shape) = (handle.extents(py)?, other.extents(py)?);
        if own != shape {
            return Err(wrong(format!("the result has shape {shape}, which an array of shape {own} does not hold")));
        }
        let former = std::mem::replace(&mut *handle.value.lock().unwrap_or_else(PoisonError::into_inner), made);
        // Memory of another library is released by its code, which may use this array.
        drop(former);
        Ok(())
    }

    /// Computes the elements, without the lock of the interpreter, for `what`.
    pub fn evaluated(slf: &Bound<'_, Self>, what: &str, instead: &str) -> PyResult<Array> {
        let py = slf.py();
        let value = slf.get().array(py, what, instead)?;
        detached(py, || value.eval().map(drop))?.or_raise(py)?;
        Ok(value)
    }

    /// The element of an array with one element, as a number of Python.
    fn one<'py>(slf: &Bound<'py, Self>, wanted: &str, instead: &str) -> PyResult<Bound<'py, PyAny>> {
        let value = Self::evaluated(slf, wanted, instead)?;
        if value.len() != 1 {
            return Err(wrong_type(format!(
                "an array of shape {} is no {wanted}: it has {} elements",
                value.shape(),
                value.len()
            )));
        }
        elements::item(slf.py(), &value)
    }
}

/// The way out where elements of a traced value are read.
const READ: &str = "return the value, and read it outside of the traced function";

/// The name of a device, as `x.device` gives it.
pub fn device_name(device: Device) -> String {
    device.to_string()
}

/// The device of a name.
pub fn device(name: Option<&str>) -> PyResult<Option<Device>> {
    match name {
        None => Ok(None),
        Some(name) if name == device_name(Device::CPU) => Ok(Some(Device::CPU)),
        Some(name) => {
            Err(wrong(format!("there is no device {name:?}; this package has {:?}", device_name(Device::CPU))))
        }
    }
}

#[pymethods]
impl PyArray {
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyDType>> {
        object(py, self.element(py)?)
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.extents(py)?.extents())
    }

    #[getter]
    fn ndim(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.extents(py)?.rank())
    }

    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<usize> {
        self.len(py)
    }

    /// The bytes of the elements.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.len(py)? * self.element(py)?.bytes())
    }

    /// The bytes of an element.
    #[getter]
    fn itemsize(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.element(py)?.bytes())
    }

    #[getter]
    fn device(&self) -> String {
        match self.value() {
            ArrayValue::Array(array) => device_name(array.device()),
            ArrayValue::Traced(_) => device_name(Device::CPU),
        }
    }

    /// The transpose of a matrix.
    #[getter]
    #[allow(non_snake_case)]
    fn T(&self, py: Python<'_>) -> PyResult<PyArray> {
        let shape = self.extents(py)?;
        if shape.rank() != 2 {
            return Err(wrong(format!("T is of matrices; of shape {shape} take `mT` or `permute_dims`")));
        }
        self.mT(py)
    }

    /// The transposes of the matrices in the last two axes.
    #[getter]
    #[allow(non_snake_case)]
    fn mT(&self, py: Python<'_>) -> PyResult<PyArray> {
        let x = self.operand(py)?;
        computed!(py, ndjit::matrix_transpose(x))
    }

    #[getter]
    fn real(&self, py: Python<'_>) -> PyResult<PyArray> {
        let x = self.operand(py)?;
        computed!(py, ndjit::real(x))
    }

    #[getter]
    fn imag(&self, py: Python<'_>) -> PyResult<PyArray> {
        let x = self.operand(py)?;
        computed!(py, ndjit::imag(x))
    }

    /// The array, converted to a dtype.
    #[pyo3(signature = (dtype, /, *, copy=true))]
    pub fn astype(slf: &Bound<'_, Self>, dtype: DTypeArgument, copy: bool) -> PyResult<Py<PyArray>> {
        let py = slf.py();
        let own = slf.get().element(py)?;
        if own == dtype.0 {
            // Another handle, or the same one.
            return if copy { Py::new(py, slf.get().__copy__()) } else { Ok(slf.clone().unbind()) };
        }
        elements::check_real(own, dtype.0)?;
        let value = slf.get().operand(py)?;
        Py::new(py, computed!(py, ndjit::cast(value, dtype.0))?)
    }

    /// The elements as nested lists of Python's numbers.
    fn tolist<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        elements::nested(slf.py(), &Self::evaluated(slf, "tolist", READ)?)
    }

    /// The element of an array with one element.
    fn item<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let value = Self::evaluated(slf, "item", READ)?;
        if value.len() != 1 {
            return Err(wrong(format!("an array of shape {} has {} elements, not one", value.shape(), value.len())));
        }
        elements::item(slf.py(), &value)
    }

    /// Computes the elements now, and waits for them.
    fn block_until_ready<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let value = slf.get().value();
        // What a trace computes is ready when it runs.
        if let ArrayValue::Array(array) = value {
            detached(slf.py(), || array.block_until_ready().map(drop))?.or_raise(slf.py())?;
        }
        Ok(slf)
    }

    /// Why the array has its dtype: the operations not yet computed, with the rule of each.
    fn explain_dtype(&self, py: Python<'_>) -> PyResult<String> {
        let text = match self.value() {
            ArrayValue::Array(array) => array.explain_dtype().or_raise(py)?.to_string(),
            ArrayValue::Traced(x) => return Ok(x.expr().and_then(|x| x.explain_dtype()).or_raise(py)?.to_string()),
        };
        // Operations on arrays have no lines of Python: to look for one takes as long as to record an operation.
        Ok(text.replace(&format!(" at {}", place::BINDING), ""))
    }

    #[pyo3(signature = (device, /, *, stream=None))]
    fn to_device<'py>(
        slf: Bound<'py, Self>,
        device: &str,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        if stream.is_some() {
            return Err(wrong("no device has streams"));
        }
        self::device(Some(device))?;
        Ok(slf)
    }

    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let value = Self::evaluated(slf, "bool", traced::BRANCH)?;
        if value.len() != 1 {
            return Err(wrong(format!(
                "an array of shape {} is neither true nor false; `ndjit.any` and `ndjit.all` are",
                value.shape()
            )));
        }
        elements::item(slf.py(), &value)?.is_truthy()
    }

    fn __int__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().get_type::<pyo3::types::PyInt>().call1((Self::one(slf, "integer", traced::INTEGER)?,))
    }

    fn __float__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().get_type::<pyo3::types::PyFloat>().call1((Self::one(slf, "float", traced::NUMBER)?,))
    }

    fn __complex__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().get_type::<pyo3::types::PyComplex>().call1((Self::one(slf, "complex number", traced::NUMBER)?,))
    }

    fn __index__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (dtype, shape) = (slf.get().element(slf.py())?, slf.get().extents(slf.py())?);
        if !dtype.is_int() || shape.rank() != 0 {
            return Err(wrong_type("only an array of an integer dtype without axes is an index"));
        }
        Self::one(slf, "index", traced::INTEGER)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.extents(py)?.extents().first().copied().ok_or_else(|| wrong_type("an array without axes has no length"))
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().extents(slf.py())?.rank() == 0 {
            return Err(wrong_type("an array without axes has no elements to iterate over"));
        }
        let traced = matches!(slf.get().value(), ArrayValue::Traced(_));
        let value = match traced {
            false => Self::evaluated(slf, "iterate", READ)?.operand(),
            true => slf.get().operand(slf.py())?,
        };
        let parts = operation(|| ndjit::unstack(value, 0)).or_raise(slf.py())?;
        finish_all(slf.py(), parts)?.into_pyobject(slf.py())?.call_method0("__iter__")
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        if let ArrayValue::Traced(x) = slf.get().value() {
            return Ok(traced::described(x));
        }
        let value = Self::evaluated(slf, "repr", READ)?;
        let text = value.to_string().replace('\n', "\n       ");
        let dtype = value.dtype().row().long;
        // The shape of no elements does not show.
        let shape = if value.is_empty() { format!(", shape={}", slf.get().shape(slf.py())?) } else { String::new() };
        Ok(format!("Array({text}, dtype={dtype}{shape})"))
    }

    fn __str__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let value = slf.get().value();
        match value {
            ArrayValue::Traced(x) => Ok(traced::described(x)),
            ArrayValue::Array(_) => Ok(Self::evaluated(slf, "str", READ)?.to_string()),
        }
    }

    fn __format__<'py>(slf: &Bound<'py, Self>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let rank = slf.get().extents(py)?.rank();
        match rank {
            _ if spec.is_empty() => Ok(Self::__str__(slf)?.into_pyobject(py)?.into_any()),
            0 => py.import("builtins")?.call_method1("format", (Self::item(slf)?, spec)),
            _ => Err(wrong_type("an array with axes takes no format; format its elements")),
        }
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ndjit._display")?.call_method1("html", (slf,))
    }

    fn __copy__(&self) -> PyArray {
        PyArray::from(self.value())
    }

    #[pyo3(signature = (_memo, /))]
    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyArray {
        self.__copy__()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let value = Self::evaluated(slf, "pickle", READ)?;
        let bytes = value.to_bytes().or_raise(py)?;
        let make = py.import("ndjit._ndjit")?.getattr("_from_bytes")?;
        let arguments =
            (value.dtype().row().long, value.shape().extents().to_vec(), pyo3::types::PyBytes::new(py, &bytes));
        Ok((make, arguments).into_pyobject(py)?.into_any())
    }

    #[pyo3(signature = (*, api_version=None))]
    fn __array_namespace__<'py>(&self, py: Python<'py>, api_version: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let module = py.import("ndjit")?;
        let versions: Vec<String> = module.getattr("_API_VERSIONS")?.extract()?;
        match api_version {
            Some(asked) if !versions.iter().any(|version| version == asked) => {
                Err(wrong(format!("the versions of the Array API are {}, not {asked}", versions.join(", "))))
            }
            _ => Ok(module.into_any()),
        }
    }

    /// NumPy's array of the elements: read-only, without a copy, unless one is asked for.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let array = elements::numpy(slf, &Self::evaluated(slf, "numpy.asarray", traced::NUMPY)?)?;
        let options = PyDict::new(py);
        options.set_item("copy", copy == Some(true))?;
        match dtype {
            Some(dtype) if !array.getattr("dtype")?.eq(dtype)? => {
                if copy == Some(false) {
                    return Err(wrong("another dtype needs a copy"));
                }
                array.call_method("astype", (dtype,), Some(&options))
            }
            _ if copy == Some(true) => array.call_method0("copy"),
            _ => Ok(array),
        }
    }

    #[pyo3(signature = (ufunc, method, *inputs, **kwargs))]
    fn __array_ufunc__<'py>(
        slf: &Bound<'py, Self>,
        ufunc: &Bound<'py, PyAny>,
        method: &str,
        inputs: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let called = slf.py().import("ndjit._ufuncs")?;
        called.call_method1("call", (ufunc, method, inputs, kwargs))
    }

    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'_, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if stream.is_some() {
            return Err(wrong("the host has no streams"));
        }
        if dl_device.is_some_and(|device| device != capsule::HOST) {
            return Err(PyBufferError::new_err("arrays are exported to the host's memory, device (1, 0)"));
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        if !versioned && copy == Some(false) {
            return Err(PyBufferError::new_err(
                "before version 1 of DLPack no tensor can be read-only: ask with `max_version=(1, 0)`, or for a copy",
            ));
        }
        let value = Self::evaluated(slf, "__dlpack__", traced::NUMPY)?;
        let copy = if versioned { copy } else { Some(true) };
        let tensor = detached(py, || value.to_dlpack(copy))?.or_raise(py)?;
        capsule::export(py, tensor, versioned)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        capsule::HOST
    }
}

/// An array of bytes: what a pickle holds.
#[pyfunction]
pub fn _from_bytes(py: Python<'_>, dtype: &str, shape: Vec<usize>, bytes: &[u8]) -> PyResult<PyArray> {
    let dtype: DType = dtype.parse().map_err(|_| PyTypeError::new_err("no dtype"))?;
    finish(py, Array::from_bytes(dtype, shape, bytes).or_raise(py)?)
}
