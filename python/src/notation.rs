//! The notation of Python, in which help of errors is printed.

use ndjit::help::{CastAdvice, Code, HelpNotation, one_of, tuple};

/// The notation of Python.
pub struct PythonNotation;

impl HelpNotation for PythonNotation {
    fn code(&self, code: &Code) -> String {
        match code {
            Code::CastCall(cast @ CastAdvice::TypedNumber(..)) => {
                let (text, to) = cast.parts();
                format!("`ndjit.asarray({text}, dtype=ndjit.{})`", to.row().long)
            }
            Code::CastCall(cast) => {
                let (text, to) = cast.parts();
                format!("`ndjit.astype({text}, ndjit.{})`", to.row().long)
            }
            Code::CastAfter(to) => format!("`.astype(ndjit.{})`", to.row().long),
            Code::WithDType(function, dtype) => format!("`ndjit.{function}(…, dtype=ndjit.{})`", dtype.row().long),
            Code::AllAxes => "`axis=None` for all".to_owned(),
            Code::NoAxes => "leave `axis` out".to_owned(),
            Code::KeptAxis(function) => format!("`ndjit.{function}(…, axis=-1, keepdims=True)`"),
            Code::OneIndex => "`x[..., 0]`".to_owned(),
            Code::WholeAxes => "whole axes as `:`, and `...` once at most".to_owned(),
            Code::Bools => "`True` or `False`".to_owned(),
            Code::Power => "`x ** y`".to_owned(),
            Code::DTypes(dtypes) => one_of(dtypes),
            Code::ReduceAll(reduction) => format!("`ndjit.{reduction}(y)`"),
            Code::IsPositive => "`x > 0`".to_owned(),
            Code::IsNonzero => "`x != 0`".to_owned(),
            Code::Select(arguments) => format!("`ndjit.where({arguments})`"),
            Code::Reshape(extents) => format!("`ndjit.reshape(x, {})`", tuple(extents)),
        }
    }
}
