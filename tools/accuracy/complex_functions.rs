//! The reference and the error bound of each op in the complex dtypes: one line for each that rounds.

use crate::complex_references as exact;
use crate::multi::{Complex, Real};
use ndjit::Op;

/// An exact complex function.
pub struct Function {
    pub reference: Reference,
    pub bound: Bound,
    /// Whether its formula has terms that may overflow: not measured where the modulus of the result nearly does.
    pub plain: bool,
}

#[derive(Clone, Copy)]
pub enum Reference {
    Unary(fn(&Complex) -> Complex),
    Binary(fn(&Complex, &Complex) -> Complex),
    /// With a real result.
    Real(fn(&Complex) -> Real),
    /// Of two real operands.
    Parts(fn(&Real, &Real) -> Complex),
}

/// The largest error, in units in the last place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Of each part.
    Part(f64),
    /// Of the modulus: a part may cancel.
    Modulus(f64),
}

const fn unary(f: fn(&Complex) -> Complex, bound: Bound) -> Function {
    Function { reference: Reference::Unary(f), bound, plain: false }
}

const fn binary(f: fn(&Complex, &Complex) -> Complex, bound: Bound) -> Function {
    Function { reference: Reference::Binary(f), bound, plain: false }
}

const fn to_real(f: fn(&Complex) -> Real, bound: f64) -> Function {
    Function { reference: Reference::Real(f), bound: Bound::Part(bound), plain: false }
}

pub const fn of_parts(f: fn(&Real, &Real) -> Complex, bound: f64) -> Function {
    Function { reference: Reference::Parts(f), bound: Bound::Part(bound), plain: false }
}

impl Function {
    const fn plain(self) -> Function {
        Function { plain: true, ..self }
    }
}

/// The comparison of an op.
pub enum How {
    Measured(Function),
    /// The reason for none, for people.
    NotMeasured(&'static str),
}

const SELECTS: &str = "only chooses, compares, changes signs, or rounds part by part as in real numbers";
const CANCELS: &str = "its three terms may cancel, so that no bound in ULP of the result holds: its formula in `math/tests/it/bodies/complex.rs`";

/// The comparison of `op`; `None` if it has no complex dtype.
pub fn how(op: Op) -> Option<How> {
    use Bound::{Modulus, Part};
    Some(How::Measured(match op {
        Op::Add => binary(exact::add, Part(0.5)),
        Op::Subtract => binary(exact::subtract, Part(0.5)),
        Op::Multiply | Op::MultiplyNoNan => binary(exact::multiply, Modulus(2.25)).plain(),
        Op::Divide => binary(exact::divide, Modulus(3.5)),
        Op::Square => unary(exact::square, Modulus(2.25)).plain(),
        Op::Reciprocal => unary(exact::reciprocal, Modulus(2.5)),
        Op::Abs => to_real(exact::abs, 1.0),
        Op::Angle => to_real(|[x, y]| y.atan2(x), 1.0),
        Op::Sign => unary(exact::sign, Part(2.0)),
        Op::Sqrt => unary(exact::sqrt, Part(2.0)),
        Op::Rsqrt => unary(exact::rsqrt, Part(2.0)),
        Op::Exp => unary(exact::exp, Part(1.0)),
        Op::Exp2 => unary(exact::exp2, Part(1.0)),
        Op::Expm1 => unary(exact::expm1, Modulus(1.0)),
        Op::Log => unary(exact::log, Part(2.0)),
        Op::Log2 => unary(exact::log2, Part(2.0)),
        Op::Log10 => unary(exact::log10, Part(2.0)),
        Op::Log1p => unary(exact::log1p, Part(2.0)),
        Op::Pow | Op::FloatPower => binary(exact::pow, Modulus(2.0)),
        Op::Sin => unary(exact::sin, Part(2.0)),
        Op::Cos => unary(exact::cos, Part(2.0)),
        Op::Tan => unary(exact::tan, Part(3.0)),
        Op::Asin => unary(exact::asin, Part(3.0)),
        Op::Acos => unary(exact::acos, Part(3.0)),
        Op::Atan => unary(exact::atan, Part(3.0)),
        Op::Sinh => unary(exact::sinh, Part(2.0)),
        Op::Cosh => unary(exact::cosh, Part(2.0)),
        Op::Tanh => unary(exact::tanh, Part(3.0)),
        Op::Asinh => unary(exact::asinh, Part(3.0)),
        Op::Acosh => unary(exact::acosh, Part(3.0)),
        Op::Atanh => unary(exact::atanh, Part(3.0)),
        Op::Negative
        | Op::Positive
        | Op::Conj
        | Op::Real
        | Op::Imag
        | Op::Round
        | Op::Rint
        | Op::NanToNum
        | Op::Where => {
            return Some(How::NotMeasured(SELECTS));
        }
        Op::Minimum | Op::Maximum | Op::Fmin | Op::Fmax => return Some(How::NotMeasured(SELECTS)),
        Op::Equal | Op::NotEqual | Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
            return Some(How::NotMeasured(SELECTS));
        }
        Op::IsNan | Op::IsInf | Op::IsFinite | Op::IsClose => return Some(How::NotMeasured(SELECTS)),
        Op::MulAdd => return Some(How::NotMeasured(CANCELS)),
        _ => return None,
    }))
}
