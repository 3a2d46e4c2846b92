//! docs/array-api.md: the functions of the Array API standard's core, with their calls here. Each call runs, and its result is compared
//! with NumPy's function of that name. Written with `NDJIT_WRITE_DOCS=1`, otherwise checked.

use ndjit::*;
use ndjit_tests::root;
use serde_json::Value;
use std::fmt::Write;

/// A function's call here, and its result.
struct Row {
    name: &'static str,
    call: &'static str,
    shown: String,
}

/// Results in the format of the golden file: shape and elements.
trait Shown {
    fn shown(&self) -> String;
}

impl Shown for Array {
    fn shown(&self) -> String {
        if self.dtype().is_complex() {
            return stack([self.real(), self.imag()], -1).shown();
        }
        let elements = self.cast(DType::F64).to_vec::<f64>().unwrap_or_else(|error| panic!("{error}"));
        let elements: String = elements.iter().map(|x| format!(" {x:?}")).collect();
        format!("{:?}{elements}", self.shape().extents())
    }
}

impl<T: Shown> Shown for Vec<T> {
    fn shown(&self) -> String {
        self.iter().map(Shown::shown).collect::<Vec<String>>().join(" | ")
    }
}

impl<T: Shown, const N: usize> Shown for [T; N] {
    fn shown(&self) -> String {
        self.iter().map(Shown::shown).collect::<Vec<String>>().join(" | ")
    }
}

impl<A: Shown, B: Shown> Shown for (A, B) {
    fn shown(&self) -> String {
        format!("{} | {}", self.0.shown(), self.1.shown())
    }
}

impl Shown for UniqueAll<Array> {
    fn shown(&self) -> String {
        let UniqueAll { values, indices, inverse_indices, counts } = self;
        [values, indices, inverse_indices, counts].map(Shown::shown).join(" | ")
    }
}

impl<T: Shown> Shown for Result<T> {
    fn shown(&self) -> String {
        self.as_ref().unwrap_or_else(|error| panic!("{error}")).shown()
    }
}

impl Shown for bool {
    fn shown(&self) -> String {
        Array::from(*self).shown()
    }
}

impl Shown for Shape {
    fn shown(&self) -> String {
        format!("{:?}", self.extents())
    }
}

impl Shown for ValueType {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for FloatInfo {
    fn shown(&self) -> String {
        format!("{} {:?}", self.bits, self.eps)
    }
}

impl Shown for IntInfo {
    fn shown(&self) -> String {
        format!("{} {}", self.min, self.max)
    }
}

macro_rules! rows {
    ($x:ident $y:ident $u:ident $i:ident $v:ident $w:ident $d:ident $z:ident $b:ident $c:ident $a:ident; $($name:literal => $call:expr;)*) => {
        /// Every available function. All arrays are `f64`, except `i`, `v`, `w`, `d` and `a`, integers, `z`, complex, `b` and `c`, bool.
        fn rows() -> Result<Vec<Row>> {
            let $x = Array::from_rows(&[[3.0f64, 1.0, 2.0], [6.0, 5.0, 4.0]]);
            let $y = Array::from_rows(&[[0.5f64, -7.0, 1.0], [2.0, -2.5, 9.0]]);
            let $u = Array::from([0.25f64, -0.5, 0.75]);
            let $i = Array::from_rows(&[[3, 1, 2], [6, 5, 4]]);
            let ($v, $w, $d) = (Array::from([4, 1, 3, 2]), Array::from([1, 2, 4, 7]), Array::from([2, 1, 2, 3]));
            let $z = Array::from([Complex::new(1.0f64, 2.0), Complex::new(0.0, -0.5)]);
            let ($b, $c) = (Array::from([true, false, true]), Array::from([true, true, false]));
            let $a = arange(24).reshape([2, 3, 4]);
            Ok(vec![$(Row { name: $name, call: stringify!($call), shown: $call.shown() }),*])
        }
    };
}

rows! { x y u i v w d z b c a;
    "abs" => abs(&y);
    "acos" => acos(&u);
    "acosh" => acosh(&x);
    "add" => add(&x, &y);
    "asin" => asin(&u);
    "asinh" => asinh(&u);
    "atan" => atan(&u);
    "atan2" => atan2(&x, &y);
    "atanh" => atanh(&u);
    "bitwise_and" => bitwise_and(&v, &w);
    "bitwise_left_shift" => bitwise_left_shift(&v, &w);
    "bitwise_invert" => bitwise_invert(&v);
    "bitwise_or" => bitwise_or(&v, &w);
    "bitwise_right_shift" => bitwise_right_shift(&v, &w);
    "bitwise_xor" => bitwise_xor(&v, &w);
    "ceil" => ceil(&y);
    "clip" => clip(&y, -2.0, 2.0);
    "conj" => conj(&z);
    "copysign" => copysign(&x, &y);
    "cos" => cos(&u);
    "cosh" => cosh(&u);
    "divide" => divide(&x, &y);
    "equal" => equal(&x, &y);
    "exp" => exp(&u);
    "expm1" => expm1(&u);
    "floor" => floor(&y);
    "floor_divide" => floor_divide(&x, &y);
    "greater" => greater(&x, &y);
    "greater_equal" => greater_equal(&x, &y);
    "hypot" => hypot(&x, &y);
    "imag" => imag(&z);
    "isfinite" => isfinite(&y);
    "isinf" => isinf(&y);
    "isnan" => isnan(&y);
    "less" => less(&x, &y);
    "less_equal" => less_equal(&x, &y);
    "log" => log(&x);
    "log1p" => log1p(&u);
    "log2" => log2(&x);
    "log10" => log10(&x);
    "logaddexp" => logaddexp(&x, &y);
    "logical_and" => logical_and(&b, &c);
    "logical_not" => logical_not(&b);
    "logical_or" => logical_or(&b, &c);
    "logical_xor" => logical_xor(&b, &c);
    "maximum" => maximum(&x, &y);
    "minimum" => minimum(&x, &y);
    "multiply" => multiply(&x, &y);
    "negative" => negative(&y);
    "nextafter" => nextafter(&x, &y);
    "not_equal" => not_equal(&x, &y);
    "positive" => positive(&y);
    "pow" => pow(&v, &w);
    "real" => real(&z);
    "reciprocal" => reciprocal(&x);
    "remainder" => remainder(&x, &y);
    "round" => round(&y);
    "sign" => sign(&y);
    "signbit" => signbit(&y);
    "sin" => sin(&u);
    "sinh" => sinh(&u);
    "square" => square(&x);
    "sqrt" => sqrt(&x);
    "subtract" => subtract(&x, &y);
    "tan" => tan(&u);
    "tanh" => tanh(&u);
    "trunc" => trunc(&y);
    "cumulative_prod" => cumulative_prod(&v, 0);
    "cumulative_sum" => cumulative_sum(&v, 0);
    "max" => max(&x, ..);
    "mean" => mean(&x, ..);
    "min" => min(&x, ..);
    "prod" => prod(&x, ..);
    "std" => std(&x, ..);
    "sum" => sum(&x, ..);
    "var" => var(&x, ..);
    "argmax" => argmax(&x, ..);
    "argmin" => argmin(&x, ..);
    "count_nonzero" => count_nonzero(&b, ..);
    "nonzero" => nonzero(&b);
    "searchsorted" => searchsorted(&w, Array::from([0, 2, 5, 9]), Side::Left);
    "where" => where_(&b, &u, 0.0);
    "argsort" => argsort(&v, -1);
    "sort" => sort(&v, -1);
    "isin" => isin(&v, &w);
    "unique_all" => unique_all(&d);
    "unique_counts" => unique_counts(&d);
    "unique_inverse" => unique_inverse(&d);
    "unique_values" => unique_values(&d);
    "all" => all(&b, ..);
    "any" => any(&b, ..);
    "diff" => diff(&w, 1, 0);
    "broadcast_arrays" => broadcast_arrays([&v, &w.reshape([4, 1])]);
    "broadcast_shapes" => broadcast_shapes([&[2, 1][..], &[3]]);
    "broadcast_to" => broadcast_to(&v, [2, 4]);
    "concat" => concat([&v, &w], 0);
    "expand_dims" => expand_dims(&v, 0);
    "flip" => flip(&i, 0);
    "moveaxis" => moveaxis(&a, 0, -1);
    "permute_dims" => permute_dims(&a, [1, 2, 0]);
    "repeat" => repeat(&v, 2, 0);
    "reshape" => reshape(&i, [3, 2]);
    "roll" => roll(&v, 1, 0);
    "squeeze" => squeeze(i.slice(..1), 0);
    "stack" => stack([&v, &w], 0);
    "tile" => tile(&v, [2, 1]);
    "unstack" => unstack(&i, 0);
    "arange" => arange(5);
    "asarray" => asarray([1, 2, 3]);
    "empty" => empty([0, 3]);
    "empty_like" => empty_like(zeros([0, 3]));
    "eye" => eye(3);
    "from_dlpack" => from_dlpack(v.to_dlpack(None)?, None, None);
    "full" => full([2, 3], 7);
    "full_like" => full_like(&v, 7);
    "linspace" => linspace(0..=1, 5);
    "meshgrid" => meshgrid([&v, &w], Indexing::Xy);
    "ones" => ones([2, 3]);
    "ones_like" => ones_like(&v);
    "tril" => tril(&i, 0);
    "triu" => triu(&i, 0);
    "zeros" => zeros([2, 3]);
    "zeros_like" => zeros_like(&v);
    "astype" => y.astype(DType::I32);
    "can_cast" => can_cast(DType::I8, DType::I32);
    "finfo" => finfo(DType::F32);
    "iinfo" => iinfo(DType::I16);
    "isdtype" => isdtype(DType::F32, DTypeSet::FLOAT);
    "result_type" => result_type((DType::I8, DType::I16));
    "take" => take(&v, Array::from([3, 0]), 0);
    "take_along_axis" => take_along_axis(&i, Array::from_rows(&[[2], [0]]), 1);
    "matmul" => matmul(&i, matrix_transpose(&i));
    "matrix_transpose" => matrix_transpose(&i);
    "tensordot" => tensordot(&i, matrix_transpose(&i), 1);
    "vecdot" => vecdot(&v, &w, -1);
}

fn goldens() -> Value {
    serde_json::from_str(&std::fs::read_to_string(root().join("tests/goldens/array_api.json")).unwrap()).unwrap()
}

/// Groups of functions, and their names.
fn groups(goldens: &Value) -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(root().join("tests/goldens/array_api.json")).unwrap();
    let mut groups: Vec<(String, Vec<String>)> = goldens["groups"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(group, names)| {
            let names = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
            (group.clone(), names.collect())
        })
        .collect();
    // In the standard's order, which is the file's.
    groups.sort_by_key(|(group, _)| text.find(&format!("\"{group}\"")));
    groups
}

fn page() -> String {
    let (goldens, rows) = (goldens(), rows().unwrap());
    let groups = groups(&goldens);
    let row = |name: &str| rows.iter().find(|row| row.name == name);
    let all: usize = groups.iter().map(|(_, names)| names.len()).sum();
    let mut page = format!(
        "# The Array API
All {all} functions of the core of the [Array API standard](https://data-apis.org/array-api/2025.12/), version 2025.12, are available under their
names. A test runs every call below and compares the result with NumPy's. `x`, `y` and `u` are arrays of floats, `z` of complex numbers, `b` and `c` of
bools, the others of integers. Most functions are methods as well: `x.sum(..)`. [Numerics](numerics.md) describes special values,
[Dtypes and promotion](promotion.md) the dtypes of results.

| functions | number |
| --- | --- |
"
    );
    // Writing to a String cannot fail.
    for (group, names) in &groups {
        let link = group.to_lowercase().replace(' ', "-");
        let _ = writeln!(page, "| [{group}](#{link}) | {} |", names.len());
    }
    for (group, names) in &groups {
        let _ = write!(page, "\n## {group}\n| function | here |\n| --- | --- |\n");
        for name in names {
            let link =
                format!("https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.{name}.html");
            let row = row(name).unwrap_or_else(|| panic!("{name} is not here"));
            let _ = writeln!(page, "| [{name}]({link}) | `{}` |", row.call);
        }
    }
    page
}

/// Whether two texts have the same numbers, up to rounding, or the same dtype.
fn same(found: &str, expected: &str) -> bool {
    let near = |(a, b): (&str, &str)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a == b || (a - b).abs() <= 4e-16 * b.abs(),
        _ => a == b || a.parse::<DType>().is_ok_and(|a| b.parse() == Ok(a)),
    };
    let (found, expected): (Vec<&str>, Vec<&str>) = (found.split(' ').collect(), expected.split(' ').collect());
    found.len() == expected.len() && found.into_iter().zip(expected).all(near)
}

#[test]
fn results_are_those_of_numpy() {
    let goldens = goldens();
    for row in rows().unwrap() {
        let expected = goldens["results"][row.name].as_str().unwrap_or_else(|| panic!("{} is not a name", row.name));
        assert!(same(&row.shown, expected), "{}: {}\n{expected}", row.call, row.shown);
    }
    assert!(!same("[1] 1.5", "[1] 1.5000001") && !same("[1] 1.5", "[1] 1.5 2.0"));
}

#[test]
fn the_page_is_current() {
    let path = root().join("docs/array-api.md");
    if std::env::var_os("NDJIT_WRITE_DOCS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page(), "docs/array-api.md is not what this test writes with NDJIT_WRITE_DOCS=1");
}
