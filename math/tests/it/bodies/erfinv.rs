//! The inverse of the error function: doubles against vectors of a multi-precision program, singles and halves against the double
//! result after one more step of Newton's method on correctly rounded `erf` and `erfc`.

use super::math::{assert_singles, assert_special, distance64, wrong_halves};
use super::support::{Runner, edges32};
use ndjit_ir::DType;
use ndjit_ir::body::Body;
use ndjit_ir::op::Op;
use ndjit_math::body;
use std::sync::LazyLock;

/// `x` and the double nearest to `erfinv(x)`, as bits; `vectors/erfinv.py` makes them.
const VECTORS: &str = include_str!("vectors/erfinv.txt");

#[test]
fn doubles_stay_within_their_bound() {
    let (mut run, made) = (Runner::default(), body(Op::Erfinv, DType::F64));
    let mut worst = (0, 0.0);
    for line in VECTORS.lines() {
        let bits: Vec<u64> = line.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap()).collect();
        for sign in [0, 1 << 63] {
            let got = f64::from_bits(run.one(&made, &[bits[0] | sign]));
            let ulp = distance64(got, f64::from_bits(bits[1] | sign));
            if ulp > worst.0 {
                worst = (ulp, f64::from_bits(bits[0]));
            }
        }
    }
    println!("erfinv f64: {} ULP at {:e}", worst.0, worst.1);
    assert!(worst.0 <= 2, "{} ULP at {:e}", worst.0, worst.1);
}

/// Far more accurate than `f32`: a step of Newton's method doubles the digits of any result that is right to a half of them.
fn reference(x: f64) -> f64 {
    static BODY: LazyLock<Body> = LazyLock::new(|| body(Op::Erfinv, DType::F64));
    let m = x.abs();
    let y = f64::from_bits(BODY.eval(&[m.to_bits()])[0]);
    if m == 0.0 || !y.is_finite() {
        return y.copysign(x);
    }
    let error = if m < 0.5 { core_math::erf(y) - m } else { (1.0 - m) - core_math::erfc(y) };
    let slope = std::f64::consts::FRAC_2_SQRT_PI * core_math::exp(-y * y);
    (y - error / slope).copysign(x)
}

#[test]
fn singles_stay_within_their_bound() {
    let boundaries = (0..256u32).flat_map(|e| [-2, -1, 0, 1, 2].map(|d| (e << 23).wrapping_add_signed(d)));
    let near_one = (1u32..40_000).map(|k| 1f32.to_bits() - k);
    let inputs: Vec<f32> = boundaries
        .chain(near_one)
        .chain((0..1f32.to_bits()).step_by(1999))
        .chain((0.01f32.to_bits()..1f32.to_bits()).step_by(67))
        .flat_map(|bits| [bits, bits | 1 << 31])
        .map(f32::from_bits)
        .chain(edges32())
        .collect();
    assert_singles(Op::Erfinv, &inputs, |x| reference(x.into()) as f32);
}

/// The halves at which a result in `f32` is so close to a tie that it rounds to the wrong side: 1 ULP off. All
/// others are correctly rounded.
const NOT_CORRECTLY_ROUNDED: &[(Op, DType, f64)] =
    &[(Op::Erfinv, DType::F16, 0.8056640625), (Op::Erfinv, DType::F16, -0.8056640625)];

#[test]
fn every_half_is_correctly_rounded_but_for_a_few() {
    assert_eq!(wrong_halves(Op::Erfinv, reference), NOT_CORRECTLY_ROUNDED);
}

/// The Array API and C do not have this function; these follow from `erf`.
#[test]
fn special_cases() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (x, expected, sentence) in [
        (0.0, 0.0, "erf(+0) is +0."),
        (-0.0, -0.0, "erf(-0) is -0."),
        (1.0, inf, "erf(+inf) is 1."),
        (-1.0, -inf, "erf(-inf) is -1."),
        (1.0 + 1.0 / 128.0, nan, "No erf is above 1."),
        (-1.0 - 1.0 / 128.0, nan, "No erf is below -1."),
        (inf, nan, "No erf is above 1."),
        (-inf, nan, "No erf is below -1."),
        (nan, nan, "NaN gives NaN."),
    ] {
        assert_special(Op::Erfinv, &[x], expected, sentence);
    }
}
