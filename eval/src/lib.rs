//! Graphs evaluated: plans and the caches of them ([`plan`]), arrays and the operations that wait for them ([`array`](mod@array), [`lazy`]), under the
//! settings of the thread that asks ([`settings`]).
//!
//! What is asked of operands is a [`request`], whose type and shape [`infer`] finds, or the error in the user's words. Plans are run operation by
//! operation ([`steps`]) to find which one made a NaN ([`nonfinite`]). Neither closures nor expressions are known here: what is evaluated is a
//! graph, recorded from a function or collected from lazy arrays. Nothing recurses over what users make, and there is no `unsafe`.

#![forbid(unsafe_code)]

pub mod argument;
pub mod array;
pub mod counts;
pub mod forbidden;
pub mod formula;
pub mod infer;
pub mod lazy;
pub mod literal;
pub mod nonfinite;
mod nonfinite_within;
pub mod options;
pub mod plan;
pub mod request;
pub mod scope;
pub mod settings;
pub mod steps;
pub mod traces;
