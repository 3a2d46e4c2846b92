//! Kernels of whole nests, each with the driver of its kind.

use crate::execution::code::{CodeOptions, Composed, Execution, Kernel};
use crate::execution::contract::Contractor;
use crate::execution::kernels::cached;
use crate::execution::lowering;
use crate::execution::reduce::Reducer;
use crate::execution::scan::Scanner;
use crate::execution::scatter::Scatterer;
use crate::execution::sort::Sorter;
use ndjit_codegen::clif::AccumulatorLayout;
use ndjit_codegen::passes::split::TargetKernel;
use ndjit_ir::loops::LoopNest;
use ndjit_ir::{Error, ErrorCode, Result};
use std::sync::Arc;
use std::time::Instant;

/// The kernel of a nest, compiled on a miss.
///
/// # Errors
/// As [`Kernel::new`].
pub fn get(nest: &LoopNest, options: CodeOptions) -> Result<Arc<Kernel>> {
    cached((nest.clone(), options, AccumulatorLayout::Plain), |(nest, options, _)| Kernel::new(nest, *options))
}

impl Kernel {
    /// Compiles loops over ops, on the calling thread.
    ///
    /// # Errors
    /// `Backend` if code generation fails or the host is not supported; `Verify` if the nest violates an invariant.
    pub fn new(nest: &LoopNest, options: CodeOptions) -> Result<Kernel> {
        let start = Instant::now();
        let composed: Box<dyn Composed> = match lowering::kernel(nest, &options.execution.target()?)? {
            TargetKernel::Map(part) => return Kernel::part(&part, options),
            TargetKernel::Reduce(parts) => {
                let reducer = Box::new(Reducer::new(nest, &parts, options)?);
                // Without machine code, the order of the loops is the interpreter's.
                match if options.execution == Execution::Compiled {
                    Contractor::new(nest, reducer)
                } else {
                    Err(reducer)
                } {
                    Ok(contractor) => Box::new(contractor),
                    Err(reducer) => reducer,
                }
            }
            TargetKernel::Scan(parts) => Box::new(Scanner::new(nest, &parts, options)?),
            TargetKernel::Sort(parts) => Box::new(Sorter::new(nest, &parts, options)?),
            TargetKernel::Scatter(values) => Box::new(Scatterer::new(nest, &values, options)?),
            TargetKernel::Combine { .. } => {
                return Err(Error::new(
                    ErrorCode::Verify,
                    "kernel: it was lowered for a device that combines elements",
                ));
            }
        };
        Ok(Kernel::of_parts(composed, nest, start))
    }
}
