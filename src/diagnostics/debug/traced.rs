//! The steps of a function, which is traced for that.

use super::steps::{RunInputs, StepProgram};
use crate::api::config::{Config, Settings};
use crate::jit::erased::{Core, argument_type, param};
use crate::jit::input::Arg;
use crate::jit::plan::{ArgumentType, Plan};
use crate::trace::recording::{Param, Recording};
use ndjit_codegen::Lowered;
use ndjit_inspect::clock::Clock;
use ndjit_ir::graph::Value;
use ndjit_ir::{Place, Result};
use std::sync::Arc;

impl StepProgram {
    /// The steps of a function for these arguments, traced under these settings; the arguments; and the results of the function.
    pub fn traced(
        core: &Core,
        args: &[Arg<'_>],
        settings: Settings,
        place: Place,
    ) -> Result<(StepProgram, RunInputs, Vec<Value>)> {
        let types: Vec<ArgumentType> = args.iter().map(argument_type).collect();
        let params: Vec<Param> = types.iter().map(param).collect();
        let Recording { graph, places, closed_over, .. } = core.trace(settings, &params, Some(place))?.recording;
        let config = Config { fuse: false, ..core.config };
        let lowered = Plan::lower(&graph, &places, &types, &closed_over, &config, settings, &mut Clock::default())?;
        let Lowered { traced, places, .. } = lowered;
        let (given, results) = (RunInputs::of(args, &closed_over)?, traced.outputs().to_vec());
        let (traced, places) = (Arc::unwrap_or_clone(traced), Arc::unwrap_or_clone(places));
        Ok((StepProgram::new(traced, places, types, closed_over, &config), given, results))
    }
}
