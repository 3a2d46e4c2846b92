//! Debug output of functions at run time: [`debug_print`].

use crate::array::node::Array;
use crate::trace::operand::{ArrayLike, UnaryOperand};
use crate::trace::print::Printing;
use ndjit_eval::observer::{CallObserver, ObservedCall};
use ndjit_ir::{Result, SourceLoc};
use ndjit_runtime::stderr;
use std::cell::RefCell;
use std::fmt;

/// A value printed by [`debug_print`].
///
/// ```
/// use ndjit::debug::{collect_debug_output, debug_print};
/// use ndjit::{Array, jit};
///
/// let f = jit(|x| debug_print("twice", x * 2) + 1);
/// let (_, printed) = collect_debug_output(|| f(&Array::from([1.0f32, 2.0])));
/// assert_eq!(printed[0].label, "twice");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DebugPrint {
    /// The label before the value.
    pub label: String,
    /// The place of the [`debug_print`] call.
    pub place: SourceLoc,
    /// The value.
    pub value: Array,
}

impl fmt::Display for DebugPrint {
    /// Prints label, type, shape and place in a line, and the elements below.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DebugPrint { label, place, value } = self;
        write!(f, "{label}: {}{} at {place}\n{value}", value.value_type(), value.shape())
    }
}

/// Prints a value at each run of the traced function, and returns the value. The value becomes a result of the program;
/// the rest of the computation does not change. Values are printed at the end of a call, on every device and from
/// inlined functions, in the order of the trace. An [`Array`] is evaluated and printed at once. In the bodies of
/// [branches and loops](crate::cond) printing is a `Traced` error.
///
/// The output goes to standard error, or to a [collection](collect_debug_output) of the calling thread.
///
/// ```
/// use ndjit::{Array, debug::{collect_debug_output, debug_print}, jit};
///
/// let f = jit(|x, y| debug_print("doubled", y * 2) + x);
/// let (z, printed) = collect_debug_output(|| f(&Array::from([1.0f32, 2.0]), &Array::from([10.0f32, 20.0])));
/// assert_eq!(z.to_vec::<f32>()?, [21.0, 42.0]);
/// assert_eq!(printed[0].label, "doubled");
/// assert_eq!(printed[0].value.to_vec::<f32>()?, [20.0, 40.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn debug_print<X: UnaryOperand>(label: &str, x: X) -> X::Out {
    <X::Out as ArrayLike>::debug_print(label, x.operand(), SourceLoc::caller())
}

/// Runs `body` and collects the debug output of functions and arrays on this thread, instead of printing it to standard
/// error. For thread pools see [`with_policy`](crate::with_policy).
///
/// ```
/// use ndjit::{Array, debug::{collect_debug_output, debug_print}};
///
/// let (_, printed) = collect_debug_output(|| debug_print("x", &Array::from([1i8, 2])));
/// assert!(printed[0].to_string().starts_with("x: i8[2] at ") && printed[0].to_string().ends_with("\n[1 2]"));
/// ```
pub fn collect_debug_output<R>(body: impl FnOnce() -> R) -> (R, Vec<DebugPrint>) {
    /// A guard that ends the collection, also if `body` panics.
    struct Collection;
    impl Drop for Collection {
        fn drop(&mut self) {
            let _ = COLLECTED.try_with(|collected| collected.borrow_mut().pop());
        }
    }
    let _ = COLLECTED.try_with(|collected| collected.borrow_mut().push(Vec::new()));
    let collection = Collection;
    let value = body();
    let printed = COLLECTED.try_with(|collected| collected.borrow_mut().last_mut().map(std::mem::take));
    let printed = printed.ok().flatten().unwrap_or_default();
    drop(collection);
    (value, printed)
}

thread_local! {
    /// The collections of this thread, innermost last.
    static COLLECTED: RefCell<Vec<Vec<DebugPrint>>> = const { RefCell::new(Vec::new()) };
}

/// The observer that prints results of a program after each call.
pub(crate) struct Printer(pub(crate) Vec<Printing>);

impl CallObserver for Printer {
    fn reads_inputs(&self) -> bool {
        false
    }

    fn after(&self, call: &ObservedCall<'_>) -> Result<()> {
        self.0.iter().zip(call.hidden).for_each(|(printing, value)| show(printing, Array(value.clone())));
        Ok(())
    }
}

/// Prints a value now.
fn show(printing: &Printing, value: Array) {
    let printed = DebugPrint { label: printing.label.to_string(), place: printing.place, value };
    let mut left = Some(printed);
    // The thread-local value may be gone in destructors of others.
    let _ = COLLECTED.try_with(|collected| {
        if let Some(collected) = collected.borrow_mut().last_mut() {
            collected.extend(left.take());
        }
    });
    if let Some(printed) = left {
        stderr::line(printed);
    }
}

/// Prints an array now; a poisoned array is returned unchanged.
pub(crate) fn array(label: &str, value: Array, place: SourceLoc) -> Array {
    let evaluated: Result<()> = value.eval().map(|_| ());
    match evaluated {
        Ok(()) => {
            show(&Printing { label: label.into(), place }, value.clone());
            value
        }
        Err(error) => Array::poisoned(error),
    }
}
