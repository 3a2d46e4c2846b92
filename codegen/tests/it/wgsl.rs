//! The WGSL of programs, checked by naga's validator for devices with many and few features. No device is needed.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use ndjit_codegen::pipeline::lower_for;
use ndjit_codegen::wgsl::{self, DispatchKind, Features, Pieces, WgslModule};
use ndjit_codegen::{LoweredKernel, Options, Scheduled, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::loops::{LoopNest, NestKind, Role};
use ndjit_ir::{ErrorCode, Policy, Result, ValueType};
use ndjit_random::{Limits, program};
use ndjit_transform::access::contiguous;

/// Devices to validate for.
const DEVICES: [Features; 3] =
    [Features::ALL, Features { float64: false, fma: false, ..Features::ALL }, Features::LEAST];

/// The possible steps of a nest.
fn steps(nest: &ndjit_ir::loops::LoopNest) -> Vec<DispatchKind> {
    let [yes, no] = [true, false];
    match nest.kind {
        NestKind::Map | NestKind::Scatter(_) => {
            vec![DispatchKind::Elements { packed: yes }, DispatchKind::Elements { packed: no }]
        }
        // Sorts run on the processor.
        NestKind::Sort(_) => Vec::new(),
        NestKind::Scan(_) => vec![
            DispatchKind::Local { last: yes },
            DispatchKind::Local { last: no },
            DispatchKind::Carries,
            DispatchKind::Carried,
        ],
        NestKind::Reduce(_) | NestKind::Contract(_) => {
            vec![
                DispatchKind::Lanes { last: yes },
                DispatchKind::Lanes { last: no },
                DispatchKind::Tree { last: yes },
                DispatchKind::Tree { last: no },
            ]
        }
    }
}

/// The module of a nest's step.
fn emit(nest: &LoopNest, step: DispatchKind, features: &Features, pieces: &Pieces) -> Result<WgslModule> {
    wgsl::emit((nest, &lower_for(nest, &features.target())?), step, features, pieces)
}

/// The modules of a program's kernels.
fn modules(graph: &Graph<ValueType>, features: &Features) -> Result<Vec<String>> {
    let stored = |p| contiguous(graph.shape(p), graph.storage_dtype(p, Policy::default()));
    let layouts = graph.params().iter().map(|&p| stored(p)).collect::<Result<Vec<_>>>()?;
    let lowered = lower(graph, &SourceLocs::default(), &layouts, &Options::default())?;
    let mut modules = Vec::new();
    for LoweredKernel { scheduled: Scheduled { nest, .. }, .. } in lowered.kernels() {
        let on_processor = matches!(nest.kind, NestKind::Scatter(_));
        for step in steps(nest) {
            if on_processor {
                let error = emit(nest, step, features, &Pieces::default()).unwrap_err();
                assert!(error.to_string().contains("on the processor"), "{error}");
                continue;
            }
            modules.push(emit(nest, step, features, &Pieces::default())?.text);
            // And each input in three pieces.
            if nest.inputs.iter().any(|access| access.role == Role::Rows) {
                let pieces = Pieces { bytes: 1 << 20, counts: vec![3; nest.inputs.len()] };
                modules.push(emit(nest, step, features, &pieces)?.text);
            }
        }
    }
    Ok(modules)
}

fn parsed(text: &str) -> Graph<ValueType> {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

fn validate(module: &str, features: &Features) {
    let parsed =
        naga::front::wgsl::parse_str(module).unwrap_or_else(|e| panic!("{}\n{module}", e.emit_to_string(module)));
    let mut capabilities = Capabilities::empty();
    capabilities.set(Capabilities::SHADER_INT64, features.int64);
    capabilities.set(Capabilities::FLOAT64, features.float64);
    Validator::new(ValidationFlags::all(), capabilities)
        .validate(&parsed)
        .unwrap_or_else(|e| panic!("{}\n{module}", e.emit_to_string(module)));
}

/// Validates a program's modules for each device; returns their number. Devices without `f64` refuse programs that compute in it.
fn validate_all(graph: &Graph<ValueType>) -> usize {
    let mut count = 0;
    for features in DEVICES {
        match modules(graph, &features) {
            Ok(modules) => {
                modules.iter().for_each(|module| validate(module, &features));
                count += modules.len();
            }
            Err(error) if !features.float64 => {
                assert!(error.to_string().contains("the device has no f64"), "{error}\n{graph}");
            }
            Err(error) => panic!("{error}\n{graph}"),
        }
    }
    count
}

#[test]
fn every_program_of_the_corpus_validates() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs");
    let files: Vec<_> = std::fs::read_dir(folder).expect("the corpus").flatten().collect();
    let text = |file: &std::fs::DirEntry| std::fs::read_to_string(file.path()).expect("a program");
    let count: usize = files.iter().map(|file| validate_all(&parsed(&text(file)))).sum();
    println!("{count} modules of {} programs", files.len());
    assert!(files.len() >= 15 && count > 200, "{count} modules of {} programs", files.len());
}

#[test]
fn random_programs_validate() {
    let limits = Limits { nodes: 12, elements: 70, ..Limits::default() };
    let count: usize = (0..60).map(|seed| validate_all(&program(seed, &limits).expect("a program").graph)).sum();
    assert!(count > 500, "{count} modules");
}

#[test]
fn integer_division_and_shifts_are_total() {
    let program = parsed(
        "graph (%0: u32[9], %1: u32[9]) {
  %2 = floor_divide %0, %1 : u32[9]
  %3 = remainder %0, %1 : u32[9]
  %4 = bitwise_left_shift %2, %3 : u32[9]
  %5 = bitwise_right_shift %4, %1 : u32[9]
  %6 = bitwise_xor %5, %0 : u32[9]
  return %6
}",
    );
    let module = modules(&program, &Features::ALL).unwrap().remove(1);
    for name in ["nd_udiv", "nd_urem", "nd_shl", "nd_ushr"] {
        assert_eq!(module.matches(&format!("= {name}(")).count(), 1, "{name}\n{module}");
    }
}

#[test]
fn the_module_of_an_expression() {
    let program = parsed(
        "graph (%0: f32[8], %1: f32[8]) {
  %2 = literal #0 2 : i*[]
  %3 = multiply %1, %2 : f32[8]
  %4 = add %0, %3 : f32[8]
  return %4
}",
    );
    insta::assert_snapshot!(modules(&program, &Features::ALL).unwrap().remove(1), @r"
    @group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
    @group(0) @binding(1) var<storage, read> in0: array<f32>;
    @group(0) @binding(2) var<storage, read> in1: array<f32>;
    @group(0) @binding(3) var<storage, read_write> out0: array<f32>;

    struct Words { w0: f32 }

    fn element(i0: u32) -> Words {
        // t0 = load in0 : f32
        let at0 = params[2].x + i0;
        let x0 = in0[at0];
        // t3 = load in1 : f32
        let at1 = params[2].z + i0;
        let x1 = in1[at1];
        // t1 = literal l0 : f32
        let x2 = bitcast<f32>(params[3].z);
        // t2 = multiply t0, t1 : f32
        let v1 = x0 * x2;
        // t4 = add t3, t2 : f32
        let v2 = x1 + v1;
        return Words(v2);
    }

    @compute @workgroup_size(256)
    fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
        let workgroup = group.y * groups.x + group.x;
        let id = workgroup * 256u + local;
        if (id >= params[0].y) { return; }
        let i0 = id;
        let result = element(i0);
        let to_0 = params[3].x + i0;
        out0[to_0] = result.w0;
    }
    ");
}

#[test]
fn a_device_that_does_not_compile_as_written_has_its_results_hidden() {
    let program = parsed("graph (%0: f32[8]) {\n  %1 = add %0, %0 : f32[8]\n  return %1\n}");
    let features = Features { as_written: false, ..Features::ALL };
    let module = modules(&program, &features).unwrap().remove(1);
    assert!(module.contains("nd_hide(x0 + x0)") && module.contains("fn nd_hide("), "{module}");
}

#[test]
fn every_function_of_the_library_validates() {
    let functions = |text: &'static str| text.lines().filter_map(|line| line.strip_prefix("fn ")?.split('(').next());
    let mut count = 0;
    for (file, text) in wgsl::FILES {
        let double = file.contains("double") && *file != "double_bits.wgsl";
        for int64 in [true, false] {
            let other = if int64 { "wide_words.wgsl" } else { "wide_native.wgsl" };
            for name in functions(text).filter(|_| *file != other && (int64 || !double)) {
                let module = wgsl::library_text(&format!("{name}("), int64);
                let params = "@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 2>;\n\n";
                assert!(module.contains(&format!("fn {name}(")), "{name}");
                validate(&format!("{params}{module}"), &Features { int64, float64: double, ..Features::ALL });
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
    // The two files that define 64-bit integers have the same functions, except for one that only one of them needs.
    let of = |file: &str| {
        let (_, text) = wgsl::FILES.iter().find(|(name, _)| *name == file).expect("a file");
        functions(text).filter(|name| *name != "nd64_divide").collect::<Vec<&str>>()
    };
    assert_eq!(of("wide_native.wgsl"), of("wide_words.wgsl"));
}

#[test]
fn what_a_device_lacks_is_an_error_that_names_it() {
    let program = parsed("graph (%0: f64[3]) {\n  %1 = add %0, %0 : f64[3]\n  return %1\n}");
    let error = modules(&program, &Features { float64: false, ..Features::ALL }).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Backend);
    assert!(error.to_string().contains("the device has no f64"), "{error}");
}

#[test]
fn what_moves_casts_and_compares_doubles_needs_none() {
    let program = parsed(
        "graph (%0: f64[9], %1: c128[9], %2: f32[9], %3: i64[9]) {
  %4 = cast %0 : f32[9]
  %5 = cast %2 : f64[9]
  %6 = view %1 (d0) -> (-d0 + 8) : c128[9]
  %7 = cast %1 : c64[9]
  %8 = less %0, %5 : bool[9]
  %9 = where %8, %0, %5 : f64[9]
  %10 = cast %3 : bf16[9]
  %11 = cast %0 : u8[9]
  return %4, %5, %6, %7, %8, %9, %10, %11
}",
    );
    for features in DEVICES {
        let modules = modules(&program, &features).unwrap();
        modules.iter().for_each(|module| validate(module, &features));
        assert_eq!(modules.concat().contains("fn nd64_fdemote("), !features.float64, "{features:?}");
    }
}

#[test]
fn a_step_that_is_not_one_of_the_nests_is_refused() {
    let program = parsed("graph (%0: f32[3]) {\n  %1 = add %0, %0 : f32[3]\n  return %1\n}");
    let layouts = [contiguous(program.shape(program.params()[0]), ndjit_ir::DType::F32).unwrap()];
    let lowered = lower(&program, &SourceLocs::default(), &layouts, &Options::default()).unwrap();
    let nest = &lowered.kernels().next().unwrap().scheduled.nest;
    let error = emit(nest, DispatchKind::Carries, &Features::ALL, &Pieces::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Verify);
}
