//! Counters of the process and of threads: what was traced, planned and compiled. Of one function: `function`, its
//! memory: `memory`, and measured: `profile`.

mod function;
mod memory;
mod process;
mod profile;

pub use function::{FunctionStats, KernelStats};
pub use memory::{ArrayPlace, ArrayPlan, MemoryPlan};
pub use process::{Stats, stats};
pub use profile::{LaunchProfile, Profile};
