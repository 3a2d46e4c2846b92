//! The system of JAX's `lax`: no promotion.
//!
//! Source: <https://docs.jax.dev/en/latest/jax.lax.html>.

use crate::promotion::system::{
    Accumulate, BoolNumber, Defaults, FloorDivision, Inexact, Order, Rules, System, WeakResult, Width, tabulate,
};
use crate::value_type::ValueType;

/// `jax.lax` with 64-bit types on: operands have one dtype, bare numbers the 64-bit one of their kind.
pub const LAX: System = System {
    name: "lax",
    source: "https://docs.jax.dev/en/latest/jax.lax.html",
    joins: tabulate!(equal, Defaults::BITS_64),
    joins_under: Some(equal),
    rules: Rules {
        order: Order::Left,
        inexact: Inexact::Refused,
        quotient: Inexact::Refused,
        mean: Inexact::Refused,
        variance: Inexact::Refused,
        floor: FloorDivision::Paired,
        number: BoolNumber::Refused,
        sum: Accumulate::Same,
        product: Accumulate::Same,
        index: None,
        weak: WeakResult::Weak,
        width: Width::Any,
        defaults: Defaults::BITS_64,
    },
    lacks: &[],
    ops: &[],
};

/// Joins only equal dtypes. Bare numbers have their defaults.
const fn equal(defaults: Defaults, a: ValueType, b: ValueType) -> Option<ValueType> {
    match (a, b) {
        _ if defaults.commit(a) as u8 != defaults.commit(b) as u8 => None,
        (ValueType::Weak(_), _) => Some(b),
        _ => Some(a),
    }
}
