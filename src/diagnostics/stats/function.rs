//! What one function's last program does and what it took to make: kernels, bytes, operations, memory, time of each stage.

use crate::jit::function::JitFn;
use crate::jit::jitted::Jitted;
use ndjit_codegen::passes::tile::Launch;
use ndjit_codegen::{Lowered, LoweredStep, Work};
use ndjit_eval::plan::compiled::Plan;
use ndjit_inspect::table;
use ndjit_runtime::KernelCode;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// One kernel of a compiled function: a loop nest, or several of which each computes a tile of its results after the other, while
/// what they share is in the cache.
///
/// ```
/// use ndjit::{Array, jit};
///
/// let f = jit(|x| x * 2.0);
/// f.call((&Array::from([1.0f32, 2.0]),))?;
/// assert_eq!((f.kernels()[0].nests, f.kernels()[0].flops), (1, 2));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelStats {
    /// How deep in branches and loops it stands: 0 if a call runs it once. A loop or a branch is a kernel that those of its graphs follow; of
    /// these all that is said is of one run.
    pub depth: usize,
    /// Loop nests.
    pub nests: usize,
    /// Indices of the loops, of all nests.
    pub elements: u64,
    /// Bytes that a call reads from memory, at least: elements of a broadcast array once, and nothing that nests of this kernel hand to each
    /// other.
    pub bytes_read: u64,
    /// Bytes that a call writes.
    pub bytes_written: u64,
    /// Floating-point operations of a call: each op of the stage [`kernels`](crate::Stage::Kernels) whose result is a float, at each
    /// index, is one, whichever op it is; on complex numbers two, a multiplication six. An element that is reduced or scanned is one
    /// more. Selections, comparisons, casts and what is done to integers are none.
    pub flops: u64,
    /// Bytes of machine code; 0 where an interpreter runs instead.
    pub code_bytes: usize,
    /// From loops to machine code. Spent once: later users find the kernel in the process's cache.
    pub compile_time: Duration,
    /// The longest that one of its nests took of that.
    pub slowest_compile: Duration,
}

/// What a function's program does, and what it took to make: see [`Jitted::stats`].
///
/// ```
/// use ndjit::{Array, jit};
///
/// let f = jit(|x| x * 2.0);
/// f.call((&Array::from([1.0f32, 2.0]),))?;
/// println!("{}", f.stats());
/// assert_eq!(f.stats().kernels.len(), 1);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionStats {
    /// The kernels, in the order they run.
    pub kernels: Vec<KernelStats>,
    /// How long each stage took when the program was made, in order: `trace`, the passes, and `compile`, in which are the passes that are
    /// the machine's (`split`, `expand`, `legalize`) and the code generator, for kernels that the cache did not hold.
    pub stages: Vec<(&'static str, Duration)>,
    /// Arrays that a call makes: results and intermediate ones.
    pub allocations: usize,
    /// Bytes of the results.
    pub result_bytes: u64,
    /// Bytes of all intermediate arrays.
    pub intermediate_bytes: u64,
    /// Bytes that kernels take while they run, at most: accumulators, and arrays of which there is a tile at a time.
    pub scratch_bytes: u64,
    /// Bytes that a call holds at once beside its arguments, at most: [`Jitted::memory_plan`] says of what. Less where results are in memory
    /// of the caller or of donated arguments.
    pub peak_bytes: u64,
    /// Arguments that were [donated](crate::Array::donate) to calls of the last call's signature so far.
    pub donated: u64,
    /// Those of them whose memory became a result's. The others were in use elsewhere, or no result fits them.
    pub donations_taken: u64,
}

impl FunctionStats {
    /// Bytes that a call reads from memory, at least; branches and loops counted as if each of their graphs ran once.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x * 2.0);
    /// f.call((&Array::from([1.0f32, 2.0]),))?;
    /// assert_eq!(f.stats().bytes_read(), 8);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn bytes_read(&self) -> u64 {
        self.kernels.iter().map(|kernel| kernel.bytes_read).sum()
    }

    /// Bytes that a call writes, counted alike.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x * 2.0);
    /// f.call((&Array::from([1.0f32, 2.0]),))?;
    /// assert_eq!(f.stats().bytes_written(), 8);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn bytes_written(&self) -> u64 {
        self.kernels.iter().map(|kernel| kernel.bytes_written).sum()
    }

    /// Floating-point operations of a call, counted as in [`KernelStats::flops`].
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x * 2.0);
    /// f.call((&Array::from([1.0f32, 2.0]),))?;
    /// assert_eq!(f.stats().flops(), 2);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn flops(&self) -> u64 {
        self.kernels.iter().map(|kernel| kernel.flops).sum()
    }

    /// The time from the closure to a program that runs.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x * 2.0);
    /// f.call((&Array::from([1.0f32, 2.0]),))?;
    /// assert!(f.stats().time().as_nanos() > 0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn time(&self) -> Duration {
        self.stages.iter().map(|(_, time)| *time).sum()
    }
}

impl fmt::Display for FunctionStats {
    /// A table of kernels, the memory of a call, and the stages with their times.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |(n, kernel): (usize, &KernelStats)| {
            vec![
                table::number(n, kernel.depth),
                kernel.nests.to_string(),
                kernel.elements.to_string(),
                table::bytes(kernel.bytes_read),
                table::bytes(kernel.bytes_written),
                kernel.flops.to_string(),
                table::bytes(kernel.code_bytes as u64),
                table::time(kernel.compile_time),
            ]
        };
        let rows: Vec<Vec<String>> = self.kernels.iter().enumerate().map(row).collect();
        let heading = ["kernel", "nests", "elements", "read", "written", "flops", "code", "compiled in"];
        table::write(f, &heading, &rows)?;
        if self.kernels.iter().any(|kernel| kernel.depth > 0) {
            writeln!(f, "{}; what is said of it is of one run", table::MARKS)?;
        }
        let FunctionStats { allocations, result_bytes, intermediate_bytes, peak_bytes, .. } = self;
        let (results, between, peak) =
            (table::bytes(*result_bytes), table::bytes(*intermediate_bytes), table::bytes(*peak_bytes));
        write!(f, "memory: arrays {allocations}, results {results}, intermediate {between}, at once {peak}")?;
        match self.donated {
            0 => writeln!(f)?,
            donated => writeln!(f, "; of {donated} donated arguments {} became results", self.donations_taken)?,
        }
        let stages: Vec<String> =
            self.stages.iter().map(|(stage, time)| format!("{stage} {}", table::time(*time))).collect();
        write!(f, "stages: {}", stages.join(", "))
    }
}

/// The kernels of a plan, in the order they run.
pub(super) fn kernels(plan: &Plan) -> Vec<KernelStats> {
    let stats = |(lowered, launch, depth): (&Lowered, &Launch, usize), kernels: &[Arc<dyn KernelCode>]| {
        let Work { elements, read, written, flops } = lowered.work(launch);
        KernelStats {
            depth,
            nests: lowered.steps[launch.steps.clone()].iter().filter_map(LoweredStep::kernel).count(),
            elements,
            bytes_read: read,
            bytes_written: written,
            flops,
            code_bytes: kernels.iter().map(|kernel| kernel.code_bytes()).sum(),
            compile_time: kernels.iter().map(|kernel| kernel.compile_time()).sum(),
            slowest_compile: kernels.iter().map(|kernel| kernel.compile_time()).max().unwrap_or_default(),
        }
    };
    let launches = plan.lowered.all_launches().into_iter().zip(plan.kernels());
    launches.map(|(launch, kernels)| stats(launch, &kernels)).collect()
}

impl<M, const N: usize, F: JitFn<M, N>> Jitted<M, N, F> {
    /// The kernels of the last call's signature, in the order they run; empty before the first call.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x * 2.0);
    /// f.call((&Array::from([1.0f32, 2.0]),))?;
    /// assert_eq!(f.kernels().len(), 1);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn kernels(&self) -> Vec<KernelStats> {
        self.core.plans.last().map_or_else(Vec::new, |plan| kernels(&plan))
    }

    /// What the program of the last call's signature does, and what it took to make; nothing before the first call. Known before a call
    /// runs, from the program alone: [`profile`](Jitted::profile) measures.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x, y| x + y * 2);
    /// f.call((&Array::from(vec![1.0f32; 1000]), &Array::from(vec![1i8; 1000])))?;
    /// let stats = f.stats();
    /// assert_eq!((stats.bytes_read(), stats.bytes_written()), (5000, 4000));
    /// // The addition; the multiplication is one of integers.
    /// assert_eq!(stats.flops(), 1000);
    /// println!("{stats}");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn stats(&self) -> FunctionStats {
        let Some(plan) = self.core.plans.last() else { return FunctionStats::default() };
        let (memory, donations) = (plan.planned_memory().unwrap_or_default(), plan.donations());
        FunctionStats {
            kernels: kernels(&plan),
            stages: plan.times.clone(),
            allocations: memory.arrays,
            result_bytes: memory.results,
            intermediate_bytes: memory.temporaries,
            scratch_bytes: memory.scratch,
            peak_bytes: memory.peak,
            donated: donations.given,
            donations_taken: donations.taken,
        }
    }
}
