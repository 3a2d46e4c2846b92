//! Arrays of `f64` and `c128` on devices without such floats: moves, casts and comparisons give the interpreter's bits, and the rest is
//! listed.

use super::corpus;
use ndjit_codegen::Options;
use ndjit_codegen::passes::legalize::does;
use ndjit_codegen::wgsl::Features;
use ndjit_engines::{ProgramInputs, compare, lowered};
use ndjit_ir::{DType, Op};
use ndjit_math::interp::eval_graph;
use ndjit_runtime::gpu::{self, Gpu, GpuOptions};
use ndjit_runtime::{Fallback, RunOptions};
use std::sync::Arc;

/// Devices without 64-bit floats: with 64-bit integers, and with neither.
fn without() -> Vec<Arc<Gpu>> {
    let open = |at_most| Gpu::open(GpuOptions { at_most, ..GpuOptions::default() }).unwrap_or_else(|e| panic!("{e}"));
    match super::devices().is_empty() {
        true => Vec::new(),
        false => vec![open(Features { float64: false, ..Features::ALL }), open(Features::LEAST)],
    }
}

fn check(gpu: &Arc<Gpu>, text: &str, seed: u64) {
    let program = corpus::program(text, seed);
    let typed = lowered(
        &program.graph,
        &ProgramInputs::new(&program, false).unwrap().layouts,
        Options { simplify: false, ..Options::default() },
    )
    .unwrap()
    .typed;
    let expected = eval_graph(&typed, &program.params, &[]).unwrap();
    for strided in [false, true] {
        let results = super::run(gpu, &program, true, strided).unwrap_or_else(|e| panic!("{e}\n{text}"));
        compare(&format!("{:?}", gpu.features()), &expected, &results).unwrap_or_else(|e| panic!("{}\n{text}", e.what));
    }
}

#[test]
fn casts_give_the_interpreters_bits() {
    for gpu in without() {
        for wide in [DType::F64, DType::C128] {
            // The second parameter is cast to another dtype and back.
            for other in DType::ALL.into_iter().filter(|&other| other != wide) {
                let text = format!(
                    "graph (%0: {wide}[3000], %1: {other}[3000]) {{
  %2 = cast %0 : {other}[3000]
  %3 = cast %1 : {wide}[3000]
  return %2, %3
}}"
                );
                check(&gpu, &text, other as u64);
            }
        }
    }
}

#[test]
fn elements_are_moved_as_they_are() {
    let text = |wide| {
        format!(
            "graph (%0: {wide}[40, 30], %1: {wide}[40, 5], %2: bool[40, 1], %3: {wide}[]) {{
  %4 = view %0 (d0, d1) -> (-d0 + 39, d1) : {wide}[40, 30]
  %5 = concat %4, %1 axis 1 : {wide}[40, 35]
  %6 = view %5 (d0, d1) -> (d1, -d0 + 34) : {wide}[35, 30]
  %7 = reshape %0 : {wide}[1200]
  %8 = where %2, %0, %3 : {wide}[40, 30]
  %9 = view %3 () -> () : {wide}[]
  return %6, %7, %8, %9, %0
}}"
        )
    };
    for gpu in without() {
        [DType::F64, DType::C128].into_iter().for_each(|wide| check(&gpu, &text(wide), 1));
    }
}

/// The dtype of an operand of an op in `wide`.
fn operand(op: Op, n: usize, wide: DType) -> DType {
    if op == Op::Ldexp && n == 1 { DType::I32 } else { op.operand_dtype(n, wide) }
}

#[test]
fn ops_are_done_or_known_to_compute() {
    for gpu in without() {
        let target = gpu.features().target();
        let (mut done, mut refused) = (Vec::new(), 0);
        for wide in [DType::F64, DType::C128] {
            for &op in Op::ALL.iter().filter(|op| op.row().domain.contains(wide)) {
                let params: Vec<String> =
                    (0..op.arity()).map(|n| format!("%{n}: {}[300]", operand(op, n, wide))).collect();
                let operands: Vec<String> = (0..op.arity()).map(|n| format!("%{n}")).collect();
                let (result, n) = (op.result_dtype(wide), op.arity());
                let (params, operands) = (params.join(", "), operands.join(", "));
                let text = format!("graph ({params}) {{\n  %{n} = {op} {operands} : {result}[300]\n  return %{n}\n}}");
                if does(op, wide, &target) {
                    check(&gpu, &text, 1);
                    done.push(format!("{op} {wide}"));
                    continue;
                }
                let program = corpus::program(&text, 1);
                let layouts = ProgramInputs::new(&program, false).unwrap().layouts;
                let lowered = lowered(&program.graph, &layouts, crate::on_device(usize::MAX)).unwrap();
                let error = gpu::GpuProgram::new(&gpu, &lowered, Fallback::Error, &RunOptions::default()).unwrap_err();
                assert!(error.to_string().contains("has no f64, and a kernel computes in it"), "{error}");
                refused += 1;
            }
        }
        println!("{}", done.join(", "));
        for known in ["negative f64", "less f64", "maximum f64", "isnan f64", "where c128", "conj c128", "equal c128"] {
            assert!(done.iter().any(|name| name == known), "{known}");
        }
        assert!(refused > 100 && done.len() > 30, "{refused} refused");
    }
}

#[test]
fn reductions_and_scans_of_comparisons_are_done() {
    for gpu in without() {
        let text = "graph (%0: f64[40, 3000]) {
  %1 = max %0 axes [1] : f64[40]
  %2 = min %0 axes [0] : f64[3000]
  %3 = argmax %0 axes [1] : i32[40]
  %4 = cummax %0 axis 1 : f64[40, 3000]
  return %1, %2, %3, %4
}";
        check(&gpu, text, 3);
    }
}
