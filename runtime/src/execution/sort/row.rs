//! One row: elements in memory become a sorted row of elements or of indices.
//!
//! Real elements are sorted as [keys](super::key), in place, and decoded; keys order -0 before +0, so the order of zeros is restored
//! afterwards. For indices, and for complex numbers, keys are sorted with their indices.

use super::key::{ComplexKey, IndexedKey, KeyEncoding, Position, RadixItem, Word};
use super::radix::{SharedPtr, SortWorkers, sort};
use crate::memory::buffer::Writable;
use ndjit_ir::{DType, Result};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The result of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// The elements.
    Values,
    /// Their indices, as integers of this dtype.
    Indices(DType),
}

/// A row of elements, and the destination of its results.
#[derive(Clone, Copy)]
pub struct SortRow {
    pub dtype: DType,
    pub wants: Wants,
    /// Contiguous and aligned.
    pub elements: *mut u8,
    pub len: usize,
    pub results: *mut u8,
    /// In bytes.
    pub stride: isize,
}

/// Scratch bytes of sorting a row of so many elements; saturates.
pub fn room(dtype: DType, wants: Wants, len: usize) -> usize {
    if wants == Wants::Values && !dtype.is_complex() {
        return len.saturating_mul(dtype.bytes());
    }
    let position = if u32::try_from(len).is_ok() { 4 } else { 8 };
    let align = dtype.real().bytes().max(position);
    (dtype.bytes() + position).next_multiple_of(align).saturating_mul(2).saturating_mul(len)
}

/// Additional bytes for signs of zeros, if needed.
pub fn room_of_signs(dtype: DType, wants: Wants, len: usize) -> usize {
    if wants == Wants::Values && dtype.is_float() { len.div_ceil(8) } else { 0 }
}

/// Sorts a row; its elements are overwritten.
///
/// # Errors
/// `Allocation` if memory is refused; `Panic` if a worker panicked.
///
/// # Safety
/// The elements are initialised and exclusive; results are writable and exclusive at each of `len` steps of the stride; `memory` has
/// [`room`], aligned for any type, for this call only.
pub unsafe fn run(row: SortRow, memory: *mut u8, parts: SortWorkers<'_>) -> Result<()> {
    // SAFETY: the caller's promises are the same; words have the size of the dtype's parts.
    unsafe {
        match row.dtype.real().bytes() {
            1 => of_words::<u8>(row, memory, parts),
            2 => of_words::<u16>(row, memory, parts),
            4 => of_words::<u32>(row, memory, parts),
            _ => of_words::<u64>(row, memory, parts),
        }
    }
}

/// # Safety
/// As [`run`].
unsafe fn of_words<W: Word>(row: SortRow, memory: *mut u8, parts: SortWorkers<'_>) -> Result<()> {
    let code = KeyEncoding::<W>::of(row.dtype);
    let words: SharedPtr<W> = SharedPtr(row.elements.cast());
    // SAFETY: a complex element is two words, others are one; indices are below the row's length. The caller's promise.
    unsafe {
        let key = |index: usize| code.encode_equal(words.at(index).read());
        match (row.wants, row.dtype.is_complex()) {
            (Wants::Values, false) => values(row, code, memory, parts),
            (Wants::Indices(_), false) => placed(row, key, memory, parts),
            (_, true) => placed(row, |index| ComplexKey { re: key(2 * index), im: key(2 * index + 1) }, memory, parts),
        }
    }
}

/// Sorts real elements.
///
/// # Safety
/// As [`run`].
unsafe fn values<W: Word>(row: SortRow, code: KeyEncoding<W>, memory: *mut u8, parts: SortWorkers<'_>) -> Result<()> {
    let words: SharedPtr<W> = SharedPtr(row.elements.cast());
    // SAFETY: the caller's promise; parts are disjoint.
    unsafe {
        let signs = Signs::of(code, words, row.len, parts)?;
        parts.each(row.len, |_, run| {
            for index in run.start..run.start + run.len {
                let word = words.at(index);
                word.write(code.encode(word.read()));
            }
            Ok(())
        })?;
        sort(words.0, memory.cast(), row.len, parts)?;
        if let Some(signs) = signs {
            signs.put(code, words, row.len);
        }
        store(row, parts, |index| code.decode(words.at(index).read()))
    }
}

/// Sorts keys with their indices.
///
/// # Safety
/// As [`run`]; `key` may be called with indices below the row's length.
unsafe fn placed<K: RadixItem>(
    row: SortRow,
    key: impl Fn(usize) -> K + Sync,
    memory: *mut u8,
    parts: SortWorkers<'_>,
) -> Result<()> {
    // SAFETY: the caller's promise; every index fits the type.
    unsafe {
        match u32::try_from(row.len) {
            Ok(_) => placed_as::<K, u32>(row, key, memory, parts),
            Err(_) => placed_as::<K, u64>(row, key, memory, parts),
        }
    }
}

/// # Safety
/// As [`placed`].
unsafe fn placed_as<K: RadixItem, P: Position>(
    row: SortRow,
    key: impl Fn(usize) -> K + Sync,
    memory: *mut u8,
    parts: SortWorkers<'_>,
) -> Result<()> {
    let items: SharedPtr<IndexedKey<K, P>> = SharedPtr(memory.cast());
    let other = items.at(row.len);
    // SAFETY: the caller's promise: there is room for twice as many items; parts are disjoint.
    unsafe {
        parts.each(row.len, |_, run| {
            for index in run.start..run.start + run.len {
                items.at(index).write(IndexedKey { key: key(index), position: P::of(index) });
            }
            Ok(())
        })?;
        sort(items.0, other, row.len, parts)?;
        let from = |index: usize| (*items.at(index)).position.index();
        let elements = SharedPtr(row.elements);
        match (row.wants, row.dtype.bytes()) {
            (Wants::Indices(DType::I32), _) => store(row, parts, |index| from(index) as i32),
            (Wants::Indices(_), _) => store(row, parts, |index| from(index) as i64),
            (Wants::Values, 8) => store(row, parts, |index| elements.at(8 * from(index)).cast::<[u32; 2]>().read()),
            (Wants::Values, _) => store(row, parts, |index| elements.at(16 * from(index)).cast::<[u64; 2]>().read()),
        }
    }
}

/// Writes the results of a row.
///
/// # Safety
/// As [`run`]; `result` may be called with indices below the row's length.
unsafe fn store<T>(row: SortRow, parts: SortWorkers<'_>, result: impl Fn(usize) -> T + Sync) -> Result<()> {
    let results = SharedPtr(row.results);
    parts.each(row.len, |_, run| {
        let at = |index: usize| results.at(row.stride.wrapping_mul(index as isize) as usize).cast::<T>();
        for index in run.start..run.start + run.len {
            // SAFETY: the caller's promise; parts are disjoint.
            unsafe { at(index).write_unaligned(result(index)) };
        }
        Ok(())
    })
}

/// The signs of a row's zeros, in their order.
struct Signs {
    bits: Writable,
    zeros: usize,
}

impl Signs {
    /// The signs of a row with zeros of both signs.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    ///
    /// # Safety
    /// The words are initialised, and nobody writes them meanwhile.
    unsafe fn of<W: Word>(
        code: KeyEncoding<W>,
        words: SharedPtr<W>,
        len: usize,
        parts: SortWorkers<'_>,
    ) -> Result<Option<Signs>> {
        if !matches!(code, KeyEncoding::Float(_)) {
            return Ok(None);
        }
        let [negative, positive] = [const { AtomicBool::new(false) }; 2];
        parts.each(len, |_, run| {
            // SAFETY: the caller's promise.
            let words = unsafe { std::slice::from_raw_parts(words.at(run.start), run.len) };
            let (mut is_negative, mut is_positive) = (false, false);
            for &word in words {
                is_negative |= word == W::SIGN;
                is_positive |= word == W::low(0);
            }
            negative.fetch_or(is_negative, Relaxed);
            positive.fetch_or(is_positive, Relaxed);
            Ok(())
        })?;
        if !(negative.into_inner() && positive.into_inner()) {
            return Ok(None);
        }
        // SAFETY: the caller's promise.
        let words = unsafe { std::slice::from_raw_parts(words.0, len) };
        let mut bits = Writable::new(len.div_ceil(8))?;
        let (mut zeros, mut byte) = (0, 0u8);
        for &word in words.iter().filter(|&&word| code.is_zero(word)) {
            byte |= u8::from(word == W::SIGN) << (zeros % 8);
            // SAFETY: there are at most `len` zeros.
            unsafe { bits.ptr().add(zeros / 8).write(byte) };
            zeros += 1;
            if zeros % 8 == 0 {
                byte = 0;
            }
        }
        Ok(Some(Signs { bits, zeros }))
    }

    /// Restores the signs of zeros in a sorted row of keys.
    ///
    /// # Safety
    /// `len` keys are initialised and exclusive; the signs are those of their zeros.
    unsafe fn put<W: Word>(mut self, code: KeyEncoding<W>, keys: SharedPtr<W>, len: usize) {
        // SAFETY: the caller's promise.
        let keys = unsafe { std::slice::from_raw_parts_mut(keys.0, len) };
        let [negative, positive] = [W::SIGN, W::low(0)].map(|word| code.encode(word));
        let first = keys.partition_point(|&key| key < negative);
        for (zero, key) in keys.iter_mut().skip(first).take(self.zeros).enumerate() {
            // SAFETY: the byte of each zero was written.
            let byte = unsafe { self.bits.ptr().add(zero / 8).read() };
            *key = if byte >> (zero % 8) & 1 == 1 { negative } else { positive };
        }
    }
}
