//! Measured times of a function's kernels, beside the estimates: [`Jitted::profile`].

use super::function;
use crate::jit::arguments::CallArgs;
use crate::jit::caller;
use crate::jit::function::JitFn;
use crate::jit::input::{Inputs, known};
use crate::jit::jitted::Jitted;
use ndjit_eval::plan::compiled::Plan;
use ndjit_eval::steps::RunInputs;
use ndjit_inspect::table;
use ndjit_ir::{Result, SourceLoc};
use ndjit_runtime::devices::memory::result_memory;
use ndjit_runtime::{Memory, Output, Timed};
use smallvec::SmallVec;
use std::fmt;
use std::time::{Duration, Instant};

/// The minimum number of runs.
const LEAST: usize = 5;
/// The maximum number of runs.
const MOST: usize = 1000;
/// The time after which no run starts.
const ENOUGH: Duration = Duration::from_millis(100);

/// A measured kernel of a function. Kernels are numbered as in [`Jitted::kernels`].
///
/// ```
/// use ndjit::{Array, jit};
///
/// let f = jit(|x| x * 2.0);
/// let profile = f.profile((&Array::from([1.0f32, 2.0]),))?;
/// assert_eq!(profile.kernels[0].work.flops, 2);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchProfile {
    /// Its statistics for one run.
    pub work: function::KernelStats,
    /// The number of runs in a call: one, except in branches and loops.
    pub runs: u64,
    /// The estimated time of the kernel's loops in all runs of a call, which determines the number of threads. It
    /// excludes the overhead of calls. `best` and `median` include it, so they are longer on small arrays.
    pub estimated: Duration,
    /// The shortest measured time of all runs in a call; for a loop, of its body.
    pub best: Duration,
    /// The median time.
    pub median: Duration,
}

impl LaunchProfile {
    /// Returns the number of bytes read and written in all runs of a call.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x * 2.0);
    /// let profile = f.profile((&Array::from([1.0f32, 2.0]),))?;
    /// assert_eq!(profile.kernels[0].bytes(), 16);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn bytes(&self) -> u64 {
        self.work.bytes_read.saturating_add(self.work.bytes_written).saturating_mul(self.runs)
    }

    /// Returns the number of floating-point operations in all runs of a call.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x * 2.0);
    /// let profile = f.profile((&Array::from([1.0f32, 2.0]),))?;
    /// assert_eq!(profile.kernels[0].flops(), 2);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn flops(&self) -> u64 {
        self.work.flops.saturating_mul(self.runs)
    }
}

/// A measured function: see [`Jitted::profile`].
///
/// ```
/// use ndjit::{Array, jit};
///
/// let f = jit(|x| x * 2.0);
/// let profile = f.profile((&Array::from([1.0f32, 2.0]),))?;
/// println!("{profile}");
/// assert_eq!(profile.kernels.len(), 1);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The kernels, in execution order; empty on a GPU and in the interpreter, where they cannot be measured
    /// separately.
    pub kernels: Vec<LaunchProfile>,
    /// The shortest time of a call, memory for results included.
    pub best: Duration,
    /// The median time.
    pub median: Duration,
    /// The number of calls.
    pub runs: usize,
}

impl fmt::Display for Profile {
    /// Prints a table: for each kernel the estimate, the times, and the rates at the shortest time. GB and GFLOP are
    /// 10⁹. Estimates exclude the overhead of calls, as the last line notes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |(n, kernel): (usize, &LaunchProfile)| {
            vec![
                table::number(n, kernel.work.depth),
                table::time(kernel.estimated),
                table::time(kernel.best),
                table::time(kernel.median),
                table::giga(kernel.bytes(), kernel.best),
                table::giga(kernel.flops(), kernel.best),
            ]
        };
        let mut rows: Vec<Vec<String>> = self.kernels.iter().enumerate().map(row).collect();
        let estimated = match rows.is_empty() {
            true => "-".to_owned(),
            false => {
                let outer = self.kernels.iter().filter(|kernel| kernel.work.depth == 0);
                table::time(outer.map(|kernel| kernel.estimated).sum())
            }
        };
        rows.push(vec!["all".to_owned(), estimated, table::time(self.best), table::time(self.median)]);
        table::write(f, &["kernel", "estimated", "best", "median", "GB/s", "GFLOP/s"], &rows)?;
        if self.kernels.iter().any(|kernel| kernel.work.depth > 0) {
            writeln!(f, "{}; its times are of all its runs in a call", table::MARKS)?;
        }
        write!(f, "runs: {}", self.runs)?;
        // Without estimates there is no note on them.
        if self.kernels.is_empty() { Ok(()) } else { f.write_str("; estimated without the overhead of a call") }
    }
}

impl<M, const N: usize, F: JitFn<M, N>> Jitted<M, N, F> {
    /// Calls the function several times, for about a tenth of a second, and measures each of its kernels. Results are
    /// dropped; nothing is printed or checked. Bytes are the minimum transfer, so GB/s compare with the memory
    /// bandwidth of the machine.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x, y| x + y * 2);
    /// let profile = f.profile((&Array::from(vec![1.0f32; 10_000]), &Array::from(vec![1i8; 10_000])))?;
    /// assert_eq!((profile.kernels.len(), profile.kernels[0].bytes()), (1, 90_000));
    /// assert!(profile.kernels[0].best <= profile.kernels[0].median);
    /// println!("{profile}");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`call`](Jitted::call).
    #[track_caller]
    pub fn profile<'a>(&self, inputs: impl Inputs<'a, N>) -> Result<Profile> {
        let place = SourceLoc::caller();
        let measured = || {
            let mut args = CallArgs::of::<M, F>(inputs)?;
            let (args, structure) = args.parts();
            let plan = self.core.plan(args, structure, Some(place))?;
            measure(&plan, &RunInputs::of(known(args), &plan.closed_over)?.on(plan.settings.device)?)
        };
        measured().map_err(|e| caller::called(e, Some(place)))
    }
}

fn measure(plan: &Plan, given: &RunInputs) -> Result<Profile> {
    let (mut whole, mut launches) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    // Memory and caches are cold in the first run.
    for n in 0..=MOST {
        if n > LEAST && begun.elapsed() > ENOUGH {
            break;
        }
        let outputs = plan.results.iter().map(|_| ()).chain(plan.hidden.iter().map(|_| ()));
        let mut outputs: SmallVec<[Output<'_>; 4]> = outputs.map(|()| plan.fresh()).collect();
        let start = Instant::now();
        let times = plan.run_timed(given.memory.iter().map(Memory::argument), &given.scalars, &mut outputs)?;
        for output in outputs {
            result_memory(output)?.wait()?;
        }
        if n > 0 {
            whole.push(start.elapsed());
            launches.extend(times);
        }
    }
    let work = function::kernels(plan);
    let estimates = plan.estimates().unwrap_or_default();
    let measured = |(n, (&work, &estimated)): (usize, (&function::KernelStats, &Duration))| {
        let measured: Vec<Timed> = launches.iter().filter_map(|run: &Vec<Timed>| run.get(n).copied()).collect();
        let (best, median) = of(&mut measured.iter().map(|timed| timed.time).collect::<Vec<Duration>>());
        // The same arguments take the same branches in each call.
        let runs = measured.first().map_or(0, |timed| timed.runs);
        let estimated = estimated.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX));
        LaunchProfile { work, runs, estimated, best, median }
    };
    let kernels = work.iter().zip(&estimates).enumerate().map(measured).collect();
    let runs = whole.len();
    let (best, median) = of(&mut whole);
    Ok(Profile { kernels, best, median, runs })
}

/// Returns the shortest of these times, and the median.
fn of(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    (times.first().copied().unwrap_or_default(), median)
}
