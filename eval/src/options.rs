//! Options of lowering, compilation and execution.

use crate::settings::Settings;
use ndjit_codegen::target::VectorWidth;
use ndjit_codegen::{Lowered, Options};
use ndjit_inspect::explain::ParamSource;
use ndjit_inspect::listing::Inspection;
use ndjit_ir::Result;
use ndjit_runtime::{RunOptions, devices};

/// Options of lowering, compilation and execution. Only contraction changes results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// The maximum number of threads per call; `None` is one per processor, or the environment's number.
    pub threads: Option<usize>,
    /// Whether elementwise ops share kernels.
    pub fuse: bool,
    /// Whether a product and a sum of floats become one operation with one rounding.
    pub fp_contract: bool,
    /// Lanes of the innermost loops of kernels.
    pub vector: VectorWidth,
    /// Whether a NaN result is an error.
    pub check_nans: bool,
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions { threads: None, fuse: true, fp_contract: false, vector: VectorWidth::default(), check_nans: false }
    }
}

impl PlanOptions {
    /// Options of lowering under these settings.
    ///
    /// # Errors
    /// `Device` if there is no such device.
    pub fn lowering(&self, settings: Settings) -> Result<Options> {
        let (policy, fuse, fp_contract) = (settings.policy, self.fuse, self.fp_contract);
        let options = Options { policy, fuse, fp_contract, ..Options::default() };
        devices::options(settings.device, options)
    }

    /// Options of compilation and execution.
    pub fn running(&self) -> RunOptions {
        let (threads, vector) = (self.threads, self.vector);
        RunOptions { threads, vector, ..RunOptions::default() }
    }

    /// A program for inspection, uncompiled.
    pub fn inspection<'a>(&self, lowered: &'a Lowered, settings: Settings, inputs: Vec<ParamSource>) -> Inspection<'a> {
        let (run, Settings { device, fallback, .. }) = (self.running(), settings);
        Inspection { lowered, run, device, fallback, program: None, inputs }
    }
}
