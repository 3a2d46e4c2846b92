//! Expected results of a case: NumPy's elements, error bounds, and deliberate differences.

use crate::bounds::near;
use crate::call::Case;
use crate::data::{parts, words};
use ndjit::{DType, Shape};
use ndjit_math::interp::Tensor;
use serde_json::Value;
use std::collections::BTreeSet;

/// The results of a case.
pub enum Expected {
    /// For moves of elements.
    Moved(Vec<Tensor>),
    /// For promotion, and for reductions.
    Computed {
        dtype: DType,
        shape: Shape,
        elements: Vec<String>,
        /// Scales of the bounds; empty if results are exact.
        scales: Vec<f64>,
        /// The distance of expected elements in the result.
        every: usize,
    },
}

/// Results that deliberately differ from NumPy's.
pub struct Difference {
    functions: &'static [&'static str],
    what: What,
    pub reason: &'static str,
}

enum What {
    /// NumPy's dtype and ours, which can represent NumPy's values.
    DTypes(fn(DType, DType) -> bool),
    /// The parts of NumPy's element and of ours.
    Parts(fn([f64; 2], [f64; 2]) -> bool),
}

/// All deliberate differences. Each is needed by a case.
pub const DIFFERENCES: &[Difference] = &[
    Difference {
        functions: &["sum", "prod", "cumulative_sum", "cumulative_prod", "trace"],
        what: What::DTypes(|numpy, own| {
            numpy.is_int() && own == if numpy.is_signed() { DType::I32 } else { DType::U32 }
        }),
        reason: "sums of small integers and of bool have the default integer's width, which is JAX's 32 bits; NumPy's is 64",
    },
    Difference {
        functions: &["mean", "var", "std", "norm", "vector_norm", "trapezoid", "median", "quantile"],
        what: What::DTypes(|numpy, own| (numpy, own) == (DType::F64, DType::F32)),
        reason: "means, variances, norms, integrals and quantiles of integers of at most 32 bits and of bool are f32, as in JAX; NumPy's are f64",
    },
    Difference {
        functions: &["logsumexp"],
        what: What::DTypes(|numpy, own| numpy.is_float() && own == DType::F32),
        reason: "functions of integers of at most 32 bits and of bool are f32, as in JAX; NumPy's are as wide as the integers need",
    },
    Difference {
        functions: &["norm", "vector_norm"],
        what: What::DTypes(|numpy, own| (numpy, own) == (DType::F64, DType::Bf16)),
        reason: "bf16 is a float, whose norms are of its dtype; NumPy makes f64 of what it has no kind for",
    },
    Difference {
        functions: &["trapezoid"],
        what: What::DTypes(|numpy, own| (numpy, own) == (DType::F32, DType::Bf16)),
        reason: "bf16 stays bf16 beside a bare float, as in JAX; NumPy makes f32 of it",
    },
    Difference {
        functions: &["argmax", "argmin", "count_nonzero", "argsort", "searchsorted"],
        what: What::DTypes(|numpy, own| (numpy, own) == (DType::I64, DType::I32)),
        reason: "indices and counts have the default integer dtype, which is JAX's i32; NumPy's is i64",
    },
    Difference {
        functions: &["concat"],
        what: What::DTypes(|numpy, own| numpy.kind() == own.kind() && own.bytes() < numpy.bytes()),
        reason: "integers do not widen the floats they join, and u64 with signed ones gives the default float, as in JAX",
    },
    Difference {
        functions: &["mean"],
        what: What::Parts(|numpy, own| {
            numpy.iter().all(|part| part.is_nan()) && own.iter().any(|part| part.is_infinite())
        }),
        reason: "the parts of an infinite complex sum are divided by the number of elements; NumPy divides by a complex number",
    },
    Difference {
        functions: &["max", "min", "ptp", "cummax", "cummin"],
        what: What::Parts(|numpy, own| [numpy, own].iter().all(|parts| parts.iter().any(|part| part.is_nan()))),
        reason: "of complex numbers with NaN the parts are compared one by one, so that no order counts; NumPy takes the first",
    },
];

/// Marks the listed difference as needed, if there is one.
fn listed(case: &Case, holds: impl Fn(&What) -> bool, used: &mut BTreeSet<usize>) -> bool {
    let listed = |d: &Difference| d.functions.contains(&case.function.as_str()) && holds(&d.what);
    DIFFERENCES.iter().position(listed).map(|n| used.insert(n)).is_some()
}

impl Expected {
    pub fn read(case: &Case, row: &Value, operands: &[Tensor]) -> Expected {
        let texts = |text: &Value| -> Vec<String> {
            text.as_str().unwrap_or_default().split_whitespace().map(str::to_owned).collect()
        };
        let out = match row["out"].as_object() {
            Some(by_dtype) => &by_dtype[case.dtypes[0].name()],
            None => &row["out"],
        };
        let Some(dtype) = out[0].as_str() else {
            let moved = |result: &Value| {
                let labels: Vec<i64> = texts(&result[1]).iter().map(|label| label.parse().expect("a label")).collect();
                let element = |at: usize| labelled(labels[at], operands);
                Tensor::from_words(operands[0].dtype, shape(&result[0]), element).expect("a small array")
            };
            return Expected::Moved(out.as_array().expect("results").iter().map(moved).collect());
        };
        let elements = texts(&out[1]);
        let shape = if row["to"].is_null() { Shape::from(elements.len()) } else { shape(&row["to"]) };
        let scales = texts(&out[2]).iter().map(|text| text.parse().expect("a scale")).collect();
        let every = row["every"].as_u64().unwrap_or(1) as usize;
        Expected::Computed { dtype: dtype.parse().expect("a dtype"), shape, elements, scales, every }
    }

    /// The number of compared elements, or the error.
    pub fn compare(&self, case: &Case, got: &[Tensor], used: &mut BTreeSet<usize>) -> Result<usize, String> {
        match self {
            Expected::Moved(results) => {
                for (n, (got, result)) in got.iter().zip(results).enumerate() {
                    if !got.same_bits(result) {
                        return Err(format!("result {n}: {got:?}, not {result:?}"));
                    }
                }
                let count = results.iter().map(Tensor::len).sum();
                (got.len() == results.len()).then_some(count).ok_or(format!("{} results", got.len()))
            }
            Expected::Computed { dtype, shape, elements, scales, every } => {
                let [got] = got else { return Err(format!("{} results", got.len())) };
                let other = |what: &What| matches!(what, What::DTypes(is) if is(*dtype, got.dtype));
                if got.dtype != *dtype && !listed(case, other, used) {
                    return Err(format!("{}, not {dtype}", got.dtype));
                }
                if got.shape != *shape {
                    return Err(format!("shape {}, not {shape}", got.shape));
                }
                if elements.len() != got.len().div_ceil(*every) {
                    return Err(format!("{} elements, not {}", got.len().div_ceil(*every), elements.len()));
                }
                for (n, text) in elements.iter().enumerate() {
                    let (at, scale) = (n * every, scales.get(n).copied());
                    let own = got.get(at)[..] == words(got.dtype, text)[..] || near(case, got, at, text, scale);
                    let other = |what: &What| matches!(what, What::Parts(are) if are(numbers(text), parts(got, at)));
                    if !own && !listed(case, other, used) {
                        return Err(format!("element {at} of {}: {:?}, not {text}", got.dtype, parts(got, at)));
                    }
                }
                Ok(elements.len())
            }
        }
    }
}

fn shape(extents: &Value) -> Shape {
    let extents = extents.as_array().expect("a shape").iter();
    Shape::from(extents.map(|n| n.as_u64().expect("an extent") as usize).collect::<Vec<usize>>())
}

/// The element of a label.
fn labelled(label: i64, operands: &[Tensor]) -> Vec<u64> {
    let Some(mut at) = usize::try_from(label - 1).ok() else {
        return words(operands[0].dtype, if label == 0 { "0" } else { "1" });
    };
    for operand in operands {
        if at < operand.len() {
            return operand.get(at).to_vec();
        }
        at -= operand.len();
    }
    panic!("label {label}")
}

/// The parts of a number.
pub fn numbers(text: &str) -> [f64; 2] {
    let mut parts = text.split(':').map(|part| part.parse().expect("a number"));
    [parts.next().unwrap_or(0.0), parts.next().unwrap_or(0.0)]
}
