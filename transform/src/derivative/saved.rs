//! The saved states of loops.

use crate::append::Appender;
use ndjit_ir::graph::{NodeKind, Value};

/// The number and operands of control flow.
pub(super) type ControlGroup = (u32, Vec<Value>);

/// The saved states of a loop.
#[derive(Clone, Debug)]
pub(crate) enum SavedLoop {
    /// For each leaf of the state that is a parameter of the body, its values before each step, stacked.
    Stacked(Vec<Option<Value>>),
    /// The states before some steps.
    Slots {
        /// The original loop.
        of: ControlGroup,
        /// For each leaf that is a parameter of the body, its slots.
        slots: Vec<Option<Value>>,
        /// The number of steps, an `i64`.
        steps: Value,
        /// The number of steps between slots, an `i64`.
        stride: Value,
        /// The number of slots.
        count: usize,
    },
}

/// A loop that saves states, the results of the original loop, and the saved states.
pub(super) type KeptLoop = (ControlGroup, Vec<Value>, SavedLoop);

/// Returns the loop with these results.
pub(super) fn kept_loop(to: &Appender, results: &[Value], saved: SavedLoop) -> KeptLoop {
    let key = to.read(|graph| {
        let id = graph.producer(results[0]);
        match graph.node(id).kind {
            NodeKind::Control(number) => (number, graph.operands(id).to_vec()),
            _ => (0, Vec::new()),
        }
    });
    (key, results.to_vec(), saved)
}
