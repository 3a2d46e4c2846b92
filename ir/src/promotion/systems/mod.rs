//! The built-in systems, one constant each, by library. Which golden table each must reproduce is in the tests.

mod jax;

pub use jax::{JAX_32, JAX_32_EXPLICIT, JAX_2019, STANDARD, STRICT};
