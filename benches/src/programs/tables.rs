//! Tables filled element by element: the longest common subsequence, the sieve of Eratosthenes, and Viterbi's most likely states.

use super::{Case, called, unit};
use ndjit::{
    Array, DType, Expr, argmax, fori_loop, max, maximum, ones, scan, take, where_, while_loop, zeros, zeros_like,
};

/// Pseudo-random letters, reproducible in other languages.
fn letters(n: usize, start: usize) -> Vec<u8> {
    (start..start + n).map(|k| (k * 7919 % 100_003 % 5) as u8).collect()
}

/// The lengths of longest common subsequences of all beginnings of two sequences.
pub fn lcs(large: bool) -> Case {
    let n: usize = if large { 3000 } else { 300 };
    let (first, second) = (letters(n, 0), letters(n, 1000));
    let (a, b) = (Array::from(first.clone()), Array::from(second.clone()));
    let ours = called!(
        move |a: Expr, b: Expr| {
            let table = Expr::from(zeros([n + 1, n + 1]).cast(DType::I32));
            let end = n as i64 + 1;
            let row = move |i: Expr, table: Expr| {
                let element = move |j: Expr, t: Expr| {
                    let same = take(a, i - 1, 0).eq(take(b, j - 1, 0));
                    let longer = maximum(t.at((i - 1, j)).get(), t.at((i, j - 1)).get());
                    t.at((i, j)).set(where_(same, t.at((i - 1, j - 1)).get() + 1, longer))
                };
                fori_loop(1, end, table, element)
            };
            vec![fori_loop(1, end, table, row)]
        },
        a,
        b
    );
    let rust = Box::new(move || {
        let mut table = vec![0i32; (n + 1) * (n + 1)];
        for i in 1..=n {
            for j in 1..=n {
                let above = (i - 1) * (n + 1) + j;
                let longer = table[above].max(table[above + n]);
                table[above + n + 1] = if first[i - 1] == second[j - 1] { table[above - 1] + 1 } else { longer };
            }
        }
        vec![Array::from(table).reshape([n + 1, n + 1])]
    });
    Case { size: format!("{n}x{n}"), steps: n * n, ours, rust, within: 0.0 }
}

/// Which numbers are prime.
pub fn sieve(large: bool) -> Case {
    let n: usize = if large { 5_000_000 } else { 50_000 };
    let all = ones([n]).cast(DType::Bool).at(..2).set(false);
    let (end, root) = (n as i64, n.isqrt() as i64 + 1);
    let ours = called!(
        move |all: Expr| {
            let multiples = move |i: Expr, all: Expr| {
                let marked = move |(j, all): (Expr, Expr)| (j + i, all.at(j).set(false));
                let first = where_(take(all, i, 0), i * i, end);
                while_loop((first, all), move |(j, _)| j.lt(end), marked).1
            };
            vec![fori_loop(2, root, all, multiples)]
        },
        all
    );
    let rust = Box::new(move || {
        let mut all = vec![true; n];
        all[..2].fill(false);
        for i in 2..root as usize {
            if all[i] {
                let mut j = i * i;
                while j < n {
                    all[j] = false;
                    j += i;
                }
            }
        }
        vec![Array::from(all)]
    });
    Case { size: format!("{n}"), steps: 2 * n, ours, rust, within: 0.0 }
}

/// The most likely state before each state of a hidden Markov model, in each step.
pub fn viterbi(large: bool) -> Case {
    let [steps, states] = if large { [2000, 200] } else { [500, 20] };
    let (seen, moves) = (unit(steps * states), unit(states * states));
    let emitted = Array::from(seen.as_slice()).reshape([steps as isize, states as isize]);
    let moved = Array::from(moves.as_slice()).reshape([states as isize, states as isize]);
    let ours = called!(
        move |emitted: Expr, moved: Expr| {
            let step = move |likely: Expr, emitted: Expr| {
                let from = likely.reshape([-1, 1]) + moved;
                (max(from, 0) + emitted, argmax(from, 0))
            };
            let (last, before) = scan(step, zeros_like(emitted.slice(0)), emitted);
            vec![last, before]
        },
        emitted,
        moved
    );
    let rust = Box::new(move || {
        let (mut likely, mut before) = (vec![0.0; states], Vec::with_capacity(steps * states));
        for emitted in seen.chunks(states) {
            let mut next = Vec::with_capacity(states);
            for (to, &emitted) in emitted.iter().enumerate() {
                let (mut best, mut at) = (f64::NEG_INFINITY, 0);
                for (from, &likely) in likely.iter().enumerate() {
                    let new = likely + moves[from * states + to];
                    if new > best {
                        (best, at) = (new, from);
                    }
                }
                next.push(best + emitted);
                before.push(at as i32);
            }
            likely = next;
        }
        vec![Array::from(likely), Array::from(before).reshape([steps as isize, states as isize])]
    });
    Case { size: format!("{steps}x{states}"), steps, ours, rust, within: 1e-12 }
}
