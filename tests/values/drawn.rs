//! Every rule on drawn operands of its class, in every dtype: ndjit gives the rule's answer, without a library for comparison.

use crate::rules::{Answer, RULES};
use crate::run::{Function, function, run};
use crate::{answers, operands_at, rule};
use ndjit_ir::literal::Literal;
use ndjit_ir::{DType, Shape};
use ndjit_math::interp::Tensor;

/// Elements drawn per function and dtype.
const DRAWN: usize = 4000;

/// Prints the number of tested elements, and those that violate their rule; returns whether none does.
pub fn check() -> bool {
    let mut tried = vec![0usize; RULES.len()];
    let (mut broken, mut cases) = (0, 0);
    let mut state = 26;
    for (n, own) in RULES.iter().enumerate() {
        for name in own.functions {
            let function = function(name).expect("a function of ndjit");
            let Function::Op(op) = function else { continue };
            for dtype in DType::ALL {
                let operands: Vec<Tensor> = (0..op.arity()).map(|_| drawn(dtype, &mut state)).collect();
                let chosen = |at: Option<usize>| rule(&operands_at(name, dtype, &operands, at)) == Some(n);
                let whole = matches!(own.answer, Answer::Refused | Answer::OwnDType(_));
                if !(if whole { chosen(None) } else { (0..DRAWN).any(|at| chosen(Some(at))) }) {
                    continue;
                }
                cases += 1;
                let got = run(function, &operands);
                let mut wrong = |what: String| {
                    broken += 1;
                    if broken <= crate::SHOWN {
                        println!("  {name} of {dtype}: {what}, which is not the answer of: {}", own.says[0]);
                    }
                };
                match (&own.answer, got) {
                    (Answer::Refused, Err(_)) => tried[n] += 1,
                    (Answer::Refused, Ok(got)) => wrong(format!("{}", got.dtype)),
                    (_, Err(refusal)) => wrong(refusal),
                    (Answer::OwnDType(integer), Ok(got)) => {
                        for at in 0..DRAWN {
                            tried[n] += 1;
                            let element = operands_at(name, dtype, &operands, Some(at));
                            if got.dtype != dtype || i128::from(got.get(at)[0]) != integer(&element) {
                                wrong(format!("{:x?}", got.get(at)));
                            }
                        }
                    }
                    (_, Ok(got)) => {
                        for at in (0..DRAWN).filter(|&at| chosen(Some(at))) {
                            tried[n] += 1;
                            let element = operands_at(name, dtype, &operands, Some(at));
                            if !answers(own, &element, function, &got, at) {
                                wrong(format!("{:?} gives {:x?}", element.operands, got.get(at)));
                            }
                        }
                    }
                }
            }
        }
    }
    let elements: usize = tried.iter().sum();
    println!("rules: {} on {elements} drawn elements of {cases} functions and dtypes, {broken} broken", RULES.len());
    let mut idle = RULES.iter().zip(&tried).filter(|(_, tried)| **tried == 0).peekable();
    let ok = broken == 0 && idle.peek().is_none();
    idle.for_each(|(rule, _)| println!("no element was drawn for the rule: {}", rule.row()));
    ok
}

/// A mix of special, small and ordinary values, and any bits.
fn drawn(dtype: DType, state: &mut u64) -> Tensor {
    let elements: Vec<Vec<u64>> = (0..DRAWN)
        .map(|_| {
            let parts = if dtype.is_complex() { 2 } else { 1 };
            (0..parts).map(|_| part(dtype.real(), state)).collect()
        })
        .collect();
    Tensor::from_words(dtype, Shape::from([DRAWN]), |at| elements[at].clone()).expect("a small array")
}

/// The word of a real value.
fn part(dtype: DType, state: &mut u64) -> u64 {
    let mask = u64::MAX >> (64 - 8 * dtype.bytes().min(8));
    let (kind, bits) = (next(state) % 8, next(state));
    if dtype == DType::Bool {
        return bits & 1;
    }
    if !dtype.is_float() {
        let small = (bits % 256) as i64 - 128;
        let small = if dtype.is_signed() { small } else { small.abs() };
        return if kind < 5 { small as u64 & mask } else { bits & mask };
    }
    let word = |x: f64| Literal::strong(x, dtype).and_then(|x| x.to_repr(dtype)).expect("a float")[0];
    let one = word(1.0);
    let infinity = word(f64::INFINITY);
    let sign = bits & (mask ^ (mask >> 1));
    let magnitude = match kind {
        0 => [0, 1, infinity - 1, infinity, word(f64::NAN), one][(bits % 6) as usize],
        // Near 0, 1 and 2, and near the smallest and the largest values.
        1 => bits >> 32 & (mask >> (8 * dtype.bytes() as u32 / 2)),
        2 => [one, word(2.0)][(bits % 2) as usize] + (bits >> 8) % 16 - 8,
        3 => infinity - 1 - (bits >> 8) % 16,
        4 => bits & (mask >> 1),
        _ => word((bits >> 11) as f64 * 2f64.powi(-53) * [1.0, 16.0, 256.0][(bits % 3) as usize]),
    };
    sign | magnitude
}

/// SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
