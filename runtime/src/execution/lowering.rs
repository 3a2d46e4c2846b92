//! The target half of the pipeline, timed: each thread adds up the passes of the kernels that it compiles or waits for.

use ndjit_codegen::passes::loops::LoopKernel;
use ndjit_codegen::passes::split::{NestPart, TargetKernel};
use ndjit_codegen::pipeline::{PassObserver, TARGET_PASSES, lower_for_observed, lower_steps_observed, target_passes};
use ndjit_codegen::target::Target;
use ndjit_ir::Result;
use ndjit_ir::loops::LoopNest;
use std::cell::Cell;
use std::fmt::Display;
use std::time::{Duration, Instant};

/// The time of each of the [passes](target_passes), in their order.
pub type PassTimes = [Duration; TARGET_PASSES];

thread_local! {
    static TIMES: Cell<PassTimes> = const { Cell::new([Duration::ZERO; TARGET_PASSES]) };
}

/// Lowers a nest, as [`lower_for`](ndjit_codegen::pipeline::lower_for).
///
/// # Errors
/// `Verify` if the invariants of the nest or of a pass's result are violated; `Backend` if the target does not support the nest.
pub(crate) fn kernel(nest: &LoopNest, target: &Target) -> Result<TargetKernel> {
    lower_for_observed(nest, target, &mut PassStopwatch(None))
}

/// Lowers the nest of a loop's steps.
///
/// # Errors
/// Those of [`kernel`].
pub(crate) fn steps(loops: &LoopKernel, target: &Target) -> Result<NestPart> {
    lower_steps_observed(loops, target, &mut PassStopwatch(None))
}

/// The time of each pass on this thread since the last call.
pub fn take_times() -> PassTimes {
    TIMES.take()
}

/// Adds the passes of another thread, which this one waited for.
pub(crate) fn add_times(times: PassTimes) {
    let mut own = TIMES.get();
    own.iter_mut().zip(times).for_each(|(own, time)| *own += time);
    TIMES.set(own);
}

/// Measures one pass at a time.
struct PassStopwatch(Option<Instant>);

impl PassObserver for PassStopwatch {
    fn begins(&mut self, _: &'static str) {
        self.0 = Some(Instant::now());
    }

    fn ends(&mut self, pass: &'static str, _: &dyn Display) {
        let Some(begun) = self.0.take() else { return };
        let mut times = PassTimes::default();
        if let Some(n) = target_passes().position(|(name, _)| name == pass) {
            times[n] = begun.elapsed();
        }
        add_times(times);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::helper::on_large_stack;

    #[test]
    fn passes_of_a_helper_are_timed_for_the_thread_that_waits() {
        let millis = |times: [u64; TARGET_PASSES]| times.map(Duration::from_millis);
        take_times();
        add_times(millis([1, 0, 0]));
        let helped = on_large_stack(move || {
            add_times(millis([2, 0, 0]));
            on_large_stack(move || {
                add_times(millis([0, 4, 5]));
                Ok(())
            })
        });
        helped.unwrap();
        assert_eq!(take_times(), millis([3, 4, 5]));
        assert_eq!(take_times(), millis([0; TARGET_PASSES]));
    }
}
