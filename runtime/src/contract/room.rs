//! The memory that the crate `gemm` packs matrices into, which ends the process where it is refused.

use crate::pool::reserve;
use ndjit_ir::Result;
use std::hint::black_box;

/// Products of a sum that are packed at once, at most: by the size of the first cache, of which x86-64 has 64 KiB at most, and others up to 192 KiB.
const PRODUCTS: usize = if cfg!(target_arch = "x86_64") { 1024 } else { 2048 };
/// Rows of the first matrix that are packed at once, at most.
const ROWS: usize = 1024;
/// Rows up to which the second matrix is not packed.
const UNPACKED: usize = 8;
/// Rows and columns are packed by vectors: so many more, at most.
const PADDING: usize = 64;
/// Bytes that each thread takes once, at most: a cache of the second level.
const SLAB: usize = 4 << 20;
/// Packed bytes up to which nothing is asked for: a multiplication of so few takes no longer than the asking.
const FEW: usize = 64 << 10;

/// Asks for as much as multiplications on so many threads pack at once, and gives it back: where this is refused they would be refused it. Another
/// thread of the process may still take it before they do.
///
/// # Errors
/// `Allocation` if memory is refused.
pub(super) fn check([m, n, k]: [usize; 3], element: usize, threads: usize) -> Result<()> {
    let lines = |m: usize, n: usize| {
        let columns = if m <= UNPACKED { 0 } else { n.saturating_add(PADDING) };
        columns.saturating_add(m.min(ROWS) + PADDING)
    };
    // The crate multiplies transposed matrices where rows of the result are contiguous.
    let lines = lines(m, n).max(lines(n, m));
    let packed = lines.saturating_mul(k.min(PRODUCTS)).saturating_mul(element);
    if packed > FEW {
        // A compiler may leave out what is asked for and given back.
        black_box(reserve::<u8>("matmul", packed.saturating_add(SLAB).saturating_mul(threads))?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndjit_ir::ErrorCode;

    #[test]
    fn memory_of_multiplications_is_asked_for() {
        assert!(check([512, 512, 512], 4, 8).is_ok());
        assert_eq!(check([512, 1 << 56, 64], 4, 1).unwrap_err().code(), ErrorCode::Allocation);
        // A long vector is not packed.
        assert!(check([1, 1 << 56, 64], 4, 1).is_ok());
    }
}
