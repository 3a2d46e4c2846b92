//! The built-in systems, one constant each, by library. Tests compare each with golden tables.

mod array_api;
mod ivy;
mod jax;
mod lax;
mod numexpr;
mod numpy;
mod tensorflow;
mod torch;

pub use array_api::ARRAY_API;
pub use ivy::{IVY_IMPRECISE, IVY_PRECISE};
pub use jax::{JAX_32, JAX_32_EXPLICIT, JAX_2019, STANDARD, STRICT};
pub use lax::LAX;
pub use numexpr::NUMEXPR;
pub use numpy::{NUMPY_1, NUMPY_2, NUMPY_2_ML_DTYPES};
pub use tensorflow::{TENSORFLOW, TENSORFLOW_NP_ALL, TENSORFLOW_NP_LEGACY, TENSORFLOW_NP_SAFE};
pub use torch::TORCH;
