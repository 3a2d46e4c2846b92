//! The values of an expression's nodes during tracing.

use super::error::Problem;
use super::node::Number;
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{DType, Expr};

/// A traced array, or another argument: numbers, dtypes, lists, texts.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Expr(Expr),
    Number(Number),
    DType(DType),
    List(Vec<Value>),
    Text(String),
    None,
}

/// A value used as an argument, and the column of its errors.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub value: Value,
    pub column: u32,
}

impl Value {
    /// A description of the kind of value.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Expr(_) => "an array",
            Value::Number(Number::Int(_)) => "an integer",
            Value::Number(Number::Float(_)) => "a float",
            Value::Number(Number::Imaginary(_) | Number::Complex(..)) => "a complex number",
            Value::Number(Number::Bool(_)) => "a bool",
            Value::DType(_) => "a dtype",
            Value::List(_) => "a list",
            Value::Text(_) => "a text",
            Value::None => "None",
        }
    }

    /// The value as a number.
    pub fn number(&self) -> Option<Number> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Expr(_) | Value::DType(_) | Value::List(_) | Value::Text(_) | Value::None => None,
        }
    }

    /// The value as an operand of `what`.
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
                problem.help("lists are shapes and axes; `stack([1, 2])` makes an array, `concat([x, y])` joins some")
            }
            Value::Text(_) => problem.help("texts stand for dtypes and modes: `astype(x, 'float32')`"),
            Value::None => {
                problem.help("None is not a number; bounded on one side write `maximum(x, 0)` or `minimum(x, 1)`")
            }
            Value::Expr(_) | Value::Number(_) => problem,
        }
    }

    /// The value as an array of the program.
    pub fn expr(&self, what: &str, column: u32) -> Result<Expr, Problem> {
        match self {
            Value::Expr(x) => Ok(*x),
            Value::Number(number) => Ok(Expr::from(number.scalar(column)?)),
            other => Err(other.no_operand(what, column)),
        }
    }

    /// The value as an integer.
    pub fn int(&self, what: &str, column: u32) -> Result<isize, Problem> {
        match self {
            // A number beyond any axis or extent remains out of range.
            Value::Number(Number::Int(n)) => {
                Ok(isize::try_from(*n).unwrap_or(if *n < 0 { isize::MIN } else { isize::MAX }))
            }
            _ => Err(self.no_integer(what, "an integer", column)),
        }
    }

    /// The value as one or several integers.
    pub fn ints(&self, what: &str, column: u32) -> Result<Vec<isize>, Problem> {
        match self {
            Value::List(items) => items.iter().map(|item| item.int(what, column)).collect(),
            _ => match self.int(what, column) {
                Ok(one) => Ok(vec![one]),
                Err(_) => Err(self.no_integer(what, "integers", column)),
            },
        }
    }

    fn no_integer(&self, what: &str, wanted: &str, column: u32) -> Problem {
        let problem = self.misplaced(what, wanted, column);
        match self {
            Value::Expr(_) => problem.help("shapes are known before elements are: write a number, or one of `x.shape`"),
            _ => problem.help("write one as `2`, several as `(0, 1)`"),
        }
    }

    /// The value as a dtype.
    pub fn dtype(&self, what: &str, column: u32) -> Result<DType, Problem> {
        match self {
            Value::DType(dtype) => Ok(*dtype),
            _ => Err(self.misplaced(what, "a dtype", column).help("as in `astype(x, f32)` or `dtype=float32`")),
        }
    }

    /// The value as a bool.
    pub fn truth(&self, what: &str, column: u32) -> Result<bool, Problem> {
        match self {
            Value::Number(Number::Bool(truth)) => Ok(*truth),
            Value::Number(Number::Int(n @ 0..=1)) => Ok(*n == 1),
            _ => Err(self.misplaced(what, "True or False", column).help("write `True` or `False`")),
        }
    }

    fn misplaced(&self, what: &str, wanted: &str, column: u32) -> Problem {
        Problem::new(column, format!("{what}: takes {wanted}, given {}", self.kind()))
    }
}
