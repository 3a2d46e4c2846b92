//! Dtypes of expressions under NumExpr's policy, as numexpr 2.14.2 gives them.

use ndjit::{DType, Policy, spec, with_policy};
use ndjit_expressions::{Budget, parse, trace};

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
