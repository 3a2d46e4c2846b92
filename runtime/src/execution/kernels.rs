//! The process's compiled kernels: one cache for all programs, keyed by loops and options, never by sizes or literals.

use crate::cache::{Bounds, Cache, CacheStats};
use crate::execution::code::{CodeOptions, Kernel};
use crate::execution::helper::on_large_stack;
use crate::execution::lowering;
use crate::spans;
use ndjit_codegen::clif::AccumulatorLayout;
use ndjit_codegen::passes::loops::LoopKernel;
use ndjit_codegen::passes::split::NestPart;
use ndjit_ir::Result;
use ndjit_ir::loops::LoopNest;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The default bounds: kernels, and bytes of their code.
pub const DEFAULT_BOUNDS: Bounds = Bounds { count: 4096, weight: 64 << 20 };

pub(crate) type KernelKey = (LoopNest, CodeOptions, AccumulatorLayout);

fn cache() -> &'static Cache<KernelKey, Kernel> {
    static CACHE: OnceLock<Cache<KernelKey, Kernel>> = OnceLock::new();
    CACHE.get_or_init(|| Cache::new(DEFAULT_BOUNDS))
}

static ELSEWHERE: AtomicU64 = AtomicU64::new(0);
/// In nanoseconds.
static TIME_ELSEWHERE: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static HERE: Cell<u64> = const { Cell::new(0) };
}

/// The kernel of a part, which nests share.
///
/// # Errors
/// As [`Kernel::part`].
pub(crate) fn part(part: &NestPart, options: CodeOptions) -> Result<Arc<Kernel>> {
    let own = part.clone();
    cached((LoopNest::clone(&part.ops), options, part.form), move |(_, options, _)| Kernel::part(&own, *options))
}

/// The kernel of a loop's steps.
///
/// # Errors
/// As [`Kernel::part`].
pub(crate) fn steps(loops: &LoopKernel, options: CodeOptions) -> Result<Arc<Kernel>> {
    let own = loops.clone();
    cached((LoopNest::clone(&loops.nest), options, loops.form), move |(_, options, _)| {
        Kernel::part(&lowering::steps(&own, &options.execution.target()?)?, *options)
    })
}

/// The kernel of a key, compiled on a miss.
pub(crate) fn cached(
    key: KernelKey,
    compile: impl FnOnce(&KernelKey) -> Result<Kernel> + Send + 'static,
) -> Result<Arc<Kernel>> {
    let nest = &key.0;
    let new = spans::are_collected() && !cache().holds(&key);
    let _span = new.then(|| spans::kernel(nest.rank, nest.inputs.len(), nest.outputs.len()));
    cache().get(key, |key| {
        count_compiled();
        let key = Arc::clone(key);
        let kernel = on_large_stack(move || compile(&key))?;
        let weight = kernel.weight();
        Ok((Arc::new(kernel), weight))
    })
}

/// Counts a kernel outside of this cache, compiled for a GPU, and its compilation time.
#[cfg(feature = "gpu")]
pub(crate) fn count_elsewhere(time: Duration) {
    ELSEWHERE.fetch_add(1, Relaxed);
    TIME_ELSEWHERE.fetch_add(time.as_nanos() as u64, Relaxed);
}

/// The number of kernels compiled for GPUs, without those of opening the device, and their compilation time.
pub fn elsewhere() -> (u64, Duration) {
    (ELSEWHERE.load(Relaxed), Duration::from_nanos(TIME_ELSEWHERE.load(Relaxed)))
}

/// Counters: `misses` is the number of compiled kernels, `time` their compilation time, `weight` the bytes of cached
/// code.
pub fn stats() -> CacheStats {
    cache().stats()
}

/// Counts a kernel compiled for the calling thread.
pub(crate) fn count_compiled() {
    HERE.set(HERE.get() + 1);
}

/// The number of kernels compiled for the calling thread, which waited for each.
pub fn compiled_here() -> u64 {
    HERE.get()
}

/// Changes the bounds and evicts down to them. Programs keep their kernels alive.
pub fn set_bounds(bounds: Bounds) {
    cache().set_bounds(bounds);
}
