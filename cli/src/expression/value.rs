//! What a node of an expression is worth while it is traced.

use super::error::Problem;
use super::node::Number;
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{Complex, DType, Expr, Scalar, weak};

/// An array being traced, or what stands beside arrays: numbers, dtypes, lists.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Expr(Expr),
    Number(Number),
    DType(DType),
    List(Vec<Value>),
    None,
}

impl Value {
    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Expr(_) => "an array",
            Value::Number(_) => "a number",
            Value::DType(_) => "a dtype",
            Value::List(_) => "a list",
            Value::None => "None",
        }
    }

    /// As an operand of `what`.
    pub fn operand(&self, what: &str, column: u32) -> Result<AnyOperand, Problem> {
        match self {
            Value::Expr(x) => Ok(x.operand()),
            Value::Number(number) => Ok(number.scalar(column)?.operand()),
            other => Err(other.no_operand(what, column)),
        }
    }

    fn no_operand(&self, what: &str, column: u32) -> Problem {
        let problem = self.misplaced(what, "an array or a number", column);
        match self {
            Value::DType(dtype) => problem.help(format!("`astype(x, {dtype})` converts to it")),
            Value::List(_) => {
                problem.help("lists are shapes and axes; `stack([x, y])` and `concat([x, y])` join arrays")
            }
            Value::Expr(_) | Value::Number(_) | Value::None => problem,
        }
    }

    /// As an array of the program.
    pub fn expr(&self, what: &str, column: u32) -> Result<Expr, Problem> {
        match self {
            Value::Expr(x) => Ok(*x),
            Value::Number(number) => Ok(Expr::from(number.scalar(column)?)),
            other => Err(other.no_operand(what, column)),
        }
    }

    /// As an integer.
    pub fn int(&self, what: &str, column: u32) -> Result<isize, Problem> {
        match self {
            // What no axis or extent is stays out of range.
            Value::Number(Number::Int(n)) => {
                Ok(isize::try_from(*n).unwrap_or(if *n < 0 { isize::MIN } else { isize::MAX }))
            }
            _ => Err(self.misplaced(what, "an integer", column)),
        }
    }

    /// As one or several integers.
    pub fn ints(&self, what: &str, column: u32) -> Result<Vec<isize>, Problem> {
        match self {
            Value::List(items) => items.iter().map(|item| item.int(what, column)).collect(),
            _ => match self.int(what, column) {
                Ok(one) => Ok(vec![one]),
                Err(_) => Err(self.misplaced(what, "integers", column)),
            },
        }
    }

    /// As a dtype.
    pub fn dtype(&self, what: &str, column: u32) -> Result<DType, Problem> {
        match self {
            Value::DType(dtype) => Ok(*dtype),
            _ => Err(self.misplaced(what, "a dtype", column).help("dtypes are written as they are: `astype(x, f32)`")),
        }
    }

    /// As true or false.
    pub fn truth(&self, what: &str, column: u32) -> Result<bool, Problem> {
        match self {
            Value::Number(Number::Bool(truth)) => Ok(*truth),
            _ => Err(self.misplaced(what, "True or False", column)),
        }
    }

    fn misplaced(&self, what: &str, wanted: &str, column: u32) -> Problem {
        Problem::new(column, format!("{what}: takes {wanted}, given {}", self.kind()))
    }
}

impl Number {
    /// As a weak number.
    pub(super) fn scalar(self, column: u32) -> Result<Scalar, Problem> {
        Ok(match self {
            Number::Bool(truth) => weak(truth),
            Number::Float(x) => weak(x),
            Number::Imaginary(y) => weak(Complex::new(0.0, y)),
            Number::Complex(x, y) => weak(Complex::new(x, y)),
            Number::Int(n) => match (i64::try_from(n), u64::try_from(n)) {
                (Ok(n), _) => weak(n),
                (_, Ok(n)) => weak(n),
                _ => {
                    return Err(
                        Problem::new(column, format!("{n} has more than 64 bits")).help("write it as a float: `1e30`")
                    );
                }
            },
        })
    }
}
