//! logaddexp against multi-precision results, logaddexp2 against sums of two `f64`, and their special cases.

use super::double_double::{Dd, LN_2};
use super::math::{assert_special, distance32, distance64};
use super::support::{Runner, Stream, single};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;

/// `x`, `y` and the `f64` nearest to `log(e^x + e^y)` (mpmath, 2400 bits).
#[rustfmt::skip]
const EXACT: &[(f64, f64, f64)] = &[
    (0.24580338977940386, 0.4835739785214588, 1.0648861369721756),
    (0.5903871311313933, 0.8849005675541006, 1.4415943405959621),
    (0.4797971494798614, 0.844649993330834, 1.3719189693416745),
    (-0.9419895434327705, -0.0687546912437893, 0.2802095462500067),
    (0.8867134339966274, 0.2979491062738484, 1.3281971306971156),
    (0.8018009835012454, -0.7735880706937113, 0.9898784690990589),
    (-0.06186190443567252, -0.5068543347603394, 0.43333977481761127),
    (0.08752171847186085, 0.14788237585620156, 0.8113045847230984),
    (-0.9737716208221956, -0.5665403990723037, -0.05642084650822964),
    (-0.44103526797777937, 0.8326907436171038, 1.079384547488366),
    (0.5314509032582835, -0.6807915752839235, 0.791912842253888),
    (0.594293982862409, -0.7224651632021937, 0.8317367733047633),
    (0.2349050409322333, -0.7466015348994606, 0.5531740931381274),
    (-0.9964502755949307, 0.7428094894485642, 0.9046309945975466),
    (-0.5810872350097642, -0.5690376615505355, 0.11810288119756945),
    (0.9648422176518505, 0.7448155308736037, 1.5540153551825733),
    (-0.421389664506147, 0.922955977900167, 1.154631230357698),
    (0.07844693774162126, 0.3556609545011846, 0.9197764766324285),
    (-0.5904409709324143, 0.8819520021759981, 1.0884586748970768),
    (0.3812838822138165, 0.9331286246343908, 1.3879465752067799),
    (2.362450065458871, 2.3222078450296446, 3.0356785516845726),
    (-0.8328603916656951, -0.8996691802397461, -0.1725597823438326),
    (-2.125788542755905, -2.21276060008077, -1.4751821713648048),
    (-1.191845395383225, -1.1712233959016942, -0.4883340576665976),
    (-2.9797012837538595, -2.9441144338443213, -2.268602383605908),
    (-0.9726188302328094, -1.0106272439121837, -0.29829528744240646),
    (1.911108447882425, 1.9072574852084327, 2.6023320008434183),
    (-1.1052413649213357, -1.108997687673963, -0.4139705819936632),
    (1.228014804845456, 1.139414990752614, 1.8778429984644442),
    (2.8505973788654115, 2.7551704915159556, 3.4971689704676905),
    (1.4987701337476391, 1.567746311625265, 2.2269999995281347),
    (-2.8915947877288195, -2.8340471269327328, -2.1692598672231327),
    (-187.34173382139522, -181.06022749684524, -181.0583586634335),
    (-687.2902584526602, -723.5520889567448, -687.2902584526602),
    (-446.712716868533, -410.29832490123965, -410.29832490123965),
    (-424.8696612817886, -404.41074828568316, -404.4107482843806),
    (601.5174474365297, 636.8809537907456, 636.8809537907456),
    (-217.86546172578323, -229.48200532115027, -217.86545271012875),
    (34.58254897036795, 56.63079014628757, 56.63079014655338),
    (-548.7259833092339, -528.8541387904609, -528.8541387881179),
    (416.117348627866, 444.89289416287244, 444.8928941628728),
    (-648.7157880800415, -613.0517732766668, -613.0517732766668),
    (-572.3481901595239, -585.0889473191862, -572.3481872302577),
    (155.15855332967396, 188.60552817233895, 188.60552817233895),
    (-19.80121420122466, -2.2740714171662795, -2.274071392728677),
    (-13.645678887052835, -20.62648891971279, -13.644749768884475),
    (-20.496000430098682, -24.675666734850346, -20.480812735774887),
    (-27.654113033382796, -25.53395866130254, -25.420618279269824),
    (-9.324762379533745, -0.09819556389888362, -0.09809717828931705),
    (-25.154116067261512, -28.54343509354631, -25.120940861185538),
    (-0.3990267364719777, -13.99407775917497, -0.3990254898232764),
    (-17.823359363117856, -22.879901884371378, -17.817012013111146),
    (0.0, -301.0633969076536, 1.777575353148074e-131),
    (0.0, -129.36761678081496, 6.55175871587093e-57),
    (0.0, -403.26348999839877, 7.326415426722764e-176),
    (0.0, -428.3213686673355, 9.602694369176455e-187),
    (0.0, -698.8323562851667, 3.169303935346391e-304),
    (0.0, -63.024751501368655, 4.253027585868835e-28),
    (33688.49874930652, 33688.46013449704, 33689.172775458705),
    (838590.851886964, 838588.635317927, 838590.9553297865),
    (731932.7589532998, 731935.4577446756, 731935.5228643916),
    (630768.8941329682, 630770.6221902668, 630770.7856934938),
    (0.0, 0.0, std::f64::consts::LN_2),
    (1.0, 1.0, 1.6931471805599454),
    (-1.0, -1.0, -0.3068528194400547),
    (1e300, 1e300, 1e300),
    (-1e300, -1e300, -1e300),
    (5e-324, 5e-324, std::f64::consts::LN_2),
    (-0.1884054697789065, -1.7618830309898708, -4.3866552855902837e-11),
    (-0.4729006899116674, -0.9809101788147925, -0.0018400805054929223),
    (-1.603555423613939, -0.22461983559248733, -1.9115868008390613e-07),
    (-0.21355374716320433, -1.648744113277734, -1.2111721776391349e-14),
    (-1.6276520654266604, -0.2186413818516888, -5.921165251714865e-12),
    (-0.6045380268019697, -0.7903780684354763, -8.797150661365207e-12),
    (-1.1405119701060653, -0.38515578557863783, -3.3989904465550634e-08),
    (-0.6521103392824775, -0.7359405387018708, -7.773760105541177e-08),
];

/// Returns `true` if the sum cancels so far that the error is the larger operand's, not the result's.
fn cancels(x: f64, y: f64, expected: f64) -> bool {
    expected.abs() < x.max(y).abs() / 2.0
}

fn unit(x: f64) -> f64 {
    x.abs().next_up() - x.abs()
}

#[test]
fn doubles_stay_within_two_units() {
    let (mut run, made) = (Runner::default(), body(Op::Logaddexp, DType::F64));
    let (mut worst, mut cancelled) = (0, 0);
    for &(x, y, expected) in EXACT {
        let got = f64::from_bits(run.one(&made, &[x.to_bits(), y.to_bits()]));
        if cancels(x, y, expected) {
            cancelled += 1;
            assert!((got - expected).abs() <= unit(x.max(y)), "{x:e} {y:e}: {got:e}, not {expected:e}");
        } else {
            worst = worst.max(distance64(got, expected));
        }
    }
    assert!(worst <= 2 && cancelled > 5, "{worst} ULP, {cancelled} cancel");
}

/// The reference is exact enough in `f64`.
#[test]
fn singles_stay_within_two_units() {
    let (mut run, made, mut stream) = (Runner::default(), body(Op::Logaddexp, DType::F32), Stream(3));
    let mut worst = (0, 0.0, 0.0);
    for i in 0..1_000_000 {
        let scale = [1.0, 4.0, 30.0, 200.0, 1e6][i % 5];
        let mut random = || (scale * (2.0 * stream.unit() - 1.0)) as f32;
        let x = random();
        let y = if i % 3 == 0 { x + random() / 64.0 } else { random() };
        let (wide_x, wide_y) = (f64::from(x), f64::from(y));
        let exact = wide_x.max(wide_y) + core_math::log1p(core_math::exp(-(wide_x - wide_y).abs()));
        let got = single(run.one(&made, &[x.to_bits().into(), y.to_bits().into()]));
        assert_eq!(got.to_bits(), single(run.one(&made, &[y.to_bits().into(), x.to_bits().into()])).to_bits());
        if cancels(wide_x, wide_y, exact) {
            let larger = x.max(y).abs();
            let unit = f64::from(larger.next_up() - larger);
            assert!((f64::from(got) - exact).abs() <= unit, "{x:e} {y:e}: {got:e}, not {exact:e}");
        } else {
            let ulp = distance32(got, exact as f32);
            if ulp > worst.0 {
                worst = (ulp, x, y);
            }
        }
    }
    assert!(worst.0 <= 2, "{worst:?}");
}

#[test]
fn special_cases_of_the_array_api() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (x, y, expected, sentence) in [
        (nan, 1.0, nan, "If either x1_i or x2_i is NaN, the result is NaN."),
        (inf, nan, nan, "If either x1_i or x2_i is NaN, the result is NaN."),
        (inf, 1.0, inf, "If x1_i is +infinity and x2_i is not NaN, the result is +infinity."),
        (inf, -inf, inf, "If x1_i is +infinity and x2_i is not NaN, the result is +infinity."),
        (inf, inf, inf, "If x1_i is +infinity and x2_i is not NaN, the result is +infinity."),
        // Not in the standard: log(0 + 0), log(0 + e^y).
        (-inf, -inf, -inf, "The logarithm of 0."),
        (-inf, 3.0, 3.0, "The logarithm of e^3."),
        (-inf, -0.0, 0.0, "The logarithm of 1."),
        (1e4, 1e4, 1e4, "No overflow."),
    ] {
        let expected = if x == 1e4 { 1e4 + std::f64::consts::LN_2 } else { expected };
        assert_special(Op::Logaddexp, &[x, y], expected, sentence);
        assert_special(Op::Logaddexp, &[y, x], expected, sentence);
    }
}

/// The `f64` nearest to `log2(2^x + 2^y)`, of finite operands.
fn exact2(x: f64, y: f64) -> f64 {
    let difference = Dd::from(x.min(y)) - Dd::from(x.max(y));
    if difference.0 < -2000.0 {
        return x.max(y);
    }
    let (m, exponent) = (difference * LN_2).exp();
    let power = m.scaled(exponent.max(-1000));
    if x.max(y) == 0.0 && exponent < -120 {
        (m / LN_2).rounded(exponent)
    } else {
        (Dd::from(x.max(y)) + power.log1p() / LN_2).0
    }
}

/// Pairs of all sizes, some of which nearly cancel.
fn pairs(count: usize) -> Vec<(f64, f64)> {
    let mut stream = Stream(11);
    let mut pairs = Vec::new();
    for i in 0..count {
        let scale = [1.0, 4.0, 30.0, 200.0, 1100.0, 1e6][i % 6];
        let mut random = || scale * (2.0 * stream.unit() - 1.0);
        let x = if i % 7 == 0 { 0.0 } else { random() };
        let y = match i % 3 {
            0 => x + random() / 64.0,
            1 => random(),
            // Where the sum is about 0.
            _ => (1.0 - 2f64.powf(-x.abs())).log2() + random() / (1u64 << (i % 50)) as f64,
        };
        pairs.push(if i % 3 == 2 { (-x.abs(), y) } else { (x, y) });
    }
    pairs.retain(|pair| pair.1.is_finite());
    pairs
}

#[test]
fn base_2_stays_within_two_units() {
    let mut run = Runner::default();
    let (wide, narrow) = (body(Op::Logaddexp2, DType::F64), body(Op::Logaddexp2, DType::F32));
    let (mut worst, mut cancelled) = ((0, 0.0, 0.0), 0);
    for (x, y) in pairs(200_000) {
        let (got, expected) = (f64::from_bits(run.one(&wide, &[x.to_bits(), y.to_bits()])), exact2(x, y));
        let (x32, y32) = (x as f32, y as f32);
        let got32 = single(run.one(&narrow, &[x32.to_bits().into(), y32.to_bits().into()]));
        let expected32 = exact2(x32.into(), y32.into());
        if cancels(x, y, expected) {
            cancelled += 1;
            assert!((got - expected).abs() <= unit(x.max(y)), "{x:e} {y:e}: {got:e}, not {expected:e}");
            let larger = x32.max(y32).abs();
            let unit = f64::from(larger.next_up() - larger);
            assert!((f64::from(got32) - expected32).abs() <= unit, "{x32:e} {y32:e}: {got32:e}, not {expected32:e}");
        } else {
            let ulp = distance64(got, expected).max(distance32(got32, expected32 as f32));
            if ulp > worst.0 {
                worst = (ulp, x, y);
            }
        }
    }
    println!("logaddexp2: {worst:?}, {cancelled} cancel");
    assert!(worst.0 <= 2 && cancelled > 1000, "{worst:?}, {cancelled} cancel");
}

#[test]
fn special_cases_of_base_2() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (x, y, expected, sentence) in [
        (nan, 1.0, nan, "NaN gives NaN."),
        (inf, nan, nan, "NaN gives NaN."),
        (inf, -inf, inf, "log2(inf + 0)."),
        (inf, inf, inf, "log2(inf + inf)."),
        (-inf, -inf, -inf, "log2(0)."),
        (-inf, 3.0, 3.0, "log2(0 + 2^3)."),
        (-inf, -0.0, 0.0, "log2(0 + 1)."),
        (0.0, -0.0, 1.0, "log2(1 + 1)."),
        (-1.0, -1.0, 0.0, "log2(1/2 + 1/2)."),
        (100.0, 100.0, 101.0, "x + 1 for equal operands."),
        (-7.5, -7.5, -6.5, "x + 1 for equal operands."),
    ] {
        assert_special(Op::Logaddexp2, &[x, y], expected, sentence);
        assert_special(Op::Logaddexp2, &[y, x], expected, sentence);
    }
}
