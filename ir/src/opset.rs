//! Opsets: numbers for the set of operations that a saved program may use.
//!
//! The row of an op, a function along axes, or a kind of node has the opset that introduced it, `since`. Its meaning never changes under its
//! name: another meaning is another name, in a newer opset. A program needs the newest opset of its operations.

use crate::graph::{Graph, NodeKind, Type};

/// The first version of ndjit with each opset, from opset 1 on.
pub const VERSIONS: &[&str] = &["0.1.0"];

/// The opset of this version: all operations of the tables.
pub const OPSET: u16 = VERSIONS.len() as u16;

/// The first version of ndjit with an opset; `None` for a newer one.
pub fn version(opset: u16) -> Option<&'static str> {
    VERSIONS.get(usize::from(opset).checked_sub(1)?).copied()
}

/// The least opset of a program, and the first of its operations that needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeededOpset {
    /// The opset, at least 1.
    pub opset: u16,
    /// The operation's word in text; empty for a program without operations.
    pub operation: &'static str,
}

impl<T: Type> Graph<T> {
    /// The least opset of the program: this graph, its callees and the graphs of control flow.
    ///
    /// ```
    /// use ndjit_ir::ValueType;
    /// use ndjit_ir::graph::Graph;
    ///
    /// let text = "graph (%0: f32[2]) {\n  %1 = sin %0 : f32[2]\n  return %1\n}";
    /// let needed = text.parse::<Graph<ValueType>>()?.needed_opset();
    /// assert_eq!((needed.opset, needed.operation), (1, "sin"));
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    pub fn needed_opset(&self) -> NeededOpset {
        let mut needed = NeededOpset { opset: 0, operation: "" };
        for graph in self.whole() {
            for id in graph.node_ids() {
                let kind = graph.node(id).kind;
                let since = match kind {
                    NodeKind::Control(n) => graph.controls().get(n as usize).map_or(1, |control| control.kind.since()),
                    kind => kind.since(),
                };
                if since > needed.opset && !matches!(kind, NodeKind::Param(..)) {
                    needed = NeededOpset { opset: since, operation: graph.operation_name(id) };
                }
            }
        }
        NeededOpset { opset: needed.opset.max(1), ..needed }
    }
}

#[cfg(test)]
mod tests {
    use super::OPSET;
    use crate::op::Op;
    use crate::reduction::AxisFunction;

    #[test]
    fn tables_have_known_opsets() {
        let ops = Op::ALL.into_iter().map(|op| (op.name(), op.row().since));
        let functions = AxisFunction::all().map(|function| (function.name(), function.row().since));
        let mut newest = 1;
        for (name, since) in ops.chain(functions) {
            assert!((1..=OPSET).contains(&since), "{name} is of opset {since}: see `opset::VERSIONS`");
            newest = newest.max(since);
        }
        assert_eq!(newest, OPSET, "no operation is of the newest opset");
    }
}
