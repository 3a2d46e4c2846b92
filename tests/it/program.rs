//! Programs without Rust types: parameters and results, errors, and places of front ends.

use ndjit::dynamic::{self, Asked};
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{
    Array, DType, Error, ErrorCode, Expr, Op, Policy, Program, Reduction, Scan, Sort, SourceLoc, Spec, Stage, Weak,
    spec, strong, weak, with_place, with_policy,
};

const PLACE: SourceLoc = SourceLoc { file: "<formula>", line: 1, column: 5 };

fn error(made: Result<impl Sized, Error>) -> String {
    let error = made.map(drop).unwrap_err();
    // Places in this file change with it.
    error.to_string().lines().filter(|line| !line.contains("tests/it/program.rs")).collect::<Vec<_>>().join("\n")
}

#[test]
fn numbers_and_arrays_stand_in_any_order() {
    let specs = [Spec::number(Weak::Float), spec(DType::F32, [2]), Spec::number(Weak::Int), spec(DType::I8, [])];
    let program = Program::trace(&specs, |p| vec![p[1] * p[0] + p[2], p[3] - p[2]]).unwrap();
    assert_eq!(program.inputs(), specs);
    assert_eq!(program.results(), [spec(DType::F32, [2]), spec(DType::I8, [])]);
    let same = Program::parse(&program.to_string()).unwrap();
    assert_eq!((same.inputs(), same.to_string()), (program.inputs(), program.to_string()));
    for program in [program, same] {
        for (factor, offset) in [(0.5, 1), (2.0, -3)] {
            let operands: [AnyOperand; 4] = [
                weak(factor).operand(),
                Array::from([2.0f32, 4.0]).operand(),
                weak(offset).operand(),
                Array::from(9i8).operand(),
            ];
            let results = program.call(&operands).unwrap();
            let expected = [2.0, 4.0].map(|x| x * factor as f32 + offset as f32);
            assert_eq!(results[0].to_vec::<f32>().unwrap(), expected);
            assert_eq!(results[1].item::<i8>().unwrap(), 9 - offset as i8);
        }
    }
}

#[test]
fn programs_keep_policy_captured_arrays_and_layouts() {
    let captured = Array::from([1i64, 2, 3]);
    let trace = || Program::trace(&[spec(DType::F32, [2, 3])], |p| vec![p[0] + &captured]);
    let (jax, numpy) = (trace().unwrap(), with_policy(Policy::NumPy2, trace).unwrap());
    let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    // The transpose is read in place.
    assert_eq!(jax.call([&x.mt()]).unwrap()[0].to_vec::<f32>().unwrap(), [2.0, 5.0, 8.0, 3.0, 6.0, 9.0]);
    let wide = numpy.threads(1).call([&x.mt()]).unwrap();
    assert_eq!(wide[0].to_vec::<f64>().unwrap(), [2.0, 5.0, 8.0, 3.0, 6.0, 9.0]);
}

#[test]
fn every_stage_is_shown_without_a_call() {
    let program = Program::trace(&[spec(DType::F32, [2, 3])], |p| vec![p[0] / p[0].sum(ndjit::keepdims(1))]).unwrap();
    for &stage in Stage::ALL {
        assert!(!program.explain(stage).unwrap().is_empty(), "{}", stage.name());
    }
    // The quotients and the sums.
    assert_eq!(program.memory().unwrap(), 4 * (6 + 2));
    assert!(program.explain_dtype(0).unwrap().to_string().contains("at tests/it/program.rs:"));
    assert!(program.explain_dtype(1).is_none());
}

#[test]
fn other_arguments_are_refused() {
    let program = Program::trace(&[spec(DType::F32, [3]), Spec::number(Weak::Int)], |p| vec![p[0] + p[1]]).unwrap();
    let x = Array::from([1.0f32, 2.0, 3.0]);
    insta::assert_snapshot!(error(program.call([&x])), @r"
    error[arity]: call: the program takes 2 arguments, 1 given
      help: pass one for each of `Program::inputs`
    ");
    insta::assert_snapshot!(error(program.call([&x, &x])), @r"
    error[argument]: call: the arguments are not what was traced for
      argument 1: traced for a number i*
                  given f32[3]
      help: a program is for one signature: trace it for these arguments, or convert them
    ");
    let two = Array::from([1.0f32, 2.0]);
    insta::assert_snapshot!(error(program.call(&[two.operand(), weak(1.5).operand()])), @r"
    error[argument]: call: the arguments are not what was traced for
      argument 0: traced for f32[3]
                  given f32[2]
      argument 1: traced for a number i*
                  given a number f*
      help: a program is for one signature: trace it for these arguments, or convert them
    ");
}

#[test]
fn wrong_graphs_are_refused() {
    insta::assert_snapshot!(error(Program::parse("graph (%0: f32[2]) {\n  %1 = sine %0 : f32[2]\n  return %1\n}")), @"
    error[parse]: graph text, line 2, column 8: expected an op, a reduction, a scan, `literal`, `cast`, `view`, `reshape`, `gather`, `scatter`, `slice`, `insert`, `concat`, `iota`, `call`, `while`, `cond`, `scan` or `for`, found `sine %0 : f32[2]`
      help: did you mean `sin`?
    ");
    let wrong_type = "graph (%0: f32[2]) {\n  %1 = sin %0 : f64[2]\n  return %1\n}";
    assert_eq!(Program::parse(wrong_type).unwrap_err().code(), ErrorCode::Verify);
    let beyond =
        "graph (%0: f32[2]) {\n  %1 = literal #0 argument 5 : f*[]\n  %2 = add %0, %1 : f32[2]\n  return %2\n}";
    insta::assert_snapshot!(error(Program::parse(beyond)), @r"
    error[verify]: graph: argument 5 is beyond the last
      arguments: 1 arrays and 1 numbers
      help: arguments are numbered from 0 to 1
    ");
    let huge = "graph (%0: f64[3000000000, 1000000000]) {\n  return %0\n}";
    assert_eq!(Program::parse(huge).unwrap_err().code(), ErrorCode::Verify);
}

#[test]
fn operations_stand_where_front_ends_say() {
    type Operation = fn(Expr) -> Expr;
    let wrong: [Operation; 6] = [
        |x| x + Expr::from(&Array::from([1, 2])),
        |x| x.sum(7),
        |x| x.cumulative_sum(7),
        |x| x.reshape([5]),
        |x| x & 1,
        |x| ndjit::diff(x, 1, 9),
    ];
    for (n, operation) in wrong.into_iter().enumerate() {
        let made = Program::trace(&[spec(DType::F32, [3])], |p| vec![with_place(PLACE, || operation(p[0]))]);
        assert_eq!(made.unwrap_err().place(), Some(PLACE), "operation {n}");
    }
    let right = Program::trace(&[spec(DType::F32, [3])], |p| {
        vec![with_place(PLACE, || (p[0] * 2 + strong(1.0f64)).cast(DType::I8).reshape([3, 1]).sum(0))]
    });
    let text = right.unwrap().explain(Stage::Graph).unwrap();
    let nodes: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with('%')).collect();
    assert!(nodes.len() > 4 && nodes.iter().all(|line| line.ends_with("; <formula>:1:5")), "{text}");
}

#[test]
fn rows_of_tables_are_called_as_they_are() {
    let failed = |made: fn(Expr) -> Expr| error(Program::trace(&[spec(DType::F32, [3])], |p| vec![made(p[0])]));
    insta::assert_snapshot!(failed(|x| dynamic::apply(Op::Add, &[x.operand()])), @r"
    error[arity]: add: takes 2 operands, 1 given
      help: its operands are x, y
    ");
    let asked = Asked { dtype: Some(DType::F64), ..Asked::default() };
    let initial =
        |x: Expr| dynamic::sort(Sort::Sort, x.operand(), 0, Asked { include_initial: true, ..Asked::default() });
    assert!(failed(initial).contains("has no initial value"));
    let correction = |x: Expr| {
        dynamic::reduce(Reduction::Sum, x.operand(), .., Asked { correction: Some(weak(1)), ..Asked::default() })
    };
    assert!(failed(correction).contains("takes no correction"));
    let program = Program::trace(&[spec(DType::F32, [3])], |p| {
        vec![
            dynamic::reduce(Reduction::Sum, p[0].operand(), .., asked),
            dynamic::scan(Scan::CumulativeSum, p[0].operand(), 0, Asked { include_initial: true, ..asked }),
        ]
    });
    let results = program.unwrap().call([&Array::from([1.0f32, 2.0, 3.0])]).unwrap();
    assert_eq!(results[0].item::<f64>().unwrap(), 6.0);
    assert_eq!(results[1].to_vec::<f64>().unwrap(), [0.0, 1.0, 3.0, 6.0]);
}
