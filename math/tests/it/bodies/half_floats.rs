//! Bodies on `f16` and `bf16` against the exact result rounded once: every value for unary ops, loads and stores; strided
//! pairs, subnormals among them, for binary ops.

use super::support::{Runner, Stream, half_value, nearest_half, register, same32, single};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::{body, load_body, store_body};

const HALVES: [DType; 2] = [DType::F16, DType::Bf16];

#[test]
fn every_half_loads_and_stores() {
    let mut run = Runner::default();
    for dtype in HALVES {
        let (load, store) = (load_body(dtype), store_body(dtype));
        for bits in 0..=u16::MAX {
            let value = half_value(dtype, bits);
            let loaded = run.one(&load, &[bits.into()]);
            assert!(same32(single(loaded), value as f32), "{dtype} {bits:#x}");
            let crate_value = if dtype == DType::F16 {
                half::f16::from_bits(bits).to_f32()
            } else {
                half::bf16::from_bits(bits).to_f32()
            };
            assert!(same32(single(loaded), crate_value), "{dtype} {bits:#x}");
            let canonical = if dtype == DType::F16 { 0x7e00 } else { 0x7fc0 };
            let expected = if value.is_nan() { canonical } else { bits };
            assert_eq!(run.one(&store, &[loaded]), u64::from(expected), "{dtype} {bits:#x}");
        }
    }
}

fn unary(op: Op, x: f64) -> Option<f64> {
    Some(match op {
        Op::Negative => -x,
        Op::Conj | Op::Real | Op::Positive => x,
        Op::Imag => 0.0,
        Op::Abs => x.abs(),
        Op::Relu if x <= 0.0 => 0.0,
        Op::Relu => x,
        Op::Sign if x.is_nan() => x,
        Op::Sign => f64::from(u8::from(x > 0.0)) - f64::from(u8::from(x < 0.0)),
        Op::Square => x * x,
        Op::Sqrt => x.sqrt(),
        Op::Reciprocal => 1.0 / x,
        Op::Floor => x.floor(),
        Op::Ceil => x.ceil(),
        Op::Trunc => x.trunc(),
        Op::Round => x.round_ties_even(),
        _ => return None,
    })
}

#[test]
fn unary_ops_on_every_half() {
    let mut run = Runner::default();
    for dtype in HALVES {
        let mut ops = 0;
        for op in Op::ALL.into_iter().filter(|op| op.arity() == 1 && op.row().domain.contains(dtype)) {
            let made = body(op, dtype);
            if unary(op, 1.0).is_none() {
                continue;
            }
            ops += 1;
            for bits in 0..=u16::MAX {
                let x = half_value(dtype, bits);
                let expected = nearest_half(dtype, unary(op, x).unwrap()) as f32;
                let got = single(run.one(&made, &[register(x)]));
                assert!(same32(got, expected), "{op} on {dtype} {x:e}: {got:e}, not {expected:e}");
            }
        }
        assert_eq!(ops, 15);
    }
}

/// Floor division and remainder by their definition, on values whose quotient `f64` holds exactly enough.
fn python_remainder(x: f64, y: f64) -> f64 {
    let r = x % y;
    if r != 0.0 && (r < 0.0) != (y < 0.0) { r + y } else { r.abs().copysign(y) }
}

fn binary(op: Op, x: f64, y: f64) -> f64 {
    match op {
        Op::Add => x + y,
        Op::Subtract => x - y,
        Op::Multiply => x * y,
        Op::Divide => x / y,
        Op::Remainder => python_remainder(x, y),
        Op::Fmod => x % y,
        other => unreachable!("{other}"),
    }
}

/// A stride through the bit patterns that meets all exponents, and the ends of each range.
fn sample(dtype: DType, stride: usize) -> Vec<f64> {
    let mut bits: Vec<u16> = (0..=u16::MAX).step_by(stride).collect();
    let inf = if dtype == DType::F16 { 0x7c00 } else { 0x7f80 };
    let one = half::f16::ONE.to_bits();
    for near in [0, 1, 2, 3, 0x3f, 0x40, 0x7f, 0x80, 0x81, 0x3ff, 0x400, 0x401, inf - 1, inf, inf + 1, 0x3f80, one] {
        bits.extend([near, near | 0x8000]);
    }
    bits.into_iter().map(|b| half_value(dtype, b)).collect()
}

#[test]
fn binary_ops_on_strided_pairs() {
    let mut run = Runner::default();
    for dtype in HALVES {
        let (xs, ys) = (sample(dtype, 211), sample(dtype, 227));
        for op in [Op::Add, Op::Subtract, Op::Multiply, Op::Divide, Op::Remainder, Op::Fmod] {
            let made = body(op, dtype);
            for &x in &xs {
                for &y in &ys {
                    let expected = nearest_half(dtype, binary(op, x, y)) as f32;
                    let got = single(run.one(&made, &[register(x), register(y)]));
                    assert!(same32(got, expected), "{dtype} {op}({x:e}, {y:e}) = {got:e}, not {expected:e}");
                }
            }
        }
    }
}

/// Products and quotients that are subnormal, in the half and in `f32`.
#[test]
fn subnormal_results_are_rounded_once() {
    let mut run = Runner::default();
    let mut stream = Stream(7);
    for dtype in HALVES {
        let (multiply, divide, mantissa) = (body(Op::Multiply, dtype), body(Op::Divide, dtype), 2.0 - 1.0 / 64.0);
        let least = if dtype == DType::F16 { 2f64.powi(-24) } else { 2f64.powi(-133) };
        for _ in 0..200_000 {
            let x = nearest_half(dtype, 1.0 + (stream.bits() >> 11) as f64 / 2f64.powi(53));
            let y = nearest_half(dtype, 1.0 + (stream.bits() >> 11) as f64 / 2f64.powi(53));
            let down = (stream.bits() % 12) as i32 - 2;
            let small = nearest_half(dtype, y * least * 2f64.powi(down + 6));
            let large = 2f64.powi(-6);
            let pair = (x * large, small);
            let expected = nearest_half(dtype, pair.0 * pair.1);
            let got = run.one(&multiply, &[register(pair.0), register(pair.1)]);
            assert!(same32(single(got), expected as f32), "{dtype} {:e} * {:e}", pair.0, pair.1);
            let big = nearest_half(dtype, y * mantissa * 64.0);
            let tiny = nearest_half(dtype, x * least * 2f64.powi(down + 9));
            let expected = nearest_half(dtype, tiny / big) as f32;
            let got = single(run.one(&divide, &[register(tiny), register(big)]));
            assert!(same32(got, expected), "{dtype} {tiny:e} / {big:e}");
        }
    }
}

/// The exact `x * y + z` rounded to odd in `f64`, which `nearest_half` then rounds as if exact.
fn exact_mul_add(x: f64, y: f64, z: f64) -> f64 {
    let product = x * y;
    let sum = product + z;
    if !sum.is_finite() {
        return sum;
    }
    let z_part = sum - product;
    let error = (product - (sum - z_part)) + (z - z_part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

#[test]
fn mul_add_is_rounded_once() {
    let mut run = Runner::default();
    for dtype in HALVES {
        let made = body(Op::MulAdd, dtype);
        let mut twice = 0;
        let mut check = |x: f64, y: f64, z: f64| {
            let expected = nearest_half(dtype, exact_mul_add(x, y, z)) as f32;
            let got = single(run.one(&made, &[register(x), register(y), register(z)]));
            assert!(same32(got, expected), "{dtype} {x:e} * {y:e} + {z:e} = {got:e}, not {expected:e}");
            let naive = nearest_half(dtype, (x as f32).mul_add(y as f32, z as f32).into()) as f32;
            twice += u32::from(!same32(naive, expected));
        };
        let (xs, zs) = (sample(dtype, 1511), sample(dtype, 797));
        for &x in &xs {
            for &y in &xs {
                for &z in &zs {
                    check(x, y, z);
                }
            }
        }
        // Products on a tie, with an addend of any size and sign to break it.
        let mut stream = Stream(3);
        let bits = if dtype == DType::F16 { 11 } else { 8 };
        for _ in 0..100_000 {
            let odd = (stream.bits() % (1 << bits)) as f64 + 1.0;
            let (x, y) = (odd, (1 + 2 * (stream.bits() % 4)) as f64);
            let shift = 2f64.powi((stream.bits() % 20) as i32 - 10);
            let z = half_value(dtype, stream.bits() as u16);
            check(nearest_half(dtype, x), y * shift, z);
            check(nearest_half(dtype, x * shift), -y, z);
            // The same near the ends of the range of bf16.
            if dtype == DType::Bf16 {
                let shift = 2f64.powi((stream.bits() % 200) as i32 - 100);
                check(nearest_half(dtype, x * shift), y * 2f64.powi(-20) * shift, z);
                let small = nearest_half(dtype, z * 2f64.powi(-100));
                check(nearest_half(dtype, x * 2f64.powi(-120)), y * 2f64.powi(-14), small);
                check(nearest_half(dtype, x * 2f64.powi(60)), y * 2f64.powi(60), z);
            }
        }
        assert!(twice > 0, "rounding twice must go wrong somewhere in {dtype}");
    }
}

#[test]
fn floor_division_of_halves() {
    let mut run = Runner::default();
    for dtype in HALVES {
        let made = body(Op::FloorDivide, dtype);
        for &x in &sample(dtype, 401) {
            for &y in &sample(dtype, 397) {
                let got = single(run.one(&made, &[register(x), register(y)]));
                let quotient = x / y;
                let exact = if y == 0.0 || !x.is_finite() || y.is_nan() {
                    if y == 0.0 { quotient } else { f64::NAN }
                } else {
                    // Exact while the quotient is small; larger ones are only compared where f64 can tell.
                    if quotient.abs() > 2f64.powi(20) {
                        continue;
                    }
                    let r = python_remainder(x, y);
                    if y.is_infinite() { if r == x { 0f64.copysign(quotient) } else { -1.0 } } else { quotient.floor() }
                };
                let expected = nearest_half(dtype, exact) as f32;
                assert!(same32(got, expected), "{dtype} {x:e} // {y:e} = {got:e}, not {expected:e}");
            }
        }
    }
}
