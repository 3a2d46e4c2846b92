//! The calling convention of kernels, between code generators and the runtime.
//!
//! ```text
//! extern "C" fn(pointers: *const *mut u8, extents: *const usize, strides: *const isize,
//!               literals: *const Cell, constants: *const Cell)
//! ```
//!
//! - `pointers`: the element at index 0 of each input, then of each output. No alignment is needed.
//! - `extents`: the trip count of each loop, outermost first. Any may be 0; then nothing is read or written.
//! - `strides`: in bytes, `[operand][loop]`, inputs before outputs. Those of the innermost loop are read only for operands of class
//!   `Strided`; others move by one element or not at all.
//! - `literals`: for each literal, each register of its value as one [`Cell`]; [`literal_cells`] makes them.
//! - `constants`: the kernel's own table ([`ClifKernel::constants`](super::ClifKernel)), valid during the call.
//!
//! A kernel reads and writes nothing else, never traps and never unwinds.

use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::isa::CallConv;
use ndjit_ir::{DType, PrimType};

/// Sixteen aligned bytes: a vector register of a literal or of the constants table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C, align(16))]
pub struct Cell(pub [u8; 16]);

impl Cell {
    /// Fills all lanes with one value: the low bits of `bits` as a `ty`, a `Bool` as all ones or all zeros.
    pub fn splat(ty: PrimType, bits: u64) -> Cell {
        if ty == PrimType::Bool {
            return Cell([if bits & 1 == 1 { 0xff } else { 0 }; 16]);
        }
        let word = bits.to_le_bytes();
        Cell(std::array::from_fn(|i| word[i % ty.bytes()]))
    }
}

/// Returns the cells of a literal of type `dtype`: one per register of its value, with the `bits` of
/// [`DType::repr`](ndjit_ir::DType::repr) (a half as the `f32` it equals, a complex number as real and imaginary part).
///
/// # Panics
/// If `bits` does not have one entry per register.
pub fn literal_cells(dtype: DType, bits: &[u64]) -> Vec<Cell> {
    assert_eq!(bits.len(), dtype.repr().len(), "registers of a {dtype} literal");
    dtype.repr().iter().zip(bits).map(|(&ty, &bits)| Cell::splat(ty, bits)).collect()
}

/// Bytes of a cell.
pub(crate) const CELL: i32 = 16;

/// Returns the signature of every kernel.
pub fn signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params = vec![AbiParam::new(types::I64); 5];
    signature
}
