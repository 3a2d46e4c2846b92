//! Division by a divisor that a loop does not change: products with its reciprocal, which is computed once.
//!
//! All instructions that depend only on the divisor are separate from the others, so that they move out of the loop; the only divisions
//! are among them. `m` is `floor((2^w - 1) / d)` in words of `w` bits, so it is 0 for the divisor 0. There are two methods:
//!
//! - In words twice as wide as the operands: `x / d = (x + 1) * m >> w` is exact, and so is the remainder
//!   `(x * (m + 1) mod 2^w) * d >> w` (Lemire, Kaser and Kurz 2019, <https://arxiv.org/abs/1902.01961>).
//! - In words of the operands: `x * m >> w` is the quotient or one less; the remainder shows which.
//!
//! Signed operands become unsigned ones by adding a bias, which the divisor determines; quotients are floored.

use ndjit_ir::PrimType;
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::op::Op;

/// The result of `op`, a division, for an invariant divisor `y`, in words of this type: wide ones or those of the operands.
pub(crate) fn by_reciprocal(
    b: &mut BodyBuilder,
    op: Op,
    signed: bool,
    (x, y): (Reg, Reg),
    word: PrimType,
) -> Option<Reg> {
    let ty = b.ty(x);
    let wide = word.bits() >= 2 * ty.bits();
    if !wide && word != ty {
        return None;
    }
    Some(match (op, signed) {
        (Op::FloorDivide, false) if wide => {
            let (x, y) = (b.zext(x, word), b.zext(y, word));
            let quotient = wide_quotient(b, x, y);
            b.itrunc(quotient, ty)
        }
        (Op::FloorDivide, false) => quotient(b, x, y),
        (Op::Remainder | Op::Fmod, false) if wide => {
            let (x, y) = (b.zext(x, word), b.zext(y, word));
            let remainder = wide_remainder(b, x, y);
            b.itrunc(remainder, ty)
        }
        (Op::Remainder | Op::Fmod, false) => remainder(b, x, y),
        (Op::FloorDivide, true) if wide => wide_floored_quotient(b, x, y, word),
        (Op::FloorDivide, true) => floored_quotient(b, x, y),
        (Op::Remainder, true) if wide => wide_floored_remainder(b, x, y, word),
        (Op::Remainder, true) => floored_remainder(b, x, y),
        (Op::Fmod, true) => {
            // The remainder of magnitudes, with the sign of `x`.
            let (x, y) = (b.sext(x, word), b.sext(y, word));
            let (sign, divisor_sign) = (sign(b, x), sign(b, y));
            let (size, divisor) = (with_sign(b, x, sign), with_sign(b, y, divisor_sign));
            let remainder = if wide { wide_remainder(b, size, divisor) } else { remainder(b, size, divisor) };
            let remainder = with_sign(b, remainder, sign);
            b.itrunc(remainder, ty)
        }
        _ => return None,
    })
}

/// All ones for negative integers, else 0.
fn sign(b: &mut BodyBuilder, x: Reg) -> Reg {
    let last = b.int(b.ty(x), i64::from(b.ty(x).bits() - 1));
    b.sshr(x, last)
}

/// `-x` where the sign is all ones, `x` where it is 0.
fn with_sign(b: &mut BodyBuilder, x: Reg, sign: Reg) -> Reg {
    let flipped = b.xor(x, sign);
    b.isub(flipped, sign)
}

/// `floor((2^w - 1) / d)`; 0 for the divisor 0.
fn reciprocal(b: &mut BodyBuilder, d: Reg) -> Reg {
    let most = b.int(b.ty(d), -1);
    b.udiv(most, d)
}

/// `x / d` for operands of at most half the width. With `d m = 2^w - e`, `1 <= e <= d`, the product is less than `(x + 1) / d` by at most
/// `e (x + 1) / (d 2^w) <= 1 / d`.
fn wide_quotient(b: &mut BodyBuilder, x: Reg, d: Reg) -> Reg {
    let m = reciprocal(b, d);
    let one = b.int(b.ty(x), 1);
    let next = b.iadd(x, one);
    b.umulhi(next, m)
}

/// `x mod d` for operands of at most half the width: the fraction of `x / d`, times `d`. `m + 1` is 0 for the divisor 1, and 1 for 0.
fn wide_remainder(b: &mut BodyBuilder, x: Reg, d: Reg) -> Reg {
    let m = reciprocal(b, d);
    let one = b.int(b.ty(x), 1);
    let m = b.iadd(m, one);
    let fraction = b.imul(x, m);
    b.umulhi(fraction, d)
}

/// A wide word `k`, and `k |y|`: the least multiple of the divisor's magnitude from `2^(n - 1)` on, for operands of `n` bits. Sums with
/// it are not negative, and less than `2^(n + 1)`; magnitudes are at most `2^(n - 1)`, so that the bounds of unsigned operands hold.
fn wide_bias(b: &mut BodyBuilder, d: Reg, bits: u32) -> (Reg, Reg) {
    let before = b.int(b.ty(d), (1i64 << (bits - 1)) - 1);
    let most = b.iadd(d, before);
    let k = b.udiv(most, d);
    (k, b.imul(k, d))
}

fn wide_floored_quotient(b: &mut BodyBuilder, x: Reg, y: Reg, word: PrimType) -> Reg {
    let ty = b.ty(x);
    let (x, y) = (b.sext(x, word), b.sext(y, word));
    let sign = sign(b, y);
    let d = with_sign(b, y, sign);
    let m = reciprocal(b, d);
    let (k, bias) = wide_bias(b, d, ty.bits());
    // The bias, 1 for the quotient, and 1 if the number is negated.
    let one = b.int(word, 1);
    let more = b.iadd(bias, one);
    let more = b.isub(more, sign);
    let flipped = b.xor(x, sign);
    let next = b.iadd(flipped, more);
    let quotient = b.umulhi(next, m);
    let quotient = b.isub(quotient, k);
    b.itrunc(quotient, ty)
}

fn wide_floored_remainder(b: &mut BodyBuilder, x: Reg, y: Reg, word: PrimType) -> Reg {
    let ty = b.ty(x);
    let (x, y) = (b.sext(x, word), b.sext(y, word));
    let sign = sign(b, y);
    let d = with_sign(b, y, sign);
    let m = reciprocal(b, d);
    let one = b.int(word, 1);
    let m = b.iadd(m, one);
    let (_, bias) = wide_bias(b, d, ty.bits());
    // The fraction of `(±x + bias) / d`: sign and bias are in invariant factors.
    let (factor, more) = (with_sign(b, m, sign), b.imul(bias, m));
    let fraction = b.imul(x, factor);
    let fraction = b.iadd(fraction, more);
    let remainder = b.umulhi(fraction, d);
    let remainder = with_sign(b, remainder, sign);
    b.itrunc(remainder, ty)
}

/// The quotient or one less, and the remainder, less than `2 d`: `x m / 2^w` is less than `x / d` by less than 1.
fn estimate(b: &mut BodyBuilder, x: Reg, d: Reg) -> (Reg, Reg) {
    let m = reciprocal(b, d);
    let quotient = b.umulhi(x, m);
    let product = b.imul(quotient, d);
    (quotient, b.isub(x, product))
}

fn quotient(b: &mut BodyBuilder, x: Reg, d: Reg) -> Reg {
    let one = b.int(b.ty(x), 1);
    let (quotient, remainder) = estimate(b, x, d);
    // No remainder is above that of the divisor 0.
    let last = b.isub(d, one);
    let above = b.ult(last, remainder);
    let next = b.iadd(quotient, one);
    b.select(above, next, quotient)
}

fn remainder(b: &mut BodyBuilder, x: Reg, d: Reg) -> Reg {
    let d = at_least_one(b, d);
    let (_, remainder) = estimate(b, x, d);
    let rest = b.isub(remainder, d);
    if b.ty(x) == PrimType::I64 {
        // The comparison does not wait for the difference.
        let inside = b.ult(remainder, d);
        return b.select(inside, remainder, rest);
    }
    // A difference below 0 wraps to a larger number.
    b.umin(remainder, rest)
}

/// The remainder by 1 is 0, as that by 0 must be.
fn at_least_one(b: &mut BodyBuilder, d: Reg) -> Reg {
    let one = b.int(b.ty(d), 1);
    b.umax(d, one)
}

/// An operand plus a bias as an unsigned word: `x + 2^(w - 1)`, or `-x + 2^(w - 1) - 1` for a negative divisor. Returns it with the
/// quotient and remainder of the bias. The divisor `d` is a magnitude.
fn biased(b: &mut BodyBuilder, x: Reg, d: Reg, sign: Reg) -> (Reg, Reg, Reg) {
    let ty = b.ty(x);
    let least = b.int(ty, i64::MIN >> (64 - ty.bits()));
    let bias = b.iadd(least, sign);
    let k = b.udiv(bias, d);
    let product = b.imul(k, d);
    let rest = b.isub(bias, product);
    let flip = b.xor(least, sign);
    (b.xor(x, flip), k, rest)
}

/// Chooses the amount to subtract: `less` if the remainder is below that of the bias, `more` if it exceeds it by `d` or more, else `same`.
fn corrected(b: &mut BodyBuilder, remainder: Reg, (rest, d): (Reg, Reg), [less, same, more]: [Reg; 3]) -> Reg {
    let one = b.int(b.ty(d), 1);
    let last = b.isub(d, one);
    let last = b.iadd(rest, last);
    let (below, above) = (b.ult(remainder, rest), b.ult(last, remainder));
    let amount = b.select(above, more, same);
    b.select(below, less, amount)
}

fn floored_quotient(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let sign = sign(b, y);
    let d = with_sign(b, y, sign);
    let (x, k, rest) = biased(b, x, d, sign);
    // For the divisor 0 nothing is below or above.
    let zero = b.int(b.ty(x), 0);
    let by_zero = b.ieq(d, zero);
    let rest = b.select(by_zero, zero, rest);
    let (quotient, remainder) = estimate(b, x, d);
    let one = b.int(b.ty(x), 1);
    let (next, previous) = (b.iadd(k, one), b.isub(k, one));
    let amount = corrected(b, remainder, (rest, d), [next, k, previous]);
    b.isub(quotient, amount)
}

fn floored_remainder(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let sign = sign(b, y);
    let d = with_sign(b, y, sign);
    let d = at_least_one(b, d);
    let (x, _, rest) = biased(b, x, d, sign);
    let (_, remainder) = estimate(b, x, d);
    let (less, more) = (b.isub(rest, d), b.iadd(rest, d));
    let amount = corrected(b, remainder, (rest, d), [less, rest, more]);
    let remainder = b.isub(remainder, amount);
    with_sign(b, remainder, sign)
}
