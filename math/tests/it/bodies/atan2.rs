//! The angle of a point against a correctly rounded reference; special cases sentence by sentence of the Array API.

use super::math::{assert_special, distance32, distance64};
use super::support::{Runner, Stream, edges32, edges64, half_value, nearest_half, register, single};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

#[test]
fn special_cases_of_atan2() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let three = 3.0 * FRAC_PI_4;
    for (y, x, expected, sentence) in [
        (nan, 1.0, nan, "If either x1_i or x2_i is NaN, the result is NaN."),
        (0.0, nan, nan, "If either x1_i or x2_i is NaN, the result is NaN."),
        (inf, nan, nan, "If either x1_i or x2_i is NaN, the result is NaN."),
        (nan, -inf, nan, "If either x1_i or x2_i is NaN, the result is NaN."),
        (1.0, 0.0, FRAC_PI_2, "If x1_i is greater than 0 and x2_i is +0, the result is an approximation to +pi/2."),
        (1e-6, -0.0, FRAC_PI_2, "If x1_i is greater than 0 and x2_i is -0, the result is an approximation to +pi/2."),
        (0.0, 1e-6, 0.0, "If x1_i is +0 and x2_i is greater than 0, the result is +0."),
        (0.0, 0.0, 0.0, "If x1_i is +0 and x2_i is +0, the result is +0."),
        (0.0, -0.0, PI, "If x1_i is +0 and x2_i is -0, the result is an approximation to +pi."),
        (0.0, -1.0, PI, "If x1_i is +0 and x2_i is less than 0, the result is an approximation to +pi."),
        (-0.0, 1.0, -0.0, "If x1_i is -0 and x2_i is greater than 0, the result is -0."),
        (-0.0, 0.0, -0.0, "If x1_i is -0 and x2_i is +0, the result is -0."),
        (-0.0, -0.0, -PI, "If x1_i is -0 and x2_i is -0, the result is an approximation to -pi."),
        (-0.0, -1.0, -PI, "If x1_i is -0 and x2_i is less than 0, the result is an approximation to -pi."),
        (-1.0, 0.0, -FRAC_PI_2, "If x1_i is less than 0 and x2_i is +0, the result is an approximation to -pi/2."),
        (-1.0, -0.0, -FRAC_PI_2, "If x1_i is less than 0 and x2_i is -0, the result is an approximation to -pi/2."),
        (1.0, inf, 0.0, "If x1_i is greater than 0, is a finite number, and x2_i is +infinity, the result is +0."),
        (
            1.0,
            -inf,
            PI,
            "If x1_i is greater than 0, is a finite number, and x2_i is -infinity, an approximation to +pi.",
        ),
        (-1.0, inf, -0.0, "If x1_i is less than 0, is a finite number, and x2_i is +infinity, the result is -0."),
        (
            -1.0,
            -inf,
            -PI,
            "If x1_i is less than 0, is a finite number, and x2_i is -infinity, an approximation to -pi.",
        ),
        (
            inf,
            6e4,
            FRAC_PI_2,
            "If x1_i is +infinity and x2_i is a finite number, the result is an approximation to +pi/2.",
        ),
        (
            inf,
            -0.0,
            FRAC_PI_2,
            "If x1_i is +infinity and x2_i is a finite number, the result is an approximation to +pi/2.",
        ),
        (-inf, -6e4, -FRAC_PI_2, "If x1_i is -infinity and x2_i is a finite number, an approximation to -pi/2."),
        (inf, inf, FRAC_PI_4, "If x1_i is +infinity and x2_i is +infinity, the result is an approximation to +pi/4."),
        (inf, -inf, three, "If x1_i is +infinity and x2_i is -infinity, the result is an approximation to +3pi/4."),
        (-inf, inf, -FRAC_PI_4, "If x1_i is -infinity and x2_i is +infinity, the result is an approximation to -pi/4."),
        (-inf, -inf, -three, "If x1_i is -infinity and x2_i is -infinity, the result is an approximation to -3pi/4."),
    ] {
        assert_special(Op::Atan2, &[y, x], expected, sentence);
    }
}

/// Pairs of a type's values: all edges with each other; quotients near and far from 1, of any sizes; subnormal results.
fn pairs64() -> Vec<(f64, f64)> {
    let edges = edges64();
    let mut pairs: Vec<(f64, f64)> = edges.iter().flat_map(|&y| edges.iter().map(move |&x| (y, x))).collect();
    let mut stream = Stream(5);
    for _ in 0..60_000 {
        let [a, c] = [stream.bits(), stream.bits()].map(f64::from_bits);
        let (u, v) = (1.0 + stream.unit(), 1.0 + stream.unit());
        let exponent = (stream.bits() % 2040) as i32 - 1020;
        let scale = 2f64.powi(exponent);
        pairs.extend([
            (a, c),
            (a, -a * u),
            (u * scale, v * scale),
            (-u * scale, v * scale / 2.0),
            (u * 2f64.powi(-530), v * 2f64.powi(500 + exponent / 100)),
            (f64::from_bits(stream.bits() >> 20), -f64::from_bits(stream.bits() >> 20)),
            (f64::from_bits(stream.bits() >> 12), v * 2f64.powi(exponent / 16)),
        ]);
    }
    pairs
}

#[test]
fn atan2_of_doubles_stays_within_its_bound() {
    let (mut run, made, mut worst) = (Runner::default(), body(Op::Atan2, DType::F64), (0, 0.0, 0.0));
    for (y, x) in pairs64() {
        let got = f64::from_bits(run.one(&made, &[y.to_bits(), x.to_bits()]));
        let ulp = distance64(got, core_math::atan2(y, x));
        if ulp > worst.0 {
            worst = (ulp, y, x);
        }
    }
    println!("atan2 f64: {worst:?}");
    assert!(worst.0 <= 1, "{worst:?}");
}

fn pairs32() -> Vec<(f32, f32)> {
    let edges = edges32();
    let mut pairs: Vec<(f32, f32)> = edges.iter().flat_map(|&y| edges.iter().map(move |&x| (y, x))).collect();
    let mut stream = Stream(6);
    for _ in 0..150_000 {
        let (a, c) = (f32::from_bits(stream.bits() as u32), f32::from_bits(stream.bits() as u32));
        let (u, v) = (1.0 + stream.unit() as f32, 1.0 + stream.unit() as f32);
        let exponent = (stream.bits() % 250) as i32 - 125;
        let scale = 2f32.powi(exponent);
        pairs.extend([
            (a, c),
            (a, -a * u),
            (u * scale, v * scale),
            (-u * scale, v * scale / 2.0),
            (u * 2f32.powi(-64), v * 2f32.powi(62 + exponent / 20)),
            (f32::from_bits((stream.bits() >> 44) as u32), -f32::from_bits((stream.bits() >> 44) as u32)),
            (f32::from_bits((stream.bits() >> 41) as u32), v * 2f32.powi(exponent / 8)),
        ]);
    }
    pairs
}

#[test]
fn atan2_of_singles_stays_within_its_bound() {
    let (mut run, made, mut worst) = (Runner::default(), body(Op::Atan2, DType::F32), (0, 0.0, 0.0));
    for (y, x) in pairs32() {
        let got = single(run.one(&made, &[y.to_bits().into(), x.to_bits().into()]));
        let ulp = distance32(got, core_math::atan2f(y, x));
        if ulp > worst.0 {
            worst = (ulp, y, x);
        }
    }
    println!("atan2 f32: {worst:?}");
    assert!(worst.0 <= 1, "{worst:?}");
}

/// A sample of pairs: the number of results not correctly rounded (all by 1 ULP).
#[test]
fn atan2_of_halves_is_mostly_correctly_rounded() {
    let (mut run, mut stream, mut found) = (Runner::default(), Stream(8), Vec::new());
    for dtype in [DType::F16, DType::Bf16] {
        let (made, mut wrong) = (body(Op::Atan2, dtype), 0);
        for _ in 0..400_000 {
            let bits = stream.bits();
            let (y, x) = (half_value(dtype, bits as u16), half_value(dtype, (bits >> 16) as u16));
            let expected = nearest_half(dtype, core_math::atan2(y, x));
            let got = f64::from(single(run.one(&made, &[register(y), register(x)])));
            if distance64(got, expected) != 0 {
                wrong += 1;
                let exact = core_math::atan2(y, x);
                assert!(
                    (got - exact).abs() <= 1.001 * (expected - exact).abs(),
                    "{y:e} {x:e}: {got:e}, not {expected:e}"
                );
            }
        }
        found.push((dtype, wrong));
    }
    assert_eq!(found, [(DType::F16, 79), (DType::Bf16, 0)]);
}
