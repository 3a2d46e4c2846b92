//! Traces a function and runs it step by step.

use crate::api::config::{Config, Settings};
use crate::array::node::Array;
use crate::jit::erased::{Core, param};
use crate::jit::input::{Arg, known};
use crate::jit::lowering::lower;
use crate::trace::recording::{Param, Recording};
use ndjit_codegen::Lowered;
use ndjit_eval::argument::{ArgumentType, CallArgument};
use ndjit_eval::steps::{RunInputs, StepProgram};
use ndjit_inspect::clock::Clock;
use ndjit_ir::graph::Value;
use ndjit_ir::{Result, SourceLoc};
use std::sync::Arc;

/// Traces a function for these arguments under these settings. Returns its steps, the arguments and the results.
pub(super) fn steps(
    core: &Core,
    (args, structure): (&[Arg<'_>], &[usize]),
    settings: Settings,
    place: SourceLoc,
) -> Result<(StepProgram, RunInputs, Vec<Value>)> {
    let types: Vec<ArgumentType> = known(args).map(CallArgument::argument_type).collect();
    let params: Vec<Param> = types.iter().map(param).collect();
    let Recording { graph, places, closed_over, .. } = core.trace(settings, &params, structure, Some(place))?.recording;
    let config = Config { fuse: false, ..core.config };
    let lowered = lower((&graph, &places), &types, &closed_over, &config, settings, &mut Clock::default())?;
    let (Lowered { traced, places, .. }, captured) = (lowered, Array::refs(&closed_over));
    let (given, results) = (RunInputs::of(known(args), &captured)?, traced.outputs().to_vec());
    let (traced, places) = (Arc::unwrap_or_clone(traced), Arc::unwrap_or_clone(places));
    Ok((StepProgram::new(traced, places, types, captured, &config.plan_options()), given, results))
}
