//! Reductions: what makes one value of all elements along some axes; and scans: what makes one of all elements up to each, along
//! one axis; and what sorts along one axis. The facts stand in [the table](crate::reduction_table); [`AxisSet`] says along which axes,
//! [`fold`] and [`scan`] in which order: one that depends on the logical shape alone, so that neither threads nor vectors nor fusion
//! change a bit. [`sorted`] says which elements come first.
//!
//! Some reductions, and all scans, [combine](Reduction::combine) elements by an op; the others are made of those when types are committed.
//! How dtypes follow is a policy's to say ([`Policy::resolve_reduction`](crate::Policy::resolve_reduction)).

mod order;
mod sorting;
mod table;

pub use crate::axes::{AxisSet, MAX_RANK};
pub use order::{BLOCK, LANES, fold, scan};
pub use sorting::{compare, sorted};

use crate::dtype::DType;
use crate::graph::Type;
use crate::literal::Literal;
use crate::op::Op;
use crate::promotion::Policy;
use crate::value_type::ValueType;
use std::fmt;
use std::str::FromStr;

/// How the type of a reduction's result follows from its operand's, before the policy says the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReductionRule {
    /// The policy's rule for sums: small integers widen in most systems.
    Sum,
    /// The policy's rule for products.
    Product,
    /// The policy's rule for means: integers become floats in most systems.
    Mean,
    /// The policy's rule for variances, then the real part's dtype.
    Variance,
    /// The policy's rule for inexact functions.
    Exponential,
    /// As the variance's.
    Norm,
    /// The operand's dtype.
    Same,
    /// Bool.
    Bool,
    /// The policy's dtype of indices.
    Index,
}

/// One row of a table of functions along axes.
#[derive(Clone, Copy, Debug)]
pub struct ReductionRow {
    /// Name, after the Array API.
    pub name: &'static str,
    /// Names of the operands: the array, and a number that may be left out.
    pub operands: &'static [&'static str],
    /// How the result's type follows.
    pub rule: ReductionRule,
    /// What it does, for people.
    pub doc: &'static str,
}

impl ReductionRow {
    /// Returns `true` if users may ask for a dtype of the result.
    pub const fn takes_dtype(&self) -> bool {
        !matches!(self.rule, ReductionRule::Same | ReductionRule::Bool)
    }
}

macro_rules! functions {
    ($(#[$about:meta])* $table:ident {
        $($variant:ident $name:ident($($of:ident)*) $rule:ident $doc:literal;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $table { $(#[doc = $doc] $variant,)* }

        impl $table {
            /// All of them, in table order.
            pub const ALL: [$table; [$($table::$variant),*].len()] = [$($table::$variant),*];

            /// Its table row.
            pub const fn row(self) -> &'static ReductionRow {
                static ROWS: &[ReductionRow] = &[$(ReductionRow {
                    name: stringify!($name), operands: &[$(stringify!($of)),*], rule: ReductionRule::$rule, doc: $doc,
                }),*];
                &ROWS[self as usize]
            }

            /// Name in text.
            pub const fn name(self) -> &'static str {
                self.row().name
            }

            /// Returns `true` if users may ask for a dtype of the result.
            pub const fn takes_dtype(self) -> bool {
                self.row().takes_dtype()
            }
        }

        impl From<$table> for AxisFunction {
            fn from(function: $table) -> AxisFunction {
                AxisFunction::$table(function)
            }
        }

        impl TryFrom<AxisFunction> for $table {
            /// The function of another table.
            type Error = AxisFunction;

            fn try_from(function: AxisFunction) -> Result<$table, AxisFunction> {
                if let AxisFunction::$table(own) = function { Ok(own) } else { Err(function) }
            }
        }

        impl fmt::Display for $table {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $table {
            type Err = ();

            fn from_str(text: &str) -> Result<$table, ()> {
                $table::ALL.into_iter().find(|function| function.name() == text).ok_or(())
            }
        }
    };
}

macro_rules! derive_functions {
    (reductions { $($reductions:tt)* } scans { $($scans:tt)* } sorts { $($sorts:tt)* }) => {
        functions! {
            /// A reduction: one value of all elements along some axes. Facts about each are in its table [row](Reduction::row).
            Reduction { $($reductions)* }
        }
        functions! {
            /// A scan: at each index one value of all elements up to it along an axis. Facts about each are in its table [row](Scan::row).
            Scan { $($scans)* }
        }
        functions! {
            /// What sorts, in the order of [`sorted`]: the elements along an axis in order, or the indices that order them. Facts about each
            /// are in its table [row](Sort::row).
            Sort { $($sorts)* }
        }
    };
}

crate::reduction_table!(derive_functions);

/// A function along axes, of one of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AxisFunction {
    /// One value of all elements along some axes.
    Reduction(Reduction),
    /// One of all up to each along an axis.
    Scan(Scan),
    /// The same in order along an axis, or the indices that order them.
    Sort(Sort),
}

impl AxisFunction {
    /// All of them, in the order of the tables.
    pub fn all() -> impl Iterator<Item = AxisFunction> {
        let reductions = Reduction::ALL.into_iter().map(AxisFunction::from);
        reductions
            .chain(Scan::ALL.into_iter().map(AxisFunction::from))
            .chain(Sort::ALL.into_iter().map(AxisFunction::from))
    }

    /// Its table row.
    pub const fn row(self) -> &'static ReductionRow {
        match self {
            AxisFunction::Reduction(reduction) => reduction.row(),
            AxisFunction::Scan(scan) => scan.row(),
            AxisFunction::Sort(sort) => sort.row(),
        }
    }

    /// Name in text.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns `true` if users may ask for a dtype of the result.
    pub const fn takes_dtype(self) -> bool {
        self.row().takes_dtype()
    }

    /// The op that makes one value of two; `None` of what sorts, and of a reduction that is not elementary.
    pub const fn combine(self) -> Option<Op> {
        match self {
            AxisFunction::Reduction(reduction) => reduction.combine(),
            AxisFunction::Scan(scan) => Some(scan.combine()),
            AxisFunction::Sort(_) => None,
        }
    }

    /// Returns `true` if it accumulates values of this dtype as it stands, or sorts them: other reductions are made of those that do when types are
    /// committed.
    pub fn accumulates(self, dtype: DType) -> bool {
        matches!(self, AxisFunction::Sort(_)) || self.combine().is_some_and(|op| accumulates(op, dtype))
    }

    /// Returns `true` if it gives values of dtype `result` of elements of dtype `element`, as it stands after commit: the same, or indices.
    pub fn stores(self, element: DType, result: DType) -> bool {
        match self {
            AxisFunction::Sort(Sort::ArgSort) => matches!(result, DType::I32 | DType::I64),
            _ => element == result,
        }
    }
}

impl fmt::Display for AxisFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for AxisFunction {
    type Err = ();

    fn from_str(text: &str) -> Result<AxisFunction, ()> {
        AxisFunction::all().find(|function| function.name() == text).ok_or(())
    }
}

impl Reduction {
    /// The op that makes one value of two, if the reduction is elementary. It computes in the operand's dtype, which is the result's.
    pub const fn combine(self) -> Option<Op> {
        match self {
            Reduction::Sum => Some(Op::Add),
            Reduction::Prod => Some(Op::Multiply),
            Reduction::Max => Some(Op::Maximum),
            Reduction::Min => Some(Op::Minimum),
            Reduction::Any => Some(Op::LogicalOr),
            Reduction::All => Some(Op::LogicalAnd),
            Reduction::Mean
            | Reduction::Var
            | Reduction::Std
            | Reduction::Ptp
            | Reduction::LogSumExp
            | Reduction::Norm
            | Reduction::ArgMax
            | Reduction::ArgMin
            | Reduction::CountNonzero => None,
        }
    }

    /// Returns `true` if it is elementary and accumulates values of this dtype.
    pub fn accumulates(self, dtype: DType) -> bool {
        self.combine().is_some_and(|op| accumulates(op, dtype))
    }

    /// Returns `true` if a reduction of no elements is an error.
    pub const fn needs_elements(self) -> bool {
        matches!(self, Reduction::Max | Reduction::Min | Reduction::ArgMax | Reduction::ArgMin | Reduction::Ptp)
    }

    /// The result of an elementary reduction of no elements; `None` if there is none.
    pub fn of_nothing(self) -> Option<Literal> {
        of_nothing(self.combine()?)
    }

    /// The [identity] of an elementary reduction.
    pub fn identity(self, dtype: DType) -> Option<Vec<u64>> {
        identity(self.combine()?, dtype)
    }
}

impl Scan {
    /// The op that makes one value of two. It computes in the operand's dtype, which is the result's.
    pub const fn combine(self) -> Op {
        match self {
            Scan::CumulativeSum => Op::Add,
            Scan::CumulativeProd => Op::Multiply,
            Scan::CumMax => Op::Maximum,
            Scan::CumMin => Op::Minimum,
        }
    }

    /// Returns `true` if it accumulates values of this dtype.
    pub fn accumulates(self, dtype: DType) -> bool {
        accumulates(self.combine(), dtype)
    }

    /// What it may begin with: the result of no elements; `None` if there is none.
    pub fn of_nothing(self) -> Option<Literal> {
        of_nothing(self.combine())
    }

    /// Its [identity].
    pub fn identity(self, dtype: DType) -> Option<Vec<u64>> {
        identity(self.combine(), dtype)
    }
}

/// Returns `true` if an op accumulates values of a dtype. Sums and products of halves are accumulated in `f32` and rounded once.
fn accumulates(op: Op, dtype: DType) -> bool {
    op.row().domain.contains(dtype) && !(matches!(op, Op::Add | Op::Multiply) && dtype.is_half())
}

fn of_nothing(op: Op) -> Option<Literal> {
    match op {
        Op::Add | Op::LogicalOr => Some(Literal::weak(false)),
        Op::Multiply | Op::LogicalAnd => Some(Literal::weak(true)),
        _ => None,
    }
}

/// The bits of the registers of a value that an op of reductions combines with every other, on the left, to that other, bit for bit but for
/// NaNs: what lanes may begin with. `None` if there is none in this dtype, as of products of complex numbers: `(1 + 0i)(inf + 0i)` has a NaN.
pub fn identity(op: Op, dtype: DType) -> Option<Vec<u64>> {
    let of = |literal: Literal| literal.to_repr(dtype).ok().map(|bits| bits.to_vec());
    match op {
        // -0 + x = x for both zeros.
        Op::Add if dtype.is_float() => of(Literal::weak(-0.0)),
        Op::Add if dtype.is_complex() => of(Literal::weak(num_complex::Complex::new(-0.0, -0.0))),
        Op::Multiply if dtype.is_complex() => None,
        Op::Maximum => extreme(false, dtype),
        Op::Minimum => extreme(true, dtype),
        _ => of(of_nothing(op)?),
    }
}

/// The least value of a dtype, or the greatest.
fn extreme(greatest: bool, dtype: DType) -> Option<Vec<u64>> {
    let infinity = if greatest { f64::INFINITY } else { f64::NEG_INFINITY };
    let literal = match dtype.int_range() {
        _ if dtype == DType::Bool => Literal::weak(greatest),
        Some((least, most)) => Literal::weak(if greatest { most } else { least }),
        None if dtype.is_complex() => Literal::weak(num_complex::Complex::new(infinity, infinity)),
        None => Literal::weak(infinity),
    };
    literal.to_repr(dtype).ok().map(|bits| bits.to_vec())
}

/// How the type of a result is asked for: what a traced graph notes of a function along axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TypeRequest {
    /// The dtype that is asked for.
    pub dtype: Option<DType>,
    /// The policy it is made under.
    pub policy: Policy,
}

/// A reduction as a node of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduce<T: Type = ValueType> {
    /// What is done.
    pub reduction: Reduction,
    /// Along which axes of the operand.
    pub axes: AxisSet,
    /// True if those axes stay, with extent 1.
    pub keepdims: bool,
    /// True if it is the sum of a contraction: where it is one of products of two arrays, its order may be that of a multiplication of
    /// matrices, which is the same in every run on a machine, and not [`fold`]'s. Of a sum alone.
    pub contracts: bool,
    /// How its type is asked for.
    pub request: T::Traced<TypeRequest>,
}

impl<T: Type> Reduce<T> {
    /// A reduction that is no contraction, with nothing asked for.
    pub fn new(reduction: Reduction, axes: AxisSet, keepdims: bool) -> Reduce<T> {
        Reduce { reduction, axes, keepdims, contracts: false, request: T::Traced::default() }
    }
}
