//! Cache misses: differences of a call from the known signatures, and a guard against compiling.

use ndjit_eval::argument::Signature;
use ndjit_eval::counts::Made;
use ndjit_eval::forbidden;
use ndjit_eval::plan::cache::Plans;
use ndjit_eval::plan::compiled::Plan;
use ndjit_eval::plan::differences::{differences, distance, listed};
use ndjit_ir::lock::Mutex;
use ndjit_ir::{Error, Result, SourceLoc};
use ndjit_runtime::{environment, stderr};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

/// A cache miss: a call with a new signature, for which the function was traced and planned. See
/// [`Jitted::explain_cache_misses`](crate::Jitted::explain_cache_misses).
///
/// ```
/// use ndjit::{Array, jit};
///
/// let f = jit(|x| x + 1);
/// f.call((&Array::from([1.0f32]),))?;
/// let miss = &f.explain_cache_misses()[0];
/// assert_eq!(miss.place.unwrap().file, file!());
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Miss {
    /// The place of the call, if known.
    pub place: Option<SourceLoc>,
    /// The arguments of the call.
    pub signature: String,
    /// The known signature with the fewest differences; `None` at the first call.
    pub nearest: Option<String>,
    /// The differences from that signature, one line each.
    pub differences: Vec<String>,
    /// The number of kernels of the program, as in [`assert_kernels!`](crate::assert_kernels!).
    pub kernels: usize,
    /// The number of compiled kernels, including parts of reductions and scans. The others were cached.
    pub compiled: u64,
    /// The time of the trace and the compilation.
    pub time: Duration,
}

impl Miss {
    /// Compares a call with the signatures of some plans.
    fn new(plans: &Plans, signature: Signature, place: Option<SourceLoc>) -> Miss {
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
        // Among equally near plans, the last one.
        let all = plans.all();
        if let Some(nearest) = all.iter().rev().min_by_key(|plan| distance(&signature, plan)) {
            miss.nearest = Some(listed(&nearest.arguments));
            miss.differences = differences(&signature, nearest);
        }
        miss
    }

    /// Adds the data of the new plan.
    fn made(self, plan: &Plan, made: Made) -> Miss {
        let time = plan.times.iter().map(|(_, time)| *time).sum();
        Miss { kernels: plan.lowered.kernel_count(), compiled: made.kernels, time, ..self }
    }

    /// # Errors
    /// `Compile` if compiling is forbidden.
    fn allowed(&self) -> Result<()> {
        let Err(error) = forbidden::allowed("call") else { return Ok(()) };
        let error = error.fact(format_args!("the call: {}", self.signature));
        let error = match &self.nearest {
            Some(nearest) => error.fact(format_args!("nearest:  {nearest}")),
            None => error.fact("no signature is known"),
        };
        Err(self.differences.iter().fold(error, Error::fact))
    }
}

impl fmt::Display for Miss {
    /// Prints the call, the nearest known signature, each difference, and the work done.
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

/// A miss whose plan is not made yet.
pub(crate) struct BegunMiss {
    miss: Miss,
    /// The counts of this thread before it.
    before: Made,
}

/// The last cache misses of a function.
#[derive(Debug, Default)]
pub(crate) struct Misses(pub(crate) Mutex<VecDeque<Miss>>);

impl Misses {
    /// The maximum number of entries.
    const LIMIT: usize = 64;

    /// Begins a miss: a call whose signature none of the plans has.
    ///
    /// # Errors
    /// `Compile` if compiling is forbidden.
    pub(crate) fn begin(&self, plans: &Plans, signature: Signature, place: Option<SourceLoc>) -> Result<BegunMiss> {
        let miss = Miss::new(plans, signature, place);
        miss.allowed()?;
        Ok(BegunMiss { miss, before: Made::here() })
    }

    /// Ends a miss, whose plan is made.
    pub(crate) fn end(&self, BegunMiss { miss, before }: BegunMiss, plan: &Plan) {
        self.add(miss.made(plan, Made::here().since(before)));
    }

    /// Adds a miss, and prints it if the environment variable is set.
    fn add(&self, miss: Miss) {
        static PRINTED: LazyLock<bool> = LazyLock::new(|| environment::is_on("NDJIT_EXPLAIN_MISSES"));
        if *PRINTED {
            stderr::line(&miss);
        }
        // The thread-local value may be gone at the end of a thread.
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

/// Takes the last miss of this thread.
pub(crate) fn take_last() -> Option<Miss> {
    LAST.try_with(RefCell::take).ok().flatten()
}

/// Runs `body` with tracing and compiling forbidden on this thread. A call with a new signature is an error that lists
/// the differences from known ones, and so is the first read of a lazy array with new operations. It serves loops that
/// must not wait for a compiler. [`assert_no_recompile!`](crate::assert_no_recompile!) is the assertion for tests.
///
/// The scope applies to reads, not to recording: a lazy array returned unread is compiled at its read, outside of
/// `body`. [`eval`](crate::Array::eval) reads it in `body`. Like all scopes, it applies to one thread: for thread pools
/// see [`with_policy`](crate::with_policy).
///
/// ```
/// use ndjit::{ErrorCode, no_recompile, jit};
///
/// let f = jit(|x| x * 2);
/// f.call((&[1.0f32; 3],))?;
/// let (known, new) = no_recompile(|| (f.call((&[5.0f32; 3],)), f.call((&[5.0f32; 4],))));
/// assert!(known.is_ok());
/// let error = new.unwrap_err();
/// assert_eq!(error.code(), ErrorCode::Compile);
/// assert_eq!(error.facts().last().unwrap(), "argument 0: f32[4], known f32[3]");
///
/// let x = ndjit::Array::from([1.0f32, 2.0]);
/// let unread = no_recompile(|| &x * 3 - 1);
/// assert_eq!(unread.to_vec::<f32>()?, [2.0, 5.0]); // here it may compile
/// assert!(no_recompile(|| (&x * 3 / 2).eval().is_err()));
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn no_recompile<R>(body: impl FnOnce() -> R) -> R {
    forbidden::forbid(body)
}

/// Calls [`no_recompile`], under its former name.
///
/// ```
/// # #![allow(deprecated)]
/// use ndjit::{forbid_compiling, jit};
///
/// let f = jit(|x| x * 2);
/// assert!(forbid_compiling(|| f.call((&[1.0f32; 3],))).is_err());
/// ```
#[deprecated(since = "0.1.0", note = "renamed to `no_recompile`")]
pub fn forbid_compiling<R>(body: impl FnOnce() -> R) -> R {
    no_recompile(body)
}
