//! Shrinking of a failing random program.

use crate::Program;

/// The smallest program found by removal that still satisfies `fails`: it removes outputs, and nodes whose users can read
/// one of their operands of the same type and shape instead. `fails` is called a few times per node. Parameters, slots and
/// children stay, so the same arrays and scalars fit.
pub fn shrink(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut tried = program.clone();
    let graph = ndjit_transform::shrink_inside(&program.graph, |graph| {
        tried.graph = graph.clone();
        fails(&tried)
    });
    Program { graph, ..tried }
}
