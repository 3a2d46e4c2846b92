//! Execution of a kernel's loops by the reference interpreter, on the raw operands of machine code.

use ndjit_codegen::clif::Cell;
use ndjit_ir::loops::{IterationDomain, Layout, LoopNest};
use ndjit_ir::{PrimType, Result};
use ndjit_math::interp::{NestMemory, eval_nest};
use smallvec::SmallVec;

/// A call's operands as the interpreter's memory. Constructed only if [`Kernel::call`](crate::Kernel)'s promises hold.
struct CallMemory<'a> {
    inputs: &'a [*mut u8],
    outputs: &'a [*mut u8],
}

/// Runs the loops; operands as for machine code ([`ndjit_codegen::clif::abi`]).
///
/// # Errors
/// `Verify` if the nest is not well-formed.
///
/// # Safety
/// As [`Kernel::call`](crate::Kernel).
pub unsafe fn run(
    nest: &LoopNest,
    pointers: &[*mut u8],
    extents: &[usize],
    strides: &[isize],
    literals: &[Cell],
) -> Result<()> {
    let mut layouts =
        strides.chunks(nest.rank).map(|strides| Layout { offset: 0, strides: SmallVec::from_slice(strides) });
    let mut inputs: Vec<Layout> = layouts.by_ref().take(nest.inputs.len()).collect();
    for ((layout, pointer), access) in inputs.iter_mut().zip(pointers).zip(&nest.inputs) {
        if access.is_index() {
            layout.offset = pointer.addr();
        }
    }
    let domain = IterationDomain { extents: SmallVec::from_slice(extents), inputs, outputs: layouts.collect() };
    let registers = nest.literals.iter().flat_map(|dtype| dtype.repr());
    let literals: Vec<u64> = registers.zip(literals).map(|(&ty, cell)| register(ty, cell)).collect();
    let (inputs, outputs) = pointers.split_at(nest.inputs.len());
    eval_nest(nest, &domain, &literals, &mut CallMemory { inputs, outputs })
}

/// One lane of a cell.
fn register(ty: PrimType, cell: &Cell) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&cell.0[..8]);
    u64::from_le_bytes(word) & ty.mask()
}

impl NestMemory for CallMemory<'_> {
    fn load(&mut self, input: usize, offset: usize, ty: PrimType) -> u64 {
        let mut word = [0u8; 8];
        let size = ty.bytes();
        // SAFETY: the caller of `run` promises every index's element of every operand, and the interpreter reads only
        // words of those elements. Offsets may be negative: they wrap.
        unsafe {
            let word_at = self.inputs[input].wrapping_add(offset);
            word.as_mut_ptr().copy_from_nonoverlapping(word_at, size);
        }
        if cfg!(target_endian = "big") {
            word[..size].reverse();
        }
        u64::from_le_bytes(word)
    }

    fn store(&mut self, output: usize, offset: usize, ty: PrimType, bits: u64) {
        let mut word = bits.to_le_bytes();
        let size = ty.bytes();
        if cfg!(target_endian = "big") {
            word[..size].reverse();
        }
        // SAFETY: as for `load`; the memory is writable.
        unsafe {
            let word_at = self.outputs[output].wrapping_add(offset);
            word_at.copy_from_nonoverlapping(word.as_ptr(), size);
        }
    }
}
