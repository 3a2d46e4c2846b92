//! The way out of an error: text, and casts of operands, which those who know what the user wrote put in the user's words.

use crate::dtype::DType;
use std::fmt;

/// A way out of an error, in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Help {
    parts: Vec<HelpPart>,
    /// The parts as they are read.
    text: String,
}

/// A part of a way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelpPart {
    /// Words.
    Text(String),
    /// Casts to write, all of them.
    Casts(Vec<CastAdvice>),
}

/// A cast to write. Displays as the function, since a method needs the type of its receiver, which Rust does not know of the parameters of a
/// closure that is traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CastAdvice {
    /// An operand, by the name that its op has for it, to a dtype.
    Operand(&'static str, DType),
    /// As the user would write it.
    Written(String),
}

impl fmt::Display for CastAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CastAdvice::Operand(name, to) => write!(f, "cast({name}, DType::{to:?})"),
            CastAdvice::Written(text) => f.write_str(text),
        }
    }
}

impl Help {
    /// The same and then these words.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Help {
        let text = text.into();
        self.text += &text;
        self.parts.push(HelpPart::Text(text));
        self
    }

    /// The same and then these casts.
    #[must_use]
    pub fn casts(mut self, casts: impl IntoIterator<Item = CastAdvice>) -> Help {
        let casts: Vec<CastAdvice> = casts.into_iter().collect();
        self.text += &casts.iter().map(|cast| format!("`{cast}`")).collect::<Vec<String>>().join(" and ");
        self.parts.push(HelpPart::Casts(casts));
        self
    }

    /// What it is made of.
    pub fn parts(&self) -> &[HelpPart] {
        &self.parts
    }

    /// As it is read.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl<T: Into<String>> From<T> for Help {
    fn from(text: T) -> Help {
        Help::default().text(text)
    }
}
