//! Elementwise ops. [The table](crate::op_table) has their properties; this module derives the enum from it and defines a row's
//! fields.

mod table;

use crate::dtype::{DType, DTypeSet};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The promotion of an op's operands, before the policy resolves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeRule {
    /// The join of all operands.
    Join,
    /// The join; bool becomes the default integer.
    Number,
    /// The join; bool and integers become floats.
    Inexact,
    /// The join; bool and integers become floats, as for true division (some systems use other floats there).
    TrueDivide,
    /// Each operand becomes bool (nonzero is true).
    Logical,
    /// The first becomes bool; the join of the others.
    Select,
    /// The first becomes a float; the second is an integer and does not take part in the join.
    Ldexp,
    /// The first becomes a number; the second is an integer and does not take part in the join.
    Shift,
}

impl TypeRule {
    /// The operands that are joined, of `count`: all except a leading condition, and a trailing exponent or count.
    pub fn joined(self, count: usize) -> Range<usize> {
        match self {
            TypeRule::Select => 1.min(count)..count,
            TypeRule::Ldexp | TypeRule::Shift => 0..1.min(count),
            TypeRule::Join | TypeRule::Number | TypeRule::Inexact | TypeRule::TrueDivide | TypeRule::Logical => {
                0..count
            }
        }
    }

    /// The rule for only the [joined](Self::joined) operands.
    pub const fn of_joined(self) -> TypeRule {
        match self {
            TypeRule::Select => TypeRule::Join,
            TypeRule::Ldexp => TypeRule::Inexact,
            TypeRule::Shift => TypeRule::Number,
            other => other,
        }
    }
}

/// The result dtype of an op, from the dtype it computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultRule {
    /// The computing dtype.
    Same,
    /// Bool.
    Bool,
    /// The dtype of the real part.
    Real,
    /// The complex dtype with parts of the computing dtype.
    Complex,
    /// `i32`.
    Int32,
}

/// The largest error of an op over all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accuracy {
    /// Correctly rounded for real dtypes.
    Exact,
    /// At most this many units in the last place for real dtypes; the row's documentation covers complex ones.
    Ulp(u32),
}

/// One row of the op table.
#[derive(Clone, Copy, Debug)]
pub struct OpRow {
    /// The op this row describes.
    pub op: Op,
    /// Name in IR text, after the Array API.
    pub name: &'static str,
    /// Names of the operands.
    pub operands: &'static [&'static str],
    /// The promotion of the operands.
    pub rule: TypeRule,
    /// The dtypes the op computes in.
    pub domain: DTypeSet,
    /// Result dtype from computing dtype.
    pub result: ResultRule,
    /// Largest error.
    pub accuracy: Accuracy,
    /// `commutative`, `idempotent`, `involution`.
    pub laws: &'static [&'static str],
    /// The documentation.
    pub doc: &'static str,
    /// Arrays of operands, as in Rust, and the result as it is printed.
    pub example: (&'static [&'static str], &'static str),
    /// The [opset](crate::opset) that introduced it.
    pub since: u16,
}

macro_rules! derive_ops {
    ($($variant:ident $name:ident($($operand:ident)*) $rule:ident $($domain:ident)|+ $result:ident
        $accuracy:ident $(($ulp:literal))? [$($law:ident)*] $doc:literal ($($example:literal),*) $shown:literal $(since $since:literal)?;)*) => {
        /// An elementwise op; its table [row](Op::row) has its properties.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $(#[doc = $doc] $variant,)* }

        static ROWS: &[OpRow] = &[$(OpRow {
            op: Op::$variant, name: text_name(stringify!($name)), operands: &[$(stringify!($operand)),*], rule: TypeRule::$rule,
            domain: DTypeSet::EMPTY$(.union(DTypeSet::$domain))*, result: ResultRule::$result,
            accuracy: Accuracy::$accuracy $(($ulp))?, laws: &[$(stringify!($law)),*], doc: $doc,
            example: (&[$($example),*], $shown), since: since(&[$($since)?]),
        }),*];

        impl Op {
            /// All ops, in table order.
            pub const ALL: [Op; ROWS.len()] = [$(Op::$variant),*];
        }
    };
}

/// The opset of a row: the first one, unless the row gives another.
pub(crate) const fn since(given: &[u16]) -> u16 {
    if let [since] = given { *since } else { 1 }
}

/// `where_` in Rust is `where` in text.
const fn text_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        b"where_" => "where",
        _ => name,
    }
}

crate::op_table!(derive_ops);

impl Op {
    /// This op's table row.
    pub const fn row(self) -> &'static OpRow {
        &ROWS[self as usize]
    }

    /// Name in IR text.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The number of operands.
    pub const fn arity(self) -> usize {
        self.row().operands.len()
    }

    /// Returns `true` if rewrites may use the law `name`.
    pub fn has_law(self, name: &str) -> bool {
        self.row().laws.contains(&name)
    }

    /// The operands that are joined: all except a condition, an exponent or a count.
    pub fn joined(self) -> Range<usize> {
        self.row().rule.joined(self.arity())
    }

    /// The dtype of operand `index` when the op computes in `dtype`. An exponent is cast to a float, which is exact for all
    /// effective exponents; larger ones saturate instead of wrapping. A count is cast to `i32`: a count that wraps there is a
    /// multiple of every width.
    pub fn operand_dtype(self, index: usize, dtype: DType) -> DType {
        match self.row().rule {
            TypeRule::Select if index == 0 => DType::Bool,
            TypeRule::Ldexp if index == 1 && dtype.is_half() => DType::F32,
            TypeRule::Shift if index == 1 => DType::I32,
            TypeRule::Join
            | TypeRule::Number
            | TypeRule::Inexact
            | TypeRule::TrueDivide
            | TypeRule::Logical
            | TypeRule::Select
            | TypeRule::Ldexp
            | TypeRule::Shift => dtype,
        }
    }

    /// The dtype of the result when the op computes in `dtype`.
    pub fn result_dtype(self, dtype: DType) -> DType {
        match self.row().result {
            ResultRule::Same => dtype,
            ResultRule::Bool => DType::Bool,
            ResultRule::Real => dtype.real(),
            ResultRule::Complex => dtype.complex(),
            ResultRule::Int32 => DType::I32,
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Op {
    type Err = ();

    fn from_str(text: &str) -> Result<Op, ()> {
        ROWS.iter().find(|row| row.name == text).map(|row| row.op).ok_or(())
    }
}
