//! Programs with refused memory, in separate processes: a killed process is reported with its program.
#![cfg(target_os = "linux")]

use ndjit_fuzz::refusals::{LARGE, PROGRAMS};
use ndjit_fuzz::soak;
use std::process::Command;

/// Elements and bytes of the arrays in processes with little memory.
const ELEMENTS: u64 = 1 << 22;
const ARRAY: u64 = 4 * ELEMENTS;

const DRIVER: &str = env!("CARGO_BIN_EXE_ndjit-fuzz");

#[test]
fn each_large_block_may_be_refused() {
    let mut failed = Vec::new();
    for (name, _) in PROGRAMS {
        let made = Command::new(DRIVER).args(["refusals", name]).output().expect("the driver starts");
        let (told, ended) = (String::from_utf8_lossy(&made.stdout), String::from_utf8_lossy(&made.stderr));
        let refused =
            told.trim().strip_prefix(&format!("{name}: ")).and_then(|told| told.split(' ').next()?.parse().ok());
        if !made.status.success() || refused.is_none_or(|refused: u64| refused < 4) {
            failed.push(format!("{name}: {}: {told}{}", made.status, ended.lines().next().unwrap_or_default()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn processes_of_little_memory_end_in_results_or_errors() {
    let run = |elements: u64, limit: Option<u64>| {
        let limit = limit.map_or(String::new(), |bytes| format!("ulimit -v {} && ", bytes >> 10));
        let command = format!("{limit}exec '{DRIVER}' limited --elements {elements}");
        Command::new("sh").args(["-c", &command]).output().expect("a shell starts")
    };
    let lines = |told: &[u8]| String::from_utf8_lossy(told).lines().map(str::to_owned).collect::<Vec<String>>();
    let whole = lines(&run(ELEMENTS, None).stdout);
    // Lists independent of array sizes fit in the memory of programs on few elements, the minimum limit.
    let least = lines(&run(4096, None).stdout).pop().and_then(|line| line.strip_prefix("peak: ")?.parse::<u64>().ok());
    let least = least.expect("the driver tells its peak");
    let mut errors = Vec::new();
    for arrays in 1..=8 {
        let made = run(ELEMENTS, Some(least + arrays * ARRAY + ARRAY / 2));
        let (told, ended) = (lines(&made.stdout), String::from_utf8_lossy(&made.stderr).into_owned());
        // Rust's small lists end the process, if arrays happen to leave no room for them.
        let small = |bytes: &str| bytes.parse().is_ok_and(|bytes: usize| bytes < LARGE);
        let aborted = ended.strip_prefix("memory allocation of ").and_then(|said| said.split(' ').next());
        match aborted {
            Some(bytes) => assert!(small(bytes), "{arrays}: {told:?}\n{ended}"),
            None => assert!(made.status.success() && told.len() > PROGRAMS.len(), "{arrays}: {}\n{ended}", made.status),
        }
        let differing = told.iter().zip(&whole).take(PROGRAMS.len()).filter(|(line, whole)| line != whole);
        let differing: Vec<&String> = differing.map(|(line, _)| line).collect();
        let of_memory = |line: &str| line.ends_with(": allocation") || line.ends_with(": size");
        assert!(differing.iter().all(|line| of_memory(line)), "{arrays}: {told:?}");
        if aborted.is_none() {
            errors.push(differing.len());
        }
    }
    assert!(errors.len() >= 4 && errors.iter().all(|&errors| errors > 0), "{errors:?}");
}

#[test]
fn threads_share_functions_and_functions_leave_nothing() {
    assert_eq!(soak::threads(64, 60).expect("runs"), 0);
    // More functions than the caches of kernels and programs can store.
    soak::functions(6000, 1, |_, _| {}).expect("runs");
    let growth = soak::functions(2000, 2, |_, _| {}).expect("runs");
    assert!(growth.end > 0 && growth.bytes() <= soak::MOST_GROWTH, "{growth:?}");
}
