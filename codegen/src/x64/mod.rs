//! Machine code for x86-64 with AVX-512 or AVX2 from expanded loop nests with contiguous elements along the innermost loop.
//!
//! Cranelift has registers of 128 bits; these have 512 or 256. The two sets differ in `set`, in the columns of the tables `forms` and
//! `moves`, and in primitives of several instructions: `avx512` and `avx2`. A body becomes instructions on virtual registers
//! (`select`, by the table `forms`; `folds` finds primitives for one instruction), for the units of a block side by side. `allocate`
//! gives them registers, and `assembler` encodes them by iced-x86, inside the loops (`nest`, `loops`). Functions have the same
//! arguments as Cranelift's ([`abi`](crate::clif::abi)), and give the same bits.
//!
//! Required of the processor: F, BW, DQ and VL of AVX-512, and BMI2, all part of x86-64-v4, or AVX2 and FMA, part of x86-64-v3.

mod allocate;
mod assembler;
mod avx2;
mod avx2_casts;
mod avx512;
mod blocks;
mod code;
mod context;
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
mod scans;
mod select;
mod set;
mod streams;

pub use code::VectorCode;
pub use context::Pairs;
use context::{Combine, NestContext};
pub use set::Set;

use crate::clif::AccumulatorLayout;
use crate::target::VectorWidth;
use ndjit_ir::loops::{Access, LoopBody, LoopNest, Stride};
use ndjit_ir::{Error, ErrorCode, Result};

/// This machine's code of a nest, at this width; `None` if it is Cranelift's.
///
/// # Errors
/// As [`emit`].
pub fn emit_here(nest: &LoopNest, form: AccumulatorLayout, width: VectorWidth) -> Result<Option<VectorCode>> {
    Set::of(width).map_or(Ok(None), |set| emit(nest, form, set))
}

/// The machine code of an expanded nest; `None` for other code generators: without contiguous elements, with bounded loops, integer
/// divisions except those for reciprocals of invariants, or primitives without short code.
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
    NestContext { nest, body, hoisted: *hoisted, form, set, alternate: false, combine: None }.emit()
}

/// The same for a map whose strided operands, at least one, have every other element along the innermost loop: elements of 32 or 64 bits.
///
/// # Errors
/// As [`emit`].
pub fn emit_alternate_here(nest: &LoopNest, form: AccumulatorLayout, width: VectorWidth) -> Result<Option<VectorCode>> {
    let LoopBody::Prims { body, hoisted } = &nest.body else { return Ok(None) };
    let mut strided = alternates(nest).peekable();
    // Masks are those of pairs, which alternate elements share.
    let mut words = nest.inputs.iter().chain(&nest.outputs).map(|access| access.dtype.storage().len());
    let supported = strided.peek().is_some() && strided.all(|(_, access)| access.dtype.bytes() >= 4);
    if form != AccumulatorLayout::Plain || !supported || words.any(|words| words > 1) {
        return Ok(None);
    }
    crate::clif::check(nest, *hoisted, form)?;
    match Set::of(width) {
        Some(set @ Set::Avx512) => {
            NestContext { nest, body, hoisted: *hoisted, form, set, alternate: true, combine: None }.emit()
        }
        Some(Set::Avx2) | None => Ok(None),
    }
}

/// The strided operands of a nest, by number.
pub fn alternates(nest: &LoopNest) -> impl Iterator<Item = (usize, &Access)> {
    let all = nest.inputs.iter().chain(&nest.outputs).enumerate();
    all.filter(|(_, access)| access.inner == Stride::Strided && !access.is_index())
}

/// The same for whole blocks of a reduction, by [`emit_blocks`].
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

/// The machine code of whole blocks of a reduction: of an expanded nest that accumulates along [rows](AccumulatorLayout::Rows) and one
/// that combines accumulators, in these pairs. The first inputs are one element each, the initial value of all lanes; each output is one
/// element, a block's result. The last but one loop has whole steps, the innermost the rest of one; either may be empty. `None` for other
/// code generators, by parts: AVX2, which has no masks.
///
/// With [`Prefixes`](Pairs::Prefixes) it is the code of a scan's rows: the first two inputs are the identity and the carry, the output has the
/// results along the innermost loop.
///
/// # Errors
/// As [`emit`].
pub fn emit_blocks(nest: &LoopNest, (combine, pairs): (&LoopNest, Pairs), set: Set) -> Result<Option<VectorCode>> {
    let (LoopBody::Prims { body, hoisted }, LoopBody::Prims { body: combine, .. }) = (&nest.body, &combine.body) else {
        return Err(Error::new(ErrorCode::Verify, "x64: the nest is not expanded into primitives"));
    };
    let form = if pairs == Pairs::Prefixes { AccumulatorLayout::Plain } else { AccumulatorLayout::Rows };
    crate::clif::check(nest, *hoisted, form)?;
    let combine = Some(Combine { body: combine, pairs });
    NestContext { nest, body, hoisted: *hoisted, form, set, alternate: false, combine }.emit()
}
