//! Assertion macros for tests, at the crate's root: the number of kernels of a function, and calls without compilation,
//! without allocation, or in place.
//!
//! Counts are per call or per thread. Tests running in parallel do not interfere. Work of other threads for a call is
//! not counted.

use crate::array::node::Array;
use crate::diagnostics::misses;
use crate::diagnostics::report::report;
use crate::jit::arguments::CallArgs;
use crate::jit::function::JitFn;
use crate::jit::input::Inputs;
use crate::jit::jitted::Jitted;
use crate::jit::output::Outputs;
use ndjit_eval::argument::ArgumentData;
use ndjit_eval::counts::Made;
use ndjit_inspect::stage::ProgramStage;
use ndjit_ir::{Error, SourceLoc};
use ndjit_runtime::{Buffer, CountingAllocator, Memory};

/// Asserts the number of kernels of a [jitted](crate::jit()) function for these arguments. The function is compiled for
/// them if needed, and does not run. Loop nests that run together tile by tile are one kernel.
///
/// ```
/// use ndjit::{Array, assert_kernels, jit};
///
/// let f = jit(|x, y| x + y * 2);
/// assert_kernels!(f, (&Array::from([1.0f32, 2.0]), &[10i8, 20]), 1);
/// // As many as operations, the conversion of `y * 2` among them.
/// assert_kernels!(f.fuse(false), (&Array::from([1.0f32, 2.0]), &[10i8, 20]), 3);
/// ```
///
/// # Panics
/// If the number differs, with the text of each kernel; with the error if the arguments are invalid.
#[macro_export]
macro_rules! assert_kernels {
    ($function:expr, $arguments:expr, $kernels:expr $(,)?) => {
        $crate::assertions::kernels(&$function, $arguments, $kernels)
    };
}

/// Asserts that the evaluation of an expression traces, plans and compiles nothing on this thread. Returns its value.
///
/// Arguments of other shapes have another signature, which is traced and planned, but reuse the kernels.
/// `assert_no_recompile!(kernels, …)` checks kernels only.
///
/// ```
/// use ndjit::{assert_no_recompile, jit};
///
/// let f = jit(|x, k| x * k + 1);
/// f.call((&[1.0f32, 2.0], 3))?;
/// let z = assert_no_recompile!(f.call((&[4.0f32, 5.0], 6)))?;
/// assert_eq!(z.to_vec::<f32>()?, [25.0, 31.0]);
/// assert_no_recompile!(kernels, {
///     for n in 2..100 {
///         f.call((&vec![1.0f32; n], n as i32))?;
///     }
/// });
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Panics
/// If anything was traced, planned or compiled, with the counts and the differences of the last call from the known
/// [signatures](crate::Miss).
#[macro_export]
macro_rules! assert_no_recompile {
    (kernels, $work:expr $(,)?) => {
        $crate::assert_no_recompile!(@ $work, nothing_compiled)
    };
    (@ $work:expr, $check:ident) => {
        // A `match`, unlike a `let`, keeps temporaries alive that the value borrows from.
        match ($crate::assertions::here(), $work) {
            (before, value) => {
                $crate::assertions::$check(before);
                value
            }
        }
    };
    ($work:expr $(,)?) => {
        $crate::assert_no_recompile!(@ $work, nothing_made)
    };
}

/// Asserts that the evaluation of an expression allocates no memory on this thread, as in a repeated call into memory
/// of the caller. Returns its value. Needs [`CountingAllocator`] as the global allocator.
///
/// ```standalone_crate
/// use ndjit::{CountingAllocator, assert_no_alloc, jit};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator;
///
/// # fn main() -> Result<(), ndjit::Error> {
/// let f = jit(|x, y| x + y * 2);
/// let (x, y, mut z) = ([1.0f32, 2.0], [10.0f32, 20.0], [0.0f32; 2]);
/// f.call_into((&x, &y), &mut z)?;
/// assert_no_alloc!(f.call_into((&x, &y), &mut z))?;
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// If there were allocations, with their number; if [`CountingAllocator`] is not the global allocator, since nothing is
/// counted then.
#[macro_export]
macro_rules! assert_no_alloc {
    ($work:expr $(,)?) => {
        match ($crate::assertions::allocated(), $work) {
            (before, value) => {
                $crate::assertions::nothing_allocated(before);
                value
            }
        }
    };
}

/// Calls a [jitted](crate::jit()) function and asserts that a result reuses the memory of each
/// [donated](crate::Array::donate) argument, or of the number of them in the third argument. Returns the results.
///
/// ```
/// use ndjit::{Array, DType, assert_in_place, jit};
///
/// let f = jit(|x, y| x + y * 2);
/// let (x, y) = (Array::from([1.0f32, 2.0]), Array::from([10.0f32, 20.0]));
/// let z = assert_in_place!(f, (x.donate(), &y));
/// assert_eq!(z.to_vec::<f32>()?, [21.0, 42.0]);
/// // Two arrays for one result; elements of another size.
/// assert_in_place!(f, (z.donate(), y.donate()), 1);
/// assert_in_place!(jit!(|x| x.cast(DType::F64)), (Array::from([1.0f32]).donate(),), 0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Panics
/// If the number differs; if no argument is donated; with the error if the call fails.
#[macro_export]
macro_rules! assert_in_place {
    ($function:expr, $arguments:expr $(,)?) => {
        $crate::assertions::in_place(&$function, $arguments, ::core::option::Option::None)
    };
    ($function:expr, $arguments:expr, $taken:expr $(,)?) => {
        $crate::assertions::in_place(&$function, $arguments, ::core::option::Option::Some($taken))
    };
}

#[doc(hidden)]
#[track_caller]
pub fn kernels<'a, M, const N: usize, F: JitFn<M, N>>(
    function: &Jitted<M, N, F>,
    arguments: impl Inputs<'a, N>,
    expected: usize,
) {
    let place = SourceLoc::caller();
    let planned = CallArgs::of::<M, F>(arguments).and_then(|mut args| {
        let (args, structure) = args.parts();
        function.core.plan(args, structure, Some(place))
    });
    let plan = match planned {
        Ok(plan) => plan,
        Err(error) => failed("assert_kernels", &error),
    };
    let found = plan.lowered.kernel_count();
    if found != expected {
        let text = plan.explain(ProgramStage::Kernels);
        panic!("assert_kernels: {found} kernels, not {expected}\n{}", text.trim_end());
    }
}

#[doc(hidden)]
pub fn here() -> Made {
    misses::take_last();
    Made::here()
}

#[doc(hidden)]
#[track_caller]
pub fn nothing_made(before: Made) {
    let made = Made::here().since(before);
    assert!(made == Made::default(), "assert_no_recompile: {made}{}", last_miss());
}

#[doc(hidden)]
#[track_caller]
pub fn nothing_compiled(before: Made) {
    let made = Made::here().since(before);
    assert!(made.kernels == 0, "assert_no_recompile: {made}{}", last_miss());
}

/// Describes the last cache miss of the watched work, as an appendix to the message.
fn last_miss() -> String {
    misses::take_last().map_or_else(String::new, |miss| format!("\n{miss}"))
}

#[doc(hidden)]
#[track_caller]
pub fn allocated() -> u64 {
    assert!(
        CountingAllocator::is_installed(),
        "assert_no_alloc: nothing is counted; write `#[global_allocator] static ALLOCATOR: ndjit::CountingAllocator = \
         ndjit::CountingAllocator;` in the test"
    );
    CountingAllocator::counts().allocated
}

#[doc(hidden)]
#[track_caller]
pub fn nothing_allocated(before: u64) {
    let allocated = CountingAllocator::counts().allocated - before;
    assert!(
        allocated == 0,
        "assert_no_alloc: {allocated} allocations (the first call of a signature compiles it: call once before)"
    );
}

#[doc(hidden)]
#[track_caller]
pub fn in_place<'a, M, const N: usize, F: JitFn<M, N>>(
    function: &Jitted<M, N, F>,
    arguments: impl Inputs<'a, N>,
    expected: Option<usize>,
) -> <F::Outputs as Outputs>::Arrays {
    let place = SourceLoc::caller();
    let mut donated: Vec<*const u8> = Vec::new();
    let called = CallArgs::of::<M, F>(arguments).and_then(|mut args| {
        let (args, structure) = args.parts();
        donated.extend(args.iter().filter_map(|arg| match &arg.argument.data {
            ArgumentData::Donated(Memory::Host(buffer)) => Some(address(buffer)),
            _ => None,
        }));
        function.core.call(args, structure, Some(place))
    });
    let mut parts = match called {
        Ok(parts) => parts,
        Err(error) => failed("assert_in_place", &error),
    };
    assert!(!donated.is_empty(), "assert_in_place: no argument is donated; pass `x.donate()`");
    let results: Vec<*const u8> = parts.items().iter().filter_map(memory).collect();
    let taken = donated.iter().filter(|address| results.contains(address)).count();
    let expected = expected.unwrap_or(donated.len());
    assert!(
        taken == expected,
        "assert_in_place: results took the memory of {taken} donated arguments out of {}, not of {expected}",
        donated.len()
    );
    F::Outputs::arrays(&mut parts)
}

fn address(buffer: &Buffer) -> *const u8 {
    buffer.as_bytes().as_ptr()
}

fn memory(result: &Array) -> Option<*const u8> {
    match &result.elements().ok()?.memory {
        Memory::Host(buffer) => Some(address(buffer)),
        Memory::Device(_) => None,
    }
}

#[track_caller]
fn failed(assertion: &str, error: &Error) -> ! {
    panic!("{assertion}: {}", report(error))
}
