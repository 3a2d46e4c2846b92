//! Slots of literals.

use crate::literal::Literal;
use crate::value_type::{ValueType, Weak};

/// The content of a literal slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// A number written in the traced function.
    Value(Literal),
    /// A number passed at each call of the program: argument `index`, of this weak kind. Callees and graphs of control flow refer to
    /// the same argument.
    Argument {
        /// Index among the program's arguments.
        index: usize,
        /// The kind.
        ty: Weak,
    },
}

impl Slot {
    /// The type of the slot's value.
    pub fn ty(&self) -> ValueType {
        match self {
            Slot::Value(literal) => literal.ty(),
            Slot::Argument { ty, .. } => ValueType::Weak(*ty),
        }
    }
}
