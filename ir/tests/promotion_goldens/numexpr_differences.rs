//! Deliberate differences of functions from NumExpr's.

use crate::op_differences::COMPARISONS;
use crate::op_outcome::*;
use ndjit_ir::{DType, Kind};

const NUMEXPR: &[&str] = &["numexpr"];

/// All of them; the first match is a cell's reason.
pub const DIFFERENCES: &[Difference] = &[
    Difference {
        libraries: NUMEXPR,
        calls: &[],
        cells: |o| o.operands.iter().all(|ty| ty.is_weak()),
        ours: of_defaults,
        reason: "NumExpr leaves functions of numbers alone to Python and NumPy; here they are those of arrays of i32, f64 and c128",
    },
    Difference {
        libraries: NUMEXPR,
        calls: &["floor_divide", "bitwise_and", "bitwise_or", "bitwise_xor"],
        cells: |o| o.other() && o.operands[0].is_weak(),
        ours: of_defaults,
        reason: "NumExpr has no `//`, `&`, `|` and `^` with a number on the left, for which Python finds NumPy's",
    },
    Difference {
        libraries: NUMEXPR,
        calls: &["pow"],
        cells: |o| o.other() && o.operands[1].is_weak(),
        ours: number,
        reason: "NumExpr replaces powers to 1 and 1.0 by their base, by value",
    },
    Difference {
        libraries: NUMEXPR,
        calls: COMPARISONS,
        cells: |o| o.refused() && o.has_kind(Kind::Complex),
        ours: of_defaults,
        reason: "NumExpr does not order complex numbers",
    },
    Difference {
        libraries: NUMEXPR,
        calls: &["min", "max"],
        cells: |o| o.refused() && !o.has_kind(Kind::Complex),
        ours: of_defaults,
        reason: "NumExpr's min and max fail on bool and integers of 32 bits",
    },
    Difference {
        libraries: NUMEXPR,
        calls: &["where"],
        cells: |o| o.refused() && o.operands[0] != DType::Bool.into(),
        ours: of_defaults,
        reason: "NumExpr's condition is a bool; here nonzero is true under every policy",
    },
    Difference {
        libraries: NUMEXPR,
        calls: &["abs"],
        cells: |o| o.other() && o.has_kind(Kind::Complex),
        ours: |_| Some(DType::F64.into()),
        reason: "NumExpr's modulus is a complex number with the imaginary part 0; here it is real",
    },
];
