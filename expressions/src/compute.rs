//! Evaluation of expressions: nodes become operations of a program, with their columns. Operations on numbers only are
//! computed at once, others are traced.

use crate::error::{Problem, place};
use crate::names::{ATTRIBUTES, ExprFunction, Other, constant, defaults, function, parameter};
use crate::node::{ExprNode, ExprNodeKind, ExprNumber, Expression, Id};
use crate::numpy::MODULES;
use crate::parser::BINARY;
use crate::sequences::Sequences;
use crate::value::{NodeValue, PlacedArgument};
use crate::{Budget, arguments, dialect, dtypes, index, making, numbers, reducing};
use ndjit::operand::AnyOperand;
use ndjit::{Error, Expr, Op, Program, Spec, dynamic, nearest, with_place};

/// Traces an expression of named inputs. During tracing, sequences such as `arange` reserve memory from `budget`.
///
/// ```
/// use ndjit::{Array, DType, spec};
/// use ndjit_expressions::{Budget, parse, trace};
///
/// let inputs = [("x", spec(DType::F32, [2])), ("y", spec(DType::I8, []))];
/// let program = trace(&parse("x + y * 2")?, &inputs, &Budget::new(1 << 30))?;
/// let results = program.call([&Array::from([1.0f32, 2.0]), &Array::from(10i8)])?;
/// assert_eq!(results[0].to_vec::<f32>()?, [21.0, 22.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Unknown names and the errors of operations, each with a place whose column is that of the expression.
pub fn trace(expression: &Expression, inputs: &[(&str, Spec)], budget: &Budget) -> Result<Program, Error> {
    let specs: Vec<Spec> = inputs.iter().map(|(_, spec)| spec.clone()).collect();
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let mut problem = None;
    let program = Program::trace(&specs, |parameters| {
        let sequences = &Sequences::new(budget);
        let dtypes = &dtypes::named(expression);
        let nodes = expression.nodes();
        let mut computing =
            Computing { nodes, dtypes, names: &names, parameters, values: Vec::new(), sequences, gradients: 0 };
        match computing.run() {
            Ok(result) => vec![result],
            Err(found) => {
                problem = Some(found);
                Vec::new()
            }
        }
    });
    match (program, problem) {
        // The same error, at an argument.
        (Err(first), Some(problem)) if first.headline() == problem.headline() => Err(problem),
        (Err(first), _) => Err(first),
        (Ok(_), Some(problem)) => Err(problem),
        (Ok(program), None) => Ok(program),
    }
}

/// The operand of a call of `grad`, and the input of the derivative.
fn gradient(name: &str, positional: &[Id], named: &[(String, Id)]) -> Option<(Id, Id)> {
    if function(name, 0).ok()? != ExprFunction::Other(Other::Grad) {
        return None;
    }
    let by_name = |wanted| named.iter().find(|(name, _)| parameter(name) == wanted).map(|(_, id)| *id);
    let given = |at: usize, name| positional.get(at).copied().or_else(|| by_name(name));
    given(0, "x").zip(given(1, "by"))
}

/// Limit on nested gradients: each multiplies the computation.
const MOST_GRADIENTS: usize = 4;

/// The evaluation of the last of some nodes.
struct Computing<'a> {
    nodes: &'a [ExprNode],
    /// The dtypes named by nodes.
    dtypes: &'a [Option<String>],
    names: &'a [&'a str],
    parameters: &'a [Expr],
    values: Vec<NodeValue>,
    sequences: &'a Sequences,
    /// The depth of gradients around it.
    gradients: usize,
}

impl Computing<'_> {
    fn run(&mut self) -> Result<Expr, Error> {
        for ((node, dtype), is_needed) in self.nodes.iter().zip(self.dtypes).zip(self.needed()) {
            let value = match dtype {
                _ if !is_needed => NodeValue::None,
                Some(name) => dtypes::read(name, node.column).map(NodeValue::DType)?,
                None => with_place(place(node.column), || self.node(node))?,
            };
            self.values.push(value);
        }
        let column = self.nodes.last().map_or(1, |node| node.column);
        match self.values.last() {
            Some(value) => with_place(place(column), || result(value, column)).map_err(Error::from),
            None => Err(Problem::new(1, "an empty expression").into()),
        }
    }

    /// The nodes needed for the last one. The operand of a gradient is evaluated separately.
    fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        needed.last_mut().into_iter().for_each(|last| *last = true);
        for at in (0..self.nodes.len()).rev() {
            if needed[at] {
                let kind = &self.nodes[at].kind;
                let derived = match kind {
                    ExprNodeKind::Call(name, positional, named) => gradient(name, positional, named),
                    _ => None,
                };
                match derived {
                    Some((_, by)) => needed[by.index()] = true,
                    None => kind.operands().into_iter().for_each(|id| needed[id.index()] = true),
                }
            }
        }
        needed
    }

    /// The gradient of a value with respect to an input.
    fn gradient(&self, of: Id, by: Id) -> Result<Expr, Error> {
        let column = self.nodes[by.index()].column;
        let input = match &self.nodes[by.index()].kind {
            ExprNodeKind::Name(name) => self.names.iter().position(|known| known == name),
            _ => None,
        };
        let Some(input) = input else {
            return Err(Problem::new(column, "grad: the second argument is an input")
                .help("write its name, as in `grad(sum(x * x), x)`")
                .into());
        };
        if self.gradients == MOST_GRADIENTS {
            return Err(Problem::new(column, format!("more than {MOST_GRADIENTS} gradients in one another")).into());
        }
        let mut problem = None;
        let made = ndjit::grad_at(
            |variable: Expr| {
                let mut parameters = self.parameters.to_vec();
                parameters[input] = variable;
                let nodes = &self.nodes[..=of.index()];
                let mut inner = Computing {
                    nodes,
                    parameters: &parameters,
                    values: Vec::new(),
                    gradients: self.gradients + 1,
                    ..*self
                };
                let made = inner.run().and_then(|made| match made.shape().rank() {
                    0 => Ok(made),
                    _ => Err(Problem::new(self.nodes[of.index()].column, "grad: the gradient is that of one number")
                        .help("reduce it, as in `grad(sum(y), x)`")
                        .into()),
                });
                made.unwrap_or_else(|error| {
                    problem = Some(error);
                    // A scalar, so that this error is reported.
                    Expr::from(0.0)
                })
            },
            self.parameters[input],
        );
        problem.map_or(Ok(made), Err)
    }

    fn value(&self, id: Id) -> &NodeValue {
        // Operands precede their users.
        &self.values[id.index()]
    }

    fn node(&self, node: &ExprNode) -> Result<NodeValue, Error> {
        let column = node.column;
        Ok(match &node.kind {
            ExprNodeKind::Number(number) => NodeValue::Number(*number),
            ExprNodeKind::None => NodeValue::None,
            ExprNodeKind::Text(text) => NodeValue::Text(text.clone()),
            ExprNodeKind::Name(name) => self.name(name, column)?,
            ExprNodeKind::Unary(None, x) => self.value(*x).clone(),
            ExprNodeKind::Unary(Some(op), x) => self.op(*op, &[self.argument(*x)], symbol(*op), column)?,
            ExprNodeKind::Binary(op, x, y) => {
                self.op(*op, &[self.argument(*x), self.argument(*y)], symbol(*op), column)?
            }
            ExprNodeKind::Call(name, positional, named) => self.call(name, positional, named, column)?,
            ExprNodeKind::Attribute(x, name) => self.attribute(self.argument(*x), name, column)?,
            ExprNodeKind::List(items) => NodeValue::List(items.iter().map(|item| self.value(*item).clone()).collect()),
            ExprNodeKind::Index(x, parts) => index::index(self.value(*x), parts, |id| self.argument(id), column)?,
        })
    }

    fn name(&self, name: &str, column: u32) -> Result<NodeValue, Problem> {
        if let Some(at) = self.names.iter().position(|known| *known == name) {
            return Ok(NodeValue::Expr(self.parameters[at]));
        }
        if let Some(number) = constant(name) {
            return Ok(NodeValue::Number(number));
        }
        if let Ok(dtype) = dtypes::read(name, column) {
            return Ok(NodeValue::DType(dtype));
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

    fn call(&self, name: &str, positional: &[Id], named: &[(String, Id)], column: u32) -> Result<NodeValue, Error> {
        let function = function(name, column)?;
        let derived = gradient(name, positional, named);
        let positional: Vec<PlacedArgument> = positional.iter().map(|id| self.argument(*id)).collect();
        let named: Vec<(&str, PlacedArgument)> =
            named.iter().map(|(name, id)| (parameter(name), self.argument(*id))).collect();
        let given = arguments::bind(name, function, positional, named, column)?;
        let result = match function {
            ExprFunction::Op(op) => {
                let left_out =
                    defaults(op).iter().map(|number| PlacedArgument { value: NodeValue::Number(*number), column });
                return Ok(self.op(op, &given.all(left_out), name, column)?);
            }
            ExprFunction::Reduction(reduction) => reducing::reduce(reduction, &given)?,
            ExprFunction::Scan(scan) => reducing::scan(scan, &given)?,
            ExprFunction::Sort(sort) => reducing::sort(sort, &given)?,
            ExprFunction::Other(Other::Grad) => {
                let (of, by) = derived.ok_or_else(|| Problem::new(column, "grad: takes a value and an input"))?;
                self.gradient(of, by)?
            }
            ExprFunction::Other(other) => making::call(other, &given, self.sequences)?,
        };
        match result.explain_dtype() {
            Err(error) => Err(given.blamed(error)),
            Ok(_) => Ok(NodeValue::Expr(result)),
        }
    }

    fn argument(&self, id: Id) -> PlacedArgument {
        PlacedArgument { value: self.value(id).clone(), column: self.nodes[id.index()].column }
    }

    fn op(&self, op: Op, operands: &[PlacedArgument], what: &str, column: u32) -> Result<NodeValue, Problem> {
        if let (Op::Pow, [base, exponent]) = (op, operands) {
            dialect::power(base.value.is_integral(), exponent.value.number(), exponent.column)?;
            if let (NodeValue::Expr(x), Some(ExprNumber::Int(2))) = (&base.value, exponent.value.number())
                && let Some(squared) = dialect::squared(*x)
            {
                return Ok(NodeValue::Expr(squared));
            }
        }
        let given: Option<Vec<ExprNumber>> = operands.iter().map(|x| x.value.number()).collect();
        if let Some(given) = given
            && let Some(number) = numbers::computed(op, what, &given, column)?
        {
            return Ok(NodeValue::Number(number));
        }
        let operands: Result<Vec<AnyOperand>, Problem> =
            operands.iter().map(|x| x.value.operand(what, x.column)).collect();
        Ok(NodeValue::Expr(dynamic::apply(op, &operands?)))
    }

    /// Evaluates attributes such as `x.T`.
    fn attribute(&self, x: PlacedArgument, name: &str, column: u32) -> Result<NodeValue, Problem> {
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
        let int = |n: usize| NodeValue::Number(ExprNumber::Int(n as i128));
        Ok(match name {
            "T" => NodeValue::Expr(of.permute_dims((0..shape.rank() as isize).rev().collect::<Vec<isize>>())),
            "mT" => NodeValue::Expr(of.mt()),
            "ndim" => int(shape.rank()),
            "shape" => NodeValue::List(shape.extents().iter().map(|&extent| int(extent)).collect()),
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

/// The value of the whole expression.
fn result(value: &NodeValue, column: u32) -> Result<Expr, Problem> {
    let result = value.expr("the result", column)?;
    if let Some(number) = value.number() {
        let wider = match number {
            ExprNumber::Int(n) if i64::try_from(n).is_err() => "u64",
            ExprNumber::Int(_) => "i64",
            _ => "f64",
        };
        let help = format!("give it a wider dtype: `astype({number}, {wider})`");
        number.fits(result.dtype(), "the result", column, &help)?;
    }
    Ok(dialect::result(result))
}

/// The symbol of an operator.
fn symbol(op: Op) -> &'static str {
    BINARY.iter().find(|(_, other, _)| *other == op).map_or(op.name(), |(symbol, ..)| symbol)
}
