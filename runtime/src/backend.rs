//! What a device does with one loop nest: the trait at the bottom, and the CPU's implementation.
//!
//! A device compiles loop nests, has memory, moves bytes to it and from it, and runs kernels on it. Whole programs run by
//! [`Program`](crate::devices::Program), which keeps threads and queues busy between kernels.

use crate::buffer::Buffer;
use crate::code::{CodeOptions, Kernel, Operands};
use crate::kernels;
use crate::threads::{Threads, catch};
use ndjit_codegen::clif::{Cell, host_isa};
use ndjit_codegen::target::Target;
use ndjit_ir::loops::{Geometry, LoopNest};
use ndjit_ir::reserve::filled;
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::fmt::Debug;
use std::sync::Arc;

/// A device that runs kernels.
pub trait Backend: Debug + Send + Sync {
    /// A compiled kernel.
    type Kernel: Debug + Send + Sync;
    /// Memory for the elements of an array.
    type Memory: Debug + Send + Sync;

    /// What the device's code generator can do.
    ///
    /// # Errors
    /// `Backend` if there is none for the device.
    fn target(&self) -> Result<Target>;

    /// The kernel of a nest, from the device's cache if it is there.
    ///
    /// # Errors
    /// `Backend` if code generation fails; `Verify` if the nest's invariants do not hold.
    fn compile(&self, nest: &LoopNest, options: CodeOptions) -> Result<Arc<Self::Kernel>>;

    /// Memory of `bytes` zeros.
    ///
    /// # Errors
    /// `Allocation` if it is refused.
    fn allocate(&self, bytes: usize) -> Result<Self::Memory>;

    /// Device memory with a copy of the host's bytes.
    ///
    /// # Errors
    /// `Allocation` if memory is refused; `Backend` if the device fails.
    fn upload(&self, bytes: &[u8]) -> Result<Self::Memory>;

    /// Copies device memory into the host's, which has the same length.
    ///
    /// # Errors
    /// `Argument` if the lengths differ; `Backend` if the device fails.
    fn download(&self, memory: &Self::Memory, bytes: &mut [u8]) -> Result<()>;

    /// Runs a kernel. `literals` are the bits of the registers of each literal in order, as
    /// [`Literal::to_repr`](ndjit_ir::literal::Literal::to_repr) gives them.
    ///
    /// # Errors
    /// `Verify` if the geometry leaves the memory; `Argument` if operands or literals differ in number from the kernel's;
    /// `Backend` if the device fails.
    fn run(
        &self,
        kernel: &Self::Kernel,
        geometry: &Geometry,
        literals: &[u64],
        inputs: &[&Self::Memory],
        outputs: &mut [Self::Memory],
    ) -> Result<()>;

    /// Runs a nest without literals on copies of the host's bytes; returns those of each output, which has so many.
    ///
    /// # Errors
    /// Those of the functions above.
    fn run_on_bytes(
        &self,
        nest: &LoopNest,
        geometry: &Geometry,
        inputs: &[Vec<u8>],
        outputs: &[usize],
    ) -> Result<Vec<Vec<u8>>> {
        let kernel = self.compile(nest, CodeOptions::default())?;
        let inputs = inputs.iter().map(|bytes| self.upload(bytes)).collect::<Result<Vec<_>>>()?;
        let mut memory = outputs.iter().map(|&bytes| self.allocate(bytes)).collect::<Result<Vec<_>>>()?;
        self.run(&kernel, geometry, &[], &inputs.iter().collect::<Vec<_>>(), &mut memory)?;
        let read = |(memory, &bytes): (&Self::Memory, &usize)| {
            let mut bytes = filled("backend", 0, bytes)?;
            self.download(memory, &mut bytes)?;
            Ok(bytes)
        };
        memory.iter().zip(outputs).map(read).collect()
    }
}

/// The processor this program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Backend for Cpu {
    type Kernel = Kernel;
    type Memory = Buffer;

    fn target(&self) -> Result<Target> {
        host_isa().map(|isa| Target::host_clif(&*isa))
    }

    fn compile(&self, nest: &LoopNest, options: CodeOptions) -> Result<Arc<Kernel>> {
        kernels::get(nest, options)
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer> {
        Buffer::zeroed(bytes)
    }

    fn upload(&self, bytes: &[u8]) -> Result<Buffer> {
        Buffer::from_bytes(bytes)
    }

    fn download(&self, memory: &Buffer, bytes: &mut [u8]) -> Result<()> {
        if memory.len() != bytes.len() {
            return Err(Error::new(ErrorCode::Argument, "download: memory and destination differ in size")
                .fact(format_args!("{} bytes of memory, {} to be filled", memory.len(), bytes.len())));
        }
        bytes.copy_from_slice(memory.as_bytes());
        Ok(())
    }

    /// On the calling thread, without in-place reuse: [`Executable`](crate::Executable) is the fast way.
    fn run(
        &self,
        kernel: &Kernel,
        geometry: &Geometry,
        literals: &[u64],
        inputs: &[&Buffer],
        outputs: &mut [Buffer],
    ) -> Result<()> {
        let nest = kernel.nest();
        let sizes = |buffers: &mut dyn Iterator<Item = usize>| buffers.collect::<SmallVec<[usize; 4]>>();
        let input_bytes = sizes(&mut inputs.iter().map(|b| b.len()));
        let output_bytes = sizes(&mut outputs.iter().map(Buffer::len));
        geometry.verify(nest, &input_bytes, &output_bytes)?;
        let registers: SmallVec<[_; 4]> = nest.literals.iter().flat_map(|dtype| dtype.repr()).collect();
        if registers.len() != literals.len() {
            return Err(Error::new(ErrorCode::Argument, "run: literals differ in number from the kernel's")
                .fact(format_args!("{} registers given, {} needed", literals.len(), registers.len())));
        }
        if geometry.extents[..nest.stored()].contains(&0) {
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
            match kernel.composed() {
                None => kernel.call(&pointers, extents, &strides, literals),
                Some(composed) => {
                    let operands = Operands { pointers: &pointers, extents, strides: &strides, literals };
                    composed.run(operands, &Threads::Serial)
                }
            }
        })
    }
}
