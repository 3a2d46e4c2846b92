//! [`Array`]: data, or a computation on data that has not run yet.
//!
//! An array is one `Arc`. A concrete array has a buffer of its dtype, or is a strided view of another array. A lazy one
//! has a pending operation and gets its buffer at the first read. Results never change, so any thread may read an
//! array.

mod convert;
mod data;
mod display;
pub(crate) mod lazy;
pub(crate) mod node;
mod read;

pub use node::Array;
