//! Powers and common divisors of integers. Everything wraps; nothing traps; every loop is bounded by the width.

use ndjit_ir::body::{BodyBuilder, Reg};

/// `x` to the power `y` by repeated squaring. A negative exponent gives the exact result truncated, and 0 for a base of 0.
pub(crate) fn pow(b: &mut BodyBuilder, x: Reg, y: Reg, signed: bool) -> Reg {
    let ty = b.ty(x);
    let (zero, one) = (b.int(ty, 0), b.int(ty, 1));
    let exponent = if signed { b.smax(y, zero) } else { y };
    let power = b.repeat(ty.bits(), &[one, x, exponent], &[], |b, state, _| {
        let (zero, one) = (b.int(ty, 0), b.int(ty, 1));
        let (power, base, exponent) = (state[0], state[1], state[2]);
        let bit = b.and(exponent, one);
        let bit = b.ine(bit, zero);
        let product = b.imul(power, base);
        let power = b.select(bit, product, power);
        let base = b.imul(base, base);
        let left = b.ushr(exponent, one);
        (b.ine(exponent, zero), vec![power, base, left])
    })[0];
    if !signed {
        return power;
    }
    // Only the reciprocals of 1 and -1 do not truncate to 0; |y| has the last bit of y.
    let minus_one = b.int(ty, -1);
    let bit = b.and(y, one);
    let odd = b.ine(bit, zero);
    let of_minus_one = b.select(odd, minus_one, one);
    let (is_one, is_minus_one) = (b.ieq(x, one), b.ieq(x, minus_one));
    let inverse = b.select(is_minus_one, of_minus_one, zero);
    let inverse = b.select(is_one, one, inverse);
    let negative = b.slt(y, zero);
    b.select(negative, inverse, power)
}

/// Greatest common divisor of the magnitudes.
pub(crate) fn gcd(b: &mut BodyBuilder, x: Reg, y: Reg, signed: bool) -> Reg {
    let (x, y) = (magnitude(b, x, signed), magnitude(b, y, signed));
    gcd_unsigned(b, x, y)
}

/// Least common multiple of the magnitudes; `0 / 0` is 0, so it is 0 if both are.
pub(crate) fn lcm(b: &mut BodyBuilder, x: Reg, y: Reg, signed: bool) -> Reg {
    let (x, y) = (magnitude(b, x, signed), magnitude(b, y, signed));
    let divisor = gcd_unsigned(b, x, y);
    let quotient = b.udiv(x, divisor);
    b.imul(quotient, y)
}

/// `|x|` as an unsigned integer, that of `MIN` too.
fn magnitude(b: &mut BodyBuilder, x: Reg, signed: bool) -> Reg {
    if !signed {
        return x;
    }
    let zero = b.int(b.ty(x), 0);
    let negated = b.isub(zero, x);
    b.smax(x, negated)
}

/// Euclid's algorithm. Two steps at least halve the larger operand (Lamé: at most 1.4405 steps per bit, and one to order
/// the operands).
fn gcd_unsigned(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let ty = b.ty(x);
    let steps = ty.bits() * 3 / 2 + 1;
    b.repeat(steps, &[x, y], &[], |b, state, _| {
        let zero = b.int(ty, 0);
        let rest = b.urem(state[0], state[1]);
        (b.ine(state[1], zero), vec![state[1], rest])
    })[0]
}
