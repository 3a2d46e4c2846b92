//! The reference of each op in the real dtypes, or the reason for none: one line for every op.

use crate::activations as act;
use crate::complex_functions::{self, of_parts};
use crate::digamma as psi;
use crate::error_function::{erf, erfc, inverse, precise_inverse};
use crate::format::Format;
use crate::multi::Real;
use crate::references as own;
use ndjit::Op;
use std::f64::consts::PI;

/// The comparison of an op.
pub enum How {
    Measured(Function),
    /// The operands are parts of a complex result.
    MeasuredInParts(complex_functions::Function),
    /// Exact without rounding; the reason, for people.
    Exact(&'static str),
}

/// An exact function of real numbers.
pub struct Function {
    pub reference: Reference,
    /// For finite results in `f64`.
    pub precise: Option<Precise>,
    /// The value whose unit in the last place measures errors, from operands and result.
    pub unit: fn(&[f64], f64) -> f64,
}

/// In `f64`; `In` for those that depend on the format of computation.
#[derive(Clone, Copy)]
pub enum Reference {
    Unary(fn(f64) -> f64),
    Binary(fn(f64, f64) -> f64),
    /// The first operand is an order, mostly a small integer.
    Ordered(fn(f64, f64) -> f64),
    BinaryIn(fn(Format, f64, f64) -> f64),
    TernaryIn(fn(Format, f64, f64, f64) -> f64),
}

/// A function in multi-precision.
#[derive(Clone, Copy)]
pub struct Precise {
    pub function: fn(&[Real]) -> Real,
    /// Whether it only measures the error of a result that differs from the correctly rounded reference.
    pub refines: bool,
}

const fn measured(reference: Reference) -> Function {
    Function { reference, precise: None, unit: |_, result| result }
}

/// A function correctly rounded in `f64`.
const fn unary(f: fn(f64) -> f64) -> Function {
    measured(Reference::Unary(f))
}

/// As [`unary`].
const fn binary(f: fn(f64, f64) -> f64) -> Function {
    measured(Reference::Binary(f))
}

impl Function {
    /// With the same function in multi-precision, for exact errors in `f64`.
    const fn refined(self, f: fn(&[Real]) -> Real) -> How {
        How::Measured(Function { precise: Some(Precise { function: f, refines: true }), ..self })
    }

    /// With a multi-precision reference for `f64`, since this one has errors of a few units in the last place of an
    /// `f64`.
    const fn in_f64(self, f: fn(&[Real]) -> Real) -> Function {
        Function { precise: Some(Precise { function: f, refines: false }), ..self }
    }

    /// Errors in units in the last place of another value, from operands and result.
    const fn in_units_of(self, unit: fn(&[f64], f64) -> f64) -> Function {
        Function { unit, ..self }
    }
}

/// The largest of operands and result: errors of a cancelling sum are those of its terms.
fn the_largest(operands: &[f64], result: f64) -> f64 {
    operands.iter().fold(result.abs(), |largest, x| largest.max(x.abs()))
}

const BITS: How = How::Exact(
    "is about bits of integers: all pairs of 8-bit integers and edges of wider ones in `math/tests/it/bodies/int.rs`",
);
const TRUTH: How = How::Exact("gives bools: every kind of value in `math/tests/it/bodies/`");
const SELECTS: How = How::Exact("only chooses or passes on: every kind of value in `math/tests/it/bodies/`");

/// The comparison of `op`.
pub fn how(op: Op) -> How {
    use How::Measured;
    match op {
        Op::Add => Measured(binary(|x, y| x + y)),
        Op::Subtract => Measured(binary(|x, y| x - y)),
        Op::Multiply => Measured(binary(|x, y| x * y)),
        Op::MultiplyNoNan => Measured(binary(|x, y| if x == 0.0 || y == 0.0 { 0.0 } else { x * y })),
        Op::Divide => Measured(binary(|x, y| x / y)),
        Op::FloorDivide => Measured(binary(own::floor_divide).in_f64(|x| own::precise_floor_divide(&x[0], &x[1]))),
        Op::Remainder => Measured(binary(own::remainder)),
        Op::Fmod => Measured(binary(|x, y| x % y)),
        Op::Negative => Measured(unary(|x| -x)),
        Op::Abs => Measured(unary(f64::abs)),
        Op::Sign => Measured(unary(own::sign)),
        Op::Square => Measured(unary(|x| x * x)),
        Op::Sqrt => Measured(unary(f64::sqrt)),
        Op::Reciprocal => Measured(unary(|x| 1.0 / x)),
        Op::MulAdd => Measured(measured(Reference::TernaryIn(own::mul_add))),
        Op::Minimum => Measured(binary(own::minimum)),
        Op::Maximum => Measured(binary(own::maximum)),
        Op::Fmin => Measured(binary(own::fmin)),
        Op::Fmax => Measured(binary(own::fmax)),
        Op::Clip => Measured(measured(Reference::TernaryIn(own::clip))),
        Op::Floor => Measured(unary(f64::floor)),
        Op::Ceil => Measured(unary(f64::ceil)),
        Op::Trunc => Measured(unary(f64::trunc)),
        Op::Round => Measured(unary(f64::round_ties_even)),
        Op::Rint => Measured(unary(f64::round_ties_even)),
        Op::Angle => Measured(unary(own::angle)),
        Op::FrexpMantissa => Measured(unary(own::mantissa)),
        Op::ModfFraction => Measured(unary(own::fraction)),
        Op::ModfInteger => Measured(unary(f64::trunc)),
        Op::Ldexp => Measured(binary(own::ldexp).in_f64(|x| x[0].scaled(&x[1]))),
        Op::Copysign => Measured(binary(own::copysign)),
        Op::Nextafter => Measured(measured(Reference::BinaryIn(own::nextafter))),
        Op::Rsqrt => unary(core_math::rsqrt).refined(|x| x[0].rsqrt()),
        Op::Cbrt => unary(core_math::cbrt).refined(|x| x[0].cbrt()),
        Op::Hypot => binary(core_math::hypot).refined(|x| (&x[0] * &x[0] + &x[1] * &x[1]).sqrt()),
        Op::Pow => binary(core_math::pow).refined(|x| x[0].powf(&x[1])),
        Op::Exp => unary(core_math::exp).refined(|x| x[0].exp()),
        Op::Exp2 => unary(core_math::exp2).refined(|x| x[0].exp2()),
        Op::Expm1 => unary(core_math::expm1).refined(|x| x[0].exp_m1()),
        Op::Log => unary(core_math::log).refined(|x| x[0].ln()),
        Op::Log2 => unary(core_math::log2).refined(|x| x[0].log2()),
        Op::Log10 => unary(core_math::log10).refined(|x| x[0].log10()),
        Op::Log1p => unary(core_math::log1p).refined(|x| x[0].ln_1p()),
        Op::Logaddexp => {
            Measured(binary(own::logaddexp).in_f64(|x| own::precise_logaddexp(&x[0], &x[1])).in_units_of(the_largest))
        }
        Op::Logaddexp2 => {
            Measured(binary(act::logaddexp2).in_f64(|x| act::precise_logaddexp2(&x[0], &x[1])).in_units_of(the_largest))
        }
        Op::Exp10 => unary(core_math::exp10).refined(|x| (&x[0] * Real::from(10.0).ln()).exp()),
        Op::FloatPower => binary(core_math::pow).refined(|x| x[0].powf(&x[1])),
        Op::Sigmoid => Measured(unary(act::sigmoid).in_f64(|x| act::precise_sigmoid(&x[0]))),
        Op::LogSigmoid => Measured(unary(|x| -act::softplus(-x)).in_f64(|x| -act::precise_softplus(&-&x[0]))),
        Op::Softplus => Measured(unary(act::softplus).in_f64(|x| act::precise_softplus(&x[0]))),
        Op::Silu => Measured(unary(act::silu).in_f64(|x| act::precise_silu(&x[0]))),
        Op::Gelu => Measured(unary(act::gelu).in_f64(|x| act::precise_gelu(&x[0]))),
        Op::GeluTanh => Measured(unary(act::gelu_tanh).in_f64(|x| act::precise_gelu_tanh(&x[0]))),
        Op::Relu => Measured(unary(act::relu)),
        Op::Heaviside => Measured(binary(act::heaviside)),
        Op::Sinc => Measured(unary(act::sinc).in_f64(|x| act::precise_sinc(&x[0]))),
        Op::Erf => unary(core_math::erf).refined(|x| erf(&x[0])),
        Op::Erfc => unary(core_math::erfc).refined(|x| erfc(&x[0])),
        Op::Erfinv => Measured(unary(inverse).in_f64(|x| precise_inverse(&x[0]))),
        // Near zeros between negative integers: 2^-25 of `f32`, 2^-54 of `f64`.
        Op::Lgamma => Measured(
            unary(core_math::lgamma).in_units_of(|x, result| if x[0] < 0.0 { result.abs().max(0.125) } else { result }),
        ),
        Op::Tgamma => Measured(unary(core_math::tgamma)),
        Op::Digamma => Measured(
            unary(psi::digamma)
                .in_f64(|x| psi::precise_digamma(&x[0]))
                .in_units_of(|x, result| if x[0] < 0.0 { result.abs().max(0.5) } else { result }),
        ),
        Op::Polygamma => Measured(
            measured(Reference::Ordered(psi::polygamma))
                .in_f64(|x| psi::precise_polygamma(&x[0], &x[1]))
                .in_units_of(|x, result| if x[1] < 0.0 { result.abs().max(1.0) } else { result }),
        ),
        Op::Sin => unary(core_math::sin).refined(|x| x[0].sin()),
        Op::Cos => unary(core_math::cos).refined(|x| x[0].cos()),
        Op::Tan => unary(core_math::tan).refined(|x| x[0].tan()),
        Op::Asin => unary(core_math::asin).refined(|x| x[0].asin()),
        Op::Acos => unary(core_math::acos).refined(|x| x[0].acos()),
        Op::Atan => unary(core_math::atan).refined(|x| x[0].atan()),
        Op::Atan2 => binary(core_math::atan2).refined(|x| x[0].atan2(&x[1])),
        Op::Degrees => Measured(unary(|x| x * (180.0 / PI)).in_f64(|x| &x[0] * 180.0 / Real::pi())),
        Op::Radians => Measured(unary(|x| x * (PI / 180.0)).in_f64(|x| &x[0] * Real::pi() / 180.0)),
        Op::Sinh => unary(core_math::sinh).refined(|x| x[0].sinh()),
        Op::Cosh => unary(core_math::cosh).refined(|x| x[0].cosh()),
        Op::Tanh => unary(core_math::tanh).refined(|x| x[0].tanh()),
        Op::Asinh => unary(core_math::asinh).refined(|x| x[0].asinh()),
        Op::Acosh => unary(core_math::acosh).refined(|x| x[0].acosh()),
        Op::Atanh => unary(core_math::atanh).refined(|x| x[0].atanh()),
        Op::Polar => How::MeasuredInParts(of_parts(|r, angle| [r * angle.cos(), r * angle.sin()], 2.0)),
        Op::Positive | Op::Conj | Op::Real | Op::Imag | Op::Where | Op::Complex | Op::NanToNum => SELECTS,
        Op::Equal | Op::NotEqual | Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => TRUTH,
        Op::LogicalAnd | Op::LogicalOr | Op::LogicalXor | Op::LogicalNot => TRUTH,
        Op::IsNan | Op::IsInf | Op::IsFinite | Op::Signbit | Op::IsClose => TRUTH,
        Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor | Op::BitwiseInvert => BITS,
        Op::RotateLeft | Op::RotateRight | Op::SaturatingAdd | Op::SaturatingSubtract => BITS,
        Op::Threefry2x32 => How::Exact("gives bits: known answers in `math/tests/it/bodies/threefry.rs`"),
        Op::FrexpExponent => How::Exact("gives an integer: every kind of value in `math/tests/it/bodies/`"),
        Op::BitwiseLeftShift | Op::BitwiseRightShift | Op::Popcount | Op::Clz | Op::Ctz | Op::Gcd | Op::Lcm => BITS,
    }
}
