//! `sin(pi x) / (pi x)` on `f32` and `f64`.
//!
//! The distance `v` of `|x|` from the nearest integer is exact for every `x`, and `|sin(pi x)| = sin(pi v)`; the sign is that of the
//! distance from the nearest even integer. `sin(pi v) / pi = v + v^3 s(v^2)` leaves a quotient by `x` itself. `s` is an own minimax fit by
//! a Remez exchange in 250-bit arithmetic over `0 <= v <= 1/2`, weighted for the relative error of the sine, which is 2^-32.0 (`f32`)
//! and 2^-60.4 (`f64`) after rounding the coefficients.

use crate::kit::double_word::quotient;
use crate::kit::util::{at_most, fast_two_sum, polynomial};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

const S_SINGLE: &[f64] =
    &[-1.644934058189392, 0.8117420077323914, -0.19074538350105286, 0.02610410785369873, -0.002215636894106865];

const S_DOUBLE: &[f64] = &[
    -1.6449340668482264,
    0.8117424252833462,
    -0.19075182412167532,
    0.026147847807942992,
    -0.002346080913293164,
    0.0001484279165833121,
    -6.972267319145329e-06,
    2.451832851838431e-07,
];

/// `sin(pi x) / (pi x)`, 1 at 0.
pub(crate) fn sinc(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    // From here on all floats are even integers.
    let (even, s) = if ty == PrimType::F32 { (24, S_SINGLE) } else { (53, S_DOUBLE) };
    let even = b.float(ty, 2f64.powi(even));
    let (zero, half, one, minus_two) = (b.float(ty, 0.0), b.float(ty, 0.5), b.float(ty, 1.0), b.float(ty, -2.0));
    let magnitude = b.fabs(x);
    let bounded = at_most(b, magnitude, even);
    let turns = b.fmul(bounded, half);
    let turns = b.fround(turns);
    let from_even = b.fma(turns, minus_two, bounded);
    let distance = b.fabs(from_even);
    let from_odd = b.fsub(one, distance);
    let v = at_most(b, distance, from_odd);

    let square = b.fmul(v, v);
    let s = polynomial(b, square, s);
    let cube = b.fmul(square, v);
    let rest = b.fmul(cube, s);
    let sine = fast_two_sum(b, v, rest);
    let size = quotient(b, sine, (bounded, zero));
    // Not the negative, which would be -0 for odd integers.
    let minus = b.fsub(zero, size);
    let negative = b.flt(from_even, zero);
    let result = b.select(negative, minus, size);
    // Nearer to 0 it is 1 after rounding, and the inverse may overflow.
    let tiny = b.float(ty, if ty == PrimType::F32 { 2f64.powi(-14) } else { 2f64.powi(-29) });
    let at_zero = b.flt(magnitude, tiny);
    b.select(at_zero, one, result)
}
