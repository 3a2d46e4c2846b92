//! Why an operation has no result on some operands: facts, which those who report them word. Displays in the words of the verifier, which
//! has those that name values.

use crate::axes::AxisSet;
use crate::dtype::DType;
use crate::error::{Error, ErrorCode};
use crate::graph::Scatter;
use crate::op::Op;
use crate::promotion::{Clash, OpMismatch, ReductionMismatch};
use crate::reduction::{AxisFunction, Reduction};
use crate::shape::{Shape, ShapeMismatch};
use crate::value_type::{ValueType, Weak};
use std::fmt;

/// Why an operation has no result on some operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InferenceError {
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
    Axes(AxisSet, Shape),
    /// Indices are counted along axes that the shape does not have.
    Iota(AxisSet, Shape),
    /// The operand, of this shape, does not have this axis.
    Axis(u32, Shape),
    /// It contracts and is no sum.
    Contracts(Reduction),
    /// It has no elements to begin with.
    NoElements {
        /// The reduction.
        reduction: Reduction,
        /// Along which axes.
        axes: AxisSet,
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
    Reduction(AxisFunction, ReductionMismatch),
    /// Types that are joined have no common one.
    Clash(Clash),
    /// Indices have this type, and are no `i64`.
    Index(ValueType),
    /// A cast gives no weak type.
    WeakCast,
    /// A weak value does not take this type without a cast that is written.
    Promotion(ValueType, ValueType),
    /// A value of this type is not stored as this dtype.
    Stored(ValueType, DType),
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
    Accumulates(AxisFunction, DType),
    /// Indices along the axis are no numbers of this dtype.
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

impl From<ShapeMismatch> for InferenceError {
    fn from(mismatch: ShapeMismatch) -> InferenceError {
        InferenceError::Shape(mismatch)
    }
}

impl InferenceError {
    /// The error of those who have no more to say.
    pub fn error(&self) -> Error {
        let code = match self {
            InferenceError::Literal(error) => error.code(),
            InferenceError::Op(_, OpMismatch::Arity(_)) => ErrorCode::Arity,
            InferenceError::Op(_, OpMismatch::Clash(_))
            | InferenceError::Reduction(_, ReductionMismatch::Clash(_))
            | InferenceError::Clash(_) => ErrorCode::Promotion,
            InferenceError::Op(..) | InferenceError::Reduction(..) => ErrorCode::DType,
            InferenceError::Shape(_)
            | InferenceError::Axes(..)
            | InferenceError::Axis(..)
            | InferenceError::NoElements { .. } => ErrorCode::Shape,
            _ => ErrorCode::Verify,
        };
        Error::new(code, self.to_string())
    }
}

impl fmt::Display for InferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InferenceError::Missing(what, n) => write!(f, "{what}{n} does not exist"),
            InferenceError::Arity { takes, given } => write!(f, "takes {takes} operands, has {given}"),
            InferenceError::Shape(mismatch) => write!(f, "{mismatch}"),
            InferenceError::Axes(axes, shape) => write!(f, "axes {axes} of an operand of shape {shape}"),
            InferenceError::Iota(axes, shape) => write!(f, "axes {axes} of shape {shape}"),
            InferenceError::Axis(axis, shape) => write!(f, "axis {axis} of an operand of shape {shape}"),
            InferenceError::Contracts(reduction) => write!(f, "a {reduction} that contracts, as sums alone do"),
            InferenceError::NoElements { reduction, .. } => write!(f, "{reduction} of no elements"),
            InferenceError::NotScalar(operand) => write!(f, "operand {operand} is no scalar"),
            InferenceError::View(words) | InferenceError::Graph(words) => f.write_str(words),
            InferenceError::Elements(from, to) => write!(f, "{from} as {to}"),
            InferenceError::Op(op, mismatch) => write!(f, "{op}: {}", mismatch.headline(*op)),
            InferenceError::Reduction(reduction, mismatch) => write!(f, "{reduction}: {}", mismatch.headline()),
            InferenceError::Clash(clash) => write!(f, "{clash}"),
            InferenceError::Index(ty) => write!(f, "positions are i64, not {ty}"),
            InferenceError::WeakCast => f.write_str("a cast to a weak type"),
            InferenceError::Promotion(from, to) => write!(f, "{from} is not promoted to {to}"),
            InferenceError::Stored(ty, stored) => write!(f, "a parameter of type {ty} is not stored as {stored}"),
            InferenceError::Operand { operand, found, op, compute } => {
                let expected = op.operand_dtype(*operand, *compute);
                write!(f, "operand {operand} is {found}, {op} in {compute} takes {expected}")
            }
            InferenceError::Domain(op, compute) => write!(f, "{op} does not compute in {compute}"),
            InferenceError::Unlike => f.write_str("operands and result have not one dtype"),
            InferenceError::Accumulates(reduction, dtype) => write!(f, "{reduction} does not accumulate {dtype}"),
            InferenceError::TooLong(dtype, axis) => write!(f, "{dtype} does not hold the positions along axis {axis}"),
            InferenceError::Scatter(scatter, dtype) => write!(f, "{} of {dtype}", scatter.name()),
            InferenceError::Literal(error) => f.write_str(error.headline()),
            InferenceError::Argument(ty, dtype) => write!(f, "an argument of type {ty} becomes {dtype} by a cast only"),
        }
    }
}
