//! Files: headers of `.npy` files ([`npy`]), saved programs (`saved`), and atomic replacement of files ([`replacement`]).
//!
//! The input is bytes and the output dtypes, shapes and texts: no arrays, no memory of the runtime, no `unsafe`. Files are untrusted: invalid
//! content is an error, and memory is not reserved by a file's claims.

#![forbid(unsafe_code)]

pub mod npy;
pub mod replacement;
#[cfg(feature = "saved")]
pub mod saved;
