//! Code memory: never writable and executable at once, freed on eviction, and optional if the system refuses it. One
//! sequential test: maps, cache and counters belong to the process.

#![cfg(target_os = "linux")]

#[path = "common/programs.rs"]
mod programs;
#[path = "common/running.rs"]
mod running;

use ndjit_ir::DType;
use ndjit_math::interp::eval_graph;
use ndjit_runtime::cache::Bounds;
use ndjit_runtime::{Executable, RunOptions, code, kernels};
use programs::{axpy, lowered, tensor};
use running::{check, run};
use std::process::Command;
use std::sync::Arc;

/// Bytes of anonymous executable memory, and whether any mapping is writable and executable.
fn executable_memory() -> (usize, bool) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut bytes = 0;
    let mut both = false;
    for line in maps.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (start, end) = fields[0].split_once('-').unwrap();
        let size = usize::from_str_radix(end, 16).unwrap() - usize::from_str_radix(start, 16).unwrap();
        let code = fields[1].contains('x');
        both |= code && fields[1].contains('w');
        if code && fields.len() == 5 {
            bytes += size;
        }
    }
    (bytes, both)
}

/// The `n`th of many distinct programs: the bits of `n` choose its ops.
fn distinct(n: usize) -> String {
    let mut text = String::from("graph (%0: f32[8], %1: f32[8]) {\n");
    for bit in 0..12 {
        let op = if n >> bit & 1 == 1 { "add" } else { "subtract" };
        text += &format!("  %{} = {op} %{}, %{} : f32[8]\n", bit + 2, bit + 1, bit);
    }
    text + "  return %13\n}"
}

#[test]
fn code_is_shared_bounded_freed_and_never_writable() {
    let serial = RunOptions { threads: Some(1), ..RunOptions::default() };

    // 64 threads call one program a thousand times: one compile.
    let program = Arc::new(lowered(&axpy(DType::F32, &[9])));
    let params = [tensor(DType::F32, &[9], 1), tensor(DType::F32, &[9], 2)];
    let expected = eval_graph(&program.typed, &params, &[]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                let executable = Executable::new(&program, &serial).unwrap();
                for _ in 0..1000 {
                    assert!(run(&executable, &params, &[], 1)[0].as_bytes() == expected[0].bytes);
                }
            });
        }
    });
    let stats = kernels::stats();
    assert_eq!((stats.misses, stats.hits, stats.count), (1, 63, 1));
    assert!(stats.time.as_nanos() > 0);

    // Other sizes and literals share the kernel.
    for n in [1, 10, 1000] {
        let params = [tensor(DType::F32, &[n], 1), tensor(DType::F32, &[n], 2)];
        check(&lowered(&axpy(DType::F32, &[n])), &serial, &params, &[]);
    }
    check(&lowered(&axpy(DType::F32, &[9]).replace("literal #0 2", "literal #0 3")), &serial, &params, &[]);
    assert_eq!(kernels::stats().misses, 1);

    // Two thousand distinct kernels in a cache for 50.
    kernels::set_bounds(Bounds { count: 50, ..kernels::DEFAULT_BOUNDS });
    let held = Executable::new(&lowered(&distinct(0)), &serial).unwrap();
    let params = [tensor(DType::F32, &[8], 1), tensor(DType::F32, &[8], 2)];
    let before = run(&held, &params, &[], 1)[0].as_bytes().to_vec();
    for n in 1..2000 {
        let executable = Executable::new(&lowered(&distinct(n)), &serial).unwrap();
        if n % 100 == 0 {
            run(&executable, &params, &[], 1);
            let (bytes, both) = executable_memory();
            assert!(!both, "a mapping is writable and executable");
            assert!(bytes > 0 && bytes <= 60 * 8192, "{bytes} bytes of code for at most 52 kernels");
        }
    }
    let stats = kernels::stats();
    assert_eq!((stats.misses, stats.count, stats.evictions), (2001, 50, 1951));
    // A program keeps its evicted kernel alive.
    assert_eq!(run(&held, &params, &[], 1)[0].as_bytes(), before);
    drop(held);
    kernels::set_bounds(Bounds { count: 0, weight: 0 });
    assert_eq!(executable_memory(), (0, false));
    assert_eq!(code::notice(), None);
}

#[test]
fn without_executable_memory_the_interpreter_runs() {
    const CHILD: &str = "NDJIT_TEST_NO_EXEC";
    if std::env::var_os(CHILD).is_some() {
        // SAFETY: a plain call: from here on no memory of this process can become executable.
        let refused = unsafe { libc::prctl(libc::PR_SET_MDWE, libc::PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) };
        if refused != 0 {
            println!("not refused");
            return;
        }
        let params = [tensor(DType::F16, &[67], 1), tensor(DType::F16, &[67], 2)];
        let executable = check(&lowered(&axpy(DType::F16, &[67])), &RunOptions::default(), &params, &[]);
        assert!(executable.kernels().all(|kernel| !kernel.is_compiled()));
        assert!(code::notice().unwrap().contains("refused"));
        println!("interpreted");
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["without_executable_memory_the_interpreter_runs", "--exact", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    // Linux before 6.3 cannot refuse; the test has no effect there.
    assert!(output.status.success() && (text.contains("interpreted") || text.contains("not refused")), "{output:?}");
}
