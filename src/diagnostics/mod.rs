//! What is said of programs: why a value has its dtype and a call compiled, what a call does and how long it takes, where NaN comes from, errors
//! with the line they are about, and assertions for tests.

pub mod assertions;
pub mod debug;
pub mod explain;
pub mod host;
pub mod inspect;
pub mod misses;
pub mod report;
pub mod stats;
