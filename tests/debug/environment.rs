//! The environment variables. A process reads them once, so each test reruns itself with one set.

use ndjit::{Array, jit, sqrt};
use std::process::Command;

const CHILD: &str = "NDJIT_TEST_DEBUG_CHILD";

/// The standard error output of a test of this file in a process with a variable set.
fn child(test: &str, variable: &str) -> String {
    child_with(test, variable, "1")
}

fn child_with(test: &str, variable: &str, value: &str) -> String {
    let exe = std::env::current_exe().unwrap();
    let name = format!("environment::{test}");
    let out = Command::new(exe)
        .args([&name, "--exact", "--nocapture"])
        .env(CHILD, "1")
        .env(variable, value)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{text}");
    text
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[test]
fn misses_are_printed() {
    if is_child() {
        let f = jit(|x| x + 1);
        f.call((&[1.0f32; 3],)).unwrap();
        f.call((&[1.0f32; 3],)).unwrap();
        f.call((&[1.0f32; 4],)).unwrap();
        return;
    }
    let text = child("misses_are_printed", "NDJIT_EXPLAIN_MISSES");
    assert_eq!(text.matches("not known: ").count(), 2, "{text}");
    assert!(text.contains("argument 0: f32[4], known f32[3]"), "{text}");
}

#[test]
fn compiled_code_is_not_used() {
    if is_child() {
        let f = jit(|x| x * 3);
        assert_eq!(f.call((&[1.0f32, 2.0],)).unwrap().to_vec::<f32>().unwrap(), [3.0, 6.0]);
        assert_eq!((&Array::from([1i32]) + 1).to_vec::<i32>().unwrap(), [2]);
        assert_eq!((f.compile_count(), ndjit::stats().kernels_compiled), (0, 0));
        ndjit::set_default_dtype(ndjit::DType::F64);
        f.call((&[1.0f32; 5],)).unwrap();
        assert_eq!(ndjit::stats().kernels_compiled, 0);
        return;
    }
    child("compiled_code_is_not_used", "NDJIT_DISABLE_JIT");
}

#[test]
fn nans_are_errors() {
    if is_child() {
        assert_eq!(jit(|x| sqrt(x)).call((&[-1.0f32],)).unwrap_err().code(), ndjit::ErrorCode::Nan);
        return;
    }
    child("nans_are_errors", "NDJIT_DEBUG_NANS");
}

#[test]
fn values_are_printed_on_standard_error() {
    if is_child() {
        jit(|x| ndjit::debug::debug_print("twice", x * 2)).call((&[1.5f32],)).unwrap();
        return;
    }
    let text = child("values_are_printed_on_standard_error", "NDJIT_TEST_NOTHING");
    assert!(text.contains("twice: f32[1] at ") && text.contains("\n[3.]\n"), "{text}");
}

/// A closed pipe is not an error.
#[test]
fn nobody_has_to_read_standard_error() {
    if is_child() {
        // Until the pipe is closed.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let f = jit(|x| ndjit::debug::debug_print("twice", x * 2));
        assert_eq!(f.call((&[1.5f32],)).unwrap().to_vec::<f32>().unwrap(), [3.0]);
        return;
    }
    for (variable, value) in [("NDJIT_DUMP", "all"), ("NDJIT_EXPLAIN_MISSES", "1"), ("NDJIT_NUM_THREADS", "abc")] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["environment::nobody_has_to_read_standard_error", "--exact", "--nocapture"])
            .env(CHILD, "1")
            .env(variable, value)
            .stderr(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stderr.take());
        assert!(child.wait().unwrap().success(), "{variable}");
    }
}

#[test]
fn what_cannot_be_read_is_told_once() {
    if is_child() {
        let f = jit(|x| x + 1);
        assert_eq!(f.call((&[1.0f32; 3],)).unwrap().to_vec::<f32>().unwrap(), [2.0; 3]);
        jit(|x| x * 2).call((&[f32::NAN; 70000],)).unwrap();
        assert!(f.explain_cache_misses().len() == 1 && ndjit::stats().kernels_compiled > 0);
        return;
    }
    let told = [
        ("NDJIT_NUM_THREADS", "abc", "NDJIT_NUM_THREADS: `abc` is not a number of threads; there is one per processor"),
        ("NDJIT_NUM_THREADS", "-1", "NDJIT_NUM_THREADS: `-1` is not a number of threads; there is one per processor"),
        ("NDJIT_DEBUG_NANS", "maybe", "NDJIT_DEBUG_NANS: `maybe` is neither 1 nor 0; it counts as 0"),
        ("NDJIT_DISABLE_JIT", "2", "NDJIT_DISABLE_JIT: `2` is neither 1 nor 0; it counts as 0"),
        ("NDJIT_EXPLAIN_MISSES", "all", "NDJIT_EXPLAIN_MISSES: `all` is neither 1 nor 0; it counts as 0"),
        ("NDJIT_DUMP", "lops", "NDJIT_DUMP: `lops` is neither a stage nor a pass; stages are graph typed "),
        ("NDJIT_DUMP", "vieews", " legalize; did you mean `views`?"),
    ];
    for (variable, value, message) in told {
        let text = child_with("what_cannot_be_read_is_told_once", variable, value);
        assert_eq!((text.matches(message).count(), text.matches(variable).count()), (1, 1), "{text}");
    }
    for (variable, value) in [
        ("NDJIT_NUM_THREADS", " 2 "),
        ("NDJIT_NUM_THREADS", ""),
        ("NDJIT_DEBUG_NANS", "false"),
        ("NDJIT_DISABLE_JIT", "off"),
    ] {
        let text = child_with("what_cannot_be_read_is_told_once", variable, value);
        assert!(!text.contains(variable), "{text}");
    }
}

/// Internal programs check indices.
#[test]
fn programs_of_the_user_alone_are_printed() {
    if is_child() {
        let x = Array::from([10u8, 20, 30]);
        assert_eq!(x.at(0).get().item::<u8>().unwrap(), 10);
        assert_eq!(x.at(Array::from([2u8, 1])).get().to_vec::<u8>().unwrap(), [30, 20]);
        return;
    }
    let text = child_with("programs_of_the_user_alone_are_printed", "NDJIT_DUMP", "simplified");
    // One for each of the two arrays read.
    assert_eq!(text.matches("== simplified ==").count(), 2, "{text}");
    assert_eq!(text.matches(" gather ").count(), 2, "{text}");
}

/// A program with a view, a reduction that ends early, a loop that is one nest, and a loop that is not.
#[test]
fn programs_are_printed_after_each_pass() {
    if is_child() {
        let f = jit(|x: ndjit::Expr, y: ndjit::Expr, n: ndjit::Expr| {
            let sums = (x.mt() + 2).sum(1) + y.prefix(n, 0, 0).sum(0);
            let stepped = ndjit::fori_loop(0, 3, sums, |_, s| s * 2);
            ndjit::fori_loop(0, 2, stepped, |_, s| s - s.sum(0))
        });
        let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]);
        f.call((&x, &Array::from([1.0f32, 2.0, 3.0]), &Array::from(1i32))).unwrap();
        return;
    }
    let passes: Vec<(&str, &str)> = ndjit_codegen::pipeline::passes().collect();
    let all: Vec<&str> = passes.iter().map(|(pass, _)| *pass).collect();
    let text = child_with("programs_are_printed_after_each_pass", "NDJIT_DUMP", &format!("{},loops", all.join(",")));
    let sections: Vec<(&str, &str)> = text
        .split("\n== ")
        .map(|section| section.trim_start_matches("== ").split_once(" ==\n").unwrap_or_default())
        .collect();
    // In the order in which they run; those of the graphs of control flow run in between.
    let mut next = 0;
    for (pass, stage) in &passes {
        let heading = format!("after {pass}");
        let is_own = |n: &usize| sections[*n].0.split(", ").next() == Some(&heading);
        let own: Vec<usize> = (0..sections.len()).filter(is_own).collect();
        let &last = own.last().unwrap_or_else(|| panic!("nothing after {pass}: {text}"));
        assert!(last >= next, "{pass} is out of order: {text}");
        next = last;
        let what = match *stage {
            "graph" | "typed" | "simplified" => "graph (%0: ",
            "kernels" => "kernel [",
            _ => "nest rank ",
        };
        assert!(sections[last].1.contains(what), "{pass}: {}", sections[last].1);
        // The two loops have a graph each, which are lowered with the same passes.
        let graphs = if ["simplified", "kernels", "loops"].contains(stage) { 3 } else { 1 };
        assert_eq!(own.len(), graphs, "{pass}: {text}");
        let inner = own.iter().filter(|&&n| sections[n].0 == format!("{heading}, for body")).count();
        assert_eq!(inner, graphs - 1, "{pass}: {text}");
    }
    let made = |pass: &str, what: &str| {
        let heading = format!("after {pass}");
        let is_own = |own: &str| own.split(", ").next() == Some(&heading);
        sections.iter().any(|(own, text)| is_own(own) && text.contains(what))
    };
    assert!(made("accesses", "\n; %") && made("accesses", " is in %0: offset 0, strides [4, 8]"), "{text}");
    let range = |pass: &str| made(pass, "\n; i0 to %") || made(pass, "\n; i1 to %");
    assert!(!range("schedule") && range("ranges"), "{text}");
    let steps = "; the steps of control flow\nnest rank";
    assert!(!made("ranges", steps) && made("loop_kernels", steps), "{text}");
    assert!(made("loop_kernels", "the graphs of the `for` are programs"), "{text}");
    assert!(made("split", " = add t") && made("split", "\n; combine\n") && made("legalize", " = fadd.f32 r"), "{text}");
    assert_eq!(sections.last().unwrap().0, "loops", "{text}");
}
