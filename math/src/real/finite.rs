//! Closeness of floats, and replacement of values that are not finite.

use crate::complex::root::modulus;
use crate::kit::util::{Pair, at_least, at_most, is_finite, is_nan};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::{DType, PrimType};

/// `x` with NaN as 0 and infinities as the largest number of `dtype`, the dtype of `x`.
pub(crate) fn nan_to_num(b: &mut BodyBuilder, x: Reg, dtype: DType) -> Reg {
    let ty = b.ty(x);
    let largest = match dtype.real() {
        DType::F16 => 65504.0,
        // The upper half of an f32.
        DType::Bf16 => f64::from(f32::from_bits(0x7f7f_0000)),
        _ if ty == PrimType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let (low, high) = (b.float(ty, -largest), b.float(ty, largest));
    let kept = at_most(b, x, high);
    let kept = at_least(b, kept, low);
    let (nan, zero) = (is_nan(b, x), b.float(ty, 0.0));
    b.select(nan, zero, kept)
}

/// A mask that `|x - y| <= atol + rtol |y|`; equal infinities are close.
pub(crate) fn isclose(b: &mut BodyBuilder, [x, y, rtol, atol]: [Reg; 4]) -> Reg {
    let (difference, size) = (b.fsub(x, y), b.fabs(y));
    let distance = b.fabs(difference);
    let (x_finite, y_finite) = (is_finite(b, x), is_finite(b, y));
    let finite = b.and(x_finite, y_finite);
    let equal = b.feq(x, y);
    within(b, distance, size, [rtol, atol], finite, equal)
}

/// The same for complex numbers, by moduli, with the real parts of the tolerances.
pub(crate) fn isclose_complex(b: &mut BodyBuilder, [x, y, rtol, atol]: [Pair; 4]) -> Reg {
    let difference = (b.fsub(x.0, y.0), b.fsub(x.1, y.1));
    let (distance, size) = (modulus(b, difference), modulus(b, y));
    let [re, im, other_re, other_im] = [x.0, x.1, y.0, y.1].map(|part| is_finite(b, part));
    let (x_finite, y_finite) = (b.and(re, im), b.and(other_re, other_im));
    let finite = b.and(x_finite, y_finite);
    let (re, im) = (b.feq(x.0, y.0), b.feq(x.1, y.1));
    let equal = b.and(re, im);
    within(b, distance, size, [rtol.0, atol.0], finite, equal)
}

fn within(b: &mut BodyBuilder, distance: Reg, size: Reg, [rtol, atol]: [Reg; 2], finite: Reg, equal: Reg) -> Reg {
    let scaled = b.fmul(rtol, size);
    let bound = b.fadd(atol, scaled);
    let near = b.fle(distance, bound);
    let near = b.and(finite, near);
    b.or(equal, near)
}
