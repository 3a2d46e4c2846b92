//! NumExpr's system: kinds instead of dtypes.
//!
//! Source: <https://github.com/pydata/numexpr/blob/v2.14.2/numexpr/expressions.py>: `commonKind` and the table of functions.

use crate::dtype::{DType, DTypeSet};
use crate::op::Op;
use crate::promotion::system::{
    Accumulate, BoolNumber, Defaults, FloorDivision, Inexact, Lack, OpRule, Order, Rules, System, WeakResult, Width,
    tabulate,
};
use crate::value_type::ValueType::{self, Strong};

/// A float in the text is a double, an integer has 32 bits.
const DEFAULTS: Defaults = Defaults { int: DType::I32, float: DType::F64, complex: DType::C128 };

/// NumExpr: operands take the dtype of their kind first, and the greatest kind is computed in.
pub const NUMEXPR: System = System {
    name: "numexpr",
    source: "https://github.com/pydata/numexpr/blob/v2.14.2/numexpr/expressions.py",
    joins: tabulate!(greatest, DEFAULTS),
    joins_under: Some(greatest),
    rules: Rules {
        order: Order::Left,
        // Of the integers only those of 32 and 64 bits are left.
        inexact: Inexact::SmallestFromF32,
        quotient: Inexact::To(DType::F64),
        mean: Inexact::To(DType::F64),
        variance: Inexact::To(DType::F64),
        number: BoolNumber::Refused,
        floor: FloorDivision::Paired,
        sum: Accumulate::Same,
        product: Accumulate::Same,
        index: Some(DType::I64),
        weak: WeakResult::Default,
        width: Width::Any,
        defaults: DEFAULTS,
    },
    lacks: &[Lack { dtypes: DTypeSet::of(DType::Bf16), weak: false, reason: "NumExpr has no bf16" }],
    ops: &[
        own(&[Op::Abs, Op::Floor, Op::Ceil, Op::Fmod], DType::F32),
        own(
            &[
                Op::Trunc,
                Op::Minimum,
                Op::Maximum,
                Op::Hypot,
                Op::Copysign,
                Op::Nextafter,
                Op::Real,
                Op::Imag,
                Op::Complex,
            ],
            DType::F64,
        ),
        own(&[Op::Conj], DType::C128),
        OpRule { ops: &[Op::Round, Op::Sign], integers: None, least: DType::F64 },
    ],
};

/// A function of floats: integers are doubles in it.
const fn own(ops: &'static [Op], least: DType) -> OpRule {
    OpRule { ops, integers: Some(DType::F64), least }
}

/// Returns the greater of two kinds, as its dtype.
const fn greatest(defaults: Defaults, a: ValueType, b: ValueType) -> Option<ValueType> {
    match (kind(defaults.commit(a)), kind(defaults.commit(b))) {
        (Some(a), Some(b)) => Some(Strong(if a as u8 > b as u8 { a } else { b })),
        _ => None,
    }
}

/// Returns the dtype of the kind of a dtype.
const fn kind(dtype: DType) -> Option<DType> {
    Some(match dtype {
        DType::Bool => DType::Bool,
        DType::U8 | DType::U16 | DType::I8 | DType::I16 | DType::I32 => DType::I32,
        DType::U32 | DType::U64 | DType::I64 => DType::I64,
        DType::F16 | DType::F32 => DType::F32,
        DType::F64 => DType::F64,
        DType::C64 | DType::C128 => DType::C128,
        DType::Bf16 => return None,
    })
}
