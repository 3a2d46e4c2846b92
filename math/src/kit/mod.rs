//! Building blocks of functions: small steps, sums of two floats, argument reduction.

pub(crate) mod angle;
pub(crate) mod decompose;
pub(crate) mod double_word;
pub(crate) mod log2_parts;
pub(crate) mod pow_table;
pub(crate) mod reduce;
pub(crate) mod util;
