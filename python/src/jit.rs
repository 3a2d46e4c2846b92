//! `ndjit.jit`: a function of Python that is traced once per signature, compiled, and called.
//!
//! The engine's cache has the plans. The function that it calls for a new signature is the same for all: it finds the Python function
//! and its static arguments in the call that runs on this thread.

use crate::array::{ArrayValue, PyArray, finish, operation};
use crate::elements;
use crate::error::{wrong, wrong_type};
use crate::lowered::{JitCounts, PyFunctionStats, PyLowered};
use crate::operand::number;
use crate::public::without_own_frames;
use crate::scope::FunctionScope;
use crate::signals::detached;
use crate::trees::{LeafVisitor, flatten, typed_key, unflatten};
use crate::{place, settings, traced};
use ndjit::dynamic::{self, DynamicJitted, DynamicResults, TracedRef};
use ndjit::jit::{Arg, Input};
use ndjit::operand::AnyOperand;
use ndjit::{Array, Error, ErrorCode, Expr, Policy, Scalar, Stage};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The most static arguments that a function remembers at once.
const MOST_STATIC: usize = 1024;

/// An argument of a compiled function.
pub enum JitArgument {
    Array(Array),
    Number(Scalar),
    /// A value of the trace in which the function is called.
    Traced(TracedRef),
}

impl<'a> Input<'a> for &'a JitArgument {
    fn arg(self) -> ndjit::Result<Arg<'a>> {
        match self {
            JitArgument::Array(array) => array.arg(),
            JitArgument::Number(number) => (*number).arg(),
            JitArgument::Traced(x) => x.expr().and_then(|_| {
                Err(Error::new(ErrorCode::Traced, "call: a traced value has no elements")
                    .help("call the function where it is traced"))
            }),
        }
    }
}

impl JitArgument {
    /// The argument in the trace that is open.
    fn expr(&self, py: Python<'_>) -> PyResult<Expr> {
        match self {
            JitArgument::Array(x) => Ok(operation(|| Expr::from(x))),
            JitArgument::Number(x) => Ok(operation(|| Expr::from(*x))),
            JitArgument::Traced(x) => traced::value(py, *x),
        }
    }
}

/// A call: the function, and its static arguments in the order of the structure.
struct PythonCall {
    function: Py<PyAny>,
    kept: Vec<Py<PyAny>>,
}

thread_local! {
    /// The calls of this thread, innermost last.
    static CALLS: RefCell<Vec<PythonCall>> = const { RefCell::new(Vec::new()) };
}

/// Makes a call the thread's innermost until dropped.
struct OpenCall;

impl OpenCall {
    fn begin(call: PythonCall) -> OpenCall {
        CALLS.with_borrow_mut(|calls| calls.push(call));
        OpenCall
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        // Objects are released after the list is.
        let call = CALLS.with_borrow_mut(Vec::pop);
        drop(call);
    }
}

/// The arguments of a call.
pub struct ReadArguments<'a, 'py> {
    jitted: &'a PyJitted,
    pub code: Vec<usize>,
    pub leaves: Vec<JitArgument>,
    kept: Vec<Py<PyAny>>,
    /// The name of the argument that is read.
    name: ArgumentName<'py>,
}

enum ArgumentName<'py> {
    Position(usize),
    Keyword(Bound<'py, PyAny>),
}

impl std::fmt::Display for ArgumentName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ArgumentName::Position(n) => write!(f, "argument {n}"),
            ArgumentName::Keyword(name) => write!(f, "argument `{name}`"),
        }
    }
}

impl<'py> LeafVisitor<'py> for ReadArguments<'_, 'py> {
    fn leaf(&mut self, x: &Bound<'py, PyAny>) -> PyResult<()> {
        if let Ok(array) = x.cast::<PyArray>() {
            self.leaves.push(match array.get().value() {
                ArrayValue::Array(array) => JitArgument::Array(array),
                ArrayValue::Traced(x) => JitArgument::Traced(x),
            });
        } else if let Some(number) = number(x)? {
            self.leaves.push(JitArgument::Number(number));
        } else if x.hasattr("__array_interface__")? || x.hasattr("__dlpack__")? {
            // Nobody writes to the memory before the call is over.
            self.leaves.push(JitArgument::Array(
                elements::from_object(x, None, Some(false)).or_else(|_| elements::from_object(x, None, None))?,
            ));
        } else {
            let (found, way_out) = (
                x.get_type().name()?,
                match &self.name {
                    ArgumentName::Position(n) => format!("static_argnums={n}"),
                    ArgumentName::Keyword(name) => format!("static_argnames=\"{name}\""),
                },
            );
            return Err(wrong_type(format!(
                "{} has a {found}, which is no array, number or structure of them; if it is the same in many calls: `jit(f, {way_out})`",
                self.name
            )));
        }
        Ok(())
    }
}

impl<'a, 'py> ReadArguments<'a, 'py> {
    fn new(jitted: &'a PyJitted) -> Self {
        let name = ArgumentName::Position(0);
        ReadArguments { jitted, code: Vec::with_capacity(8), leaves: Vec::with_capacity(4), kept: Vec::new(), name }
    }

    /// The arguments of a call without static ones.
    pub fn without_static(
        jitted: &'a PyJitted,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Self> {
        let mut arguments = Self::new(jitted);
        arguments.read(args, kwargs, false)?;
        Ok(arguments)
    }

    /// Adds a static argument.
    fn fixed(&mut self, x: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = x.py();
        let key = typed_key(x)?;
        let known = self.jitted.fixed.bind(py);
        let number = match known.get_item(&key) {
            Ok(Some(number)) => number.extract()?,
            Ok(None) => {
                if known.len() >= MOST_STATIC {
                    known.clear();
                }
                let number = self.jitted.next.fetch_add(1, Relaxed);
                known.set_item(&key, number)?;
                number
            }
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                return Err(wrong_type(format!(
                    "{} is static, and of a class without a hash, {}: pass a tuple or another object that does not change",
                    self.name,
                    x.get_type().name()?
                )));
            }
            Err(error) => return Err(error),
        };
        self.kept.push(x.clone().unbind());
        self.code.extend([FIXED, number, self.kept.len() - 1]);
        Ok(())
    }

    /// Reads the arguments of a call. Some are static if `fixed`.
    fn read(&mut self, args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>, fixed: bool) -> PyResult<()> {
        let jitted = self.jitted;
        let py = args.py();
        self.code.push(args.len());
        for (n, x) in args.iter_borrowed().enumerate() {
            self.name = ArgumentName::Position(n);
            if fixed && jitted.is_static(n, args.len()) { self.fixed(&x)? } else { self.tree(&x)? }
        }
        let Some(kwargs) = kwargs.filter(|kwargs| !kwargs.is_empty()) else { return Ok(()) };
        let keys = kwargs.keys();
        keys.sort()?;
        self.tree_of_keys(py, &keys)?;
        for key in keys {
            let value = kwargs.get_item(&key)?.ok_or_else(|| wrong("an argument is gone"))?;
            let is_static = fixed && jitted.is_static_name(&key);
            self.name = ArgumentName::Keyword(key);
            if is_static { self.fixed(&value)? } else { self.tree(&value)? }
        }
        Ok(())
    }

    fn tree(&mut self, x: &Bound<'py, PyAny>) -> PyResult<()> {
        let mut code = std::mem::take(&mut self.code);
        let flat = flatten(x, &mut code, self);
        self.code = code;
        flat
    }

    /// Adds the names of keyword arguments.
    fn tree_of_keys(&mut self, py: Python<'py>, keys: &Bound<'py, pyo3::types::PyList>) -> PyResult<()> {
        let names: Vec<String> = keys.extract()?;
        // A dict of nothing has the names, and no leaves.
        let dict = PyDict::new(py);
        for name in &names {
            dict.set_item(name, py.None())?;
        }
        self.tree(dict.as_any())
    }
}

/// A static argument in the list of arguments: its number, and its position among those of the call.
const FIXED: usize = usize::MAX;

/// Calls the Python function of this thread's call with traced arguments in a structure.
fn trace(exprs: &[Expr], code: &[usize]) -> (Vec<Expr>, Vec<usize>) {
    match Python::attach(|py| traced_results(py, exprs, code)) {
        Ok(results) => results,
        Err(raised) => (vec![ndjit::operand::ArrayLike::failed(traced::kept(raised))], Vec::new()),
    }
}

struct TracedLeaves(Vec<Expr>);

impl<'py> LeafVisitor<'py> for TracedLeaves {
    fn leaf(&mut self, x: &Bound<'py, PyAny>) -> PyResult<()> {
        match traced::expr(x) {
            Ok(x) => self.0.push(x),
            Err(error) if error.get_type(x.py()).is(x.py().get_type::<PyTypeError>()) => {
                let found = x.get_type().name()?;
                return Err(wrong_type(format!(
                    "the function gives a {found}, which is no array, number or structure of them"
                )));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

fn traced_results(py: Python<'_>, exprs: &[Expr], code: &[usize]) -> PyResult<(Vec<Expr>, Vec<usize>)> {
    let call = CALLS.with_borrow(|calls| {
        let call = calls.last().ok_or_else(|| wrong("no function is called"))?;
        let kept = call.kept.iter().map(|x| x.clone_ref(py)).collect();
        Ok::<_, PyErr>(PythonCall { function: call.function.clone_ref(py), kept })
    })?;
    called(py, &call, exprs, code)
}

/// The results of a function of Python for traced arguments in a structure, and their structure.
fn called(py: Python<'_>, call: &PythonCall, exprs: &[Expr], code: &[usize]) -> PyResult<(Vec<Expr>, Vec<usize>)> {
    let PythonCall { function, kept } = call;
    let _scope = FunctionScope::enter();
    let mut exprs = exprs.iter();
    let mut leaf = || {
        let x = exprs.next().ok_or_else(|| wrong("an argument is missing"))?;
        Ok(Bound::new(py, traced::finish(py, *x)?)?.into_any())
    };
    let fixed = |n: usize| kept.get(n).map(|x| x.bind(py).clone()).ok_or_else(|| wrong("an argument is missing"));
    let mut code = code;
    let (&count, rest) = code.split_first().ok_or_else(|| wrong("a structure ends too early"))?;
    code = rest;
    let mut next = |code: &mut &[usize]| match **code {
        [FIXED, _, n, ..] => {
            *code = &code[3..];
            fixed(n)
        }
        _ => unflatten(py, code, &mut leaf),
    };
    let mut args = Vec::with_capacity(count.min(code.len()));
    for _ in 0..count {
        args.push(next(&mut code)?);
    }
    let kwargs = match code.is_empty() {
        true => None,
        false => {
            let names = next(&mut code)?.cast_into::<PyDict>().map_err(|_| wrong("names are missing"))?;
            let kwargs = PyDict::new(py);
            for name in names.keys() {
                kwargs.set_item(name, next(&mut code)?)?;
            }
            Some(kwargs)
        }
    };
    let result = function.bind(py).call(PyTuple::new(py, args)?, kwargs.as_ref())?;
    let (mut code, mut results) = (Vec::new(), TracedLeaves(Vec::new()));
    flatten(&result, &mut code, &mut results)?;
    Ok((results.0, code))
}

/// A function that is traced once per signature, compiled, and called: see `ndjit.jit`.
#[pyclass(module = "ndjit", name = "Jitted", weakref, frozen, subclass)]
pub struct PyJitted {
    function: Py<PyAny>,
    core: DynamicJitted,
    policy: Option<Policy>,
    positions: Vec<isize>,
    names: Vec<Py<PyString>>,
    /// The numbers of static arguments.
    fixed: Py<PyDict>,
    next: AtomicUsize,
    /// Whether the function was found to use values of a trace around it.
    closes_over: AtomicBool,
}

impl PyJitted {
    /// Whether an argument is static, by its position among `count`.
    fn is_static(&self, n: usize, count: usize) -> bool {
        let from_last = n as isize - count as isize;
        self.positions.iter().any(|&p| p == n as isize || p == from_last)
    }

    fn is_static_name(&self, key: &Bound<'_, PyAny>) -> bool {
        self.names.iter().any(|name| key.eq(name).unwrap_or(false))
    }

    /// The numbers of traces and of distinct kernels.
    pub fn counts(&self) -> JitCounts {
        JitCounts { traces: self.core.trace_count(), compilations: self.core.compile_count() }
    }

    /// Runs `body` on the arguments, without the lock of the interpreter.
    fn with<'py, R: Send>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        body: impl FnOnce(&DynamicJitted, &[JitArgument], &[usize]) -> ndjit::Result<R> + Send,
    ) -> PyResult<R> {
        let mut arguments = ReadArguments::new(self);
        arguments.read(args, kwargs, true)?;
        self.run(args.py(), &arguments, body)
    }

    /// Runs `body` on the arguments, without the lock of the interpreter.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        ReadArguments { code, leaves, kept, .. }: &ReadArguments<'_, '_>,
        body: impl FnOnce(&DynamicJitted, &[JitArgument], &[usize]) -> ndjit::Result<R> + Send,
    ) -> PyResult<R> {
        let kept = kept.iter().map(|x| x.clone_ref(py)).collect();
        let _calling = OpenCall::begin(PythonCall { function: self.function.clone_ref(py), kept });
        let core = &self.core;
        // The policy of the function is that of the Python code which it runs, too.
        settings::within(self.policy, || detached(py, || settings::scoped(|| body(core, leaves, code))))?
            .map_err(|error| traced::raised(py, &error))
    }

    /// A call while another function is traced. It is part of the trace if an argument is, or if the function uses a value of it;
    /// otherwise it is evaluated, as operations on arrays are.
    fn within_trace<'py>(&self, py: Python<'py>, arguments: ReadArguments<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let is_traced = arguments.leaves.iter().any(|leaf| matches!(leaf, JitArgument::Traced(_)));
        if !is_traced && !self.closes_over.load(Relaxed) {
            let (made, is_foreign) =
                traced::foreign(|| self.run(py, &arguments, |core, leaves, code| core.call(leaves, code)));
            if !is_foreign {
                return results(py, made?);
            }
            self.closes_over.store(true, Relaxed);
        }
        let ReadArguments { code, leaves, kept, .. } = arguments;
        let exprs = leaves.iter().map(|leaf| leaf.expr(py)).collect::<PyResult<Vec<Expr>>>()?;
        let call = PythonCall { function: self.function.clone_ref(py), kept };
        let (exprs, code) = settings::within(self.policy, || called(py, &call, &exprs, &code))
            .map_err(|raised| without_own_frames(py, raised))?;
        let mut exprs = exprs.into_iter();
        let mut leaf = || {
            let x = exprs.next().ok_or_else(|| wrong("a result is missing"))?;
            Ok(Bound::new(py, traced::finish(py, x)?)?.into_any())
        };
        unflatten(py, &mut &code[..], &mut leaf)
    }
}

#[pymethods]
impl PyJitted {
    #[new]
    #[pyo3(signature = (function, positions, names, threads=None, policy=None))]
    fn new(
        py: Python<'_>,
        function: Py<PyAny>,
        positions: Vec<isize>,
        names: Vec<Py<PyString>>,
        threads: Option<usize>,
        policy: Option<&str>,
    ) -> PyResult<PyJitted> {
        let name = function.bind(py).getattr_opt("__qualname__")?.and_then(|name| name.extract::<String>().ok());
        let named = place::interned(name.as_deref().unwrap_or("function"));
        let policy = policy.map(settings::named).transpose()?;
        let core = DynamicJitted::new(named, place::of_user(py).unwrap_or(place::BINDING), trace)
            .configured(|config| (config.policy, config.threads) = (policy, threads.map(|threads| threads.max(1))));
        let fixed = PyDict::new(py).unbind();
        let (next, closes_over) = Default::default();
        Ok(PyJitted { function, core, policy, positions, names, fixed, next, closes_over })
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut arguments = ReadArguments::new(self);
        arguments.read(args, kwargs, true)?;
        match dynamic::is_tracing() {
            true => self.within_trace(py, arguments),
            false => results(py, self.run(py, &arguments, |core, leaves, code| core.call(leaves, code))?),
        }
    }

    fn __get__<'py>(
        slf: Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        _class: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if instance.is_none() {
            return Ok(slf.into_any());
        }
        slf.py().import("types")?.getattr("MethodType")?.call1((slf, instance))
    }

    /// The function for arguments like these, as JAX's method of this name gives it: its `explain(stage)` is the text of a stage, its
    /// `compile()` the compiled function, which takes the arguments that are not static. The function is traced for them, not run.
    #[pyo3(signature = (*args, **kwargs))]
    fn lower<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<PyLowered> {
        let (py, own) = (slf.py(), slf.get());
        let compiled = own.with(args, kwargs, |core, leaves, code| core.compile(leaves, code))?;
        let left = args.iter().enumerate().filter(|(n, _)| !own.is_static(*n, args.len())).map(|(_, x)| x);
        let left = PyTuple::new(py, left.collect::<Vec<_>>())?;
        let named = kwargs.map(|kwargs| kwargs.copy()).transpose()?;
        for (key, _) in kwargs.into_iter().flatten() {
            if let Some(named) = named.as_ref().filter(|_| own.is_static_name(&key)) {
                named.del_item(key)?;
            }
        }
        let ReadArguments { code, .. } = ReadArguments::without_static(own, &left, named.as_ref())?;
        Ok(PyLowered::new(slf.clone().unbind(), compiled, code))
    }

    /// How often the function was traced and compiled, and the statistics of the program of the last call: kernels, bytes, memory.
    fn stats(&self, py: Python<'_>) -> PyResult<PyFunctionStats> {
        PyFunctionStats::new(py, self.counts(), self.core.stats())
    }

    /// The number of traces: one for each signature that was not known.
    #[getter]
    fn trace_count(&self) -> u64 {
        self.core.trace_count()
    }

    /// The number of distinct kernels that were compiled for the function, or found in the cache of the process.
    #[getter]
    fn compile_count(&self) -> u64 {
        self.core.compile_count()
    }

    /// The text of a stage for these arguments: `"graph"`, `"typed"`, `"simplified"`, `"kernels"`, `"loops"`, `"expanded"`,
    /// `"clif"`, `"assembly"`. The function is traced for them, not run.
    #[pyo3(signature = (stage, /, *args, **kwargs))]
    fn explain(&self, stage: &str, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<String> {
        let stage = stage_of(stage)?;
        self.with(args, kwargs, |core, leaves, code| core.explain(leaves, code, stage))
    }

    /// The page of all stages for these arguments, as HTML: source lines, graphs, kernels, loops and code. Without arguments that
    /// of the last call.
    #[pyo3(signature = (*args, **kwargs))]
    fn page(&self, py: Python<'_>, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<String> {
        match args.is_empty() && kwargs.is_none_or(|kwargs| kwargs.is_empty()) && self.core.trace_count() > 0 {
            true => self.core.last_page().map_err(|error| crate::error::raised(py, &error)),
            false => self.with(args, kwargs, |core, leaves, code| core.page(leaves, code)),
        }
    }

    /// Why calls were traced: each with its nearest known signature and the differences.
    fn explain_cache_misses(&self) -> Vec<String> {
        self.core.explain_cache_misses().iter().map(ToString::to_string).collect()
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ndjit._display")?.call_method1("page", (slf,))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<ndjit.jit of {}>", self.function.bind(py).repr()?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let function = self.function.bind(py);
        let arguments = (function.getattr("__module__")?, function.getattr("__qualname__")?);
        Ok((py.import("ndjit._jit")?.getattr("_named")?, arguments).into_pyobject(py)?.into_any())
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (_memo, /))]
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.function)?;
        visit.call(&self.fixed)
    }
}

/// The results of a call in their structure.
pub fn results<'py>(py: Python<'py>, results: DynamicResults) -> PyResult<Bound<'py, PyAny>> {
    if let [0] = *results.structure() {
        let one = results.into_iter().next().ok_or_else(|| wrong("a result is missing"))?;
        return Ok(Bound::new(py, finish(py, one)?)?.into_any());
    }
    let code = results.structure().to_vec();
    let mut arrays = results.into_iter();
    let mut leaf = || {
        let array = arrays.next().ok_or_else(|| wrong("a result is missing"))?;
        Ok(Bound::new(py, finish(py, array)?)?.into_any())
    };
    unflatten(py, &mut &code[..], &mut leaf)
}

pub fn stage_of(name: &str) -> PyResult<Stage> {
    name.parse().map_err(|_| {
        let names: Vec<&str> = Stage::ALL.iter().map(|stage| stage.name()).collect();
        wrong(format!("the stages are {}, not {name:?}", names.join(", ")))
    })
}

/// Whether a function is being traced on this thread.
#[pyfunction]
pub fn _is_tracing() -> bool {
    dynamic::is_tracing()
}

/// Whether `x` is a value of a function that is being traced.
#[pyfunction]
pub fn _is_operand(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(matches!(crate::operand::operand(x)?, Some(AnyOperand::Array(_) | AnyOperand::Expr(_) | AnyOperand::Scalar(_))))
}
