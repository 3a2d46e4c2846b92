//! Devices behind one trait: what the processor and each GPU are to all that compiles programs, runs them and keeps their arrays.
//!
//! A device makes memory and programs; these are traits as well, so that nobody above asks which device it has.

use crate::devices::{Fallback, KernelCode, Memory, OnGpu};
use crate::execution::code::{CodeOptions, Execution, Kernel, KernelOperands};
use crate::execution::threads::{Threads, catch};
use crate::programs::executable::{Argument, Donations, Executable, Output, RunOptions, Timed};
use crate::{Buffer, kernels, planned};
use ndjit_codegen::Lowered;
use ndjit_codegen::clif::Cell;
use ndjit_codegen::target::Target;
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::{Geometry, LoopNest};
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// A device that is open.
pub trait Backend: Debug + Send + Sync {
    /// Its name in programs.
    fn device(&self) -> Device;

    /// What its code generator can do.
    ///
    /// # Errors
    /// `Backend` if there is none for the device.
    fn target(&self) -> Result<Target>;

    /// Arrays that a kernel may use, where there is a limit.
    fn max_arrays(&self) -> Option<usize>;

    /// Memory with a copy of the host's bytes.
    ///
    /// # Errors
    /// `Allocation` if memory is refused; `Device` if the device is lost.
    fn upload(self: Arc<Self>, bytes: &[u8]) -> Result<Memory>;

    /// Compiles a program's kernels.
    ///
    /// # Errors
    /// `Backend` if code generation fails or the device lacks what the program needs; `Literal` if a literal does not fit the dtype it is used in; `Verify` if
    /// a kernel of the program would leave its operands' memory; `Device` if the device is lost.
    fn compile(
        self: Arc<Self>,
        lowered: &Lowered,
        fallback: Fallback,
        options: &RunOptions,
    ) -> Result<Box<dyn DeviceProgram>>;

    /// Runs a nest by itself on copies of the host's bytes; returns those of each output, which has so many. `literals` are the bits of the registers of each
    /// literal in order, as [`Literal::to_repr`] gives them.
    ///
    /// # Errors
    /// `Verify` if the geometry leaves the memory; `Argument` if literals differ in number from the nest's; `Backend` if the device fails.
    fn run_nest(
        self: Arc<Self>,
        nest: &LoopNest,
        geometry: &Geometry,
        literals: &[u64],
        inputs: &[Vec<u8>],
        outputs: &[usize],
    ) -> Result<Vec<Vec<u8>>>;
}

/// Elements of an array in a device's own memory; only kernels change them.
pub trait DeviceMemory: Any + Debug + Send + Sync {
    /// The length in bytes.
    fn len(&self) -> usize;

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device.
    fn device(&self) -> Device;

    /// Waits until the device has computed the elements.
    ///
    /// # Errors
    /// `Device` if the device is lost or does not answer.
    fn wait(&self) -> Result<()>;

    /// Copies the elements to the host, into memory of the same length. Waits for kernels that write them.
    ///
    /// # Errors
    /// `Argument` if the lengths differ; `Device` if the device is lost or does not answer; `Allocation` if it has no memory for the
    /// copy; `Backend` if it cannot be read.
    fn download(&self, into: &mut [u8]) -> Result<()>;

    /// Asks for the elements and does not wait: they come to the host while other things are done.
    ///
    /// # Errors
    /// As [`download`](DeviceMemory::download).
    fn reading(self: Arc<Self>) -> Result<Box<dyn Reading>>;
}

/// Elements on their way to the host.
pub trait Reading: Debug + Send {
    /// Waits for the elements, and copies them into memory of the same length.
    ///
    /// # Errors
    /// As [`DeviceMemory::download`].
    fn finish(self: Box<Self>, into: &mut [u8]) -> Result<()>;
}

/// A lowered program with its kernels compiled for a device; any number of threads may run it at once.
pub trait DeviceProgram: Debug + Send + Sync {
    /// Runs the program. `scalars` are the values of the [`Slot::Argument`](ndjit_ir::graph::Slot::Argument) slots, by argument index. Adds
    /// to the time of each launch, in the order of [`Lowered::all_launches`], if times are wanted; a device that computes when this has returned does not.
    ///
    /// # Errors
    /// `Arity` if arguments, scalars or outputs differ in number from the program's; `Argument` if an argument is smaller
    /// than its layout says, an output has the wrong size, or a scalar is of another kind; `Literal` if a scalar does not fit
    /// the dtype it is used in; `Allocation` if memory is refused; `Panic` if a worker panicked; `Device` if an argument is on another device, or the
    /// device is lost or does not answer.
    fn run<'a>(
        &self,
        arguments: &mut dyn Iterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
        times: Option<&mut Vec<Timed>>,
    ) -> Result<()>;

    /// A result that stays where the program runs, before the call.
    fn result<'a>(&self) -> Output<'a>;

    /// The kernels of each launch, in the order of [`Lowered::all_launches`].
    fn kernels(&self) -> Vec<Vec<Arc<dyn KernelCode>>>;

    /// The arrays of the program, which is this one lowered.
    ///
    /// # Errors
    /// Those of [`planned`](planned::planned).
    fn planned(&self, lowered: &Lowered) -> Result<Vec<planned::PlannedArray>>;

    /// The memory that a run takes beside its arguments, if none of these is given away.
    fn memory(&self) -> planned::MemoryFootprint;

    /// What became of arguments that were given away.
    fn donations(&self) -> Donations {
        Donations::default()
    }

    /// Estimated time of each launch, where there is an estimate.
    fn estimates(&self) -> Option<Vec<Duration>> {
        None
    }

    /// What a program on a GPU consists of; `None` of the processor's, which depends on the loops alone.
    fn on_gpu(&self) -> Option<OnGpu> {
        None
    }

    /// The dtypes for want of which loop nests of a GPU's program run on the processor, one for each that does.
    fn on_processor(&self) -> Vec<DType> {
        Vec::new()
    }

    /// Whether the device it was compiled for is not lost.
    fn is_alive(&self) -> bool {
        true
    }
}

/// The processor this program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Backend for Cpu {
    fn device(&self) -> Device {
        Device::CPU
    }

    fn target(&self) -> Result<Target> {
        Execution::Compiled.target()
    }

    fn max_arrays(&self) -> Option<usize> {
        None
    }

    fn upload(self: Arc<Self>, bytes: &[u8]) -> Result<Memory> {
        Ok(Memory::Host(Arc::new(Buffer::from_bytes(bytes)?)))
    }

    fn compile(
        self: Arc<Self>,
        lowered: &Lowered,
        _: Fallback,
        options: &RunOptions,
    ) -> Result<Box<dyn DeviceProgram>> {
        Ok(Box::new(Executable::new(lowered, options)?))
    }

    fn run_nest(
        self: Arc<Self>,
        nest: &LoopNest,
        geometry: &Geometry,
        literals: &[u64],
        inputs: &[Vec<u8>],
        outputs: &[usize],
    ) -> Result<Vec<Vec<u8>>> {
        let kernel = kernels::get(nest, CodeOptions::default())?;
        let inputs = inputs.iter().map(|bytes| Buffer::from_bytes(bytes)).collect::<Result<Vec<Buffer>>>()?;
        let mut outputs = outputs.iter().map(|&bytes| Buffer::zeroed(bytes)).collect::<Result<Vec<Buffer>>>()?;
        kernel.run(geometry, literals, &inputs.iter().collect::<Vec<_>>(), &mut outputs)?;
        Ok(outputs.iter().map(|buffer| buffer.as_bytes().to_vec()).collect())
    }
}

impl DeviceProgram for Executable {
    fn run<'a>(
        &self,
        arguments: &mut dyn Iterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
        times: Option<&mut Vec<Timed>>,
    ) -> Result<()> {
        let times = times.map(|times| {
            times.resize(self.launches(), Timed::default());
            &mut times[..]
        });
        self.run_into(arguments, scalars, outputs, times)
    }

    fn result<'a>(&self) -> Output<'a> {
        Output::Fresh(None)
    }

    fn kernels(&self) -> Vec<Vec<Arc<dyn KernelCode>>> {
        self.launched_kernels()
    }

    fn planned(&self, lowered: &Lowered) -> Result<Vec<planned::PlannedArray>> {
        Ok(Executable::planned(self, lowered))
    }

    fn memory(&self) -> planned::MemoryFootprint {
        Executable::memory(self)
    }

    fn donations(&self) -> Donations {
        Executable::donations(self)
    }

    fn estimates(&self) -> Option<Vec<Duration>> {
        let estimates = Executable::estimates(self).into_iter();
        Some(estimates.map(|ns| Duration::from_secs_f64(ns.clamp(0.0, 1e18) * 1e-9)).collect())
    }
}

impl Kernel {
    /// Runs the loops by themselves, on the calling thread; as [`Backend::run_nest`] on memory that is there. [`Executable`] is the fast way.
    ///
    /// # Errors
    /// Those of [`Backend::run_nest`].
    pub fn run(&self, geometry: &Geometry, literals: &[u64], inputs: &[&Buffer], outputs: &mut [Buffer]) -> Result<()> {
        let nest = self.nest();
        let sizes = |buffers: &mut dyn Iterator<Item = usize>| buffers.collect::<SmallVec<[usize; 4]>>();
        let input_bytes = sizes(&mut inputs.iter().map(|b| b.len()));
        let output_bytes = sizes(&mut outputs.iter().map(Buffer::len));
        geometry.verify(nest, &input_bytes, &output_bytes)?;
        let registers: SmallVec<[_; 4]> = nest.literals.iter().flat_map(|dtype| dtype.repr()).collect();
        if registers.len() != literals.len() {
            return Err(Error::new(ErrorCode::Argument, "run: literals differ in number from the kernel's")
                .fact(format_args!("{} registers given, {} needed", literals.len(), registers.len())));
        }
        if geometry.extents[..nest.parallel_loops()].contains(&0) {
            return Ok(());
        }
        let cells: SmallVec<[Cell; 4]> =
            registers.iter().zip(literals).map(|(&&ty, &bits)| Cell::splat(ty, bits)).collect();
        let reads = inputs.iter().zip(&geometry.inputs).zip(&nest.inputs);
        let reads = reads.map(|((buffer, layout), access)| match access.is_index() {
            false => buffer.ptr().wrapping_add(layout.offset),
            true => std::ptr::without_provenance_mut(layout.offset),
        });
        let mut pointers: SmallVec<[*mut u8; 8]> = reads.collect();
        let writes = outputs.iter().zip(&geometry.outputs);
        pointers.extend(writes.map(|(buffer, layout)| buffer.ptr().wrapping_add(layout.offset)));
        let layouts = geometry.inputs.iter().chain(&geometry.outputs);
        let strides: SmallVec<[isize; 16]> = layouts.flat_map(|layout| layout.strides.iter().copied()).collect();
        let (extents, literals) = (&geometry.extents[..], &cells[..]);
        // SAFETY: numbers of operands, loops, strides and literals are the kernel's, and the geometry stays within the
        // buffers, as just checked. Buffers are initialised. Outputs are borrowed exclusively, so that nobody else uses
        // them and they overlap neither inputs nor each other.
        catch(|| unsafe {
            match self.composed() {
                None => self.call(&pointers, extents, &strides, literals),
                Some(composed) => {
                    let operands = KernelOperands { pointers: &pointers, extents, strides: &strides, literals };
                    composed.run(operands, &Threads::Serial)
                }
            }
        })
    }
}
