//! Devices behind one trait: the compilation, execution and memory interface of the processor and of each GPU.
//!
//! A device creates memory and programs; these are traits as well, so callers are independent of the device.

use crate::devices::memory::Memory;
use crate::devices::on_gpu::OnGpu;
use crate::execution::code::{CodeOptions, Execution, Kernel, KernelCode, KernelOperands};
use crate::execution::drivers;
use crate::execution::threads::{Threads, catch};
use crate::memory::buffer::Buffer;
use crate::programs::call::{Argument, Donations, Output, RunOptions, Timed};
use crate::programs::executable::Executable;
use crate::programs::planned;
use ndjit_codegen::Lowered;
use ndjit_codegen::clif::Cell;
use ndjit_codegen::target::Target;
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::{IterationDomain, LoopNest};
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::fmt::{self, Debug};
use std::sync::Arc;
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

/// An open device.
pub trait Backend: Debug + Send + Sync {
    /// Its name in programs.
    fn device(&self) -> Device;

    /// The capabilities of its code generator.
    ///
    /// # Errors
    /// `Backend` if there is none for the device.
    fn target(&self) -> Result<Target>;

    /// The maximum number of arrays of a kernel, if limited.
    fn max_arrays(&self) -> Option<usize>;

    /// Memory with a copy of the host's bytes.
    ///
    /// # Errors
    /// `Allocation` if memory is refused; `Device` if the device is lost.
    fn upload(self: Arc<Self>, bytes: &[u8]) -> Result<Memory>;

    /// Compiles a program's kernels.
    ///
    /// # Errors
    /// `Backend` if code generation fails or the device lacks a feature; `Literal` if a literal does not fit its dtype; `Verify` if a
    /// kernel of the program would leave its operands' memory; `Device` if the device is lost.
    fn compile(
        self: Arc<Self>,
        lowered: &Lowered,
        fallback: Fallback,
        options: &RunOptions,
    ) -> Result<Box<dyn DeviceProgram>>;

    /// Runs a single nest on copies of the host's bytes; returns the bytes of each output, of the given sizes. `literals` are the bits of
    /// the registers of each literal in order, as [`Literal::to_repr`] gives them.
    ///
    /// # Errors
    /// `Verify` if the domain leaves the memory; `Argument` if the number of literals differs from the nest's; `Backend` if the device
    /// fails.
    fn run_nest(
        self: Arc<Self>,
        nest: &LoopNest,
        domain: &IterationDomain,
        literals: &[u64],
        inputs: &[Vec<u8>],
        outputs: &[usize],
    ) -> Result<Vec<Vec<u8>>>;
}

/// A lowered program with its kernels compiled for a device; any number of threads may run it at once.
pub trait DeviceProgram: Debug + Send + Sync {
    /// Runs the program. `scalars` are the values of the [`Slot::Argument`](ndjit_ir::graph::Slot::Argument) slots, by argument index. Adds
    /// to the time of each launch, in the order of [`Lowered::all_launches`], if times are given; asynchronous devices do not.
    ///
    /// # Errors
    /// `Arity` if the number of arguments, scalars or outputs differs from the program's; `Argument` if an argument is smaller than its
    /// layout, an output has the wrong size, or a scalar is of another kind; `Literal` if a scalar does not fit its dtype; `Allocation` if
    /// memory is refused; `Panic` if a worker panicked; `Device` if an argument is on another device, or the device is lost or does not
    /// answer.
    fn run<'a>(
        &self,
        arguments: &mut dyn Iterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
        times: Option<&mut Vec<Timed>>,
    ) -> Result<()>;

    /// An empty result on the program's device, for a call.
    fn result<'a>(&self) -> Output<'a>;

    /// The kernels of each launch, in the order of [`Lowered::all_launches`].
    fn kernels(&self) -> Vec<Vec<Arc<dyn KernelCode>>>;

    /// The memory of the program, with that of its control flow; `lowered` is its lowered form.
    ///
    /// # Errors
    /// None for the form it was compiled from.
    fn planned(&self, lowered: &Lowered) -> Result<planned::PlannedProgram>;

    /// The memory that a run takes beside its arguments, without donation.
    fn memory(&self) -> planned::MemoryFootprint;

    /// Counters of donated arguments.
    fn donations(&self) -> Donations {
        Donations::default()
    }

    /// Estimated time of each launch, if available.
    fn estimates(&self) -> Option<Vec<Duration>> {
        None
    }

    /// The steps of a program on a GPU; `None` for the processor.
    fn on_gpu(&self) -> Option<OnGpu> {
        None
    }

    /// The missing dtypes that move loop nests of a GPU's program to the processor, one per nest.
    fn on_processor(&self) -> Vec<DType> {
        Vec::new()
    }

    /// Whether its device is not lost.
    fn is_alive(&self) -> bool {
        true
    }
}

/// The processor of this process.
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
        domain: &IterationDomain,
        literals: &[u64],
        inputs: &[Vec<u8>],
        outputs: &[usize],
    ) -> Result<Vec<Vec<u8>>> {
        let kernel = drivers::get(nest, CodeOptions::default())?;
        let inputs = inputs.iter().map(|bytes| Buffer::from_bytes(bytes)).collect::<Result<Vec<Buffer>>>()?;
        let mut outputs = outputs.iter().map(|&bytes| Buffer::zeroed(bytes)).collect::<Result<Vec<Buffer>>>()?;
        kernel.run(domain, literals, &inputs.iter().collect::<Vec<_>>(), &mut outputs)?;
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

    fn planned(&self, lowered: &Lowered) -> Result<planned::PlannedProgram> {
        Executable::planned(self, lowered, &mut planned::PlannedBodies::default())
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
    /// Runs a single kernel's loops on the calling thread, as [`Backend::run_nest`] on existing memory. [`Executable`] is the fast way.
    ///
    /// # Errors
    /// Those of [`Backend::run_nest`].
    pub fn run(
        &self,
        domain: &IterationDomain,
        literals: &[u64],
        inputs: &[&Buffer],
        outputs: &mut [Buffer],
    ) -> Result<()> {
        let nest = self.nest();
        let sizes = |buffers: &mut dyn Iterator<Item = usize>| buffers.collect::<SmallVec<[usize; 4]>>();
        let input_bytes = sizes(&mut inputs.iter().map(|b| b.len()));
        let output_bytes = sizes(&mut outputs.iter().map(Buffer::len));
        domain.verify(nest, &input_bytes, &output_bytes)?;
        let registers: SmallVec<[_; 4]> = nest.literals.iter().flat_map(|dtype| dtype.repr()).collect();
        if registers.len() != literals.len() {
            return Err(Error::new(ErrorCode::Argument, "run: literals differ in number from the kernel's")
                .fact(format_args!("{} registers given, {} needed", literals.len(), registers.len())));
        }
        if domain.extents[..nest.output_rank()].contains(&0) {
            return Ok(());
        }
        let cells: SmallVec<[Cell; 4]> =
            registers.iter().zip(literals).map(|(&&ty, &bits)| Cell::splat(ty, bits)).collect();
        let reads = inputs.iter().zip(&domain.inputs).zip(&nest.inputs);
        let reads = reads.map(|((buffer, layout), access)| match access.is_index() {
            false => buffer.ptr().wrapping_add(layout.offset),
            true => std::ptr::without_provenance_mut(layout.offset),
        });
        let mut pointers: SmallVec<[*mut u8; 8]> = reads.collect();
        let writes = outputs.iter().zip(&domain.outputs);
        pointers.extend(writes.map(|(buffer, layout)| buffer.ptr().wrapping_add(layout.offset)));
        let layouts = domain.inputs.iter().chain(&domain.outputs);
        let strides: SmallVec<[isize; 16]> = layouts.flat_map(|layout| layout.strides.iter().copied()).collect();
        let (extents, literals) = (&domain.extents[..], &cells[..]);
        // SAFETY: the numbers of operands, loops, strides and literals are the kernel's, and the domain stays within the buffers, as just
        // checked. Buffers are initialised. Outputs are borrowed exclusively: they overlap neither inputs nor each other.
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
