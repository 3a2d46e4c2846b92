//! Bodies of ops on complex numbers: registers are the parts, real part first, operand after operand.

use crate::complex::{divide, exp, hyperbolic, inverse, log, pow, root};
use crate::kit::util::{Pair, is_finite, is_inf, is_nan, select_pair};
use crate::real::{atan, finite};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::{DType, PrimType};
use ndjit_ir::op::Op;

/// The emitter of an op on complex numbers, by its operands and result.
#[derive(Clone, Copy)]
pub(crate) enum Complex {
    Unary(fn(&mut BodyBuilder, Pair) -> Pair),
    Binary(fn(&mut BodyBuilder, Pair, Pair) -> Pair),
    Ternary(fn(&mut BodyBuilder, Pair, Pair, Pair) -> Pair),
    /// To a real number or a bool.
    Part(fn(&mut BodyBuilder, Pair) -> Reg),
    /// To a bool.
    Relation(fn(&mut BodyBuilder, Pair, Pair) -> Reg),
    /// To a bool, with tolerances.
    Closeness(fn(&mut BodyBuilder, [Pair; 4]) -> Reg),
}
use Complex::{Binary, Closeness, Part, Relation, Ternary, Unary};

impl Complex {
    /// The registers of the result. `args` are the parts of the operands in turn.
    pub fn emit(self, b: &mut BodyBuilder, args: &[Reg]) -> Vec<Reg> {
        let operand = |i: usize| (args[2 * i], args[2 * i + 1]);
        let (re, im) = match self {
            Unary(emit) => emit(b, operand(0)),
            Binary(emit) => emit(b, operand(0), operand(1)),
            Ternary(emit) => emit(b, operand(0), operand(1), operand(2)),
            Part(emit) => return vec![emit(b, operand(0))],
            Closeness(emit) => return vec![emit(b, [operand(0), operand(1), operand(2), operand(3)])],
            Relation(emit) => return vec![emit(b, operand(0), operand(1))],
        };
        vec![re, im]
    }
}

/// The body of `op` on pairs of float registers.
pub(crate) const fn op(op: Op) -> Option<Complex> {
    Some(match op {
        Op::Add => Binary(|b, x, y| (b.fadd(x.0, y.0), b.fadd(x.1, y.1))),
        Op::Subtract => Binary(|b, x, y| (b.fsub(x.0, y.0), b.fsub(x.1, y.1))),
        Op::Multiply => Binary(multiply),
        Op::MultiplyNoNan => Binary(|b, x, y| {
            let (product, zero) = (multiply(b, x, y), b.float(b.ty(x.0), 0.0));
            let mut is_zero = |z: Pair| {
                let (re, im) = (b.feq(z.0, zero), b.feq(z.1, zero));
                b.and(re, im)
            };
            let (x, y) = (is_zero(x), is_zero(y));
            let vanishes = b.or(x, y);
            (b.select(vanishes, zero, product.0), b.select(vanishes, zero, product.1))
        }),
        Op::Square => Unary(|b, x| multiply(b, x, x)),
        Op::MulAdd => Ternary(mul_add),
        Op::Divide => Binary(divide::divide),
        Op::Reciprocal => Unary(divide::reciprocal),
        Op::Negative => Unary(|b, x| (b.fneg(x.0), b.fneg(x.1))),
        Op::Positive => Unary(|_, x| x),
        Op::Conj => Unary(|b, x| (x.0, b.fneg(x.1))),
        Op::Real => Part(|_, x| x.0),
        Op::Imag => Part(|_, x| x.1),
        Op::Angle => Part(|b, x| atan::atan2(b, x.1, x.0)),
        Op::Abs => Part(root::modulus),
        Op::Sign => Unary(root::sign),
        Op::Sqrt => Unary(root::sqrt),
        Op::Sin => Unary(hyperbolic::sin),
        Op::Cos => Unary(hyperbolic::cos),
        Op::Tan => Unary(hyperbolic::tan),
        Op::Sinh => Unary(hyperbolic::sinh),
        Op::Cosh => Unary(hyperbolic::cosh),
        Op::Tanh => Unary(hyperbolic::tanh),
        Op::Asin => Unary(inverse::asin),
        Op::Acos => Unary(inverse::acos),
        Op::Atan => Unary(inverse::atan),
        Op::Asinh => Unary(inverse::asinh),
        Op::Acosh => Unary(inverse::acosh),
        Op::Atanh => Unary(inverse::atanh),
        Op::Rsqrt => Unary(root::rsqrt),
        Op::Pow | Op::FloatPower => Binary(pow::pow),
        Op::Exp => Unary(exp::exp),
        Op::Exp2 => Unary(exp::exp2),
        Op::Expm1 => Unary(exp::expm1),
        Op::Log => Unary(log::log),
        Op::Log2 => Unary(log::log2),
        Op::Log10 => Unary(log::log10),
        Op::Log1p => Unary(log::log1p),
        Op::Minimum => Binary(|b, x, y| extreme(b, x, y, false)),
        Op::Maximum => Binary(|b, x, y| extreme(b, x, y, true)),
        Op::Fmin => Binary(|b, x, y| number_of(b, x, y, false)),
        Op::Fmax => Binary(|b, x, y| number_of(b, x, y, true)),
        Op::NanToNum => Unary(|b, x| {
            let dtype = if b.ty(x.0) == PrimType::F32 { DType::C64 } else { DType::C128 };
            (finite::nan_to_num(b, x.0, dtype), finite::nan_to_num(b, x.1, dtype))
        }),
        Op::IsClose => Closeness(finite::isclose_complex),
        Op::Round | Op::Rint => Unary(|b, x| (b.fround(x.0), b.fround(x.1))),
        Op::Equal => Relation(equal),
        Op::NotEqual => Relation(|b, x, y| {
            let equal = equal(b, x, y);
            b.not(equal)
        }),
        Op::Less => Relation(|b, x, y| before(b, x, y, false)),
        Op::LessEqual => Relation(|b, x, y| before(b, x, y, true)),
        Op::Greater => Relation(|b, x, y| before(b, y, x, false)),
        Op::GreaterEqual => Relation(|b, x, y| before(b, y, x, true)),
        Op::IsNan => Part(|b, x| {
            let (re, im) = (is_nan(b, x.0), is_nan(b, x.1));
            b.or(re, im)
        }),
        Op::IsInf => Part(|b, x| {
            let (re, im) = (is_inf(b, x.0), is_inf(b, x.1));
            b.or(re, im)
        }),
        Op::IsFinite => Part(|b, x| {
            let (re, im) = (is_finite(b, x.0), is_finite(b, x.1));
            b.and(re, im)
        }),
        _ => return None,
    })
}

fn multiply(b: &mut BodyBuilder, x: Pair, y: Pair) -> Pair {
    let (ac, bd) = (b.fmul(x.0, y.0), b.fmul(x.1, y.1));
    let (ad, bc) = (b.fmul(x.0, y.1), b.fmul(x.1, y.0));
    (b.fsub(ac, bd), b.fadd(ad, bc))
}

fn mul_add(b: &mut BodyBuilder, x: Pair, y: Pair, z: Pair) -> Pair {
    let minus = b.fneg(x.1);
    let re = b.fma(minus, y.1, z.0);
    let im = b.fma(x.1, y.0, z.1);
    (b.fma(x.0, y.0, re), b.fma(x.0, y.1, im))
}

fn equal(b: &mut BodyBuilder, x: Pair, y: Pair) -> Reg {
    let (re, im) = (b.feq(x.0, y.0), b.feq(x.1, y.1));
    b.and(re, im)
}

/// A mask that neither imaginary part is NaN.
fn ordered(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let (x, y) = (b.feq(x, x), b.feq(y, y));
    b.and(x, y)
}

/// `x < y` or, with `or_equal`, `x <= y`, by real, then imaginary part; false if any part is NaN.
fn before(b: &mut BodyBuilder, x: Pair, y: Pair, or_equal: bool) -> Reg {
    let re = b.flt(x.0, y.0);
    let comparable = ordered(b, x.1, y.1);
    let first = b.and(re, comparable);
    let tie = b.feq(x.0, y.0);
    let im = if or_equal { b.fle(x.1, y.1) } else { b.flt(x.1, y.1) };
    let second = b.and(tie, im);
    b.or(first, second)
}

/// The smaller or larger operand, or the one without NaN if the other has one.
fn number_of(b: &mut BodyBuilder, x: Pair, y: Pair, larger: bool) -> Pair {
    let (x_alone, y_alone) = nan_alone(b, x, y);
    let both = extreme(b, x, y, larger);
    let one = select_pair(b, y_alone, x, both);
    select_pair(b, x_alone, y, one)
}

/// Masks that only `x` has a NaN, and that only `y` has one.
fn nan_alone(b: &mut BodyBuilder, x: Pair, y: Pair) -> (Reg, Reg) {
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

/// The smaller or larger operand: the one with a NaN if only one has any. If neither precedes the other (both have a NaN, or
/// differ at most in signs of zeros), it is computed by part, which keeps the op commutative and idempotent bit for bit.
fn extreme(b: &mut BodyBuilder, x: Pair, y: Pair, larger: bool) -> Pair {
    let x_first = before(b, x, y, false);
    let y_first = before(b, y, x, false);
    let (take_x, take_y) = if larger { (y_first, x_first) } else { (x_first, y_first) };
    let (x_alone, y_alone) = nan_alone(b, x, y);
    let (take_x, take_y) = (b.or(take_x, x_alone), b.or(take_y, y_alone));
    let parts = if larger { (b.fmax(x.0, y.0), b.fmax(x.1, y.1)) } else { (b.fmin(x.0, y.0), b.fmin(x.1, y.1)) };
    let parts = select_pair(b, take_y, y, parts);
    select_pair(b, take_x, x, parts)
}
