//! Lowering of a traced function, with the lint on widening.

use crate::api::config::Config;
use crate::array::node::Array;
use crate::diagnostics::explain::check;
use ndjit_codegen::Lowered;
use ndjit_eval::argument::{ArgumentType, inputs};
use ndjit_eval::plan::compiled::Plan;
use ndjit_eval::settings::Settings;
use ndjit_inspect::clock::Clock;
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::{Result, ValueType};

/// Lowers a traced program; `closed_over` are the captured arrays.
pub(crate) fn lower(
    (graph, places): (&Graph<ValueType>, &SourceLocs),
    arguments: &[ArgumentType],
    closed_over: &[Array],
    config: &Config,
    settings: Settings,
    clock: &mut Clock,
) -> Result<Lowered> {
    let (captured, options) = (Array::refs(closed_over), config.plan_options());
    let lowered = Plan::lower(graph, places, arguments, &captured, &options, settings, clock)?;
    let inputs = inputs(arguments, closed_over.len());
    check(&lowered.traced, &lowered.places, &inputs, lowered.policy, config.on_widening)?;
    Ok(lowered)
}
