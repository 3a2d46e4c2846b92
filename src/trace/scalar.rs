//! Rust numbers as operands: [`Scalar`], and the number types.

use ndjit_ir::literal::Literal;
use ndjit_ir::{SourceLoc, ValueType};
use ndjit_runtime::Element;
use std::fmt;

/// A number with a type: weak, or a named dtype. Created by [`weak`] and [`strong`]. Records its place for
/// explanations; equality ignores the place.
///
/// ```
/// use ndjit::{Array, DType, strong, weak};
///
/// let (two, half) = (weak(2), strong(0.5f64));
/// let x = Array::from([1.0f32]);
/// assert_eq!(((&x * two).dtype(), (&x * half).dtype()), (DType::F32, DType::F64));
/// ```
#[derive(Clone, Copy)]
pub struct Scalar(pub(crate) Literal, pub(crate) Option<SourceLoc>);

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        self.0 == other.0
    }
}

impl Scalar {
    /// Returns the type: a dtype, or weak.
    ///
    /// ```
    /// use ndjit::{DType, Weak, strong, weak};
    ///
    /// assert_eq!((weak(2).value_type(), strong(2u8).value_type()), (Weak::Int.into(), DType::U8.into()));
    /// ```
    pub fn value_type(self) -> ValueType {
        self.0.ty()
    }

    /// Checks whether the type is weak: the number takes the dtype of the other operand.
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
    /// Prints the number, with a mark for a weak type, as arrays do: `2 i*`.
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

/// Creates a weak number, as bare numbers are. Useful on the left of an operator, where only `i32`, `f64`, `bool` and
/// complex numbers are allowed bare. A strong scalar becomes weak.
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
    Scalar(Literal::weak(number.literal().value()), Some(SourceLoc::caller()))
}

/// Creates a number of its own dtype, which promotes as an array does.
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
    Scalar(Literal::strong(literal.value(), T::DTYPE).unwrap_or(literal), Some(SourceLoc::caller()))
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
    message = "`{Self}` is not a supported number type",
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
