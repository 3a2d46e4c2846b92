//! Creation functions: values, inferred dtypes, lengths, and errors; dtypes against those measured from other libraries
//! (`tests/goldens/ops/`, section `defaults`).

use ndjit::*;
use serde_json::Value;
use std::collections::BTreeMap;

/// The error's text without its place, which changes with this file; [`errors_are_passed_on`] tests places.
fn text(array: &Array) -> String {
    let text = array.error().expect("an error").to_string();
    text.lines().filter(|line| !line.starts_with("  at ")).collect::<Vec<&str>>().join("\n")
}

fn ty(array: Array) -> Result<String, String> {
    match array.error() {
        Some(error) => Err(error.code().to_string()),
        None => Ok(format!("{}{}", array.dtype(), if array.is_weak() { "/w" } else { "" })),
    }
}

#[test]
fn filled_arrays() {
    assert_eq!(zeros(3).to_vec::<f32>().unwrap(), [0.0; 3]);
    assert_eq!(ones([2, 2]).to_vec::<f32>().unwrap(), [1.0; 4]);
    assert_eq!(empty(vec![1, 2]).to_vec::<f32>().unwrap(), [0.0; 2]);
    assert_eq!(full([5], 7).to_vec::<i32>().unwrap(), [7; 5]);
    assert_eq!(full([], -0.0).item::<f32>().unwrap().to_bits(), (-0.0f32).to_bits());
    assert!(full([0, 3], 7).to_vec::<i32>().unwrap().is_empty());
    assert_eq!(full(3, Complex::new(1.0, -2.0)).to_vec::<Complex<f32>>().unwrap(), [Complex::new(1.0, -2.0); 3]);
    for d in DType::ALL {
        let one = asarray(true).cast(d);
        for made in [dtype(d).ones(101), dtype(d).full(101, true), ones_like(dtype(d).empty(101))] {
            assert_eq!((made.dtype(), made.eq(&one).to_vec::<bool>().unwrap()), (d, vec![true; 101]));
        }
        assert_eq!(dtype(d).zeros(7).ne(dtype(d).empty(7)).to_vec::<bool>().unwrap(), [false; 7]);
        assert_eq!((dtype(d).zeros(2).dtype(), dtype(d).zeros(2).is_weak()), (d, false));
    }
}

#[test]
fn identity_matrices() {
    let ones = |made: Array| made.to_vec::<f32>().unwrap();
    assert_eq!(ones(eye(2)), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(ones(eye((2, 3))), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(ones(eye((2, 3, 1))), [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(ones(eye((3, 2, -1))), [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(ones(eye((2, 2, 5))), [0.0; 4]);
    assert_eq!(ones(eye((2, 2, isize::MIN))), [0.0; 4]);
    for empty in [eye((0, 3)), eye((3, 0)), eye(0), eye((0, usize::MAX / 16, isize::MAX))] {
        assert!(empty.to_vec::<f32>().unwrap().is_empty());
    }
    assert_eq!(dtype(DType::Bool).eye(2).to_vec::<bool>().unwrap(), [true, false, false, true]);
}

#[test]
fn sequences() {
    assert_eq!(arange(5).to_vec::<i32>().unwrap(), [0, 1, 2, 3, 4]);
    assert_eq!(arange(2..5).to_vec::<i32>().unwrap(), [2, 3, 4]);
    assert_eq!(arange((5, 0, -2)).to_vec::<i32>().unwrap(), [5, 3, 1]);
    assert_eq!(arange((0, 1, 0.25)).to_vec::<f32>().unwrap(), [0.0, 0.25, 0.5, 0.75]);
    assert!(arange(-3).to_vec::<i32>().unwrap().is_empty());
    assert_eq!(arange(strong(3u8)).to_vec::<u8>().unwrap(), [0, 1, 2]);
    assert_eq!(arange((strong(1i8), strong(4u8), 1)).to_vec::<i16>().unwrap(), [1, 2, 3]);
    assert_eq!(dtype(DType::U8).arange(256).len(), 256);
    assert_eq!(dtype(DType::U8).arange((255, -1, -1)).to_vec::<u8>().unwrap()[255], 0);
    let last = u64::MAX - 1;
    assert_eq!(dtype(DType::U64).arange(last..u64::MAX).to_vec::<u64>().unwrap(), [last]);
    // One rounding, from the exact integer: via f64 the result would differ.
    assert_eq!(dtype(DType::Bf16).arange(258..260).to_vec::<bf16>().unwrap(), [258.0, 260.0].map(bf16::from_f64));
    assert_eq!(dtype(DType::C64).arange(2).to_vec::<Complex<f32>>().unwrap(), [0.0, 1.0].map(Complex::from));
    assert_eq!(linspace(0..=1, 5).to_vec::<f32>().unwrap(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!(linspace(1.0..0.0, 4).to_vec::<f32>().unwrap(), [1.0, 0.75, 0.5, 0.25]);
    assert_eq!((linspace(3..=4, 1).to_vec::<f32>().unwrap(), linspace(3..=4, 0).len()), (vec![3.0], 0));
    let i = Complex::new(0.0, 1.0);
    assert_eq!(
        linspace(i..=-i, 3).to_vec::<Complex<f32>>().unwrap(),
        [i, Complex::new(0.0, 0.0), -i].map(|z| Complex::new(z.re as f32, z.im as f32))
    );
    assert_eq!(ty(linspace(strong(0i64)..=strong(1i64), 3)), Ok("f64".to_owned()));
    assert_eq!(ty(linspace(strong(f16::ZERO)..=strong(f16::ONE), 3)), Ok("f16".to_owned()));
}

/// Intermediate overflow or underflow of differences and products changes no count and no value.
#[test]
fn sequences_at_the_ends_of_doubles() {
    let (inf, doubles) = (f64::INFINITY, dtype(DType::F64));
    let numbers = |x: Array| x.cast(DType::F64).to_vec::<f64>().unwrap();
    // As in NumPy: a step beyond the stop leaves the start.
    for d in [DType::F16, DType::Bf16, DType::F32, DType::F64] {
        for (stop, step) in [(1.0, inf), (-1.0, -inf), (1e-300, 1e30)] {
            assert_eq!(numbers(dtype(d).arange((0.0, stop, step))), [0.0], "{d} {stop} {step}");
        }
        assert_eq!(dtype(d).arange((0.0, -1.0, inf)).len() + dtype(d).arange((0.0, 0.0, inf)).len(), 0);
    }
    assert_eq!(
        numbers(doubles.arange((-1.7e308, 1.7e308, 1e308))),
        [0.0, 1.0, 2.0, 3.0].map(|i| (i * 0.5e308 - 0.85e308) * 2.0)
    );
    assert_eq!(
        numbers(doubles.arange((1.7e308, -1.7e308, -1e308))),
        [0.0, 1.0, 2.0, 3.0].map(|i| (0.85e308 - i * 0.5e308) * 2.0)
    );
    assert_eq!(numbers(doubles.linspace(-1.7e308..=1.7e308, 5)), [-1.7e308, -0.85e308, 0.0, 0.85e308, 1.7e308]);
    assert_eq!(numbers(doubles.linspace(1.7e308..-1.7e308, 4)), [1.7e308, 0.85e308, 0.0, -0.85e308]);
    // A step below the subnormal numbers.
    let tiny = 5e-324;
    assert_eq!(numbers(doubles.linspace(0.0..=2.0 * tiny, 5)), [0.0, 0.0, tiny, 2.0 * tiny, 2.0 * tiny]);
}

#[test]
fn arrays_like_others() {
    let x = Array::from_rows(&[[1i8, 2, 3], [4, 5, 6]]);
    let like = [zeros_like(&x), ones_like(&x), full_like(x.clone(), 7)];
    for (made, value) in like.iter().zip([0, 1, 7]) {
        assert_eq!((made.shape(), made.to_vec::<i8>().unwrap()), (x.shape(), vec![value; 6]));
    }
    assert_eq!(dtype(DType::F64).full_like(&x, 0.5).to_vec::<f64>().unwrap(), [0.5; 6]);
    // Weak as long as no dtype is named; the stored dtype stays.
    let weak_one = asarray(1);
    assert!(zeros_like(&weak_one).is_weak() && full_like(&weak_one, 2).is_weak());
    assert!(!dtype(DType::I32).zeros_like(&weak_one).is_weak());
    let wide = Defaults { int: DType::I64, ..Defaults::BITS_32 };
    let made = with_defaults(wide, || asarray(1)).unwrap();
    assert_eq!(ty(zeros_like(&made)), Ok("i64/w".to_owned()));
    assert_eq!(ty(jit!(|x| zeros_like(x))(&made)), Ok("i64/w".to_owned()));
    assert_eq!(ty(jit!(|x| x + ones_like(x))(&made)), ty(&made + ones_like(&made)));
}

#[test]
fn arrays_of_what_there_is() {
    let x = Array::from([1i8, 2]);
    assert_eq!(asarray(&x).to_vec::<i8>().unwrap(), [1, 2]);
    assert_eq!(asarray(vec![1.5f64]).dtype(), DType::F64);
    assert_eq!(dtype(DType::F32).asarray(&[1u8, 2][..]).to_vec::<f32>().unwrap(), [1.0, 2.0]);
    // Explicit requests: a cast, not a literal.
    assert_eq!(dtype(DType::I32).asarray([1.5f32]).to_vec::<i32>().unwrap(), [1]);
    assert_eq!(ty(asarray(2.5)), Ok("f32/w".to_owned()));
    assert_eq!(ty(asarray(true)), Ok("bool".to_owned()));
    assert_eq!(ty(asarray(strong(2u16))), Ok("u16".to_owned()));
    assert_eq!(ty(asarray(weak(strong(2u16)))), Ok("i32/w".to_owned()));
    // A named dtype is strong, the array's own included.
    let two = asarray(2);
    assert_eq!(ty(two.cast(two.dtype())), Ok("i32".to_owned()));
    assert_eq!(ty(dtype(DType::I32).asarray(&two)), Ok("i32".to_owned()));
    assert_eq!(ty(dtype(DType::I32).asarray(2)), Ok("i32".to_owned()));
}

#[test]
fn weakness_is_shown() {
    let two = asarray(2);
    insta::assert_snapshot!(two, @"2 i*");
    insta::assert_snapshot!(full(2, 0.5), @"[0.5 0.5] f*");
    insta::assert_snapshot!(two.cast(DType::I32), @"2");
    insta::assert_snapshot!(format!("{two:?} {:?}", two.cast(DType::I32)), @"Array(i*[] stored as i32) Array(i32[], not yet computed)");
    let (bare, named) = (weak(2u8), strong(2u8));
    insta::assert_snapshot!(format!("{bare} | {named} | {} | {}", weak(2.5), weak(true)), @"2 i* | 2 | 2.5 f* | true");
    insta::assert_snapshot!(format!("{bare:?} {named:?} {:?}", weak(true)), @"Scalar(2 i*) Scalar(2 u8) Scalar(true bool)");
    assert!(bare.is_weak() && !named.is_weak() && !weak(true).is_weak());
}

/// The order: requested dtype, array argument, relevant scalar, default.
#[test]
fn dtypes_are_inferred_in_order() {
    let wide = Defaults { int: DType::I64, float: DType::F64, complex: DType::C128 };
    let x = Array::from([1u8]);
    with_defaults(wide, || {
        assert_eq!(ty(zeros(2)), Ok("f64".to_owned()));
        with_default_dtype(DType::I8, || {
            let numbers =
                [zeros(2), ones(2), empty(2), eye(2), full(2, 3), full(2, 0.5), arange(2), linspace(0..=1, 2)];
            let types: Vec<String> = numbers.into_iter().map(|made| ty(made).unwrap()).collect();
            assert_eq!(types, ["i8", "i8", "i8", "i8", "i64/w", "f64/w", "i64", "f64"]);
            assert_eq!(ty(zeros_like(&x)), Ok("u8".to_owned()));
            assert_eq!(ty(dtype(DType::F16).zeros(2)), Ok("f16".to_owned()));
            assert_eq!(ty(dtype(DType::F16).ones_like(&x)), Ok("f16".to_owned()));
        });
    })
    .unwrap();
    // Without 64-bit types requested, default and given dtypes are narrowed.
    with_policy(Policy::Jax32, || {
        assert_eq!(ty(dtype(DType::I64).zeros(2)), Ok("i32".to_owned()));
        assert_eq!(ty(with_default_dtype(DType::F64, || zeros(2))), Ok("f32".to_owned()));
        assert_eq!(ty(full(2, strong(1i64))), Ok("i32".to_owned()));
        assert_eq!(ty(arange(strong(2i64))), Ok("i32".to_owned()));
        assert_eq!(asarray([1.5f64]).to_vec::<f32>().unwrap(), [1.5]);
    });
}

#[test]
fn what_is_refused() {
    insta::assert_snapshot!(text(&dtype(DType::U8).full([2], 300)), @r"
    error[literal]: full: literal 300 does not fit u8
      u8 holds 0 to 255
      u8 was asked for
      help: ask for a dtype that holds it: `dtype(DType::I16).full(…)`
    ");
    insta::assert_snapshot!(text(&dtype(DType::I32).full([2], 1.5)), @r"
    error[literal]: full: literal 1.5 does not fit i32
      a float literal becomes i32 by an explicit cast only
      i32 was asked for
      help: ask for a dtype that holds it: `dtype(DType::F32).full(…)`
    ");
    insta::assert_snapshot!(text(&dtype(DType::Bool).full([2], 1)), @r"
    error[literal]: full: literal 1 does not fit bool
      an integer literal becomes bool by an explicit cast only
      bool was asked for
      help: give `true` or `false`, or ask for a dtype of numbers
    ");
    insta::assert_snapshot!(text(&full_like(Array::from([1.5f32]), Complex::new(0.0, 1.0))), @r"
    error[literal]: full_like: literal (0.0+1.0i) does not fit f32
      a complex literal becomes f32 by an explicit cast only
      f32 was inferred
      help: ask for a dtype that holds it: `dtype(DType::C64).full_like(…)`
    ");
    insta::assert_snapshot!(text(&asarray(1u64 << 40)), @r"
    error[literal]: asarray: literal 1099511627776 does not fit i32
      i32 holds -2147483648 to 2147483647
      i32 was inferred
      help: ask for a dtype that holds it: `dtype(DType::I64).asarray(…)`
    ");
    insta::assert_snapshot!(text(&arange(3_000_000_000u32)), @r"
    error[literal]: arange: literal 2999999999 does not fit i32
      i32 holds -2147483648 to 2147483647
      i32 was inferred
      help: ask for a dtype that holds it: `dtype(DType::I64).arange(…)`
    ");
    insta::assert_snapshot!(text(&dtype(DType::U8).arange(-2..3)), @r"
    error[literal]: arange: literal -2 does not fit u8
      u8 holds 0 to 255
      u8 was asked for
      help: ask for a dtype that holds it: `dtype(DType::I16).arange(…)`
    ");
    insta::assert_snapshot!(text(&dtype(DType::I32).arange(0.5)), @r"
    error[literal]: arange: literal 0.5 does not fit i32
      a float literal becomes i32 by an explicit cast only
      i32 was asked for
      help: ask for a dtype that holds it: `dtype(DType::F32).arange(…)`
    ");
    insta::assert_snapshot!(text(&arange((0, 5, 0))), @r"
    error[size]: arange: the step from 0 to 5 is 0
      help: give the step a value other than 0, negative to count down
    ");
    insta::assert_snapshot!(text(&arange(f64::NAN)), @r"
    error[size]: arange: NaN is not a number to count from, to or by
      start 0, stop nan, step 1
      help: give numbers; `x.len()` and `x.shape()` say how many elements an array has
    ");
    insta::assert_snapshot!(text(&arange(Complex::new(1.0, 0.0))), @r"
    error[dtype]: arange: complex numbers have no order to count in
      start 0, stop (1.0+0.0i), step 1
      help: `linspace` goes from one complex number to another
    ");
    insta::assert_snapshot!(text(&dtype(DType::I32).linspace(0..=1, 3)), @r"
    error[dtype]: linspace: i32 is not supported
      accepted: bf16 f16 f32 f64 c64 c128
      help: the numbers are fractions; say how they are rounded, as in `linspace(…).floor().cast(DType::I32)`
    ");
    insta::assert_snapshot!(text(&zeros([usize::MAX, 2])), @r"
    error[size]: zeros: shape [18446744073709551615, 2] has more elements than memory can address
      limit: 9223372036854775807 elements
      help: use smaller extents, or evaluate the array in parts
    ");
    insta::assert_snapshot!(text(&dtype(DType::I64).arange(i64::MAX)), @r"
    error[size]: arange: shape [9223372036854775807] needs more bytes than memory can address
      9223372036854775807 elements of 8 bytes; limit: 9223372036854775807 bytes
      help: use smaller extents, or evaluate the array in parts
    ");
    insta::assert_snapshot!(text(&linspace(0.0..1.0, usize::MAX)), @r"
    error[size]: linspace: shape [18446744073709551615] has more elements than memory can address
      limit: 9223372036854775807 elements
      help: use smaller extents, or evaluate the array in parts
    ");
    let strict = || linspace(strong(0f32)..=strong(1f32), 2) + arange((strong(0i32), strong(2i64), 1));
    insta::assert_snapshot!(text(&with_policy(Policy::Strict, strict)), @r"
    error[promotion]: arange: the strict policy does not promote i32 and i64
      the types: i32, i64, i*
      help: give numbers of one dtype, or ask for one, as in `dtype(DType::F64).arange(…)`
    ");
}

/// A poisoned argument keeps its error, and places are those of the caller.
#[test]
fn errors_are_passed_on() {
    let bad = dtype(DType::U8).full(2, -1);
    for made in [zeros_like(&bad), asarray(&bad), dtype(DType::F32).asarray(&bad), full_like(&bad, 2)] {
        assert_eq!(made.error(), bad.error());
    }
    #[rustfmt::skip]
    let made = [
        (full([usize::MAX, 2], 1), line!()),
        (dtype(DType::I8).ones([usize::MAX, 2]), line!()),
        (eye((usize::MAX, 2)), line!()),
        (arange(0..u64::MAX), line!()),
        (linspace(0..=1, usize::MAX), line!()),
        (asarray(u64::MAX), line!()),
        (zeros_like(&Array::from([1u8])) + full_like(&Array::from([1u8]), 256), line!()),
    ];
    for (made, line) in made {
        assert_eq!(made.error().unwrap().place().unwrap().line, line);
    }
}

/// In a trace new arrays are constants, created once per trace.
#[test]
fn in_traces_they_are_constants() {
    let f = jit!(|x| x + dtype(DType::F32).arange(3) + ones_like(x) * full_like(x, 2));
    let x = Array::from([1.0f32, 2.0, 3.0]);
    assert_eq!(f(&x).to_vec::<f32>().unwrap(), [3.0, 5.0, 7.0]);
    assert_eq!(f(&x).to_vec::<f32>().unwrap(), [3.0, 5.0, 7.0]);
    assert_eq!(f.trace_count(), 1);
    let weak_too = jit!(|x| zeros_like(x));
    assert_eq!(ty(weak_too(&asarray(1))), Ok("i32/w".to_owned()));
    let poisoned = jit!(|x| zeros_like(x & 1.5));
    assert_eq!(poisoned.call((&x,)).unwrap_err().code(), ErrorCode::DType);
}

/// The files of `tests/goldens/ops/`, the section in them, and the matching policy.
const POLICIES: &[(&str, Option<&str>, Policy)] = &[
    ("jax", Some("x64"), Policy::Standard),
    ("jax", Some("x32"), Policy::Jax32),
    ("numpy2", None, Policy::NumPy2),
    ("numpy1", None, Policy::NumPy1),
    ("torch", None, Policy::Torch),
    ("tensorflow", None, Policy::TensorFlow),
    ("ivy_precise", None, Policy::IvyPrecise),
    ("ivy_imprecise", None, Policy::IvyImprecise),
    ("array_api", None, Policy::ArrayApi),
];

fn golden(name: &str, section: Option<&str>) -> BTreeMap<String, String> {
    let path = ndjit_tests::root().join(format!("tests/goldens/ops/{name}_result_dtypes.json"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let defaults = section.map_or(&file, |section| &file[section])["defaults"].as_object().unwrap().clone();
    defaults.into_iter().map(|(call, cell)| (call, cell.as_str().unwrap().to_owned())).collect()
}

/// The same call here; `None` if Rust has no such values.
fn ours(call: &str) -> Option<Array> {
    let (i8s, f32s, bools) = (Array::from([1i8]), Array::from([1f32]), Array::from([true]));
    let i = Complex::new(0.0, 1.0);
    Some(
        match call
            .replace("fill(", "full(")
            .replace("constant(", "asarray(")
            .replace("range(", "arange(")
            .replace("aarange", "arange")
            .replace(", ", ",")
            .as_str()
        {
            "asarray(True)" => asarray(true),
            "asarray(1)" => asarray(1),
            "asarray(1.0)" => asarray(1.0),
            "asarray(1j)" => asarray(i),
            "asarray(2**31)" => asarray(1i64 << 31),
            "asarray(2**63)" => asarray(1u64 << 63),
            "asarray(np.float64(1))" => asarray(strong(1f64)),
            "zeros(3)" => zeros(3),
            "ones(3)" => ones(3),
            "empty(3)" => empty(3),
            "eye(2)" => eye(2),
            "full((),True)" => full([], true),
            "full((),1)" => full([], 1),
            "full((),1.0)" => full([], 1.0),
            "full((),1j)" => full([], i),
            "arange(3)" => arange(3),
            "arange(3.0)" => arange(3.0),
            "arange(0,3,0.5)" => arange((0, 3, 0.5)),
            "linspace(0,1,3)" => linspace(0..=1, 3),
            "linspace(0.0,1.0,3)" => linspace(0.0..=1.0, 3),
            "zeros_like(i8)" => zeros_like(&i8s),
            "zeros_like(weak i*)" => zeros_like(asarray(1)),
            "ones_like(f32)" => ones_like(&f32s),
            "ones_like(weak f*)" => ones_like(asarray(1.0)),
            "full_like(f32,1)" => full_like(&f32s, 1),
            "full_like(i8,1)" => full_like(&i8s, 1),
            "full_like(i8,1.0)" => full_like(&i8s, 1.0),
            "full_like(bool_,1)" => full_like(&bools, 1),
            _ if call.contains('[') => return None,
            other => panic!("`{other}` has no spelling here"),
        },
    )
}

/// The reason for a deliberately different type, if any: a rule for each class of calls.
fn deliberate(name: &str, call: &str) -> Option<&'static str> {
    let kind = |text: &str| match text {
        "bool_" | "True" | "False" => 0,
        text if text.starts_with(['i', 'u']) || text.parse::<i64>().is_ok() => 1,
        text if text.starts_with('c') || text.ends_with('j') => 3,
        _ => 2,
    };
    let (function, operands) = call.trim_end_matches(')').split_once('(')?;
    let operands: Vec<&str> = operands.split(", ").collect();
    match (function, &operands[..]) {
        ("full_like", [like, fill]) if kind(like) < kind(fill) => {
            Some("a fill value of another kind is an error, not a cast")
        }
        ("asarray" | "constant", [number]) if number.starts_with("2**") => {
            Some("the value of a number never chooses its dtype")
        }
        ("linspace", ends) if name == "tensorflow" && ends.iter().all(|end| kind(end) == 1) => {
            Some("linspace has the dtype of a division; TensorFlow's has another for integers")
        }
        _ => None,
    }
}

#[test]
fn dtypes_are_those_of_the_libraries() {
    let mut unexplained = Vec::new();
    for &(name, section, policy) in POLICIES {
        let (mut compared, mut equal, mut absent) = (0, 0, 0);
        let mut listed: BTreeMap<&str, usize> = BTreeMap::new();
        // JAX's `x64` has 64-bit defaults.
        let policy = if section == Some("x64") { policy.with_defaults(Defaults::BITS_64).unwrap() } else { policy };
        for (call, want) in golden(name, section) {
            let Some(made) = with_policy(policy, || ours(&call).map(ty)) else {
                absent += 1;
                continue;
            };
            compared += 1;
            let same = match &made {
                Ok(made) => *made == want,
                Err(_) => want.starts_with('!'),
            };
            match deliberate(name, &call) {
                _ if same => equal += 1,
                Some(reason) => *listed.entry(reason).or_default() += 1,
                None => unexplained.push(format!("{name} {call}: {made:?} here, {want} there")),
            }
        }
        let differences: usize = listed.values().sum();
        println!(
            "{name} {}: {compared} calls compared, {equal} equal, {differences} listed differences, {absent} lists of Python numbers",
            section.unwrap_or_default()
        );
        for (reason, calls) in &listed {
            println!("  {calls}: {reason}");
        }
        assert!(equal > 10);
    }
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
}

#[test]
fn an_empty_sequence_has_no_numbers_to_fit() {
    for empty in [dtype(DType::U8).arange(300..300), dtype(DType::I8).arange((300, 0, 1))] {
        assert_eq!((empty.error(), empty.len()), (None, 0));
    }
    assert!(dtype(DType::U8).arange(300..301).error().is_some());
}
