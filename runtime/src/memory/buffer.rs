//! Memory of array elements: initialised bytes, from the pool, from a `Vec`, or shared with another library.
//!
//! Invariant: every byte of a [`Buffer`] is initialised. Uninitialised memory is a `Writable`, which exposes no bytes and becomes a buffer
//! by an unsafe promise that all of them have been written.

use crate::memory::block::{ALIGN, Block};
use crate::memory::dlpack::ManagedTensor;
use crate::memory::element::{Element, bytes_of};
#[cfg(feature = "mapped")]
use crate::memory::mapping::Mapping;
use crate::memory::pod;
use crate::memory::pool;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

/// The maximum number of bytes of a `Vec` that are moved to aligned memory: those that fit a processor's caches. An unaligned 64-byte
/// vector takes two reads of the first-level cache; of 100,000 `f32` from the system's allocator, which aligns to 16 bytes, a sum of
/// squared differences took 13.3 µs on a Xeon, and 7.2 of aligned ones. Beyond the caches there is no difference.
pub const MOVED: usize = 1 << 20;

/// A block of memory for array elements, shared by `Arc`. `Send + Sync`; its bytes change only through `&mut`.
pub struct Buffer {
    ptr: NonNull<u8>,
    bytes: usize,
    owner: Owner,
}

/// The origin of the memory.
enum Owner {
    Pool(ManuallyDrop<Block>),
    /// A `Vec` of elements of `dtype` with this capacity.
    Vec {
        dtype: DType,
        capacity: usize,
        free: unsafe fn(NonNull<u8>, usize),
    },
    /// A part of a file, unmapped when this is dropped.
    #[cfg(feature = "mapped")]
    Mapped(ManuallyDrop<Mapping>),
    /// Read-only memory of another library. Released when this is dropped.
    Foreign(ManagedTensor),
}

// SAFETY: a buffer owns its memory, which came from the global allocator, or from another library for use on any thread; elements are
// `Send`.
unsafe impl Send for Buffer {}
// SAFETY: `&Buffer` only allows reads.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// A buffer of zeros.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub fn zeroed(bytes: usize) -> Result<Buffer> {
        let memory = Writable { block: ManuallyDrop::new(pool::take(bytes, true)?), bytes };
        // SAFETY: the pool zeroed all `bytes` bytes.
        Ok(unsafe { memory.assume_written() })
    }

    /// A buffer with a copy of `bytes`.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Buffer> {
        let mut memory = Writable::new(bytes.len())?;
        // SAFETY: fresh memory of at least `bytes.len()` bytes, which cannot overlap the source; all of it is written.
        Ok(unsafe {
            memory.ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            memory.assume_written()
        })
    }

    /// A buffer with the memory of `elements`, without a copy, if they are more than [`MOVED`] bytes or aligned for vectors. Otherwise they
    /// are copied to such memory.
    pub fn from_vec<T: Element>(elements: Vec<T>) -> Buffer {
        let aligned = elements.as_ptr().addr().is_multiple_of(ALIGN);
        if !aligned
            && size_of_val(elements.as_slice()) <= MOVED
            && let Ok(moved) = Buffer::from_bytes(bytes_of(&elements))
        {
            return moved;
        }
        /// # Safety
        /// `ptr` and `capacity` come from a `Vec<T>` without another owner.
        unsafe fn free<T>(ptr: NonNull<u8>, capacity: usize) {
            // SAFETY: the caller's promise; elements need no drop, so length 0 is enough.
            drop(unsafe { Vec::<T>::from_raw_parts(ptr.as_ptr().cast(), 0, capacity) });
        }
        let mut elements = ManuallyDrop::new(elements);
        let bytes = size_of_val(elements.as_slice());
        let capacity = elements.capacity();
        // SAFETY: a `Vec`'s pointer is never null.
        let ptr = unsafe { NonNull::new_unchecked(elements.as_mut_ptr().cast()) };
        Buffer { ptr, bytes, owner: Owner::Vec { dtype: T::DTYPE, capacity, free: free::<T> } }
    }

    /// The bytes of a file from `offset` on, mapped: loaded at the first access. Writes stay in memory. Aligned as the offset is.
    ///
    /// The file must not change during the buffer's lifetime. After a change its bytes may be the old or the new ones; after a truncation,
    /// the system ends a process that reads beyond the end.
    ///
    /// # Errors
    /// `Io` if the system does not map the file, or it is shorter.
    #[cfg(feature = "mapped")]
    pub fn mapped(file: &std::fs::File, offset: u64, bytes: usize) -> Result<Buffer> {
        let mut mapping = Mapping::new(file, offset, bytes)?;
        Ok(Buffer { ptr: mapping.ptr(), bytes, owner: Owner::Mapped(ManuallyDrop::new(mapping)) })
    }

    /// Memory of another library.
    ///
    /// # Safety
    /// As long as `owner` lives, `bytes` bytes from `ptr` on are initialised and nobody writes to them.
    pub(crate) unsafe fn foreign(ptr: NonNull<u8>, bytes: usize, owner: ManagedTensor) -> Buffer {
        Buffer { ptr, bytes, owner: Owner::Foreign(owner) }
    }

    /// Whether the memory belongs to another library.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self.owner, Owner::Foreign(_))
    }

    /// Whether this is the only reference to the buffer, and its memory is writable.
    pub(crate) fn is_writable(buffer: &mut Arc<Buffer>) -> bool {
        Arc::get_mut(buffer).is_some_and(|buffer| !buffer.is_foreign())
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: `bytes` initialised bytes from `ptr` on belong to us, and are not written while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.bytes) }
    }

    /// The bytes, mutable.
    ///
    /// # Errors
    /// `Argument` for memory of another library, which is read-only.
    pub fn as_bytes_mut(&mut self) -> Result<&mut [u8]> {
        if self.is_foreign() {
            return Err(Error::new(ErrorCode::Argument, "memory of another library is only read").of("buffer"));
        }
        // SAFETY: as `as_bytes`, and the borrow is exclusive.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.bytes) })
    }

    /// The elements.
    ///
    /// # Errors
    /// `Argument` if the bytes are not a whole number of elements, are unaligned, or are not values of `T` (a byte above 1 for `bool`).
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        let fits = self.bytes.is_multiple_of(size_of::<T>()) && T::valid(self.as_bytes());
        if !fits || !self.ptr.cast::<T>().is_aligned() {
            return Err(misfit::<T>(self.bytes));
        }
        // SAFETY: aligned, initialised, a whole number of elements, and values of `T` as just checked.
        Ok(unsafe { std::slice::from_raw_parts(self.ptr.as_ptr().cast(), self.bytes / size_of::<T>()) })
    }

    /// The elements as a `Vec`. Without a copy if the buffer came from a `Vec<T>` and this is its only owner.
    ///
    /// # Errors
    /// `Argument` if the bytes are not a whole number of elements or are not values of `T`; `Allocation` if memory for the copy is refused.
    pub fn into_vec<T: Element>(self: Arc<Self>) -> Result<Vec<T>> {
        let length = self.bytes / size_of::<T>();
        if !self.bytes.is_multiple_of(size_of::<T>()) || !T::valid(self.as_bytes()) {
            return Err(misfit::<T>(self.bytes));
        }
        let shared = match Arc::try_unwrap(self) {
            Ok(buffer) => match buffer.owner {
                Owner::Vec { dtype, capacity, .. } if dtype == T::DTYPE => {
                    let buffer = ManuallyDrop::new(buffer);
                    // SAFETY: the memory came from a `Vec` of this very type (a dtype has one Rust type) with this
                    // capacity, its elements are initialised and valid, and the buffer that owned it is not dropped.
                    return Ok(unsafe { Vec::from_raw_parts(buffer.ptr.as_ptr().cast(), length, capacity) });
                }
                Owner::Vec { .. } | Owner::Pool(_) | Owner::Foreign(_) => Arc::new(buffer),
                #[cfg(feature = "mapped")]
                Owner::Mapped(_) => Arc::new(buffer),
            },
            Err(shared) => shared,
        };
        pod::read(shared.as_bytes())
    }

    /// The first byte. Writes require the only reference to the buffer, and [writable](Buffer::is_writable) memory.
    pub(crate) fn ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        match &mut self.owner {
            // SAFETY: the block is taken out once, here.
            Owner::Pool(block) => pool::give(unsafe { ManuallyDrop::take(block) }),
            // SAFETY: the memory came from a `Vec` with this capacity, and `free` is for its type.
            Owner::Vec { capacity, free, .. } => unsafe { free(self.ptr, *capacity) },
            #[cfg(feature = "mapped")]
            // SAFETY: the mapping is taken out once, here.
            Owner::Mapped(mapping) => unsafe { ManuallyDrop::drop(mapping) },
            // Dropped with the field.
            Owner::Foreign(_) => {}
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = match &self.owner {
            Owner::Pool(_) => "pool",
            Owner::Vec { .. } => "vec",
            #[cfg(feature = "mapped")]
            Owner::Mapped(_) => "mapped",
            Owner::Foreign(tensor) => return write!(f, "Buffer({} bytes of {tensor:?})", self.bytes),
        };
        write!(f, "Buffer({} bytes, {owner})", self.bytes)
    }
}

fn misfit<T: Element>(bytes: usize) -> Error {
    Error::new(ErrorCode::Argument, format!("its bytes are not elements of {}", T::DTYPE))
        .of("buffer")
        .fact(format_args!("{bytes} bytes; an element takes {}", size_of::<T>()))
}

/// Uninitialised memory from the pool; returned to the pool when dropped.
#[derive(Debug)]
pub(crate) struct Writable {
    block: ManuallyDrop<Block>,
    bytes: usize,
}

impl Writable {
    /// Memory of `bytes` bytes, contents unspecified.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub(crate) fn new(bytes: usize) -> Result<Writable> {
        Ok(Writable { block: ManuallyDrop::new(pool::take(bytes, false)?), bytes })
    }

    /// The first byte, to write.
    pub(crate) fn ptr(&mut self) -> *mut u8 {
        self.block.ptr().as_ptr()
    }

    /// The finished buffer.
    ///
    /// # Safety
    /// Every byte has been written.
    pub(crate) unsafe fn assume_written(self) -> Buffer {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is never dropped, so the block has one owner.
        let block = unsafe { ManuallyDrop::take(&mut this.block) };
        Buffer { ptr: block.ptr(), bytes: this.bytes, owner: Owner::Pool(ManuallyDrop::new(block)) }
    }
}

impl Drop for Writable {
    fn drop(&mut self) {
        // SAFETY: the block is taken out once: `assume_written` does not drop `self`.
        pool::give(unsafe { ManuallyDrop::take(&mut self.block) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_vec_goes_in_and_out_without_a_copy() {
        let mut elements = Vec::with_capacity(MOVED / 4 + 100);
        elements.extend((0..=MOVED / 4).map(|i| i as f32));
        let (address, capacity, length) = (elements.as_ptr(), elements.capacity(), elements.len());
        let buffer = Arc::new(Buffer::from_vec(elements));
        assert_eq!(buffer.as_slice::<f32>().unwrap()[..3], [0.0, 1.0, 2.0]);
        let back = buffer.into_vec::<f32>().unwrap();
        assert_eq!((back.as_ptr(), back.capacity(), back.len()), (address, capacity, length));
    }

    #[test]
    fn a_small_vec_is_moved_to_memory_that_vectors_do_not_straddle() {
        let buffer = Arc::new(Buffer::from_vec(vec![1.5f32, 2.5, 3.5]));
        assert_eq!(buffer.ptr().addr() % 64, 0);
        assert_eq!(buffer.into_vec::<f32>().unwrap(), [1.5, 2.5, 3.5]);
    }

    #[test]
    fn a_shared_or_foreign_vec_is_copied() {
        let buffer = Arc::new(Buffer::from_vec(vec![1u32, 2]));
        let copy = Arc::clone(&buffer).into_vec::<u32>().unwrap();
        assert_eq!(copy, [1, 2]);
        assert_ne!(copy.as_ptr().cast(), buffer.ptr());
        assert_eq!(buffer.into_vec::<u16>().unwrap(), [1, 0, 2, 0]);
        assert_eq!(Arc::new(Buffer::from_vec(Vec::<u64>::new())).into_vec::<u64>().unwrap(), []);
    }

    #[test]
    fn bytes_that_are_no_elements_are_refused() {
        let buffer = Arc::new(Buffer::from_bytes(&[0, 1, 2]).unwrap());
        assert_eq!(buffer.as_slice::<bool>().unwrap_err().code(), ErrorCode::Argument);
        assert_eq!(buffer.as_slice::<u16>().unwrap_err().code(), ErrorCode::Argument);
        assert_eq!(Arc::clone(&buffer).into_vec::<bool>().unwrap_err().code(), ErrorCode::Argument);
        assert_eq!(buffer.as_slice::<u8>().unwrap(), [0, 1, 2]);
    }

    #[test]
    fn absurd_sizes_are_errors() {
        for bytes in [usize::MAX, isize::MAX as usize + 1, isize::MAX as usize, 1 << 60] {
            assert_eq!(Buffer::zeroed(bytes).unwrap_err().code(), ErrorCode::Allocation, "{bytes}");
            assert_eq!(Writable::new(bytes).unwrap_err().code(), ErrorCode::Allocation, "{bytes}");
        }
    }

    #[test]
    fn reused_memory_is_zeroed_again() {
        for bytes in [100usize, 5_000, 300_000, 3 << 20] {
            for _ in 0..3 {
                let mut buffer = Buffer::zeroed(bytes).unwrap();
                assert!(buffer.as_bytes().iter().all(|&b| b == 0));
                buffer.as_bytes_mut().unwrap().fill(7);
            }
        }
    }
}
