//! Timing of a call: in groups of calls of a minimum duration, within a budget; the minimum and the median of groups.

use std::time::{Duration, Instant};

/// Times of a call.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The minimum, in seconds.
    pub least: f64,
    /// The median, in seconds.
    pub median: f64,
    /// The number of timed calls.
    pub calls: usize,
}

/// The minimum duration of a group, in seconds: the clock is read once per group.
const GROUP: f64 = 2e-4;
const MOST_GROUPS: usize = 400;
const LEAST_GROUPS: usize = 5;
/// Seconds after which no further group starts.
const END: f64 = 3.0;

/// Times a call for about `budget` seconds, after three calls to warm up.
pub fn time(budget: f64, mut call: impl FnMut()) -> Times {
    call();
    call();
    let once = Instant::now();
    call();
    let group = ((GROUP / once.elapsed().as_secs_f64().max(1e-7)) as usize).max(1);
    let (start, mut times) = (Instant::now(), Vec::new());
    let spent = |start: Instant| start.elapsed() >= Duration::from_secs_f64(budget);
    while (!spent(start) && times.len() < MOST_GROUPS) || times.len() < LEAST_GROUPS {
        let begin = Instant::now();
        (0..group).for_each(|_| call());
        times.push(begin.elapsed().as_secs_f64() / group as f64);
        if start.elapsed().as_secs_f64() > END {
            break;
        }
    }
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    let median = if times.len() % 2 == 1 { times[middle] } else { (times[middle - 1] + times[middle]) / 2.0 };
    Times { least: times[0], median, calls: times.len() * group }
}
