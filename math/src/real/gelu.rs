//! The Gaussian error linear unit `x Phi(x)` on `f32` and `f64`, `Phi` being the normal distribution function.
//!
//! With `a = |x|` and `T(a) = a/2 erfc(a / sqrt 2)` it is `x - T(a)`, or `-T(a)` for negative `x`. For all `a` at once,
//! `T(a) = a e^(-a^2/2) h(t) / (a + K)` with `t = (a - K) / (a + K)` (Shepherd and Laframboise 1981). `a^2` is in two floats, and
//! its exponential without its power of two, which comes last: a tail rounds once to a subnormal. `h` is an own least-squares
//! fit at Chebyshev nodes in 250-bit arithmetic, with a relative error of 2^-29.2 over `a <= 14.5` (`f32`) and 2^-57.0 over `a <= 38.8`
//! (`f64`) after rounding the coefficients; `K` is chosen so that the first of them is exact.

use crate::kit::double_word::{exact_product, product, quotient};
use crate::kit::util::{at_most, fma_two_sum, polynomial, two_sum};
use crate::real::exp::{exp_unscaled, scale_down};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// The constants of a format.
struct GeluConstants {
    h: &'static [f64],
    k: f64,
    /// From here on `T` is 0.
    limit: f64,
}

const SINGLE: GeluConstants = GeluConstants {
    h: &[
        0.7293011546134949,
        -0.5101026296615601,
        0.23111461102962494,
        -0.04803658649325371,
        -0.01024926733225584,
        0.00703523401170969,
        0.0009775736834853888,
        -0.001046704244799912,
        -0.0002383654355071485,
        0.00013755253166891634,
        5.662587136612274e-05,
    ],
    k: 3.005950927734375,
    limit: 14.5,
};

const DOUBLE: GeluConstants = GeluConstants {
    h: &[
        0.7737696346889185,
        -0.6851834223799866,
        0.5355964928102129,
        -0.36704907042683593,
        0.21787243815504162,
        -0.10970309428209331,
        0.0450975836375212,
        -0.013923512012897807,
        0.0024429831992605127,
        0.00026960391459022467,
        -0.0003245225451738962,
        7.141471719022388e-05,
        1.6319452155626865e-05,
        -1.2118448151329987e-05,
        4.478974738814607e-07,
        1.4831087465511241e-06,
        -2.707581519442211e-07,
        -1.7706511140308674e-07,
        5.387985830683142e-08,
        2.3222474183465245e-08,
        -8.174689859400861e-09,
        -3.2972148532550363e-09,
        7.628039958482883e-10,
        3.4315011382894463e-10,
    ],
    k: 5.500000051222742,
    limit: 38.8,
};

/// `x Phi(x)`.
pub(crate) fn gelu(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let c = if ty == PrimType::F32 { &SINGLE } else { &DOUBLE };
    let (zero, one, minus_half) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, -0.5));
    let (k, minus_k, limit) = (b.float(ty, c.k), b.float(ty, -c.k), b.float(ty, c.limit));
    let magnitude = b.fabs(x);
    let a = at_most(b, magnitude, limit);

    let (divisor, divisor_low) = two_sum(b, a, k);
    let inverse = b.fdiv(one, divisor);
    let less = b.fsub(a, k);
    let about = b.fmul(less, inverse);
    // The remainder of the quotient of the unrounded difference and sum.
    let next = b.fadd(about, one);
    let rest = b.fma(next, minus_k, a);
    let minus = b.fneg(about);
    let rest = b.fma(minus, a, rest);
    let t = b.fma(rest, inverse, about);
    let higher = polynomial(b, t, &c.h[1..]);
    let first = b.float(ty, c.h[0]);
    let (h, h_low) = fma_two_sum(b, higher, t, first);

    let minus_half_a = b.fmul(a, minus_half);
    let (exponent, error) = exact_product(b, minus_half_a, a);
    let ((power, power_low), exponent) = exp_unscaled(b, exponent, error);
    // Rounded at each step the result was wrong by up to 4 ULP.
    let (about_h, error) = exact_product(b, a, h);
    let product_low = b.fma(a, h_low, error);
    let numerator = product(b, (about_h, product_low), (power, power_low));
    let quotient = quotient(b, numerator, (divisor, divisor_low));
    let tail = scale_down(b, quotient, exponent);

    let above = b.fsub(x, tail);
    let below = b.fneg(tail);
    let negative = b.flt(x, zero);
    b.select(negative, below, above)
}
