//! The operators of arrays. Each is an op of the table.

// Of code that pyo3 generates for the methods of a macro.
#![allow(unsafe_op_in_unsafe_fn)]

use crate::array::{PyArray, finish, operation};
use crate::error::wrong_type;
use crate::operand::{self, operand};
use ndjit::operand::{AnyOperand, Scalar};
use ndjit::{Op, dynamic, weak};
use pyo3::prelude::*;

/// The result of an op. Of `x ** 2` it is the square, as in NumPy and JAX: a power whose exponent is an argument of the kernel takes
/// twenty times as long.
pub fn compute(py: Python<'_>, op: Op, operands: &[AnyOperand]) -> PyResult<PyArray> {
    let made = match (op, operands) {
        (Op::Pow, [x, AnyOperand::Scalar(exponent)]) if is_squared(x, *exponent) => {
            operation(|| dynamic::apply::<AnyOperand>(Op::Square, &operands[..1]))
        }
        _ => operation(|| dynamic::apply::<AnyOperand>(op, operands)),
    };
    finish(py, made)
}

/// Whether a power is the square of a real array: one with the exponent 2, or 2.0 of floats.
fn is_squared(x: &AnyOperand, exponent: Scalar) -> bool {
    let dtype = operand::dtype(x);
    (dtype.is_int() || dtype.is_float()) && (exponent == weak(2) || dtype.is_float() && exponent == weak(2.0))
}

/// `x op y`, or Python's `NotImplemented` for an object that is no operand, which then may know the operator.
fn binary(py: Python<'_>, op: Op, x: &PyArray, y: &Bound<'_, PyAny>, reflected: bool) -> PyResult<Py<PyAny>> {
    let Some(y) = operand(y)? else { return Ok(py.NotImplemented()) };
    let operands = if reflected { [y, x.operand(py)?] } else { [x.operand(py)?, y] };
    Ok(compute(py, op, &operands)?.into_pyobject(py)?.into_any().unbind())
}

/// `x op= y`.
fn in_place(x: &Bound<'_, PyArray>, op: Op, y: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some(y) = operand(y)? else {
        return Err(wrong_type(format!("{op}: an array or a number is needed, not {}", y.get_type().name()?)));
    };
    let own = x.get().operand(x.py())?;
    let result = compute(x.py(), op, &[own, y])?;
    PyArray::rebind(x, result)
}

macro_rules! arithmetic {
    ($($method:ident $reflected:ident $in_place:ident $op:ident;)*) => {
        #[pymethods]
        impl PyArray {
            $(
                fn $method(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                    binary(py, Op::$op, self, other, false)
                }

                fn $reflected(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                    binary(py, Op::$op, self, other, true)
                }

                fn $in_place(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
                    in_place(slf, Op::$op, other)
                }
            )*
        }
    };
}

arithmetic! {
    __add__ __radd__ __iadd__ Add;
    __sub__ __rsub__ __isub__ Subtract;
    __mul__ __rmul__ __imul__ Multiply;
    __truediv__ __rtruediv__ __itruediv__ Divide;
    __floordiv__ __rfloordiv__ __ifloordiv__ FloorDivide;
    __mod__ __rmod__ __imod__ Remainder;
    __and__ __rand__ __iand__ BitwiseAnd;
    __or__ __ror__ __ior__ BitwiseOr;
    __xor__ __rxor__ __ixor__ BitwiseXor;
    __lshift__ __rlshift__ __ilshift__ BitwiseLeftShift;
    __rshift__ __rrshift__ __irshift__ BitwiseRightShift;
}

macro_rules! comparisons {
    ($($method:ident $op:ident;)*) => {
        #[pymethods]
        impl PyArray {
            $(
                fn $method(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                    binary(py, Op::$op, self, other, false)
                }
            )*
        }
    };
}

comparisons! {
    __eq__ Equal;
    __ne__ NotEqual;
    __lt__ Less;
    __le__ LessEqual;
    __gt__ Greater;
    __ge__ GreaterEqual;
}

macro_rules! unary {
    ($($method:ident $op:ident;)*) => {
        #[pymethods]
        impl PyArray {
            $(
                fn $method(&self, py: Python<'_>) -> PyResult<PyArray> {
                    compute(py, Op::$op, &[self.operand(py)?])
                }
            )*
        }
    };
}

unary! {
    __neg__ Negative;
    __pos__ Positive;
    __abs__ Abs;
    __invert__ BitwiseInvert;
}

fn no_modulo(modulo: &Bound<'_, PyAny>) -> PyResult<()> {
    if modulo.is_none() { Ok(()) } else { Err(wrong_type("powers of arrays have no modulus")) }
}

/// `x @ y`, of arrays only.
fn product(py: Python<'_>, x: &PyArray, y: &Bound<'_, PyAny>, reflected: bool) -> PyResult<Py<PyAny>> {
    let y = match operand(y)? {
        Some(AnyOperand::Scalar(_)) => return Err(wrong_type("`@` is of arrays; `*` multiplies by a number")),
        Some(y) => y,
        None => return Ok(py.NotImplemented()),
    };
    let (x, y) = if reflected { (y, x.operand(py)?) } else { (x.operand(py)?, y) };
    Ok(crate::computed!(py, ndjit::matmul(x, y))?.into_pyobject(py)?.into_any().unbind())
}

#[pymethods]
impl PyArray {
    fn __pow__(&self, py: Python<'_>, other: &Bound<'_, PyAny>, modulo: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        no_modulo(modulo)?;
        binary(py, Op::Pow, self, other, false)
    }

    fn __rpow__(&self, py: Python<'_>, other: &Bound<'_, PyAny>, modulo: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        no_modulo(modulo)?;
        binary(py, Op::Pow, self, other, true)
    }

    fn __ipow__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, modulo: &Bound<'_, PyAny>) -> PyResult<()> {
        no_modulo(modulo)?;
        in_place(slf, Op::Pow, other)
    }

    fn __matmul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        product(py, self, other, false)
    }

    fn __rmatmul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        product(py, self, other, true)
    }

    fn __imatmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(y) = operand(other)? else { return Err(wrong_type("`@` is of arrays")) };
        let x = slf.get().operand(slf.py())?;
        let result = crate::computed!(slf.py(), ndjit::matmul(x, y))?;
        PyArray::rebind(slf, result)
    }
}
