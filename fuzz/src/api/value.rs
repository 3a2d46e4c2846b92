//! The common interface of arrays and traced values: each call is written once and runs on both.

use crate::api::pool::Call;
use crate::choices::Choices;
use ndjit::operand::{ArrayLike, BinaryOperand, UnaryOperand};
use ndjit::{Array, DType, Expr, IntoBins, Result, Scalar, Shape, Slice, ValueType};
use std::ops::{Add, BitAnd, Div, Mul, Rem, Shl, Sub};

/// An array, or a traced value.
pub trait Value:
    UnaryOperand<Out = Self>
    + ArrayLike
    + Clone
    + BinaryOperand<Self, Out = Self>
    + BinaryOperand<Scalar, Out = Self>
    + IntoBins<Edges = Self>
    + Add<Scalar, Output = Self>
    + Sub<Scalar, Output = Self>
    + Mul<Self, Output = Self>
    + Div<Self, Output = Self>
    + Rem<Scalar, Output = Self>
    + BitAnd<Self, Output = Self>
    + Shl<Self, Output = Self>
    + 'static
{
    /// Type, stored dtype and shape, according to the queries.
    fn facts(&self) -> (ValueType, DType, Shape);

    /// The value in another dtype.
    fn cast_to(&self, dtype: DType) -> Self;

    /// The value of an array.
    fn of(array: Array) -> Self;

    /// The results of a function of two traced values: a call of compiled code, or part of the trace.
    fn within(x: Self, y: Self, f: Body) -> Result<Vec<Self>>;

    /// Panics if two values of one type differ in an element; no effect in a trace.
    fn same(one: &Self, other: &Self) -> Result<()>;

    /// Panics if a function that must fail returned arrays; no effect in a trace, which fails later.
    fn refused(made: &Result<Vec<Self>>);

    /// The elements at indices, in one of several forms, or the value with other elements there.
    fn at_indices(&self, c: &mut Choices, index: Self, other: Self, part: Slice) -> Self;

    /// All calls.
    fn calls() -> &'static [Call<Self>];
}

/// A function of two traced values.
pub type Body = fn(Expr, Expr) -> Vec<Expr>;
