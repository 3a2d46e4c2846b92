//! A program's steps on a GPU, for inspection: where each runs, and its shaders.

use ndjit_codegen::wgsl::{DispatchKind, Features};
use ndjit_codegen::{Lowered, LoweredStep};
use ndjit_ir::loops::NestKind;
use ndjit_ir::support::Device;

/// The placement of control flow.
pub(crate) const CONTROL: &str = "on the processor: there is no shader of control flow";

/// The placement of a loop nest that scatters.
pub(crate) const SCATTERS: &str = "on the processor: there is no shader that scatters";

/// The placement of a loop nest that sorts.
pub(crate) const SORTS: &str = "on the processor: there is no shader that sorts";

/// The steps of a program on a GPU.
#[derive(Clone, Debug)]
pub struct OnGpu {
    /// The device, in words.
    pub name: String,
    /// The device, if it is one.
    pub device: Option<Device>,
    /// Features available to modules.
    pub features: Features,
    /// The program's steps, in order.
    pub steps: Vec<StepOnGpu>,
}

/// A step of a program on a GPU: a loop nest, or control flow.
#[derive(Clone, Debug)]
pub struct StepOnGpu {
    /// Its placement, in words.
    pub placement: String,
    /// The distinct shaders of a nest.
    pub shaders: Vec<DispatchKind>,
}

impl OnGpu {
    /// A program's steps on a device with all features, for small arrays.
    pub fn anywhere(lowered: &Lowered) -> OnGpu {
        let of = |step: &LoweredStep| match step.kernel().map(|kernel| &kernel.scheduled.nest) {
            None => (CONTROL, Vec::new()),
            Some(nest) => match nest.kind {
                NestKind::Scatter(_) => (SCATTERS, Vec::new()),
                NestKind::Sort(_) => (SORTS, Vec::new()),
                NestKind::Map | NestKind::Reduce(_) | NestKind::Contract(_) | NestKind::Scan(_) => {
                    ("on the device", vec![DispatchKind::first(nest)])
                }
            },
        };
        let step = |step: &LoweredStep| {
            let (placement, shaders) = of(step);
            StepOnGpu { placement: placement.to_owned(), shaders }
        };
        OnGpu {
            name: "the program runs on the processor; on a GPU that has everything it would be".to_owned(),
            device: None,
            features: Features::ALL,
            steps: lowered.steps.iter().map(step).collect(),
        }
    }
}
