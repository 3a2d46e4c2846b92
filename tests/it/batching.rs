//! `vmap` is a loop over lanes, bit for bit; its errors; Jacobians and gradients of lanes.

use ndjit::{
    Array, Expr, Same, cond, fori_loop, grad, grad_aux, hessian, hvp, jacfwd, jacrev, jit, scan, sum, vmap, vmap_at,
    where_, while_loop,
};

const LANES: usize = 3;

fn bits(array: &Array) -> (Vec<usize>, Vec<u64>) {
    let all: Vec<f64> = ndjit::cast(array, ndjit::DType::F64).to_vec().unwrap();
    (array.shape().extents().to_vec(), all.into_iter().map(f64::to_bits).collect())
}

/// Lanes of two arguments, compared with the function of each.
fn law(name: &str, f: impl Fn(Expr, Expr) -> Expr + Copy + Send + Sync + 'static, shape: &[usize]) {
    let of = |lane: usize, scale: f64| {
        let count: usize = shape.iter().product();
        let data: Vec<f64> =
            (0..count).map(|n| scale * ((n * 7 + lane * 5) % 11) as f64 - 1.3 + lane as f64 * 0.3).collect();
        Array::from(data).reshape(shape.iter().map(|&n| n as isize).collect::<Vec<isize>>())
    };
    let (x, y): (Vec<Array>, Vec<Array>) = (0..LANES).map(|lane| (of(lane, 0.4), of(lane + 5, 0.3))).unzip();
    let one = jit(move |x: Expr, y: Expr| f(x, y));
    let expect = |pairs: &[(&Array, &Array)]| {
        let each: Vec<Array> =
            pairs.iter().map(|(x, y)| one.call((*x, *y)).unwrap_or_else(|e| panic!("{name}: {e:#}"))).collect();
        ndjit::stack(&each, 0)
    };
    let (all_x, all_y) = (ndjit::stack(&x, 0), ndjit::stack(&y, 0));
    let pairs: Vec<(&Array, &Array)> = x.iter().zip(&y).collect();
    let found = jit(vmap(f, 0)).call((&all_x, &all_y)).unwrap_or_else(|e| panic!("{name}: {e:#}"));
    assert_eq!(bits(&found), bits(&expect(&pairs)), "{name}");
    let pairs: Vec<(&Array, &Array)> = x.iter().map(|x| (x, &y[0])).collect();
    let found = jit(vmap(f, (0, Same))).call((&all_x, &y[0])).unwrap_or_else(|e| panic!("{name}, first: {e:#}"));
    assert_eq!(bits(&found), bits(&expect(&pairs)), "{name}, first");
    let pairs: Vec<(&Array, &Array)> = y.iter().map(|y| (&x[0], y)).collect();
    let last = ndjit::moveaxis(&all_y, [0], [-1]);
    let found = jit(vmap(f, (Same, -1))).call((&x[0], &last)).unwrap_or_else(|e| panic!("{name}, second: {e:#}"));
    assert_eq!(bits(&found), bits(&expect(&pairs)), "{name}, second");
    // And their gradients.
    let value = move |x: Expr, y: Expr| sum(f(x, y) * 1.5, ..);
    let one = jit(grad(value));
    let each: Vec<Array> =
        x.iter().zip(&y).map(|(x, y)| one.call((x, y)).unwrap_or_else(|e| panic!("{name}: {e:#}"))).collect();
    let found = jit(vmap(grad(value), 0)).call((&all_x, &all_y)).unwrap_or_else(|e| panic!("{name}, gradient: {e:#}"));
    assert_eq!(bits(&found), bits(&ndjit::stack(&each, 0)), "{name}, gradient");
}

#[test]
fn lanes_are_a_loop() {
    law("op", |x, y| ndjit::sin(x) * y + 2.0, &[4]);
    law("broadcast", |x, y| x * sum(y, ..) + y, &[2, 3]);
    law("where", |x, y| where_(x.gt(y), x, y * y), &[4]);
    law("reduce", |x, y| sum(x * y, 0), &[3, 2]);
    law("keepdims", |x, y| x - ndjit::max(y, ndjit::keepdims(-1)), &[3, 2]);
    law("std", |x, y| ndjit::std(x, 0) * ndjit::norm(y, ..), &[3, 2]);
    law("scan", |x, y| ndjit::cumulative_sum(x * y, 1), &[2, 3]);
    law("sort", |x, y| ndjit::sort(x, 0) + y, &[5]);
    law("view", |x, y| ndjit::flip(x, 0) + ndjit::permute_dims(y, [1, 0]).slice((.., 0..1)), &[2, 2]);
    law("windows", |x, y| sum(ndjit::sliding_window(x, 3, 0) * sum(y, ..), 1), &[6]);
    law("reshape", |x, y| ndjit::reshape(ndjit::permute_dims(x, [1, 0]), -1) * ndjit::reshape(y, -1), &[2, 3]);
    law("concat", |x, y| ndjit::concat(&[x, y * 2.0], 1), &[2, 3]);
    law("take", |x, y| ndjit::take(x, Array::from([2i64, 0]), 0) * ndjit::take(y, 1, 0), &[3, 2]);
    law("take by lanes", |x, y| ndjit::take(x, ndjit::argsort(sum(y, 1), 0), 0), &[3, 2]);
    law("set", |x, y| x.at((1,)).set(y.slice((0,)) * 3.0), &[2, 3]);
    law("add", |x, y| x.at(Array::from([0i64, 0, 2])).add(y.slice((..3,))), &[4]);
    law("add by lanes", |x, y| x.at(ndjit::argsort(y, 0)).add(y * 2.0), &[4]);
    law("einsum", |x, y| ndjit::einsum("ij,kj->ik", [x, y]), &[2, 3]);
    law("cond", |x, y| cond(sum(x, ..).gt(1.5), |y: Expr| y * x, |y: Expr| y - 1.0, y), &[4]);
    law("large cond", |x, y| cond(sum(x, ..).gt(1.5), |y: Expr| y * x, |y: Expr| y - 1.0, y), &[80]);
    law("for", |x, y| fori_loop(0, 3, x, |i, x| x * y + i * 0.5), &[4]);
    law("for by lanes", |x, y| fori_loop(0, ndjit::cast(sum(x, ..), ndjit::DType::I32), y, |i, y| y * 0.5 + i), &[4]);
    law("while", |x, y| while_loop(x, |x| sum(x * x, ..).lt(50.0), |x| x * 1.5 + y * 0.1 + 0.1), &[4]);
    law("large while", |x, y| while_loop(x, |x| sum(x * x, ..).lt(500.0), |x| x * 1.5 + y * 0.1 + 0.1), &[80]);
    law("while together", |x, y| while_loop((x, Expr::from(0)), |(_, n)| n.lt(3), |(x, n)| (x * y, n + 1)).0, &[4]);
    law("scan of steps", |x, y| scan(|c: Expr, x: Expr| (c * 0.5 + x, c * x), sum(y, ..), x).1, &[4]);
}

#[test]
fn lanes_nest() {
    let f = jit(vmap(vmap(|x: Expr, y: Expr| sum(x * y, ..), (0, Same)), (Same, 0)));
    let x = ndjit::reshape(ndjit::arange(6.0), [2, 3]);
    let found = f(&x, &x);
    let product = ndjit::matmul(&x, &ndjit::permute_dims(&x, [1, 0]));
    assert_eq!(found.to_vec::<f32>().unwrap(), product.to_vec::<f32>().unwrap());
    let f = jit(|x: Expr| {
        let scale = sum(x, ..);
        vmap_at(|row: Expr| row * scale, x)
    });
    assert_eq!(f(&x).to_vec::<f32>().unwrap(), [0.0, 15.0, 30.0, 45.0, 60.0, 75.0]);
    let empty = jit(vmap(|x: Expr| sum(x * 2.0, ..), 0)).call((&ndjit::zeros([0, 3]),)).unwrap();
    assert_eq!(empty.shape().extents(), [0]);
}

#[test]
fn jacobians() {
    let x = Array::from([1.0f64, 2.0, 3.0]);
    let f = |x: Expr| ndjit::concat(&[x * x, ndjit::reshape(ndjit::prod(x, ..), [1])], 0);
    let expected = [2.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 6.0, 6.0, 3.0, 2.0];
    for found in [jit(jacrev(f))(&x), jit(jacfwd(f))(&x)] {
        assert_eq!(found.shape().extents(), [4, 3]);
        assert_eq!(found.to_vec::<f64>().unwrap(), expected);
    }
    let h = jit(hessian(|x: Expr| ndjit::prod(x, ..)))(&x);
    assert_eq!(h.to_vec::<f64>().unwrap(), [0.0, 3.0, 2.0, 3.0, 0.0, 1.0, 2.0, 1.0, 0.0]);
    let along = jit(|x: Expr, v: Expr| hvp(|x: Expr| ndjit::prod(x, ..), x, v));
    assert_eq!(along(&x, &Array::from([1.0f64, 0.0, 0.0])).to_vec::<f64>().unwrap(), [0.0, 3.0, 2.0]);
    let (slope, besides) = jit(grad_aux(|x: Expr| (sum(x * x, ..), (x + 1.0, sum(x, ..)))))(&x);
    assert_eq!(slope.to_vec::<f64>().unwrap(), [2.0, 4.0, 6.0]);
    assert_eq!(besides.1.item::<f64>().unwrap(), 6.0);
}

#[test]
fn wrong_lanes_say_what_to_write() {
    let (x, y) = (ndjit::zeros([2, 3]), ndjit::zeros([4]));
    let message = |error: ndjit::Error| format!("{error:#}");
    let f = jit(vmap(|x: Expr, y: Expr| x + y, 0));
    let error = message(f.call((&x, &y)).unwrap_err());
    assert!(error.contains("2 lanes and 4") && error.contains("argument 1: 4 along axis 0 of [4]"), "{error}");
    let error = message(jit(vmap(|x: Expr| x, 2)).call((&x,)).unwrap_err());
    assert!(error.contains("no axis 2") && error.contains("argument 0 has shape [2, 3]"), "{error}");
    let error = message(jit(vmap(|x: Expr| x, (Same,))).call((&x,)).unwrap_err());
    assert!(error.contains("no argument has lanes"), "{error}");
}
