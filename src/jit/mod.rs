//! [`jit`]: functions that are traced once per signature, compiled, and called.

pub(crate) mod arguments;
pub(crate) mod caller;
pub(crate) mod compiled;
mod derived;
pub(crate) mod dynamic;
pub(crate) mod erased;
pub(crate) mod function;
#[cfg(feature = "saved")]
mod included;
pub(crate) mod input;
mod inspection;
pub(crate) mod jitted;
pub(crate) mod lowering;
mod named;
pub(crate) mod output;
pub(crate) mod program;
mod run;
#[cfg(feature = "saved")]
mod saved;
pub(crate) mod spec;
pub(crate) mod stage;
pub(crate) mod staged;
mod structs;
mod structure;
#[cfg(feature = "saved")]
mod symbolic;
mod trees;

pub use arguments::{CallArgs, TreeArgs, only_array, only_leaf};
pub use compiled::Compiled;
pub use erased::Core;
pub use function::{JitFn, Operands};
#[cfg(feature = "saved")]
pub use included::IncludedProgram;
pub use input::{Arg, Destination, Destinations, Donated, Input, Inputs};
pub use jitted::{Jitted, jit};
pub use output::{ArrayTree, Collected, Leaves, Outputs, Parts, field_arrays};
pub use program::Program;
#[cfg(feature = "saved")]
pub use saved::LoadLimits;
pub use spec::{Spec, spec};
pub use stage::Stage;
pub use staged::{Lowered, Traced};
#[cfg(feature = "saved")]
pub use symbolic::SymbolicProgram;
pub use trees::{Trees, trees};
