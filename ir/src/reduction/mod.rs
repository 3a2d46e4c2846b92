//! Reductions: what makes one value of all elements along some axes; and scans: what makes one of all elements up to each, along
//! one axis; and what sorts along one axis. The facts stand in [the table](crate::reduction_table); [`AxisSet`] says along which axes,
//! [`fold`] and [`scan`] in which order: one that depends on the logical shape alone, so that neither threads nor vectors nor fusion
//! change a bit. [`sorted`] says which elements come first.
//!
//! Some reductions [combine](Reduction::combine) elements by an op; the others are made of those when types are committed.
//! How dtypes follow is a policy's to say ([`Policy::resolve_reduction`](crate::Policy::resolve_reduction)).

mod order;
mod sorting;
mod table;

pub use crate::axes::{AxisSet, MAX_RANK};
pub use order::{BLOCK, LANES, fold, scan};
pub use sorting::{compare, sorted};

use crate::dtype::DType;
use crate::literal::Literal;
use crate::op::Op;
use crate::promotion::Policy;
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

/// The tables: what becomes of the elements along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReductionKind {
    /// One value of all of them.
    Reduction,
    /// One of all up to each.
    Scan,
    /// The same in order, or the indices that order them: see [`sorted`].
    Sort,
}

/// One row of the reduction table.
#[derive(Clone, Copy, Debug)]
pub struct ReductionRow {
    /// The reduction this row describes.
    pub reduction: Reduction,
    /// Name, after the Array API.
    pub name: &'static str,
    /// Names of the operands: the array, and a number that may be left out.
    pub operands: &'static [&'static str],
    /// How the result's type follows.
    pub rule: ReductionRule,
    /// Which of the tables it is in.
    pub kind: ReductionKind,
    /// What it does, for people.
    pub doc: &'static str,
}

macro_rules! derive_reductions {
    (reductions { $($reduction:ident $reduces:ident($($of:ident)*) $by:ident $about:literal;)* }
     scans { $($scan:ident $scans:ident($($over:ident)*) $rule:ident $doc:literal;)* }
     sorts { $($sort:ident $sorts:ident($($sorted:ident)*) $as:ident $says:literal;)* }) => {
        /// A reduction, a scan, or what sorts; facts about each are in its table [row](Reduction::row).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Reduction { $(#[doc = $about] $reduction,)* $(#[doc = $doc] $scan,)* $(#[doc = $says] $sort,)* }

        static ROWS: &[ReductionRow] = &[
            $(ReductionRow {
                reduction: Reduction::$reduction, name: stringify!($reduces), operands: &[$(stringify!($of)),*],
                rule: ReductionRule::$by, kind: ReductionKind::Reduction, doc: $about,
            },)*
            $(ReductionRow {
                reduction: Reduction::$scan, name: stringify!($scans), operands: &[$(stringify!($over)),*],
                rule: ReductionRule::$rule, kind: ReductionKind::Scan, doc: $doc,
            },)*
            $(ReductionRow {
                reduction: Reduction::$sort, name: stringify!($sorts), operands: &[$(stringify!($sorted)),*],
                rule: ReductionRule::$as, kind: ReductionKind::Sort, doc: $says,
            },)*
        ];

        impl Reduction {
            /// All reductions and scans, and what sorts, in table order.
            pub const ALL: [Reduction; ROWS.len()] = [$(Reduction::$reduction,)* $(Reduction::$scan,)* $(Reduction::$sort,)*];
        }
    };
}

crate::reduction_table!(derive_reductions);

impl Reduction {
    /// This reduction's table row.
    pub const fn row(self) -> &'static ReductionRow {
        &ROWS[self as usize]
    }

    /// Name in text.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether the result is as long as the operand: whether it is a scan, or sorts.
    pub const fn scans(self) -> bool {
        matches!(self.kind(), ReductionKind::Scan | ReductionKind::Sort)
    }

    /// Whether it sorts, in the order of [`sorted`].
    pub const fn sorts(self) -> bool {
        matches!(self.kind(), ReductionKind::Sort)
    }

    /// Which of the tables it is in.
    pub const fn kind(self) -> ReductionKind {
        self.row().kind
    }

    /// The op that makes one value of two, if the reduction is elementary, as every scan is that does not sort. It computes in the operand's dtype,
    /// which is the result's.
    pub const fn combine(self) -> Option<Op> {
        match self {
            Reduction::Sum | Reduction::CumulativeSum => Some(Op::Add),
            Reduction::Prod | Reduction::CumulativeProd => Some(Op::Multiply),
            Reduction::Max | Reduction::CumMax => Some(Op::Maximum),
            Reduction::Min | Reduction::CumMin => Some(Op::Minimum),
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
            | Reduction::CountNonzero
            | Reduction::Sort
            | Reduction::ArgSort => None,
        }
    }

    /// Whether an elementary reduction accumulates values of this dtype, or it sorts them. Sums and products of halves are
    /// accumulated in `f32` and rounded once.
    pub fn accumulates(self, dtype: DType) -> bool {
        let rounds = matches!(self.row().rule, ReductionRule::Sum | ReductionRule::Product);
        self.kind() == ReductionKind::Sort
            || self.combine().is_some_and(|op| op.row().domain.contains(dtype)) && !(rounds && dtype.is_half())
    }

    /// Whether an elementary reduction, or what sorts, gives `result` of values of `element`: the same dtype, or that of indices.
    pub fn stores(self, element: DType, result: DType) -> bool {
        match self {
            Reduction::ArgSort => matches!(result, DType::I32 | DType::I64),
            _ => element == result,
        }
    }

    /// Whether a reduction of no elements is an error.
    pub const fn needs_elements(self) -> bool {
        matches!(self, Reduction::Max | Reduction::Min | Reduction::ArgMax | Reduction::ArgMin | Reduction::Ptp)
    }

    /// Whether users may ask for a dtype of the result.
    pub const fn takes_dtype(self) -> bool {
        !matches!(self.row().rule, ReductionRule::Same | ReductionRule::Bool)
    }

    /// The result of an elementary reduction of no elements, what a scan may begin with; `None` if there is none.
    pub fn of_nothing(self) -> Option<Literal> {
        match self {
            Reduction::Sum | Reduction::CumulativeSum | Reduction::Any => Some(Literal::weak(false)),
            Reduction::Prod | Reduction::CumulativeProd | Reduction::All => Some(Literal::weak(true)),
            Reduction::Max
            | Reduction::Min
            | Reduction::CumMax
            | Reduction::CumMin
            | Reduction::Mean
            | Reduction::Var
            | Reduction::Std
            | Reduction::Ptp
            | Reduction::LogSumExp
            | Reduction::Norm
            | Reduction::ArgMax
            | Reduction::ArgMin
            | Reduction::CountNonzero
            | Reduction::Sort
            | Reduction::ArgSort => None,
        }
    }

    /// The bits of the registers of a value that combines with every other, on the left, to that other, bit for bit but for
    /// NaNs: what lanes may begin with. `None` if the reduction has none in this dtype, as products of complex numbers have
    /// not: `(1 + 0i)(inf + 0i)` has a NaN.
    pub fn identity(self, dtype: DType) -> Option<Vec<u64>> {
        let of = |literal: Literal| literal.to_repr(dtype).ok().map(|bits| bits.to_vec());
        match self.combine()? {
            // -0 + x = x for both zeros.
            Op::Add if dtype.is_float() => of(Literal::weak(-0.0)),
            Op::Add if dtype.is_complex() => of(Literal::weak(num_complex::Complex::new(-0.0, -0.0))),
            Op::Multiply if dtype.is_complex() => None,
            Op::Maximum => extreme(false, dtype),
            Op::Minimum => extreme(true, dtype),
            _ => of(self.of_nothing()?),
        }
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

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Reduction {
    type Err = ();

    fn from_str(text: &str) -> Result<Reduction, ()> {
        ROWS.iter().find(|row| row.name == text).map(|row| row.reduction).ok_or(())
    }
}

/// A scan as a node of a graph, or what sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scan {
    /// What is done: a scan, or what sorts.
    pub reduction: Reduction,
    /// Along which axis of the operand.
    pub axis: u32,
    /// The dtype that was asked for (after commit: none).
    pub dtype: Option<DType>,
    /// The policy it was made under (after commit: the default one).
    pub policy: Policy,
}

impl Scan {
    /// As it stands in typed graphs.
    pub fn typed(reduction: Reduction, axis: u32) -> Scan {
        Scan { reduction, axis, dtype: None, policy: Policy::default() }
    }
}

/// A reduction as a node of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduce {
    /// What is done.
    pub reduction: Reduction,
    /// Along which axes of the operand.
    pub axes: AxisSet,
    /// Whether those axes stay, with extent 1.
    pub keepdims: bool,
    /// Whether it is the sum of a contraction: where it is one of products of two arrays, its order may be that of a multiplication of
    /// matrices, which is the same in every run on a machine, and not [`fold`]'s. Of a sum alone.
    pub contracts: bool,
    /// The dtype that was asked for (after commit: none).
    pub dtype: Option<DType>,
    /// The policy it was made under (after commit: the default one).
    pub policy: Policy,
}

impl Reduce {
    /// As it stands in typed graphs.
    pub fn typed(reduction: Reduction, axes: AxisSet, keepdims: bool) -> Reduce {
        Reduce { reduction, axes, keepdims, contracts: false, dtype: None, policy: Policy::default() }
    }
}
