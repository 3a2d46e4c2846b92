//! The same line under the promotion rules of six libraries: its dtype and its value. An error in the library is an error here.
//! A trailing `*` marks a weak type, which takes the width of the other operand.

use ndjit::{Array, DType, ErrorCode, Policy, f16, strong, with_policy};
use std::error::Error;

type Line = (&'static str, fn() -> Array);

const LINES: [Line; 11] = [
    ("i32 16777217 + f32 0", || Array::from([16_777_217i32]) + Array::from([0f32])),
    ("i64 2049 * f16 1", || Array::from([2049i64]) * Array::from([f16::ONE])),
    ("u64 3 + i64 1", || Array::from([3u64]) + Array::from([1i64])),
    ("u32 2^32-1 + i32 1", || Array::from([u32::MAX]) + Array::from([1i32])),
    ("u8 200 + 100", || Array::from([200u8]) + 100),
    ("i8 100 + 1000", || Array::from([100i8]) + 1000),
    ("u8 7 / 2", || Array::from([7u8]) / 2),
    ("f32 1 * strong(0.1)", || Array::from([1f32]) * strong(0.1)),
    ("sum of u8 200, 100", || Array::from([200u8, 100]).sum(..)),
    ("mean of i32 1, 2", || Array::from([1i32, 2]).mean(..)),
    ("bool true + true", || Array::from([true]) + true),
];

const POLICIES: [Policy; 6] =
    [Policy::NumPy1, Policy::NumPy2, Policy::Jax, Policy::Jax32, Policy::Torch, Policy::TensorFlow];

/// The dtype and the value, or the kind of error.
fn cell(policy: Policy, compute: fn() -> Array) -> String {
    let result = with_policy(policy, compute);
    match result.error().map(ndjit::Error::code) {
        None => format!("{} {}", result.value_type(), value(&result)),
        Some(ErrorCode::Literal) => "does not fit".to_owned(),
        Some(_) => "error".to_owned(),
    }
}

/// The only element, with at most nine digits after the point.
fn value(x: &Array) -> String {
    let value = x.cast(DType::F64).to_vec::<f64>().map(|x| format!("{:.9}", x[0])).unwrap_or_default();
    value.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    print_row("", POLICIES.map(|policy| policy.to_string()));
    for (name, compute) in LINES {
        print_row(name, POLICIES.map(|policy| cell(policy, compute)));
    }

    let refused = with_policy(Policy::TensorFlow, || Array::from([1i32]) + Array::from([1f32]));
    let error = refused.eval().err().ok_or("TensorFlow's rules let i32 and f32 meet")?;
    println!("\n{}\n  help: {}", error.headline(), error.help_text().unwrap_or_default());
    Ok(())
}

fn print_row<const N: usize>(name: &str, cells: [String; N]) {
    let cells: String = cells.iter().map(|cell| format!("{cell:<16}")).collect();
    println!("{name:<21}{}", cells.trim_end());
}
