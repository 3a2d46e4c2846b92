//! Extreme integers: `usize::MAX`, `isize::MIN`, 2^60, 0, as shapes, axes, counts, steps, widths, offsets. For all of them a function
//! returns a result or an error: no panic, no overflow, no abort on refused memory, no endless computation.
//!
//! The cases run in a child process with a small address space, which aborts on unchecked allocations. The parent reads the last case, and
//! restarts the child after it.

mod cases;

use cases::{Case, cases};
use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The first case of the child.
const FROM: &str = "NDJIT_HOSTILE_FROM";
/// Address space of the child, KiB.
const SPACE: usize = 3 << 20;
/// The time limit of a case, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The child's part: the cases from a number on, each with a line before and after.
#[test]
fn child() {
    let Some(from) = std::env::var(FROM).ok().and_then(|from| from.parse().ok()) else { return };
    std::panic::set_hook(Box::new(|_| {}));
    for (number, Case { name, run }) in cases().into_iter().enumerate().skip(from) {
        say(&format!("begins {number} {name}"));
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(outcome) => say(&format!("ends {outcome}")),
            Err(payload) => {
                let text = payload.downcast_ref::<String>().cloned();
                let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                say(&format!("panics {}", text.unwrap_or_default().replace('\n', " ")));
            }
        }
    }
    say("done");
}

/// A line outside of the test harness's output.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n@{line}").unwrap();
    out.flush().unwrap();
}

#[test]
fn no_integer_panics_aborts_or_computes_without_end() {
    let all = cases();
    let (mut next, mut wrong, mut outcomes) = (0, Vec::new(), std::collections::BTreeMap::<String, usize>::new());
    while next < all.len() {
        let script = format!("ulimit -v {SPACE} && exec \"$0\" --exact child --nocapture --test-threads 1");
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .arg(std::env::current_exe().unwrap())
            .env(FROM, next.to_string())
            // Memory of idle threads counts as address space.
            .env("NDJIT_NUM_THREADS", "2")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        let reader = std::thread::spawn(move || {
            out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line).map_err(drop)).ok();
        });
        let (mut last, mut done, mut late) = (None, false, false);
        loop {
            let line = match lines.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    late = true;
                    break;
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            };
            match line.strip_prefix('@').and_then(|line| line.split_once(' ').or(Some((line, "")))) {
                Some(("begins", case)) => last = case.split_once(' ').and_then(|(n, _)| n.parse::<usize>().ok()),
                Some(("ends", outcome)) => *outcomes.entry(outcome.to_owned()).or_default() += 1,
                Some(("panics", text)) => {
                    let what = format!("{}: panics: {text}", last.map_or("?", |n| &all[n].name));
                    println!("{what}");
                    wrong.push(what);
                }
                Some(("done", _)) => done = true,
                _ => {}
            }
        }
        let _ = child.kill();
        let status = child.wait().unwrap();
        reader.join().unwrap();
        if done {
            break;
        }
        let at = last.unwrap_or_else(|| panic!("the child ends before its first case: {status}"));
        let how = if late { "takes too long".to_owned() } else { format!("ends the process: {status}") };
        println!("{}: {how}", all[at].name);
        wrong.push(format!("{}: {how}", all[at].name));
        next = at + 1;
    }
    println!("{} cases: {outcomes:?}", all.len());
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), all.len(), wrong.join("\n"));
    let refused: usize = ["allocation", "size"].iter().filter_map(|code| outcomes.get(*code)).sum();
    assert!(refused > 500 && outcomes["ok"] > 500, "{outcomes:?}");
}
