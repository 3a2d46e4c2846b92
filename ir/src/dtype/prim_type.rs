//! The machine types of elements.
//!
//! Integers have no sign, as in CLIF: primitives are signed or unsigned.

use std::fmt;

/// The type of one register of a scalar body.
///
/// Integers have no sign: primitives are signed or unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PrimType {
    /// A bool (a mask lane in vector code).
    Bool,
    /// 8 bits.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl PrimType {
    /// All primitive types.
    pub const ALL: [PrimType; 7] = {
        use PrimType::*;
        [Bool, I8, I16, I32, I64, F32, F64]
    };

    /// Size in bits; a `Bool` counts as 1.
    pub const fn bits(self) -> u32 {
        match self {
            PrimType::Bool => 1,
            PrimType::I8 => 8,
            PrimType::I16 => 16,
            PrimType::I32 | PrimType::F32 => 32,
            PrimType::I64 | PrimType::F64 => 64,
        }
    }

    /// Size in bytes of the stored form; a `Bool` is never stored (its dtype is stored as `I8`).
    pub const fn bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }

    /// Returns `true` for `F32` and `F64`.
    pub const fn is_float(self) -> bool {
        matches!(self, PrimType::F32 | PrimType::F64)
    }

    /// Returns `true` for integer types (not `Bool`).
    pub const fn is_int(self) -> bool {
        matches!(self, PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64)
    }

    /// The integer type of the same width (`Bool` is its own).
    pub const fn as_int(self) -> PrimType {
        match self {
            PrimType::F32 => PrimType::I32,
            PrimType::F64 => PrimType::I64,
            other => other,
        }
    }

    /// The mask of this type's bits in a `u64`.
    pub const fn mask(self) -> u64 {
        if self.bits() == 64 { u64::MAX } else { (1 << self.bits()) - 1 }
    }

    /// The name in IR text: `bool`, `i32`, `f64` …
    pub const fn name(self) -> &'static str {
        match self {
            PrimType::Bool => "bool",
            PrimType::I8 => "i8",
            PrimType::I16 => "i16",
            PrimType::I32 => "i32",
            PrimType::I64 => "i64",
            PrimType::F32 => "f32",
            PrimType::F64 => "f64",
        }
    }
}

impl fmt::Display for PrimType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
