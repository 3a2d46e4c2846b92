//! Functions of NumPy that the Array API lacks: bins, sliding products, interpolation, covariances, masks. NumPy's results, the same bits
//! in compiled code and in the interpreter, dtypes.

use ndjit::operand::{ArrayLike, BinaryOperand, UnaryOperand};
use ndjit::{
    Array, Closed, Complex, DType, ErrorCode, Expr, IntoBins, Overlap, Policy, Scalar, bincount, compress, convolve,
    corrcoef, correction, correlate, cov, density, digitize, histogram, interp, jit, left, nonzero, period, size,
    weights, with_policy,
};
use ndjit_tests::root;
use serde_json::Value;

/// An array or a traced value.
trait Own:
    UnaryOperand<Out = Self>
    + ArrayLike
    + Clone
    + BinaryOperand<Self, Out = Self>
    + BinaryOperand<Scalar, Out = Self>
    + IntoBins<Edges = Self>
{
}

impl Own for Array {}
impl Own for Expr {}

fn cases() -> Vec<Value> {
    let text = std::fs::read_to_string(root().join("tests/goldens/bins.json")).unwrap();
    let goldens: Value = serde_json::from_str(&text).unwrap();
    goldens["cases"].as_array().unwrap().clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

fn numbers(value: &Value) -> Vec<f64> {
    value["elements"].as_array().unwrap().iter().map(number).collect()
}

fn shape(value: &Value) -> Vec<usize> {
    value["shape"].as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap() as usize).collect()
}

fn array(value: &Value) -> Array {
    let (elements, shape) = (numbers(value), shape(value));
    match value["dtype"].as_str().unwrap() {
        "c" => {
            let pairs = elements.chunks(2).map(|z| Complex::new(z[0], z[1])).collect::<Vec<_>>();
            Array::from_shape_vec(shape, pairs)
        }
        "i" => Array::from_shape_vec(shape, elements.iter().map(|&n| n as i64).collect()),
        "b" => Array::from_shape_vec(shape, elements.iter().map(|&n| n != 0.0).collect()),
        _ => Array::from_shape_vec(shape, elements),
    }
    .unwrap()
}

/// The elements as `f64`.
fn read(x: &Array) -> Vec<f64> {
    match x.dtype().is_complex() {
        true => x.cast(DType::C128).to_vec::<Complex<f64>>().unwrap().iter().flat_map(|z| [z.re, z.im]).collect(),
        false => x.cast(DType::F64).to_vec::<f64>().unwrap(),
    }
}

fn option(case: &Value, name: &str) -> Option<f64> {
    case["options"].get(name).map(number)
}

/// The call of a case, with all its results. If shapes depend on values, the result shapes are given.
fn call<R: Own>(case: &Value, given: &[R]) -> Vec<R> {
    let one = |n: usize| given[n].clone();
    let expected = shape(&case["results"][0]);
    let overlap = || match case["options"]["mode"].as_str().unwrap() {
        "full" => Overlap::Full,
        "same" => Overlap::Same,
        _ => Overlap::Valid,
    };
    let axis = || option(case, "axis").unwrap() as isize;
    match (case["name"].as_str().unwrap(), given.len()) {
        ("convolve", _) => vec![convolve(one(0), one(1), overlap())],
        ("correlate", _) => vec![correlate(one(0), one(1), overlap())],
        ("bincount", 1) => vec![bincount(one(0), expected[0])],
        ("bincount", _) => vec![weights(one(1)).bincount(one(0), expected[0])],
        ("histogram", n) => {
            let dense = case["options"]["density"].as_bool().unwrap();
            let (counts, edges) = match (option(case, "bins").map(|bins| bins as usize), n, dense) {
                (Some(bins), ..) => match case["options"].get("range") {
                    Some(range) => histogram(one(0), (bins, number(&range[0])..=number(&range[1]))),
                    None => histogram(one(0), bins),
                },
                (None, 2, false) => histogram(one(0), one(1)),
                (None, 2, true) => density().histogram(one(0), one(1)),
                (None, _, false) => weights(one(2)).histogram(one(0), one(1)),
                (None, _, true) => weights(one(2)).density().histogram(one(0), one(1)),
            };
            vec![counts, edges]
        }
        ("digitize", _) => match case["options"]["right"].as_bool().unwrap() {
            false => vec![digitize(one(0), one(1))],
            true => vec![Closed::Right.digitize(one(0), one(1))],
        },
        ("interp", _) => vec![match (option(case, "left"), option(case, "period")) {
            (None, None) => interp(one(0), one(1), one(2)),
            (Some(number), _) => left(number).right(option(case, "right").unwrap()).interp(one(0), one(1), one(2)),
            (None, Some(number)) => period(number).interp(one(0), one(1), one(2)),
        }],
        ("cov", 1) => match option(case, "ddof") {
            Some(1.0) => vec![cov(one(0))],
            ddof => vec![correction(ddof.unwrap()).cov(one(0))],
        },
        ("cov", _) => vec![weights(one(1)).correction(option(case, "ddof").unwrap()).cov(one(0))],
        ("corrcoef", _) => vec![corrcoef(one(0))],
        ("compress", _) => {
            let axis = axis();
            let rank = expected.len() as isize;
            vec![size(expected[((axis + rank) % rank) as usize]).compress(one(0), one(1), axis)]
        }
        ("nonzero", _) => size(expected[0]).nonzero(one(0)),
        (name, _) => panic!("{name}"),
    }
}

/// The differences from the case's results.
fn differences(case: &Value, found: &[Array]) -> Vec<String> {
    let results = case["results"].as_array().unwrap();
    assert_eq!(found.len(), results.len(), "{case}");
    let mut differences = Vec::new();
    for (found, expected) in found.iter().zip(results) {
        if let Some(error) = found.error() {
            differences.push(format!("{case}: {error}"));
            continue;
        }
        let kind = match found.dtype() {
            dtype if dtype.is_complex() => "c",
            dtype if dtype.is_float() => "f",
            DType::Bool => "b",
            _ => "i",
        };
        let near = |found: f64, expected: f64| {
            let same = found == expected || found.is_nan() && expected.is_nan();
            same || (found - expected).abs() <= 1e-13 * (1.0 + expected.abs())
        };
        let shapes = found.shape().extents() == shape(expected) && kind == expected["dtype"].as_str().unwrap();
        if !shapes || !read(found).into_iter().zip(numbers(expected)).all(|(found, expected)| near(found, expected)) {
            differences.push(format!("{case}: {}{} {found}", found.dtype(), found.shape()));
        }
    }
    differences
}

fn same_bits(one: &[Array], other: &[Array], case: &Value) {
    for (one, other) in one.iter().zip(other) {
        assert_eq!((one.dtype(), one.shape()), (other.dtype(), other.shape()), "{case}");
        for (a, b) in read(one).into_iter().zip(read(other)) {
            assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{case}: {a} and {b}");
        }
    }
}

#[test]
fn results_are_numpys() {
    with_policy(Policy::NumPy2, || {
        let cases = cases();
        assert!(cases.len() > 300);
        let mut different = Vec::new();
        for case in &cases {
            let given: Vec<Array> = case["arguments"].as_array().unwrap().iter().map(array).collect();
            let chosen = match case["name"].as_str().unwrap() {
                "compress" => vec![compress(&given[0], &given[1], option(case, "axis").unwrap() as isize)],
                "nonzero" => nonzero(&given[0]),
                "mask" => vec![given[1].at(&given[0]).get()],
                "bincount" if given.len() == 1 => {
                    vec![bincount(&given[0], option(case, "minlength").unwrap() as usize..)]
                }
                _ => call(case, &given),
            };
            different.extend(differences(case, &chosen));
            if case["name"] == "mask" {
                continue;
            }
            let eager = call(case, &given);
            different.extend(differences(case, &eager));
            let function = |own: &Value, interpreted: bool| -> Vec<Array> {
                let own = own.clone();
                let f = move |x: Vec<Expr>| call(&own, &x);
                match &given[..] {
                    [x] => jit(move |x: Expr| f(vec![x])).interpreted(interpreted).call((x,)),
                    [x, y] => jit(move |x: Expr, y: Expr| f(vec![x, y])).interpreted(interpreted).call((x, y)),
                    [x, y, z] => {
                        jit(move |x: Expr, y: Expr, z: Expr| f(vec![x, y, z])).interpreted(interpreted).call((x, y, z))
                    }
                    _ => panic!("{case}"),
                }
                .unwrap_or_else(|error| panic!("{case}: {error}"))
            };
            let (traced, interpreted) = (function(case, false), function(case, true));
            same_bits(&eager, &traced, case);
            same_bits(&traced, &interpreted, case);
        }
        assert!(different.is_empty(), "{}", different.join("\n"));
    });
}

#[test]
fn dtypes_are_those_of_the_policy() {
    let (bytes, halves) = (Array::from([1u8, 2, 2]), Array::from([1.0f32, 2.5, 3.0]).cast(DType::F16));
    assert_eq!(bincount(&bytes, 3).dtype(), DType::I32);
    let weighed = |w: &Array| weights(w).bincount(&bytes, 3).dtype();
    assert_eq!((weighed(&bytes), weighed(&halves)), (DType::U32, DType::F16));
    let edges = |x: &Array| histogram(x, 2).1.dtype();
    assert_eq!((edges(&bytes), edges(&halves)), (DType::F32, DType::F16));
    assert_eq!(digitize(&halves, &bytes).dtype(), DType::I32);
    assert_eq!(interp(&bytes, &bytes, &bytes).dtype(), DType::F32);
    assert_eq!(interp(&halves, &halves, &halves).dtype(), DType::F16);
    assert_eq!(convolve(&bytes, &halves, Overlap::Full).dtype(), DType::F16);
    assert_eq!(convolve(&bytes, &bytes, Overlap::Same).to_string(), "[4 8 8]");
    let truths = bytes.gt(1);
    assert_eq!(convolve(&truths, &truths, Overlap::Full).to_string(), "[false false  true  true  true]");
    assert_eq!((cov(&bytes).dtype(), cov(&halves).dtype()), (DType::F32, DType::F16));
    assert_eq!(correction(1).dtype(DType::F64).cov(&bytes).dtype(), DType::F64);
    // Sums of halves are rounded once.
    let ones = Array::from(vec![1.0f32; 4000]).cast(DType::F16);
    let sum = weights(&ones).bincount(Array::from(vec![0; 4000]), 1);
    assert_eq!(sum.cast(DType::F32).to_string(), "[4000.]");
}

/// NaN and values out of range are excluded; a bin includes its first edge, the last one both; equal edges.
#[test]
fn elements_beyond_the_bins_are_not_counted() {
    let x = Array::from([f32::NAN, -0.0, 0.0, 1.0, 2.0, 2.5]);
    assert_eq!(histogram(&x, (2, 0.0..=2.0)).0.to_string(), "[2 2]");
    assert_eq!(histogram(&x, 3).0.to_string(), "[0 0 0]");
    let huge = Array::from([f32::MAX, -f32::MAX, 0.0]);
    assert_eq!(histogram(&huge, 3).0.to_string(), "[1 1 1]");
    assert_eq!(histogram(&Array::from([0, 1, 2, 3]), 1000).0.sum(..).item::<i32>().unwrap(), 4);
    // In a traced function values without a bin are excluded, and outside they are errors.
    let counts = jit(|x: Expr| bincount(x, 3));
    let x = Array::from([-1i64, 0, 2, 3, i64::MIN, i64::MAX]);
    assert_eq!(counts(&x).to_string(), "[1 0 1]");
    assert_eq!(counts(&Array::from([u64::MAX, 1])).to_string(), "[0 1 0]");
    assert_eq!(bincount(&x, 3).error().unwrap().code(), ErrorCode::Index);
    assert_eq!(bincount(&Array::from([u64::MAX, 1]), 3).error().unwrap().code(), ErrorCode::Index);
}

#[test]
fn masks_of_the_first_axes_take_elements() {
    let x = ndjit::arange(24).reshape([2, 3, 4]);
    let rows = x.at(Array::from([false, true])).get();
    assert_eq!((rows.shape().extents(), rows.slice((0, 0, 0)).item::<i32>().unwrap()), (&[1, 3, 4][..], 12));
    assert_eq!(x.mt().at(x.mt().gt(20)).get().to_string(), "[21 22 23]");
    assert_eq!(x.at(Array::from(true)).get().shape().extents(), [1, 2, 3, 4]);
    assert_eq!(x.at(x.gt(99)).get().shape().extents(), [0]);
    let none = ndjit::zeros([0, 3]);
    assert_eq!(none.at(none.gt(0)).get().shape().extents(), [0]);
    // A large mask, distributed over threads.
    let many = ndjit::arange(300_000);
    let even = (&many % 2).eq(0);
    assert_eq!(many.at(&even).get().to_vec::<i32>().unwrap(), (0..300_000).step_by(2).collect::<Vec<i32>>());
    let [rows, columns] = &nonzero(many.reshape([3, 100_000]).ge(99_999))[..] else { panic!("two axes") };
    assert_eq!((rows.len(), rows.slice(..2).to_string()), (200_001, "[0 1]".into()));
    assert_eq!(columns.slice(..2).to_string(), "[99999     0]");
}

#[test]
fn errors_say_what_to_write() {
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let code = |x: &Array| x.error().map(ndjit::Error::code);
    assert_eq!(code(&bincount(&x, 3)), Some(ErrorCode::DType));
    assert_eq!(code(&bincount(Array::from([1]), -3)), Some(ErrorCode::Argument));
    assert_eq!(code(&histogram(&x, 0).0), Some(ErrorCode::Argument));
    assert_eq!(code(&histogram(&x, (3, 2.0..=1.0)).1), Some(ErrorCode::Argument));
    assert_eq!(code(&histogram(&x, (3, 0.0..=f64::INFINITY)).1), Some(ErrorCode::Argument));
    assert_eq!(code(&histogram(&x, &ndjit::zeros(0)).1), Some(ErrorCode::Shape));
    assert_eq!(code(&histogram(&x, &ndjit::zeros([2, 2])).1), Some(ErrorCode::Shape));
    assert_eq!(code(&histogram(&x.cast(DType::C64), 3).1), Some(ErrorCode::DType));
    assert_eq!(code(&weights(ndjit::zeros(2)).histogram(&x, 3).0), Some(ErrorCode::Shape));
    assert_eq!(code(&interp(&x, &x, ndjit::zeros(2))), Some(ErrorCode::Shape));
    assert_eq!(code(&period(0).interp(&x, &x, &x)), Some(ErrorCode::Argument));
    assert_eq!(code(&convolve(&x, ndjit::zeros(0), Overlap::Full)), Some(ErrorCode::Shape));
    assert_eq!(code(&cov(ndjit::zeros([1, 2, 3]))), Some(ErrorCode::Shape));
    assert_eq!(code(&cov(ndjit::zeros([]))), Some(ErrorCode::Shape));
    assert_eq!(code(&x.at(Array::from([true, false])).get()), Some(ErrorCode::Shape));
    assert_eq!(code(&size(2).fill(-1).compress(&x.gt(1), x.cast(DType::U8), 0)), Some(ErrorCode::Literal));
    assert_eq!(code(&compress(ndjit::zeros(4), &x, 0)), Some(ErrorCode::Shape));
    let strict = with_policy(Policy::Strict, || digitize(&x, Array::from([1, 2])));
    assert_eq!(code(&strict), Some(ErrorCode::Promotion));
    for f in [
        (|x: Expr| bincount(x.cast(DType::I32), ..)) as fn(Expr) -> Expr,
        |x| compress(x, x, 0),
        |x| nonzero(x).remove(0),
    ] {
        assert_eq!(jit(f).call((&x,)).unwrap_err().code(), ErrorCode::Traced);
    }
    insta::assert_snapshot!(refused!(bincount(Array::from([0, 7, 1]), 3)), @r"
    error[index]: bincount: 7 has no bin: there are 3
      at here
      x: i32[3] held as data
      help: `..` in place of the number has as many bins as there are; `clip` keeps elements in range
    ");
    insta::assert_snapshot!(refused!(weights(ndjit::zeros(2)).histogram(&x, 3).0), @r"
    error[shape]: histogram: weights of shape [2] for elements of shape [3]
      at here
      x:       f32[3] held as data
      weights: f32[2] held as data
      help: give a weight for each element, or one for all
    ");
    insta::assert_snapshot!(refused!(x.at(Array::from([true, false])).get()), @r"
    error[shape]: at: a mask of shape [2] for an array of shape [3]
      at here
      x:       f32[3] held as data
      indices: bool[2] held as data
      help: a mask has the array's first axes, with their extents, and does not broadcast by itself
    ");
    insta::assert_snapshot!(refused!(digitize(&x, ndjit::zeros([2, 2]))), @r"
    error[shape]: digitize: an array of edges of shape [2, 2] has not one axis
      at here
      x:     f32[3] held as data
      edges: f32[2, 2] held as data
      help: `x.reshape(-1)` makes one axis of several, `x.reshape(1)` of a number
    ");
    let masked = jit(|x: Expr| x.at(x.gt(1)).get()).call((&x,)).unwrap_err();
    assert!(masked.to_string().contains("`size(n).compress(mask, x, axis)` takes `n`"), "{masked}");
}
