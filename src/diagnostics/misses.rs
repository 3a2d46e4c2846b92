//! Why a call compiled: what it differs in from the signatures that are known; and a guard that forbids compiling.

use crate::api::config::Settings;
use crate::diagnostics::stats::counts::Made;
use crate::jit::plan::{ArgumentLayout, ArgumentType, Plan, Signature};
use crate::jit::plans::Plans;
use ndjit_ir::lock::Mutex;
use ndjit_ir::{Error, ErrorCode, Place, Result, ValueType};
use ndjit_runtime::{environment, stderr};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

/// A call whose signature was not known: the function was traced and a plan made. See [`Jitted::misses`](crate::Jitted::misses).
///
/// ```
/// use ndjit::{Array, jit};
///
/// let f = jit(|x| x + 1);
/// f.call((&Array::from([1.0f32]),))?;
/// let miss = &f.misses()[0];
/// assert_eq!(miss.place.unwrap().file, file!());
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Miss {
    /// Where the call was written, if that is known.
    pub place: Option<Place>,
    /// The arguments of the call.
    pub signature: String,
    /// The known signature that it differs least from; none at the first call.
    pub nearest: Option<String>,
    /// In what it differs from that, one line each.
    pub differences: Vec<String>,
    /// Kernels of the program, as [`assert_kernels!`](crate::assert_kernels!) counts them.
    pub kernels: usize,
    /// Kernels compiled for it, the parts of reductions and scans counted; the others were known to the process.
    pub compiled: u64,
    /// The time it took.
    pub time: Duration,
}

impl Miss {
    /// What a call differs in from the signatures of some plans.
    pub(crate) fn new(plans: &Plans, signature: Signature, place: Option<Place>) -> Miss {
        let mut miss = Miss {
            place,
            signature: listed(&signature.arguments),
            nearest: None,
            differences: Vec::new(),
            kernels: 0,
            compiled: 0,
            time: Duration::ZERO,
        };
        if plans.was_dropped(&signature) {
            miss.nearest = Some(miss.signature.clone());
            miss.differences.push(format!("its plan was dropped: {} are kept", Plans::LIMIT));
            return miss;
        }
        let distance = |plan: &Plan| {
            let arguments = plan.arguments.iter().zip(&signature.arguments).filter(|(known, call)| known != call);
            let arguments = arguments.count();
            match plan.settings == signature.settings {
                true => arguments,
                false => arguments + settings(&signature.settings, &plan.settings).len(),
            }
        };
        // Of several that are as near the one made last.
        let all = plans.all();
        if let Some(nearest) = all.iter().rev().min_by_key(|plan| distance(plan)) {
            miss.nearest = Some(listed(&nearest.arguments));
            miss.differences = differences(&signature, nearest);
        }
        miss
    }

    /// The same of the plan that was made.
    pub(crate) fn made(self, plan: &Plan, made: Made) -> Miss {
        let time = plan.times.iter().map(|(_, time)| *time).sum();
        Miss { kernels: plan.lowered.kernel_count(), compiled: made.kernels, time, ..self }
    }

    /// # Errors
    /// `Compile` where that is forbidden.
    pub(crate) fn allowed(&self) -> Result<()> {
        let Err(error) = allowed("call") else { return Ok(()) };
        let error = error.fact(format_args!("the call: {}", self.signature));
        let error = match &self.nearest {
            Some(nearest) => error.fact(format_args!("nearest:  {nearest}")),
            None => error.fact("no signature is known"),
        };
        Err(self.differences.iter().fold(error, Error::fact))
    }
}

impl fmt::Display for Miss {
    /// The call, what is known that is nearest, each difference, and what was made.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Miss { place, signature, nearest, differences, kernels, compiled, time } = self;
        write!(f, "not known: {signature}")?;
        if let Some(place) = place {
            write!(f, "\n  at {place}")?;
        }
        match nearest {
            Some(nearest) => write!(f, "\n  nearest: {nearest}")?,
            None => write!(f, "\n  no signature is known: it is the first call")?,
        }
        for difference in differences {
            write!(f, "\n  {difference}")?;
        }
        write!(f, "\n  traced and planned in {time:.1?}; kernels: {kernels}, compiled: {compiled}")
    }
}

/// Arguments in a row.
fn listed(arguments: &[ArgumentType]) -> String {
    let arguments: Vec<String> = arguments.iter().map(ArgumentType::to_string).collect();
    format!("({})", arguments.join(", "))
}

/// In what a call differs from what a plan was made for.
fn differences(call: &Signature, known: &Plan) -> Vec<String> {
    let arguments = call.arguments.iter().zip(&known.arguments).enumerate();
    let arguments = arguments.filter(|(_, (call, known))| call != known);
    let mut all: Vec<String> =
        arguments.map(|(n, (call, known))| format!("argument {n}: {}", argument(call, known))).collect();
    all.extend(settings(&call.settings, &known.settings));
    if !known.is_alive() {
        all.push("the device was lost, and its plans with it".to_owned());
    }
    all
}

fn argument(call: &ArgumentType, known: &ArgumentType) -> String {
    use ArgumentLayout::{Contiguous, Scalar, Strided};
    let same = call.ty == known.ty && call.shape == known.shape;
    match (&call.layout, &known.layout) {
        (Scalar, Scalar) => match (call.ty, known.ty) {
            (ValueType::Weak(call), ValueType::Weak(known)) => format!("a number of kind {call}, known {known}"),
            _ => format!("{call}, known {known}"),
        },
        (Strided(layout), Contiguous) if same => format!("strides {:?}, known in row-major order", layout.strides),
        (Contiguous, Strided(layout)) if same => format!("in row-major order, known strides {:?}", layout.strides),
        (Strided(call), Strided(known)) if same && call.strides != known.strides => {
            format!("strides {:?}, known {:?}", call.strides, known.strides)
        }
        (Strided(call), Strided(known)) if same => format!("begins at byte {}, known {}", call.offset, known.offset),
        (Contiguous, Contiguous) if same => format!("stored as {}, known {}", call.dtype, known.dtype),
        _ => format!("{call}, known {known}"),
    }
}

fn settings(call: &Settings, known: &Settings) -> Vec<String> {
    let Settings { policy, default_dtype, support, device, fallback, interpreted } = call;
    let mut all = Vec::new();
    let mut note = |differs: bool, what: String| {
        if differs {
            all.push(what);
        }
    };
    let dtype =
        |dtype: &Option<_>| dtype.map_or("that of floats".to_owned(), |dtype: ndjit_ir::DType| dtype.to_string());
    let (own, other) = (policy.to_string(), known.policy.to_string());
    let policies = match own == other {
        true => format!(
            "policy: other default dtypes, {}, known {}",
            policy.defaults().float,
            known.policy.defaults().float
        ),
        false => format!("policy: {own}, known {other}"),
    };
    note(*policy != known.policy, policies);
    let dtypes = format!("default dtype: {}, known {}", dtype(default_dtype), dtype(&known.default_dtype));
    note(*default_dtype != known.default_dtype, dtypes);
    note(*device != known.device, format!("device: {device}, known {}", known.device));
    note(*fallback != known.fallback, format!("fallback: {fallback}, known {}", known.fallback));
    note(support.casting != known.support.casting, "casting modes".to_owned());
    note(support.restrictions != known.support.restrictions, "declared dtypes".to_owned());
    let described = support.device != known.support.device && *device == known.device;
    note(described, "the device whose dtypes count".to_owned());
    let runs = |interpreted: bool| if interpreted { "the interpreter" } else { "compiled code" };
    note(
        *interpreted != known.interpreted,
        format!("run by {}, known {}", runs(*interpreted), runs(known.interpreted)),
    );
    all
}

/// The last misses of a function.
#[derive(Debug, Default)]
pub(crate) struct Misses(pub(crate) Mutex<VecDeque<Miss>>);

impl Misses {
    /// The number that is kept.
    const LIMIT: usize = 64;

    /// Notes one; prints it where the environment says so.
    pub fn add(&self, miss: Miss) {
        static PRINTED: LazyLock<bool> = LazyLock::new(|| environment::is_on("NDJIT_EXPLAIN_MISSES"));
        if *PRINTED {
            stderr::line(&miss);
        }
        // Where the thread ends nobody asks.
        let _ = LAST.try_with(|last| last.replace(Some(miss.clone())));
        let mut misses = self.0.lock();
        if misses.len() >= Misses::LIMIT {
            misses.pop_front();
        }
        misses.push_back(miss);
    }
}

thread_local! {
    /// The last miss of this thread.
    static LAST: RefCell<Option<Miss>> = const { RefCell::new(None) };
}

/// The last miss of this thread since this was last asked.
pub(crate) fn take_last() -> Option<Miss> {
    LAST.try_with(RefCell::take).ok().flatten()
}

thread_local! {
    static FORBIDDEN: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, in which nothing is traced or compiled on this thread: a call of a signature that is not known is an error that says what
/// it differs in from those that are, as is reading a lazy array whose operations were never run before. For loops that must not wait for
/// a compiler. [`assert_no_recompile!`](crate::assert_no_recompile!) is the same question in a test, asked after.
///
/// What counts is where an array is read, not where its operations were written: a lazy array that `body` gives unread is compiled by
/// whoever reads it, if that is allowed there. [`eval`](crate::Array::eval) reads it in `body`. As all scopes this is one of the thread: see
/// [`with_policy`](crate::with_policy) of thread pools.
///
/// ```
/// use ndjit::{ErrorCode, forbid_compiling, jit};
///
/// let f = jit(|x| x * 2);
/// f.call((&[1.0f32; 3],))?;
/// let (known, new) = forbid_compiling(|| (f.call((&[5.0f32; 3],)), f.call((&[5.0f32; 4],))));
/// assert!(known.is_ok());
/// let error = new.unwrap_err();
/// assert_eq!(error.code(), ErrorCode::Compile);
/// assert_eq!(error.facts().last().unwrap(), "argument 0: f32[4], known f32[3]");
///
/// let x = ndjit::Array::from([1.0f32, 2.0]);
/// let unread = forbid_compiling(|| &x * 3 - 1);
/// assert_eq!(unread.to_vec::<f32>()?, [2.0, 5.0]); // here it may compile
/// assert!(forbid_compiling(|| (&x * 3 / 2).eval().is_err()));
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn forbid_compiling<R>(body: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            FORBIDDEN.set(self.0);
        }
    }
    let _restore = Restore(FORBIDDEN.replace(true));
    body()
}

/// Whether this thread may trace and compile; `what` asks.
///
/// # Errors
/// `Compile` if it may not.
pub(crate) fn allowed(what: &str) -> Result<()> {
    match FORBIDDEN.get() {
        false => Ok(()),
        true => Err(Error::new(
            ErrorCode::Compile,
            format!("{what}: it would have to be compiled, which is forbidden here"),
        )
        .help("do the same once before `forbid_compiling`, with arguments of these types, shapes and layouts")),
    }
}
