//! The text of explanations: one sentence, then one line per step.

use super::chain::{Explanation, Step};
use super::origin::{Origin, Term, is_strong};
use ndjit_ir::SourceLoc;
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

/// Longer chains are shown by their first and last steps.
const SHOWN: usize = 16;

impl Explanation {
    /// The lines of the text.
    pub(super) fn lines(&self) -> Vec<String> {
        let cause = self.cause();
        let because = match cause {
            Some(cause) => format!("{} because {cause}", self.ty),
            None => format!("{} {}", self.ty, self.origin),
        };
        let stored = match self.default_of {
            Some(policy) => format!("; stored as {}, the default of policy {policy}", self.stored),
            None if self.ty.is_weak() => format!("; stored as {}", self.stored),
            None => String::new(),
        };
        let mut lines = vec![because + &stored];
        if self.steps.len() < 2 {
            return lines;
        }
        let hidden = self.steps.len().saturating_sub(SHOWN);
        for (i, step) in self.steps.iter().enumerate() {
            match i.checked_sub(SHOWN / 2) {
                Some(0) if hidden > 0 => lines.push(format!("  … {hidden} more steps")),
                Some(after) if after < hidden => {}
                _ if cause.is_some_and(|cause| cause.value == step.value) => {
                    lines.push(format!("  {} {}: {}, as above", step.value, step.ty, step.expression()));
                }
                _ => lines.push(format!("  {} {}: {step}", step.value, step.ty)),
            }
        }
        lines
    }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.lines().iter().enumerate().try_for_each(|(n, line)| write!(f, "{}{line}", if n > 0 { "\n" } else { "" }))
    }
}

impl Step {
    /// The source text, or the op's name.
    fn expression(&self) -> Cow<'static, str> {
        match (&self.written, self.slope_of) {
            (Some(written), Some(_)) => format!("{} in the slope of `{written}`", self.what).into(),
            (None, Some(of)) => format!("{} in the slope of {of}", self.what).into(),
            (Some(written), None) => format!("`{written}`").into(),
            (None, None) => self.what.into(),
        }
    }
}

impl Display for Step {
    /// `` `x * k` at src/a.rs:12:9: x f32 from argument 0, k f64 strong from line 9; join f32 ∨ f64 = f64 ``
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expression())?;
        write_places(&self.places, f)?;
        f.write_str(": ")?;
        let near = self.places.first().copied();
        for (i, operand) in self.operands.iter().enumerate() {
            write!(f, "{}{}", if i > 0 { ", " } else { "" }, operand.text(near))?;
        }
        for (i, rule) in self.rules.iter().enumerate() {
            write!(f, "{}{rule}", if i == 0 && self.operands.is_empty() { "" } else { "; " })?;
        }
        Ok(())
    }
}

/// ` at` the first place, and the differences of the others.
pub(super) fn write_places(places: &[SourceLoc], f: &mut Formatter<'_>) -> fmt::Result {
    let Some((first, more)) = places.split_first() else { return Ok(()) };
    write!(f, " at {first}")?;
    for place in more {
        match place.file == first.file && !place.is_in_expression() {
            true => write!(f, " and {}:{}", place.line, place.column)?,
            false => write!(f, " and {place}")?,
        }
    }
    Ok(())
}

impl Term {
    /// `k f64 strong from line 9`, near a place.
    pub(super) fn text(&self, near: Option<SourceLoc>) -> String {
        let Term { name, ty, .. } = self;
        match &self.origin {
            // The source text contains the value.
            Origin::Literal(literal, _) if self.named && !is_strong(literal) => format!("{name} {ty} literal"),
            Origin::Literal(_, Some(place)) if self.named && Some(*place) == near => format!("{name} {ty} strong"),
            Origin::Literal(_, Some(_)) if self.named => format!("{name} {ty} strong {}", self.origin.parts(near).1),
            // The step of this value is in the chain.
            Origin::Computed { value: Some(value), .. } if self.deciding => format!("{name} {ty} from {value}"),
            origin => format!("{name} {ty} {}", origin.text(near)),
        }
    }
}
