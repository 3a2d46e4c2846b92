//! Which body each op has, by the kind of the dtype it computes in.

pub(crate) mod bools;
pub(crate) mod complex;
pub(crate) mod float;
pub(crate) mod half;
pub(crate) mod int;
