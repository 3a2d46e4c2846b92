//! Counting and rotating the bits of integers, without a loop or a table.

use ndjit_ir::body::{BodyBuilder, Reg};

/// The bits of `x` rotated by `n` places, an `I32`.
pub(crate) fn rotate(b: &mut BodyBuilder, x: Reg, n: Reg, left: bool) -> Reg {
    let ty = b.ty(x);
    let of = b.ty(n);
    let (mask, zero) = (b.int(of, i64::from(ty.bits()) - 1), b.int(of, 0));
    let minus = b.isub(zero, n);
    // Widths are powers of two, so the low bits are the count modulo the width.
    let [count, back] = [n, minus].map(|n| {
        let count = b.and(n, mask);
        if of.bits() < ty.bits() { b.zext(count, ty) } else { b.itrunc(count, ty) }
    });
    let (up, down) = if left { (count, back) } else { (back, count) };
    let (high, low) = (b.shl(x, up), b.ushr(x, down));
    b.or(high, low)
}

/// The number of one bits: sums of pairs, of nibbles, then of bytes and wider fields side by side (Warren, Hacker's Delight,
/// section 5-1).
pub(crate) fn ones(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (one, two, four) = (b.int(ty, 1), b.int(ty, 2), b.int(ty, 4));
    let alternate = b.bits(ty, 0x5555_5555_5555_5555);
    let pairs = b.bits(ty, 0x3333_3333_3333_3333);
    let nibbles = b.bits(ty, 0x0f0f_0f0f_0f0f_0f0f);
    let half = b.ushr(x, one);
    let half = b.and(half, alternate);
    let sums = b.isub(x, half);
    let high = b.ushr(sums, two);
    let (high, low) = (b.and(high, pairs), b.and(sums, pairs));
    let sums = b.iadd(high, low);
    let high = b.ushr(sums, four);
    let sums = b.iadd(sums, high);
    let mut sums = b.and(sums, nibbles);
    let mut width = 8;
    while width < ty.bits() {
        let shift = b.int(ty, width.into());
        let high = b.ushr(sums, shift);
        sums = b.iadd(sums, high);
        width *= 2;
    }
    // The fields above the lowest hold partial sums.
    let field = b.int(ty, 0x7f);
    b.and(sums, field)
}

/// The number of zero bits above the highest one bit; the width for 0.
pub(crate) fn leading_zeros(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let mut filled = x;
    let mut width = 1;
    while width < ty.bits() {
        let shift = b.int(ty, width.into());
        let shifted = b.ushr(filled, shift);
        filled = b.or(filled, shifted);
        width *= 2;
    }
    let above = b.not(filled);
    ones(b, above)
}

/// The number of zero bits below the lowest one bit; the width for 0.
pub(crate) fn trailing_zeros(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let one = b.int(ty, 1);
    let less = b.isub(x, one);
    let flipped = b.not(x);
    let below = b.and(less, flipped);
    ones(b, below)
}
