//! Reductions, which make one value of all elements along axes; scans, which make one of all elements up to each along an axis; and
//! sorts along an axis. [The table](crate::reduction_table) has their properties, [`AxisSet`] the axes. [`fold`] and [`scan`] define the
//! order: it depends only on the logical shape, so threads, vectors and fusion do not change a bit. [`sorted`] defines the order of
//! sorted elements.
//!
//! Some reductions, and all scans, [combine](Reduction::combine) elements by an op; commit makes the other reductions of those.
//! Policies determine their dtypes ([`Policy::resolve_reduction`](crate::Policy::resolve_reduction)).

mod order;
mod reduce;
mod sorting;
mod table;

pub use crate::axes::{AxisSet, MAX_RANK};
pub use order::{BLOCK, LANES, fold, scan};
pub use reduce::Reduce;
pub use sorting::{compare, sorted};

use crate::dtype::DType;
use crate::literal::Literal;
use crate::op::{Op, since};
use crate::promotion::Policy;
use std::fmt;
use std::str::FromStr;

/// The promotion of a reduction's result, before the policy resolves it.
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
    /// The variance's rule.
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
    /// Names of the operands: the array, and an optional number.
    pub operands: &'static [&'static str],
    /// The promotion of the result.
    pub rule: ReductionRule,
    /// The documentation.
    pub doc: &'static str,
    /// The [opset](crate::opset) that introduced it.
    pub since: u16,
}

impl ReductionRow {
    /// Returns `true` if the user may request the result's dtype.
    pub const fn takes_dtype(&self) -> bool {
        !matches!(self.rule, ReductionRule::Same | ReductionRule::Bool)
    }
}

macro_rules! functions {
    ($(#[$about:meta])* $table:ident {
        $($variant:ident $name:ident($($of:ident)*) $rule:ident $doc:literal $(since $since:literal)?;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $table { $(#[doc = $doc] $variant,)* }

        impl $table {
            /// All functions, in table order.
            pub const ALL: [$table; [$($table::$variant),*].len()] = [$($table::$variant),*];

            /// The table row.
            pub const fn row(self) -> &'static ReductionRow {
                static ROWS: &[ReductionRow] = &[$(ReductionRow {
                    name: stringify!($name), operands: &[$(stringify!($of)),*], rule: ReductionRule::$rule, doc: $doc,
                    since: since(&[$($since)?]),
                }),*];
                &ROWS[self as usize]
            }

            /// Name in text.
            pub const fn name(self) -> &'static str {
                self.row().name
            }

            /// Returns `true` if the user may request the result's dtype.
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
            /// A function of another table.
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
            /// A reduction: one value of all elements along axes. Its table [row](Reduction::row) has its properties.
            Reduction { $($reductions)* }
        }
        functions! {
            /// A scan: at each index one value of all elements up to it along an axis. Its table [row](Scan::row) has its properties.
            Scan { $($scans)* }
        }
        functions! {
            /// A sort, in the order of [`sorted`]: the sorted elements along an axis, or the indices that sort them. Its table
            /// [row](Sort::row) has its properties.
            Sort { $($sorts)* }
        }
    };
}

crate::reduction_table!(derive_functions);

/// A function along axes, of one of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AxisFunction {
    /// One value of all elements along axes.
    Reduction(Reduction),
    /// One value of all elements up to each along an axis.
    Scan(Scan),
    /// The sorted elements along an axis, or the indices that sort them.
    Sort(Sort),
}

impl AxisFunction {
    /// All functions, in the order of the tables.
    pub fn all() -> impl Iterator<Item = AxisFunction> {
        let reductions = Reduction::ALL.into_iter().map(AxisFunction::from);
        reductions
            .chain(Scan::ALL.into_iter().map(AxisFunction::from))
            .chain(Sort::ALL.into_iter().map(AxisFunction::from))
    }

    /// The table row.
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

    /// Returns `true` if the user may request the result's dtype.
    pub const fn takes_dtype(self) -> bool {
        self.row().takes_dtype()
    }

    /// The op that combines two values; `None` for sorts, and for reductions that are not elementary.
    pub const fn combine(self) -> Option<Op> {
        match self {
            AxisFunction::Reduction(reduction) => reduction.combine(),
            AxisFunction::Scan(scan) => Some(scan.combine()),
            AxisFunction::Sort(_) => None,
        }
    }

    /// Returns `true` if the function accumulates or sorts values of this dtype directly. Commit makes other reductions of those that
    /// do.
    pub fn accumulates(self, dtype: DType) -> bool {
        matches!(self, AxisFunction::Sort(_)) || self.combine().is_some_and(|op| accumulates(op, dtype))
    }

    /// Returns `true` if results of dtype `result` are valid for elements of dtype `element` after commit: the same dtype, or indices.
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
    /// The op that combines two values, if the reduction is elementary. It computes in the operand's dtype, which is the result's.
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

    /// Returns `true` if the reduction is elementary and accumulates values of this dtype.
    pub fn accumulates(self, dtype: DType) -> bool {
        self.combine().is_some_and(|op| accumulates(op, dtype))
    }

    /// Returns `true` if a reduction of no elements is an error.
    pub const fn needs_elements(self) -> bool {
        matches!(self, Reduction::Max | Reduction::Min | Reduction::ArgMax | Reduction::ArgMin | Reduction::Ptp)
    }

    /// The result of an elementary reduction of no elements; `None` if there is none.
    pub fn empty_result(self) -> Option<Literal> {
        empty_result(self.combine()?)
    }

    /// The [identity] of an elementary reduction.
    pub fn identity(self, dtype: DType) -> Option<Vec<u64>> {
        identity(self.combine()?, dtype)
    }
}

impl Scan {
    /// The op that combines two values. It computes in the operand's dtype, which is the result's.
    pub const fn combine(self) -> Op {
        match self {
            Scan::CumulativeSum => Op::Add,
            Scan::CumulativeProd => Op::Multiply,
            Scan::CumMax => Op::Maximum,
            Scan::CumMin => Op::Minimum,
        }
    }

    /// Returns `true` if the scan accumulates values of this dtype.
    pub fn accumulates(self, dtype: DType) -> bool {
        accumulates(self.combine(), dtype)
    }

    /// The initial value: the result of no elements; `None` if there is none.
    pub fn empty_result(self) -> Option<Literal> {
        empty_result(self.combine())
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

fn empty_result(op: Op) -> Option<Literal> {
    match op {
        Op::Add | Op::LogicalOr => Some(Literal::weak(false)),
        Op::Multiply | Op::LogicalAnd => Some(Literal::weak(true)),
        _ => None,
    }
}

/// The register bits of the left identity of an op: combining it with any value gives that value bit for bit, NaNs excepted. Lanes
/// begin with it. `None` if there is none in this dtype, as for complex products: `(1 + 0i)(inf + 0i)` has a NaN.
pub fn identity(op: Op, dtype: DType) -> Option<Vec<u64>> {
    let of = |literal: Literal| literal.to_repr(dtype).ok().map(|bits| bits.to_vec());
    match op {
        // -0 + x = x for both zeros.
        Op::Add if dtype.is_float() => of(Literal::weak(-0.0)),
        Op::Add if dtype.is_complex() => of(Literal::weak(num_complex::Complex::new(-0.0, -0.0))),
        Op::Multiply if dtype.is_complex() => None,
        Op::Maximum => extreme(false, dtype),
        Op::Minimum => extreme(true, dtype),
        _ => of(empty_result(op)?),
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

/// The requested type of a function along axes, in a traced graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TypeRequest {
    /// The requested dtype.
    pub dtype: Option<DType>,
    /// The policy.
    pub policy: Policy,
}
