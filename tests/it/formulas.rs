//! New arrays in traced functions: kernels compute their elements, with the arrays' bits.

use ndjit::{Array, DType, Expr, Stage, arange, dtype, eye, from_fn, full, jit, linspace, ones, strong, where_, zeros};

/// The array in a traced function, and whether it reads it from memory.
fn traced(array: &Array) -> (Array, bool) {
    let array = array.clone();
    let f = jit(move |yes: Expr| where_(yes, &array, &array));
    let made: Array = f.call((true,)).unwrap();
    (made, f.explain(Stage::Graph).lines().next().is_some_and(|header| header.contains("%1")))
}

#[test]
fn kernels_compute_what_the_array_holds() {
    let arrays = [
        zeros([2, 3]),
        dtype(DType::C64).ones([3]),
        ones([0, 2]),
        full([4], 7),
        full([4], strong(0.1f32)),
        dtype(DType::Bf16).full([2], 1e-3),
        eye((3, 5, 1)),
        eye((5, 3, -2)),
        dtype(DType::I8).eye((2, 2, 100)),
        arange(7),
        arange((5, -9, -3)),
        dtype(DType::U64).arange(((1u64 << 63) + 5)..((1u64 << 63) + 9)),
        dtype(DType::F16).arange(2040..2060),
        arange((0.1, 3.0, 0.3)),
        dtype(DType::F64).arange((-0.0, 1.0, 0.25)),
        linspace(0.0..=1.0, 11),
        linspace(-1e308..=1e308, 7),
        dtype(DType::F64).linspace(-1.7e308..=1.7e308, 7),
        dtype(DType::F64).linspace(-1.7e308..1.6e308, 8),
        dtype(DType::F64).linspace(0.0..=1e-320, 1000),
        dtype(DType::F64).arange((-1.7e308, 1.7e308, 3e307)),
        arange((0.0, 1.0, f64::INFINITY)),
        linspace(3.0..1.0, 5),
        linspace(16777217..=33554433, 4),
        linspace(0.0..=1.0, 1),
        linspace(0.0..=1.0, 0),
        arange(0),
    ];
    for array in &arrays {
        let (made, reads) = traced(array);
        assert!(!reads, "{array:?}");
        assert_eq!((made.dtype(), made.shape()), (array.dtype(), array.shape()));
        assert_eq!(format!("{made:?} {made}"), format!("{array:?} {array}"));
        let bits = |x: &Array| x.clone().cast(DType::C128).to_vec::<ndjit::Complex<f64>>().unwrap();
        let same = |(a, b): (&ndjit::Complex<f64>, &ndjit::Complex<f64>)| {
            a.re.to_bits() == b.re.to_bits() && a.im.to_bits() == b.im.to_bits()
        };
        assert!(bits(&made).iter().zip(&bits(array)).all(same), "{made} {array}");
    }
}

#[test]
fn arrays_of_given_elements_are_read() {
    assert!(traced(&Array::from([1.0f32, 2.0])).1);
}

#[test]
fn what_a_traced_function_makes_of_new_arrays_is_computed_too() {
    let table = || from_fn([3, 4], |[row, column]| (row * 10 - column).cast(DType::F32).sin() * 0.1);
    let powers = || dtype(DType::F32).logspace(0.0..=2.0, 4);
    let f = jit(move |x: Expr| x * table() + powers());
    let x = Array::from_rows(&[[1.5f32, -2.0, 0.0, 4.0]; 3]);
    let traced = f(&x);
    let reads = f.explain(Stage::Graph).lines().next().is_some_and(|header| header.contains("%1"));
    assert!(!reads, "{}", f.explain(Stage::Graph));
    let eager = &x * table() + powers();
    assert_eq!(traced.to_vec::<f32>().unwrap(), eager.to_vec::<f32>().unwrap());
    // Its nodes have the lines of the operations.
    assert!(f.explain(Stage::Graph).contains("sin"), "{}", f.explain(Stage::Graph));
}

#[test]
fn what_is_made_before_or_of_elements_is_read() {
    let before = from_fn([3], |[i]| &i * &i);
    let elements = Array::from([1, 2, 3]);
    for function in [
        Box::new(move |x: Expr| x + &before) as Box<dyn Fn(Expr) -> Expr + Send + Sync>,
        Box::new(move |x: Expr| x + &elements * arange(3)),
        Box::new(|x: Expr| {
            let table = from_fn([3], |[i]| &i * &i);
            // It has elements now.
            table.eval().unwrap();
            x + table
        }),
    ] {
        let f = jit(move |x: Expr| function(x));
        f.call((arange(3),)).unwrap();
        let text = f.explain(Stage::Graph);
        assert!(text.lines().next().is_some_and(|header| header.contains("%1")), "{text}");
    }
}
