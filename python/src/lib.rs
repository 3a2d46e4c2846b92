//! The extension module of the Python package: arrays and functions over the public API of `ndjit`. Nothing that the library
//! computes is computed here; `unsafe` code is in `capsule.rs` alone.

#![deny(unsafe_code)]

mod array;
#[allow(unsafe_code)]
mod capsule;
mod command;
mod dtype;
mod elements;
mod error;
mod functions;
mod index;
mod jit;
mod lowered;
mod notation;
mod numexpr;
mod operand;
mod operators;
mod place;
mod public;
mod scope;
mod settings;
mod signals;
mod tables;
mod traced;
mod transforms;
mod trees;

use pyo3::prelude::*;

// Tables of structures count on the lock of the interpreter: one without it switches it on.
#[pymodule(gil_used = true)]
mod _ndjit {
    #[pymodule_export]
    use super::array::{_from_bytes, PyArray};
    #[pymodule_export]
    use super::command::{_command, _doctor};
    #[pymodule_export]
    use super::dtype::PyDType;
    #[pymodule_export]
    use super::error::{_error, error_codes};
    #[pymodule_export]
    use super::functions::creation::{
        arange, asarray, empty, empty_like, eye, from_dlpack, full, full_like, linspace, meshgrid, ones, ones_like,
        tril, triu, zeros, zeros_like,
    };
    #[pymodule_export]
    use super::functions::dtypes::{astype, can_cast, finfo, iinfo, isdtype, result_type};
    #[pymodule_export]
    use super::functions::manipulation::{
        broadcast_arrays, broadcast_shapes, broadcast_to, clip, concat, diff, expand_dims, flip, matrix_transpose,
        moveaxis, permute_dims, repeat, reshape, roll, squeeze, stack, tile, unstack,
    };
    #[pymodule_export]
    use super::functions::products::{matmul, tensordot, vecdot};
    #[pymodule_export]
    use super::functions::searching::{
        isin, nonzero, searchsorted, take, take_along_axis, unique_all, unique_counts, unique_inverse, unique_values,
    };
    #[pymodule_export]
    use super::jit::{_is_operand, _is_tracing, PyJitted};
    #[pymodule_export]
    use super::lowered::{PyCompiled, PyFunctionStats, PyKernelStats, PyLowered};
    #[pymodule_export]
    use super::numexpr::ArrayExpression;
    #[pymodule_export]
    use super::public::PublicFunction;
    #[pymodule_export]
    use super::settings::{PolicyBlock, default_dtypes, get_policy, set_defaults, set_policy};
    #[pymodule_export]
    use super::tables::{_function, _tables};
    #[pymodule_export]
    use super::transforms::{
        _checkpoint, _cond, _cotangents, _custom_jvp, _custom_vjp, _depend, _fori_loop, _gradients, _scan,
        _stop_gradient, _tangents, _traced, _variables, _vmap, _while_loop,
    };
    #[pymodule_export]
    use super::trees::{_flatten, _unflatten};
    use super::*;

    /// Adds the dtypes, as constants.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        main_interpreter(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("MAX_RANK", ndjit::MAX_RANK)?;
        module.add("_build", if cfg!(debug_assertions) { "debug build" } else { "release build" })?;
        for dtype in ndjit::DType::ALL {
            module.add(dtype.row().long, dtype::object(module.py(), dtype)?)?;
        }
        Ok(())
    }
}

/// Refuses sub-interpreters: objects of one would be in caches of the process, which all use.
fn main_interpreter(py: Python<'_>) -> PyResult<()> {
    static FIRST: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    // Each interpreter has a module `sys` of its own.
    let own = py.import("sys")?.as_ptr().addr();
    match *FIRST.get_or_init(|| own) == own {
        true => Ok(()),
        false => Err(pyo3::exceptions::PyImportError::new_err(
            "ndjit is for one interpreter of a process, not for a subinterpreter beside it",
        )),
    }
}
