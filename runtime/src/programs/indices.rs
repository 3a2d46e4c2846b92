//! Integers known when a step runs: the row where an operand begins, and the range of a loop.

use crate::programs::step_plan::{RangePlan, RowPlan};
use ndjit_ir::DType;
use std::ops::Range;

/// Moves the pointers of operands, the first `inputs` of which are read, to the rows at these indices. Reads use the nearest row. Returns
/// whether all stored rows exist.
///
/// # Safety
/// There is a pointer for each row, to an initialised integer of its dtype.
pub unsafe fn begin(rows: &[RowPlan], indices: &[*mut u8], operands: &mut [*mut u8], inputs: usize) -> bool {
    for (row, &index) in rows.iter().zip(indices) {
        // SAFETY: the caller's promise.
        let Some(start) = (unsafe { self::row(row, index, row.operand >= inputs) }) else { return false };
        operands[row.operand] = operands[row.operand].wrapping_offset(start);
    }
    true
}

/// The bytes from an operand's start to the row at an index. A read uses the nearest row; `None` for a missing row of an operand that
/// `stores`.
///
/// # Safety
/// The address points to an initialised integer of the planned dtype.
#[inline]
pub unsafe fn row(row: &RowPlan, index: *mut u8, stores: bool) -> Option<isize> {
    // SAFETY: the caller's promise.
    let index = unsafe { read(index, row.index.dtype) };
    let last = row.last as i64;
    (!stores || (0..=last).contains(&index)).then(|| row.stride.wrapping_mul(index.clamp(0, last) as isize))
}

/// Restricts loops to their ranges: moves the pointers of operands to the first indices, and sets the extents.
///
/// # Safety
/// There is a pointer for each end of a range, to an initialised integer of its dtype.
pub unsafe fn restrict(
    ranges: &[RangePlan],
    mut ends: &[*mut u8],
    extents: &mut [usize],
    strides: &[isize],
    operands: &mut [*mut u8],
) {
    let rank = extents.len();
    for range in ranges {
        let (own, rest) = ends.split_at(range.ends.iter().flatten().count());
        // SAFETY: the caller's promise.
        let indices = unsafe { self::range(range, own) };
        for (pointer, strides) in operands.iter_mut().zip(strides.chunks(rank)) {
            *pointer = pointer.wrapping_offset(strides[range.index].wrapping_mul(indices.start as isize));
        }
        (extents[range.index], ends) = (indices.len(), rest);
    }
}

/// The indices of a loop that have an effect, and at least those of one integer: a maximum of no elements is an error, and reads
/// of a row at an index use the nearest.
///
/// # Safety
/// As [`restrict`].
#[inline]
pub unsafe fn range(range: &RangePlan, ends: &[*mut u8]) -> Range<usize> {
    let count = range.extent / range.step;
    let mut ends = ends.iter();
    let [from, to] = range.ends.map(|end| {
        let end = end?;
        let &at = ends.next()?;
        // SAFETY: the caller's promise.
        Some(unsafe { read(at, end.count.dtype) }.saturating_add(end.more as i64))
    });
    let last = count.saturating_sub(1);
    let from = from.map_or(0, |from| usize::try_from(from).unwrap_or(0).min(last));
    let to = to.map_or(count, |to| usize::try_from(to).unwrap_or(0).clamp((from + 1).min(count), count));
    from * range.step..to * range.step
}

/// The integer at an address, unaligned. Saturates to `i64`.
///
/// # Safety
/// The address points to an initialised integer of this dtype.
unsafe fn read(at: *mut u8, dtype: DType) -> i64 {
    // SAFETY: the caller's promise.
    unsafe {
        match dtype {
            DType::I8 => at.cast::<i8>().read_unaligned().into(),
            DType::I16 => at.cast::<i16>().read_unaligned().into(),
            DType::I32 => at.cast::<i32>().read_unaligned().into(),
            DType::U8 => at.read().into(),
            DType::U16 => at.cast::<u16>().read_unaligned().into(),
            DType::U32 => at.cast::<u32>().read_unaligned().into(),
            DType::U64 => i64::try_from(at.cast::<u64>().read_unaligned()).unwrap_or(i64::MAX),
            _ => at.cast::<i64>().read_unaligned(),
        }
    }
}
