//! Copies of a scatter's array for further threads: each takes the updates of its thread, and is merged into the array after all.

use super::TargetPtr;
use super::functions::{FunctionVisitor, Reordered, with_function};
use crate::execution::threads::Threads;
use crate::memory::block::ALIGN;
use crate::memory::buffer::Writable;
use ndjit_ir::graph::Scatter;
use ndjit_ir::{DType, Result};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Time of merging an element of a copy, ns.
const MERGED: f64 = 0.2;

/// Bytes of some copies of an array of `bytes` bytes.
pub fn bytes_of_copies(bytes: usize, copies: usize) -> usize {
    bytes.checked_next_multiple_of(ALIGN).unwrap_or(usize::MAX).saturating_mul(copies)
}

/// Copies of an array, for a function of any order.
pub struct PrivateCopies {
    scatter: Scatter,
    dtype: DType,
    /// Bytes of the array.
    bytes: usize,
    /// The memory of the copies, one after the other.
    first: TargetPtr,
    /// Whether each has been filled.
    filled: SmallVec<[AtomicBool; 8]>,
    /// Owns it.
    _memory: Writable,
}

impl PrivateCopies {
    /// Memory for so many copies.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub fn new(scatter: Scatter, dtype: DType, bytes: usize, copies: usize) -> Result<PrivateCopies> {
        let mut memory = Writable::new(bytes_of_copies(bytes, copies))?;
        let filled = (0..copies).map(|_| AtomicBool::new(false)).collect();
        Ok(PrivateCopies { scatter, dtype, bytes, first: TargetPtr(memory.ptr()), filled, _memory: memory })
    }

    fn copy(&self, n: usize) -> *mut u8 {
        self.first.get().wrapping_add(bytes_of_copies(self.bytes, n))
    }

    /// The address of a copy, which is filled: each element is the function's identity.
    ///
    /// # Safety
    /// Only one thread has this copy.
    pub unsafe fn fill(&self, n: usize) -> *mut u8 {
        let at = self.copy(n);
        // SAFETY: the copy has so many bytes, and is the caller's.
        with_function(self.scatter, self.dtype, Filled { at, bytes: self.bytes });
        self.filled[n].store(true, Relaxed);
        at
    }

    /// Merges all copies in use into the array.
    ///
    /// # Errors
    /// As [`Threads::each`].
    ///
    /// # Safety
    /// `target` is the array, which is the caller's; no thread has a copy.
    pub unsafe fn merge(&self, target: TargetPtr, threads: &Threads) -> Result<()> {
        let used: SmallVec<[usize; 8]> = (0..self.filled.len()).filter(|&n| self.filled[n].load(Relaxed)).collect();
        let (elements, cost) = (self.bytes / self.dtype.bytes(), MERGED * used.len() as f64);
        let pieces = threads.pieces(elements, cost).min(elements).max(1);
        let at = |piece: usize| (elements as u128 * piece as u128 / pieces as u128) as usize;
        threads.each(pieces, elements as f64 * cost, |piece| {
            for &n in &used {
                let range = at(piece)..at(piece + 1);
                let merged = Merged { target: target.get(), copy: self.copy(n), range };
                with_function(self.scatter, self.dtype, merged);
            }
            Ok(())
        })
    }
}

/// Memory to fill, as [`PrivateCopies::fill`] promises.
struct Filled {
    at: *mut u8,
    bytes: usize,
}

impl FunctionVisitor for Filled {
    type Out = ();

    fn visit<T: Copy>(self, _: impl Fn(T, T) -> T, reordered: Option<Reordered<T>>) {
        let Some(Reordered { identity, .. }) = reordered else { return };
        let at = self.at.cast::<T>();
        for n in 0..self.bytes / size_of::<T>() {
            // SAFETY: the memory has so many elements, aligned to a cache line, and nobody else accesses it.
            unsafe { at.add(n).write(identity) };
        }
    }
}

/// Elements of an array and of a copy, as [`PrivateCopies::merge`] promises.
struct Merged {
    target: *mut u8,
    copy: *const u8,
    range: Range<usize>,
}

impl FunctionVisitor for Merged {
    type Out = ();

    fn visit<T: Copy>(self, _: impl Fn(T, T) -> T, reordered: Option<Reordered<T>>) {
        let Some(Reordered { merge, .. }) = reordered else { return };
        let (target, copy) = (self.target.cast::<T>(), self.copy.cast::<T>());
        for n in self.range {
            // SAFETY: both arrays have the elements of the range, which is this thread's. A filled copy is initialised.
            unsafe {
                let place = target.add(n);
                place.write_unaligned(merge(place.read_unaligned(), copy.add(n).read()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::scatter::combine::{UpdateBlock, put};

    /// Scatters updates of five elements in order, and the same with some in each of two copies.
    fn arrays(scatter: Scatter, dtype: DType, patterns: &[[u8; 8]]) -> [Vec<u8>; 2] {
        let size = dtype.bytes();
        let element = |n: usize| patterns[n % patterns.len()][..size.min(8)].repeat(size.div_ceil(8));
        // Indices beyond the array are left out.
        let indices: Vec<i64> = (0..140).map(|n| [n % 7, n % 3][n as usize % 2]).collect();
        let mut memory = Writable::new(indices.len() * size).unwrap();
        let updates = memory.ptr();
        for n in 0..indices.len() {
            // SAFETY: the memory has so many elements.
            unsafe { updates.add(n * size).copy_from_nonoverlapping(element(n * 5 + 1).as_ptr(), size) };
        }
        let block = |target: *mut u8, from: usize, len: usize| {
            let block = UpdateBlock {
                updates: updates.wrapping_add(from * size),
                indices: indices[from..].as_ptr(),
                target,
                extents: &[len],
                strides: &[0],
                step: size,
                rows: 0..5,
            };
            // SAFETY: there are as many updates and indices, and five elements at `target`.
            unsafe { put(scatter, dtype, &block) };
        };
        let array = || (0..5).flat_map(element).collect::<Vec<u8>>();
        let (mut once, mut parts) = (array(), array());
        block(once.as_mut_ptr(), 0, 140);
        let copies = PrivateCopies::new(scatter, dtype, 5 * size, 3).unwrap();
        // The second copy stays unused.
        for (copy, from) in [(0, 0), (2, 40)] {
            // SAFETY: one thread has it.
            block(unsafe { copies.fill(copy) }, from, 40);
        }
        block(parts.as_mut_ptr(), 80, 60);
        // SAFETY: the array is ours.
        unsafe { copies.merge(TargetPtr(parts.as_mut_ptr()), &Threads::Serial).unwrap() };
        [once, parts]
    }

    #[test]
    fn copies_merge_to_the_array_of_all_updates() {
        let integers: Vec<[u8; 8]> =
            (0..11u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).to_le_bytes()).collect();
        let mut cases = 0;
        for dtype in DType::ALL {
            let numbers = [0.0, -0.0, 1.5, -2.25, f64::INFINITY, f64::NEG_INFINITY, 3.0, -7.5, 0.5, 8.0];
            let patterns: Vec<[u8; 8]> = match dtype {
                DType::Bool => [1u64, 0, 1].map(u64::to_le_bytes).to_vec(),
                DType::F64 => numbers.map(f64::to_le_bytes).to_vec(),
                DType::F32 => numbers.map(|x| u64::from((x as f32).to_bits()).to_le_bytes()).to_vec(),
                DType::F16 => numbers.map(|x| u64::from(half::f16::from_f64(x).to_bits()).to_le_bytes()).to_vec(),
                DType::Bf16 => numbers.map(|x| u64::from(half::bf16::from_f64(x).to_bits()).to_le_bytes()).to_vec(),
                _ => integers.clone(),
            };
            for scatter in Scatter::ALL.into_iter().filter(|&scatter| super::super::functions::reorders(scatter, dtype))
            {
                let [once, parts] = arrays(scatter, dtype, &patterns);
                assert_eq!(once, parts, "{} of {dtype}", scatter.name());
                cases += 1;
            }
        }
        // Five functions of eight integers, four of bools, two of four floats.
        assert_eq!(cases, 5 * 8 + 4 + 2 * 4);
    }
}
