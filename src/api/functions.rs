//! The functions and methods of the op table: one free function per row, and a method of the same name on [`Expr`] and
//! [`Array`]. Generated from `ndjit_ir::op_table`.
//!
//! An [`Expr`] among the operands makes the result an [`Expr`]; arrays and scalars give an [`Array`].

use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, BinaryOperand, Operand, UnaryOperand};
use ndjit_ir::{DType, Op, SourceLoc};

macro_rules! rows {
    ($($variant:ident $name:ident($($operand:ident)*) $rule:ident $($domain:ident)|+ $result:ident
        $accuracy:ident $(($ulp:literal))? [$($law:ident)*] $doc:literal ($($example:literal),*) $shown:literal;)*) => {
        $(function! {
            $variant $name
            { concat!($doc, "\n\n- ", types!($rule $($operand)*), domain!($($domain)|+), "\n- ", result!($result), "\n- ",
                accuracy!($accuracy $(($ulp))?), example!($name ($($example),*) $shown)) }
            $($operand)*
        })*

        /// The op table's operations as methods.
        impl Expr {
            $(expr_method! { $variant $name { concat!($doc, see!($name)) } $($operand)* })*
        }

        /// The op table's operations as methods.
        impl Array {
            $(array_method! { $variant $name { concat!($doc, see!($name)) } $($operand)* })*
        }
    };
}

/// Promotion of the operand types, as text.
macro_rules! types {
    (Join $x:ident) => {
        "Types: as `x`. "
    };
    (Join $($x:ident)+) => {
        "Types: operands meet in their common dtype. "
    };
    (Number $x:ident) => {
        "Types: as `x`, but bool becomes the default integer. "
    };
    (Number $($x:ident)+) => {
        "Types: operands meet in their common dtype; bool becomes the default integer. "
    };
    (Inexact $x:ident) => {
        "Types: as `x`, but integers become floats, 64-bit ones `f64`, others and bool `f32`. "
    };
    (Inexact $($x:ident)+) => {
        "Types: operands meet in their common dtype; integers become floats, 64-bit ones `f64`, others and bool `f32`. "
    };
    (TrueDivide $($x:ident)+) => {
        "Types: operands meet in their common dtype; integers become floats, 64-bit ones `f64`, others and bool `f32` (other policies differ). "
    };
    (Logical $($x:ident)+) => {
        "Types: operands of every dtype become bool: nonzero is true. "
    };
    (Ldexp $x:ident $n:ident) => {
        "Types: as `x`, but integers become floats, 64-bit ones `f64`, others and bool `f32`; `n` is an integer of any dtype. "
    };
    (Shift $x:ident $n:ident) => {
        "Types: as `x`; `n` is an integer of any dtype. "
    };
    (Select $($x:ident)+) => {
        "Types: the condition becomes bool, nonzero is true; the others meet in their common dtype. "
    };
}

/// The computing dtypes of an op, as text.
macro_rules! domain {
    (ALL) => {
        "Computes in every dtype."
    };
    (NUMERIC) => {
        "Computes in integers, floats and complex dtypes."
    };
    (REAL) => {
        "Computes in integers and floats; complex is an error."
    };
    (BOOL|REAL) => {
        "Computes in every dtype but complex ones, which are errors."
    };
    (BOOL|INT) => {
        "Computes in bool and integers; floats and complex are errors."
    };
    (INT) => {
        "Computes in integers; floats and complex are errors."
    };
    (U64) => {
        "Computes in `u64`; other dtypes are errors."
    };
    (FLOAT) => {
        "Computes in `bf16 f16 f32 f64`; complex is an error."
    };
    (PARTS) => {
        "Computes in `f32 f64`; other floats and complex dtypes are errors."
    };
    (FLOAT|COMPLEX) => {
        "Computes in `bf16 f16 f32 f64 c64 c128`."
    };
    (BOOL) => {
        "Computes in bool."
    };
}

/// The dtype of a result, as text.
macro_rules! result {
    (Same) => {
        "Result: the dtype it computes in."
    };
    (Bool) => {
        "Result: bool."
    };
    (Complex) => {
        "Result: `c64` of `f32`, `c128` of `f64`."
    };
    (Int32) => {
        "Result: `i32`."
    };
    (Real) => {
        "Result: the dtype it computes in; of complex numbers the dtype of the real part."
    };
}

/// The largest error, as text.
macro_rules! accuracy {
    (Exact) => {
        "Accuracy: exact or correctly rounded in real dtypes."
    };
    (Ulp($n:literal)) => {
        concat!("Accuracy: at most ", $n, " ULP from the exact result, in real dtypes and where nothing else is said.")
    };
}

/// The example of a row as a test.
macro_rules! example {
    ($name:ident ($($operand:literal),*) $shown:literal) => {
        concat!(
            "\n\n```\n# use ndjit::{Array, Complex, ", stringify!($name), "};\nlet result = ",
            stringify!($name), "(", $("Array::from(", $operand, "), ",)* ");\nassert_eq!(result.to_string(), \"", $shown,
            "\");\n```"
        )
    };
}

/// A link to the dtypes and accuracy of a method.
macro_rules! see {
    ($name:ident) => {
        concat!(" Types and accuracy: [`", stringify!($name), "`](crate::api::functions::", stringify!($name), ").")
    };
}

macro_rules! function {
    ($variant:ident $name:ident { $doc:expr } $x:ident) => {
        #[doc = $doc]
        #[track_caller]
        pub fn $name<X: UnaryOperand>($x: X) -> X::Out {
            X::Out::compute(Op::$variant, &[$x.operand()], SourceLoc::caller())
        }
    };
    ($variant:ident $name:ident { $doc:expr } $x:ident $y:ident) => {
        #[doc = $doc]
        #[track_caller]
        pub fn $name<X: Operand + BinaryOperand<Y>, Y: Operand>($x: X, $y: Y) -> X::Out {
            X::Out::compute(Op::$variant, &[$x.operand(), $y.operand()], SourceLoc::caller())
        }
    };
    ($variant:ident $name:ident { $doc:expr } $x:ident $y:ident $z:ident) => {
        #[doc = $doc]
        #[track_caller]
        pub fn $name<X, Y, Z>($x: X, $y: Y, $z: Z) -> <X::Out as BinaryOperand<Z>>::Out
        where
            X: Operand + BinaryOperand<Y>,
            X::Out: BinaryOperand<Z>,
            Y: Operand,
            Z: Operand,
        {
            ArrayLike::compute(Op::$variant, &[$x.operand(), $y.operand(), $z.operand()], SourceLoc::caller())
        }
    };
    ($variant:ident $name:ident { $doc:expr } $x:ident $y:ident $z:ident $w:ident) => {
        #[doc = $doc]
        #[track_caller]
        pub fn $name<X, Y, Z, W>(
            $x: X,
            $y: Y,
            $z: Z,
            $w: W,
        ) -> <<X::Out as BinaryOperand<Z>>::Out as BinaryOperand<W>>::Out
        where
            X: Operand + BinaryOperand<Y>,
            X::Out: BinaryOperand<Z>,
            <X::Out as BinaryOperand<Z>>::Out: BinaryOperand<W>,
            Y: Operand,
            Z: Operand,
            W: Operand,
        {
            let operands = [$x.operand(), $y.operand(), $z.operand(), $w.operand()];
            ArrayLike::compute(Op::$variant, &operands, SourceLoc::caller())
        }
    };
}

macro_rules! expr_method {
    ($variant:ident $name:ident { $doc:expr } $x:ident $($more:ident)*) => {
        #[doc = $doc]
        #[allow(clippy::should_implement_trait, reason = "the operators exist as well; these are the Array API's names")]
        #[track_caller]
        pub fn $name(self $(, $more: impl Operand)*) -> Expr {
            Expr::compute(Op::$variant, &[self.operand() $(, $more.operand())*], SourceLoc::caller())
        }
    };
}

macro_rules! array_method {
    ($variant:ident $name:ident { $doc:expr } $x:ident) => {
        #[doc = $doc]
        #[track_caller]
        pub fn $name(&self) -> Array {
            Array::compute(Op::$variant, &[self.operand()], SourceLoc::caller())
        }
    };
    ($variant:ident $name:ident { $doc:expr } $x:ident $y:ident) => {
        #[doc = $doc]
        #[track_caller]
        pub fn $name<Y: Operand>(&self, $y: Y) -> <Array as BinaryOperand<Y>>::Out
        where
            Array: BinaryOperand<Y>,
        {
            ArrayLike::compute(Op::$variant, &[self.operand(), $y.operand()], SourceLoc::caller())
        }
    };
    ($variant:ident $name:ident { $doc:expr } $x:ident $y:ident $z:ident) => {
        #[doc = $doc]
        #[track_caller]
        pub fn $name<Y: Operand, Z: Operand>(
            &self,
            $y: Y,
            $z: Z,
        ) -> <<Array as BinaryOperand<Y>>::Out as BinaryOperand<Z>>::Out
        where
            Array: BinaryOperand<Y>,
            <Array as BinaryOperand<Y>>::Out: BinaryOperand<Z>,
        {
            ArrayLike::compute(Op::$variant, &[self.operand(), $y.operand(), $z.operand()], SourceLoc::caller())
        }
    };
    ($variant:ident $name:ident { $doc:expr } $x:ident $y:ident $z:ident $w:ident) => {
        #[doc = $doc]
        #[track_caller]
        pub fn $name<Y: Operand, Z: Operand, W: Operand>(
            &self,
            $y: Y,
            $z: Z,
            $w: W,
        ) -> <<<Array as BinaryOperand<Y>>::Out as BinaryOperand<Z>>::Out as BinaryOperand<W>>::Out
        where
            Array: BinaryOperand<Y>,
            <Array as BinaryOperand<Y>>::Out: BinaryOperand<Z>,
            <<Array as BinaryOperand<Y>>::Out as BinaryOperand<Z>>::Out: BinaryOperand<W>,
        {
            let operands = [self.operand(), $y.operand(), $z.operand(), $w.operand()];
            ArrayLike::compute(Op::$variant, &operands, SourceLoc::caller())
        }
    };
}

ndjit_ir::op_table!(rows);

macro_rules! comparisons {
    ($($name:ident $variant:ident $doc:literal;)*) => {
        /// Comparisons under short names.
        impl Expr {
            $(
                #[doc = $doc]
                #[track_caller]
                pub fn $name(self, y: impl Operand) -> Expr {
                    Expr::compute(Op::$variant, &[self.operand(), y.operand()], SourceLoc::caller())
                }
            )*
        }

        /// Comparisons under short names.
        impl Array {
            $(
                #[doc = $doc]
                #[track_caller]
                pub fn $name<Y: Operand>(&self, y: Y) -> <Array as BinaryOperand<Y>>::Out
                where
                    Array: BinaryOperand<Y>,
                {
                    ArrayLike::compute(Op::$variant, &[self.operand(), y.operand()], SourceLoc::caller())
                }
            )*
        }
    };
}

comparisons! {
    eq Equal "`x = y`, element by element: [`equal`].";
    ne NotEqual "`x != y`, element by element: [`not_equal`].";
    lt Less "`x < y`, element by element: [`less`].";
    le LessEqual "`x <= y`, element by element: [`less_equal`].";
    gt Greater "`x > y`, element by element: [`greater`].";
    ge GreaterEqual "`x >= y`, element by element: [`greater_equal`].";
}

/// Casts to `dtype`. Floats become integers by truncation and saturation, with 0 for NaN. Bools are the comparison with
/// zero. Complex values lose their imaginary part. Other casts round to nearest even. Integers wrap.
///
/// ```
/// use ndjit::{Array, DType, cast};
///
/// let x = Array::from([1.7f32, -2.5, 300.0]);
/// assert_eq!(cast(&x, DType::U8).to_string(), "[  1   0 255]");
/// ```
#[track_caller]
pub fn cast<X>(x: X, dtype: DType) -> <X as UnaryOperand>::Out
where
    X: UnaryOperand + Cast<Cast = <X as UnaryOperand>::Out>,
{
    x.cast_at(dtype, SourceLoc::caller())
}

/// A castable value: an array, an expression or a scalar.
///
/// ```
/// use ndjit::{Array, DType, cast};
///
/// assert_eq!(cast(&Array::from([1u8]), DType::F64).dtype(), DType::F64);
/// ```
pub trait Cast: Sized {
    /// The type of the result.
    type Cast;
    #[doc(hidden)]
    fn cast_at(self, dtype: DType, place: SourceLoc) -> Self::Cast;
}

impl Cast for Expr {
    type Cast = Expr;
    fn cast_at(self, dtype: DType, place: SourceLoc) -> Expr {
        crate::trace::cast::cast(self, dtype, place)
    }
}

impl Cast for AnyOperand {
    type Cast = AnyOperand;
    fn cast_at(self, dtype: DType, place: SourceLoc) -> AnyOperand {
        match self {
            AnyOperand::Expr(x) => AnyOperand::Expr(x.cast_at(dtype, place)),
            AnyOperand::Array(_) | AnyOperand::Scalar(_) => AnyOperand::convert(&self, dtype, place),
        }
    }
}

impl Cast for Array {
    type Cast = Array;
    fn cast_at(self, dtype: DType, place: SourceLoc) -> Array {
        crate::array::lazy::cast(&self, dtype, place)
    }
}

impl Cast for &Array {
    type Cast = Array;
    fn cast_at(self, dtype: DType, place: SourceLoc) -> Array {
        crate::array::lazy::cast(self, dtype, place)
    }
}

macro_rules! cast_methods {
    ($($t:ident($($reference:tt)?);)*) => {$(
        /// Casts.
        impl $t {
            /// Casts to `dtype`: see [`cast`].
            ///
            /// ```
            /// use ndjit::{Array, DType};
            ///
            /// assert_eq!(Array::from([1.7f32, -2.5]).cast(DType::I32).to_string(), "[ 1 -2]");
            /// ```
            #[track_caller]
            pub fn cast($($reference)? self, dtype: DType) -> $t {
                self.cast_at(dtype, SourceLoc::caller())
            }

            /// Casts to `dtype`: the Array API name of [`cast`].
            ///
            /// ```
            /// use ndjit::{Array, DType};
            ///
            /// assert_eq!(Array::from([1u8]).astype(DType::F64).dtype(), DType::F64);
            /// ```
            #[track_caller]
            pub fn astype($($reference)? self, dtype: DType) -> $t {
                self.cast_at(dtype, SourceLoc::caller())
            }
        }
    )*};
}

cast_methods! {
    Expr();
    Array(&);
}
