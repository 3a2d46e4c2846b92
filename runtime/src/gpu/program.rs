//! A lowered program on a device.

use super::device::Gpu;
use super::dispatch::{Dispatches, Place};
use super::memory::Memory;
use super::recording::Recording;
use crate::literals::Literals;
use crate::plan::{Plan, StepPlan};
use crate::reduce::element;
use ndjit_codegen::{Lowered, Scheduled};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::LoopNest;
use ndjit_ir::{Error, ErrorCode, Result};
use std::fmt;
use std::sync::Arc;

/// An array argument of a call. Its layout is the one the program was lowered for.
#[derive(Debug)]
pub enum Argument<'a> {
    /// The host's bytes; they are copied to the device.
    Host(&'a [u8]),
    /// Memory of the device.
    Device(&'a Arc<Memory>),
}

/// Where a result goes.
#[derive(Debug)]
pub enum Output<'a> {
    /// Stays on the device: `None` before the call, `Some` after it.
    Fresh(Option<Arc<Memory>>),
    /// Into the host's memory, C-contiguous, exactly the result's size in bytes. After an error its contents are unspecified.
    Into(&'a mut [u8]),
}

/// A lowered program with its kernels compiled for a device. `Send + Sync`; any number of threads may run it at once.
pub struct Program {
    gpu: Arc<Gpu>,
    plan: Plan,
    kernels: Vec<Kernel>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("gpu", &self.gpu).field("kernels", &self.kernels.len()).finish_non_exhaustive()
    }
}

struct Kernel {
    nest: LoopNest,
    literals: Literals,
    work: Work,
}

enum Work {
    Dispatches(Dispatches),
    /// A reduction of nothing: the elements of each output.
    Constants(Vec<Vec<u8>>),
}

impl Program {
    /// Compiles the kernels that the device does not have yet.
    ///
    /// # Errors
    /// `Backend` if code generation or the driver fails; `Size` if an operand is spread too far; `Literal` if a literal does not fit the
    /// dtype it is used in; `Verify` if a kernel of the program would leave its operands' memory; `Device` if the device is lost.
    pub fn new(gpu: &Arc<Gpu>, lowered: &Lowered) -> Result<Program> {
        let plan = Plan::new(lowered)?;
        let mut kernels = Vec::with_capacity(lowered.scheduled.len());
        for (scheduled, step) in lowered.scheduled.iter().zip(&plan.steps) {
            let work = if nothing_to_reduce(scheduled) {
                Work::Constants(constants(scheduled)?)
            } else {
                let sizes: Vec<usize> = step.outputs.iter().map(|output| output.bytes).collect();
                Work::Dispatches(Dispatches::new(gpu, &scheduled.nest, &scheduled.geometry, &sizes)?)
            };
            let literals = Literals::new(lowered, scheduled)?;
            kernels.push(Kernel { nest: scheduled.nest.clone(), literals, work });
        }
        Ok(Program { gpu: Arc::clone(gpu), plan, kernels })
    }

    /// The number of dispatches of a call.
    pub fn dispatches(&self) -> usize {
        let count = |kernel: &Kernel| match &kernel.work {
            Work::Dispatches(dispatches) => dispatches.all.len(),
            Work::Constants(_) => 0,
        };
        self.kernels.iter().map(count).sum()
    }

    /// Runs the program. `scalars` are the values of the weak numbers among the arguments, by argument index. Results that stay on the
    /// device may still be being computed when this returns; whoever reads them waits.
    ///
    /// # Errors
    /// `Arity` if arguments, scalars or outputs differ in number from the program's; `Argument` if an argument is smaller
    /// than its layout says, an output has the wrong size, or a scalar is of another kind; `Literal` if a scalar does not fit
    /// the dtype it is used in; `Allocation` if the device has no memory; `Device` if it is lost, does not answer, or is not that of an
    /// argument; `Backend` if it refuses something else.
    pub fn run(
        &self,
        arguments: &[Argument<'_>],
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
    ) -> Result<()> {
        self.check(arguments, outputs)?;
        let mut places: Vec<Option<Arc<Memory>>> = Vec::with_capacity(self.plan.locations);
        for (argument, &needed) in arguments.iter().zip(&self.plan.params) {
            places.push(match argument {
                Argument::Device(memory) => Some(Arc::clone(memory)),
                Argument::Host(bytes) if needed > 0 => Some(Arc::new(Memory::upload(&self.gpu, bytes)?)),
                Argument::Host(_) => None,
            });
        }
        places.resize_with(self.plan.locations, || None);
        let mut recording = Recording::new(&self.gpu);
        for (kernel, step) in self.kernels.iter().zip(&self.plan.steps) {
            for output in &step.outputs {
                let place = &mut places[output.location as usize];
                // Another kernel may have made a part of it before.
                if place.is_none() {
                    *place = Some(Arc::new(Memory::new(&self.gpu, output.bytes)?));
                }
            }
            if !step.empty {
                kernel.record(&mut recording, step, scalars, &places)?;
            }
        }
        recording.submit()?;
        for (index, result) in self.plan.results.iter().enumerate() {
            let Some(memory) = &places[result.location as usize] else {
                return Err(Error::new(ErrorCode::Verify, format!("run: no kernel made result {index}")));
            };
            match &mut outputs[index] {
                Output::Fresh(into) => *into = Some(Arc::clone(memory)),
                Output::Into(bytes) => memory.download(bytes)?,
            }
        }
        Ok(())
    }

    fn check(&self, arguments: &[Argument<'_>], outputs: &[Output<'_>]) -> Result<()> {
        let arity = |what: &str, given: usize, wanted: usize| {
            Error::new(ErrorCode::Arity, format!("run: {given} {what} given, {wanted} wanted"))
        };
        if arguments.len() != self.plan.params.len() {
            return Err(arity("arguments", arguments.len(), self.plan.params.len()));
        }
        if outputs.len() != self.plan.results.len() {
            return Err(arity("outputs", outputs.len(), self.plan.results.len()));
        }
        for (index, (argument, &wanted)) in arguments.iter().zip(&self.plan.params).enumerate() {
            let given = match argument {
                Argument::Host(bytes) => bytes.len(),
                Argument::Device(memory) if !Arc::ptr_eq(memory.gpu(), &self.gpu) => {
                    return Err(Error::new(ErrorCode::Device, format!("run: argument {index} is on another device"))
                        .fact(format_args!("it is on {}", memory.gpu().info().name))
                        .fact(format_args!("the program runs on {}", self.gpu.info().name)));
                }
                Argument::Device(memory) => memory.len(),
            };
            if given < wanted {
                return Err(Error::new(
                    ErrorCode::Argument,
                    format!("run: argument {index} is smaller than its layout"),
                )
                .fact(format_args!("{given} bytes given, {wanted} needed")));
            }
        }
        Ok(())
    }
}

/// Whether a kernel has results, but reduces no elements to them.
fn nothing_to_reduce(scheduled: &Scheduled) -> bool {
    let Scheduled { nest, geometry, .. } = scheduled;
    nest.reduces() && !geometry.extents[..nest.kept()].contains(&0) && geometry.extents[nest.kept()..].contains(&0)
}

fn constants(scheduled: &Scheduled) -> Result<Vec<Vec<u8>>> {
    let reductions = scheduled.nest.reduce.iter().flat_map(|reduce| &reduce.outputs);
    reductions
        .zip(&scheduled.nest.outputs)
        .map(|(reduction, access)| {
            let literal = reduction
                .of_nothing()
                .ok_or_else(|| Error::new(ErrorCode::Verify, format!("run: {reduction} of no elements")))?;
            element(access.dtype, &literal.to_repr(access.dtype)?)
        })
        .collect()
}

impl Kernel {
    fn record<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        step: &StepPlan,
        scalars: &[(usize, Literal)],
        places: &[Option<Arc<Memory>>],
    ) -> Result<()> {
        let missing = || Error::new(ErrorCode::Verify, "run: a kernel has an operand that no kernel made");
        let at = |location: u32| places[location as usize].as_deref().ok_or_else(missing);
        match &self.work {
            Work::Dispatches(dispatches) => {
                let mut literals: Vec<u64> = self.literals.registers.iter().map(|register| register.1).collect();
                self.literals.passed(scalars, |register, _, bits| literals[register] = bits)?;
                recording.add(&self.nest, dispatches, &literals, |place| match place {
                    Place::Input(n) => at(step.inputs[n].0.ok_or_else(missing)?),
                    Place::Output(n) => at(step.outputs[n].location),
                    Place::Partial(_) => Err(missing()),
                })
            }
            Work::Constants(elements) => {
                for (element, output) in elements.iter().zip(&step.outputs) {
                    at(output.location)?.fill(element)?;
                }
                Ok(())
            }
        }
    }
}
