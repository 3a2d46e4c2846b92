//! Diagnostics of programs: explanations of dtypes and cache misses, statistics and times of calls, sources of NaN,
//! errors with their source line, and assertions for tests.

pub mod assertions;
pub mod debug;
pub mod explain;
pub mod host;
pub mod inspect;
pub mod misses;
pub mod report;
pub mod stats;
