//! The run of a plan, for any device: its launches in order, each step with memory for its outputs.

use crate::cancellation::RunScopes;
use crate::programs::call::Timed;
use crate::programs::plan::{BufferPlan, LaunchPlan};
use crate::spans;
use ndjit_ir::Result;
use std::time::Instant;

/// A device's part of a run.
pub trait StepRunner {
    /// Runs a step. `times` are those of the launches of its control flow.
    ///
    /// # Errors
    /// Those of [`DeviceProgram::run`](crate::DeviceProgram::run).
    fn step(&mut self, n: usize, times: Option<&mut [Timed]>) -> Result<()>;

    /// The number of launches of a step's control flow.
    fn inner(&self, n: usize) -> usize;

    /// Runs the kernels of a launch tile by tile; `false` if its steps run one after the other.
    ///
    /// # Errors
    /// As [`step`](StepRunner::step).
    fn tiles(&mut self, _launch: usize) -> Result<bool> {
        Ok(false)
    }

    /// Releases memory that no later launch reads.
    fn launched(&mut self, _launch: usize) {}
}

/// Runs the launches of a plan; adds to the time of each, if given.
///
/// # Errors
/// Those of the steps; `Cancelled` if a scope of the thread is.
pub fn run(plan: &BufferPlan, steps: &mut impl StepRunner, mut times: Option<&mut [Timed]>) -> Result<()> {
    let (mut begun, mut next) = (times.as_ref().map(|_| Instant::now()), 0);
    let scopes = RunScopes::of_thread();
    for (launch, LaunchPlan { steps: own, .. }) in plan.launches.iter().enumerate() {
        scopes.look()?;
        let at = next;
        next += 1;
        let _span = spans::launch(launch, own.len());
        if !steps.tiles(launch)? {
            for n in own.clone() {
                let inner = times.as_ref().map_or(0, |_| steps.inner(n));
                let times = times.as_deref_mut().and_then(|times| times.get_mut(next..next + inner));
                next += inner;
                steps.step(n, times)?;
            }
        }
        steps.launched(launch);
        if let (Some(begun), Some(timed)) = (&mut begun, times.as_deref_mut().and_then(|times| times.get_mut(at))) {
            let before = std::mem::replace(begun, Instant::now());
            (timed.runs, timed.time) = (timed.runs + 1, timed.time + (*begun - before));
        }
    }
    Ok(())
}
