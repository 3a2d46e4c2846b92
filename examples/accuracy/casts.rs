//! Casts against their definition, in exact integer arithmetic and with one rounding.

use crate::figures::Figures;
use crate::format::Format;
use crate::kernel::{Columns, Kernel};
use ndjit::{DType, Result};
use ndjit_ir::Kind;

/// An element's real part.
#[derive(Clone, Copy, Debug)]
enum Value {
    Int(i128),
    Float(f64),
}

/// Compares what a cast makes of some elements with what it should.
///
/// # Errors
/// What running the kernel gives.
pub fn compare(kernel: &Kernel, from: DType, to: DType, columns: &Columns) -> Result<Figures> {
    let results = kernel.run(columns)?;
    let mut figures = Figures::default();
    for (i, &bits) in columns[0].iter().enumerate() {
        let value = decode(from, bits);
        // Of real numbers +0.
        let imaginary = columns.get(1).map_or(Value::Float(0.0), |column| decode(from, column[i]));
        let right = match to.kind() {
            // A complex number is true if either part is.
            Kind::Bool => results[0][i] == cast(value, to) | cast(imaginary, to),
            Kind::Complex => same(to, results[0][i], cast(value, to)) && same(to, results[1][i], cast(imaginary, to)),
            _ => same(to, results[0][i], cast(value, to)),
        };
        figures.count(right, || format!("{value:?} {imaginary:?} to {to}"));
    }
    Ok(figures)
}

fn same(to: DType, got: u64, exact: u64) -> bool {
    let nan = |bits| Format::of(to).is_some_and(|format| format.decode(bits).is_nan());
    got == exact || nan(got) && nan(exact)
}

fn decode(dtype: DType, bits: u64) -> Value {
    match Format::of(dtype) {
        Some(format) => Value::Float(format.decode(bits)),
        None if dtype.kind() == Kind::Int => {
            let unused = 64 - 8 * dtype.bytes() as u32;
            Value::Int(((bits << unused).cast_signed() >> unused).into())
        }
        None => Value::Int(bits.into()),
    }
}

/// The bits, or those of one part.
fn cast(value: Value, to: DType) -> u64 {
    let mask = u64::MAX >> (64 - 8 * to.real().bytes());
    match (to.kind(), value) {
        (Kind::Bool, Value::Int(n)) => u64::from(n != 0),
        (Kind::Bool, Value::Float(x)) => u64::from(x != 0.0),
        (Kind::UInt | Kind::Int, Value::Int(n)) => n as u64 & mask,
        // Rust's casts truncate, saturate, and make 0 of NaN.
        (Kind::UInt | Kind::Int, Value::Float(x)) => {
            let (low, high) = to.int_range().unwrap_or_default();
            (x as i128).clamp(low, high) as u64 & mask
        }
        (Kind::Float | Kind::Complex, _) => Format::of(to).map_or(0, |format| match value {
            Value::Float(x) => format.encode(x),
            Value::Int(n) => format.encode(rounded(n, format)),
        }),
    }
}

/// An integer rounded once to a format's digits, ties to even.
fn rounded(n: i128, format: Format) -> f64 {
    let length = 128 - n.unsigned_abs().leading_zeros();
    let drop = length.saturating_sub(format.digits as u32 + 1);
    let (kept, rest) = (n.unsigned_abs() >> drop, n.unsigned_abs() & ((1 << drop) - 1));
    let half = (1 << drop) / 2;
    let up = drop > 0 && (rest > half || rest == half && kept & 1 == 1);
    // At most 53 bits, so that the cast is exact.
    let magnitude = ((kept + u128::from(up)) << drop) as f64;
    if n < 0 { -magnitude } else { magnitude }
}
