//! Casts against their definition, in exact integer arithmetic and with one rounding.

use crate::figures::Figures;
use crate::format::{Format, power_of_two};
use crate::kernel::{Columns, Kernel};
use ndjit::{DType, Result};
use ndjit_ir::Kind;

/// An element's real or imaginary part.
#[derive(Clone, Copy, Debug)]
enum Value {
    Int(i128),
    Float(f64),
}

/// A dtype, or that of the parts of a complex one.
#[derive(Clone, Copy, Debug)]
enum Part {
    Bool,
    /// Of so many bits, with this range.
    Int {
        width: u32,
        low: i128,
        high: i128,
    },
    Float(Format),
}

/// Compares a cast's results for some elements with the exact ones.
///
/// # Errors
/// Those of the kernel.
pub fn compare(kernel: &Kernel, from: DType, to: DType, columns: &Columns) -> Result<Figures> {
    let (source, target) = (Part::of(from), Part::of(to));
    let results = kernel.run(columns)?;
    let mut figures = Figures::default();
    // +0 for real dtypes.
    let imaginary = |i: usize| columns.get(1).map_or(Value::Float(0.0), |column| source.decode(column[i]));
    for (i, &bits) in columns[0].iter().enumerate() {
        let value = source.decode(bits);
        let right = match to.kind() {
            // A complex value is true if either part is.
            Kind::Bool => results[0][i] == target.cast(value) | target.cast(imaginary(i)),
            Kind::Complex => target.holds(results[0][i], value) && target.holds(results[1][i], imaginary(i)),
            Kind::Int | Kind::UInt | Kind::Float => target.holds(results[0][i], value),
        };
        figures.count(right, || format!("{value:?} {:?} to {to}", imaginary(i)));
    }
    Ok(figures)
}

impl Part {
    fn of(dtype: DType) -> Part {
        match (Format::of(dtype), dtype.int_range()) {
            (Some(format), _) => Part::Float(format),
            (None, Some((low, high))) if dtype != DType::Bool => {
                Part::Int { width: 8 * dtype.bytes() as u32, low, high }
            }
            (None, _) => Part::Bool,
        }
    }

    fn decode(self, bits: u64) -> Value {
        match self {
            Part::Float(format) => Value::Float(format.decode(bits)),
            Part::Int { width, low: ..0, .. } => {
                let unused = 64 - width;
                Value::Int(((bits << unused).cast_signed() >> unused).into())
            }
            Part::Int { .. } | Part::Bool => Value::Int(bits.into()),
        }
    }

    /// Whether `bits` are the cast of `value`; all NaNs are equal.
    fn holds(self, bits: u64, value: Value) -> bool {
        match (self, value) {
            (Part::Float(format), Value::Float(x)) if x.is_nan() => format.decode(bits).is_nan(),
            _ => bits == self.cast(value),
        }
    }

    #[inline]
    fn cast(self, value: Value) -> u64 {
        match (self, value) {
            (Part::Bool, Value::Int(n)) => u64::from(n != 0),
            (Part::Bool, Value::Float(x)) => u64::from(x != 0.0),
            (Part::Int { width, .. }, Value::Int(n)) => n as u64 & (u64::MAX >> (64 - width)),
            // Rust's casts truncate, saturate, and map NaN to 0.
            (Part::Int { width, low, high }, Value::Float(x)) => {
                (x as i128).clamp(low, high) as u64 & (u64::MAX >> (64 - width))
            }
            (Part::Float(format), Value::Float(x)) => format.encode(x),
            (Part::Float(format), Value::Int(n)) => format.encode(rounded(n, format)),
        }
    }
}

/// An integer of at most 64 bits rounded once to a format's digits, ties to even.
fn rounded(n: i128, format: Format) -> f64 {
    let magnitude = n.unsigned_abs() as u64;
    let length = 64 - magnitude.leading_zeros();
    let drop = length.saturating_sub(format.digits as u32 + 1);
    let (kept, rest) = (magnitude >> drop, magnitude & ((1 << drop) - 1));
    let half = (1 << drop) / 2;
    let up = drop > 0 && (rest > half || rest == half && kept & 1 == 1);
    // Both factors are exact.
    let rounded = (kept + u64::from(up)) as f64 * power_of_two(drop as i32);
    if n < 0 { -rounded } else { rounded }
}
