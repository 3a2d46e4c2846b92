//! Configuration of tracing, compilation and execution, and the settings of operations, for a scope or globally.

pub(crate) use ndjit_eval::settings::{Settings, change_global, settings, with_parts, with_settings};

use ndjit_codegen::target::VectorWidth;
use ndjit_eval::options::PlanOptions;
use ndjit_ir::promotion::{Defaults, Policy};
use ndjit_ir::support::{CastingModes, Device, Restrictions, Support};
use ndjit_ir::{DType, Result};
use ndjit_runtime::Fallback;

/// Handling of code that is legal, but often unintended.
///
/// ```
/// use ndjit::{Array, Lint, jit, strong};
///
/// let f = jit(|x| x * strong(2.5)).on_widening(Lint::Deny);
/// assert!(f.call((&Array::from([1.0f32]),)).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lint {
    /// No action.
    #[default]
    Allow,
    /// Prints a warning to standard error, once per plan.
    Warn,
    /// An error.
    Deny,
}

/// Configuration of tracing, compilation and execution of a function. Only the policy, casting modes, restrictions and
/// contraction change results.
///
/// ```
/// use ndjit::{VectorWidth, jit};
///
/// let f = jit(|x| x + 1).threads(2).fuse(false);
/// let config = f.config();
/// assert_eq!((config.threads, config.fuse, config.vector), (Some(2), false, VectorWidth::Widest));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Config {
    /// The promotion policy; `None` is the caller's (see [`with_policy`]).
    pub policy: Option<Policy>,
    /// The device of calls; `None` is that of the arguments.
    pub device: Option<Device>,
    /// The fallback for dtypes that a GPU lacks; `None` is the caller's (see [`with_fallback`](crate::with_fallback)).
    pub fallback: Option<Fallback>,
    /// The casting modes; `None` is the caller's (see [`with_casting`](crate::with_casting)).
    pub casting: Option<CastingModes>,
    /// Declarations of the dtypes of array arguments.
    pub restrictions: Restrictions,
    /// The largest number of threads of a call, at least 1; `None` is one per processor, or the environment variable
    /// `NDJIT_NUM_THREADS`.
    pub threads: Option<usize>,
    /// Share kernels among elementwise ops.
    pub fuse: bool,
    /// Contract a float product and sum into one operation with one rounding: see
    /// [`Jitted::fp_contract`](crate::Jitted::fp_contract).
    pub fp_contract: bool,
    /// Lanes of the innermost loops of kernels.
    pub vector: VectorWidth,
    /// Handling of an operation whose result is [wider](crate::Widening) than its arrays.
    pub on_widening: Lint,
    /// Run the function in the interpreter instead of compiled code.
    pub interpreted: bool,
    /// Make a NaN in a result an error of the call.
    pub check_nans: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            policy: None,
            device: None,
            fallback: None,
            casting: None,
            restrictions: Restrictions::NONE,
            threads: None,
            fuse: true,
            fp_contract: false,
            vector: VectorWidth::default(),
            on_widening: Lint::Allow,
            interpreted: false,
            check_nans: false,
        }
    }
}

impl Config {
    /// Returns the options for lowering, compiling and running programs of such a function.
    pub(crate) fn plan_options(&self) -> PlanOptions {
        let Config { threads, fuse, fp_contract, vector, check_nans, .. } = *self;
        PlanOptions { threads, fuse, fp_contract, vector, check_nans }
    }

    /// Returns the trace settings of a function with this configuration for a call now.
    pub(crate) fn settings(&self) -> Settings {
        let settings = settings();
        let casting = self.casting.unwrap_or(settings.support.casting);
        let support = Support { casting, ..settings.support };
        let fallback = self.fallback.unwrap_or(settings.fallback);
        let interpreted = self.interpreted || settings.interpreted;
        Settings { policy: self.policy.unwrap_or(settings.policy), support, fallback, interpreted, ..settings }
    }
}

/// Returns the promotion policy of this thread: that of the innermost [`with_policy`], or the [global](set_policy) one.
///
/// ```
/// use ndjit::{Policy, policy, with_policy};
///
/// assert_eq!(policy(), Policy::Standard);
/// assert_eq!(with_policy(Policy::Torch, policy), Policy::Torch);
/// ```
pub fn policy() -> Policy {
    settings().policy
}

/// Runs `body` with another promotion policy for this thread's operations, on arrays and in traces. An operation keeps the
/// policy of its creation. A function with [its own policy](crate::Jitted::with_policy) keeps it in every call. A policy has
/// default dtypes: set others inside with [`with_defaults`], or in the policy with [`Policy::with_defaults`].
///
/// Like all scopes of this crate, it belongs to the calling thread. A thread that waits in ndjit runs nothing else, so tasks
/// of thread pools do not see each other's scopes there. If `body` itself waits in a work-stealing pool, as in
/// `rayon::join`, the thread may run other tasks in this scope. Wait outside of scopes, or make the policy an option of the
/// function.
///
/// ```
/// use ndjit::{Array, DType, ErrorCode, Policy, with_policy};
///
/// let (x, y) = (Array::from([1.0f32]), Array::from([1i32]));
/// let sum = with_policy(Policy::Strict, || &x + &y);
/// assert_eq!(sum.eval().unwrap_err().code(), ErrorCode::Promotion);
/// ```
pub fn with_policy<R>(policy: Policy, body: impl FnOnce() -> R) -> R {
    with_settings(Settings { policy, ..settings() }, body)
}

/// Sets the promotion policy of all threads, with its default dtypes, outside of [`with_policy`]. Functions are retraced.
///
/// ```
/// use ndjit::{Policy, policy, set_policy};
///
/// set_policy(Policy::NumPy2);
/// assert_eq!(std::thread::spawn(policy).join().unwrap(), Policy::NumPy2);
/// # set_policy(Policy::Standard);
/// ```
pub fn set_policy(policy: Policy) {
    change_global(|settings| settings.policy = policy);
}

/// Returns the default dtypes of weak integers, floats and complex numbers under the current policy.
///
/// ```
/// use ndjit::{DType, Defaults, defaults};
///
/// assert_eq!(defaults(), Defaults::BITS_32);
/// assert_eq!(defaults().float, DType::F32);
/// ```
pub fn defaults() -> Defaults {
    policy().defaults()
}

/// Runs `body` with other default dtypes under the same policy. Its widths limit them: 32 bits at most under [`Policy::Jax32`].
///
/// ```
/// use ndjit::{DType, Defaults, weak, with_defaults, Array};
///
/// let x = with_defaults(Defaults { int: DType::I64, ..Defaults::BITS_32 }, || Array::scalar(weak(2)))?;
/// assert_eq!((x.dtype(), x.is_weak()), (DType::I64, true));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Promotion` if a default is not of its kind; `body` does not run then.
pub fn with_defaults<R>(defaults: Defaults, body: impl FnOnce() -> R) -> Result<R> {
    Ok(with_policy(policy().with_defaults(defaults)?, body))
}

/// Sets the default dtypes of all threads, under the global policy.
///
/// ```
/// use ndjit::{DType, Defaults, arange, set_defaults};
///
/// set_defaults(Defaults::BITS_64)?;
/// assert_eq!(arange(3).dtype(), DType::I64);
/// # set_defaults(Defaults::BITS_32)?;
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Promotion` if a default is not of its kind.
pub fn set_defaults(defaults: Defaults) -> Result<()> {
    defaults.check()?;
    change_global(|settings| settings.policy = settings.policy.with_defaults(defaults).unwrap_or(settings.policy));
    Ok(())
}

/// Returns the dtype of new arrays without another dtype, such as `zeros(3)`: the one [set](with_default_dtype), or the
/// default float.
///
/// ```
/// use ndjit::{DType, default_dtype, with_default_dtype};
///
/// assert_eq!(default_dtype(), DType::F32);
/// assert_eq!(with_default_dtype(DType::I16, default_dtype), DType::I16);
/// ```
pub fn default_dtype() -> DType {
    let settings = settings();
    settings.default_dtype.unwrap_or(settings.policy.defaults().float)
}

/// Runs `body` with `dtype`, of any kind, for new arrays without another dtype. `None` is the default float.
///
/// ```
/// use ndjit::{DType, with_default_dtype, zeros};
///
/// let x = with_default_dtype(DType::U8, || zeros(3));
/// assert_eq!(x.dtype(), DType::U8);
/// ```
pub fn with_default_dtype<R>(dtype: impl Into<Option<DType>>, body: impl FnOnce() -> R) -> R {
    with_settings(Settings { default_dtype: dtype.into(), ..settings() }, body)
}

/// Like [`with_default_dtype`], for all threads.
///
/// ```
/// use ndjit::{DType, set_default_dtype, zeros};
///
/// set_default_dtype(DType::F64);
/// assert_eq!(zeros(3).dtype(), DType::F64);
/// set_default_dtype(None);
/// assert_eq!(zeros(3).dtype(), DType::F32);
/// ```
pub fn set_default_dtype(dtype: impl Into<Option<DType>>) {
    let dtype = dtype.into();
    change_global(|settings| settings.default_dtype = dtype);
}

/// Runs `body` with a memory budget for the saved states of loops in reverse mode, in bytes. Beyond it states are recomputed
/// where possible. The bits of derivatives are the same. Functions are retraced. The default is 256 MiB per loop, 16 MiB for
/// a loop with an unknown number of steps.
///
/// ```
/// use ndjit::{Array, Expr, arange, grad, jit, scan, sum, tanh, with_state_budget};
///
/// let f = jit(grad(|x: Expr| sum(scan(|x: Expr, n: Expr| (tanh(x * n), ()), x, Expr::from(arange(100))).0, ..)));
/// let x = Array::from([0.5f32; 8]);
/// // Twenty states of eight elements of four bytes.
/// let few = with_state_budget(20 * 8 * 4, || f(&x));
/// assert_eq!(few.to_vec::<f32>()?, f(&x).to_vec::<f32>()?);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn with_state_budget<R>(bytes: usize, body: impl FnOnce() -> R) -> R {
    with_settings(Settings { state_bytes: bytes, ..settings() }, body)
}

/// Runs `body` without compiled code: the interpreter evaluates its functions and arrays, operation by operation and element
/// by element. Results are the same, bit for bit (sign and payload of NaNs aside). [`explain`](crate::Jitted::explain) still
/// shows the compiled form.
///
/// A result that differs is a bug of a pass or a code generator; one that does not is a bug of the program. The environment
/// variable `NDJIT_DISABLE_JIT=1` does this for the whole process, [`Jitted::interpreted`](crate::Jitted::interpreted) for
/// one function.
///
/// ```
/// use ndjit::{Array, debug::with_jit_disabled, jit};
///
/// let f = jit(|x, y| x + y * 2);
/// let z = with_jit_disabled(|| f(&Array::from([1.0f32, 2.0]), &Array::from([10.0f32, 20.0])));
/// assert_eq!(z.to_vec::<f32>()?, [21.0, 42.0]);
/// assert_eq!(f.compile_count(), 0);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn with_jit_disabled<R>(body: impl FnOnce() -> R) -> R {
    with_settings(Settings { interpreted: true, ..settings() }, body)
}
