//! The casts that a casting mode allows, by NumPy's rules.
//!
//! The rules depend only on the two dtypes. The Array API's `can_cast` follows promotion:
//! [`Policy::can_cast`](crate::Policy::can_cast).

use super::table::DType;
use std::fmt;

/// The changes that a cast may make, as in NumPy's [casting kinds](https://numpy.org/doc/stable/reference/generated/numpy.can_cast.html).
/// Each mode includes those before it.
///
/// NumPy's `equiv` also allows a change of byte order; here all elements have the host's, so it equals `No`. Its
/// `same_value` is a check of values, not of dtypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Casting {
    /// No cast.
    No,
    /// Casts that keep every value, except those of 64-bit integers to `f64` and `c128`, which round above 2^53.
    /// [`DType::holds`] has no exception.
    Safe,
    /// Also casts to a narrower dtype of the same kind and to any dtype of a higher kind, in the order bool, unsigned, signed,
    /// float, complex. Not allowed: signed integer to unsigned, float to integer, complex to real.
    SameKind,
    /// All casts.
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

    /// Returns `true` if this mode allows a cast of `from` to `to`: NumPy's
    /// [`can_cast`](https://numpy.org/doc/stable/reference/generated/numpy.can_cast.html), equal for all pairs of NumPy's dtypes.
    /// `bf16` is a float like any other here; in the ml_dtypes package `same_kind` does not allow `bf16` to `f16`, but complex to
    /// `bf16`.
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
