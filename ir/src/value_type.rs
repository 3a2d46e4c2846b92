//! Types of values before commit: a dtype, or one of three weak types, which have a kind but no width.

use crate::dtype::{DType, Kind};
use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A weak type: a kind of numbers without a width. Bare Rust numbers are weak, and so are results of only weak operands.
/// Booleans are always strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Weak {
    /// `i*`: some integer.
    Int,
    /// `f*`: some float.
    Float,
    /// `c*`: some complex number.
    Complex,
}

impl Weak {
    /// All weak types.
    pub const ALL: [Weak; 3] = [Weak::Int, Weak::Float, Weak::Complex];

    /// The name in IR text: `i*`, `f*`, `c*`.
    pub const fn name(self) -> &'static str {
        match self {
            Weak::Int => "i*",
            Weak::Float => "f*",
            Weak::Complex => "c*",
        }
    }

    /// The kind of numbers.
    pub const fn kind(self) -> Kind {
        match self {
            Weak::Int => Kind::Int,
            Weak::Float => Kind::Float,
            Weak::Complex => Kind::Complex,
        }
    }

    /// Returns `true` if a number of this kind promotes to the dtype without an explicit cast: the dtype is of this kind or a
    /// later one. An integer must also be in range.
    pub const fn promotes_to(self, dtype: DType) -> bool {
        match (self, dtype.kind()) {
            (_, Kind::Bool) => false,
            (Weak::Int, Kind::UInt | Kind::Int | Kind::Float | Kind::Complex) => true,
            (Weak::Float, Kind::Float | Kind::Complex) | (Weak::Complex, Kind::Complex) => true,
            (Weak::Float, Kind::UInt | Kind::Int) | (Weak::Complex, Kind::UInt | Kind::Int | Kind::Float) => false,
        }
    }
}

/// The type of a value in a traced graph: a dtype, or a weak type. A value's weakness never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueType {
    /// A kind without a width.
    Weak(Weak),
    /// A dtype.
    Strong(DType),
}

impl ValueType {
    /// All 18 lattice points, in the order of the promotion tables: dtypes, then weak types.
    pub const ALL: [ValueType; 18] = {
        let mut all = [ValueType::Strong(DType::Bool); 18];
        let mut i = 0;
        while i < 15 {
            all[i] = ValueType::Strong(DType::ALL[i]);
            i += 1;
        }
        while i < 18 {
            all[i] = ValueType::Weak(Weak::ALL[i - 15]);
            i += 1;
        }
        all
    };

    /// Index in [`ValueType::ALL`].
    pub const fn index(self) -> usize {
        match self {
            ValueType::Strong(d) => d as usize,
            ValueType::Weak(w) => 15 + w as usize,
        }
    }

    /// The name in IR text: a dtype's short name, or `i*`, `f*`, `c*`.
    pub const fn name(self) -> &'static str {
        match self {
            ValueType::Weak(w) => w.name(),
            ValueType::Strong(d) => d.name(),
        }
    }

    /// The kind of numbers.
    pub const fn kind(self) -> Kind {
        match self {
            ValueType::Weak(w) => w.kind(),
            ValueType::Strong(d) => d.kind(),
        }
    }

    /// Returns `true` if this is a weak type.
    pub const fn is_weak(self) -> bool {
        matches!(self, ValueType::Weak(_))
    }
}

impl From<DType> for ValueType {
    fn from(dtype: DType) -> ValueType {
        ValueType::Strong(dtype)
    }
}

impl From<Weak> for ValueType {
    fn from(weak: Weak) -> ValueType {
        ValueType::Weak(weak)
    }
}

impl fmt::Display for Weak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ValueType {
    type Err = Error;

    /// Reads `i*`, `f*`, `c*`, or a dtype's short or long name.
    ///
    /// # Errors
    /// As for [`DType`].
    fn from_str(text: &str) -> Result<ValueType> {
        match Weak::ALL.into_iter().find(|weak| weak.name() == text) {
            Some(weak) => Ok(weak.into()),
            None => text.parse().map(ValueType::Strong).map_err(|e: Error| e.fact("weak types: i* f* c*")),
        }
    }
}
