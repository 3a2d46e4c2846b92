//! Tensors: small C-contiguous arrays on the host, for the interpreter and the tests of other engines.

use crate::{load_body, store_body};
use ndjit_ir::dtype::{DType, PrimType};
use ndjit_ir::error::Result;
use ndjit_ir::reserve::{copy, filled};
use ndjit_ir::shape::Shape;
use smallvec::SmallVec;
use std::fmt;

/// The machine words of one element: one, or two for a complex number.
pub(crate) type Words = SmallVec<[u64; 2]>;

/// A C-contiguous array: its elements' storage words (see [`DType::storage`]) in order, in the host's byte order.
#[derive(Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Element type.
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: Shape,
    /// The elements; `shape.bytes(dtype.bytes())` bytes.
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// Creates a tensor of zeros.
    ///
    /// # Errors
    /// `Size` if it is larger than memory can address; `Allocation` if memory is refused.
    pub fn zeros(dtype: DType, shape: Shape) -> Result<Tensor> {
        let len = shape.bytes(dtype.bytes())?;
        let bytes = filled("tensor", 0, len).map_err(|e| e.fact(format_args!("the tensor: {dtype}{shape}")))?;
        Ok(Tensor { dtype, shape, bytes })
    }

    /// Copies the tensor.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub fn copied(&self) -> Result<Tensor> {
        let (dtype, shape) = (self.dtype, self.shape.clone());
        let bytes = copy("tensor", &self.bytes).map_err(|e| e.fact(format_args!("the tensor: {dtype}{shape}")))?;
        Ok(Tensor { dtype, shape, bytes })
    }

    /// Creates a tensor with the elements `element(index)` in C order, each given as the bits of its registers
    /// ([`DType::repr`]), in the form of [`Literal::to_repr`](ndjit_ir::Literal::to_repr).
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    ///
    /// # Panics
    /// If an element's number of registers differs from the dtype's.
    pub fn from_repr<W: AsRef<[u64]>>(
        dtype: DType,
        shape: Shape,
        mut element: impl FnMut(usize) -> W,
    ) -> Result<Tensor> {
        let mut tensor = Tensor::zeros(dtype, shape)?;
        let store = store_body(dtype);
        for index in 0..tensor.len() {
            tensor.set(index, &store.eval(element(index).as_ref()));
        }
        Ok(tensor)
    }

    /// Creates a tensor from each element's storage words.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    ///
    /// # Panics
    /// If an element's number of words differs from the dtype's.
    pub fn from_words<W: AsRef<[u64]>>(
        dtype: DType,
        shape: Shape,
        mut element: impl FnMut(usize) -> W,
    ) -> Result<Tensor> {
        let mut tensor = Tensor::zeros(dtype, shape)?;
        for index in 0..tensor.len() {
            tensor.set(index, element(index).as_ref());
        }
        Ok(tensor)
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.dtype.bytes()
    }

    /// Returns `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the storage words of an element, each in the low bits.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    pub fn get(&self, index: usize) -> Words {
        let mut at = index * self.dtype.bytes();
        let mut words = Words::new();
        for &ty in self.dtype.storage() {
            words.push(read_word(&self.bytes, at, ty));
            at += ty.bytes();
        }
        words
    }

    /// Returns the register bits of an element.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    pub fn repr(&self, index: usize) -> Words {
        Words::from_vec(load_body(self.dtype).eval(&self.get(index)))
    }

    /// Sets an element's storage words.
    ///
    /// # Panics
    /// If `index` is out of bounds, or the number of words differs from the dtype's.
    pub fn set(&mut self, index: usize, words: &[u64]) {
        assert_eq!(words.len(), self.dtype.storage().len(), "storage words of {}", self.dtype);
        let mut at = index * self.dtype.bytes();
        for (&ty, &word) in self.dtype.storage().iter().zip(words) {
            write_word(&mut self.bytes, at, ty, word);
            at += ty.bytes();
        }
    }

    /// Copies the elements at an index of the first axis.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    ///
    /// # Panics
    /// If the index is out of bounds.
    pub fn slice(&self, index: usize) -> Result<Tensor> {
        let shape = Shape::from(&self.shape.extents()[1..]);
        let len = self.bytes.len() / self.shape.extents()[0];
        let bytes = copy("interpreter", &self.bytes[index * len..(index + 1) * len])?;
        Ok(Tensor { dtype: self.dtype, shape, bytes })
    }

    /// Sets the elements at an index of the first axis.
    ///
    /// # Panics
    /// If the index is out of bounds, or the numbers of elements differ.
    pub fn set_slice(&mut self, index: usize, slice: &Tensor) {
        let start = index * slice.bytes.len();
        self.bytes[start..start + slice.bytes.len()].copy_from_slice(&slice.bytes);
    }

    /// Returns `true` if an element, or a part of it, is a NaN.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    pub fn is_nan(&self, index: usize) -> bool {
        let part = self.dtype.real();
        self.get(index).iter().any(|&word| is_nan(part, word))
    }

    /// Returns `true` if an element, with all its parts, is neither NaN nor infinite.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    pub fn is_finite(&self, index: usize) -> bool {
        let part = self.dtype.real();
        let infinity = part.infinity_bits();
        self.get(index).iter().all(|&word| infinity.is_none_or(|infinity| magnitude(part, word) < infinity))
    }

    /// Returns `true` if both have the same dtype, shape and bits, where all NaNs are equal: sign and payload of a NaN
    /// are not specified.
    pub fn same_bits(&self, other: &Tensor) -> bool {
        self.first_difference(other).is_none() && self.dtype == other.dtype && self.shape == other.shape
    }

    /// Returns the index of the first element that differs in [`same_bits`](Tensor::same_bits); the smaller length if
    /// one tensor is a prefix of the other.
    pub fn first_difference(&self, other: &Tensor) -> Option<usize> {
        let len = self.len().min(other.len());
        if self.dtype != other.dtype {
            return Some(0);
        }
        let differs = (0..len).find(|&i| {
            let part = self.dtype.real();
            self.get(i).iter().zip(&other.get(i)).any(|(&a, &b)| a != b && !(is_nan(part, a) && is_nan(part, b)))
        });
        differs.or((self.len() != other.len()).then_some(len))
    }
}

impl fmt::Debug for Tensor {
    /// Writes dtype, shape and the first elements' storage words in hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} [", self.dtype, self.shape)?;
        for index in 0..self.len().min(16) {
            f.write_str(if index > 0 { ", " } else { "" })?;
            for (part, word) in self.get(index).iter().enumerate() {
                write!(f, "{}{word:x}", if part > 0 { "+i" } else { "" })?;
            }
        }
        f.write_str(if self.len() > 16 { ", …]" } else { "]" })
    }
}

/// Returns `true` if a storage word of a real dtype is a NaN.
fn is_nan(dtype: DType, word: u64) -> bool {
    dtype.infinity_bits().is_some_and(|infinity| magnitude(dtype, word) > infinity)
}

/// Clears the sign of a storage word.
fn magnitude(dtype: DType, word: u64) -> u64 {
    word & (dtype.storage()[0].mask() >> 1)
}

pub(super) fn read_word(bytes: &[u8], at: usize, ty: PrimType) -> u64 {
    let mut word = [0; 8];
    let source = &bytes[at..at + ty.bytes()];
    if cfg!(target_endian = "little") {
        word[..source.len()].copy_from_slice(source);
    } else {
        word[8 - source.len()..].copy_from_slice(source);
    }
    u64::from_ne_bytes(word)
}

pub(super) fn write_word(bytes: &mut [u8], at: usize, ty: PrimType, word: u64) {
    let word = word.to_ne_bytes();
    let target = &mut bytes[at..at + ty.bytes()];
    let skip = if cfg!(target_endian = "little") { 0 } else { 8 - target.len() };
    target.copy_from_slice(&word[skip..skip + target.len()]);
}
