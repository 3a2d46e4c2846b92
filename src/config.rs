//! How a function is traced, compiled and run, and the promotion policy of the current thread.

use ndjit_ir::promotion::Policy;
use std::cell::Cell;

/// How a function is traced, compiled and run. Nothing here but the policy changes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Config {
    /// The promotion policy; `None` is the one of the calling thread (see [`with_policy`]).
    pub policy: Option<Policy>,
    /// The largest number of threads a call uses; `None` is one per core.
    pub threads: Option<usize>,
    /// Whether elementwise ops share kernels.
    pub fuse: bool,
    /// Whether kernels use vector instructions.
    pub vector: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { policy: None, threads: None, fuse: true, vector: true }
    }
}

impl Config {
    pub(crate) fn options(&self) -> ndjit_codegen::Options {
        ndjit_codegen::Options { fuse: self.fuse, ..ndjit_codegen::Options::default() }
    }

    pub(crate) fn run_options(&self) -> ndjit_runtime::RunOptions {
        let (threads, vector) = (self.threads, self.vector);
        ndjit_runtime::RunOptions { threads, vector, ..ndjit_runtime::RunOptions::default() }
    }

    pub(crate) fn policy(&self) -> Policy {
        self.policy.unwrap_or_else(current_policy)
    }
}

thread_local! {
    static POLICY: Cell<Policy> = const { Cell::new(Policy::Standard) };
}

/// The promotion policy of this thread.
pub(crate) fn current_policy() -> Policy {
    POLICY.get()
}

/// Runs `body` with another promotion policy for the operations this thread makes, on arrays and in traces begun inside.
///
/// ```
/// use ndjit::{Array, ErrorCode, Policy, with_policy};
///
/// let (x, y) = (Array::from([1.0f32]), Array::from([1i32]));
/// let sum = with_policy(Policy::Strict, || &x + &y);
/// assert_eq!(sum.eval().unwrap_err().code(), ErrorCode::Promotion);
/// ```
pub fn with_policy<R>(policy: Policy, body: impl FnOnce() -> R) -> R {
    struct Restore(Policy);
    impl Drop for Restore {
        fn drop(&mut self) {
            POLICY.set(self.0);
        }
    }
    let _restore = Restore(POLICY.replace(policy));
    body()
}
