//! The help of an error: text, and casts of operands that front ends print in the user's notation.

use crate::dtype::DType;
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
    /// Text on Rust alone, which front ends of other languages leave out.
    Rust(String),
}

/// A suggested cast. Displays as a function call: a method needs a receiver of known type, which Rust does not infer for
/// parameters of traced closures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CastAdvice {
    /// An operand, by the op's name for it, and the dtype.
    Operand(&'static str, DType),
    /// The text of the cast in the user's notation.
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

    /// The text without the parts on Rust alone.
    pub fn portable(&self) -> String {
        let parts = self.parts.iter().filter(|part| !matches!(part, HelpPart::Rust(_)));
        parts.fold(Help::default(), |help, part| help.part(part.clone())).text
    }

    /// Appends a part.
    #[must_use]
    pub fn part(self, part: HelpPart) -> Help {
        match part {
            HelpPart::Text(text) => self.text(text),
            HelpPart::Casts(casts) => self.casts(casts),
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
