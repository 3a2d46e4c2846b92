//! Transformations and control flow over lists of arrays, in the function that is being traced. The modules `_transforms.py` and
//! `_control.py` have the structures.

use crate::array::{PyArray, operation};
use crate::operand::OperandArgument;
use crate::scope::FunctionScope;
use crate::traced::{exprs, finish, kept, list, raised};
use ndjit::dynamic;
use ndjit::operand::ArrayLike;
use ndjit::{Expr, Result};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Calls a function of Python with lists of traced values. If it raises, the trace ends with the exception.
fn called<const N: usize>(function: &Bound<'_, PyAny>, lists: [&[Expr]; N]) -> Vec<Expr> {
    let py = function.py();
    let call = || {
        let _scope = FunctionScope::enter();
        let lists = lists.into_iter().map(|own| list(py, own)).collect::<PyResult<Vec<_>>>()?;
        exprs(&function.call1(PyTuple::new(py, lists)?)?)
    };
    call().unwrap_or_else(|exception| vec![Expr::failed(kept(exception))])
}

/// The one value of a list.
fn one(list: Vec<Expr>) -> Expr {
    list.into_iter()
        .next()
        .unwrap_or_else(|| Expr::failed(ndjit::Error::new(ndjit::ErrorCode::Arity, "a value is missing")))
}

/// The names of functions in messages.
fn named(what: &str) -> &'static str {
    crate::place::interned(what)
}

fn arrays<'py>(py: Python<'py>, made: Result<Vec<Expr>>) -> PyResult<Bound<'py, PyList>> {
    list(py, &made.map_err(|error| raised(py, &error))?)
}

/// Values as variables of a derivative.
#[pyfunction]
pub fn _variables<'py>(py: Python<'py>, what: &str, values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let values = exprs(values)?;
    list(py, &operation(|| dynamic::variables(named(what), &values)))
}

/// The tangents of outputs.
#[pyfunction]
pub fn _tangents<'py>(
    py: Python<'py>,
    what: &str,
    variables: &Bound<'py, PyAny>,
    outputs: &Bound<'py, PyAny>,
    along: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let (variables, outputs, along) = (exprs(variables)?, exprs(outputs)?, exprs(along)?);
    arrays(py, operation(|| dynamic::tangents(named(what), &variables, &outputs, &along)))
}

/// The cotangents of variables.
#[pyfunction]
pub fn _cotangents<'py>(
    py: Python<'py>,
    what: &str,
    variables: &Bound<'py, PyAny>,
    outputs: &Bound<'py, PyAny>,
    of: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let (variables, outputs, of) = (exprs(variables)?, exprs(outputs)?, exprs(of)?);
    arrays(py, operation(|| dynamic::cotangents(named(what), &variables, &outputs, &of)))
}

/// The outputs of a function, the first of which is a number, and its gradients by the values.
#[pyfunction]
pub fn _gradients<'py>(
    py: Python<'py>,
    what: &str,
    values: &Bound<'py, PyAny>,
    function: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
    let values = exprs(values)?;
    let made = operation(|| dynamic::gradients(named(what), &values, |own| called(function, [own])));
    let (outputs, gradients) = made.map_err(|error| raised(py, &error))?;
    Ok((list(py, &outputs)?, list(py, &gradients)?))
}

/// The results of a function for all lanes.
#[pyfunction]
pub fn _vmap<'py>(
    py: Python<'py>,
    what: &str,
    values: &Bound<'py, PyAny>,
    axes: Vec<isize>,
    lanes: Option<usize>,
    function: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let given: Vec<(Expr, Option<isize>)> = exprs(values)?.into_iter().zip(axes.into_iter().map(Some)).collect();
    list(py, &operation(|| dynamic::vmap(named(what), &given, lanes, |own| called(function, [own]))))
}

/// Whether each output of a lane depends on values of the lane.
#[pyfunction]
pub fn _depend(py: Python<'_>, what: &str, outputs: &Bound<'_, PyAny>, on: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    let (outputs, on) = (exprs(outputs)?, exprs(on)?);
    operation(|| dynamic::depend(named(what), &outputs, &on)).map_err(|error| raised(py, &error))
}

/// Values that are constants of derivatives.
#[pyfunction]
pub fn _stop_gradient<'py>(py: Python<'py>, values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let values = exprs(values)?;
    list(py, &operation(|| ndjit::stop_gradient(values)))
}

/// The results of a function that derivatives compute again.
#[pyfunction]
pub fn _checkpoint<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    function: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let values = exprs(values)?;
    list(py, &operation(|| ndjit::checkpoint_at(|own: Vec<Expr>| called(function, [&own]), values)))
}

/// The results of a function with a rule for tangents: from values, results and tangents.
#[pyfunction]
pub fn _custom_jvp<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    function: &Bound<'py, PyAny>,
    rule: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let values = exprs(values)?;
    let rule = |own: Vec<Expr>, results: Vec<Expr>, tangents: Vec<Expr>| called(rule, [&own, &results, &tangents]);
    list(py, &operation(|| ndjit::custom_jvp_at(|own: Vec<Expr>| called(function, [&own]), rule, values)))
}

/// The results of a function with a rule for cotangents. `forward` gives the results and then so many residuals.
#[pyfunction]
pub fn _custom_vjp<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    forward: &Bound<'py, PyAny>,
    count: &Bound<'py, PyAny>,
    rule: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let values = exprs(values)?;
    let forward = |own: Vec<Expr>| {
        let mut results = called(forward, [&own]);
        let residuals = count.call0().and_then(|count| count.extract::<usize>()).unwrap_or(0);
        let beside = results.split_off(results.len().saturating_sub(residuals).max(results.len().min(1)));
        (results, beside)
    };
    let rule = |residuals: Vec<Expr>, cotangents: Vec<Expr>| called(rule, [&residuals, &cotangents]);
    list(py, &operation(|| ndjit::custom_vjp_at(forward, rule, values)))
}

/// A branch.
#[pyfunction]
pub fn _cond<'py>(
    py: Python<'py>,
    condition: OperandArgument,
    then: &Bound<'py, PyAny>,
    otherwise: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let values = exprs(values)?;
    let branch = |function: &Bound<'py, PyAny>, own: Vec<Expr>| called(function, [&own]);
    let made = operation(|| {
        ndjit::cond(condition.0, |own: Vec<Expr>| branch(then, own), |own: Vec<Expr>| branch(otherwise, own), values)
    });
    list(py, &made)
}

/// A loop while a condition holds.
#[pyfunction]
pub fn _while_loop<'py>(
    py: Python<'py>,
    condition: &Bound<'py, PyAny>,
    body: &Bound<'py, PyAny>,
    init: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let init = exprs(init)?;
    let condition = |own: Vec<Expr>| one(called(condition, [&own]));
    list(py, &operation(|| ndjit::while_loop(init, condition, |own: Vec<Expr>| called(body, [&own]))))
}

/// A loop over an index.
#[pyfunction]
pub fn _fori_loop<'py>(
    py: Python<'py>,
    lower: OperandArgument,
    upper: OperandArgument,
    body: &Bound<'py, PyAny>,
    init: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let init = exprs(init)?;
    let body = |index: Expr, own: Vec<Expr>| called(body, [&[index], &own]);
    list(py, &operation(|| ndjit::fori_loop(lower.0, upper.0, init, body)))
}

/// A loop over slices. The body gives the next state, and then what is stacked.
#[pyfunction]
pub fn _scan<'py>(
    py: Python<'py>,
    body: &Bound<'py, PyAny>,
    init: &Bound<'py, PyAny>,
    xs: &Bound<'py, PyAny>,
    reverse: bool,
) -> PyResult<Bound<'py, PyList>> {
    let (init, xs) = (exprs(init)?, exprs(xs)?);
    let count = init.len();
    let step = |own: Vec<Expr>, x: Vec<Expr>| {
        let mut made = called(body, [&own, &x]);
        let stacked = made.split_off(count.min(made.len()));
        (made, stacked)
    };
    let (state, stacked) = operation(|| match reverse {
        true => ndjit::scan_reversed(step, init, xs),
        false => ndjit::scan(step, init, xs),
    });
    list(py, &[state, stacked].concat())
}

/// An array of the function that is being traced.
#[pyfunction]
pub fn _traced(py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<PyArray> {
    finish(py, crate::traced::expr(x)?)
}
