//! Powers of floats against correctly rounded references, and every special case of the Array API.

use super::math::{assert_pairs_of_halves, distance32, distance64};
use super::support::{Runner, Stream, edges32, edges64, half_value, nearest_half, register, single};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;

/// Bases and exponents whose power is an ordinary number, mostly: `y` is up to `limit / log2 x`, a little over the range.
fn pairs(count: u32, limit: f64) -> Vec<(f64, f64)> {
    let mut stream = Stream(9);
    let mut unit = move || (stream.bits() >> 11) as f64 / 2f64.powi(53);
    (0..count)
        .map(|i| {
            let x = match i % 6 {
                0 => 2f64.powf(2.0 * limit * (unit() - 0.5)),
                1 => 0.5 + 1.5 * unit(),
                2 => 1.0 + 0.05 * (unit() - 0.5),
                3 => 1.0 + (unit() - 0.5) * 2f64.powi(-(i as i32 / 6 % 24)),
                4 => 1000.0 * unit(),
                _ => (20.0 * unit()).round() + 1.0,
            };
            let y = match i % 5 {
                0 => 10.0 * (unit() - 0.5),
                1 => (40.0 * (unit() - 0.5)).round(),
                _ => 2.1 * (unit() - 0.5) * limit / x.log2(),
            };
            (x, y)
        })
        .collect()
}

#[test]
fn single_powers_stay_within_their_bound() {
    let mut run = Runner::default();
    let made = body(Op::Pow, DType::F32);
    let edges = edges32();
    let mut all: Vec<(f32, f32)> = edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))).collect();
    all.extend(pairs(600_000, 150.0).into_iter().map(|(x, y)| (x as f32, y as f32)));
    let mut stream = Stream(10);
    all.extend((0..100_000).map(|_| (f32::from_bits(stream.bits() as u32), f32::from_bits(stream.bits() as u32))));
    let mut wrong = 0;
    for &(x, y) in &all {
        let got = single(run.one(&made, &[x.to_bits().into(), y.to_bits().into()]));
        let ulp = distance32(got, core_math::powf(x, y));
        assert!(ulp <= 1, "pow({x:e}, {y:e}) is {got:e}: {ulp} ULP");
        wrong += ulp;
    }
    println!("pow f32: {wrong} of {} not nearest", all.len());
}

#[test]
fn double_powers_stay_within_their_bound() {
    let mut run = Runner::default();
    let made = body(Op::Pow, DType::F64);
    let edges = edges64();
    let mut all: Vec<(f64, f64)> = edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))).collect();
    all.extend(pairs(300_000, 1080.0));
    let mut stream = Stream(11);
    all.extend((0..50_000).map(|_| (f64::from_bits(stream.bits()), f64::from_bits(stream.bits()))));
    let mut wrong = 0;
    for &(x, y) in &all {
        let got = f64::from_bits(run.one(&made, &[x.to_bits(), y.to_bits()]));
        let ulp = distance64(got, core_math::pow(x, y));
        assert!(ulp <= 1, "pow({x:e}, {y:e}) is {got:e}: {ulp} ULP");
        wrong += ulp;
    }
    println!("pow f64: {wrong} of {} not nearest", all.len());
}

/// All bases with a few exponents, all exponents with a few bases: rounded twice, so seldom not the nearest half.
#[test]
fn powers_of_halves() {
    for dtype in [DType::F16, DType::Bf16] {
        let few = [2.0, 3.0, -1.0, 0.5, 1.5, -0.5, 0.330078125, 7.0, -2.0, 10.0, 0.9921875, 1.0078125, -3.0];
        let all = (0..=u16::MAX).map(|bits| half_value(dtype, bits));
        let pairs = all.flat_map(|x| few.iter().flat_map(move |&y| [(x, y), (y, x)]));
        assert_pairs_of_halves(Op::Pow, dtype, pairs, core_math::pow);
    }
}

/// Rows of the Array API's table for `pow`, and C's for cases that it does not specify: `pow(1, NaN)` is 1.
#[test]
fn special_values() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let cases = [
        ("x1 is not equal to 1 and x2 is NaN: NaN", 2.0, nan, nan),
        ("x1 is not equal to 1 and x2 is NaN: NaN", -1.0, nan, nan),
        ("x1 is not equal to 1 and x2 is NaN: NaN", 0.0, nan, nan),
        ("x1 is not equal to 1 and x2 is NaN: NaN", inf, nan, nan),
        ("C: pow(+1, y) returns 1 for any y, even a NaN", 1.0, nan, 1.0),
        ("x2 is +0: 1, even when x1 is NaN", nan, 0.0, 1.0),
        ("x2 is +0: 1", 0.0, 0.0, 1.0),
        ("x2 is +0: 1", -inf, 0.0, 1.0),
        ("x2 is -0: 1, even when x1 is NaN", nan, -0.0, 1.0),
        ("x2 is -0: 1", -0.0, -0.0, 1.0),
        ("x2 is -0: 1", -3.0, -0.0, 1.0),
        ("x1 is NaN and x2 is not equal to 0: NaN", nan, 1.0, nan),
        ("x1 is NaN and x2 is not equal to 0: NaN", nan, -inf, nan),
        ("x1 is NaN and x2 is not equal to 0: NaN", nan, nan, nan),
        ("abs(x1) is greater than 1 and x2 is +infinity: +infinity", 1.5, inf, inf),
        ("abs(x1) is greater than 1 and x2 is +infinity: +infinity", -2.0, inf, inf),
        ("abs(x1) is greater than 1 and x2 is -infinity: +0", 1.5, -inf, 0.0),
        ("abs(x1) is greater than 1 and x2 is -infinity: +0", -2.0, -inf, 0.0),
        ("abs(x1) is 1 and x2 is +infinity: 1", 1.0, inf, 1.0),
        ("abs(x1) is 1 and x2 is +infinity: 1", -1.0, inf, 1.0),
        ("abs(x1) is 1 and x2 is -infinity: 1", -1.0, -inf, 1.0),
        ("x1 is 1 and x2 is not NaN: 1", 1.0, -7.5, 1.0),
        ("abs(x1) is less than 1 and x2 is +infinity: +0", -0.5, inf, 0.0),
        ("abs(x1) is less than 1 and x2 is +infinity: +0", -0.0, inf, 0.0),
        ("abs(x1) is less than 1 and x2 is -infinity: +infinity", 0.5, -inf, inf),
        ("abs(x1) is less than 1 and x2 is -infinity: +infinity", -0.0, -inf, inf),
        ("x1 is +infinity and x2 is greater than 0: +infinity", inf, 0.5, inf),
        ("x1 is +infinity and x2 is less than 0: +0", inf, -0.5, 0.0),
        ("x1 is -infinity, x2 is greater than 0, x2 is an odd integer value: -infinity", -inf, 3.0, -inf),
        ("x1 is -infinity, x2 is greater than 0, x2 is not an odd integer value: +infinity", -inf, 2.0, inf),
        ("x1 is -infinity, x2 is greater than 0, x2 is not an odd integer value: +infinity", -inf, 0.5, inf),
        ("x1 is -infinity, x2 is greater than 0, x2 is not an odd integer value: +infinity", -inf, inf, inf),
        ("x1 is -infinity, x2 is less than 0, x2 is an odd integer value: -0", -inf, -1.0, -0.0),
        ("x1 is -infinity, x2 is less than 0, x2 is not an odd integer value: +0", -inf, -2.0, 0.0),
        ("x1 is -infinity, x2 is less than 0, x2 is not an odd integer value: +0", -inf, -1.5, 0.0),
        ("x1 is +0 and x2 is greater than 0: +0", 0.0, 3.0, 0.0),
        ("x1 is +0 and x2 is less than 0: +infinity", 0.0, -3.0, inf),
        ("x1 is -0, x2 is greater than 0, x2 is an odd integer value: -0", -0.0, 3.0, -0.0),
        ("x1 is -0, x2 is greater than 0, x2 is not an odd integer value: +0", -0.0, 2.0, 0.0),
        ("x1 is -0, x2 is greater than 0, x2 is not an odd integer value: +0", -0.0, 0.5, 0.0),
        ("x1 is -0, x2 is less than 0, x2 is an odd integer value: -infinity", -0.0, -1.0, -inf),
        ("x1 is -0, x2 is less than 0, x2 is not an odd integer value: +infinity", -0.0, -2.0, inf),
        ("x1 is -0, x2 is less than 0, x2 is not an odd integer value: +infinity", -0.0, -0.5, inf),
        ("x1 is less than 0, both are finite, x2 is not an integer value: NaN", -8.0, 0.375, nan),
        ("x1 is less than 0, both are finite, x2 is not an integer value: NaN", -1.0, 0.5, nan),
        ("a negative base with an odd exponent", -2.0, 3.0, -8.0),
        ("a negative base with an even exponent", -2.0, -2.0, 0.25),
        ("a negative base with an odd exponent: underflow", -2.0, -2047.0, -0.0),
        ("a negative base with an odd exponent: overflow", -2.0, 2047.0, -inf),
        ("large exponents are even", -1.0, 3e4, 1.0),
        ("exact where it can be", 10.0, 2.0, 100.0),
        ("exact where it can be", 4.0, -0.5, 0.5),
    ];
    for (sentence, x, y, expected) in cases {
        for dtype in [DType::F16, DType::Bf16, DType::F32, DType::F64] {
            let made = body(Op::Pow, dtype);
            let wide = dtype == DType::F64;
            let (x, y) = if dtype.is_half() { (nearest_half(dtype, x), nearest_half(dtype, y)) } else { (x, y) };
            // bf16 has no odd number as large as 2047.
            if dtype == DType::Bf16 && y.abs() > 256.0 && y.is_finite() {
                continue;
            }
            let bits = |x: f64| if wide { x.to_bits() } else { register(x) };
            let got = made.eval(&[bits(x), bits(y)])[0];
            let got = if wide { f64::from_bits(got) } else { single(got).into() };
            assert_eq!(distance64(got, expected), 0, "pow({x:e}, {y:e}) in {dtype} is {got:e}: {sentence}");
        }
    }
}

#[test]
fn float_power_is_pow() {
    for dtype in [DType::F16, DType::Bf16, DType::F32, DType::F64] {
        assert_eq!(body(Op::FloatPower, dtype).to_string(), body(Op::Pow, dtype).to_string(), "{dtype}");
    }
}
