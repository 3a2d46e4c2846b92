//! Reductions in user code: axes, dtypes, values, errors, and explanations of dtypes.

use ndjit::{
    Array, Complex, DType, Defaults, Expr, Policy, Result, all, any, argmax, argmin, bf16, correction, count_nonzero,
    dtype, f16, jit, keepdims, max, mean, min, prod, std, sum, var, with_defaults, with_policy, zeros,
};

fn matrix() -> Array {
    Array::from_shape_vec([2, 3], vec![3.0f32, -1.0, 2.0, 0.5, 7.0, -4.0]).unwrap()
}

/// A text with `here` for every place in this file.
fn text(shown: impl ToString) -> String {
    let shown = shown.to_string().replace('\\', "/");
    let is_place = |c: char| c.is_ascii_digit() || c == ':';
    let mut parts = shown.split("tests/it/reductions.rs:");
    let first = parts.next().unwrap_or_default().to_owned();
    let placeless = parts.fold(first, |text, part| text + "here" + part.trim_start_matches(is_place));
    let mut parts = placeless.split("at line ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "at this line" + part.trim_start_matches(is_place))
}

fn refused(array: &Array) -> String {
    text(array.error().expect("an error"))
}

#[test]
fn axes_are_all_one_or_several() -> Result<()> {
    let x = matrix();
    assert_eq!(x.sum(..).item::<f32>()?, 7.5);
    assert_eq!(x.sum(0).to_vec::<f32>()?, [3.5, 6.0, -2.0]);
    assert_eq!(x.sum(-1).to_vec::<f32>()?, [4.0, 3.5]);
    assert_eq!(sum(&x, [0, 1]).item::<f32>()?, 7.5);
    assert_eq!(sum(&x, [-1isize, 0]).shape().rank(), 0);
    // No axes: elements stay unchanged.
    assert_eq!(x.sum([0i32; 0]).to_vec::<f32>()?, x.to_vec::<f32>()?);
    assert_eq!(x.max(keepdims(1)).shape().extents(), [2, 1]);
    let axes = &[0, 1];
    assert_eq!(x.min(axes).shape(), x.min(axes.to_vec()).shape());
    assert_eq!(x.max(keepdims(..)).shape().extents(), [1, 1]);
    Ok(())
}

#[test]
fn every_reduction_has_its_value() -> Result<()> {
    let x = matrix();
    assert_eq!(prod(&x, 1).to_vec::<f32>()?, [-6.0, -14.0]);
    assert_eq!(mean(&x, 0).to_vec::<f32>()?, [1.75, 3.0, -1.0]);
    assert_eq!((max(&x, ..).item::<f32>()?, min(&x, ..).item::<f32>()?), (7.0, -4.0));
    assert_eq!(var(&x, 0).to_vec::<f32>()?, [1.5625, 16.0, 9.0]);
    assert_eq!(std(&x, 0).to_vec::<f32>()?, [1.25, 4.0, 3.0]);
    assert_eq!(correction(1).std(&x, 0).to_vec::<f32>()?, [1.767767, 5.656854, 4.2426405]);
    assert_eq!(argmax(&x, 1).to_vec::<i32>()?, [0, 1]);
    assert_eq!(argmin(&x, ..).item::<i32>()?, 5);
    assert_eq!((any(x.lt(-3), 1).to_vec::<bool>()?, all(&x, 0).to_vec::<bool>()?), (vec![false, true], vec![true; 3]));
    assert_eq!(count_nonzero(x.gt(1), 0).to_vec::<i32>()?, [1, 1, 1]);
    Ok(())
}

#[test]
fn special_values_follow_the_array_api() -> Result<()> {
    let nan = Array::from([1.0f32, f32::NAN, 2.0, f32::NAN]);
    assert!(nan.max(..).item::<f32>()?.is_nan() && nan.min(..).item::<f32>()?.is_nan());
    assert_eq!((nan.argmax(..).item::<i32>()?, nan.argmin(..).item::<i32>()?), (1, 1));
    let ties = Array::from([2u8, 7, 7, 2]);
    assert_eq!((ties.argmax(..).item::<i32>()?, ties.argmin(..).item::<i32>()?), (1, 0));
    let zeros_of_both_signs = Array::from([0.0f64, -0.0]);
    assert!(zeros_of_both_signs.min(..).item::<f64>()?.is_sign_negative());
    assert!(Array::from([-0.0f64, -0.0]).sum(..).item::<f64>()?.is_sign_negative());
    let none = zeros([2, 0]);
    assert_eq!(none.sum(1).to_vec::<f32>()?, [0.0, 0.0]);
    assert_eq!((none.prod(..).item::<f32>()?, none.sum(..).item::<f32>()?.is_sign_positive()), (1.0, true));
    assert_eq!((none.any(..).item::<bool>()?, none.all(..).item::<bool>()?), (false, true));
    assert!(none.mean(..).item::<f32>()?.is_nan() && none.var(..).item::<f32>()?.is_nan());
    assert_eq!(none.sum(0).shape().extents(), [0]);
    assert!(Array::from([1.0f32]).std(..).item::<f32>()? == 0.0);
    // One element has no unbiased estimate: 0 / 0, as NumPy.
    assert!(correction(1).var(Array::from([1.0f32]), ..).item::<f32>()?.is_nan());
    Ok(())
}

#[test]
fn halves_are_summed_in_f32_and_rounded_once() -> Result<()> {
    let ones = dtype(DType::Bf16).ones([1024]);
    assert_eq!(ones.sum(..).item::<bf16>()?, bf16::from_f32(1024.0));
    let large = Array::from([60000.0f32, 60000.0, -60000.0]).cast(DType::F16);
    assert_eq!(large.sum(..).item::<f16>()?, f16::from_f32(60000.0));
    assert_eq!(large.mean(..).item::<f16>()?, f16::from_f32(20000.0));
    Ok(())
}

#[test]
fn variances_do_not_suffer_from_their_mean() -> Result<()> {
    // The mean of these is far from an f32; its error cancels.
    let far: Vec<f32> = (0..100_000).map(|i| 1e6 + (i % 2) as f32).collect();
    assert_eq!(Array::from(far).var(..).item::<f32>()?, 0.25);
    let same = dtype(DType::F32).full([1000], 0.1);
    assert_eq!(same.std(..).item::<f32>()?, 0.0);
    assert!(Array::from([3e38f32, -3e38, -3e38]).var(..).item::<f32>()?.is_infinite());
    // The distance of an infinite element from a mean is undefined, at any index.
    for place in 0..9 {
        let mut numbers = [1.0f32; 9];
        numbers[place] = f32::INFINITY;
        assert!(Array::from(numbers).var(..).item::<f32>()?.is_nan());
    }
    // The reference sample of distances, four places of 16, is as far from the mean as possible.
    let sample = |i: usize| i % 1024 < 16;
    let numbers: Vec<f32> = (0..4096).map(|i| (if sample(i) { 1000.0 } else { 0.0 }) + (i % 2) as f32).collect();
    let exact = {
        let numbers: Vec<f64> = numbers.iter().map(|&x| f64::from(x)).collect();
        Array::from(numbers).var(..).item::<f64>()?
    };
    let error = (f64::from(Array::from(numbers).var(..).item::<f32>()?) - exact) / exact;
    // The bound is 8.7e-4, that of elements in any other order about 1e-7.
    assert!(error.abs() < 256.0 * f64::from(f32::EPSILON), "{error:e}");
    Ok(())
}

#[test]
fn complex_numbers_have_a_real_variance() -> Result<()> {
    let z = Array::from([Complex::new(1.0f32, 1.0), Complex::new(-1.0, 3.0)]);
    assert_eq!(z.mean(..).item::<Complex<f32>>()?, Complex::new(0.0, 2.0));
    assert_eq!((z.var(..).dtype(), z.var(..).item::<f32>()?), (DType::F32, 2.0));
    assert_eq!(dtype(DType::F64).std(&z, ..).dtype(), DType::F64);
    Ok(())
}

#[test]
fn dtypes_follow_the_policy_or_are_asked_for() -> Result<()> {
    let x = Array::from([200u8, 100, 50]);
    let dtypes = |x: &Array| [x.sum(..), x.mean(..), x.max(..), x.argmax(..)].map(|y| y.dtype());
    assert_eq!(dtypes(&x), [DType::U32, DType::F32, DType::U8, DType::I32]);
    assert_eq!(with_policy(Policy::NumPy2, || dtypes(&x)), [DType::U64, DType::F64, DType::U8, DType::I64]);
    let wide = with_defaults(Defaults::BITS_64, || dtypes(&x))?;
    assert_eq!(wide, [DType::U64, DType::F32, DType::U8, DType::I64]);
    assert_eq!(dtype(DType::I8).sum(&x, ..).item::<i8>()?, 94);
    assert_eq!(dtype(DType::F64).mean(&x, ..).item::<f64>()?, 350.0 / 3.0);
    assert_eq!(dtype(DType::I64).prod(Array::from([100i8, 100]), ..).item::<i64>()?, 10000);
    assert_eq!(dtype(DType::U8).argmax(&x, ..).item::<u8>()?, 0);
    // Without 64-bit types the requested dtype is narrowed.
    assert_eq!(with_policy(Policy::Jax32, || dtype(DType::F64).sum(&x, ..).dtype()), DType::F32);
    // A weak array reduces to its default dtype.
    let weak = ndjit::asarray(2);
    assert!(weak.is_weak() && !weak.sum(..).is_weak());
    Ok(())
}

#[test]
fn traced_functions_reduce() -> Result<()> {
    let standardise = jit(|x: Expr| (x - x.mean(keepdims(-1))) / x.std(keepdims(-1)));
    let z = standardise(&matrix());
    assert_eq!(z.shape().extents(), [2, 3]);
    assert!(z.mean(-1).to_vec::<f32>()?.iter().all(|m| m.abs() < 1e-6));
    let softmax = jit(|x| {
        let e = ndjit::exp(x - max(x, keepdims(-1)));
        e / sum(e, keepdims(-1))
    });
    let rows = softmax(&matrix()).sum(-1).to_vec::<f32>()?;
    assert!(rows.iter().all(|row| (row - 1.0).abs() < 1e-6), "{rows:?}");
    Ok(())
}

#[test]
fn errors_say_what_to_do() {
    let x = matrix();
    insta::assert_snapshot!(refused(&x.sum(2)), @r"
    error[shape]: sum: there is no axis 2
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes, or `..` for all
    ");
    insta::assert_snapshot!(refused(&x.sum([0, -2])), @r"
    error[shape]: sum: axis 0 is named twice
      at here
      x: f32[2, 3] held as data
      the axes: [0, -2] of 2
      help: name each axis once; negative ones count from the last
    ");
    insta::assert_snapshot!(refused(&Array::scalar(1.0f32).mean(0)), @r"
    error[shape]: mean: there is no axis 0
      at here
      x: f32[] held as data
      a scalar has no axes
      help: leave the axes out: `..` are all there are
    ");
    insta::assert_snapshot!(refused(&(&x - x.mean(1))), @r"
    error[shape]: subtract: shapes [2, 3] and [2] do not broadcast
      at here
      x: f32[2, 3] held as data
      y: f32[2] from mean at this line
      help: axes are matched from the last; axis -1 is 3 and 2, and neither is 1; to keep the axes of a reduction, reduce as in `mean(…, keepdims(-1))`
    ");
    insta::assert_snapshot!(refused(&zeros([2, 0]).max(1)), @r"
    error[shape]: max: there are no elements
      at here
      x: f32[2, 0] held as data
      along axes [1] of shape [2, 0]
      help: give the array elements, or do not reduce it when it is empty
    ");
    insta::assert_snapshot!(refused(&with_policy(Policy::Torch, || Array::from([1i32, 2]).mean(..))), @r"
    error[promotion]: mean: the torch policy does not turn i32 into a float
      at here
      x: i32[2] held as data
      help: ask for a dtype, as in `dtype(DType::F32).mean(…)`, or cast: `cast(Array::from([1i32, 2]), DType::F32)`; f32 keeps 24 binary digits, i32 has 31
    ");
    insta::assert_snapshot!(refused(&with_policy(Policy::ArrayApi, || x.gt(0).sum(..))), @r"
    error[promotion]: sum: the array_api policy does not compute with bool as a number
      at here
      x: bool[2, 3] from greater at this line
      help: ask for a dtype, as in `dtype(DType::I64).sum(…)`, or cast: `cast(x.gt(0), DType::I64)`
    ");
    insta::assert_snapshot!(refused(&dtype(DType::F32).argmax(&x, ..)), @r"
    error[dtype]: argmax: a result of dtype f32 is not supported
      at here
      x: f32[2, 3] held as data
      argmax gives: u8 u16 u32 u64 i8 i16 i32 i64
      help: ask for one of these, as in `dtype(DType::I32).argmax(…)`, or cast the result: `cast(argmax(…), DType::F32)`
    ");
    insta::assert_snapshot!(refused(&dtype(DType::I32).var(&x, ..)), @r"
    error[dtype]: var: a result of dtype i32 is not supported
      at here
      x: f32[2, 3] held as data
      var gives: bf16 f16 f32 f64
      help: ask for one of these, as in `dtype(DType::F32).var(…)`, or cast the result: `cast(var(…), DType::I32)`
    ");
    insta::assert_snapshot!(refused(&dtype(DType::I8).argmax(zeros([300]), ..)), @r"
    error[dtype]: argmax: i8 cannot count 300 elements
      at here
      x: f32[300] held as data
      help: ask for a wider dtype, as in `dtype(DType::I64).argmax(…)`
    ");
    insta::assert_snapshot!(refused(&correction(Complex::new(0.0, 1.0)).var(&x, ..)), @r"
    error[dtype]: var: the correction is c*
      at here
      x:          f32[2, 3] held as data
      correction: c* (literal (0.0+1.0i))
      help: give a real number
    ");
    let f = jit(|x: Expr| x.max(0) + x.sum(7));
    insta::assert_snapshot!(text(f.call((&x,)).unwrap_err()), @r"
    error[shape]: sum: there is no axis 7
      at here
      x: f32[2, 3] from argument 0
      axes: 0 to 1, or -2 to -1 from the last
      called at here
      help: name one of these axes, or `..` for all
    ");
}

#[test]
fn explanations_name_the_rule() -> Result<()> {
    let x = Array::from([1u8, 2]);
    let mean_of_squares = (&x * &x).mean(..) + 1;
    insta::assert_snapshot!(text(mean_of_squares.explain_dtype()?), @r"
    f32 because `(&x * &x).mean(..)` at here (&x * &x) u8 from %1; mean of u8 gives f32
      %4 f32: `(&x * &x).mean(..) + 1` at here (&x * &x).mean(..) f32 from %2, 1 i* literal; join f32 ∨ i* = f32
      %2 f32: `(&x * &x).mean(..)`, as above
      %1 u8: `&x * &x` at here &x u8 held as data, &x u8 held as data; all operands are u8
    ");
    insta::assert_snapshot!(text(sum(&x, 0).explain_dtype()?), @"u32 because `sum(&x, 0)` at here &x u8 held as data; sum of u8 gives u32");
    insta::assert_snapshot!(text(dtype(DType::F64).sum(&x, ..).explain_dtype()?), @"f64 because `dtype(DType::F64).sum(&x, ..)` at here &x u8 held as data; f64 was asked for");
    insta::assert_snapshot!(text(with_policy(Policy::NumPy2, || x.argmax(..)).explain_dtype()?), @"i64 because `x.argmax(..)` at here x u8 held as data; argmax of u8 gives i64 under numpy2");
    Ok(())
}

#[test]
fn the_graph_and_the_typed_graph_show_them() -> Result<()> {
    let f = jit(|x: Expr| (x.mean(0), dtype(DType::F64).sum(x, keepdims(..))));
    let lowered = f.trace(&[ndjit::spec(DType::F16, [4, 3])])?.lower()?;
    insta::assert_snapshot!(text(lowered.explain(ndjit::Stage::Graph)), @r"
    graph (%0: f16[4, 3]) {
      %1 = mean %0 axes [0] : f16[3]  ; here
      %2 = sum %0 axes [0, 1] keepdims dtype f64 : f64[1, 1]  ; here
      return %1, %2
    }
    ");
    insta::assert_snapshot!(text(lowered.explain(ndjit::Stage::Typed)), @r"
    graph (%0: f16[4, 3]) {
      %1 = cast %0 : f32[4, 3]  ; part of mean at here
      %2 = literal #0 4 : f32[]  ; part of mean at here
      %3 = sum %1 axes [0] : f32[3]  ; part of mean at here
      %4 = divide %3, %2 : f32[3]  ; part of mean at here
      %5 = cast %4 : f16[3]  ; part of mean at here
      %6 = cast %0 : f64[4, 3]  ; operand x of sum at here f64 was asked for
      %7 = sum %6 axes [0, 1] keepdims : f64[1, 1]
      return %5, %7
    }
    ");
    Ok(())
}

/// Rows and columns of 1 to 18 elements, whose order the interpreter knows; up to 8 are one kernel with what follows.
#[test]
fn reductions_of_few_elements_are_ops() -> Result<()> {
    for dtype in [DType::F32, DType::F64, DType::F16, DType::I16, DType::U8] {
        for count in 1..19usize {
            let numbers = ndjit::arange(37 * count as i64).cast(DType::F64) * 0.7311 - 11.3;
            let special = Array::from([f64::NAN, -0.0, f64::INFINITY]);
            let numbers = if dtype.is_float() {
                numbers.at(Array::from([count as i64, 3, 1])).set(&special)
            } else {
                numbers * 0.2
            };
            let numbers = if dtype == DType::U8 { numbers.abs() } else { numbers };
            let x = numbers.cast(dtype).reshape([37, count as isize]);
            for columns in [false, true] {
                let function = move |x: Expr| {
                    let x = if columns { x.matrix_transpose() } else { x };
                    let axis = if columns { 0 } else { -1 };
                    (sum(x * x, axis) + 1, max(x, axis), prod(x, axis), any(x.gt(2), axis), mean(x, keepdims(axis)))
                };
                let f = jit(function);
                let (a, b) = (f.call((&x,))?, jit(function).interpreted(true).call((&x,))?);
                let both = [(&a.0, &b.0), (&a.1, &b.1), (&a.2, &b.2), (&a.3, &b.3), (&a.4, &b.4)];
                for (n, (own, law)) in both.into_iter().enumerate() {
                    // A cast keeps all values, and the sign of zero.
                    let bits = |array: &Array| -> Result<Vec<u64>> {
                        let numbers = array.cast(DType::F64).to_vec::<f64>()?;
                        Ok(numbers.into_iter().map(|x| if x.is_nan() { 0 } else { x.to_bits() }).collect())
                    };
                    assert_eq!(bits(own)?, bits(law)?, "{dtype} {count} {n} columns {columns}");
                }
            }
        }
    }
    let x = zeros([100, 8]);
    ndjit::assert_kernels!(jit(|x: Expr| sum(x * x, 1).sqrt()), (&x,), 1);
    Ok(())
}
