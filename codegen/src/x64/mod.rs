//! Machine code for x86-64 with AVX-512 or AVX2 from expanded loop nests whose innermost loop reads and writes elements side by side.
//!
//! Cranelift has registers of 128 bits; these have 512 or 256. What differs between the two sets is in `set`, in the columns of the tables
//! `forms` and `moves`, and in what takes several instructions: `avx512` and `avx2`. A body becomes instructions on virtual registers (`select`, by the table
//! `forms`; `folds` finds primitives that one instruction does together), for some units of a block side by side; those get registers (`allocate`) and become bytes (`assembler`, by iced-x86)
//! inside the loops (`nest`, `loops`). Functions have the same arguments as Cranelift's ([`abi`](crate::clif::abi)), and the same bits as
//! results.
//!
//! Needed of the processor: F, BW, DQ and VL of AVX-512, and BMI2, which all processors of x86-64-v4 have, or AVX2 and FMA, which all of
//! x86-64-v3 have.

mod allocate;
mod assembler;
mod avx2;
mod avx2_casts;
mod avx512;
mod blocks;
mod folds;
mod forms;
mod frame;
mod inst;
mod liveness;
mod loops;
mod moves;
mod nest;
mod partial;
mod pin;
mod products;
mod select;
mod set;
mod streams;

use blocks::Combine;
pub use blocks::Pairs;
pub use set::Set;

use crate::clif::{AccumulatorLayout, Cell, Located};
use crate::target::VectorWidth;
use ndjit_ir::loops::{LoopBody, LoopNest};
use ndjit_ir::{Error, ErrorCode, Result};

/// A kernel as machine code.
#[derive(Clone, Debug)]
pub struct VectorCode {
    /// The function, which can be anywhere in memory.
    pub bytes: Vec<u8>,
    /// The table its last argument points to.
    pub constants: Vec<Cell>,
    /// The instructions it is made of.
    pub set: Set,
    /// Lanes per block of the innermost loop.
    pub lanes: usize,
    /// What bytes from one offset to another are for.
    pub(crate) places: Vec<(u32, u32, Located)>,
}

/// The machine code that this machine runs a nest by, if it is of this width; `None` if that is Cranelift's.
///
/// # Errors
/// As [`emit`].
pub fn emit_here(nest: &LoopNest, form: AccumulatorLayout, width: VectorWidth) -> Result<Option<VectorCode>> {
    Set::of(width).map_or(Ok(None), |set| emit(nest, form, set))
}

/// The machine code of an expanded nest; `None` if other code generators do it: elements that are not side by side, bounded loops,
/// integer division, and what the set has no short code for.
///
/// # Errors
/// `Verify` if the nest is not expanded; `Backend` if an instruction does not exist, which is a bug.
pub fn emit(nest: &LoopNest, form: AccumulatorLayout, set: Set) -> Result<Option<VectorCode>> {
    let LoopBody::Prims { body, hoisted } = &nest.body else {
        return Err(Error::new(ErrorCode::Verify, "x64: the nest is not expanded into primitives"));
    };
    crate::clif::check(nest, *hoisted, form)?;
    if let AccumulatorLayout::Steps { .. } | AccumulatorLayout::While { .. } = form {
        return Ok(None);
    }
    nest::NestContext { nest, body, hoisted: *hoisted, form, set, combine: None }.emit()
}

/// The same of whole blocks of a reduction, by [`emit_blocks`].
///
/// # Errors
/// As [`emit`].
pub fn emit_blocks_here(
    nest: &LoopNest,
    combine: &LoopNest,
    pairs: Pairs,
    width: VectorWidth,
) -> Result<Option<VectorCode>> {
    Set::of(width).map_or(Ok(None), |set| emit_blocks(nest, (combine, pairs), set))
}

/// The machine code of whole blocks of a reduction: of an expanded nest that accumulates along [rows](AccumulatorLayout::Rows) and one that combines
/// accumulators, in these pairs. The first inputs are one element each, which all lanes begin with; each output is one element, what a block gives. The last
/// but one of the loops has whole steps, the innermost what remains of one, and either can have none. `None` if other code generators do it,
/// by parts: AVX2, which has no masks.
///
/// # Errors
/// As [`emit`].
pub fn emit_blocks(nest: &LoopNest, (combine, pairs): (&LoopNest, Pairs), set: Set) -> Result<Option<VectorCode>> {
    let (LoopBody::Prims { body, hoisted }, LoopBody::Prims { body: combine, .. }) = (&nest.body, &combine.body) else {
        return Err(Error::new(ErrorCode::Verify, "x64: the nest is not expanded into primitives"));
    };
    crate::clif::check(nest, *hoisted, AccumulatorLayout::Rows)?;
    nest::NestContext {
        nest,
        body,
        hoisted: *hoisted,
        form: AccumulatorLayout::Rows,
        set,
        combine: Some(Combine { body: combine, pairs }),
    }
    .emit()
}
