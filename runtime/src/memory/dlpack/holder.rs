//! The structures of tensors together with the owners of their memory.

use super::abi::{DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor};
use crate::panics::discard;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One of the two structures that own a tensor.
pub trait Managed: Sized + 'static {
    fn new(tensor: DLTensor, flags: u64, deleter: unsafe extern "C" fn(*mut Self)) -> Self;
    fn context(&mut self) -> &mut *mut c_void;
}

impl Managed for DLManagedTensorVersioned {
    fn new(dl_tensor: DLTensor, flags: u64, deleter: unsafe extern "C" fn(*mut Self)) -> Self {
        let (version, manager_ctx) = (DLPackVersion::CURRENT, std::ptr::null_mut());
        DLManagedTensorVersioned { version, manager_ctx, deleter: Some(deleter), flags, dl_tensor }
    }

    fn context(&mut self) -> &mut *mut c_void {
        &mut self.manager_ctx
    }
}

impl Managed for DLManagedTensor {
    fn new(dl_tensor: DLTensor, _flags: u64, deleter: unsafe extern "C" fn(*mut Self)) -> Self {
        DLManagedTensor { dl_tensor, manager_ctx: std::ptr::null_mut(), deleter: Some(deleter) }
    }

    fn context(&mut self) -> &mut *mut c_void {
        &mut self.manager_ctx
    }
}

/// A structure, and the owner of its data.
struct Holder<M, O> {
    managed: M,
    _owner: O,
}

/// A structure for a tensor whose data `owner` owns; its deleter drops the owner.
pub fn hold<M: Managed, O: Send + Sync + 'static>(tensor: DLTensor, flags: u64, owner: O) -> *mut M {
    /// # Safety
    /// `managed` is a result of `hold` for these types, and not used after.
    unsafe extern "C" fn delete<M: Managed, O>(managed: *mut M) {
        // SAFETY: the caller's promise: the context is the holder, leaked and without another owner.
        let holder = unsafe { Box::from_raw((*managed).context().cast::<Holder<M, O>>()) };
        // Unwinding across C functions is undefined.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(holder))).map_err(discard);
    }
    let managed = M::new(tensor, flags, delete::<M, O>);
    let holder = Box::into_raw(Box::new(Holder { managed, _owner: owner }));
    // SAFETY: the holder is fresh and unshared.
    unsafe {
        *(*holder).managed.context() = holder.cast();
        &raw mut (*holder).managed
    }
}
