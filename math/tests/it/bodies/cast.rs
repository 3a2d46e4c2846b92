//! Casts against Rust's `as` and against rounding once from the exact value: every half to everything, strided and edge
//! values of the wider types to everything.

use super::support::{Runner, Stream, edges32, edges64, half_value, nearest_half, register, same64};
use ndjit_ir::{DType, Kind};
use ndjit_math::{cast_body, load_body};

/// An exact real value of any real dtype.
#[derive(Clone, Copy, Debug)]
enum Value {
    Int(i128),
    Float(f64),
}

/// Register bits of a value of a real dtype.
fn encode(dtype: DType, value: Value) -> u64 {
    match value {
        Value::Int(n) => n as u64 & dtype.repr()[0].mask(),
        Value::Float(x) if dtype == DType::F64 => x.to_bits(),
        Value::Float(x) => register(x),
    }
}

/// The value of a float register.
fn decode(dtype: DType, bits: u64) -> f64 {
    if dtype == DType::F64 || dtype == DType::C128 {
        f64::from_bits(bits)
    } else {
        f64::from(f32::from_bits(bits as u32))
    }
}

/// The half nearest to an integer, by exact integer arithmetic.
fn half_from_int(dtype: DType, n: i128) -> f64 {
    let bits = if dtype == DType::F16 { 11 } else { 8 };
    let length = 128 - n.unsigned_abs().leading_zeros();
    let drop = length.saturating_sub(bits);
    let (kept, rest) = (n.unsigned_abs() >> drop, n.unsigned_abs() & ((1u128 << drop) - 1));
    let half = (1u128 << drop) / 2;
    let up = drop > 0 && (rest > half || rest == half && kept & 1 == 1);
    let magnitude = ((kept + u128::from(up)) << drop) as f64;
    nearest_half(dtype, if n < 0 { -magnitude } else { magnitude })
}

/// Saturated truncation, `None` for floats that are not finite.
fn to_int(x: f64, low: i128, high: i128) -> i128 {
    if x.is_nan() { 0 } else { (x as i128).clamp(low, high) }
}

fn check(run: &mut Runner, bodies: &[(DType, ndjit_ir::body::Body)], from: DType, value: Value) {
    let input = encode(from, value);
    for (to, body) in bodies {
        let got = run.one(body, &[input]);
        let what = || format!("{from} {value:?} to {to}: {got:#x}");
        match (to.kind(), value) {
            (Kind::Bool, Value::Int(n)) => assert_eq!(got, u64::from(n != 0), "{}", what()),
            (Kind::Bool, Value::Float(x)) => assert_eq!(got, u64::from(x != 0.0), "{}", what()),
            (Kind::UInt | Kind::Int, Value::Int(n)) => assert_eq!(got, n as u64 & to.repr()[0].mask(), "{}", what()),
            (Kind::UInt | Kind::Int, Value::Float(x)) => {
                let (low, high) = to.int_range().unwrap();
                assert_eq!(got, to_int(x, low, high) as u64 & to.repr()[0].mask(), "{}", what());
            }
            (Kind::Float | Kind::Complex, _) => {
                let expected = match (value, to.real()) {
                    (Value::Int(n), DType::F32) => f64::from(n as f32),
                    (Value::Int(n), DType::F64) => n as f64,
                    (Value::Int(n), half) => half_from_int(half, n),
                    (Value::Float(x), DType::F32) => f64::from(x as f32),
                    (Value::Float(x), DType::F64) => x,
                    (Value::Float(x), half) => nearest_half(half, x),
                };
                assert!(same64(decode(*to, got), expected), "{} is not {expected:e}", what());
                if to.kind() == Kind::Complex {
                    assert_eq!(run.two(body, &[input]).1, 0, "{}", what());
                }
            }
        }
    }
}

fn from(dtype: DType, values: impl IntoIterator<Item = Value>) {
    let bodies: Vec<_> = DType::ALL.into_iter().map(|to| (to, cast_body(dtype, to))).collect();
    let mut run = Runner::default();
    for value in values {
        check(&mut run, &bodies, dtype, value);
    }
}

#[test]
fn every_half_to_everything() {
    for dtype in [DType::F16, DType::Bf16] {
        from(dtype, (0..=u16::MAX).map(|bits| Value::Float(half_value(dtype, bits))));
    }
}

#[test]
fn every_narrow_integer_to_everything() {
    for dtype in [DType::Bool, DType::U8, DType::I8, DType::U16, DType::I16] {
        let (low, high) = dtype.int_range().unwrap();
        from(dtype, (low..=high).map(Value::Int));
    }
}

#[test]
fn wide_integers_to_everything() {
    for dtype in [DType::U32, DType::I32, DType::U64, DType::I64] {
        let (low, high) = dtype.int_range().unwrap();
        let mut values: Vec<i128> = Vec::new();
        let mut stream = Stream(11);
        for shift in 0..8 * dtype.bytes() as u32 {
            // All lengths; with many zeros or ones in the low bits, where roundings tie.
            for _ in 0..200 {
                let random = i128::from(stream.bits() >> shift);
                let cut = stream.bits() % 64;
                let tie = (random >> cut) << cut;
                values.extend([random, tie, tie + 1, tie - 1, -random, -tie, -tie + 1, -tie - 1]);
            }
        }
        values.extend([low, low + 1, high, high - 1, 0, 1, -1, 65504, 65519, 65520, 65535, -65520]);
        from(dtype, values.into_iter().filter(|v| (low..=high).contains(v)).map(Value::Int));
    }
}

#[test]
fn singles_to_everything() {
    let strided = (0..=u32::MAX).step_by(9973).map(f32::from_bits);
    from(DType::F32, strided.chain(edges32()).map(|x| Value::Float(x.into())));
}

#[test]
fn doubles_to_everything() {
    let mut values = edges64();
    let mut stream = Stream(5);
    for _ in 0..100_000 {
        let bits = stream.bits();
        values.push(f64::from_bits(bits));
        // Exponents of a half's range, just beside the values where roundings tie.
        let exponent = 1023 - 30 + bits % 60;
        let tie = (exponent << 52) | (stream.bits() & 0x000f_ff00_0000_0000) | (1 << 41);
        let beside = [0, 1, u64::MAX, 1 << 20][bits as usize >> 8 & 3];
        values.push(f64::from_bits(tie.wrapping_add(beside) | bits & (1 << 63)));
        let wide = (1023 - 140 + (bits >> 20) % 280) << 52 | (stream.bits() & 0x000f_f000_0000_0000) | 1 << 44;
        values.push(f64::from_bits(wide.wrapping_add(beside)));
    }
    from(DType::F64, values.into_iter().map(Value::Float));
}

#[test]
fn complex_sources_lose_the_imaginary_part() {
    let mut run = Runner::default();
    for from in [DType::C64, DType::C128] {
        for to in DType::ALL {
            let (body, plain) = (cast_body(from, to), cast_body(from.real(), to));
            for re in [0.0, -0.0, 2.75, -300.0, f64::NAN, f64::INFINITY] {
                for im in [0.0, 1.5, f64::NAN] {
                    let (x, y) = (Value::Float(re), Value::Float(im));
                    let input = [encode(from.real(), x), encode(from.real(), y)];
                    let got = run.one(&body, &input);
                    if to == DType::Bool {
                        assert_eq!(got, u64::from(re != 0.0 || im != 0.0));
                    } else if to.kind() == Kind::Complex && from != to {
                        let part = cast_body(from.real(), to.real());
                        let parts = (run.one(&part, &input[..1]), run.one(&part, &input[1..]));
                        assert_eq!(run.two(&body, &input), parts);
                    } else if from != to {
                        assert_eq!(got, run.one(&plain, &input[..1]), "{from} {re} {im} to {to}");
                    } else {
                        assert_eq!(run.two(&body, &input), (input[0], input[1]));
                    }
                }
            }
        }
    }
}

#[test]
fn a_stored_bool_is_true_unless_0() {
    let load = load_body(DType::Bool);
    for byte in 0..256 {
        assert_eq!(load.eval(&[byte]), [u64::from(byte != 0)]);
    }
}
