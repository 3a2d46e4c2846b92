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

    /// Ends the stage. A stage may run several times; its times add up.
    pub fn stop(&mut self) {
        if let Some((stage, begun, _span)) = self.running.take() {
            let time = begun.elapsed();
            match self.times.iter_mut().find(|(known, _)| *known == stage) {
                Some((_, known)) => *known += time,
                None => self.times.push((stage, time)),
            }
        }
    }

    /// The times, in the order of the stages' first runs.
    pub fn times(mut self) -> Vec<(&'static str, Duration)> {
        self.stop();
        self.times
    }
}
