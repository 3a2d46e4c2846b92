//! Degrees and radians against the product with a constant of 74 bits, rounded once: only subnormal results may be 1 ULP off.

use super::math::{assert_special, distance32, distance64, wrong_halves};
use super::support::{Runner, Stream, edges32, edges64, single};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;

/// pi / 180 and 180 / pi as 74-bit integers and the exponents of their last bits.
const RADIANS: (u128, i32) = (0x23be8d44a53a722b83b, -79);
const DEGREES: (u128, i32) = (0x394bb834c783ef70c2a, -68);

/// The exact `x * constant` rounded once to `f64`, or to `f32`; the 74 bits of the constant suffice except for a product within
/// 2^-73 of the middle of two floats.
fn product(x: f64, (digits, exponent): (u128, i32), mantissa: i32, least: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let field = ((x.to_bits() >> 52) & 0x7ff) as i32;
    let fraction = x.to_bits() & ((1 << 52) - 1);
    let (m, e) = if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    let (full, e) = (u128::from(m) * digits, e + exponent);
    // Bits below the last of the result, which is 2^least at the smallest.
    let top = 127 - full.leading_zeros() as i32 + e;
    let drop = (top - mantissa).max(least) - e;
    if drop > 127 {
        return 0f64.copysign(x);
    }
    let (kept, rest) = (full >> drop, full & ((1 << drop) - 1));
    let up = rest > 1 << (drop - 1);
    let magnitude = (kept + u128::from(up)) as f64;
    // In two steps, neither of which rounds.
    let half = (e + drop) / 2;
    (magnitude * 2f64.powi(half) * 2f64.powi(e + drop - half)).copysign(x)
}

#[test]
fn degrees_and_radians_are_correctly_rounded() {
    let (mut run, mut stream) = (Runner::default(), Stream(9));
    for (op, constant) in [(Op::Degrees, DEGREES), (Op::Radians, RADIANS)] {
        let made = body(op, DType::F64);
        let mut doubles = edges64();
        doubles.extend((0..400_000).map(|_| f64::from_bits(stream.bits())));
        doubles.extend((0..20_000).map(|_| f64::from_bits(stream.bits() >> 11)));
        for x in doubles {
            let got = f64::from_bits(run.one(&made, &[x.to_bits()]));
            let ulp = distance64(got, product(x, constant, 52, -1074));
            assert!(ulp <= u64::from(got.abs() < f64::MIN_POSITIVE), "{op} of {x:e} in f64: {got:e}, {ulp} ULP off");
        }
        let made = body(op, DType::F32);
        for x in (0..=u32::MAX).step_by(8191).map(f32::from_bits).chain(edges32()) {
            let got = single(run.one(&made, &[x.to_bits().into()]));
            let expected = product(x.into(), constant, 23, -149) as f32;
            let ulp = distance32(got, expected);
            assert!(ulp <= u64::from(got.abs() < f32::MIN_POSITIVE), "{op} of {x:e} in f32: {got:e}, not {expected:e}");
        }
    }
}

#[test]
fn zeros_infinities_and_nan_give_themselves() {
    for op in [Op::Degrees, Op::Radians] {
        for x in [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_special(op, &[x], x, "As NumPy's.");
        }
    }
    assert_special(Op::Radians, &[180.0], std::f64::consts::PI, "Half a turn.");
}

#[test]
fn degrees_and_radians_of_halves() {
    let wrong: Vec<_> = [(Op::Degrees, DEGREES), (Op::Radians, RADIANS)]
        .into_iter()
        .flat_map(|(op, constant)| wrong_halves(op, |x| product(x, constant, 52, -1074)))
        .collect();
    assert_eq!(wrong, []);
}
