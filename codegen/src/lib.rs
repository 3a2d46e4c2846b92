//! The verbs of ndjit: passes that turn a traced graph into loop nests over primitives, and the code generators that turn
//! those into Cranelift functions or WGSL modules. Products are values that print. Nothing here knows a device, a buffer or
//! executable memory.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod assembly;
pub mod clif;
pub mod listing;
pub mod lower;
pub mod passes;
pub mod pipeline;
pub mod target;
pub mod wgsl;
pub mod work;
pub mod x64;

pub use lower::{
    Lowered, LoweredControl, LoweredKernel, LoweredStep, Options, Scheduled, TileLoop, TracedTrips, lower,
    lower_observed,
};
pub use ndjit_transform::access::{TracedIndex, TracedRow};
pub use work::Work;
