//! `arange` and `linspace`: lengths, exact integers, the documented formulas, and errors.

use ndjit_ir::literal::Literal;
use ndjit_ir::{DType, ErrorCode, LiteralValue};
use ndjit_math::progression::Progression;

fn arange(start: impl Into<LiteralValue>, stop: impl Into<LiteralValue>, step: impl Into<LiteralValue>) -> Vec<String> {
    let terms = Progression::arange(start.into(), stop.into(), step.into()).unwrap();
    (0..terms.len()).map(|i| terms.at(i).to_string()).collect()
}

fn floats(terms: &Progression) -> Vec<f64> {
    let float = |value| match value {
        LiteralValue::Float(x) => x,
        LiteralValue::Int(n) => n as f64,
        other => panic!("{other}"),
    };
    (0..terms.len()).map(|i| float(terms.at(i))).collect()
}

#[test]
fn integers_are_exact() {
    assert_eq!(arange(0, 5, 2), ["0", "2", "4"]);
    assert_eq!(arange(0, 6, 2), ["0", "2", "4"]);
    assert_eq!(arange(5, 0, -2), ["5", "3", "1"]);
    assert_eq!(arange(0, -3, 1), Vec::<String>::new());
    assert_eq!(arange(3, 3, 1), Vec::<String>::new());
    let near = u64::MAX - 3;
    assert_eq!(arange(near, u64::MAX, 2), [near.to_string(), (near + 2).to_string()]);
    assert_eq!(arange(i64::MIN, u64::MAX, u64::MAX).len(), 2);
    for (start, stop) in [(-7i32, 9i32), (4, -4), (0, 1)] {
        for step in (-9i32..=9).filter(|&step| step != 0) {
            let want: Vec<String> = match step > 0 {
                true => (start..stop).step_by(step as usize).map(|n| n.to_string()).collect(),
                false => (-start..-stop).step_by(-step as usize).map(|n| (-n).to_string()).collect(),
            };
            assert_eq!(arange(start, stop, step), want, "{start} {stop} {step}");
        }
    }
}

/// Lengths that NumPy 2.4 and JAX give, the well-known surplus element of rounded steps included.
#[test]
fn floats_follow_the_formula() {
    assert_eq!(arange(0, 1, 0.25), ["0.0", "0.25", "0.5", "0.75"]);
    assert_eq!(arange(0.0, 1.0, 0.1).len(), 10);
    assert_eq!(arange(1.0, 1.3, 0.1), ["1.0", "1.1", "1.2", "1.3"]);
    assert_eq!(arange(0.5, 3, 1), ["0.5", "1.5", "2.5"]);
    assert_eq!(arange(-0.0, 1, 1), ["-0.0"]);
    assert_eq!(arange(1, 0.0, -0.5), ["1.0", "0.5"]);
    assert_eq!(arange(0, f64::NEG_INFINITY, 1).len(), 0);
}

/// Without overflow at the end there is none on the way, and results that underflow are not 0.
#[test]
fn ranges_of_all_doubles() {
    assert_eq!(arange(0.0, 1.0, f64::INFINITY), ["0.0"]);
    assert_eq!(arange(-0.0, -1.0, f64::NEG_INFINITY), ["-0.0"]);
    assert_eq!(arange(0.0, 1e-300, 1e300), ["0.0"]);
    assert_eq!(arange(f64::MIN, f64::MAX, f64::INFINITY).len(), 1);
    assert_eq!(arange(0.0, -1.0, f64::INFINITY).len() + arange(1.0, 1.0, f64::INFINITY).len(), 0);
    assert_eq!(arange(f64::MIN, f64::MAX, f64::MAX).len(), 2);
    assert_eq!(arange(f64::MAX, f64::MIN, -f64::MAX / 2.0).len(), 4);
    for (start, stop, step) in [(-1.7e308, 1.7e308, 1e306), (1.7e308, -1.7e308, -3e307), (-1.0, f64::MAX, 1e307)] {
        let terms = Progression::arange(start.into(), stop.into(), step.into()).unwrap();
        let terms = floats(&terms);
        let distance = |x: f64| (x / 4.0 - start / 4.0) / (step / 4.0);
        let whole = |(i, &x): (usize, &f64)| (distance(x) - i as f64).abs() < 1e-9;
        assert!(terms.iter().enumerate().all(whole), "{terms:?}");
        assert!(terms.iter().all(|x| x.is_finite()) && distance(stop) - (terms.len() as f64) <= 0.0, "{terms:?}");
    }
    for (end, len) in [(f64::MAX, 5), (1.7e308, 8), (1.1e308, 1001)] {
        let terms = floats(&Progression::linspace((-end).into(), end.into(), len, true));
        let mirrored: Vec<f64> = terms.iter().rev().map(|x| -x).collect();
        assert_eq!(terms, mirrored);
    }
    // Steps that are not doubles: each number is the nearest to the exact one.
    let tiny = f64::from_bits(1);
    let terms = floats(&Progression::linspace(0.into(), (2024.0 * tiny).into(), 1001, true));
    assert!(terms.iter().enumerate().all(|(i, x)| (x / tiny - 2.024 * i as f64).abs() <= 0.5 + 1e-9), "{terms:?}");
}

#[test]
fn lengths_that_are_none() {
    let refused = |start: f64, stop: f64, step: f64| {
        Progression::arange(start.into(), stop.into(), step.into()).unwrap_err().code() == ErrorCode::Size
    };
    assert!(refused(0.0, 1.0, 0.0) && refused(0.0, 0.0, -0.0));
    assert!(refused(f64::NAN, 1.0, 1.0) && refused(0.0, f64::NAN, 1.0) && refused(0.0, 1.0, f64::NAN));
    assert!(refused(0.0, f64::INFINITY, 1.0) && refused(0.0, 1.0, 1e-300) && refused(-1e308, 1e308, 1.0));
    let int =
        |start: i128, stop: i128, step: i128| Progression::arange(start.into(), stop.into(), step.into()).is_err();
    assert!(int(0, 1, 0) && int(i128::MIN, i128::MAX, 1) && int(0, i128::MAX, 1) && int(0, i128::MIN, -1));
}

#[test]
fn linspace_is_monotone_and_has_exact_ends() {
    let ends = [0.0, -0.0, 1.0, 0.1, -0.3, 1.0 + f64::EPSILON, 1e-320, f64::MIN_POSITIVE, 1e16, f64::MAX, -f64::MAX];
    let mut compared = 0;
    for start in ends {
        for stop in ends {
            for len in [0, 1, 2, 3, 7, 10, 50, 1000] {
                let (closed, open) = (
                    floats(&Progression::linspace(start.into(), stop.into(), len, true)),
                    floats(&Progression::linspace(start.into(), stop.into(), len, false)),
                );
                assert_eq!((closed.len(), open.len()), (len, len));
                for terms in [&closed, &open] {
                    let rising = terms.is_sorted();
                    let falling = terms.iter().rev().is_sorted();
                    assert!(if start <= stop { rising } else { falling }, "{start} {stop} {len}: {terms:?}");
                    assert!(terms.iter().all(|x| x.is_finite()));
                    assert_eq!(terms.first().map(|x| x.to_bits()), (len > 0).then_some(start.to_bits()));
                    compared += 1;
                }
                let last = if len == 1 { start } else { stop };
                assert_eq!(closed.last().map(|x| x.to_bits()), (len > 0).then_some(last.to_bits()));
                let narrow: Vec<f32> = closed.iter().map(|&x| x as f32).collect();
                assert!(narrow.is_sorted() || narrow.iter().rev().is_sorted(), "{start} {stop} {len}: {narrow:?}");
            }
        }
    }
    assert_eq!(compared, 11 * 11 * 8 * 2);
}

#[test]
fn linspace_values() {
    let closed = Progression::linspace(0.into(), 1.into(), 5, true);
    assert_eq!(floats(&closed), [0.0, 0.25, 0.5, 0.75, 1.0]);
    let open = Progression::linspace(0.into(), 1.into(), 4, false);
    assert_eq!(floats(&open), [0.0, 0.25, 0.5, 0.75]);
    assert_eq!(Progression::linspace(u64::MAX.into(), 0.into(), 2, true).at(0), LiteralValue::Int(u64::MAX.into()));
    let z = Progression::linspace(0.into(), LiteralValue::Complex(2.0, -2.0), 3, true);
    assert_eq!([z.at(0), z.at(1), z.at(2)].map(|z| z.to_string()), ["0", "(1.0-1.0i)", "(2.0-2.0i)"]);
}

/// What is written at once is what is converted number by number.
#[test]
fn elements_are_written_as_they_are_converted() {
    let number = |n: i64| LiteralValue::from(n);
    let big = (1i64 << 60) + 1;
    let progressions = [
        Progression::arange(3.into(), 90.into(), 7.into()).unwrap(),
        Progression::arange(100.into(), (-100).into(), (-9).into()).unwrap(),
        Progression::arange(number(i64::MIN), number(i64::MAX), number(i64::MAX / 3)).unwrap(),
        Progression::arange(number(big), number(big + 40), 3.into()).unwrap(),
        Progression::arange((-1.5).into(), 2.0.into(), 0.1.into()).unwrap(),
        Progression::linspace(0.into(), 1.into(), 11, true),
        Progression::linspace(1.into(), (-1.0).into(), 7, false),
        Progression::linspace(false.into(), 0.3.into(), 5, true),
        Progression::linspace(number(big), number(-big), 9, true),
        Progression::linspace((-1e308).into(), 1e308.into(), 4, true),
        Progression::linspace(2.5.into(), 9.into(), 1, true),
    ];
    let mut written = 0;
    for (which, terms) in progressions.iter().enumerate() {
        for dtype in DType::ALL {
            for first in [0, 1, terms.len() / 2] {
                let numbers: Vec<Literal> = (first..terms.len()).map(|i| Literal::weak(terms.at(i))).collect();
                let Ok(words) = numbers.iter().map(|number| number.to_repr(dtype)).collect::<Result<Vec<_>, _>>()
                else {
                    continue;
                };
                let mut bytes = vec![0xAA; numbers.len() * dtype.bytes()];
                if !terms.write(dtype, first, &mut bytes) {
                    assert!(bytes.iter().all(|&byte| byte == 0xAA));
                    continue;
                }
                written += 1;
                for (n, (word, own)) in words.iter().zip(bytes.chunks_exact(dtype.bytes())).enumerate() {
                    let expected = word[0].to_le_bytes();
                    let mut own = own.to_vec();
                    if cfg!(target_endian = "big") {
                        own.reverse();
                    }
                    assert_eq!(own, expected[..dtype.bytes()], "progression {which} as {dtype}, number {}", first + n);
                }
            }
        }
    }
    assert!(written > 90, "{written}");
}
