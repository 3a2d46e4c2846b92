//! Spans for the crate `tracing`. A program of its own: that crate keeps for the process who is interested in a span, and other tests, which
//! are not, would be asked first.

#![cfg(feature = "tracing")]

use ndjit::{Array, exp, jit, keepdims};
use std::cell::Cell;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::thread;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps the names and fields of spans, indented by how deep they are.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<(Vec<String>, usize)>>);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 += &format!(" {field}={value:?}");
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "ndjit"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        let (lines, depth) = &mut *self.0.lock().unwrap();
        lines.push("  ".repeat(*depth) + &fields.0);
        Id::from_u64(lines.len() as u64)
    }

    fn enter(&self, _: &Id) {
        self.0.lock().unwrap().1 += 1;
    }

    fn exit(&self, _: &Id) {
        self.0.lock().unwrap().1 -= 1;
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
}

#[test]
fn each_stage_and_launch_has_a_span() {
    let collector = Collector::default();
    tracing::subscriber::with_default(collector.clone(), || {
        // A number that no other test has, so that the kernel is compiled here.
        let f = jit(|x: ndjit::Expr| exp(x - x.max(keepdims(-1))) * x - x / 3);
        let x = Array::from_shape_vec([2, 3], vec![1.0f32; 6]).unwrap();
        f.call((&x,)).unwrap();
        f.call((&x,)).unwrap();
    });
    let (lines, depth) = std::mem::take(&mut *collector.0.lock().unwrap());
    assert_eq!(depth, 0, "every span is left");
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.contains("ndjit::kernel")).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    ndjit::trace params=1
    ndjit::lower pass="inline"
    ndjit::lower pass="fp_contract"
    ndjit::lower pass="hoist"
    ndjit::lower pass="commit"
    ndjit::lower pass="simplify"
    ndjit::lower pass="networks"
    ndjit::lower pass="gathers"
    ndjit::lower pass="windows"
    ndjit::lower pass="views"
    ndjit::lower pass="joins"
    ndjit::lower pass="fuse"
    ndjit::lower pass="tile"
    ndjit::lower pass="schedule"
    ndjit::compile kernels=2
    ndjit::launch launch=0 nests=2
    ndjit::launch launch=0 nests=2
    "#);
    collectors_call_functions();
    collectors_of_all_threads_call_functions();
}

/// Calls functions for each span, under a lock of its own.
#[derive(Clone, Default)]
struct Calling(Arc<Mutex<u32>>, Option<Arc<Function>>);

type Function = ndjit::Jitted<fn(ndjit::Expr) -> ndjit::Expr, 1, fn(ndjit::Expr) -> ndjit::Expr>;

impl Subscriber for Calling {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "ndjit"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        thread_local! {
            static WITHIN: Cell<bool> = const { Cell::new(false) };
        }
        if !WITHIN.replace(true) {
            let mut calls = self.0.lock().unwrap();
            *calls += 1;
            // The function whose plan is being made is among them, and a kernel that is new each time.
            let calls = *calls as usize;
            self.1.as_ref().expect("a function").call((&[1.0f32, 2.0],)).unwrap();
            jit(move |x| (0..calls % 32).fold(x + 1, |x, _| x * 3)).call((&[1.0f32],)).unwrap();
            WITHIN.set(false);
        }
        Id::from_u64(1)
    }

    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
}

/// Whoever collects spans may call functions and hold locks: no thread waits for another that is in a span.
fn collectors_call_functions() {
    let function: Function = jit(|x| exp(x) * x - exp(x / 5));
    let calling = Calling(Arc::default(), Some(Arc::new(function)));
    let (done, ended) = std::sync::mpsc::channel();
    for _ in 0..4 {
        let (calling, done) = (calling.clone(), done.clone());
        thread::spawn(move || {
            let function = calling.1.clone().expect("a function");
            tracing::subscriber::with_default(calling, || {
                for n in 1..5 {
                    function.call((&vec![1.0f32; n],)).unwrap();
                }
            });
            done.send(()).unwrap();
        });
    }
    for _ in 0..4 {
        ended.recv_timeout(std::time::Duration::from_secs(60)).expect("no deadlock");
    }
    assert!(*calling.0.lock().unwrap() > 50, "spans were collected");
    let function = calling.1.expect("a function");
    assert_eq!((function.trace_count(), function.compile_count()), (4, 1));
}

/// One of the whole process sees the threads on which kernels are compiled, too: what others wait for has no code of it.
fn collectors_of_all_threads_call_functions() {
    // The parts of a reduction are kernels that are compiled while the whole is.
    let reduced = || -> Function { jit(|x| ndjit::sum(x * x - x / 7, ..)) };
    let calling = Calling(Arc::default(), Some(Arc::new(reduced())));
    tracing::subscriber::set_global_default(calling.clone()).unwrap();
    let (done, ended) = std::sync::mpsc::channel();
    thread::spawn(move || {
        reduced().call((&vec![1.0f32; 9],)).unwrap();
        done.send(()).unwrap();
    });
    ended.recv_timeout(std::time::Duration::from_secs(60)).expect("no deadlock");
    assert!(*calling.0.lock().unwrap() > 0, "spans were collected");
}
