//! The rows of a scatter's array, copied to the output.

use super::{Scatterer, advance};
use crate::execution::code::KernelOperands;
use smallvec::SmallVec;

impl Scatterer {
    /// Copies the rows to the output.
    ///
    /// # Safety
    /// As [`Composed::run`].
    pub(super) unsafe fn copy(&self, operands: KernelOperands<'_>, rows: usize) {
        let strides = |operand: usize| &operands.strides[operand * self.rank..][..self.rank];
        let (from, to) = (strides(self.into), strides(self.inputs));
        let size = self.dtype.bytes();
        let step = operands.pointers[self.into + 2].addr() as isize;
        let row = self.row(operands);
        // The output moves along the loops of a row.
        let loops: SmallVec<[usize; 4]> = (0..self.rank).filter(|&at| to[at] != 0).collect();
        let together = from == to && step == row as isize;
        let [source, target] = [operands.pointers[self.into], operands.pointers[self.inputs]];
        if together {
            // SAFETY: the plan has checked that all rows lie in both operands' memory, one after the other.
            unsafe { target.copy_from_nonoverlapping(source, rows * row) };
            return;
        }
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, loops.len());
        for n in 0..rows {
            let (source, target) = (source.wrapping_offset(step * n as isize), target.wrapping_add(row * n));
            loop {
                let at = |strides: &[isize]| -> isize {
                    index.iter().zip(&loops).map(|(&i, &at)| i as isize * strides[at]).sum()
                };
                // SAFETY: as above, of one element.
                unsafe {
                    target.wrapping_offset(at(to)).copy_from_nonoverlapping(source.wrapping_offset(at(from)), size);
                }
                if !advance(&mut index, |n| operands.extents[loops[n]]) {
                    break;
                }
            }
        }
    }
}
