//! Floating-point contraction: merged operations under the option, with the same bits on every engine.

use ndjit::{Array, Expr, Stage, cond, fori_loop, jit, sum};

fn numbers(first: f64) -> Array {
    Array::from((0..1000).map(|i| first + f64::from(i) / 7.0).collect::<Vec<f64>>())
}

#[test]
fn a_polynomial_is_rounded_once_a_step() {
    let x = numbers(0.1);
    let poly = |x: Expr| ((x * 0.3 + 0.7) * x + 1.1) * x + 1.3;
    let f = jit(poly).fp_contract(true);
    let contracted = f.call((&x,)).unwrap().to_vec::<f64>().unwrap();
    let expected = |x: f64| x.mul_add(0.3, 0.7).mul_add(x, 1.1).mul_add(x, 1.3);
    assert!(x.to_vec::<f64>().unwrap().into_iter().map(expected).eq(contracted.iter().copied()));
    assert_eq!(f.explain(Stage::Graph).matches("mul_add").count(), 3);
    let interpreted = f.interpreted(true).call((&x,)).unwrap().to_vec::<f64>().unwrap();
    assert_eq!(interpreted, contracted);
    let f = jit(poly);
    let separate = f.call((&x,)).unwrap().to_vec::<f64>().unwrap();
    assert_ne!(separate, contracted, "it makes a difference");
    assert!(!f.explain(Stage::Graph).contains("mul_add"), "nothing is contracted that nobody asks for");
}

#[test]
fn functions_inlined_and_branches_and_loops_are_contracted() {
    let (x, y) = (numbers(0.1), numbers(10.0));
    let axpy = jit(|x: Expr, y: Expr| x * y + 1.1);
    let of = |f: fn(f64, f64) -> f64| {
        let pairs = x.to_vec::<f64>().unwrap().into_iter().zip(y.to_vec::<f64>().unwrap());
        pairs.map(|(x, y)| f(x, y)).collect::<Vec<f64>>()
    };
    let f = jit(move |x: Expr, y: Expr| axpy.inline((x, y))).fp_contract(true);
    assert_eq!(f.call((&x, &y)).unwrap().to_vec::<f64>().unwrap(), of(|x, y| x.mul_add(y, 1.1)));
    let f = jit(|x: Expr, y: Expr| fori_loop(0, 3, x, |_, s: Expr| s * y + x)).fp_contract(true);
    let steps = |x: f64, y: f64| (0..3).fold(x, |s, _| s.mul_add(y, x));
    assert_eq!(f.call((&x, &y)).unwrap().to_vec::<f64>().unwrap(), of(steps));
    let f = jit(|x: Expr, y: Expr| {
        cond(sum(x, ..).gt(0), |(x, y): (Expr, Expr)| x * y + 2.2, |(x, y): (Expr, Expr)| x - y, (x, y))
    })
    .fp_contract(true);
    assert_eq!(f.call((&x, &y)).unwrap().to_vec::<f64>().unwrap(), of(|x, y| x.mul_add(y, 2.2)));
}
