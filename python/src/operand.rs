//! Python objects as operands: arrays of this library and NumPy's, and numbers, which are weak as in Rust.

use crate::array::PyArray;
use crate::error::{wrong, wrong_type};
use crate::{elements, settings};
use ndjit::operand::{AnyOperand, Number, Operand, Scalar};
use ndjit::{Array, Complex, DType, Op, Shape, ValueType, dynamic, weak};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};

/// A number, or `None` for an object of another type.
pub fn number(x: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    // Scalars of NumPy are subclasses of `float` and `complex`, with a dtype.
    if let Ok(x) = x.cast_exact::<PyFloat>() {
        return Ok(Some(scalar(x.value())));
    }
    if let Ok(x) = x.cast::<PyBool>() {
        return Ok(Some(scalar(x.is_true())));
    }
    if let Ok(x) = x.cast::<PyInt>() {
        return match (x.extract::<i64>(), x.extract::<u64>()) {
            (Ok(x), _) => Ok(Some(scalar(x))),
            (_, Ok(x)) => Ok(Some(scalar(x))),
            _ => Err(pyo3::exceptions::PyOverflowError::new_err(format!("{x} has more than 64 bits"))),
        };
    }
    if x.hasattr("dtype")? {
        return Ok(None);
    }
    if let Ok(x) = x.cast::<PyFloat>() {
        return Ok(Some(scalar(x.value())));
    }
    if let Ok(x) = x.cast::<PyComplex>() {
        return Ok(Some(scalar(Complex::new(x.real(), x.imag()))));
    }
    Ok(None)
}

fn scalar(number: impl Number) -> Scalar {
    weak(number)
}

/// An operand, or `None` for an object that is none.
pub fn operand(x: &Bound<'_, PyAny>) -> PyResult<Option<AnyOperand>> {
    if let Ok(array) = x.cast::<PyArray>() {
        return array.get().operand(x.py()).map(Some);
    }
    if let Some(number) = number(x)? {
        return Ok(Some(number.operand()));
    }
    match x.hasattr("__array_interface__")? {
        true => Ok(Some(elements::from_object(x, None, None)?.operand())),
        false => Ok(None),
    }
}

/// The shape of an operand.
pub fn shape(x: &AnyOperand) -> Shape {
    match x {
        AnyOperand::Array(x) => x.shape().clone(),
        AnyOperand::Expr(x) => x.shape(),
        AnyOperand::Scalar(_) => Shape::from([]),
    }
}

/// The type of an operand's elements.
pub fn value_type(x: &AnyOperand) -> ValueType {
    match x {
        AnyOperand::Array(x) => x.value_type(),
        AnyOperand::Expr(x) => x.value_type(),
        AnyOperand::Scalar(x) => x.value_type(),
    }
}

/// The dtype of an operand's elements: of a number the default.
pub fn dtype(x: &AnyOperand) -> DType {
    settings::policy().commit(value_type(x))
}

/// An operand as an array.
pub fn array(x: AnyOperand) -> Array {
    match x {
        AnyOperand::Array(x) => x,
        AnyOperand::Scalar(x) => Array::from(x),
        // Poisoned: it has no elements.
        AnyOperand::Expr(_) => dynamic::apply(Op::Positive, &[x]),
    }
}

/// An operand as an argument.
pub struct OperandArgument(pub AnyOperand);

impl<'py> FromPyObject<'_, 'py> for OperandArgument {
    type Error = PyErr;

    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<OperandArgument> {
        match operand(&x)? {
            Some(x) => Ok(OperandArgument(x)),
            None => Err(wrong_type(format!(
                "an array or a number is needed, not {}; `ndjit.asarray` makes an array of a list",
                x.get_type().name()?
            ))),
        }
    }
}

/// A number as an argument.
pub struct NumberArgument(pub Scalar);

impl<'py> FromPyObject<'_, 'py> for NumberArgument {
    type Error = PyErr;

    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<NumberArgument> {
        let plain = match x.hasattr("dtype")? {
            // A scalar of NumPy, or an array without axes.
            true => x.call_method0("item")?,
            false => x.to_owned(),
        };
        match number(&plain)? {
            Some(number) => Ok(NumberArgument(number)),
            None => Err(wrong_type(format!("a number is needed, not {}", x.get_type().name()?))),
        }
    }
}

/// The number of a diagonal as an argument. Those beyond any matrix mean the same.
#[derive(Clone, Copy)]
pub struct DiagonalArgument(pub isize);

impl<'py> FromPyObject<'_, 'py> for DiagonalArgument {
    type Error = PyErr;

    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<DiagonalArgument> {
        let x = x.call_method0("__index__")?;
        Ok(DiagonalArgument(match x.extract() {
            Ok(number) => number,
            Err(_) if x.lt(0)? => -isize::MAX,
            Err(_) => isize::MAX,
        }))
    }
}

/// IntegersArgument as an argument: one, or a sequence. Extents of shapes, axes, shifts.
pub struct IntegersArgument(pub Vec<isize>);

impl<'py> FromPyObject<'_, 'py> for IntegersArgument {
    type Error = PyErr;

    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<IntegersArgument> {
        match x.extract::<isize>() {
            Ok(one) => return Ok(IntegersArgument(vec![one])),
            // A traced value is no sequence of integers either.
            Err(raised) if x.is_instance_of::<PyArray>() => return Err(raised),
            Err(_) => {}
        }
        match x.extract::<Vec<isize>>() {
            Ok(several) => Ok(IntegersArgument(several)),
            Err(raised) if raised.is_instance(x.py(), &x.py().import("ndjit")?.getattr("TracedError")?) => Err(raised),
            Err(_) => Err(wrong_type(format!("an integer or a tuple of integers is needed, not {}", x.repr()?))),
        }
    }
}

impl IntegersArgument {
    /// The extents of a shape.
    pub fn extents(self) -> PyResult<Vec<usize>> {
        let extent = |n: isize| usize::try_from(n).map_err(|_| wrong(format!("an extent is not negative: {n}")));
        self.0.into_iter().map(extent).collect()
    }
}
