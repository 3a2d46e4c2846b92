//! The tangent and the inverse trigonometric functions against correctly rounded references, special cases sentence by
//! sentence of the Array API.

use super::math::{assert_doubles, assert_singles, assert_special, wrong_halves};
use super::support::{Stream, edges32, edges64};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

type Reference32 = fn(f32) -> f32;
type Reference64 = fn(f64) -> f64;

const FUNCTIONS: &[(Op, Reference32, Reference64)] = &[
    (Op::Tan, core_math::tanf, core_math::tan),
    (Op::Asin, core_math::asinf, core_math::asin),
    (Op::Acos, core_math::acosf, core_math::acos),
    (Op::Atan, core_math::atanf, core_math::atan),
];

#[test]
fn singles_stay_within_their_bounds() {
    // All exponents with their adjacent floats, limits between methods, multiples of pi/4, then a stride through all bit patterns.
    let turns = (1..3000).flat_map(|k| near32((f64::from(k) * FRAC_PI_4) as f32));
    let inputs: Vec<f32> = (0..512u32)
        .flat_map(|e| near32(f32::from_bits(e << 23)))
        .chain((0..=u32::MAX).step_by(4093).map(f32::from_bits))
        .chain(edges32())
        .chain([0.5, 131_072.0, 1.6e7, 4.2e9, 1e20, 3e38, 1.0].into_iter().flat_map(near32))
        .chain(turns)
        .collect();
    for &(op, reference, _) in FUNCTIONS {
        assert_singles(op, &inputs, reference);
    }
}

/// A float and its adjacent ones, of both signs.
fn near32(x: f32) -> [f32; 6] {
    [x, x.next_up(), x.next_down(), -x, -x.next_up(), -x.next_down()]
}

fn near64(x: f64) -> [f64; 6] {
    [x, x.next_up(), x.next_down(), -x, -x.next_up(), -x.next_down()]
}

#[test]
fn doubles_stay_within_their_bounds() {
    let mut stream = Stream(11);
    let mut inputs = edges64();
    for exponent in 0..2047u64 {
        let bits = exponent << 52;
        inputs.extend(near64(f64::from_bits(bits)));
        inputs.extend((0..20).map(|_| f64::from_bits(bits | stream.bits() >> 12 | stream.bits() << 63)));
    }
    for _ in 0..30_000 {
        let unit = stream.unit();
        // The middle and the ends of [-1, 1], the first turns, and arguments that need all digits of pi.
        inputs.extend([
            unit,
            0.5 + unit / 8.0,
            1.0 - unit / 64.0,
            unit.powi(8) - 1.0,
            8.0 * unit,
            1e4 * unit,
            1e7 * unit,
        ]);
    }
    for k in 1..4000 {
        inputs.extend(near64(f64::from(k) * FRAC_PI_4));
    }
    // The doubles closest to a multiple of pi/2 (Kahan) and to one below 2^20.
    inputs.extend(near64(6381956970095103.0 * 2f64.powi(797)));
    inputs.extend([5.31937264832654e255, 1e22, 1e300, 1_048_576.0, 573_204.3, 0.5].into_iter().flat_map(near64));
    for &(op, _, reference) in FUNCTIONS {
        assert_doubles(op, &inputs, reference);
    }
}

/// The halves at which a function computed in `f32` is so close to a tie that it rounds to the wrong
/// side: 1 ULP off. All others are correctly rounded.
const NOT_CORRECTLY_ROUNDED: &[(Op, DType, f64)] = &[
    (Op::Tan, DType::F16, 0.0357666015625),
    (Op::Tan, DType::F16, 94.8125),
    (Op::Tan, DType::F16, 29856.0),
    (Op::Tan, DType::F16, -0.0357666015625),
    (Op::Tan, DType::F16, -94.8125),
    (Op::Tan, DType::F16, -29856.0),
    (Op::Acos, DType::F16, -4.470348358154297e-6),
    (Op::Acos, DType::F16, -0.07318115234375),
    (Op::Acos, DType::F16, -0.556640625),
    (Op::Atan, DType::F16, 0.0283966064453125),
    (Op::Atan, DType::F16, 0.2095947265625),
    (Op::Atan, DType::F16, 6.4296875),
    (Op::Atan, DType::F16, -0.0283966064453125),
    (Op::Atan, DType::F16, -0.2095947265625),
    (Op::Atan, DType::F16, -6.4296875),
];

#[test]
fn every_half_is_correctly_rounded_but_for_a_few() {
    let wrong: Vec<_> = FUNCTIONS.iter().flat_map(|&(op, _, reference)| wrong_halves(op, reference)).collect();
    assert_eq!(wrong, NOT_CORRECTLY_ROUNDED);
}

#[test]
fn special_cases_of_the_array_api() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (op, x, expected, sentence) in [
        (Op::Tan, nan, nan, "If x_i is NaN, the result is NaN."),
        (Op::Tan, 0.0, 0.0, "If x_i is +0, the result is +0."),
        (Op::Tan, -0.0, -0.0, "If x_i is -0, the result is -0."),
        (Op::Tan, inf, nan, "If x_i is either +infinity or -infinity, the result is NaN."),
        (Op::Tan, -inf, nan, "If x_i is either +infinity or -infinity, the result is NaN."),
        (Op::Asin, nan, nan, "If x_i is NaN, the result is NaN."),
        (Op::Asin, 1.0 + 1.0 / 128.0, nan, "If x_i is greater than 1, the result is NaN."),
        (Op::Asin, inf, nan, "If x_i is greater than 1, the result is NaN."),
        (Op::Asin, -1.0 - 1.0 / 128.0, nan, "If x_i is less than -1, the result is NaN."),
        (Op::Asin, -inf, nan, "If x_i is less than -1, the result is NaN."),
        (Op::Asin, 0.0, 0.0, "If x_i is +0, the result is +0."),
        (Op::Asin, -0.0, -0.0, "If x_i is -0, the result is -0."),
        (Op::Asin, 1.0, FRAC_PI_2, "An approximation to +pi/2."),
        (Op::Asin, -1.0, -FRAC_PI_2, "An approximation to -pi/2."),
        (Op::Acos, nan, nan, "If x_i is NaN, the result is NaN."),
        (Op::Acos, 1.0 + 1.0 / 128.0, nan, "If x_i is greater than 1, the result is NaN."),
        (Op::Acos, inf, nan, "If x_i is greater than 1, the result is NaN."),
        (Op::Acos, -1.0 - 1.0 / 128.0, nan, "If x_i is less than -1, the result is NaN."),
        (Op::Acos, -inf, nan, "If x_i is less than -1, the result is NaN."),
        (Op::Acos, 1.0, 0.0, "If x_i is 1, the result is +0."),
        (Op::Acos, 0.0, FRAC_PI_2, "An approximation to +pi/2."),
        (Op::Acos, -0.0, FRAC_PI_2, "An approximation to +pi/2."),
        (Op::Acos, -1.0, PI, "An approximation to +pi."),
        (Op::Atan, nan, nan, "If x_i is NaN, the result is NaN."),
        (Op::Atan, 0.0, 0.0, "If x_i is +0, the result is +0."),
        (Op::Atan, -0.0, -0.0, "If x_i is -0, the result is -0."),
        (Op::Atan, inf, FRAC_PI_2, "If x_i is +infinity, the result is an approximation to +pi/2."),
        (Op::Atan, -inf, -FRAC_PI_2, "If x_i is -infinity, the result is an approximation to -pi/2."),
    ] {
        assert_special(op, &[x], expected, sentence);
    }
}
