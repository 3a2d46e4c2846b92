//! Lazy arrays: recording of operations ([`noting`]), evaluation through the passes of jitted functions ([`evaluate`]), and elements kept
//! against recomputation (`keep`, `kept`).
//!
//! Nothing here recurses: programs are as deep as users write them. Weak scalars are arguments of the plan, so other constants reuse it.

pub mod evaluate;
#[cfg(test)]
pub(crate) mod examples;
pub mod noting;
mod program;
mod retain;
mod retained;
