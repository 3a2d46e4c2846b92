//! Which argument of a call goes to which parameter.

use super::error::{Problem, nearest};
use super::names::Function;
use super::value::Value;
use ndjit::{DType, Expr};

/// The arguments of a call, by parameter.
pub(super) struct Arguments<'a> {
    /// The function, as it was called.
    pub name: &'a str,
    pub column: u32,
    parameters: Vec<&'static str>,
    values: Vec<Option<Value>>,
}

/// Puts arguments to their parameters.
pub(super) fn bind<'a>(
    name: &'a str,
    function: Function,
    mut positional: Vec<Value>,
    named: Vec<(&str, Value)>,
    column: u32,
) -> Result<Arguments<'a>, Problem> {
    let (parameters, required) = function.parameters();
    let numbers = |rest: &[Value]| rest.iter().all(|value| matches!(value, Value::Number(_)));
    if function.takes_list() && positional.len() > 2 && numbers(&positional[1..]) {
        let list = positional.split_off(1);
        positional.push(Value::List(list));
    }
    let signature = || format!("its parameters are {}", parameters.join(", "));
    if positional.len() > parameters.len() {
        let (most, given) = (parameters.len(), positional.len());
        return Err(Problem::new(column, format!("{name}: takes {most} arguments, {given} given")).help(signature()));
    }
    let mut values: Vec<Option<Value>> = positional.into_iter().map(Some).collect();
    values.resize_with(parameters.len(), || None);
    for (parameter, value) in named {
        let Some(at) = parameters.iter().position(|known| *known == parameter) else {
            let problem = Problem::new(column, format!("{name}: has no parameter `{parameter}`"));
            return Err(problem.help(match nearest(parameter, parameters.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => signature(),
            }));
        };
        if values[at].replace(value).is_some() {
            return Err(Problem::new(column, format!("{name}: `{parameter}` is given twice")));
        }
    }
    if let Some(missing) = parameters.iter().take(required).zip(&values).find(|(_, value)| value.is_none()) {
        return Err(Problem::new(column, format!("{name}: `{}` is missing", missing.0)).help(signature()));
    }
    Ok(Arguments { name, column, parameters, values })
}

impl Arguments<'_> {
    /// All that were given, in the parameters' order.
    pub fn all(&self) -> impl Iterator<Item = Value> + '_ {
        self.values.iter().flatten().cloned()
    }

    /// What a parameter was given; nothing and `None` are the same.
    pub fn get(&self, parameter: &str) -> Option<&Value> {
        let at = self.parameters.iter().position(|known| *known == parameter)?;
        self.values[at].as_ref().filter(|value| !matches!(value, Value::None))
    }

    /// A parameter as `read` takes it.
    fn read<T>(
        &self,
        parameter: &str,
        read: impl Fn(&Value, &str, u32) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        let what = format!("{}: `{parameter}`", self.name);
        self.get(parameter).map(|value| read(value, &what, self.column)).transpose()
    }

    fn given<T>(&self, parameter: &str, value: Option<T>) -> Result<T, Problem> {
        value.ok_or_else(|| Problem::new(self.column, format!("{}: `{parameter}` is missing", self.name)))
    }

    /// A parameter that must be an array or a number.
    pub fn expr(&self, parameter: &str) -> Result<Expr, Problem> {
        let value = self.read(parameter, |value, what, column| value.expr(what, column))?;
        self.given(parameter, value)
    }

    /// A parameter that is a list of arrays.
    pub fn exprs(&self, parameter: &str) -> Result<Vec<Expr>, Problem> {
        let items = match self.get(parameter) {
            Some(Value::List(items)) => items,
            _ => {
                return Err(Problem::new(self.column, format!("{}: takes a list of arrays", self.name))
                    .help(format!("write `{}([x, y])`", self.name)));
            }
        };
        items.iter().map(|item| item.expr(self.name, self.column)).collect()
    }

    pub fn int(&self, parameter: &str) -> Result<Option<isize>, Problem> {
        self.read(parameter, Value::int)
    }

    pub fn ints(&self, parameter: &str) -> Result<Option<Vec<isize>>, Problem> {
        self.read(parameter, Value::ints)
    }

    /// A parameter of integers that must be there.
    pub fn some_ints(&self, parameter: &str) -> Result<Vec<isize>, Problem> {
        let value = self.ints(parameter)?;
        self.given(parameter, value)
    }

    pub fn dtype(&self) -> Result<Option<DType>, Problem> {
        self.read("dtype", Value::dtype)
    }

    pub fn truth(&self, parameter: &str) -> Result<Option<bool>, Problem> {
        self.read(parameter, Value::truth)
    }

    /// An error of the call.
    pub fn problem(&self, what: impl std::fmt::Display) -> Problem {
        Problem::new(self.column, format!("{}: {what}", self.name))
    }
}
