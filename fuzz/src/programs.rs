//! Random programs on the engines: each number is a program, its data, and one configuration of compiled code. All configurations occur,
//! one per program: all of them for each program take forty times as long, and find less in the same time (`tests/it/random.rs` does that).

use crate::outcome::Outcome;
use ndjit_engines::{ALL, Matrix, check};
use ndjit_random::{Limits, Program, Rng, program, shrink};
use std::slice;

/// The program of a number, as eight bytes.
pub fn programs(data: &[u8]) -> Outcome {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(data).for_each(|(byte, given)| *byte = *given);
    let seed = u64::from_le_bytes(bytes);
    let mut rng = Rng::new(!seed);
    let limits = limits(&mut rng);
    let matrix = matrix(&mut rng);
    let program = program(seed, &limits).unwrap_or_else(|error| panic!("no program: {error}"));
    if let Err(first) = check(&program, matrix) {
        let small = shrink(&program, |p: &Program| check(p, matrix).is_err());
        let difference = check(&small, matrix).err().unwrap_or(first);
        panic!("{}: {}\nadd as tests/programs/NAME.graph:\n{small}", difference.engine, difference.what);
    }
    format!("control {}, {:?}, {:?} threads, fuse {:?}", limits.control, matrix.vector, matrix.threads, matrix.fuse)
}

/// Mostly programs of one to four operations on few elements, which are fast; every eighth with branches and loops, every eighth with
/// kernels of many inputs. One in 32 has up to 24 operations, every third of those with branches and loops. Those of the most operations
/// have elements for several blocks of the widest vectors, those of the fewest for several blocks of a reduction.
fn limits(rng: &mut Rng) -> Limits {
    if !rng.one_in(32) {
        let nodes = rng.pick(&[1, 2, 3, 4]);
        let (many, control) = (if rng.one_in(8) { 20 } else { 0 }, rng.one_in(8));
        return Limits { nodes, params: 2, many, outputs: 2, elements: 48, control, ..Limits::default() };
    }
    let nodes = rng.pick(&[24, 4, 8, 12, 16, 6, 10, 14]);
    let elements = match nodes {
        24 => 700,
        4 => 5000,
        _ => 140,
    };
    Limits { nodes, elements, control: rng.one_in(3), ..Limits::default() }
}

fn matrix(rng: &mut Rng) -> Matrix {
    fn one<T>(all: &'static [T], rng: &mut Rng) -> &'static [T] {
        slice::from_ref(&all[rng.below(all.len())])
    }
    // With fewer processors, eight threads are started for each program.
    let threads = if rng.one_in(16) { ALL.threads } else { &ALL.threads[..2] };
    Matrix {
        fuse: one(ALL.fuse, rng),
        vector: one(ALL.vector, rng),
        threads: one(threads, rng),
        strided: one(ALL.strided, rng),
        fp_contract: rng.one_in(8),
        ..ALL
    }
}
