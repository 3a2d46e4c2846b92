//! Arc sine and arc cosine on `f32` and `f64`.
//!
//! For `|x| <= 1/2`: `asin x = x + x^3 p(x^2)`. Above, with `z = (1 - |x|) / 2`, which is exact, `asin |x| = pi/2 - 2 asin(sqrt z)`;
//! the rounding error of the root is corrected. Quarter turns in two parts complete either op's result. `p` are own
//! minimax fits by a Remez exchange in 200-bit arithmetic over `x^2 <= 1/4`, weighted for the relative error of the result:
//! after rounding the coefficients 2^-27.6 (`f32`) and 2^-55.9 (`f64`). Both ops share all steps except the last.

use crate::kit::angle::{Arc, placed, quarter_turns};
use crate::kit::util::{Format, at_least, copysign, polynomial, select_pair};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

const P_SINGLE: &[f64] =
    &[0.16666752099990845, 0.07495313137769699, 0.04546854645013809, 0.024187935516238213, 0.04215294495224953];

const P_DOUBLE: &[f64] = &[
    0.16666666666665408,
    0.07500000000337118,
    0.04464285682824679,
    0.03038195914027725,
    0.022371757971333107,
    0.017359705960732864,
    0.01388522351178173,
    0.012169291583215374,
    0.006527620296392402,
    0.01952926983769411,
    -0.016225892635123286,
    0.0319134439528102,
];

/// The angle in [-pi/2, pi/2] whose sine is `x`; NaN beyond [-1, 1].
pub(crate) fn asin(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (arc, folded) = arc(b, x);
    let (zero, quarter) = (quarter_turns(b, ty, 0), quarter_turns(b, ty, 1));
    let base = select_pair(b, folded, quarter, zero);
    let result = placed(b, base, &arc, folded);
    copysign(b, result, x)
}

/// The angle in [0, pi] whose cosine is `x`; NaN beyond [-1, 1].
pub(crate) fn acos(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (arc, folded) = arc(b, x);
    let (zero, quarter, half) = (quarter_turns(b, ty, 0), quarter_turns(b, ty, 1), quarter_turns(b, ty, 2));
    let origin = b.float(ty, 0.0);
    let negative = b.flt(x, origin);
    let base = select_pair(b, negative, half, zero);
    let base = select_pair(b, folded, base, quarter);
    // Subtracted from a half turn if x < -1/2, from a quarter turn if 0 <= x <= 1/2.
    let differ = b.xor(folded, negative);
    let backwards = b.not(differ);
    placed(b, base, &arc, backwards)
}

/// `asin |x|` and false, or for `|x| > 1/2` the difference to pi/2 and true.
fn arc(b: &mut BodyBuilder, x: Reg) -> (Arc, Reg) {
    let f = Format::of(b.ty(x));
    let (zero, half, one) = (b.float(f.ty, 0.0), b.float(f.ty, 0.5), b.float(f.ty, 1.0));
    let magnitude = b.fabs(x);
    let folded = b.flt(half, magnitude);
    let rest = b.fsub(one, magnitude);
    let rest = b.fmul(rest, half);
    let root = b.fsqrt(rest);
    let minus = b.fneg(root);
    let error = b.fma(minus, root, rest);
    // The arc is twice the root to first order, and its correction twice error / (2 root). At |x| = 1 all are 0.
    let least = b.float(f.ty, 2f64.powi(1 - f.bias as i32));
    let divisor = at_least(b, root, least);
    let low = b.fdiv(error, divisor);
    let twice = b.fadd(root, root);

    let square = b.fmul(magnitude, magnitude);
    let z = b.select(folded, rest, square);
    let high = b.select(folded, twice, magnitude);
    let low = b.select(folded, low, zero);
    let p = polynomial(b, z, if f.ty == PrimType::F32 { P_SINGLE } else { P_DOUBLE });
    let cube = b.fmul(z, high);
    (Arc { high, low, x: cube, y: p }, folded)
}
