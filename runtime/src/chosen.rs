//! Indices that depend on values: those of a mask's true elements, and the group of each element. Their number depends on the values, so no
//! kernel computes them.
//!
//! A mask is searched block by block: threads count the true elements of each block, which determines the offsets of its indices, then
//! write the indices. Blocks depend only on the mask's length.

use crate::execution::threads::Threads;
use crate::memory::buffer::{Buffer, Writable};
use crate::memory::element::Element;
use crate::memory::pool::reserve;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Elements of a mask per block.
const BLOCK: usize = 1 << 16;

/// Estimated time per element of a mask, ns, to count it or to write its index.
const COST: f64 = 0.5;

/// The indices at which a mask is true, in order.
///
/// # Errors
/// `Allocation` if memory is refused.
pub fn indices(truths: &[bool]) -> Result<Vec<i64>> {
    let mut found = reserve("indices", truths.iter().filter(|truth| **truth).count())?;
    found.extend((0i64..).zip(truths).filter(|(_, truth)| **truth).map(|(position, _)| position));
    Ok(found)
}

/// The indices along each axis of a mask's true elements, in row-major order: for each axis an array of an integer dtype. A byte is true
/// unless it is 0.
///
/// # Errors
/// `Argument` if the product of the extents is not the mask's length, or the dtype is not an integer; `Allocation` if memory is refused.
pub fn nonzero(mask: &[u8], extents: &[usize], dtype: DType) -> Result<Vec<Buffer>> {
    match dtype {
        DType::U8 => found::<u8>(mask, extents),
        DType::U16 => found::<u16>(mask, extents),
        DType::U32 => found::<u32>(mask, extents),
        DType::U64 => found::<u64>(mask, extents),
        DType::I8 => found::<i8>(mask, extents),
        DType::I16 => found::<i16>(mask, extents),
        DType::I32 => found::<i32>(mask, extents),
        DType::I64 => found::<i64>(mask, extents),
        _ => Err(Error::new(ErrorCode::Argument, format!("nonzero: {dtype} has no indices"))),
    }
}

/// An integer element for indices.
trait IndexElement: Element {
    /// The index, which fits by the choice of the dtype.
    fn of(index: usize) -> Self;
}

macro_rules! index_elements {
    ($($t:ty)*) => {$(
        impl IndexElement for $t {
            fn of(index: usize) -> $t {
                index as $t
            }
        }
    )*};
}

index_elements! { u8 u16 u32 u64 i8 i16 i32 i64 }

/// The destination of the indices along an axis.
struct AxisPtr<T>(*mut T);

// SAFETY: an address only. Writes through it are justified where they happen.
unsafe impl<T> Sync for AxisPtr<T> {}

fn found<T: IndexElement>(mask: &[u8], extents: &[usize]) -> Result<Vec<Buffer>> {
    let size = extents.iter().try_fold(1usize, |size, &extent| size.checked_mul(extent));
    if size != Some(mask.len()) || extents.is_empty() {
        let headline = format!("nonzero: {} elements for extents {extents:?}", mask.len());
        return Err(Error::new(ErrorCode::Argument, headline));
    }
    let threads = Threads::new(None);
    let (blocks, time) = (mask.len().div_ceil(BLOCK), mask.len() as f64 * COST);
    let block = |n: usize| &mask[n * BLOCK..mask.len().min((n + 1) * BLOCK)];
    let mut begins: Vec<AtomicUsize> = reserve("nonzero", blocks)?;
    begins.extend((0..blocks).map(|_| AtomicUsize::new(0)));
    threads.each(blocks, time, |n| {
        // Byte counts do not overflow in runs of this length, and vectorize.
        let count = |run: &[u8]| usize::from(run.iter().fold(0u8, |count, &byte| count + u8::from(byte != 0)));
        begins[n].store(block(n).chunks(255).map(count).sum(), Ordering::Relaxed);
        Ok(())
    })?;
    let mut total = 0;
    let begins: Vec<(usize, usize)> = begins
        .into_iter()
        .map(|count| {
            let (begin, count) = (total, count.into_inner());
            total += count;
            (begin, count)
        })
        .collect();
    let mut axes = Vec::with_capacity(extents.len());
    for _ in extents {
        axes.push(Writable::new(total.saturating_mul(size_of::<T>()))?);
    }
    let places: Vec<AxisPtr<T>> = axes.iter_mut().map(|axis| AxisPtr(axis.ptr().cast())).collect();
    threads.each(blocks, time, |n| {
        let (begin, count) = begins[n];
        // SAFETY: block `n` has `count` indices per axis from `begin` on: the blocks are adjacent, `total` together, and each axis has
        // memory for that. Only this block writes its part.
        unsafe { write(block(n), n * BLOCK, extents, &places, begin, count) };
        Ok(())
    })?;
    // SAFETY: the blocks have written `total` indices of each axis, as counted: the borrowed mask has not changed.
    Ok(axes.into_iter().map(|axis| unsafe { axis.assume_written() }).collect())
}

/// Writes the indices of a block's true elements. The block begins at element `first` of an array of these extents.
///
/// # Safety
/// `count` elements of the block are true; each axis has memory for as many from `begin` on, aligned and exclusive.
unsafe fn write<T: IndexElement>(
    block: &[u8],
    first: usize,
    extents: &[usize],
    axes: &[AxisPtr<T>],
    begin: usize,
    count: usize,
) {
    let Some((&extent, outer)) = extents.split_last() else { return };
    let (Some((last, others)), end) = (axes.split_last(), begin + count) else { return };
    let (mut at, mut rest) = (begin, block);
    let (mut row, mut column) = (first / extent, first % extent);
    while at < end && !rest.is_empty() {
        // The part of the block in one row.
        let (run, behind) = rest.split_at(rest.len().min(extent - column));
        let before = at;
        let mut index = column;
        let mut words = run.chunks_exact(8);
        for word in &mut words {
            if word != [0; 8] {
                for &byte in word {
                    // The next element overwrites a false one; nothing is written past the end.
                    if at < end {
                        // SAFETY: `at` is in the block's range, by the caller's promise.
                        unsafe { last.0.add(at).write(T::of(index)) };
                        at += usize::from(byte != 0);
                    }
                    index += 1;
                }
            } else {
                index += 8;
            }
        }
        for &byte in words.remainder() {
            if at < end {
                // SAFETY: as above.
                unsafe { last.0.add(at).write(T::of(index)) };
                at += usize::from(byte != 0);
            }
            index += 1;
        }
        let mut left = row;
        for (axis, &extent) in others.iter().zip(outer).rev() {
            let own = T::of(left % extent);
            left /= extent;
            for place in before..at {
                // SAFETY: as above, for another axis.
                unsafe { axis.0.add(place).write(own) };
            }
        }
        (rest, column) = (behind, 0);
        row += 1;
    }
}

/// The group of each element. Groups are adjacent once elements are in `order`; `begins` marks the first element of each.
///
/// # Errors
/// `Argument` if the order is not a permutation; `Allocation` if memory is refused.
pub fn groups(begins: &[bool], order: &[i64]) -> Result<Vec<i64>> {
    let mut groups = reserve("indices", order.len())?;
    groups.resize(order.len(), 0);
    let mut group = -1;
    for (&begins, &position) in begins.iter().zip(order) {
        group += i64::from(begins);
        let missing = || Error::new(ErrorCode::Argument, format!("groups: there is no element {position}"));
        *usize::try_from(position).ok().and_then(|at| groups.get_mut(at)).ok_or_else(missing)? = group;
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_those_that_one_pass_finds() {
        let shapes: [&[usize]; 7] = [&[200_003], &[3, 70_001], &[70_001, 3], &[2, 300, 301], &[0], &[4, 0, 2], &[1, 1]];
        for extents in shapes {
            for density in [0, 1, 2, 1000] {
                let size: usize = extents.iter().product();
                let mask: Vec<u8> =
                    (0..size).map(|n| u8::from(density > 0 && n * 7919 % 10_007 % density == 0)).collect();
                let buffers = nonzero(&mask, extents, DType::I64).unwrap();
                let small = nonzero(&mask, extents, DType::I32).unwrap();
                let mut stride = size;
                for (axis, &extent) in extents.iter().enumerate() {
                    stride = stride.checked_div(extent).unwrap_or(0);
                    let all = mask.iter().enumerate().filter(|(_, truth)| **truth != 0);
                    let expected: Vec<i64> = all.map(|(n, _)| (n / stride % extent) as i64).collect();
                    assert_eq!(buffers[axis].as_slice::<i64>().unwrap(), expected);
                    let narrow: Vec<i32> = expected.iter().map(|&n| n as i32).collect();
                    assert_eq!(small[axis].as_slice::<i32>().unwrap(), narrow);
                }
            }
        }
        assert_eq!(nonzero(&[1], &[2], DType::I64).unwrap_err().code(), ErrorCode::Argument);
        assert_eq!(nonzero(&[1], &[], DType::I64).unwrap_err().code(), ErrorCode::Argument);
        assert_eq!(nonzero(&[1], &[1], DType::F32).unwrap_err().code(), ErrorCode::Argument);
    }

    #[test]
    fn elements_are_found_and_grouped() {
        assert_eq!(indices(&[true, false, true]).unwrap(), [0, 2]);
        assert_eq!(indices(&[]).unwrap(), [] as [i64; 0]);
        assert_eq!(groups(&[true, false, true], &[2, 0, 1]).unwrap(), [0, 1, 0]);
        for wrong in [-1, 3, i64::MAX, i64::MIN] {
            assert_eq!(groups(&[true], &[wrong]).unwrap_err().code(), ErrorCode::Argument);
        }
    }
}
