//! Functions on integers.

pub(crate) mod bit_count;
pub(crate) mod float_quotient;
pub(crate) mod int_power;
pub(crate) mod reciprocal;
pub(crate) mod saturating;
pub(crate) mod threefry;
