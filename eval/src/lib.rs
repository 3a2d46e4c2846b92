//! Evaluation of graphs: plans and their caches ([`plan`]), arrays and pending operations ([`array`](mod@array), [`lazy`]), under the
//! settings of the calling thread ([`settings`]). Diagnostics observe calls ([`observer`]).
//!
//! A [`request`] is an operation whose type and shape [`infer`] finds, or the error for the user. Plans run operation by operation
//! ([`steps`]) to find the origin of a NaN ([`nonfinite`]). Closures and expressions belong to other crates: the input is a graph, recorded
//! from a function or collected from lazy arrays. Nothing recurses over user programs, and there is no `unsafe`.

#![forbid(unsafe_code)]

pub mod argument;
pub mod array;
pub mod counts;
pub mod forbidden;
pub mod infer;
pub mod lazy;
pub mod literal;
pub mod nonfinite;
mod nonfinite_within;
pub mod observer;
pub mod options;
pub mod plan;
pub mod request;
pub mod scope;
pub mod settings;
pub mod steps;
pub mod symbolic;
pub mod traces;
