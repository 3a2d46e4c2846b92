//! Ivy's systems: precise mode, and imprecise.
//!
//! Source: <https://lets-unify.ai/docs/ivy/overview/deep_dive/data_types.html>. Bare numbers were measured on its NumPy
//! backend.

use super::numpy::{self, smallest_safe};
use crate::dtype::{DType, DTypeSet, Kind};
use crate::promotion::lattice;
use crate::promotion::system::{Accumulate, Defaults, Inexact, Lack, Order, Rules, System, tabulate};
use crate::value_type::ValueType::{self, Strong};
use crate::value_type::Weak;

const RULES: Rules = Rules {
    order: Order::Left,
    quotient: Inexact::Default,
    mean: Inexact::Unchanged,
    // Ivy leaves bool to NumPy, which ignores Ivy's defaults.
    sum: Accumulate::SameBoolTo(DType::I64),
    product: Accumulate::WidenAll,
    defaults: Defaults::BITS_32,
    ..numpy::RULES
};

const LACKS: &[Lack] = &[Lack {
    dtypes: DTypeSet::of(DType::Bf16),
    weak: false,
    reason: "Ivy's NumPy backend has no bf16 to give a bare number",
}];

/// Ivy with `PreciseMode(True)`, its default: no integer loses precision in a float.
pub const IVY_PRECISE: System = System {
    name: "ivy_precise",
    source: "https://lets-unify.ai/docs/ivy/overview/deep_dive/data_types.html",
    joins: tabulate!(precise, RULES.defaults),
    joins_under: Some(precise),
    rules: RULES,
    lacks: LACKS,
    ops: &[],
};

/// Ivy with `PreciseMode(False)`: floats never widen because of an integer.
pub const IVY_IMPRECISE: System = System {
    name: "ivy_imprecise",
    source: "https://lets-unify.ai/docs/ivy/overview/deep_dive/data_types.html",
    joins: tabulate!(imprecise),
    joins_under: None,
    rules: RULES,
    lacks: LACKS,
    ops: &[],
};

/// Joins dtypes as in NumPy. Bare numbers join as their default dtypes.
const fn precise(defaults: Defaults, a: ValueType, b: ValueType) -> Option<ValueType> {
    match (a, b) {
        (Strong(a), Strong(b)) => Some(Strong(smallest_safe(a, b))),
        // NumPy's rule again: the defaults i32 and f32 or c64 join in f64 or c128.
        (ValueType::Weak(Weak::Int), ValueType::Weak(Weak::Float | Weak::Complex))
        | (ValueType::Weak(Weak::Float | Weak::Complex), ValueType::Weak(Weak::Int)) => {
            Some(Strong(smallest_safe(defaults.commit(a), defaults.commit(b))))
        }
        _ => with_bare_number(a, b),
    }
}

/// Joins like precise mode, but floats and complex numbers ignore the width of integers.
const fn imprecise(a: ValueType, b: ValueType) -> Option<ValueType> {
    match (a, b) {
        (Strong(left), Strong(right)) => Some(match lattice::join(a, b) {
            ValueType::Weak(_) => Strong(smallest_safe(left, right)),
            joined => joined,
        }),
        _ => with_bare_number(a, b),
    }
}

/// Joins a bare number with another type. It takes the other's dtype if that is of its kind or a higher one. Otherwise
/// it is a double: Ivy makes it a NumPy scalar first, `1.0` beside an integer `f64`, `1j` beside an integer or any
/// float `c128`. Beside a bool, or another bare number, it has its default dtype.
const fn with_bare_number(a: ValueType, b: ValueType) -> Option<ValueType> {
    match (a, b) {
        (Strong(DType::Bf16), _) | (_, Strong(DType::Bf16)) => None,
        (Strong(dtype), ValueType::Weak(weak)) | (ValueType::Weak(weak), Strong(dtype)) => {
            let higher = (weak.kind() as u8) > (dtype.kind() as u8);
            let joined = lattice::join(a, b);
            Some(if higher && !matches!(dtype.kind(), Kind::Bool) { wide(joined) } else { joined })
        }
        _ => Some(lattice::join(a, b)),
    }
}

/// Returns the double of a type's kind.
const fn wide(ty: ValueType) -> ValueType {
    match ty.kind() {
        Kind::Float => Strong(DType::F64),
        Kind::Complex => Strong(DType::C128),
        Kind::Bool | Kind::UInt | Kind::Int => ty,
    }
}
