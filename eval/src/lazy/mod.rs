//! Lazy arrays: noting operations ([`noting`]), running what waits through the same passes as jitted functions ([`evaluate`]), keeping what would be
//! computed again (`keep`, `kept`).
//!
//! Nothing here recurses: programs are as deep as users make them. Weak numbers are arguments of the plan, so that a change
//! of constants finds the plan of before.

pub mod evaluate;
#[cfg(test)]
mod examples;
mod keep;
mod kept;
pub mod noting;
mod program;
