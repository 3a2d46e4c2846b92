//! Which conversions a mode of casting allows, by NumPy's rules.
//!
//! These look at the two dtypes alone. The Array API's `can_cast` asks whether promotion would convert so:
//! [`Policy::can_cast`](crate::Policy::can_cast).

use super::table::DType;
use std::fmt;

/// How much a conversion may change, as in NumPy's [casting kinds](https://numpy.org/doc/stable/reference/generated/numpy.can_cast.html).
/// Each mode allows what those before it allow.
///
/// NumPy's `equiv` allows a change of byte order besides; elements have the host's here, so it is `No`. Its `same_value` looks
/// at values and asks nothing of dtypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Casting {
    /// No conversion.
    No,
    /// Every value is kept, with one exception: 64-bit integers may become `f64` or `c128`, which round those above 2^53.
    /// [`DType::holds`] is the same without exception.
    Safe,
    /// Also to a narrower dtype of the same kind and to any dtype of a higher one, in the order bool, unsigned, signed,
    /// float, complex. A signed integer does not become unsigned, a float no integer, a complex number not real.
    SameKind,
    /// Any conversion.
    Unsafe,
}

impl Casting {
    /// All modes.
    pub const ALL: [Casting; 4] = [Casting::No, Casting::Safe, Casting::SameKind, Casting::Unsafe];

    /// NumPy's name.
    pub const fn name(self) -> &'static str {
        match self {
            Casting::No => "no",
            Casting::Safe => "safe",
            Casting::SameKind => "same_kind",
            Casting::Unsafe => "unsafe",
        }
    }

    /// Returns `true` if this mode lets values of `from` be converted to `to`: NumPy's
    /// [`can_cast`](https://numpy.org/doc/stable/reference/generated/numpy.can_cast.html), which agrees on every pair of dtypes it
    /// has itself. `bf16` is a float like any other here; in the ml_dtypes package `bf16` does not become `f16` under
    /// `same_kind`, and complex numbers become `bf16`.
    ///
    /// ```
    /// use ndjit_ir::DType;
    /// use ndjit_ir::dtype::Casting;
    ///
    /// assert!(Casting::Safe.allows(DType::I16, DType::F32));
    /// assert!(!Casting::Safe.allows(DType::I32, DType::F32));
    /// assert!(Casting::SameKind.allows(DType::F64, DType::F32));
    /// assert!(!Casting::SameKind.allows(DType::F64, DType::I64));
    /// ```
    pub const fn allows(self, from: DType, to: DType) -> bool {
        match self {
            Casting::No => from as u8 == to as u8,
            Casting::Safe => {
                to.holds(from) || from.is_int() && from.bits() == 64 && matches!(to, DType::F64 | DType::C128)
            }
            Casting::SameKind => from.kind() as u8 <= to.kind() as u8,
            Casting::Unsafe => true,
        }
    }
}

impl fmt::Display for Casting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
