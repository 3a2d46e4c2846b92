//! Arrays, eager and lazy: their data ([`node`]), construction, and reads.

mod make;
pub mod node;
mod read;

pub use node::{ArrayRef, Elements};
