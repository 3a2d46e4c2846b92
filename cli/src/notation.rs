//! The notation of expressions, in which errors and explanations of the library are printed.

use ndjit::Explanation;
use ndjit::explain::Origin;
use ndjit::help::{Code, Notation};

/// The notation of expressions.
pub struct ExpressionNotation;

impl Notation for ExpressionNotation {
    fn code(&self, code: &Code) -> String {
        match code {
            Code::Cast(cast) => {
                let (text, to) = cast.parts();
                format!("`astype({text}, {to})`")
            }
            Code::CastAfter(to) => format!("`.astype({to})`"),
            Code::WithDType(function, dtype) => format!("`{function}(…, dtype={dtype})`"),
            Code::AllAxes => "leave `axis` out for all".to_owned(),
            Code::NoAxes => "leave `axis` out".to_owned(),
            Code::KeptAxis(function) => format!("`{function}(…, axis=-1, keepdims=True)`"),
            Code::OneIndex => "`x[..., 0]`".to_owned(),
            Code::WholeAxes => "whole axes as `:`, and `...` once at most".to_owned(),
            Code::Bools => "`True` or `False`".to_owned(),
            Code::Power => "`x ** y`".to_owned(),
        }
    }
}

/// The explanation with the names of the inputs, and with casts as `astype`.
pub fn explanation(mut why: Explanation, inputs: &[String]) -> Explanation {
    let terms = why.steps.iter_mut().flat_map(|step| &mut step.operands).map(|term| &mut term.origin);
    for origin in terms.chain([&mut why.origin]) {
        match origin {
            Origin::Argument(index) if let Some(name) = inputs.get(*index) => *origin = Origin::Input(name.clone()),
            Origin::Computed { what, .. } if *what == "cast" => *what = "astype",
            _ => {}
        }
    }
    why
}
