//! Integer and bool bodies against plain Rust: all pairs of 8-bit values, and edge values of the wider types.

use super::support::Runner;
use super::threefry::plain;
use ndjit_ir::op::Op;
use ndjit_ir::{DType, Kind};
use ndjit_math::body;

/// The result of `op` on exact integers, before wrapping to the dtype, from the table's documentation only.
fn reference(op: Op, dtype: DType, x: i128, y: i128, z: i128) -> i128 {
    let (low, high) = dtype.int_range().unwrap();
    let bits = 8 * dtype.bytes() as i128;
    match op {
        Op::Add => x + y,
        Op::Subtract => x - y,
        Op::Multiply => x.wrapping_mul(y),
        Op::Square => x.wrapping_mul(x),
        Op::MulAdd => x.wrapping_mul(y).wrapping_add(z),
        Op::FloorDivide if y == 0 => 0,
        Op::FloorDivide => (x - x.rem_euclid(y) - if y < 0 && x.rem_euclid(y) > 0 { y } else { 0 }) / y,
        Op::Remainder if y == 0 => 0,
        Op::Remainder => {
            let r = x.rem_euclid(y);
            if y < 0 && r > 0 { r + y } else { r }
        }
        Op::Fmod => x.checked_rem(y).unwrap_or(0),
        Op::Negative => -x,
        Op::Abs => x.abs(),
        Op::Sign => x.signum(),
        Op::Minimum | Op::Fmin => x.min(y),
        Op::Maximum | Op::Fmax => x.max(y),
        Op::Clip => x.max(y).min(z),
        Op::Floor | Op::Ceil | Op::Trunc | Op::Round | Op::Conj | Op::Real | Op::Positive | Op::NanToNum => x,
        Op::Equal => i128::from(x == y),
        Op::NotEqual => i128::from(x != y),
        Op::Less => i128::from(x < y),
        Op::LessEqual => i128::from(x <= y),
        Op::Greater => i128::from(x > y),
        Op::GreaterEqual => i128::from(x >= y),
        Op::BitwiseAnd => x & y,
        Op::BitwiseOr => x | y,
        Op::BitwiseXor => x ^ y,
        Op::BitwiseInvert if dtype.is_signed() => -x - 1,
        Op::BitwiseInvert => high - x,
        Op::BitwiseLeftShift if y < 0 || y >= bits => 0,
        Op::BitwiseLeftShift => x << y,
        Op::BitwiseRightShift if y < 0 || y >= bits => -i128::from(x < 0),
        Op::BitwiseRightShift => x >> y,
        Op::Where => {
            if x % 2 != 0 {
                y
            } else {
                z
            }
        }
        Op::IsNan | Op::IsInf | Op::Imag => 0,
        Op::IsFinite => 1,
        Op::Signbit => i128::from(x < 0),
        Op::Pow => power(x, y),
        Op::Gcd => gcd(x, y),
        Op::Lcm if x == 0 || y == 0 => 0,
        Op::Lcm => (x.abs() / gcd(x, y)).wrapping_mul(y.abs()),
        // Shifted to the top, so that the bits above the width do not count.
        Op::RotateLeft => rotated(x, y.rem_euclid(bits), bits),
        Op::RotateRight => rotated(x, (-y).rem_euclid(bits), bits),
        Op::SaturatingAdd => (x + y).clamp(low, high),
        Op::SaturatingSubtract => (x - y).clamp(low, high),
        Op::Popcount => (x << (128 - bits)).count_ones().into(),
        Op::Clz => bits.min((x << (128 - bits)).leading_zeros().into()),
        Op::Ctz => bits.min(x.trailing_zeros().into()),
        Op::Relu => x.max(0),
        Op::Threefry2x32 => plain(x as u64, y as u64).into(),
        _ => unreachable!("{op} has no integer domain"),
    }
}

/// The low `bits` of `x` rotated up by `n`.
fn rotated(x: i128, n: i128, bits: i128) -> i128 {
    let field = x & ((1 << bits) - 1);
    field << n | field >> (bits - n)
}

/// `x` to the power `y` modulo 2^128, truncated where `y` is negative; 0 for `0 ** -1`.
fn power(x: i128, y: i128) -> i128 {
    match (x, y) {
        (1, _) => 1,
        (-1, _) => 1 - 2 * (y & 1),
        (_, ..0) => 0,
        _ => {
            let (mut power, mut base, mut left) = (1i128, x, y);
            while left > 0 {
                if left % 2 == 1 {
                    power = power.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                left /= 2;
            }
            power
        }
    }
}

fn gcd(x: i128, y: i128) -> i128 {
    if y == 0 { x.abs() } else { gcd(y, x % y) }
}

/// Checks all ops of `dtype` on all pairs of `values`; the third operand runs over `thirds`.
fn check(dtype: DType, values: &[i128], thirds: &[i128]) {
    let mask = dtype.repr()[0].mask();
    let mut run = Runner::default();
    for op in Op::ALL.into_iter().filter(|op| op.row().domain.contains(dtype)) {
        let made = body(op, dtype);
        let result_mask = op.result_dtype(dtype).repr()[0].mask();
        let arity = op.arity();
        for &x in values {
            for &y in if arity > 1 { values } else { &[0] } {
                for &z in if arity > 2 { thirds } else { &[0] } {
                    let condition = (x % 2 != 0) as u64;
                    let first = if op == Op::Where { condition } else { x as u64 & mask };
                    // A count has a dtype of its own.
                    let second = if op.arity() == 2 { op.operand_dtype(1, dtype).repr()[0].mask() } else { mask };
                    let inputs = [first, y as u64 & second, z as u64 & mask];
                    let got = run.one(&made, &inputs[..arity]);
                    let expected = reference(op, dtype, x, y, z) as u64 & result_mask;
                    assert_eq!(got, expected, "{op} on {dtype}: {x} {y} {z}");
                }
            }
        }
    }
}

#[test]
fn all_pairs_of_8_bit_integers() {
    check(DType::U8, &(0..256).collect::<Vec<_>>(), &[0, 77, 255]);
    check(DType::I8, &(-128..128).collect::<Vec<_>>(), &[-128, -3, 100]);
}

#[test]
fn edge_values_of_wider_integers() {
    for dtype in DType::ALL.into_iter().filter(|d| d.is_int()) {
        let (low, high) = dtype.int_range().unwrap();
        let mut values = vec![];
        for near in [low, 0, high, low / 2, high / 3, 1 << (4 * dtype.bytes())] {
            values.extend((near - 2..=near + 2).filter(|v| (low..=high).contains(v)));
        }
        // Euclid's algorithm takes the most steps for consecutive Fibonacci numbers.
        let (mut small, mut large) = (1, 1);
        while small + large <= high {
            (small, large) = (large, small + large);
        }
        values.extend([small, large]);
        let bits = 8 * dtype.bytes() as i128;
        values.extend([7, bits - 1, bits, bits + 1].into_iter().filter(|v| (low..=high).contains(v)));
        check(dtype, &values, &[low, 1, high]);
    }
}

#[test]
fn bool_tables() {
    let mut run = Runner::default();
    for op in Op::ALL.into_iter().filter(|op| op.row().domain.contains(DType::Bool)) {
        let made = body(op, DType::Bool);
        for bits in 0..1u64 << op.arity() {
            let inputs: Vec<u64> = (0..op.arity()).map(|i| bits >> i & 1).collect();
            let (x, y) = (inputs[0] == 1, inputs.get(1) == Some(&1));
            let z = inputs.get(2) == Some(&1);
            let expected = match op {
                Op::Add | Op::Maximum | Op::Fmax | Op::LogicalOr | Op::BitwiseOr => x || y,
                Op::Multiply | Op::Minimum | Op::Fmin | Op::LogicalAnd | Op::BitwiseAnd => x && y,
                Op::LogicalXor | Op::BitwiseXor | Op::NotEqual => x != y,
                Op::LogicalNot | Op::BitwiseInvert => !x,
                Op::Clip => (x || y) && z,
                Op::Equal => x == y,
                Op::Less => !x & y,
                Op::LessEqual => x <= y,
                Op::Greater => x & !y,
                Op::GreaterEqual => x >= y,
                Op::Where => [z, y][usize::from(x)],
                Op::IsNan | Op::IsInf | Op::Imag | Op::Signbit => false,
                Op::IsFinite => true,
                _ => {
                    assert!(made.insts.is_empty() && op.arity() == 1, "{op} is no identity");
                    x
                }
            };
            assert_eq!(run.one(&made, &inputs) == 1, expected, "{op} {inputs:?}");
        }
        assert!(op.row().domain.iter().all(|d| d.kind() != Kind::Bool || d == DType::Bool));
    }
}
