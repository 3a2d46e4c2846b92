//! Bytes as choices: the same bytes give the same decisions, and after their end each decision is the first, so a shorter
//! input is a smaller case.

use std::sync::Arc;

/// Decisions read from bytes, one or two per decision.
#[derive(Clone, Debug)]
pub struct Choices {
    bytes: Arc<[u8]>,
    at: usize,
}

impl Choices {
    /// The decisions of these bytes.
    pub fn new(bytes: &[u8]) -> Choices {
        Choices { bytes: bytes.into(), at: 0 }
    }

    /// A number below `n`; 0 if `n` is 0 or the bytes are exhausted.
    pub fn below(&mut self, n: usize) -> usize {
        match n {
            0 | 1 => 0,
            2..=256 => (self.byte() * n) >> 8,
            _ => ((self.byte() << 8 | self.byte()) * n.min(1 << 16)) >> 16,
        }
    }

    /// True once in `n` times; false if the bytes are exhausted.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) + 1 == n
    }

    /// One of the items, of which there is at least one.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// A 64-bit seed from few bytes.
    pub fn seed(&mut self) -> u64 {
        (self.byte() << 8 | self.byte()) as u64
    }

    fn byte(&mut self) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte)
    }
}
