//! Binding of a call's arguments to parameters.

use crate::counted;
use crate::error::{Problem, place};
use crate::names::ExprFunction;
use crate::numpy;
use crate::value::{NodeValue, PlacedArgument};
use ndjit::{DType, Error, ErrorCode, Expr, nearest};

/// The arguments of a call, by parameter.
pub(crate) struct BoundArguments<'a> {
    /// The function's name in the call.
    pub name: &'a str,
    pub column: u32,
    parameters: Vec<&'static str>,
    values: Vec<Option<PlacedArgument>>,
}

/// Binds arguments to parameters.
pub(crate) fn bind<'a>(
    name: &'a str,
    function: ExprFunction,
    mut positional: Vec<PlacedArgument>,
    named: Vec<(&str, PlacedArgument)>,
    column: u32,
) -> Result<BoundArguments<'a>, Problem> {
    let (parameters, required) = function.parameters();
    let numbers = |rest: &[PlacedArgument]| rest.iter().all(|argument| argument.value.number().is_some());
    if function.takes_list() && positional.len() > 2 && numbers(&positional[1..]) {
        let list = positional.split_off(1);
        let column = list[0].column;
        let value = NodeValue::List(list.into_iter().map(|argument| argument.value).collect());
        positional.push(PlacedArgument { value, column });
    }
    let signature =
        || numpy::more_arguments(name).unwrap_or_else(|| format!("it is written `{name}({})`", parameters.join(", ")));
    if let Some(first) = positional.get(parameters.len()) {
        let (most, given) = (counted(parameters.len(), "argument"), positional.len());
        return Err(Problem::new(first.column, format!("{name}: takes {most}, {given} given")).help(signature()));
    }
    let mut values: Vec<Option<PlacedArgument>> = positional.into_iter().map(Some).collect();
    values.resize_with(parameters.len(), || None);
    for (parameter, argument) in named {
        let column = argument.column;
        let Some(at) = parameters.iter().position(|known| *known == parameter) else {
            let problem = Problem::new(column, format!("{name}: has no parameter `{parameter}`"));
            return Err(problem.help(match nearest(parameter, parameters.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => signature(),
            }));
        };
        if values[at].replace(argument).is_some() {
            return Err(Problem::new(column, format!("{name}: `{parameter}` is given twice"))
                .help(format!("by its position too: it is written `{name}({})`", parameters.join(", "))));
        }
    }
    if let Some(missing) = parameters.iter().take(required).zip(&values).find(|(_, value)| value.is_none()) {
        return Err(Problem::new(column, format!("{name}: `{}` is missing", missing.0)).help(signature()));
    }
    Ok(BoundArguments { name, column, parameters, values })
}

impl BoundArguments<'_> {
    /// All arguments in the order of parameters; `left_out` are the defaults of the last ones.
    pub fn all(&self, left_out: impl ExactSizeIterator<Item = PlacedArgument>) -> Vec<PlacedArgument> {
        let required = self.values.len() - left_out.len();
        let otherwise = std::iter::repeat_n(None, required).chain(left_out.map(Some));
        self.values.iter().zip(otherwise).filter_map(|(given, otherwise)| given.clone().or(otherwise)).collect()
    }

    /// The argument of a parameter; `None` if it is omitted or `None`.
    pub fn get(&self, parameter: &str) -> Option<&PlacedArgument> {
        let at = self.parameters.iter().position(|known| *known == parameter)?;
        self.values[at].as_ref().filter(|argument| !matches!(argument.value, NodeValue::None))
    }

    /// The argument of a parameter, read by `read`.
    fn read<T>(
        &self,
        parameter: &str,
        read: impl Fn(&NodeValue, &str, u32) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        let what = format!("{}: `{parameter}`", self.name);
        self.get(parameter).map(|given| read(&given.value, &what, given.column)).transpose()
    }

    /// The argument of a required parameter.
    pub fn given<T>(&self, parameter: &str, value: Option<T>) -> Result<T, Problem> {
        value.ok_or_else(|| self.problem(format_args!("`{parameter}` is missing")))
    }

    /// The argument of a required parameter, as an array or a number.
    pub fn expr(&self, parameter: &str) -> Result<Expr, Problem> {
        let value = self.read(parameter, |value, what, column| value.expr(what, column))?;
        self.given(parameter, value)
    }

    /// The argument of a parameter that is a list of arrays.
    pub fn exprs(&self, parameter: &str) -> Result<Vec<Expr>, Problem> {
        match self.get(parameter) {
            Some(PlacedArgument { value: NodeValue::List(items), column }) => {
                items.iter().map(|item| item.expr(self.name, *column)).collect()
            }
            _ => Err(self
                .problem_of(parameter, "takes a list of arrays")
                .help(format!("write `{}([x, y])`, with brackets", self.name))),
        }
    }

    pub fn int(&self, parameter: &str) -> Result<Option<isize>, Problem> {
        self.read(parameter, NodeValue::int)
    }

    pub fn ints(&self, parameter: &str) -> Result<Option<Vec<isize>>, Problem> {
        self.read(parameter, NodeValue::ints)
    }

    /// The argument of a required parameter that is a list of integers.
    pub fn some_ints(&self, parameter: &str) -> Result<Vec<isize>, Problem> {
        let value = self.ints(parameter)?;
        self.given(parameter, value)
    }

    pub fn dtype(&self) -> Result<Option<DType>, Problem> {
        self.read("dtype", NodeValue::dtype)
    }

    pub fn truth(&self, parameter: &str) -> Result<Option<bool>, Problem> {
        self.read(parameter, NodeValue::truth)
    }

    /// An error at the call.
    pub fn problem(&self, what: impl std::fmt::Display) -> Problem {
        Problem::new(self.column, format!("{}: {what}", self.name))
    }

    /// An error at an argument; at the call if it is omitted.
    pub fn problem_of(&self, parameter: &str, what: impl std::fmt::Display) -> Problem {
        let column = self.get(parameter).map_or(self.column, |given| given.column);
        Problem { column, ..self.problem(what) }
    }

    /// Moves the place of an error of the call to the argument at fault.
    pub fn blamed(&self, error: Error) -> Error {
        if error.code() != ErrorCode::Shape || error.place() != Some(place(self.column)) {
            return error;
        }
        let axes = ["axis", "axes", "axis1", "axis2", "source", "destination"];
        let named = axes.iter().filter(|_| error.is_about_axis()).find_map(|name| self.get(name));
        let shape = || self.get("shape");
        match named.or_else(shape) {
            Some(argument) => error.moved(place(argument.column)),
            None => error,
        }
    }
}
