//! Promotion policies: of the process, and of a block of Python code on one thread.

use crate::dtype::{DTypeArgument, PyDType, object};
use crate::error::{OrRaise, wrong};
use ndjit::{DType, Defaults, Policy};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

thread_local! {
    /// The policies of `with ndjit.policy(…)` blocks that this thread is in.
    static BLOCKS: RefCell<Vec<(u64, Policy)>> = const { RefCell::new(Vec::new()) };
}

/// Begins a block, whose number is given back.
fn begin(policy: Policy) -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Relaxed);
    BLOCKS.with_borrow_mut(|blocks| blocks.push((number, policy)));
    number
}

/// Ends a block. Blocks of generators end in any order, and may end on a thread that did not begin them.
fn end(number: u64) {
    BLOCKS.with_borrow_mut(|blocks| {
        if let Some(at) = blocks.iter().rposition(|block| block.0 == number) {
            blocks.remove(at);
        }
    });
}

/// Runs operations under the policy of the innermost block.
pub fn scoped<R>(body: impl FnOnce() -> R) -> R {
    match BLOCKS.with_borrow(|blocks| blocks.last().copied()) {
        Some((_, policy)) => ndjit::with_policy(policy, body),
        None => body(),
    }
}

/// Runs `body` under a policy, if there is one.
pub fn within<R>(policy: Option<Policy>, body: impl FnOnce() -> R) -> R {
    struct PolicyScope(u64);
    impl Drop for PolicyScope {
        fn drop(&mut self) {
            end(self.0);
        }
    }
    let _block = policy.map(|policy| PolicyScope(begin(policy)));
    body()
}

/// The current policy.
pub fn policy() -> Policy {
    scoped(ndjit::policy)
}

pub fn named(name: &str) -> PyResult<Policy> {
    name.parse().map_err(|unknown: ndjit::promotion::UnknownPolicy| wrong(unknown.to_string()))
}

/// Sets the promotion policy of the process: `"standard"` (JAX's, the default), `"numpy2"`, `"array_api"`, `"torch"` and
/// others; `"numpy2(i64, f64, c128)"` with other default dtypes.
#[pyfunction]
#[pyo3(signature = (name, /))]
pub fn set_policy(name: &str) -> PyResult<()> {
    ndjit::set_policy(named(name)?);
    Ok(())
}

/// The name of the current promotion policy.
#[pyfunction]
pub fn get_policy() -> String {
    policy().to_string()
}

/// A promotion policy for a block of code, on this thread: `with ndjit.policy("numpy2"): …`.
#[pyclass(frozen, module = "ndjit", name = "policy")]
pub struct PolicyBlock {
    policy: Policy,
    /// The numbers of the blocks that are open, innermost last.
    open: Mutex<Vec<u64>>,
}

#[pymethods]
impl PolicyBlock {
    #[new]
    #[pyo3(signature = (name, /))]
    fn new(name: &str) -> PyResult<PolicyBlock> {
        Ok(PolicyBlock { policy: named(name)?, open: Mutex::default() })
    }

    fn __enter__(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).push(begin(self.policy));
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, pyo3::types::PyTuple>) {
        let number = self.open.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(number) = number {
            end(number);
        }
    }

    fn __repr__(&self) -> String {
        format!("ndjit.policy({:?})", self.policy.to_string())
    }
}

/// Sets the dtypes of numbers without a dtype: `set_defaults(int=ndjit.int64, float=ndjit.float64, complex=ndjit.complex128)`.
#[pyfunction]
#[pyo3(signature = (*, int=None, float=None, complex=None))]
pub fn set_defaults(
    py: Python<'_>,
    int: Option<DTypeArgument>,
    float: Option<DTypeArgument>,
    complex: Option<DTypeArgument>,
) -> PyResult<()> {
    let now = policy().defaults();
    let or = |asked: Option<DTypeArgument>, now: DType| asked.map_or(now, |asked| asked.0);
    let defaults = Defaults { int: or(int, now.int), float: or(float, now.float), complex: or(complex, now.complex) };
    ndjit::set_defaults(defaults).or_raise(py)
}

/// The default dtypes of integers, floats, complex numbers, and indices.
#[pyfunction]
pub fn default_dtypes(py: Python<'_>) -> PyResult<[Py<PyDType>; 4]> {
    let policy = policy();
    let Defaults { int, float, complex } = policy.defaults();
    Ok([object(py, int)?, object(py, float)?, object(py, complex)?, object(py, policy.index_dtype())?])
}
