//! The parameters of a dispatch: the words of binding 0.
//!
//! First a header, then the extents of the loops, then for each operand of the nest (inputs, then outputs) the offset
//! and the stride along each loop, in elements, then the registers of the literals. Operands without memory have two
//! words for each of these, low first. All wrap around: an offset may lie before the bound range, as long as no element
//! does.

use ndjit_ir::loops::{IterationDomain, LoopNest};
use ndjit_ir::{Error, ErrorCode, PrimType, Result};

/// Words of the header; the extents follow.
pub const HEADER: usize = 7;

/// The header of a dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DispatchHeader {
    /// Invocations with work; for lanes: blocks of all rows.
    pub count: u32,
    /// For a reduction: results. For a scan: rows.
    pub rows: u32,
    /// For a reduction: blocks, or partial results, per result. For a scan: blocks per row. Lanes and local scans count
    /// only those of this dispatch.
    pub blocks: u32,
    /// Elements per result or row.
    pub len: u32,
    /// For a reduction or a scan: the first block of this dispatch.
    pub first: u32,
    /// For lanes: blocks per result in all dispatches.
    pub all: u32,
}

impl DispatchHeader {
    fn words(self) -> [u32; HEADER] {
        // The first word is a zero unknown to compilers.
        [0, self.count, self.rows, self.blocks, self.len, self.first, self.all]
    }
}

/// Returns a word of the parameters. They are bound as a uniform buffer of vectors: Mesa's lavapipe loads from storage
/// buffers lane by lane, which took four times as long for a copy.
pub(super) fn word(n: usize) -> String {
    format!("params[{}].{}", n / 4, ["x", "y", "z", "w"][n % 4])
}

/// Returns the declaration of a nest's parameters.
pub(super) fn declaration(nest: &LoopNest) -> String {
    let literals = nest.literals.iter().flat_map(|dtype| dtype.repr()).map(|&ty| register_words(ty));
    let words = offset(nest, nest.inputs.len() + nest.outputs.len()) + literals.sum::<usize>();
    format!("@group(0) @binding(0) var<uniform> params: array<vec4<u32>, {}>;", words.div_ceil(4))
}

/// Returns the word of an operand's offset. Inputs are counted before outputs; the number after the last operand is
/// that of the literals' first word.
pub(super) fn offset(nest: &LoopNest, operand: usize) -> usize {
    let words = |n: usize| if index(nest, n) { 2 } else { 1 } * (nest.rank + 1);
    HEADER + nest.rank + (0..operand).map(words).sum::<usize>()
}

/// Returns `true` if an operand has no memory.
pub(super) fn index(nest: &LoopNest, operand: usize) -> bool {
    nest.inputs.get(operand).is_some_and(|access| access.is_index())
}

/// Returns the number of words of a register.
pub(super) fn register_words(ty: PrimType) -> usize {
    match ty {
        PrimType::I64 | PrimType::F64 => 2,
        PrimType::Bool | PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::F32 => 1,
    }
}

/// Returns the parameters of a dispatch, in whole vectors. `before` is, for each operand, the number of its bytes
/// before the bound range; `literals` are registers' bits.
///
/// # Errors
/// `Verify` if an offset or a stride is not a whole number of elements, or operands and literals are not the nest's.
pub fn params(
    nest: &LoopNest,
    header: DispatchHeader,
    domain: &IterationDomain,
    before: &[usize],
    literals: &[u64],
) -> Result<Vec<u32>> {
    let wrong = |what: &str| Error::new(ErrorCode::Verify, format!("wgsl: {what}"));
    let registers: Vec<PrimType> = nest.literals.iter().flat_map(|dtype| dtype.repr()).copied().collect();
    let layouts: Vec<_> = domain.inputs.iter().chain(&domain.outputs).collect();
    let accesses: Vec<_> = nest.inputs.iter().chain(&nest.outputs).collect();
    if registers.len() != literals.len() || layouts.len() != accesses.len() || before.len() != accesses.len() {
        return Err(wrong("operands and literals are not the nest's"));
    }
    let mut words = header.words().to_vec();
    words.extend(domain.extents.iter().map(|&extent| extent as u32));
    for ((access, layout), &before) in accesses.iter().zip(layouts).zip(before) {
        let bytes = [(layout.offset as i64).wrapping_sub(before as i64)];
        let all = bytes.into_iter().chain(layout.strides.iter().map(|&stride| stride as i64));
        for bytes in all {
            if access.is_index() {
                words.extend([bytes as u32, (bytes >> 32) as u32]);
                continue;
            }
            let unit = access.dtype.bytes() as i64;
            if bytes % unit != 0 {
                return Err(wrong("an element does not lie at a multiple of its size"));
            }
            words.push((bytes / unit) as u32);
        }
    }
    for (ty, &bits) in registers.into_iter().zip(literals) {
        words.push(bits as u32);
        if register_words(ty) == 2 {
            words.push((bits >> 32) as u32);
        }
    }
    words.resize(words.len().next_multiple_of(4), 0);
    Ok(words)
}
