//! Operators of [`Expr`] and [`Array`].
//!
//! | spelling | function | |
//! |---|---|---|
//! | `x + y` `x - y` `x * y` | [`add`](crate::add) [`subtract`](crate::subtract) [`multiply`](crate::multiply) | integers wrap |
//! | `x / y` | [`divide`](crate::divide) | true division: integers give floats |
//! | `x % y` | [`remainder`](crate::remainder) | of floored division: the sign of `y` |
//! | `-x` | [`negative`](crate::negative) | |
//! | `x & y` `x \| y` `x ^ y` | [`bitwise_and`](crate::bitwise_and) [`bitwise_or`](crate::bitwise_or) [`bitwise_xor`](crate::bitwise_xor) | logical for bool |
//! | `!x` | [`bitwise_invert`](crate::bitwise_invert) | logical for bool |
//! | `x << y` `x >> y` | [`bitwise_left_shift`](crate::bitwise_left_shift) [`bitwise_right_shift`](crate::bitwise_right_shift) | counts out of range give 0, or the sign |
//!
//! Floor division is [`floor_divide`](crate::floor_divide), comparisons are [`less`](crate::less) … or the methods `lt`
//! `le` `gt` `ge` `eq` `ne`: Rust's own comparison operators must give one `bool`.
//!
//! References work as well: `&x + 1` and `1 + &x` keep an `Array` for later use. An `Expr` is `Copy`; references to one work
//! too, as from iterators.
//!
//! The right operand is any operand. Scalars on the left are `i32`, `f64`, `bool` or `Complex<f64>`: another float type
//! would make `(2.0 * x).sin()` ambiguous. Write `x * k` or `weak(k) * x` instead.

use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{ArrayLike, ArrayOperand, Operand};
use crate::trace::scalar::Scalar;
use ndjit_ir::{Op, SourceLoc};
use num_complex::Complex;
use std::ops;

macro_rules! binary {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl<R: Operand> ops::$trait<R> for Expr {
            type Output = Expr;
            #[track_caller]
            fn $method(self, right: R) -> Expr {
                Expr::compute(Op::$op, &[self.operand(), right.operand()], SourceLoc::caller())
            }
        }
        impl<R: Operand> ops::$trait<R> for &Expr {
            type Output = Expr;
            #[track_caller]
            fn $method(self, right: R) -> Expr {
                Expr::compute(Op::$op, &[self.operand(), right.operand()], SourceLoc::caller())
            }
        }
        impl<R: ArrayOperand> ops::$trait<R> for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, right: R) -> Array {
                Array::compute(Op::$op, &[self.operand(), right.operand()], SourceLoc::caller())
            }
        }
        impl<R: ArrayOperand> ops::$trait<R> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, right: R) -> Array {
                Array::compute(Op::$op, &[self.operand(), right.operand()], SourceLoc::caller())
            }
        }
        left! { $trait $method $op, Expr => Expr: Array, &Array, i32, f64, bool, Complex<f64>, Scalar }
        left! { $trait $method $op, &Expr => Expr: Array, &Array, i32, f64, bool, Complex<f64>, Scalar }
        left! { $trait $method $op, Array => Array: i32, f64, bool, Complex<f64>, Scalar }
        left! { $trait $method $op, &Array => Array: i32, f64, bool, Complex<f64>, Scalar }
    )*};
}

macro_rules! left {
    ($trait:ident $method:ident $op:ident, $right:ty => $out:ident: $($left:ty),*) => {$(
        impl ops::$trait<$right> for $left {
            type Output = $out;
            #[track_caller]
            fn $method(self, right: $right) -> $out {
                $out::compute(Op::$op, &[self.operand(), right.operand()], SourceLoc::caller())
            }
        }
    )*};
}

binary! {
    Add add Add;
    Sub sub Subtract;
    Mul mul Multiply;
    Div div Divide;
    Rem rem Remainder;
    BitAnd bitand BitwiseAnd;
    BitOr bitor BitwiseOr;
    BitXor bitxor BitwiseXor;
    Shl shl BitwiseLeftShift;
    Shr shr BitwiseRightShift;
}

macro_rules! unary {
    ($($trait:ident $method:ident $op:ident, $($t:ty => $out:ident)|+;)*) => {$($(
        impl ops::$trait for $t {
            type Output = $out;
            #[track_caller]
            fn $method(self) -> $out {
                $out::compute(Op::$op, &[self.operand()], SourceLoc::caller())
            }
        }
    )+)*};
}

unary! {
    Neg neg Negative, Expr => Expr | &Expr => Expr | Array => Array | &Array => Array;
    Not not BitwiseInvert, Expr => Expr | &Expr => Expr | Array => Array | &Array => Array;
}

macro_rules! assign {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl<R: Operand> ops::$trait<R> for Expr {
            #[track_caller]
            fn $method(&mut self, right: R) {
                *self = Expr::compute(Op::$op, &[self.operand(), right.operand()], SourceLoc::caller());
            }
        }
        impl<R: ArrayOperand> ops::$trait<R> for Array {
            #[track_caller]
            fn $method(&mut self, right: R) {
                *self = Array::compute(Op::$op, &[(&*self).operand(), right.operand()], SourceLoc::caller());
            }
        }
    )*};
}

assign! {
    AddAssign add_assign Add;
    SubAssign sub_assign Subtract;
    MulAssign mul_assign Multiply;
    DivAssign div_assign Divide;
    RemAssign rem_assign Remainder;
    BitAndAssign bitand_assign BitwiseAnd;
    BitOrAssign bitor_assign BitwiseOr;
    BitXorAssign bitxor_assign BitwiseXor;
    ShlAssign shl_assign BitwiseLeftShift;
    ShrAssign shr_assign BitwiseRightShift;
}
