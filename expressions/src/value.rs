//! The values of an expression's nodes during tracing.

use crate::error::Problem;
use crate::node::ExprNumber;
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{DType, Expr, Kind};

/// A traced array, or another argument: numbers, dtypes, lists, texts.
#[derive(Clone, Debug)]
pub(crate) enum NodeValue {
    Expr(Expr),
    Number(ExprNumber),
    DType(DType),
    List(Vec<NodeValue>),
    Text(String),
    None,
}

/// A value used as an argument, and the column of its errors.
#[derive(Clone, Debug)]
pub(crate) struct PlacedArgument {
    pub value: NodeValue,
    pub column: u32,
}

impl NodeValue {
    /// A description of the kind of value.
    pub fn kind(&self) -> &'static str {
        match self {
            NodeValue::Expr(_) => "an array",
            NodeValue::Number(ExprNumber::Int(_)) => "an integer",
            NodeValue::Number(ExprNumber::Float(_)) => "a float",
            NodeValue::Number(ExprNumber::Imaginary(_) | ExprNumber::Complex(..)) => "a complex number",
            NodeValue::Number(ExprNumber::Bool(_)) => "a bool",
            NodeValue::DType(_) => "a dtype",
            NodeValue::List(_) => "a list",
            NodeValue::Text(_) => "a text",
            NodeValue::None => "None",
        }
    }

    /// The value as a number.
    pub fn number(&self) -> Option<ExprNumber> {
        match self {
            NodeValue::Number(number) => Some(*number),
            NodeValue::Expr(_) | NodeValue::DType(_) | NodeValue::List(_) | NodeValue::Text(_) | NodeValue::None => {
                None
            }
        }
    }

    /// Whether the value is an integer, or an array of integers or bools.
    pub fn is_integral(&self) -> bool {
        match self {
            NodeValue::Expr(x) => matches!(x.dtype().kind(), Kind::Int | Kind::UInt | Kind::Bool),
            NodeValue::Number(number) => matches!(number, ExprNumber::Int(_) | ExprNumber::Bool(_)),
            NodeValue::DType(_) | NodeValue::List(_) | NodeValue::Text(_) | NodeValue::None => false,
        }
    }

    /// The value as an operand of `what`.
    pub fn operand(&self, what: &str, column: u32) -> Result<AnyOperand, Problem> {
        match self {
            NodeValue::Expr(x) => Ok(x.operand()),
            NodeValue::Number(number) => Ok(number.scalar(column)?.operand()),
            other => Err(other.no_operand(what, column)),
        }
    }

    fn no_operand(&self, what: &str, column: u32) -> Problem {
        let problem = self.misplaced(what, "an array or a number", column);
        match self {
            NodeValue::DType(dtype) => problem.help(format!("`astype(x, {dtype})` converts to it")),
            NodeValue::List(_) => {
                problem.help("lists are shapes and axes; `stack([1, 2])` makes an array, `concat([x, y])` joins some")
            }
            NodeValue::Text(_) => problem.help("texts stand for dtypes and modes: `astype(x, 'float32')`"),
            NodeValue::None => {
                problem.help("None is not a number; bounded on one side write `maximum(x, 0)` or `minimum(x, 1)`")
            }
            NodeValue::Expr(_) | NodeValue::Number(_) => problem,
        }
    }

    /// The value as an array of the program.
    pub fn expr(&self, what: &str, column: u32) -> Result<Expr, Problem> {
        match self {
            NodeValue::Expr(x) => Ok(*x),
            NodeValue::Number(number) => Ok(Expr::from(number.scalar(column)?)),
            other => Err(other.no_operand(what, column)),
        }
    }

    /// The value as an integer.
    pub fn int(&self, what: &str, column: u32) -> Result<isize, Problem> {
        match self {
            // A number beyond any axis or extent remains out of range.
            NodeValue::Number(ExprNumber::Int(n)) => {
                Ok(isize::try_from(*n).unwrap_or(if *n < 0 { isize::MIN } else { isize::MAX }))
            }
            _ => Err(self.no_integer(what, "an integer", column)),
        }
    }

    /// The value as one or several integers.
    pub fn ints(&self, what: &str, column: u32) -> Result<Vec<isize>, Problem> {
        match self {
            NodeValue::List(items) => items.iter().map(|item| item.int(what, column)).collect(),
            _ => match self.int(what, column) {
                Ok(one) => Ok(vec![one]),
                Err(_) => Err(self.no_integer(what, "integers", column)),
            },
        }
    }

    fn no_integer(&self, what: &str, wanted: &str, column: u32) -> Problem {
        let problem = self.misplaced(what, wanted, column);
        match self {
            NodeValue::Expr(_) => {
                problem.help("shapes are known before elements are: write a number, or one of `x.shape`")
            }
            _ => problem.help("write one as `2`, several as `(0, 1)`"),
        }
    }

    /// The value as a dtype.
    pub fn dtype(&self, what: &str, column: u32) -> Result<DType, Problem> {
        match self {
            NodeValue::DType(dtype) => Ok(*dtype),
            _ => Err(self.misplaced(what, "a dtype", column).help("as in `astype(x, f32)` or `dtype=float32`")),
        }
    }

    /// The value as a bool.
    pub fn truth(&self, what: &str, column: u32) -> Result<bool, Problem> {
        match self {
            NodeValue::Number(ExprNumber::Bool(truth)) => Ok(*truth),
            NodeValue::Number(ExprNumber::Int(n @ 0..=1)) => Ok(*n == 1),
            _ => Err(self.misplaced(what, "True or False", column).help("write `True` or `False`")),
        }
    }

    fn misplaced(&self, what: &str, wanted: &str, column: u32) -> Problem {
        Problem::new(column, format!("{what}: takes {wanted}, given {}", self.kind()))
    }
}
