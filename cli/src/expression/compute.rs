//! What an expression computes: its nodes as operations of a program, each with its column.
//!
//! Numbers meet each other here, as in Python, before they meet arrays: `1 / 3` is a number of 64 bits. All else is traced.

use super::error::{Problem, nearest, place};
use super::names::{ATTRIBUTES, Function, constant, function, parameter};
use super::node::{Expression, Id, Node, NodeKind, Number};
use super::parser::BINARY;
use super::value::Value;
use super::{arguments, making, reducing};
use ndjit::operand::AnyOperand;
use ndjit::{DType, Error, Expr, Op, Program, Spec, dynamic, with_place};

/// Traces an expression of named inputs. `most_bytes` bounds what sequences such as `arange` take.
///
/// ```
/// use ndjit::{Array, DType, spec};
/// use ndjit_cli::expression::{parse, trace};
///
/// let program = trace(&parse("x + y * 2")?, &[("x", spec(DType::F32, [2])), ("y", spec(DType::I8, []))], 1 << 30)?;
/// let results = program.call([&Array::from([1.0f32, 2.0]), &Array::from(10i8)])?;
/// assert_eq!(results[0].to_vec::<f32>()?, [21.0, 22.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What the expression names that there is not, and what its operations refuse, each with a place whose column is that of the
/// expression.
pub fn trace(expression: &Expression, inputs: &[(&str, Spec)], most_bytes: usize) -> Result<Program, Error> {
    let specs: Vec<Spec> = inputs.iter().map(|(_, spec)| spec.clone()).collect();
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let mut problem = None;
    let program = Program::trace(&specs, |parameters| {
        let mut computing = Computing { names: &names, parameters, values: Vec::new(), most_bytes };
        match computing.run(expression) {
            Ok(result) => vec![result],
            Err(found) => {
                problem = Some(found);
                Vec::new()
            }
        }
    })?;
    problem.map_or(Ok(program), |problem| Err(problem.into()))
}

struct Computing<'a> {
    names: &'a [&'a str],
    parameters: &'a [Expr],
    values: Vec<Value>,
    most_bytes: usize,
}

impl Computing<'_> {
    fn run(&mut self, expression: &Expression) -> Result<Expr, Problem> {
        for node in expression.nodes() {
            let value = with_place(place(node.column), || self.node(node))?;
            self.values.push(value);
        }
        let column = expression.nodes().last().map_or(1, |node| node.column);
        match self.values.last() {
            Some(value) => with_place(place(column), || value.expr("the result", column)),
            None => Err(Problem::new(1, "an empty expression")),
        }
    }

    fn value(&self, id: Id) -> &Value {
        // Operands come before what uses them.
        &self.values[id.index()]
    }

    fn node(&self, node: &Node) -> Result<Value, Problem> {
        let column = node.column;
        match &node.kind {
            NodeKind::Number(number) => Ok(Value::Number(*number)),
            NodeKind::None => Ok(Value::None),
            NodeKind::Name(name) => self.name(name, column),
            NodeKind::Unary(None, x) => Ok(self.value(*x).clone()),
            NodeKind::Unary(Some(op), x) => match (op, self.value(*x)) {
                (Op::Negative, Value::Number(Number::Int(n))) => Ok(Value::Number(Number::Int(-n))),
                (Op::Negative, Value::Number(Number::Float(x))) => Ok(Value::Number(Number::Float(-x))),
                (_, x) => self.op(*op, std::slice::from_ref(x), symbol(*op), column),
            },
            NodeKind::Binary(op, x, y) => {
                let (x, y) = (self.value(*x), self.value(*y));
                if let (Value::Number(x), Value::Number(y)) = (x, y)
                    && let Some(number) = folded(*op, *x, *y)
                {
                    return Ok(Value::Number(number));
                }
                self.op(*op, &[x.clone(), y.clone()], symbol(*op), column)
            }
            NodeKind::Call(name, positional, named) => self.call(name, positional, named, column),
            NodeKind::Attribute(x, name) => attribute(self.value(*x), name, column),
            NodeKind::List(items) => Ok(Value::List(items.iter().map(|item| self.value(*item).clone()).collect())),
            NodeKind::Index(x, parts) => making::index(self.value(*x), parts, |id| self.value(id), column),
        }
    }

    fn name(&self, name: &str, column: u32) -> Result<Value, Problem> {
        if let Some(at) = self.names.iter().position(|known| *known == name) {
            return Ok(Value::Expr(self.parameters[at]));
        }
        if let Some(number) = constant(name) {
            return Ok(Value::Number(number));
        }
        if let Ok(dtype) = name.parse::<DType>() {
            return Ok(Value::DType(dtype));
        }
        let problem = Problem::new(column, format!("there is no input `{name}`"));
        Err(match nearest(name, self.names.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None if function(name, column).is_ok() => problem.help(format!("a function is called: `{name}(x)`")),
            None if self.names.is_empty() => problem.help(format!("give it after the expression: `{name}=…`")),
            None => problem.help(format!("the inputs are {}", self.names.join(", "))),
        })
    }

    fn call(&self, name: &str, positional: &[Id], named: &[(String, Id)], column: u32) -> Result<Value, Problem> {
        let function = function(name, column)?;
        let positional: Vec<Value> = positional.iter().map(|id| self.value(*id).clone()).collect();
        let named: Vec<(&str, Value)> =
            named.iter().map(|(name, id)| (parameter(name), self.value(*id).clone())).collect();
        let given = arguments::bind(name, function, positional, named, column)?;
        match function {
            Function::Op(op) => {
                let operands: Vec<Value> = given.all().collect();
                self.op(op, &operands, name, column)
            }
            Function::Reduction(reduction) => reducing::call(reduction, &given).map(Value::Expr),
            Function::Other(other) => making::call(other, &given, self.most_bytes).map(Value::Expr),
        }
    }

    fn op(&self, op: Op, operands: &[Value], what: &str, column: u32) -> Result<Value, Problem> {
        let operands: Result<Vec<AnyOperand>, Problem> = operands.iter().map(|x| x.operand(what, column)).collect();
        Ok(Value::Expr(dynamic::apply(op, &operands?)))
    }
}

/// The symbol of an operator.
fn symbol(op: Op) -> &'static str {
    BINARY.iter().find(|(_, other, _)| *other == op).map_or(op.name(), |(symbol, ..)| symbol)
}

/// What two numbers give, as in Python; none where arrays have an answer of their own, as for divisions by 0.
fn folded(op: Op, x: Number, y: Number) -> Option<Number> {
    Some(match (x, y) {
        (Number::Int(x), Number::Int(y)) => match op {
            Op::Add => int(x.checked_add(y)),
            Op::Subtract => int(x.checked_sub(y)),
            Op::Multiply => int(x.checked_mul(y)),
            Op::FloorDivide if y != 0 => Number::Int(x.checked_sub(x.rem_euclid(y.checked_abs()?) + below(x, y))? / y),
            Op::Remainder if y != 0 => Number::Int(x.rem_euclid(y.checked_abs()?) + below(x, y)),
            Op::Divide if y != 0 => Number::Float(x as f64 / y as f64),
            Op::Pow if y >= 0 => int(u32::try_from(y).ok().and_then(|y| x.checked_pow(y))),
            Op::Pow if x != 0 => Number::Float((x as f64).powf(y as f64)),
            Op::BitwiseAnd => Number::Int(x & y),
            Op::BitwiseOr => Number::Int(x | y),
            Op::BitwiseXor => Number::Int(x ^ y),
            Op::BitwiseLeftShift if x == 0 && y >= 0 => Number::Int(0),
            Op::BitwiseLeftShift if y >= 0 => int((y < 100).then(|| x.checked_mul(1 << y)).flatten()),
            Op::BitwiseRightShift if y >= 0 => Number::Int(x >> y.min(127)),
            _ => return None,
        },
        (Number::Int(_) | Number::Float(_), Number::Int(_) | Number::Float(_)) => {
            let (x, y) = (float(x)?, float(y)?);
            Number::Float(match op {
                Op::Add => x + y,
                Op::Subtract => x - y,
                Op::Multiply => x * y,
                Op::Divide if y != 0.0 => x / y,
                Op::Pow => x.powf(y),
                Op::Remainder if y != 0.0 => remainder(x, y),
                // As CPython: the quotient of what a whole number of divisors leaves is whole but for rounding.
                Op::FloorDivide if y != 0.0 => ((x - remainder(x, y)) / y).round(),
                _ => return None,
            })
        }
        (x, Number::Imaginary(y)) => Number::Complex(
            float(x)?,
            match op {
                Op::Add => y,
                Op::Subtract => -y,
                _ => return None,
            },
        ),
        _ => return None,
    })
}

/// An integer. One that is larger than all that can be computed with stays too large, which whoever uses it says.
fn int(exact: Option<i128>) -> Number {
    Number::Int(exact.unwrap_or(i128::MAX))
}

/// The remainder of floored division, which has the sign of the divisor.
fn remainder(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest }
}

/// What takes a remainder from 0 up to that of floored division: it has the sign of the divisor.
fn below(x: i128, y: i128) -> i128 {
    if y < 0 && x.rem_euclid(y) != 0 { y } else { 0 }
}

fn float(number: Number) -> Option<f64> {
    match number {
        Number::Int(n) => Some(n as f64),
        Number::Float(x) => Some(x),
        Number::Imaginary(_) | Number::Complex(..) | Number::Bool(_) => None,
    }
}

/// `x.T` and the like.
fn attribute(x: &Value, name: &str, column: u32) -> Result<Value, Problem> {
    let of = x.expr(name, column)?;
    let shape = of.shape();
    let int = |n: usize| Value::Number(Number::Int(n as i128));
    Ok(match name {
        "T" => Value::Expr(of.permute_dims((0..shape.rank() as isize).rev().collect::<Vec<isize>>())),
        "mT" => Value::Expr(of.mt()),
        "real" => Value::Expr(of.real()),
        "imag" => Value::Expr(of.imag()),
        "ndim" => int(shape.rank()),
        "shape" => Value::List(shape.extents().iter().map(|&extent| int(extent)).collect()),
        "size" => int(shape.size().map_err(|error| Problem::new(column, error.headline()))?),
        _ => {
            let problem = Problem::new(column, format!("an array has no `{name}`"));
            return Err(match (function(name, column), nearest(name, ATTRIBUTES)) {
                (Ok(_), _) => problem.help(format!("a method is called: `.{name}()`")),
                (Err(_), Some(near)) => problem.help(format!("did you mean `.{near}`?")),
                (Err(unknown), None) => match unknown.help {
                    Some(help) if help.starts_with("did you mean") => problem.help(help),
                    _ => problem.help(format!("it has .{}, and methods", ATTRIBUTES.join(" ."))),
                },
            });
        }
    })
}
