//! Every documented spelling compiles, with its documented meaning.

use ndjit::*;

fn named(x: Expr, y: Expr) -> Expr {
    let d = x - y;
    (d * d).sin() + 2.0 * d
}

fn floats(array: &Array) -> Vec<f32> {
    array.to_vec().unwrap()
}

#[test]
fn closures_without_annotations() {
    let (x, y) = (Array::from(vec![1.0f32, 2.0]), Array::from([10.0f32, 20.0]));
    let f = jit(|x, y| x + y * 2);
    let z: Array = f(&x, &y);
    assert_eq!(floats(&z), [21.0, 42.0]);
    let g = jit(|x| {
        let d = x * 2;
        [d * d, d / 3.0]
    });
    let [a, b] = g(&x);
    assert_eq!((floats(&a), floats(&b)), (vec![4.0, 16.0], vec![2.0 / 3.0, 4.0 / 3.0]));
    let h = jit(|x| x * x);
    assert_eq!(floats(&h(&y)), [100.0, 400.0]);
    let k = jit(named);
    assert_eq!(k(&x, &x).to_vec::<f32>().unwrap(), [0.0, 0.0]);
}

#[test]
fn free_functions_need_no_annotation() {
    let x = Array::from([-4.0f32, 9.0]);
    let f = jit(|x| sqrt(abs(x)) + 1);
    assert_eq!(floats(&f(&x)), [3.0, 4.0]);
    let f = jit(|c, x, y| where_(greater(c, 0), x, y));
    assert_eq!(floats(&f(&x, &x, &Array::from([1.0f32, 1.0]))), [1.0, 9.0]);
    let f = jit(|x| minimum(maximum(x, -1), 1.5) + minimum(2.0, x));
    assert_eq!(floats(&f(&x)), [-5.0, 3.5]);
    let f = jit(|x| clip(x, 0, 1) + mul_add(x, 2.0, 1));
    assert_eq!(floats(&f(&x)), [-7.0, 20.0]);
    let f = jit(|x| (cast(x, DType::I32), logical_not(less(x, 0))));
    let (a, b) = f(&x);
    assert_eq!((a.to_vec::<i32>().unwrap(), b.to_vec::<bool>().unwrap()), (vec![-4, 9], vec![false, true]));
}

#[test]
fn methods_with_annotation_or_macro() {
    let x = Array::from([-4.0f32, 9.0]);
    let f = jit(|x: Expr| x.abs().sqrt().maximum(2.5));
    assert_eq!(floats(&f(&x)), [2.5, 3.0]);
    let f = jit!(|x, y| x.minimum(y).square() + y);
    assert_eq!(floats(&f(&x, &x)), [12.0, 90.0]);
    let w = Array::from([1.0f32, 2.0]);
    let f = jit!(move |x| x.gt(&w).where_(x, 0).cast(DType::F64));
    assert_eq!(f(&x).to_vec::<f64>().unwrap(), [0.0, 9.0]);
    let f = jit!(|x| [x.eq(9), x.ne(9), x.lt(9), x.le(9), x.ge(9)]);
    let read = f(&x).map(|a| a.to_vec::<bool>().unwrap());
    assert_eq!(read, [[false, true], [true, false], [true, false], [true, true], [false, true]]);
}

#[test]
fn operators_on_expressions() {
    let x = Array::from([7i32, -7]);
    // Rust needs the type of the operand of `-` and `!`, as of method receivers.
    let f = jit(|x: Expr| (x % 4, -x, x & 3, x | 8, x ^ 1, !x, x << 1, x >> 1));
    let (a, b, c, d, e, g, h, i) = f(&x);
    let read = [a, b, c, d, e, g, h, i].map(|a| a.to_vec::<i32>().unwrap());
    assert_eq!(read, [[3, 1], [-7, 7], [3, 1], [15, -7], [6, -8], [-8, 6], [14, -14], [3, -4]]);
    let f = jit(|x| 1 + x * 2 - 3 * (2 - x));
    assert_eq!(f(&x).to_vec::<i32>().unwrap(), [30, -40]);
    let f = jit!(|x| (2.0 * x).sin() + (1.0 - x).cos() + 1.0 / x);
    assert_eq!(f(&x).dtype(), DType::F32);
    let f = jit(|x| true & less(x, 0));
    assert_eq!(f(&x).to_vec::<bool>().unwrap(), [false, true]);
    let f = jit(|x| Complex::new(0.0, 1.0) * x);
    assert_eq!(f(&x).dtype(), DType::C64);
    let f = jit!(|x| {
        let mut y = x + 1;
        y += x;
        y *= 2;
        y
    });
    assert_eq!(f(&x).to_vec::<i32>().unwrap(), [30, -26]);
}

/// References to expressions, such as iterator items, are operands like those to arrays, on both sides.
#[test]
fn operators_on_references_to_expressions() {
    let k = Array::from([10.0f32]);
    let f = jit(move |x: Expr, y: Expr| {
        let (all, a, b) = ([x, y], &x, &y);
        let sums: Vec<Expr> =
            all.iter().map(|x| x + 1 + 2.0 * x - true * x + weak(3.0f32) / x + &k * x + x % b).collect();
        let signs: Vec<Expr> = all.iter().map(|x| -x + ndjit::maximum(0.5, x) + ndjit::maximum(&k, x)).collect();
        let bits = &(!&x.gt(2)) & true;
        (sums, signs, bits, a * b)
    });
    let (sums, signs, bits, product) = f(&Array::from([2.0f32]), &Array::from([3.0f32]));
    assert_eq!(sums.iter().map(|x| floats(x)[0]).collect::<Vec<f32>>(), [28.5, 38.0]);
    assert_eq!(signs.iter().map(|x| floats(x)[0]).collect::<Vec<f32>>(), [10.0, 10.0]);
    assert_eq!((bits.to_vec::<bool>().unwrap(), floats(&product)), (vec![true], vec![6.0]));
    // A clone is the same function.
    let f = jit(|x| x + 1);
    let g = f.clone();
    assert_eq!((floats(&f(&product)), floats(&g(&product))), (vec![7.0], vec![7.0]));
    assert_eq!((f.trace_count(), g.trace_count(), g.explain_cache_misses().len()), (1, 1, 1));
}

#[test]
fn operators_on_arrays() {
    let x = Array::from([1.0f32, 2.0]);
    let y = &x + &x * 2 - 1.0;
    assert_eq!(floats(&y), [2.0, 5.0]);
    assert_eq!(floats(&(2.0 * &x)), [2.0, 4.0]);
    assert_eq!(floats(&(weak(3.0f32) * x.clone())), [3.0, 6.0]);
    assert_eq!(floats(&(-&x).abs().maximum(1.5)), [1.5, 2.0]);
    assert_eq!(floats(&maximum(&x, 1.5)), [1.5, 2.0]);
    assert_eq!(floats(&sqrt(&x * &x)), [1.0, 2.0]);
    assert_eq!(x.gt(1).to_vec::<bool>().unwrap(), [false, true]);
    assert_eq!((x.astype(DType::I8) % 2).to_vec::<i8>().unwrap(), [1, 0]);
    let mut z = x.clone();
    z += 1;
    assert_eq!(floats(&z), [2.0, 3.0]);
    assert_eq!(floats(&x.clip(1.25, &x)), [1.0, 2.0]);
}

#[test]
fn arrays_in_closures_are_hidden_arguments() {
    let w = Array::from([10.0f32, 20.0]);
    let x = Array::from([1.0f32, 2.0]);
    let v = w.clone();
    let f = jit(move |x, y| (x + &v, &v * y, y * v.clone() - x));
    let (a, b, c) = f(&x, &x);
    assert_eq!((floats(&a), floats(&b), floats(&c)), (vec![11.0, 22.0], vec![10.0, 40.0], vec![9.0, 38.0]));
    let lazy = &w + 1;
    let f = jit(move |x| x + &lazy);
    assert_eq!(floats(&f(&x)), [12.0, 23.0]);
}

#[test]
fn inputs_of_every_kind() {
    let x = Array::from([1.0f32, 2.0]);
    let v = vec![10.0f32, 20.0];
    let f = jit(|x, y| x + y * 2);
    for z in [
        f.call((&x, &v)).unwrap(),
        f.call((&x, &v[..])).unwrap(),
        f.call((&[1.0f32, 2.0], &v)).unwrap(),
        f.call((x.clone(), &v)).unwrap(),
        f.call((x.clone().donate(), &v)).unwrap(),
    ] {
        assert_eq!(floats(&z), [21.0, 42.0]);
    }
    assert_eq!(floats(&f.call((&v[..], 2.0)).unwrap()), [14.0, 24.0]);
    assert_eq!(floats(&f.call((&v, 2u8)).unwrap()), [14.0, 24.0]);
    assert_eq!(f.call((&v, strong(2.0f64))).unwrap().dtype(), DType::F64);
    assert_eq!(f.call((1, 2)).unwrap().item::<i32>().unwrap(), 5);
    assert!(f.call((1, 2)).unwrap().is_weak());
    assert_eq!(f.call((true, &v)).unwrap().to_vec::<f32>().unwrap(), [21.0, 41.0]);
}

#[test]
fn outputs_of_every_kind() {
    struct Polar<T> {
        radius: T,
        rest: (T, Vec<T>),
    }
    outputs!(Polar<Expr> => PolarRadius { radius, rest });
    type PolarRadius = Polar2;
    struct Polar2 {
        radius: Array,
        rest: (Array, Vec<Array>),
    }
    let x = Array::from([3.0f32]);
    let f = jit(|x, y| Polar { radius: sqrt(x * x + y * y), rest: (x, vec![y, x]) });
    let polar = f(&x, &Array::from([4.0f32]));
    assert_eq!(floats(&polar.radius), [5.0]);
    assert_eq!((floats(&polar.rest.0), polar.rest.1.len()), (vec![3.0], 2));
    let f = jit(|x| vec![(x, [x + 1, x + 2]), (x, [x, x])]);
    let all = f(&x);
    assert_eq!(floats(&all[0].1[1]), [5.0]);
}

#[test]
fn results_into_memory_of_the_caller() {
    let v = vec![1.0f32, 2.0];
    let f = jit(|x, y| x + y * 2);
    let mut out = vec![0.0f32; 2];
    f.call_into((&v, &v), &mut out).unwrap();
    assert_eq!(out, [3.0, 6.0]);
    let mut out = [0.0f32; 2];
    f.call_into((&v, &v), &mut out).unwrap();
    assert_eq!(out, [3.0, 6.0]);
    let f = jit(|x| (x * 2, less(x, 1.5)));
    let (mut doubled, mut below) = (vec![0.0f32; 2], vec![true; 2]);
    f.call_into((&v,), (&mut doubled[..], &mut below)).unwrap();
    assert_eq!((doubled, below), (vec![2.0, 4.0], vec![true, false]));
}

#[test]
fn a_jitted_function_inlines() {
    let x = Array::from([1i32, 2]);
    let w = Array::from([100i32, 200]);
    let inner = jit(move |x, y| (x * y, y + &w));
    let f = jit(move |x| {
        let (a, b) = inner.inline((x + 1, 3));
        let (c, d) = inner.inline((a, x));
        a + b + c + d
    });
    // a = 3(x+1), b = 3+w, c = a*x, d = x+w
    assert_eq!(f(&x).to_vec::<i32>().unwrap(), [6 + 103 + 6 + 101, 9 + 203 + 18 + 202]);
}

#[test]
fn steps_without_data() {
    let f = jit(|x, y| x + y * 2);
    let traced = f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [])]).unwrap();
    assert_eq!(traced.results(), [spec(DType::F32, [3])]);
    let compiled = traced.lower().unwrap().compile().unwrap();
    let z = compiled.call((&[1.0f32, 2.0, 3.0], &Array::scalar(4i8))).unwrap();
    assert_eq!(floats(&z), [9.0, 10.0, 11.0]);
    let mut out = [0.0f32; 3];
    compiled.call_into((&[1.0f32, 2.0, 3.0], &Array::scalar(4i8)), &mut out).unwrap();
    assert_eq!(out, [9.0, 10.0, 11.0]);
    let traced = f.trace(&[Spec::of(&Array::from([1u8])), Spec::number(Weak::Int)]).unwrap();
    assert_eq!(traced.results(), [spec(DType::U8, [1])]);
}

#[test]
fn configured_functions() {
    let x = Array::from([1.0f32, 2.0]);
    let f = jit(|x| x * 2 + 1).with_policy(Policy::Strict).threads(2).fuse(false).vector(false);
    assert_eq!(floats(&f(&x)), [3.0, 5.0]);
    let sum = with_policy(Policy::Strict, || &x + 1);
    assert_eq!(floats(&sum), [2.0, 3.0]);
}

#[test]
fn jitted_functions_are_shared_by_threads() {
    let f = jit(|x, y| x + y);
    let x = Array::from([1i64]);
    std::thread::spawn(move || assert_eq!(f(&x, &x).item::<i64>().unwrap(), 2)).join().unwrap();
}

#[test]
fn conversions() {
    let x = Array::from_shape_vec([2, 2], vec![1u8, 2, 3, 4]).unwrap();
    assert_eq!(x.shape().extents(), [2, 2]);
    assert_eq!(Vec::<u8>::try_from(&x).unwrap(), [1, 2, 3, 4]);
    let v = vec![1.0f64; 1 << 18];
    let address = v.as_ptr();
    let back = Array::from(v).into_vec::<f64>().unwrap();
    assert_eq!(back.as_ptr(), address);
    assert_eq!(Array::from(vec![1u8; 100]).into_vec::<u8>().unwrap(), [1; 100]);
    assert_eq!(Array::scalar(2.5f32).item::<f32>().unwrap(), 2.5);
    assert!(Array::scalar(weak(2)).is_weak());
    assert_eq!((0..3).map(|i| i as u16).collect::<Array>().to_vec::<u16>().unwrap(), [0, 1, 2]);
    let complex = Array::from([Complex::new(1.0f32, -2.0)]);
    assert_eq!(complex.dtype(), DType::C64);
    assert_eq!(Array::from([half::f16::ONE, half::f16::ZERO]).dtype(), DType::F16);
    assert_eq!(Array::from_rows(&[[1i16, 2], [3, 4], [5, 6]]).shape().extents(), [3, 2]);
}

#[test]
fn slices_of_parts_of_one_type() {
    let x = arange(12).reshape([3, 4]);
    assert_eq!(x.slice([0, 1]).item::<i32>(), Ok(1));
    let two = x.slice([1..3, 0..2]).to_vec::<i32>().unwrap();
    assert_eq!(two, [4, 5, 8, 9]);
    let parts = vec![1..3, 0..2];
    assert_eq!(x.slice(&parts).to_vec::<i32>().unwrap(), two);
    assert_eq!(x.slice(&parts[..]).to_vec::<i32>().unwrap(), two);
    assert_eq!(x.slice(parts).to_vec::<i32>().unwrap(), two);
    let mixed: Vec<Slice> = vec![(1..3).part(), (..=1).part()];
    assert_eq!(x.slice(mixed).to_vec::<i32>().unwrap(), two);
    assert_eq!(x.slice((1u8..3, ..=1u64)).to_vec::<i32>().unwrap(), two);
    assert_eq!(x.slice((0, step_by(..=2, 2))).to_vec::<i32>().unwrap(), [0, 2]);
    assert_eq!(x.slice((0, ..=-2)).to_vec::<i32>().unwrap(), [0, 1, 2]);
}

#[test]
fn axes_and_widths_of_several_kinds() {
    let x = arange(4).reshape([2, 2]);
    assert_eq!(x.sum(0u32).to_vec::<i32>().unwrap(), x.sum([0u8]).to_vec::<i32>().unwrap());
    assert_eq!(x.roll(1, [0, 1]).to_vec::<i32>().unwrap(), [3, 2, 1, 0]);
    let framed = x.pad(1, 0).to_vec::<i32>().unwrap();
    assert_eq!(framed, [0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 3, 0, 0, 0, 0, 0]);
    assert_eq!(x.pad((1, 1), 0).to_vec::<i32>().unwrap(), framed);
    assert_eq!(x.pad([(1, 1); 2], 0).to_vec::<i32>().unwrap(), framed);
    assert_eq!(x.pad(vec![(1, 1); 2], 0).to_vec::<i32>().unwrap(), framed);
    assert_eq!(Array::from([true]).pad(1, 0).to_vec::<bool>().unwrap(), [false, true, false]);
    assert_eq!(arange(3).pad((1, 0), strong(0.5f32)).dtype(), DType::F32);
    // NumPy's, with repeated mirror images and copies.
    let y = arange(3);
    assert_eq!(y.pad((5, 4), Pad::Reflect).to_vec::<i32>().unwrap(), [1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2]);
    assert_eq!(y.pad((5, 4), Pad::Symmetric).to_vec::<i32>().unwrap(), [1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0]);
    assert_eq!(y.pad((5, 4), Pad::Wrap).to_vec::<i32>().unwrap(), [1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
    assert_eq!(arange(1).pad(2, Pad::Reflect).to_vec::<i32>().unwrap(), [0; 5]);
}

#[test]
fn arrays_in_traced_functions_are_expressions() {
    let x = Array::from([7]);
    let f = jit(|_x: Expr| Expr::from(ones(3)));
    assert_eq!(floats(&f(&x)), [1.0; 3]);
    let w = Array::from([1.0f32, 2.0]);
    let f = jit(move |x: Expr| Expr::from(&w) * x);
    assert_eq!(floats(&f(&x)), [7.0, 14.0]);
}
