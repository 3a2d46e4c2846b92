//! Making a failing random program small.

use crate::Program;

/// The smallest program found by leaving things out for which `fails` still says true: outputs, and nodes whose users can
/// read one of their operands of the same type and shape instead. `fails` is asked a few times per node. Parameters, slots
/// and children stay, so that the same arrays and numbers fit.
pub fn shrink(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut tried = program.clone();
    let graph = ndjit_transform::shrink_inside(&program.graph, |graph| {
        tried.graph = graph.clone();
        fails(&tried)
    });
    Program { graph, ..tried }
}
