//! The WGSL of small programs, checked by naga's validator.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use ndjit_codegen::passes::{expand::expand, schedule::contiguous};
use ndjit_codegen::{Options, lower, wgsl};
use ndjit_ir::graph::{Graph, Places};
use ndjit_ir::{ErrorCode, Result, ValueType};

/// The modules of a program's kernels.
fn modules(text: &str) -> Result<Vec<String>> {
    let graph: Graph<ValueType> = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let params = graph.params().iter().map(|&p| match graph.ty(p) {
        ValueType::Strong(dtype) => contiguous(graph.shape(p), dtype),
        ValueType::Weak(_) => panic!("weak parameter"),
    });
    let layouts = params.collect::<Result<Vec<_>>>()?;
    let lowered = lower(&graph, &Places::default(), &layouts, &Options::default())?;
    lowered.scheduled.iter().map(|s| Ok(wgsl::emit(&expand(&s.nest)?)?.text)).collect()
}

fn validate(module: &str) {
    let parsed =
        naga::front::wgsl::parse_str(module).unwrap_or_else(|e| panic!("{}\n{module}", e.emit_to_string(module)));
    Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&parsed)
        .unwrap_or_else(|e| panic!("{}\n{module}", e.emit_to_string(module)));
}

#[test]
fn ten_ops_on_floats_and_integers_validate() {
    for dtype in ["f32", "i32"] {
        let program = format!(
            "graph (%0: {dtype}[5, 1], %1: {dtype}[1, 7]) {{
  %2 = add %0, %1 : {dtype}[5, 7]
  %3 = subtract %2, %1 : {dtype}[5, 7]
  %4 = multiply %3, %0 : {dtype}[5, 7]
  %5 = negative %4 : {dtype}[5, 7]
  %6 = abs %5 : {dtype}[5, 7]
  %7 = square %6 : {dtype}[5, 7]
  %8 = minimum %7, %0 : {dtype}[5, 7]
  %9 = maximum %8, %1 : {dtype}[5, 7]
  %10 = less %9, %0 : bool[5, 7]
  %11 = where %10, %9, %1 : {dtype}[5, 7]
  %12 = literal #0 2 : i*[]
  %13 = add %11, %12 : {dtype}[5, 7]
  return %13, %8
}}"
        );
        let modules = modules(&program).unwrap();
        assert_eq!(modules.len(), 1);
        modules.iter().for_each(|m| validate(m));
    }
}

#[test]
fn integer_division_and_shifts_are_total() {
    let program = "graph (%0: u32[9], %1: u32[9]) {
  %2 = floor_divide %0, %1 : u32[9]
  %3 = remainder %0, %1 : u32[9]
  %4 = bitwise_left_shift %2, %3 : u32[9]
  %5 = bitwise_right_shift %4, %1 : u32[9]
  %6 = bitwise_xor %5, %0 : u32[9]
  return %6
}";
    for module in modules(program).unwrap() {
        validate(&module);
        assert!(module.contains("nd_udiv(") && !module.contains("r0 / r1"), "{module}");
    }
}

#[test]
fn the_module_of_an_expression() {
    let program = "graph (%0: f32[8], %1: f32[8]) {
  %2 = literal #0 2 : i*[]
  %3 = multiply %1, %2 : f32[8]
  %4 = add %0, %3 : f32[8]
  return %4
}";
    let module = modules(program).unwrap().remove(0);
    validate(&module);
    insta::assert_snapshot!(module, @"");
}

#[test]
fn hand_written_shaders_validate_alone() {
    for file in [
        include_str!("../../shaders/prelude.wgsl"),
        include_str!("../../shaders/float.wgsl"),
        include_str!("../../shaders/integer.wgsl"),
    ] {
        validate(file);
    }
}

#[test]
fn gaps_are_errors_that_name_them() {
    let error = modules("graph (%0: f64[3]) {\n  %1 = add %0, %0 : f64[3]\n  return %1\n}").unwrap_err();
    assert_eq!(error.code(), ErrorCode::Backend);
    assert_eq!(error.headline(), "wgsl: arrays of f64 cannot be emitted yet");
}
