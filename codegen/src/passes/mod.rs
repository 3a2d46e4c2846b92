//! The passes from graph to loops, one file each; `ndjit-transform` has those from graph to graph. A pass is a function
//! from one stage to the next; [`crate::pipeline`] lists them.

pub mod expand;
pub mod fuse;
pub mod legalize;
pub mod loops;
pub(crate) mod ranges;
pub mod schedule;
pub mod split;
pub mod tile;
