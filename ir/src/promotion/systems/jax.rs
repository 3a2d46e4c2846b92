//! JAX's systems: the lattice, its strict mode, 64-bit types off, and the table of 2019.
//!
//! Sources: <https://docs.jax.dev/en/latest/type_promotion.html>, JEP 9407, and for 64-bit types
//! <https://docs.jax.dev/en/latest/default_dtypes.html>.

use crate::dtype::{DType, DTypeSet};
use crate::promotion::lattice::{join, strict_join};
use crate::promotion::system::{
    Accumulate, BoolNumber, Defaults, FloorDivision, Inexact, Lack, Order, Rules, System, WeakResult, Width, tabulate,
};
use crate::value_type::{ValueType, Weak};

const RULES: Rules = Rules {
    order: Order::Left,
    inexact: Inexact::ByWidth,
    quotient: Inexact::ByWidth,
    mean: Inexact::ByWidth,
    variance: Inexact::ByWidth,
    floor: FloorDivision::Paired,
    number: BoolNumber::To(DType::I32),
    sum: Accumulate::Widen,
    product: Accumulate::Widen,
    index: None,
    weak: WeakResult::Weak,
    width: Width::Any,
    defaults: Defaults::BITS_32,
};

/// JAX's lattice with 32-bit defaults: the default policy.
pub const STANDARD: System = System {
    name: "standard",
    source: "https://docs.jax.dev/en/latest/type_promotion.html",
    joins: tabulate!(total),
    joins_under: None,
    rules: RULES,
    lacks: &[],
    ops: &[],
};

/// `jax_numpy_dtype_promotion=strict`.
pub const STRICT: System = System {
    name: "strict",
    source: "https://docs.jax.dev/en/latest/type_promotion.html#strict-dtype-promotion",
    joins: tabulate!(strict_join),
    joins_under: None,
    rules: RULES,
    lacks: &[],
    ops: &[],
};

/// JAX's default, with 64-bit types off.
pub const JAX_32: System = System {
    name: "jax32",
    source: "https://docs.jax.dev/en/latest/default_dtypes.html",
    joins: tabulate!(narrow_join),
    joins_under: None,
    rules: Rules {
        inexact: Inexact::To(DType::F32),
        quotient: Inexact::To(DType::F32),
        mean: Inexact::To(DType::F32),
        variance: Inexact::To(DType::F32),
        width: Width::UpTo32,
        ..RULES
    },
    lacks: &[],
    ops: &[],
};

/// JAX with 64-bit types off, except requested ones (`jax_explicit_x64_dtypes=allow`).
pub const JAX_32_EXPLICIT: System = System {
    name: "jax32_explicit",
    source: "https://docs.jax.dev/en/latest/default_dtypes.html",
    joins: tabulate!(explicit_join),
    joins_under: None,
    rules: RULES,
    lacks: &[],
    ops: &[],
};

/// The table of JAX's documentation of 2019.
pub const JAX_2019: System = System {
    name: "jax2019",
    source: "https://github.com/jax-ml/jax/blob/d958f3007d/docs/type_promotion.rst",
    joins: tabulate!(join_2019),
    joins_under: None,
    rules: Rules { weak: WeakResult::Default, ..RULES },
    lacks: &[Lack { dtypes: DTypeSet::EMPTY, weak: true, reason: "the table of 2019 has no rows for bare numbers" }],
    ops: &[],
};

/// Returns the join of JAX's lattice, which every pair has.
pub(super) const fn total(a: ValueType, b: ValueType) -> Option<ValueType> {
    Some(join(a, b))
}

/// Returns the type with 64-bit widths off.
const fn narrow(ty: ValueType) -> ValueType {
    match ty {
        ValueType::Strong(dtype) => ValueType::Strong(Width::UpTo32.of(dtype)),
        weak => weak,
    }
}

const fn is_wide(ty: ValueType) -> bool {
    matches!(ty, ValueType::Strong(DType::U64 | DType::I64 | DType::F64 | DType::C128))
}

/// Joins types with operands and result narrowed: `u32` with `i32`, which has no 32-bit bound, becomes `i32`.
const fn narrow_join(a: ValueType, b: ValueType) -> Option<ValueType> {
    Some(narrow(join(narrow(a), narrow(b))))
}

const fn explicit_join(a: ValueType, b: ValueType) -> Option<ValueType> {
    let joined = join(a, b);
    Some(if is_wide(a) || is_wide(b) { joined } else { narrow(joined) })
}

const fn join_2019(a: ValueType, b: ValueType) -> Option<ValueType> {
    match (a, b) {
        (ValueType::Weak(_), _) | (_, ValueType::Weak(_)) => None,
        _ => Some(match join(a, b) {
            ValueType::Weak(Weak::Float) => ValueType::Strong(DType::F64),
            joined => joined,
        }),
    }
}
