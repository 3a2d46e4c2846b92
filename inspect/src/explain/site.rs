//! Operations in the user's source, and the sources of graph parameters.

use ndjit_ir::SourceLoc;
use ndjit_ir::op::Op;

/// The source of a traced graph's array parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamSource {
    /// The argument with this index.
    Argument(usize),
    /// A captured array.
    Captured,
    /// An array of a program without arguments.
    Data,
    /// A parameter of a control flow body: the state of a loop, a slice, an operand of branches.
    Body,
    /// A value from outside of a control flow body.
    Around,
}

/// The source text of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The whole expression, `x * k`.
    pub text: String,
    /// Its operands, `x` and `k`; empty if they cannot be separated.
    pub operands: Vec<String>,
}

/// An operation in the user's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its name: that of an op or a reduction, `cast` or `call`.
    pub what: &'static str,
    /// The op, if any, which may be spelled as an operator.
    pub op: Option<Op>,
    /// Its start.
    pub place: SourceLoc,
    /// The number of operations of the same op, inside its first operand, that start at that place too: 1 for the
    /// outer sum of `(x + y) * z + w`.
    pub nested: usize,
}

impl Site {
    /// A use of an op.
    pub fn of_op(op: Op, place: SourceLoc) -> Site {
        Site { what: op.name(), op: Some(op), place, nested: 0 }
    }

    /// A use of another named operation.
    pub fn of(what: &'static str, place: SourceLoc) -> Site {
        Site { what, op: None, place, nested: 0 }
    }
}

/// Reads the source of an operation. `None` if it is unreadable.
pub type SourceReader<'a> = &'a dyn Fn(Site) -> Option<Snippet>;
