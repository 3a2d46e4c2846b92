//! Memory shared with Python: the only file with `unsafe` code. A DLPack capsule owns its tensor until someone takes it, and
//! renames the capsule to say so. Results of calls may be written into NumPy's arrays.

#![deny(unsafe_op_in_unsafe_fn)]

use crate::error::{OrRaise, wrong};
use ndjit::dlpack::{DLManagedTensor, DLManagedTensorVersioned, ManagedTensor};
use ndjit::{Element, Kind};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict, PyType};
use std::ffi::CStr;
use std::ops::Range;

/// The host, as `__dlpack_device__` gives it: `kDLCPU`, and the device's number.
pub const HOST: (i32, i32) = (1, 0);

const VERSIONED: &CStr = c"dltensor_versioned";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";
const UNVERSIONED: &CStr = c"dltensor";
const USED_UNVERSIONED: &CStr = c"used_dltensor";

/// The pointer of a capsule with this name; `None` for another name.
///
/// # Safety
/// `capsule` is a capsule, and the thread holds the lock of the interpreter.
unsafe fn pointer<T>(capsule: *mut ffi::PyObject, name: &CStr) -> Option<*mut T> {
    // SAFETY: the caller's promise; the name ends with 0. Only of a valid name the pointer is asked for, so no exception is set.
    unsafe {
        match ffi::PyCapsule_IsValid(capsule, name.as_ptr()) {
            0 => None,
            _ => Some(ffi::PyCapsule_GetPointer(capsule, name.as_ptr()).cast()),
        }
    }
}

/// Releases the tensor of a capsule that nobody took.
unsafe extern "C" fn release(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this once for a capsule of `export`, with its lock held. By its name it still owns the tensor.
    unsafe {
        if let Some(tensor) = pointer::<DLManagedTensorVersioned>(capsule, VERSIONED) {
            drop(ManagedTensor::from_raw(tensor));
        } else if let Some(tensor) = pointer::<DLManagedTensor>(capsule, UNVERSIONED) {
            drop(ManagedTensor::from_raw_unversioned(tensor));
        }
    }
}

/// A capsule of a tensor.
pub fn export(py: Python<'_>, tensor: ManagedTensor, versioned: bool) -> PyResult<Bound<'_, PyAny>> {
    let (raw, name) = match versioned {
        true => (tensor.into_raw().cast(), VERSIONED),
        false => (tensor.into_raw_unversioned().or_raise(py)?.cast(), UNVERSIONED),
    };
    // SAFETY: the pointer is not null, the name is static, and the result is a new reference or null with an exception set. `release`
    // is called where the capsule dies with this name.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(raw, name.as_ptr(), Some(release))) }
}

/// Whether an object is of NumPy's class itself, which says the truth about its memory.
pub fn is_ndarray(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    static NDARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    Ok(x.get_type().is(NDARRAY.import(x.py(), "numpy", "ndarray")?))
}

/// Takes the tensor out of a capsule.
fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<ManagedTensor> {
    let py = capsule.py();
    let raw = capsule.as_ptr();
    // SAFETY: the lock is held. The name says that the capsule owns a tensor of this kind; the new name, that this function took it. The
    // exporter promises what DLPack says of a tensor's fields. That nobody writes to the memory is what `from_dlpack` and
    // `asarray(copy=False)` ask of their user; other callers copy, or finish reading before they return, or the tensor is read-only.
    unsafe {
        if let Some(tensor) = pointer(raw, VERSIONED) {
            ffi::PyCapsule_SetName(raw, USED_VERSIONED.as_ptr());
            return ManagedTensor::from_raw(tensor).or_raise(py);
        }
        if let Some(tensor) = pointer(raw, UNVERSIONED) {
            ffi::PyCapsule_SetName(raw, USED_UNVERSIONED.as_ptr());
            return ManagedTensor::from_raw_unversioned(tensor).or_raise(py);
        }
    }
    Err(PyTypeError::new_err("the capsule holds no tensor, or it was taken before"))
}

/// The tensor of an object with `__dlpack__`.
pub fn import(x: &Bound<'_, PyAny>) -> PyResult<ManagedTensor> {
    let py = x.py();
    let device: (i32, i32) = x.call_method0(intern!(py, "__dlpack_device__"))?.extract()?;
    if device == HOST {
        return import_host(x);
    }
    // Some exporters copy to the host where it is asked for.
    let options = PyDict::new(py);
    options.set_item("max_version", (1, 1))?;
    options.set_item("dl_device", HOST)?;
    taken(&x.call_method(intern!(py, "__dlpack__"), (), Some(&options))?)
}

/// The tensor of an object with `__dlpack__` on the host.
pub fn import_host(x: &Bound<'_, PyAny>) -> PyResult<ManagedTensor> {
    static OPTIONS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let py = x.py();
    let options = OPTIONS.get_or_try_init(py, || -> PyResult<Py<PyDict>> {
        let options = PyDict::new(py);
        options.set_item("max_version", (1, 1))?;
        Ok(options.unbind())
    })?;
    match x.call_method(intern!(py, "__dlpack__"), (), Some(options.bind(py))) {
        // An exporter of before version 1 takes no version.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => taken(&x.call_method0("__dlpack__")?),
        capsule => taken(&capsule?),
    }
}

fn taken(capsule: &Bound<'_, PyAny>) -> PyResult<ManagedTensor> {
    match capsule.cast::<PyCapsule>() {
        Ok(capsule) => take(capsule),
        Err(_) => Err(PyBufferError::new_err("`__dlpack__` gave no capsule")),
    }
}

/// The addresses of a tensor's elements, from the lowest to the highest.
pub fn addresses(tensor: &ManagedTensor) -> Range<usize> {
    let tensor = tensor.dl_tensor();
    let bytes = usize::from(tensor.dtype.bits).div_ceil(8) * usize::from(tensor.dtype.lanes);
    let (mut low, mut high) = (tensor.data.addr().wrapping_add(tensor.byte_offset as usize), bytes);
    high = high.wrapping_add(low);
    let mut step = 1;
    for axis in (0..usize::try_from(tensor.ndim).unwrap_or(0)).rev() {
        // SAFETY: a tensor has `ndim` extents, and as many strides unless they are null, as its importer was promised.
        let (extent, stride) = unsafe {
            let extent = *tensor.shape.add(axis);
            (extent, if tensor.strides.is_null() { step } else { *tensor.strides.add(axis) })
        };
        step = step.wrapping_mul(extent);
        if extent <= 0 {
            return 0..0;
        }
        let reach = (extent - 1).wrapping_mul(stride).unsigned_abs() as usize * bytes;
        if stride < 0 { low = low.wrapping_sub(reach) } else { high = high.wrapping_add(reach) }
    }
    low..high
}

/// Calls `write` with the elements of NumPy's array `into`, if it has this type and shape, is writable, in row-major order, and
/// shares no byte with the memory that is `read` meanwhile.
pub fn with_elements<T: Element, R>(
    into: &Bound<'_, PyAny>,
    shape: &[usize],
    read: &[Range<usize>],
    write: impl FnOnce(&mut [T]) -> R,
) -> PyResult<Option<R>> {
    if !is_ndarray(into)? {
        return Ok(None);
    }
    let interface = into.getattr(intern!(into.py(), "__array_interface__"))?.cast_into::<PyDict>()?;
    let item = |name: &str| interface.get_item(name)?.ok_or_else(|| wrong(format!("an array without {name}")));
    let (address, is_read_only): (usize, bool) = item("data")?.extract()?;
    let (own, ty): (Vec<usize>, String) = (item("shape")?.extract()?, item("typestr")?.extract()?);
    let first: *mut T = std::ptr::with_exposed_provenance_mut(address);
    // A byte of NumPy's may be an invalid bool. Elements of the other byte order have another type.
    let fits = T::DTYPE.kind() != Kind::Bool
        && cfg!(target_endian = "little")
        && T::DTYPE.row().npy == Some(&*ty)
        && own == shape
        && item("strides")?.is_none()
        && !is_read_only
        && first.is_aligned();
    let size: usize = shape.iter().product();
    let end = address.saturating_add(size.saturating_mul(size_of::<T>()));
    let is_read = read.iter().any(|read| read.start < end && address < read.end);
    if !fits || is_read || size == 0 {
        return Ok(None);
    }
    // SAFETY: NumPy's array has `size` elements of this type from there on, contiguous, aligned and writable, as checked, and any
    // bytes are a value of a number. `into`, of the class `ndarray` itself, holds them until the end of this call. What is read
    // meanwhile is elsewhere, as checked; as for NumPy's own functions, other threads of the user that access them are the user's error.
    Ok(Some(write(unsafe { std::slice::from_raw_parts_mut(first, size) })))
}
