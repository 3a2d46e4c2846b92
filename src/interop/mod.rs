//! Exchange with other formats and libraries: `.npy` files, DLPack, the crate `ndarray`.

pub mod dlpack;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "npy")]
pub mod npy;
