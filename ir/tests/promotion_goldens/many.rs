//! The order of many operands, and default dtypes.

use crate::golden;
use crate::report::Report;
use ndjit_ir::op::TypeRule;
use ndjit_ir::{DType, Policy, ValueType};
use serde_json::Value;

/// The function of many arrays whose dtype follows a library's own rule: file, function, policy.
pub const FUNCTIONS: &[(&str, &str, Policy)] = &[
    ("numpy2", "result_type", Policy::NumPy2),
    ("numpy1", "result_type", Policy::NumPy1),
    ("torch", "cat", Policy::Torch),
    ("tensorflow", "stack", Policy::TensorFlow),
    ("ivy_precise", "concat", Policy::IvyPrecise),
    ("ivy_imprecise", "concat", Policy::IvyImprecise),
    ("array_api", "result_type", Policy::ArrayApi),
];

/// Compares all triples of dtypes: the golden lists those whose result is not that of promoting from the left.
pub fn compare_order(file: &str, function: &str, policy: Policy) -> Report {
    let golden = golden::read(&format!("ops/{file}_result_dtypes.json"));
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|entry| entry.as_str().unwrap_or("-").to_owned()).collect()
    };
    let lacks = strings(&golden["lacks"]);
    let dtypes: Vec<DType> = DType::ALL.into_iter().filter(|dtype| !lacks.contains(&dtype.name().to_owned())).collect();
    let measured = &golden["nary"][function];
    let listed: Vec<Vec<String>> = measured["a_b_c_result_fold"].as_array().unwrap().iter().map(strings).collect();
    // The golden lists all of them, not the first few.
    assert_eq!(Some(listed.len() as u64), measured["differs_from_left_fold"].as_u64(), "{file}");
    let mut report = Report::new(format!("{file} {function} of three"), policy);
    let mut refused = 0;
    for (a, b, c) in dtypes.iter().flat_map(|a| dtypes.iter().flat_map(|b| dtypes.iter().map(|c| (*a, *b, *c)))) {
        let operands = [a, b, c].map(ValueType::from);
        let ours = policy.resolve(TypeRule::Join, &operands).ok().map(|resolution| resolution.compute);
        let from_left = policy.join(operands[0], operands[1]).and_then(|ab| policy.join(ab, operands[2]));
        let theirs = match listed.iter().find(|row| row[..3] == operands.map(|ty| ty.name().to_owned())) {
            Some(row) => row[3].parse().ok(),
            None => from_left,
        };
        refused += u64::from(ours.is_none());
        report.cell(ours == theirs, None, || format!("{a} {b} {c}: {ours:?}, {file} has {theirs:?}"));
    }
    if measured["refuses"].as_u64() != Some(refused) {
        report.unexplained.push(format!("{refused} triples refused, {file} refuses {}", measured["refuses"]));
    }
    report
}

/// Compares the dtypes of numbers, of a range, and of zeros; `None` for a library that creates no arrays.
pub fn compare_defaults(file: &str, section: Option<&str>, policy: Policy) -> Option<Report> {
    let golden = golden::read(&format!("ops/{file}_result_dtypes.json"));
    let golden = section.map_or(&golden, |section| &golden[section])["defaults"].as_object().unwrap();
    if golden.is_empty() {
        return None;
    }
    let defaults = policy.defaults();
    let expected = [
        ("asarray(1)", defaults.int),
        ("constant(1)", defaults.int),
        ("tensor(1)", defaults.int),
        ("full((), 1)", defaults.int),
        ("fill((), 1)", defaults.int),
        ("arange(3)", defaults.int),
        ("range(3)", defaults.int),
        ("asarray(1.0)", defaults.float),
        ("constant(1.0)", defaults.float),
        ("tensor(1.0)", defaults.float),
        ("zeros(3)", defaults.float),
        ("ones(3)", defaults.float),
        ("eye(2)", defaults.float),
        ("arange(3.0)", defaults.float),
        ("range(3.0)", defaults.float),
        ("asarray(1j)", defaults.complex),
        ("constant(1j)", defaults.complex),
        ("tensor(1j)", defaults.complex),
    ];
    let mut report = Report::new(format!("{file} defaults"), policy);
    for (call, ours) in expected {
        let Some(theirs) = golden.get(call).and_then(Value::as_str) else { continue };
        let theirs = theirs.strip_suffix("/w").unwrap_or(theirs);
        report.cell(theirs == ours.name(), None, || format!("{call}: {ours}, {file} has {theirs}"));
    }
    if report.compared < 8 {
        report.unexplained.push(format!("only {} expressions found", report.compared));
    }
    Some(report)
}
