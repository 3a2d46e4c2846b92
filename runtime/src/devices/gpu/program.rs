//! A lowered program on a device.

use super::device::Gpu;
use super::dispatch::{BoundMemory, Dispatches};
use super::memory::GpuMemory;
use super::pipeline::Pipeline;
use super::placement::{Placement, placement};
use super::recording::CommandRecorder;
use crate::devices::backend::{DeviceProgram, Fallback};
use crate::devices::on_gpu::{OnGpu, StepOnGpu};
use crate::execution::code::{CodeOptions, Kernel, KernelCode};
use crate::execution::drivers;
use crate::execution::reduce::element;
use crate::execution::threads::Threads;
use crate::memory::buffer::Buffer;
use crate::memory::device::DeviceMemory;
use crate::programs::call::{Argument, Output, RunOptions, Timed};
use crate::programs::control::Controller;
use crate::programs::executable::{Executable, InnerPrograms, planned_controls};
use crate::programs::literals::Literals;
use crate::programs::plan::BufferPlan;
use crate::programs::planned;
use crate::programs::run::{StepRunner, run};
use crate::programs::step_plan::StepPlan;
use ndjit_codegen::wgsl::DispatchKind;
use ndjit_codegen::{Lowered, LoweredStep, Scheduled};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::{IterationDomain, LoopNest};
use ndjit_ir::{DType, Error, ErrorCode, Result};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A lowered program with its kernels compiled for a device. `Send + Sync`; any number of threads may run it at once.
pub struct GpuProgram {
    gpu: Arc<Gpu>,
    plan: BufferPlan,
    steps: Vec<ReadyStep>,
}

impl fmt::Debug for GpuProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuProgram").field("gpu", &self.gpu).field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}

struct GpuKernel {
    nest: LoopNest,
    literals: Literals,
    placement: Placement,
    work: StepWork,
}

/// A step of the program.
// Almost every step is a kernel: a box for each would save nothing.
#[allow(clippy::large_enum_variant)]
enum ReadyStep {
    Kernel(GpuKernel),
    /// Control flow, on the processor.
    Control(Box<Controller>),
}

impl ReadyStep {
    fn kernel(&self) -> Option<&GpuKernel> {
        match self {
            ReadyStep::Kernel(kernel) => Some(kernel),
            ReadyStep::Control(_) => None,
        }
    }
}

enum StepWork {
    Dispatches(Dispatches),
    /// A reduction of no elements: the constant of each output.
    Constants(Vec<Vec<u8>>),
    /// On the processor.
    Cpu(Arc<Kernel>, IterationDomain),
}

impl GpuProgram {
    /// Compiles the kernels that the device has not compiled. The options apply to kernels on the processor.
    ///
    /// # Errors
    /// `Backend` if code generation or the driver fails, or the device lacks a dtype and `fallback` is an error; `Size` if an operand
    /// spans too much memory; `Literal` if a literal does not fit its dtype; `Verify` if a kernel of the program would leave its
    /// operands' memory; `Device` if the device is lost.
    pub fn new(gpu: &Arc<Gpu>, lowered: &Lowered, fallback: Fallback, options: &RunOptions) -> Result<GpuProgram> {
        let plan = BufferPlan::new(lowered)?;
        let threads = Threads::new(options.threads);
        let code = CodeOptions { vector: options.vector, execution: options.execution };
        let (mut steps, mut bodies) = (Vec::with_capacity(lowered.steps.len()), InnerPrograms::default());
        for (lowered_step, step) in lowered.steps.iter().zip(&plan.steps) {
            let scheduled = match lowered_step {
                LoweredStep::Kernel(kernel) => &kernel.scheduled,
                LoweredStep::Control(control) => {
                    let compile = |body: &_| Executable::body(body, options, &threads, &mut bodies);
                    steps.push(ReadyStep::Control(Box::new(Controller::new(control, (code, &threads), compile)?)));
                    continue;
                }
            };
            let Scheduled { nest, domain, .. } = scheduled;
            if !scheduled.rows.is_empty() {
                let headline = "device: the program was lowered for the processor, which finds rows as it runs";
                return Err(Error::new(ErrorCode::Verify, headline).help("lower it with `Options::device_arrays`"));
            }
            let placement = placement(gpu, nest, fallback)?;
            let work = if nothing_to_reduce(scheduled) {
                StepWork::Constants(constants(scheduled)?)
            } else if let Placement::Cpu(_) | Placement::Sorts | Placement::Scatters | Placement::Control = placement {
                let kernel = drivers::get(nest, code)?;
                StepWork::Cpu(kernel, domain.clone())
            } else {
                let sizes: Vec<usize> = step.outputs.iter().map(|output| output.bytes).collect();
                let dispatches = Dispatches::new(gpu, nest, domain, &sizes);
                StepWork::Dispatches(dispatches.map_err(|error| operands(error, lowered, scheduled))?)
            };
            let literals = Literals::new(lowered, scheduled)?;
            steps.push(ReadyStep::Kernel(GpuKernel { nest: nest.clone(), literals, placement, work }));
        }
        Ok(GpuProgram { gpu: Arc::clone(gpu), plan, steps })
    }

    /// The number of dispatches of a call.
    pub fn dispatches(&self) -> usize {
        let count = |kernel: &GpuKernel| match &kernel.work {
            StepWork::Dispatches(dispatches) => dispatches.all.len(),
            StepWork::Constants(_) | StepWork::Cpu(..) => 0,
        };
        self.steps.iter().filter_map(ReadyStep::kernel).map(count).sum()
    }

    /// The placement of each step.
    pub fn placements(&self) -> impl ExactSizeIterator<Item = &Placement> {
        self.steps.iter().map(|step| step.kernel().map_or(&Placement::Control, |kernel| &kernel.placement))
    }

    /// An argument's memory, checked to be on this device.
    fn own(&self, index: usize, memory: &Arc<dyn DeviceMemory>) -> Result<Arc<GpuMemory>> {
        let elsewhere = |on: &dyn fmt::Display| {
            Error::new(ErrorCode::Device, format!("run: argument {index} is on another device"))
                .fact(format_args!("it is on {on}"))
                .fact(format_args!("the program runs on {}", self.gpu.info().name))
        };
        let any: Arc<dyn Any + Send + Sync> = Arc::<dyn DeviceMemory>::clone(memory);
        let Ok(own) = any.downcast::<GpuMemory>() else { return Err(elsewhere(&memory.device())) };
        if !Arc::ptr_eq(own.gpu(), &self.gpu) {
            own.gpu().alive()?;
            return Err(elsewhere(&own.gpu().info().name));
        }
        Ok(own)
    }

    /// The arguments in device memory.
    fn arguments(&self, arguments: &[Argument<'_>]) -> Result<Vec<Option<Arc<GpuMemory>>>> {
        let mut places = Vec::with_capacity(self.plan.locations);
        for (index, argument) in arguments.iter().enumerate() {
            places.push(match argument {
                Argument::Device(memory) => Some(self.own(index, memory)?),
                Argument::Borrowed(_) | Argument::Shared(_) | Argument::Donated(_) => None,
            });
        }
        for ((place, argument), &needed) in places.iter_mut().zip(arguments).zip(&self.plan.params) {
            let bytes = match argument {
                Argument::Device(_) => continue,
                Argument::Borrowed(bytes) => bytes,
                Argument::Shared(buffer) => buffer.as_bytes(),
                Argument::Donated(buffer) => buffer.as_bytes(),
            };
            // Arguments that no kernel reads stay on the host.
            if needed > 0 {
                *place = Some(Arc::new(GpuMemory::upload(&self.gpu, bytes)?));
            }
        }
        Ok(places)
    }
}

impl DeviceProgram for GpuProgram {
    /// Results on the device may still be in computation when this returns; reads wait.
    fn run<'a>(
        &self,
        arguments: &mut dyn Iterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
        _: Option<&mut Vec<Timed>>,
    ) -> Result<()> {
        let arguments: Vec<Argument<'_>> = arguments.collect();
        self.plan.check(arguments.iter().map(Argument::len), outputs)?;
        let mut places = self.arguments(&arguments)?;
        places.resize_with(self.plan.locations, || None);
        let recording = CommandRecorder::new(&self.gpu);
        let mut there = GpuRun { program: self, scalars, arguments: arguments.len(), places, recording };
        run(&self.plan, &mut there, None)?;
        let GpuRun { places, recording, .. } = there;
        recording.submit()?;
        for (index, result) in self.plan.results.iter().enumerate() {
            let Some(memory) = &places[result.location as usize] else {
                return Err(Error::new(ErrorCode::Verify, format!("run: no kernel made result {index}")));
            };
            match &mut outputs[index] {
                Output::Device(into) => *into = Some(Arc::<GpuMemory>::clone(memory)),
                Output::Into(bytes) => memory.download(bytes)?,
                Output::Fresh(into) => {
                    let mut buffer = Buffer::zeroed(memory.len())?;
                    memory.download(buffer.as_bytes_mut()?)?;
                    *into = Some(Arc::new(buffer));
                }
            }
        }
        Ok(())
    }

    fn result<'a>(&self) -> Output<'a> {
        Output::Device(None)
    }

    /// One for each dispatch kind of a nest.
    fn kernels(&self) -> Vec<Vec<Arc<dyn KernelCode>>> {
        let compiled = |kernel: &GpuKernel| -> Vec<Arc<dyn KernelCode>> {
            match &kernel.work {
                StepWork::Constants(_) => Vec::new(),
                StepWork::Cpu(kernel, _) => vec![Arc::clone(kernel) as Arc<dyn KernelCode>],
                StepWork::Dispatches(dispatches) => {
                    let mut all: Vec<&Arc<Pipeline>> = Vec::new();
                    for dispatch in &dispatches.all {
                        if !all.iter().any(|known| Arc::ptr_eq(known, &dispatch.pipeline)) {
                            all.push(&dispatch.pipeline);
                        }
                    }
                    all.into_iter().map(|pipeline| Arc::clone(pipeline) as Arc<dyn KernelCode>).collect()
                }
            }
        };
        let mut all = Vec::new();
        for launch in &self.plan.launches {
            let own = &self.steps[launch.steps.clone()];
            all.push(own.iter().filter_map(ReadyStep::kernel).flat_map(compiled).collect());
            for step in own {
                let ReadyStep::Control(control) = step else { continue };
                control.programs().iter().for_each(|program| all.extend(program.launched_kernels()));
            }
        }
        all
    }

    fn planned(&self, lowered: &Lowered) -> Result<planned::PlannedProgram> {
        let known = &mut planned::PlannedBodies::default();
        // The processor runs the graphs of control flow.
        let bodies = |step: usize| match self.steps.get(step) {
            Some(ReadyStep::Control(control)) => control.programs(),
            Some(ReadyStep::Kernel(_)) | None => &[],
        };
        let controls = planned_controls(lowered, known, &bodies)?;
        Ok(planned::PlannedProgram { arrays: planned::arrays(&self.plan, lowered), memory: self.memory(), controls })
    }

    /// All arrays live to the end of a run.
    fn memory(&self) -> planned::MemoryFootprint {
        planned::MemoryFootprint::of_arrays(&self.plan)
    }

    fn on_gpu(&self) -> Option<OnGpu> {
        let step = |(step, placement): (&ReadyStep, &Placement)| {
            let mut shaders: Vec<DispatchKind> = Vec::new();
            if let Some(StepWork::Dispatches(dispatches)) = step.kernel().map(|kernel| &kernel.work) {
                for dispatch in &dispatches.all {
                    if !shaders.contains(&dispatch.step) {
                        shaders.push(dispatch.step);
                    }
                }
            }
            StepOnGpu { placement: placement.to_string(), shaders }
        };
        Some(OnGpu {
            name: self.gpu.info().to_string(),
            device: Some(self.gpu.device()),
            features: self.gpu.features(),
            steps: self.steps.iter().zip(self.placements()).map(step).collect(),
        })
    }

    fn on_processor(&self) -> Vec<DType> {
        let dtypes = self.placements().filter_map(|placement| match placement {
            Placement::Cpu(dtype) => Some(*dtype),
            Placement::Device
            | Placement::Emulated(_)
            | Placement::Sorts
            | Placement::Scatters
            | Placement::Control => None,
        });
        dtypes.collect()
    }

    fn is_alive(&self) -> bool {
        self.gpu.alive().is_ok()
    }
}

/// A run on a device.
struct GpuRun<'r> {
    program: &'r GpuProgram,
    scalars: &'r [(usize, Literal)],
    /// The number of arguments among the places.
    arguments: usize,
    places: Vec<Option<Arc<GpuMemory>>>,
    recording: CommandRecorder<'r>,
}

impl StepRunner for GpuRun<'_> {
    fn step(&mut self, n: usize, _: Option<&mut [Timed]>) -> Result<()> {
        let GpuProgram { gpu, plan, steps } = self.program;
        let (ready, step) = (&steps[n], &plan.steps[n]);
        for output in &step.outputs {
            let place = &mut self.places[output.location as usize];
            // Another kernel may have stored a part of it before.
            if place.is_none() {
                *place = Some(Arc::new(GpuMemory::new(gpu, output.bytes)?));
            }
        }
        if let (Some(rest), [output]) = (&step.rest, &step.outputs[..]) {
            let at = |location: u32| self.places[location as usize].as_deref();
            let (Some(from), Some(to)) = (at(rest.location), at(output.location)) else {
                return Err(Error::new(ErrorCode::Verify, "run: a kernel takes the rest of what no kernel made"));
            };
            self.recording.copy(from, to, output.bytes);
        }
        if step.empty {
            return Ok(());
        }
        match ready {
            ReadyStep::Kernel(kernel) if !matches!(kernel.work, StepWork::Cpu(..)) => {
                kernel.record(&mut self.recording, step, self.scalars, &self.places)
            }
            ReadyStep::Kernel(_) | ReadyStep::Control(_) => {
                // Its inputs must be complete.
                std::mem::replace(&mut self.recording, CommandRecorder::new(gpu)).submit()?;
                ready.run_here(step, self.scalars, (self.arguments, &self.places))
            }
        }
    }

    fn inner(&self, n: usize) -> usize {
        match &self.program.steps[n] {
            ReadyStep::Kernel(_) => 0,
            ReadyStep::Control(control) => control.programs().iter().map(|program| program.launches()).sum(),
        }
    }
}

/// Extends the error of an oversized kernel with its inputs and outputs.
fn operands(error: Error, lowered: &Lowered, scheduled: &Scheduled) -> Error {
    if error.code() != ErrorCode::Size {
        return error;
    }
    let graph = &lowered.simplified;
    let all = [("in", &scheduled.inputs), ("out", &scheduled.outputs)];
    all.into_iter().flat_map(|(what, values)| values.iter().enumerate().map(move |n| (what, n))).fold(
        error,
        |error, (what, (n, &value))| {
            error.fact(format_args!("{what}{n}: {value}, {}{}", graph.ty(value), graph.shape(value)))
        },
    )
}

/// Whether a kernel has results, but no elements to reduce.
fn nothing_to_reduce(scheduled: &Scheduled) -> bool {
    let Scheduled { nest, domain, .. } = scheduled;
    nest.kind.reduction().is_some()
        && !domain.extents[..nest.parallel_rank()].contains(&0)
        && domain.extents[nest.parallel_rank()..].contains(&0)
}

fn constants(scheduled: &Scheduled) -> Result<Vec<Vec<u8>>> {
    let reductions = scheduled.nest.kind.reduction().map_or(&[][..], |reduce| &reduce.outputs);
    reductions
        .iter()
        .zip(&scheduled.nest.outputs)
        .map(|(reduction, access)| {
            let literal = reduction
                .empty_result()
                .ok_or_else(|| Error::new(ErrorCode::Verify, format!("run: {reduction} of no elements")))?;
            element(access.dtype, &literal.to_repr(access.dtype)?)
        })
        .collect()
}

impl GpuKernel {
    fn record<'a>(
        &'a self,
        recording: &mut CommandRecorder<'a>,
        step: &StepPlan,
        scalars: &[(usize, Literal)],
        places: &[Option<Arc<GpuMemory>>],
    ) -> Result<()> {
        let missing = || Error::new(ErrorCode::Verify, "run: a kernel has an operand that no kernel made");
        let at = |location: u32| places[location as usize].as_deref().ok_or_else(missing);
        match &self.work {
            StepWork::Dispatches(dispatches) => {
                let mut literals: Vec<u64> = self.literals.registers.iter().map(|register| register.1).collect();
                self.literals.passed(scalars, |register, _, bits| literals[register] = bits)?;
                recording.add(&self.nest, dispatches, &literals, |place| match place {
                    BoundMemory::Input(n) => at(step.inputs[n].0.ok_or_else(missing)?),
                    BoundMemory::Output(n) => at(step.outputs[n].location),
                    BoundMemory::Partial(_) => Err(missing()),
                })
            }
            StepWork::Constants(elements) => {
                for (element, output) in elements.iter().zip(&step.outputs) {
                    at(output.location)?.fill(element)?;
                }
                Ok(())
            }
            StepWork::Cpu(..) => Ok(()),
        }
    }
}

impl ReadyStep {
    /// Runs on the processor, with copies of its arrays: `places`, the first of which are the `arguments`.
    fn run_here(
        &self,
        step: &StepPlan,
        scalars: &[(usize, Literal)],
        (arguments, places): (usize, &[Option<Arc<GpuMemory>>]),
    ) -> Result<()> {
        let missing = || Error::new(ErrorCode::Verify, "run: a kernel has an operand that no kernel made");
        let at = |location: u32| places[location as usize].as_deref().ok_or_else(missing);
        let here = |memory: &GpuMemory| {
            let mut buffer = Buffer::zeroed(memory.len())?;
            memory.download(buffer.as_bytes_mut()?)?;
            Ok::<Buffer, Error>(buffer)
        };
        let mut inputs = Vec::with_capacity(step.inputs.len());
        for (location, _) in &step.inputs {
            inputs.push(match location {
                // An argument without reads was not uploaded.
                Some(location) if *location as usize >= arguments || places[*location as usize].is_some() => {
                    here(at(*location)?)?
                }
                Some(_) | None => Buffer::zeroed(0)?,
            });
        }
        let inputs: Vec<&Buffer> = inputs.iter().collect();
        let kernel = match self {
            ReadyStep::Kernel(kernel) => kernel,
            ReadyStep::Control(control) => {
                let operands: Vec<&[u8]> = inputs.iter().map(|buffer| buffer.as_bytes()).collect();
                let results = control.results(&operands, scalars, None)?;
                for (output, buffer) in step.outputs.iter().zip(&results) {
                    at(output.location)?.write(buffer.as_bytes())?;
                }
                return Ok(());
            }
        };
        let GpuKernel { work: StepWork::Cpu(compiled, domain), literals: own, .. } = kernel else { return Ok(()) };
        let mut literals: Vec<u64> = own.registers.iter().map(|register| register.1).collect();
        own.passed(scalars, |register, _, bits| literals[register] = bits)?;
        // Other kernels may have stored parts of them.
        let mut outputs =
            step.outputs.iter().map(|output| here(at(output.location)?)).collect::<Result<Vec<Buffer>>>()?;
        compiled.run(domain, &literals, &inputs, &mut outputs)?;
        for (output, buffer) in step.outputs.iter().zip(&outputs) {
            at(output.location)?.write(buffer.as_bytes())?;
        }
        Ok(())
    }
}
