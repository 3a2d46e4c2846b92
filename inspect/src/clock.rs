//! The time each stage of a program's way to machine code takes, and its span.

use ndjit_runtime::spans::{self, Span};
use std::time::{Duration, Instant};

/// A clock that runs for one stage at a time.
#[derive(Debug, Default)]
pub struct Clock {
    times: Vec<(&'static str, Duration)>,
    running: Option<(&'static str, Instant, Span)>,
}

impl Clock {
    /// The clock of a program that took this long to trace.
    pub fn traced(time: Duration) -> Clock {
        Clock::after(vec![("trace", time)])
    }

    /// A clock that goes on after stages that took so long.
    pub fn after(times: Vec<(&'static str, Duration)>) -> Clock {
        Clock { times, running: None }
    }

    /// A pass begins, and what ran before has ended.
    pub fn pass(&mut self, pass: &'static str) {
        self.stop();
        self.running = Some((pass, Instant::now(), spans::lower(pass)));
    }

    /// Compilation begins, of so many nests.
    pub fn compile(&mut self, nests: usize) {
        self.stop();
        self.running = Some(("compile", Instant::now(), spans::compile(nests)));
    }

    /// What ran has ended. A stage that ran before has run longer.
    pub fn stop(&mut self) {
        if let Some((stage, begun, _span)) = self.running.take() {
            let time = begun.elapsed();
            match self.times.iter_mut().find(|(known, _)| *known == stage) {
                Some((_, known)) => *known += time,
                None => self.times.push((stage, time)),
            }
        }
    }

    /// The times, in the order in which stages first ran.
    pub fn times(mut self) -> Vec<(&'static str, Duration)> {
        self.stop();
        self.times
    }
}
