//! Complex sine, cosine, tangent and their hyperbolic relatives: against multi-precision values, `c64` against `c128`, special cases
//! sentence by sentence of the Array API, and helpers for tests of the inverse functions.

use super::complex_support::{evaluate, of_parts, run, unit, value, worst};
use super::support::{Runner, Stream, same64};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;
use num_complex::Complex64;
use std::f64::consts::FRAC_PI_2;

pub const INF: f64 = f64::INFINITY;
pub const NAN: f64 = f64::NAN;

/// Ops and the largest errors of their parts in units in the last place, rounded up, as measured over these tests' inputs and a
/// million more of each dtype.
const BOUNDS: [(Op, f64); 6] =
    [(Op::Sinh, 1.0), (Op::Cosh, 1.0), (Op::Tanh, 2.0), (Op::Sin, 1.0), (Op::Cos, 1.0), (Op::Tan, 2.0)];

#[test]
fn parts_are_near_their_exact_values() {
    let (single, double) = (include_str!("vectors/trig_c64.txt"), include_str!("vectors/trig_c128.txt"));
    assert_near(&BOUNDS, single, double);
}

/// Both dtypes of ops keep within bounds on the vectors of two files.
pub fn assert_near(bounds: &[(Op, f64)], single: &str, double: &str) {
    for &(op, bound) in bounds {
        for (dtype, text) in [(DType::C64, single), (DType::C128, double)] {
            let worst = worst(text, op, dtype, of_parts);
            println!("{op} {dtype}: {:.2} ULP over {}", worst.error, worst.count);
            assert!(worst.count > 200 && worst.error <= bound, "{op} {dtype}: {worst:?}");
        }
    }
}

#[test]
fn single_precision_agrees_with_double_precision() {
    let mut stream = Stream(21);
    let mut inputs: Vec<Complex64> = Vec::new();
    for _ in 0..15_000 {
        let plain = Complex64::new(sized(&mut stream, -8, 6), sized(&mut stream, -8, 6));
        let wide = Complex64::new(sized(&mut stream, -149, 7), sized(&mut stream, -149, 127));
        // A pole of tanh, a product that overflows or not.
        let turns = ((stream.bits() % 400) as f64 * FRAC_PI_2) as f32;
        let pole = Complex64::new(sized(&mut stream, -40, 0), turns.into());
        let large = Complex64::new(80.0 + 115.0 * f64::from(stream.unit() as f32), sized(&mut stream, -149, 2));
        inputs.extend([plain, wide, pole, large]);
    }
    assert_agree(&BOUNDS[..3], &inputs);
}

/// An `f32` of either sign with an exponent in a range.
pub fn sized(stream: &mut Stream, least: i32, most: i32) -> f64 {
    let exponent = least + (stream.bits() % (most - least + 1) as u64) as i32;
    let magnitude = (1.0 + stream.unit()) * 2f64.powi(exponent);
    let value = f64::from(magnitude as f32);
    if stream.bits() & 1 == 0 { value } else { -value }
}

/// The body for `c64` keeps within bounds of the one for `c128` on operands that are exact in both.
pub fn assert_agree(bounds: &[(Op, f64)], inputs: &[Complex64]) {
    let mut runner = Runner::default();
    for &(op, bound) in bounds {
        let (single, double) = (body(op, DType::C64), body(op, DType::C128));
        let mut largest = 0.0f64;
        for z in inputs.iter().map(|z| Complex64::new(f64::from(z.re as f32), f64::from(z.im as f32))) {
            let got = evaluate(&mut runner, &single, DType::C64, &[z]);
            let exact = evaluate(&mut runner, &double, DType::C128, &[z]);
            for (got, exact) in [(got.re, exact.re), (got.im, exact.im)] {
                let off = distance(got, exact);
                largest = largest.max(off);
                assert!(off <= bound, "{op} of {z:e}: {got:e}, not {exact:e}, {off:.2} ULP off");
            }
        }
        println!("{op}: {largest:.2} ULP over {}", inputs.len());
    }
}

/// Units in the last place of an `f32` between a part and a nearly exact one; signs of zeros count.
fn distance(got: f64, exact: f64) -> f64 {
    let overflow = exact.abs() >= f64::from(f32::MAX) * (1.0 + 2f64.powi(-25));
    let exact = if overflow { INF.copysign(exact) } else { exact };
    if same64(got, exact) {
        return 0.0;
    }
    if got.is_sign_negative() != exact.is_sign_negative() || !got.is_finite() || !exact.is_finite() {
        return INF;
    }
    (got - exact).abs() / unit(DType::C64, exact)
}

/// A special case: every pair of real and imaginary parts gives the same.
pub struct Row {
    pub op: Op,
    pub a: &'static [f64],
    pub b: &'static [f64],
    pub result: (f64, f64),
    pub sentence: &'static str,
}

/// Rows hold in both dtypes, for conjugates, and negated for functions that are odd or even. A sign that the sentence leaves
/// unspecified may be either.
pub fn assert_special(rows: &[Row]) {
    let mut runner = Runner::default();
    for dtype in [DType::C64, DType::C128] {
        for row in rows {
            let made = body(row.op, dtype);
            let expected = Complex64::new(rounded(dtype, row.result.0), rounded(dtype, row.result.1));
            for (&a, &b) in row.a.iter().flat_map(|a| row.b.iter().map(move |b| (a, b))) {
                let z = Complex64::new(a, b);
                let mut cases = vec![(z, expected), (z.conj(), expected.conj())];
                if let Some(sign) = parity(row.op) {
                    let negated = Complex64::new(sign * expected.re, sign * expected.im);
                    cases.extend([(-z, negated), (-z.conj(), negated.conj())]);
                }
                for (z, expected) in cases {
                    let got = evaluate(&mut runner, &made, dtype, &[z]);
                    let loose = row.sentence.contains("unspecified");
                    let same = |x: f64, y: f64| if loose { same64(x.abs(), y.abs()) } else { same64(x, y) };
                    let right = same(got.re, expected.re) && same(got.im, expected.im);
                    assert!(right, "{} of {z} in {dtype}: {got}, not {expected}. {}", row.op, row.sentence);
                }
            }
        }
    }
}

fn rounded(dtype: DType, x: f64) -> f64 {
    value(dtype, super::complex_support::bits(dtype, x))
}

/// -1 for odd functions, 1 for even ones.
pub fn parity(op: Op) -> Option<f64> {
    match op {
        Op::Cosh | Op::Cos => Some(1.0),
        Op::Acos | Op::Acosh => None,
        _ => Some(-1.0),
    }
}

const NUMBERS: &[f64] = &[0.5, -2.0, 1e-38, 1e30];

#[rustfmt::skip]
const SPECIAL: &[Row] = &[
    Row { op: Op::Cosh, a: &[0.0], b: &[0.0], result: (1.0, 0.0), sentence: "If a is +0 and b is +0, the result is 1 + 0j." },
    Row { op: Op::Cosh, a: &[0.0], b: &[INF], result: (NAN, 0.0), sentence: "If a is +0 and b is +infinity, the result is NaN + 0j (sign of the imaginary component is unspecified)." },
    Row { op: Op::Cosh, a: &[0.0], b: &[NAN], result: (NAN, 0.0), sentence: "If a is +0 and b is NaN, the result is NaN + 0j (sign of the imaginary component is unspecified)." },
    Row { op: Op::Cosh, a: NUMBERS, b: &[INF], result: (NAN, NAN), sentence: "If a is a nonzero finite number and b is +infinity, the result is NaN + NaN j." },
    Row { op: Op::Cosh, a: NUMBERS, b: &[NAN], result: (NAN, NAN), sentence: "If a is a nonzero finite number and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Cosh, a: &[INF], b: &[0.0], result: (INF, 0.0), sentence: "If a is +infinity and b is +0, the result is +infinity + 0j." },
    Row { op: Op::Cosh, a: &[INF], b: &[0.5, 1e-38], result: (INF, INF), sentence: "If a is +infinity and b is a nonzero finite number, the result is +infinity * cis(b)." },
    Row { op: Op::Cosh, a: &[INF], b: &[2.0], result: (-INF, INF), sentence: "If a is +infinity and b is a nonzero finite number, the result is +infinity * cis(b)." },
    Row { op: Op::Cosh, a: &[INF], b: &[4.0], result: (-INF, -INF), sentence: "If a is +infinity and b is a nonzero finite number, the result is +infinity * cis(b)." },
    Row { op: Op::Cosh, a: &[INF], b: &[INF], result: (INF, NAN), sentence: "If a is +infinity and b is +infinity, the result is +infinity + NaN j (sign of the real component is unspecified)." },
    Row { op: Op::Cosh, a: &[INF], b: &[NAN], result: (INF, NAN), sentence: "If a is +infinity and b is NaN, the result is +infinity + NaN j." },
    Row { op: Op::Cosh, a: &[NAN], b: &[0.0, -0.0], result: (NAN, 0.0), sentence: "If a is NaN and b is either +0 or -0, the result is NaN + 0j (sign of the imaginary component is unspecified)." },
    Row { op: Op::Cosh, a: &[NAN], b: NUMBERS, result: (NAN, NAN), sentence: "If a is NaN and b is a nonzero finite number, the result is NaN + NaN j." },
    Row { op: Op::Cosh, a: &[NAN], b: &[NAN, INF], result: (NAN, NAN), sentence: "If a is NaN and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Sinh, a: &[0.0], b: &[0.0], result: (0.0, 0.0), sentence: "If a is +0 and b is +0, the result is +0 + 0j." },
    Row { op: Op::Sinh, a: &[0.0], b: &[INF], result: (0.0, NAN), sentence: "If a is +0 and b is +infinity, the result is 0 + NaN j (sign of the real component is unspecified)." },
    Row { op: Op::Sinh, a: &[0.0], b: &[NAN], result: (0.0, NAN), sentence: "If a is +0 and b is NaN, the result is 0 + NaN j (sign of the real component is unspecified)." },
    Row { op: Op::Sinh, a: NUMBERS, b: &[INF], result: (NAN, NAN), sentence: "If a is a positive (i.e., greater than 0) finite number and b is +infinity, the result is NaN + NaN j." },
    Row { op: Op::Sinh, a: NUMBERS, b: &[NAN], result: (NAN, NAN), sentence: "If a is a positive (i.e., greater than 0) finite number and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Sinh, a: &[INF], b: &[0.0], result: (INF, 0.0), sentence: "If a is +infinity and b is +0, the result is +infinity + 0j." },
    Row { op: Op::Sinh, a: &[INF], b: &[0.5, 1e-38], result: (INF, INF), sentence: "If a is +infinity and b is a positive finite number, the result is +infinity * cis(b)." },
    Row { op: Op::Sinh, a: &[INF], b: &[2.0], result: (-INF, INF), sentence: "If a is +infinity and b is a positive finite number, the result is +infinity * cis(b)." },
    Row { op: Op::Sinh, a: &[INF], b: &[4.0], result: (-INF, -INF), sentence: "If a is +infinity and b is a positive finite number, the result is +infinity * cis(b)." },
    Row { op: Op::Sinh, a: &[INF], b: &[INF], result: (INF, NAN), sentence: "If a is +infinity and b is +infinity, the result is infinity + NaN j (sign of the real component is unspecified)." },
    Row { op: Op::Sinh, a: &[INF], b: &[NAN], result: (INF, NAN), sentence: "If a is +infinity and b is NaN, the result is infinity + NaN j (sign of the real component is unspecified)." },
    Row { op: Op::Sinh, a: &[NAN], b: &[0.0], result: (NAN, 0.0), sentence: "If a is NaN and b is +0, the result is NaN + 0j." },
    Row { op: Op::Sinh, a: &[NAN], b: NUMBERS, result: (NAN, NAN), sentence: "If a is NaN and b is a nonzero finite number, the result is NaN + NaN j." },
    Row { op: Op::Sinh, a: &[NAN], b: &[NAN, INF], result: (NAN, NAN), sentence: "If a is NaN and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Tanh, a: &[0.0], b: &[0.0], result: (0.0, 0.0), sentence: "If a is +0 and b is +0, the result is +0 + 0j." },
    Row { op: Op::Tanh, a: NUMBERS, b: &[INF], result: (NAN, NAN), sentence: "If a is a nonzero finite number and b is +infinity, the result is NaN + NaN j." },
    Row { op: Op::Tanh, a: &[0.0], b: &[INF], result: (0.0, NAN), sentence: "If a is +0 and b is +infinity, the result is +0 + NaN j." },
    Row { op: Op::Tanh, a: NUMBERS, b: &[NAN], result: (NAN, NAN), sentence: "If a is a nonzero finite number and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Tanh, a: &[0.0], b: &[NAN], result: (0.0, NAN), sentence: "If a is +0 and b is NaN, the result is +0 + NaN j." },
    Row { op: Op::Tanh, a: &[INF], b: &[0.5, 1e-38, 4.0], result: (1.0, 0.0), sentence: "If a is +infinity and b is a positive (i.e., greater than 0) finite number, the result is 1 + 0j." },
    Row { op: Op::Tanh, a: &[INF, 1e30], b: &[2.0], result: (1.0, -0.0), sentence: "C99: ctanh(+inf + iy) returns 1 + i0 sin(2y), for positive-signed finite y." },
    Row { op: Op::Tanh, a: &[INF], b: &[INF], result: (1.0, 0.0), sentence: "If a is +infinity and b is +infinity, the result is 1 + 0j (sign of the imaginary component is unspecified)." },
    Row { op: Op::Tanh, a: &[INF], b: &[NAN], result: (1.0, 0.0), sentence: "If a is +infinity and b is NaN, the result is 1 + 0j (sign of the imaginary component is unspecified)." },
    Row { op: Op::Tanh, a: &[NAN], b: &[0.0], result: (NAN, 0.0), sentence: "If a is NaN and b is +0, the result is NaN + 0j." },
    Row { op: Op::Tanh, a: &[NAN], b: &[0.5, -2.0, INF], result: (NAN, NAN), sentence: "If a is NaN and b is a nonzero number, the result is NaN + NaN j." },
    Row { op: Op::Tanh, a: &[NAN], b: &[NAN], result: (NAN, NAN), sentence: "If a is NaN and b is NaN, the result is NaN + NaN j." },
];

#[test]
fn special_cases_of_the_array_api() {
    assert_special(SPECIAL);
}

/// Complex numbers of special and ordinary parts.
fn grid() -> impl Iterator<Item = Complex64> {
    let parts = [0.0, 1e-40, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 80.0, 95.0, 700.0, 1e30, INF];
    let parts: Vec<f64> = parts.into_iter().flat_map(|x| [x, -x]).chain([NAN]).collect();
    let all: Vec<Complex64> = parts.iter().flat_map(|&a| parts.iter().map(move |&b| Complex64::new(a, b))).collect();
    all.into_iter()
}

/// Conjugates give conjugates, negated operands follow parity, and functions of `iz` match their relatives.
pub fn assert_symmetries(ops: &[Op], relatives: &[(Op, Op)]) {
    let mut runner = Runner::default();
    for dtype in [DType::C64, DType::C128] {
        for z in grid() {
            let mut call = |op: Op, z: Complex64| run(&mut runner, op, dtype, &[z]);
            for &op in ops.iter().filter(|_| !z.is_nan()) {
                let w = call(op, z);
                let conjugate = call(op, z.conj());
                assert!(same(w.conj(), conjugate), "{op} of {z} and its conjugate in {dtype}: {w}, {conjugate}");
                if let Some(sign) = parity(op) {
                    let negated = call(op, -z);
                    assert!(same(w * sign, negated), "{op} of {z} and its negative in {dtype}: {w}, {negated}");
                }
            }
            for &(op, relative) in relatives {
                let (got, other) = (call(op, z), call(relative, Complex64::new(-z.im, z.re)));
                // cos z = cosh iz, the others f(z) = -i g(iz).
                let expected = if op == Op::Cos { other } else { Complex64::new(other.im, -other.re) };
                let magnitudes = |z: Complex64| Complex64::new(z.re.abs(), z.im.abs());
                let right = same(got, expected) || z.is_nan() && same(magnitudes(got), magnitudes(expected));
                assert!(right, "{op} of {z} in {dtype}: {got}, by {relative} {expected}");
            }
        }
    }
}

fn same(x: Complex64, y: Complex64) -> bool {
    same64(x.re, y.re) && same64(x.im, y.im)
}

#[test]
fn symmetries() {
    let ops = BOUNDS.map(|(op, _)| op);
    assert_symmetries(&ops, &[(Op::Sin, Op::Sinh), (Op::Cos, Op::Cosh), (Op::Tan, Op::Tanh)]);
}

#[test]
fn on_the_real_axis_they_are_the_real_functions() {
    let mut runner = Runner::default();
    type Reference = fn(f64) -> f64;
    let references: [(Op, Reference); 6] = [
        (Op::Sin, core_math::sin),
        (Op::Cos, core_math::cos),
        (Op::Tan, core_math::tan),
        (Op::Sinh, core_math::sinh),
        (Op::Cosh, core_math::cosh),
        (Op::Tanh, core_math::tanh),
    ];
    for (op, reference) in references {
        for x in [0.0, 1e-310, 1e-9, 0.3, 1.0, FRAC_PI_2, 3.0, 18.5, 40.0, 600.0, 710.0, 711.0] {
            let got = run(&mut runner, op, DType::C128, &[Complex64::new(x, 0.0)]);
            let expected = reference(x);
            let right = got.re == expected || (got.re - expected).abs() <= 1.5 * unit(DType::C128, expected);
            assert!(right && got.im == 0.0, "{op} of {x:e}: {got:e}, not {expected:e}");
        }
    }
}
