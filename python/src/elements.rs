//! Elements from Python and back: numbers, nested sequences, buffers, arrays of other libraries.

use crate::array::{PyArray, operation};
use crate::dtype::of_numpy;
use crate::error::{OrRaise, wrong, wrong_type};
use crate::{capsule, settings};
use ndjit::dlpack::ManagedTensor;
use ndjit::{Array, Complex, DType, Element, Kind, Shape, ValueType, bf16, f16};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyBufferError, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyMemoryView, PySequence, PyString};

/// The deepest nesting of sequences: the maximum rank of NumPy.
pub const DEEPEST: usize = 64;

/// The exception of sequences in sequences without an end.
pub fn too_deep() -> PyErr {
    wrong_type(format!("sequences are nested more than {DEEPEST} deep; does one hold itself?"))
}

/// Calls a macro with the Rust type of a dtype.
#[macro_export]
macro_rules! with_element {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            ndjit::DType::Bool => {
                type $t = bool;
                $body
            }
            ndjit::DType::U8 => {
                type $t = u8;
                $body
            }
            ndjit::DType::U16 => {
                type $t = u16;
                $body
            }
            ndjit::DType::U32 => {
                type $t = u32;
                $body
            }
            ndjit::DType::U64 => {
                type $t = u64;
                $body
            }
            ndjit::DType::I8 => {
                type $t = i8;
                $body
            }
            ndjit::DType::I16 => {
                type $t = i16;
                $body
            }
            ndjit::DType::I32 => {
                type $t = i32;
                $body
            }
            ndjit::DType::I64 => {
                type $t = i64;
                $body
            }
            ndjit::DType::Bf16 => {
                type $t = ndjit::bf16;
                $body
            }
            ndjit::DType::F16 => {
                type $t = ndjit::f16;
                $body
            }
            ndjit::DType::F32 => {
                type $t = f32;
                $body
            }
            ndjit::DType::F64 => {
                type $t = f64;
                $body
            }
            ndjit::DType::C64 => {
                type $t = ndjit::Complex<f32>;
                $body
            }
            ndjit::DType::C128 => {
                type $t = ndjit::Complex<f64>;
                $body
            }
        }
    };
}

/// An element as a number of Python.
trait ToPython: Element {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;
}

macro_rules! to_python {
    ($($t:ty, $x:ident => $number:expr;)*) => {$(
        impl ToPython for $t {
            fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
                let $x = self;
                $number.into_bound_py_any(py)
            }
        }
    )*};
}

to_python! {
    bool, x => x;
    u8, x => x;
    u16, x => x;
    u32, x => x;
    u64, x => x;
    i8, x => x;
    i16, x => x;
    i32, x => x;
    i64, x => x;
    bf16, x => x.to_f64();
    f16, x => x.to_f64();
    f32, x => f64::from(x);
    f64, x => x;
}

impl ToPython for Complex<f32> {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Complex::new(f64::from(self.re), f64::from(self.im)).to_python(py)
    }
}

impl ToPython for Complex<f64> {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(PyComplex::from_doubles(py, self.re, self.im).into_any())
    }
}

/// The element of an array with one.
pub fn item<'py>(py: Python<'py>, x: &Array) -> PyResult<Bound<'py, PyAny>> {
    with_element!(x.dtype(), T => x.item::<T>().or_raise(py)?.to_python(py))
}

/// The elements as nested lists.
pub fn nested<'py>(py: Python<'py>, x: &Array) -> PyResult<Bound<'py, PyAny>> {
    fn lists<'py, T: ToPython>(py: Python<'py>, extents: &[usize], elements: &[T]) -> PyResult<Bound<'py, PyAny>> {
        match extents {
            [] => elements[0].to_python(py),
            [extent, inner @ ..] => {
                let size: usize = inner.iter().product();
                let part = |n: usize| lists(py, inner, &elements[n * size..(n + 1) * size]);
                let parts: Vec<Bound<'py, PyAny>> = (0..*extent).map(part).collect::<PyResult<_>>()?;
                Ok(PyList::new(py, parts)?.into_any())
            }
        }
    }
    with_element!(x.dtype(), T => lists(py, x.shape().extents(), &x.to_vec::<T>().or_raise(py)?))
}

/// NumPy's array of the elements, without a copy, read-only.
pub fn numpy<'py>(x: &Bound<'py, PyArray>, value: &Array) -> PyResult<Bound<'py, PyAny>> {
    let numpy = x.py().import("numpy")?;
    if value.dtype().row().npy.is_none() {
        // Bits of a dtype that NumPy does not have.
        let bits = value.to_bytes().or_raise(x.py())?;
        let bytes = pyo3::types::PyBytes::new(x.py(), &bits);
        let flat = numpy.call_method1("frombuffer", (bytes, of_numpy(x.py(), value.dtype())?))?;
        return flat.call_method1("reshape", (value.shape().extents().to_vec(),));
    }
    numpy.call_method1("from_dlpack", (x,))
}

fn complex(x: &Bound<'_, PyAny>) -> PyResult<Complex<f64>> {
    let x = x.py().get_type::<PyComplex>().call1((x,))?.cast_into::<PyComplex>()?;
    Ok(Complex::new(x.real(), x.imag()))
}

/// The numbers of nested sequences.
struct NestedNumbers<'py> {
    extents: Vec<usize>,
    leaves: Vec<Bound<'py, PyAny>>,
    /// The highest kind of the leaves; none of no leaves.
    kind: Option<Kind>,
    /// The highest kind of those without a dtype.
    bare: Option<Kind>,
    /// The common type of leaves that have dtypes.
    typed: Option<ValueType>,
}

impl<'py> NestedNumbers<'py> {
    fn read(x: &Bound<'py, PyAny>) -> PyResult<NestedNumbers<'py>> {
        let mut numbers =
            NestedNumbers { extents: Vec::new(), leaves: Vec::new(), kind: None, bare: None, typed: None };
        numbers.visit(x, 0, true)?;
        Ok(numbers)
    }

    /// Adds a number, or a sequence. The first at each depth sets its extent.
    fn visit(&mut self, x: &Bound<'py, PyAny>, depth: usize, first: bool) -> PyResult<()> {
        let ragged = || wrong("the sequences at one depth have several lengths");
        let kind = match () {
            () if x.is_instance_of::<PyBool>() => Some(Kind::Bool),
            () if x.is_instance_of::<PyFloat>() => Some(Kind::Float),
            () if x.is_instance_of::<PyInt>() => Some(Kind::Int),
            () if x.is_instance_of::<PyComplex>() => Some(Kind::Complex),
            () => None,
        };
        if let Some(kind) = kind.filter(|_| !x.hasattr("dtype").unwrap_or(false)) {
            if depth != self.extents.len() {
                return Err(ragged());
            }
            self.kind = self.kind.max(Some(kind));
            self.bare = self.bare.max(Some(kind));
            self.leaves.push(x.clone());
            return Ok(());
        }
        if x.hasattr("dtype")? && x.hasattr("tolist")? {
            // Arrays, and scalars of NumPy.
            let array = from_object(x, None, None)?;
            let ty = ValueType::Strong(array.dtype());
            self.typed = Some(match self.typed {
                None => ty,
                Some(other) => operation(|| ndjit::promote_types(other, ty)).or_raise(x.py())?,
            });
            let bare = self.bare;
            // The object's own `tolist` may give the object.
            self.visit(&nested(x.py(), &array)?, depth, first)?;
            self.bare = bare;
            return Ok(());
        }
        let sequence = match x.cast::<PySequence>() {
            Ok(_) if depth == DEEPEST => return Err(too_deep()),
            Ok(sequence) if !x.is_instance_of::<PyString>() => sequence,
            _ => return Err(wrong_type(format!("no array is made of {}", x.get_type().name()?))),
        };
        let length = sequence.len()?;
        match self.extents.get(depth) {
            None if first => self.extents.push(length),
            Some(&extent) if extent == length => {}
            _ => return Err(ragged()),
        }
        for n in 0..length {
            self.visit(&sequence.get_item(n)?, depth + 1, first && n == 0)?;
        }
        Ok(())
    }

    /// The dtype: that of elements with one, else of numbers under the policy.
    fn dtype(&self, py: Python<'_>) -> PyResult<DType> {
        let defaults = settings::policy().defaults();
        let bare = match self.bare {
            Some(Kind::Bool) => DType::Bool,
            Some(Kind::Int | Kind::UInt) => defaults.int,
            Some(Kind::Float) => defaults.float,
            Some(Kind::Complex) => defaults.complex,
            None => operation(ndjit::default_dtype),
        };
        match self.typed {
            None => Ok(bare),
            Some(typed) => {
                let ty = match self.bare {
                    None => typed,
                    Some(_) => operation(|| ndjit::promote_types(typed, bare)).or_raise(py)?,
                };
                Ok(settings::policy().commit(ty))
            }
        }
    }

    fn array(self, py: Python<'_>, asked: Option<DType>) -> PyResult<Array> {
        let dtype = match asked {
            Some(dtype) => dtype,
            None => self.dtype(py)?,
        };
        let shape = Shape::from(self.extents);
        let leaves = self.leaves;
        fn all<'py, T>(
            leaves: &[Bound<'py, PyAny>],
            one: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
        ) -> PyResult<Vec<T>> {
            leaves.iter().map(one).collect()
        }
        let wide = match (self.kind.unwrap_or(Kind::Bool), dtype.kind()) {
            (Kind::Bool, _) => Array::from_shape_vec(shape, all(&leaves, |x| x.extract::<bool>())?),
            (_, Kind::Bool) => Array::from_shape_vec(shape, all(&leaves, |x| x.is_truthy())?),
            (Kind::Int | Kind::UInt, Kind::Int | Kind::UInt) => {
                let (low, high) = dtype.int_range().unwrap_or_default();
                let in_range = |x: &Bound<'_, PyAny>| match x.extract::<i128>() {
                    Ok(number) if low <= number && number <= high => Ok(number),
                    _ => Err(PyOverflowError::new_err(out_of_range(x, dtype))),
                };
                match dtype {
                    DType::U64 => Array::from_shape_vec(shape, all(&leaves, |x| Ok(in_range(x)? as u64))?),
                    // Without a conversion, as the usual default.
                    DType::I32 => Array::from_shape_vec(shape, all(&leaves, |x| Ok(in_range(x)? as i32))?),
                    _ => Array::from_shape_vec(shape, all(&leaves, |x| Ok(in_range(x)? as i64))?),
                }
            }
            (Kind::Complex, Kind::Complex) => Array::from_shape_vec(shape, all(&leaves, complex)?),
            (Kind::Complex, _) => return check_real(DType::C128, dtype).and_then(|()| Err(wrong("no real numbers"))),
            // Integers round once: those of more than 53 bits are 64-bit integers first.
            (Kind::Int | Kind::UInt, _) if leaves.iter().all(|x| x.extract::<i64>().is_ok()) => {
                Array::from_shape_vec(shape, all(&leaves, |x| x.extract::<i64>())?)
            }
            _ if dtype == DType::F32 => Array::from_shape_vec(shape, all(&leaves, |x| Ok(x.extract::<f64>()? as f32))?),
            _ => Array::from_shape_vec(shape, all(&leaves, |x| x.extract::<f64>())?),
        };
        let wide = wide.or_raise(py)?;
        Ok(if wide.dtype() == dtype { wide } else { operation(|| ndjit::cast(&wide, dtype)) })
    }
}

/// An array of a tensor of another library: shared if its memory is read-only or the caller forbids a copy, since a writer would
/// change what no operation here changes.
fn from_tensor(py: Python<'_>, tensor: ManagedTensor, copy: Option<bool>) -> PyResult<Array> {
    let shares = copy == Some(false) || copy.is_none() && tensor.is_read_only();
    let copy = if shares { copy } else { Some(true) };
    py.detach(|| ndjit::from_dlpack(tensor, None, copy)).or_raise(py)
}

/// An array of an object with a buffer, such as `bytes`, `array.array` and `memoryview`, always copied.
fn from_buffer(x: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let py = x.py();
    let Ok(view) = PyMemoryView::from(x) else { return Ok(None) };
    let format: String = view.getattr("format")?.extract()?;
    let size: usize = view.getattr("itemsize")?.extract()?;
    let letter = format.trim_start_matches(['@', '=', '<']);
    let dtype = match (letter, size) {
        ("?", _) => DType::Bool,
        ("b" | "h" | "i" | "l" | "q" | "n", _) => {
            [DType::I8, DType::I16, DType::I32, DType::I64][size.ilog2() as usize]
        }
        ("B" | "H" | "I" | "L" | "Q" | "N" | "c", _) => {
            [DType::U8, DType::U16, DType::U32, DType::U64][size.ilog2() as usize]
        }
        ("e", _) => DType::F16,
        ("f", _) => DType::F32,
        ("d", _) => DType::F64,
        ("Zf", _) => DType::C64,
        ("Zd", _) => DType::C128,
        _ => return Err(wrong_type(format!("no array has elements of the format {format:?}"))),
    };
    let shape: Vec<usize> = view.getattr("shape")?.extract()?;
    let bytes: Vec<u8> = view.call_method0("tobytes")?.extract()?;
    Array::from_bytes(dtype, shape, &bytes).or_raise(py).map(Some)
}

/// The array of any object that one can be made of.
pub fn from_object(x: &Bound<'_, PyAny>, dtype: Option<DType>, copy: Option<bool>) -> PyResult<Array> {
    let py = x.py();
    let copied = || match copy {
        Some(false) => Err(PyValueError::new_err("numbers are copied into an array; leave `copy=False` out")),
        _ => Ok(()),
    };
    let array = if let Ok(array) = x.cast::<PyArray>() {
        array.get().array(py, "asarray", crate::traced::NUMPY)?
    } else if x.hasattr("__dlpack__")? {
        match capsule::import(x) {
            Ok(tensor) => from_tensor(py, tensor, copy)?,
            // NumPy exports neither bfloat16 nor data of the other byte order.
            Err(error) if error.is_instance_of::<PyBufferError>(py) && is_bfloat16(x)? => bits_of_bfloat16(x)?,
            Err(error) if error.is_instance_of::<PyBufferError>(py) => {
                let Some(native) = native(x)? else { return Err(error) };
                if copy == Some(false) {
                    return Err(error);
                }
                return from_object(&native, dtype, None);
            }
            Err(error) => return Err(error),
        }
    } else if x.hasattr("__array__")? {
        // Scalars of NumPy, and arrays of libraries without DLPack.
        let array = py.import("numpy")?.call_method1("asarray", (x,))?;
        let is_of_objects = || array.getattr("dtype")?.getattr("kind")?.eq("O");
        return match dtype {
            // Numbers of Python are what NumPy makes of them.
            Some(dtype) if is_of_objects()? => {
                from_object(&array.call_method1("astype", (of_numpy(py, dtype)?,))?, None, copy)
            }
            _ => from_object(&array, dtype, copy),
        };
    } else if let Some(array) = from_buffer(x)? {
        copied()?;
        array
    } else {
        copied()?;
        NestedNumbers::read(x)?.array(py, dtype)?
    };
    match dtype {
        Some(dtype) if dtype != array.dtype() => {
            if copy == Some(false) {
                return Err(wrong(format!("{} becomes {} by a copy only", array.dtype().row().long, dtype.row().long)));
            }
            check_real(array.dtype(), dtype)?;
            Ok(operation(|| ndjit::cast(&array, dtype)))
        }
        _ => Ok(array),
    }
}

/// The message of an integer that a dtype does not have, with one that does.
fn out_of_range(x: &Bound<'_, PyAny>, dtype: DType) -> String {
    let what = format!("{x} is out of the range of {}", dtype.row().long);
    let holds = |wide: &DType| {
        let range = wide.int_range().zip(x.extract::<i128>().ok());
        wide.bytes() > dtype.bytes() && range.is_some_and(|((low, high), x)| low <= x && x <= high)
    };
    match [DType::I16, DType::I32, DType::I64, DType::U64].iter().find(|wide| holds(wide)) {
        Some(wide) => format!("{what}; ask for `dtype=ndjit.{}`", wide.row().long),
        None => what,
    }
}

/// Checks that a conversion drops no imaginary parts.
pub fn check_real(from: DType, to: DType) -> PyResult<()> {
    match from.is_complex() && !to.is_complex() && to != DType::Bool {
        true => Err(wrong_type(format!(
            "complex numbers do not become {}; take `ndjit.real` or `ndjit.abs` of them",
            to.row().long
        ))),
        false => Ok(()),
    }
}

/// NumPy's array in the byte order of the machine; `None` if it is so. One of another dtype is an exception.
fn native<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(dtype) = x.getattr_opt("dtype")? else { return Ok(None) };
    let Some(kind) = dtype.getattr_opt("kind")? else { return Ok(None) };
    if !matches!(kind.extract::<&str>()?, "b" | "i" | "u" | "f" | "c") {
        return Err(wrong_type(format!("there is no dtype of ndjit for arrays of {}", dtype.str()?)));
    }
    match dtype.getattr("isnative")?.is_truthy()? {
        true => Ok(None),
        // NumPy's array, whose dtype it now is: `astype` of another class may give the object itself.
        false => {
            x.py().import("numpy")?.call_method1("array", (x, dtype.call_method1("newbyteorder", ("=",))?)).map(Some)
        }
    }
}

fn is_bfloat16(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(x.getattr("dtype")?.getattr_opt("name")?.is_some_and(|name| name.eq("bfloat16").unwrap_or(false)))
}

fn bits_of_bfloat16(x: &Bound<'_, PyAny>) -> PyResult<Array> {
    let shape: Vec<usize> = x.getattr("shape")?.extract()?;
    let bytes: Vec<u8> = x.call_method0("tobytes")?.extract()?;
    Array::from_bytes(DType::Bf16, shape, &bytes).or_raise(x.py())
}
