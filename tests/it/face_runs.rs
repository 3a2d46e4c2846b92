//! Plans, threads, depth: the behaviour of the public API.

use ndjit::*;
use rayon::prelude::*;
use std::sync::Arc;

#[test]
fn sizes_and_numbers_compile_nothing_new() {
    let f = jit(|x, y, k| (x + y * 2) * k);
    let run = |n: usize, k: f64| {
        let x = vec![1.0f32; n];
        f.call((&x, &x, k)).unwrap().to_vec::<f32>().unwrap()
    };
    assert_eq!(run(100, 2.0), vec![6.0; 100]);
    assert_eq!((f.trace_count(), f.compile_count()), (1, 1));
    assert_eq!(assert_no_recompile!(run(100, 3.0)), vec![9.0; 100]);
    assert_eq!(assert_no_recompile!(kernels, run(101, 3.0)), vec![9.0; 101]);
    // The kernel is shared, not only uncompiled.
    assert_eq!((f.trace_count(), f.compile_count()), (2, 1));
}

#[test]
fn plans_are_bounded() {
    let f = jit(|x| x + 1);
    for _ in 0..2 {
        for n in 1..100 {
            assert_eq!(f.call((&vec![1i32; n],)).unwrap().len(), n);
        }
    }
    assert_eq!(f.trace_count(), 198);
    assert_no_recompile!(f.call((&vec![1i32; 99],))).unwrap();
}

#[test]
fn sixty_four_threads_share_a_function() {
    let w = Array::from(vec![0.5f32; 1000]);
    let f = Arc::new(jit(move |x, y| x + y * 2 + &w));
    let x = Array::from(vec![1.0f32; 1000]);
    std::thread::scope(|scope| {
        for t in 0..64 {
            let (f, x) = (&f, &x);
            scope.spawn(move || {
                for i in 0..50 {
                    let y = vec![(t * i) as f32; 1000];
                    let z = f.call((x, &y)).unwrap().to_vec::<f32>().unwrap();
                    assert!(z.iter().all(|&z| z == 1.5 + 2.0 * (t * i) as f32));
                }
            });
        }
    });
    assert_eq!(f.trace_count(), 1);
}

#[test]
fn weakness_stays() {
    let x = Array::scalar(weak(2)) * 3;
    assert!(x.is_weak());
    x.eval().unwrap();
    assert_eq!(x.dtype(), DType::I32);
    assert_eq!((&x + Array::from([1i8])).dtype(), DType::I8);
    let f = jit(|x| x + 1);
    let y = f.call((&x,)).unwrap();
    assert_eq!((y.is_weak(), y.item::<i32>().unwrap()), (true, 7));
    assert_eq!(y.to_string(), "7 i*");
}

#[test]
fn explain_prints_every_stage() {
    let f = jit(|x, y| x + y * 2);
    assert!(f.explain(Stage::Graph).contains("the function was not called yet"));
    f.call((&[1.0f32], &[1i8])).unwrap();
    for &stage in Stage::ALL {
        let text = f.explain(stage);
        // Without the GPU feature no driver can be queried.
        let whole = cfg!(feature = "gpu") || stage != Stage::Spirv;
        assert!(!text.trim().is_empty() && (!whole || !text.contains("error[")), "{stage:?}: {text}");
    }
    let graph = f.explain(Stage::Graph);
    assert!(graph.contains("i*") && graph.contains("face_runs.rs"), "{graph}");
}

/// Runs `body` on a thread with a small stack.
fn on_small_stack(body: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, body).unwrap().join().unwrap();
    });
}

#[test]
fn a_long_lazy_chain_on_a_small_stack() {
    on_small_stack(|| {
        let mut x = Array::from([0i64, 1]);
        for _ in 0..100_000 {
            x += 1;
        }
        assert_eq!(x.to_vec::<i64>().unwrap(), [100_000, 100_001]);
    });
}

#[test]
fn sharing_is_not_repeated() {
    let mut x = Array::from([1.0f64]);
    for _ in 0..1000 {
        x = &x + &x;
    }
    assert_eq!(x.item::<f64>().unwrap(), 2.0f64.powi(1000));
}

#[test]
fn a_donated_array_gives_its_memory() {
    let f = jit(|x| x + 1);
    // Smaller ones are moved to aligned memory.
    let v = vec![1.0f32; 1 << 19];
    let address = v.as_ptr();
    let z = assert_in_place!(f, (Array::from(v).donate(),));
    let z = z.into_vec::<f32>().unwrap();
    assert_eq!(z.as_ptr(), address);
    let x = Array::from([1.0f32]);
    let z = assert_in_place!(f, (x.clone(),), 0);
    assert_eq!((x.item::<f32>().unwrap(), z.item::<f32>().unwrap()), (1.0, 2.0));
}

#[test]
fn functions_made_inside_a_traced_function_are_told_apart() {
    // Each is dropped before the next is built, so their addresses may be equal.
    let f = jit(|x: Expr| {
        let a = jit(|x| x + 1).inline((x,));
        let b = jit(|x| x * 3).inline((x,));
        let c = jit(|x| x - 7).inline((x,));
        [a, b, c]
    });
    let [a, b, c] = f(&Array::from([5i32]));
    let items = [a, b, c].map(|array| array.item::<i32>().unwrap());
    assert_eq!(items, [6, 15, -2]);
}

#[test]
fn a_function_without_results_is_called() {
    let f = jit(|x: Expr| {
        let none = jit(|_x| Vec::<Expr>::new()).inline((x,));
        assert!(none.is_empty());
        x + 1
    });
    assert_eq!(f(&Array::from([1u8])).item::<u8>().unwrap(), 2);
}

#[test]
fn calls_from_workers_that_share_a_lazy_array() {
    let w = Array::from(vec![2.0f32; 1 << 20]) * 1.5;
    let f = jit(move |x: Expr| x * &w);
    let xs: Vec<Array> = (0..8).map(|i| Array::from(vec![i as f32; 1 << 20])).collect();
    let sums: Vec<f32> = xs.par_iter().map(|x| f.call((x,)).unwrap().to_vec::<f32>().unwrap()[7]).collect();
    assert_eq!(sums, [0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0]);
}

#[test]
fn equal_shapes_and_empty_arrays_compile_nothing_new() {
    let f = jit(|x: Expr, y: Expr| [x * 2, y * 3]);
    let call = |n: usize, m: usize| {
        f.call((&vec![1.0f32; n], &vec![1.0f32; m])).unwrap();
        f.compile_count()
    };
    let first = call(3, 4);
    // Equal extents of two shapes do not cause compilation.
    assert_eq!([call(5, 5), call(100, 7), call(0, 2)], [first; 3]);
    let g = jit(|x: Expr, k: Expr| x * k + 0.5);
    let with = |n: usize, k: f64| {
        g.call((&vec![1.0f32; n], k)).unwrap();
        g.compile_count()
    };
    let first = with(2, 1.0);
    assert_eq!([with(2, 2.0), with(9, -1.0), with(1 << 16, 1e9)], [first; 3]);
}

type E = Expr;

#[expect(clippy::too_many_arguments, clippy::many_single_char_names)]
fn twelve(a: E, b: E, c: E, d: E, e: E, f: E, g: E, h: E, i: E, j: E, k: E, l: E) -> E {
    a * 2 + b + c + d + e + f + g + h + i + j + k + l * l
}

/// Twelve parameters are the limit, as for traits of tuples in the standard library.
#[test]
fn a_function_takes_twelve_parameters() {
    let x: [Array; 12] = std::array::from_fn(|n| Array::from([n as f32 + 1.0, 0.5]));
    let [a, b, c, d, e, f, g, h, i, j, k, l] = &x;
    let arguments = (a, b, c, d, e, f, g, h, i, j, k, l);
    assert_eq!(jit(twelve).call(arguments).unwrap().to_vec::<f32>().unwrap(), [211.0, 6.25]);
    let slope = grad(|a: E, b: E, c: E, d: E, e: E, f: E, g: E, h: E, i: E, j: E, k: E, l: E| {
        sum(twelve(a, b, c, d, e, f, g, h, i, j, k, l), ..)
    });
    assert_eq!(jit(slope).call(arguments).unwrap().to_vec::<f32>().unwrap(), [2.0, 2.0]);
}
