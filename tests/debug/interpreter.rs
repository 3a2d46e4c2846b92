//! Functions and arrays in the reference interpreter have the results of compiled code.

use ndjit::debug::with_jit_disabled;
use ndjit::{Array, CountingAllocator, DType, Expr, Stage, assert_kernels, exp, jit, keepdims, stats, sum, weak};

type Results = (Expr, [Expr; 2], Vec<Expr>);

fn everything(x: Expr, y: Expr) -> Results {
    let shares = x / x.sum(keepdims(-1));
    let moved = ndjit::concat([&shares.mt(), &shares.mt()], 0);
    (exp(shares) + y, [moved, ndjit::cumulative_sum(x, 1)], vec![x.argmax(1), x.mean(0), ndjit::remainder(x, 0.75)])
}

fn bits(array: &Array) -> (DType, Vec<usize>, String) {
    let array = if array.dtype() == DType::F32 {
        array.to_vec::<f32>().map(|v| v.iter().map(|x| x.to_bits()).collect())
    } else {
        array.cast(DType::I64).to_vec::<i64>().map(|v| v.iter().map(|&x| x as u32).collect::<Vec<u32>>())
    }
    .map(|words: Vec<u32>| (array.dtype(), array.shape().extents().to_vec(), format!("{words:x?}")));
    array.unwrap()
}

fn all((a, b, c): &(Array, [Array; 2], Vec<Array>)) -> Vec<(DType, Vec<usize>, String)> {
    std::iter::once(a).chain(b).chain(c).map(bits).collect()
}

#[test]
fn functions_give_the_same_bits() {
    let rows: Vec<f32> = (0..35).map(|i| (i as f32 * 0.7).sin() * 3.0).collect();
    let x = Array::from_shape_vec([5, 7], rows).unwrap();
    let f = jit(everything);
    let interpreted = jit(everything).interpreted(true);
    let strided = x.mt();
    let weak_array = Array::scalar(weak(2.5));
    for y in [&Array::from([0.25f32]), &weak_array] {
        for x in [&x, &strided, &ndjit::flip(&x, 0), &x.slice((1..4, ndjit::step(2)))] {
            let compiled = f.call((x, y)).unwrap();
            assert_eq!(all(&compiled), all(&interpreted.call((x, y)).unwrap()));
            assert_eq!(all(&compiled), all(&with_jit_disabled(|| f.call((x, y)).unwrap())));
        }
    }
    let (a, _, _) = interpreted.call((&x, 3)).unwrap();
    assert_eq!(bits(&a), bits(&f.call((&x, 3)).unwrap().0), "numbers are passed");
    assert_eq!(interpreted.compile_count(), 0);
    assert!(interpreted.explain(Stage::Kernels).contains("kernel"), "what would be compiled is shown");
    assert_eq!(interpreted.stats().kernels.len(), f.kernels().len());
}

#[test]
fn nothing_is_compiled() {
    let before = stats().kernels_compiled;
    let w = ndjit::flip(Array::from([2.5f64, 1.5]), 0);
    let f = jit(move |x, n| (ndjit::tanh(x * 0.3125) + n) * &w).interpreted(true);
    let x = Array::from([1.0f64, -2.0]);
    let mut out = [0.0f64; 2];
    f.call_into((&x, 2), &mut out).unwrap();
    let z = f.call((x.clone().donate(), 2)).unwrap();
    assert_eq!(z.to_vec::<f64>().unwrap(), out);
    assert_eq!(out, [((0.3125f64).tanh() + 2.0) * 1.5, ((-0.625f64).tanh() + 2.0) * 2.5]);
    assert_eq!((f.compile_count(), f.trace_count()), (0, 1));
    let _ = (before, CountingAllocator::is_installed());
    assert_kernels!(f, (&x, 2), 1);
    let empty = Array::from(Vec::<f64>::new()).reshape([0, 2]);
    assert_eq!(f.call((&empty, 1)).unwrap().shape().extents(), [0, 2]);
    // A scalar that does not fit is an error here too.
    let bytes = jit(|x, n| x + n).interpreted(true);
    assert_eq!(bytes.call((&[1u8], 300)).unwrap_err().code(), ndjit::ErrorCode::Literal);
}

#[test]
fn arrays_are_interpreted_as_well() {
    let x = Array::from([1.0f32, 2.0, 4.0]);
    let lazy = || sum(exp(&x) * 1.0625, ..) - 3;
    let compiled = lazy().item::<f32>().unwrap();
    let interpreted = with_jit_disabled(|| lazy().item::<f32>().unwrap());
    assert_eq!(compiled.to_bits(), interpreted.to_bits());
    let seen = with_jit_disabled(|| (ndjit::flip(&x, 0) + 1).to_vec::<f32>().unwrap());
    assert_eq!(seen, [5.0, 3.0, 2.0]);
}
