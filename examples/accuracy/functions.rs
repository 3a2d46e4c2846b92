//! The functions that are measured, each with a correctly rounded one in `f64` (CORE-MATH).

use ndjit::Op;

/// A function of one operand, and its reference.
pub struct Function {
    pub op: Op,
    pub reference: fn(f64) -> f64,
}

macro_rules! functions {
    ($($op:ident $reference:expr;)*) => {
        pub const FUNCTIONS: &[Function] = &[$(Function { op: Op::$op, reference: $reference }),*];
    };
}

functions! {
    Exp core_math::exp;
    Log core_math::log;
    Sin core_math::sin;
    Cos core_math::cos;
    Tan core_math::tan;
    Asin core_math::asin;
    Acos core_math::acos;
    Atan core_math::atan;
    Tanh core_math::tanh;
    Log1p core_math::log1p;
    Expm1 core_math::expm1;
    Log2 core_math::log2;
    Log10 core_math::log10;
    Exp2 core_math::exp2;
    Cosh core_math::cosh;
    Sinh core_math::sinh;
    Asinh core_math::asinh;
    Acosh core_math::acosh;
    Atanh core_math::atanh;
    Sqrt f64::sqrt;
}
