//! Joined arrays read through: rolls, pads, stacks and concatenations whose elements are computed in place.

#![allow(clippy::reversed_empty_ranges, reason = "the end of a range may count from the last element")]

use ndjit::{Array, Expr, Pad, Stage, concat, fori_loop, jit, stack};

fn wave(shape: &[usize], step: usize) -> Array {
    let n = shape.iter().product::<usize>();
    let element = |i: usize| ((i * step % 1013) as f64) / 1000.0 - 0.4;
    Array::from((0..n).map(element).collect::<Vec<f64>>()).reshape(shape.to_vec())
}

fn bits(x: &Array) -> Vec<u64> {
    x.to_vec::<f64>().unwrap().iter().map(|x| x.to_bits()).collect()
}

/// The number of kernels of a function of two arrays; its results are the interpreter's, on one thread and two.
fn kernels(shape: &[usize], f: fn(Expr, Expr) -> Expr) -> usize {
    let (x, y) = (wave(shape, 7919), wave(shape, 31));
    let expected = bits(&jit(f).interpreted(true).call((&x, &y)).unwrap());
    for threads in [1, 2] {
        let compiled = jit(f).threads(threads);
        assert_eq!(bits(&compiled.call((&x, &y)).unwrap()), expected, "{shape:?}");
    }
    assert_eq!(bits(&jit(f).fuse(false).call((&x, &y)).unwrap()), expected, "{shape:?}");
    let f = jit(f);
    f.call((&x, &y)).unwrap();
    f.explain(Stage::Kernels).matches("kernel [").count()
}

const SHAPES: [[usize; 2]; 6] = [[1, 1], [1, 5], [2, 2], [3, 40], [40, 3], [301, 127]];

#[test]
fn a_roll_is_read_through_by_what_adds_it() {
    for shape in SHAPES {
        let most = if shape.contains(&1) { 2 } else { 1 };
        assert!(kernels(&shape, |x, _| x.roll(1, 0) + x) <= 2 * most, "{shape:?}");
    }
    // For each shape a loop per part, without a rolled array.
    assert_eq!(kernels(&[301, 127], |x, _| x.roll(1, 0) + x), 2);
    assert_eq!(kernels(&[301, 127], |x, y| x.roll(-3, 1) * y + x.roll(5, 1)), 3);
    assert_eq!(
        kernels(&[301, 127], |x, y| x.roll(1, 0) + x.roll(-1, 0) + x.roll(1, 1) + x.roll(-1, 1) - 4.0 * x * y),
        9
    );
    // Both axes in sequence.
    assert_eq!(kernels(&[301, 127], |x, _| x.roll(1, 0).roll(2, 1) + x), 4);
}

#[test]
fn pads_of_every_kind_are_read_through_by_stencils() {
    fn stencil(x: Expr, pad: Pad) -> Expr {
        let p = x.pad(1, pad);
        let around = p.slice((..-2, 1..-1)) + p.slice((2.., 1..-1)) + p.slice((1..-1, ..-2)) + p.slice((1..-1, 2..));
        x + 0.2 * (around - 4.0 * p.slice((1..-1, 1..-1)))
    }
    let all: [fn(Expr, Expr) -> Expr; 4] = [
        |x, _| stencil(x, Pad::Edge),
        |x, _| stencil(x, Pad::Wrap),
        |x, _| stencil(x, Pad::from(0.5)),
        |x, y| stencil(x * y, Pad::Edge),
    ];
    for f in all {
        for shape in SHAPES {
            kernels(&shape, f);
        }
        let count = kernels(&[301, 127], f);
        // Corners and edges read some elements twice: a few of them are stored.
        assert!((9..=12).contains(&count), "{count}");
    }
    for shape in &SHAPES[2..] {
        kernels(shape, |x, _| stencil(x, Pad::Reflect));
    }
}

#[test]
fn stacks_and_concatenations_are_computed_part_by_part() {
    for shape in SHAPES {
        kernels(&shape, |x, y| stack([x, y * 2.0], 0) * x + 1.0);
        kernels(&shape, |x, y| stack([x, y], 2).exp() + x.expand_dims(2));
        kernels(&shape, |x, y| concat([x, y.exp(), x + y], 0).sin() * 0.5);
        kernels(&shape, |x, y| concat([x, y], 1).flip(1) * 3.0 + concat([y, x], 1));
        kernels(&shape, |x, y| concat([x, y], 1).permute_dims([1, 0]) * 3.0);
        kernels(&shape, |x, y| concat([concat([x, y], 0), y, x], 0) - concat([x, x, y, y], 0).exp());
    }
    assert_eq!(kernels(&[301, 127], |x, y| concat([x, y.exp(), x + y], 0).sin() * 0.5), 3);
    assert_eq!(kernels(&[301, 127], |x, y| concat([x, y], 1).slice((.., 1..100)) * 3.0), 1);
}

#[test]
fn joins_that_are_arrays_anyway_are_read_as_they_are() {
    // The sum of the joined array, computed in the reduction.
    assert_eq!(kernels(&[301, 127], |x, y| (x.roll(1, 0) * y).sum(0)), 3);
    // A joined array with another use is stored once.
    fn both(x: Expr, y: Expr) -> Expr {
        let w = x.roll(1, 0) + y;
        w.roll(1, 1) + w.roll(-1, 0).exp() + w
    }
    for shape in SHAPES {
        kernels(&shape, both);
    }
    // Too many parts: the array is stored.
    fn many(x: Expr, y: Expr) -> Expr {
        let all: Vec<Expr> = (0..40).map(|n| if n % 2 == 0 { x } else { y }).collect();
        concat(all, 0) * 2.0
    }
    assert_eq!(kernels(&[30, 12], many), 41);
}

#[test]
fn two_results_of_the_same_parts_share_kernels() {
    fn laplacian(x: Expr) -> Expr {
        x.roll(1, 0) + x.roll(-1, 0) + x.roll(1, 1) + x.roll(-1, 1) - 4.0 * x
    }
    fn gray_scott(u: Expr, v: Expr) -> (Expr, Expr) {
        let uvv = u * v * v;
        (u + laplacian(u) * 0.16 - uvv + 0.035 * (1.0 - u), v + laplacian(v) * 0.08 + uvv - 0.1 * v)
    }
    for shape in SHAPES {
        let (u, v) = (wave(&shape, 7919), wave(&shape, 31));
        let f = jit(gray_scott);
        let (a, b) = f.call((&u, &v)).unwrap();
        let (c, d) = jit(gray_scott).interpreted(true).call((&u, &v)).unwrap();
        assert_eq!((bits(&a), bits(&b)), (bits(&c), bits(&d)), "{shape:?}");
        assert!(f.explain(Stage::Kernels).matches("kernel [").count() <= 9, "{shape:?}");
        let steps = |f: fn(Expr, Expr) -> (Expr, Expr)| {
            jit(move |u: Expr, v: Expr| fori_loop(0, 4, (u, v), move |_, (u, v)| f(u, v)))
        };
        let (a, b) = steps(gray_scott).call((&u, &v)).unwrap();
        let (c, d) = steps(gray_scott).interpreted(true).call((&u, &v)).unwrap();
        assert_eq!((bits(&a), bits(&b)), (bits(&c), bits(&d)), "{shape:?}");
    }
}
