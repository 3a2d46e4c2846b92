//! Shared state of the runtime, unchanged, on the primitives of a scheduler that draws the thread of each step.
//!
//! The model is sequentially consistent; weaker memory orders are justified where they are used.

// The tests inside these files need the system's threads.
#![cfg(not(test))]

#[path = "../../src/cache.rs"]
pub mod cache;
#[path = "../../src/recent.rs"]
pub mod recent;
mod memory {
    pub mod block;
    // Private in the runtime.
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
