//! PyTorch's system: category first, then width.
//!
//! Sources: <https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc> and
//! <https://github.com/pytorch/pytorch/blob/main/c10/core/ScalarType.cpp> (`promoteTypes`).

use crate::dtype::{DType, DTypeSet};
use crate::promotion::lattice;
use crate::promotion::system::{
    Accumulate, BoolNumber, Defaults, FloorDivision, Inexact, Lack, Order, Rules, System, WeakResult, Width, tabulate,
};
use crate::value_type::ValueType::{self, Strong};

/// PyTorch, for tensors with at least one dimension: those without dimensions promote only by category there. Rank does
/// not matter here.
pub const TORCH: System = System {
    name: "torch",
    source: "https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc",
    joins: tabulate!(join),
    joins_under: None,
    rules: Rules {
        order: Order::StrongFirst,
        inexact: Inexact::Default,
        quotient: Inexact::Default,
        mean: Inexact::Refused,
        variance: Inexact::Refused,
        floor: FloorDivision::Paired,
        number: BoolNumber::Refused,
        sum: Accumulate::DefaultInt,
        product: Accumulate::DefaultInt,
        index: Some(DType::I64),
        weak: WeakResult::Default,
        width: Width::Any,
        defaults: Defaults { int: DType::I64, float: DType::F32, complex: DType::C64 },
    },
    lacks: &[Lack {
        dtypes: WIDE_UNSIGNED,
        weak: false,
        reason: "PyTorch promotes u16, u32 and u64 with floats and bare numbers only",
    }],
    ops: &[],
};

const WIDE_UNSIGNED: DTypeSet =
    DTypeSet::of(DType::U16).union(DTypeSet::of(DType::U32)).union(DTypeSet::of(DType::U64));

/// Returns the dtype of the higher category (bool, integer, float, complex); within one the wider, or the first that
/// holds both. A complex number with a float takes the wider precision. JAX's lattice follows this rule. The wide
/// unsigned integers are later additions, with neither a signed join nor, unlike other integers, a complex one.
const fn join(a: ValueType, b: ValueType) -> Option<ValueType> {
    match (a, b) {
        (Strong(left), Strong(right)) if WIDE_UNSIGNED.contains(left) || WIDE_UNSIGNED.contains(right) => {
            match (left.is_float(), right.is_float()) {
                (true, _) => Some(a),
                (_, true) => Some(b),
                _ if left as u8 == right as u8 => Some(a),
                _ => None,
            }
        }
        _ => Some(lattice::join(a, b)),
    }
}
