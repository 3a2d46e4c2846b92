//! exp, log, sin, cos, tanh against correctly rounded references: the largest error is within the op's row, special values
//! are exact, halves are correctly rounded with few known exceptions.

use super::support::{Runner, Stream, edges32, edges64, half_value, nearest_half, register, same32, single};
use ndjit_ir::DType;
use ndjit_ir::op::{Accuracy, Op};
use ndjit_math::body;

const OPS: [Op; 5] = [Op::Exp, Op::Log, Op::Sin, Op::Cos, Op::Tanh];

fn reference32(op: Op, x: f32) -> f32 {
    match op {
        Op::Exp => core_math::expf(x),
        Op::Log => core_math::logf(x),
        Op::Sin => core_math::sinf(x),
        Op::Cos => core_math::cosf(x),
        Op::Tanh => core_math::tanhf(x),
        other => unreachable!("{other}"),
    }
}

fn reference64(op: Op, x: f64) -> f64 {
    match op {
        Op::Exp => core_math::exp(x),
        Op::Log => core_math::log(x),
        Op::Sin => core_math::sin(x),
        Op::Cos => core_math::cos(x),
        Op::Tanh => core_math::tanh(x),
        other => unreachable!("{other}"),
    }
}

/// The bound of the op's row.
pub fn bound(op: Op) -> u64 {
    match op.row().accuracy {
        Accuracy::Ulp(n) => n.into(),
        Accuracy::Exact => 0,
    }
}

/// Floats between two results; infinite if only one is NaN. A zero of the wrong sign counts as 1.
fn distance(got: u64, expected: u64, sign: u64, nan: bool, both_nan: bool) -> u64 {
    if nan {
        return if both_nan { 0 } else { u64::MAX };
    }
    let ordered = |bits: u64| if bits & sign != 0 { -i128::from(bits & !sign) } else { i128::from(bits) };
    let steps = ordered(got).abs_diff(ordered(expected)) as u64;
    if steps == 0 && got != expected { 1 } else { steps }
}

pub fn distance32(got: f32, expected: f32) -> u64 {
    let nan = got.is_nan() || expected.is_nan();
    let both = got.is_nan() && expected.is_nan();
    distance(got.to_bits().into(), expected.to_bits().into(), 1 << 31, nan, both)
}

pub fn distance64(got: f64, expected: f64) -> u64 {
    let nan = got.is_nan() || expected.is_nan();
    distance(got.to_bits(), expected.to_bits(), 1 << 63, nan, got.is_nan() && expected.is_nan())
}

/// Checks that no error of `op` on `inputs` exceeds its row's bound.
pub fn assert_singles(op: Op, inputs: &[f32], reference: impl Fn(f32) -> f32) {
    let mut run = Runner::default();
    let made = body(op, DType::F32);
    let mut worst = (0, 0.0);
    for &x in inputs {
        let got = single(run.one(&made, &[x.to_bits().into()]));
        let ulp = distance32(got, reference(x));
        if ulp > worst.0 {
            worst = (ulp, x);
        }
    }
    println!("{op} f32: {} ULP at {:e}", worst.0, worst.1);
    assert!(worst.0 <= bound(op), "{op}: {} ULP at {:e}", worst.0, worst.1);
}

/// Like [`assert_singles`].
pub fn assert_doubles(op: Op, inputs: &[f64], reference: impl Fn(f64) -> f64) {
    let mut run = Runner::default();
    let made = body(op, DType::F64);
    let mut worst = (0, 0.0);
    for &x in inputs {
        let got = f64::from_bits(run.one(&made, &[x.to_bits()]));
        let ulp = distance64(got, reference(x));
        if ulp > worst.0 {
            worst = (ulp, x);
        }
    }
    println!("{op} f64: {} ULP at {:e}", worst.0, worst.1);
    assert!(worst.0 <= bound(op), "{op}: {} ULP at {:e}", worst.0, worst.1);
}

/// The halves at which `op` is not the correctly rounded value of the reference.
pub fn wrong_halves(op: Op, reference: impl Fn(f64) -> f64) -> Vec<(Op, DType, f64)> {
    let mut run = Runner::default();
    let mut wrong = Vec::new();
    for dtype in [DType::F16, DType::Bf16] {
        let made = body(op, dtype);
        for bits in 0..=u16::MAX {
            let x = half_value(dtype, bits);
            let expected = nearest_half(dtype, reference(x)) as f32;
            let got = single(run.one(&made, &[register(x)]));
            if !same32(got, expected) {
                wrong.push((op, dtype, x));
            }
        }
    }
    wrong
}

#[test]
fn singles_stay_within_their_bounds() {
    // All exponents with their adjacent floats, then a stride through all bit patterns.
    let boundaries = (0..512u32).flat_map(|e| [-2, -1, 0, 1, 2].map(|d| (e << 23).wrapping_add_signed(d)));
    let inputs: Vec<f32> = boundaries
        .chain((0..=u32::MAX).step_by(8191))
        .map(f32::from_bits)
        .chain(edges32())
        // Changes of the results' kind, and multiples of pi/2.
        .chain([88.72283, 88.72284, -87.33654, -103.97207, -103.97208, -103.9721, -104.0, 9.010914, 9.1])
        .chain((1..2000).flat_map(|k| {
            let x = (f64::from(k) * std::f64::consts::FRAC_PI_2) as f32;
            [x, x.next_up(), x.next_down(), -x]
        }))
        .collect();
    for op in OPS {
        assert_singles(op, &inputs, |x| reference32(op, x));
    }
}

#[test]
fn doubles_stay_within_their_bounds() {
    let mut stream = Stream(42);
    let mut inputs = edges64();
    for exponent in 0..2047u64 {
        let bits = exponent << 52;
        inputs.extend([bits.wrapping_sub(1), bits, bits + 1].map(f64::from_bits));
        inputs.extend((0..20).map(|_| f64::from_bits(bits | stream.bits() >> 12 | stream.bits() << 63)));
    }
    // Where the functions have their interesting ranges.
    for _ in 0..40_000 {
        let unit = (stream.bits() >> 11) as f64 / 2f64.powi(53) - 0.5;
        inputs.extend([
            unit,
            0.3 + unit / 4.0,
            4.0 * unit,
            40.0 * unit,
            1500.0 * unit,
            1e6 * unit,
            1.0 + unit,
            1.0 + unit / 100.0,
        ]);
    }
    for k in 1..2000 {
        let x = f64::from(k) * std::f64::consts::FRAC_PI_2;
        inputs.extend([x, x.next_up(), x.next_down(), -x]);
    }
    // The double closest to a multiple of pi/2, and the ends of the exponential's range.
    inputs.extend([
        6381956970095103.0 * 2f64.powi(797),
        709.782712893384,
        709.7827128933841,
        -745.1332191019411,
        -745.14,
    ]);
    for op in OPS {
        assert_doubles(op, &inputs, |x| reference64(op, x));
    }
}

/// The halves at which a function computed in `f32` is so close to a tie that it rounds to the wrong
/// side: 1 ULP off. All others are correctly rounded.
const NOT_CORRECTLY_ROUNDED: &[(Op, DType, f64)] = &[
    (Op::Exp, DType::F16, 0.007297515869140625),
    (Op::Exp, DType::F16, 0.0226898193359375),
    (Op::Log, DType::F16, 0.005340576171875),
    (Op::Sin, DType::F16, 0.2093505859375),
    (Op::Sin, DType::F16, 300.0),
    (Op::Sin, DType::F16, -0.2093505859375),
    (Op::Sin, DType::F16, -300.0),
    (Op::Cos, DType::F16, 0.0584716796875),
    (Op::Cos, DType::F16, -0.0584716796875),
];

#[test]
fn every_half_is_correctly_rounded_but_for_a_few() {
    let wrong: Vec<_> = OPS.into_iter().flat_map(|op| wrong_halves(op, |x| reference64(op, x))).collect();
    assert_eq!(wrong, NOT_CORRECTLY_ROUNDED);
}

#[test]
fn special_values_are_exact() {
    let inf = f64::INFINITY;
    let cases = [
        (Op::Exp, 0.0, 1.0),
        (Op::Exp, -0.0, 1.0),
        (Op::Exp, inf, inf),
        (Op::Exp, -inf, 0.0),
        (Op::Exp, 1e30, inf),
        (Op::Exp, -1e30, 0.0),
        (Op::Log, 0.0, -inf),
        (Op::Log, -0.0, -inf),
        (Op::Log, 1.0, 0.0),
        (Op::Log, -1.0, f64::NAN),
        (Op::Log, -inf, f64::NAN),
        (Op::Log, inf, inf),
        (Op::Sin, 0.0, 0.0),
        (Op::Sin, -0.0, -0.0),
        (Op::Sin, inf, f64::NAN),
        (Op::Sin, -inf, f64::NAN),
        (Op::Cos, 0.0, 1.0),
        (Op::Cos, -0.0, 1.0),
        (Op::Cos, -inf, f64::NAN),
        (Op::Tanh, 0.0, 0.0),
        (Op::Tanh, -0.0, -0.0),
        (Op::Tanh, inf, 1.0),
        (Op::Tanh, -inf, -1.0),
        (Op::Tanh, 30.0, 1.0),
    ];
    for (op, x, expected) in cases.into_iter().chain(OPS.map(|op| (op, f64::NAN, f64::NAN))) {
        assert_special(op, &[x], expected, "");
    }
}

/// Checks one special case, given by `sentence`, in every real dtype: the result is `expected` rounded to it.
pub fn assert_special(op: Op, args: &[f64], expected: f64, sentence: &str) {
    for dtype in [DType::F16, DType::Bf16, DType::F32, DType::F64] {
        let made = body(op, dtype);
        let (got, expected) = if dtype == DType::F64 {
            let args: Vec<u64> = args.iter().map(|x| x.to_bits()).collect();
            (f64::from_bits(made.eval(&args)[0]), expected)
        } else {
            let round = |x| if dtype.is_half() { nearest_half(dtype, x) } else { x };
            let args: Vec<u64> = args.iter().map(|&x| register(round(x))).collect();
            (f64::from(single(made.eval(&args)[0])), f64::from(round(expected) as f32))
        };
        assert_eq!(
            distance64(got, expected),
            0,
            "{op} of {args:?} in {dtype} is {got:e}, not {expected:e}. {sentence}"
        );
    }
}

/// Checks a function of two halves, rounded to `f32` first: seldom not the nearest half, and then next to a tie.
pub fn assert_pairs_of_halves(
    op: Op,
    dtype: DType,
    pairs: impl Iterator<Item = (f64, f64)>,
    reference: impl Fn(f64, f64) -> f64,
) {
    let mut run = Runner::default();
    let made = body(op, dtype);
    let (mut wrong, mut count) = (0u32, 0u32);
    for (x, y) in pairs {
        let exact = reference(x, y);
        let expected = nearest_half(dtype, exact);
        let got = f64::from(single(run.one(&made, &[register(x), register(y)])));
        count += 1;
        if !same32(got as f32, expected as f32) {
            wrong += 1;
            let off = (got - exact).abs() / (got - expected).abs();
            assert!(off < 0.51, "{op}({x:e}, {y:e}) in {dtype} is {got:e}, not {expected:e}");
        }
    }
    println!("{op} {dtype}: {wrong} of {count} not nearest");
    assert!(wrong * 10_000 < count, "{dtype}: {wrong} of {count}");
}
