//! The time and the span of each compilation stage.

use ndjit_runtime::spans::{self, Span};
use std::time::{Duration, Instant};

/// A clock of one stage at a time.
#[derive(Debug, Default)]
pub struct Clock {
    times: Vec<(&'static str, Duration)>,
    running: Option<(&'static str, Instant, Span)>,
}

impl Clock {
    /// The clock of a program with this trace time.
    pub fn traced(time: Duration) -> Clock {
        Clock::after(vec![("trace", time)])
    }

    /// A clock that continues after these stages.
    pub fn after(times: Vec<(&'static str, Duration)>) -> Clock {
        Clock { times, running: None }
    }

    /// Starts a pass, and ends the previous stage.
    pub fn pass(&mut self, pass: &'static str) {
        self.stop();
        self.running = Some((pass, Instant::now(), spans::lower(pass)));
    }

    /// Starts the compilation of so many nests.
    pub fn compile(&mut self, nests: usize) {
        self.stop();
        self.running = Some(("compile", Instant::now(), spans::compile(nests)));
    }

    /// Ends the compilation, of which these passes took a part: the rest is that of the code generator.
    pub fn compiled(&mut self, passes: impl IntoIterator<Item = (&'static str, Duration)>) {
        let Some(("compile", begun, _span)) = self.running.take() else { return };
        let mut rest = begun.elapsed();
        for (pass, time) in passes {
            rest = rest.saturating_sub(time);
            self.add(pass, time);
        }
        self.add("compile", rest);
    }

    /// Ends the stage. A stage may run several times; its times add up.
    pub fn stop(&mut self) {
        if let Some((stage, begun, _span)) = self.running.take() {
            self.add(stage, begun.elapsed());
        }
    }

    fn add(&mut self, stage: &'static str, time: Duration) {
        match self.times.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, known)) => *known += time,
            None => self.times.push((stage, time)),
        }
    }

    /// The times, in the order of the stages' first runs.
    pub fn times(mut self) -> Vec<(&'static str, Duration)> {
        self.stop();
        self.times
    }
}
