//! The error function and its complement against correctly rounded references.

use super::math::{assert_doubles, assert_singles, assert_special, wrong_halves};
use super::support::{Stream, edges32, edges64};
use ndjit_ir::DType;
use ndjit_ir::op::Op;

type Reference32 = fn(f32) -> f32;
type Reference64 = fn(f64) -> f64;

const FUNCTIONS: &[(Op, Reference32, Reference64)] =
    &[(Op::Erf, core_math::erff, core_math::erf), (Op::Erfc, core_math::erfcf, core_math::erfc)];

/// The limits between methods, and where results become 1, 2, subnormal or 0.
const THRESHOLDS: [f64; 17] = [
    0.75,
    1.0,
    3.832506657,
    3.9192059,
    4.0,
    5.5,
    5.9215871957945065,
    6.0,
    9.194549561,
    10.05,
    10.0541944504,
    10.5,
    26.54325845425098,
    27.2,
    27.226017111108366,
    27.3,
    2.9356000423431396,
];

#[test]
fn singles_stay_within_their_bounds() {
    // All exponents with their adjacent floats, a stride through all bit patterns, and a closer one where results vary.
    let boundaries = (0..512u32).flat_map(|e| [-2, -1, 0, 1, 2].map(|d| (e << 23).wrapping_add_signed(d)));
    let varying = (0.05f32.to_bits()..11f32.to_bits()).step_by(131).flat_map(|bits| [bits, bits | 1 << 31]);
    let inputs: Vec<f32> = boundaries
        .chain((0..=u32::MAX).step_by(8191))
        .chain(varying)
        .map(f32::from_bits)
        .chain(edges32())
        .chain(THRESHOLDS.into_iter().map(|x| x as f32).flat_map(|x| [x, x.next_up(), x.next_down(), -x]))
        .collect();
    for &(op, reference, _) in FUNCTIONS {
        assert_singles(op, &inputs, reference);
    }
}

#[test]
fn doubles_stay_within_their_bounds() {
    let mut stream = Stream(31);
    let mut inputs = edges64();
    inputs.extend(THRESHOLDS.into_iter().flat_map(|x| [x, x.next_up(), x.next_down(), -x]));
    for exponent in 0..2047u64 {
        let bits = exponent << 52;
        inputs.extend([bits.wrapping_sub(1), bits, bits + 1].map(f64::from_bits));
        inputs.extend((0..10).map(|_| f64::from_bits(bits | stream.bits() >> 12 | stream.bits() << 63)));
    }
    for _ in 0..50_000 {
        let unit = 2.0 * stream.unit() - 1.0;
        inputs.extend([unit, 0.75 + unit / 16.0, 6.0 * unit, 27.5 * unit]);
    }
    for &(op, _, reference) in FUNCTIONS {
        assert_doubles(op, &inputs, reference);
    }
}

/// The halves at which a result in `f32` is so close to a tie that it rounds to the wrong side: 1 ULP off. All
/// others are correctly rounded.
const NOT_CORRECTLY_ROUNDED: &[(Op, DType, f64)] = &[
    (Op::Erf, DType::F16, 0.0014820098876953125),
    (Op::Erf, DType::F16, -0.0014820098876953125),
    (Op::Erfc, DType::F16, 0.00021636486053466797),
    (Op::Erfc, DType::F16, -0.00043272972106933594),
];

#[test]
fn every_half_is_correctly_rounded_but_for_a_few() {
    let wrong: Vec<_> = FUNCTIONS.iter().flat_map(|&(op, _, reference)| wrong_halves(op, reference)).collect();
    assert_eq!(wrong, NOT_CORRECTLY_ROUNDED);
}

/// Annex F of C, F.10.8: the Array API does not have these functions.
#[test]
fn special_cases_of_c() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (op, x, expected, sentence) in [
        (Op::Erf, 0.0, 0.0, "erf(±0) returns ±0."),
        (Op::Erf, -0.0, -0.0, "erf(±0) returns ±0."),
        (Op::Erf, inf, 1.0, "erf(±∞) returns ±1."),
        (Op::Erf, -inf, -1.0, "erf(±∞) returns ±1."),
        (Op::Erf, nan, nan, "NaN gives NaN."),
        (Op::Erf, 100.0, 1.0, "1 after rounding."),
        (Op::Erfc, -inf, 2.0, "erfc(−∞) returns 2."),
        (Op::Erfc, inf, 0.0, "erfc(+∞) returns +0."),
        (Op::Erfc, nan, nan, "NaN gives NaN."),
        (Op::Erfc, 0.0, 1.0, "Exact."),
        (Op::Erfc, -0.0, 1.0, "Exact."),
        (Op::Erfc, 100.0, 0.0, "Underflow."),
        (Op::Erfc, -100.0, 2.0, "2 after rounding."),
    ] {
        assert_special(op, &[x], expected, sentence);
    }
}
