//! This machine, as the code generator and the runtime see it.

use ndjit_codegen::target::VectorWidth;
use ndjit_codegen::{clif, x64};
use ndjit_ir::Result;
use ndjit_runtime::{kernels, pool, system};
use std::thread::available_parallelism;

/// What code is made for on this machine, and what is kept of it: see [`host`].
///
/// ```
/// let host = ndjit::host()?;
/// println!("{}: {}", host.target, host.features.join(" "));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Host {
    /// The machine code's target, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// The processor's features that the code generator may use, by its names: `has_avx2`.
    pub features: Vec<&'static str>,
    /// Bits of the widest vectors that kernels use: 512 with AVX-512, 256 with AVX2, else 128.
    pub vector_bits: usize,
    /// How many threads a call may use, where it is not told otherwise.
    pub threads: usize,
    /// How many bytes of memory the machine has, or the container that this runs in (cgroup v2), where they say so. Elements of lazy arrays are kept in half of it
    /// at most.
    pub memory: Option<usize>,
    /// Why kernels are interpreted, if executable memory was refused to this process. It is asked for by the first kernel.
    pub notice: Option<&'static str>,
    /// How many kernels were compiled so far.
    pub kernels: u64,
    /// How many bytes of machine code are kept, and at most.
    pub code_bytes: (usize, usize),
    /// How many bytes of freed memory are kept for new arrays, and at most.
    pub pool_bytes: (usize, usize),
}

/// What this machine is to ndjit.
///
/// ```
/// let host = ndjit::host()?;
/// assert!(host.threads >= 1 && !host.target.is_empty());
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Backend` if no code can be generated for this machine.
pub fn host() -> Result<Host> {
    let isa = clif::host_isa()?;
    let mut features: Vec<&'static str> =
        isa.isa_flags().iter().filter(|flag| flag.as_bool() == Some(true)).map(|flag| flag.name).collect();
    features.sort_unstable();
    let (compiled, kept) = (kernels::stats(), pool::stats());
    Ok(Host {
        target: isa.triple().to_string(),
        features,
        vector_bits: x64::Set::of(VectorWidth::Widest).map_or(128, |set| set.bits() as usize),
        threads: available_parallelism().map_or(1, usize::from),
        memory: system::memory(),
        notice: ndjit_runtime::code::notice(),
        kernels: compiled.misses,
        code_bytes: (compiled.weight, kernels::DEFAULT_BOUNDS.weight),
        pool_bytes: (kept.pooled_bytes, pool::limit()),
    })
}

/// Sets how many bytes of freed memory are kept for new arrays, in this process, and gives back what is beyond that. 0 keeps none. Without it 1 GiB is
/// kept.
///
/// ```
/// ndjit::set_pool_limit(64 << 20);
/// assert_eq!(ndjit::host()?.pool_bytes.1, 64 << 20);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn set_pool_limit(bytes: usize) {
    pool::set_limit(bytes);
}
