//! Expressions in text, for `ndjit.numexpr`: parsed once, traced once for each signature of NumPy's arrays, which are read where
//! they are. Results are NumPy's, with memory of the library.

use crate::array::PyArray;
use crate::error::{OrRaise, exception, wrong, wrong_type};
use crate::signals::detached;
use crate::{capsule, elements, with_element};
use ndjit::dlpack::ManagedTensor;
use ndjit::{Array, Complex, DType, Error, ErrorCode, Policy, Program, Shape, Spec, strong, with_policy};
use ndjit_expressions::{Budget, ExprFunction, ExprNodeKind, Expression, functions, in_notation, parse, report, trace};
use pyo3::exceptions::{PyBufferError, PyKeyError, PyNotImplementedError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyString, PyTuple};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The most signatures of an expression that are kept.
const SIGNATURES: usize = 64;

/// What sequences such as `arange` in an expression may take.
const SEQUENCES: usize = 1 << 30;

/// A traced expression: for arguments of these types, and this number of threads.
struct TracedExpression {
    arguments: Vec<(DType, Shape)>,
    threads: Option<usize>,
    program: Program,
    result: (DType, Shape),
}

/// An expression of named arrays under NumExpr's promotion policy.
#[pyclass(frozen, module = "ndjit.numexpr")]
pub struct ArrayExpression {
    text: String,
    expression: Expression,
    names: Vec<String>,
    /// The names as Python's texts.
    keys: Py<PyTuple>,
    /// The last used is the last.
    traced: Mutex<Vec<Arc<TracedExpression>>>,
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
        let keys = PyTuple::new(py, names.iter().map(|name| PyString::intern(py, name)))?.unbind();
        Ok(ArrayExpression { text, expression, names, keys, traced: Mutex::default() })
    }

    /// The names of the arguments, in order.
    #[getter]
    fn names(&self, py: Python<'_>) -> Py<PyTuple> {
        self.keys.clone_ref(py)
    }

    /// The values of the names, of the first dict that has them.
    fn arguments<'py>(
        &self,
        py: Python<'py>,
        local: &Bound<'py, PyAny>,
        global: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let value = |name: &Bound<'py, PyAny>| {
            for scope in [local, global] {
                match scope.cast_exact::<PyDict>() {
                    Ok(scope) => {
                        if let Some(value) = scope.get_item(name)? {
                            return Ok(value);
                        }
                    }
                    Err(_) if scope.contains(name)? => return scope.get_item(name),
                    Err(_) => {}
                }
            }
            Err(PyKeyError::new_err(name.clone().unbind()))
        };
        let values = self.keys.bind(py).iter_borrowed().map(|name| value(&name));
        PyTuple::new(py, values.collect::<PyResult<Vec<Bound<'py, PyAny>>>>()?)
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
        let arguments = arguments.iter().map(|x| Ok(argument(&x)?.0)).collect::<PyResult<Vec<Array>>>()?;
        let (dtype, shape) = &self.traced(py, &arguments, None)?.result;
        (dtype.row().long, PyTuple::new(py, shape.extents())?).into_pyobject(py)
    }

    /// The result, in NumPy's array. With `into` it is written there, if it fits and shares no memory with an argument.
    #[pyo3(signature = (arguments, threads=None, into=None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        threads: Option<usize>,
        into: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (mut arrays, mut read) = (Vec::with_capacity(arguments.len()), Vec::with_capacity(arguments.len()));
        for x in arguments.iter_borrowed() {
            let (array, addresses) = argument(&x)?;
            arrays.push(array);
            read.push(addresses);
        }
        let traced = self.traced(py, &arrays, threads)?;
        let (program, (dtype, shape)) = (&traced.program, &traced.result);
        if let Some(into) = into {
            let written = with_element!(*dtype, T => capsule::with_elements::<T, _>(into, shape.extents(), &read, |elements| {
                detached(py, || program.call_into(&arrays, elements))
            })?);
            if let Some(written) = written {
                written?.map_err(|error| raised(py, &error, &self.text, &self.names))?;
                return Ok(into.clone());
            }
        }
        let result = detached(py, || program.call(&arrays).and_then(one).and_then(Array::into_dlpack))?;
        numpy(py, result.map_err(|error| raised(py, &error, &self.text, &self.names))?)
    }

    fn __repr__(&self) -> String {
        format!("<ndjit.numexpr expression {:?} of ({})>", self.text, self.names.join(", "))
    }
}

impl ArrayExpression {
    /// The program of a signature.
    fn traced(&self, py: Python<'_>, arguments: &[Array], threads: Option<usize>) -> PyResult<Arc<TracedExpression>> {
        let is_of = |traced: &TracedExpression| {
            traced.threads == threads
                && traced.arguments.len() == arguments.len()
                && traced.arguments.iter().zip(arguments).all(|(of, x)| of.0 == x.dtype() && of.1 == *x.shape())
        };
        {
            let mut all = self.traced.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = all.iter().rposition(|traced| is_of(traced)) {
                let last = all.len() - 1;
                all.swap(at, last);
                return Ok(all[last].clone());
            }
        }
        if self.names.len() != arguments.len() {
            return Err(wrong(format!("{} arguments are needed, {} given", self.names.len(), arguments.len())));
        }
        let specs: Vec<(&str, Spec)> =
            self.names.iter().zip(arguments).map(|(name, x)| (name.as_str(), Spec::of(x))).collect();
        let traced = with_policy(Policy::NumExpr, || trace(&self.expression, &specs, &Budget::new(SEQUENCES)));
        let traced = traced.and_then(|program| Ok((one(program.results())?, program)));
        let (result, program) = traced.map_err(|error| raised(py, &error, &self.text, &self.names))?;
        let traced = Arc::new(TracedExpression {
            arguments: arguments.iter().map(|x| (x.dtype(), x.shape().clone())).collect(),
            threads,
            program: match threads {
                Some(threads) => program.threads(threads),
                None => program,
            },
            result: (result.dtype(), result.shape().clone()),
        });
        let mut all = self.traced.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == SIGNATURES {
            all.remove(0);
        }
        all.push(traced.clone());
        Ok(traced)
    }
}

/// The only one of some results.
fn one<T>(results: Vec<T>) -> Result<T, Error> {
    results.into_iter().next().ok_or_else(|| Error::new(ErrorCode::Arity, "the expression has no result"))
}

/// The array of a tensor that is read where it is, and its addresses.
fn imported(py: Python<'_>, tensor: ManagedTensor) -> PyResult<(Array, Range<usize>)> {
    let addresses = capsule::addresses(&tensor);
    Ok((ndjit::from_dlpack(tensor, None, None).or_raise(py)?, addresses))
}

/// An argument, and the addresses of memory that others may write to: NumPy's arrays are read where they are, since calls end
/// before they return.
fn argument(x: &Bound<'_, PyAny>) -> PyResult<(Array, Range<usize>)> {
    let py = x.py();
    if let Ok(x) = x.cast_exact::<PyFloat>() {
        return Ok((Array::scalar(strong(x.value())), 0..0));
    }
    if let Ok(x) = x.cast_exact::<PyBool>() {
        return Ok((Array::scalar(strong(x.is_true())), 0..0));
    }
    // As in NumPy, a number of Python has 64 bits.
    if x.is_exact_instance_of::<PyInt>()
        && let Ok(x) = x.extract::<i64>()
    {
        return Ok((Array::scalar(strong(x)), 0..0));
    }
    if let Ok(x) = x.cast_exact::<PyComplex>() {
        return Ok((Array::scalar(strong(Complex::new(x.real(), x.imag()))), 0..0));
    }
    if let Ok(x) = x.cast::<PyArray>() {
        let (what, instead) = ("an argument of an expression", "use the operations of `ndjit` in traced functions");
        let array = PyArray::evaluated(x, what, instead)?;
        // It may be of another library's memory.
        let addresses = array.to_dlpack(Some(false)).map_or(0..usize::MAX, |tensor| capsule::addresses(&tensor));
        return Ok((array, addresses));
    }
    if capsule::is_ndarray(x)?
        && let Ok(tensor) = capsule::import_host(x)
    {
        return imported(py, tensor);
    }
    let x = py.import("numpy")?.call_method1("asarray", (x,))?;
    let dtype = x.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    match kind.as_str() {
        "b" | "i" | "u" | "f" | "c" => {}
        "S" | "U" => {
            return Err(PyNotImplementedError::new_err(
                "ndjit.numexpr computes with numbers: there are no texts in it",
            ));
        }
        _ => return Err(wrong(format!("ndjit.numexpr computes with numbers, not with {}", dtype.str()?))),
    }
    match capsule::import_host(&x) {
        Ok(tensor) => imported(py, tensor),
        // Elements of the other byte order.
        Err(error) if error.is_instance_of::<PyBufferError>(py) => {
            let native = x.call_method1("astype", (dtype.call_method1("newbyteorder", ("=",))?,))?;
            Ok((elements::from_object(&native, None, None)?, 0..0))
        }
        Err(error) => Err(error),
    }
}

/// A tensor on its way to NumPy.
#[pyclass(frozen, module = "ndjit.numexpr")]
struct TensorExport(Mutex<Option<ManagedTensor>>);

#[pymethods]
impl TensorExport {
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<&Bound<'py, PyAny>>,
        dl_device: Option<&Bound<'py, PyAny>>,
        copy: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // NumPy asks for what it gets.
        let _ = (stream, max_version, dl_device, copy);
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
    FROM_DLPACK.import(py, "numpy", "from_dlpack")?.call1((TensorExport(Mutex::new(Some(tensor))),))
}
