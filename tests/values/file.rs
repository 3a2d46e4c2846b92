//! One golden file: its inputs as tensors, its cases, and the allowed values of each element.

use ndjit_ir::{DType, Shape};
use ndjit_math::interp::Tensor;
use serde_json::Value;

/// A function on inputs of one dtype.
pub struct Case {
    pub function: String,
    pub dtype: DType,
    pub operands: Vec<Tensor>,
    /// NumPy's dtype and elements, `None` for an element where it raises.
    pub numpy: Option<(DType, Vec<Option<Words>>)>,
    /// JAX's dtype and elements.
    pub jax: Option<(DType, Vec<Words>)>,
    /// The correctly rounded results, in NumPy's dtype: `m` computed with many digits, `s` special values, `-` none.
    pub reference: Option<Vec<(char, Words)>>,
    /// Elements that are undefined in C.
    pub undefined: Vec<usize>,
}

/// The storage words of an element.
pub type Words = Vec<u64>;

pub fn cases(file: &Value) -> Vec<Case> {
    file["cases"].as_array().expect("cases").iter().map(|case| read(file, case)).collect()
}

fn read(file: &Value, case: &Value) -> Case {
    let dtype =
        |key: &str| case[key].as_str().map(|name| name.parse::<DType>().unwrap_or_else(|e| panic!("{key}: {e}")));
    let of = dtype("in").expect("a dtype");
    let inputs = &file["inputs"][of.name()];
    let texts: Vec<&str> = match inputs.as_array() {
        Some(pair) => pair.iter().map(|text| text.as_str().expect("tokens")).collect(),
        None => vec![inputs.as_str().expect("tokens")],
    };
    let numpy = case["numpy"].as_str().zip(dtype("out")).map(|(text, out)| (out, text.split(' ').map(words).collect()));
    Case {
        function: case["fn"].as_str().expect("a function").to_owned(),
        dtype: of,
        operands: texts.into_iter().map(|text| tensor(of, text)).collect(),
        jax: jax(case, dtype("jax_out"), numpy.as_ref()),
        reference: case["ref"].as_str().map(|text| reference(text, case["ref_kind"].as_str().expect("kinds"), &numpy)),
        undefined: indices(&case["undef"]),
        numpy,
    }
}

fn tensor(dtype: DType, text: &str) -> Tensor {
    let elements: Vec<Words> = text.split(' ').map(|token| words(token).expect("a number")).collect();
    Tensor::from_words(dtype, Shape::from([elements.len()]), |i| elements[i].clone()).expect("a small array")
}

/// `3f800000`, `3f800000:00000000`; `None` for `E`.
fn words(token: &str) -> Option<Words> {
    let word = |part: &str| u64::from_str_radix(part, 16).unwrap_or_else(|e| panic!("{token}: {e}"));
    (token != "E").then(|| token.split(':').map(word).collect())
}

/// JAX's elements: NumPy's except those listed, or its own if the dtypes differ.
fn jax(case: &Value, out: Option<DType>, numpy: Option<&(DType, Vec<Option<Words>>)>) -> Option<(DType, Vec<Words>)> {
    let out = out?;
    if let Some(text) = case["jax"].as_str() {
        return Some((out, text.split(' ').map(|token| words(token).expect("a number")).collect()));
    }
    let changed = case["jax_diff"].as_array()?;
    let mut elements = numpy?.1.clone();
    for pair in changed {
        let (at, token) = (pair[0].as_u64().expect("an index"), pair[1].as_str().expect("a token"));
        elements[at as usize] = words(token);
    }
    Some((out, elements.into_iter().collect::<Option<_>>()?))
}

fn reference(text: &str, kinds: &str, numpy: &Option<(DType, Vec<Option<Words>>)>) -> Vec<(char, Words)> {
    let kinds: Vec<char> = kinds.chars().filter(|c| !c.is_whitespace()).collect();
    let numbers: Vec<Words> = match (text, numpy) {
        ("=numpy", Some((_, elements))) => elements.iter().map(|e| e.clone().unwrap_or_default()).collect(),
        _ => text.split(' ').map(|token| words(token).unwrap_or_default()).collect(),
    };
    assert_eq!(kinds.len(), numbers.len(), "a kind for each reference");
    kinds.into_iter().zip(numbers).collect()
}

fn indices(list: &Value) -> Vec<usize> {
    list.as_array().into_iter().flatten().filter_map(|i| i.as_u64()).map(|i| i as usize).collect()
}
