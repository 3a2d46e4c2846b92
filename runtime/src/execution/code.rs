//! Kernels: machine code with its constants, allocated and freed together.
//!
//! If the system refuses executable memory, the interpreter runs the kernel's loops: same bits, slowly. [`notice`] reports that.

use crate::execution::calls::CallRecording;
use crate::execution::code_memory::CodeMemory;
use crate::execution::cost;
#[cfg(feature = "emulated")]
use crate::execution::emulated;
use crate::execution::interpret;
use crate::execution::threads::Threads;
use cranelift_codegen::isa::TargetIsa;
use ndjit_codegen::clif::{self, AccumulatorLayout, Cell, ClifKernel, ClifOptions};
use ndjit_codegen::passes::split::NestPart;
use ndjit_codegen::target::{Target, VectorWidth};
use ndjit_codegen::x64::{self, Pairs};
use ndjit_ir::Result;
use ndjit_ir::loops::LoopNest;
use smallvec::SmallVec;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Compilation options of a kernel, beside its loops; part of its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CodeOptions {
    /// Lanes of the innermost loops.
    pub vector: VectorWidth,
    /// The executor of the loops.
    pub execution: Execution,
}

/// The executor of kernels' loops. Results are bit-identical, except products of large matrices, whose rounding may vary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Execution {
    /// This machine, which runs compiled code.
    #[default]
    Compiled,
    /// The reference interpreter.
    Interpreted,
    /// An emulator of aarch64, which runs compiled code: see [`emulated`].
    #[cfg(feature = "emulated")]
    Emulated,
}

impl Execution {
    /// The compilation target of kernels.
    ///
    /// # Errors
    /// `Backend` if there is no code generator for the host.
    pub fn target(self) -> Result<Target> {
        Ok(match self {
            Execution::Compiled => Target::host_clif(&*clif::host_isa()?),
            Execution::Interpreted => Target::interpreter(),
            #[cfg(feature = "emulated")]
            Execution::Emulated => Target::host_clif(&*emulated::isa(AccumulatorLayout::Plain)?),
        })
    }
}

/// A compiled kernel. `Send + Sync`: its code and constants never change.
pub struct Kernel {
    code: KernelImpl,
    nest: Arc<LoopNest>,
    cost: f64,
    /// Whether all of it is machine code.
    compiled: bool,
    compile_time: Duration,
}

enum KernelImpl {
    Machine(Box<Machine>),
    Interpreted,
    #[cfg(feature = "emulated")]
    Emulated(Box<emulated::EmulatedFunction>),
    /// Composed of kernels.
    Composed(Box<dyn Composed>),
}

/// The extents of a recorded call that are a loop of the nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordedLoop {
    /// The last two: steps of all lanes, and the lanes left.
    Lanes,
    /// One of them.
    Extent(usize),
}

/// Kernels with their driver: a nest that reduces, scans or sorts.
pub(crate) trait Composed: Send + Sync {
    /// The kernels that other nests do not share.
    fn own(&self) -> SmallVec<[&Kernel; 8]>;

    /// Estimated time per element, ns.
    fn cost(&self) -> f64;

    /// Bytes that [`run`](Composed::run) takes from the pool, at most. `output` is the size of the first output, in bytes.
    fn scratch(&self, extents: &[usize], output: usize, threads: &Threads) -> usize;

    /// `None` if results do not depend on the cuts of loops. Otherwise the minimum number of indices of the loop `along` that pays.
    fn least(&self, _strides: &[isize], _along: usize) -> Option<NonZeroUsize> {
        None
    }

    /// Gives the actions of a run on the calling thread to `sink`; returns whether it can. They depend on nothing but the operands'
    /// extents and strides. If not, or after an error, the sink is of no use.
    ///
    /// # Errors
    /// Those of the sink.
    fn record(&self, _operands: KernelOperands<'_>, _threads: &Threads, _sink: &mut CallRecording) -> Result<bool> {
        Ok(false)
    }

    /// The extents of each recorded call that are those of a loop, for fewer indices of it too; `None` if there are none.
    fn recorded(&self, _index: usize, _extents: &[usize], _threads: &Threads) -> Option<RecordedLoop> {
        None
    }

    /// Runs the nest, on several threads where that is faster.
    ///
    /// # Errors
    /// `Allocation` if memory for accumulators is refused; `Verify` if a reduction without an identity has no elements; `Panic` if a worker
    /// panicked.
    ///
    /// # Safety
    /// As [`Kernel::call`], except that outputs of a reduction have one element per index of the parallel loops, and no output overlaps an
    /// input.
    unsafe fn run(&self, operands: KernelOperands<'_>, threads: &Threads) -> Result<()>;
}

/// The run-time arguments of a nest, as [`Kernel::call`] takes them.
#[derive(Clone, Copy)]
pub(crate) struct KernelOperands<'a> {
    pub pointers: &'a [*mut u8],
    pub extents: &'a [usize],
    pub strides: &'a [isize],
    pub literals: &'a [Cell],
}

// SAFETY: addresses and numbers only. Accesses through them are justified where kernels are called.
unsafe impl Sync for KernelOperands<'_> {}

/// The entry point; see [`ndjit_codegen::clif::abi`].
type EntryPoint = unsafe extern "C" fn(*const *mut u8, *const usize, *const isize, *const Cell, *const Cell);

/// Machine code to call, without its owner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MachineEntry {
    entry: EntryPoint,
    constants: *const Cell,
}

impl MachineEntry {
    /// Runs the loops.
    ///
    /// # Safety
    /// As [`Kernel::call`], with the first element of each list; the kernel still exists.
    pub unsafe fn call(
        self,
        pointers: *const *mut u8,
        extents: *const usize,
        strides: *const isize,
        literals: *const Cell,
    ) {
        // SAFETY: `entry` was generated for this signature from a verified nest. It accesses only the caller's operands, as promised, and
        // `constants`, which live as long as the kernel. Generated code neither traps nor unwinds.
        unsafe { (self.entry)(pointers, extents, strides, literals, self.constants) };
    }
}

struct Machine {
    entry: EntryPoint,
    /// Lanes of its innermost loop.
    width: VectorWidth,
    constants: Box<[Cell]>,
    code: CodeMemory,
    /// Code for operands of every other element.
    alternate: Option<Box<Alternate>>,
}

/// Code for operands with these strides in bytes, each with its number among those of all operands and loops.
struct Alternate {
    machine: Machine,
    strides: SmallVec<[(usize, isize); 8]>,
}

impl Machine {
    /// The code for operands of these strides.
    fn entry(&self, strides: &[isize]) -> MachineEntry {
        let Machine { entry, ref constants, .. } = *match &self.alternate {
            Some(alternate) if alternate.strides.iter().all(|&(at, stride)| strides[at] == stride) => {
                &alternate.machine
            }
            _ => self,
        };
        MachineEntry { entry, constants: constants.as_ptr() }
    }

    /// Bytes of code.
    fn bytes(&self) -> usize {
        self.code.bytes() + self.alternate.as_ref().map_or(0, |alternate| alternate.machine.bytes())
    }
}

/// A compiled kernel of any device.
pub trait KernelCode: Send + Sync {
    /// Bytes of its code.
    fn code_bytes(&self) -> usize;
    /// The time it took to compile.
    fn compile_time(&self) -> Duration;
}

impl KernelCode for Kernel {
    fn code_bytes(&self) -> usize {
        Kernel::code_bytes(self)
    }

    fn compile_time(&self) -> Duration {
        Kernel::compile_time(self)
    }
}

impl Kernel {
    /// A kernel composed of others, for a nest whose compilation began then.
    pub(crate) fn of_parts(composed: Box<dyn Composed>, nest: &LoopNest, start: Instant) -> Kernel {
        let cost = composed.cost();
        let compiled = composed.own().iter().all(|kernel| kernel.is_compiled());
        let code = KernelImpl::Composed(composed);
        Kernel { code, nest: Arc::new(nest.clone()), cost, compiled, compile_time: start.elapsed() }
    }

    /// Compiles a part.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub(crate) fn part(part: &NestPart, options: CodeOptions) -> Result<Kernel> {
        let start = Instant::now();
        let NestPart { nest, form, .. } = part;
        let code = match options.execution {
            Execution::Compiled => {
                let machine = machine_code(nest, &*clif::host_isa_for(*form)?, options.vector, *form)?;
                machine.map_or(KernelImpl::Interpreted, |machine| KernelImpl::Machine(Box::new(machine)))
            }
            Execution::Interpreted => KernelImpl::Interpreted,
            #[cfg(feature = "emulated")]
            Execution::Emulated => {
                let isa = emulated::isa(*form)?;
                let (kernel, _) = clif_code(nest, &*isa, options.vector, *form)?;
                KernelImpl::Emulated(Box::new(emulated::EmulatedFunction::new(kernel, &isa)?))
            }
        };
        let cost = match &code {
            KernelImpl::Machine(machine) => cost::per_element(nest, machine.width),
            _ => cost::INTERPRETED * cost::per_element(nest, VectorWidth::Bits128),
        };
        let compiled = matches!(code, KernelImpl::Machine(_));
        Ok(Kernel { code, nest: Arc::clone(nest), cost, compiled, compile_time: start.elapsed() })
    }

    /// Compiles [whole blocks](x64::emit_blocks) of a reduction: loops that accumulate, and loops that combine accumulators. `None` if such
    /// code is not available.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub(crate) fn blocks(
        nest: &Arc<LoopNest>,
        (combine, pairs): (&LoopNest, Pairs),
        options: CodeOptions,
    ) -> Result<Option<Kernel>> {
        if options.execution != Execution::Compiled {
            return Ok(None);
        }
        let start = Instant::now();
        let Some(code) = x64::emit_blocks_here(nest, combine, pairs, options.vector)? else { return Ok(None) };
        let width = code.set.width();
        let Some(machine) = executable(&code.bytes, code.constants, width) else {
            return Ok(None);
        };
        let (nest, cost) = (Arc::clone(nest), cost::per_element(nest, width));
        let code = KernelImpl::Machine(Box::new(machine));
        Ok(Some(Kernel { code, nest, cost, compiled: true, compile_time: start.elapsed() }))
    }

    /// The loops, over primitives; over ops if they reduce or scan.
    pub fn nest(&self) -> &LoopNest {
        &self.nest
    }

    /// Bytes of machine code; 0 if it is interpreted.
    pub fn code_bytes(&self) -> usize {
        match &self.code {
            KernelImpl::Machine(machine) => machine.bytes(),
            KernelImpl::Interpreted => 0,
            #[cfg(feature = "emulated")]
            KernelImpl::Emulated(function) => function.code_bytes(),
            KernelImpl::Composed(composed) => composed.own().iter().map(|kernel| kernel.code_bytes()).sum(),
        }
    }

    /// Bytes of code and constants, for the bounds of the cache.
    pub fn weight(&self) -> usize {
        match &self.code {
            // The system allocates executable memory in pages.
            KernelImpl::Machine(machine) => machine.bytes().next_multiple_of(4096) + size_of_val(&*machine.constants),
            KernelImpl::Interpreted => 0,
            #[cfg(feature = "emulated")]
            KernelImpl::Emulated(function) => function.weight(),
            KernelImpl::Composed(composed) => composed.own().iter().map(|kernel| kernel.weight()).sum(),
        }
    }

    /// Whether it is machine code.
    pub fn is_compiled(&self) -> bool {
        self.compiled
    }

    /// Whether it is interpreted.
    pub(crate) fn is_interpreted(&self) -> bool {
        matches!(self.code, KernelImpl::Interpreted)
    }

    /// Whether it is machine code for registers of more than 128 bits.
    pub(crate) fn is_wide(&self) -> bool {
        matches!(&self.code, KernelImpl::Machine(machine) if matches!(machine.width, VectorWidth::Bits256 | VectorWidth::Widest))
    }

    /// Its machine code for operands of these strides, if it is one function.
    pub(crate) fn machine(&self, strides: &[isize]) -> Option<MachineEntry> {
        match &self.code {
            KernelImpl::Machine(machine) => Some(machine.entry(strides)),
            KernelImpl::Interpreted | KernelImpl::Composed(_) => None,
            #[cfg(feature = "emulated")]
            KernelImpl::Emulated(_) => None,
        }
    }

    /// Its parts, if it reduces or scans.
    pub(crate) fn composed(&self) -> Option<&dyn Composed> {
        match &self.code {
            KernelImpl::Composed(composed) => Some(&**composed),
            KernelImpl::Machine(_) | KernelImpl::Interpreted => None,
            #[cfg(feature = "emulated")]
            KernelImpl::Emulated(_) => None,
        }
    }

    /// The compilation time.
    pub fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// Estimated time per element, ns.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Runs the loops. Strides are in bytes, `[operand][loop]`, inputs before outputs; literals as cells.
    ///
    /// # Safety
    /// - `pointers` has one entry per operand, `extents` one per loop, `strides` one per operand and loop, `literals` one
    ///   per register of each literal.
    /// - For every index of the extents, each input's element is initialised, readable memory, and each output's writable
    ///   memory, during the call. Strides of the innermost loop agree with the operands' classes.
    /// - Nobody else writes the inputs or accesses the outputs meanwhile. An output overlaps an input only if every index
    ///   has the same address in both.
    ///
    /// # Errors
    /// As [`interpret::run`] or [`Composed::run`]; none if the kernel is compiled and neither reduces nor scans.
    pub(crate) unsafe fn call(
        &self,
        pointers: &[*mut u8],
        extents: &[usize],
        strides: &[isize],
        literals: &[Cell],
    ) -> Result<()> {
        match &self.code {
            KernelImpl::Machine(machine) => {
                let entry = machine.entry(strides);
                // SAFETY: the caller's promise; the code is freed when `self` is dropped, so not during the call.
                unsafe { entry.call(pointers.as_ptr(), extents.as_ptr(), strides.as_ptr(), literals.as_ptr()) };
                Ok(())
            }
            KernelImpl::Interpreted => {
                // SAFETY: the caller's promises are the same.
                unsafe { interpret::run(&self.nest, pointers, extents, strides, literals) }
            }
            #[cfg(feature = "emulated")]
            KernelImpl::Emulated(function) => {
                // SAFETY: the caller's promises are the same.
                unsafe { function.call(pointers, extents, strides, literals) }
            }
            KernelImpl::Composed(composed) => {
                let operands = KernelOperands { pointers, extents, strides, literals };
                // SAFETY: the caller's promises are the same.
                unsafe { composed.run(operands, &Threads::Serial) }
            }
        }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({} bytes of code)", self.code_bytes())
    }
}

/// The reason why kernels are interpreted on this host, after a refusal of executable memory.
pub fn notice() -> Option<&'static str> {
    NOTICE.get().map(String::as_str)
}

static NOTICE: OnceLock<String> = OnceLock::new();

fn note_refusal(error: &io::Error) {
    NOTICE.get_or_init(|| {
        format!(
            "the system refused executable memory ({error}): kernels run in the interpreter, with the same results but \
             much more slowly"
        )
    });
}

/// Machine code of an expanded nest; `None` if executable memory is refused.
fn machine_code(
    nest: &LoopNest,
    isa: &dyn TargetIsa,
    width: VectorWidth,
    form: AccumulatorLayout,
) -> Result<Option<Machine>> {
    match x64::emit_here(nest, form, width)? {
        Some(x64::VectorCode { bytes, constants, set, .. }) => Ok(executable(&bytes, constants, set.width())),
        None => {
            let widest = width;
            let (kernel, width) = clif_code(nest, isa, width, form)?;
            let (code, constants) = kernel.into_code(isa)?;
            let Some(mut machine) = executable(&code, constants, width) else { return Ok(None) };
            if let Some(x64::VectorCode { bytes, constants, set, .. }) = x64::emit_alternate_here(nest, form, widest)? {
                let strides = x64::alternates(nest)
                    .map(|(operand, access)| (operand * nest.rank + nest.rank - 1, 2 * access.dtype.bytes() as isize));
                let own = executable(&bytes, constants, set.width());
                machine.alternate = own.map(|machine| Box::new(Alternate { machine, strides: strides.collect() }));
            }
            Ok(Some(machine))
        }
    }
}

/// Cranelift's function of an expanded nest, and its width.
fn clif_code(
    nest: &LoopNest,
    isa: &dyn TargetIsa,
    width: VectorWidth,
    form: AccumulatorLayout,
) -> Result<(ClifKernel, VectorWidth)> {
    let vector = width.is_vector() && !matches!(form, AccumulatorLayout::Steps { .. });
    let kernel = clif::emit(nest, isa, ClifOptions { vector, form, located: false })?;
    Ok((kernel, if vector { VectorWidth::Bits128 } else { VectorWidth::Scalar }))
}

/// Code with its constants, callable; `None` if executable memory is refused.
fn executable(code: &[u8], constants: Vec<Cell>, width: VectorWidth) -> Option<Machine> {
    let code = CodeMemory::new(code).inspect_err(note_refusal).ok()?;
    // SAFETY: the code begins with the kernel's only function, which both code generators emit with the kernels' signature and the host's
    // calling convention.
    let entry = unsafe { std::mem::transmute::<*const u8, EntryPoint>(code.as_ptr()) };
    Some(Machine { entry, width, constants: constants.into(), code, alternate: None })
}
