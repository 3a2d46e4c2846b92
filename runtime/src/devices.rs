//! Where programs run and arrays are: on the processor, or on a GPU. The GPUs of the process are opened here, each once, at its
//! first use, and anew after one was lost.

use crate::buffer::Buffer;
use crate::executable::{Argument, Donations, Executable, Output, RunOptions, Timed};
use crate::gpu::{self, Gpu};
use crate::planned;
use ndjit_codegen::wgsl::{Features, Step};
use ndjit_codegen::{Lowered, LoweredKernel, LoweredStep, Options};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::NestKind;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What is done about a dtype that a GPU lacks, where no [casting mode](ndjit_ir::support::CastingModes) avoids it. The greater is what
/// serves more programs.
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

/// Where elements are. `Clone` shares them.
#[derive(Clone, Debug)]
pub enum Memory {
    /// In the host's memory.
    Host(Arc<Buffer>),
    /// On a GPU.
    Gpu(Arc<gpu::Memory>),
}

impl Memory {
    /// The length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Memory::Host(buffer) => buffer.len(),
            Memory::Gpu(memory) => memory.len(),
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
            Memory::Gpu(memory) => memory.gpu().device(),
        }
    }

    /// The elements in the host's memory, copied there if they are on a GPU. Waits for kernels that write them.
    ///
    /// # Errors
    /// `Device` if the GPU is lost or does not answer; `Allocation` if memory is refused.
    pub fn host(&self) -> Result<Arc<Buffer>> {
        match self {
            Memory::Host(buffer) => Ok(Arc::clone(buffer)),
            Memory::Gpu(memory) => {
                let mut buffer = Buffer::zeroed(memory.len())?;
                memory.download(buffer.as_bytes_mut()?)?;
                Ok(Arc::new(buffer))
            }
        }
    }

    /// Waits until a GPU has computed the elements.
    ///
    /// # Errors
    /// `Device` if the GPU is lost or does not answer.
    pub fn wait(&self) -> Result<()> {
        match self {
            Memory::Host(_) => Ok(()),
            Memory::Gpu(memory) => memory.wait(),
        }
    }

    /// Asks a GPU for the elements and does not wait; `None` where they are in the host's memory.
    ///
    /// # Errors
    /// `Device` if the GPU is lost; `Allocation` if memory for the copy is refused.
    pub fn reading(&self) -> Result<Option<gpu::Reading>> {
        match self {
            Memory::Host(_) => Ok(None),
            Memory::Gpu(memory) => memory.reading().map(Some),
        }
    }

    /// The elements on a device, copied there if they are elsewhere.
    ///
    /// # Errors
    /// Those of [`host`](Memory::host); `Device` if the GPU cannot be opened; `Allocation` if it has no memory.
    pub fn on(&self, device: Device) -> Result<Memory> {
        if self.device() == device {
            return Ok(self.clone());
        }
        match open(device)? {
            None => Ok(Memory::Host(self.host()?)),
            Some(gpu) => Ok(Memory::Gpu(Arc::new(gpu::Memory::upload(&gpu, self.host()?.as_bytes())?))),
        }
    }

    /// The memory as an argument.
    pub fn argument(&self) -> Argument<'_> {
        match self {
            Memory::Host(buffer) => Argument::Shared(buffer),
            Memory::Gpu(memory) => Argument::Gpu(memory),
        }
    }
}

/// Where control flow runs.
pub(crate) const CONTROL: &str = "on the processor: there is no shader of control flow";

/// Where a loop nest runs that scatters.
pub(crate) const SCATTERS: &str = "on the processor: there is no shader that scatters";

/// Where a loop nest runs that sorts.
pub(crate) const SORTS: &str = "on the processor: there is no shader that sorts";

/// What a program on a GPU consists of.
#[derive(Clone, Debug)]
pub struct OnGpu {
    /// The device, in words.
    pub name: String,
    /// The device, if it is one.
    pub device: Option<Device>,
    /// What modules may use.
    pub features: Features,
    /// The program's steps, in order.
    pub steps: Vec<StepOnGpu>,
}

/// A step of a program on a GPU: a loop nest, or control flow.
#[derive(Clone, Debug)]
pub struct StepOnGpu {
    /// Where it runs, in words.
    pub placement: String,
    /// The shaders of a nest, each once.
    pub shaders: Vec<Step>,
}

impl OnGpu {
    /// What a program would consist of on a device that has everything, of small arrays.
    pub fn anywhere(lowered: &Lowered) -> OnGpu {
        let of = |step: &LoweredStep| match step.kernel().map(|kernel| &kernel.scheduled.nest) {
            None => (CONTROL, Vec::new()),
            Some(nest) => match nest.kind {
                NestKind::Scatter(_) => (SCATTERS, Vec::new()),
                NestKind::Sort(_) => (SORTS, Vec::new()),
                NestKind::Map | NestKind::Reduce(_) | NestKind::Contract(_) | NestKind::Scan(_) => {
                    ("on the device", vec![Step::first(nest)])
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

/// A compiled kernel, whatever it is for.
pub trait KernelCode: Send + Sync {
    /// Bytes of its code.
    fn code_bytes(&self) -> usize;
    /// The time it took to compile.
    fn compile_time(&self) -> Duration;
}

/// A lowered program with its kernels compiled for a device. `Send + Sync`; any number of threads may run it at once.
#[derive(Debug)]
pub enum Program {
    /// On the processor.
    Cpu(Box<Executable>),
    /// On a GPU.
    Gpu(gpu::Program),
}

impl Program {
    /// Compiles a program's kernels.
    ///
    /// # Errors
    /// Those of [`Executable::new`]; `Device` if a GPU cannot be opened, `Backend` if it lacks what the program needs.
    pub fn new(lowered: &Lowered, device: Device, fallback: Fallback, options: &RunOptions) -> Result<Program> {
        Ok(match open(device)? {
            None => Program::Cpu(Box::new(Executable::new(lowered, options)?)),
            Some(gpu) => Program::Gpu(gpu::Program::new(&gpu, lowered, fallback, options)?),
        })
    }

    /// What a program on a GPU consists of; `None` of the processor's, which depends on the loops alone.
    pub fn on_gpu(&self) -> Option<OnGpu> {
        match self {
            Program::Cpu(_) => None,
            Program::Gpu(program) => Some(program.on_gpu()),
        }
    }

    /// The dtypes for want of which loop nests of a GPU's program run on the processor, one for each that does.
    pub fn on_processor(&self) -> Vec<DType> {
        match self {
            Program::Cpu(_) => Vec::new(),
            Program::Gpu(program) => program.on_processor(),
        }
    }

    /// Runs the program.
    ///
    /// # Errors
    /// Those of [`Executable::run`]; `Device` if an argument is on another device, or the device is lost or does not answer.
    pub fn run<'a>(
        &self,
        arguments: impl IntoIterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
    ) -> Result<()> {
        match self {
            Program::Cpu(executable) => executable.run(arguments, scalars, outputs),
            Program::Gpu(program) => program.run(&arguments.into_iter().collect::<Vec<_>>(), scalars, outputs),
        }
    }

    /// Runs the program as [`run`](Program::run); how long each launch took, which is not known of a GPU.
    ///
    /// # Errors
    /// Those of [`run`](Program::run).
    pub fn run_timed<'a>(
        &self,
        arguments: impl IntoIterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
    ) -> Result<Option<Vec<Timed>>> {
        match self {
            Program::Cpu(executable) => executable.run_timed(arguments, scalars, outputs).map(Some),
            Program::Gpu(_) => self.run(arguments, scalars, outputs).map(|()| None),
        }
    }

    /// Estimated time of each launch; none for a GPU.
    pub fn estimates(&self) -> Option<Vec<Duration>> {
        match self {
            Program::Cpu(executable) => {
                let time = |ns: f64| Duration::from_secs_f64(ns.clamp(0.0, 1e18) * 1e-9);
                Some(executable.estimates().into_iter().map(time).collect())
            }
            Program::Gpu(_) => None,
        }
    }

    /// A result that stays where the program runs, before the call.
    pub fn result<'a>(&self) -> Output<'a> {
        match self {
            Program::Cpu(_) => Output::Fresh(None),
            Program::Gpu(_) => Output::Gpu(None),
        }
    }

    /// The arrays of the program, which is this one lowered.
    ///
    /// # Errors
    /// Those of [`planned`](planned::planned).
    pub fn planned(&self, lowered: &Lowered) -> Result<Vec<planned::PlannedArray>> {
        match self {
            Program::Cpu(executable) => Ok(executable.planned(lowered)),
            Program::Gpu(_) => planned::planned(lowered),
        }
    }

    /// The memory that a run takes beside its arguments, if none of these is given away.
    pub fn memory(&self) -> planned::Memory {
        match self {
            Program::Cpu(executable) => executable.memory(),
            Program::Gpu(program) => program.memory(),
        }
    }

    /// What became of arguments that were given away; a GPU takes none.
    pub fn donations(&self) -> Donations {
        match self {
            Program::Cpu(executable) => executable.donations(),
            Program::Gpu(_) => Donations::default(),
        }
    }

    /// Whether the device it was compiled for is not lost.
    pub fn is_alive(&self) -> bool {
        match self {
            Program::Cpu(_) => true,
            Program::Gpu(program) => program.is_alive(),
        }
    }

    /// The kernels of each launch, in the order of [`Lowered::all_launches`].
    pub fn kernels(&self) -> Vec<Vec<Arc<dyn KernelCode>>> {
        match self {
            Program::Cpu(executable) => executable.launched_kernels(),
            Program::Gpu(program) => program.kernels(),
        }
    }
}

/// The memory of a result after a call.
///
/// # Errors
/// `Verify` if the call did not give it.
pub fn result_memory(output: Output<'_>) -> Result<Memory> {
    match output {
        Output::Fresh(Some(buffer)) => Ok(Memory::Host(buffer)),
        Output::Gpu(Some(memory)) => Ok(Memory::Gpu(memory)),
        Output::Fresh(None) | Output::Gpu(None) | Output::Into(_) => {
            Err(Error::new(ErrorCode::Verify, "run: the program gave no elements"))
        }
    }
}

/// What the pipeline may do for a device, which bounds how many arrays a kernel uses.
///
/// # Errors
/// `Device` if a GPU cannot be opened.
pub fn options(device: Device, options: Options) -> Result<Options> {
    Ok(match open(device)? {
        None => options,
        Some(gpu) => Options { max_arrays: options.max_arrays.min(gpu.max_arrays()), ..options },
    })
}

/// Whether no kernel that runs on a device uses more arrays than it takes.
///
/// # Errors
/// `Device` if a GPU cannot be opened.
pub fn fits(device: Device, lowered: &Lowered) -> Result<bool> {
    let Some(gpu) = open(device)? else { return Ok(true) };
    let fits = |kernel: &LoweredKernel| {
        let nest = &kernel.scheduled.nest;
        let each = match nest.kind {
            NestKind::Scatter(_) => return true,
            // Blocks that are scanned give their totals besides.
            NestKind::Scan(_) | NestKind::Sort(_) => 2,
            NestKind::Map | NestKind::Reduce(_) | NestKind::Contract(_) => 1,
        };
        let inputs = nest.inputs.iter().filter(|access| !access.is_index()).count();
        inputs + nest.outputs.len() * each <= gpu.max_arrays()
    };
    Ok(lowered.kernels().all(fits))
}

/// Opens a device; `None` for the processor.
///
/// # Errors
/// `Device` if a GPU cannot be opened, or the device is only described.
pub fn open(device: Device) -> Result<Option<Arc<Gpu>>> {
    match device.gpu_number() {
        Some(number) => gpu::opened(number).map(Some),
        None if device == Device::CPU => Ok(None),
        None => Err(Error::new(ErrorCode::Device, format!("device: `{device}` is described, and nothing runs there"))
            .help("`with_device(device, || …)` makes operations with its dtypes; run them on `Device::CPU` or `Device::gpu()`")),
    }
}
