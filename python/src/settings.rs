//! Promotion policies: of the process, and of a block of Python code on one thread.

use crate::dtype::{DTypeArgument, PyDType, object};
use crate::error::{OrRaise, wrong};
use ndjit::{DType, Defaults, Policy};
use pyo3::prelude::*;
use std::cell::RefCell;

thread_local! {
    /// The policies of `with ndjit.policy(…)` blocks that this thread is in.
    static BLOCKS: RefCell<Vec<Policy>> = const { RefCell::new(Vec::new()) };
}

/// Runs operations under the policy of the innermost block.
pub fn scoped<R>(body: impl FnOnce() -> R) -> R {
    match BLOCKS.with_borrow(|blocks| blocks.last().copied()) {
        Some(policy) => ndjit::with_policy(policy, body),
        None => body(),
    }
}

/// Runs `body` under a policy, if there is one.
pub fn within<R>(policy: Option<Policy>, body: impl FnOnce() -> R) -> R {
    struct PolicyScope;
    impl Drop for PolicyScope {
        fn drop(&mut self) {
            BLOCKS.with_borrow_mut(Vec::pop);
        }
    }
    let _block = policy.map(|policy| {
        BLOCKS.with_borrow_mut(|blocks| blocks.push(policy));
        PolicyScope
    });
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
pub struct PolicyBlock(Policy);

#[pymethods]
impl PolicyBlock {
    #[new]
    #[pyo3(signature = (name, /))]
    fn new(name: &str) -> PyResult<PolicyBlock> {
        named(name).map(PolicyBlock)
    }

    fn __enter__(&self) {
        BLOCKS.with_borrow_mut(|blocks| blocks.push(self.0));
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, pyo3::types::PyTuple>) {
        BLOCKS.with_borrow_mut(Vec::pop);
    }

    fn __repr__(&self) -> String {
        format!("ndjit.policy({:?})", self.0.to_string())
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
