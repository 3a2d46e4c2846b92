//! Observers of calls: diagnostics that read what a run was given and what it gave, without a place in its path.
//!
//! Diagnostics implement [`CallObserver`]. They observe the calls of a plan ([`Plan::observe`]), those of a thread while a closure runs
//! ([`with_observer`]), or all calls of the process, by an environment variable. A call asks once for its observers, by one load and one
//! branch while nothing in the process observes, and hands them its results.

use crate::argument::{ArgumentData, CallArgument};
use crate::array::ArrayRef;
use crate::nonfinite;
use crate::plan::compiled::Plan;
use crate::scope::with_value;
use crate::steps::RunInputs;
use ndjit_ir::Result;
use ndjit_runtime::{Memory, Output};
use smallvec::SmallVec;
use std::any::{Any, TypeId};
use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A diagnostic that observes calls. A call has one observer of each type.
pub trait CallObserver: Any + Send + Sync {
    /// Whether it reads the inputs after the run. Donated memory is then retained, so that no result is stored there.
    fn reads_inputs(&self) -> bool;

    /// Observes a call after its run.
    ///
    /// # Errors
    /// The error that the call becomes.
    fn after(&self, call: &ObservedCall<'_>) -> Result<()>;
}

/// A call after its run.
pub struct ObservedCall<'a> {
    /// The plan that ran.
    pub plan: &'a Plan,
    /// The results that the caller gets: the first ones of the plan.
    pub results: &'a [Output<'a>],
    /// The results for observers only: [`Plan::hidden`].
    pub hidden: &'a [ArrayRef],
    /// What it was given: arguments and captured arrays.
    pub inputs: &'a dyn Fn() -> Result<RunInputs>,
}

/// The number of observers of plans and of threads; one more until the environment is read, and for the rest of the process if that asks
/// for an observer.
static PRESENT: AtomicUsize = AtomicUsize::new(1);

/// Counts an observer while it exists.
struct Presence;

impl Presence {
    fn new() -> Presence {
        PRESENT.fetch_add(1, Relaxed);
        Presence
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        PRESENT.fetch_sub(1, Relaxed);
    }
}

/// The observers of a plan's calls, in order.
#[derive(Default)]
pub(crate) struct PlanObservers(Vec<(Box<dyn CallObserver>, Presence)>);

impl PlanObservers {
    /// Adds an observer, before the others.
    pub(crate) fn add(&mut self, observer: Box<dyn CallObserver>) {
        self.0.insert(0, (observer, Presence::new()));
    }
}

thread_local! {
    static THREAD: Cell<Option<&'static dyn CallObserver>> = const { Cell::new(None) };
}

/// Runs `body` with an observer of the thread's calls, instead of the one of an outer scope.
pub fn with_observer<R>(observer: &'static dyn CallObserver, body: impl FnOnce() -> R) -> R {
    let _present = Presence::new();
    with_value(&THREAD, Some(observer), body)
}

/// The observer of all calls of this thread.
#[inline]
pub(crate) fn of_thread() -> Option<&'static dyn CallObserver> {
    if PRESENT.load(Relaxed) == 0 { None } else { find_of_thread() }
}

#[cold]
fn find_of_thread() -> Option<&'static dyn CallObserver> {
    static PROCESS: LazyLock<Option<&'static dyn CallObserver>> = LazyLock::new(|| {
        let asked = nonfinite::of_environment();
        if asked.is_none() {
            PRESENT.fetch_sub(1, Relaxed);
        }
        asked
    });
    // The environment is read in any case: until then, calls look for observers.
    let process = *PROCESS;
    THREAD.get().or(process)
}

/// The observers of a call; at least one.
pub struct Observers<'a>(SmallVec<[&'a (dyn CallObserver + 'static); 2]>);

impl<'a> Observers<'a> {
    /// The observers of the calls of a plan on this thread, if any.
    #[inline]
    pub fn of(plan: &'a Plan) -> Option<Observers<'a>> {
        // Looking at the plan and at the thread instead would be two loads and branches.
        if PRESENT.load(Relaxed) == 0 { None } else { Observers::find(plan) }
    }

    #[cold]
    fn find(plan: &'a Plan) -> Option<Observers<'a>> {
        let mut found: SmallVec<[&'a (dyn CallObserver + 'static); 2]> =
            plan.observers.0.iter().map(|(observer, _)| &**observer).collect();
        let of_thread = find_of_thread().filter(|other| found.iter().all(|own| type_of(*own) != type_of(*other)));
        found.extend(of_thread);
        (!found.is_empty()).then_some(Observers(found))
    }

    /// Donated memory of arguments, each with its index, if an observer reads the inputs: held until the call returns.
    pub fn retain<'b, 'c: 'b>(&self, args: impl IntoIterator<Item = &'b CallArgument<'c>>) -> Vec<(usize, Memory)> {
        if !self.0.iter().any(|observer| observer.reads_inputs()) {
            return Vec::new();
        }
        let donated = args.into_iter().enumerate().filter_map(|(n, arg)| match &arg.data {
            ArgumentData::Donated(memory) => Some((n, memory.clone())),
            ArgumentData::Shared(_) | ArgumentData::Borrowed(_) | ArgumentData::Inline(_) | ArgumentData::Scalar(_) => {
                None
            }
        });
        donated.collect()
    }

    /// Tells each observer of the call, until one refuses it.
    ///
    /// # Errors
    /// Those of the observers.
    pub fn after(&self, call: &ObservedCall<'_>) -> Result<()> {
        self.0.iter().try_for_each(|observer| observer.after(call))
    }
}

fn type_of(observer: &(dyn CallObserver + 'static)) -> TypeId {
    let any: &dyn Any = observer;
    any.type_id()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lazy::examples::{data, op};
    use crate::options::PlanOptions;
    use crate::settings::settings;
    use ndjit_ir::graph::{Graph, SourceLocs};
    use ndjit_ir::{Error, ErrorCode, Op};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    thread_local! {
        static SEEN: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts the calls of its thread, of which the third is refused.
    struct Counter;

    impl CallObserver for Counter {
        fn reads_inputs(&self) -> bool {
            false
        }

        fn after(&self, call: &ObservedCall<'_>) -> Result<()> {
            assert_eq!(call.results.len(), 1, "results of lazy arrays are read one by one");
            SEEN.set(SEEN.get() + 1);
            if SEEN.get() == 3 { Err(Error::new(ErrorCode::Nan, "observed")) } else { Ok(()) }
        }
    }

    fn computed() -> Result<()> {
        op(Op::Exp, &[&data(1.0, 3)]).elements().map(|_| ())
    }

    #[test]
    fn observers_see_the_calls_of_their_scope() {
        computed().unwrap();
        assert_eq!(SEEN.get(), 0);
        with_observer(&Counter, || (computed().unwrap(), computed().unwrap()));
        computed().unwrap();
        assert_eq!(SEEN.get(), 2);
        assert_eq!(with_observer(&Counter, computed).unwrap_err().headline(), "observed");
        let body = || with_observer(&Counter, || panic!("in a scope"));
        assert!(catch_unwind(AssertUnwindSafe(body)).is_err());
        computed().unwrap();
        assert_eq!(SEEN.get(), 3, "a panic ends the scope");
    }

    #[test]
    fn a_call_has_one_observer_of_each_type() {
        let plan = |check_nans| {
            let options = PlanOptions { check_nans, ..PlanOptions::default() };
            Plan::new(&Graph::new(), &SourceLocs::default(), &[], &options, settings()).unwrap()
        };
        let observers = |plan: &Plan| Observers::of(plan).map_or(0, |observers| observers.0.len());
        let (mut own, other) = (plan(true), plan(false));
        assert_eq!((observers(&own), observers(&other)), (1, 0));
        nonfinite::with_check(|| assert_eq!((observers(&own), observers(&other)), (1, 1)));
        own.observe(Box::new(Counter), 0);
        assert_eq!(observers(&own), 2);
        nonfinite::with_check(|| with_observer(&Counter, || assert_eq!((observers(&own), observers(&other)), (2, 1))));
    }
}
