//! `e^x - 1` on `f32` and `f64`.
//!
//! With `x = k ln 2 + r` (see `exp`) it is `2^k (e^r - 1) + (2^k - 1)`. `2^k r` is exact; the errors of `2^k - 1` and of the sum are
//! kept (Dekker's Fast2Sum: `|2^k - 1| >= |2^k r|` unless `k = 0`, where the former is 0); the rest of
//! `e^r - 1` is at most a fifth of `r` and is added last.

use crate::kit::util::{Format, fast_two_sum, power_of_two, tiny_as_is};
use crate::real::exp::{clamp, less_one, reduce};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// `e^x - 1`.
pub(crate) fn expm1(b: &mut BodyBuilder, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    // Below, the result is -1; above, infinite.
    let (smallest, largest) = if f.ty == PrimType::F32 { (-20.0, 89.0) } else { (-40.0, 710.0) };
    let clamped = clamp(b, x, smallest, largest);
    let r = reduce(b, clamped);
    let rest = less_one(b, r.value, Some(r.low));
    // Halves of all terms: 2^k itself may be infinite.
    let one = b.int(f.ty.as_int(), 1);
    let k = b.isub(r.k, one);
    let power = power_of_two(b, k, f);
    let minus_half = b.float(f.ty, -0.5);
    let (less, less_low) = fast_two_sum(b, power, minus_half);
    let scaled = b.fmul(power, r.value);
    let (sum, error) = fast_two_sum(b, less, scaled);
    // `2^k - 1` rounds from k = 25 on (`f32`); without this the result is 1.04 ULP off at 17.0984.
    let error = b.fadd(error, less_low);
    let rest = b.fma(power, rest, error);
    let sum = b.fadd(sum, rest);
    let result = b.fadd(sum, sum);
    tiny_as_is(b, x, result)
}
