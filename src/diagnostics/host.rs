//! This machine: the target of code generation, and the caches.

use ndjit_codegen::target::VectorWidth;
use ndjit_codegen::{clif, x64};
use ndjit_ir::Result;
use ndjit_runtime::{kernels, pool, system};
use std::thread::available_parallelism;

/// The target of code generation, and the state of caches: see [`host`].
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
    /// The processor features available to the code generator, by its names: `has_avx2`.
    pub features: Vec<&'static str>,
    /// The width of the widest vectors in kernels, in bits: 512 with AVX-512, 256 with AVX2, else 128.
    pub vector_bits: usize,
    /// The default maximum number of threads of a call.
    pub threads: usize,
    /// The memory of the machine in bytes, or of its container (cgroup v2), if known. Cached elements of lazy arrays
    /// take at most half of it.
    pub memory: Option<usize>,
    /// The reason for interpreting kernels, if the process was refused executable memory. The first kernel requests it.
    pub notice: Option<&'static str>,
    /// The number of kernels compiled so far.
    pub kernels: u64,
    /// The bytes of cached machine code, and the limit.
    pub code_bytes: (usize, usize),
    /// The bytes of freed memory kept for new arrays, and the limit.
    pub pool_bytes: (usize, usize),
}

/// Describes this machine and the state of caches.
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

/// Sets the limit, in bytes, of freed memory kept for new arrays in this process, and frees any excess. A limit of 0
/// keeps no memory. The default is 1 GiB.
///
/// ```
/// ndjit::set_pool_limit(64 << 20);
/// assert_eq!(ndjit::host()?.pool_bytes.1, 64 << 20);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn set_pool_limit(bytes: usize) {
    pool::set_limit(bytes);
}
