//! Dtypes: objects that NumPy understands and that equal NumPy's.

use crate::error::{OrRaise, wrong_type};
use ndjit::{DType, Kind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString, PyType};

/// The type of an array's elements. `ndjit.float32` and NumPy's are equal, and NumPy accepts either.
#[pyclass(frozen, module = "ndjit", name = "DType")]
pub struct PyDType(pub DType);

/// The object of each dtype: there is one, so that `is` compares them too.
pub fn object(py: Python<'_>, dtype: DType) -> PyResult<Py<PyDType>> {
    static OBJECTS: [PyOnceLock<Py<PyDType>>; DType::ALL.len()] = [const { PyOnceLock::new() }; DType::ALL.len()];
    let index = DType::ALL.iter().position(|&other| other == dtype).unwrap_or(0);
    Ok(OBJECTS[index].get_or_try_init(py, || Py::new(py, PyDType(dtype)))?.clone_ref(py))
}

/// The dtype of Python's numbers of a type, under the current policy.
fn of_builtin(ty: &Bound<'_, PyType>) -> Option<DType> {
    let py = ty.py();
    let defaults = crate::settings::policy().defaults();
    match () {
        () if ty.is(py.get_type::<PyBool>()) => Some(DType::Bool),
        () if ty.is(py.get_type::<PyInt>()) => Some(defaults.int),
        () if ty.is(py.get_type::<PyFloat>()) => Some(defaults.float),
        () if ty.is(py.get_type::<PyComplex>()) => Some(defaults.complex),
        () => None,
    }
}

/// A dtype as an argument: an object of this library or of NumPy, a name, or a type of Python's numbers.
#[derive(Clone, Copy)]
pub struct DTypeArgument(pub DType);

impl<'py> FromPyObject<'_, 'py> for DTypeArgument {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<DTypeArgument> {
        let py = given.py();
        if let Ok(dtype) = given.cast::<PyDType>() {
            return Ok(DTypeArgument(dtype.get().0));
        }
        if let Some(dtype) = given.cast::<PyType>().ok().and_then(|ty| of_builtin(&ty)) {
            return Ok(DTypeArgument(dtype));
        }
        // NumPy's dtypes have a name, its types of scalars a name as classes.
        let name = match given.cast::<PyString>() {
            Ok(name) => name.to_str()?.to_owned(),
            Err(_) => {
                let named = given.getattr_opt("name")?.filter(|name| name.is_instance_of::<PyString>());
                match named.map_or_else(|| given.getattr_opt("__name__"), |name| Ok(Some(name)))? {
                    Some(name) if given.hasattr("itemsize")? => name.extract()?,
                    _ => return Err(wrong_type(format!("{} is not a dtype", given.repr()?))),
                }
            }
        };
        let name = if name == "bool_" { "bool" } else { &name };
        name.parse::<DType>().map(DTypeArgument).or_raise(py)
    }
}

/// NumPy's dtype. It has no bfloat16, which the package `ml_dtypes` adds.
pub fn of_numpy(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    let name = dtype.row().long;
    let numpy = py.import("numpy")?;
    if dtype.row().npy.is_none() {
        return numpy.call_method1("dtype", (py.import("ml_dtypes")?.getattr(name)?,));
    }
    numpy.call_method1("dtype", (name,))
}

#[pymethods]
impl PyDType {
    /// The name: `float32`.
    #[getter]
    #[allow(clippy::misnamed_getters, reason = "the name that Python's users know")]
    fn name(&self) -> &'static str {
        self.0.row().long
    }

    /// The bytes of an element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.bytes()
    }

    /// NumPy's letter of the kind of numbers: `b`, `u`, `i`, `f` or `c`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.kind() {
            Kind::Bool => "b",
            Kind::UInt => "u",
            Kind::Int => "i",
            Kind::Float => "f",
            Kind::Complex => "c",
        }
    }

    /// NumPy's dtype.
    #[getter]
    fn __numpy_dtype__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        of_numpy(py, self.0)
    }

    /// NumPy's dtype, where versions of NumPy before 2.4 look for it.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        of_numpy(py, self.0)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        if let Ok(name) = other.cast::<PyString>() {
            // Its own name only: the hash is that of the name.
            return name.to_str().is_ok_and(|name| name == self.name());
        }
        // Types of Python's numbers are no dtypes.
        let is_builtin = other.cast::<PyType>().is_ok_and(|ty| of_builtin(ty).is_some());
        !is_builtin && other.extract::<DTypeArgument>().is_ok_and(|other| other.0 == self.0)
    }

    /// That of the name, which is equal.
    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::intern(py, self.name()).hash()
    }

    fn __repr__(&self) -> String {
        format!("ndjit.{}", self.name())
    }

    fn __str__(&self) -> &'static str {
        self.name()
    }

    /// Pickles as the name of the constant.
    fn __reduce__(&self) -> &'static str {
        self.name()
    }
}
