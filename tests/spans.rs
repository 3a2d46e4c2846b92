//! Spans for the crate `tracing`. A separate program: that crate caches the interest in a span for the process, and other tests, without
//! interest, would come first.

#![cfg(feature = "tracing")]

use ndjit::{Array, exp, jit, keepdims};
use std::cell::Cell;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::thread;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Collects the names and fields of spans, indented by depth.
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
        // A literal of no other test, so the kernel is compiled here.
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
    ndjit::lower pass="sink"
    ndjit::lower pass="hoist"
    ndjit::lower pass="commit"
    ndjit::lower pass="simplify"
    ndjit::lower pass="starts"
    ndjit::lower pass="networks"
    ndjit::lower pass="gathers"
    ndjit::lower pass="windows"
    ndjit::lower pass="views"
    ndjit::lower pass="joins"
    ndjit::lower pass="accesses"
    ndjit::lower pass="fuse"
    ndjit::lower pass="tile"
    ndjit::lower pass="schedule"
    ndjit::lower pass="ranges"
    ndjit::lower pass="loop_kernels"
    ndjit::compile kernels=2
    ndjit::launch launch=0 nests=2
    ndjit::launch launch=0 nests=2
    "#);
    collectors_call_functions();
    collectors_of_all_threads_call_functions();
}

/// Calls functions for each span, under its own lock.
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
            // They include the function whose plan is in compilation, and a new kernel each time.
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

/// Collectors of spans may call functions and hold locks: no thread waits for another inside a span.
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

/// A process-wide collector sees compilation threads too: work that others wait for runs none of its code.
fn collectors_of_all_threads_call_functions() {
    // The parts of a reduction are kernels, compiled with the whole.
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
