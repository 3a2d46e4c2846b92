//! `ndjit doctor`: describes this machine, and tests that a kernel compiles and runs.

use crate::memory;
use crate::outcome::{CommandFailure, Streams};
use ndjit::{Array, DType, Host, host, spec, stats};
use ndjit_expressions::{Budget, amount, counted, parse, trace};
use std::time::Instant;

/// Prints the findings and returns the exit code: 1 for a failure.
pub fn run(streams: &mut Streams<'_>) -> Result<u8, CommandFailure> {
    writeln!(streams.out, "ndjit {}", env!("CARGO_PKG_VERSION"))?;
    let tried = Instant::now();
    let works = self_test();
    let took = tried.elapsed();
    let found = match host() {
        Ok(found) => found,
        Err(error) => {
            writeln!(streams.out, "machine code: broken\n{error}")?;
            return Ok(1);
        }
    };
    for (what, answer) in rows(&found) {
        writeln!(streams.out, "{what:<18} {answer}")?;
    }
    let broken = match works {
        Ok(()) => {
            let compiling = stats().compile_time;
            writeln!(streams.out, "{:<18} passed in {took:.1?}, {compiling:.1?} of it compiling", "self-test")?;
            false
        }
        Err(why) => {
            writeln!(streams.out, "{:<18} FAILED: {why}", "self-test")?;
            true
        }
    };
    gpus(streams)?;
    Ok(u8::from(broken))
}

fn rows(host: &Host) -> Vec<(&'static str, String)> {
    let features: Vec<&str> = host.features.iter().map(|f| f.strip_prefix("has_").unwrap_or(f)).collect();
    let kept = |(held, most): (usize, usize)| format!("{} of {}", amount(held), amount(most));
    vec![
        ("machine code for", host.target.clone()),
        ("CPU features used", features.join(" ")),
        ("vectors", format!("{} bits", host.vector_bits)),
        ("threads", host.threads.to_string()),
        ("executable memory", host.notice.map_or("allowed".to_owned(), |notice| format!("refused: {notice}"))),
        ("huge pages", huge_pages()),
        ("memory", memory::total().map_or("not known".to_owned(), amount)),
        ("memory limit", format!("{} (--memory)", amount(memory::default_limit()))),
        (
            "code cache",
            format!(
                "{}, {} compiled so far",
                kept(host.code_bytes),
                counted(usize::try_from(host.kernels).unwrap_or(usize::MAX), "kernel")
            ),
        ),
        ("array pool", kept(host.pool_bytes)),
    ]
}

/// The system's setting for transparent huge pages, which new arrays request.
fn huge_pages() -> String {
    let text = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    match text.split_once('[').and_then(|(_, rest)| rest.split_once(']')) {
        Some((chosen @ ("always" | "madvise"), _)) => format!("{chosen}: large arrays get them"),
        Some((chosen, _)) => format!("{chosen}: large arrays take longer to be made"),
        None => "not known".to_owned(),
    }
}

/// Compiles a kernel, runs it, and checks the result.
fn self_test() -> Result<(), String> {
    let count = 4096;
    let program = || -> Result<Vec<f32>, ndjit::Error> {
        let inputs = [("x", spec(DType::F32, [count])), ("y", spec(DType::I8, []))];
        let program = trace(&parse("x + y * 2")?, &inputs, &Budget::new(usize::MAX))?;
        let x: Array = (0..count).map(|n| n as f32).collect();
        program.call([&x, &Array::from(3i8)])?.first().map_or(Ok(Vec::new()), Array::to_vec)
    };
    let result = program().map_err(|error| error.to_string())?;
    let expected: Vec<f32> = (0..count).map(|n| n as f32 + 6.0).collect();
    if result == expected { Ok(()) } else { Err("x + y * 2 gave wrong elements".to_owned()) }
}

#[cfg(feature = "gpu")]
fn gpus(streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
    use std::collections::BTreeSet;
    let (all, said) = apart(ndjit::gpu::list)?;
    if all.is_empty() {
        writeln!(streams.out, "{:<18} none found", "GPUs")?;
    }
    for (n, info) in all.iter().enumerate() {
        writeln!(streams.out, "{:<18} {n}: {info}", "GPUs")?;
    }
    // Several drivers may print the same line.
    let lines: BTreeSet<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    for line in lines {
        writeln!(streams.out, "{:<18} {line}", "GPU drivers say")?;
    }
    Ok(())
}

/// Runs `body` and captures standard error, which GPU drivers write to.
#[cfg(all(feature = "gpu", unix))]
fn apart<R>(body: impl FnOnce() -> R) -> Result<(R, String), CommandFailure> {
    use std::io::Read;
    let (mut reader, writer) = std::io::pipe()?;
    let own = rustix::io::dup(rustix::stdio::stderr()).map_err(std::io::Error::from)?;
    rustix::stdio::dup2_stderr(&writer).map_err(std::io::Error::from)?;
    drop(writer);
    let (send, said) = std::sync::mpsc::channel();
    // Read concurrently, since the capacity of a pipe is small.
    std::thread::spawn(move || {
        let mut said = Vec::new();
        if reader.read_to_end(&mut said).is_ok() {
            // The receiver may have timed out.
            let _ = send.send(String::from_utf8_lossy(&said).into_owned());
        }
    });
    let result = body();
    rustix::stdio::dup2_stderr(&own).map_err(std::io::Error::from)?;
    // A driver may keep its copy of the handle open.
    Ok((result, said.recv_timeout(std::time::Duration::from_secs(1)).unwrap_or_default()))
}

#[cfg(all(feature = "gpu", not(unix)))]
fn apart<R>(body: impl FnOnce() -> R) -> Result<(R, String), CommandFailure> {
    Ok((body(), String::new()))
}

#[cfg(not(feature = "gpu"))]
fn gpus(streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
    Ok(writeln!(streams.out, "{:<18} this is built without the feature `gpu`", "GPUs")?)
}

#[cfg(all(test, feature = "gpu", unix))]
mod tests {
    use super::apart;
    use std::io::{Write, stderr};

    #[test]
    fn what_drivers_write_is_set_apart() {
        let Ok((result, said)) = apart(|| writeln!(stderr(), "no display").is_ok()) else {
            panic!("standard error was not set apart")
        };
        assert!(result && said.contains("no display"), "{said}");
        let Ok((_, said)) = apart(|| ()) else { panic!("it was not put back") };
        assert!(!said.contains("no display"), "{said}");
    }
}
