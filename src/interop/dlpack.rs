//! Exchange of arrays with other libraries in the process, without a copy, through
//! [DLPack](https://dmlc.github.io/dlpack/latest/), the protocol of NumPy, PyTorch, JAX, CuPy and others.
//!
//! A [`ManagedTensor`] is an array in exchange. [`ManagedTensor::from_raw`], which is unsafe, takes the pointer of
//! another library, as in a Python capsule; [`ManagedTensor::into_raw`] returns the pointer for one.
//! [`ManagedTensor::from_owner`] creates a tensor safely from memory owned by any Rust value.
//!
//! ```
//! use ndjit::dlpack::ManagedTensor;
//! use ndjit::{from_dlpack, sum};
//! use std::sync::Arc;
//!
//! // Memory that others read too.
//! let elements: Arc<[f32]> = Arc::from([1.0, 2.0, 3.0, 4.0]);
//! let x = from_dlpack(ManagedTensor::from_owner(elements, [2, 2])?, None, false)?;
//! assert_eq!(sum(&x, 0).to_vec::<f32>()?, [4.0, 6.0]);
//!
//! // To another library, and back from it.
//! let pointer = x.to_dlpack(None)?.into_raw();
//! // SAFETY: the pointer owns its tensor.
//! let tensor = unsafe { ManagedTensor::from_raw(pointer) }?;
//! assert_eq!(from_dlpack(tensor, None, None)?.to_string(), "[[1. 2.]\n [3. 4.]]");
//! # Ok::<(), ndjit::Error>(())
//! ```

use crate::array::node::Array;
use ndjit_eval::array::ArrayRef;
use ndjit_ir::support::Device;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};
#[doc(inline)]
pub use ndjit_runtime::dlpack::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor, IS_COPIED, ManagedTensor,
    READ_ONLY,
};
use ndjit_runtime::{Buffer, Memory};
use std::sync::Arc;

/// Creates an array from a tensor of another library. The array shares the tensor's memory, which is released with the
/// last array that uses it. The memory is never written to, even if the array is [donated](Array::donate).
///
/// ```
/// use ndjit::dlpack::ManagedTensor;
/// use ndjit::{ErrorCode, from_dlpack};
///
/// let tensor = ManagedTensor::from_owner(vec![1, 2, 3, 4], [2, 2])?;
/// let x = from_dlpack(tensor, None, None)?;
/// assert_eq!((&x + 1).to_string(), "[[2 3]\n [4 5]]");
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - `device`: the device of the array, [`Device::CPU`] for `None`. On another device it is a copy.
/// - `copy`: `true` for a copy, `false` for none, `None` for a copy if needed: if the elements have gaps or are not
///   aligned. Permuted, flipped and broadcast axes and overlapping windows need no copy.
/// - Result: strong, of any dtype; `f16`, `bf16` and complex numbers are those of DLPack.
///
/// Source: the
/// [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.from_dlpack.html).
///
/// # Errors
/// `DType` for other element types, such as floats of 8 bits or several lanes; `Device` for memory outside the host, or
/// a device that cannot be opened; `Shape` for negative extents and more than 64 axes; `Size` for elements beyond the
/// address space; `Argument` if the tensor has no memory, a bool is neither 0 nor 1, or a copy is needed and `copy` is
/// `false`; `Allocation` if an allocation fails.
#[doc(alias = "capsule")]
#[track_caller]
pub fn from_dlpack(
    x: ManagedTensor,
    device: impl Into<Option<Device>>,
    copy: impl Into<Option<bool>>,
) -> Result<Array> {
    let place = SourceLoc::caller();
    let (device, copy) = (device.into().unwrap_or(Device::CPU), copy.into());
    imported(x, device, copy).map_err(|error| error.unnamed().of("from_dlpack").at(place))
}

fn imported(x: ManagedTensor, device: Device, copy: Option<bool>) -> Result<Array> {
    if device != Device::CPU && copy == Some(false) {
        return Err(no_copy("dlpack", format_args!("the tensor is in the host's memory, and {device} is asked for")));
    }
    let imported = x.import(copy)?;
    let array = Array(ArrayRef::laid_out(imported.dtype, imported.shape, imported.buffer, imported.layout)).on(device);
    array.error().cloned().map_or(Ok(array), Err)
}

fn no_copy(what: &str, fact: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::Argument, "elements must be copied to another device")
        .of(what)
        .fact(fact)
        .help("ask for a copy where one is needed, with `None`")
}

/// Export to other libraries.
impl Array {
    /// Exports the array as a tensor, which another library may read at any later time. Pending operations run first.
    /// Without a copy, the tensor is read-only and marked as such.
    ///
    /// ```
    /// use ndjit::{Array, from_dlpack};
    ///
    /// let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]);
    /// let transposed = x.mt().to_dlpack(None)?;
    /// assert!(transposed.is_read_only());
    /// assert_eq!(from_dlpack(transposed, None, false)?.to_vec::<f32>()?, [1.0, 3.0, 2.0, 4.0]);
    /// // A copy is the library's own, to write to.
    /// assert!(!x.to_dlpack(true)?.is_read_only());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// `copy`: `true` for a copy in row-major order, `false` for none, `None` for a copy if needed: from a GPU. Dtype
    /// and strides are those of the array. This is `__dlpack__` of the
    /// [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.array.__dlpack__.html).
    ///
    /// # Errors
    /// Those of [`eval`](Array::eval); `Argument` if a copy is needed and `copy` is `false`.
    #[track_caller]
    pub fn to_dlpack(&self, copy: impl Into<Option<bool>>) -> Result<ManagedTensor> {
        let place = SourceLoc::caller();
        self.exported(copy.into()).map_err(|error| error.at(place))
    }

    /// Exports the array as a tensor that its receiver may write to, without a copy if nothing else shares the elements,
    /// and they are the library's own and in row-major order. Pending operations run first.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let (x, y) = (Array::from([1.0f32, 2.0]), Array::from([3.0f32, 4.0]));
    /// let address = x.to_dlpack(None)?.dl_tensor().data.addr();
    /// let own = x.into_dlpack()?;
    /// assert!(own.dl_tensor().data.addr() == address && !own.is_read_only());
    /// // The elements of an array with a clone are copied.
    /// let shared = y.clone().into_dlpack()?;
    /// assert!(shared.dl_tensor().data.addr() != y.to_dlpack(None)?.dl_tensor().data.addr());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`eval`](Array::eval); `Allocation` if a copy cannot be allocated.
    #[track_caller]
    pub fn into_dlpack(self) -> Result<ManagedTensor> {
        let place = SourceLoc::caller();
        self.given_away().map_err(|error| error.at(place))
    }

    fn given_away(self) -> Result<ManagedTensor> {
        let (dtype, shape) = (self.dtype(), self.shape().clone());
        let elements = self.elements()?;
        let buffer = match &elements.memory {
            Memory::Host(buffer) if elements.layout.is_none() => Arc::clone(buffer),
            _ => return self.exported(Some(true)),
        };
        drop(self);
        let own = match Arc::try_unwrap(buffer) {
            // Memory of another library is not writable.
            Ok(mut own) => match own.as_bytes_mut() {
                Ok(_) => own,
                Err(_) => Buffer::from_bytes(own.as_bytes())?,
            },
            Err(shared) => Buffer::from_bytes(shared.as_bytes())?,
        };
        ManagedTensor::owned(own, dtype, &shape)
    }

    fn exported(&self, copy: Option<bool>) -> Result<ManagedTensor> {
        let (dtype, shape) = (self.dtype(), self.shape());
        match (&self.elements()?.memory, copy) {
            (Memory::Host(buffer), None | Some(false)) => {
                ManagedTensor::shared(Arc::clone(buffer), dtype, shape, &self.0.memory_layout()?)
            }
            (Memory::Device(_), Some(false)) => Err(no_copy(
                "to_dlpack",
                format_args!("the array is on {}, tensors are in the host's memory", self.device()),
            )),
            (_, None | Some(true)) => {
                let copy = Buffer::from_bytes(self.buffer()?.as_bytes())?;
                ManagedTensor::owned(copy, dtype, shape)
            }
        }
    }
}
