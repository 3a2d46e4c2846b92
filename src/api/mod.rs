//! What programs are written with: functions, operators, creation, reductions, movement and indexing of arrays, control flow, and the settings
//! that operations are made under. All of it is exported by the crate's root; nothing here knows how a function is compiled or an array computed.

pub mod axes;
pub mod bins;
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
