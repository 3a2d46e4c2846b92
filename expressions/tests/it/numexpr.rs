//! Dtypes and values of expressions under NumExpr's policy, as numexpr 2.14.2 gives them, and the places of errors.

use ndjit::{Array, Complex, DType, Error, Policy, Spec, spec, with_policy};
use ndjit_expressions::{Budget, parse, report, trace};

/// The dtype of an expression of `x`, or its error.
fn dtype(text: &str, x: DType) -> String {
    let inputs = [("x", spec(x, [3]))];
    let traced =
        || parse(text).map_err(ndjit::Error::from).and_then(|read| trace(&read, &inputs, &Budget::new(1 << 20)));
    with_policy(Policy::NumExpr, traced)
        .map_or_else(|error| error.headline().to_owned(), |program| program.results()[0].dtype().to_string())
}

#[test]
fn dtypes_are_those_of_kinds() {
    // The expression, and its dtypes of x as these.
    let of = [DType::Bool, DType::U8, DType::U64, DType::F16, DType::F32, DType::C64];
    for (text, expected) in [
        ("x + x", ["bool", "i32", "i64", "f32", "f32", "c128"]),
        ("x + 1", ["i32", "i32", "i64", "f32", "f32", "c128"]),
        ("x * 2.5", ["f64", "f64", "f64", "f64", "f64", "c128"]),
        ("x * 2j", ["c128"; 6]),
        ("x * True", ["bool", "i32", "i64", "f32", "f32", "c128"]),
        ("x / 2", ["f64", "f64", "f64", "f32", "f32", "c128"]),
        ("x + (1 / 2)", ["f64", "f64", "f64", "f64", "f64", "c128"]),
        ("sqrt(x)", ["f32", "f64", "f64", "f32", "f32", "c128"]),
        ("conj(x)", ["c128", "f64", "f64", "c128", "c128", "c128"]),
        ("real(x)", ["f64"; 6]),
        (
            "sum(x)",
            ["sum: the numexpr policy does not compute with bool as a number", "i32", "i64", "f32", "f32", "c128"],
        ),
        ("where(True, x, x)", ["bool", "i32", "i64", "f32", "f32", "c128"]),
        ("complex(x, 0)", ["c128", "c128", "c128", "c128", "c128", "complex: c128 is not supported"]),
    ] {
        assert_eq!(of.map(|x| dtype(text, x)), expected, "{text}");
    }
}

#[test]
fn digits_of_an_integer_are_its_type() {
    for (text, i32s, f32s) in [
        ("1 + 1", "i32", "i32"),
        ("1 / 2", "f64", "f64"),
        ("3000000000", "i64", "i64"),
        ("x + 2147483647", "i32", "f32"),
        ("x + 2147483648", "i64", "f32"),
        ("x - 2147483648", "i64", "f32"),
        ("x + (-2147483648)", "i32", "f32"),
        ("x + 65536 * 65536", "i64", "f32"),
        ("x < 3000000000", "bool", "bool"),
    ] {
        assert_eq!([dtype(text, DType::I32), dtype(text, DType::F32)], [i32s, f32s], "{text}");
    }
    assert!(dtype("x + 10000000000000000000", DType::I32).contains("does not fit"));
}

/// Inputs of the expressions below.
fn inputs() -> Vec<(&'static str, Array)> {
    let complex = [Complex::new(1.0, 2.0), Complex::new(0.0, -1.0), Complex::new(3.0, 0.0)];
    vec![
        ("i", Array::from([7i32, -2, 3])),
        ("k", Array::from([1i64, 2, -3])),
        ("f", Array::from([0.5f32, -1.5, 2.0])),
        ("d", Array::from([0.25f64, 4.0, -9.0])),
        ("b", Array::from([true, false, true])),
        ("z", Array::from(complex)),
    ]
}

fn compute(text: &str) -> Result<Array, Error> {
    let inputs = inputs();
    let specs: Vec<(&str, Spec)> = inputs.iter().map(|(name, array)| (*name, Spec::of(array))).collect();
    let traced = || trace(&parse(text).map_err(Error::from)?, &specs, &Budget::new(1 << 20));
    let arrays: Vec<&Array> = inputs.iter().map(|(_, array)| array).collect();
    Ok(with_policy(Policy::NumExpr, traced)?.call(arrays)?[0].clone())
}

/// The elements of a text: numbers, `true` and `false`, and `re,im`.
fn elements(text: &str) -> Vec<Complex<f64>> {
    let number = |text: &str| match text {
        "true" => 1.0,
        "false" => 0.0,
        number => number.parse().expect("a number"),
    };
    let element = |text: &str| match text.split_once(',') {
        Some((re, im)) => Complex::new(number(re), number(im)),
        None => number(text).into(),
    };
    text.split(' ').map(element).collect()
}

/// The dtypes and elements that numexpr 2.14.2 gives.
#[test]
fn values_are_those_of_numexpr() {
    for (text, dtype, expected) in [
        ("i + k", "i64", "8 0 0"),
        ("i - 1", "i32", "6 -3 2"),
        ("i * 2.5", "f64", "17.5 -5.0 7.5"),
        ("f * 2", "f32", "1.0 -3.0 4.0"),
        ("f * 2.5", "f64", "1.25 -3.75 5.0"),
        ("f * d", "f64", "0.125 -6.0 -18.0"),
        ("-i", "i32", "-7 2 -3"),
        ("-f", "f32", "-0.5 1.5 -2.0"),
        ("+f", "f32", "0.5 -1.5 2.0"),
        ("~b", "bool", "false true false"),
        ("~i", "i32", "-8 1 -4"),
        ("i / 2", "f64", "3.5 -1.0 1.5"),
        ("i / k", "f64", "7.0 -1.0 -1.0"),
        ("i // 2", "i32", "3 -1 1"),
        ("i % 4", "i32", "3 2 3"),
        ("d % 4", "f64", "0.25 0.0 3.0"),
        ("f % 2", "f32", "0.5 0.5 0.0"),
        ("i ** 2", "i32", "49 4 9"),
        ("f ** 2", "f32", "0.25 2.25 4.0"),
        ("d ** 2", "f64", "0.0625 16.0 81.0"),
        ("b ** 2", "bool", "true false true"),
        ("z ** 2", "c128", "-3.0,4.0 -1.0,0.0 9.0,0.0"),
        ("k ** 2 + i ** 2", "i64", "50 8 18"),
        ("i ** 3", "i32", "343 -8 27"),
        ("f ** 3", "f32", "0.125 -3.375 8.0"),
        ("d ** 0.5", "f64", "0.5 2.0 nan"),
        ("2 ** i", "i32", "128 0 8"),
        ("i << 2", "i32", "28 -8 12"),
        ("i >> 1", "i32", "3 -1 1"),
        ("i & 6", "i32", "6 6 2"),
        ("i | 8", "i32", "15 -2 11"),
        ("i ^ 5", "i32", "2 -5 6"),
        ("b & (i > 0)", "bool", "true false true"),
        ("b | (f < 0)", "bool", "true true true"),
        ("i > 2", "bool", "true false true"),
        ("i == k", "bool", "false false false"),
        ("f <= 0.5", "bool", "true true false"),
        ("b == True", "bool", "true false true"),
        ("(i > 0) & (d > 0)", "bool", "true false false"),
        ("where(b, i, k)", "i64", "7 2 3"),
        ("where(f > 0, f, 0)", "f32", "0.5 0.0 2.0"),
        ("where(i > 0, 1, 2.5)", "f64", "1.0 2.5 1.0"),
        ("abs(i)", "f64", "7.0 2.0 3.0"),
        ("abs(f)", "f32", "0.5 1.5 2.0"),
        ("sqrt(d * d)", "f64", "0.25 4.0 9.0"),
        ("sqrt(i * i)", "f64", "7.0 2.0 3.0"),
        ("exp(f * 0)", "f32", "1.0 1.0 1.0"),
        ("exp(i * 0)", "f64", "1.0 1.0 1.0"),
        ("log1p(f - f)", "f32", "0.0 0.0 0.0"),
        ("expm1(d * 0)", "f64", "0.0 0.0 -0.0"),
        ("sin(i * 0)", "f64", "0.0 0.0 0.0"),
        ("cos(d * 0)", "f64", "1.0 1.0 1.0"),
        ("arctan2(f, f)", "f32", "0.7853981852531433 -2.356194496154785 0.7853981852531433"),
        ("arctan2(i, 1)", "f64", "1.4288992721907328 -1.1071487177940904 1.2490457723982544"),
        ("hypot(f * 3, f * 4)", "f64", "2.5 7.5 10.0"),
        ("floor(f)", "f32", "0.0 -2.0 2.0"),
        ("ceil(d)", "f64", "1.0 4.0 -9.0"),
        ("fmod(i, 4)", "f64", "3.0 -2.0 3.0"),
        ("fmod(d, 3)", "f64", "0.25 1.0 -0.0"),
        ("real(z)", "f64", "1.0 -0.0 3.0"),
        ("imag(z)", "f64", "2.0 -1.0 0.0"),
        ("conj(z)", "c128", "1.0,-2.0 -0.0,1.0 3.0,-0.0"),
        ("complex(f, d)", "c128", "0.5,0.25 -1.5,4.0 2.0,-9.0"),
        ("z * 2", "c128", "2.0,4.0 0.0,-2.0 6.0,0.0"),
        ("z + i", "c128", "8.0,2.0 -2.0,-1.0 6.0,0.0"),
        ("z == 1 + 2j", "bool", "true false false"),
        ("sum(i)", "i32", "8"),
        ("sum(f)", "f32", "1.0"),
        ("sum(d)", "f64", "-4.75"),
        ("sum(k, axis=0)", "i64", "0"),
        ("prod(i)", "i32", "-42"),
        ("min(d)", "f64", "-9.0"),
        ("ones_like(i)", "i32", "1 1 1"),
        ("minimum(i, k)", "f64", "1.0 -2.0 -3.0"),
        ("maximum(f, d)", "f64", "0.5 4.0 2.0"),
        ("isnan(f)", "bool", "false false false"),
        ("isfinite(d)", "bool", "true true true"),
        ("round(d)", "f64", "0.0 4.0 -9.0"),
        ("trunc(f)", "f64", "0.0 -1.0 2.0"),
        ("sign(i)", "i32", "1 -1 1"),
        ("3 + 4", "i32", "7"),
        ("3 / 4", "f64", "0.75"),
        ("i + 2147483648", "i64", "2147483655 2147483646 2147483651"),
        ("i * (2 * 3)", "i32", "42 -12 18"),
        ("f + (1 / 3) * 0", "f64", "0.5 -1.5 2.0"),
    ] {
        let made = compute(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(made.dtype().to_string(), dtype, "{text}");
        let own = made.cast(DType::C128).to_vec::<Complex<f64>>().expect(text);
        let expected = elements(expected);
        assert_eq!(own.len(), expected.len(), "{text}");
        // Functions have an error of one unit in the last place here, and there.
        let near = if dtype == "f32" { 1.2e-7 } else { 4.5e-16 };
        for (own, expected) in own.iter().zip(&expected) {
            let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= near * b.abs();
            assert!(same(own.re, expected.re) && same(own.im, expected.im), "{text}: {own}, {expected} expected");
        }
    }
}

/// What is wrong in an expression, and the column of the caret below it, from 1, as it is printed.
fn carets(text: &str) -> (String, usize) {
    let error = compute(text).expect_err(text);
    let names: Vec<String> = inputs().iter().map(|(name, _)| (*name).to_owned()).collect();
    let report = report(&error, text, &names);
    let of = |end: &str| report.lines().find(|line| line.ends_with(end)).unwrap_or_else(|| panic!("{report}")).len();
    (error.headline().to_owned(), of("^") - (of(text.trim_end()) - text.trim_end().len()))
}

#[test]
fn errors_have_a_caret_at_their_part() {
    let mut failures = Vec::new();
    // The expression, what is wrong, and the column, from 1, of the caret.
    for (text, wrong, column) in [
        ("i + ", "found the end", 5),
        ("(i + k", "a `(` is not closed", 7),
        ("i + unknown", "there is no input `unknown`", 5),
        ("i + sine(f)", "there is no function `sine`", 5),
        ("i ** -2", "no negative integer powers", 6),
        ("sum(d, axis=-1)", "NumExpr numbers axes from 0", 13),
        ("i + 10000000000000000000", "does not fit i32", 3),
        ("sin(b, d)", "takes 1 argument", 8),
        ("f $ 2", "`$` means nothing here", 3),
        ("where(b, i)", "`y` is missing", 1),
        ("f[", "found the end", 3),
        ("d + f[3]", "index 3 of axis 0", 6),
        ("b - b", "bool is not supported", 3),
    ] {
        let (headline, caret) = carets(text);
        let got = (headline.contains(wrong), caret);
        if got != (true, column) {
            failures.push(format!("{text}: {headline} {got:?}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
