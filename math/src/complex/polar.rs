//! Complex numbers from their parts or from modulus and angle, and the angle of a real number.

use crate::kit::util::{Pair, copysign};
use crate::real::trig;
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::op::Op;

/// The emitter of an op that makes a complex number from two floats; `None` for other ops.
pub(crate) const fn op(op: Op) -> Option<fn(&mut BodyBuilder, Reg, Reg) -> Pair> {
    match op {
        Op::Complex => Some(|_, re, im| (re, im)),
        Op::Polar => Some(polar),
        _ => None,
    }
}

/// `r cos(theta) + r sin(theta) i`.
fn polar(b: &mut BodyBuilder, r: Reg, theta: Reg) -> Pair {
    let (sin, cos) = trig::sin_cos(b, theta);
    (b.fmul(r, cos), b.fmul(r, sin))
}

/// The angle of a real number: 0, or pi if its sign bit is set; NaN for NaN.
pub(crate) fn angle_of_real(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (one, zero, pi) = (b.float(ty, 1.0), b.float(ty, 0.0), b.float(ty, std::f64::consts::PI));
    let side = copysign(b, one, x);
    let left = b.flt(side, zero);
    let angle = b.select(left, pi, zero);
    let number = b.feq(x, x);
    b.select(number, angle, x)
}
