//! Values of functions that are being traced: arrays of Python without elements. What needs elements raises, with the line and the way out.

use crate::array::{PyArray, operation};
use crate::elements::{DEEPEST, too_deep};
use crate::error::OrRaise;
use crate::operand::operand;
use ndjit::dynamic::{self, TracedRef};
use ndjit::operand::AnyOperand;
use ndjit::{DType, Error, ErrorCode, Expr};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyTuple};
use std::cell::{Cell, RefCell};

/// The ways out where Python needs a value that a trace does not know.
pub const BRANCH: &str = "select elements by `ndjit.where(mask, x, y)`, branch by `ndjit.cond(x, f, g, …)`, loop by `ndjit.while_loop`; if it is an \
                          argument that may be fixed for each compilation, name it in `static_argnums`";
pub const INTEGER: &str = "loop by `ndjit.fori_loop`; if it is an argument that may be fixed for each compilation, name it in `static_argnums`; shapes, \
                           `x.shape[0]`, are known";
pub const NUMBER: &str = "compute with the array itself, as `ndjit.exp(x)` in place of `math.exp(x)`; if it is an argument that may be fixed for each \
                          compilation, name it in `static_argnums`";
pub const NUMPY: &str = "use the functions of `ndjit` on it in place of those of `numpy`";

thread_local! {
    /// The exception of a Python function that the library called.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

thread_local! {
    /// Whether a value was used that is not of the innermost trace.
    static FOREIGN: Cell<bool> = const { Cell::new(false) };
}

/// The value in the trace that is open. One of another trace, or of none, is an exception.
pub fn value(py: Python<'_>, x: TracedRef) -> PyResult<Expr> {
    let value = x.expr();
    if value.is_err() {
        FOREIGN.set(true);
    }
    value.or_raise(py)
}

/// The result of `body`, and whether it used values of other traces than its own.
pub fn foreign<R>(body: impl FnOnce() -> R) -> (R, bool) {
    let before = FOREIGN.replace(false);
    let made = body();
    (made, FOREIGN.replace(before))
}

/// Keeps the exception of a Python function which a trace calls. The error that ends the trace stands for it.
pub fn kept(raised: PyErr) -> Error {
    RAISED.set(Some(raised));
    Error::new(ErrorCode::Traced, "trace: the function raised an exception")
}

/// The exception of an error: that of a Python function, if one raised.
pub fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let raised = RAISED.take().unwrap_or_else(|| crate::error::raised(py, error));
    crate::public::without_own_frames(py, raised)
}

/// The array of a traced result.
pub fn finish(py: Python<'_>, x: Expr) -> PyResult<PyArray> {
    TracedRef::of(x).map(PyArray::from).map_err(|error| raised(py, &error))
}

/// The traced values of a list of arrays and numbers.
pub fn exprs(list: &Bound<'_, PyAny>) -> PyResult<Vec<Expr>> {
    let mut exprs = Vec::with_capacity(list.len().unwrap_or(0));
    for x in list.try_iter()? {
        exprs.push(expr(&x?)?);
    }
    Ok(exprs)
}

/// The traced value of an array or a number.
pub fn expr(x: &Bound<'_, PyAny>) -> PyResult<Expr> {
    let made = match operand(x)? {
        Some(AnyOperand::Expr(x)) => x,
        Some(AnyOperand::Array(x)) => operation(|| Expr::from(x)),
        Some(AnyOperand::Scalar(x)) => operation(|| Expr::from(x)),
        None => {
            let found = x.get_type().name()?;
            return Err(crate::error::wrong_type(format!(
                "a traced function computes with arrays and numbers, not {found}"
            )));
        }
    };
    TracedRef::of(made).and_then(TracedRef::expr).or_raise(x.py())
}

/// A traced function's values as arrays of Python.
pub fn list<'py>(py: Python<'py>, exprs: &[Expr]) -> PyResult<Bound<'py, PyList>> {
    let arrays: Vec<PyArray> = exprs.iter().map(|x| finish(py, *x)).collect::<PyResult<_>>()?;
    PyList::new(py, arrays)
}

/// The text of a traced value.
pub fn described(x: TracedRef) -> String {
    match x.expr() {
        Ok(x) => format!("Array(traced, dtype={}, shape={})", x.dtype().row().long, tuple(x.shape().extents())),
        Err(_) => "Array(traced, after its trace)".to_owned(),
    }
}

fn tuple(extents: &[usize]) -> String {
    match extents {
        [one] => format!("({one},)"),
        _ => format!("({})", extents.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The exception where Python reads elements of a traced value.
pub fn no_elements(py: Python<'_>, x: TracedRef, what: &str, instead: &str) -> PyErr {
    let error = match x.expr() {
        Err(error) => error,
        Ok(x) => Error::new(ErrorCode::Traced, format!("{what}: a traced value has no elements"))
            .fact(format_args!("the value: {}{}, known when the function runs", x.value_type(), x.shape()))
            .help(instead),
    };
    crate::error::raised(py, &error)
}

/// The exception where a traced value is assigned to an array that was made outside of the traced function. After the trace the
/// array would refer to nothing.
pub fn captured(py: Python<'_>) -> PyErr {
    let error = Error::new(ErrorCode::Traced, "assignment: the array is captured from outside of the traced function")
        .fact("it would change when the function is traced, not when it runs");
    crate::error::raised(
        py,
        &error.help("return the new array instead, `x.at[k].set(v)` or `x + y`, or pass the array as an argument"),
    )
}

/// The array of nested sequences with traced values in them; `None` without.
pub fn nested(x: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Option<PyArray>> {
    let py = x.py();
    if !dynamic::is_tracing() || !has_traced(x, 0)? {
        return Ok(None);
    }
    let made = stacked(x, 0)?;
    match dtype {
        Some(dtype) => crate::computed!(py, ndjit::cast(made, dtype)).map(Some),
        None => crate::array::finish(py, made).map(Some),
    }
}

/// The parts of a list or a tuple at a depth, or nothing of another object. A sequence that holds itself is too deep.
fn sequence<'py>(x: &Bound<'py, PyAny>, depth: usize) -> PyResult<Option<Bound<'py, PyIterator>>> {
    match x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>() {
        true if depth == DEEPEST => Err(too_deep()),
        true => x.try_iter().map(Some),
        false => Ok(None),
    }
}

fn has_traced(x: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    if let Ok(array) = x.cast::<PyArray>() {
        return Ok(matches!(array.get().value(), crate::array::ArrayValue::Traced(_)));
    }
    for part in sequence(x, depth)?.into_iter().flatten() {
        if has_traced(&part?, depth + 1)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn stacked(x: &Bound<'_, PyAny>, depth: usize) -> PyResult<AnyOperand> {
    let Some(parts) = sequence(x, depth)? else { return expr(x).map(AnyOperand::Expr) };
    let parts = parts.map(|part| stacked(&part?, depth + 1)).collect::<PyResult<Vec<AnyOperand>>>()?;
    Ok(operation(|| ndjit::stack(parts, 0)))
}
