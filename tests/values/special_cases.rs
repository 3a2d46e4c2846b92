//! The special cases of the Array API standard for real floats: each sentence is tested on all edge values that meet its condition,
//! in every float dtype. Sentences that cannot be parsed must be listed.

use crate::run::{Function, run};
use ndjit_ir::literal::Literal;
use ndjit_ir::{DType, Op, Shape};
use ndjit_math::interp::Tensor;
use ndjit_math::load_body;
use serde_json::Value;
use std::f64::consts::PI;
use std::fmt;

const SENTENCES: &str = include_str!("../goldens/special_cases.json");

/// Values on both sides of every border in a sentence.
const EDGES: &[f64] = &[
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.0,
    -2.0,
    2.5,
    -3.0,
    3.0,
    7.0,
    -10.0,
    0.001,
    -0.001,
    f64::MIN_POSITIVE,
];

/// Sentences that are not checked: part of the condition, part of the result, reason.
const NOT_CHECKED: &[(&str, &str, &str)] = &[
    ("sign bit", "", "the sign of a NaN is not specified in ndjit"),
    ("", "NaN with a sign bit", "the sign of a NaN is not specified in ndjit"),
    ("are None", "", "clip takes both bounds here"),
    ("", "rule already stated above", "the sentences on signs are checked"),
    ("two integers", "", "`tests/it/ops/` and the bodies' tests round all halves"),
];

/// Results that the standard leaves to libraries, in a note of the sentence.
const LEFT_OPEN: &[(&str, &str, &str)] = &[
    ("floor_divide", "infinity and x2 is a", "NaN, as Python's and NumPy's"),
    ("floor_divide", "finite number and x2 is", "-1 where the quotient is negative, as Python's and NumPy's"),
];

#[derive(Default)]
pub struct Report {
    sentences: usize,
    elements: usize,
    unchecked: usize,
    absent: Vec<String>,
    pub problems: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { sentences, elements, unchecked, absent, problems } = self;
        write!(
            f,
            "{sentences} sentences on {elements} elements, {unchecked} listed as not checked, {} broken",
            problems.len()
        )?;
        if !absent.is_empty() {
            write!(f, "; not in ndjit: {}", absent.join(" "))?;
        }
        problems.iter().take(20).try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

/// Checks every sentence.
pub fn check() -> Report {
    let mut report = Report::default();
    let functions: Value = serde_json::from_str(SENTENCES).expect("the sentences");
    for (name, sentences) in functions.as_object().expect("functions") {
        let Ok(op) = name.parse::<Op>() else {
            report.absent.push(name.clone());
            continue;
        };
        let names: &[&str] = match op.arity() {
            1 => &["x"],
            2 => &["x1", "x2"],
            _ => &["x", "min", "max"],
        };
        for dtype in [DType::F32, DType::F64, DType::F16, DType::Bf16] {
            let grid = Grid::new(op, dtype);
            for sentence in sentences.as_array().expect("sentences") {
                let text = |key: &str| sentence[key].as_str().expect("text").to_owned();
                let (when, then) = (text("when"), text("then"));
                if NOT_CHECKED.iter().any(|(a, b, _)| when.contains(a) && then.contains(b)) {
                    report.unchecked += usize::from(dtype == DType::F32);
                    continue;
                }
                if LEFT_OPEN.iter().any(|(function, a, _)| name == function && when.contains(a)) {
                    report.unchecked += usize::from(dtype == DType::F32);
                    continue;
                }
                report.sentences += usize::from(dtype == DType::F32);
                let before = report.elements;
                for (operands, got) in &grid.elements {
                    let Some(holds) = holds(&when, names, operands) else {
                        report.problems.push(format!("{name}: cannot read `{when}`"));
                        break;
                    };
                    if !holds {
                        continue;
                    }
                    report.elements += 1;
                    match meets(&then, names, operands, *got, dtype) {
                        Some(true) => {}
                        Some(false) => report
                            .problems
                            .push(format!("{name}({operands:?}) in {dtype} is {got:?}: if {when}, {then}")),
                        None => {
                            report.problems.push(format!("{name}: cannot read `{then}`"));
                            break;
                        }
                    }
                }
                if report.elements == before && !report.problems.iter().any(|p| p.contains("cannot read")) {
                    report.problems.push(format!("{name}: no element meets `{when}`"));
                }
            }
        }
    }
    report
}

/// All combinations of edge values, and the results.
struct Grid {
    elements: Vec<(Vec<f64>, f64)>,
}

impl Grid {
    fn new(op: Op, dtype: DType) -> Grid {
        let edges: Vec<Vec<u64>> = EDGES
            .iter()
            .map(|&x| Literal::strong(x, dtype).and_then(|l| l.to_repr(dtype)).expect("a float").to_vec())
            .collect();
        let count = edges.len().pow(op.arity() as u32);
        let operands: Vec<Tensor> = (0..op.arity())
            .map(|i| {
                let of = op.operand_dtype(i, dtype);
                let pick = |at: usize| edges[at / edges.len().pow(i as u32) % edges.len()].clone();
                Tensor::from_repr(of, Shape::from([count]), pick).expect("a small array")
            })
            .collect();
        let got = run(Function::Op(op), &operands).unwrap_or_else(|e| panic!("{op} of {dtype}: {e}"));
        let elements = (0..count).map(|at| (operands.iter().map(|x| value(x, at)).collect(), value(&got, at)));
        Grid { elements: elements.collect() }
    }
}

/// An element as `f64`.
fn value(tensor: &Tensor, at: usize) -> f64 {
    let repr = load_body(tensor.dtype).eval(&tensor.get(at))[0];
    match tensor.dtype {
        DType::F64 => f64::from_bits(repr),
        DType::Bool => repr as f64,
        _ => f64::from(f32::from_bits(repr as u32)),
    }
}

/// Whether a condition holds; `None` if it cannot be parsed.
fn holds(when: &str, names: &[&str], values: &[f64]) -> Option<bool> {
    if let Some(rest) = when.strip_prefix("either x1 or x2 is ").or(when.strip_prefix("x1 is NaN or x2 is ")) {
        let each: Option<Vec<bool>> = values.iter().map(|&x| is(rest, x, names, values)).collect();
        return Some(each?.into_iter().any(|holds| holds));
    }
    let both_finite = " and are both nonzero finite numbers";
    if let Some(signs) = when.strip_prefix("x1 and x2 have ") {
        let finite = signs.ends_with(both_finite);
        let ok = values.iter().all(|x| !x.is_nan() && (!finite || x.is_finite() && *x != 0.0));
        let same = values[0].is_sign_negative() == values[1].is_sign_negative();
        return Some(ok && same == signs.starts_with("the same"));
    }
    let when = when.replace("any value, including NaN", "anything").replace(", and ", " and ").replace(", ", " and ");
    let clauses: Option<Vec<bool>> = when.split(" and ").map(|clause| clause_holds(clause, names, values)).collect();
    Some(clauses?.into_iter().all(|holds| holds))
}

fn clause_holds(clause: &str, names: &[&str], values: &[f64]) -> Option<bool> {
    let of = |name: &str| names.iter().position(|n| *n == name).map(|i| values[i]);
    if let Some((left, right)) = clause.split_once(" does not equal ") {
        return Some(of(left)? != of(right)?);
    }
    if let Some((left, right)) = clause.split_once(" equals ") {
        return Some(of(left)? == of(right)?);
    }
    let (subject, predicate) = clause.split_once(" is ")?;
    let subject = match subject.strip_prefix("abs(").and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => of(inner)?.abs(),
        None => of(subject)?,
    };
    let alternatives = predicate.strip_prefix("either ").unwrap_or(predicate).split(" or ");
    let each: Option<Vec<bool>> = alternatives.map(|predicate| is(predicate, subject, names, values)).collect();
    Some(each?.into_iter().any(|holds| holds))
}

fn is(predicate: &str, x: f64, names: &[&str], values: &[f64]) -> Option<bool> {
    let integer = x.is_finite() && x.fract() == 0.0;
    let odd = integer && x % 2.0 != 0.0;
    Some(match predicate {
        "NaN" => x.is_nan(),
        "not NaN" => !x.is_nan(),
        "anything" => true,
        "a finite number" => x.is_finite(),
        "a nonzero finite number" => x.is_finite() && x != 0.0,
        "a positive finite number" => x.is_finite() && x > 0.0,
        "a negative finite number" => x.is_finite() && x < 0.0,
        "already integer-valued" | "an integer value" => integer,
        "not an integer value" => !integer,
        "an odd integer value" => odd,
        "not an odd integer value" => !odd,
        _ => {
            if let Some(limit) = predicate.strip_prefix("greater than ") {
                return Some(x > number(limit, names, values)?);
            }
            if let Some(limit) = predicate.strip_prefix("less than ") {
                return Some(x < number(limit, names, values)?);
            }
            if let Some(other) = predicate.strip_prefix("not equal to ") {
                return Some(x != number(other, names, values)?);
            }
            same(x, number(predicate, names, values)?)
        }
    })
}

/// Whether a result meets a sentence; `None` if it cannot be parsed.
fn meets(then: &str, names: &[&str], values: &[f64], got: f64, dtype: DType) -> Option<bool> {
    if let Some(sign) = then.strip_prefix("the result has a ") {
        return Some(got.is_nan() || got.is_sign_negative() == sign.starts_with("negative"));
    }
    let result = then.strip_prefix("the result is ")?;
    let result = result.split(", even if").next()?;
    if let Some(angle) = result.strip_prefix("an implementation-dependent approximation to ") {
        let exact = match angle.trim_start_matches(['+', '-']) {
            "π" => PI,
            "π/2" => PI / 2.0,
            "π/4" => PI / 4.0,
            "3π/4" => 3.0 * PI / 4.0,
            _ => return None,
        };
        let digits = match dtype {
            DType::F64 => 52,
            DType::F32 => 23,
            DType::F16 => 10,
            _ => 7,
        };
        let exact = if angle.starts_with('-') { -exact } else { exact };
        return Some((got - exact).abs() <= exact.abs() * 2f64.powi(-digits));
    }
    let result = result.strip_prefix("equivalent to ").unwrap_or(result);
    Some(same(got, number(result, names, values)?))
}

/// A number, an operand, or its magnitude.
fn number(text: &str, names: &[&str], values: &[f64]) -> Option<f64> {
    let of = |name: &str| names.iter().position(|n| *n == name).map(|i| values[i]);
    let magnitude = |text: &str| {
        let inner = text.strip_prefix('|').and_then(|t| t.strip_suffix('|'));
        inner.or(text.strip_prefix("abs(").and_then(|t| t.strip_suffix(')'))).and_then(of).map(f64::abs)
    };
    match text {
        "NaN" => Some(f64::NAN),
        "+infinity" => Some(f64::INFINITY),
        "-infinity" => Some(f64::NEG_INFINITY),
        "True" => Some(1.0),
        "False" => Some(0.0),
        _ => of(text)
            .or_else(|| magnitude(text))
            .or_else(|| text.strip_prefix('-').and_then(|t| of(t).or_else(|| magnitude(t))).map(|x| -x))
            .or_else(|| text.parse().ok()),
    }
}

/// The same number, with the same sign of zero.
fn same(a: f64, b: f64) -> bool {
    a.is_nan() && b.is_nan() || a == b && a.is_sign_negative() == b.is_sign_negative()
}
