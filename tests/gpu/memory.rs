//! Device memory: budgets hold, buffers are reused and freed, threads read concurrently, and oversized requests are errors.

use ndjit_codegen::Options;
use ndjit_engines::{ProgramInputs, lowered};
use ndjit_ir::ErrorCode;
use ndjit_random::Program;
use ndjit_runtime::gpu::{self, Fault, Faults, Gpu, GpuKind, GpuMemory, GpuOptions};
use ndjit_runtime::{Argument, DeviceMemory, DeviceProgram as _, Fallback, Output, RunOptions};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Barrier};

const MIB: usize = 1 << 20;

/// A device with a budget, if there is one.
fn open(budget: usize) -> Option<Arc<Gpu>> {
    super::devices().first()?;
    let gpu = Gpu::open(GpuOptions { budget: Some(budget as u64), ..GpuOptions::default() });
    let gpu = gpu.unwrap_or_else(|e| panic!("{e}"));
    gpu.trim();
    Some(gpu)
}

#[test]
fn budgets_hold_and_memory_comes_back() {
    let Some(gpu) = open(8 * MIB) else { return };
    assert_eq!(gpu.memory_taken(), 0);
    let mut held = Vec::new();
    let error = loop {
        match GpuMemory::new(&gpu, MIB) {
            Ok(memory) => held.push(memory),
            Err(error) => break error,
        }
        assert!(gpu.memory_taken() <= 8 * MIB as u64);
    };
    assert_eq!(held.len(), 8);
    assert_eq!(error.code(), ErrorCode::Allocation);
    assert!(error.to_string().contains("a budget of 8388608 are in use"), "{error}");

    // At most half of the budget is kept.
    held.clear();
    assert_eq!(gpu.memory_taken(), 4 * MIB as u64);
    let again: Vec<GpuMemory> = (0..4).map(|_| GpuMemory::new(&gpu, MIB - 5).unwrap()).collect();
    assert_eq!(gpu.memory_taken(), 4 * MIB as u64, "kept buffers are used again");
    drop(again);
    // Kept memory is freed.
    let large = GpuMemory::new(&gpu, 6 * MIB).unwrap();
    assert_eq!(gpu.memory_taken(), 6 * MIB as u64);
    drop(large);
    assert_eq!(gpu.memory_taken(), 0, "more than half of the budget is not kept");
    drop(GpuMemory::new(&gpu, 3 * MIB).unwrap());
    assert_eq!(gpu.memory_taken(), 3 * MIB as u64);
    gpu.trim();
    assert_eq!(gpu.memory_taken(), 0);
}

#[test]
fn budgets_hold_among_threads() {
    let Some(gpu) = open(16 * MIB) else { return };
    let [done, refused, wrong] = [const { AtomicBool::new(false) }; 3];
    let together = Barrier::new(4);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            while !done.load(SeqCst) {
                most = most.max(gpu.memory_taken());
                std::thread::yield_now();
            }
            most
        });
        let takers: Vec<_> = (0..4)
            .map(|thread| {
                let (gpu, refused, wrong, together) = (&gpu, &refused, &wrong, &together);
                scope.spawn(move || {
                    for n in 0..60 {
                        let held: Vec<_> =
                            (0..3).map(|k| GpuMemory::new(gpu, (1 + (thread + n + k) % 5) * MIB)).collect();
                        for error in held.iter().flat_map(|memory| memory.as_ref().err()) {
                            // A panic would block the other threads.
                            wrong.fetch_or(error.code() != ErrorCode::Allocation, SeqCst);
                            refused.store(true, SeqCst);
                        }
                        together.wait();
                    }
                })
            })
            .collect();
        takers.into_iter().for_each(|taker| taker.join().unwrap());
        done.store(true, SeqCst);
        let most = watch.join().unwrap();
        assert!(most <= 16 * MIB as u64, "{most} bytes were taken");
    });
    assert!(!wrong.load(SeqCst), "refused for another reason than memory");
    assert!(refused.load(SeqCst), "nobody wanted more than there was");
    gpu.trim();
    assert_eq!(gpu.memory_taken(), 0);
}

#[test]
fn threads_read_at_once() {
    // Room for a piece of each thread.
    let Some(gpu) = open(1024 * MIB) else { return };
    // The last is read in several pieces.
    let sizes = [1, 5, 255, 4096, 70_001, MIB + 3, 33 * MIB + 1];
    let element = |n: usize, i: usize| (i * 31 + i / 251 + n * 7) as u8;
    let arrays: Vec<(Vec<u8>, GpuMemory)> = sizes
        .iter()
        .enumerate()
        .map(|(n, &size)| {
            let bytes: Vec<u8> = (0..size).map(|i| element(n, i)).collect();
            let memory = GpuMemory::upload(&gpu, &bytes).unwrap();
            (bytes, memory)
        })
        .collect();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let arrays = &arrays;
            scope.spawn(move || {
                for n in 0..120 {
                    // The large one occasionally.
                    let which = if n == 50 { arrays.len() - 1 } else { (thread + n) % (arrays.len() - 1) };
                    let (bytes, memory) = &arrays[which];
                    let mut read = vec![0xee; bytes.len()];
                    memory.download(&mut read).unwrap_or_else(|e| panic!("{e}"));
                    assert!(read == *bytes, "array {which}, thread {thread}");
                }
            });
        }
    });
}

#[test]
fn devices_go_while_they_are_read() {
    if super::devices().is_empty() {
        return;
    }
    let bytes: Vec<u8> = (0..8 * MIB).map(|i| (i * 31 + i / 251) as u8).collect();
    let mut gone = 0;
    for event in 1..=24 {
        let faults = Arc::new(Faults::new());
        let gpu = Gpu::open_with_faults(GpuOptions::default(), &faults).unwrap_or_else(|e| panic!("{e}"));
        let memory = GpuMemory::upload(&gpu, &bytes).unwrap();
        let fault = if event % 2 == 0 { Fault::Destroy } else { Fault::DestroyLate };
        faults.arm(fault, event * 2..event * 2 + 1);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut read = vec![0; bytes.len()];
                    while let Ok(()) = memory.download(&mut read) {
                        assert!(read == bytes, "wrong bytes were read");
                    }
                });
            }
        });
        gone += faults.fired();
        assert_eq!(memory.download(&mut vec![0; bytes.len()]).unwrap_err().code(), ErrorCode::Device);
    }
    assert_eq!(gone, 24);
}

#[test]
fn what_is_too_large_is_an_error() {
    let Some((_, gpu)) = super::devices().first() else { return };
    for bytes in [2 << 30, 1 << 50, usize::MAX] {
        match GpuMemory::new(gpu, bytes) {
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::Allocation, "{error}");
                let named = error.to_string().contains("the largest array has ") || bytes == usize::MAX;
                assert!(named, "{error}");
            }
            // Cards have more.
            Ok(memory) => assert!(bytes == 2 << 30 && gpu.info().kind != GpuKind::Software, "{memory:?}"),
        }
    }
    let text = "graph (%0: f32[1]) {
       %1 = view %0 (d0) -> (0) : f32[800000000]
       %2 = negative %1 : f32[800000000]
       return %2
     }";
    let Program { params, graph, scalars } = super::corpus::program(text, 1);
    let given = ProgramInputs::new(&Program { params, graph: graph.clone(), scalars }, false).unwrap();
    let program = gpu::GpuProgram::new(
        gpu,
        &lowered(&graph, &given.layouts, Options::default()).unwrap(),
        Fallback::Error,
        &RunOptions::default(),
    )
    .unwrap();
    match program.run(
        &mut [Argument::Borrowed(&given.memory[0].bytes)].into_iter(),
        &[],
        &mut [Output::Device(None)],
        None,
    ) {
        Err(error) => assert_eq!(error.code(), ErrorCode::Allocation, "{error}"),
        Ok(()) => assert_ne!(gpu.info().kind, GpuKind::Software),
    }
    // Later requests work.
    let memory = GpuMemory::upload(gpu, &[1, 2, 3]).unwrap();
    let mut read = [0; 3];
    memory.download(&mut read).unwrap();
    assert_eq!(read, [1, 2, 3]);
}
