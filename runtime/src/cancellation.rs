//! Cancellation of runs, from any thread.
//!
//! A run belongs to the scopes of the thread that calls it. It looks at their flags between kernels, between the tiles and chunks of a
//! kernel, and between the steps of a loop. Workers look at the flags of the thread that they help. Without a scope in the process a look is
//! one relaxed load.

use ndjit_ir::{Error, ErrorCode, Result};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::RefUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The time for which work runs without a look, as estimated, ns.
pub(crate) const UNWATCHED: f64 = 5e6;

/// The number of looks between two readings of the clock, which takes 25 ns, where looks are frequent.
const LOOKS: u32 = 4;

/// The time between two readings of the clock after which the next look reads it again.
const SELDOM: Duration = Duration::from_millis(1);

/// The time between two calls of the check of a flag on one thread.
const CHECKS: Duration = Duration::from_millis(30);

/// The number of open scopes.
static OPEN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SCOPE: RefCell<Option<Arc<CancellationScope>>> = const { RefCell::new(None) };
    /// The last scope within no other.
    static LAST: RefCell<Option<Arc<CancellationScope>>> = const { RefCell::new(None) };
    static CHECKED: Cell<CheckTimes> = const { Cell::new(CheckTimes { looks: 0, read: None, checked: None }) };
}

/// A flag that cancels runs. Clones share it; it is set once and for all.
///
/// ```
/// let cancellation = ndjit_runtime::Cancellation::new();
/// assert!(!cancellation.is_cancelled());
/// cancellation.clone().cancel();
/// assert!(cancellation.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<CancellationFlag>);

#[derive(Default)]
struct CancellationFlag {
    set: AtomicBool,
    check: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

/// A check that panics leaves the flag as it was.
impl RefUnwindSafe for CancellationFlag {}

impl fmt::Debug for CancellationFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CancellationFlag({})", self.set.load(Relaxed))
    }
}

impl Cancellation {
    /// A flag that is not set.
    pub fn new() -> Cancellation {
        Cancellation::default()
    }

    /// A flag that is set once `check` gives true. Runs of some duration in its scopes call it every 30 ms or so, on each
    /// thread that takes part: for events that only a certain thread may ask for, such as signals in an interpreter.
    ///
    /// ```
    /// use ndjit_runtime::{Cancellation, with_cancellation};
    ///
    /// let flag = Cancellation::checked(|| true);
    /// with_cancellation(&flag, || assert!(!flag.is_cancelled()));
    /// ```
    pub fn checked(check: impl Fn() -> bool + Send + Sync + 'static) -> Cancellation {
        Cancellation(Arc::new(CancellationFlag { set: AtomicBool::new(false), check: Some(Box::new(check)) }))
    }

    /// Cancels the runs in its scopes, now and later.
    pub fn cancel(&self) {
        self.0.set.store(true, Relaxed);
    }

    /// Whether it has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.set.load(Relaxed)
    }

    /// Whether it has been cancelled, after its check if that is due.
    fn look(&self) -> bool {
        if let Some(check) = &self.0.check
            && is_due()
            && check()
        {
            self.cancel();
        }
        self.is_cancelled()
    }
}

/// The times of checks on a thread.
#[derive(Clone, Copy)]
struct CheckTimes {
    /// The number of looks before the next reading of the clock.
    looks: u32,
    /// The last reading.
    read: Option<Instant>,
    checked: Option<Instant>,
}

/// Whether this thread calls checks now.
fn is_due() -> bool {
    let mut times = CHECKED.get();
    if times.looks > 0 {
        times.looks -= 1;
        CHECKED.set(times);
        return false;
    }
    let now = Instant::now();
    let since = |then: Option<Instant>| then.map(|then| now.duration_since(then));
    times.looks = if since(times.read).is_some_and(|time| time < SELDOM) { LOOKS } else { 0 };
    times.read = Some(now);
    let due = since(times.checked).is_some_and(|time| time >= CHECKS);
    if due || times.checked.is_none() {
        times.checked = Some(now);
    }
    CHECKED.set(times);
    due
}

/// A scope with those around it.
#[derive(Debug)]
struct CancellationScope {
    own: Cancellation,
    outer: Option<Arc<CancellationScope>>,
}

/// Runs `body`; its runs on this thread end with an error of code `Cancelled` once the flag is set, or that of a scope around it.
pub fn with_cancellation<R>(cancellation: &Cancellation, body: impl FnOnce() -> R) -> R {
    struct OpenScope;
    impl Drop for OpenScope {
        fn drop(&mut self) {
            OPEN.fetch_sub(1, Relaxed);
        }
    }
    OPEN.fetch_add(1, Relaxed);
    let _open = OpenScope;
    let outer = SCOPE.take();
    let opened = match &outer {
        // A thread that opens the same scope again and again need not allocate one.
        None => LAST.take().filter(|last| Arc::ptr_eq(&last.own.0, &cancellation.0)),
        Some(_) => None,
    };
    let opened =
        opened.unwrap_or_else(|| Arc::new(CancellationScope { own: cancellation.clone(), outer: outer.clone() }));
    SCOPE.set(Some(opened));
    let _restore = OpenedScope(RestoredScope(outer));
    body()
}

/// Keeps a scope of a thread for the next time on drop.
struct OpenedScope(RestoredScope);

impl Drop for OpenedScope {
    fn drop(&mut self) {
        if self.0.0.is_none() {
            LAST.set(SCOPE.take());
        }
    }
}

/// Makes a scope the thread's again on drop.
struct RestoredScope(Option<Arc<CancellationScope>>);

impl Drop for RestoredScope {
    fn drop(&mut self) {
        SCOPE.set(self.0.take());
    }
}

/// The scopes of a run, for all threads that take part in it.
#[derive(Clone, Debug)]
pub(crate) struct RunScopes(Option<Arc<CancellationScope>>);

impl RunScopes {
    /// Those of this thread.
    #[inline]
    pub fn of_thread() -> RunScopes {
        // A thread sees the scopes that it has opened itself.
        if OPEN.load(Relaxed) == 0 {
            return RunScopes(None);
        }
        RunScopes(SCOPE.try_with(|scope| scope.borrow().clone()).unwrap_or(None))
    }

    /// Runs `body`, unless one of them is cancelled, on a thread that takes part in the run.
    ///
    /// # Errors
    /// Those of `body`; `Cancelled`.
    #[inline]
    pub fn run<R>(&self, body: impl FnOnce() -> Result<R>) -> Result<R> {
        let Some(scope) = &self.0 else { return body() };
        scope.look()?;
        let _restore = RestoredScope(SCOPE.replace(Some(Arc::clone(scope))));
        body()
    }

    /// Looks at all flags.
    ///
    /// # Errors
    /// `Cancelled` if one is set.
    #[inline]
    pub fn look(&self) -> Result<()> {
        match &self.0 {
            None => Ok(()),
            Some(scope) => scope.look(),
        }
    }
}

impl CancellationScope {
    fn look(&self) -> Result<()> {
        let mut scope = Some(self);
        while let Some(CancellationScope { own, outer }) = scope {
            if own.look() {
                return Err(Error::new(ErrorCode::Cancelled, "run: cancelled")
                    .help("what it was to compute is not there; arrays and functions are as before"));
            }
            scope = outer.as_deref();
        }
        Ok(())
    }
}

/// Looks at the flags of this thread's scopes: for work that no program does.
///
/// ```
/// use ndjit_runtime::{Cancellation, check_cancelled, with_cancellation};
/// let cancellation = Cancellation::new();
/// cancellation.cancel();
/// assert!(check_cancelled().is_ok() && with_cancellation(&cancellation, check_cancelled).is_err());
/// ```
///
/// # Errors
/// `Cancelled` if one is set.
#[inline]
pub fn check_cancelled() -> Result<()> {
    RunScopes::of_thread().look()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_cancelled() -> bool {
        check_cancelled().is_err_and(|error| error.code() == ErrorCode::Cancelled)
    }

    #[test]
    fn scopes_count_inside_others_and_end() {
        let [outer, inner] = [Cancellation::new(), Cancellation::new()];
        with_cancellation(&outer, || {
            with_cancellation(&inner, || {
                assert!(!is_cancelled());
                inner.cancel();
                assert!(is_cancelled());
            });
            assert!(!is_cancelled());
            outer.cancel();
            assert!(with_cancellation(&Cancellation::new(), is_cancelled));
            let panicked = std::panic::catch_unwind(|| with_cancellation(&inner, || panic!("inside")));
            assert!(panicked.is_err() && is_cancelled());
        });
        assert!(!is_cancelled());
    }

    #[test]
    fn checks_are_called_at_times() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let cancellation = Cancellation::checked(move || counted.fetch_add(1, Relaxed) == 1);
        let begun = Instant::now();
        with_cancellation(&cancellation, || {
            while !is_cancelled() {
                assert!(begun.elapsed() < Duration::from_secs(60));
            }
        });
        assert_eq!(calls.load(Relaxed), 2);
        assert!(begun.elapsed() >= CHECKS * 2 && cancellation.is_cancelled());
    }

    #[test]
    fn other_threads_look_at_the_scopes_they_are_given() {
        let cancellation = Cancellation::new();
        with_cancellation(&cancellation, || {
            let scopes = RunScopes::of_thread();
            let within = || scopes.run(|| Ok(RunScopes::of_thread().0.is_some()));
            assert_eq!(std::thread::scope(|threads| threads.spawn(within).join().unwrap()), Ok(true));
            cancellation.cancel();
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    assert!(!is_cancelled() && scopes.look().is_err());
                    assert!(scopes.run(|| Ok(())).is_err());
                });
            });
        });
    }
}
