//! The passes, one file each.

pub mod expand;
pub mod legalize;
