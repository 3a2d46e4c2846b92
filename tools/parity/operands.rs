//! Arrays of operands: all if there are few, otherwise special values, and random ones with many edge cases.

use crate::draw::{Draw, edges};
use crate::format::Format;
use crate::scale::Scale;
use ndjit::DType;
use ndjit_ir::Kind;
use ndjit_random::{Rng, special_words};
use rayon::prelude::*;

/// Elements generated at once.
const BLOCK: usize = 1 << 14;
/// The stride of 32-bit operands: odd, so each multiple modulo 2^32 occurs once, and 2^32 divided by the golden ratio, so any number of
/// them is evenly distributed (Knuth, TAOCP 6.4).
const STRIDE: u64 = 0x9e37_79b1;

/// The operands of ops on arrays of these dtypes.
pub struct Operands {
    dtypes: Vec<DType>,
    specials: Vec<Vec<u64>>,
    pub count: usize,
    how: How,
}

enum How {
    /// All values.
    All,
    /// Special values, then evenly distributed bits.
    Strided,
    Random,
}

impl Operands {
    pub fn new(dtypes: &[DType], scale: &Scale) -> Operands {
        let bits: u32 = dtypes.iter().map(|&dtype| bits(dtype)).sum();
        let (how, log2) = match dtypes {
            _ if bits <= scale.all => (How::All, bits),
            [DType::F32] => (How::Strided, scale.floats),
            [_] if bits == 32 => (How::Strided, scale.random),
            _ if dtypes.iter().any(|&dtype| dtype.real().bytes() == 8) => (How::Random, scale.wide),
            _ => (How::Random, scale.random),
        };
        let specials = dtypes.iter().map(|&dtype| specials(dtype)).collect();
        Operands { dtypes: dtypes.to_vec(), specials, count: 1 << log2, how }
    }

    /// The bytes of each operand.
    pub fn bytes(&self) -> Vec<Vec<u8>> {
        let block = |n: usize| {
            let mut columns: Vec<Vec<u8>> = vec![Vec::new(); self.dtypes.len()];
            for i in n * BLOCK..self.count.min((n + 1) * BLOCK) {
                let mut words = self.element(i as u64).into_iter();
                for (column, dtype) in columns.iter_mut().zip(&self.dtypes) {
                    for part in words.by_ref().take(dtype.storage().len()) {
                        column.extend(&part.to_le_bytes()[..dtype.real().bytes()]);
                    }
                }
            }
            columns
        };
        let blocks: Vec<Vec<Vec<u8>>> = (0..self.count.div_ceil(BLOCK)).into_par_iter().map(block).collect();
        (0..self.dtypes.len()).map(|n| blocks.iter().flat_map(|columns| &columns[n]).copied().collect()).collect()
    }

    /// The storage words of the operands with this index.
    fn element(&self, i: u64) -> Vec<u64> {
        match self.how {
            How::All => {
                let mut rest = i;
                let mut take = |&dtype: &DType| {
                    let bits = bits(dtype);
                    let word = rest & ((1 << bits) - 1);
                    rest >>= bits;
                    word
                };
                self.dtypes.iter().map(&mut take).collect()
            }
            How::Strided => {
                let special = self.specials[0].get(i as usize).copied();
                vec![special.unwrap_or((i * STRIDE) & u64::from(u32::MAX))]
            }
            How::Random if i.is_multiple_of(4) => self.special(i),
            // Renumbered, since draws depend on the index modulo small numbers too.
            How::Random => self.random(i - i / 4 - 1),
        }
    }

    fn special(&self, i: u64) -> Vec<u64> {
        let mut rng = Rng::new(i);
        let words = self.dtypes.iter().zip(&self.specials);
        words
            .flat_map(|(dtype, specials)| (0..dtype.storage().len()).map(|_| rng.pick(specials)).collect::<Vec<_>>())
            .collect()
    }

    fn random(&self, i: u64) -> Vec<u64> {
        let floats = self.dtypes.iter().filter(|dtype| dtype.is_float()).count();
        let complex = self.dtypes.iter().filter(|dtype| dtype.is_complex()).count();
        let format = self.dtypes.iter().find_map(|&dtype| Format::of(dtype));
        let numbers = match format {
            Some(format) if complex > 0 => of_complex(i, complex, format),
            Some(format) => of_floats(i, floats, format),
            None => Vec::new(),
        };
        let mut drawn = numbers.into_iter().flat_map(|x| format.map(|format| format.encode(x)));
        let mut words = Vec::new();
        for (n, &dtype) in self.dtypes.iter().enumerate() {
            let own = i.wrapping_add((n as u64) << 56);
            match (dtype.kind(), format) {
                (Kind::Bool, _) => words.push(Rng::new(own).bits() & 1),
                // With a float operand it is an exponent.
                (Kind::Int, Some(format)) => words.push(u64::from(Draw::exponent(own, format).cast_unsigned())),
                (Kind::Int | Kind::UInt, _) => {
                    // Some are equal.
                    let own = if i % 8 == 1 { i } else { own };
                    words.push(Draw::integer(own, dtype));
                }
                (Kind::Float | Kind::Complex, _) => words.extend(drawn.by_ref().take(dtype.storage().len())),
            }
        }
        words
    }
}

fn of_floats(i: u64, count: usize, format: Format) -> Vec<f64> {
    match count {
        1 if i % 4 == 1 => vec![Draw::converted(i, format)],
        1 => vec![Draw::one(i, format)],
        2 if i.is_multiple_of(16) => Draw::order(i / 16, format).to_vec(),
        2 => Draw::two(i, format).to_vec(),
        3 => Draw::three(i, format).to_vec(),
        _ => {
            let more = (3..count as u64).map(|n| Draw::one(i.wrapping_add(n << 56), format));
            Draw::three(i, format).into_iter().chain(more).collect()
        }
    }
}

fn of_complex(i: u64, count: usize, format: Format) -> Vec<f64> {
    match count {
        1 => Draw::complex(i, format).to_vec(),
        2 => Draw::complex_pair(i, format).to_vec(),
        _ => {
            let more = (2..count as u64).flat_map(|n| Draw::complex(i.wrapping_add(n << 56), format));
            Draw::complex_pair(i, format).into_iter().chain(more).collect()
        }
    }
}

/// The number of relevant bits of an element.
fn bits(dtype: DType) -> u32 {
    if dtype == DType::Bool { 1 } else { 8 * dtype.bytes() as u32 }
}

/// Edge values of a part, as words.
fn specials(dtype: DType) -> Vec<u64> {
    let mut words = special_words(dtype.real());
    if let Some(format) = Format::of(dtype) {
        words.extend(edges(format).into_iter().map(|x| format.encode(x)));
    }
    words
}
