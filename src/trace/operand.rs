//! What can stand beside an [`Expr`] or an [`Array`] in an operation: each other, and Rust numbers.
//!
//! A bare Rust number is *weak*: `2`, `2.0f32` and `2u64` differ in kind alone, and take the width of what they meet.

use crate::api::manipulation::{Movement, refused};
use crate::api::reductions::Request;
use crate::array::Array;
use crate::trace::expr::Expr;
use crate::trace::infer::Asked;
use ndjit_inspect::explain::Site;
use ndjit_inspect::source;
use ndjit_ir::literal::Literal;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, ErrorCode, Op, Place, Result, Shape, ValueType};
use ndjit_runtime::Element;
use num_complex::Complex;
use std::fmt;

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

/// The error of two operands that are on different devices.
pub(crate) fn apart(what: &'static str, operands: &[AnyOperand], two: [usize; 2], place: Place) -> Error {
    let mut error = Error::new(ErrorCode::Device, format!("{what}: operands are on different devices")).at(place);
    for n in two {
        if let AnyOperand::Array(array) = &operands[n] {
            let (ty, shape, device) = (array.value_type(), array.shape(), array.device());
            error = error.fact(format_args!("operand {n}: {ty}{shape} on {device}"));
        }
    }
    // Operands of what is no op are not its arguments one by one.
    let written = what.parse::<Op>().ok().and_then(|op| source::operands(Site::of_op(op, place)));
    let text = |n: usize| written.as_ref().and_then(|written| written.get(n)).map(|text| source::receiver_of(text));
    let host = |n: usize| matches!(&operands[n], AnyOperand::Array(array) if array.device() == Device::CPU);
    // The host's goes to the other.
    let [moved, stays] = if host(two[0]) { two } else { [two[1], two[0]] };
    let (moved, stays) = text(moved).zip(text(stays)).unwrap_or(("x".to_owned(), "y".to_owned()));
    error.help(format!("move one of them: `{moved}.on({stays}.device())`"))
}

/// What can meet an [`Expr`]: expressions, arrays (captured as hidden constant arguments) and numbers.
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
    /// The operand as a value.
    fn operand(self) -> AnyOperand;
}

/// What can meet an [`Array`] and give an [`Array`]: arrays and numbers.
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

/// Which of [`Expr`] and [`Array`] an operation on `Self` and `R` gives: an [`Expr`] if either is one.
///
/// ```
/// use ndjit::{Array, jit, maximum, operand::{Meet, Operand}};
///
/// fn larger<X: Operand + Meet<Y>, Y: Operand>(x: X, y: Y) -> X::Out {
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
pub trait Meet<R> {
    /// The result.
    type Out: Computed;
}

/// What an operation on one operand gives: an [`Expr`] of an [`Expr`], an [`Array`] of an [`Array`].
///
/// ```
/// use ndjit::{Array, exp, operand::Math};
///
/// fn logistic<X: Math>(x: X) -> X::Out {
///     ndjit::sigmoid(x)
/// }
/// assert_eq!(logistic(&Array::from([0.0f32])).item::<f32>()?, 0.5);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array or an array expression",
    note = "functions take `Expr`, `Array` and `&Array`"
)]
pub trait Math: Operand {
    /// The result.
    type Out: Computed;
}

/// What operations give: [`Expr`] or [`Array`].
pub trait Computed: Sized + Operand {
    /// Applies `op`; a failure is kept in the result.
    #[doc(hidden)]
    fn compute(op: Op, operands: &[AnyOperand], place: Place) -> Self;

    /// Applies a reduction; a failure is kept in the result.
    #[doc(hidden)]
    fn reduce(request: &Request, operands: &[AnyOperand], place: Place) -> Self;

    /// Moves elements; a failure is kept in the result.
    #[doc(hidden)]
    fn movement(movement: &Movement<'_>, operands: &[AnyOperand], place: Place) -> Self;

    /// Converts to a dtype; a failure is kept in the result.
    #[doc(hidden)]
    fn convert(x: &AnyOperand, dtype: DType, place: Place) -> Self;

    /// The same with the error, if it was made at this place, as that of the function `what` of these operands, of which it is a part.
    #[doc(hidden)]
    fn part_of(self, what: &'static str, operands: &[AnyOperand], place: Place) -> Self;

    /// An array as it stands; in a trace a constant of it.
    #[doc(hidden)]
    fn constant(array: Array, place: Place) -> Self;

    /// Prints a value, in a trace when it runs; gives the value.
    #[doc(hidden)]
    fn debug_print(label: &str, x: AnyOperand, place: Place) -> Self;

    /// What an operation gives that cannot be one.
    #[doc(hidden)]
    fn failed(error: Error) -> Self;
}

impl Computed for Expr {
    fn compute(op: Op, operands: &[AnyOperand], place: Place) -> Expr {
        crate::trace::apply(Asked::Op(op), operands, place)
    }

    fn reduce(request: &Request, operands: &[AnyOperand], place: Place) -> Expr {
        crate::trace::apply(Asked::Reduction(request), operands, place)
    }

    fn movement(movement: &Movement<'_>, operands: &[AnyOperand], place: Place) -> Expr {
        crate::trace::apply(Asked::Movement(movement), operands, place)
    }

    fn convert(x: &AnyOperand, dtype: DType, place: Place) -> Expr {
        crate::trace::convert(x, dtype, place)
    }

    fn part_of(self, what: &'static str, operands: &[AnyOperand], place: Place) -> Expr {
        crate::trace::part_of(self, what, operands, place);
        self
    }

    fn constant(array: Array, place: Place) -> Expr {
        crate::trace::constant(&AnyOperand::Array(array), place)
    }

    fn debug_print(label: &str, x: AnyOperand, place: Place) -> Expr {
        crate::trace::print(label, &x, place)
    }

    fn failed(error: Error) -> Expr {
        crate::trace::failed(error)
    }
}

impl Computed for Array {
    fn compute(op: Op, operands: &[AnyOperand], place: Place) -> Array {
        crate::array::lazy::apply(Asked::Op(op), operands, place)
    }

    fn reduce(request: &Request, operands: &[AnyOperand], place: Place) -> Array {
        crate::array::lazy::apply(Asked::Reduction(request), operands, place)
    }

    fn movement(movement: &Movement<'_>, operands: &[AnyOperand], place: Place) -> Array {
        crate::array::lazy::apply(Asked::Movement(movement), operands, place)
    }

    fn convert(x: &AnyOperand, dtype: DType, place: Place) -> Array {
        crate::array::lazy::convert(x, dtype, place)
    }

    fn part_of(self, what: &'static str, operands: &[AnyOperand], place: Place) -> Array {
        match self.error() {
            Some(error) if error.place() == Some(place) => {
                refused(what, operands, place, &error.clone().unnamed().without_operands())
            }
            Some(_) | None => self,
        }
    }

    fn constant(array: Array, _place: Place) -> Array {
        array
    }

    fn debug_print(label: &str, x: AnyOperand, place: Place) -> Array {
        match x {
            AnyOperand::Array(array) => crate::diagnostics::debug::print::array(label, array, place),
            AnyOperand::Scalar(number) => crate::diagnostics::debug::print::array(label, Array::scalar(number), place),
            AnyOperand::Expr(x) => Array::poisoned(crate::trace::outside("debug_print", x).at(place)),
        }
    }

    fn failed(error: Error) -> Array {
        Array::poisoned(error)
    }
}

impl AnyOperand {
    /// Type, dtype of the elements, and shape; the error if what gave the operand failed. `what` asks.
    pub(crate) fn describe(&self, what: &str) -> Result<(ValueType, DType, Shape)> {
        match self {
            AnyOperand::Expr(x) => crate::trace::describe(*x, what),
            AnyOperand::Array(array) => match array.error() {
                Some(error) => Err(error.clone()),
                None => Ok((array.value_type(), array.dtype(), array.shape().clone())),
            },
            AnyOperand::Scalar(number) => {
                let ty = number.value_type();
                Ok((ty, crate::api::config::policy().commit(ty), Shape::scalar()))
            }
        }
    }
}

/// A number with a type: weak, or of a named dtype. Made by [`weak`] and [`strong`]. Remembers the place it was made at, which
/// explanations name; numbers made in different places are equal all the same.
///
/// ```
/// use ndjit::{Array, DType, strong, weak};
///
/// let (two, half) = (weak(2), strong(0.5f64));
/// let x = Array::from([1.0f32]);
/// assert_eq!(((&x * two).dtype(), (&x * half).dtype()), (DType::F32, DType::F64));
/// ```
#[derive(Clone, Copy)]
pub struct Scalar(pub(crate) Literal, pub(crate) Option<Place>);

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        self.0 == other.0
    }
}

impl Scalar {
    /// The type: a dtype, or weak.
    ///
    /// ```
    /// use ndjit::{DType, Weak, strong, weak};
    ///
    /// assert_eq!((weak(2).value_type(), strong(2u8).value_type()), (Weak::Int.into(), DType::U8.into()));
    /// ```
    pub fn value_type(self) -> ValueType {
        self.0.ty()
    }

    /// Whether the type is weak: the number takes the dtype of what it meets.
    ///
    /// ```
    /// use ndjit::{strong, weak};
    ///
    /// assert!(weak(2).is_weak() && !strong(2).is_weak());
    /// ```
    pub fn is_weak(self) -> bool {
        self.value_type().is_weak()
    }
}

impl fmt::Display for Scalar {
    /// The number; a weak type is marked, as for arrays: `2 i*`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.value())?;
        if self.is_weak() { write!(f, " {}", self.value_type()) } else { Ok(()) }
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scalar({} {})", self.0.value(), self.value_type())
    }
}

/// A number by its kind alone, as bare numbers are. Useful on the left of an operator, where only `i32`, `f64`, `bool` and
/// complex numbers can stand bare. Of a strong scalar the weak one.
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
    Scalar(Literal::weak(number.literal().value()), Some(Place::caller()))
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

/// A Rust number or bool, or a [`Scalar`].
///
/// ```
/// use ndjit::{Array, DType, full, operand::Number};
///
/// fn filled(n: impl Number) -> Array {
///     full([2], n)
/// }
/// assert_eq!((filled(true).dtype(), filled(2).dtype()), (DType::Bool, DType::I32));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number ndjit knows",
    note = "a dtype is given as in `dtype(DType::I8).zeros([3])`"
)]
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

/// Invokes a macro with the types of bare numbers.
macro_rules! each_number {
    ($macro:ident) => {
        $macro! {
            bool u8 u16 u32 u64 usize i8 i16 i32 i64 isize half::bf16 half::f16 f32 f64
            num_complex::Complex<f32> num_complex::Complex<f64>
        }
    };
}
pub(crate) use each_number;

each_number!(numbers);

impl sealed::Sealed for Scalar {}
impl Number for Scalar {
    fn literal(self) -> Literal {
        self.0
    }
}

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
