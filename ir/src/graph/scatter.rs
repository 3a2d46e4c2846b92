//! Scatters: what becomes of an element that another one is put at.

use crate::dtype::DType;
use crate::op::Op;

/// What becomes of an element that another one is put at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scatter {
    /// The other one takes its place.
    Set,
    /// It becomes the sum of both.
    Add,
    /// It is subtracted from.
    Subtract,
    /// It becomes the product of both.
    Multiply,
    /// It is divided by the other.
    Divide,
    /// It becomes the smaller.
    Min,
    /// It becomes the larger.
    Max,
}

impl Scatter {
    /// All of them.
    pub const ALL: [Scatter; 7] =
        [Scatter::Set, Scatter::Add, Scatter::Subtract, Scatter::Multiply, Scatter::Divide, Scatter::Min, Scatter::Max];

    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Scatter::Set => "set",
            Scatter::Add => "add",
            Scatter::Subtract => "subtract",
            Scatter::Multiply => "multiply",
            Scatter::Divide => "divide",
            Scatter::Min => "min",
            Scatter::Max => "max",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Scatter> {
        Scatter::ALL.into_iter().find(|scatter| scatter.name() == name)
    }

    /// The op of the element that is there and the other one; none of `set`.
    pub const fn combine(self) -> Option<Op> {
        match self {
            Scatter::Set => None,
            Scatter::Add => Some(Op::Add),
            Scatter::Subtract => Some(Op::Subtract),
            Scatter::Multiply => Some(Op::Multiply),
            Scatter::Divide => Some(Op::Divide),
            Scatter::Min => Some(Op::Minimum),
            Scatter::Max => Some(Op::Maximum),
        }
    }

    /// Returns `true` if elements of a dtype can be put so. Complex ones are not multiplied or divided in place.
    pub fn takes(self, dtype: DType) -> bool {
        !(matches!(self, Scatter::Multiply | Scatter::Divide) && dtype.is_complex())
            && self.combine().is_none_or(|op| op.row().domain.contains(dtype))
    }
}
