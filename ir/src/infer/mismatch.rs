//! Mismatches of an operation and its operands, as data. `Display` prints the verifier's text, which has no names of values.

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

/// A mismatch of an operation and its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InferenceError {
    /// A missing thing: its kind and number.
    Missing(&'static str, u32),
    /// A wrong number of operands.
    Arity {
        /// The number of operands that the operation takes.
        takes: usize,
        /// The number of operands given.
        given: usize,
    },
    /// A mismatch of shapes.
    Shape(ShapeMismatch),
    /// Not all are axes of the operand, which has this shape.
    Axes(AxisSet, Shape),
    /// Not all are axes of the iota's shape.
    Iota(AxisSet, Shape),
    /// A start of this shape, which is no scalar.
    Start(Shape),
    /// Not an axis of the operand, which has this shape.
    Axis(u32, Shape),
    /// A contraction with a reduction other than a sum.
    Contracts(Reduction),
    /// A reduction of no elements that needs some.
    NoElements {
        /// The reduction.
        reduction: Reduction,
        /// The axes.
        axes: AxisSet,
        /// The operand's shape.
        shape: Shape,
    },
    /// An operand that must be a scalar is an array.
    NotScalar(usize),
    /// A view outside its operand; the message.
    View(String),
    /// A reshape to another number of elements; both shapes.
    Elements(Shape, Shape),
    /// The op has no types.
    Op(Op, OpMismatch),
    /// The reduction or scan has no types.
    Reduction(AxisFunction, ReductionMismatch),
    /// Joined types without a common type.
    Clash(Clash),
    /// Indices of this type instead of `i64`.
    Index(ValueType),
    /// A cast to a weak type.
    WeakCast,
    /// A weak value that needs an explicit cast to this type.
    Promotion(ValueType, ValueType),
    /// A value of this type that cannot be stored as this dtype.
    Stored(ValueType, DType),
    /// An operand that lacks the dtype of a typed op.
    Operand {
        /// The index of the operand.
        operand: usize,
        /// Its dtype.
        found: DType,
        /// The op.
        op: Op,
        /// The op's computing dtype.
        compute: DType,
    },
    /// A typed op outside its domain.
    Domain(Op, DType),
    /// Typed operands and result of different dtypes.
    Unlike,
    /// A typed reduction or scan that does not support this dtype.
    Accumulates(AxisFunction, DType),
    /// A result of this dtype, which does not hold indices or the count of so many elements.
    Count(DType, usize),
    /// A correction of this type, instead of a real one.
    Correction(ValueType),
    /// A scatter that does not support this dtype.
    Scatter(Scatter, DType),
    /// A literal that does not fit its dtype; the error.
    Literal(Error),
    /// A numeric argument that needs an explicit cast to this dtype.
    Argument(Weak, DType),
    /// A callee or a graph of control flow that does not match; the message.
    Graph(String),
}

impl From<ShapeMismatch> for InferenceError {
    fn from(mismatch: ShapeMismatch) -> InferenceError {
        InferenceError::Shape(mismatch)
    }
}

impl InferenceError {
    /// The mismatch as an error, for callers without more context.
    pub fn error(&self) -> Error {
        let code = match self {
            InferenceError::Literal(error) => error.code(),
            InferenceError::Op(_, OpMismatch::Arity(_)) => ErrorCode::Arity,
            InferenceError::Op(_, OpMismatch::Clash(_))
            | InferenceError::Reduction(_, ReductionMismatch::Clash(_))
            | InferenceError::Clash(_) => ErrorCode::Promotion,
            InferenceError::Op(..)
            | InferenceError::Reduction(..)
            | InferenceError::Count(..)
            | InferenceError::Correction(_) => ErrorCode::DType,
            InferenceError::Shape(_)
            | InferenceError::Axes(..)
            | InferenceError::Axis(..)
            | InferenceError::NoElements { .. } => ErrorCode::Shape,
            _ => ErrorCode::Verify,
        };
        let error = Error::new(code, self.to_string());
        match self {
            InferenceError::Axis(..)
            | InferenceError::Shape(ShapeMismatch::Axis(..) | ShapeMismatch::Extents { .. }) => error.about_axis(),
            _ => error,
        }
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
            InferenceError::Start(shape) => write!(f, "a start of shape {shape}, not a scalar"),
            InferenceError::Axis(axis, shape) => write!(f, "axis {axis} of an operand of shape {shape}"),
            InferenceError::Contracts(reduction) => write!(f, "a {reduction} that contracts, as sums alone do"),
            InferenceError::NoElements { reduction, .. } => write!(f, "{reduction} of no elements"),
            InferenceError::NotScalar(operand) => write!(f, "operand {operand} is no scalar"),
            InferenceError::View(words) | InferenceError::Graph(words) => f.write_str(words),
            InferenceError::Elements(from, to) => write!(f, "{from} as {to}"),
            InferenceError::Op(op, mismatch) => write!(f, "{op}: {}", mismatch.headline(*op)),
            InferenceError::Reduction(reduction, mismatch) => write!(f, "{reduction}: {}", mismatch.headline()),
            InferenceError::Clash(clash) => write!(f, "{clash}"),
            InferenceError::Index(ty) => write!(f, "indices are i64, not {ty}"),
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
            InferenceError::Count(dtype, count) => write!(f, "{dtype} cannot count {count} elements"),
            InferenceError::Correction(ty) => write!(f, "the correction is {ty}"),
            InferenceError::Scatter(scatter, dtype) => write!(f, "{} of {dtype}", scatter.name()),
            InferenceError::Literal(error) => f.write_str(error.headline()),
            InferenceError::Argument(ty, dtype) => write!(f, "an argument of type {ty} becomes {dtype} by a cast only"),
        }
    }
}
