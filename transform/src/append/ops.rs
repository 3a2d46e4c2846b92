//! Ops as functions of terms, for formulas.

use super::SlopeTerm;
use ndjit_ir::Op;

macro_rules! functions {
    ($($variant:ident $name:ident($($operand:ident)*);)*) => {
        $(pub(crate) fn $name<'a>($($operand: SlopeTerm<'a>),*) -> SlopeTerm<'a> {
            SlopeTerm::op(Op::$variant, &[$($operand),*])
        })*
    };
}

functions! {
    FloorDivide floor_divide(x y);
    Remainder remainder(x y);
    Abs abs(x);
    Sign sign(x);
    Sqrt sqrt(x);
    MulAdd mul_add(x y z);
    Minimum minimum(x y);
    Maximum maximum(x y);
    Complex complex(re im);
    Polar polar(r theta);
    Conj conj(x);
    Rint rint(x);
    Equal equal(x y);
    NotEqual not_equal(x y);
    Less less(x y);
    LessEqual less_equal(x y);
    Greater greater(x y);
    GreaterEqual greater_equal(x y);
    LogicalAnd logical_and(x y);
    LogicalOr logical_or(x y);
    LogicalNot logical_not(x);
    Where where_(condition x y);
    IsNan isnan(x);
    IsInf isinf(x);
    IsFinite isfinite(x);
    Copysign copysign(x y);
    Ldexp ldexp(x n);
    FrexpExponent frexp_exponent(x);
    Hypot hypot(x y);
    Pow pow(x y);
    Exp exp(x);
    Log log(x);
    Sin sin(x);
    Cos cos(x);
    Cosh cosh(x);
    Sinh sinh(x);
    Tanh tanh(x);
    FloatPower float_power(x y);
    Sigmoid sigmoid(x);
    Erfc erfc(x);
    Digamma digamma(x);
    Polygamma polygamma(n x);
}

/// Clamps indices of so many rows.
pub(crate) fn clipped<'a>(index: SlopeTerm<'a>, rows: usize) -> SlopeTerm<'a> {
    let last = index.number(rows.saturating_sub(1) as f64);
    SlopeTerm::op(Op::Clip, &[index, index.number(0.0), last])
}
