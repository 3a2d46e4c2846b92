//! Printing bodies.
use super::Body;
use std::fmt;
use std::ops::Range;

/// Writes the instructions `range` of `body`, one per line, each line indented by `indent` steps of two blanks.
///
/// # Errors
/// If `f` fails.
pub fn write_insts(f: &mut dyn fmt::Write, body: &Body, indent: usize, range: Range<usize>) -> fmt::Result {
    for inst in &body.insts[range] {
        writeln!(f, "{:1$}{2} = {3:?} {4:?}", "", 2 * indent, inst.first, inst.kind, inst.args)?;
    }
    Ok(())
}
