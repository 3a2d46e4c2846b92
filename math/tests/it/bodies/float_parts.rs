//! `signbit`, `copysign` and `nextafter` in all float formats.

use super::support::{Runner, Stream, edges32, edges64, half_value, register, same32, same64, single};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;

const HALVES: [DType; 2] = [DType::F16, DType::Bf16];

/// The Array API's `copysign`, except for a NaN `y`, whose sign is not specified.
fn copysign64(x: f64, y: f64) -> f64 {
    if y.is_nan() { x.abs() } else { x.copysign(y) }
}

/// C's `nextafter`, by Rust's adjacent floats.
macro_rules! nextafter {
    ($x:expr, $y:expr, $nan:expr) => {
        if $x.is_nan() || $y.is_nan() {
            $nan
        } else if $x == $y {
            $y
        } else if $x < $y {
            $x.next_up()
        } else {
            $x.next_down()
        }
    };
}

#[test]
fn pairs_of_singles_and_doubles() {
    let mut run = Runner::default();
    let mut stream = Stream(1);
    let mut values = edges32();
    values.extend((0..200).map(|_| f32::from_bits(stream.bits() as u32)));
    let [sign, copysign, next] = [Op::Signbit, Op::Copysign, Op::Nextafter].map(|op| body(op, DType::F32));
    for &x in &values {
        let bits = u64::from(x.to_bits());
        assert_eq!(run.one(&sign, &[bits]) == 1, !x.is_nan() && x.is_sign_negative(), "{x:e}");
        for &y in &values {
            let inputs = [bits, y.to_bits().into()];
            let expected = copysign64(x.into(), y.into()) as f32;
            assert!(same32(single(run.one(&copysign, &inputs)), expected), "copysign({x:e}, {y:e})");
            let got = single(run.one(&next, &inputs));
            assert!(same32(got, nextafter!(x, y, f32::NAN)), "nextafter({x:e}, {y:e}) is {got:e}");
        }
    }
    let mut values = edges64();
    values.extend((0..200).map(|_| f64::from_bits(stream.bits())));
    let [sign, copysign, next] = [Op::Signbit, Op::Copysign, Op::Nextafter].map(|op| body(op, DType::F64));
    for &x in &values {
        assert_eq!(run.one(&sign, &[x.to_bits()]) == 1, !x.is_nan() && x.is_sign_negative(), "{x:e}");
        for &y in &values {
            let inputs = [x.to_bits(), y.to_bits()];
            let got = f64::from_bits(run.one(&copysign, &inputs));
            assert!(same64(got, copysign64(x, y)), "copysign({x:e}, {y:e})");
            let got = f64::from_bits(run.one(&next, &inputs));
            assert!(same64(got, nextafter!(x, y, f64::NAN)), "nextafter({x:e}, {y:e}) is {got:e}");
        }
    }
}

/// The order of a half's bits is the order of its values.
fn next_half(dtype: DType, bits: u16, y: f64) -> f64 {
    let x = half_value(dtype, bits);
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == y {
        return y;
    }
    let next = if x == 0.0 {
        if y < 0.0 { 0x8001 } else { 1 }
    } else if (x < y) == (x > 0.0) {
        bits + 1
    } else {
        bits - 1
    };
    half_value(dtype, next)
}

#[test]
fn every_half_steps_in_its_own_format() {
    let mut run = Runner::default();
    for dtype in HALVES {
        let [sign, copysign, next] = [Op::Signbit, Op::Copysign, Op::Nextafter].map(|op| body(op, dtype));
        for bits in 0..=u16::MAX {
            let x = half_value(dtype, bits);
            assert_eq!(run.one(&sign, &[register(x)]) == 1, !x.is_nan() && bits >> 15 == 1, "{dtype} {x:e}");
            for y in [0.0, -0.0, 1.0, -1.0, x, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
                let inputs = [register(x), register(y)];
                let got = single(run.one(&copysign, &inputs));
                assert!(same32(got, copysign64(x, y) as f32), "{dtype} copysign({x:e}, {y:e}) is {got:e}");
                let got = single(run.one(&next, &inputs));
                let expected = next_half(dtype, bits, y) as f32;
                assert!(same32(got, expected), "{dtype} nextafter({x:e}, {y:e}) is {got:e}, not {expected:e}");
            }
        }
    }
}
