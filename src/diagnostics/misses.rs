//! Why a call compiled: what it differs in from the signatures that are known; and a guard that forbids compiling.

use ndjit_eval::argument::Signature;
use ndjit_eval::counts::Made;
use ndjit_eval::forbidden;
use ndjit_eval::plan::compiled::Plan;
use ndjit_eval::plan::differences::{differences, distance, listed};
use ndjit_eval::plan::kept::Plans;
use ndjit_ir::lock::Mutex;
use ndjit_ir::{Error, Place, Result};
use ndjit_runtime::{environment, stderr};
use std::cell::RefCell;
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
/// let miss = &f.explain_cache_misses()[0];
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
        // Of several that are as near the one made last.
        let all = plans.all();
        if let Some(nearest) = all.iter().rev().min_by_key(|plan| distance(&signature, plan)) {
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

/// Runs `body`, in which nothing is traced or compiled on this thread: a call of a signature that is not known is an error that says what
/// it differs in from those that are, as is reading a lazy array whose operations were never run before. For loops that must not wait for
/// a compiler. [`assert_no_recompile!`](crate::assert_no_recompile!) is the same question in a test, asked after.
///
/// What counts is where an array is read, not where its operations were written: a lazy array that `body` gives unread is compiled by
/// whoever reads it, if that is allowed there. [`eval`](crate::Array::eval) reads it in `body`. As all scopes this is one of the thread: see
/// [`with_policy`](crate::with_policy) of thread pools.
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

/// The former name of [`no_recompile`].
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
