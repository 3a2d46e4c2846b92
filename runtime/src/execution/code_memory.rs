//! Memory that holds machine code: written first and made executable after, never both at once.
//!
//! memmap2 asks the system for it; Wasmtime's crate for coherent caches, of the release that Cranelift is, makes other cores see it.

use memmap2::{Mmap, MmapMut};
use std::io;

/// Machine code that can be called. The memory goes back to the system when it is dropped.
#[derive(Debug)]
pub struct CodeMemory {
    memory: Mmap,
    bytes: usize,
}

impl CodeMemory {
    /// Copies code that runs at any address into pages of its own, aligned as pages are.
    ///
    /// # Errors
    /// The system's, if it refuses memory, or to make it executable.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(target_arch = "x86_64")] {
    /// // ret
    /// let code = ndjit_runtime::code_memory::CodeMemory::new(&[0xc3])?;
    /// assert_eq!(code.bytes(), 1);
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new(code: &[u8]) -> io::Result<CodeMemory> {
        let mut memory = MmapMut::map_anon(code.len().max(1))?;
        memory[..code.len()].copy_from_slice(code);
        let memory = memory.make_exec()?;
        // SAFETY: the range is the mapping's own, which is readable.
        unsafe { icache_coherence::clear_cache(memory.as_ptr().cast(), memory.len()) }?;
        icache_coherence::pipeline_flush_mt()?;
        Ok(CodeMemory { memory, bytes: code.len() })
    }

    /// The first instruction.
    pub fn as_ptr(&self) -> *const u8 {
        self.memory.as_ptr()
    }

    /// Bytes of code.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
