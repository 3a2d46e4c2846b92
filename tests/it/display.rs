//! Printing of arrays: the format of NumPy 2.4's `array2string` with its default options, without wrapping of rows; summaries of large
//! ones; widths and precisions.

use ndjit::{Array, Complex, DType, arange, broadcast_to, zeros};

#[test]
fn integers_and_nesting() {
    assert_eq!(Array::from_rows(&[[1, 20], [300, 4]]).to_string(), "[[  1  20]\n [300   4]]");
    assert_eq!(Array::from([true, false]).to_string(), "[ true false]");
    assert_eq!(Array::from(Vec::<f32>::new()).to_string(), "[]");
    let cube = Array::from_shape_vec([2, 1, 2], vec![1u8, 2, 3, 4]).unwrap();
    assert_eq!(cube.to_string(), "[[[1 2]]\n\n [[3 4]]]");
    assert_eq!(format!("{:?}", Array::from([1.0f32]) + 1), "Array(f32[1], not yet computed)");
}

/// `str(np.array(elements, dtype))`. Exponential notation is chosen for all elements together, by their largest and smallest and by the
/// digits of the dtype; then all have as many digits.
#[test]
fn floats_as_numpy() {
    macro_rules! table {
        ($(($t:ident, $elements:expr, $printed:literal);)*) => {$(
            let elements: &[f64] = &$elements;
            let array = Array::from(elements).cast(DType::$t);
            assert_eq!(array.to_string(), $printed, "{} {elements:?}", DType::$t);
        )*};
    }
    table! {
        (F64, [1e300 / 3.0, 1.0], "[3.33333333e+299 1.00000000e+000]");
        (F64, [1.0 / 3.0, 2e8], "[3.33333333e-01 2.00000000e+08]");
        (F64, [1e8, 1.0], "[1.e+08 1.e+00]");
        (F64, [99999999.0, 99999.0], "[9.9999999e+07 9.9999000e+04]");
        (F64, [1000.0, 1.0], "[1000.    1.]");
        (F64, [1001.0, 1.0], "[1.001e+03 1.000e+00]");
        (F64, [1e-4, 0.0], "[0.0001 0.    ]");
        (F64, [9e-5, 0.0], "[9.e-05 0.e+00]");
        (F64, [1e100, -1e-100, 0.0], "[ 1.e+100 -1.e-100  0.e+000]");
        (F64, [1e10, f64::NAN, f64::NEG_INFINITY], "[1.e+10    nan   -inf]");
        (F64, [1.5, f64::NAN, f64::INFINITY], "[1.5 nan inf]");
        (F64, [f64::NAN], "[nan]");
        (F64, [f64::NEG_INFINITY, f64::NAN], "[-inf  nan]");
        (F64, [0.1 + 0.2, 100.0], "[  0.3 100. ]");
        (F64, [-0.0, 1.25], "[-0.    1.25]");
        (F64, [5e-324], "[5.e-324]");
        (F64, [f64::MAX, f64::MIN], "[ 1.79769313e+308 -1.79769313e+308]");
        (F64, [0.000123456789, 0.1], "[0.00012346 0.1       ]");
        (F32, [0.7, 700.0], "[  0.7 700. ]");
        (F32, [0.1, 1.000_000_4e10], "[1.0000000e-01 1.0000004e+10]");
        (F32, [999_999.0, 1000.0], "[999999.   1000.]");
        (F32, [1e6, 1e5], "[1.e+06 1.e+05]");
        (F32, [1e-4, 0.1], "[1.e-04 1.e-01]");
        (F32, [0.1], "[0.1]");
        (F32, [f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)], "[1.1754944e-38 3.4028235e+38]");
        (F16, [0.1, 0.2], "[0.1 0.2]");
        (F16, [0.1, 1234.0], "[9.998e-02 1.234e+03]");
        (F16, [999.0, 1.0], "[999.   1.]");
        (F16, [1000.0, 2.0], "[1.e+03 2.e+00]");
        (F16, [65504.0, 6e-8], "[6.55e+04 5.96e-08]");
        (Bf16, [0.1, 0.2], "[0.1 0.2]");
    }
    // Scalars have their own format, `str(np.float64(1e15))`; in arrays the zero after the point is omitted.
    let numbers = [0.1, -2.0, 1e8, 1e15, 1e16, 1e-4, 1e-5].map(|x: f64| Array::scalar(x).to_string());
    assert_eq!(numbers, ["0.1", "-2.", "100000000.", "1000000000000000.", "1.e+16", "0.0001", "1.e-05"]);
    assert_eq!(Array::scalar(1000.5f64).cast(DType::F16).to_string(), "1.0005e+03");
}

/// Each part has a format of its own. `str(np.array(elements))`.
#[test]
fn complex_numbers_as_numpy() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let table: [(&[(f64, f64)], &str); 7] = [
        (&[(1.0, -2.0)], "[1.-2.j]"),
        (&[(1.0, 2.0), (10.5, -3.25)], "[ 1. +2.j   10.5-3.25j]"),
        (&[(1e10, 2.0)], "[1.e+10+2.j]"),
        (&[(1e10, 1.0), (1.0, -0.5)], "[1.e+10+1.j  1.e+00-0.5j]"),
        (&[(nan, -inf), (1.0, 0.0)], "[nan-infj  1. +0.j]"),
        (&[(0.0, nan), (-1.0, 0.25)], "[ 0. +nanj -1.+0.25j]"),
        (&[(1e-5, 1.0), (1.0, 1.0)], "[1.e-05+1.j 1.e+00+1.j]"),
    ];
    for (elements, printed) in table {
        let elements: Vec<Complex<f64>> = elements.iter().map(|&(re, im)| Complex::new(re, im)).collect();
        assert_eq!(Array::from(&elements).to_string(), printed);
    }
}

/// `np.array2string(x, precision=3, floatmode='fixed')` for `{:.3}`; a width is the minimum per element.
#[test]
fn precisions_and_widths() {
    let thirds = Array::from([1.0f64 / 3.0, 2.0]);
    let large = Array::from([1e10f64 / 3.0, 1.0]);
    assert_eq!(format!("{thirds:.2} {thirds:.0}"), "[0.33 2.00] [0. 2.]");
    assert_eq!(format!("{large:.1} {large:.0}"), "[3.3e+09 1.0e+00] [3.e+09 1.e+00]");
    assert_eq!(format!("{:.3}", Array::from([f64::NAN, 1.5])), "[  nan 1.500]");
    assert_eq!(format!("{thirds:8.2}"), "[    0.33     2.00]");
    assert_eq!(format!("{thirds:2.2}"), "[0.33 2.00]");
    assert_eq!(format!("{:4}", Array::from_rows(&[[1, 20], [300, 4]])), "[[   1   20]\n [ 300    4]]");
    assert_eq!(format!("{:6} {:3}", Array::from([true]), Array::scalar(7)), "[  true]   7");
    assert_eq!(format!("{:4}", Array::from([Complex::new(1.0f32, 2.0)])), "[1.+2.j]");
    // More digits than the formatter supports are limited.
    assert!(format!("{:.65535}", Array::from([1e10f64])).len() > 65_000);
}

/// More than 1000 elements are summarised, and never more than 1296 shown: as many as NumPy shows for four long axes.
#[test]
fn large_arrays_show_a_part() {
    let shown = |shape: &[usize]| {
        let text = zeros(shape).cast(DType::U8).to_string();
        (text.matches('0').count(), text)
    };
    assert_eq!(arange(2000).to_string(), "[   0    1    2 ... 1997 1998 1999]");
    assert_eq!(shown(&[10, 10, 10]).0, 1000);
    assert_eq!(shown(&[10, 10, 10, 10]).0, 1296);
    // For five long axes two at either end, for six one; for axes of extent 2 the first along the outer ones.
    assert_eq!(shown(&[10; 5]).0, 1024);
    assert_eq!(shown(&[10; 6]).0, 64);
    assert_eq!(shown(&[2; 12]).0, 1 << 10);
    let many = broadcast_to(&Array::from([7u8]), [2; 32]).to_string();
    assert_eq!(many.matches('7').count(), 1 << 10);
    assert!(many.starts_with(&"[".repeat(32)) && many.ends_with("...]") && many.len() < 100_000, "{}", many.len());
    assert_eq!([many.matches('[').count(), many.matches("...").count()], [many.matches(']').count(), 22]);
    assert_eq!(
        shown(&[3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]).1.lines().filter(|line| line.contains("...")).collect::<Vec<_>>(),
        [" ...]"]
    );
}
