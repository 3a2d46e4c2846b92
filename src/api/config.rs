//! How a function is traced, compiled and run, and the settings under which operations are made: for a scope, or globally.

pub(crate) use ndjit_eval::settings::{Settings, change_global, settings, with_parts, with_settings};

use ndjit_codegen::target::VectorWidth;
use ndjit_eval::options::PlanOptions;
use ndjit_ir::promotion::{Defaults, Policy};
use ndjit_ir::support::{CastingModes, Device, Restrictions, Support};
use ndjit_ir::{DType, Result};
use ndjit_runtime::Fallback;

/// What becomes of something that is legal, but often not meant.
///
/// ```
/// use ndjit::{Array, Lint, jit, strong};
///
/// let f = jit(|x| x * strong(2.5)).on_widening(Lint::Deny);
/// assert!(f.call((&Array::from([1.0f32]),)).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lint {
    /// Nothing.
    #[default]
    Allow,
    /// It is printed to standard error, once per plan.
    Warn,
    /// It is an error.
    Deny,
}

/// How a function is traced, compiled and run. Nothing here but the policy, casting modes, restrictions and contraction
/// changes a result.
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
    /// The promotion policy; `None` is the one of the caller (see [`with_policy`]).
    pub policy: Option<Policy>,
    /// Where calls run; `None` is where the arguments are.
    pub device: Option<Device>,
    /// What is done about dtypes that a GPU lacks; `None` is what the caller says (see [`with_fallback`](crate::with_fallback)).
    pub fallback: Option<Fallback>,
    /// The casting modes; `None` is those of the caller (see [`with_casting`](crate::with_casting)).
    pub casting: Option<CastingModes>,
    /// Declarations of the dtypes that array arguments may have.
    pub restrictions: Restrictions,
    /// The largest number of threads a call uses, at least 1; `None` is one per processor, or what the environment variable `NDJIT_NUM_THREADS` says.
    pub threads: Option<usize>,
    /// Whether elementwise ops share kernels.
    pub fuse: bool,
    /// Whether a product and a sum of floats become one operation, which rounds once: see [`Jitted::fp_contract`](crate::Jitted::fp_contract).
    pub fp_contract: bool,
    /// Lanes of the innermost loops of kernels.
    pub vector: VectorWidth,
    /// What becomes of an operation whose result is [wider](crate::Widening) than its arrays.
    pub on_widening: Lint,
    /// Whether the reference interpreter runs the function, instead of compiled code.
    pub interpreted: bool,
    /// Whether a result that is NaN makes a call an error.
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
    /// How programs of such a function are lowered, compiled and run.
    pub(crate) fn plan_options(&self) -> PlanOptions {
        let Config { threads, fuse, fp_contract, vector, check_nans, .. } = *self;
        PlanOptions { threads, fuse, fp_contract, vector, check_nans }
    }

    /// The settings a function with this configuration is traced under when it is called now.
    pub(crate) fn settings(&self) -> Settings {
        let settings = settings();
        let casting = self.casting.unwrap_or(settings.support.casting);
        let support = Support { casting, ..settings.support };
        let fallback = self.fallback.unwrap_or(settings.fallback);
        let interpreted = self.interpreted || settings.interpreted;
        Settings { policy: self.policy.unwrap_or(settings.policy), support, fallback, interpreted, ..settings }
    }
}

/// The promotion policy under which this thread makes operations: that of the innermost [`with_policy`], or the
/// [global](set_policy) one.
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

/// Runs `body` with another promotion policy for the operations this thread makes, on arrays and in traces. An operation keeps
/// the policy it was made under. A function with a policy [of its own](crate::Jitted::with_policy) keeps that one wherever it
/// is called. A policy comes with its default dtypes: set others ([`with_defaults`]) inside, or in the policy
/// ([`Policy::with_defaults`]).
///
/// Like all scopes of this crate it is one of the calling thread. A thread that waits in ndjit does nothing else, so tasks of thread pools do not
/// meet each other's scopes there. Where `body` itself waits in a pool whose threads steal work, as `rayon::join` does, the thread may run
/// tasks of others in this scope: wait outside of scopes, or make the policy an option of the function, which holds wherever it is called.
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

/// Sets the promotion policy of all threads, with its default dtypes, where no [`with_policy`] says otherwise. Functions are
/// traced anew for it.
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

/// The dtypes that weak integers, floats and complex numbers have where one must be chosen: those of the current policy.
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

/// Runs `body` with other default dtypes for the kinds of numbers, under the same policy. They are of the widths it takes: 32
/// bits at most under [`Policy::Jax32`].
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
/// `Promotion` if a default is not of its kind; `body` is not run then.
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

/// The dtype of a new array of which nothing else is known, such as `zeros(3)`: the one [set](with_default_dtype), or the
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

/// Runs `body` with `dtype`, of any kind, for new arrays of which nothing else is known. `None` is the default float.
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

/// As [`with_default_dtype`], for all threads.
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

/// Runs `body`, in which the reverse mode of a loop keeps so many bytes of its states, where it can; beyond that it computes states again from others.
/// The bits of derivatives are the same. Functions are traced anew for it. Without it a loop keeps 256 MiB of states, one whose steps nobody
/// knows 16 MiB.
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

/// Runs `body` without compiled code: functions called in it and arrays evaluated in it are run by the reference interpreter, operation
/// by operation and element by element. Results are the same, bit for bit (sign and payload of NaNs aside), and
/// [`explain`](crate::Jitted::explain) shows what would have been compiled. So a result that differs is a bug of a pass or a code
/// generator, and one that does not is one of the program. The environment variable `NDJIT_DISABLE_JIT=1` does this for the whole process,
/// [`Jitted::interpreted`](crate::Jitted::interpreted) for one function.
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
