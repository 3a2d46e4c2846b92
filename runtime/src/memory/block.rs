//! Blocks: raw memory of a size class, aligned for vectors and huge pages, possibly uninitialised.
//!
//! A block owns its memory and returns it to the system when dropped. It is independent of elements and of the pool.

use ndjit_ir::Result;
use ndjit_ir::reserve::refused;
use std::alloc::Layout;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// Alignment of small blocks, bytes: a cache line.
pub const ALIGN: usize = 64;
/// Blocks of at least this many bytes are aligned to it and use huge pages.
pub const HUGE: usize = 2 << 20;
/// The number of size classes.
pub const CLASSES: usize = 4 * (usize::BITS as usize - 7) + 1;

/// The smallest class with blocks of at least `bytes`: four classes per doubling, the first of [`ALIGN`] bytes. `None`
/// if no class is that large.
pub fn class_of(bytes: usize) -> Option<usize> {
    if bytes <= ALIGN {
        return Some(0);
    }
    let last = bytes - 1;
    let octave = last.ilog2() as usize;
    let quarter = last >> (octave - 2) & 3;
    let class = 4 * (octave - ALIGN.ilog2() as usize) + quarter + 1;
    (class < CLASSES).then_some(class)
}

/// The size of a class's blocks, bytes.
pub fn class_bytes(class: usize) -> usize {
    (ALIGN / 4 * (4 + class % 4)) << (class / 4)
}

/// Memory of `class_bytes(class)` bytes.
#[derive(Debug)]
pub struct Block {
    ptr: NonNull<u8>,
    class: usize,
}

// SAFETY: a block owns its memory, which is independent of threads.
unsafe impl Send for Block {}
// SAFETY: a shared block exposes only its address.
unsafe impl Sync for Block {}

impl Block {
    /// A block from the system, zeroed on request.
    ///
    /// # Errors
    /// `Allocation` if the system refuses.
    pub fn new(class: usize, zeroed: bool) -> Result<Block> {
        let refused = || refused("buffer", class_bytes(class));
        let layout = layout(class).ok_or_else(refused)?;
        // SAFETY: the layout's size is at least `ALIGN`.
        let ptr = unsafe { if zeroed { std::alloc::alloc_zeroed(layout) } else { std::alloc::alloc(layout) } };
        let ptr = NonNull::new(ptr).ok_or_else(refused)?;
        if layout.size() >= HUGE {
            advise_huge(ptr, layout.size());
        }
        Ok(Block { ptr, class })
    }

    /// The memory, for [`from_raw`](Block::from_raw) to take over.
    pub fn into_raw(self) -> NonNull<u8> {
        ManuallyDrop::new(self).ptr
    }

    /// The block whose memory this is.
    ///
    /// # Safety
    /// It was [taken out](Block::into_raw) of a block of this class, and is taken over once.
    pub unsafe fn from_raw(ptr: NonNull<u8>, class: usize) -> Block {
        Block { ptr, class }
    }

    /// The first byte.
    pub fn ptr(&self) -> NonNull<u8> {
        self.ptr
    }

    /// The size class.
    pub fn class(&self) -> usize {
        self.class
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        class_bytes(self.class)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(layout) = layout(self.class) {
            // SAFETY: the memory was allocated with this layout, which depends only on the class.
            unsafe { std::alloc::dealloc(self.ptr.as_ptr(), layout) }
        }
    }
}

fn layout(class: usize) -> Option<Layout> {
    let bytes = class_bytes(class);
    Layout::from_size_align(bytes, if bytes >= HUGE { HUGE } else { ALIGN }).ok()
}

#[cfg(target_os = "linux")]
fn advise_huge(ptr: NonNull<u8>, bytes: usize) {
    // SAFETY: the range is ours, and page-aligned at its start; whole huge pages only, so it stays within the block.
    // The advice changes no contents; a refusal costs only speed.
    unsafe {
        libc::madvise(ptr.as_ptr().cast(), bytes / HUGE * HUGE, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge(_ptr: NonNull<u8>, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_promise() {
        for bytes in (0..5000).chain([HUGE - 1, HUGE, HUGE + 1, 40_000_000, isize::MAX as usize / 2]) {
            let class = class_of(bytes).unwrap();
            assert!(class_bytes(class) >= bytes.max(1), "{bytes}");
            assert!(class == 0 || class_bytes(class - 1) < bytes, "{bytes}");
            assert!(class_bytes(class) <= ALIGN.max(bytes + bytes / 4 + 16), "{bytes}");
        }
        for class in 1..CLASSES {
            assert_eq!(class_of(class_bytes(class)), Some(class));
            assert!(class_bytes(class) > class_bytes(class - 1));
        }
    }

    #[test]
    fn blocks_are_aligned() {
        for bytes in [1, 64, 100, 4096, HUGE, 3 * HUGE] {
            let block = Block::new(class_of(bytes).unwrap(), false).unwrap();
            assert_eq!(block.ptr().addr().get() % if bytes >= HUGE { HUGE } else { ALIGN }, 0);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn fresh_blocks_are_touched_by_who_writes_them() {
        // Above the allocator's mmap threshold: a mapping of its own, without a page yet.
        let bytes = 64 << 20;
        let mut block = Block::new(class_of(bytes).unwrap(), false).unwrap();
        assert_eq!(resident(&mut block), 0);
        // SAFETY: a byte of the block.
        unsafe { block.ptr().as_ptr().add(bytes / 2).write(1) };
        assert!(resident(&mut block) > 0);
    }

    /// The number of resident pages of a block.
    #[cfg(target_os = "linux")]
    fn resident(block: &mut Block) -> usize {
        // SAFETY: a query.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let mut pages = vec![0u8; block.bytes().div_ceil(page)];
        // SAFETY: the block is aligned to pages, and there is a byte for each of them.
        let code = unsafe { libc::mincore(block.ptr().as_ptr().cast(), block.bytes(), pages.as_mut_ptr()) };
        assert_eq!(code, 0);
        pages.iter().filter(|&&page| page & 1 == 1).count()
    }
}
