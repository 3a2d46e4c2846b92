//! Devices of programs and arrays: the processor and GPUs. The GPUs of the process are opened here, each at its first use, and again
//! after a loss.

pub mod backend;
#[cfg(feature = "gpu")]
pub mod gpu;

use crate::devices::backend::{Backend, Cpu, DeviceMemory, Reading};
use crate::memory::buffer::Buffer;
use crate::programs::executable::{Argument, Output};
use ndjit_codegen::wgsl::{DispatchKind, Features};
use ndjit_codegen::{Lowered, LoweredStep, Options};
use ndjit_ir::loops::NestKind;
use ndjit_ir::support::Device;
use ndjit_ir::{Error, ErrorCode, Result};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The treatment of a dtype that a GPU lacks, if no [casting mode](ndjit_ir::support::CastingModes) avoids it. A greater value serves
/// more programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fallback {
    /// It is an error.
    #[default]
    Error,
    /// 64-bit integers are computed as pairs of words. Computing in `f64` and `c128` stays an error.
    Emulate,
    /// Kernels that use it run on the processor; their arrays go to the host and back.
    Cpu,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fallback::Error => "error",
            Fallback::Emulate => "emulate",
            Fallback::Cpu => "cpu",
        })
    }
}

/// Elements in the memory of a device. `Clone` shares them.
#[derive(Clone, Debug)]
pub enum Memory {
    /// In the host's memory.
    Host(Arc<Buffer>),
    /// In device memory.
    Device(Arc<dyn DeviceMemory>),
}

impl Memory {
    /// The length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Memory::Host(buffer) => buffer.len(),
            Memory::Device(memory) => memory.len(),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device.
    pub fn device(&self) -> Device {
        match self {
            Memory::Host(_) => Device::CPU,
            Memory::Device(memory) => memory.device(),
        }
    }

    /// The elements in host memory, copied if necessary. Waits for kernels that write them.
    ///
    /// # Errors
    /// `Device` if the device is lost or does not answer; `Allocation` if memory is refused.
    pub fn host(&self) -> Result<Arc<Buffer>> {
        match self {
            Memory::Host(buffer) => Ok(Arc::clone(buffer)),
            Memory::Device(memory) => {
                let mut buffer = Buffer::zeroed(memory.len())?;
                memory.download(buffer.as_bytes_mut()?)?;
                Ok(Arc::new(buffer))
            }
        }
    }

    /// Waits until the elements are computed.
    ///
    /// # Errors
    /// `Device` if the device is lost or does not answer.
    pub fn wait(&self) -> Result<()> {
        match self {
            Memory::Host(_) => Ok(()),
            Memory::Device(memory) => memory.wait(),
        }
    }

    /// Starts a copy to the host without waiting; `None` for host memory.
    ///
    /// # Errors
    /// `Device` if the device is lost; `Allocation` if memory for the copy is refused.
    pub fn reading(&self) -> Result<Option<Box<dyn Reading>>> {
        match self {
            Memory::Host(_) => Ok(None),
            Memory::Device(memory) => Arc::clone(memory).reading().map(Some),
        }
    }

    /// The elements on a device, copied if necessary.
    ///
    /// # Errors
    /// Those of [`host`](Memory::host); `Device` if the device cannot be opened; `Allocation` if it has no memory.
    pub fn on(&self, device: Device) -> Result<Memory> {
        if self.device() == device {
            return Ok(self.clone());
        }
        if device == Device::CPU {
            return self.host().map(Memory::Host);
        }
        open(device)?.upload(self.host()?.as_bytes())
    }

    /// The memory as an argument.
    pub fn argument(&self) -> Argument<'_> {
        match self {
            Memory::Host(buffer) => Argument::Shared(buffer),
            Memory::Device(memory) => Argument::Device(memory),
        }
    }

    /// The memory as a result of a call.
    pub fn result<'a>(&self) -> Output<'a> {
        match self {
            Memory::Host(buffer) => Output::Fresh(Some(Arc::clone(buffer))),
            Memory::Device(memory) => Output::Device(Some(Arc::clone(memory))),
        }
    }
}

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

/// A compiled kernel of any device.
pub trait KernelCode: Send + Sync {
    /// Bytes of its code.
    fn code_bytes(&self) -> usize;
    /// The time it took to compile.
    fn compile_time(&self) -> Duration;
}

/// The memory of a result after a call.
///
/// # Errors
/// `Verify` if the call did not set it.
pub fn result_memory(output: Output<'_>) -> Result<Memory> {
    match output {
        Output::Fresh(Some(buffer)) => Ok(Memory::Host(buffer)),
        Output::Device(Some(memory)) => Ok(Memory::Device(memory)),
        Output::Fresh(None) | Output::Device(None) | Output::Into(_) => {
            Err(Error::new(ErrorCode::Verify, "the program gave no elements").of("run"))
        }
    }
}

/// The pipeline options for a device, with its limit of arrays per kernel.
///
/// # Errors
/// Those of [`open`].
pub fn options(device: Device, options: Options) -> Result<Options> {
    Ok(Options { device_arrays: open(device)?.max_arrays(), ..options })
}

/// Opens a device.
///
/// # Errors
/// `Device` if a GPU cannot be opened, the program was built without GPUs, or the device is only described.
pub fn open(device: Device) -> Result<Arc<dyn Backend>> {
    static CPU: OnceLock<Arc<dyn Backend>> = OnceLock::new();
    match device.gpu_number() {
        #[cfg(feature = "gpu")]
        Some(number) => Ok(crate::devices::gpu::opened(number)?),
        #[cfg(not(feature = "gpu"))]
        Some(_) => Err(Error::new(ErrorCode::Device, "this program was built without GPUs").of("gpu")
            .help("enable the feature: `ndjit = { features = [\"gpu\"] }`")),
        None if device == Device::CPU => Ok(Arc::clone(CPU.get_or_init(|| Arc::new(Cpu)))),
        None => Err(Error::new(ErrorCode::Device, format!("`{device}` is described, and nothing runs there")).of("device")
            .help("`with_device(device, || …)` makes operations with its dtypes; run them on `Device::CPU` or `Device::gpu()`")),
    }
}

/// The SPIR-V of a module, as text.
///
/// # Errors
/// `Backend` if the text is not valid WGSL; those of [`open`] for a GPU, if this program was built without GPUs.
pub fn spirv(text: &str, device: Option<Device>) -> Result<String> {
    #[cfg(feature = "gpu")]
    return crate::devices::gpu::spirv(text, device);
    #[cfg(not(feature = "gpu"))]
    {
        let _ = text;
        open(device.unwrap_or_else(Device::gpu)).map(|_| String::new())
    }
}
