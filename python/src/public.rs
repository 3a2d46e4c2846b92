//! Functions of this package that are written in Python, for users: exceptions that pass through them show the user's frames only.

use crate::place;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The exception without the frames of this package in its traceback.
pub fn without_own_frames(py: Python<'_>, raised: PyErr) -> PyErr {
    let strip = || -> PyResult<()> {
        let (mut entries, mut entry, mut has_own) = (Vec::new(), raised.traceback(py).map(Bound::into_any), false);
        while let Some(one) = entry {
            entry = Some(one.getattr("tb_next")?).filter(|next| !next.is_none());
            match place::is_own(&one.getattr("tb_frame")?.getattr("f_code")?)? {
                true => has_own = true,
                false => entries.push(one),
            }
        }
        if !has_own {
            return Ok(());
        }
        let mut made = py.None().into_bound(py);
        for one in entries.into_iter().rev() {
            let parts = (made, one.getattr("tb_frame")?, one.getattr("tb_lasti")?, one.getattr("tb_lineno")?);
            made = one.get_type().call1(parts)?;
        }
        raised.set_traceback(py, made.cast_into().ok());
        Ok(())
    };
    // A traceback that cannot be changed stays as it is.
    let _ = strip();
    raised
}

/// A function whose frames no traceback shows: a frame of Python below it would.
#[pyclass(module = "ndjit._ndjit", name = "_PublicFunction", weakref, frozen, subclass)]
pub struct PublicFunction(Py<PyAny>);

#[pymethods]
impl PublicFunction {
    #[new]
    fn new(function: Py<PyAny>) -> PublicFunction {
        PublicFunction(function)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.0.bind(py).call(args, kwargs).map_err(|raised| without_own_frames(py, raised))
    }

    fn __get__<'py>(
        slf: Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        _class: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if instance.is_none() {
            return Ok(slf.into_any());
        }
        slf.py().import("types")?.getattr("MethodType")?.call1((slf, instance))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.0.bind(py).repr()?.to_string())
    }

    /// A pickle holds the name, as that of a function does.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.getattr("__qualname__")
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (_memo, /))]
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.0)
    }
}
