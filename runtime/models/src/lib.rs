//! Parts of the runtime that threads share, as they are, on the primitives of a scheduler that draws which thread goes on at each step.
//!
//! It knows sequential consistency alone: weaker orders of memory are argued for where they stand.

// The tests inside these files need the system's threads.
#![cfg(not(test))]

#[path = "../../src/cache.rs"]
pub mod cache;
#[path = "../../src/recent.rs"]
pub mod recent;
mod memory {
    pub mod block;
    // In the runtime it is private.
    #[allow(clippy::new_without_default)]
    #[path = "../../../src/memory/free_list.rs"]
    pub mod free_list;
}
mod sync;
#[path = "../../src/execution/thread_pool.rs"]
pub mod thread_pool;

pub use memory::block::Block;
pub use memory::free_list;
pub use sync::set_processors;
