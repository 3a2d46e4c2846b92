//! How a function is traced, compiled and run, and the settings under which operations are made: for a scope, or globally.

use ndjit_codegen::Lowered;
use ndjit_codegen::target::VectorWidth;
use ndjit_inspect::explain::ParamSource;
use ndjit_inspect::listing::Inspection;
use ndjit_ir::lock::Mutex;
use ndjit_ir::promotion::{Defaults, Policy};
use ndjit_ir::support::{CastingModes, Device, Restrictions, Support};
use ndjit_ir::{DType, Result};
use ndjit_runtime::{Fallback, devices, environment};
use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// The largest number of threads a call uses; `None` is one per processor, or what the environment variable `NDJIT_NUM_THREADS` says.
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
    pub(crate) fn options(&self, settings: Settings) -> Result<ndjit_codegen::Options> {
        let (policy, fuse, fp_contract) = (settings.policy, self.fuse, self.fp_contract);
        let options = ndjit_codegen::Options { policy, fuse, fp_contract, ..ndjit_codegen::Options::default() };
        devices::options(settings.device, options)
    }

    pub(crate) fn run_options(&self) -> ndjit_runtime::RunOptions {
        let (threads, vector) = (self.threads, self.vector);
        ndjit_runtime::RunOptions { threads, vector, ..ndjit_runtime::RunOptions::default() }
    }

    /// A program of such a function that is looked at, which was not compiled.
    pub(crate) fn inspection<'a>(
        &self,
        lowered: &'a Lowered,
        settings: Settings,
        inputs: Vec<ParamSource>,
    ) -> Inspection<'a> {
        let (run, Settings { device, fallback, .. }) = (self.run_options(), settings);
        Inspection { lowered, run, device, fallback, program: None, inputs }
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

/// Everything outside an operation that its types depend on. Part of every plan's key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Settings {
    /// The promotion policy, with the default dtype of each kind.
    pub policy: Policy,
    /// The dtype of new arrays of which nothing else is known; `None` is the default float.
    pub default_dtype: Option<DType>,
    /// What is supported, and what happens to the rest.
    pub support: Support,
    /// Where programs run.
    pub device: Device,
    /// What is done about dtypes that a GPU lacks.
    pub fallback: Fallback,
    /// Whether the reference interpreter runs programs.
    pub interpreted: bool,
}

impl Settings {
    /// Those of a process in which nothing was set but by its environment.
    fn initial() -> Settings {
        static INTERPRETED: LazyLock<bool> = LazyLock::new(|| environment::is_on("NDJIT_DISABLE_JIT"));
        Settings { interpreted: *INTERPRETED, ..Settings::default() }
    }

    /// The same for operations on arrays of a device: what a GPU lacks is not supported, unless it is done without.
    pub fn on(self, device: Device) -> Result<Settings> {
        if device == self.device && device == Device::CPU {
            return Ok(self);
        }
        // What a GPU lacks is known once it is open.
        let gpu = devices::open(device)?.device() != Device::CPU;
        let lacking = match self.fallback {
            _ if !gpu => self.support.device,
            Fallback::Error => Some(device),
            Fallback::Emulate => Some(device.emulating()),
            Fallback::Cpu => self.support.device,
        };
        Ok(Settings { device, support: Support { device: lacking, ..self.support }, ..self })
    }
}

static GLOBAL: Mutex<Option<Settings>> = Mutex::new(None);
/// How often `GLOBAL` was set: threads lock it only to see what is new.
static CHANGES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static SCOPE: Cell<Option<Settings>> = const { Cell::new(None) };
    /// The global settings as this thread saw them last, after so many changes.
    static SEEN: Cell<Option<(u64, Settings)>> = const { Cell::new(None) };
}

/// The settings of this thread: those of the innermost scope, or the global ones.
pub(crate) fn settings() -> Settings {
    SCOPE.get().unwrap_or_else(global)
}

fn global() -> Settings {
    let changes = CHANGES.load(Ordering::Acquire);
    if changes == 0 {
        return Settings::initial();
    }
    if let Some((seen, settings)) = SEEN.get()
        && seen == changes
    {
        return settings;
    }
    let settings = GLOBAL.lock().unwrap_or_else(Settings::initial);
    SEEN.set(Some((changes, settings)));
    settings
}

pub(crate) fn change_global(change: impl FnOnce(&mut Settings)) {
    let mut global = GLOBAL.lock();
    change(global.get_or_insert_with(Settings::initial));
    CHANGES.fetch_add(1, Ordering::Release);
}

/// Runs `body` under these settings.
pub(crate) fn with_settings<R>(settings: Settings, body: impl FnOnce() -> R) -> R {
    struct Restore(Option<Settings>);
    impl Drop for Restore {
        fn drop(&mut self) {
            SCOPE.set(self.0);
        }
    }
    let _restore = Restore(SCOPE.replace(Some(settings)));
    body()
}

/// Runs `body`, which makes the parts of a function that is several operations, under a policy that leaves operands of one dtype
/// alone, with nothing declared unsupported: what the function may be used on is looked at before, once, and not by its parts.
pub(crate) fn with_parts<R>(body: impl FnOnce() -> R) -> R {
    let settings = settings();
    let policy = Policy::Standard.with_defaults(settings.policy.defaults()).unwrap_or(Policy::Standard);
    with_settings(Settings { policy, support: Support::default(), ..settings }, body)
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
