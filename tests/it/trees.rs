//! Functions of structures: structs, tuples and lists as parameters, through `jit`, gradients, lanes and loops; signatures by structure; errors.

use ndjit::jit::JitFn;
use ndjit::{
    Array, ErrorCode, Expr, Jitted, Same, arange, checkpoint, grad, grad_aux, in_axes, jit, outputs, scan, spec, sum,
    tanh, trees, value_and_grad, vmap, wrt,
};

struct Layer<T> {
    weights: T,
    bias: T,
}
outputs!(Layer<Expr> => Layer<Array> { weights, bias });

struct Net<T> {
    layers: Vec<Layer<T>>,
    scale: T,
}
outputs!(Net<Expr> => Net<Array> { layers, scale });

fn value(n: f64) -> Array {
    Array::from(n)
}

fn net(layers: &[(f64, f64)]) -> Net<Array> {
    let layer = |&(weights, bias): &(f64, f64)| Layer { weights: value(weights), bias: value(bias) };
    Net { layers: layers.iter().map(layer).collect(), scale: value(2.0) }
}

fn output(net: Net<Expr>, x: Expr) -> Expr {
    let y = net.layers.into_iter().fold(x, |x, layer| tanh(x * layer.weights + layer.bias));
    sum(y * net.scale, ..)
}

fn numbers(net: &Net<Array>) -> Vec<f64> {
    let layers = net.layers.iter().flat_map(|layer| [&layer.weights, &layer.bias]);
    layers.chain([&net.scale]).map(|x| x.item().unwrap()).collect()
}

fn of_leaves(x: &Array, leaves: &[f64]) -> f64 {
    let x: Vec<f64> = x.to_vec().unwrap();
    let (layers, scale) = leaves.split_at(leaves.len() - 1);
    x.iter().map(|&x| layers.chunks(2).fold(x, |x, layer| (x * layer[0] + layer[1]).tanh()) * scale[0]).sum()
}

#[test]
fn gradients_have_the_structure_of_the_first_parameter() {
    let f = jit(value_and_grad(trees(output)));
    let x = Array::from([0.5f64, -1.0, 2.0]);
    for layers in [&[(0.5, 0.25), (-1.0, 0.5)][..], &[(1.5, 0.0)], &[]] {
        let own = net(layers);
        let leaves = numbers(&own);
        let (y, by) = f(&own, &x);
        assert!((y.item::<f64>().unwrap() - of_leaves(&x, &leaves)).abs() < 1e-14);
        assert_eq!(by.layers.len(), layers.len());
        for (n, slope) in numbers(&by).into_iter().enumerate() {
            let at = |step: f64| {
                let mut own = leaves.clone();
                own[n] += step;
                of_leaves(&x, &own)
            };
            let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - expected).abs() < 1e-8, "{n}: {slope}, not {expected}");
        }
    }
    // Lists of each length are a signature.
    assert_eq!(f.trace_count(), 3);
    f(&net(&[(1.0, 2.0)]), &x);
    assert_eq!(f.trace_count(), 3);
}

#[test]
fn as_many_leaves_in_other_lists_are_another_signature() {
    let f = jit(trees(|x: Vec<Expr>, y: Vec<Expr>| {
        let all = |list: Vec<Expr>| list.into_iter().fold(Expr::from(0.0), |a, b| a + b);
        all(x) - all(y)
    }));
    let of = |n: usize| (0..n).map(|n| value(n as f64 + 1.0)).collect::<Vec<Array>>();
    assert_eq!(f(&of(2), &of(1)).item::<f64>().unwrap(), 2.0);
    assert_eq!(f(&of(1), &of(2)).item::<f64>().unwrap(), -2.0);
    assert_eq!(f.trace_count(), 2);
    assert_eq!(f.call((&of(2), &of(1))).unwrap().item::<f64>().unwrap(), 2.0);
    assert_eq!(f.trace_count(), 2);
    let misses = f.explain_cache_misses();
    assert!(misses[1].differences.join(" ").contains("lists of other lengths"), "{:?}", misses[1].differences);
}

#[test]
fn structures_nest_with_transformations_and_options() {
    let x = Array::from([0.5f64, -1.0]);
    let own = net(&[(0.5, 0.25), (-1.0, 0.5)]);
    let plain = numbers(&jit(grad(trees(output)))(&own, &x));
    // In a jitted function; in a checkpointed one; in the interpreter.
    assert_eq!(numbers(&jit(grad(jit(trees(output))))(&own, &x)), plain);
    assert_eq!(numbers(&jit(grad(checkpoint(trees(output))))(&own, &x)), plain);
    assert_eq!(numbers(&jit(grad(trees(output))).interpreted(true)(&own, &x)), plain);
    // With respect to another parameter, a single array.
    let by_x = jit(wrt(1).grad(trees(output)))(&own, &x);
    assert_eq!(by_x.shape().extents(), [2]);
    // Auxiliary results.
    let (by, y) = jit(grad_aux(trees(|net: Net<Expr>, x: Expr| (output(net, x), x * 2))))(&own, &x);
    assert_eq!((numbers(&by), y.to_vec::<f64>().unwrap()), (plain.clone(), vec![1.0, -2.0]));
    // In a traced function a transformed function is a closure.
    let step = jit(trees(|own: Net<Expr>, x: Expr| {
        let scale = own.scale;
        let slopes = grad(trees(output))(own, x);
        slopes.scale + scale
    }));
    assert_eq!(step(&own, &x).item::<f64>().unwrap(), plain.last().unwrap() + 2.0);
}

#[test]
fn training_in_a_loop_keeps_the_structure() {
    // One jitted scan of steps: parameters go in and come out as a struct.
    let train = jit(trees(|own: Net<Expr>, x: Expr, y: Expr| {
        let loss = move |own: Net<Expr>, x: Expr, y: Expr| {
            let error = own.layers.into_iter().fold(x, |x, layer| x * layer.weights + layer.bias) * own.scale - y;
            sum(error * error, ..)
        };
        let step = move |own: Net<Expr>, _: Expr| {
            let given = Net {
                layers: own.layers.iter().map(|own| Layer { weights: own.weights, bias: own.bias }).collect(),
                scale: own.scale,
            };
            let (value, by) = value_and_grad(trees(loss))(given, x, y);
            let less = |x: Expr, slope: Expr| x - slope * 0.01;
            let layers = own.layers.into_iter().zip(by.layers);
            let next =
                layers.map(|(own, by)| Layer { weights: less(own.weights, by.weights), bias: less(own.bias, by.bias) });
            (Net { layers: next.collect(), scale: less(own.scale, by.scale) }, value)
        };
        scan(step, own, Expr::from(arange(200)))
    }));
    let x = Array::from([0.0f64, 1.0, 2.0]);
    let (trained, losses) = train(&net(&[(0.1, 0.0)]), &x, &(&x * 3.0 + 1.0));
    let losses: Vec<f64> = losses.to_vec().unwrap();
    assert!(losses[199] < 1e-3 * losses[0], "{losses:?}");
    let own = numbers(&trained);
    assert!((own[0] * own[2] - 3.0).abs() < 0.1 && (own[1] * own[2] - 1.0).abs() < 0.1, "{own:?}");
}

#[test]
fn lanes_of_structures() {
    let f = |(a, b): (Expr, Expr), x: Expr| sum(a * x, ..) + b;
    let (a, b) = (Array::from_rows(&[[1.0f64, 2.0], [3.0, 4.0]]), Array::from([10.0f64, 20.0]));
    let x = Array::from([1.0f64, -1.0]);
    let all = jit(vmap(trees(f), (0, Same)));
    assert_eq!(all(&(a.clone(), b.clone()), &x).to_vec::<f64>().unwrap(), [9.0, 19.0]);
    // Gradients of each lane.
    let (by_a, by_b) = jit(vmap(grad(trees(f)), (0, Same)))(&(a, b), &x);
    assert_eq!(by_a.to_vec::<f64>().unwrap(), [1.0, -1.0, 1.0, -1.0]);
    assert_eq!(by_b.to_vec::<f64>().unwrap(), [1.0, 1.0]);
}

#[test]
fn lanes_of_results_are_where_they_are_said_to_be() {
    let x = Array::from_rows(&[[1, 2, 3], [4, 5, 6]]);
    let columns = jit(vmap(|x| (x * 2, sum(x, ..)), in_axes(0).out_axis(-1)));
    let (twice, sums) = columns(&x);
    assert_eq!(twice.shape().extents(), [3, 2]);
    assert_eq!(twice.to_vec::<i32>().unwrap(), [2, 8, 4, 10, 6, 12]);
    assert_eq!(sums.to_vec::<i32>().unwrap(), [6, 15]);
    let same = jit(vmap(|x| x + 1, in_axes(Same).axis_size(2)));
    assert_eq!(same(&x).shape().extents(), [2, 2, 3]);
    let both = jit(vmap(|x: Expr, y: Expr| x + y, in_axes((0, Same)).axis_size(2)));
    assert_eq!(both(&x, &Array::from(1)).shape().extents(), [2, 3]);
    let error = jit(vmap(|x| x, in_axes(0).axis_size(3))).call((&x,)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Shape);
    assert!(error.to_string().contains("axis_size: 3"), "{error}");
    let error = jit(vmap(|x| sum(x, ..), in_axes(0).out_axis(1))).call((&x,)).unwrap_err();
    assert!(error.headline().starts_with("vmap: "), "{error}");
    let error = jit(vmap(|x| x, Same)).call((&x,)).unwrap_err();
    assert!(error.to_string().contains("axis_size"), "{error}");
}

#[test]
fn memory_of_owned_structures_becomes_the_results() {
    let f = jit(trees(|own: Layer<Expr>| Layer { weights: own.weights + 1, bias: own.bias * 2 }));
    let own = || Layer { weights: arange(1000) + 0, bias: arange(1000) + 1 };
    let made = ndjit::assert_in_place!(f, (own(),), 2);
    assert_eq!(made.weights.to_vec::<i32>().unwrap()[9], 10);
    assert_eq!(f(&own()).bias.to_vec::<i32>().unwrap()[9], 20);
}

#[test]
fn specs_are_those_of_the_leaves() {
    let f = jit(trees(|own: Layer<Expr>, x: Expr| own.weights * x + own.bias));
    let float = |extents: &[usize]| spec(ndjit::DType::F32, extents.to_vec());
    let compiled = f.trace(&[float(&[2]), float(&[]), float(&[2])]).unwrap().lower().unwrap().compile().unwrap();
    let own = Layer { weights: Array::from([1.0f32, 2.0]), bias: Array::from(0.5f32) };
    assert_eq!(compiled.call((&own, &[10.0f32, 20.0])).unwrap().to_vec::<f32>().unwrap(), [10.5, 40.5]);
    let error = f.trace(&[float(&[2])]).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Arity);
}

fn refused<M, F: JitFn<M, 1>>(f: &Jitted<M, 1, F>, given: &Layer<Array>) -> ndjit::Error {
    f.call((given,)).map(|_| ()).unwrap_err()
}

#[test]
fn other_structures_are_errors() {
    let own = Layer { weights: value(1.0), bias: value(2.0) };
    // A structure where a function takes an array.
    let error = refused(&jit(|x| x + 1), &own);
    assert_eq!(error.code(), ErrorCode::Arity);
    assert!(error.to_string().contains("structure of 2 arrays"), "{error}");
    // Another structure; an array for a structure.
    let error = refused(&jit(trees(|own: Vec<Expr>| own[0])), &own);
    assert!(error.to_string().contains("argument 0 has another structure"), "{error}");
    let f = jit(trees(|own: Layer<Expr>, x: Expr| own.weights + x));
    assert_eq!(f.call((&value(1.0), &value(2.0))).map(|_| ()).unwrap_err().code(), ErrorCode::Arity);
    // The same number of leaves, in another structure.
    let f = jit(trees(|x: (Expr, Expr), y: Expr| x.0 - x.1 * y));
    assert!(f.call((&(value(1.0), value(2.0)), &value(3.0))).is_ok());
    let error = f.call((&value(1.0), &(value(2.0), value(3.0)))).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Arity);
    // With respect to a structured parameter other than the first.
    let f = jit(wrt(1).grad(trees(|x: Expr, own: Layer<Expr>| sum(x * own.weights, ..))));
    let error = f.call((&value(1.0), &own)).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("parameter 1 is a structure of 2 arrays"), "{error}");
    // Integers as the only variables have no gradients.
    let error = jit(grad(trees(|x: Expr| sum(x, ..)))).call((&arange(3),)).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::DType);
}
