//! Literals as elements in memory.

use ndjit_ir::literal::Literal;
use ndjit_ir::{DType, Result};

/// The stored bytes of a literal as `dtype`, on this host.
///
/// # Errors
/// `Literal` if the dtype cannot represent it.
pub fn literal_bytes(literal: &Literal, dtype: DType) -> Result<smallvec::SmallVec<[u8; 16]>> {
    let mut bytes = smallvec::SmallVec::new();
    for (&word, prim) in literal.to_repr(dtype)?.iter().zip(dtype.storage()) {
        let word = match dtype {
            DType::F16 => u64::from(half::f16::from_f32(f32::from_bits(word as u32)).to_bits()),
            DType::Bf16 => u64::from(half::bf16::from_f32(f32::from_bits(word as u32)).to_bits()),
            _ => word,
        };
        match prim.bytes() {
            1 => bytes.push(word as u8),
            2 => bytes.extend_from_slice(&(word as u16).to_ne_bytes()),
            4 => bytes.extend_from_slice(&(word as u32).to_ne_bytes()),
            _ => bytes.extend_from_slice(&word.to_ne_bytes()),
        }
    }
    Ok(bytes)
}
