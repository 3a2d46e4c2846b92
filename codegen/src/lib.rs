//! The code generators of ndjit: passes from a traced graph to loop nests over primitives, and generators of Cranelift functions,
//! x86-64 machine code and WGSL modules. Products are values that print. Devices, buffers and executable memory are in the runtime.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod assembly;
pub mod clif;
pub mod listing;
pub mod lower;
pub mod passes;
pub mod pipeline;
pub mod scheduled;
pub mod target;
pub mod wgsl;
pub mod work;
pub mod x64;

pub use lower::{Lowered, LoweredControl, LoweredKernel, LoweredStep, NumberedControl, Options};
pub use ndjit_transform::access::{TracedIndex, TracedRow};
pub use pipeline::{lower, lower_observed};
pub use scheduled::{LoopRange, RangeEnd, Scheduled, TileLoop};
pub use work::Work;
