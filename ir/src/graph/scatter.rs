//! Functions of scatters.

use crate::dtype::DType;
use crate::op::Op;

/// The function that combines an existing element with a scattered one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scatter {
    /// Replaces the element.
    Set,
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The product.
    Multiply,
    /// The quotient.
    Divide,
    /// The smaller element.
    Min,
    /// The larger element.
    Max,
}

impl Scatter {
    /// All functions.
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

    /// The function of a name.
    pub fn named(name: &str) -> Option<Scatter> {
        Scatter::ALL.into_iter().find(|scatter| scatter.name() == name)
    }

    /// The op of the existing element and the scattered one; `None` for `set`.
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

    /// Returns `true` if the function takes elements of a dtype. Complex elements cannot be multiplied or divided.
    pub fn takes(self, dtype: DType) -> bool {
        !(matches!(self, Scatter::Multiply | Scatter::Divide) && dtype.is_complex())
            && self.combine().is_none_or(|op| op.row().domain.contains(dtype))
    }
}
