//! Dtypes in expressions: names of the library, attributes of NumPy, strings.

use crate::error::Problem;
use crate::names::{function, parameter};
use crate::node::{ExprNodeKind, Expression, Id};
use crate::notation::ExpressionNotation;
use crate::numpy::MODULES;
use ndjit::help::{Code, HelpPart};
use ndjit::{DType, nearest};

/// The dtype named by each node that is an argument for a dtype: `float32`, `np.float32`, `'float32'`. There, inputs
/// with the same name are ignored, and errors are about dtypes. The module's own node is included.
pub(crate) fn named(expression: &Expression) -> Vec<Option<String>> {
    let mut names = vec![None; expression.nodes().len()];
    for id in expression.nodes().iter().flat_map(|node| argument(&node.kind)) {
        match &expression.node(id).kind {
            ExprNodeKind::Name(name) | ExprNodeKind::Text(name) => names[id.index()] = Some(name.clone()),
            ExprNodeKind::Attribute(of, name) => {
                if let ExprNodeKind::Name(module) = &expression.node(*of).kind
                    && MODULES.contains(&module.as_str())
                {
                    names[of.index()] = Some(name.clone());
                    names[id.index()] = Some(name.clone());
                }
            }
            _ => {}
        }
    }
    names
}

/// The dtype argument of a call.
fn argument(kind: &ExprNodeKind) -> Option<Id> {
    let ExprNodeKind::Call(name, positional, named) = kind else { return None };
    let by_name = named.iter().find(|(name, _)| parameter(name) == "dtype").map(|(_, id)| *id);
    let by_position = || {
        let (parameters, _) = function(name, 0).ok()?.parameters();
        positional.get(parameters.iter().position(|parameter| *parameter == "dtype")?).copied()
    };
    by_name.or_else(by_position)
}

/// The dtype with this name.
pub(crate) fn read(name: &str, column: u32) -> Result<DType, Problem> {
    name.parse::<DType>().map_err(|error| {
        let rows = DType::ALL.map(DType::row);
        let near = nearest(name, rows.iter().flat_map(|row| [row.name, row.long]));
        // Names with a meaning elsewhere.
        let is_dtypes = |part: &HelpPart| matches!(part, HelpPart::Code(Code::DTypes(_)));
        let elsewhere = error.way_out().filter(|help| help.parts().iter().any(is_dtypes));
        let elsewhere = elsewhere.map(|help| help.in_notation(&ExpressionNotation));
        let problem = match (elsewhere, near) {
            (Some(help), _) => Problem::new(column, error.headline()).help(help),
            (None, Some(near)) => unknown(name, column).help(format!("did you mean `{near}`?")),
            (None, None) => unknown(name, column).help("long names, as `float32` and `np.float32`, are read too"),
        };
        Problem { facts: error.facts().to_vec(), ..problem }
    })
}

fn unknown(name: &str, column: u32) -> Problem {
    Problem::new(column, format!("there is no dtype `{name}`"))
}
