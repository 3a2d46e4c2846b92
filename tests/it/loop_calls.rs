//! Loops whose steps are small kernels, recorded once and repeated, against the interpreter.

use ndjit::{
    Array, DType, Expr, argmax, cummax, cumulative_sum, fori_loop, jit, max, prod, scan, scan_reversed, sum, take,
    while_loop,
};

type Step = fn(Expr, Expr) -> Expr;

fn matrix(n: usize, m: usize, dtype: DType) -> Array {
    let element = |i: usize| ((i * 7919 % 1013) as f64) / 100.0 - if dtype == DType::U8 { 0.0 } else { 4.0 };
    Array::from((0..n * m).map(element).collect::<Vec<f64>>()).reshape([n, m]).cast(dtype)
}

/// The bits of elements as `f64`; those of a NaN are not promised.
fn bits(x: &Array) -> Vec<u64> {
    let bits = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    x.cast(DType::F64).to_vec::<f64>().unwrap().iter().map(bits).collect()
}

/// A step from the state, a matrix, and the index of the step to the next state.
const STEPS: [Step; 14] = [
    |x, _| x - sum(x, 1).reshape([-1, 1]),
    |x, _| x - sum(x, 0),
    |x, i| x + max(x, 1).reshape([-1, 1]) * i,
    |x, _| max(x, 0) - x,
    |x, _| x + prod(x.slice((.., ..1)), 1).reshape([-1, 1]),
    |x, _| x + argmax(x, 1).reshape([-1, 1]),
    |x, _| cumulative_sum(x, 1) - x,
    |x, _| cumulative_sum(x, 0) - x,
    |x, _| cummax(x, 1) + 1,
    |x, _| cummax(x, 0) + 1,
    // Lengths and rows at indices from before the first to after the last.
    |x, i| x + x.prefix(i * 5 - 7, 1, 0).sum(1).reshape([-1, 1]),
    |x, i| x + x.prefix(i * 3 - 4, 0, 1).max(0),
    |x, i| x.at(i * 2 - 3).set(take(x, i - 2, 0) + sum(take(x, i, 0), ..)),
    |x, i| x.at(i).add(sum(take(x, i - 1, 0) * take(x, i, 0), ..)) + cumulative_sum(take(x, -i, 0), 0),
];

fn looped(step: Step, x: Expr) -> Expr {
    fori_loop(-1, 6, x, move |i, x: Expr| step(x, i).cast(x.dtype()))
}

#[test]
fn steps_that_are_repeated_calls_are_the_interpreters() {
    for dtype in [DType::F64, DType::F32, DType::I32, DType::U8, DType::F16] {
        for (n, m) in [(1, 1), (3, 5), (1, 100), (17, 16), (40, 33), (2, 1024), (3, 2500), (300, 7)] {
            let x = matrix(n, m, dtype);
            for (at, step) in STEPS.into_iter().enumerate() {
                let f = move |x: Expr| looped(step, x);
                let expected = jit(f).interpreted(true).call((&x,)).unwrap();
                let given = jit(f).threads(1).call((&x,)).unwrap();
                assert!(bits(&given) == bits(&expected), "step {at}, {dtype}[{n}, {m}]\n{given}\n{expected}");
            }
        }
    }
}

#[test]
fn slices_of_scans_and_conditions_of_while_loops_move() {
    let x = matrix(37, 50, DType::F64);
    let forward = |x: Expr| {
        let step = |carry: Expr, row: Expr| {
            let next = carry * 0.5 + sum(row * carry, ..);
            (next, cumulative_sum(next, 0) + max(row, ..))
        };
        scan(step, x.slice(0), x).1
    };
    let backward = |x: Expr| {
        let step = |carry: Expr, row: Expr| {
            let next = carry * 0.5 + sum(row * carry, ..);
            (next, cumulative_sum(next, 0) + max(row, ..))
        };
        scan_reversed(step, x.slice(0), x).1
    };
    let until = |x: Expr| while_loop(x, |x: Expr| sum(x * x, ..).lt(1e6), |x: Expr| x * 1.5 + max(x, 0));
    for f in [forward as fn(Expr) -> Expr, backward, until] {
        let expected = jit(f).interpreted(true).call((&x,)).unwrap();
        assert_eq!(bits(&jit(f).threads(1).call((&x,)).unwrap()), bits(&expected));
    }
}

#[test]
fn a_stacked_state_is_the_state_of_each_step() {
    // One value is the next state and a slice of each stacked array.
    let twice = |x: Expr| {
        let step = |carry: Expr, row: Expr| {
            let next = carry * 0.5 + sum(row * carry, ..);
            (next, (next, row * 2, next))
        };
        let (last, (first, doubled, second)) = scan(step, x.slice(0), x);
        (last, first, doubled, second)
    };
    let backward = |x: Expr| {
        let step = |(a, b): (Expr, Expr), row: Expr| {
            let next = cumulative_sum(row + a, 0);
            ((b, next), (next, b))
        };
        let ((a, b), (first, second)) = scan_reversed(step, (x.slice(0), x.slice(1)), x);
        (a, b, first, second)
    };
    let x = matrix(37, 50, DType::F64);
    for f in [twice as fn(Expr) -> (Expr, Expr, Expr, Expr), backward] {
        let expected = jit(f).interpreted(true).call((&x,)).unwrap();
        let given = jit(f).threads(1).call((&x,)).unwrap();
        let all = [(&given.0, &expected.0), (&given.1, &expected.1), (&given.2, &expected.2), (&given.3, &expected.3)];
        for (n, (given, expected)) in all.into_iter().enumerate() {
            assert_eq!(bits(given), bits(expected), "result {n}");
        }
    }
}
