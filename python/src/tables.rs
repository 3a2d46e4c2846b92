//! The functions of the op and reduction tables. `_namespace.py`, which is generated from [`tables`], calls them with arguments in
//! a fixed order.

use crate::array::{PyArray, finish, operation};
use crate::dtype::DTypeArgument;
use crate::error::{wrong, wrong_type};
use crate::operand::{IntegersArgument, NumberArgument, OperandArgument, shape};
use crate::operators::compute;
use ndjit::dynamic::{self, Asked};
use ndjit::operand::AnyOperand;
use ndjit::reductions::IntoAxes;
use ndjit::{Axes, Op, Reduction, Scan, Sort, descending, keepdims};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// An op of the table as a function of its operands.
#[pyclass(frozen, module = "ndjit._ndjit")]
pub struct OpFunction(Op);

#[pymethods]
impl OpFunction {
    #[pyo3(signature = (*operands))]
    fn __call__(&self, py: Python<'_>, operands: &Bound<'_, PyTuple>) -> PyResult<PyArray> {
        let mut given: Vec<AnyOperand> = Vec::with_capacity(operands.len());
        for operand in operands.iter_borrowed() {
            given.push(operand.extract::<OperandArgument>()?.0);
        }
        compute(py, self.0, &given)
    }
}

/// The axes of a reduction: one, several, or all.
fn axes(axes: Option<IntegersArgument>, kept: bool) -> Axes {
    let axes = match axes {
        None => (..).axes(),
        Some(IntegersArgument(axes)) => axes.axes(),
    };
    if kept { keepdims(axes) } else { axes }
}

/// A reduction of the table as a function.
#[pyclass(frozen, module = "ndjit._ndjit")]
pub struct ReductionFunction(Reduction);

#[pymethods]
impl ReductionFunction {
    #[pyo3(signature = (x, axis, keepdims, dtype=None, correction=None))]
    fn __call__(
        &self,
        py: Python<'_>,
        x: OperandArgument,
        axis: Option<IntegersArgument>,
        keepdims: bool,
        dtype: Option<DTypeArgument>,
        correction: Option<NumberArgument>,
    ) -> PyResult<PyArray> {
        let asked = Asked {
            dtype: dtype.map(|dtype| dtype.0),
            correction: correction.map(|number| number.0),
            ..Asked::default()
        };
        finish(py, operation(|| dynamic::reduce::<AnyOperand>(self.0, x.0, axes(axis, keepdims), asked)))
    }
}

/// A scan of the table as a function.
#[pyclass(frozen, module = "ndjit._ndjit")]
pub struct ScanFunction(Scan);

#[pymethods]
impl ScanFunction {
    #[pyo3(signature = (x, axis, dtype=None, include_initial=false))]
    fn __call__(
        &self,
        py: Python<'_>,
        x: OperandArgument,
        axis: Option<isize>,
        dtype: Option<DTypeArgument>,
        include_initial: bool,
    ) -> PyResult<PyArray> {
        let x = x.0;
        let rank = shape(&x).rank();
        let axis = match axis {
            Some(axis) => axis,
            None if rank == 1 => 0,
            None => return Err(wrong(format!("{}: of an array with {rank} axes `axis` is needed", self.0))),
        };
        let asked = Asked { dtype: dtype.map(|dtype| dtype.0), include_initial, ..Asked::default() };
        finish(py, operation(|| dynamic::scan::<AnyOperand>(self.0, x, axis, asked)))
    }
}

/// A sort of the table as a function. All sorts are stable.
#[pyclass(frozen, module = "ndjit._ndjit")]
pub struct SortFunction(Sort);

#[pymethods]
impl SortFunction {
    fn __call__(&self, py: Python<'_>, x: OperandArgument, axis: isize, descends: bool) -> PyResult<PyArray> {
        let sorted = || match descends {
            true => dynamic::sort::<AnyOperand>(self.0, x.0, descending(axis), Asked::default()),
            false => dynamic::sort::<AnyOperand>(self.0, x.0, axis, Asked::default()),
        };
        finish(py, operation(sorted))
    }
}

/// The function of a row, by its name.
#[pyfunction]
pub fn _function(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    if let Ok(op) = name.parse::<Op>() {
        return Ok(Py::new(py, OpFunction(op))?.into_any());
    }
    if let Some(row) = Reduction::ALL.into_iter().find(|row| row.to_string() == name) {
        return Ok(Py::new(py, ReductionFunction(row))?.into_any());
    }
    if let Some(row) = Scan::ALL.into_iter().find(|row| row.to_string() == name) {
        return Ok(Py::new(py, ScanFunction(row))?.into_any());
    }
    match Sort::ALL.into_iter().find(|row| row.to_string() == name) {
        Some(row) => Ok(Py::new(py, SortFunction(row))?.into_any()),
        None => Err(wrong_type(format!("no row of the tables is named {name:?}"))),
    }
}

/// The rows of the tables, for the generator of the namespace.
#[pyfunction]
pub fn _tables(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let rows = PyList::empty(py);
    let entry = |kind: &str, name: String, doc: &str| -> PyResult<Bound<'_, PyDict>> {
        let entry = PyDict::new(py);
        entry.set_item("kind", kind)?;
        entry.set_item("name", name)?;
        entry.set_item("doc", doc)?;
        rows.append(&entry)?;
        Ok(entry)
    };
    for op in Op::ALL {
        let row = op.row();
        let made = entry("op", row.name.to_owned(), row.doc)?;
        made.set_item("operands", row.operands)?;
        made.set_item("rule", format!("{:?}", row.rule))?;
        made.set_item("result", format!("{:?}", row.result))?;
        made.set_item("domain", row.domain.iter().map(|dtype| dtype.row().long).collect::<Vec<_>>())?;
        made.set_item("accuracy", format!("{:?}", row.accuracy))?;
    }
    for reduction in Reduction::ALL {
        let row = reduction.row();
        let made = entry("reduction", reduction.to_string(), row.doc)?;
        made.set_item("operands", row.operands)?;
        made.set_item("dtype", reduction.takes_dtype())?;
    }
    for scan in Scan::ALL {
        let made = entry("scan", scan.to_string(), scan.row().doc)?;
        made.set_item("dtype", scan.takes_dtype())?;
        made.set_item("initial", scan.takes_dtype())?;
    }
    for sort in Sort::ALL {
        entry("sort", sort.to_string(), sort.row().doc)?;
    }
    Ok(rows)
}
