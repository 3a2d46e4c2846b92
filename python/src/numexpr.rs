//! Expressions in text, for `ndjit.numexpr`: parsed once, traced once for each signature of NumPy's arrays, which are read where
//! they are. Results are NumPy's, with memory of the library.

use crate::array::PyArray;
use crate::error::{OrRaise, exception, wrong, wrong_type};
use crate::{capsule, elements, with_element};
use ndjit::dlpack::ManagedTensor;
use ndjit::{Array, Complex, DType, Error, ErrorCode, Policy, Program, Shape, Spec, strong, with_policy};
use ndjit_expressions::{Budget, ExprFunction, ExprNodeKind, Expression, functions, in_notation, parse, report, trace};
use pyo3::exceptions::{PyBufferError, PyNotImplementedError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};

/// The most signatures of an expression that are kept.
const SIGNATURES: usize = 64;

/// What sequences such as `arange` in an expression may take.
const SEQUENCES: usize = 1 << 30;

/// The types of the arguments, and the number of threads.
type Called = (Vec<(DType, Shape)>, Option<usize>);

/// An expression of named arrays under NumExpr's promotion policy.
#[pyclass(frozen, module = "ndjit.numexpr")]
pub struct ArrayExpression {
    text: String,
    expression: Expression,
    names: Vec<String>,
    /// The last used is the last.
    programs: Mutex<Vec<(Called, Arc<Program>)>>,
}

/// The exception of an error, with a caret below the expression.
fn raised(py: Python<'_>, error: &Error, text: &str, names: &[String]) -> PyErr {
    let class = if error.code() == ErrorCode::Parse { "expression" } else { error.code().name() };
    let help = in_notation(error).way_out().map(|help| help.as_str().to_owned());
    exception(py, class, &report(error, text, names), error, help.as_deref(), None)
}

#[pymethods]
impl ArrayExpression {
    #[new]
    fn new(py: Python<'_>, text: String, names: Option<Vec<String>>) -> PyResult<ArrayExpression> {
        let expression = parse(&text).map_err(|problem| raised(py, &problem.into(), &text, &[]))?;
        let mut used: Vec<String> = expression.names().into_iter().map(str::to_owned).collect();
        used.sort_unstable();
        let names = names.unwrap_or(used);
        Ok(ArrayExpression { text, expression, names, programs: Mutex::default() })
    }

    /// The names of the arguments, in order.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Whether each element of the result is of elements at the same place alone.
    #[getter]
    fn is_elementwise(&self) -> bool {
        let all = functions();
        self.expression.nodes().iter().all(|node| match &node.kind {
            ExprNodeKind::Call(name, ..) => {
                all.iter().any(|(known, function)| known == name && matches!(function, ExprFunction::Op(_)))
            }
            ExprNodeKind::Attribute(_, name) => matches!(name.as_str(), "real" | "imag"),
            ExprNodeKind::Index(..) | ExprNodeKind::List(_) => false,
            _ => true,
        })
    }

    /// The dtype and the shape of the result for these arguments.
    fn result<'py>(&self, py: Python<'py>, arguments: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
        let arguments = arguments.iter().map(|x| argument(&x)).collect::<PyResult<Vec<Array>>>()?;
        let result = one(self.program(py, &arguments, None)?.results()).or_raise(py)?;
        (result.dtype().row().long, PyTuple::new(py, result.shape().extents())?).into_pyobject(py)
    }

    /// The result, in NumPy's array. With `into`, an array that fits and is none of the arguments, it is written there.
    #[pyo3(signature = (arguments, threads=None, into=None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        threads: Option<usize>,
        into: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrays = arguments.iter().map(|x| argument(&x)).collect::<PyResult<Vec<Array>>>()?;
        let program = self.program(py, &arrays, threads)?;
        if let Some(into) = into
            && fits(&program, into)?
        {
            with_element!(one(program.results()).or_raise(py)?.dtype(), T => {
                capsule::with_elements::<T, _>(into, |elements| py.detach(|| program.call_into(&arrays, elements)))?
            })
            .map_err(|error| raised(py, &error, &self.text, &self.names))?;
            return Ok(into.clone());
        }
        let result = py.detach(|| {
            let result = one(program.call(&arrays)?);
            result.and_then(Array::into_dlpack)
        });
        numpy(py, result.map_err(|error| raised(py, &error, &self.text, &self.names))?)
    }

    fn __repr__(&self) -> String {
        format!("<ndjit.numexpr expression {:?} of ({})>", self.text, self.names.join(", "))
    }
}

impl ArrayExpression {
    /// The program of a signature.
    fn program(&self, py: Python<'_>, arguments: &[Array], threads: Option<usize>) -> PyResult<Arc<Program>> {
        let is_of = |(types, with): &Called| {
            *with == threads
                && types.len() == arguments.len()
                && types.iter().zip(arguments).all(|((dtype, shape), x)| *dtype == x.dtype() && shape == x.shape())
        };
        {
            let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = programs.iter().rposition(|(called, _)| is_of(called)) {
                let last = programs.len() - 1;
                programs.swap(at, last);
                return Ok(programs[last].1.clone());
            }
        }
        let specs: Vec<(&str, Spec)> =
            self.names.iter().zip(arguments).map(|(name, x)| (name.as_str(), Spec::of(x))).collect();
        if specs.len() != self.names.len() || specs.len() != arguments.len() {
            return Err(wrong(format!("{} arguments are needed, {} given", self.names.len(), arguments.len())));
        }
        let program = with_policy(Policy::NumExpr, || trace(&self.expression, &specs, &Budget::new(SEQUENCES)));
        let program = program.map_err(|error| raised(py, &error, &self.text, &self.names))?;
        let program = Arc::new(match threads {
            Some(threads) => program.threads(threads),
            None => program,
        });
        let types = arguments.iter().map(|x| (x.dtype(), x.shape().clone())).collect();
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if programs.len() == SIGNATURES {
            programs.remove(0);
        }
        programs.push(((types, threads), program.clone()));
        Ok(program)
    }
}

/// The only one of some results.
fn one<T>(results: Vec<T>) -> Result<T, Error> {
    results.into_iter().next().ok_or_else(|| Error::new(ErrorCode::Arity, "the expression has no result"))
}

/// Whether the result can be written into this array.
fn fits(program: &Program, into: &Bound<'_, PyAny>) -> PyResult<bool> {
    let result = one(program.results()).or_raise(into.py())?;
    let dtype = into.getattr("dtype")?;
    let shape: Vec<usize> = into.getattr("shape")?.extract()?;
    let flags = into.getattr("flags")?;
    Ok(result.dtype() != DType::Bool
        && dtype.getattr("name")?.extract::<String>()? == result.dtype().row().long
        && dtype.getattr("isnative")?.is_truthy()?
        && shape == result.shape().extents()
        && flags.getattr("carray")?.is_truthy()?)
}

/// An argument: NumPy's arrays are read where they are, since calls end before they return.
fn argument(x: &Bound<'_, PyAny>) -> PyResult<Array> {
    let py = x.py();
    if let Ok(x) = x.cast_exact::<PyFloat>() {
        return Ok(Array::scalar(strong(x.value())));
    }
    if let Ok(x) = x.cast_exact::<PyBool>() {
        return Ok(Array::scalar(strong(x.is_true())));
    }
    // As in NumPy, a number of Python has 64 bits.
    if x.is_exact_instance_of::<PyInt>()
        && let Ok(x) = x.extract::<i64>()
    {
        return Ok(Array::scalar(strong(x)));
    }
    if let Ok(x) = x.cast_exact::<PyComplex>() {
        return Ok(Array::scalar(strong(Complex::new(x.real(), x.imag()))));
    }
    if let Ok(x) = x.cast::<PyArray>() {
        return PyArray::evaluated(x);
    }
    let numpy = py.import("numpy")?;
    let x = numpy.call_method1("asanyarray", (x,))?;
    let dtype = x.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    match kind.as_str() {
        "b" | "i" | "u" | "f" | "c" => {}
        "S" | "U" => {
            return Err(PyNotImplementedError::new_err("ndjit.numexpr computes with numbers: there are no texts in it"));
        }
        _ => return Err(wrong(format!("ndjit.numexpr computes with numbers, not with {}", dtype.str()?))),
    }
    match capsule::import(&x) {
        Ok(tensor) => ndjit::from_dlpack(tensor, None, None).or_raise(py),
        // Elements of the other byte order.
        Err(error) if error.is_instance_of::<PyBufferError>(py) => {
            let native = x.call_method1("astype", (dtype.call_method1("newbyteorder", ("=",))?,))?;
            elements::from_object(&native, None, None)
        }
        Err(error) => Err(error),
    }
}

/// A tensor on its way to NumPy.
#[pyclass(frozen, module = "ndjit.numexpr")]
struct TensorExport(Mutex<Option<ManagedTensor>>);

#[pymethods]
impl TensorExport {
    #[pyo3(signature = (**_options))]
    fn __dlpack__<'py>(&self, py: Python<'py>, _options: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let tensor = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        capsule::export(py, tensor.ok_or_else(|| wrong_type("the tensor was taken before"))?, true)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        capsule::HOST
    }
}

/// NumPy's array with the memory of a tensor.
fn numpy(py: Python<'_>, tensor: ManagedTensor) -> PyResult<Bound<'_, PyAny>> {
    static FROM_DLPACK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = FROM_DLPACK.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("numpy")?.getattr("from_dlpack")?.unbind())
    })?;
    import.bind(py).call1((TensorExport(Mutex::new(Some(tensor))),))
}
