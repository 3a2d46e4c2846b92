//! Ends of threads: functions called in destructors of thread-locals, and threads of unused pools.

use crate::in_time;
use ndjit::debug::{collect_debug_output, debug_print};
use ndjit::{Array, ErrorCode, Expr, exp, jit, strong, with_place};
use std::cell::RefCell;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

/// Uses much of ndjit on drop.
struct Last(Sender<Vec<f32>>);

fn everything() -> Vec<f32> {
    let x = Array::from([1.0f32, 2.0]);
    let g = jit(|x: Expr| debug_print("within", x) * 2);
    let f = jit(move |x| g.inline((x,)) + strong(1.0f32));
    let mut all = f(&x).to_vec::<f32>().unwrap();
    all.extend(collect_debug_output(|| f.call((&[3.0f32],)).unwrap()).0.to_vec::<f32>().unwrap());
    all.extend((exp(Array::from([0.0f32])) * 3).to_vec::<f32>().unwrap());
    let place = ndjit::SourceLoc::caller();
    let failing = jit(move |x: Expr| with_place(place, || x.reshape([3]))).call((&x,)).unwrap_err();
    assert_eq!((failing.code(), failing.place()), (ErrorCode::Shape, Some(place)));
    let panics = jit(|x| if f32::MAX > 0.0 { panic!("closure") } else { x + 1 }).call((&x,)).unwrap_err();
    assert_eq!(panics.code(), ErrorCode::Panic);
    let large = jit(|x| exp(x) - exp(x)).threads(4).call((&vec![1.0f32; 1 << 17],)).unwrap();
    all.push(large.to_vec::<f32>().unwrap()[0]);
    all
}

impl Drop for Last {
    fn drop(&mut self) {
        let _ = self.0.send(everything());
    }
}

#[test]
fn functions_are_called_where_a_thread_ends() {
    thread_local! {
        static BEFORE: RefCell<Option<Last>> = const { RefCell::new(None) };
        static AFTER: RefCell<Option<Last>> = const { RefCell::new(None) };
    }
    // Destructors run in some order: one of these runs before ndjit's thread-locals are dropped, the other after.
    let (sender, results) = channel();
    let own = in_time(move || {
        let run = move || {
            BEFORE.set(Some(Last(sender.clone())));
            let own = everything();
            AFTER.set(Some(Last(sender)));
            own
        };
        thread::spawn(run).join().unwrap()
    });
    let results: Vec<Vec<f32>> = results.into_iter().collect();
    assert_eq!((own, results.len()), (vec![3.0, 5.0, 7.0, 3.0, 0.0], 2));
    assert!(results.iter().all(|result| *result == [3.0, 5.0, 7.0, 3.0, 0.0]));
}

/// The threads of pools.
#[cfg(target_os = "linux")]
fn members() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("tasks");
    let name = |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.ok()?.path().join("comm")).ok();
    tasks.filter_map(name).filter(|name| name.starts_with("ndjit-worker")).count()
}

#[test]
#[cfg(target_os = "linux")]
fn threads_are_given_back() {
    // Other tests of the process may have running ones.
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let some = processors + 64;
    let call = |n: usize| {
        let f = jit(|x| exp(x) + 1).threads(n);
        assert_eq!(f.call((&[0.0f32],)).unwrap().to_vec::<f32>().unwrap(), [2.0]);
        f
    };
    for n in (2..3000).step_by(29).chain([usize::MAX / 2, usize::MAX]) {
        drop(call(n));
    }
    // Several numbers of threads share a pool.
    let held: Vec<_> = (2..200).map(call).collect();
    assert!(members() < 4 * 64 + some, "{} threads", members());
    drop(held);
    for _ in 0..1000 {
        if members() <= some {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{} threads are left", members());
}
