//! The values of a call of a program, on any device: arguments, results, options and counters.

use crate::execution::code::Execution;
use crate::memory::buffer::Buffer;
use crate::memory::device::DeviceMemory;
use ndjit_codegen::target::VectorWidth;
use std::sync::Arc;
use std::time::Duration;

/// An array argument of a call. Its layout is the program's.
#[derive(Debug)]
pub enum Argument<'a> {
    /// Borrowed elements: the bytes from the start of the buffer the layout refers to.
    Borrowed(&'a [u8]),
    /// A shared buffer; only read.
    Shared(&'a Arc<Buffer>),
    /// A donated buffer: a result takes its memory if it has no other owner and the layouts agree.
    Donated(Arc<Buffer>),
    /// A device's own memory, for a program on that device.
    Device(&'a Arc<dyn DeviceMemory>),
}

impl Argument<'_> {
    /// The number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Argument::Borrowed(bytes) => bytes.len(),
            Argument::Shared(buffer) => buffer.len(),
            Argument::Donated(buffer) => buffer.len(),
            Argument::Device(memory) => memory.len(),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The destination of a result.
#[derive(Debug)]
pub enum Output<'a> {
    /// A fresh buffer: `None` before the call, `Some` after it.
    Fresh(Option<Arc<Buffer>>),
    /// Into the caller's memory, C-contiguous, exactly the result's size in bytes. After an error its contents are
    /// unspecified.
    Into(&'a mut [u8]),
    /// Stays on the device that the program runs on: `None` before the call, `Some` after it.
    Device(Option<Arc<dyn DeviceMemory>>),
}

/// Options of compilation and execution. They do not change results, except `tile` the rounding of large matrix products.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RunOptions {
    /// The maximum number of threads for large kernels: `None` for one per processor, 1 for the calling thread only.
    pub threads: Option<usize>,
    /// Lanes of the innermost loops.
    pub vector: VectorWidth,
    /// The executor of the loops.
    pub execution: Execution,
    /// Indices of a tile, where several kernels run tile by tile: `None` for as many as fit a processor's cache. With matrix products the
    /// shape decides.
    pub tile: Option<usize>,
}

/// Counters of donated arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Donations {
    /// Donated arguments.
    pub given: u64,
    /// Donated arguments whose memory a result took.
    pub taken: u64,
}

/// The number of runs of a launch, and their total time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timed {
    /// Runs.
    pub runs: u64,
    /// Their time.
    pub time: Duration,
}
