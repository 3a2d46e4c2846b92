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
        let index = unsafe { read(index, row.index.dtype) };
        let last = row.last as i64;
        if row.operand >= inputs && !(0..=last).contains(&index) {
            return false;
        }
        let start = row.stride.wrapping_mul(index.clamp(0, last) as isize);
        operands[row.operand] = operands[row.operand].wrapping_offset(start);
    }
    true
}

/// Ends a loop at a trip count, after at least one trip: a maximum of no elements is an error.
///
/// # Safety
/// The address points to an initialised integer of the planned dtype.
pub unsafe fn end(trips: &TripsPlan, count: *mut u8, extents: &mut [usize]) {
    // SAFETY: the caller's promise.
    let count = unsafe { read(count, trips.count.dtype) };
    let extent = &mut extents[trips.index];
    *extent = usize::try_from(count.saturating_add(trips.more as i64)).unwrap_or(0).max(1).min(*extent);
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
