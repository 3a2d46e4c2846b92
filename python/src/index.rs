//! `x[k]`, `x[k] = v` and `x.at[k]`.

// Of code that pyo3 generates for the methods of a macro.
#![allow(unsafe_op_in_unsafe_fn)]

use crate::array::{PyArray, finish, operation};
use crate::elements;
use crate::error::{OrRaise, raised, raised_as, wrong_type};
use crate::evaluated;
use crate::operand::{self, operand};
use crate::signals::detached;
use crate::traced::no_elements;
use ndjit::dynamic::{self, Index, TracedRef};
use ndjit::indexing::{At, IntoIndex};
use ndjit::manipulation::Slice;
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{DType, ErrorCode, Shape};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};

/// A part of an index as it is written.
enum WrittenKey<'a, 'py> {
    Slice(&'a Bound<'py, PySlice>),
    /// An integer, a new axis, or an ellipsis.
    Plain(Slice),
    /// Indices, or a mask.
    Array(ArrayKey),
}

/// Indices, or a mask, with their dtype and shape.
struct ArrayKey {
    operand: AnyOperand,
    dtype: DType,
    shape: Shape,
}

impl ArrayKey {
    fn of(operand: AnyOperand) -> ArrayKey {
        let (dtype, shape) = (operand::dtype(&operand), operand::shape(&operand));
        // No elements, as in an empty list, are no indices, whatever their dtype.
        match dtype == DType::Bool || dtype.is_int() || shape.size() != Ok(0) {
            true => ArrayKey { operand, dtype, shape },
            false => ArrayKey { operand: operation(|| ndjit::cast(operand, DType::I64)), dtype: DType::I64, shape },
        }
    }
}

/// A part of an index, in the library's terms.
enum KeyPart {
    Slice(Slice),
    Array(ArrayKey),
}

fn written<'a, 'py>(x: &'a Bound<'py, PyAny>) -> PyResult<WrittenKey<'a, 'py>> {
    if let Ok(slice) = x.cast::<PySlice>() {
        return Ok(WrittenKey::Slice(slice));
    }
    if x.is_none() {
        return Ok(WrittenKey::Plain(Slice::NewAxis));
    }
    if x.is_instance_of::<PyEllipsis>() {
        return Ok(WrittenKey::Plain(Slice::Ellipsis));
    }
    if let Ok(array) = x.cast::<PyArray>() {
        let (array, py) = (array.get(), x.py());
        return Ok(WrittenKey::Array(ArrayKey::of(array.operand(py)?)));
    }
    let is_number = x.is_instance_of::<PyInt>() && !x.is_instance_of::<PyBool>();
    if is_number || !x.is_instance_of::<PyBool>() && !x.hasattr("shape")? && x.hasattr("__index__")? {
        let index = x.call_method0("__index__")?;
        let number = index.extract().map_err(|_| PyIndexError::new_err(format!("no axis has an index {index}")))?;
        return Ok(WrittenKey::Plain(Slice::Index(number)));
    }
    match elements::from_object(x, None, None) {
        Ok(array) if array.dtype() == DType::Bool || array.dtype().is_int() || array.is_empty() => {
            Ok(WrittenKey::Array(ArrayKey::of(array.operand())))
        }
        _ => Err(wrong_type(format!(
            "indices are integers, slices, `...`, `None`, and arrays of integers or bools, not {}",
            x.get_type().name()?
        ))),
    }
}

/// A slice of an axis. Python clips its bounds, and steps back from its start; the library's ranges are within the axis, and
/// step back from their end.
fn range(slice: &Bound<'_, PySlice>, extent: usize) -> PyResult<Slice> {
    let found = slice.indices(isize::try_from(extent).unwrap_or(isize::MAX))?;
    let (start, step) = (found.start, found.step);
    let Some(steps) = found.slicelength.checked_sub(1) else {
        return Ok(Slice::Range { start: Some(0), end: Some(0), step: 1 });
    };
    let last = start + steps as isize * step;
    let (low, high) = if step > 0 { (start, last) } else { (last, start) };
    Ok(Slice::Range { start: Some(low), end: Some(high + 1), step })
}

/// Checks that a mask has the extents of the axes from `at` on, or 0.
fn check_mask(mask: &Shape, shape: &Shape, at: usize) -> PyResult<()> {
    let axes = shape.extents().get(at..at + mask.rank());
    match axes.is_some_and(|axes| axes.iter().zip(mask.extents()).all(|(extent, own)| own == extent || *own == 0)) {
        true => Ok(()),
        false => {
            Err(PyIndexError::new_err(format!("a mask of shape {mask} at axis {at} of an array of shape {shape}")))
        }
    }
}

/// The way out where a mask is traced.
const MASK: &str = "how many elements a mask chooses is not known; `ndjit.where(mask, x, y)` has an element for each of the mask's, and \
                    `x.at[mask].set(y)` puts them";

/// The parts of an index of an array of this shape.
fn parts(key: &Bound<'_, PyAny>, shape: &Shape) -> PyResult<Vec<KeyPart>> {
    let keys: Vec<Bound<'_, PyAny>> = match key.cast::<PyTuple>() {
        Ok(key) => key.iter().collect(),
        Err(_) => vec![key.clone()],
    };
    let parts: Vec<WrittenKey<'_, '_>> = keys.iter().map(written).collect::<PyResult<_>>()?;
    let axes = |part: &WrittenKey<'_, '_>| match part {
        WrittenKey::Plain(Slice::NewAxis | Slice::Ellipsis) => 0,
        WrittenKey::Array(mask) if mask.dtype == DType::Bool => mask.shape.rank(),
        _ => 1,
    };
    let left = shape.rank().saturating_sub(parts.iter().map(axes).sum());
    let mut axis = 0;
    let part = |part: WrittenKey<'_, '_>| {
        let at = axis;
        axis += if matches!(part, WrittenKey::Plain(Slice::Ellipsis)) { left } else { axes(&part) };
        match part {
            // Of an axis that is not there the library says so.
            WrittenKey::Slice(slice) => range(slice, shape.extents().get(at).copied().unwrap_or(0)).map(KeyPart::Slice),
            WrittenKey::Plain(slice) => Ok(KeyPart::Slice(slice)),
            WrittenKey::Array(array) => {
                if array.dtype == DType::Bool {
                    check_mask(&array.shape, shape, at)?;
                }
                Ok(KeyPart::Array(array))
            }
        }
    };
    parts.into_iter().map(part).collect()
}

/// The slices, if there are no arrays.
fn slices(parts: &[KeyPart]) -> Option<Vec<Slice>> {
    let slice = |part: &KeyPart| match part {
        KeyPart::Slice(slice) => Some(*slice),
        KeyPart::Array(_) => None,
    };
    parts.iter().map(slice).collect()
}

/// The indices. A mask that is not `alone` stands for the indices of its nonzero elements.
fn indices(py: Python<'_>, parts: Vec<KeyPart>, alone: bool) -> PyResult<Vec<Index>> {
    let alone = alone && parts.len() == 1;
    let mut indices = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            KeyPart::Slice(slice) => indices.push(slice.index()),
            KeyPart::Array(mask) if mask.dtype == DType::Bool && !alone => {
                let mask = mask.operand;
                for axis in evaluated!(py, [mask] => ndjit::nonzero(mask))? {
                    indices.push(Index::Elements(axis.operand(py)?));
                }
            }
            KeyPart::Array(array) => indices.push(Index::Elements(array.operand)),
        }
    }
    Ok(indices)
}

/// An array and an index of it, and whether the array has a new first axis: a mask without axes selects along one.
fn masked(x: AnyOperand, parts: Vec<KeyPart>) -> (AnyOperand, Vec<KeyPart>, bool) {
    match <[KeyPart; 1]>::try_from(parts) {
        Ok([KeyPart::Array(mask)]) if mask.dtype == DType::Bool && mask.shape.rank() == 0 => {
            let operand = operation(|| ndjit::expand_dims(mask.operand, 0));
            let mask = ArrayKey { operand, dtype: DType::Bool, shape: Shape::from([1]) };
            (operation(|| ndjit::expand_dims(x, 0)), vec![KeyPart::Array(mask)], true)
        }
        Ok(parts) => (x, parts.into(), false),
        Err(parts) => (x, parts, false),
    }
}

/// Computes the indices, which are checked, without the lock of the interpreter.
fn compute_indices(py: Python<'_>, indices: &[Index]) -> PyResult<()> {
    for index in indices {
        if let Index::Elements(AnyOperand::Array(array)) = index {
            detached(py, || array.eval().map(drop))?.or_raise(py)?;
        }
    }
    Ok(())
}

/// The array of a result. What does not fit the axes is an `IndexError` here, whatever it is elsewhere.
fn indexed(py: Python<'_>, made: AnyOperand) -> PyResult<PyArray> {
    let error = match &made {
        AnyOperand::Array(array) => array.error().cloned(),
        AnyOperand::Expr(x) => TracedRef::of(*x).err(),
        AnyOperand::Scalar(_) => None,
    };
    match error {
        Some(error) if error.code() == ErrorCode::Shape => Err(raised_as(py, &error, ErrorCode::Index.name())),
        Some(error) => Err(raised(py, &error)),
        None => finish(py, made),
    }
}

/// What is put at an index: an operand, or a sequence.
fn updates(value: &Bound<'_, PyAny>) -> PyResult<AnyOperand> {
    match operand(value)? {
        Some(value) => Ok(value),
        None => Ok(elements::from_object(value, None, None)?.operand()),
    }
}

/// The array with other elements at an index.
fn put(
    x: &Bound<'_, PyArray>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    put: fn(At<AnyOperand>, AnyOperand) -> AnyOperand,
) -> PyResult<PyArray> {
    let py = x.py();
    let shape = x.get().extents(py)?;
    let value = updates(value)?;
    // As in NumPy several values are put at the elements of a mask one by one; one is put everywhere.
    let one = operand::shape(&value).rank() == 0;
    let (array, parts, expanded) = masked(x.get().operand(py)?, parts(key, &shape)?);
    let indices = indices(py, parts, one)?;
    compute_indices(py, &indices)?;
    let result = operation(|| put(dynamic::at(array, indices), value));
    indexed(py, if expanded { operation(|| ndjit::squeeze(result, 0)) } else { result })
}

#[pymethods]
impl PyArray {
    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<PyArray> {
        let x = self.operand(py)?;
        let parts = parts(key, &self.extents(py)?)?;
        if let Some(slices) = slices(&parts) {
            return indexed(py, operation(|| ndjit::slice(x, slices)));
        }
        for part in &parts {
            if let KeyPart::Array(mask) = part
                && mask.dtype == DType::Bool
                && let AnyOperand::Expr(mask) = mask.operand
            {
                return Err(no_elements(py, TracedRef::of(mask).or_raise(py)?, "a mask as an index", MASK));
            }
        }
        let (x, parts, _) = masked(x, parts);
        let indices = indices(py, parts, true)?;
        compute_indices(py, &indices)?;
        indexed(py, operation(|| dynamic::at::<AnyOperand>(x, indices).get()))
    }

    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let result = put(slf, key, value, At::<AnyOperand>::set)?;
        PyArray::rebind(slf, result)
    }

    /// Other arrays by changes at an index: `x.at[k].set(v)`, `.add`, `.subtract`, `.multiply`, `.divide`, `.min`, `.max`.
    #[getter]
    fn at(slf: &Bound<'_, Self>) -> ArrayAt {
        ArrayAt { array: slf.clone().unbind() }
    }
}

/// `x.at`, which an index follows.
#[pyclass(frozen, module = "ndjit")]
pub struct ArrayAt {
    array: Py<PyArray>,
}

#[pymethods]
impl ArrayAt {
    fn __getitem__(&self, py: Python<'_>, key: Py<PyAny>) -> ArrayAtIndex {
        ArrayAtIndex { array: self.array.clone_ref(py), key }
    }
}

/// `x.at[k]`.
#[pyclass(frozen, module = "ndjit")]
pub struct ArrayAtIndex {
    array: Py<PyArray>,
    key: Py<PyAny>,
}

macro_rules! puts {
    ($($name:ident $doc:literal;)*) => {
        #[pymethods]
        impl ArrayAtIndex {
            /// The elements at the index: `x[k]`.
            fn get(&self, py: Python<'_>) -> PyResult<PyArray> {
                self.array.get().__getitem__(py, self.key.bind(py))
            }

            $(
                #[doc = $doc]
                #[pyo3(signature = (value, /))]
                fn $name(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<PyArray> {
                    put(self.array.bind(py), self.key.bind(py), value, At::<AnyOperand>::$name)
                }
            )*
        }
    };
}

puts! {
    set "The array with these elements at the index; of two at the same place the later one stays.";
    add "The array with these numbers added at the index, once for each time that a place is named.";
    subtract "The array with these numbers subtracted at the index, once for each time that a place is named.";
    multiply "The array multiplied by these numbers at the index, once for each time that a place is named.";
    divide "The array divided by these numbers at the index, once for each time that a place is named.";
    min "The array with the smaller of its elements and these at the index.";
    max "The array with the larger of its elements and these at the index.";
}
