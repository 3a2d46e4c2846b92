//! The WGSL of small programs, checked by naga's validator.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use ndjit_codegen::passes::{access::contiguous, expand::expand};
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
    insta::assert_snapshot!(module, @r##"
    // Every kernel begins with this: its run-time geometry. Extents and strides are arguments, so one module serves all sizes.
    // It holds: the number of elements, the rank, then `rank` extents, then for each operand its offset and `rank` strides.
    // Offsets and strides count elements, not bytes; strides are two's complement.
    @group(0) @binding(0) var<storage, read> geometry: array<u32>;

    // The position in an operand's buffer of element `flat` of the iteration space, outermost axis first.
    fn position(flat: u32, operand: u32) -> u32 {
        let rank = geometry[1];
        let base = 2u + rank + operand * (rank + 1u);
        var rest = flat;
        var at = geometry[base];
        for (var axis = rank; axis > 0u; axis = axis - 1u) {
            let extent = max(geometry[1u + axis], 1u);
            at = at + (rest % extent) * geometry[base + axis];
            rest = rest / extent;
        }
        return at;
    }

    @group(0) @binding(1) var<storage, read> literals: array<u32>;
    @group(0) @binding(2) var<storage, read> in0: array<f32>;
    @group(0) @binding(3) var<storage, read> in1: array<f32>;
    @group(0) @binding(4) var<storage, read_write> out0: array<f32>;

    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
        for (var flat = id.x; flat < geometry[0]; flat = flat + groups.x * 64u) {
            let r0 = in0[position(flat, 0u)];
            let r1 = in1[position(flat, 1u)];
            let r2 = bitcast<f32>(literals[0u]);
            let r3 = r0 * r2;
            let r4 = r1 + r3;
            out0[position(flat, 2u)] = r4;
        }
    }
    "##);
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
