//! Double-word numbers: unrounded sums of two floats of which the second is far smaller (Joldes, Muller and Popescu
//! 2017), for functions that are products or differences of others.

use crate::kit::util::{fast_two_sum, two_sum};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// A float and its remainder.
pub(crate) type DoubleWord = (Reg, Reg);

/// Rounds `high + low`, which are two doubles, to two floats of type `ty`.
pub(crate) fn constant(b: &mut BodyBuilder, ty: PrimType, (high, low): (f64, f64)) -> DoubleWord {
    if ty == PrimType::F64 {
        return (b.float(ty, high), b.float(ty, low));
    }
    let rounded = f64::from(high as f32);
    (b.float(ty, rounded), b.float(ty, high - rounded))
}

/// Rounds to the nearest float.
pub(crate) fn rounded(b: &mut BodyBuilder, x: DoubleWord) -> Reg {
    b.fadd(x.0, x.1)
}

/// Computes the product of two floats: exact if its last bit is representable.
pub(crate) fn exact_product(b: &mut BodyBuilder, x: Reg, y: Reg) -> DoubleWord {
    let product = b.fmul(x, y);
    let minus = b.fneg(product);
    (product, b.fma(x, y, minus))
}

/// Computes the product of a double-word number and a float.
pub(crate) fn times(b: &mut BodyBuilder, x: DoubleWord, y: Reg) -> DoubleWord {
    let (product, error) = exact_product(b, x.0, y);
    (product, b.fma(x.1, y, error))
}

/// Computes the product of two double-word numbers.
pub(crate) fn product(b: &mut BodyBuilder, x: DoubleWord, y: DoubleWord) -> DoubleWord {
    let (product, error) = times(b, x, y.0);
    (product, b.fma(x.0, y.1, error))
}

/// Computes the product of a double-word number and a constant, given as two floats of the format.
pub(crate) fn times_constant(b: &mut BodyBuilder, x: DoubleWord, (high, low): (f64, f64)) -> DoubleWord {
    let ty = b.ty(x.0);
    let constant = (b.float(ty, high), b.float(ty, low));
    product(b, x, constant)
}

/// Computes the sum of two double-word numbers.
pub(crate) fn sum(b: &mut BodyBuilder, x: DoubleWord, y: DoubleWord) -> DoubleWord {
    let (sum, error) = two_sum(b, x.0, y.0);
    let low = b.fadd(x.1, y.1);
    let low = b.fadd(error, low);
    fast_two_sum(b, sum, low)
}

/// Computes the difference of two double-word numbers.
pub(crate) fn difference(b: &mut BodyBuilder, x: DoubleWord, y: DoubleWord) -> DoubleWord {
    let minus = negative(b, y);
    sum(b, x, minus)
}

/// Computes `-x`.
pub(crate) fn negative(b: &mut BodyBuilder, x: DoubleWord) -> DoubleWord {
    (b.fneg(x.0), b.fneg(x.1))
}

/// Computes the square root; NaN for 0.
pub(crate) fn sqrt(b: &mut BodyBuilder, x: DoubleWord) -> DoubleWord {
    let ty = b.ty(x.0);
    let root = b.fsqrt(x.0);
    let minus = b.fneg(root);
    let rest = b.fma(minus, root, x.0);
    let rest = b.fadd(rest, x.1);
    let half = b.float(ty, 0.5);
    let slope = b.fdiv(half, root);
    (root, b.fmul(rest, slope))
}

/// Computes the nearest float to a quotient, with few exceptions.
pub(crate) fn quotient(b: &mut BodyBuilder, x: DoubleWord, y: DoubleWord) -> Reg {
    let (quotient, rest, inverse) = quotient_and_rest(b, x, y);
    b.fma(rest, inverse, quotient)
}

/// Computes a quotient as a double-word number.
pub(crate) fn quotient_of(b: &mut BodyBuilder, x: DoubleWord, y: DoubleWord) -> DoubleWord {
    let (quotient, rest, inverse) = quotient_and_rest(b, x, y);
    (quotient, b.fmul(rest, inverse))
}

/// Computes the nearest float to `1 / y`, with few exceptions.
pub(crate) fn reciprocal(b: &mut BodyBuilder, y: DoubleWord) -> Reg {
    let one = b.float(b.ty(y.0), 1.0);
    let inverse = b.fdiv(one, y.0);
    let minus = b.fneg(inverse);
    let rest = b.fma(minus, y.0, one);
    let rest = b.fma(minus, y.1, rest);
    b.fma(rest, inverse, inverse)
}

/// Computes the rounded quotient, its remainder, and the factor of the remainder.
fn quotient_and_rest(b: &mut BodyBuilder, x: DoubleWord, y: DoubleWord) -> (Reg, Reg, Reg) {
    let one = b.float(b.ty(x.0), 1.0);
    let inverse = b.fdiv(one, y.0);
    let quotient = b.fmul(x.0, inverse);
    let minus = b.fneg(quotient);
    let rest = b.fma(minus, y.0, x.0);
    let low = b.fma(minus, y.1, x.1);
    (quotient, b.fadd(rest, low), inverse)
}
