//! Kernel counts of common expressions: rows that are reduced and reused are one kernel.

use ndjit::{
    Array, DType, Expr, Stage, arange, assert_in_place, assert_kernels, assert_no_recompile, concat, dtype, exp, jit,
    keepdims, sliding_window, sqrt,
};

fn rows() -> Array {
    (arange(40 * 70).cast(DType::F32) * 0.37).sin().reshape([40, 70])
}

fn softmax(x: Expr, axis: isize) -> Expr {
    let e = exp(x - x.max(keepdims(axis)));
    e / e.sum(keepdims(axis))
}

fn layer_norm(x: Expr, axis: isize) -> Expr {
    (x - x.mean(keepdims(axis))) / sqrt(x.var(keepdims(axis)) + 1e-5) * 2 + 1
}

fn standard_score(x: Expr, axis: isize) -> Expr {
    (x - x.mean(keepdims(axis))) / x.std(keepdims(axis))
}

#[test]
fn rows_that_are_reduced_and_used_again_are_one_kernel() {
    let x = rows();
    for axis in [-1, 0] {
        for function in [softmax, layer_norm, standard_score] {
            let f = jit(move |x: Expr| function(x, axis));
            assert_kernels!(f, (&x,), 1);
            let unfused = jit(move |x: Expr| function(x, axis)).fuse(false);
            assert_eq!(f(&x).to_vec::<f32>().unwrap(), unfused(&x).to_vec::<f32>().unwrap());
            // New sizes and new elements compile nothing.
            let wider = x.slice((3..40, ..)).eval().unwrap().clone();
            assert_no_recompile!(kernels, f(&wider));
        }
    }
}

#[test]
fn reductions_of_the_same_elements_share_a_pass() {
    let x = rows();
    let f = jit(|x: Expr| (x.min(-1), x.max(-1), x.sum(-1)));
    assert_kernels!(f, (&x,), 1);
    let f = jit(|x: Expr| (x.mean(0), x.var(0)));
    assert_kernels!(f, (&x,), 1);
}

#[test]
fn views_cost_no_kernel() {
    let x = rows();
    let f = jit(|x: Expr| (x.mt().slice((1.., ..-1)) * 2 + 1).flip(0));
    assert_kernels!(f, (&x,), 1);
    let f = jit(|x: Expr| sliding_window(x, 7, 1).mean(-1));
    assert_kernels!(f, (&x,), 1);
    let f = jit(|x: Expr| x.reshape([-1]).reshape([70, 40]) + 1);
    assert_kernels!(f, (&x,), 1);
    let f = jit(|x: Expr| x + dtype(DType::F32).arange(70) * 0.5);
    assert_kernels!(f, (&x,), 1);
    // Each joined array is computed in place.
    let f = jit(|x: Expr| concat([x * 2, exp(x)], 0));
    assert_kernels!(f, (&x,), 2);
}

#[test]
fn a_copy_of_another_shape_runs_apart() {
    // Two of the copy's three axes have the extent of another axis of its result.
    let x = arange(4).reshape([2, 2]);
    let f = jit(|x: Expr| concat([x.repeat(2, 0), x], 0) + 1);
    assert_eq!(f(&x).to_string(), "[[1 2]\n [1 2]\n [3 4]\n [3 4]\n [1 2]\n [3 4]]");
}

#[test]
fn dying_operands_give_their_memory() {
    let f = jit(|x: Expr| softmax(x, -1));
    let expected = f(&rows()).to_vec::<f32>().unwrap();
    let x = rows().eval().unwrap().clone();
    let result = assert_in_place!(f, (x.donate(),));
    assert_eq!(result.to_vec::<f32>().unwrap(), expected);
}

#[test]
fn short_windows_are_ops_on_neighbours() {
    let x = rows();
    // Means of 3x3 windows, with their users, and of computed arrays.
    let blur = |x: Expr| x - sliding_window(exp(x * 0.1), [3, 3], [0, 1]).mean([-2, -1]).sum(..);
    let f = jit(blur);
    let reference = jit(blur).fuse(false);
    assert_eq!(f(&x).to_vec::<f32>().unwrap(), reference(&x).to_vec::<f32>().unwrap());
    let f = jit(|x: Expr| (sliding_window(x, 7, 1) * 0.5).std(-1) + 1);
    assert_kernels!(f, (&x,), 1);
    // A window's extent is part of the program, but arrays of other sizes share kernels.
    let wider = x.slice((3..40, 2..)).eval().unwrap().clone();
    assert_no_recompile!(kernels, f(&wider));
    assert_eq!(f.explain(Stage::Kernels).matches("reduces").count(), 0);
}

#[test]
fn reductions_wait_for_others_of_the_same_elements() {
    let x = rows();
    let f = jit(|x: Expr| (x.mean(-1), x.var(-1)));
    assert_kernels!(f, (&x,), 1);
    let text = f.explain(Stage::Kernels);
    // The sums of elements, distances and squares. (The reference sample of distances is one element of four places.)
    assert_eq!(text.matches("reduces").count(), 1, "{text}");
    let f = jit(|x: Expr| layer_norm(x, -1));
    assert_kernels!(f, (&x,), 1);
    let text = f.explain(Stage::Kernels);
    assert_eq!(text.matches("reduces").count(), 1, "{text}");
}
