//! The Array API standard's system: undefined joins are refused.
//!
//! Source: <https://data-apis.org/array-api/2025.12/API_specification/type_promotion.html>.

use crate::dtype::{DType, DTypeSet, Kind};
use crate::promotion::lattice;
use crate::promotion::system::{
    Accumulate, BoolNumber, Defaults, FloorDivision, Inexact, Lack, Order, Rules, System, WeakResult, Width, tabulate,
};
use crate::value_type::ValueType::{self, Strong};
use crate::value_type::Weak;

/// The Array API standard, as array-api-strict applies it.
pub const ARRAY_API: System = System {
    name: "array_api",
    source: "https://data-apis.org/array-api/2025.12/API_specification/type_promotion.html",
    joins: tabulate!(join),
    joins_under: None,
    rules: Rules {
        order: Order::StrongFirst,
        inexact: Inexact::Refused,
        quotient: Inexact::Refused,
        mean: Inexact::Refused,
        variance: Inexact::Refused,
        floor: FloorDivision::Quotient,
        number: BoolNumber::Refused,
        sum: Accumulate::WidenIntegers,
        product: Accumulate::WidenIntegers,
        index: Some(DType::I64),
        weak: WeakResult::Default,
        width: Width::Any,
        defaults: Defaults::BITS_64,
    },
    lacks: &[
        Lack {
            dtypes: DTypeSet::of(DType::Bf16).union(DTypeSet::of(DType::F16)),
            weak: false,
            reason: "the Array API standard has no bf16 and no f16",
        },
        Lack {
            dtypes: DTypeSet::EMPTY,
            weak: true,
            reason: "the Array API standard takes a bare number beside an array of its kind or a higher one, not of bool",
        },
    ],
    ops: &[],
};

/// Joins dtypes of one kind to the smallest dtype that holds both. Floats and complex numbers count as one kind. A bare
/// number takes the dtype of an array of its kind or a higher one. Undefined are mixed kinds, `u64` with signed
/// integers, and bare numbers only.
const fn join(a: ValueType, b: ValueType) -> Option<ValueType> {
    let defined = match (a, b) {
        (Strong(a), Strong(b)) => is_in_standard(a) && is_in_standard(b) && class(a.kind()) == class(b.kind()),
        (Strong(dtype), ValueType::Weak(weak)) | (ValueType::Weak(weak), Strong(dtype)) => {
            is_in_standard(dtype)
                && class(dtype.kind()) > class(Kind::Bool)
                && (matches!(weak, Weak::Int) || class(dtype.kind()) == class(weak.kind()))
        }
        (ValueType::Weak(_), ValueType::Weak(_)) => false,
    };
    match lattice::join(a, b) {
        joined @ Strong(_) if defined => Some(joined),
        _ => None,
    }
}

const fn is_in_standard(dtype: DType) -> bool {
    !matches!(dtype, DType::Bf16 | DType::F16)
}

/// Returns the number of a kind, the same for kinds that mix.
const fn class(kind: Kind) -> u8 {
    match kind {
        Kind::Bool => 0,
        Kind::UInt | Kind::Int => 1,
        Kind::Float | Kind::Complex => 2,
    }
}
