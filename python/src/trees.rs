//! Structures of Python: tuples, lists, dicts, `None`, named tuples, dataclasses and registered classes, around leaves. A structure is
//! a list of numbers, so that the engine's cache of signatures compares it.

use crate::array::PyArray;
use crate::error::{wrong, wrong_type};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyTuple};

/// The parts of a structure, each followed by its numbers.
const LEAF: usize = 0;
const NONE: usize = 1;
/// A length.
const TUPLE: usize = 2;
const LIST: usize = 3;
/// The number of the keys, sorted where they have an order.
const DICT: usize = 4;
/// The number of a class with what it keeps beside its children, and their number.
const NODE: usize = 5;

/// The deepest nesting.
const DEEPEST: usize = 128;

/// Objects by number, for the whole process: keys of dicts, and classes.
struct InternedObjects {
    numbers: Py<PyDict>,
    objects: Py<PyList>,
}

fn interned(py: Python<'_>) -> &'static InternedObjects {
    static INTERNED: PyOnceLock<InternedObjects> = PyOnceLock::new();
    INTERNED
        .get_or_init(py, || InternedObjects { numbers: PyDict::new(py).unbind(), objects: PyList::empty(py).unbind() })
}

/// An object with a hash, with the types of all in it: `1`, `1.0` and `True` are equal, and traced apart, in tuples, too. Of other
/// containers, and of zeros, which differ by their signs, the text is compared as well.
pub fn typed_key<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    typed_key_at(x, 0)
}

fn typed_key_at<'py>(x: &Bound<'py, PyAny>, depth: usize) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let class = x.get_type();
    if x.is_instance_of::<PyTuple>() && depth < DEEPEST {
        let parts = x.try_iter()?.map(|part| typed_key_at(&part?, depth + 1)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyTuple::new(py, [class.into_any(), x.clone(), PyTuple::new(py, parts)?.into_any()])?.into_any());
    }
    if x.is_instance_of::<PyFloat>() || x.is_instance_of::<PyComplex>() || x.is_instance_of::<PyFrozenSet>() {
        return Ok(PyTuple::new(py, [class.into_any(), x.clone(), x.repr()?.into_any()])?.into_any());
    }
    if depth < DEEPEST
        && x.hasattr("__dataclass_fields__")?
        && let Some((class, aux, children)) = opened(x)?
    {
        // An instance has a hash of its own, which its fields may lack.
        let parts = typed_key_at(PyTuple::new(py, [aux, children.into_any()])?.as_any(), depth + 1)?;
        if parts.hash().is_ok() {
            return Ok(PyTuple::new(py, [class.into_any(), x.clone(), parts])?.into_any());
        }
    }
    Ok(PyTuple::new(py, [class.into_any(), x.clone()])?.into_any())
}

/// The number of an object with a hash.
fn number(object: &Bound<'_, PyAny>) -> PyResult<usize> {
    let py = object.py();
    let interned = interned(py);
    let numbers = interned.numbers.bind(py);
    let key = typed_key(object)?;
    if let Some(known) = numbers.get_item(&key)? {
        return known.extract();
    }
    let objects = interned.objects.bind(py);
    // No other thread runs between these lines.
    let number = objects.len();
    objects.append(object)?;
    numbers.set_item(key, number)?;
    Ok(number)
}

fn object(py: Python<'_>, number: usize) -> PyResult<Bound<'_, PyAny>> {
    interned(py).objects.bind(py).get_item(number)
}

/// What a front end does with the leaves of a structure.
pub trait LeafVisitor<'py> {
    /// Takes a leaf. An object that is none is an exception.
    fn leaf(&mut self, x: &Bound<'py, PyAny>) -> PyResult<()>;
}

/// Appends the structure of an object, and gives its leaves away.
pub fn flatten<'py>(x: &Bound<'py, PyAny>, code: &mut Vec<usize>, leaves: &mut impl LeafVisitor<'py>) -> PyResult<()> {
    flatten_at(x, code, leaves, 0)
}

fn flatten_at<'py>(
    x: &Bound<'py, PyAny>,
    code: &mut Vec<usize>,
    leaves: &mut impl LeafVisitor<'py>,
    depth: usize,
) -> PyResult<()> {
    if depth > DEEPEST {
        return Err(wrong(format!("a structure is more than {DEEPEST} deep; does it hold itself?")));
    }
    let mut each = |code: &mut Vec<usize>, x: &Bound<'py, PyAny>| flatten_at(x, code, leaves, depth + 1);
    if let Ok(tuple) = x.cast_exact::<PyTuple>() {
        code.extend([TUPLE, tuple.len()]);
        return tuple.iter_borrowed().try_for_each(|x| each(code, &x));
    }
    if let Ok(list) = x.cast_exact::<PyList>() {
        code.extend([LIST, list.len()]);
        return list.iter().try_for_each(|x| each(code, &x));
    }
    if x.is_none() {
        code.push(NONE);
        return Ok(());
    }
    if let Ok(dict) = x.cast_exact::<PyDict>() {
        let keys = dict.keys();
        // Keys without a common order stay in theirs.
        let _ = keys.sort();
        code.extend([DICT, number(keys.to_tuple().as_any())?]);
        for key in keys {
            let value = dict.get_item(&key)?;
            each(code, &value.ok_or_else(|| wrong("a dict changed while it was read"))?)?;
        }
        return Ok(());
    }
    let plain =
        x.is_exact_instance_of::<PyArray>() || x.is_exact_instance_of::<PyFloat>() || x.is_exact_instance_of::<PyInt>();
    if !plain && let Some((class, aux, children)) = opened(x)? {
        let kept = PyTuple::new(x.py(), [class.into_any(), aux.clone()])?;
        let kept = number(kept.as_any()).map_err(|error| {
            match error.is_instance_of::<pyo3::exceptions::PyTypeError>(x.py()) {
                true => wrong_type(format!("what a structure keeps beside its children has no hash: {aux:?}")),
                false => error,
            }
        })?;
        code.extend([NODE, kept, children.len()]);
        return children.iter().try_for_each(|x| each(code, &x));
    }
    code.push(LEAF);
    leaves.leaf(x)
}

type Opened<'py> = (Bound<'py, pyo3::types::PyType>, Bound<'py, PyAny>, Bound<'py, PyTuple>);

/// The class, what is kept, and the children of an instance of a class that is a structure.
fn opened<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Opened<'py>>> {
    let class = x.get_type();
    let Some(handler) = handler(&class)? else { return Ok(None) };
    let opened = handler.get_item(0)?.call1((x,))?;
    let (children, aux): (Bound<'py, PyAny>, Bound<'py, PyAny>) = opened.extract()?;
    let children = match children.cast_into::<PyTuple>() {
        Ok(children) => children,
        Err(other) => PyTuple::new(x.py(), other.into_inner().try_iter()?.collect::<PyResult<Vec<_>>>()?)?,
    };
    Ok(Some((class, aux, children)))
}

/// The functions of a class that is a structure: one opens an instance, one makes one.
fn handler<'py>(class: &Bound<'py, pyo3::types::PyType>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    static HANDLERS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    static FIND: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = class.py();
    let module = || py.import("ndjit.tree");
    let handlers = HANDLERS.get_or_try_init(py, || -> PyResult<Py<PyDict>> {
        Ok(module()?.getattr("_HANDLERS")?.cast_into::<PyDict>()?.unbind())
    })?;
    let found = match handlers.bind(py).get_item(class)? {
        Some(found) => found,
        None => {
            let find =
                FIND.get_or_try_init(py, || -> PyResult<Py<PyAny>> { Ok(module()?.getattr("_handler")?.unbind()) })?;
            find.bind(py).call1((class,))?
        }
    };
    if found.is_none() { Ok(None) } else { Ok(Some(found.cast_into::<PyTuple>()?)) }
}

/// Builds the object of a structure from its leaves.
pub fn unflatten<'py>(
    py: Python<'py>,
    code: &mut &[usize],
    leaf: &mut impl FnMut() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut next = || -> PyResult<usize> {
        let (&first, rest) = code.split_first().ok_or_else(|| wrong("a structure ends too early"))?;
        *code = rest;
        Ok(first)
    };
    let part = next()?;
    match part {
        LEAF => return leaf(),
        NONE => return Ok(py.None().into_bound(py)),
        _ => {}
    }
    let first = next()?;
    let count = match part {
        DICT => object(py, first)?.len()?,
        NODE => next()?,
        _ => first,
    };
    let mut children = Vec::with_capacity(count.min(code.len()));
    for _ in 0..count {
        children.push(unflatten(py, code, leaf)?);
    }
    match part {
        TUPLE => Ok(PyTuple::new(py, children)?.into_any()),
        LIST => Ok(PyList::new(py, children)?.into_any()),
        DICT => {
            let dict = PyDict::new(py);
            for (key, value) in object(py, first)?.try_iter()?.zip(children) {
                dict.set_item(key?, value)?;
            }
            Ok(dict.into_any())
        }
        _ => {
            let (class, aux): (Bound<'py, pyo3::types::PyType>, Bound<'py, PyAny>) = object(py, first)?.extract()?;
            let handler = handler(&class)?.ok_or_else(|| wrong_type("a class is no structure any more"))?;
            handler.get_item(1)?.call1((aux, PyTuple::new(py, children)?))
        }
    }
}

struct ListedLeaves<'py>(Bound<'py, PyList>);

impl<'py> LeafVisitor<'py> for ListedLeaves<'py> {
    fn leaf(&mut self, x: &Bound<'py, PyAny>) -> PyResult<()> {
        self.0.append(x)
    }
}

/// The leaves of a structure, and the structure, which `_unflatten` takes.
#[pyfunction]
pub fn _flatten<'py>(x: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyTuple>)> {
    let (mut code, mut listed) = (Vec::new(), ListedLeaves(PyList::empty(x.py())));
    flatten(x, &mut code, &mut listed)?;
    Ok((listed.0, PyTuple::new(x.py(), code)?))
}

/// The object of a structure with these leaves.
#[pyfunction]
pub fn _unflatten<'py>(
    py: Python<'py>,
    structure: Vec<usize>,
    leaves: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut leaves = leaves.try_iter()?;
    let mut leaf = || leaves.next().ok_or_else(|| wrong("a structure has more leaves than are given"))?;
    let made = unflatten(py, &mut &structure[..], &mut leaf)?;
    match leaves.next() {
        None => Ok(made),
        Some(_) => Err(wrong("a structure has fewer leaves than are given")),
    }
}
