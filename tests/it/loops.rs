//! Compiled loops: which loops are compiled, and the same bits for any tiles, threads and registers as step by step.

use ndjit::{
    Array, DType, Expr, Stage, floor_divide, fmod, fori_loop, jit, scan, strong, sum, take, where_, while_loop,
    zeros_like,
};

/// Whether the loop of a function is one nest. Its loops have been lowered.
fn is_compiled(loops: &str) -> bool {
    loops.contains("; its steps are one loop of a nest")
}

/// The results of a function of two arrays, with a compiled loop, for any number of threads and width of registers; and step by step.
macro_rules! agree {
    ($function:expr, $x:expr, $y:expr) => {{
        let f = jit($function).fuse(false);
        let expected = bytes(&f.call(($x, $y)).unwrap());
        assert!(!is_compiled(&f.explain(Stage::Loops)));
        for threads in [1, 2] {
            let f = jit($function).threads(threads);
            assert_eq!(bytes(&f.call(($x, $y)).unwrap()), expected, "{threads} threads");
            assert!(is_compiled(&f.explain(Stage::Loops)), "{}", f.explain(Stage::Loops));
            let narrow = jit($function).threads(threads).vector(ndjit::VectorWidth::Bits128);
            assert_eq!(bytes(&narrow.call(($x, $y)).unwrap()), expected, "{threads} threads, narrow");
        }
    }};
}

/// The elements of all results, as text: NaNs are equal.
fn bytes(results: &[Array; 2]) -> String {
    results.iter().map(|array| format!("{:?} {:?};", array.shape(), array.cast(DType::F64).to_vec::<f64>())).collect()
}

fn wave(shape: &[usize]) -> Array {
    let n = shape.iter().product::<usize>();
    Array::from((0..n).map(|i| ((i * 7919 % 1013) as f64) / 1000.0 - 0.4).collect::<Vec<f64>>()).reshape(shape.to_vec())
}

#[test]
fn arrays_take_their_steps_tile_by_tile() {
    for shape in [&[1][..], &[3], &[300], &[70_001], &[3, 5_000], &[700, 3], &[40, 1, 300], &[0], &[2, 0]] {
        let (x, rows) = (wave(shape), wave(&shape[shape.len() - 1..]));
        agree!(
            |x: Expr, row: Expr| {
                let step = |i: Expr, (a, b): (Expr, Expr)| (a * 0.9f64 + row * i.cast(DType::F64), b - a);
                let (a, b) = fori_loop(-2, 11, (x, x * 2), step);
                [a, b]
            },
            &x,
            &rows
        );
    }
}

#[test]
fn scans_slice_and_stack() {
    for [length, n] in [[0, 4], [1, 1], [5, 0], [30, 3_000], [3_000, 3], [2, 40_000]] {
        let (xs, begin) = (wave(&[length, n]), wave(&[n]));
        agree!(
            |xs: Expr, begin: Expr| {
                let (last, all) = scan(
                    |s: Expr, x: Expr| {
                        let s = s * 0.5f64 + x;
                        (s, s * s)
                    },
                    begin,
                    xs,
                );
                [last, all]
            },
            &xs,
            &begin
        );
    }
    // Scalars of a row read in reverse.
    let (xs, begin) = (wave(&[1_000]), wave(&[]));
    agree!(
        |xs: Expr, begin: Expr| {
            let (last, all) = scan(|s: Expr, x: Expr| (s * 0.5f64 + x, s.gt(x)), begin, ndjit::flip(xs, 0));
            [last, all]
        },
        &xs,
        &begin
    );
}

#[test]
fn scalars_leave_their_loop_by_themselves() {
    for (from, to) in [(27i64, 1i64), (1, 1), (837_799, 1), (6, 3)] {
        agree!(
            |n: Expr, last: Expr| {
                let next = |n: Expr| where_((n % 2).eq(0), n / 2, n * 3 + 1).cast(DType::I64);
                let (n, steps) = while_loop((n, zeros_like(n)), |(n, _)| n.ne(last), |(n, steps)| (next(n), steps + 1));
                [n, steps]
            },
            &Array::from(from),
            &Array::from(to)
        );
    }
}

#[test]
fn rows_are_gathered_by_the_index() {
    let (table, begin) = (wave(&[50, 3]), wave(&[4, 3]));
    agree!(
        |table: Expr, x: Expr| {
            let x = fori_loop(0, 60, x, |i, x| x * 0.75f64 + take(table, i.cast(DType::I64), 0));
            [x, x]
        },
        &table,
        &begin
    );
}

/// An index wraps in its dtype as in step-by-step execution, and a loop of no steps returns its initial state.
#[test]
fn indices_have_their_dtype() {
    for [start, end] in [[0i8, 127], [-128, 127], [5, 5], [7, -7], [126, 127]] {
        let bounds = [start, end].map(Array::from);
        agree!(
            |start: Expr, end: Expr| {
                let sum = fori_loop(start, end, start.cast(DType::I64), |i, sum| sum * 3 + i);
                [sum, sum]
            },
            &bounds[0],
            &bounds[1]
        );
    }
}

/// Divisors that the steps do not change, of scalars and of arrays, also 0.
#[test]
fn divisors_stay_in_loops() {
    use DType::{I8, I16, I32, I64, U8, U16, U32, U64};
    for dtype in [U8, U16, U32, U64, I8, I16, I32, I64] {
        for divisor in
            [0i64, 1, -1, 2, 3, 7, -7, 101, 127, -128, 32_767, -32_768, 65_521, i64::from(i32::MIN), i64::MIN]
        {
            for shape in [&[][..], &[70], &[3, 100]] {
                let (x, y) = (wave(shape) * 1e6f64, Array::from(divisor).cast(dtype));
                let x = x.cast(I64).cast(dtype);
                agree!(
                    move |x: Expr, y: Expr| {
                        let step = |i: Expr, (a, b): (Expr, Expr)| {
                            let a = (a * 31 + i.cast(dtype)) % y;
                            (a, floor_divide(b * 13 - a, y) + fmod(b, y))
                        };
                        let (a, b) = fori_loop(0, 20, (x, x + 1), step);
                        [a, b]
                    },
                    &x,
                    &y
                );
            }
        }
    }
}

/// A checksum: the divisor is a number, the numbers are scanned.
#[test]
fn checksums_have_remainders() {
    let text = Array::from(b"Wikipedia".to_vec());
    let f = jit(|x: Expr| {
        let step = |(a, b): (Expr, Expr), byte: Expr| {
            let a = (a + byte) % 65_521;
            ((a, (b + a) % 65_521), ())
        };
        let (a, b) = scan(step, (Expr::from(strong(1u32)), Expr::from(strong(0u32))), x).0;
        b * 65_536 + a
    });
    assert_eq!(f.call((&text,)).unwrap().item::<u32>().unwrap(), 0x11e6_0398);
}

/// Scalar arguments in the condition and in the body.
#[test]
fn numbers_are_passed() {
    let f = jit(|x: Expr, limit: Expr, k: Expr| while_loop(x, |x| x.lt(limit), |x| x * k + 1));
    let call = |limit: f64, k: f64| f.call((&Array::from(1.5f64), limit, k)).unwrap().item::<f64>().unwrap();
    assert_eq!([call(10.0, 2.0), call(1e6, 10.0), call(0.0, 3.0)], [19.0, 1611111.0, 1.5]);
    assert!(is_compiled(&f.explain(Stage::Loops)));
}

/// Loops with interacting elements, and arrays under a condition, run step by step.
#[test]
fn other_loops_are_not_compiled() {
    let x = wave(&[10]);
    let f = jit(|x: Expr| fori_loop(0, 3, x, |_, x| x - sum(x, ..)));
    f.call((&x,)).unwrap();
    assert!(!is_compiled(&f.explain(Stage::Loops)));
    let g = jit(|x: Expr| while_loop(x, |x| sum(x, ..).gt(1), |x| x / 2));
    g.call((&x,)).unwrap();
    assert!(!is_compiled(&g.explain(Stage::Loops)));
    let h = jit(|x: Expr| fori_loop(0, 3, x, |_, x| x + ndjit::flip(x, 0)));
    h.call((&x,)).unwrap();
    assert!(!is_compiled(&h.explain(Stage::Loops)));
}

/// One kernel for any number of steps and elements, also in the program's listing.
#[test]
fn a_compiled_loop_is_one_kernel() {
    let f = jit(|x: Expr, n: Expr| fori_loop(0, n, x, |_, x| x * 3.7f32 * (1 - x)));
    f.call((&wave(&[1_000]).cast(DType::F32), &Array::from(10))).unwrap();
    let before = f.compile_count();
    for (n, steps) in [(1_000, 1_000), (77, 3), (2, 0)] {
        f.call((&wave(&[n]).cast(DType::F32), &Array::from(steps))).unwrap();
    }
    assert_eq!(f.compile_count(), before);
    // The start of the index, and the loop.
    let kernels = f.kernels();
    assert_eq!((kernels.len(), kernels[1].flops), (2, 6), "{kernels:?}");
}
