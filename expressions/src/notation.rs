//! The notation of expressions, in which errors and explanations of the library are printed.

use ndjit::explain::Origin;
use ndjit::help::{Code, HelpNotation, one_of, tuple};
use ndjit::{Error, ErrorCode, Explanation};

/// The notation of expressions.
pub struct ExpressionNotation;

impl HelpNotation for ExpressionNotation {
    fn code(&self, code: &Code) -> String {
        match code {
            Code::CastCall(cast) => {
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
            Code::DTypes(dtypes) => one_of(dtypes),
            Code::ReduceAll(reduction) => format!("`{reduction}(y)`"),
            Code::IsPositive => "`x > 0`".to_owned(),
            Code::IsNonzero => "`x != 0`".to_owned(),
            Code::Select(arguments) => format!("`where({arguments})`"),
            Code::Reshape(extents) => format!("`reshape(x, {})`", tuple(extents)),
        }
    }
}

/// The error in the notation of expressions, without its place in the source of this program.
///
/// ```
/// use ndjit_expressions::in_notation;
///
/// let error = ndjit::zeros(3).sum(1).error().unwrap().clone();
/// assert!(in_notation(&error).place().is_none());
/// assert_eq!(in_notation(&error).headline(), error.headline());
/// ```
pub fn in_notation(error: &Error) -> Error {
    // In an expression, a number is no argument of a call.
    let is_call = error.code() == ErrorCode::Literal && error.name() == Some("call");
    let error = if is_call { error.clone().unnamed() } else { error.clone() };
    let portable = error.facts().iter().fold(Error::new(error.code(), error.headline()), Error::fact);
    match error.way_out() {
        Some(help) => portable.help(help.in_notation(&ExpressionNotation)),
        None => portable,
    }
}

/// The explanation with the names of the inputs, and with casts as `astype`.
pub fn explanation(mut why: Explanation, inputs: &[String]) -> Explanation {
    let terms = why.steps.iter_mut().flat_map(|step| &mut step.operands).map(|term| &mut term.origin);
    for origin in terms.chain([&mut why.origin]) {
        match origin {
            Origin::Argument(index) if let Some(name) = inputs.get(*index) => {
                *origin = Origin::NamedArgument(name.clone())
            }
            Origin::Computed { what, .. } if *what == "cast" => *what = "astype",
            _ => {}
        }
    }
    why
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndjit::DType;
    use ndjit::help::{CastAdvice, Help};

    #[test]
    fn code_is_that_of_expressions() {
        let casts = [CastAdvice::NamedOperand("x", DType::F32), CastAdvice::SourceText("y + 1".to_owned(), DType::I8)];
        let said = [
            (Help::from("cast: ").casts(casts), "cast: `astype(x, f32)` and `astype(y + 1, i8)`"),
            (Help::default().code(Code::CastAfter(DType::Bf16)).rust(", or `f()`"), "`.astype(bf16)`"),
            (Help::default().code(Code::WithDType("arange".into(), DType::I64)), "`arange(…, dtype=i64)`"),
            (
                Help::from("reduce as in ").code(Code::KeptAxis("mean")),
                "reduce as in `mean(…, axis=-1, keepdims=True)`",
            ),
            (Help::from("one, or ").code(Code::AllAxes), "one, or leave `axis` out for all"),
            (Help::from("give ").code(Code::Bools), "give `True` or `False`"),
            (Help::from("write ").code(Code::DTypes(vec![DType::F32, DType::F64])), "write `f32` or `f64`"),
        ];
        for (help, expected) in said {
            assert_eq!(help.in_notation(&ExpressionNotation), expected, "{}", help.as_str());
        }
    }
}
