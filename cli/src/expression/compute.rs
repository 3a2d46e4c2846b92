//! What an expression computes: its nodes as operations of a program, each with its column. Numbers among themselves are computed
//! here and now, all else is traced.

use super::error::{Problem, place};
use super::names::{ATTRIBUTES, Function, constant, defaults, function, parameter};
use super::node::{Expression, Id, Node, NodeKind, Number};
use super::numpy::MODULES;
use super::parser::BINARY;
use super::sequences::Sequences;
use super::value::{Argument, Value};
use super::{arguments, dtypes, index, making, numbers, reducing};
use crate::memory::Budget;
use ndjit::operand::AnyOperand;
use ndjit::{Error, Expr, Op, Program, Spec, dynamic, nearest, with_place};

/// Traces an expression of named inputs. The memory of sequences such as `arange` is taken from `budget` meanwhile.
///
/// ```
/// use ndjit::{Array, DType, spec};
/// use ndjit_cli::expression::{parse, trace};
/// use ndjit_cli::memory::Budget;
///
/// let inputs = [("x", spec(DType::F32, [2])), ("y", spec(DType::I8, []))];
/// let program = trace(&parse("x + y * 2")?, &inputs, &Budget::new(1 << 30))?;
/// let results = program.call([&Array::from([1.0f32, 2.0]), &Array::from(10i8)])?;
/// assert_eq!(results[0].to_vec::<f32>()?, [21.0, 22.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What the expression names that there is not, and what its operations refuse, each with a place whose column is that of the
/// expression.
pub fn trace(expression: &Expression, inputs: &[(&str, Spec)], budget: &Budget) -> Result<Program, Error> {
    let specs: Vec<Spec> = inputs.iter().map(|(_, spec)| spec.clone()).collect();
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let mut problem = None;
    let program = Program::trace(&specs, |parameters| {
        let columns = expression.nodes().iter().map(|node| node.column).collect();
        let mut computing =
            Computing { columns, names: &names, parameters, values: Vec::new(), sequences: Sequences::new(budget) };
        match computing.run(expression) {
            Ok(result) => vec![result],
            Err(found) => {
                problem = Some(found);
                Vec::new()
            }
        }
    });
    match (program, problem) {
        // The same one, at an argument.
        (Err(first), Some(problem)) if first.headline() == problem.headline() => Err(problem),
        (Err(first), _) => Err(first),
        (Ok(_), Some(problem)) => Err(problem),
        (Ok(program), None) => Ok(program),
    }
}

struct Computing<'a> {
    columns: Vec<u32>,
    names: &'a [&'a str],
    parameters: &'a [Expr],
    values: Vec<Value>,
    sequences: Sequences,
}

impl Computing<'_> {
    fn run(&mut self, expression: &Expression) -> Result<Expr, Error> {
        let dtypes = dtypes::named(expression);
        for (node, dtype) in expression.nodes().iter().zip(dtypes) {
            let value = match dtype {
                Some(name) => dtypes::read(&name, node.column).map(Value::DType)?,
                None => with_place(place(node.column), || self.node(node))?,
            };
            self.values.push(value);
        }
        let column = expression.nodes().last().map_or(1, |node| node.column);
        match self.values.last() {
            Some(value) => with_place(place(column), || result(value, column)).map_err(Error::from),
            None => Err(Problem::new(1, "an empty expression").into()),
        }
    }

    fn value(&self, id: Id) -> &Value {
        // Operands come before what uses them.
        &self.values[id.index()]
    }

    fn node(&self, node: &Node) -> Result<Value, Error> {
        let column = node.column;
        Ok(match &node.kind {
            NodeKind::Number(number) => Value::Number(*number),
            NodeKind::None => Value::None,
            NodeKind::Text(text) => Value::Text(text.clone()),
            NodeKind::Name(name) => self.name(name, column)?,
            NodeKind::Unary(None, x) => self.value(*x).clone(),
            NodeKind::Unary(Some(op), x) => self.op(*op, &[self.argument(*x)], symbol(*op), column)?,
            NodeKind::Binary(op, x, y) => self.op(*op, &[self.argument(*x), self.argument(*y)], symbol(*op), column)?,
            NodeKind::Call(name, positional, named) => self.call(name, positional, named, column)?,
            NodeKind::Attribute(x, name) => self.attribute(self.argument(*x), name, column)?,
            NodeKind::List(items) => Value::List(items.iter().map(|item| self.value(*item).clone()).collect()),
            NodeKind::Index(x, parts) => index::index(self.value(*x), parts, |id| self.argument(id), column)?,
        })
    }

    fn name(&self, name: &str, column: u32) -> Result<Value, Problem> {
        if let Some(at) = self.names.iter().position(|known| *known == name) {
            return Ok(Value::Expr(self.parameters[at]));
        }
        if let Some(number) = constant(name) {
            return Ok(Value::Number(number));
        }
        if let Ok(dtype) = dtypes::read(name, column) {
            return Ok(Value::DType(dtype));
        }
        let problem = Problem::new(column, format!("there is no input `{name}`"));
        Err(match nearest(name, self.names.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None if MODULES.contains(&name) => {
                problem.help(format!("functions, dtypes and constants stand alone: `sin(x)`, not `{name}.sin(x)`"))
            }
            None if function(name, column).is_ok() => problem.help(format!("a function is called: `{name}(x)`")),
            None if self.names.is_empty() => problem.help(format!("give it after the expression: `{name}=…`")),
            None => problem.help(format!("the inputs are {}", self.names.join(", "))),
        })
    }

    fn call(&self, name: &str, positional: &[Id], named: &[(String, Id)], column: u32) -> Result<Value, Error> {
        let function = function(name, column)?;
        let positional: Vec<Argument> = positional.iter().map(|id| self.argument(*id)).collect();
        let named: Vec<(&str, Argument)> =
            named.iter().map(|(name, id)| (parameter(name), self.argument(*id))).collect();
        let given = arguments::bind(name, function, positional, named, column)?;
        let result = match function {
            Function::Op(op) => {
                let left_out = defaults(op).iter().map(|number| Argument { value: Value::Number(*number), column });
                return Ok(self.op(op, &given.all(left_out), name, column)?);
            }
            Function::Reduction(reduction) => reducing::reduce(reduction, &given)?,
            Function::Scan(scan) => reducing::scan(scan, &given)?,
            Function::Sort(sort) => reducing::sort(sort, &given)?,
            Function::Other(other) => making::call(other, &given, &self.sequences)?,
        };
        match result.explain_dtype() {
            Err(error) => Err(given.blamed(error)),
            Ok(_) => Ok(Value::Expr(result)),
        }
    }

    fn argument(&self, id: Id) -> Argument {
        Argument { value: self.value(id).clone(), column: self.columns[id.index()] }
    }

    fn op(&self, op: Op, operands: &[Argument], what: &str, column: u32) -> Result<Value, Problem> {
        let given: Option<Vec<Number>> = operands.iter().map(|x| x.value.number()).collect();
        if let Some(given) = given
            && let Some(number) = numbers::computed(op, what, &given, column)?
        {
            return Ok(Value::Number(number));
        }
        let operands: Result<Vec<AnyOperand>, Problem> =
            operands.iter().map(|x| x.value.operand(what, x.column)).collect();
        Ok(Value::Expr(dynamic::apply(op, &operands?)))
    }

    /// `x.T` and the like.
    fn attribute(&self, x: Argument, name: &str, column: u32) -> Result<Value, Problem> {
        let part = match name {
            "real" => Some(Op::Real),
            "imag" => Some(Op::Imag),
            _ => None,
        };
        if let Some(op) = part {
            return self.op(op, &[x], name, column);
        }
        let of = x.value.expr(name, x.column)?;
        let shape = of.shape();
        let int = |n: usize| Value::Number(Number::Int(n as i128));
        Ok(match name {
            "T" => Value::Expr(of.permute_dims((0..shape.rank() as isize).rev().collect::<Vec<isize>>())),
            "mT" => Value::Expr(of.mt()),
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
}

/// The value of the whole.
fn result(value: &Value, column: u32) -> Result<Expr, Problem> {
    let result = value.expr("the result", column)?;
    if let Some(number) = value.number() {
        let wider = match number {
            Number::Int(n) if i64::try_from(n).is_err() => "u64",
            Number::Int(_) => "i64",
            _ => "f64",
        };
        let help = format!("give it a wider dtype: `astype({number}, {wider})`");
        number.fits(result.dtype(), "the result", column, &help)?;
    }
    Ok(result)
}

/// The symbol of an operator.
fn symbol(op: Op) -> &'static str {
    BINARY.iter().find(|(_, other, _)| *other == op).map_or(op.name(), |(symbol, ..)| symbol)
}
