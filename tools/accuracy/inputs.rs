//! The operands of a measurement, in chunks determined by their index: a stopped run can continue.

use crate::draw::{Draw, edges};
use crate::format::Format;
use crate::kernel::Columns;
use ndjit::DType;
use ndjit_ir::Kind;
use std::sync::LazyLock;

/// The choice of operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inputs {
    /// All bits of one operand, or every `stride`th.
    Every { bits: u32, stride: u64 },
    /// All pairs of 16 bits.
    Pairs,
    /// Pairs of a real dtype's edges, then random ones: `arity` operands.
    Random { format: Format, arity: usize, count: u64 },
    /// Random ones, each with an integer of 32 bits.
    Exponents { format: Format, count: u64 },
    /// Pairs of a real dtype's edges, then orders with random operands.
    Orders { format: Format, count: u64 },
    /// Random complex operands.
    Complex { format: Format, arity: usize, count: u64 },
    /// Integers of any length.
    Integers { dtype: DType, count: u64 },
    /// Floats at the edges of casts, in one column or two.
    Converted { format: Format, columns: usize, count: u64 },
}

/// The edges of each format.
static EDGES: LazyLock<Vec<(Format, Vec<f64>)>> =
    LazyLock::new(|| crate::format::FORMATS.into_iter().map(|format| (format, edges(format))).collect());

fn edges_of(format: Format) -> &'static [f64] {
    EDGES.iter().find(|row| row.0 == format).map_or(&[], |row| &row.1)
}

impl Inputs {
    /// The operands of a cast from `dtype`: every `stride`th, or `count` of them.
    pub fn of_casts(dtype: DType, stride: u64, count: u64) -> Inputs {
        match (dtype.kind(), Format::of(dtype)) {
            (Kind::Bool, _) => Inputs::Every { bits: 1, stride: 1 },
            (Kind::Complex, Some(format)) => Inputs::Converted { format, columns: 2, count },
            _ if dtype.bytes() <= 2 => Inputs::Every { bits: 8 * dtype.bytes() as u32, stride: 1 },
            _ if dtype.bytes() == 4 => Inputs::Every { bits: 32, stride },
            (_, Some(format)) => Inputs::Converted { format, columns: 1, count },
            _ => Inputs::Integers { dtype, count },
        }
    }

    pub fn len(&self) -> u64 {
        match *self {
            Inputs::Every { bits, stride } => (1u64 << bits).div_ceil(stride),
            Inputs::Pairs => 1 << 32,
            // Edges are added.
            Inputs::Random { format, arity, count } => count + (edges_of(format).len() as u64).pow(arity as u32),
            Inputs::Orders { format, count } => count + (edges_of(format).len() as u64).pow(2),
            Inputs::Complex { count, .. } | Inputs::Integers { count, .. } => count,
            Inputs::Converted { count, .. } | Inputs::Exponents { count, .. } => count,
        }
    }

    /// The columns of the operands from `start` to `end`.
    pub fn columns(&self, start: u64, end: u64) -> Columns {
        let indices = start..end.min(self.len());
        match *self {
            Inputs::Every { stride, .. } => vec![indices.map(|i| i * stride).collect()],
            Inputs::Pairs => vec![indices.clone().map(|i| i >> 16).collect(), indices.map(|i| i & 0xffff).collect()],
            Inputs::Integers { dtype, .. } => vec![indices.map(|i| Draw::integer(i, dtype)).collect()],
            Inputs::Random { format, arity, .. } => {
                transposed(format, arity, indices.map(|i| random(format, arity, i)))
            }
            Inputs::Orders { format, .. } => {
                let edges = (edges_of(format).len() as u64).pow(2);
                let pair = |i: u64| match i.checked_sub(edges) {
                    Some(i) => Draw::order(i, format).to_vec(),
                    None => random(format, 2, i).to_vec(),
                };
                transposed(format, 2, indices.map(pair))
            }
            Inputs::Exponents { format, .. } => {
                let numbers = indices.clone().map(|i| format.encode(Draw::one(i, format)));
                let integers = indices.map(|i| u64::from(Draw::exponent(!i, format).cast_unsigned()));
                vec![numbers.collect(), integers.collect()]
            }
            Inputs::Complex { format, arity: 1, .. } => {
                transposed(format, 2, indices.map(|i| Draw::complex(i, format)))
            }
            Inputs::Complex { format, .. } => transposed(format, 4, indices.map(|i| Draw::complex_pair(i, format))),
            Inputs::Converted { format, columns, .. } => {
                let pair = |i: u64| [Draw::converted(i, format), Draw::converted(!i, format)];
                transposed(format, columns, indices.map(pair))
            }
        }
    }
}

/// The first `count` of each element's values, column by column.
fn transposed<V: AsRef<[f64]>>(format: Format, count: usize, elements: impl Iterator<Item = V>) -> Columns {
    let mut columns = vec![Vec::new(); count];
    for element in elements {
        columns.iter_mut().zip(element.as_ref()).for_each(|(column, &x)| column.push(format.encode(x)));
    }
    columns
}

/// The `i`th operands of a real function: first all edges.
fn random(format: Format, arity: usize, i: u64) -> [f64; 3] {
    let edges = edges_of(format);
    let n = edges.len() as u64;
    let Some(i) = i.checked_sub(n.pow(arity as u32)) else {
        return [i % n, i / n % n, i / (n * n) % n].map(|place| edges[place as usize]);
    };
    match arity {
        1 => [Draw::one(i, format), 0.0, 0.0],
        2 => {
            let [x, y] = Draw::two(i, format);
            [x, y, 0.0]
        }
        _ => Draw::three(i, format),
    }
}
