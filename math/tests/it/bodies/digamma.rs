//! The digamma function and its derivatives: doubles against vectors of a multi-precision program, singles and halves against the
//! double result.

use super::math::{assert_special, bound, wrong_halves};
use super::support::{Runner, Stream, edges32, single};
use ndjit_ir::DType;
use ndjit_ir::body::Body;
use ndjit_ir::op::Op;
use ndjit_math::body;
use std::sync::LazyLock;

/// Orders `n`, `x`, and the doubles nearest to the `n`th derivative at `x`, as bits; `vectors/digamma.py` makes them.
const VECTORS: &str = include_str!("vectors/digamma.txt");

/// The number whose ULP is the unit of errors: near zeros between negative integers the terms that cancel there.
fn unit(n: f64, x: f64, result: f64) -> f64 {
    if x < 0.0 { result.abs().max(if n == 0.0 { 0.5 } else { 1.0 }) } else { result }
}

/// The distance from `exact` in units in the last place of `at`; infinite if only one is finite.
fn distance(got: f64, exact: f64, at: f64, digits: i32) -> f64 {
    if got == exact || got.is_nan() && exact.is_nan() {
        return 0.0;
    }
    let exponent = ((at.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(if digits == 23 { -126 } else { -1022 });
    // In two steps: the unit itself may be subnormal.
    let distance = ((got - exact) * 2f64.powi(60) / 2f64.powi(exponent - digits + 60)).abs();
    if distance.is_nan() { f64::INFINITY } else { distance }
}

fn value(run: &mut Runner, made: &Body, n: f64, x: f64) -> f64 {
    let bits =
        if made.inputs == 1 { run.one(made, &[x.to_bits()]) } else { run.one(made, &[n.to_bits(), x.to_bits()]) };
    f64::from_bits(bits)
}

#[test]
fn doubles_stay_within_their_bounds() {
    let mut run = Runner::default();
    let (digamma, polygamma) = (body(Op::Digamma, DType::F64), body(Op::Polygamma, DType::F64));
    for negative in [false, true] {
        let mut worst = [(0.0, 0.0, 0.0); 4];
        for line in VECTORS.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let n: f64 = words[0].parse().unwrap();
            let [x, exact] = [1, 2].map(|i| f64::from_bits(u64::from_str_radix(words[i], 16).unwrap()));
            if negative != (x < 0.0) {
                continue;
            }
            let made = if n == 0.0 { &digamma } else { &polygamma };
            let error = distance(value(&mut run, made, n, x), exact, unit(n, x, exact), 52);
            let row = match n {
                0.0 => 0,
                1.0..9.0 => 1,
                9.0..=200.0 => 2,
                _ => 3,
            };
            if error > worst[row].0 {
                worst[row] = (error, n, x);
            }
        }
        println!("{worst:?}");
        assert!(worst[0].0 <= bound(Op::Digamma) as f64, "{worst:?}");
        assert!(worst[1..].iter().all(|worst| worst.0 <= bound(Op::Polygamma) as f64), "{worst:?}");
    }
}

/// Far more accurate than `f32`.
fn reference(n: f64, x: f64) -> f64 {
    static BODY: LazyLock<Body> = LazyLock::new(|| body(Op::Polygamma, DType::F64));
    f64::from_bits(BODY.eval(&[n.to_bits(), x.to_bits()])[0])
}

#[test]
fn singles_stay_within_their_bounds() {
    let mut run = Runner::default();
    let (digamma, polygamma) = (body(Op::Digamma, DType::F32), body(Op::Polygamma, DType::F32));
    let mut stream = Stream(7);
    let mut inputs: Vec<(f32, f32)> =
        edges32().into_iter().flat_map(|x| [0.0, 1.0, 2.0, 5.0].map(|n| (n, x))).collect();
    inputs.extend((0..u32::MAX).step_by(99_991).map(|bits| (0.0, f32::from_bits(bits))));
    for i in 0..4_000 {
        let (u, v) = (stream.unit() as f32, stream.unit() as f32);
        inputs.extend([
            (0.0, 12.0 * u),
            (0.0, -12.0 * u),
            (0.0, -300.0 * u),
            (0.0, 1.4616321 + (v - 0.5) / 2f32.powi(i % 24)),
        ]);
        let n = (20.0 * v).floor();
        inputs.extend([
            (n, 30.0 * u),
            (n, 2f32.powf(20.0 * u - 10.0)),
            (n, -10.0 * u),
            (10.0 * n, (10.0 * n + 20.0) * u),
        ]);
        inputs.push((1000.0 * n, (1000.0 * n) / std::f32::consts::E * (1.0 + (u - 0.5) / 16.0)));
    }
    let mut worst = [(0.0, 0.0, 0.0); 3];
    for (n, x) in inputs {
        let exact = reference(n.into(), x.into());
        let bits = u64::from(x.to_bits());
        let got = if n == 0.0 { run.one(&digamma, &[bits]) } else { run.one(&polygamma, &[n.to_bits().into(), bits]) };
        let got = f64::from(single(got));
        let rounded = f64::from(exact as f32);
        let exact = if rounded.is_infinite() { rounded } else { exact };
        let error = distance(got, exact, unit(n.into(), x.into(), exact), 23);
        let row = if n == 0.0 {
            0
        } else if x > 0.0 {
            1
        } else {
            2
        };
        if error > worst[row].0 {
            worst[row] = (error, n, x);
        }
    }
    println!("{worst:?}");
    assert!(worst[0].0 <= bound(Op::Digamma) as f64, "{worst:?}");
    assert!(worst[1..].iter().all(|worst| worst.0 <= bound(Op::Polygamma) as f64), "{worst:?}");
}

/// The halves at which a result in `f32` is so close to a tie that it rounds to the wrong side: 1 ULP off. All
/// others are correctly rounded.
const NOT_CORRECTLY_ROUNDED: &[(Op, DType, f64)] = &[
    (Op::Digamma, DType::F16, 0.00014209747314453125),
    (Op::Digamma, DType::F16, 0.0015392303466796875),
    (Op::Digamma, DType::F16, 0.003444671630859375),
    (Op::Digamma, DType::F16, 0.0061492919921875),
    (Op::Digamma, DType::F16, 2720.0),
    (Op::Digamma, DType::F16, 6692.0),
    (Op::Digamma, DType::F16, -3.802776336669922e-5),
    (Op::Digamma, DType::F16, -0.09326171875),
    (Op::Digamma, DType::F16, -0.430419921875),
    (Op::Digamma, DType::F16, -15.765625),
];

#[test]
fn every_half_is_correctly_rounded_but_for_a_few() {
    assert_eq!(wrong_halves(Op::Digamma, |x| reference(0.0, x)), NOT_CORRECTLY_ROUNDED);
}

/// Neither the Array API nor C has these functions; the special values are SciPy's.
#[test]
fn special_cases() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (x, expected, sentence) in [
        (0.0, -inf, "From above -1 / x."),
        (-0.0, inf, "From below -1 / x."),
        (-1.0, nan, "A pole."),
        (-64.0, nan, "A pole."),
        (-2f64.powi(15), nan, "A pole."),
        (inf, inf, "As the logarithm."),
        (-inf, nan, "It has no limit there."),
        (nan, nan, "NaN gives NaN."),
    ] {
        assert_special(Op::Digamma, &[x], expected, sentence);
        assert_special(Op::Polygamma, &[0.0, x], expected, "Order 0 is digamma.");
    }
    for (n, x, expected, sentence) in [
        (1.0, 0.0, inf, "A pole of even order."),
        (1.0, -0.0, inf, "A pole of even order."),
        (1.0, -2.0, inf, "A pole of even order."),
        (3.0, -2.0, inf, "A pole of even order."),
        (2.0, 0.0, -inf, "From above -2 / x^3."),
        (2.0, -0.0, inf, "From below -2 / x^3."),
        (2.0, -1.0, nan, "A pole of odd order."),
        (1.0, inf, 0.0, "As 1 / x."),
        (2.0, inf, -0.0, "As -1 / x^2."),
        (1.0, -inf, nan, "It has no limit there."),
        (0.5, 1.0, nan, "No order."),
        (-1.0, 1.0, nan, "No order."),
        (inf, 1.0, nan, "No order."),
        (nan, 1.0, nan, "NaN gives NaN."),
        (1.0, nan, nan, "NaN gives NaN."),
        (3.0, -0.5, nan, "Not written."),
        (200.0, 1.0, -inf, "Overflow."),
        (128.0, 2f64.powi(15), -0.0, "Underflow."),
    ] {
        assert_special(Op::Polygamma, &[n, x], expected, sentence);
    }
}
