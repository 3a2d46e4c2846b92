//! `ldexp`, `frexp`, `modf`, `nan_to_num` and `isclose` in all float formats, against plain Rust.

use super::support::{Runner, Stream, edges32, edges64, half_value, nearest_half, register, same32, same64, single};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;

const HALVES: [DType; 2] = [DType::F16, DType::Bf16];

/// `(m, n)` with `x = m 2^n`, `m` in [0.5, 1): by steps of one.
fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (mut m, mut n) = (x, 0);
    while m.abs() >= 1.0 {
        (m, n) = (m / 2.0, n + 1);
    }
    while m.abs() < 0.5 {
        (m, n) = (m * 2.0, n - 1);
    }
    (m, n)
}

/// `x * 2^n`: one product of two floats rounds it once.
fn ldexp(x: f64, n: i64) -> f64 {
    let (m, exponent) = frexp(x);
    if m == 0.0 || !m.is_finite() {
        return x;
    }
    match n + i64::from(exponent) {
        // Above half of the smallest subnormal only if m is not 0.5.
        -1074 if m.abs() > 0.5 => f64::from_bits(1).copysign(x),
        ..-1073 => 0f64.copysign(x),
        e @ ..-1021 => m * f64::from_bits(1 << (e + 1074)),
        e @ ..1024 => m * 2.0 * 2f64.powi(e as i32 - 1),
        1024 => m * 2.0 * 2f64.powi(1023),
        _ => f64::INFINITY.copysign(x),
    }
}

fn modf(x: f64) -> (f64, f64) {
    let fraction = if x.is_infinite() { 0.0 } else { x - x.trunc() };
    (fraction.copysign(x), x.trunc())
}

const EXPONENTS: [i64; 20] =
    [0, 1, -1, 7, -24, 24, 127, -126, 149, -149, 277, -278, 1023, -1022, 1074, -1074, 2098, -2099, 1 << 40, -(1 << 40)];

#[test]
fn every_half() {
    let mut run = Runner::default();
    for dtype in HALVES {
        let [scale, mantissa, exponent, fraction, integer] =
            [Op::Ldexp, Op::FrexpMantissa, Op::FrexpExponent, Op::ModfFraction, Op::ModfInteger]
                .map(|op| body(op, dtype));
        for bits in 0..=u16::MAX {
            let x = half_value(dtype, bits);
            let (m, n) = frexp(x);
            assert!(same32(single(run.one(&mantissa, &[register(x)])), m as f32), "{dtype} {x:e}");
            assert_eq!(run.one(&exponent, &[register(x)]) as u32 as i32, n, "{dtype} {x:e}");
            let (f, i) = modf(x);
            assert!(same32(single(run.one(&fraction, &[register(x)])), f as f32), "{dtype} {x:e}");
            assert!(same32(single(run.one(&integer, &[register(x)])), i as f32), "{dtype} {x:e}");
            for n in [-300, -40, -25, -9, -1, 1, 8, 17, 39, 257, 261, 300] {
                let got = single(run.one(&scale, &[register(x), register(n as f64)]));
                let expected = nearest_half(dtype, ldexp(x, n)) as f32;
                assert!(same32(got, expected), "{dtype} ldexp({x:e}, {n}) is {got:e}, not {expected:e}");
            }
        }
    }
}

#[test]
fn singles_and_doubles() {
    let (mut run, mut stream) = (Runner::default(), Stream(1));
    let mut singles = edges32();
    singles.extend((0..2000).map(|_| f32::from_bits(stream.bits() as u32)));
    let [scale, mantissa, exponent, fraction, integer] =
        [Op::Ldexp, Op::FrexpMantissa, Op::FrexpExponent, Op::ModfFraction, Op::ModfInteger]
            .map(|op| body(op, DType::F32));
    for &x in &singles {
        let bits = [u64::from(x.to_bits())];
        let (m, n) = frexp(x.into());
        assert!(same32(single(run.one(&mantissa, &bits)), m as f32), "{x:e}");
        assert_eq!(run.one(&exponent, &bits) as u32 as i32, n, "{x:e}");
        let (f, i) = modf(x.into());
        assert!(same32(single(run.one(&fraction, &bits)), f as f32), "{x:e}");
        assert!(same32(single(run.one(&integer, &bits)), i as f32), "{x:e}");
        for n in EXPONENTS {
            let got = single(run.one(&scale, &[bits[0], (n as f32).to_bits().into()]));
            assert!(same32(got, ldexp(x.into(), n) as f32), "ldexp({x:e}, {n}) is {got:e}");
        }
    }
    let mut doubles = edges64();
    doubles.extend((0..2000).map(|_| f64::from_bits(stream.bits())));
    let [scale, mantissa, exponent, fraction, integer] =
        [Op::Ldexp, Op::FrexpMantissa, Op::FrexpExponent, Op::ModfFraction, Op::ModfInteger]
            .map(|op| body(op, DType::F64));
    for &x in &doubles {
        let bits = [x.to_bits()];
        let (m, n) = frexp(x);
        assert!(same64(f64::from_bits(run.one(&mantissa, &bits)), m), "{x:e}");
        assert_eq!(run.one(&exponent, &bits) as u32 as i32, n, "{x:e}");
        let (f, i) = modf(x);
        assert!(same64(f64::from_bits(run.one(&fraction, &bits)), f), "{x:e}");
        assert!(same64(f64::from_bits(run.one(&integer, &bits)), i), "{x:e}");
        for n in EXPONENTS {
            let got = f64::from_bits(run.one(&scale, &[bits[0], (n as f64).to_bits()]));
            assert!(same64(got, ldexp(x, n)), "ldexp({x:e}, {n}) is {got:e}, not {:e}", ldexp(x, n));
        }
    }
}

#[test]
fn numbers_in_place_of_nan_and_infinities() {
    let mut run = Runner::default();
    for (dtype, largest) in [(DType::F16, 65504.0), (DType::Bf16, f64::from(f32::from_bits(0x7f7f_0000)))] {
        let made = body(Op::NanToNum, dtype);
        for bits in 0..=u16::MAX {
            let x = half_value(dtype, bits);
            let expected = if x.is_nan() { 0.0 } else { x.clamp(-largest, largest) };
            assert!(same32(single(run.one(&made, &[register(x)])), expected as f32), "{dtype} {x:e}");
        }
    }
    let made = body(Op::NanToNum, DType::F32);
    for x in edges32() {
        let expected = if x.is_nan() { 0.0 } else { x.clamp(f32::MIN, f32::MAX) };
        assert!(same32(single(run.one(&made, &[x.to_bits().into()])), expected), "{x:e}");
    }
    let made = body(Op::NanToNum, DType::C128);
    for x in edges64() {
        let expected = if x.is_nan() { 0.0 } else { x.clamp(f64::MIN, f64::MAX) };
        let (re, im) = run.two(&made, &[x.to_bits(), (-x).to_bits()]);
        assert!(same64(f64::from_bits(re), expected) && same64(f64::from_bits(im).abs(), expected.abs()), "{x:e}");
    }
}

/// NumPy's words for `isclose`.
fn isclose(x: f64, y: f64, rtol: f64, atol: f64) -> bool {
    x == y || x.is_finite() && y.is_finite() && (x - y).abs() <= atol + rtol * y.abs()
}

#[test]
fn closeness() {
    let (mut run, values) = (Runner::default(), [0.0, 1e-9, 1.0, 1.000_009, 1.000_02, 1e5, f64::INFINITY, f64::NAN]);
    let (real, complex) = (body(Op::IsClose, DType::F64), body(Op::IsClose, DType::C128));
    for x in values.into_iter().flat_map(|x| [x, -x]) {
        for y in values.into_iter().flat_map(|y| [y, -y]) {
            for (rtol, atol) in [(1e-5, 1e-8), (0.0, 0.0), (0.0, 1.0), (f64::NAN, 0.0)] {
                let expected = isclose(x, y, rtol, atol);
                let args = [x, y, rtol, atol].map(f64::to_bits);
                assert_eq!(run.one(&real, &args) == 1, expected, "{x:e} {y:e} {rtol} {atol}");
                let parts = [0.0, x, 0.0, y, rtol, 7.0, atol, 7.0].map(f64::to_bits);
                assert_eq!(run.one(&complex, &parts) == 1, expected, "{x:e}i {y:e}i {rtol} {atol}");
            }
        }
    }
}

#[test]
fn angles_of_real_numbers() {
    let mut run = Runner::default();
    let made = body(Op::Angle, DType::F64);
    for x in edges64() {
        let expected = if x.is_nan() { x } else { 0f64.atan2(x) };
        assert!(same64(f64::from_bits(run.one(&made, &[x.to_bits()])), expected), "{x:e}");
    }
}
