//! Debugging: printing inside functions, NaN and infinity, the interpreter, mismatches between devices, and minimal
//! graphs.
//!
//! | question | function |
//! |---|---|
//! | what is this value when the function runs? | [`debug_print`], [`collect_debug_output`] |
//! | which operation made the NaN? | [`first_nan`], [`first_nonfinite`]; [`with_nan_check`] after every call |
//! | is it a compiler bug? | [`with_jit_disabled`] runs the interpreter |
//! | does a GPU compute the same? | [`first_mismatch`](crate::first_mismatch) |
//! | which part of the program fails? | [`shrink`], with [`disagreement`] |
//!
//! docs/debugging.md has examples with their output.

mod first;
pub(crate) mod mismatch;
pub(crate) mod nonfinite;
pub(crate) mod print;
mod shrink;
mod traced;

pub use crate::api::config::with_jit_disabled;
pub use first::{first_nan, first_nonfinite};
pub use nonfinite::{NonFinite, with_nan_check};
pub use print::{DebugPrint, collect_debug_output, debug_print};
pub use shrink::{disagreement, shrink, write_graph};
