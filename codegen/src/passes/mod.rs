//! The passes, one file each, in the order they run. A pass is a function from one stage to the next; [`crate::lower()`]
//! lists them.

pub mod access;
pub mod commit;
pub mod expand;
pub mod fp_contract;
pub mod fuse;
pub mod inline;
pub mod legalize;
pub mod schedule;
pub mod simplify;
pub mod split;
pub mod tile;
pub mod views;
pub mod windows;
