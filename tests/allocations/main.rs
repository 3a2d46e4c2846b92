//! Programs with an allocator that counts, for each thread on its own: what calls allocate, and what long or nested programs do.

mod calls;
mod expansion;
#[path = "../growing/mod.rs"]
mod growing;
mod linear;

use ndjit::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
