//! Sort keys: unsigned integers in the order of [`compare`](ndjit_ir::reduction::compare),
//! processed digit by digit from the lowest.

use ndjit_ir::{DType, Kind};
use std::cmp::Ordering;

/// Values of a digit.
pub const BUCKETS: usize = 256;

/// An item with digits.
pub trait RadixItem: Copy + Send + Sync {
    /// The number of digits.
    const DIGITS: usize;

    /// A digit, by its number from the lowest.
    fn digit(self, number: usize) -> usize;

    /// The order of digits; equal items with an index are ordered by it.
    fn order(&self, other: &Self) -> Ordering;
}

/// An unsigned integer: an element's word in memory, and the key of that.
pub trait Word: RadixItem + Ord {
    /// The highest bit.
    const SIGN: Self;
    /// All bits.
    const MAX: Self;

    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// The low bits of an integer.
    fn low(bits: u64) -> Self;
}

macro_rules! words {
    ($($word:ident)*) => { $(
        impl RadixItem for $word {
            const DIGITS: usize = size_of::<$word>();

            #[inline(always)]
            fn digit(self, number: usize) -> usize {
                (self as u64 >> (8 * number)) as u8 as usize
            }

            #[inline(always)]
            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }
        }

        impl Word for $word {
            const SIGN: $word = 1 << ($word::BITS - 1);
            const MAX: $word = $word::MAX;

            #[inline(always)]
            fn and(self, other: $word) -> $word {
                self & other
            }

            #[inline(always)]
            fn xor(self, other: $word) -> $word {
                self ^ other
            }

            #[inline(always)]
            fn low(bits: u64) -> $word {
                bits as $word
            }
        }
    )* };
}

words! { u8 u16 u32 u64 }

/// The key of a complex number.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct ComplexKey<W> {
    pub re: W,
    pub im: W,
}

impl<W: Word> ComplexKey<W> {
    /// The highest digit: NaN flags of the parts, above all other keys.
    #[inline(always)]
    fn nans(self) -> usize {
        2 * usize::from(self.re == W::MAX) + usize::from(self.im == W::MAX)
    }
}

impl<W: Word> RadixItem for ComplexKey<W> {
    const DIGITS: usize = 2 * W::DIGITS + 1;

    #[inline(always)]
    fn digit(self, number: usize) -> usize {
        match number.checked_sub(W::DIGITS) {
            None => self.im.digit(number),
            Some(number) if number < W::DIGITS => self.re.digit(number),
            Some(_) => self.nans(),
        }
    }

    #[inline(always)]
    fn order(&self, other: &Self) -> Ordering {
        let parts = |pair: &Self| (pair.nans(), pair.re, pair.im);
        parts(self).cmp(&parts(other))
    }
}

/// A key and the index of its element.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct IndexedKey<K, P> {
    pub key: K,
    pub position: P,
}

/// The index of an element of a row.
pub trait Position: Copy + Ord + Send + Sync {
    fn of(index: usize) -> Self;
    fn index(self) -> usize;
}

impl Position for u32 {
    #[inline(always)]
    fn of(index: usize) -> u32 {
        index as u32
    }

    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
}

impl Position for u64 {
    #[inline(always)]
    fn of(index: usize) -> u64 {
        index as u64
    }

    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
}

impl<K: RadixItem, P: Position> RadixItem for IndexedKey<K, P> {
    const DIGITS: usize = K::DIGITS;

    #[inline(always)]
    fn digit(self, number: usize) -> usize {
        self.key.digit(number)
    }

    #[inline(always)]
    fn order(&self, other: &Self) -> Ordering {
        self.key.order(&other.key).then_with(|| self.position.cmp(&other.position))
    }
}

/// The encoding of a dtype's elements, or of their parts, as keys.
#[derive(Clone, Copy, Debug)]
pub enum KeyEncoding<W> {
    Unsigned,
    Signed,
    /// With the bits of infinity: greater words are NaN.
    Float(W),
}

impl<W: Word> KeyEncoding<W> {
    /// The encoding of a dtype; for a complex one that of its parts.
    pub fn of(dtype: DType) -> KeyEncoding<W> {
        match dtype.kind() {
            Kind::Bool | Kind::UInt => KeyEncoding::Unsigned,
            Kind::Int => KeyEncoding::Signed,
            Kind::Float | Kind::Complex => KeyEncoding::Float(W::low(dtype.real().infinity_bits().unwrap_or(u64::MAX))),
        }
    }

    /// A reversible key, except for NaNs: -0 comes before +0.
    #[inline(always)]
    pub fn encode(self, word: W) -> W {
        match self {
            KeyEncoding::Unsigned => word,
            KeyEncoding::Signed => word.xor(W::SIGN),
            KeyEncoding::Float(infinity) => {
                let magnitude = word.and(W::MAX.xor(W::SIGN));
                let flip = if magnitude == word { W::SIGN } else { W::MAX };
                if magnitude > infinity { W::MAX } else { word.xor(flip) }
            }
        }
    }

    /// A key that is the same for equal elements.
    #[inline(always)]
    pub fn encode_equal(self, word: W) -> W {
        match self {
            KeyEncoding::Float(_) if self.is_negative_zero(word) => W::SIGN,
            _ => self.encode(word),
        }
    }

    /// The word of a key by [`encode`](KeyEncoding::encode), or a NaN.
    #[inline(always)]
    pub fn decode(self, key: W) -> W {
        match self {
            KeyEncoding::Unsigned => key,
            KeyEncoding::Signed => key.xor(W::SIGN),
            KeyEncoding::Float(_) => key.xor(if key < W::SIGN { W::MAX } else { W::SIGN }),
        }
    }

    #[inline(always)]
    pub fn is_zero(self, word: W) -> bool {
        word.and(W::MAX.xor(W::SIGN)) == W::low(0)
    }

    #[inline(always)]
    pub fn is_negative_zero(self, word: W) -> bool {
        matches!(self, KeyEncoding::Float(_)) && word == W::SIGN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndjit_ir::reduction::compare;

    fn registers(dtype: DType, word: u64) -> Vec<u64> {
        ndjit_math::load_body(dtype).eval(&[word])
    }

    fn all<W: Word + Into<u64>>(dtype: DType, words: &[W]) {
        let code = KeyEncoding::<W>::of(dtype);
        for &a in words {
            for &b in words {
                let [x, y] = [a, b].map(|word| registers(dtype, word.into()));
                let [k, l] = [a, b].map(|word| code.encode_equal(word));
                assert_eq!(compare(dtype, &x, &y), k.cmp(&l), "{dtype} {:x} {:x}", a.into(), b.into());
            }
            let back: u64 = code.decode(code.encode(a)).into();
            let is_nan = dtype.infinity_bits().is_some_and(|infinity| {
                let magnitude: u64 = a.and(W::MAX.xor(W::SIGN)).into();
                magnitude > infinity
            });
            assert!(back == a.into() || is_nan && code.encode(a) == W::MAX && code.encode(W::low(back)) == W::MAX);
        }
    }

    #[test]
    fn keys_are_in_the_order_of_elements() {
        for dtype in [DType::U8, DType::I8] {
            all(dtype, &(0..=u8::MAX).collect::<Vec<u8>>());
        }
        all(DType::Bool, &[0u8, 1]);
        for dtype in [DType::U16, DType::I16, DType::F16, DType::Bf16] {
            all(
                dtype,
                &(0..=u16::MAX)
                    .step_by(97)
                    .chain([0x8000, 0x7c00, 0xfc00, 0x7f80, 0xff80, 0xffff])
                    .collect::<Vec<u16>>(),
            );
        }
        let words = [0u32, 1, 7, 0x3f80_0000, 0x7f80_0000, 0x7f80_0001, 0x7fff_ffff];
        let words: Vec<u32> = words.iter().flat_map(|&word| [word, word | 1 << 31]).collect();
        [DType::U32, DType::I32, DType::F32].into_iter().for_each(|dtype| all(dtype, &words));
        let words: Vec<u64> = words.iter().map(|&word| u64::from(word) << 32 | u64::from(word & 1)).collect();
        [DType::U64, DType::I64, DType::F64].into_iter().for_each(|dtype| all(dtype, &words));
    }

    #[test]
    fn digits_are_those_of_the_key() {
        let pair = ComplexKey { re: 0x0102u16, im: 0x0304 };
        assert_eq!((0..ComplexKey::<u16>::DIGITS).map(|n| pair.digit(n)).collect::<Vec<_>>(), [4, 3, 2, 1, 0]);
        assert_eq!(ComplexKey { re: 0u8, im: u8::MAX }.digit(2), 1);
        assert_eq!(ComplexKey { re: u8::MAX, im: 0 }.digit(2), 2);
    }
}
