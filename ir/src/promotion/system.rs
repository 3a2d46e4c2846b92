//! Promotion systems: the rules of policies, as data.
//!
//! A [`System`] is a table of joins over the 18 value types and some named [`Rules`]. The built-in ones are constants
//! in [`systems`](super::systems); users add their own through [`Policy`](super::Policy).

use super::lattice;
use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, ErrorCode, Result};
use crate::op::Op;
use crate::value_type::{ValueType, Weak};

/// The number of value types.
const N: usize = ValueType::ALL.len();
/// The entry of a pair without a common type.
const UNDEFINED: u8 = u8::MAX;

/// For each ordered pair of types their common type, if the system defines one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    entries: [[u8; N]; N],
}

impl Table {
    /// The table without any pair.
    pub const EMPTY: Table = Table { entries: [[UNDEFINED; N]; N] };

    /// Returns the common type of `left` and `right`.
    pub const fn get(&self, left: ValueType, right: ValueType) -> Option<ValueType> {
        match self.entries[left.index()][right.index()] {
            UNDEFINED => None,
            entry => Some(ValueType::ALL[entry as usize]),
        }
    }

    /// Returns the table with the common type of one ordered pair set.
    pub const fn with(mut self, left: ValueType, right: ValueType, join: Option<ValueType>) -> Table {
        self.entries[left.index()][right.index()] = match join {
            Some(ty) => ty.index() as u8,
            None => UNDEFINED,
        };
        self
    }

    /// Creates the table of a function of pairs.
    pub fn from_fn(mut join: impl FnMut(ValueType, ValueType) -> Option<ValueType>) -> Table {
        let mut table = Table::EMPTY;
        for left in ValueType::ALL {
            for right in ValueType::ALL {
                table = table.with(left, right, join(left, right));
            }
        }
        table
    }
}

/// The table of a `const fn(ValueType, ValueType) -> Option<ValueType>`, at compile time; or of a [`JoinUnder`] and
/// defaults.
macro_rules! tabulate {
    ($join:path $(, $defaults:expr)?) => {{
        let mut table = $crate::promotion::system::Table::EMPTY;
        let mut i = 0;
        while i < $crate::value_type::ValueType::ALL.len() {
            let mut j = 0;
            while j < $crate::value_type::ValueType::ALL.len() {
                let (left, right) = ($crate::value_type::ValueType::ALL[i], $crate::value_type::ValueType::ALL[j]);
                table = table.with(left, right, $join($($defaults,)? left, right));
                j += 1;
            }
            i += 1;
        }
        table
    }};
}
pub(super) use tabulate;

/// The default dtypes of weak types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Defaults {
    /// Of weak integers.
    pub int: DType,
    /// Of weak floats.
    pub float: DType,
    /// Of weak complex numbers.
    pub complex: DType,
}

impl Defaults {
    /// `i32`, `f32`, `c64`.
    pub const BITS_32: Defaults = Defaults { int: DType::I32, float: DType::F32, complex: DType::C64 };
    /// `i64`, `f64`, `c128`.
    pub const BITS_64: Defaults = Defaults { int: DType::I64, float: DType::F64, complex: DType::C128 };

    /// Checks that each default is of its kind.
    ///
    /// # Errors
    /// `Promotion`, with the default of the wrong kind.
    pub fn check(self) -> Result<()> {
        let kinds = [
            ("integer", self.int, self.int.is_int(), DType::I64),
            ("float", self.float, self.float.is_float(), DType::F64),
            ("complex", self.complex, self.complex.is_complex(), DType::C128),
        ];
        match kinds.into_iter().find(|(_, _, fits, _)| !fits) {
            None => Ok(()),
            Some((kind, dtype, _, example)) => {
                let headline = format!("defaults: {dtype} cannot be the default {kind} dtype");
                Err(Error::new(ErrorCode::Promotion, headline)
                    .help(format!("choose one of that kind, such as {example}")))
            }
        }
    }

    /// Returns the default dtypes narrowed to a width.
    pub(super) const fn within(self, width: Width) -> Defaults {
        Defaults { int: width.of(self.int), float: width.of(self.float), complex: width.of(self.complex) }
    }

    /// Returns the dtype of a type: its own, or the default of a weak one.
    pub const fn commit(self, ty: ValueType) -> DType {
        match ty {
            ValueType::Strong(dtype) => dtype,
            ValueType::Weak(weak) => self.of(weak),
        }
    }

    /// Returns the default of a kind.
    pub const fn of(self, weak: Weak) -> DType {
        match weak {
            Weak::Int => self.int,
            Weak::Float => self.float,
            Weak::Complex => self.complex,
        }
    }
}

/// The order in which an op's operands are joined. Associative and commutative joins do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Pair by pair from the left.
    Left,
    /// The strong operands from the left, then the weak ones.
    StrongFirst,
    /// The highest kinds first: floats and complex numbers, `c*`, `f*`, integers, `i*`, bool; each from the left. So a
    /// float is joined with each integer, before integers of both signs join in a wider one.
    KindFirst,
}

/// The dtype that bool and integers take in an inexact function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inexact {
    /// `f64` for 64-bit integers, `f32` for others; weak integers become weak floats.
    ByWidth,
    /// The smallest float that holds every value of the integer: `f16` for bool and 8 bits, `f32` for 16, `f64` for
    /// others.
    Smallest,
    /// `f32` for bool and up to 16 bits, `f64` for wider ones.
    SmallestFromF32,
    /// The default float.
    Default,
    /// This dtype.
    To(DType),
    /// Their own dtype: they stay integers.
    Unchanged,
    /// An error.
    Refused,
}

/// The dtype that bool takes in arithmetic on numbers (floor division, remainder, square).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoolNumber {
    /// The default integer.
    Default,
    /// This dtype.
    To(DType),
    /// An error.
    Refused,
}

/// The type of a weak result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WeakResult {
    /// Stays weak.
    Weak,
    /// The default dtype of its kind, strong.
    Default,
}

/// The dtype of a sum or a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulate {
    /// Integers at least as wide as the default integer, with the operand's signedness; bool gives the default integer.
    /// Floats and complex numbers keep their dtype.
    Widen,
    /// Like `Widen`, but bool is an error.
    WidenIntegers,
    /// Every kind at least as wide as its default, with an integer's signedness; bool keeps its dtype.
    WidenAll,
    /// The default integer, unless the operand is wider.
    DefaultInt,
    /// The operand's dtype; bool is an error.
    Same,
    /// The operand's dtype; this one for bool.
    SameBoolTo(DType),
}

/// The dtypes that the system supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// All.
    Any,
    /// 64-bit numbers become 32-bit ones, and 128-bit complex numbers 64-bit ones, for every requested dtype.
    UpTo32,
}

impl Width {
    /// Returns the dtype used for a requested `dtype`.
    pub const fn of(self, dtype: DType) -> DType {
        match (self, dtype) {
            (Width::Any, _) => dtype,
            (Width::UpTo32, DType::U64) => DType::U32,
            (Width::UpTo32, DType::I64) => DType::I32,
            (Width::UpTo32, DType::F64) => DType::F32,
            (Width::UpTo32, DType::C128) => DType::C64,
            (Width::UpTo32, _) => dtype,
        }
    }
}

/// The floor division of floats where an operand is infinite: the one value that a policy decides, since the Array API leaves it
/// to libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloorDivision {
    /// Paired with the remainder, as in Python: `inf // y` is NaN, and `x // inf` is -1 where the signs differ.
    Paired,
    /// `floor(x / y)`, which the Array API prefers: `inf // y` is infinite, and `x // inf` a zero.
    Quotient,
}

/// A system's rules other than the joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The order of more than two operands.
    pub order: Order,
    /// Integers in inexact functions.
    pub inexact: Inexact,
    /// Integers under true division.
    pub quotient: Inexact,
    /// Integers in a mean.
    pub mean: Inexact,
    /// Integers in a variance.
    pub variance: Inexact,
    /// Floor division by or of infinities.
    pub floor: FloorDivision,
    /// Bool in arithmetic.
    pub number: BoolNumber,
    /// Sums.
    pub sum: Accumulate,
    /// Products.
    pub product: Accumulate,
    /// The dtype of indices and counts; `None` for the default integer.
    pub index: Option<DType>,
    /// Weak results.
    pub weak: WeakResult,
    /// Supported widths.
    pub width: Width,
    /// The default dtypes, unless others are set.
    pub defaults: Defaults,
}

/// Types that a system lacks, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The dtypes.
    pub dtypes: DTypeSet,
    /// True if weak types are among them.
    pub weak: bool,
    /// The reason, as a sentence without its full stop.
    pub reason: &'static str,
}

/// The dtype rule of some ops where a system has another for them than for all ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRule {
    /// The ops.
    pub ops: &'static [Op],
    /// The dtype of integers; `None` if they stay.
    pub integers: Option<DType>,
    /// The least dtype of all others.
    pub least: DType,
}

impl OpRule {
    /// Returns the computing dtype for the operands' common one.
    pub(super) const fn of(&self, joined: DType) -> DType {
        match (self.integers, joined.is_int()) {
            (Some(dtype), true) => dtype,
            (None, true) => joined,
            (_, false) => match lattice::join(ValueType::Strong(joined), ValueType::Strong(self.least)) {
                ValueType::Strong(dtype) => dtype,
                ValueType::Weak(_) => joined,
            },
        }
    }
}

/// The common type of two types under given defaults.
pub type JoinUnder = fn(Defaults, ValueType, ValueType) -> Option<ValueType>;

/// A promotion system. Systems are compared by name.
#[derive(Clone, Copy, Debug)]
pub struct System {
    /// The name, as printed and parsed: a word of letters, digits and `_`.
    pub name: &'static str,
    /// The source of its rules.
    pub source: &'static str,
    /// The common type of each pair, under the defaults of `rules`.
    pub joins: Table,
    /// The same under any defaults, for a system where a bare number counts as its default dtype beside other types;
    /// `None` if `joins` does not depend on the defaults.
    pub joins_under: Option<JoinUnder>,
    /// All other rules.
    pub rules: Rules,
    /// Types that it lacks.
    pub lacks: &'static [Lack],
    /// Ops with rules of their own.
    pub ops: &'static [OpRule],
}

impl System {
    /// Returns the reason why the system lacks a type, if known.
    pub fn lack(&self, ty: ValueType) -> Option<&'static str> {
        let lacks = |lack: &&Lack| match ty {
            ValueType::Weak(_) => lack.weak,
            ValueType::Strong(dtype) => lack.dtypes.contains(dtype),
        };
        self.lacks.iter().find(lacks).map(|lack| lack.reason)
    }

    /// Returns the rule that the system has for an op.
    pub fn own_rule(&self, op: Op) -> Option<&OpRule> {
        self.ops.iter().find(|rule| rule.ops.contains(&op))
    }

    /// Returns the dtype that the system uses for a requested `dtype`.
    pub const fn width(&self, dtype: DType) -> DType {
        self.rules.width.of(dtype)
    }
}
