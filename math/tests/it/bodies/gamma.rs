//! The gamma function and its logarithm against correctly rounded references.

use super::math::{assert_doubles, assert_singles, assert_special, distance32, distance64, wrong_halves};
use super::support::{Runner, Stream, edges32, edges64, single};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;

/// The limits between methods, changes of kind, and minima.
const THRESHOLDS: [f64; 22] = [
    0.5,
    1.0,
    1.4616321449683623,
    1.5,
    2.0,
    2.5,
    4.5,
    8.5,
    34.0,
    35.0401,
    171.0,
    171.6243769563027,
    1.0 / f32::MAX as f64,
    1.0 / f64::MAX,
    36.7,
    40.0,
    42.5,
    60.5,
    177.8,
    184.5,
    4.085003e36,
    2.5563481638716906e305,
];

/// The zeros of `lgamma` between negative integers, rounded down.
const ZEROS: [f64; 8] = [
    -2.457024738220801,
    -2.7476827267274127,
    -3.14358088834998,
    -3.955294284858598,
    -4.039361839740536,
    -4.991544640560048,
    -5.00821816803227,
    -9.999999724266632,
];

fn singles() -> Vec<f32> {
    // All exponents with their adjacent floats, a stride through all bit patterns, and a closer one where results vary.
    let boundaries = (0..512u32).flat_map(|e| [-2, -1, 0, 1, 2].map(|d| (e << 23).wrapping_add_signed(d)));
    let varying = (0.05f32.to_bits()..64f32.to_bits()).step_by(311).flat_map(|bits| [bits, bits | 1 << 31]);
    let integers = (-200..200).map(|n| n as f32).flat_map(|x| [x, x.next_up(), x.next_down(), x + 0.5]);
    boundaries
        .chain((0..=u32::MAX).step_by(8191))
        .chain(varying)
        .map(f32::from_bits)
        .chain(edges32())
        .chain(integers)
        .chain(THRESHOLDS.into_iter().map(|x| x as f32).flat_map(|x| [x, x.next_up(), x.next_down(), -x]))
        .collect()
}

fn doubles() -> Vec<f64> {
    let mut stream = Stream(37);
    let mut inputs = edges64();
    inputs.extend(THRESHOLDS.into_iter().flat_map(|x| [x, x.next_up(), x.next_down(), -x]));
    inputs.extend((-200..200).map(f64::from).flat_map(|x| [x, x.next_up(), x.next_down(), x + 0.5]));
    for exponent in 0..2047u64 {
        let bits = exponent << 52;
        inputs.extend([bits.wrapping_sub(1), bits, bits + 1].map(f64::from_bits));
        inputs.extend((0..10).map(|_| f64::from_bits(bits | stream.bits() >> 12 | stream.bits() << 63)));
    }
    for _ in 0..40_000 {
        let unit = 2.0 * stream.unit() - 1.0;
        inputs.extend([unit, 1.5 + unit, 10.0 * unit, 90.0 + 82.0 * unit, -92.0 + 92.0 * unit]);
    }
    inputs
}

#[test]
fn tgamma_stays_within_its_bound() {
    assert_singles(Op::Tgamma, &singles(), core_math::tgammaf);
    assert_doubles(Op::Tgamma, &doubles(), core_math::tgamma);
}

#[test]
fn lgamma_stays_within_its_bound_where_it_is_not_near_a_negative_zero() {
    let singles: Vec<f32> = singles().into_iter().filter(|&x| x > -2.0 || core_math::lgammaf(x).abs() > 0.1).collect();
    assert_singles(Op::Lgamma, &singles, core_math::lgammaf);
    let doubles: Vec<f64> = doubles().into_iter().filter(|&x| x > -2.0 || core_math::lgamma(x).abs() > 0.1).collect();
    assert_doubles(Op::Lgamma, &doubles, core_math::lgamma);
}

/// The documented bound there: the error in units of the format's precision, not of a result near 0.
#[test]
fn lgamma_is_absolutely_accurate_near_its_negative_zeros() {
    let mut run = Runner::default();
    let (in_single, in_double) = (body(Op::Lgamma, DType::F32), body(Op::Lgamma, DType::F64));
    let mut stream = Stream(41);
    let mut worst = (0f64, 0f64);
    for zero in ZEROS {
        let pole = (zero - zero.round()).abs();
        for _ in 0..10_000 {
            let x = zero + 0.2 * pole * (2.0 * stream.unit() - 1.0) * 2f64.powi(-((stream.bits() % 24) as i32));
            let single_x = x as f32;
            let (got, exact) =
                (single(run.one(&in_single, &[single_x.to_bits().into()])), core_math::lgammaf(single_x));
            if distance32(got, exact) > 2 {
                worst.0 = worst.0.max((f64::from(got) - f64::from(exact)).abs());
            }
            let (got, exact) = (f64::from_bits(run.one(&in_double, &[x.to_bits()])), core_math::lgamma(x));
            if distance64(got, exact) > 2 {
                worst.1 = worst.1.max((got - exact).abs());
            }
        }
    }
    println!("lgamma near negative zeros: 2^{:.1} (f32), 2^{:.1} (f64)", worst.0.log2(), worst.1.log2());
    assert!(worst.0 <= 2f64.powi(-25) && worst.1 <= 2f64.powi(-54), "{worst:?}");
}

#[test]
fn factorials_are_exact() {
    let mut run = Runner::default();
    let (in_single, in_double) = (body(Op::Tgamma, DType::F32), body(Op::Tgamma, DType::F64));
    let mut factorial = 1.0;
    for n in 1..=22 {
        let x = f64::from(n);
        if n <= 13 {
            assert_eq!(single(run.one(&in_single, &[(x as f32).to_bits().into()])), factorial as f32, "{n}");
        }
        assert_eq!(f64::from_bits(run.one(&in_double, &[x.to_bits()])), factorial, "{n}");
        factorial *= x;
    }
}

/// The halves at which a result in `f32` is so close to a tie that it rounds to the wrong side: 1 ULP off. All
/// others are correctly rounded.
const NOT_CORRECTLY_ROUNDED: &[(Op, DType, f64)] = &[
    (Op::Tgamma, DType::F16, 3.802776336669922e-5),
    (Op::Tgamma, DType::F16, 0.002323150634765625),
    (Op::Lgamma, DType::F16, 0.0002684593200683594),
    (Op::Lgamma, DType::F16, 2.263671875),
    (Op::Lgamma, DType::F16, -56.59375),
];

#[test]
fn every_half_is_correctly_rounded_but_for_a_few() {
    let mut wrong = wrong_halves(Op::Tgamma, core_math::tgamma);
    wrong.extend(wrong_halves(Op::Lgamma, core_math::lgamma));
    assert_eq!(wrong, NOT_CORRECTLY_ROUNDED);
}

/// Between them the result overflows. It was infinite for the smaller one too, whose product rounds to infinity before the sum.
#[test]
fn lgamma_of_the_largest_single_that_does_not_overflow_is_finite() {
    let (mut run, made) = (Runner::default(), body(Op::Lgamma, DType::F32));
    let last = 4.085_003e36_f32;
    for x in [last, last.next_up()] {
        let got = single(run.one(&made, &[x.to_bits().into()]));
        assert_eq!(got, core_math::lgammaf(x), "{x:e}");
        assert_eq!(got.is_finite(), x == last, "{x:e}");
    }
}

/// Annex F of C, F.10.8: the Array API does not have these functions.
#[test]
fn special_cases_of_c() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (op, x, expected, sentence) in [
        (Op::Lgamma, 1.0, 0.0, "lgamma(1) returns +0."),
        (Op::Lgamma, 2.0, 0.0, "lgamma(2) returns +0."),
        (Op::Lgamma, 0.0, inf, "lgamma(x) returns +∞ for x a negative integer or zero."),
        (Op::Lgamma, -0.0, inf, "lgamma(x) returns +∞ for x a negative integer or zero."),
        (Op::Lgamma, -1.0, inf, "lgamma(x) returns +∞ for x a negative integer or zero."),
        (Op::Lgamma, -2.0, inf, "lgamma(x) returns +∞ for x a negative integer or zero."),
        (Op::Lgamma, -64.0, inf, "lgamma(x) returns +∞ for x a negative integer or zero."),
        (Op::Lgamma, -2f64.powi(15), inf, "lgamma(x) returns +∞ for x a negative integer or zero."),
        (Op::Lgamma, -inf, inf, "lgamma(−∞) returns +∞."),
        (Op::Lgamma, inf, inf, "lgamma(+∞) returns +∞."),
        (Op::Lgamma, nan, nan, "NaN gives NaN."),
        (Op::Tgamma, 0.0, inf, "tgamma(±0) returns ±∞."),
        (Op::Tgamma, -0.0, -inf, "tgamma(±0) returns ±∞."),
        (Op::Tgamma, -1.0, nan, "tgamma(x) returns a NaN for x a negative integer."),
        (Op::Tgamma, -2.0, nan, "tgamma(x) returns a NaN for x a negative integer."),
        (Op::Tgamma, -256.0, nan, "tgamma(x) returns a NaN for x a negative integer."),
        (Op::Tgamma, -2f64.powi(15), nan, "tgamma(x) returns a NaN for x a negative integer."),
        (Op::Tgamma, -inf, nan, "tgamma(−∞) returns a NaN."),
        (Op::Tgamma, inf, inf, "tgamma(+∞) returns +∞."),
        (Op::Tgamma, nan, nan, "NaN gives NaN."),
        (Op::Tgamma, 1.0, 1.0, "Exact."),
        (Op::Tgamma, 2.0, 1.0, "Exact."),
        (Op::Tgamma, 5.0, 24.0, "Exact."),
        (Op::Tgamma, 200.0, inf, "Overflow."),
    ] {
        assert_special(op, &[x], expected, sentence);
    }
}
