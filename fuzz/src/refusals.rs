//! Programs of every kind on arrays of so many elements, with refused memory: each gives its bits or an error.

use ndjit::{
    Array, DType, Element, ErrorCode, Expr, Result, arange, argsort, cond, descending, dtype, fori_loop, from_dlpack,
    jit, keepdims, median, nonzero, random, scan, sort, sum, unique_values, where_, while_loop, zeros,
};
use ndjit_runtime::{CountingAllocator, Refused, pool};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A program: its name, and its function of the number of elements, which returns a hash of all result bits.
pub type Program = (&'static str, fn(usize) -> Result<u64>);

/// All programs. Their numbers of elements are multiples of 4096.
pub const PROGRAMS: &[Program] = &[
    ("eager", eager),
    ("jit", jitted),
    ("interpreted", interpreted),
    ("reductions", reductions),
    ("scans", scans),
    ("sorts", sorts),
    ("scatters", scatters),
    ("contractions", contractions),
    ("control flow", control),
    ("kept values", kept),
    ("joins", joins),
    ("random numbers", numbers),
    ("display", display),
    ("vectors", vectors),
    (".npy files", npy),
    ("DLPack", dlpack),
];

/// The minimum size of refused blocks: those of arrays. Rust's own lists, independent of array sizes, are smaller, and their refusal ends
/// the process: the largest are those of Cranelift's register allocator, 592 KiB here.
pub const LARGE: usize = 1 << 20;
/// Elements of the arrays of a test.
pub const ELEMENTS: usize = 1 << 18;

/// The blocks refused in the `n`th run of a series, with so many live bytes before it.
type Series = fn(n: u64, held: i64) -> Refused;

/// Refused blocks: each one, each and the next, each and all that follow, and those above a total of bytes.
const SERIES: [Series; 4] = [
    |n, _| Refused::Numbers(n..n + 1),
    |n, _| Refused::Numbers(n..n + 2),
    |n, _| Refused::Numbers(n..u64::MAX),
    |n, held| Refused::Above(held + n as i64 * LARGE as i64),
];
/// A program whose memory is requested twice: the crate for matrix products ends the process if memory that was just available is refused.
/// It runs the last series only.
const ASKED_TWICE: &str = "contractions";

/// Runs a program with refused blocks, by number and by live bytes. Returns the number of refused blocks.
///
/// # Errors
/// In words: a panic, other bits, an error other than refused memory, leaked bytes.
pub fn check((name, run): &Program) -> Result<u64, String> {
    pool::set_limit(0);
    let nothing = Refused::Numbers(0..0);
    let once = |refused: &Refused| {
        CountingAllocator::refuse(LARGE, refused.clone());
        let result = catch_unwind(AssertUnwindSafe(|| run(ELEMENTS))).map_err(|_| "it panics".to_owned());
        let blocks = CountingAllocator::large_blocks();
        CountingAllocator::refuse(LARGE, nothing.clone());
        pool::trim(0);
        (result, blocks)
    };
    let failed = |what: String| format!("{name}: {what}");
    let expected = once(&nothing).0.map_err(failed)?.map_err(|error| failed(error.to_string()))?;
    // A first run fills the caches of threads.
    once(&nothing).0.map_err(failed)?.map_err(|error| failed(error.to_string()))?;
    let held = CountingAllocator::large_blocks().held;
    let mut all = 0;
    for series in &SERIES[if *name == ASKED_TWICE { SERIES.len() - 1 } else { 0 }..] {
        for refused in (0..).map(|n| series(n, held)) {
            let failed = |what: String| failed(format!("{what}, where {refused:?} of large blocks are refused"));
            let (result, blocks) = once(&refused);
            match result.map_err(failed)? {
                Ok(bits) if bits != expected => return Err(failed("other bits".to_owned())),
                Err(error) if blocks.refused == 0 => return Err(failed(format!("nothing was refused, and {error}"))),
                Err(error) if !is_of_memory(error.code()) => return Err(failed(error.to_string())),
                _ => all += blocks.refused,
            }
            let again = once(&nothing).0.map_err(failed)?.map_err(|error| failed(format!("then {error}")))?;
            if again != expected {
                return Err(failed("other bits of the next run".to_owned()));
            }
            let now = CountingAllocator::large_blocks().held;
            if now > held {
                return Err(failed(format!("{} bytes are not given back", now - held)));
            }
            if blocks.refused == 0 {
                break;
            }
        }
    }
    Ok(all)
}

/// Whether an error means refused memory.
pub fn is_of_memory(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::Allocation | ErrorCode::Size)
}

/// A hash of all bits.
fn bits<T: Element>(array: &Array) -> Result<u64> {
    let elements = array.to_vec::<T>()?;
    let mut hasher = DefaultHasher::new();
    ndjit_runtime::element::bytes_of(&elements).hash(&mut hasher);
    Ok(hasher.finish())
}

/// A combined hash.
fn all(numbers: impl IntoIterator<Item = Result<u64>>) -> Result<u64> {
    numbers.into_iter().try_fold(0u64, |sum, number| Ok(sum.rotate_left(7) ^ number?))
}

/// Unordered elements.
fn x(n: usize) -> Array {
    (arange(n as i64) * 7919 % 1013).cast(DType::F32)
}

fn eager(n: usize) -> Result<u64> {
    let (x, mut y) = (x(n), x(n) + 1);
    x.eval()?;
    y *= 2;
    all([bits::<f32>(&(&x * &y).sqrt()), bits::<f32>(&(&x.flip(0) - y)), bits::<f64>(&x.cast(DType::F64))])
}

fn jitted(n: usize) -> Result<u64> {
    let f = jit(|x: Expr, y: Expr| ((x + y).exp(), x * y - x.sum(..), y.flip(0)));
    let (a, b, c) = f.call((&x(n), &x(n)))?;
    let small = jit(|x: Expr| x / x.sum(..)).fuse(false);
    all([bits::<f32>(&a), bits::<f32>(&b), bits::<f32>(&c), bits::<f32>(&small.call((x(n),))?)])
}

fn interpreted(n: usize) -> Result<u64> {
    bits::<f32>(&jit(|x: Expr| sort(x + 1, 0)).interpreted(true).call((&x(n),))?)
}

fn reductions(n: usize) -> Result<u64> {
    let x = x(n).reshape([4, n / 4]);
    all([
        bits::<f32>(&sum(&x, 0)),
        bits::<f32>(&(&x / x.max(keepdims(1)))),
        bits::<f32>(&x.mean(..)),
        bits::<f32>(&x.reshape([n / 4, 4]).min(1)),
    ])
}

fn scans(n: usize) -> Result<u64> {
    let x = x(n);
    all([bits::<f32>(&x.cumulative_sum(0)), bits::<f32>(&x.reshape([n / 4, 4]).cumulative_sum(0))])
}

fn sorts(n: usize) -> Result<u64> {
    let x = x(n);
    all([
        bits::<f32>(&sort(&x, 0)),
        bits::<f32>(&sort(&x, descending(0))),
        bits::<i64>(&argsort(&x, 0).cast(DType::I64)),
        bits::<f32>(&median(&x, 0)),
        bits::<f32>(&unique_values(&x)),
        bits::<i64>(&nonzero(x.gt(5))[0].cast(DType::I64)),
    ])
}

fn scatters(n: usize) -> Result<u64> {
    let (x, positions) = (x(n), arange(n as i64) * 5 % n as i64);
    let added = zeros(n).at(&positions).add(&x);
    all([
        bits::<f32>(&added.cast(DType::F32)),
        bits::<f32>(&x.at(&positions).set(1)),
        bits::<f32>(&x.take(&positions, 0)),
    ])
}

fn contractions(n: usize) -> Result<u64> {
    let (a, b) = (x(n).reshape([n / 512, 512]), x(n).reshape([512, n / 512]));
    // The packed first matrix is the largest memory here.
    let (long, thin) = (x(2 * n).reshape([1024, n / 512]), x(n / 512 * 120).reshape([n / 512, 120]));
    all([
        bits::<f32>(&long.matmul(&thin)),
        bits::<f32>(&a.matmul(&b)),
        bits::<f32>(&b.matmul(&a)),
        bits::<f32>(&ndjit::einsum("ij,ij->i", [&a, &a])),
    ])
}

fn control(n: usize) -> Result<u64> {
    let looped = jit(|x: Expr| fori_loop(0, 5, x, |i, x| x * 2 - i));
    let whiled = jit(|x: Expr| while_loop(x, |x| sum(x, ..).gt(10), |x| where_(x.gt(1), x / 4, 0)));
    let branched = jit(|x: Expr| cond(sum(x, ..).gt(0), |x| x + 1, |x| x - 1, x));
    let scanned = jit(|x: Expr| scan(|sum: Expr, x: Expr| (sum + x, sum * x), x.slice(0), x));
    let (last, rows) = scanned.call((&x(n).reshape([4, n / 4]),))?;
    let x = x(n);
    all([
        bits::<f32>(&looped.call((&x,))?),
        bits::<f32>(&whiled.call((&x,))?),
        bits::<f32>(&branched.call((&x,))?),
        bits::<f32>(&last),
        bits::<f32>(&rows),
    ])
}

fn kept(n: usize) -> Result<u64> {
    let mut a = x(n);
    let mut sums = Vec::new();
    for _ in 0..6 {
        a = a.sin() + 1;
        sums.push(bits::<f32>(&sum(&a, ..)));
    }
    sums.push(bits::<f32>(&a));
    all(sums)
}

fn joins(n: usize) -> Result<u64> {
    let x = x(n);
    all([
        bits::<f32>(&ndjit::concat([&x, &x], 0)),
        bits::<f32>(&ndjit::stack([&x, &x], 1)),
        bits::<f32>(&ndjit::roll(&x, 3, 0)),
        bits::<f32>(&ndjit::repeat(&x, 2, 0)),
    ])
}

fn numbers(n: usize) -> Result<u64> {
    let key = random::key(1);
    all([bits::<f32>(&dtype(DType::F32).normal(&key, [n])), bits::<f32>(&random::shuffle(&key, &x(n), 0))])
}

fn display(n: usize) -> Result<u64> {
    let x = x(n).reshape([n / 4, 4]) * 2;
    let text = format!("{x:.3}");
    // An array that cannot be computed prints as its error.
    x.eval()?;
    let mut hasher = DefaultHasher::new();
    match text.starts_with('[') {
        true => text.hash(&mut hasher),
        false => return Err(ndjit_ir::Error::new(ErrorCode::Allocation, text)),
    }
    Ok(hasher.finish())
}

fn vectors(n: usize) -> Result<u64> {
    let x = x(n);
    let moved = Array::from((&x + 1).into_vec::<f32>()?);
    let shaped = Array::from_shape_vec([4, n / 4], (&x * 2).to_vec::<f32>()?)?;
    let mut into = ndjit_ir::reserve::reserve::<f32>("into", n)?;
    into.resize(n, 0.0);
    jit(|x: Expr| x + 1).call_into((&x,), &mut into[..])?;
    all([bits::<f32>(&moved), bits::<f32>(&shaped), bits::<f32>(&Array::from(into))])
}

fn npy(n: usize) -> Result<u64> {
    let path = std::env::temp_dir().join(format!("ndjit-refusals-{}.npy", std::process::id()));
    x(n).reshape([4, n / 4]).mt().write_npy(&path)?;
    let read = Array::read_npy(&path).and_then(|x| bits::<f32>(&x));
    let _ = std::fs::remove_file(&path);
    read
}

fn dlpack(n: usize) -> Result<u64> {
    let x = x(n);
    let shared = from_dlpack(x.flip(0).to_dlpack(None)?, None, None)?;
    let copied = from_dlpack(x.to_dlpack(true)?, None, true)?;
    all([bits::<f32>(&shared), bits::<f32>(&copied)])
}
