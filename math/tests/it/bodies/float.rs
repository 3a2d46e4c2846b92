//! Real float bodies on `f32` and `f64` against Rust's own operations: edge values of all kinds in all pairs, then random
//! pairs of any two exponents, where the remainder takes its cold path.

use super::support::{Runner, Stream, edges32, edges64, same32, same64};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;

/// One set of tests per float type: the reference is written once, on the type's own arithmetic.
macro_rules! float_tests {
    ($module:ident, $float:ty, $dtype:expr, $edges:ident, $same:ident, $random:expr) => {
        mod $module {
            use super::*;

            fn bits(x: $float) -> u64 {
                x.to_bits().into()
            }

            /// The truncated quotient of magnitudes: the whole number with this remainder, if floats represent it.
            fn quotient(x: $float, y: $float) -> $float {
                let (about, r) = ((x / y).trunc(), x % y);
                if x.is_infinite() {
                    return r;
                }
                if about >= 2.0 / <$float>::EPSILON {
                    return x / y;
                }
                let exact = [about, about - 1.0].into_iter().find(|q| (-q).mul_add(y, x) == r);
                exact.unwrap_or(if y.is_infinite() { 0.0 } else { <$float>::NAN })
            }

            /// Floor division and remainder of NumPy's `npy_divmod`, except for a quotient that it rounds twice.
            fn divmod(x: $float, y: $float) -> ($float, $float) {
                let r = x % y;
                if y == 0.0 {
                    return (x / y, r);
                }
                let mut quotient = quotient(x.abs(), y.abs()) * x.signum() * y.signum();
                let mut remainder = r;
                if r != 0.0 {
                    if (y < 0.0) != (r < 0.0) {
                        remainder += y;
                        // Beyond, the nearest float to x / y is as near.
                        quotient -= if quotient.abs() < 2.0 / <$float>::EPSILON { 1.0 } else { 0.0 };
                    }
                } else {
                    remainder = (0.0 as $float).copysign(y);
                }
                if quotient == 0.0 {
                    return ((0.0 as $float).copysign(x / y), remainder);
                }
                (quotient, remainder)
            }

            fn minimum(x: $float, y: $float) -> $float {
                if x.is_nan() || y.is_nan() {
                    <$float>::NAN
                } else if x == y {
                    if x.is_sign_negative() { x } else { y }
                } else {
                    x.min(y)
                }
            }

            fn maximum(x: $float, y: $float) -> $float {
                -minimum(-x, -y)
            }

            fn binary(op: Op, x: $float, y: $float) -> Option<$float> {
                let truth = |holds: bool| Some(<$float>::from_bits(holds.into()));
                match op {
                    Op::Add => Some(x + y),
                    Op::Subtract => Some(x - y),
                    Op::Multiply => Some(x * y),
                    Op::Divide => Some(x / y),
                    Op::FloorDivide => Some(divmod(x, y).0),
                    Op::Remainder => Some(divmod(x, y).1),
                    Op::Fmod => Some(x % y),
                    Op::Minimum => Some(minimum(x, y)),
                    Op::Maximum => Some(maximum(x, y)),
                    Op::Fmin if x.is_nan() || y.is_nan() => Some(if x.is_nan() { y } else { x }),
                    Op::Fmin => Some(minimum(x, y)),
                    Op::Fmax if x.is_nan() || y.is_nan() => Some(if x.is_nan() { y } else { x }),
                    Op::Fmax => Some(maximum(x, y)),
                    Op::Equal => truth(x == y),
                    Op::NotEqual => truth(x != y),
                    Op::Less => truth(x < y),
                    Op::LessEqual => truth(x <= y),
                    Op::Greater => truth(x > y),
                    Op::GreaterEqual => truth(x >= y),
                    _ => None,
                }
            }

            fn unary(op: Op, x: $float) -> Option<$float> {
                let truth = |holds: bool| Some(<$float>::from_bits(holds.into()));
                match op {
                    Op::Negative => Some(-x),
                    Op::Abs => Some(x.abs()),
                    Op::Conj | Op::Real => Some(x),
                    Op::Imag => Some(0.0),
                    Op::Sign if x == 0.0 => Some(0.0),
                    Op::Sign if x.is_nan() => Some(x),
                    Op::Sign => Some((1.0 as $float).copysign(x)),
                    Op::Square => Some(x * x),
                    Op::Sqrt => Some(x.sqrt()),
                    Op::Reciprocal => Some(1.0 / x),
                    Op::Floor => Some(x.floor()),
                    Op::Ceil => Some(x.ceil()),
                    Op::Trunc => Some(x.trunc()),
                    Op::Round => Some(x.round_ties_even()),
                    Op::IsNan => truth(x.is_nan()),
                    Op::IsInf => truth(x.is_infinite()),
                    Op::IsFinite => truth(x.is_finite()),
                    _ => None,
                }
            }

            fn check_pairs(ops: &[Op], pairs: &[($float, $float)]) {
                let mut run = Runner::default();
                for &op in ops {
                    let made = body(op, $dtype);
                    for &(x, y) in pairs {
                        let got = <$float>::from_bits(run.one(&made, &[bits(x), bits(y)]) as _);
                        let expected = binary(op, x, y).unwrap();
                        assert!($same(got, expected), "{op}({x:e}, {y:e}) = {got:e}, not {expected:e}");
                    }
                }
            }

            #[test]
            fn edge_pairs() {
                let ops: Vec<Op> = Op::ALL.into_iter().filter(|&op| binary(op, 1.0, 1.0).is_some()).collect();
                assert_eq!(ops.len(), 17);
                let edges = $edges();
                let pairs: Vec<_> = edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))).collect();
                check_pairs(&ops, &pairs);
            }

            #[test]
            fn remainders_of_random_pairs() {
                let mut stream = Stream(1);
                let random = $random;
                let mut pairs: Vec<($float, $float)> = Vec::new();
                for _ in 0..20_000 {
                    let (x, y): ($float, $float) = (random(&mut stream), random(&mut stream));
                    // Any two exponents, a multiple of y, and its adjacent floats.
                    let multiple = y * (stream.bits() % 1000) as $float;
                    pairs.extend([(x, y), (multiple, y), (multiple.next_up(), -y), (multiple.next_down(), y)]);
                    // Quotients on both sides of the limit of the fast path.
                    let large = y * (stream.bits() >> 8 >> (stream.bits() % 56)) as $float;
                    let octave = y * ((1.0 + (stream.bits() % 1000) as $float / 1000.0) * 2.0 / <$float>::EPSILON);
                    pairs.extend([(large, y), (-large, y), (octave, -y), (octave.next_up(), -y)]);
                }
                check_pairs(&[Op::FloorDivide, Op::Remainder, Op::Fmod], &pairs);
            }

            #[test]
            fn unary_and_ternary_ops() {
                let mut run = Runner::default();
                let mut values = $edges();
                let (mut stream, random) = (Stream(2), $random);
                values.extend((0..20_000).map(|_| -> $float { random(&mut stream) }));
                let mut count = 0;
                for op in Op::ALL.into_iter().filter(|&op| op.arity() == 1 && unary(op, 1.0).is_some()) {
                    count += 1;
                    let made = body(op, $dtype);
                    for &x in &values {
                        let got = <$float>::from_bits(run.one(&made, &[bits(x)]) as _);
                        let expected = unary(op, x).unwrap();
                        assert!($same(got, expected), "{op}({x:e}) = {got:e}, not {expected:e}");
                    }
                }
                assert_eq!(count, 16);
                let (mul_add, clip) = (body(Op::MulAdd, $dtype), body(Op::Clip, $dtype));
                for three in values.windows(3) {
                    let (x, y, z) = (three[0], three[1], three[2]);
                    let inputs = [bits(x), bits(y), bits(z)];
                    let got = <$float>::from_bits(run.one(&mul_add, &inputs) as _);
                    assert!($same(got, x.mul_add(y, z)), "mul_add({x:e}, {y:e}, {z:e}) = {got:e}");
                    let got = <$float>::from_bits(run.one(&clip, &inputs) as _);
                    assert!($same(got, minimum(maximum(x, y), z)), "clip({x:e}, {y:e}, {z:e}) = {got:e}");
                }
            }
        }
    };
}

float_tests!(single, f32, DType::F32, edges32, same32, |s: &mut Stream| f32::from_bits(s.bits() as u32));
float_tests!(double, f64, DType::F64, edges64, same64, |s: &mut Stream| f64::from_bits(s.bits()));
