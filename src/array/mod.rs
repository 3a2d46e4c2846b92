//! [`Array`]: data, or a computation on data that has not run yet.
//!
//! An array is one `Arc`. Concrete arrays hold a buffer of the dtype their type commits to, or see one of another array through
//! strides; lazy ones hold a pending operation and get their buffer when read. Results never change, so an array may be read from any thread.

mod convert;
mod data;
mod display;
pub(crate) mod lazy;
pub(crate) mod node;
mod read;

pub use node::Array;
