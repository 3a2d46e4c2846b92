//! A jitted function for one signature, as JAX's `f.lower(…)` and `.compile()` give it, and statistics of its program.

use crate::error::wrong_type;
use crate::jit::{JitArgument, PyJitted, ReadArguments, results, stage_of};
use crate::signals::detached;
use crate::traced;
use ndjit::dynamic::DynamicCompiled;
use ndjit::{FunctionStats, KernelStats};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// A function for one signature: what it is made of, and the compiled function.
#[pyclass(module = "ndjit", name = "Lowered", frozen, weakref)]
pub struct PyLowered {
    jitted: Py<PyJitted>,
    compiled: DynamicCompiled,
    /// The structure of the arguments that are not static.
    code: Vec<usize>,
}

impl PyLowered {
    pub fn new(jitted: Py<PyJitted>, compiled: DynamicCompiled, code: Vec<usize>) -> PyLowered {
        PyLowered { jitted, compiled, code }
    }
}

#[pymethods]
impl PyLowered {
    /// The compiled function: `f.lower(x, y).compile()(x, y)`.
    fn compile(slf: Bound<'_, Self>) -> PyCompiled {
        PyCompiled(slf.unbind())
    }

    /// The text of a stage: `"graph"`, `"typed"`, `"simplified"`, `"kernels"`, `"loops"`, `"expanded"`,
    /// `"clif"`, `"assembly"`.
    #[pyo3(signature = (stage="graph", /))]
    fn explain(&self, stage: &str) -> PyResult<String> {
        Ok(self.compiled.explain(stage_of(stage)?))
    }

    /// The text of the traced graph, as JAX's method of this name gives it in its language.
    fn as_text(&self) -> PyResult<String> {
        self.explain("graph")
    }

    /// The page of all stages, as HTML.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        self.compiled.page().map_err(|error| crate::error::raised(py, &error))
    }

    /// The statistics of the program.
    fn stats(&self, py: Python<'_>) -> PyResult<PyFunctionStats> {
        PyFunctionStats::new(py, self.jitted.get().counts(), self.compiled.stats())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("{}.lower(…)", self.jitted.bind(py).repr()?))
    }

    fn __traverse__(&self, visit: pyo3::gc::PyVisit<'_>) -> Result<(), pyo3::gc::PyTraverseError> {
        visit.call(&self.jitted)
    }
}

/// A function compiled for one signature. It takes the arguments that are not static, of the same dtypes, shapes and structure.
#[pyclass(module = "ndjit", name = "Compiled", frozen, weakref)]
pub struct PyCompiled(Py<PyLowered>);

#[pymethods]
impl PyCompiled {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let lowered = self.0.get();
        let ReadArguments { code, leaves, .. } = ReadArguments::without_static(lowered.jitted.get(), args, kwargs)?;
        if code != lowered.code {
            return Err(wrong_type(
                "call: arguments of another structure than those that the function was compiled for; static ones are left out",
            ));
        }
        let call = |leaves: Vec<JitArgument>| lowered.compiled.call(&leaves);
        let made = detached(py, || call(leaves))?.map_err(|error| traced::raised(py, &error))?;
        results(py, made)
    }

    /// The text of a stage: see `Lowered.explain`.
    #[pyo3(signature = (stage="assembly", /))]
    fn explain(&self, stage: &str) -> PyResult<String> {
        self.0.get().explain(stage)
    }

    /// The text of the machine code.
    fn as_text(&self) -> PyResult<String> {
        self.explain("assembly")
    }

    /// The statistics of the program.
    fn stats(&self, py: Python<'_>) -> PyResult<PyFunctionStats> {
        self.0.get().stats(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("{}.compile()", self.0.get().__repr__(py)?))
    }

    fn __traverse__(&self, visit: pyo3::gc::PyVisit<'_>) -> Result<(), pyo3::gc::PyTraverseError> {
        visit.call(&self.0)
    }
}

/// The numbers of traces of a function, and of its distinct kernels.
pub struct JitCounts {
    pub traces: u64,
    pub compilations: u64,
}

/// Statistics of a jitted function: how often it was traced and compiled, and what a call of its program does.
#[pyclass(module = "ndjit", name = "FunctionStats", frozen, get_all)]
pub struct PyFunctionStats {
    /// The number of traces: one for each signature that was not known.
    traces: u64,
    /// The number of distinct kernels that were compiled for the function, or found in the cache of the process.
    compilations: u64,
    /// The kernels of the program, in the order in which they run.
    kernels: Vec<Py<PyKernelStats>>,
    /// The number of kernels that a call launches; those of branches and loops are within one.
    launches: usize,
    /// The least number of bytes that a call reads from memory.
    bytes_read: u64,
    /// The number of bytes that a call writes.
    bytes_written: u64,
    /// The number of floating-point operations of a call.
    flops: u64,
    /// The number of arrays that a call makes: results and intermediate ones.
    allocations: usize,
    /// The bytes of the results.
    result_bytes: u64,
    /// The bytes of intermediate arrays.
    intermediate_bytes: u64,
    /// The bytes of temporary memory of kernels.
    scratch_bytes: u64,
    /// The most memory of a call at once in bytes, without its arguments.
    peak_bytes: u64,
    /// The seconds that each stage took, from the trace to machine code.
    stages: Py<PyDict>,
    /// The same as a table.
    table: String,
}

impl PyFunctionStats {
    pub fn new(py: Python<'_>, counts: JitCounts, of: FunctionStats) -> PyResult<PyFunctionStats> {
        let stages = PyDict::new(py);
        for (stage, time) in &of.stages {
            stages.set_item(stage, time.as_secs_f64())?;
        }
        Ok(PyFunctionStats {
            traces: counts.traces,
            compilations: counts.compilations,
            launches: of.kernels.iter().filter(|kernel| kernel.depth == 0).count(),
            kernels: of
                .kernels
                .iter()
                .map(|kernel| Py::new(py, PyKernelStats::from(kernel)))
                .collect::<PyResult<_>>()?,
            bytes_read: of.bytes_read(),
            bytes_written: of.bytes_written(),
            flops: of.flops(),
            allocations: of.allocations,
            result_bytes: of.result_bytes,
            intermediate_bytes: of.intermediate_bytes,
            scratch_bytes: of.scratch_bytes,
            peak_bytes: of.peak_bytes,
            stages: stages.unbind(),
            table: of.to_string(),
        })
    }
}

#[pymethods]
impl PyFunctionStats {
    fn __repr__(&self) -> String {
        format!("traces: {}, compilations: {}\n{}", self.traces, self.compilations, self.table)
    }
}

/// A kernel of a program. The numbers of one in a branch or a loop are of one run.
#[pyclass(module = "ndjit", name = "KernelStats", frozen, get_all)]
pub struct PyKernelStats {
    /// The number of branches and loops around it.
    depth: usize,
    /// Whether it is a compiled loop, of which one step is counted.
    compiled_loop: bool,
    /// The number of loop nests.
    nests: usize,
    /// The number of loop indices, over all nests.
    elements: u64,
    /// The least number of bytes read from memory.
    bytes_read: u64,
    /// The number of bytes written.
    bytes_written: u64,
    /// The number of floating-point operations.
    flops: u64,
    /// The bytes of machine code.
    code_bytes: usize,
    /// The seconds from loops to machine code, spent once in a process.
    compile_time: f64,
}

impl From<&KernelStats> for PyKernelStats {
    fn from(of: &KernelStats) -> PyKernelStats {
        PyKernelStats {
            depth: of.depth,
            compiled_loop: of.compiled_loop,
            nests: of.nests,
            elements: of.elements,
            bytes_read: of.bytes_read,
            bytes_written: of.bytes_written,
            flops: of.flops,
            code_bytes: of.code_bytes,
            compile_time: of.compile_time.as_secs_f64(),
        }
    }
}

#[pymethods]
impl PyKernelStats {
    fn __repr__(&self) -> String {
        let PyKernelStats { nests, elements, bytes_read, bytes_written, flops, .. } = self;
        format!(
            "KernelStats(nests={nests}, elements={elements}, bytes_read={bytes_read}, bytes_written={bytes_written}, flops={flops})"
        )
    }
}
