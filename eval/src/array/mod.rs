//! Arrays, eager and lazy: what they hold ([`node`]), making them, and reading them.

mod make;
pub mod node;
mod read;

pub use node::{ArrayRef, Elements};
