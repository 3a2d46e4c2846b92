//! wgpu's objects, shared between threads.
//!
//! They are `Send` and `Sync`, but the proof exceeds the compiler's recursion limit in every crate that moves an array to another
//! thread. Here it is done once.

use std::ops::Deref;

/// An object of wgpu's.
#[derive(Clone, Debug)]
pub struct Shared<T>(T);

impl<T> From<T> for Shared<T> {
    fn from(object: T) -> Shared<T> {
        Shared(object)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

const fn is_shareable<T: Send + Sync>() {}

macro_rules! shareable {
    ($($object:ident)*) => {$(
        const _: () = is_shareable::<wgpu::$object>();
        // SAFETY: as just proved.
        unsafe impl Send for Shared<wgpu::$object> {}
        // SAFETY: as just proved.
        unsafe impl Sync for Shared<wgpu::$object> {}
    )*};
}

shareable!(Device Queue Buffer ComputePipeline BindGroupLayout);
