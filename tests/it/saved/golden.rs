//! Files of releases, in `tests/saved/`: every later version reads them, and gives the same bits. A file is never changed.
//!
//! `NAME.results` has the bytes of each result, for arguments made by [`argument`]. `SAVED_BLESS=1` writes files that are missing, as for
//! operations of a new opset: a test says which operations are in no file.

use super::reloaded;
use ndjit::dynamic::{self, Asked};
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{
    Array, DType, Expr, Kind, Op, Policy, Program, Reduction, Scan, Sort, SourceLoc, Spec, SymbolicProgram, ValueType,
    Weak, spec, weak, with_place, with_policy,
};
use ndjit_formats::saved::SavedProgram;
use ndjit_ir::graph::{ControlKind, Graph, NodeKind, Scatter};
use ndjit_ir::op::TypeRule;
use ndjit_ir::opset::OPSET;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("saved")
}

/// The dtypes of values that functions are called with: one of each kind.
const DTYPES: [DType; 5] = [DType::Bool, DType::U8, DType::I32, DType::F32, DType::C64];

/// Eight elements, from the `turn`th on.
fn values(dtype: DType, turn: usize) -> Array {
    let mut values = [0.0, 1.0, -1.0, 2.5, -3.5, 100.0, f64::INFINITY, f64::NAN];
    values.rotate_left(turn % 8);
    let array = Array::from(values).cast(dtype);
    array.eval().unwrap();
    array
}

/// The argument of a program: 0, 1, 2 …, or the number 2.
fn argument(spec: &Spec) -> AnyOperand {
    match spec.value_type() {
        ValueType::Weak(Weak::Int) if spec.is_number() => weak(2).operand(),
        ValueType::Weak(_) if spec.is_number() => weak(2.0).operand(),
        ty => {
            let counted: Vec<f64> = (0..spec.shape().size().unwrap()).map(|n| n as f64).collect();
            let ValueType::Strong(dtype) = ty else { panic!("no weak arrays are given") };
            Array::from_shape_vec(spec.shape().clone(), counted).unwrap().cast(dtype).operand()
        }
    }
}

/// Each op of an opset.
fn ops(opset: u16) -> Program {
    let made = || {
        let mut results = Vec::new();
        for op in Op::ALL.into_iter().filter(|op| op.row().since == opset) {
            let domain = op.row().domain;
            let usual: Vec<DType> = DTYPES.into_iter().filter(|&dtype| domain.contains(dtype)).collect();
            let dtypes = if usual.is_empty() { domain.iter().collect() } else { usual };
            for dtype in dtypes {
                let of = |n: usize| match (op.row().rule, n) {
                    (TypeRule::Select, 0) => DType::Bool,
                    (TypeRule::Ldexp | TypeRule::Shift, 1) => DType::I32,
                    _ => dtype,
                };
                let operands: Vec<AnyOperand> = (0..op.arity()).map(|n| values(of(n), 3 * n).operand()).collect();
                results.push(traced(&operands, |operands| dynamic::apply(op, operands)));
            }
        }
        results
    };
    Program::trace(&[], |_| made()).unwrap()
}

/// The same operands as captured arrays, which are not computed before.
fn traced(operands: &[AnyOperand], of: impl FnOnce(&[AnyOperand]) -> Expr) -> Expr {
    let captured: Vec<AnyOperand> = operands
        .iter()
        .map(|operand| match operand {
            AnyOperand::Array(array) => AnyOperand::Expr(Expr::from(array)),
            other => other.clone(),
        })
        .collect();
    of(&captured)
}

/// Each reduction, scan and sort of an opset.
fn functions(opset: u16) -> Program {
    let made = || {
        let mut results = Vec::new();
        for dtype in DTYPES.into_iter().chain([DType::F16]) {
            let x = Expr::from(&values(dtype, 5).reshape([2, 4]));
            for reduction in Reduction::ALL.into_iter().filter(|f| f.row().since == opset) {
                results.push(dynamic::reduce(reduction, x.operand(), 1, Asked::default()));
            }
            for scan in Scan::ALL.into_iter().filter(|f| f.row().since == opset) {
                results.push(dynamic::scan(scan, x.operand(), 1, Asked::default()));
            }
            for sort in Sort::ALL.into_iter().filter(|f| f.row().since == opset) {
                results.push(dynamic::sort(sort, x.operand(), 1, Asked::default()));
            }
        }
        let wide = Expr::from(&values(DType::I32, 1));
        results.push(wide.sum(ndjit::keepdims(..)));
        results.push(dynamic::reduce(
            Reduction::Sum,
            wide.operand(),
            ..,
            Asked { dtype: Some(DType::F64), ..Asked::default() },
        ));
        results.push(dynamic::reduce(
            Reduction::Var,
            wide.operand(),
            ..,
            Asked { correction: Some(weak(1)), ..Asked::default() },
        ));
        results
    };
    Program::trace(&[], |_| made()).unwrap()
}

/// Each dtype as each other one.
fn casts() -> Program {
    let made = |_: &[Expr]| {
        let pairs = DType::ALL.into_iter().flat_map(|from| DType::ALL.map(|to| (from, to)));
        pairs.filter(|(from, to)| from != to).map(|(from, to)| Expr::from(&values(from, 0)).cast(to)).collect()
    };
    Program::trace(&[], made).unwrap()
}

/// Each policy's types of some operations.
fn policies() -> Program {
    let made = |_: &[Expr]| {
        let mut results = Vec::new();
        let pairs =
            [(DType::I8, DType::F32), (DType::U8, DType::I8), (DType::I64, DType::F16), (DType::F32, DType::F32)];
        for policy in Policy::ALL {
            for (x, y) in pairs {
                with_policy(policy, || {
                    let (x, y) = (values(x, 1), values(y, 2));
                    // Policies refuse some.
                    if (&x + &y).error().is_none() {
                        results.push(Expr::from(&x) + &y);
                    }
                    if (&x / 2).error().is_none() {
                        results.push(Expr::from(&x) / 2);
                    }
                    if x.sum(..).error().is_none() {
                        results.push(Expr::from(&x).sum(..));
                    }
                });
            }
        }
        results
    };
    Program::trace(&[], made).unwrap()
}

/// Control flow, nested, and its derivatives.
fn control() -> Program {
    let made = |p: &[Expr]| {
        let (x, n) = (p[0], p[1]);
        let halved = ndjit::while_loop(x, |x: Expr| x.max(..).gt(1.5), |x: Expr| x / 2);
        let counted =
            ndjit::fori_loop(0, n, x, |i, x: Expr| ndjit::cond(i.gt(1), |x: Expr| x * 2 + 1, |x: Expr| x.sin(), x));
        let (last, sums): (Expr, Expr) = ndjit::scan(|sum: Expr, x: Expr| (sum + x, sum * x), x.at(0).get(), x);
        let slope = ndjit::grad(|x: Expr| {
            let looped = ndjit::fori_loop(0, 3, x, |_, x: Expr| x * x.cos());
            (looped * ndjit::stop_gradient(x)).sum(..)
        });
        vec![halved, counted, last, sums, slope(x)]
    };
    Program::trace(&[spec(DType::F64, [4]), spec(DType::I32, [])], made).unwrap()
}

/// Views, joins, reads and stores at indices.
fn movement() -> Program {
    let made = |p: &[Expr]| {
        let (x, index, start) = (p[0], p[1], p[2]);
        let row = x.at(0).get();
        let mut results = vec![
            x.mt().reshape([6]),
            x.at((.., ndjit::step(-1))).get() + x.flip(0),
            ndjit::concat([x, x + 1], 1),
            ndjit::take(x, index, 1),
            ndjit::slice_dynamic(x, (start, start), [1, 2]),
            ndjit::arange(5) * start,
            x.at((.., 1)).set(7),
            x.at((start, 1)).set(9),
            x.at(ndjit::dynamic_range(start, 1)).set(5),
            ndjit::pad(x, 1, 0),
        ];
        let at = || row.at(index);
        results.extend([
            at().set(3),
            at().add(3),
            at().subtract(3),
            at().multiply(3),
            at().divide(4),
            at().min(1),
            at().max(1),
        ]);
        results.push(ndjit::matmul(x, x.mt()));
        results
    };
    Program::trace(&[spec(DType::F32, [2, 3]), spec(DType::I64, [2]), spec(DType::I32, [])], made).unwrap()
}

/// Arguments with names, a number, captured arrays of each dtype and one weak, prints and places.
fn interface() -> Program {
    let place = SourceLoc { file: "<formula>", line: 3, column: 5 };
    let made = |p: &[Expr]| {
        let scaled = with_place(place, || p[0] * p[1]);
        let mut results = vec![with_place(place, || ndjit::debug::debug_print("scaled", scaled)) + 1];
        results.extend(DType::ALL.map(|dtype| with_place(place, || Expr::from(&values(dtype, 2)).at(0).get())));
        results
    };
    let specs = [spec(DType::F32, [3]), Spec::number(Weak::Float), Spec::number(Weak::Int)];
    let program = Program::trace(&specs, made).unwrap();
    program.with_names(["x", "scale", "unused"]).unwrap().with_tree("(x, {scale, unused})")
}

/// A program for all sizes: `n` and `m` in shapes, starts and lengths.
fn symbolic() -> SymbolicProgram {
    let made = |p: &[Expr]| {
        let (x, y) = (p[0], p[1]);
        let last = x.at(-1).get();
        let looped = ndjit::scan(|sum: Expr, row: Expr| (sum + row, sum), ndjit::zeros_like(y), x);
        vec![ndjit::concat([x, x], 0), x.flip(1) * y, last, looped.1, x.reshape([-1]), x.sum(..) * ndjit::arange(3)]
    };
    SymbolicProgram::trace(&["x: f32[n, 4]", "y: f32[4]", "k: i*"], made).unwrap()
}

/// The files: each opset's operations are in files of its own.
fn files() -> Vec<(String, Program)> {
    let by_opset = (1..=OPSET).flat_map(|n| [(format!("ops-{n}"), ops(n)), (format!("functions-{n}"), functions(n))]);
    let others = [
        ("casts", casts()),
        ("control", control()),
        ("interface", interface()),
        ("movement", movement()),
        ("policies", policies()),
    ];
    by_opset.chain(others.map(|(name, program)| (name.to_owned(), program))).collect()
}

/// The type, shape and bytes of each result.
fn results(program: &Program) -> String {
    let arguments: Vec<AnyOperand> = program.inputs().iter().map(argument).collect();
    let (results, _) = ndjit::debug::collect_debug_output(|| program.call(&arguments).unwrap());
    let mut text = String::new();
    for result in results {
        let _ = write!(text, "{}{}", result.value_type(), result.shape());
        // The sign and payload of NaN are not compared.
        let nan = |part: Array| part.isnan().to_vec::<bool>().unwrap();
        let (real, imaginary) = (nan(result.real()), nan(result.imag()));
        let (bytes, part) = (result.to_bytes().unwrap(), result.dtype().real().bytes());
        for (n, element) in bytes.chunks(part).enumerate() {
            let is_nan = match result.dtype().kind() {
                Kind::Complex => {
                    if n % 2 == 0 {
                        real[n / 2]
                    } else {
                        imaginary[n / 2]
                    }
                }
                Kind::Float => real[n],
                _ => false,
            };
            text.push(' ');
            match is_nan {
                true => text.push_str("nan"),
                false => text.extend(element.iter().rev().map(|byte| format!("{byte:02x}"))),
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn files_of_releases_are_read_and_give_the_same_bits() {
    if std::env::var_os("SAVED_BLESS").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        let path = folder().join("symbolic.ndjit");
        if !path.exists() {
            symbolic().save(&path).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(path.with_extension("results"), results_of(&programs(&bytes))).unwrap();
        }
        for (name, program) in files() {
            let path = folder().join(format!("{name}.ndjit"));
            if !path.exists() {
                let program = if name == "interface" { program } else { program.without_places() };
                program.save(&path).unwrap();
                std::fs::write(path.with_extension("results"), results(&program)).unwrap();
            }
        }
    }
    for (name, bytes) in saved() {
        let programs = programs(&bytes);
        programs.iter().for_each(|program| drop(reloaded(program)));
        let expected = std::fs::read_to_string(folder().join(&name).with_extension("results")).unwrap();
        let found = results_of(&programs);
        let differ = expected.lines().zip(found.lines()).enumerate().find(|(_, (expected, found))| expected != found);
        assert!(differ.is_none(), "{name}: result {differ:?}");
        assert_eq!(found.lines().count(), expected.lines().count(), "{name}");
        // Without compilation, too.
        let interpreted = ndjit::debug::with_jit_disabled(|| results_of(&programs));
        let differ = expected.lines().zip(interpreted.lines()).find(|(expected, found)| expected != found);
        assert!(differ.is_none(), "{name}: interpreted: {differ:?}");
    }
}

/// The program of a file; one for all sizes is two programs.
fn programs(bytes: &[u8]) -> Vec<Arc<Program>> {
    if SavedProgram::decode(bytes).unwrap().extents.is_empty() {
        return vec![Arc::new(Program::from_bytes(bytes).unwrap())];
    }
    let program = SymbolicProgram::from_bytes(bytes).unwrap();
    assert!(program.to_bytes().unwrap() == bytes, "saved again, it is another file");
    let sizes = |n: usize| vec![n; program.extents().len()];
    [1, 5].map(|n| program.with_sizes(&sizes(n)).unwrap()).to_vec()
}

fn results_of(programs: &[Arc<Program>]) -> String {
    programs.iter().map(|program| results(program)).collect()
}

/// The files, in the order of their names.
fn saved() -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "ndjit")).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let read = |path: PathBuf| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap());
    paths.into_iter().map(read).collect()
}

/// Every operation, dtype and policy is in a file: a new one needs a new file, and a new opset.
#[test]
fn files_have_every_operation() {
    let mut words: BTreeSet<String> = BTreeSet::new();
    for (_, bytes) in saved() {
        let program = SavedProgram::decode(&bytes).unwrap();
        if !program.extents.is_empty() {
            continue;
        }
        let graph: Graph<ValueType> = program.text.parse().unwrap();
        for graph in graph.whole() {
            for id in graph.node_ids() {
                words.insert(graph.operation_name(id).to_owned());
                if let NodeKind::Scatter(scatter) = graph.node(id).kind {
                    words.insert(format!("scatter {}", scatter.name()));
                }
                let results = graph.node(id).results().map(|result| graph.ty(result).to_string());
                words.extend(results);
            }
        }
        words.extend(graph.policies().iter().map(Policy::to_string));
    }
    let operations = Op::ALL.iter().map(|op| op.name());
    let functions = Reduction::ALL.iter().map(|f| f.name()).chain(Scan::ALL.iter().map(|f| f.name()));
    let functions = functions.chain(Sort::ALL.iter().map(|f| f.name()));
    // Calls are expanded.
    let kinds = NodeKind::<ValueType>::words().filter(|&word| word != "call");
    let control = ControlKind::ALL.iter().map(|kind| kind.name());
    let names = operations.chain(functions).chain(kinds).chain(control).chain(["stop_gradient", "variable"]);
    let named = names.map(str::to_owned).chain(Scatter::ALL.iter().map(|f| format!("scatter {}", f.name())));
    let all = named.chain(DType::ALL.iter().map(DType::to_string)).chain(Policy::ALL.iter().map(Policy::to_string));
    let missing: Vec<String> = all.filter(|word| !words.contains(word)).collect();
    assert!(missing.is_empty(), "in no file of tests/saved/, which `SAVED_BLESS=1` writes: {missing:?}");
}
