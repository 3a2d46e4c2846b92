//! Programs: memory plans, kernels that run together, and runs.

pub(crate) mod assignment;
pub(crate) mod bound;
pub(crate) mod call;
pub(crate) mod control;
pub mod executable;
pub(crate) mod fits;
pub(crate) mod indices;
pub(crate) mod literals;
pub(crate) mod plan;
pub mod planned;
pub(crate) mod prepared;
pub(crate) mod ready;
pub(crate) mod regions;
pub(crate) mod run;
pub(crate) mod scratch;
pub(crate) mod step_plan;
pub(crate) mod steps;
pub(crate) mod storage;
pub(crate) mod tiles;
