//! Integers that are known when a step runs: at which row an operand begins then, and where a loop ends.

use crate::programs::plan::{RowPlan, TripsPlan};
use ndjit_ir::DType;

/// Moves the pointers of operands, the first `inputs` of which are read, to the rows at these indices. Whether all is there that is to be stored: what is read is
/// the nearest row that there is.
///
/// # Safety
/// There is a pointer for each row, which leads to an initialised integer of its dtype.
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

/// Ends a loop where a number says so, after one trip at least: a maximum of nothing is an error.
///
/// # Safety
/// The address leads to an initialised integer of the dtype that the plan has.
pub unsafe fn end(trips: &TripsPlan, count: *mut u8, extents: &mut [usize]) {
    // SAFETY: the caller's promise.
    let count = unsafe { read(count, trips.count.dtype) };
    let extent = &mut extents[trips.index];
    *extent = usize::try_from(count.saturating_add(trips.more as i64)).unwrap_or(0).max(1).min(*extent);
}

/// The integer at an address, which need not be aligned. What no `i64` is comes out as the greatest one.
///
/// # Safety
/// The address leads to an initialised integer of this dtype.
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
