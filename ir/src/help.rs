//! The help of an error: text, and code that front ends print in the user's notation.

use crate::dtype::DType;
use crate::literal::{Literal, LiteralValue};
use std::borrow::Cow;
use std::fmt;

/// The help of an error, in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Help {
    parts: Vec<HelpPart>,
    /// The text of all parts.
    text: String,
}

/// A part of a help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelpPart {
    /// Text.
    Text(String),
    /// Suggested casts, all of them needed.
    Casts(Vec<CastAdvice>),
    /// Code, in words where a notation has none.
    Code(Code),
    /// Text on Rust alone, which front ends of other languages leave out.
    Rust(String),
}

/// A suggested cast. Displays as a function call: a method needs a receiver of known type, which Rust does not infer for
/// parameters of traced closures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CastAdvice {
    /// An operand, by the op's name for it, and the dtype.
    NamedOperand(&'static str, DType),
    /// The source text of an operand, and the dtype.
    SourceText(String, DType),
    /// A number that gets the dtype.
    TypedNumber(Literal, DType),
}

impl CastAdvice {
    /// The text of what is cast, and the dtype. An integer that becomes a float has a fraction.
    pub fn parts(&self) -> (Cow<'_, str>, DType) {
        match self {
            CastAdvice::NamedOperand(name, to) => ((*name).into(), *to),
            CastAdvice::SourceText(text, to) => (text.into(), *to),
            CastAdvice::TypedNumber(literal, to) => {
                let value = literal.value();
                let fraction = if matches!(value, LiteralValue::Int(_)) && has_suffix(*to) { ".0" } else { "" };
                (format!("{value}{fraction}").into(), *to)
            }
        }
    }
}

impl fmt::Display for CastAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, to) = self.parts();
        let CastAdvice::TypedNumber(literal, _) = self else { return write!(f, "cast({text}, DType::{to:?})") };
        match literal.value() {
            LiteralValue::Int(_) if has_suffix(to) || to.is_int() => write!(f, "strong({text}{to})"),
            LiteralValue::Float(_) if has_suffix(to) => write!(f, "strong({text}{to})"),
            _ => write!(f, "asarray({text}).cast(DType::{to:?})"),
        }
    }
}

/// Whether Rust's floats have a suffix for it.
fn has_suffix(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

/// Code of a help, as a value that each notation spells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// A cast.
    CastCall(CastAdvice),
    /// A cast to this dtype, after what is cast.
    CastAfter(DType),
    /// A call of a function that is asked for a dtype.
    WithDType(Cow<'static, str>, DType),
    /// All axes in place of some.
    AllAxes,
    /// All axes of an array that has none.
    NoAxes,
    /// The function along the last axis, which stays with extent 1.
    KeptAxis(&'static str),
    /// One index of the last axis.
    OneIndex,
    /// Whole axes in an index, and how often an ellipsis may stand there.
    WholeAxes,
    /// The two bools.
    Bools,
    /// A power.
    Power,
    /// One of these dtypes.
    DTypes(Vec<DType>),
    /// A reduction of all elements.
    ReduceAll(&'static str),
    /// The comparison with 0 by which a number is positive.
    IsPositive,
    /// The comparison with 0 by which a number is another one.
    IsNonzero,
    /// The selection by a mask, of these arguments.
    Select(&'static str),
    /// The array in another shape.
    Reshape(&'static [isize]),
}

/// The names of dtypes, of which one is to be chosen.
pub fn one_of(dtypes: &[DType]) -> String {
    dtypes.iter().map(|dtype| format!("`{dtype}`")).collect::<Vec<String>>().join(" or ")
}

/// The extents of a shape, as Python writes a tuple of several.
pub fn tuple(extents: &[isize]) -> String {
    let listed = extents.iter().map(isize::to_string).collect::<Vec<String>>().join(", ");
    if extents.len() == 1 { listed } else { format!("({listed})") }
}

/// The code of a front end.
pub trait HelpNotation {
    /// The text of a piece of code, between backquotes.
    fn code(&self, code: &Code) -> String;
}

/// The notation of Rust.
pub struct RustNotation;

impl HelpNotation for RustNotation {
    fn code(&self, code: &Code) -> String {
        match code {
            Code::CastCall(cast) => format!("`{cast}`"),
            Code::CastAfter(to) => format!("`.cast(DType::{to:?})`"),
            Code::WithDType(function, dtype) => format!("`dtype(DType::{dtype:?}).{function}(…)`"),
            Code::AllAxes => "`..` for all".to_owned(),
            Code::NoAxes => "leave the axes out: `..` are all there are".to_owned(),
            Code::KeptAxis(function) => format!("`{function}(…, keepdims(-1))`"),
            Code::OneIndex => "`x.slice((.., 0))`".to_owned(),
            Code::WholeAxes => "whole axes as `..`, and one ellipsis at most".to_owned(),
            Code::Bools => "`true` or `false`".to_owned(),
            Code::Power => "`pow(x, y)`".to_owned(),
            Code::DTypes(dtypes) => one_of(dtypes),
            Code::ReduceAll(reduction) => format!("`{reduction}(y, ..)`"),
            Code::IsPositive => "`x.gt(0)`".to_owned(),
            Code::IsNonzero => "`x.ne(0)`".to_owned(),
            Code::Select(arguments) => format!("`where_({arguments})`"),
            Code::Reshape([extent]) => format!("`x.reshape({extent})`"),
            Code::Reshape(extents) => format!("`x.reshape({extents:?})`"),
        }
    }
}

impl Help {
    /// Appends text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Help {
        let text = text.into();
        self.text += &text;
        self.parts.push(HelpPart::Text(text));
        self
    }

    /// Appends casts.
    #[must_use]
    pub fn casts(mut self, casts: impl IntoIterator<Item = CastAdvice>) -> Help {
        let casts: Vec<CastAdvice> = casts.into_iter().collect();
        self.text += &casts.iter().map(|cast| format!("`{cast}`")).collect::<Vec<String>>().join(" and ");
        self.parts.push(HelpPart::Casts(casts));
        self
    }

    /// Appends code.
    #[must_use]
    pub fn code(mut self, code: Code) -> Help {
        self.text += &RustNotation.code(&code);
        self.parts.push(HelpPart::Code(code));
        self
    }

    /// Appends text on Rust alone, with its separator: front ends of other languages leave it out.
    ///
    /// ```
    /// use ndjit_ir::Help;
    ///
    /// let help = Help::from("cast one of them").rust("; or `with_casting(CastingModes::UP, || …)` casts to f32");
    /// assert_eq!(help.portable(), "cast one of them");
    /// ```
    #[must_use]
    pub fn rust(mut self, text: impl Into<String>) -> Help {
        let text = text.into();
        self.text += &text;
        self.parts.push(HelpPart::Rust(text));
        self
    }

    /// The text with code in a notation, without the parts on Rust alone.
    ///
    /// ```
    /// use ndjit_ir::help::{Code, HelpNotation};
    /// use ndjit_ir::{DType, Help};
    ///
    /// struct Calls;
    /// impl HelpNotation for Calls {
    ///     fn code(&self, code: &Code) -> String {
    ///         format!("`{code:?}`")
    ///     }
    /// }
    ///
    /// let help = Help::from("cast it: ").code(Code::CastAfter(DType::F32));
    /// assert_eq!((help.as_str(), &*help.in_notation(&Calls)), ("cast it: `.cast(DType::F32)`", "cast it: `CastAfter(F32)`"));
    /// ```
    pub fn in_notation(&self, notation: &dyn HelpNotation) -> String {
        let part = |part: &HelpPart| match part {
            HelpPart::Text(text) => text.clone(),
            HelpPart::Casts(casts) => {
                let casts = casts.iter().map(|cast| notation.code(&Code::CastCall(cast.clone())));
                casts.collect::<Vec<String>>().join(" and ")
            }
            HelpPart::Code(code) => notation.code(code),
            HelpPart::Rust(_) => String::new(),
        };
        self.parts.iter().map(part).collect()
    }

    /// The text without the parts on Rust alone, in the notation of Rust.
    pub fn portable(&self) -> String {
        self.in_notation(&RustNotation)
    }

    /// Appends a part.
    #[must_use]
    pub fn part(self, part: HelpPart) -> Help {
        match part {
            HelpPart::Text(text) => self.text(text),
            HelpPart::Casts(casts) => self.casts(casts),
            HelpPart::Code(code) => self.code(code),
            HelpPart::Rust(text) => self.rust(text),
        }
    }

    /// The parts.
    pub fn parts(&self) -> &[HelpPart] {
        &self.parts
    }

    /// The text of all parts.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl<T: Into<String>> From<T> for Help {
    fn from(text: T) -> Help {
        Help::default().text(text)
    }
}
