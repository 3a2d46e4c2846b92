//! Origins of values: an argument, a scalar, or another operation.

use super::explainer::Explainer;
use super::site::ParamSource;
use ndjit_ir::SourceLoc;
use ndjit_ir::graph::{NodeId, NodeKind, Slot, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::value_type::ValueType;
use std::fmt;

/// The origin of a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Origin {
    /// The argument with this index.
    Argument(usize),
    /// An argument with a name, of a front end whose arguments have one.
    NamedArgument(String),
    /// A captured array, with the place of its first use.
    Captured(Option<SourceLoc>),
    /// An array with elements.
    Data,
    /// A parameter of a control flow body: a state or an operand.
    Body,
    /// A value from outside of a control flow body.
    Around,
    /// A scalar in the source; for a strong one with its place.
    Literal(Literal, Option<SourceLoc>),
    /// An operation.
    Computed {
        /// The value in the traced graph.
        value: Option<Value>,
        /// The op's name, `cast` or `call`.
        what: &'static str,
        /// Its source location.
        place: Option<SourceLoc>,
    },
}

/// An operand of a step: its name, type and origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Its source text if known, otherwise the op's name for it.
    pub name: String,
    /// Whether the name is from the source.
    pub named: bool,
    /// Its type.
    pub ty: ValueType,
    /// Its origin.
    pub origin: Origin,
    /// Whether the result's type follows from the deciding operands only.
    pub deciding: bool,
}

impl Explainer<'_> {
    /// The origin of a value.
    pub fn origin(&self, value: Value) -> Origin {
        let node = self.graph.producer(value);
        let place = self.places.first(node);
        let what = match self.graph.node(node).kind {
            NodeKind::Param(n, _) => {
                return match self.inputs.get(n as usize) {
                    Some(ParamSource::Argument(index)) => Origin::Argument(*index),
                    Some(ParamSource::Captured) => Origin::Captured(place),
                    Some(ParamSource::Data) => Origin::Data,
                    Some(ParamSource::Body) => Origin::Body,
                    Some(ParamSource::Around) => Origin::Around,
                    None => Origin::Argument(n as usize),
                };
            }
            NodeKind::Literal(slot) => match self.graph.slots().get(slot.index()) {
                Some(Slot::Value(literal)) => return Origin::Literal(*literal, place),
                Some(Slot::Argument { index, .. }) => return Origin::Argument(*index),
                None => "literal",
            },
            kind => kind.name(),
        };
        Origin::Computed { value: Some(value), what, place }
    }

    /// The operands of a node, with their source text or the given names.
    pub(super) fn terms(
        &self,
        node: NodeId,
        names: &[&str],
        snippet: Option<&[String]>,
        deciding: &[usize],
    ) -> Vec<Term> {
        let operands = self.graph.operands(node);
        let written = snippet.filter(|written| written.len() == operands.len());
        let term = |(i, &operand): (usize, &Value)| Term {
            name: match (written, names.get(i)) {
                (Some(written), _) => written[i].clone(),
                (None, Some(name)) => (*name).to_owned(),
                (None, None) => format!("operand {i}"),
            },
            named: written.is_some(),
            ty: self.graph.ty(operand),
            origin: self.origin(operand),
            deciding: deciding.contains(&i),
        };
        operands.iter().enumerate().map(term).collect()
    }
}

impl Origin {
    /// The text near a place: places in the same file are shown by their line.
    pub fn text(&self, near: Option<SourceLoc>) -> String {
        let (value, from) = self.parts(near);
        value + &from
    }

    /// The parts of the [text](Origin::text): the value, if the text has it, and from where it comes.
    pub(crate) fn parts(&self, near: Option<SourceLoc>) -> (String, String) {
        let at = |place: &Option<SourceLoc>| match (place, near) {
            (None, _) => String::new(),
            // An expression is one line.
            (Some(place), Some(near)) if place.is_in_expression() && near.is_in_expression() => String::new(),
            (Some(place), Some(near)) if place.file == near.file => format!(" line {}", place.line),
            (Some(place), _) => format!(" {place}"),
        };
        let from = match self {
            Origin::Argument(index) => format!("from argument {index}"),
            Origin::NamedArgument(name) => format!("from the input {name}"),
            Origin::Captured(None) => "from a captured array".to_owned(),
            Origin::Captured(place) => format!("from an array captured at{}", at(place)),
            Origin::Data => return ("held as data".to_owned(), String::new()),
            Origin::Body => "from a parameter of the body".to_owned(),
            Origin::Around => "from around the body".to_owned(),
            Origin::Literal(literal, place) if is_strong(literal) => {
                return match at(place) {
                    place if place.is_empty() => (format!("strong {}", literal.value()), String::new()),
                    place => (format!("strong {} ", literal.value()), format!("from{place}")),
                };
            }
            Origin::Literal(literal, _) => return (format!("literal {}", literal.value()), String::new()),
            Origin::Computed { value: Some(value), place: None, .. } => format!("from {value}"),
            Origin::Computed { what, place, .. } => match at(place) {
                place if place.is_empty() => format!("from {what}"),
                place => format!("from {what} at{place}"),
            },
        };
        (String::new(), from)
    }
}

/// Whether a literal has an explicit dtype. Bare bools are strong without one.
pub(super) fn is_strong(literal: &Literal) -> bool {
    !literal.ty().is_weak() && literal.ty() != ValueType::Strong(ndjit_ir::dtype::DType::Bool)
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(None))
    }
}
