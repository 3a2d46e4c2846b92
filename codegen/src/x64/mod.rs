//! Machine code for x86-64 with AVX-512 from expanded loop nests whose innermost loop reads and writes elements side by side.
//!
//! Cranelift has registers of 128 bits; these have 512. A body becomes instructions on virtual registers (`select`, by the table
//! `forms`), for some units of a block side by side; those get registers (`allocate`) and become bytes (`assembler`, by iced-x86)
//! inside the loops (`nest`, `loops`). Functions have the same arguments as Cranelift's ([`abi`](crate::clif::abi)), and the same bits as
//! results.
//!
//! Needed of the processor: F, BW, DQ and VL of AVX-512, and BMI2, which all processors of x86-64-v4 have.

mod allocate;
mod assembler;
mod forms;
mod frame;
mod inst;
mod liveness;
mod loops;
mod nest;
mod pin;
mod select;
mod streams;

use crate::clif::{Cell, Form, Located};
use crate::target::VectorWidth;
use ndjit_ir::loops::{LoopBody, LoopNest};
use ndjit_ir::{Error, ErrorCode, Result};

/// A kernel as machine code.
#[derive(Clone, Debug)]
pub struct Code {
    /// The function, which can be anywhere in memory.
    pub bytes: Vec<u8>,
    /// The table its last argument points to.
    pub constants: Vec<Cell>,
    /// Lanes per block of the innermost loop.
    pub lanes: usize,
    /// What bytes from one offset to another are for.
    pub(crate) places: Vec<(u32, u32, Located)>,
}

/// Bits of a register.
pub const BITS: u32 = 512;

/// Whether this machine runs such code.
pub fn is_supported() -> bool {
    #[cfg(all(target_arch = "x86_64", not(windows)))]
    {
        use std::arch::is_x86_feature_detected as has;
        has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") && has!("bmi2")
    }
    #[cfg(not(all(target_arch = "x86_64", not(windows))))]
    false
}

/// The machine code that this machine runs a nest by, if it is of this width; `None` if that is Cranelift's.
///
/// # Errors
/// As [`emit`].
pub fn emit_here(nest: &LoopNest, form: Form, width: VectorWidth) -> Result<Option<Code>> {
    if width == VectorWidth::Widest && is_supported() { emit(nest, form) } else { Ok(None) }
}

/// The machine code of an expanded nest; `None` if other code generators do it: elements that are not side by side, bounded loops,
/// integer division.
///
/// # Errors
/// `Verify` if the nest is not expanded; `Backend` if an instruction does not exist, which is a bug.
pub fn emit(nest: &LoopNest, form: Form) -> Result<Option<Code>> {
    let LoopBody::Prims { body, hoisted } = &nest.body else {
        return Err(Error::new(ErrorCode::Verify, "x64: the nest is not expanded into primitives"));
    };
    crate::clif::check(nest, *hoisted, form)?;
    if let Form::Steps { .. } = form {
        return Ok(None);
    }
    nest::Nest { nest, body, hoisted: *hoisted, form }.emit()
}
