//! Saturating sums and differences of integers.

use ndjit_ir::body::{BodyBuilder, Reg};

/// The sum of unsigned integers: one that wrapped is less than its operands.
pub(crate) fn add_unsigned(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let sum = b.iadd(x, y);
    let wrapped = b.ult(sum, x);
    let most = b.int(b.ty(x), -1);
    b.select(wrapped, most, sum)
}

/// The sum of signed integers: it wrapped if its sign differs from that of both operands.
pub(crate) fn add_signed(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let sum = b.iadd(x, y);
    let (from_x, from_y) = (b.xor(sum, x), b.xor(sum, y));
    let wrapped = b.and(from_x, from_y);
    limit(b, wrapped, x, sum)
}

/// The difference of signed integers: it wrapped if the operands' signs differ and its sign is not that of `x`.
pub(crate) fn subtract_signed(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let difference = b.isub(x, y);
    let (from_x, operands) = (b.xor(difference, x), b.xor(x, y));
    let wrapped = b.and(from_x, operands);
    limit(b, wrapped, x, difference)
}

/// The limit on the side of `x` if the sign bit of `wrapped` is set, else `result`.
fn limit(b: &mut BodyBuilder, wrapped: Reg, x: Reg, result: Reg) -> Reg {
    let ty = b.ty(x);
    let zero = b.int(ty, 0);
    let wrapped = b.slt(wrapped, zero);
    let sign_shift = b.int(ty, i64::from(ty.bits()) - 1);
    let sign = b.sshr(x, sign_shift);
    let most = b.bits(ty, ty.mask() >> 1);
    let limit = b.xor(sign, most);
    b.select(wrapped, limit, result)
}
