//! [DLPack](https://dmlc.github.io/dlpack/latest/): arrays of other libraries in the same process, and arrays for them, without a copy.
//!
//! A [`ManagedTensor`] owns one tensor: its deleter runs once, after the last use of the memory. The conditions that C cannot express are
//! safety conditions of its constructors; everything else is checked, and violations are errors.

mod abi;
mod export;
mod holder;
mod import;

pub use abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor, IS_COPIED, READ_ONLY,
};
pub use import::Imported;

use holder::hold;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};
use std::fmt;
use std::ptr::NonNull;

/// A tensor from another library, or for one. Dropping it releases the memory. `Send + Sync`.
///
/// [`from_raw`](ManagedTensor::from_raw) imports a tensor; [`into_raw`](ManagedTensor::into_raw) exports one.
///
/// ```
/// use ndjit_runtime::dlpack::ManagedTensor;
///
/// let tensor = ManagedTensor::from_owner(vec![1.0f32, 2.0, 3.0], [3])?;
/// let pointer = tensor.into_raw(); // to a library that reads `DLManagedTensorVersioned`
/// // SAFETY: it is what `into_raw` gave, and nobody else uses it.
/// let tensor = unsafe { ManagedTensor::from_raw(pointer) }?;
/// assert_eq!((tensor.dl_tensor().ndim, tensor.is_read_only()), (1, true));
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
pub struct ManagedTensor(Raw);

#[derive(Clone, Copy)]
enum Raw {
    Versioned(NonNull<DLManagedTensorVersioned>),
    Unversioned(NonNull<DLManagedTensor>),
}

// SAFETY: the constructors from pointers require that the deleter may be called on any thread; owners of other tensors are `Send + Sync`.
unsafe impl Send for ManagedTensor {}
// SAFETY: a reference only reads the structure, which nobody writes.
unsafe impl Sync for ManagedTensor {}

#[track_caller]
fn null() -> Error {
    Error::new(ErrorCode::Argument, "the pointer to the tensor is null")
        .of("dlpack")
        .at(SourceLoc::caller())
        .help("a capsule of Python whose name begins with `used_` has given its tensor away; ask its array for another")
}

impl ManagedTensor {
    /// Takes ownership of a tensor of DLPack 1.0 or later: of a Python capsule with the name `dltensor_versioned`, which must then be
    /// renamed `used_dltensor_versioned`.
    ///
    /// # Safety
    /// `tensor` is null or points to a structure that conforms to the specification of its version. The caller owns it and does not use it
    /// afterwards. During the lifetime of the result, and of arrays that share its memory:
    ///
    /// - extents and strides, if not null, are `ndim` integers each;
    /// - elements of host memory are initialised, and nobody writes to them;
    /// - any thread may read them, and call the deleter.
    ///
    /// # Errors
    /// `Argument` if the pointer is null, or for a tensor of another major version, whose deleter has been called.
    #[track_caller]
    pub unsafe fn from_raw(tensor: *mut DLManagedTensorVersioned) -> Result<ManagedTensor> {
        let Some(pointer) = NonNull::new(tensor) else { return Err(null()) };
        let tensor = ManagedTensor(Raw::Versioned(pointer));
        // SAFETY: it points to a tensor by the caller's promise; every version has this field.
        let version = unsafe { (*pointer.as_ptr()).version };
        if version.major != DLPackVersion::CURRENT.major {
            let DLPackVersion { major, minor } = version;
            return Err(Error::new(ErrorCode::Argument, format!("a tensor of version {major}.{minor}"))
                .of("dlpack")
                .at(SourceLoc::caller())
                .fact(format_args!("tensors of version {}.x are read", DLPackVersion::CURRENT.major))
                .help("ask for that version where it comes from: in Python `x.__dlpack__(max_version=(1, 1))`"));
        }
        Ok(tensor)
    }

    /// Takes ownership of a tensor without a version, as before DLPack 1.0: of a Python capsule with the name `dltensor`, which must then
    /// be renamed `used_dltensor`.
    ///
    /// ```
    /// use ndjit_runtime::dlpack::ManagedTensor;
    ///
    /// // SAFETY: the pointer is null.
    /// assert!(unsafe { ManagedTensor::from_raw_unversioned(std::ptr::null_mut()) }.is_err());
    /// ```
    ///
    /// # Safety
    /// That of [`from_raw`](ManagedTensor::from_raw).
    ///
    /// # Errors
    /// `Argument` if the pointer is null.
    #[track_caller]
    pub unsafe fn from_raw_unversioned(tensor: *mut DLManagedTensor) -> Result<ManagedTensor> {
        match NonNull::new(tensor) {
            Some(pointer) => Ok(ManagedTensor(Raw::Unversioned(pointer))),
            None => Err(null()),
        }
    }

    /// Exports the tensor: the receiver calls its deleter. A tensor imported without a version gets one.
    ///
    /// ```
    /// use ndjit_runtime::dlpack::ManagedTensor;
    ///
    /// let pointer = ManagedTensor::from_owner(vec![1u8; 4], [2, 2])?.into_raw();
    /// // SAFETY: it points to a tensor that nobody else has; its deleter is called once.
    /// unsafe {
    ///     assert_eq!(((*pointer).version.major, (*pointer).dl_tensor.ndim), (1, 2));
    ///     if let Some(deleter) = (*pointer).deleter {
    ///         deleter(pointer);
    ///     }
    /// }
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    #[must_use = "its memory is given back by its deleter alone"]
    pub fn into_raw(self) -> *mut DLManagedTensorVersioned {
        match self.0 {
            Raw::Versioned(pointer) => {
                std::mem::forget(self);
                pointer.as_ptr()
            }
            Raw::Unversioned(_) => hold(*self.dl_tensor(), 0, self),
        }
    }

    /// Exports the tensor to a library without support of versions.
    ///
    /// ```
    /// use ndjit_runtime::dlpack::ManagedTensor;
    ///
    /// // Nothing tells such a library that it may not write there.
    /// let tensor = ManagedTensor::from_owner(vec![1u8; 4], [4])?;
    /// assert!(tensor.into_raw_unversioned().is_err());
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` for read-only memory, which such a tensor cannot express; the tensor is released.
    #[track_caller]
    pub fn into_raw_unversioned(self) -> Result<*mut DLManagedTensor> {
        if self.is_read_only() {
            let headline = "a tensor without a version cannot say that its memory is only read";
            return Err(Error::new(ErrorCode::Argument, headline)
                .of("dlpack")
                .at(SourceLoc::caller())
                .help("give a tensor with a version, or a copy: `x.to_dlpack(true)`"));
        }
        match self.0 {
            Raw::Unversioned(pointer) => {
                std::mem::forget(self);
                Ok(pointer.as_ptr())
            }
            Raw::Versioned(_) => Ok(hold(*self.dl_tensor(), 0, self)),
        }
    }

    /// The tensor: type and memory of its elements. Its pointers are valid during this lifetime.
    pub fn dl_tensor(&self) -> &DLTensor {
        // SAFETY: the structure is valid and not written during the lifetime of `self`, by the constructor's promise.
        unsafe {
            match self.0 {
                Raw::Versioned(pointer) => &(*pointer.as_ptr()).dl_tensor,
                Raw::Unversioned(pointer) => &(*pointer.as_ptr()).dl_tensor,
            }
        }
    }

    /// The version, if it has one.
    pub fn version(&self) -> Option<DLPackVersion> {
        match self.0 {
            // SAFETY: as in `dl_tensor`.
            Raw::Versioned(pointer) => Some(unsafe { (*pointer.as_ptr()).version }),
            Raw::Unversioned(_) => None,
        }
    }

    fn flags(&self) -> u64 {
        match self.0 {
            // SAFETY: as in `dl_tensor`.
            Raw::Versioned(pointer) => unsafe { (*pointer.as_ptr()).flags },
            Raw::Unversioned(_) => 0,
        }
    }

    /// Whether its flags say that the memory is read-only.
    pub fn is_read_only(&self) -> bool {
        self.flags() & READ_ONLY != 0
    }

    /// Whether its flags say that the memory is an unshared copy.
    pub fn is_copied(&self) -> bool {
        self.flags() & IS_COPIED != 0
    }
}

impl Drop for ManagedTensor {
    fn drop(&mut self) {
        // SAFETY: this is the only owner, and does not use the tensor after; a deleter takes the pointer to its own structure.
        unsafe {
            match self.0 {
                Raw::Versioned(pointer) => {
                    if let Some(deleter) = (*pointer.as_ptr()).deleter {
                        deleter(pointer.as_ptr());
                    }
                }
                Raw::Unversioned(pointer) => {
                    if let Some(deleter) = (*pointer.as_ptr()).deleter {
                        deleter(pointer.as_ptr());
                    }
                }
            }
        }
    }
}

impl fmt::Debug for ManagedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DLTensor { dtype, device, ndim, .. } = self.dl_tensor();
        write!(f, "ManagedTensor({dtype} of {ndim} axes on {device})")
    }
}
