//! The inverse of the error function on `f32` and `f64`.
//!
//! After Giles (2011): with `w = -log(1 - x^2)`, `erfinv(x) / x` is a smooth function of `w`, and in the tail of `sqrt w`. The rounding
//! error of `x^2` is added to the logarithm, and that of the polynomial's last step to the product with `x`. Less than 1 % of all `x` are
//! in the tail, on a cold path. The polynomials are own minimax fits with rounded coefficients (Sollya's `fpminimax`); their relative
//! errors are documented beside them.

use crate::kit::util::{copysign, fma_two_sum, polynomial};
use crate::real::log::log;
use crate::real::log1p::log1p_parts;
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// A polynomial whose first coefficient has more than a float's precision.
struct Piece {
    /// Subtracted from the argument first.
    centre: f64,
    coefficients: &'static [f64],
    /// The rounding error of the first coefficient.
    low: f64,
}

/// For `w <= 5`, in `w`: 2^-27.4.
const NEAR_SINGLE: Piece = Piece {
    centre: 0.0,
    coefficients: &[
        0.8862269203501256,
        0.23201382160186768,
        0.01154863741248846,
        -0.0023342652712017298,
        -0.00012751147733069956,
        4.458164403331466e-05,
        3.977868800575379e-06,
        -1.9754313598241424e-06,
        2.2092342533142073e-07,
        -8.78635919576709e-09,
    ],
    low: 2.7878812147719145e-08,
};

/// For `w` from 5 to 16, in `sqrt w`: 2^-27.1.
const FAR_SINGLE: Piece = Piece {
    centre: 3.0,
    coefficients: &[
        2.832976818084717,
        1.0016752481460571,
        0.009444965980947018,
        -0.007642965763807297,
        0.005689571611583233,
        -0.0035662930458784103,
        0.001470932736992836,
        -0.00012103365588700399,
        -0.0002735636371653527,
        0.00016083073569461703,
        -3.071347236982547e-05,
    ],
    low: 0.0,
};

/// For `w <= 5`, in `w`: 2^-60.0.
const NEAR_DOUBLE: Piece = Piece {
    centre: 0.0,
    coefficients: &[
        0.886226925452758,
        0.23201366653465436,
        0.01154934203827488,
        -0.00233510164165731,
        -0.00012804329398297386,
        4.661143947043046e-05,
        2.01999063512435e-06,
        -1.0125558233399175e-06,
        -3.729719272828414e-08,
        2.2801780478894297e-08,
        7.402572878156286e-10,
        -5.082445968298932e-10,
        -2.949666949110677e-11,
        2.0610960748867083e-11,
        -3.690836387630297e-12,
        1.23716916224025e-12,
        -4.541395110877658e-13,
        1.0603336536962266e-13,
        -1.5907452853964456e-14,
        1.577659385612866e-15,
        -1.0155239217756437e-16,
        3.884728297084133e-18,
        -6.75551220357708e-20,
    ],
    low: -3.7575265865465734e-17,
};

/// For `w` from 5 to 49/4, in `sqrt w`: 2^-60.2.
const FAR_DOUBLE: Piece = Piece {
    centre: 2.75,
    coefficients: &[
        2.5832938084582984,
        0.9950856902414794,
        0.01795395985119494,
        -0.01601729839700205,
        0.01150166063958326,
        -0.005623246678086146,
        0.0009567610644579191,
        0.0009185024734364882,
        -0.0007694571826095338,
        0.0001570877728655811,
        0.00012014132269510055,
        -9.549654637675047e-05,
        1.4484836357303302e-05,
        1.6091699990223976e-05,
        -1.0529541912979987e-05,
        9.91558038920934e-07,
        1.947460432323815e-06,
        -1.062067059348204e-06,
        2.426789442929637e-08,
        1.8433593950513853e-07,
        -5.832829379133159e-08,
    ],
    low: 2.0041506685446675e-16,
};

/// For `w` from 49/4 to 36.1, in `sqrt w`: 2^-59.0.
const FARTHEST_DOUBLE: Piece = Piece {
    centre: 4.75,
    coefficients: &[
        4.597326292327093,
        1.01032434392248,
        5.44140786249744e-05,
        -0.00030489083210868295,
        0.0001054565376999113,
        -2.801719152248303e-05,
        6.78624970495506e-06,
        -1.6850375206140645e-06,
        5.226204311900782e-07,
        -2.3224675323041263e-07,
        1.2527630886224076e-07,
        -6.563756174479328e-08,
        2.980168710438447e-08,
        -1.0884939174729973e-08,
        2.7810393328942386e-09,
        -1.9819150498552542e-10,
        -2.5424659194340815e-10,
        1.7045486220765914e-10,
        -6.242462612664251e-11,
        1.1076930685653914e-11,
        2.415285400715978e-12,
        -1.9526961438020534e-12,
        3.5227825652503447e-13,
    ],
    low: 4.015028185745681e-16,
};

/// The inverse of the error function.
pub(crate) fn erfinv(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let minus_x = b.fneg(x);
    let minus_square = b.fmul(minus_x, x);
    let square = b.fneg(minus_square);
    let low = b.fma(minus_x, x, square);
    let (zero, one, five) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, 5.0));
    let complement = b.fadd(minus_square, one);
    let low = b.fdiv(low, complement);
    let (high, rest) = log1p_parts(b, minus_square, None, None);
    let rest = b.fadd(rest, low);
    let log = b.fadd(high, rest);
    let w = b.fneg(log);

    let near = value(b, w, if ty == PrimType::F32 { &NEAR_SINGLE } else { &NEAR_DOUBLE });
    let magnitude = b.fabs(x);
    let is_far = b.flt(five, w);
    let parts = b.if_any(is_far, &[near.0, near.1], &[magnitude], |b, args| far(b, args[0]));
    let low = b.fmul(x, parts[1]);
    let result = b.fma(x, parts[0], low);

    let inside = b.flt(magnitude, one);
    let at_end = b.feq(magnitude, one);
    let (inf, nan) = (b.float(ty, f64::INFINITY), b.float(ty, f64::NAN));
    let end = copysign(b, inf, x);
    let outside = b.select(at_end, end, nan);
    let result = b.select(inside, result, outside);
    // The low product of a zero has the other sign where its factor is negative.
    let at_zero = b.feq(x, zero);
    b.select(at_zero, x, result)
}

/// `erfinv(x) / x` for `w` above 5, as a sum of two floats.
fn far(b: &mut BodyBuilder, x: Reg) -> Vec<Reg> {
    let ty = b.ty(x);
    // 1 - x is exact.
    let one = b.float(ty, 1.0);
    let (less, more) = (b.fsub(one, x), b.fadd(one, x));
    let complement = b.fmul(less, more);
    let log = log(b, complement);
    let w = b.fneg(log);
    let root = b.fsqrt(w);
    if ty == PrimType::F32 {
        let (high, low) = value(b, root, &FAR_SINGLE);
        return vec![high, low];
    }
    let (nearer, farther) = (value(b, root, &FAR_DOUBLE), value(b, root, &FARTHEST_DOUBLE));
    let border = b.float(ty, 3.5);
    let is_nearer = b.flt(root, border);
    vec![b.select(is_nearer, nearer.0, farther.0), b.select(is_nearer, nearer.1, farther.1)]
}

/// A polynomial as a sum of two floats.
fn value(b: &mut BodyBuilder, x: Reg, piece: &Piece) -> (Reg, Reg) {
    let ty = b.ty(x);
    let centre = b.float(ty, piece.centre);
    let t = if piece.centre == 0.0 { x } else { b.fsub(x, centre) };
    let (first, rest) = (b.float(ty, piece.coefficients[0]), polynomial(b, t, &piece.coefficients[1..]));
    let (value, error) = fma_two_sum(b, t, rest, first);
    let low = b.float(ty, piece.low);
    (value, b.fadd(error, low))
}
