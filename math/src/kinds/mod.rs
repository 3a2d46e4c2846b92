//! The bodies of ops, by the kind of the computing dtype.

pub(crate) mod bools;
pub(crate) mod complex;
pub(crate) mod float;
pub(crate) mod half;
pub(crate) mod int;
