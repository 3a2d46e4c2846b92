//! Sets of dtypes: domains of ops, and the classes of dtypes that libraries name.

use super::table::{DType, Kind, ROWS};
use std::fmt;
use std::ops::BitOr;

/// A set of dtypes: the domain of an op, a class of dtypes, or any union of them with `|`.
///
/// The constants are the classes. [`CLASSES`](DTypeSet::CLASSES) has their names in the
/// [Array API](https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.isdtype.html) and in
/// [Ivy](https://docs.ivy.dev/overview/deep_dive/data_types.html). Parsing accepts both, and names of dtypes.
///
/// ```
/// use ndjit_ir::{DType, DTypeSet};
///
/// let set = DTypeSet::UNSIGNED | DType::F32;
/// assert_eq!(set.to_string(), "u8 u16 u32 u64 f32");
/// assert_eq!("integral".parse(), Ok(DTypeSet::INT));
/// assert_eq!(DTypeSet::from([DType::I32, DType::F32]), DType::I32 | DType::F32);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DTypeSet(u16);

impl DTypeSet {
    /// The empty set.
    pub const EMPTY: DTypeSet = DTypeSet(0);
    /// Only bool.
    pub const BOOL: DTypeSet = DTypeSet(1 << DType::Bool as u16);
    /// Unsigned integer dtypes.
    pub const UNSIGNED: DTypeSet = DTypeSet::of_kind(Kind::UInt);
    /// Signed integer dtypes.
    pub const SIGNED: DTypeSet = DTypeSet::of_kind(Kind::Int);
    /// All integer dtypes.
    pub const INT: DTypeSet = DTypeSet::UNSIGNED.union(DTypeSet::SIGNED);
    /// All real floating-point dtypes.
    pub const FLOAT: DTypeSet = DTypeSet::of_kind(Kind::Float);
    /// Only `u64`: words of random bits.
    pub const U64: DTypeSet = DTypeSet::of(DType::U64);
    /// The dtypes of the parts of complex numbers.
    pub const PARTS: DTypeSet = DTypeSet::of(DType::F32).union(DTypeSet::of(DType::F64));
    /// Both complex dtypes.
    pub const COMPLEX: DTypeSet = DTypeSet::of_kind(Kind::Complex);
    /// Integers and floats.
    pub const REAL: DTypeSet = DTypeSet::INT.union(DTypeSet::FLOAT);
    /// Integers, floats and complex numbers.
    pub const NUMERIC: DTypeSet = DTypeSet::REAL.union(DTypeSet::COMPLEX);
    /// All dtypes.
    pub const ALL: DTypeSet = DTypeSet::NUMERIC.union(DTypeSet::BOOL);

    /// The named classes: the Array API's, then Ivy's other names. (`bool` is the name of its only member; Ivy's `numeric` is the
    /// Array API's.)
    pub const CLASSES: [(&str, DTypeSet); 11] = [
        ("signed integer", DTypeSet::SIGNED),
        ("unsigned integer", DTypeSet::UNSIGNED),
        ("integral", DTypeSet::INT),
        ("real floating", DTypeSet::FLOAT),
        ("complex floating", DTypeSet::COMPLEX),
        ("numeric", DTypeSet::NUMERIC),
        ("valid", DTypeSet::ALL),
        ("integer", DTypeSet::INT),
        ("unsigned", DTypeSet::UNSIGNED),
        ("float", DTypeSet::FLOAT),
        ("complex", DTypeSet::COMPLEX),
    ];

    /// The set of one dtype.
    pub const fn of(dtype: DType) -> DTypeSet {
        DTypeSet(1 << dtype as u16)
    }

    /// The dtypes of one kind.
    pub const fn of_kind(kind: Kind) -> DTypeSet {
        let mut bits = 0;
        let mut i = 0;
        while i < ROWS.len() {
            if ROWS[i].kind as u8 == kind as u8 {
                bits |= 1 << i;
            }
            i += 1;
        }
        DTypeSet(bits)
    }

    /// The dtypes in either set.
    pub const fn union(self, other: DTypeSet) -> DTypeSet {
        DTypeSet(self.0 | other.0)
    }

    /// The dtypes in both sets.
    pub const fn intersection(self, other: DTypeSet) -> DTypeSet {
        DTypeSet(self.0 & other.0)
    }

    /// The dtypes of this set that are not in the other.
    pub const fn difference(self, other: DTypeSet) -> DTypeSet {
        DTypeSet(self.0 & !other.0)
    }

    /// Number of members.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns `true` if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns `true` if `dtype` is in the set.
    pub const fn contains(self, dtype: DType) -> bool {
        self.0 >> dtype as u16 & 1 == 1
    }

    /// The members, in table order.
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.into_iter().filter(move |&d| self.contains(d))
    }

    /// The members as an array of length `N`. A constant with another `N` does not compile.
    pub(super) const fn to_array<const N: usize>(self) -> [DType; N] {
        let mut members = [DType::Bool; N];
        let (mut next, mut i) = (0, 0);
        while i < ROWS.len() {
            if self.contains(ROWS[i].dtype) {
                members[next] = ROWS[i].dtype;
                next += 1;
            }
            i += 1;
        }
        members
    }
}

/// Returns `true` if `dtype` is of a kind or of one of several: the Array API's
/// [`isdtype`](https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.isdtype.html).
///
/// A kind is a class, a dtype, or a union of both. `parse` reads the names of classes.
///
/// ```
/// use ndjit_ir::dtype::isdtype;
/// use ndjit_ir::{DType, DTypeSet};
///
/// assert!(isdtype(DType::U8, DTypeSet::INT));
/// assert!(isdtype(DType::F32, DTypeSet::SIGNED | DType::F32));
/// assert!(!isdtype(DType::Bool, "numeric".parse::<DTypeSet>()?));
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
pub fn isdtype(dtype: DType, kind: impl Into<DTypeSet>) -> bool {
    kind.into().contains(dtype)
}

impl From<DType> for DTypeSet {
    fn from(dtype: DType) -> DTypeSet {
        DTypeSet(1 << dtype as u16)
    }
}

impl<T: Into<DTypeSet>, const N: usize> From<[T; N]> for DTypeSet {
    fn from(parts: [T; N]) -> DTypeSet {
        parts.into_iter().map(Into::into).fold(DTypeSet::EMPTY, DTypeSet::union)
    }
}

impl FromIterator<DType> for DTypeSet {
    fn from_iter<I: IntoIterator<Item = DType>>(dtypes: I) -> DTypeSet {
        dtypes.into_iter().map(DTypeSet::from).fold(DTypeSet::EMPTY, DTypeSet::union)
    }
}

impl<T: Into<DTypeSet>> BitOr<T> for DTypeSet {
    type Output = DTypeSet;

    fn bitor(self, other: T) -> DTypeSet {
        self.union(other.into())
    }
}

impl<T: Into<DTypeSet>> BitOr<T> for DType {
    type Output = DTypeSet;

    fn bitor(self, other: T) -> DTypeSet {
        DTypeSet::from(self) | other
    }
}

impl fmt::Display for DTypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, dtype) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            f.write_str(dtype.name())?;
        }
        Ok(())
    }
}

impl fmt::Debug for DTypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}
