//! The user interface: functions, operators, creation, reductions, manipulation and indexing of arrays, control flow, and settings.
//! The crate root exports all of it. Nothing here depends on compilation or evaluation.

pub mod axes;
pub mod bins;
pub mod cancellation;
pub mod compound;
pub mod compress;
pub mod config;
pub mod contractions;
pub mod control;
pub mod convolution;
pub mod covariance;
pub mod creation;
pub mod differences;
pub mod dynamic;
pub mod functions;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod indexing;
pub mod integers;
pub mod interp;
mod loop_state;
pub mod manipulation;
pub mod operators;
mod parts;
pub mod quantiles;
pub mod queries;
pub mod random;
pub mod reductions;
pub mod scans;
pub mod selection;
pub mod softmax;
pub mod sorting;
pub mod support;
pub mod transforms;
pub mod weights;
