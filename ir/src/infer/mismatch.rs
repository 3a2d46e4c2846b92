//! Why an operation has no result on some operands: facts, which those who report them word. Displays in the words of the verifier, which
//! has those that name values.

use crate::axes::Axes;
use crate::dtype::DType;
use crate::error::{Error, ErrorCode};
use crate::graph::Scatter;
use crate::op::Op;
use crate::promotion::{Clash, OpMismatch, Policy, ReductionMismatch};
use crate::reduction::{Reduction, ReductionKind};
use crate::shape::{Shape, ShapeMismatch};
use crate::support::CastReason;
use crate::value_type::{ValueType, Weak};
use std::fmt;

/// Why an operation has no result on some operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// What it names does not exist: what, and its number.
    Missing(&'static str, u32),
    /// It has another number of operands than it takes.
    Arity {
        /// How many it takes.
        takes: usize,
        /// How many it has.
        given: usize,
    },
    /// Shapes do not go together.
    Shape(ShapeMismatch),
    /// The operand, of this shape, does not have all these axes.
    Axes(Axes, Shape),
    /// Positions are counted along axes that the shape does not have.
    Positions(Axes, Shape),
    /// The operand, of this shape, does not have this axis.
    Axis(u32, Shape),
    /// A scan where a reduction stands, or the other way round.
    NoReduction(Reduction),
    /// It contracts and is no sum.
    Contracts(Reduction),
    /// It has no elements to begin with.
    NoElements {
        /// The reduction.
        reduction: Reduction,
        /// Along which axes.
        axes: Axes,
        /// The operand's shape.
        shape: Shape,
    },
    /// An operand that must be one number is an array.
    NotScalar(usize),
    /// A view of other elements than those of its operand, in words.
    View(String),
    /// Another number of elements in a reshape, from one shape to another.
    Elements(Shape, Shape),
    /// The op has no types.
    Op(Op, OpMismatch),
    /// The reduction or scan has no types.
    Reduction(Reduction, ReductionMismatch),
    /// Types that are joined have no common one.
    Clash(Clash),
    /// Positions have this type, and are no `i64`.
    Index(ValueType),
    /// A cast gives no weak type.
    WeakCast,
    /// A weak value does not take this type without a cast that is written.
    Promotion(ValueType, ValueType),
    /// A value of this type is not stored as this dtype.
    Stored(ValueType, DType),
    /// A policy stands in a typed graph.
    Unresolved(Policy),
    /// The policy or the dtype of a reduction or scan stands in a typed graph.
    UnresolvedReduction(Reduction),
    /// The reason of a cast stands in a typed graph.
    Reason(CastReason),
    /// An operand has not the dtype in which a typed op takes it.
    Operand {
        /// Which operand.
        operand: usize,
        /// Its dtype.
        found: DType,
        /// The op.
        op: Op,
        /// What it computes in.
        compute: DType,
    },
    /// A typed op does not compute in this dtype.
    Domain(Op, DType),
    /// Elements of typed operands, and of the result, have not one dtype.
    Unlike,
    /// A typed reduction or scan does not accumulate values of this dtype.
    Accumulates(Reduction, DType),
    /// Positions along the axis are no numbers of this dtype.
    TooLong(DType, u32),
    /// Elements of this dtype are not put so.
    Scatter(Scatter, DType),
    /// The number does not fit its dtype, as this error says.
    Literal(Error),
    /// A number that is passed takes this dtype by a cast only.
    Argument(Weak, DType),
    /// A called graph or those of control flow do not fit, in words.
    Graph(String),
}

impl From<ShapeMismatch> for Mismatch {
    fn from(mismatch: ShapeMismatch) -> Mismatch {
        Mismatch::Shape(mismatch)
    }
}

impl Mismatch {
    /// The error of those who have no more to say.
    pub fn error(&self) -> Error {
        let code = match self {
            Mismatch::Literal(error) => error.code(),
            Mismatch::Op(_, OpMismatch::Arity(_)) => ErrorCode::Arity,
            Mismatch::Op(_, OpMismatch::Clash(_))
            | Mismatch::Reduction(_, ReductionMismatch::Clash(_))
            | Mismatch::Clash(_) => ErrorCode::Promotion,
            Mismatch::Op(..) | Mismatch::Reduction(..) => ErrorCode::DType,
            Mismatch::Shape(_) | Mismatch::Axes(..) | Mismatch::Axis(..) | Mismatch::NoElements { .. } => {
                ErrorCode::Shape
            }
            _ => ErrorCode::Verify,
        };
        Error::new(code, self.to_string())
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Missing(what, n) => write!(f, "{what}{n} does not exist"),
            Mismatch::Arity { takes, given } => write!(f, "takes {takes} operands, has {given}"),
            Mismatch::Shape(mismatch) => write!(f, "{mismatch}"),
            Mismatch::Axes(axes, shape) => write!(f, "axes {axes} of an operand of shape {shape}"),
            Mismatch::Positions(axes, shape) => write!(f, "axes {axes} of shape {shape}"),
            Mismatch::Axis(axis, shape) => write!(f, "axis {axis} of an operand of shape {shape}"),
            Mismatch::NoReduction(scan) if scan.kind() != ReductionKind::Reduction => {
                write!(f, "{scan} is a scan, no reduction")
            }
            Mismatch::NoReduction(reduction) => write!(f, "{reduction} is a reduction, no scan"),
            Mismatch::Contracts(reduction) => write!(f, "a {reduction} that contracts, as sums alone do"),
            Mismatch::NoElements { reduction, .. } => write!(f, "{reduction} of no elements"),
            Mismatch::NotScalar(operand) => write!(f, "operand {operand} is no scalar"),
            Mismatch::View(words) | Mismatch::Graph(words) => f.write_str(words),
            Mismatch::Elements(from, to) => write!(f, "{from} as {to}"),
            Mismatch::Op(op, mismatch) => f.write_str(&mismatch.headline(*op)),
            Mismatch::Reduction(reduction, mismatch) => f.write_str(&mismatch.headline(*reduction)),
            Mismatch::Clash(clash) => write!(f, "{clash}"),
            Mismatch::Index(ty) => write!(f, "positions are i64, not {ty}"),
            Mismatch::WeakCast => f.write_str("a cast to a weak type"),
            Mismatch::Promotion(from, to) => write!(f, "{from} is not promoted to {to}"),
            Mismatch::Stored(ty, stored) => write!(f, "a parameter of type {ty} is not stored as {stored}"),
            Mismatch::Unresolved(policy) => write!(f, "the {policy} policy is not resolved"),
            Mismatch::UnresolvedReduction(reduction) => {
                let what = if reduction.kind() != ReductionKind::Reduction { "scan" } else { "reduction" };
                write!(f, "policy and dtype of the {what} are not resolved")
            }
            Mismatch::Reason(_) => f.write_str("the reason of a cast is kept"),
            Mismatch::Operand { operand, found, op, compute } => {
                let expected = op.operand_dtype(*operand, *compute);
                write!(f, "operand {operand} is {found}, {op} in {compute} takes {expected}")
            }
            Mismatch::Domain(op, compute) => write!(f, "{op} does not compute in {compute}"),
            Mismatch::Unlike => f.write_str("operands and result have not one dtype"),
            Mismatch::Accumulates(reduction, dtype) => write!(f, "{reduction} does not accumulate {dtype}"),
            Mismatch::TooLong(dtype, axis) => write!(f, "{dtype} does not hold the positions along axis {axis}"),
            Mismatch::Scatter(scatter, dtype) => write!(f, "{} of {dtype}", scatter.name()),
            Mismatch::Literal(error) => f.write_str(error.headline()),
            Mismatch::Argument(ty, dtype) => write!(f, "an argument of type {ty} becomes {dtype} by a cast only"),
        }
    }
}
