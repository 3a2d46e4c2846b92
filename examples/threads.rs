//! One compiled function called by many threads at once: it is `Sync`, so they share a reference; new sizes compile nothing,
//! and every thread gets the same bits.

use ndjit::{Array, DType, arange, exp, jit, keepdims};
use std::error::Error;
use std::sync::mpsc;
use std::thread;

const THREADS: usize = 8;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let share = jit!(|x| {
        let e = exp(x - x.max(keepdims(-1)));
        e / e.sum(keepdims(-1))
    });
    let input = |rows: usize| (arange((rows * 100) as i32).reshape([rows as isize, 100]) % 17).cast(DType::F32);
    share.call((&input(2),))?;
    let kernels = share.compile_count();

    // Each thread has its own sizes.
    let sums = thread::scope(|scope| {
        let work = |n: usize| {
            let share = &share;
            move || -> Result<f32, ndjit::Error> {
                let mut total = 0.0;
                for rows in 2..50 {
                    total += share.call((&input(rows * (n + 1)),))?.sum(..).item::<f32>()?;
                }
                Ok(total)
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|n| scope.spawn(work(n))).collect();
        threads.into_iter().map(|t| t.join().map_err(|_| "a thread panicked")).collect::<Result<Vec<_>, _>>()
    })?;
    let sums = sums.into_iter().collect::<Result<Vec<f32>, _>>()?;
    println!("{THREADS} threads, {} calls", THREADS * 48);
    println!("rows, each of which sums to 1: {}", sums.iter().map(|s| format!("{s:.2}")).collect::<Vec<_>>().join(" "));
    println!("kernels before: {kernels}; compiled since for other sizes: {}", share.compile_count() - kernels);

    // All threads have the same input, and get the same bits.
    let (same, (send, receive)) = (input(500), mpsc::channel());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let (share, same, send) = (&share, &same, send.clone());
            scope.spawn(move || send.send(share.call((same,)).and_then(|y| y.to_vec::<f32>())));
        }
    });
    drop(send);
    let results = receive.into_iter().collect::<Result<Vec<_>, _>>()?;
    println!("all {} results are equal bit for bit: {}", results.len(), results.iter().all(|r| *r == results[0]));

    // Arrays can be sent to other threads; `Array` is `Send` and `Sync`.
    let moved: Array = thread::spawn(move || same.sum(..)).join().map_err(|_| "a thread panicked")?;
    println!("summed in another thread: {moved}");
    Ok(())
}
