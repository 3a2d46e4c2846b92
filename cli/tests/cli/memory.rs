//! `--memory` is a limit: measures the peak resident memory of commands in separate processes.

use ndjit_cli::Streams;
use ndjit_cli::memory::parse;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The environment variable with the arguments of a process, one per line.
const ARGUMENTS: &str = "NDJIT_TEST_MEMORY_ARGUMENTS";
/// The program's own memory, beside the limit: code, kernels, threads.
const PROGRAM: usize = 64_000_000;
const MB: usize = 1_000_000;

/// A process started by [`measured`]. Without the variable, this test does nothing.
#[test]
fn process() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let mut streams = Streams { out: &mut std::io::sink(), err: &mut std::io::stderr(), watched: false };
    let code = ndjit_cli::run(arguments.lines(), &mut streams);
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim().trim_end_matches(" kB");
    eprintln!("\nexit code {code} peak {peak}");
}

/// The exit code of a command, its peak resident memory, and its errors. Standard input repeats `text`.
fn measured(folder: &PathBuf, arguments: &[&str], text: &[u8]) -> (u8, usize, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::process", "--nocapture", "--test-threads", "1"])
        .env(ARGUMENTS, [&["ndjit"], arguments].concat().join("\n"))
        .current_dir(folder)
        .stdin(if text.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let block = text.repeat((1 << 16) / text.len().max(1) + 1);
    if let Some(mut stdin) = child.stdin.take() {
        // Until the reader ends.
        while stdin.write_all(&block).is_ok() {}
    }
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{arguments:?}: {said}");
    let (said, last) = said.rsplit_once("\nexit code ").unwrap();
    let (code, peak) = last.split_once(" peak ").unwrap();
    (code.trim().parse().unwrap(), peak.trim().parse::<usize>().unwrap() * 1024, said.to_owned())
}

/// Creates a sparse `.npy` file of zeros.
fn zeros(path: PathBuf, rows: usize, columns: usize) {
    let fields = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let mut file = File::create(path).unwrap();
    file.write_all(b"\x93NUMPY\x01\x00\x76\x00").unwrap();
    writeln!(file, "{fields:<117}").unwrap();
    file.set_len((128 + rows * columns * 8) as u64).unwrap();
}

/// Functions that each call the previous one twice.
fn calls(deep: usize) -> String {
    let mut text = "child @0 (%0: f32[4]) {\n  %1 = sin %0 : f32[4]\n  return %1\n}\n".to_owned();
    for n in 1..=deep {
        let (header, below) = (if n == deep { "graph".to_owned() } else { format!("child @{n}") }, n - 1);
        text += &format!("{header} (%0: f32[4]) calls @{below} {{\n  %1 = call @{below}(%0) : f32[4]\n");
        text += &format!("  %2 = call @{below}(%1) : f32[4]\n  return %2\n}}\n");
    }
    text
}

/// The outcome of a command, whatever the limit.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Ends {
    /// Success.
    Well,
    /// It needs more than the limit.
    Refused,
    /// Its input is invalid.
    Wrong,
}
use Ends::{Refused, Well, Wrong};

#[test]
#[cfg(target_os = "linux")]
fn no_command_takes_more_than_the_limit() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("memory");
    // Left over from the previous run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    symlink("/dev/stdin", folder.join("endless.csv")).unwrap();
    symlink("/dev/stdin", folder.join("endless.graph")).unwrap();
    symlink("/dev/zero", folder.join("zero.csv")).unwrap();
    symlink("/dev/zero", folder.join("zero.npy")).unwrap();
    fs::write(folder.join("quote.csv"), format!("a,b\n1,2\n3,\"4\n{}", "5,6\n".repeat(5_000_000))).unwrap();
    for limit in [MB, 16 * MB, 150 * MB] {
        // Elements of eight bytes.
        let (all, bytes) = (limit / 8, limit.to_string());
        let part = |percent: usize| (all * percent / 100).to_string();
        let (most, half, third, twice) = (part(90), part(55), part(30), part(200));
        zeros(folder.join("whole.npy"), all * 7 / 10 / 64, 64);
        zeros(folder.join("large.npy"), all * 5 / 64, 64);
        // Few rows, each a tenth of the limit.
        zeros(folder.join("wide.npy"), 30, all / 10);
        let rows: String = (0..all * 30 / 100 / 2).map(|n| format!("{n},{}.5\n", n % 7)).collect();
        fs::write(folder.join("table.csv"), format!("a,b\n{rows}")).unwrap();
        fs::write(folder.join("integers.csv"), (0..all * 30 / 100).map(|n| format!("{n}\n")).collect::<String>())
            .unwrap();
        let graph =
            |count: &str| format!("graph (%0: f64[{count}]) {{\n  %1 = sin %0 : f64[{count}]\n  return %1\n}}\n");
        fs::write(folder.join("fifth.graph"), graph(&part(20))).unwrap();
        fs::write(folder.join("most.graph"), graph(&most)).unwrap();
        // Programs of many operations: below and above the limit; and one that grows by calls.
        let chain = |kind: &str, operations: usize| {
            let lines =
                (1..operations).map(|n| format!("  %{n} = {} : f32[4]\n", kind.replace("%", &format!("%{}", n - 1))));
            format!("graph (%0: f32[4]) {{\n{}  return %{}\n}}\n", lines.collect::<String>(), operations - 1)
        };
        let operations = limit / 4096;
        for (name, kind) in [("sine", "sin %"), ("sorts", "sort % axis 0"), ("sums", "cumulative_sum % axis 0")] {
            fs::write(folder.join(format!("few_{name}.graph")), chain(kind, operations * 6 / 10)).unwrap();
            fs::write(folder.join(format!("many_{name}.graph")), chain(kind, operations * 3)).unwrap();
        }
        fs::write(folder.join("calls.graph"), calls(operations.ilog2() as usize)).unwrap();
        let cases: &[(Ends, &[u8], &[&str])] = &[
            // Sequences, one and several.
            (Refused, b"", &["eval", &format!("sum(logspace(0, 1, {twice}, dtype=f64))")]),
            (
                Refused,
                b"",
                &["eval", &format!("sum(logspace(0, 1, {half}, dtype=f64)) + sum(logspace(0, 2, {half}, dtype=f64))")],
            ),
            (
                Refused,
                b"",
                &["eval", &format!("sum(arange({half}, dtype=f64)) + sum(linspace(0, 2, {half}, dtype=f64))")],
            ),
            (
                Well,
                b"",
                &["eval", &format!("sum(linspace(0, 1, {third}, dtype=f64)) + sum(arange({third}, dtype=f64))")],
            ),
            // Results.
            (Well, b"", &["eval", &format!("ones([{third}], dtype=f64) * 2"), "-o", "out.csv"]),
            (Well, b"", &["eval", &format!("ones([{most}], dtype=f64) * 2"), "-o", "out.npy"]),
            (Refused, b"", &["eval", &format!("ones([{twice}], dtype=f64) * 2"), "-o", "out.npy"]),
            (Well, b"", &["eval", &format!("sort(sin(ones([{third}], dtype=f64)))[:3]")]),
            // Files, at once and in parts.
            (Well, b"", &["eval", "sum(x)", "x=whole.npy"]),
            (Refused, b"", &["eval", "sum(x)", "x=large.npy"]),
            (Well, b"", &["eval", "sum(x * 2 + 1, axis=1)", "x=large.npy", "-o", "out.npy"]),
            (Well, b"", &["eval", "x * 2 + 1", "x=large.npy", "-o", "out.csv.npy"]),
            (Well, b"", &["eval", "x[:3] + 1", "x=whole.npy"]),
            (Well, b"", &["eval", "x * 2 + 1", "x=wide.npy"]),
            (Well, b"", &["eval", "x * 2 + 1", "x=wide.npy", "-o", "out.npy"]),
            // Tables.
            (Well, b"", &["eval", "sum(x)", "x=table.csv"]),
            (Well, b"", &["eval", "x * 2", "x=table.csv:b", "-o", "out.csv"]),
            (Well, b"", &["eval", "sum(x)", "x=integers.csv"]),
            // Endless rows, a row, a field, names, an open quote, no text.
            (Refused, b"1,2.5,3\n", &["eval", "sum(x)", "x=endless.csv"]),
            (Refused, b"1,", &["eval", "sum(x)", "x=endless.csv"]),
            (Refused, b"name,", &["eval", "sum(x)", "x=endless.csv:name"]),
            (Refused, b"12;13\n", &["eval", "sum(x)", "x=endless.csv:0"]),
            (Wrong, b"1", &["eval", "sum(x)", "x=endless.csv"]),
            (Wrong, b"\"", &["eval", "sum(x)", "x=endless.csv"]),
            (Wrong, b"", &["eval", "sum(x)", "x=quote.csv:a"]),
            (Wrong, b"", &["eval", "sum(x)", "x=quote.csv:b"]),
            (Wrong, b"", &["eval", "sum(x)", "x=zero.csv"]),
            (Wrong, b"", &["eval", "sum(x)", "x=zero.npy"]),
            // Graphs.
            (Refused, b"; a comment\n", &["run", "endless.graph"]),
            (Wrong, b"\0", &["run", "endless.graph"]),
            (Well, b"", &["run", "fifth.graph", "--ones"]),
            (Refused, b"", &["run", "most.graph", "--random", "1"]),
            (Well, b"", &["run", "few_sine.graph", "--ones"]),
            (Well, b"", &["run", "few_sorts.graph", "--ones"]),
            (Well, b"", &["run", "few_sums.graph", "--ones"]),
            (Refused, b"", &["run", "many_sine.graph", "--ones"]),
            (Refused, b"", &["run", "many_sorts.graph", "--ones"]),
            (Refused, b"", &["run", "many_sums.graph", "--ones"]),
            (Refused, b"", &["run", "calls.graph", "--ones"]),
        ];
        for (ends, text, arguments) in cases {
            let limited = [*arguments, &["--memory", &bytes]].concat();
            let (code, peak, said) = measured(&folder, &limited, text);
            let ended = match code {
                0 => Well,
                _ if said.starts_with("error[allocation]: ") || said.contains("\nerror[allocation]: ") => Refused,
                _ => Wrong,
            };
            let case = format!("{limited:?} of `{}` took {peak} bytes, {said}", text.escape_ascii());
            assert_eq!(ended, *ends, "{case}");
            assert!(peak <= limit + PROGRAM, "{case}");
            println!("{limit:>11} {peak:>11} {ended:?} {}", arguments.join(" "));
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn amounts_are_numbers_with_units() {
    let read = [("1", 1), ("4096 b", 4096), ("1.5kB", 1500), (" 2 GiB ", 2 << 30), ("0.5MB", 500_000), ("007kb", 7000)];
    read.into_iter().for_each(|(text, bytes)| assert_eq!(parse(text), Ok(bytes), "{text}"));
    for text in [
        "",
        " ",
        "0",
        "0.4",
        "-1",
        "-1GB",
        "+1GB",
        "1e9",
        "inf",
        "nan",
        "1.5.2GB",
        ".",
        "GB",
        "1 G B",
        "1XB",
        "99999999999TB",
    ] {
        assert!(parse(text).is_err(), "{text}: {:?}", parse(text));
    }
    assert!(parse(&"9".repeat(10_000)).is_err(), "many digits");
}
