//! Operations in the user's source, and what parameters of graphs are to their user.

use ndjit_ir::op::Op;
use ndjit_ir::place::Place;

/// What an array parameter of a traced graph is to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamSource {
    /// The argument at this position.
    Argument(usize),
    /// An array that the function used without being passed it.
    Captured,
    /// An array of a program without arguments.
    Data,
    /// What a body of control flow is given: the state of a loop, a slice, an operand of branches.
    Body,
    /// What a body of control flow uses of what stands around it.
    Around,
}

/// A piece of the user's source: an operation as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The whole expression, `x * k`.
    pub text: String,
    /// Its operands, `x` and `k`; none where they cannot be told apart.
    pub operands: Vec<String>,
}

/// An operation in the user's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// What it is called: the name of an op or a reduction, `cast` or `call`.
    pub what: &'static str,
    /// The op, if it is one, which may be spelled as an operator.
    pub op: Option<Op>,
    /// Where it begins.
    pub place: Place,
    /// How many operations of the same op, inside its first operand, begin at that place too: 1 for the outer sum of
    /// `(x + y) * z + w`.
    pub nested: usize,
}

impl Site {
    /// A use of an op.
    pub fn of_op(op: Op, place: Place) -> Site {
        Site { what: op.name(), op: Some(op), place, nested: 0 }
    }

    /// A use of something else that has a name.
    pub fn of(what: &'static str, place: Place) -> Site {
        Site { what, op: None, place, nested: 0 }
    }
}

/// Reads the source of an operation. `None` where it cannot be read.
pub type SourceReader<'a> = &'a dyn Fn(Site) -> Option<Snippet>;
