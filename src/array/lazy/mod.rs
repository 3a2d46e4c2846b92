//! Lazy arrays: noting operations ([`noting`]), running what waits through the same passes as jitted functions ([`evaluate`]), keeping what would be
//! computed again ([`keep`], [`kept`]).
//!
//! Nothing here recurses: programs are as deep as users make them. Weak numbers are arguments of the plan, so that a change
//! of constants finds the plan of before.

mod compute;
pub(crate) mod evaluate;
mod item;
mod keep;
pub(crate) mod kept;
pub(crate) mod noting;
mod program;
