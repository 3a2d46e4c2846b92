//! The memory of each program beside its arguments, found by refusing more: its state, which its results are part of, and at most one
//! temporary array.

use super::{PROGRAMS, agree};
use ndjit::CountingAllocator;
use ndjit_runtime::Refused;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The minimum size of counted blocks: everything else is small relative to the arrays.
const LARGE: usize = 1 << 13;

/// The most memory of each program, large, in bytes of its results.
const MOST: &[(&str, f64)] = &[
    // Two arrays of state, of which one is the result.
    ("wave", 2.05),
    // The next state is computed from neighbours in the former one.
    ("life", 2.05),
    ("gray_scott", 2.05),
    ("shock_tube", 2.05),
    ("gauss_seidel", 1.3),
    // Two stacked arrays between the passes, and the result.
    ("thomas", 3.2),
    // Sums of a column, products of a row, and the zeros that the loop begins with.
    ("ldlt", 2.3),
    ("forward", 3.1),
    ("needleman", 5.0),
    // The zeros that the table begins with are of the function.
    ("lcs", 2.4),
    ("sieve", 1.1),
    ("viterbi", 1.2),
    ("adler32", 0.0),
    ("fnv1a", 0.0),
    ("blend", 1.05),
    ("logistic", 1.1),
    ("lorenz", 0.0),
    ("kalman", 1.1),
    ("smoothing", 1.1),
    ("median", 1.1),
    ("histogram", 4.0),
    ("nbody", 2.05),
];

/// Bytes that each may take besides, of plans and threads.
const BESIDES: i64 = 1 << 15;

/// Live bytes of large blocks.
fn held() -> i64 {
    CountingAllocator::large_blocks().held
}

/// The minimum number of bytes that a call takes: with larger blocks refused, it fails.
fn least(call: &dyn Fn() -> ndjit::Result<Vec<ndjit::Array>>, most: i64) -> i64 {
    let before = held();
    let passes = |bytes: i64| {
        CountingAllocator::refuse(LARGE, Refused::Above(before + bytes));
        let made = call();
        CountingAllocator::refuse(LARGE, Refused::Above(i64::MAX));
        made.is_ok()
    };
    let (mut fails, mut enough) = (-1, most);
    while enough - fails > 1 + most / 1000 {
        let middle = fails + (enough - fails) / 2;
        if passes(middle) { enough = middle } else { fails = middle }
    }
    enough
}

/// One test: the allocator belongs to the process.
#[test]
fn programs_take_their_state_and_give_what_loops_in_rust_give() {
    ndjit::set_pool_limit(0);
    CountingAllocator::refuse(LARGE, Refused::Above(i64::MAX));
    let mut more = Vec::new();
    for (name, make) in PROGRAMS {
        let small = make(false);
        let results = (small.ours.call)().unwrap();
        agree(&results, &(small.rust)(), small.within).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        let large = make(true);
        let results = (large.ours.call)().unwrap();
        let bytes = |x: &ndjit::Array| (x.shape().size().unwrap() * x.dtype().bytes()) as i64;
        let made: i64 = results.iter().map(bytes).sum();
        drop(results);
        let least = least(&large.ours.call, 16 * made.max(1 << 20));
        println!("{name}: {made} bytes of results, {least} of memory, {:.2}", least as f64 / made as f64);
        let (_, most) = MOST.iter().find(|(other, _)| other == name).unwrap_or_else(|| panic!("{name} has no row"));
        if least > (most * made as f64) as i64 + BESIDES {
            more.push(format!("{name}: {least} bytes, more than {most} times {made}"));
        }
    }
    assert!(more.is_empty(), "{more:?}");
}
