//! Operands of operations on [`Expr`]s and [`Array`]s: both of these, and Rust numbers.
//!
//! A bare Rust number is *weak*: `2`, `2.0f32` and `2u64` differ only in kind, and take the width of the other operand.

pub use crate::trace::scalar::{Number, Scalar, strong, weak};

#[deprecated(since = "0.1.0", note = "renamed to `BinaryOperand`, `UnaryOperand` and `ArrayLike`")]
pub use self::{ArrayLike as Computed, BinaryOperand as Meet, UnaryOperand as Math};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::scalar::each_number;
use ndjit_eval::request::{Movement, NamedFunction, Request};
use ndjit_inspect::explain::Site;
use ndjit_inspect::source;
use ndjit_ir::literal::Literal;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, ErrorCode, Op, SourceLoc};
use num_complex::Complex;

/// An operand of any type: for front ends, which know the types of operands at run time only. Operations on it give a
/// traced value if an operand is one, otherwise an array.
///
/// ```
/// use ndjit::operand::{AnyOperand, Operand};
/// use ndjit::{Array, flip, matmul};
///
/// let x = Array::from([1, 2]).operand();
/// let AnyOperand::Array(product) = matmul(flip(x.clone(), 0), x) else { unreachable!() };
/// assert_eq!(product.item::<i32>()?, 4);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone)]
pub enum AnyOperand {
    /// A traced value.
    Expr(Expr),
    /// Data.
    Array(Array),
    /// A number.
    Scalar(Scalar),
}

/// Returns the error of two operands on different devices.
pub(crate) fn apart(what: &'static str, operands: &[AnyOperand], two: [usize; 2], place: SourceLoc) -> Error {
    let mut error = Error::new(ErrorCode::Device, "operands are on different devices").of(what).at(place);
    for n in two {
        if let AnyOperand::Array(array) = &operands[n] {
            let (ty, shape, device) = (array.value_type(), array.shape(), array.device());
            error = error.fact(format_args!("operand {n}: {ty}{shape} on {device}"));
        }
    }
    // Functions that are no ops have other argument lists.
    let written = what.parse::<Op>().ok().and_then(|op| source::operands(Site::of_op(op, place)));
    let text = |n: usize| written.as_ref().and_then(|written| written.get(n)).map(|text| source::receiver_of(text));
    let host = |n: usize| matches!(&operands[n], AnyOperand::Array(array) if array.device() == Device::CPU);
    // Host arrays move to the other device.
    let [moved, stays] = if host(two[0]) { two } else { [two[1], two[0]] };
    let (moved, stays) = text(moved).zip(text(stays)).unwrap_or(("x".to_owned(), "y".to_owned()));
    error.help(format!("move one of them: `{moved}.on({stays}.device())`"))
}

/// Operands beside an [`Expr`]: expressions, arrays (captured as closed-over constants) and numbers.
///
/// ```
/// use ndjit::{Array, Expr, jit, operand::Operand};
///
/// fn twice(x: Expr, k: impl Operand) -> Expr {
///     x * k * 2
/// }
/// assert_eq!(jit(|x| twice(x, 3))(&Array::from([1])).item::<i32>()?, 6);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an operand of an array expression",
    label = "not an `Expr`, an `Array` or a number",
    note = "operands are `Expr`, `Array`, `&Array`, and Rust numbers and bools"
)]
pub trait Operand {
    /// Returns the operand as a value.
    fn operand(self) -> AnyOperand;
}

/// Operands that give an [`Array`] beside an [`Array`]: arrays and numbers.
///
/// ```
/// use ndjit::{Array, operand::ArrayOperand};
///
/// fn twice(x: &Array, k: impl ArrayOperand) -> Array {
///     x * k * 2
/// }
/// assert_eq!(twice(&Array::from([1]), 3).item::<i32>()?, 6);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an operand of an `Array`",
    label = "not an `Array` or a number",
    note = "operands are `Array`, `&Array`, and Rust numbers and bools"
)]
pub trait ArrayOperand: Operand {}

/// The result type of an operation on `Self` and `R`: [`Expr`] if either is one, else [`Array`].
///
/// ```
/// use ndjit::{Array, jit, maximum, operand::{BinaryOperand, Operand}};
///
/// fn larger<X: Operand + BinaryOperand<Y>, Y: Operand>(x: X, y: Y) -> X::Out {
///     maximum(x, y)
/// }
/// assert_eq!(larger(&Array::from([1]), 3).item::<i32>()?, 3);
/// assert_eq!(jit(|x| larger(x, 3))(&Array::from([1])).item::<i32>()?, 3);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{R}` cannot be operands of one operation",
    label = "one of them must be an `Expr` or an `Array`",
    note = "on the left of an operation bare numbers are `i32`, `f64`, `bool` and `Complex<f64>`; write `weak(k)` for others"
)]
pub trait BinaryOperand<R> {
    /// The result type.
    type Out: ArrayLike;
}

/// The result type of a unary operation: [`Expr`] for an [`Expr`], [`Array`] for an [`Array`].
///
/// ```
/// use ndjit::{Array, exp, operand::UnaryOperand};
///
/// fn logistic<X: UnaryOperand>(x: X) -> X::Out {
///     ndjit::sigmoid(x)
/// }
/// assert_eq!(logistic(&Array::from([0.0f32])).item::<f32>()?, 0.5);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array or an array expression",
    note = "functions take `Expr`, `Array` and `&Array`"
)]
pub trait UnaryOperand: Operand {
    /// The result type.
    type Out: ArrayLike;
}

/// Results of operations: [`Expr`], [`Array`], or either.
pub trait ArrayLike: Sized + Operand {
    /// Applies `op`. An error is stored in the result.
    #[doc(hidden)]
    fn compute(op: Op, operands: &[AnyOperand], place: SourceLoc) -> Self;

    /// Applies a reduction. An error is stored in the result.
    #[doc(hidden)]
    fn reduce(request: &Request, operands: &[AnyOperand], place: SourceLoc) -> Self;

    /// Moves elements. An error is stored in the result.
    #[doc(hidden)]
    fn movement(movement: &Movement<'_>, operands: &[AnyOperand], place: SourceLoc) -> Self;

    /// Casts to a dtype. An error is stored in the result.
    #[doc(hidden)]
    fn convert(x: &AnyOperand, dtype: DType, place: SourceLoc) -> Self;

    /// Attributes its error, if it was created at this place, to this function with these operands.
    #[doc(hidden)]
    fn part_of<'a>(self, function: impl Into<NamedFunction<'a>>, operands: &[AnyOperand], place: SourceLoc) -> Self;

    /// Returns an array unchanged; in a trace, as a constant.
    #[doc(hidden)]
    fn constant(array: Array, place: SourceLoc) -> Self;

    /// Prints a value, in a trace at each run. Returns the value.
    #[doc(hidden)]
    fn debug_print(label: &str, x: AnyOperand, place: SourceLoc) -> Self;

    /// Returns the poisoned result of an invalid operation.
    #[doc(hidden)]
    fn failed(error: Error) -> Self;
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Operand for $t {
            fn operand(self) -> AnyOperand {
                AnyOperand::Scalar(Scalar(Literal::from(self), None))
            }
        }
        impl ArrayOperand for $t {}
    )*};
}

each_number!(numbers);

macro_rules! operands {
    ($($t:ty, $x:ident => $value:expr, $out:ty;)*) => {$(
        impl Operand for $t {
            fn operand(self) -> AnyOperand {
                let $x = self;
                $value
            }
        }
        impl UnaryOperand for $t {
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

impl Operand for AnyOperand {
    fn operand(self) -> AnyOperand {
        self
    }
}

impl UnaryOperand for AnyOperand {
    type Out = AnyOperand;
}

impl BinaryOperand<AnyOperand> for AnyOperand {
    type Out = AnyOperand;
}

impl ArrayOperand for Scalar {}
impl ArrayOperand for Array {}
impl ArrayOperand for &Array {}

impl<R: Operand> BinaryOperand<R> for Expr {
    type Out = Expr;
}
impl<R: Operand> BinaryOperand<R> for &Expr {
    type Out = Expr;
}
impl<R: ArrayOperand> BinaryOperand<R> for Array {
    type Out = Array;
}
impl<R: ArrayOperand> BinaryOperand<R> for &Array {
    type Out = Array;
}
impl BinaryOperand<Expr> for Array {
    type Out = Expr;
}
impl BinaryOperand<Expr> for &Array {
    type Out = Expr;
}
impl BinaryOperand<&Expr> for Array {
    type Out = Expr;
}
impl BinaryOperand<&Expr> for &Array {
    type Out = Expr;
}

macro_rules! left_scalars {
    ($($t:ty)*) => {$(
        impl BinaryOperand<Expr> for $t {
            type Out = Expr;
        }
        impl BinaryOperand<&Expr> for $t {
            type Out = Expr;
        }
        impl BinaryOperand<Array> for $t {
            type Out = Array;
        }
        impl BinaryOperand<&Array> for $t {
            type Out = Array;
        }
    )*};
}

left_scalars! { i32 f64 bool Complex<f64> Scalar }
