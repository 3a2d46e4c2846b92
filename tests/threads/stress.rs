//! Random work on many threads: each task is a few steps drawn from its number (scopes, new and known signatures, evaluated arrays, nested
//! functions, errors), with the same results as without other tasks.

use crate::{Closure, in_time, pool};
use ndjit::debug::{collect_debug_output, debug_print, with_jit_disabled};
use ndjit::{
    Array, DType, Expr, Jitted, Policy, exp, jit, no_recompile, policy, sum, with_default_dtype, with_policy, zeros,
};
use rayon::prelude::*;
use std::thread;

const POLICIES: [Policy; 4] = [Policy::Standard, Policy::Torch, Policy::NumPy2, Policy::Strict];

/// Steele, Lea and Flood's `splitmix64`.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// State shared by tasks.
struct Shared {
    inner: Jitted<fn(Expr) -> Expr, 1, Closure>,
    large: Array,
}

impl Shared {
    fn new() -> Shared {
        let innermost = jit(|x| x * 3 + 1);
        let closure = move |x: Expr| {
            // Array operations in a trace, evaluated immediately.
            let table = exp(Array::from(vec![0.0f32; 1 << 16])).eval().unwrap().to_vec::<f32>().unwrap();
            innermost.inline((x + table[7],)) - sum(x, ..)
        };
        let closure: Closure = Box::new(closure);
        Shared { inner: jit(closure).threads(3), large: Array::from(vec![0.25f32; 1 << 17]) }
    }
}

/// The compared part of a result.
type Seen = Vec<(String, DType, f64)>;

fn look(seen: &mut Seen, what: &str, result: ndjit::Result<Array>) {
    match result {
        Ok(array) => {
            let total = sum(array.astype(DType::F64), ..).item::<f64>().unwrap_or(f64::NAN);
            seen.push((format!("{what} {}", array.shape()), array.dtype(), total));
        }
        Err(error) => seen.push((format!("{what}: {}", error.headline()), DType::Bool, 0.0)),
    }
}

fn steps(draw: &mut Draw, shared: &Shared, depth: u64, seen: &mut Seen) {
    for _ in 0..1 + draw.below(3) {
        let n = 1 + draw.below(6) as usize;
        match draw.below(if depth < 3 { 9 } else { 5 }) {
            0 => look(seen, "inner", shared.inner.call((&vec![1.0f32; n],))),
            1 => look(seen, "large", shared.inner.call((&shared.large,))),
            2 => look(seen, "lazy", (exp(&shared.large * n as i32) + Array::from([1i32])).eval().cloned()),
            3 => look(seen, "mixed", jit(|x, y| x + y).call((&vec![1.0f32; n], &vec![1i32; n]))),
            4 => seen.push((policy().to_string(), zeros(1).dtype(), 0.0)),
            5 => with_policy(POLICIES[draw.below(4) as usize], || steps(draw, shared, depth + 1, seen)),
            6 => with_default_dtype([DType::F64, DType::I16][draw.below(2) as usize], || {
                steps(draw, shared, depth + 1, seen)
            }),
            7 => {
                let f = jit(|x| debug_print("x", x * 2));
                let (result, printed) = collect_debug_output(|| {
                    let result = f.call((&vec![1.0f32; n],));
                    steps(draw, shared, depth + 1, seen);
                    result
                });
                look(seen, "printed", result);
                seen.push((format!("prints {}", printed.len()), DType::Bool, 0.0));
            }
            _ => {
                let f = jit(|x| x - 1);
                f.call((&vec![1.0f32; n],)).unwrap();
                let call = |n: usize| f.call((&vec![2.0f32; n],));
                let (known, new) = no_recompile(|| (call(n), call(n + 1)));
                look(seen, "known", known);
                look(seen, "new", new);
                look(seen, "interpreted", with_jit_disabled(|| call(n)));
            }
        }
    }
}

fn task(seed: u64, shared: &Shared) -> Seen {
    let mut seen = Seen::new();
    steps(&mut Draw(seed), shared, 0, &mut seen);
    seen
}

#[test]
fn tasks_give_what_they_give_alone() {
    let rounds = std::env::var("NDJIT_STRESS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2);
    for round in 0..rounds {
        let seeds: Vec<u64> = (0..200).map(|i| round * 1000 + i).collect();
        let shared = Shared::new();
        let alone: Vec<Seen> = seeds.iter().map(|&seed| task(seed, &shared)).collect();
        let own = seeds.clone();
        let in_tasks: Vec<Seen> = in_time(move || {
            let shared = Shared::new();
            pool(6).install(|| own.par_iter().map(|&seed| task(seed, &shared)).collect())
        });
        let own = seeds.clone();
        let on_threads: Vec<Seen> = in_time(move || {
            let shared = Shared::new();
            thread::scope(|scope| {
                let of = |part: &[u64]| part.iter().map(|&seed| task(seed, &shared)).collect::<Vec<Seen>>();
                let threads: Vec<_> =
                    own.chunks(own.len().div_ceil(64)).map(|part| scope.spawn(move || of(part))).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            })
        });
        for (n, seed) in seeds.iter().enumerate() {
            assert_eq!(alone[n], in_tasks[n], "seed {seed}");
            assert_eq!(alone[n], on_threads[n], "seed {seed}");
        }
    }
}
