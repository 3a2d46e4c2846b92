//! A JIT-compiling array expression engine: a Rust closure over arrays is traced into a typed graph, fused, and compiled to
//! machine code.
//!
//! ```
//! use ndjit::{Array, jit};
//!
//! let f = jit(|x, y| x + y * 2);
//! let x = Array::from(vec![1.0f32, 2.0, 3.0]);
//! let y = Array::from(vec![10.0f32, 20.0, 30.0]);
//! assert_eq!(f(&x, &y).to_vec::<f32>()?, [21.0, 42.0, 63.0]);
//! # Ok::<(), ndjit::Error>(())
//! ```
//!
//! - [`Expr`] is a value inside a traced function, [`Array`] is data. Both have the same operators, [functions] and methods;
//!   see [`operators`] for the semantics of each operator.
//! - Multidimensional arrays: [`creation`], [`manipulation`], [`reductions`], [`scans`], [`sorting`], [`quantiles`],
//!   [`selection`], [`contractions`], [`differences`], [`bins`], [`convolution`], [`covariance`]. `docs/arrays.md` shows
//!   examples with their output.
//! - [`jit`](fn@jit) turns a closure into a [`Jitted`] function. [`Jitted`] lists the ways to call and to inspect it.
//! - Rust literals are weak: their kind takes part in promotion, their width does not. See [`weak`] and [`strong`].
//! - A [`Policy`] determines the common dtype of two operands: JAX's by default, others with [`with_policy`],
//!   [`Jitted::with_policy`] or [`set_policy`]. [`Array::explain_dtype`] and similar methods explain a dtype.
//! - [`Jitted::explain_cache_misses`] explains why a call compiled; [`Jitted::stats`] and [`Jitted::profile`] report its work and its
//!   speed. [`debug`] provides printing, a search for NaN and the interpreter. docs/debugging.md shows them.
//! - Errors are values of type [`Error`] with the source location; [`report`] shows the line.
//!
//! Guides are in `docs/`: begin with `docs/quick-start.md`. `docs/numpy.md` lists the NumPy and JAX equivalents.
//!
//! This crate contains no algorithms: it records and calls functions, and displays results.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod api;
pub mod array;
mod diagnostics;
mod interop;
pub mod jit;
mod trace;

#[cfg(feature = "gpu")]
pub use api::gpu;
pub use api::{
    bins, compound, contractions, control, convolution, covariance, creation, differences, dynamic, functions,
    indexing, integers, manipulation, operators, quantiles, queries, random, reductions, scans, selection, sorting,
    transforms,
};
/// The former name of [`SourceLoc`].
///
/// ```
/// # #![allow(deprecated)]
/// assert!(ndjit::Place::caller().line > 0);
/// ```
#[deprecated(since = "0.1.0", note = "renamed to `SourceLoc`")]
pub type Place = SourceLoc;
/// The former name of [`differences`].
#[deprecated(since = "0.1.0", note = "renamed to `differences`")]
pub mod neighbours {
    pub use crate::api::differences::*;
}
pub use diagnostics::{assertions, debug, explain, inspect};
pub use interop::dlpack;
#[cfg(feature = "npy")]
pub use interop::npy;
pub use trace::operand;

#[doc(inline)]
pub use api::bins::{Closed, Density, IntoBinCount, IntoBins, bincount, density, digitize, histogram};
#[doc(inline)]
pub use api::cancellation::{Cancellation, with_cancellation};
pub use api::compound::{frexp, modf, select_n, vector_norm};
#[doc(inline)]
pub use api::compress::{FixedSize, compress, size};
pub use api::config::{
    Config, default_dtype, defaults, policy, set_default_dtype, set_defaults, set_policy, with_default_dtype,
    with_defaults, with_policy, with_state_budget,
};
#[doc(inline)]
pub use api::contractions::{einsum, kron, matmul, outer, tensordot, trace, vecdot};
#[doc(inline)]
pub use api::control::{cond, fori_loop, scan, scan_reversed, while_loop};
#[doc(inline)]
pub use api::convolution::{Overlap, convolve, correlate};
#[doc(inline)]
pub use api::covariance::{corrcoef, cov};
#[doc(inline)]
pub use api::creation::{
    Indexing, arange, asarray, dtype, empty, empty_like, eye, from_fn, full, full_like, linspace, logspace, meshgrid,
    ones, ones_like, zeros, zeros_like,
};
#[doc(inline)]
pub use api::differences::{Ends, Positions, append, diff, positions, prepend, trapezoid};
#[doc(inline)]
pub use api::functions::*;
#[doc(inline)]
pub use api::indexing::{
    At, DynamicRange, Side, dynamic_range, prefix, searchsorted, slice_dynamic, take, take_along_axis,
};
#[doc(inline)]
pub use api::interp::{Beyond, interp, left, period, right};
#[doc(inline)]
pub use api::manipulation::{
    Ellipsis, IntoSlice, NewAxis, Pad, Slice, broadcast_arrays, broadcast_shapes, broadcast_to, concat, diagonal,
    expand_dims, flip, matrix_transpose, moveaxis, pad, permute_dims, repeat, reshape, roll, slice, sliding_window,
    squeeze, stack, step, step_by, swapaxes, tile, tril, triu, unstack,
};
#[doc(inline)]
pub use api::quantiles::{Interpolation, IntoQuantiles, median, quantile};
#[doc(inline)]
pub use api::queries::{can_cast, promote_arrays, promote_types, result_type};
#[doc(inline)]
pub use api::reductions::{
    Axes, Corrected, IntoAxes, all, any, argmax, argmin, correction, count_nonzero, keepdims, logsumexp, max, mean,
    min, norm, prod, ptp, std, sum, var,
};
#[doc(inline)]
pub use api::scans::{Along, IntoAlong, cummax, cummin, cumulative_prod, cumulative_sum, include_initial};
#[doc(inline)]
pub use api::selection::{UniqueAll, isin, nonzero, unique_all, unique_counts, unique_inverse, unique_values};
#[doc(inline)]
pub use api::softmax::{log_softmax, softmax};
#[doc(inline)]
pub use api::sorting::{IntoSorting, Sorting, argsort, descending, sort, topk};
pub use api::support::{
    casting, device, fallback, restrict_dtypes, set_casting, set_device, set_fallback, with_casting, with_device,
    with_fallback,
};
#[doc(inline)]
pub use api::transforms::{
    Same, checkpoint, checkpoint_at, custom_jvp, custom_jvp_at, custom_vjp, custom_vjp_at, grad, grad_at, grad_aux,
    hessian, hvp, in_axes, jacfwd, jacrev, jvp, linearize, stop_gradient, value_and_grad, value_and_grad_at, vjp, vmap,
    vmap_at, wrt,
};
#[doc(inline)]
pub use api::weights::{Weights, weights};
#[doc(inline)]
pub use array::Array;
#[doc(inline)]
#[allow(deprecated)]
pub use diagnostics::debug::mismatch::{Divergence, divergence};
pub use diagnostics::debug::mismatch::{Mismatch, first_mismatch};
pub use diagnostics::explain::{Explanation, Lint, PolicyDiff, Widening};
pub use diagnostics::host::{Host, host, set_pool_limit};
#[doc(inline)]
pub use diagnostics::inspect::StageDiff;
#[doc(inline)]
#[allow(deprecated)]
pub use diagnostics::misses::forbid_compiling;
pub use diagnostics::misses::{Miss, no_recompile};
pub use diagnostics::report::{report, report_in};
pub use diagnostics::stats::{
    ArrayPlace, ArrayPlan, BodyPlan, ControlPlan, FunctionStats, KernelStats, LaunchProfile, MemoryPlan, Profile,
    Stats, stats,
};
#[doc(inline)]
pub use interop::dlpack::from_dlpack;
#[cfg(feature = "saved")]
#[doc(inline)]
pub use jit::{IncludedProgram, LoadLimits, SymbolicProgram};
#[doc(inline)]
pub use jit::{Jitted, Outputs, Program, Spec, Stage, jit, spec, trees};
pub use ndjit_codegen::target::VectorWidth;
pub use ndjit_ir::axes::MAX_RANK;
pub use ndjit_ir::dtype::{Casting, FloatInfo, IntInfo, finfo, iinfo, isdtype};
#[doc(hidden)]
pub use ndjit_ir::help;
pub use ndjit_ir::promotion::{self, Audit, Defaults, Lattice, Policy};
pub use ndjit_ir::support::{
    CastingModes, Device, Exclusion, Inferred, Mode, Restriction, Restrictions, Unsupported, devices, invalid_dtypes,
    supported_devices, supported_dtypes, unsupported, unsupported_devices, unsupported_dtypes, valid_dtypes,
};
pub use ndjit_ir::{
    DType, DTypeSet, Error, ErrorCode, Kind, Op, Reduction, Result, Scan, Shape, Sort, SourceLoc, ValueType, Weak,
    nearest,
};
pub use ndjit_runtime::{Allocations, CountingAllocator, Element, Fallback};
pub use trace::expr::Expr;
#[doc(inline)]
pub use trace::scalar::{Scalar, strong, weak};
pub use trace::written::with_place;

/// The page's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The page's examples.
#[cfg(doctest)]
#[doc = include_str!("../docs/promotion.md")]
struct Promotion;

/// The page's examples.
#[cfg(doctest)]
#[doc = include_str!("../docs/traps.md")]
struct Traps;

/// The page's example.
#[cfg(doctest)]
#[doc = include_str!("../docs/random.md")]
struct Random;

/// The page's examples.
#[cfg(all(doctest, feature = "saved"))]
#[doc = include_str!("../docs/compatibility.md")]
struct Compatibility;

/// The page's example.
#[cfg(doctest)]
#[doc = include_str!("../docs/gpu.md")]
struct Gpus;

pub use half::{bf16, f16};
pub use num_complex::Complex;
