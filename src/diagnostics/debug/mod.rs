//! Looking for what is wrong: printing inside of functions, NaN and infinities, the interpreter, devices that differ, graphs made small.
//!
//! | question | asked with |
//! |---|---|
//! | what does this value hold when the function runs? | [`debug_print`], [`collect_debug_output`] |
//! | which operation made the NaN? | [`first_nan`], [`first_nonfinite`]; [`with_nan_check`] after every call |
//! | is it the compiler? | [`with_jit_disabled`] runs the reference interpreter |
//! | does a GPU compute the same? | [`first_mismatch`](crate::first_mismatch) |
//! | which part of the program makes it fail? | [`shrink`], with [`disagreement`] |
//!
//! docs/debugging.md shows these with what they print.

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
