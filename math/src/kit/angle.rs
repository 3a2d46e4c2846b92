//! Angles as sums of two floats: whole quarter turns plus or minus an arc, with one significant rounding.

use crate::kit::reduce::pi_2;
use crate::kit::util::{fast_two_sum, xor_sign};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// Returns `count` times pi/2, for `count` 0, 1 or 2.
pub(crate) fn quarter_turns(b: &mut BodyBuilder, ty: PrimType, count: u8) -> (Reg, Reg) {
    let [high, low, _] = pi_2(ty).map(|part| f64::from(count) * part);
    (b.float(ty, high), b.float(ty, low))
}

/// An arc `high + (low + x y)`, whose product is computed last: it is rounded once.
pub(crate) struct Arc {
    pub high: Reg,
    pub low: Reg,
    pub x: Reg,
    pub y: Reg,
}

/// Computes `base + arc`, or `base - arc` where `backwards`, in one float; `base` is 0 or not smaller than the arc.
pub(crate) fn placed(b: &mut BodyBuilder, base: (Reg, Reg), arc: &Arc, backwards: Reg) -> Reg {
    let ty = b.ty(arc.high);
    let int = ty.as_int();
    let top = b.int(int, i64::from(ty.bits()) - 1);
    let sign = b.mask(backwards, int);
    let sign = b.shl(sign, top);
    let [high, low, x] = [arc.high, arc.low, arc.x].map(|part| xor_sign(b, part, sign));
    let (sum, error) = fast_two_sum(b, base.0, high);
    let low = b.fadd(base.1, low);
    let low = b.fadd(low, error);
    let low = b.fma(x, arc.y, low);
    b.fadd(sum, low)
}
