//! Long runs: threads with shared functions, and more functions than caches can store. Failures are errors in words.

use ndjit::{Array, DType, Expr, Result, arange, jit};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The maximum growth of a process between a tenth of the run and its end, bytes.
pub const MOST_GROWTH: u64 = 10 << 20;

/// Calls of each distinct function.
pub const CALLS: u64 = 10;

/// Dtypes of the arguments.
const DTYPES: [DType; 6] = [DType::F32, DType::F64, DType::I32, DType::I64, DType::U8, DType::Bool];

/// So many threads make so many calls each of shared functions, of several dtypes and shapes; returns the number of results that differ
/// from those of one thread.
///
/// # Errors
/// Those of the calls.
pub fn threads(threads: u64, calls: u64) -> Result<u64> {
    let plain = jit(|x: Expr| (x + 1) * x);
    let reduced = jit(|x: Expr| x.cast(DType::F32) / 3 + x.sum(..));
    let given: Vec<Array> = [1, 5, 64].into_iter().flat_map(|n| DTYPES.map(|dtype| arange(n).cast(dtype))).collect();
    let call = |n: u64| {
        let x = &given[n as usize / 3 % given.len()];
        match n % 3 {
            0 => plain.call((x,)).map(|y| y.to_string()),
            1 => reduced.call((x,)).map(|y| y.to_string()),
            _ => (x * 2 - x).eval().map(|y| y.to_string()),
        }
    };
    let expected = (0..3 * given.len() as u64).map(call).collect::<Result<Vec<String>>>()?;
    let wrong = AtomicU64::new(0);
    let work = |thread: u64| -> Result<()> {
        for n in 0..calls {
            let number = (n * 7 + thread) % expected.len() as u64;
            if call(number)? != expected[number as usize] {
                wrong.fetch_add(1, Relaxed);
            }
        }
        Ok(())
    };
    let work = &work;
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        started
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(wrong.into_inner())
}

/// A process's memory during a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Growth {
    /// Bytes resident after a tenth.
    pub tenth: u64,
    /// Bytes resident at the end.
    pub end: u64,
}

impl Growth {
    /// The growth in bytes.
    pub fn bytes(self) -> u64 {
        self.end.saturating_sub(self.tenth)
    }
}

/// Builds so many distinct functions, each called `calls` times, and returns the process's memory. `told` is called at each tenth.
///
/// # Errors
/// Those of the calls; `Verify` for a wrong result.
pub fn functions(functions: u64, calls: u64, mut told: impl FnMut(u64, u64)) -> Result<Growth> {
    let mut growth = Growth::default();
    for n in 0..functions {
        function(n, calls)?;
        if (n + 1) % (functions / 10).max(1) == 0 {
            let now = resident();
            told(n + 1, now);
            if growth.tenth == 0 {
                growth.tenth = now;
            }
            growth.end = now;
        }
    }
    Ok(growth)
}

/// Calls a distinct function for each number: its digits choose operations.
fn function(number: u64, calls: u64) -> Result<()> {
    let dtype = DTYPES[number as usize % 4];
    let x = arange(1 + number as i64 % 37).cast(dtype);
    let program = move |x: Expr| {
        let mut digits = number;
        let mut y = x;
        while digits > 0 {
            y = match digits % 6 {
                0 => y + x,
                1 => y * x,
                2 => x - y,
                3 => ndjit::maximum(y, x),
                4 => ndjit::minimum(y, x) + 1,
                _ => y * 3,
            };
            digits /= 6;
        }
        y
    };
    let f = jit(program);
    let first = f.call((&x,))?.to_string();
    for _ in 1..calls {
        if black_box(f.call((&x,))?).to_string() != first {
            return Err(ndjit_ir::Error::new(ndjit::ErrorCode::Verify, format!("function {number}: another result")));
        }
    }
    Ok(())
}

/// Resident bytes of this process.
fn resident() -> u64 {
    status("VmRSS:")
}

/// A field of Linux's process status in bytes; 0 on other systems.
pub fn status(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.map_or(0, |kilobytes: u64| kilobytes << 10)
}
