//! A lowered program with its kernels compiled, ready to run.

use crate::buffer::Buffer;
use ndjit_codegen::Lowered;
use ndjit_ir::Result;
use ndjit_ir::literal::Literal;
use std::sync::Arc;

/// An array argument of a call. Its layout is the one the program was lowered for.
pub enum Argument<'a> {
    /// Borrowed elements: the bytes from the start of the buffer the layout refers to.
    Borrowed(&'a [u8]),
    /// A shared buffer; only read.
    Shared(&'a Arc<Buffer>),
    /// A buffer given away: its memory is used for a result where nobody else holds it and the layouts agree.
    Donated(Arc<Buffer>),
}

/// Where a result goes.
pub enum Output<'a> {
    /// Into a buffer made for it: `None` before the call, `Some` after it.
    Fresh(Option<Arc<Buffer>>),
    /// Into the caller's memory, C-contiguous, exactly the result's size in bytes.
    Into(&'a mut [u8]),
}

/// A lowered program with its kernels compiled. `Send + Sync`; any number of threads may run it at once.
pub struct Executable {}

impl Executable {
    /// Compiles the kernels that the cache does not hold yet.
    ///
    /// # Errors
    /// `Backend` if code generation fails.
    pub fn new(lowered: &Lowered) -> Result<Executable> {
        let _ = lowered;
        Ok(Executable {})
    }

    /// Runs the program. `scalars` are the values of the [`Slot::Argument`](ndjit_ir::graph::Slot) slots, by argument index.
    ///
    /// # Errors
    /// `Literal` if a scalar does not fit the dtype it is used in; `Allocation` if memory is refused; `Panic` if a worker
    /// panicked.
    pub fn run(
        &self,
        arguments: Vec<Argument<'_>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
    ) -> Result<()> {
        let _ = (arguments, scalars, outputs);
        Ok(())
    }
}
