//! Result dtypes of ops, reductions and creation functions under each policy, against the libraries' functions.

use crate::op_outcome::Outcome;
use crate::report::Report;
use crate::{golden, numexpr_differences, op_differences};
use ndjit_ir::promotion::Defaults;
use ndjit_ir::reduction::AxisFunction;
use ndjit_ir::{DType, Op, Policy, ValueType};
use serde_json::Value;

/// A library's functions and its policy: file `ops/NAME_result_dtypes.json`, section of it, policy.
pub fn libraries() -> [(&'static str, Option<&'static str>, Policy); 10] {
    let standard = Policy::Standard.with_defaults(Defaults::BITS_64).unwrap();
    [
        ("jax", Some("x64"), standard),
        ("jax", Some("x32"), Policy::Jax32),
        ("numpy2", None, Policy::NumPy2),
        ("numpy1", None, Policy::NumPy1),
        ("torch", None, Policy::Torch),
        ("tensorflow", None, Policy::TensorFlow),
        ("ivy_precise", None, Policy::IvyPrecise),
        ("ivy_imprecise", None, Policy::IvyImprecise),
        ("array_api", None, Policy::ArrayApi),
        ("numexpr", None, Policy::NumExpr),
    ]
}

/// The function called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Call {
    Op(Op),
    Reduction(AxisFunction),
}

impl Call {
    pub fn name(self) -> &'static str {
        match self {
            Call::Op(op) => op.name(),
            Call::Reduction(reduction) => reduction.name(),
        }
    }

    pub fn resolve(self, policy: Policy, operands: &[ValueType]) -> Option<ValueType> {
        match self {
            Call::Op(op) => policy.resolve_op(op, operands).ok().map(|types| types.result),
            Call::Reduction(reduction) => {
                policy.resolve_reduction(reduction, None, operands[0]).ok().map(|types| types.result.into())
            }
        }
    }
}

/// Operand types and the golden's cell for them.
type Cell = (Vec<ValueType>, String);

fn row(cells: &Value, operands: &dyn Fn(ValueType) -> Vec<ValueType>) -> Vec<Cell> {
    // The first array of a function that returns several, such as PyTorch's `sort`.
    let text = |i: usize| cells[i].as_str().or(cells[i][0].as_str()).unwrap().to_owned();
    ValueType::ALL.into_iter().enumerate().map(|(i, a)| (operands(a), text(i))).collect()
}

fn table(rows: &Value, operands: &dyn Fn(ValueType, ValueType) -> Vec<ValueType>) -> Vec<Cell> {
    ValueType::ALL.into_iter().enumerate().flat_map(|(i, a)| row(&rows[i], &|b| operands(a, b))).collect()
}

/// The golden's cells for a call; `None` if the library has no such function.
fn cells(golden: &Value, call: Call) -> Option<Vec<Cell>> {
    match call {
        Call::Reduction(reduction) => {
            let cells = &golden["reductions"];
            // Names new in the Array API.
            let older = || cells.get(reduction.name().replace("cumulative_", "cum"));
            Some(row(cells.get(reduction.name()).or_else(older)?, &|a| vec![a]))
        }
        Call::Op(Op::Where) => {
            let mut cells = table(&golden["where"], &|a, b| vec![DType::Bool.into(), a, b]);
            cells.extend(row(&golden["where_cond"], &|c| vec![c, DType::F32.into(), DType::I8.into()]));
            Some(cells)
        }
        Call::Op(Op::Clip) => Some(table(golden.get("clip")?, &|a, b| vec![a, b, b])),
        Call::Op(op) if op.arity() == 1 => Some(row(golden["unary"].get(op.name())?, &|a| vec![a])),
        Call::Op(op) if op.arity() == 2 => {
            let entry = golden["binary"].get(op.name())?;
            let rows = entry.get("same_as").map_or(entry, |other| &golden["binary"][other.as_str().unwrap()]);
            Some(table(rows, &|a, b| vec![a, b]))
        }
        Call::Op(_) => None,
    }
}

/// Returns `true` if a result equals a golden cell: `f32` strong, `f64/w` weak of its kind. Bool is never weak, and PyTorch's
/// `c32` is not a dtype here.
fn is_same(ours: Option<ValueType>, theirs: Option<&str>) -> bool {
    match (ours, theirs.map(|cell| cell.strip_suffix("/w").ok_or(cell))) {
        (None, None) => true,
        (Some(ours), Some(Err(strong))) => ours.name() == strong,
        (Some(ValueType::Weak(ours)), Some(Ok(weak))) => weak.parse::<DType>().is_ok_and(|d| d.kind() == ours.kind()),
        _ => false,
    }
}

/// Compares one library. Cells without operands (`-`) are skipped.
pub fn compare(library: &str, section: Option<&str>, policy: Policy) -> Report {
    let file = golden::read(&format!("ops/{library}_result_dtypes.json"));
    let golden = section.map_or(&file, |section| &file[section]);
    let name = section.map_or(library.to_owned(), |section| format!("{library} {section}"));
    let mut report = Report::new(format!("{name} ops"), policy);
    let listed: Vec<_> = op_differences::DIFFERENCES
        .iter()
        .chain(numexpr_differences::DIFFERENCES)
        .filter(|d| d.libraries.contains(&name.as_str()))
        .collect();
    let calls = Op::ALL.into_iter().map(Call::Op).chain(AxisFunction::all().map(Call::Reduction));
    for call in calls {
        let absent = cells(golden, call).is_none();
        if absent {
            report.absent.push(call.name());
        }
        for (operands, cell) in cells(golden, call).unwrap_or_default().into_iter().filter(|(_, cell)| cell != "-") {
            let theirs = (!cell.starts_with('!')).then(|| cell.clone());
            let ours = call.resolve(policy, &operands);
            let same = is_same(ours, theirs.as_deref());
            let outcome = Outcome { policy, call, operands: &operands, theirs: theirs.as_deref(), ours };
            let reason = listed.iter().find(|difference| difference.explains(&outcome)).map(|d| d.reason);
            report.cell(same, reason, || {
                let raised = cell.strip_prefix('!').map(|n| &golden["errors"][n.parse::<usize>().unwrap()]["message"]);
                let ours = ours.map_or("-", ValueType::name);
                format!("{} {operands:?}: {ours}, {name} has {cell} {raised:?}", call.name())
            });
        }
    }
    report.needs_all(listed.iter().map(|difference| difference.reason));
    report
}
