//! From flat indices to indices of loops, and from these to element offsets.

use super::params::{self, HEADER};
use ndjit_ir::loops::{LoopNest, Stride};

/// Returns the statements that split the number `flat` into indices of the loops `range` of a nest, and the indices'
/// names.
pub fn indices(range: std::ops::Range<usize>, flat: &str, prefix: &str) -> (Vec<String>, Vec<String>) {
    let names: Vec<String> = range.clone().map(|n| format!("{prefix}{n}")).collect();
    let mut statements = Vec::new();
    let mut rest = flat.to_owned();
    for (n, name) in range.clone().zip(&names).rev() {
        if n == range.start {
            statements.push(format!("let {name} = {rest};"));
            break;
        }
        let extent = params::word(HEADER + n);
        statements.push(format!("let {name} = {rest} % {extent};"));
        statements.push(format!("let {name}_rest = {rest} / {extent};"));
        rest = format!("{name}_rest");
    }
    (statements, names)
}

/// Returns the offset of an element of an operand in memory.
pub fn position(nest: &LoopNest, operand: usize, loops: &[String]) -> String {
    let at = params::offset(nest, operand);
    let access = nest.inputs.iter().chain(&nest.outputs).nth(operand);
    // Outputs of a reduction are declared contiguous, regardless of their location.
    let known = operand < nest.inputs.len() || nest.kind.reduction().is_none();
    let mut text = params::word(at);
    for (n, index) in loops.iter().enumerate() {
        let class = access.map(|access| access.inner).filter(|_| known && n == nest.vector_loop());
        match class {
            Some(Stride::Broadcast) => {}
            Some(Stride::Contiguous) => text += &format!(" + {index}"),
            Some(Stride::Strided) | None => text += &format!(" + {index} * {}", params::word(at + 1 + n)),
        }
    }
    text
}
