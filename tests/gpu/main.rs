//! Programs on the GPU: the same bits as the interpreter's. Without a device the tests print that they were skipped.
#![cfg(feature = "gpu")]

use ndjit_tests::programs as corpus;
mod doubles;
mod failures;
mod memory;
mod primitives;

use ndjit_codegen::LoweredKernel;
use ndjit_codegen::Options;
use ndjit_codegen::pipeline::lower_for;
use ndjit_codegen::wgsl::{self, DispatchKind, Features, Pieces};
use ndjit_engines::{Difference, ProgramInputs, compare, lowered};
use ndjit_ir::{ErrorCode, Result};
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_random::{Limits, Program, program, shrink};
use ndjit_runtime::gpu::{self, Gpu, GpuOptions};
use ndjit_runtime::{Argument, DeviceProgram as _, Fallback, Output, RunOptions};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The device as it is, and with features disabled.
fn devices() -> &'static [(&'static str, Arc<Gpu>)] {
    static DEVICES: OnceLock<Vec<(&str, Arc<Gpu>)>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let open = |at_most| Gpu::open(GpuOptions { at_most, ..GpuOptions::default() });
        match open(Features::ALL) {
            Ok(gpu) => {
                println!("on {}: {:?}", gpu.info(), gpu.features());
                // Without subnormals kernels emulate each addition with integers, which takes lavapipe minutes to compile.
                let least = open(Features { subnormals: true, ..Features::LEAST }).unwrap_or_else(|e| panic!("{e}"));
                // As cards do that flush subnormal numbers: their results take a longer way.
                let flushing = open(Features { subnormals: false, ..Features::ALL }).unwrap_or_else(|e| panic!("{e}"));
                vec![("gpu", gpu), ("gpu without its features", least), ("gpu without subnormal numbers", flushing)]
            }
            Err(error) if error.code() == ErrorCode::Device => {
                println!("SKIPPED, no device: {error}");
                Vec::new()
            }
            Err(error) => panic!("{error}"),
        }
    })
}

/// The pipeline options for a device with at most so many arrays per kernel.
fn on_device(most: usize) -> Options {
    Options { device_arrays: Some(most), ..Options::default() }
}

fn run(gpu: &Arc<Gpu>, program: &Program, fuse: bool, strided: bool) -> Result<Vec<Tensor>> {
    let given = ProgramInputs::new(program, strided)?;
    let lowered = lowered(&program.graph, &given.layouts, Options { fuse, ..on_device(gpu.max_arrays()) })?;
    let executable = gpu::GpuProgram::new(gpu, &lowered, Fallback::Error, &RunOptions::default())?;
    let arguments: Vec<Argument<'_>> = given.memory.iter().map(|tensor| Argument::Borrowed(&tensor.bytes)).collect();
    let graph = &lowered.simplified;
    let mut outputs: Vec<Output<'_>> = graph.outputs().iter().map(|_| Output::Device(None)).collect();
    executable.run(&mut arguments.into_iter(), &program.scalars, &mut outputs, None)?;
    let results = graph.outputs().iter().zip(outputs);
    results
        .map(|(&value, output)| {
            let Output::Device(Some(memory)) = output else { panic!("a fresh output stays empty") };
            let mut tensor = Tensor::zeros(graph.ty(value), graph.shape(value).clone())?;
            memory.download(&mut tensor.bytes)?;
            Ok(tensor)
        })
        .collect()
}

/// Programs not run on a device, since its driver would compile them for minutes.
static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Whether a program's kernels take Mesa's driver many seconds to compile: each emulated multiply-add of `f64` is hundreds of
/// instructions. The example `parity` compares these functions.
fn long(gpu: &Gpu, program: &Program, fuse: bool) -> Result<bool> {
    let given = ProgramInputs::new(program, false)?;
    let lowered = lowered(&program.graph, &given.layouts, Options { fuse, ..on_device(gpu.max_arrays()) })?;
    let emulated = |LoweredKernel { scheduled, .. }: &LoweredKernel| {
        let step = DispatchKind::first(&scheduled.nest);
        // A nest that cannot be emitted is an error at run time.
        let kernel = lower_for(&scheduled.nest, &gpu.features().target());
        let module =
            kernel.and_then(|kernel| wgsl::emit((&scheduled.nest, &kernel), step, &gpu.features(), &Pieces::default()));
        module.is_ok_and(|module| {
            // Of `nd_fma_by_f64`, 25 took minutes.
            let most = [("= nd_fma64(", 6), ("= nd_fma_by_f64(", 12), ("= nd_fma(", 40)];
            let emulated = most.into_iter().any(|(call, most)| module.text.matches(call).count() > most);
            // A module of 15,000 characters took minutes, one of 8,000 a second.
            module.text.len() > 12_000 || !gpu.features().fma && emulated
        })
    };
    Ok(lowered.kernels().any(emulated))
}

fn check(program: &Program) -> std::result::Result<(), Difference> {
    let failed = |engine: &str, e: ndjit_ir::Error| Difference { engine: engine.into(), what: e.to_string() };
    let dense = ProgramInputs::new(program, false).map_err(|e| failed("layouts", e))?;
    let plain = lowered(&program.graph, &dense.layouts, Options { simplify: false, ..Options::default() })
        .map_err(|e| failed("lower", e))?;
    let expected = eval_graph(&plain.typed, &program.params, &program.scalars).map_err(|e| failed("interpreter", e))?;
    for (name, gpu) in devices() {
        for (fuse, strided) in [(true, false), (true, true), (false, false)] {
            let engine = format!("{name}, fuse {fuse}, strided {strided}");
            if long(gpu, program, fuse).map_err(|e| failed(&engine, e))? {
                SKIPPED.fetch_add(1, Relaxed);
                continue;
            }
            match run(gpu, program, fuse, strided) {
                Ok(results) => compare(&engine, &expected, &results)?,
                Err(e) if !gpu.features().float64 && e.to_string().contains("has no f64") => {}
                Err(e) => return Err(failed(&engine, e)),
            }
        }
    }
    Ok(())
}

/// The processor stores a row at a run-time index; kernels of devices would store it at the first.
#[test]
fn programs_lowered_for_the_processor_are_refused() {
    let (_, text) = corpus::files().into_iter().find(|(name, _)| name.ends_with("given_index.graph")).unwrap();
    let program = corpus::program(&text, 1);
    let given = ProgramInputs::new(&program, false).unwrap();
    let lowered = lowered(&program.graph, &given.layouts, Options::default()).unwrap();
    for (_, gpu) in devices() {
        let error = gpu::GpuProgram::new(gpu, &lowered, Fallback::Error, &RunOptions::default()).unwrap_err();
        assert!(error.to_string().contains("lowered for the processor"), "{error}");
    }
}

#[test]
fn every_program_of_the_corpus() {
    let mut failures = Vec::new();
    for (name, text) in corpus::files() {
        for seed in 1..=3 {
            if let Err(difference) = check(&corpus::program(&text, seed)) {
                failures.push(format!("{name}, seed {seed}: {}: {}", difference.engine, difference.what));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Rows of arrays bound in pieces: of floats, of bytes, of multi-word elements, of an array in reverse.
#[test]
fn rows_of_large_arrays() {
    if devices().is_empty() {
        return;
    }
    let gpu = Gpu::open(GpuOptions { max_binding: Some(1024), ..GpuOptions::default() }).unwrap();
    let text = "graph (%0: f32[61, 23], %1: i64[150, 1], %2: u8[61, 50], %3: c64[61, 5]) {
      %4 = gather %0, %1 : f32[150, 23]
      %5 = add %4, %4 : f32[150, 23]
      %6 = gather %2, %1 : u8[150, 50]
      %7 = view %3 (d0, d1) -> (-d0 + 60, d1) : c64[61, 5]
      %8 = gather %7, %1 : c64[150, 5]
      return %5, %6, %8
    }";
    let mut program = corpus::program(text, 1);
    let positions = (0..150i64).map(|n| n * 37 % 71 - 5);
    program.params[1].bytes = positions.flat_map(i64::to_le_bytes).collect();
    let plain = lowered(
        &program.graph,
        &ProgramInputs::new(&program, false).unwrap().layouts,
        Options { simplify: false, ..Options::default() },
    )
    .unwrap();
    let expected = eval_graph(&plain.typed, &program.params, &program.scalars).unwrap();
    for strided in [false, true] {
        let found = run(&gpu, &program, true, strided).unwrap_or_else(|e| panic!("{e}"));
        assert!(compare("gpu", &expected, &found).is_ok(), "strided: {strided}");
    }
}

#[test]
fn random_programs() {
    let mut report = String::new();
    for seed in 0..40 {
        let program = program(seed, &Limits { nodes: 12, elements: 70, ..Limits::default() }).unwrap();
        if check(&program).is_err() {
            let small = shrink(&program, |p: &Program| check(p).is_err());
            let difference = check(&small).expect_err("a shrunk program fails as well");
            report += &format!("seed {seed}: {}: {}\n{small}\n", difference.engine, difference.what);
            if report.lines().count() > 60 {
                break;
            }
        }
    }
    println!("not run, since they take the driver long: {}", SKIPPED.load(Relaxed));
    assert!(report.is_empty(), "{report}");
}
