//! Support of dtypes: devices, declarations, the casting modes against Ivy's worked table, adapted ops and reductions, casts in text.

mod casting;
mod devices;
mod graphs;
mod reductions;
