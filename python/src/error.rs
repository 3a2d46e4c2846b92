//! Errors of ndjit as exceptions: a class per code, which is also the built-in class that Python's users expect.

use crate::notation::PythonNotation;
use crate::place;
use ndjit::{Error, ErrorCode, SourceLoc, report};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// The built-in class that the exceptions of a code belong to as well.
fn builtin(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::DType | ErrorCode::Promotion | ErrorCode::Arity | ErrorCode::Traced => "TypeError",
        ErrorCode::Shape | ErrorCode::Size | ErrorCode::Argument | ErrorCode::Nan => "ValueError",
        ErrorCode::Parse => "ValueError",
        ErrorCode::Literal => "OverflowError",
        ErrorCode::Index => "IndexError",
        ErrorCode::Allocation => "MemoryError",
        ErrorCode::Io => "OSError",
        // The codes of failures of the engine and the device, and codes added later.
        _ => "RuntimeError",
    }
}

/// The codes, with the built-in class of each.
#[pyfunction]
pub fn error_codes() -> Vec<(&'static str, &'static str)> {
    ErrorCode::ALL.iter().map(|&code| (code.name(), builtin(code))).collect()
}

/// The exception of an error, at the user's line.
pub fn raised(py: Python<'_>, error: &Error) -> PyErr {
    // As in NumPy, an axis that is not there is an index that is not there, too.
    let class = if error.is_about_axis() { "axis" } else { error.code().name() };
    raised_as(py, error, class)
}

/// The origin of an operand in a fact, without the place in this binding: `from add`.
fn origin(fact: &str) -> Option<String> {
    let origin = &fact[fact.rfind("from ")?..];
    Some(origin.split_once(" at ").map_or("", |(what, _)| what).to_owned())
}

/// The exception of an error, of this class.
pub fn raised_as(py: Python<'_>, error: &Error, class: &str) -> PyErr {
    let facts = error.facts();
    let mut error = error.clone().with_origins(|n| facts.get(n).and_then(|fact| origin(fact)));
    let help = error.way_out().map(|help| help.in_notation(&PythonNotation));
    if let Some(help) = &help {
        error = error.help(help.clone());
    }
    let place = place::of_user(py);
    if let Some(place) = place {
        error = error.moved(place);
    }
    exception(py, class, &report(&error), &error, help.as_deref(), place)
}

/// The exception of a class, with the report of an error.
pub fn exception(
    py: Python<'_>,
    class: &str,
    report: &str,
    error: &Error,
    help: Option<&str>,
    place: Option<SourceLoc>,
) -> PyErr {
    static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let make = || -> PyResult<PyErr> {
        let classes = CLASSES.get_or_try_init(py, || -> PyResult<Py<PyDict>> {
            Ok(py.import("ndjit._errors")?.getattr("CLASSES")?.cast_into::<PyDict>()?.unbind())
        })?;
        let text = report.split_once(": ").map_or(report, |(_, rest)| rest);
        let class = classes.bind(py).get_item(class)?;
        let class = class.map_or_else(|| py.import("ndjit._errors")?.getattr("Error"), Ok)?;
        let exception = class.call1((text,))?;
        exception.setattr("code", error.code().name())?;
        exception.setattr("help", help)?;
        exception.setattr("facts", error.facts().iter().map(|fact| fact.trim_end()).collect::<Vec<_>>())?;
        exception.setattr("place", place.map(|place| (place.file, place.line, place.column)))?;
        Ok(PyErr::from_value(exception))
    };
    make().unwrap_or_else(|failed| failed)
}

/// The exception of an error that the Python code of this package finds, at the user's line.
#[pyfunction]
pub fn _error(py: Python<'_>, code: &str, headline: String, help: String) -> PyResult<Py<PyAny>> {
    let code = ErrorCode::ALL.iter().find(|known| known.name() == code).ok_or_else(|| wrong("no code of errors"))?;
    Ok(raised(py, &Error::new(*code, headline).help(help)).into_value(py).into_any())
}

/// Results as Python's.
pub trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for ndjit::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error))
    }
}

/// An exception for a wrong argument, which the engine never sees.
pub fn wrong(what: impl Into<String>) -> PyErr {
    PyValueError::new_err(what.into())
}

/// An exception for an argument of a wrong type.
pub fn wrong_type(what: impl Into<String>) -> PyErr {
    PyTypeError::new_err(what.into())
}
