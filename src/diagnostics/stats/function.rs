//! Statistics of one function's last program: kernels, bytes, operations, memory, and the time of each stage.

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

/// A kernel of a compiled function: a loop nest, or several that run tile by tile, with shared data in the cache.
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
    /// The nesting depth in branches and loops: 0 if a call runs it once. A loop or a branch is a kernel, followed by
    /// those of its graphs, whose statistics are of one run.
    pub depth: usize,
    /// Whether it is a compiled loop: one nest for all steps. The numbers of elements, bytes and flops are of one step.
    pub compiled_loop: bool,
    /// The number of loop nests.
    pub nests: usize,
    /// The number of loop indices, over all nests.
    pub elements: u64,
    /// The minimum number of bytes read from memory by a call. Elements of a broadcast array count once; arrays passed
    /// between nests of this kernel do not count.
    pub bytes_read: u64,
    /// The number of bytes written by a call.
    pub bytes_written: u64,
    /// The number of floating-point operations of a call: one for each op of the stage
    /// [`kernels`](crate::Stage::Kernels) with a float result, at each index. On complex numbers an op counts twice, a
    /// multiplication six times. Each element of a reduction or scan adds one. Selections, comparisons, casts and
    /// integer ops do not count.
    pub flops: u64,
    /// The size of machine code in bytes; 0 in the interpreter.
    pub code_bytes: usize,
    /// The time from loops to machine code. It is spent once per process: other users find the kernel in the cache.
    pub compile_time: Duration,
    /// The longest compile time of one of its nests.
    pub slowest_compile: Duration,
}

/// The statistics of a function's program and its compilation: see [`Jitted::stats`].
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
    /// The kernels, in execution order.
    pub kernels: Vec<KernelStats>,
    /// The times of stages, in order: `trace`, the passes, and `compile`, the code generator. The machine-dependent
    /// passes (`split`, `expand`, `legalize`) and `compile` take time for kernels that were not cached.
    pub stages: Vec<(&'static str, Duration)>,
    /// The number of arrays created by a call: results and intermediate ones, without those of loops and branches, which
    /// the [memory plan](Jitted::memory_plan) lists.
    pub allocations: usize,
    /// The size of the results in bytes.
    pub result_bytes: u64,
    /// The size of all intermediate arrays in bytes, without those of loops and branches.
    pub intermediate_bytes: u64,
    /// The maximum temporary memory of kernels in bytes: accumulators, tiles of arrays, and the memory of branches and
    /// loops, including loop states.
    pub scratch_bytes: u64,
    /// The peak memory of a call in bytes, without its arguments; [`Jitted::memory_plan`] has the details. It is less
    /// if results are written to memory of the caller or of donated arguments.
    pub peak_bytes: u64,
    /// The number of arguments [donated](crate::Array::donate) so far to calls of this signature.
    pub donated: u64,
    /// The number of donated arguments whose memory a result reused. The others had other users, or no fitting result.
    pub donations_taken: u64,
}

impl FunctionStats {
    /// Returns the statistics of a plan.
    pub(crate) fn of(plan: &Plan) -> FunctionStats {
        let (memory, donations) = (plan.planned_memory().unwrap_or_default(), plan.donations());
        FunctionStats {
            kernels: kernels(plan),
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

    /// Returns the minimum number of bytes read from memory by a call; each graph of a branch or loop counts as run
    /// once.
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

    /// Returns the number of bytes written by a call, counted like [`bytes_read`](FunctionStats::bytes_read).
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

    /// Returns the number of floating-point operations of a call, as in [`KernelStats::flops`].
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

    /// Returns the time from the closure to an executable program.
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
    /// Prints a table of kernels, the memory of a call, and the times of stages.
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
        let loops = self.kernels.iter().enumerate().filter(|(_, kernel)| kernel.compiled_loop);
        let loops: Vec<String> = loops.map(|(n, _)| n.to_string()).collect();
        if !loops.is_empty() {
            writeln!(f, "compiled loops, of which a step is counted: {}", loops.join(", "))?;
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

/// Returns the kernels of a plan, in execution order.
pub(super) fn kernels(plan: &Plan) -> Vec<KernelStats> {
    let stats = |(lowered, launch, depth): (&Lowered, &Launch, usize), kernels: &[Arc<dyn KernelCode>]| {
        let Work { elements, read, written, flops } = lowered.work(launch);
        let steps = &lowered.steps[launch.steps.clone()];
        let is_compiled = |step: &LoweredStep| step.control().is_some_and(|control| control.compiled.is_some());
        KernelStats {
            depth,
            compiled_loop: steps.iter().any(is_compiled),
            nests: lowered.nests(launch),
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
    /// Returns the kernels for the last call's signature, in execution order. Before the first call there are none.
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

    /// Returns the statistics for the last call's signature; empty before the first call. They are computed from the
    /// program. [`profile`](Jitted::profile) measures.
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
        self.core.plans.last().map_or_else(FunctionStats::default, |plan| FunctionStats::of(&plan))
    }
}
