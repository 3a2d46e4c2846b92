//! Counters of the process and of threads: traces, plans and compilations. For one function: statistics (`function`),
//! memory (`memory`), and measurements (`profile`).

mod function;
mod memory;
mod process;
mod profile;

pub use function::{FunctionStats, KernelStats};
pub use memory::{ArrayPlace, ArrayPlan, BodyPlan, ControlPlan, MemoryPlan};
pub use process::{Stats, stats};
pub use profile::{LaunchProfile, Profile};
