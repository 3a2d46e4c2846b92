//! What can stand beside an [`Expr`] or an [`Array`] in an operation: each other, and Rust numbers.
//!
//! A bare Rust number is *weak*: `2`, `2.0f32` and `2u64` differ in kind alone, and take the width of what they meet.

use crate::array::Array;
use crate::expr::Expr;
use half::{bf16, f16};
use ndjit_ir::literal::Literal;
use ndjit_ir::{Op, Place};
use ndjit_runtime::Element;
use num_complex::Complex;

/// An operand of any sort.
#[derive(Clone)]
pub enum AnyOperand {
    /// A traced value.
    Expr(Expr),
    /// Data.
    Array(Array),
    /// A number.
    Scalar(Scalar),
}

/// What can meet an [`Expr`]: expressions, arrays (captured as hidden constant arguments) and numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an operand of an array expression",
    label = "not an `Expr`, an `Array` or a number",
    note = "operands are `Expr`, `Array`, `&Array`, and Rust numbers and bools"
)]
pub trait Operand {
    /// The operand as a value.
    fn operand(self) -> AnyOperand;
}

/// What can meet an [`Array`] and give an [`Array`]: arrays and numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an operand of an `Array`",
    label = "not an `Array` or a number",
    note = "operands are `Array`, `&Array`, and Rust numbers and bools"
)]
pub trait ArrayOperand: Operand {}

/// Which of [`Expr`] and [`Array`] an operation on `Self` and `R` gives: an [`Expr`] if either is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{R}` cannot be operands of one operation",
    label = "one of them must be an `Expr` or an `Array`",
    note = "on the left of an operation bare numbers are `i32`, `f64`, `bool` and `Complex<f64>`; write `weak(k)` for others"
)]
pub trait Meet<R> {
    /// The result.
    type Out: Computed;
}

/// What an operation on one operand gives: an [`Expr`] of an [`Expr`], an [`Array`] of an [`Array`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array or an array expression",
    note = "functions take `Expr`, `Array` and `&Array`"
)]
pub trait Math: Operand {
    /// The result.
    type Out: Computed;
}

/// What operations give: [`Expr`] or [`Array`].
pub trait Computed: Sized {
    /// Applies `op`; a failure is kept in the result.
    #[doc(hidden)]
    fn compute(op: Op, operands: &[AnyOperand], place: Place) -> Self;
}

impl Computed for Expr {
    fn compute(op: Op, operands: &[AnyOperand], place: Place) -> Expr {
        crate::trace::apply(op, operands, place)
    }
}

impl Computed for Array {
    fn compute(op: Op, operands: &[AnyOperand], place: Place) -> Array {
        crate::lazy::apply(op, operands, place)
    }
}

/// A number with a type: weak, or of a named dtype. Made by [`weak`] and [`strong`]. Remembers the place it was made at, which
/// explanations name; numbers made in different places are equal all the same.
#[derive(Clone, Copy, Debug)]
pub struct Scalar(pub(crate) Literal, pub(crate) Option<Place>);

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        self.0 == other.0
    }
}

/// A number by its kind alone, as bare numbers are. Useful on the left of an operator, where only `i32`, `f64`, `bool` and
/// complex numbers can stand bare.
///
/// ```
/// # use ndjit::{Array, weak};
/// let k = 3.0f32;
/// let x = Array::from([1.0f64, 2.0]);
/// assert_eq!((weak(k) * &x).to_vec::<f64>()?, [3.0, 6.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn weak(number: impl Number) -> Scalar {
    Scalar(number.literal(), Some(Place::caller()))
}

/// A number of its own dtype, with the weight of an array's.
///
/// ```
/// # use ndjit::{Array, DType, strong};
/// let x = Array::from([1i32, 2]);
/// assert_eq!((&x + strong(1i64)).dtype(), DType::I64);
/// assert_eq!((&x + 1i64).dtype(), DType::I32);
/// ```
#[track_caller]
pub fn strong<T: Element + Number>(number: T) -> Scalar {
    let literal = number.literal();
    Scalar(Literal::strong(literal.value(), T::DTYPE).unwrap_or(literal), Some(Place::caller()))
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust number or bool.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a number ndjit knows")]
pub trait Number: sealed::Sealed + Copy {
    #[doc(hidden)]
    fn literal(self) -> Literal;
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl sealed::Sealed for $t {}
        impl Number for $t {
            fn literal(self) -> Literal {
                Literal::from(self)
            }
        }
        impl Operand for $t {
            fn operand(self) -> AnyOperand {
                AnyOperand::Scalar(Scalar(Literal::from(self), None))
            }
        }
        impl ArrayOperand for $t {}
    )*};
}

numbers! { bool u8 u16 u32 u64 usize i8 i16 i32 i64 isize bf16 f16 f32 f64 Complex<f32> Complex<f64> }

macro_rules! operands {
    ($($t:ty, $x:ident => $value:expr, $out:ty;)*) => {$(
        impl Operand for $t {
            fn operand(self) -> AnyOperand {
                let $x = self;
                $value
            }
        }
        impl Math for $t {
            type Out = $out;
        }
    )*};
}

operands! {
    Expr, x => AnyOperand::Expr(x), Expr;
    &Expr, x => AnyOperand::Expr(*x), Expr;
    Array, x => AnyOperand::Array(x), Array;
    &Array, x => AnyOperand::Array(x.clone()), Array;
}

impl Operand for Scalar {
    fn operand(self) -> AnyOperand {
        AnyOperand::Scalar(self)
    }
}

impl ArrayOperand for Scalar {}
impl ArrayOperand for Array {}
impl ArrayOperand for &Array {}

impl<R: Operand> Meet<R> for Expr {
    type Out = Expr;
}
impl<R: Operand> Meet<R> for &Expr {
    type Out = Expr;
}
impl<R: ArrayOperand> Meet<R> for Array {
    type Out = Array;
}
impl<R: ArrayOperand> Meet<R> for &Array {
    type Out = Array;
}
impl Meet<Expr> for Array {
    type Out = Expr;
}
impl Meet<Expr> for &Array {
    type Out = Expr;
}

macro_rules! left_scalars {
    ($($t:ty)*) => {$(
        impl Meet<Expr> for $t {
            type Out = Expr;
        }
        impl Meet<Array> for $t {
            type Out = Array;
        }
        impl Meet<&Array> for $t {
            type Out = Array;
        }
    )*};
}

left_scalars! { i32 f64 bool Complex<f64> Scalar }
