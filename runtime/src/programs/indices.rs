//! Integers known when a step runs: the row where an operand begins, and the trip count of a loop.

use crate::programs::step_plan::{RowPlan, TripsPlan};
use ndjit_ir::DType;

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

/// Ends a loop at a trip count, after at least one trip: a maximum of no elements is an error.
///
/// # Safety
/// The address points to an initialised integer of the planned dtype.
pub unsafe fn end(trips: &TripsPlan, count: *mut u8, extents: &mut [usize]) {
    let extent = &mut extents[trips.index];
    // SAFETY: the caller's promise.
    *extent = unsafe { self::trips(trips, count, *extent) };
}

/// The trips of a loop of at most so many.
///
/// # Safety
/// As [`end`].
#[inline]
pub unsafe fn trips(trips: &TripsPlan, count: *mut u8, most: usize) -> usize {
    // SAFETY: the caller's promise.
    let count = unsafe { read(count, trips.count.dtype) };
    usize::try_from(count.saturating_add(trips.more as i64)).unwrap_or(0).max(1).min(most)
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
