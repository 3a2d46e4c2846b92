//! Bodies of ops on complex numbers: registers are the parts, real part first, operand after operand.

use super::super::Op;
use super::util::{is_finite, is_inf, is_nan};
use super::{complex_divide, complex_root, outside};
use crate::body::{BodyBuilder, Reg};

/// Emits `op` on pairs of float registers; gives a pair, or one register where the result is bool or real.
pub(super) fn op(b: &mut BodyBuilder, op: Op, args: &[Reg]) -> Vec<Reg> {
    let x = (args[0], args[1]);
    let y = if args.len() > 3 { (args[2], args[3]) } else { x };
    match op {
        Op::Add => vec![b.fadd(x.0, y.0), b.fadd(x.1, y.1)],
        Op::Subtract => vec![b.fsub(x.0, y.0), b.fsub(x.1, y.1)],
        Op::Multiply | Op::Square => multiply(b, x, y),
        Op::MulAdd => mul_add(b, x, y, (args[4], args[5])),
        Op::Divide => complex_divide::divide(b, x, y),
        Op::Reciprocal => complex_divide::reciprocal(b, x),
        Op::Negative => vec![b.fneg(x.0), b.fneg(x.1)],
        Op::Positive => vec![x.0, x.1],
        Op::Conj => vec![x.0, b.fneg(x.1)],
        Op::Real => vec![x.0],
        Op::Imag => vec![x.1],
        Op::Abs => vec![complex_root::modulus(b, x)],
        Op::Sign => complex_root::sign(b, x),
        Op::Sqrt => complex_root::sqrt(b, x),
        Op::Minimum => extreme(b, x, y, false),
        Op::Maximum => extreme(b, x, y, true),
        Op::Fmin => number_of(b, x, y, false),
        Op::Fmax => number_of(b, x, y, true),
        Op::Round => vec![b.fround(x.0), b.fround(x.1)],
        Op::Equal => vec![equal(b, x, y)],
        Op::NotEqual => {
            let equal = equal(b, x, y);
            vec![b.not(equal)]
        }
        Op::Less => vec![before(b, x, y, false)],
        Op::LessEqual => vec![before(b, x, y, true)],
        Op::Greater => vec![before(b, y, x, false)],
        Op::GreaterEqual => vec![before(b, y, x, true)],
        Op::IsNan => {
            let (re, im) = (is_nan(b, x.0), is_nan(b, x.1));
            vec![b.or(re, im)]
        }
        Op::IsInf => {
            let (re, im) = (is_inf(b, x.0), is_inf(b, x.1));
            vec![b.or(re, im)]
        }
        Op::IsFinite => {
            let (re, im) = (is_finite(b, x.0), is_finite(b, x.1));
            vec![b.and(re, im)]
        }
        Op::FloorDivide
        | Op::Remainder
        | Op::Fmod
        | Op::Clip
        | Op::Floor
        | Op::Ceil
        | Op::Trunc
        | Op::LogicalAnd
        | Op::LogicalOr
        | Op::LogicalXor
        | Op::LogicalNot
        | Op::BitwiseAnd
        | Op::BitwiseOr
        | Op::BitwiseXor
        | Op::BitwiseInvert
        | Op::BitwiseLeftShift
        | Op::BitwiseRightShift
        | Op::Where
        | Op::Signbit
        | Op::Copysign
        | Op::Nextafter
        | Op::Rsqrt
        | Op::Cbrt
        | Op::Hypot
        | Op::Pow
        | Op::Gcd
        | Op::Lcm
        | Op::Popcount
        | Op::Clz
        | Op::Ctz
        | Op::Exp
        | Op::Log
        | Op::Sin
        | Op::Cos
        | Op::Tan
        | Op::Asin
        | Op::Acos
        | Op::Atan
        | Op::Atan2
        | Op::Degrees
        | Op::Radians
        | Op::Tanh
        | Op::Log1p
        | Op::Expm1
        | Op::Log2
        | Op::Log10
        | Op::Exp2
        | Op::Cosh
        | Op::Sinh
        | Op::Asinh
        | Op::Acosh
        | Op::Atanh
        | Op::Logaddexp => vec![outside(op, "complex")],
    }
}

fn multiply(b: &mut BodyBuilder, x: (Reg, Reg), y: (Reg, Reg)) -> Vec<Reg> {
    let (ac, bd) = (b.fmul(x.0, y.0), b.fmul(x.1, y.1));
    let (ad, bc) = (b.fmul(x.0, y.1), b.fmul(x.1, y.0));
    vec![b.fsub(ac, bd), b.fadd(ad, bc)]
}

fn mul_add(b: &mut BodyBuilder, x: (Reg, Reg), y: (Reg, Reg), z: (Reg, Reg)) -> Vec<Reg> {
    let minus = b.fneg(x.1);
    let re = b.fma(minus, y.1, z.0);
    let im = b.fma(x.1, y.0, z.1);
    vec![b.fma(x.0, y.0, re), b.fma(x.0, y.1, im)]
}

fn equal(b: &mut BodyBuilder, x: (Reg, Reg), y: (Reg, Reg)) -> Reg {
    let (re, im) = (b.feq(x.0, y.0), b.feq(x.1, y.1));
    b.and(re, im)
}

/// Neither imaginary part is NaN.
fn ordered(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let (x, y) = (b.feq(x, x), b.feq(y, y));
    b.and(x, y)
}

/// `x < y` or, with `or_equal`, `x <= y`, by real, then imaginary part; false if any part is NaN.
fn before(b: &mut BodyBuilder, x: (Reg, Reg), y: (Reg, Reg), or_equal: bool) -> Reg {
    let re = b.flt(x.0, y.0);
    let comparable = ordered(b, x.1, y.1);
    let first = b.and(re, comparable);
    let tie = b.feq(x.0, y.0);
    let im = if or_equal { b.fle(x.1, y.1) } else { b.flt(x.1, y.1) };
    let second = b.and(tie, im);
    b.or(first, second)
}

/// The smaller or larger operand, or the one without NaN if one alone has any.
fn number_of(b: &mut BodyBuilder, x: (Reg, Reg), y: (Reg, Reg), larger: bool) -> Vec<Reg> {
    let (x_alone, y_alone) = nan_alone(b, x, y);
    let numbers = extreme(b, x, y, larger);
    [(x.0, y.0), (x.1, y.1)]
        .into_iter()
        .zip(numbers)
        .map(|((x, y), extreme)| {
            let part = b.select(y_alone, x, extreme);
            b.select(x_alone, y, part)
        })
        .collect()
}

/// Whether `x` alone has a NaN, whether `y` alone has one.
fn nan_alone(b: &mut BodyBuilder, x: (Reg, Reg), y: (Reg, Reg)) -> (Reg, Reg) {
    let [x_nan, y_nan] = [x, y].map(|z| {
        let (re, im) = (is_nan(b, z.0), is_nan(b, z.1));
        b.or(re, im)
    });
    let alone = |b: &mut BodyBuilder, nan: Reg, other: Reg| {
        let number = b.not(other);
        b.and(nan, number)
    };
    (alone(b, x_nan, y_nan), alone(b, y_nan, x_nan))
}

/// The smaller or larger operand: the one with a NaN if one alone has any. Where neither is before the other (both have a NaN, or
/// differ in signs of zeros at most) part by part, which keeps the op commutative and idempotent bit for bit.
fn extreme(b: &mut BodyBuilder, x: (Reg, Reg), y: (Reg, Reg), larger: bool) -> Vec<Reg> {
    let x_first = before(b, x, y, false);
    let y_first = before(b, y, x, false);
    let (take_x, take_y) = if larger { (y_first, x_first) } else { (x_first, y_first) };
    let (x_alone, y_alone) = nan_alone(b, x, y);
    let (take_x, take_y) = (b.or(take_x, x_alone), b.or(take_y, y_alone));
    [(x.0, y.0), (x.1, y.1)]
        .into_iter()
        .map(|(x, y)| {
            let part = if larger { b.fmax(x, y) } else { b.fmin(x, y) };
            let part = b.select(take_y, y, part);
            b.select(take_x, x, part)
        })
        .collect()
}
