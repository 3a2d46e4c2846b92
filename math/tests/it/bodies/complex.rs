//! Complex bodies: `c64` against `f64` arithmetic over exponents of all sizes, and the special values of C99 Annex G and NumPy.

use super::complex_support::{bits, evaluate, run, value};
use super::support::{Runner, Stream, edges32, same64};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;
use num_complex::Complex64;

/// Units in the last place of an `f32` between `got` and the (nearly exact) `expected`.
fn ulps(got: f64, expected: f64) -> f64 {
    if got == expected || got.is_nan() && expected.is_nan() {
        return 0.0;
    }
    let exponent = ((expected.abs().to_bits() >> 52) as i32 - 1023).max(-126);
    let limit = f64::from(f32::MAX) * (1.0 + 2f64.powi(-24));
    if got.is_infinite() && expected.abs() >= limit && (got > 0.0) == (expected > 0.0) {
        return 0.0;
    }
    (got - expected).abs() / 2f64.powi(exponent - 23)
}

/// A random `f32` value with an exponent in `-limit..=limit`.
fn random(stream: &mut Stream, limit: u64) -> f64 {
    let exponent = 127 - limit + stream.bits() % (2 * limit + 1);
    f32::from_bits((exponent << 23) as u32 | stream.bits() as u32 & 0x807f_ffff).into()
}

/// Complex values with parts of nearby exponents, anywhere in `f32`'s range.
fn sample(stream: &mut Stream) -> Complex64 {
    let common = 2f64.powi((stream.bits() % 240) as i32 - 120);
    let part = |stream: &mut Stream| f64::from((random(stream, 12) * common) as f32);
    Complex64::new(part(stream), part(stream))
}

#[test]
fn parts_are_accurate_over_the_whole_range() {
    let mut runner = Runner::default();
    let mut stream = Stream(9);
    let bodies = [Op::Divide, Op::Reciprocal, Op::Sqrt, Op::Abs, Op::Sign].map(|op| (op, body(op, DType::C64)));
    let mut worst = [0.0f64; 5];
    for _ in 0..60_000 {
        let (x, y) = (sample(&mut stream), sample(&mut stream));
        for (i, (op, made)) in bodies.iter().enumerate() {
            let operands = if *op == Op::Divide { &[x, y][..] } else { &[x][..] };
            let got = evaluate(&mut runner, made, DType::C64, operands);
            let expected = match op {
                Op::Divide => {
                    let norm = y.re * y.re + y.im * y.im;
                    Complex64::new((x.re * y.re + x.im * y.im) / norm, (x.im * y.re - x.re * y.im) / norm)
                }
                Op::Reciprocal => y_conj_over_norm(x),
                Op::Sqrt => sqrt_reference(x),
                Op::Abs => Complex64::new(x.re.hypot(x.im), 0.0),
                _ => x / x.re.hypot(x.im),
            };
            worst[i] = worst[i].max(ulps(got.re, expected.re)).max(ulps(got.im, expected.im));
            assert!(worst[i] < 4.0, "{op} of {x:e} {y:e}: {got:e}, not {expected:e}");
        }
    }
    println!("largest errors in ULP: divide reciprocal sqrt abs sign {worst:?}");
    assert!(worst[0] <= 3.5 && worst[1] <= 3.0 && worst[2] <= 2.5 && worst[3] <= 1.5 && worst[4] <= 2.5, "{worst:?}");
}

fn y_conj_over_norm(y: Complex64) -> Complex64 {
    let norm = y.re * y.re + y.im * y.im;
    Complex64::new(y.re / norm, -y.im / norm)
}

fn sqrt_reference(x: Complex64) -> Complex64 {
    let t = ((x.re.abs() + x.re.hypot(x.im)) / 2.0).sqrt();
    let other = x.im.abs() / (2.0 * t);
    let (re, im) = if x.re < 0.0 { (other, t) } else { (t, other) };
    Complex64::new(re, im.copysign(x.im))
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[test]
fn special_values() {
    let c = Complex64::new;
    let cases: &[(Op, &[Complex64], Complex64)] = &[
        (Op::Conj, &[c(1.0, -0.0)], c(1.0, 0.0)),
        (Op::Real, &[c(-0.0, NAN)], c(-0.0, 0.0)),
        (Op::Imag, &[c(INF, -2.0)], c(-2.0, 0.0)),
        // The operand with a NaN, if only one has any.
        (Op::Maximum, &[c(1.0, 0.0), c(0.0, NAN)], c(0.0, NAN)),
        (Op::Minimum, &[c(NAN, 5.0), c(-1.0, 0.0)], c(NAN, 5.0)),
        (Op::Abs, &[c(INF, NAN)], c(INF, 0.0)),
        (Op::Abs, &[c(NAN, -INF)], c(INF, 0.0)),
        (Op::Abs, &[c(NAN, 1.0)], c(NAN, 0.0)),
        (Op::Abs, &[c(-0.0, 0.0)], c(0.0, 0.0)),
        (Op::Abs, &[c(3.0, 4.0)], c(5.0, 0.0)),
        (Op::Sign, &[c(3.0, -4.0)], c(0.6, -0.8)),
        (Op::Sign, &[c(-0.0, -0.0)], c(0.0, 0.0)),
        (Op::Sign, &[c(-INF, 7.0)], c(-1.0, 0.0)),
        (Op::Sign, &[c(NAN, -INF)], c(0.0, -1.0)),
        (Op::Sign, &[c(INF, INF)], c(NAN, NAN)),
        (Op::Sign, &[c(1.0, NAN)], c(NAN, NAN)),
        (Op::Sign, &[c(0.0, NAN)], c(NAN, NAN)),
        (Op::Sign, &[c(NAN, -0.0)], c(NAN, NAN)),
        (Op::Sqrt, &[c(-1.0, 0.0)], c(0.0, 1.0)),
        (Op::Sqrt, &[c(-1.0, -0.0)], c(0.0, -1.0)),
        (Op::Sqrt, &[c(-4.0, 0.0)], c(0.0, 2.0)),
        (Op::Sqrt, &[c(0.0, -0.0)], c(0.0, -0.0)),
        (Op::Sqrt, &[c(-0.0, 0.0)], c(0.0, 0.0)),
        (Op::Sqrt, &[c(3.0, 4.0)], c(2.0, 1.0)),
        (Op::Sqrt, &[c(INF, -5.0)], c(INF, -0.0)),
        (Op::Sqrt, &[c(-INF, -5.0)], c(0.0, -INF)),
        (Op::Sqrt, &[c(NAN, -INF)], c(INF, -INF)),
        (Op::Sqrt, &[c(INF, NAN)], c(INF, NAN)),
        (Op::Sqrt, &[c(1.0, NAN)], c(NAN, NAN)),
        (Op::Divide, &[c(1.0, 2.0), c(0.0, 0.0)], c(INF, INF)),
        (Op::Divide, &[c(1.0, -2.0), c(-0.0, 0.0)], c(-INF, INF)),
        (Op::Divide, &[c(0.0, 0.0), c(0.0, 0.0)], c(NAN, NAN)),
        (Op::Divide, &[c(INF, NAN), c(1.0, 1.0)], c(INF, -INF)),
        (Op::Divide, &[c(INF, 0.0), c(1.0, 1.0)], c(INF, -INF)),
        (Op::Divide, &[c(INF, INF), c(3.0, -4.0)], c(NAN, INF)),
        (Op::Divide, &[c(-INF, 1.0), c(0.0, 2.0)], c(NAN, INF)),
        (Op::Divide, &[c(1.0, 1.0), c(INF, -INF)], c(0.0, 0.0)),
        (Op::Divide, &[c(6.0, 8.0), c(0.0, 2.0)], c(4.0, -3.0)),
        (Op::Reciprocal, &[c(0.0, 4.0)], c(0.0, -0.25)),
        (Op::Reciprocal, &[c(2.0, 0.0)], c(0.5, -0.0)),
        (Op::Reciprocal, &[c(INF, 1.0)], c(0.0, -0.0)),
        (Op::Reciprocal, &[c(NAN, -INF)], c(0.0, 0.0)),
        (Op::Reciprocal, &[c(-0.0, 0.0)], c(-INF, NAN)),
        (Op::Multiply, &[c(1.0, 2.0), c(3.0, 5.0)], c(-7.0, 11.0)),
        (Op::MulAdd, &[c(1.0, 2.0), c(3.0, 5.0), c(10.0, 20.0)], c(3.0, 31.0)),
        (Op::Square, &[c(1.0, 2.0)], c(-3.0, 4.0)),
        (Op::Round, &[c(2.5, -0.4)], c(2.0, -0.0)),
    ];
    let mut runner = Runner::default();
    for dtype in [DType::C64, DType::C128] {
        for (op, operands, expected) in cases {
            let got = run(&mut runner, *op, dtype, operands);
            let expected = c(value(dtype, bits(dtype, expected.re)), value(dtype, bits(dtype, expected.im)));
            assert!(same64(got.re, expected.re) && same64(got.im, expected.im), "{op} {operands:?} in {dtype}: {got}");
        }
    }
}

#[test]
fn huge_and_tiny_values_neither_overflow_nor_vanish() {
    let mut runner = Runner::default();
    for (dtype, largest, least) in
        [(DType::C64, f64::from(f32::MAX), f64::from(f32::from_bits(1))), (DType::C128, f64::MAX, f64::from_bits(1))]
    {
        for z in [largest, largest / 4.0, 1.0, least * 8.0, least] {
            let x = Complex64::new(z, z);
            assert_eq!(run(&mut runner, Op::Divide, dtype, &[x, x]), Complex64::new(1.0, 0.0), "{dtype} {z:e}");
            let root = run(&mut runner, Op::Sqrt, dtype, &[x]);
            let square = root.re / z.sqrt() * root.re / z.sqrt();
            assert!((square - 1.2071).abs() < 1e-4, "{dtype} sqrt {z:e}: {root}");
            let third = run(&mut runner, Op::Abs, dtype, &[Complex64::new(z, 0.0)]);
            assert_eq!(third.re, z, "{dtype}");
            let sign = run(&mut runner, Op::Sign, dtype, &[x]);
            assert!((sign.re - 0.5f64.sqrt()).abs() < 1e-6, "{dtype} sign {z:e}: {sign}");
        }
        let gone = run(&mut runner, Op::Divide, dtype, &[Complex64::new(largest, -largest), Complex64::new(-INF, INF)]);
        assert!(same64(gone.re, -0.0) && same64(gone.im, 0.0), "{dtype} {gone}");
        // A tiny imaginary part beside a huge real one survives if the result can represent it.
        let lopsided = Complex64::new(largest / 2.0, 1.0);
        let half = run(&mut runner, Op::Divide, dtype, &[lopsided, Complex64::new(2.0, 0.0)]);
        assert_eq!(half, Complex64::new(largest / 4.0, 0.5), "{dtype}");
    }
}

/// Less, and minimum and maximum from it: by real part, then imaginary part, NaN never before anything.
#[test]
fn order() {
    let mut runner = Runner::default();
    let values = [-INF, -1.0, -0.0, 0.0, 2.5, INF, NAN];
    let all: Vec<Complex64> =
        values.iter().flat_map(|&re| values.iter().map(move |&im| Complex64::new(re, im))).collect();
    for &x in &all {
        for &y in &all {
            let nan = x.is_nan() || y.is_nan();
            let first = !nan && (x.re < y.re || x.re == y.re && x.im < y.im);
            let equal = !nan && x == y;
            let mut truth = |op: Op| {
                let made = body(op, DType::C128);
                runner.one(&made, &[x.re.to_bits(), x.im.to_bits(), y.re.to_bits(), y.im.to_bits()]) == 1
            };
            assert_eq!(truth(Op::Less), first, "{x} {y}");
            assert_eq!(truth(Op::LessEqual), first || equal, "{x} {y}");
            assert_eq!(truth(Op::Equal), equal, "{x} {y}");
            assert_eq!(truth(Op::NotEqual), !equal, "{x} {y}");
            assert_eq!(truth(Op::Greater), !nan && !first && !equal, "{x} {y}");
            assert_eq!(truth(Op::GreaterEqual), !nan && !first, "{x} {y}");
            for op in [Op::Minimum, Op::Maximum] {
                let (a, b) = (run(&mut runner, op, DType::C128, &[x, y]), run(&mut runner, op, DType::C128, &[y, x]));
                assert!(same64(a.re, b.re) && same64(a.im, b.im), "{op} {x} {y} commutes");
                assert_eq!(a.is_nan(), nan, "{op} {x} {y}");
                if !nan {
                    assert_eq!(a, if first == (op == Op::Minimum) { x } else { y }, "{op} {x} {y}");
                }
            }
        }
        for op in [Op::Minimum, Op::Maximum] {
            let same = run(&mut runner, op, DType::C128, &[x, x]);
            assert!(same64(same.re, x.re) && same64(same.im, x.im), "{op} {x} {x}");
        }
    }
}

#[test]
fn sums_and_products_are_the_plain_formulas() {
    let mut runner = Runner::default();
    let edges = edges32();
    for pair in edges.windows(4).step_by(3) {
        let (a, b, c, d) = (pair[0], pair[1], pair[2], pair[3]);
        let (x, y) = (Complex64::new(a.into(), b.into()), Complex64::new(c.into(), d.into()));
        let check = |got: Complex64, re: f32, im: f32| {
            assert!(same64(got.re, re.into()) && same64(got.im, im.into()), "{x} {y}: {got}, not {re:e} {im:e}");
        };
        check(run(&mut runner, Op::Add, DType::C64, &[x, y]), a + c, b + d);
        check(run(&mut runner, Op::Subtract, DType::C64, &[x, y]), a - c, b - d);
        check(run(&mut runner, Op::Multiply, DType::C64, &[x, y]), a * c - b * d, a * d + b * c);
    }
}
