//! `log(1 + e^x)` on `f32` and `f64`, and the logarithm of the logistic function, its negative at `-x`.
//!
//! With `t = e^-|x|` it is `max(x, 0) + log(1 + t)`, and `log(1 + t) = t + t^2 p(t)`. `p` is an own minimax fit by a Remez exchange in
//! 250-bit arithmetic on `(log(1 + t) - t) / t^2` over `0 <= t <= 1`, weighted for the relative error of the logarithm, which is
//! 2^-29.0 (`f32`) and 2^-57.0 (`f64`) after rounding the coefficients: no range reduction and no quotient.

use crate::kit::util::{at_least, polynomial};
use crate::real::exp::{less_one, one_more, reduce};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

const P_SINGLE: &[f64] = &[
    -0.49999988079071045,
    0.33332714438438416,
    -0.24988864362239838,
    0.19899624586105347,
    -0.1613517552614212,
    0.1247953549027443,
    -0.08323896676301956,
    0.042114775627851486,
    -0.013691623695194721,
    0.0020845308899879456,
];

const P_DOUBLE: &[f64] = &[
    -0.49999999999999983,
    0.3333333333332964,
    -0.24999999999712666,
    0.1999999998855998,
    -0.16666666390943238,
    0.14285709857683077,
    -0.12499949589400239,
    0.11110686457101972,
    -0.09997269244759943,
    0.09077186504304738,
    -0.08278459859517065,
    0.07515157443620883,
    -0.0667552876994395,
    0.056482168507818904,
    -0.04396031270219661,
    0.030265151754581932,
    -0.017692743027008833,
    0.008407664974916408,
    -0.003084644516409742,
    0.0008135152570266122,
    -0.00013652875790506154,
    1.0911765889648134e-05,
];

/// `log(1 + e^x)`.
pub(crate) fn softplus(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    // Beyond, `t` is 0.
    let (limit, p) = if ty == PrimType::F32 { (-104.5, P_SINGLE) } else { (-746.0, P_DOUBLE) };
    let limit = b.float(ty, limit);
    let zero = b.float(ty, 0.0);
    let magnitude = b.fabs(x);
    let exponent = b.fneg(magnitude);
    let exponent = at_least(b, exponent, limit);
    let r = reduce(b, exponent);
    let less = less_one(b, r.value, None);
    let t = one_more(b, less, r.k);
    let p = polynomial(b, t, p);
    let square = b.fmul(t, t);
    let logarithm = b.fma(square, p, t);
    let positive = at_least(b, x, zero);
    b.fadd(positive, logarithm)
}

/// `log(1 / (1 + e^-x))`.
pub(crate) fn log_sigmoid(b: &mut BodyBuilder, x: Reg) -> Reg {
    let minus_x = b.fneg(x);
    let result = softplus(b, minus_x);
    b.fneg(result)
}
