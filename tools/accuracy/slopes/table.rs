//! The slopes of each op: one line for every op, with the bounds checked by `--check`.

use super::Bound::{OrOne, Slope as Ulp};
use super::{How, by, curve, curve_but, formulas as exact, nowhere, number, of, points};
use crate::activations as act;
use crate::multi::Real;
use ndjit::Op;

const CONSTANT: How = How::NotMeasured("is 1, -1 or 0");
const PARTS: How = How::NotMeasured("is that of complex numbers or their parts");

/// The comparison of `op`'s slopes with respect to real operands.
pub fn how(op: Op) -> How {
    match op {
        Op::Add | Op::Subtract | Op::Negative | Op::Positive | Op::ModfFraction | Op::Nextafter => CONSTANT,
        Op::Where | Op::NanToNum => CONSTANT,
        Op::Conj | Op::Real | Op::Imag | Op::Angle | Op::Complex | Op::Polar => PARTS,
        Op::Multiply | Op::MultiplyNoNan => of([number(0, |x| x[1]), number(1, |x| x[0])]),
        Op::MulAdd => of([number(0, |x| x[1]), number(1, |x| x[0])]),
        Op::Divide => of([
            by(0, |x| exact::inverse(&x[1]), Ulp(1.0)),
            by(1, |x| -(&x[0] / &x[1] / &x[1]), Ulp(2.0)).but(points::divide),
        ]),
        Op::Remainder => {
            let slope = by(1, |x| -exact::floor_divide(&x[0], &x[1]), Ulp(1.0));
            of([slope.but(points::remainder)])
        }
        Op::Fmod => {
            let slope = by(1, |x| -exact::trunc_divide(&x[0], &x[1]), Ulp(1.0));
            of([slope.but(points::fmod)])
        }
        Op::Abs => of([number(0, |x| if x[0] == 0.0 { 0.0 } else { x[0].signum() })]),
        Op::Square => curve((|x| &x[0] * 2.0, Ulp(0.5)), (|_| 2.0.into(), Ulp(0.5))),
        Op::Sqrt => curve_but(
            |x| (x[0] == 0.0).then_some(f64::INFINITY),
            (|x| x[0].rsqrt() / 2.0, Ulp(1.5)),
            (|x| -x[0].rsqrt() / &x[0] / 4.0, Ulp(5.0)),
            |x| (x[0] == 0.0).then_some(f64::NEG_INFINITY),
        ),
        Op::Rsqrt => {
            curve((|x| -x[0].rsqrt() / &x[0] / 2.0, Ulp(2.0)), (|x| x[0].rsqrt() / &x[0] / &x[0] * 3.0 / 4.0, Ulp(4.0)))
        }
        Op::Cbrt => curve_but(
            nowhere,
            (|x| x[0].cbrt() / &x[0] / 3.0, Ulp(4.0)),
            (|x| -(x[0].cbrt() / &x[0] / &x[0] * 2.0 / 9.0), Ulp(10.0)),
            // The sides have opposite signs.
            |x| (x[0] == 0.0).then_some(f64::NAN),
        ),
        Op::Reciprocal => curve(
            (|x| -exact::inverse(&(&x[0] * &x[0])), Ulp(2.0)),
            (|x| exact::inverse(&(&x[0] * &x[0] * &x[0])) * 2.0, Ulp(4.0)),
        ),
        Op::Minimum => of([number(0, |x| points::share(x[1] - x[0])), number(1, |x| points::share(x[0] - x[1]))]),
        Op::Maximum => of([number(0, |x| points::share(x[0] - x[1])), number(1, |x| points::share(x[1] - x[0]))]),
        Op::Fmin => of([number(0, |x| points::share(x[1] - x[0])), number(1, |x| points::share(x[0] - x[1]))]),
        Op::Fmax => of([number(0, |x| points::share(x[0] - x[1])), number(1, |x| points::share(x[1] - x[0]))]),
        Op::Clip => of([number(0, |x| f64::from(u8::from(x[1] < x[0] && x[0] < x[2])))]),
        Op::Relu => of([number(0, |x| f64::from(u8::from(x[0] > 0.0)))]),
        Op::Heaviside => of([number(1, |x| f64::from(u8::from(x[0] == 0.0)))]),
        Op::Copysign => of([number(0, |x| 1f64.copysign(x[0]) * 1f64.copysign(x[1]))]),
        Op::Ldexp => of([by(0, |x| Real::from(1.0).scaled(&x[1]), Ulp(0.5))]),
        Op::FrexpMantissa => {
            let ratio = |x: &[Real]| Real::from(1.0).scaled(&Real::from(-1.0 - f64::from(x[0].exponent())));
            of([by(0, ratio, Ulp(0.5)).but(points::not_frexp)])
        }
        Op::Hypot => of([
            by(0, |x| exact::share_of_hypot(&x[0], &x[1]), Ulp(2.0)).but(points::both_zero),
            by(1, |x| exact::share_of_hypot(&x[1], &x[0]), Ulp(2.0)).but(points::both_zero),
        ])
        .through(|x| core_math::hypot(x[0], x[1])),
        Op::Atan2 => of([
            by(0, |x| &x[1] / exact::square_of_hypot(&x[0], &x[1]), Ulp(3.0)).but(points::both_zero),
            by(1, |x| -(&x[0] / exact::square_of_hypot(&x[0], &x[1])), Ulp(3.0)).but(points::both_zero),
        ]),
        Op::Pow | Op::FloatPower => of([
            by(0, |x| &x[1] * x[0].powf(&x[1]) / &x[0], Ulp(2.0)).but(points::power_by_base),
            by(1, |x| x[0].powf(&x[1]) * x[0].ln(), Ulp(3.0)).but(points::power_by_exponent),
        ])
        .through(|x| core_math::pow(x[0], x[1])),
        Op::Exp | Op::Expm1 => curve((|x| x[0].exp(), Ulp(1.0)), (|x| x[0].exp(), Ulp(1.0))),
        Op::Exp2 => curve(
            (|x| exact::exponential(&x[0], Real::ln_2(), 1), Ulp(2.0)),
            (|x| exact::exponential(&x[0], Real::ln_2(), 2), Ulp(3.0)),
        )
        .through(|x| core_math::exp2(x[0])),
        Op::Exp10 => curve(
            (|x| exact::exponential(&x[0], Real::ln_10(), 1), Ulp(2.0)),
            (|x| exact::exponential(&x[0], Real::ln_10(), 2), Ulp(4.0)),
        )
        .through(|x| core_math::exp10(x[0])),
        Op::Log => curve(
            (|x| exact::logarithm(&x[0], 1.0.into(), 1), Ulp(0.5)),
            (|x| exact::logarithm(&x[0], 1.0.into(), 2), Ulp(2.0)),
        ),
        Op::Log2 => curve(
            (|x| exact::logarithm(&x[0], Real::ln_2(), 1), Ulp(2.0)),
            (|x| exact::logarithm(&x[0], Real::ln_2(), 2), Ulp(3.0)),
        ),
        Op::Log10 => curve(
            (|x| exact::logarithm(&x[0], Real::ln_10(), 1), Ulp(2.0)),
            (|x| exact::logarithm(&x[0], Real::ln_10(), 2), Ulp(3.0)),
        ),
        Op::Log1p => curve(
            (|x| exact::logarithm(&(&x[0] + 1.0), 1.0.into(), 1), Ulp(2.0)),
            (|x| exact::logarithm(&(&x[0] + 1.0), 1.0.into(), 2), Ulp(3.0)),
        ),
        Op::Sin => {
            curve_but(points::not_finite, (|x| x[0].cos(), Ulp(1.0)), (|x| -x[0].sin(), Ulp(1.0)), points::not_finite)
        }
        Op::Cos => {
            curve_but(points::not_finite, (|x| -x[0].sin(), Ulp(1.0)), (|x| -x[0].cos(), Ulp(1.0)), points::not_finite)
        }
        Op::Tan => curve_but(
            points::not_finite,
            (|x| exact::tan(&x[0]), Ulp(3.0)),
            (|x| exact::tan(&x[0]) * x[0].tan() * 2.0, Ulp(4.0)),
            points::not_finite,
        ),
        Op::Asin => curve((|x| exact::arc(&x[0]).rsqrt(), Ulp(2.0)), (|x| exact::arc_bend(&x[0]), Ulp(6.0))),
        Op::Acos => curve((|x| -exact::arc(&x[0]).rsqrt(), Ulp(2.0)), (|x| -exact::arc_bend(&x[0]), Ulp(6.0))),
        Op::Atan => curve(
            (|x| exact::inverse(&exact::beyond_one(&x[0])), Ulp(2.0)),
            (|x| -(&x[0] * 2.0) / exact::beyond_one(&x[0]) / exact::beyond_one(&x[0]), Ulp(6.0)),
        ),
        Op::Sinh => curve((|x| x[0].cosh(), Ulp(1.0)), (|x| x[0].sinh(), Ulp(1.0))),
        Op::Cosh => curve((|x| x[0].sinh(), Ulp(1.0)), (|x| x[0].cosh(), Ulp(1.0))),
        Op::Tanh => {
            curve((|x| exact::tanh(&x[0]), Ulp(4.0)), (|x| -(exact::tanh(&x[0]) * x[0].tanh() * 2.0), Ulp(5.0)))
        }
        Op::Asinh => curve(
            (|x| exact::beyond_one(&x[0]).rsqrt(), Ulp(2.0)),
            (|x| -(exact::beyond_one(&x[0]).rsqrt() * &x[0] / exact::beyond_one(&x[0])), Ulp(6.0)),
        ),
        Op::Acosh => curve((|x| exact::acosh(&x[0]), Ulp(3.0)), (|x| exact::acosh_bend(&x[0]), Ulp(6.0))),
        Op::Atanh => curve_but(
            points::atanh,
            (|x| exact::inverse(&exact::arc(&x[0])), Ulp(2.0)),
            (|x| &x[0] * 2.0 / exact::arc(&x[0]) / exact::arc(&x[0]), Ulp(6.0)),
            points::atanh,
        ),
        Op::Degrees => curve((|_| Real::from(180.0) / Real::pi(), Ulp(0.5)), (|_| 0.0.into(), Ulp(0.0))),
        Op::Radians => curve((|_| Real::pi() / 180.0, Ulp(0.5)), (|_| 0.0.into(), Ulp(0.0))),
        Op::Logaddexp => of([
            by(0, |x| exact::sigmoid(&(&x[0] - &x[1])), Ulp(4.0)).but(points::equal_infinities),
            by(1, |x| exact::sigmoid(&(&x[1] - &x[0])), Ulp(4.0)).but(points::equal_infinities),
        ]),
        Op::Logaddexp2 => of([
            by(0, |x| exact::sigmoid(&((&x[0] - &x[1]) * Real::ln_2())), OrOne(2.0)).but(points::equal_infinities),
            by(1, |x| exact::sigmoid(&((&x[1] - &x[0]) * Real::ln_2())), OrOne(2.0)).but(points::equal_infinities),
        ]),
        Op::Sigmoid => curve((|x| exact::sigmoid_slope(&x[0]), Ulp(4.0)), (|x| exact::sigmoid_bend(&x[0]), Ulp(4.0))),
        Op::LogSigmoid => curve((|x| exact::sigmoid(&-&x[0]), Ulp(2.0)), (|x| -exact::sigmoid_slope(&x[0]), Ulp(4.0))),
        Op::Softplus => curve((|x| exact::sigmoid(&x[0]), Ulp(2.0)), (|x| exact::sigmoid_slope(&x[0]), Ulp(4.0))),
        Op::Silu => curve((|x| exact::silu(&x[0]), OrOne(3.0)), (|x| exact::silu_bend(&x[0]), OrOne(4.0)))
            .through(|x| act::sigmoid(x[0])),
        Op::Gelu => curve((|x| exact::gelu(&x[0]), OrOne(3.0)), (|x| exact::gelu_bend(&x[0]), OrOne(4.0))),
        Op::GeluTanh => {
            curve((|x| exact::gelu_tanh(&x[0]), OrOne(3.0)), (|x| exact::gelu_tanh_bend(&x[0]), OrOne(6.0)))
        }
        Op::Sinc => curve((|x| exact::sinc(&x[0]), OrOne(3.0)), (|x| exact::sinc_bend(&x[0]), OrOne(20.0))),
        Op::Erf => curve((|x| exact::gauss(&x[0]), Ulp(3.0)), (|x| -(exact::gauss(&x[0]) * &x[0] * 2.0), Ulp(6.0)))
            .through(|x| core_math::exp(-x[0] * x[0])),
        Op::Erfc => curve((|x| -exact::gauss(&x[0]), Ulp(3.0)), (|x| exact::gauss(&x[0]) * &x[0] * 2.0, Ulp(6.0)))
            .through(|x| core_math::exp(-x[0] * x[0])),
        Op::Erfinv => curve_but(
            points::erfinv,
            (|x| exact::erfinv(&x[0]), Ulp(120.0)),
            (|x| exact::erfinv_bend(&x[0]), Ulp(250.0)),
            points::erfinv_bend,
        ),
        Op::Lgamma => curve_but(
            |x| points::polygamma(0.0, x[0]),
            (|x| exact::digamma(&x[0]), OrOne(3.0)),
            (|x| exact::polygamma(1.0, &x[0]), Ulp(8.0)),
            |x| points::polygamma(1.0, x[0]),
        ),
        Op::Tgamma => curve_but(
            points::tgamma,
            (|x| exact::gamma(&x[0]) * exact::digamma(&x[0]), OrOne(8.0)),
            (|x| exact::gamma_bend(&x[0]), Ulp(16.0)),
            points::tgamma_bend,
        )
        .through(|x| core_math::tgamma(x[0])),
        Op::Digamma => curve_but(
            |x| points::polygamma(1.0, x[0]),
            (|x| exact::polygamma(1.0, &x[0]), Ulp(8.0)),
            (|x| exact::polygamma(2.0, &x[0]), OrOne(8.0)),
            |x| points::polygamma(2.0, x[0]),
        ),
        Op::Polygamma => {
            let slope = by(1, |x| exact::polygamma_of(&(&x[0] + 1.0), &x[1]), OrOne(8.0));
            of([slope.but(|x| points::polygamma_of_order(x[0], x[1]))])
        }
        Op::Sign | Op::FloorDivide | Op::Floor | Op::Ceil | Op::Trunc | Op::Round | Op::Rint | Op::ModfInteger => {
            How::Flat
        }
        Op::FrexpExponent | Op::Signbit | Op::IsNan | Op::IsInf | Op::IsFinite | Op::IsClose => How::Flat,
        Op::Equal | Op::NotEqual | Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => How::Flat,
        Op::LogicalAnd | Op::LogicalOr | Op::LogicalXor | Op::LogicalNot => How::Flat,
        Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor | Op::BitwiseInvert => How::Flat,
        Op::BitwiseLeftShift | Op::BitwiseRightShift | Op::Popcount | Op::Clz | Op::Ctz | Op::Gcd | Op::Lcm => {
            How::Flat
        }
        Op::RotateLeft | Op::RotateRight | Op::SaturatingAdd | Op::SaturatingSubtract | Op::Threefry2x32 => How::Flat,
    }
}
