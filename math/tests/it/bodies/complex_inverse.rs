//! Inverse trigonometric and hyperbolic functions of complex numbers: against multi-precision values, `c64` against `c128`, special
//! cases sentence by sentence of the Array API, both sides of every branch cut.

use super::complex_support::{run, unit};
use super::complex_trig::{INF, NAN, Row, assert_agree, assert_near, assert_special, assert_symmetries, sized};
use super::support::{Runner, Stream};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use num_complex::Complex64;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Ops and the largest errors of their parts in units in the last place, rounded up, as measured over these tests' inputs and a
/// million more of each dtype.
const BOUNDS: [(Op, f64); 6] =
    [(Op::Asin, 2.5), (Op::Acos, 2.9), (Op::Acosh, 2.9), (Op::Asinh, 2.5), (Op::Atan, 2.5), (Op::Atanh, 2.5)];

#[test]
fn parts_are_near_their_exact_values() {
    let (single, double) = (include_str!("vectors/inverse_c64.txt"), include_str!("vectors/inverse_c128.txt"));
    assert_near(&BOUNDS, single, double);
}

#[test]
fn single_precision_agrees_with_double_precision() {
    let mut stream = Stream(22);
    let mut inputs: Vec<Complex64> = Vec::new();
    for _ in 0..8_000 {
        let plain = Complex64::new(sized(&mut stream, -6, 3), sized(&mut stream, -6, 3));
        let wide = Complex64::new(sized(&mut stream, -149, 127), sized(&mut stream, -149, 127));
        let lopsided = Complex64::new(sized(&mut stream, -30, 45), sized(&mut stream, -60, 60));
        let near_one = Complex64::new(1.0 + sized(&mut stream, -24, -2), sized(&mut stream, -50, 0));
        let pole = Complex64::new(1.0, sized(&mut stream, -149, 0));
        let exchanged = Complex64::new(near_one.im, near_one.re);
        inputs.extend([plain, wide, lopsided, near_one, pole, exchanged]);
    }
    // The others are these with parts swapped or negated.
    assert_agree(&[BOUNDS[0], BOUNDS[1], BOUNDS[5]], &inputs);
}

const NUMBERS: &[f64] = &[0.5, -2.0, 1e-38, 1e30];
const POSITIVE: &[f64] = &[0.5, 2.0, 1e-38, 1e30];
const ZEROS: &[f64] = &[0.0, -0.0];

#[rustfmt::skip]
const SPECIAL: &[Row] = &[
    Row { op: Op::Acos, a: ZEROS, b: &[0.0], result: (FRAC_PI_2, -0.0), sentence: "If a is either +0 or -0 and b is +0, the result is pi/2 - 0j." },
    Row { op: Op::Acos, a: ZEROS, b: &[NAN], result: (FRAC_PI_2, NAN), sentence: "If a is either +0 or -0 and b is NaN, the result is pi/2 + NaN j." },
    Row { op: Op::Acos, a: &[0.0, 0.5, -2.0, 1e30], b: &[INF], result: (FRAC_PI_2, -INF), sentence: "If a is a finite number and b is +infinity, the result is pi/2 - infinity j." },
    Row { op: Op::Acos, a: NUMBERS, b: &[NAN], result: (NAN, NAN), sentence: "If a is a nonzero finite number and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Acos, a: &[-INF], b: POSITIVE, result: (PI, -INF), sentence: "If a is -infinity and b is a positive (i.e., greater than 0) finite number, the result is pi - infinity j." },
    Row { op: Op::Acos, a: &[INF], b: POSITIVE, result: (0.0, -INF), sentence: "If a is +infinity and b is a positive (i.e., greater than 0) finite number, the result is +0 - infinity j." },
    Row { op: Op::Acos, a: &[-INF], b: &[INF], result: (3.0 * FRAC_PI_4, -INF), sentence: "If a is -infinity and b is +infinity, the result is 3pi/4 - infinity j." },
    Row { op: Op::Acos, a: &[INF], b: &[INF], result: (FRAC_PI_4, -INF), sentence: "If a is +infinity and b is +infinity, the result is pi/4 - infinity j." },
    Row { op: Op::Acos, a: &[INF, -INF], b: &[NAN], result: (NAN, INF), sentence: "If a is either +infinity or -infinity and b is NaN, the result is NaN ± infinity j (sign of the imaginary component is unspecified)." },
    Row { op: Op::Acos, a: &[NAN], b: &[0.0, 0.5, -2.0], result: (NAN, NAN), sentence: "If a is NaN and b is a finite number, the result is NaN + NaN j." },
    Row { op: Op::Acos, a: &[NAN], b: &[INF], result: (NAN, -INF), sentence: "If a is NaN and b is +infinity, the result is NaN - infinity j." },
    Row { op: Op::Acos, a: &[NAN], b: &[NAN], result: (NAN, NAN), sentence: "If a is NaN and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Acos, a: &[1.0], b: &[0.0], result: (0.0, -0.0), sentence: "If x_i is 1, the result is +0." },
    Row { op: Op::Acosh, a: ZEROS, b: &[0.0], result: (0.0, FRAC_PI_2), sentence: "If a is either +0 or -0 and b is +0, the result is +0 + pi j/2." },
    Row { op: Op::Acosh, a: &[0.0, 0.5, -2.0, 1e30], b: &[INF], result: (INF, FRAC_PI_2), sentence: "If a is a finite number and b is +infinity, the result is +infinity + pi j/2." },
    Row { op: Op::Acosh, a: NUMBERS, b: &[NAN], result: (NAN, NAN), sentence: "If a is a nonzero finite number and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Acosh, a: &[0.0], b: &[NAN], result: (NAN, FRAC_PI_2), sentence: "If a is +0 and b is NaN, the result is NaN ± pi j/2 (sign of imaginary component is unspecified)." },
    Row { op: Op::Acosh, a: &[-INF], b: POSITIVE, result: (INF, PI), sentence: "If a is -infinity and b is a positive (i.e., greater than 0) finite number, the result is +infinity + pi j." },
    Row { op: Op::Acosh, a: &[INF], b: POSITIVE, result: (INF, 0.0), sentence: "If a is +infinity and b is a positive (i.e., greater than 0) finite number, the result is +infinity + 0j." },
    Row { op: Op::Acosh, a: &[-INF], b: &[INF], result: (INF, 3.0 * FRAC_PI_4), sentence: "If a is -infinity and b is +infinity, the result is +infinity + 3 pi j/4." },
    Row { op: Op::Acosh, a: &[INF], b: &[INF], result: (INF, FRAC_PI_4), sentence: "If a is +infinity and b is +infinity, the result is +infinity + pi j/4." },
    Row { op: Op::Acosh, a: &[INF, -INF], b: &[NAN], result: (INF, NAN), sentence: "If a is either +infinity or -infinity and b is NaN, the result is +infinity + NaN j." },
    Row { op: Op::Acosh, a: &[NAN], b: &[0.0, 0.5, -2.0], result: (NAN, NAN), sentence: "If a is NaN and b is a finite number, the result is NaN + NaN j." },
    Row { op: Op::Acosh, a: &[NAN], b: &[INF], result: (INF, NAN), sentence: "If a is NaN and b is +infinity, the result is +infinity + NaN j." },
    Row { op: Op::Acosh, a: &[NAN], b: &[NAN], result: (NAN, NAN), sentence: "If a is NaN and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Acosh, a: &[1.0], b: &[0.0], result: (0.0, 0.0), sentence: "If x_i is 1, the result is +0." },
    Row { op: Op::Asinh, a: &[0.0], b: &[0.0], result: (0.0, 0.0), sentence: "If a is +0 and b is +0, the result is +0 + 0j." },
    Row { op: Op::Asinh, a: POSITIVE, b: &[INF], result: (INF, FRAC_PI_2), sentence: "If a is a positive (i.e., greater than 0) finite number and b is +infinity, the result is +infinity + pi j/2." },
    Row { op: Op::Asinh, a: &[0.0, 0.5, -2.0], b: &[NAN], result: (NAN, NAN), sentence: "If a is a finite number and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Asinh, a: &[INF], b: POSITIVE, result: (INF, 0.0), sentence: "If a is +infinity and b is a positive (i.e., greater than 0) finite number, the result is +infinity + 0j." },
    Row { op: Op::Asinh, a: &[INF], b: &[INF], result: (INF, FRAC_PI_4), sentence: "If a is +infinity and b is +infinity, the result is +infinity + pi j/4." },
    Row { op: Op::Asinh, a: &[INF], b: &[NAN], result: (INF, NAN), sentence: "C99: casinh(+inf + iNaN) returns +inf + iNaN." },
    Row { op: Op::Asinh, a: &[NAN], b: &[0.0], result: (NAN, 0.0), sentence: "If a is NaN and b is +0, the result is NaN + 0j." },
    Row { op: Op::Asinh, a: &[NAN], b: NUMBERS, result: (NAN, NAN), sentence: "If a is NaN and b is a nonzero finite number, the result is NaN + NaN j." },
    Row { op: Op::Asinh, a: &[NAN], b: &[INF], result: (INF, NAN), sentence: "If a is NaN and b is +infinity, the result is ±infinity + NaN j (sign of the real component is unspecified)." },
    Row { op: Op::Asinh, a: &[NAN], b: &[NAN], result: (NAN, NAN), sentence: "If a is NaN and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Atanh, a: &[0.0], b: &[0.0], result: (0.0, 0.0), sentence: "If a is +0 and b is +0, the result is +0 + 0j." },
    Row { op: Op::Atanh, a: &[0.0], b: &[NAN], result: (0.0, NAN), sentence: "If a is +0 and b is NaN, the result is +0 + NaN j." },
    Row { op: Op::Atanh, a: &[1.0], b: &[0.0], result: (INF, 0.0), sentence: "If a is 1 and b is +0, the result is +infinity + 0j." },
    Row { op: Op::Atanh, a: POSITIVE, b: &[INF], result: (0.0, FRAC_PI_2), sentence: "If a is a positive (i.e., greater than 0) finite number and b is +infinity, the result is +0 + pi j/2." },
    Row { op: Op::Atanh, a: NUMBERS, b: &[NAN], result: (NAN, NAN), sentence: "If a is a nonzero finite number and b is NaN, the result is NaN + NaN j." },
    Row { op: Op::Atanh, a: &[INF], b: POSITIVE, result: (0.0, FRAC_PI_2), sentence: "If a is +infinity and b is a positive (i.e., greater than 0) finite number, the result is +0 + pi j/2." },
    Row { op: Op::Atanh, a: &[INF], b: &[INF], result: (0.0, FRAC_PI_2), sentence: "If a is +infinity and b is +infinity, the result is +0 + pi j/2." },
    Row { op: Op::Atanh, a: &[INF], b: &[NAN], result: (0.0, NAN), sentence: "If a is +infinity and b is NaN, the result is +0 + NaN j." },
    Row { op: Op::Atanh, a: &[NAN], b: &[0.0, 0.5, -2.0], result: (NAN, NAN), sentence: "If a is NaN and b is a finite number, the result is NaN + NaN j." },
    Row { op: Op::Atanh, a: &[NAN], b: &[INF], result: (0.0, FRAC_PI_2), sentence: "If a is NaN and b is +infinity, the result is ±0 + pi j/2 (sign of the real component is unspecified)." },
    Row { op: Op::Atanh, a: &[NAN], b: &[NAN], result: (NAN, NAN), sentence: "If a is NaN and b is NaN, the result is NaN + NaN j." },
];

#[test]
fn special_cases_of_the_array_api() {
    assert_special(SPECIAL);
}

#[test]
fn symmetries() {
    assert_symmetries(&BOUNDS.map(|(op, _)| op), &[(Op::Asin, Op::Asinh), (Op::Atan, Op::Atanh)]);
}

/// On a cut the sign of the zero selects the side, and the value is the limit from there.
#[test]
fn both_sides_of_every_branch_cut() {
    let mut runner = Runner::default();
    for x in [1.0, 1.0 + f64::EPSILON, 1.1, 1.5, 2.0, 7.25, 1e5, 1e9, 1e20, 1e160, 1e300] {
        let (log, artanh) = (core_math::acosh(x), core_math::atanh(1.0 / x));
        for side in [1.0, -1.0] {
            // The cut runs through `cut`, a step off which goes along `step`; there the function is `expected`.
            let mut check = |op: Op, cut: Complex64, step: Complex64, expected: Complex64| {
                let place = |distance: f64| {
                    let off = step * (side * distance);
                    let part = |on: f64, off: f64| if on == 0.0 { off } else { on };
                    Complex64::new(part(cut.re, off.re), part(cut.im, off.im))
                };
                for z in [place(0.0), place(f64::from_bits(1))] {
                    let got = run(&mut runner, op, DType::C128, &[z]);
                    for (got, expected) in [(got.re, expected.re), (got.im, expected.im)] {
                        let near = got == expected || (got - expected).abs() <= 3.0 * unit(DType::C128, expected);
                        // A step off, what is 0 on the cut need not be.
                        let near = near || expected == 0.0 && got.abs() < 1e-150;
                        let signed = got.is_sign_negative() == expected.is_sign_negative();
                        assert!(near && signed, "{op} of {z:e}: {got:e}, not {expected:e}");
                    }
                }
            };
            let c = Complex64::new;
            let (right, left, up, down) = (c(x, 0.0), c(-x, 0.0), c(0.0, x), c(0.0, -x));
            let (upwards, rightwards) = (c(0.0, 1.0), c(1.0, 0.0));
            check(Op::Asin, right, upwards, c(FRAC_PI_2, side * log));
            check(Op::Asin, left, upwards, c(-FRAC_PI_2, side * log));
            check(Op::Acos, right, upwards, c(0.0, -side * log));
            check(Op::Acos, left, upwards, c(PI, -side * log));
            check(Op::Acosh, left, upwards, c(log, side * PI));
            check(Op::Acosh, c(1.0 / x, 0.0), upwards, c(0.0, side * core_math::acos(1.0 / x)));
            check(Op::Acosh, c(-1.0 / x, 0.0), upwards, c(0.0, side * core_math::acos(-1.0 / x)));
            check(Op::Asinh, up, rightwards, c(side * log, FRAC_PI_2));
            check(Op::Asinh, down, rightwards, c(side * log, -FRAC_PI_2));
            if x > 1.0 {
                check(Op::Atanh, right, upwards, c(artanh, side * FRAC_PI_2));
                check(Op::Atanh, left, upwards, c(-artanh, side * FRAC_PI_2));
                check(Op::Atan, up, rightwards, c(side * FRAC_PI_2, artanh));
                check(Op::Atan, down, rightwards, c(side * FRAC_PI_2, -artanh));
            }
        }
    }
}
