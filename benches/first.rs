//! The first compilation in a process, including one-time initialisation: runs itself in fresh processes and prints the
//! median. `cargo bench -p ndjit-bench --bench first`.

use ndjit::{Array, jit};
use std::process::Command;
use std::time::Instant;

const CHILD: &str = "--child";

fn main() {
    if std::env::args().any(|a| a == CHILD) {
        let (x, y) = (Array::from([1.0f32; 8]), Array::from([2.0f32; 8]));
        let started = Instant::now();
        let z = jit(|x, y| x + y * 2)(&x, &y);
        let first = started.elapsed();
        assert_eq!(z.to_vec::<f32>().expect("runs"), [5.0; 8]);
        println!("{}", first.as_nanos());
        return;
    }
    let program = std::env::current_exe().expect("this program");
    let mut times: Vec<f64> = (0..31)
        .map(|_| {
            let output = Command::new(&program).arg(CHILD).output().expect("a child");
            let text = String::from_utf8_lossy(&output.stdout);
            text.trim().parse::<f64>().expect("nanoseconds") / 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "first `x + y * 2` in a process, closure to result: median {:.2} ms, best {:.2} ms, worst {:.2} ms over {}",
        times[times.len() / 2],
        times[0],
        times[times.len() - 1],
        times.len()
    );
}
