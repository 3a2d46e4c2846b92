//! Degrees and radians: products with a constant of more than a float's precision, on `f32` and `f64`.
//!
//! With `c = high + low`, `x high + RN(x low)` rounded once is the correctly rounded `x c` except for arguments whose exact
//! product is next to the middle of two floats (Brisebarre and Muller, Correctly rounded multiplication by arbitrary
//! precision constants, 2008).

use crate::kit::util::{copysign, is_finite};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// `x` radians in degrees.
pub(crate) fn degrees(b: &mut BodyBuilder, x: Reg) -> Reg {
    let single = (57.295780181884766, -6.688024427603523e-7);
    times(b, x, single, (57.29577951308232, -1.9878495670576283e-15))
}

/// `x` degrees in radians.
pub(crate) fn radians(b: &mut BodyBuilder, x: Reg) -> Reg {
    let single = (0.01745329238474369, 1.3519960151420207e-10);
    times(b, x, single, (0.017453292519943295, 2.9486522708701687e-19))
}

fn times(b: &mut BodyBuilder, x: Reg, single: (f64, f64), double: (f64, f64)) -> Reg {
    let ty = b.ty(x);
    let ((high, low), lift) = if ty == PrimType::F32 { (single, 60) } else { (double, 500) };
    // On the magnitude, since a product -0 and a rest +0 would add up to +0.
    let magnitude = b.fabs(x);
    // Small arguments are scaled up so that the low product is not subnormal.
    let [up, down, one] = [lift, -lift, 0].map(|exponent| b.float(ty, 2f64.powi(exponent)));
    let small = b.flt(magnitude, down);
    let scale = b.select(small, up, one);
    let back = b.select(small, down, one);
    let lifted = b.fmul(magnitude, scale);
    let (high, low) = (b.float(ty, high), b.float(ty, low));
    let rest = b.fmul(lifted, low);
    let product = b.fma(lifted, high, rest);
    let product = b.fmul(product, back);
    // An infinite rest would have the other sign.
    let finite = is_finite(b, x);
    let product = b.select(finite, product, magnitude);
    copysign(b, product, x)
}
