//! Exponentials, logarithms and powers of complex numbers against multi-precision vectors, both sides of the branch cuts, and the
//! special values of the Array API sentence by sentence.

use super::complex_support::{Vector, bits, of_parts, of_the_larger_part, run, value, worst};
use super::support::{Runner, Stream, same64};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use num_complex::Complex64;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, LN_10, PI};

type Bound = (Op, fn(&Vector, Complex64) -> f64, f64);

/// The documented error bounds of the ops in units in the last place, of each part or of the larger. Over 6,000
/// vectors a function the largest errors were 0.75 (`exp`), 0.83 (`exp2`), 0.50 (logarithms of normal parts, `rsqrt`) and 0.77 (`pow`).
const BOUNDS: [Bound; 12] = [
    (Op::Exp, of_parts, 1.0),
    (Op::Exp2, of_parts, 1.0),
    (Op::Expm1, of_the_larger_part, 1.0),
    (Op::Log, of_parts, 1.0),
    (Op::Log2, of_parts, 2.0),
    (Op::Log10, of_parts, 2.0),
    (Op::Log1p, of_parts, 1.0),
    (Op::Rsqrt, of_parts, 2.0),
    (Op::Pow, of_the_larger_part, 1.0),
    // The imaginary part does not cancel, nor does a real part away from 0 (1.51 was found).
    (Op::Expm1, imaginary_part, 1.0),
    (Op::Expm1, real_part_away_from_its_zeros, 2.0),
    (Op::Expm1, real_part_near_zero, 1.0),
];

fn imaginary_part(vector: &Vector, got: Complex64) -> f64 {
    vector.parts[1].error(vector.dtype, got.im)
}

/// Where `e^x cos y` is not within 1/8 of 1.
fn real_part_away_from_its_zeros(vector: &Vector, got: Complex64) -> f64 {
    let exact = vector.parts[0];
    if exact.nearest.abs() < 0.125 { 0.0 } else { exact.error(vector.dtype, got.re) }
}

/// Where both parts are below 2^-4, in units of their squares.
fn real_part_near_zero(vector: &Vector, got: Complex64) -> f64 {
    let z = vector.operands[0];
    let (exact, square) = (vector.parts[0], z.norm_sqr());
    let units = (square / exact.nearest.abs()).max(1.0);
    if square < 2f64.powi(-8) && square > 1e-30 { exact.error(vector.dtype, got.re) / units } else { 0.0 }
}

fn check(dtype: DType, text: &str) {
    for (op, error, bound) in BOUNDS {
        let worst = worst(text, op, dtype, error);
        println!("{op} {dtype}: {:.3} ULP of {} at {}", worst.error, worst.count, worst.at);
        assert!(worst.count > 100 && worst.error <= bound, "{op} {dtype}: {worst:?}");
    }
}

#[test]
fn single_precision_stays_within_its_bounds() {
    check(DType::C64, include_str!("vectors/exp_log_c64.txt"));
}

#[test]
fn double_precision_stays_within_its_bounds() {
    check(DType::C128, include_str!("vectors/exp_log_c128.txt"));
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn c(re: f64, im: f64) -> Complex64 {
    Complex64::new(re, im)
}

/// Asserts a special value and, as the standard requires, that the conjugate operand gives the conjugate result.
fn assert_special(op: Op, z: Complex64, expected: Complex64, sentence: &str) {
    let mut runner = Runner::default();
    for dtype in [DType::C64, DType::C128] {
        let round = |x: f64| value(dtype, bits(dtype, x));
        let near = |got: f64, x: f64| same64(got, round(x)) || x.is_normal() && (got / x - 1.0).abs() < 1e-6;
        let same = |got: Complex64, z: Complex64| near(got.re, z.re) && near(got.im, z.im);
        let got = run(&mut runner, op, dtype, &[z]);
        assert!(same(got, expected), "{op} {z} in {dtype}: {got}, not {expected}: {sentence}");
        let got = run(&mut runner, op, dtype, &[z.conj()]);
        assert!(same(got, expected.conj()), "{op} {} in {dtype}: {got}: {sentence}", z.conj());
    }
}

/// The sentences begin "If a is … and b is …, the result is"; unspecified signs are plus here.
#[test]
fn special_values_of_exponentials() {
    let cis = |scale: f64, b: f64| c(scale * b.cos(), scale * b.sin());
    let exp: &[(Complex64, Complex64, &str)] = &[
        (c(0.0, 0.0), c(1.0, 0.0), "either +0 or -0, +0: 1 + 0j"),
        (c(-0.0, 0.0), c(1.0, 0.0), "either +0 or -0, +0: 1 + 0j"),
        (c(1.5, INF), c(NAN, NAN), "a finite number, +infinity: NaN + NaN j"),
        (c(-0.0, INF), c(NAN, NAN), "a finite number, +infinity: NaN + NaN j"),
        (c(1.5, NAN), c(NAN, NAN), "a finite number, NaN: NaN + NaN j"),
        (c(INF, 0.0), c(INF, 0.0), "+infinity, +0: infinity + 0j"),
        (c(-INF, 0.0), c(0.0, 0.0), "-infinity, a finite number: +0 * cis(b)"),
        (c(-INF, 1.0), cis(0.0, 1.0), "-infinity, a finite number: +0 * cis(b)"),
        (c(-INF, 2.0), cis(0.0, 2.0), "-infinity, a finite number: +0 * cis(b)"),
        (c(-INF, 4.0), cis(0.0, 4.0), "-infinity, a finite number: +0 * cis(b)"),
        (c(-INF, 2f64.powi(66)), cis(0.0, 2f64.powi(66)), "-infinity, a finite number: +0 * cis(b)"),
        (c(INF, 1.0), cis(INF, 1.0), "+infinity, a nonzero finite number: +infinity * cis(b)"),
        (c(INF, 2.0), cis(INF, 2.0), "+infinity, a nonzero finite number: +infinity * cis(b)"),
        (c(INF, 4.0), cis(INF, 4.0), "+infinity, a nonzero finite number: +infinity * cis(b)"),
        (c(INF, 1e-40), cis(INF, 1e-40), "+infinity, a nonzero finite number: +infinity * cis(b)"),
        (c(-INF, INF), c(0.0, 0.0), "-infinity, +infinity: 0 + 0j (signs unspecified)"),
        (c(INF, INF), c(INF, NAN), "+infinity, +infinity: infinity + NaN j (sign unspecified)"),
        (c(INF, NAN), c(INF, NAN), "+infinity, NaN: infinity + NaN j (sign unspecified)"),
        (c(NAN, 0.0), c(NAN, 0.0), "NaN, +0: NaN + 0j"),
        (c(NAN, 1.0), c(NAN, NAN), "NaN, not equal to 0: NaN + NaN j"),
        (c(NAN, INF), c(NAN, NAN), "NaN, not equal to 0: NaN + NaN j"),
        (c(NAN, NAN), c(NAN, NAN), "NaN, NaN: NaN + NaN j"),
    ];
    for &(z, expected, sentence) in exp {
        assert_special(Op::Exp, z, expected, sentence);
        // "+0 * cis(b) - 1.0" and so on: expm1 is exp less 1.
        let less = c(expected.re - 1.0, expected.im);
        assert_special(Op::Expm1, z, less, sentence);
        // exp2 like exp, whose angle at infinities only determines the quadrant.
        if !z.re.is_infinite() || !z.im.is_normal() {
            assert_special(Op::Exp2, z, expected, sentence);
        }
    }
    let mut runner = Runner::default();
    for dtype in [DType::C64, DType::C128] {
        // The sign of a zero beside NaN is not specified.
        for (op, re) in [(Op::Exp, 0.0), (Op::Exp2, 0.0), (Op::Expm1, -1.0)] {
            let got = run(&mut runner, op, dtype, &[c(-INF, NAN)]);
            assert!(same64(got.re, re) && same64(got.im, 0.0), "-infinity, NaN: {op} {got}");
        }
        for k in [-140, -3, 0, 1, 10, 127] {
            let got = run(&mut runner, Op::Exp2, dtype, &[c(k.into(), 0.0)]);
            assert_eq!(got, c(2f64.powi(k), 0.0), "exp2 of integers is exact");
        }
    }
}

#[test]
fn special_values_of_logarithms() {
    let log: &[(Complex64, Complex64, &str)] = &[
        (c(-0.0, 0.0), c(-INF, PI), "-0, +0: -infinity + πj"),
        (c(0.0, 0.0), c(-INF, 0.0), "+0, +0: -infinity + 0j"),
        (c(1.5, INF), c(INF, FRAC_PI_2), "a finite number, +infinity: +infinity + πj/2"),
        (c(-1.5, INF), c(INF, FRAC_PI_2), "a finite number, +infinity: +infinity + πj/2"),
        (c(0.0, INF), c(INF, FRAC_PI_2), "a finite number, +infinity: +infinity + πj/2"),
        (c(1.5, NAN), c(NAN, NAN), "a finite number, NaN: NaN + NaN j"),
        (c(-INF, 1.5), c(INF, PI), "-infinity, a positive finite number: +infinity + πj"),
        (c(-INF, 0.0), c(INF, PI), "clog(-∞ + i0): +∞ + iπ"),
        (c(INF, 1.5), c(INF, 0.0), "+infinity, a positive finite number: +infinity + 0j"),
        (c(INF, 0.0), c(INF, 0.0), "clog(+∞ + i0): +∞ + i0"),
        (c(-INF, INF), c(INF, 3.0 * FRAC_PI_4), "-infinity, +infinity: +infinity + 3πj/4"),
        (c(INF, INF), c(INF, FRAC_PI_4), "+infinity, +infinity: +infinity + πj/4"),
        (c(INF, NAN), c(INF, NAN), "either +infinity or -infinity, NaN: +infinity + NaN j"),
        (c(-INF, NAN), c(INF, NAN), "either +infinity or -infinity, NaN: +infinity + NaN j"),
        (c(NAN, 1.5), c(NAN, NAN), "NaN, a finite number: NaN + NaN j"),
        (c(NAN, 0.0), c(NAN, NAN), "NaN, a finite number: NaN + NaN j"),
        (c(NAN, INF), c(INF, NAN), "NaN, +infinity: +infinity + NaN j"),
        (c(NAN, NAN), c(NAN, NAN), "NaN, NaN: NaN + NaN j"),
    ];
    for &(z, expected, sentence) in log {
        assert_special(Op::Log, z, expected, sentence);
        // "as if the operation is implemented using the standard change of base formula"
        assert_special(Op::Log2, z, c(expected.re, expected.im / LN_2), sentence);
        assert_special(Op::Log10, z, c(expected.re, expected.im / LN_10), sentence);
        // The same sentences except for the zeros.
        if z != c(0.0, 0.0) {
            assert_special(Op::Log1p, z, if z == c(0.0, INF) { c(INF, FRAC_PI_2) } else { expected }, sentence);
        }
    }
    assert_special(Op::Log1p, c(-1.0, 0.0), c(-INF, 0.0), "-1, +0: -infinity + 0j");
    assert_special(Op::Log1p, c(-0.0, 0.0), c(0.0, 0.0), "as log 1 (NumPy, JAX)");
    for z in [c(0.0, 0.0), c(1e-42, 0.0), c(1e-42, 1e-42), c(-1e-30, 1e-40)] {
        assert_special(Op::Log1p, z, z, "what is near 0 gives itself");
    }
    assert_special(Op::Log, c(1.0, 0.0), c(0.0, 0.0), "log 1 is +0");
}

/// The values just above and just below a cut, and on it with each sign of zero.
#[test]
fn branch_cuts_follow_the_sign_of_the_imaginary_part() {
    let mut stream = Stream(31);
    let mut runner = Runner::default();
    for (dtype, tiny) in [(DType::C64, 1e-44), (DType::C128, 5e-324)] {
        for _ in 0..300 {
            let x = value(dtype, bits(dtype, -(stream.unit() * 80.0 - 40.0).exp2()));
            for (op, start, angle) in
                [(Op::Log, x, PI), (Op::Log2, x, PI / LN_2), (Op::Log10, x, PI / LN_10), (Op::Log1p, x - 1.0, PI)]
            {
                let start = value(dtype, bits(dtype, start));
                if op == Op::Log1p && start == -1.0 {
                    continue;
                }
                for (y, side) in [(0.0, 1.0), (tiny, 1.0), (-0.0, -1.0), (-tiny, -1.0)] {
                    let got = run(&mut runner, op, dtype, &[c(start, y)]).im;
                    assert!((got / (side * angle) - 1.0).abs() < 1e-7, "{op} {start} {y:e}");
                }
                // The positive side has no cut.
                let got = run(&mut runner, op, dtype, &[c(-start, -0.0)]).im;
                assert!(same64(got, -0.0), "{op} {start}");
            }
            for (y, side) in [(0.0, -1.0), (tiny, -1.0), (-0.0, 1.0), (-tiny, 1.0)] {
                let got = run(&mut runner, Op::Rsqrt, dtype, &[c(x, y)]);
                let exact = side / (-x).sqrt();
                assert!(
                    got.re >= 0.0 && got.re.is_sign_positive() && (got.im / exact - 1.0).abs() < 1e-6,
                    "{x}: {got}"
                );
                let root = run(&mut runner, Op::Pow, dtype, &[c(x, y), c(0.5, 0.0)]);
                assert!((root.im * side * (-x).sqrt() + -x).abs() < 1e-6 * -x, "{x} {y}: {root}");
            }
        }
    }
}

/// Like 1 / sqrt(z) by C99's csqrt and its quotients, and XLA's rsqrt.
#[test]
fn special_values_of_the_reciprocal_root() {
    for (z, expected) in [
        (c(4.0, 0.0), c(0.5, -0.0)),
        (c(-4.0, 0.0), c(0.0, -0.5)),
        (c(0.0, 2.0), c(0.5, -0.5)),
        (c(0.0, 0.0), c(INF, NAN)),
        (c(-0.0, 0.0), c(INF, NAN)),
        (c(INF, 1.0), c(0.0, -0.0)),
        (c(-INF, 1.0), c(0.0, -0.0)),
        (c(1.0, INF), c(0.0, -0.0)),
        (c(INF, INF), c(0.0, -0.0)),
        (c(NAN, INF), c(0.0, -0.0)),
        (c(NAN, 1.0), c(NAN, NAN)),
        (c(0.0, NAN), c(NAN, NAN)),
        (c(NAN, 0.0), c(NAN, NAN)),
    ] {
        assert_special(Op::Rsqrt, z, expected, "1 / sqrt(z)");
    }
    let got = run(&mut Runner::default(), Op::Rsqrt, DType::C64, &[c(-INF, NAN)]);
    assert_eq!(got, c(0.0, 0.0), "the sign of NaN is not specified");
}

/// Powers of Gaussian integers are exact while they fit, and the parts that cancel are 0.
#[test]
fn whole_powers_of_whole_numbers_are_exact() {
    let mut runner = Runner::default();
    for (dtype, largest) in [(DType::C64, 2f64.powi(24)), (DType::C128, 2f64.powi(53))] {
        for z in (-9..10).flat_map(|re| (-9..10).map(move |im| c(re.into(), im.into()))).filter(|z| *z != c(0.0, 0.0)) {
            let mut exact = z;
            for n in 2..=64 {
                exact = c(exact.re * z.re - exact.im * z.im, exact.re * z.im + exact.im * z.re);
                if exact.re.abs().max(exact.im.abs()) * 18.0 > largest {
                    break;
                }
                let got = run(&mut runner, Op::Pow, dtype, &[z, c(n.into(), 0.0)]);
                assert_eq!(got, exact, "{z} ^ {n} in {dtype}");
                let got = run(&mut runner, Op::Pow, dtype, &[z, c(-f64::from(n), 0.0)]);
                let product = c(got.re * exact.re - got.im * exact.im, got.re * exact.im + got.im * exact.re);
                let bound = if dtype == DType::C64 { 2f64.powi(-23) } else { 2f64.powi(-51) };
                assert!((product - 1.0).norm() < bound, "{z} ^ -{n} in {dtype}: {got}");
                assert_eq!([got.re == 0.0, got.im == 0.0], [exact.re == 0.0, exact.im == 0.0], "{z} ^ -{n}");
            }
        }
    }
}

#[test]
fn special_values_of_powers() {
    let any = "exp(x2*log(x1))";
    let cases: &[(&str, Complex64, Complex64, Complex64)] = &[
        ("z^0 is 1, also of NaN (NumPy, JAX)", c(NAN, NAN), c(0.0, 0.0), c(1.0, 0.0)),
        ("z^0 is 1", c(0.0, 0.0), c(0.0, 0.0), c(1.0, 0.0)),
        ("z^0 is 1", c(INF, NAN), c(-0.0, 0.0), c(1.0, 0.0)),
        ("z^0 is 1", c(2.0, -3.0), c(0.0, -0.0), c(1.0, 0.0)),
        ("z^1 is z", c(NAN, 1.0), c(1.0, 0.0), c(NAN, 1.0)),
        ("z^1 is z", c(-0.0, INF), c(1.0, -0.0), c(-0.0, INF)),
        ("0^w is 0 where Re w > 0 (NumPy)", c(0.0, 0.0), c(2.0, 0.0), c(0.0, 0.0)),
        ("0^w is 0 where Re w > 0 (NumPy)", c(-0.0, 0.0), c(1.0, 1.0), c(0.0, 0.0)),
        ("0^w is 0 where Re w > 0 (NumPy)", c(-0.0, -0.0), c(1.0, 0.0), c(0.0, 0.0)),
        ("0^w is 0 where Re w > 0 (NumPy)", c(0.0, -0.0), c(INF, INF), c(0.0, 0.0)),
        ("0^w is NaN where Re w < 0 (NumPy, JAX)", c(0.0, 0.0), c(-1.0, 0.0), c(NAN, NAN)),
        ("0^w is NaN where Re w = 0 (NumPy, JAX)", c(0.0, 0.0), c(0.0, 1.0), c(NAN, NAN)),
        ("0^NaN is NaN", c(0.0, 0.0), c(NAN, 1.0), c(NAN, NAN)),
        ("NaN", c(NAN, 1.0), c(2.0, 0.0), c(NAN, NAN)),
        ("NaN", c(2.0, 1.0), c(NAN, 0.0), c(NAN, NAN)),
        (any, c(INF, 0.0), c(1.0, 1.0), c(INF, NAN)),
        (any, c(INF, 0.0), c(0.0, 1.0), c(NAN, NAN)),
        (any, c(INF, 0.0), c(-2.0, 0.5), c(0.0, 0.0)),
        (any, c(2.0, 0.0), c(0.0, INF), c(NAN, NAN)),
        (any, c(-2.0, 0.5), c(0.0, INF), c(0.0, 0.0)),
        (any, c(3.0, -4.0), c(INF, INF), c(INF, NAN)),
        ("a zero times an infinity counts as 0", c(INF, 0.0), c(2.0, 0.0), c(INF, 0.0)),
        ("a zero times an infinity counts as 0", c(INF, 0.0), c(-1.0, 0.0), c(0.0, 0.0)),
        ("a zero times an infinity counts as 0", c(2.0, 0.0), c(INF, 0.0), c(INF, 0.0)),
        ("a zero times an infinity counts as 0", c(0.5, 0.0), c(INF, 0.0), c(0.0, 0.0)),
        ("a zero times an infinity counts as 0", c(1.0, 0.0), c(INF, 0.0), c(1.0, 0.0)),
        ("as z * z", c(-2.0, 0.0), c(2.0, 0.0), c(4.0, -0.0)),
        ("as z * z", c(-2.0, -0.0), c(2.0, 0.0), c(4.0, 0.0)),
        ("as z * z * z", c(-2.0, 0.0), c(3.0, 0.0), c(-8.0, 0.0)),
        ("as 1 / z (NumPy)", c(-2.0, 0.0), c(-1.0, 0.0), c(-0.5, 0.0)),
        ("overflow", c(1e30, 0.0), c(1e30, 0.0), c(INF, 0.0)),
        ("underflow", c(1e-30, 0.0), c(1e30, 0.0), c(0.0, 0.0)),
        ("real powers of positive numbers are real", c(2.0, 0.0), c(0.5, 0.0), c(2f64.sqrt(), 0.0)),
        ("real powers of positive numbers are real", c(2.0, 0.0), c(-1.0, 0.0), c(0.5, 0.0)),
        ("the conjugate has the conjugate power", c(2.0, -0.0), c(0.5, -0.0), c(2f64.sqrt(), -0.0)),
    ];
    let mut runner = Runner::default();
    for dtype in [DType::C64, DType::C128] {
        for &(sentence, z, w, expected) in cases {
            let got = run(&mut runner, Op::Pow, dtype, &[z, w]);
            let round = |x: f64| value(dtype, bits(dtype, x));
            let same = same64(got.re, round(expected.re)) && same64(got.im, round(expected.im));
            assert!(same, "{z} ^ {w} in {dtype} is {got}, not {expected}: {sentence}");
        }
    }
}
