//! Reciprocal square root, cube root and hypotenuse against correctly rounded references, special values included.

use super::math::{assert_pairs_of_halves, distance32, distance64};
use super::support::{Runner, Stream, edges32, edges64, half_value, nearest_half, register, same32, single};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;

const FLOATS: [DType; 4] = [DType::F16, DType::Bf16, DType::F32, DType::F64];

type Reference32 = fn(f32) -> f32;
type Reference64 = fn(f64) -> f64;

const UNARY: [(Op, Reference32, Reference64); 2] =
    [(Op::Rsqrt, core_math::rsqrtf, core_math::rsqrt), (Op::Cbrt, core_math::cbrtf, core_math::cbrt)];

/// At most one result in 10^4 is not the nearest float, and is adjacent to it: the residual is nearly exact.
#[test]
fn single_roots_are_nearly_correctly_rounded() {
    let mut run = Runner::default();
    let boundaries = (0..512u32).flat_map(|e| [-2, -1, 0, 1, 2].map(|d| (e << 23).wrapping_add_signed(d)));
    let inputs: Vec<f32> =
        boundaries.chain((0..=u32::MAX).step_by(4099)).map(f32::from_bits).chain(edges32()).collect();
    for (op, reference, _) in UNARY {
        let made = body(op, DType::F32);
        let mut wrong = 0;
        for &x in &inputs {
            let got = single(run.one(&made, &[x.to_bits().into()]));
            let ulp = distance32(got, reference(x));
            assert!(ulp <= 1, "{op}: {ulp} ULP at {x:e}");
            wrong += ulp;
        }
        println!("{op} f32: {wrong} of {} not nearest", inputs.len());
        assert!(wrong * 10_000 <= inputs.len() as u64, "{op}: {wrong} not nearest");
    }
}

#[test]
fn double_roots_are_nearly_correctly_rounded() {
    let mut run = Runner::default();
    let mut stream = Stream(11);
    let mut inputs = edges64();
    for exponent in 0..2047u64 {
        let bits = exponent << 52;
        inputs.extend([bits.wrapping_sub(1), bits, bits + 1].map(f64::from_bits));
        inputs.extend((0..100).map(|_| f64::from_bits(bits | stream.bits() >> 12 | stream.bits() << 63)));
    }
    inputs.extend((0..100).map(|_| f64::from_bits(stream.bits() >> (stream.bits() % 51 + 12))));
    inputs.extend((1..1000).map(|n| f64::from(n).powi(3)));
    for (op, _, reference) in UNARY {
        let made = body(op, DType::F64);
        let mut wrong = 0;
        for &x in &inputs {
            let got = f64::from_bits(run.one(&made, &[x.to_bits()]));
            let ulp = distance64(got, reference(x));
            assert!(ulp <= 1, "{op}: {ulp} ULP at {x:e}: {got:e}");
            wrong += ulp;
        }
        println!("{op} f64: {wrong} of {} not nearest", inputs.len());
        assert!(wrong * 10_000 <= inputs.len() as u64, "{op}: {wrong} not nearest");
    }
}

/// The `f16` whose cube roots are so close to a tie that they are that tie in `f32` and round to even:
/// 1361 times powers of 8. All others are correctly rounded.
fn not_correctly_rounded() -> Vec<(Op, DType, f64)> {
    let magnitudes = (-8..=1).map(|n| 1361.0 * 8f64.powi(n));
    let both = magnitudes.clone().chain(magnitudes.map(|x| -x));
    both.map(|x| (Op::Cbrt, DType::F16, x)).collect()
}

#[test]
fn every_half_root_is_correctly_rounded_but_for_a_few() {
    let mut run = Runner::default();
    let mut wrong = Vec::new();
    for dtype in [DType::F16, DType::Bf16] {
        for (op, _, reference) in UNARY {
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
    }
    assert_eq!(wrong, not_correctly_rounded());
}

#[test]
fn hypotenuses_stay_within_their_bound() {
    let mut run = Runner::default();
    let mut stream = Stream(5);
    let made = body(Op::Hypot, DType::F32);
    let edges = edges32();
    let mut pairs: Vec<(f32, f32)> = edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))).collect();
    for i in 0..600_000u32 {
        let x = f32::from_bits(stream.bits() as u32);
        // Exponents near that of x, where both matter, or any.
        let near = x.abs() * 2f32.powi((i % 28) as i32 - 14) * (1.0 + (stream.bits() >> 40) as f32 / 2f32.powi(24));
        pairs.push((x, if i % 7 == 0 { f32::from_bits(stream.bits() as u32) } else { near }));
    }
    for (x, y) in pairs {
        let got = single(run.one(&made, &[x.to_bits().into(), y.to_bits().into()]));
        let ulp = distance32(got, core_math::hypotf(x, y));
        assert!(ulp <= 1, "hypot({x:e}, {y:e}) is {got:e}: {ulp} ULP");
    }
    let made = body(Op::Hypot, DType::F64);
    let edges = edges64();
    let mut pairs: Vec<(f64, f64)> = edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))).collect();
    for i in 0..300_000u32 {
        let x = f64::from_bits(stream.bits());
        let near = x.abs() * 2f64.powi((i % 58) as i32 - 29) * (1.0 + (stream.bits() >> 11) as f64 / 2f64.powi(53));
        pairs.push((x, if i % 7 == 0 { f64::from_bits(stream.bits()) } else { near }));
    }
    for (x, y) in pairs {
        let got = f64::from_bits(run.one(&made, &[x.to_bits(), y.to_bits()]));
        let ulp = distance64(got, core_math::hypot(x, y));
        assert!(ulp <= 1, "hypot({x:e}, {y:e}) is {got:e}: {ulp} ULP");
    }
}

/// 1.005 and 1.020 ULP off before the root was corrected, the worst of 1e8 pairs.
#[test]
fn hypotenuses_that_rounding_each_step_gets_wrong() {
    let mut run = Runner::default();
    let (x, y) = (0.254_315_4_f32, 0.254_484_36_f32);
    let got = single(run.one(&body(Op::Hypot, DType::F32), &[x.to_bits().into(), y.to_bits().into()]));
    assert_eq!(got, core_math::hypotf(x, y));
    let (x, y) = (2.8754498451999567e-14_f64, 2.875384467774472e-14_f64);
    let got = f64::from_bits(run.one(&body(Op::Hypot, DType::F64), &[x.to_bits(), y.to_bits()]));
    assert_eq!(got, core_math::hypot(x, y));
}

/// A stride through all pairs of halves: rounded twice, so at most 1 ULP off, and seldom.
#[test]
fn hypotenuses_of_halves() {
    for dtype in [DType::F16, DType::Bf16] {
        let strided = |step| (0..=u16::MAX).step_by(step).map(move |bits| half_value(dtype, bits));
        let pairs = strided(97).flat_map(|x| strided(101).map(move |y| (x, y)));
        assert_pairs_of_halves(Op::Hypot, dtype, pairs, core_math::hypot);
    }
}

/// The sentences are those of the Array API for `hypot`; C's and NumPy's for the roots.
#[test]
fn special_values() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let unary = [
        ("1 / sqrt of +0 is +infinity", Op::Rsqrt, 0.0, inf),
        ("1 / sqrt of -0 is -infinity", Op::Rsqrt, -0.0, -inf),
        ("1 / sqrt of +infinity is +0", Op::Rsqrt, inf, 0.0),
        ("of a negative number NaN", Op::Rsqrt, -1.0, nan),
        ("of a negative number NaN", Op::Rsqrt, -inf, nan),
        ("NaN gives NaN", Op::Rsqrt, nan, nan),
        ("exact where it can be", Op::Rsqrt, 4.0, 0.5),
        ("+0 gives +0", Op::Cbrt, 0.0, 0.0),
        ("-0 gives -0", Op::Cbrt, -0.0, -0.0),
        ("+infinity gives +infinity", Op::Cbrt, inf, inf),
        ("-infinity gives -infinity", Op::Cbrt, -inf, -inf),
        ("NaN gives NaN", Op::Cbrt, nan, nan),
        ("exact where it can be", Op::Cbrt, -27.0, -3.0),
    ];
    let binary = [
        ("x1 is +infinity or -infinity and x2 is NaN: +infinity", -inf, nan, inf),
        ("x1 is NaN and x2 is +infinity or -infinity: +infinity", nan, inf, inf),
        ("x1 is NaN and x2 is a finite number or NaN: NaN", nan, 1.0, nan),
        ("x1 is a finite number or NaN and x2 is NaN: NaN", 0.0, nan, nan),
        ("x1 is NaN and x2 is a finite number or NaN: NaN", nan, nan, nan),
        ("zeros of any sign: +0", -0.0, -0.0, 0.0),
        ("one zero: the magnitude", -0.0, -3.0, 3.0),
        ("exact where it can be", 3.0, -4.0, 5.0),
    ];
    let cases = unary
        .map(|(sentence, op, x, expected)| (sentence, op, vec![x], expected))
        .into_iter()
        .chain(binary.map(|(sentence, x, y, expected)| (sentence, Op::Hypot, vec![x, y], expected)));
    for (sentence, op, inputs, expected) in cases {
        for dtype in FLOATS {
            let made = body(op, dtype);
            let wide = dtype == DType::F64;
            let bits: Vec<u64> = inputs.iter().map(|&x| if wide { x.to_bits() } else { register(x) }).collect();
            let got = made.eval(&bits)[0];
            let got = if wide { f64::from_bits(got) } else { single(got).into() };
            assert_eq!(distance64(got, expected), 0, "{op}{inputs:?} in {dtype} is {got:e}: {sentence}");
        }
    }
}
