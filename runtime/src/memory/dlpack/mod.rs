//! [DLPack](https://dmlc.github.io/dlpack/latest/): arrays of other libraries in the same process, and arrays for them, without a copy.
//!
//! A [`ManagedTensor`] owns one tensor: its deleter runs once, when the last that uses the memory goes. The promises that C cannot
//! state are made where one is made of a pointer; all else is checked, and what does not hold is an error.

mod abi;
mod export;
mod import;

pub use abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor, IS_COPIED, READ_ONLY,
};
pub use import::Imported;

use export::hold;
use ndjit_ir::{Error, ErrorCode, Place, Result};
use std::fmt;
use std::ptr::NonNull;

/// A tensor of another library, or one for it. What owns it gives its memory back by dropping it. `Send + Sync`.
///
/// [`from_raw`](ManagedTensor::from_raw) takes one that a library gives; [`into_raw`](ManagedTensor::into_raw) gives one away.
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

// SAFETY: who makes one of a pointer promises that its deleter may be called on any thread; those made here own what is `Send + Sync`.
unsafe impl Send for ManagedTensor {}
// SAFETY: through a reference the structure is only read, which nobody writes.
unsafe impl Sync for ManagedTensor {}

#[track_caller]
fn null() -> Error {
    Error::new(ErrorCode::Argument, "the pointer to the tensor is null")
        .of("dlpack")
        .at(Place::caller())
        .help("a capsule of Python whose name begins with `used_` has given its tensor away; ask its array for another")
}

impl ManagedTensor {
    /// Takes over a tensor of DLPack 1.0 or later: of a Python capsule with the name `dltensor_versioned`, which is `used_dltensor_versioned`
    /// from then on.
    ///
    /// # Safety
    /// `tensor` is null or points to what the specification says of its version, and belongs to the caller, who does not use it any more.
    /// As long as the result lives, or an array that shares its memory:
    ///
    /// - extents and strides, if not null, are `ndim` numbers each;
    /// - elements of memory of the host are initialised, and nobody writes to them;
    /// - any thread may read them, and call the deleter.
    ///
    /// # Errors
    /// `Argument` if the pointer is null, or for a tensor of another major version, whose deleter has been called.
    #[track_caller]
    pub unsafe fn from_raw(tensor: *mut DLManagedTensorVersioned) -> Result<ManagedTensor> {
        let Some(pointer) = NonNull::new(tensor) else { return Err(null()) };
        let tensor = ManagedTensor(Raw::Versioned(pointer));
        // SAFETY: it points to a tensor by the caller's promise; its version is there in every version.
        let version = unsafe { (*pointer.as_ptr()).version };
        if version.major != DLPackVersion::CURRENT.major {
            let DLPackVersion { major, minor } = version;
            return Err(Error::new(ErrorCode::Argument, format!("a tensor of version {major}.{minor}"))
                .of("dlpack")
                .at(Place::caller())
                .fact(format_args!("tensors of version {}.x are read", DLPackVersion::CURRENT.major))
                .help("ask for that version where it comes from: in Python `x.__dlpack__(max_version=(1, 1))`"));
        }
        Ok(tensor)
    }

    /// Takes over a tensor without a version, as before DLPack 1.0: of a Python capsule with the name `dltensor`, which is `used_dltensor` from
    /// then on.
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

    /// Gives the tensor away: whoever gets it calls its deleter. One that came without a version goes with one.
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

    /// Gives the tensor away to a library that knows none with a version.
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
    /// `Argument` for memory that nobody may write to, which such a tensor cannot say; it has been given back.
    #[track_caller]
    pub fn into_raw_unversioned(self) -> Result<*mut DLManagedTensor> {
        if self.is_read_only() {
            let headline = "a tensor without a version cannot say that its memory is only read";
            return Err(Error::new(ErrorCode::Argument, headline)
                .of("dlpack")
                .at(Place::caller())
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

    /// The tensor: what its elements are, and where. Its pointers lead to what lives as long as this.
    pub fn dl_tensor(&self) -> &DLTensor {
        // SAFETY: the structure is there and not written as long as `self` lives, by the promise of who made it.
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

    /// Whether it says that nobody may write to its memory.
    pub fn is_read_only(&self) -> bool {
        self.flags() & READ_ONLY != 0
    }

    /// Whether it says that its memory is a copy that nobody else sees.
    pub fn is_copied(&self) -> bool {
        self.flags() & IS_COPIED != 0
    }
}

impl Drop for ManagedTensor {
    fn drop(&mut self) {
        // SAFETY: the tensor is this one's alone, and not used after; a deleter takes the pointer to its own structure.
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
