//! Memory of machine code: first writable, then executable, never both.
//!
//! memmap2 allocates it; Wasmtime's crate for coherent instruction caches, of Cranelift's release, publishes it to other cores.

use memmap2::{Mmap, MmapMut};
use std::io;

/// Callable machine code. The memory is unmapped on drop.
#[derive(Debug)]
pub struct CodeMemory {
    memory: Mmap,
    bytes: usize,
}

impl CodeMemory {
    /// Copies position-independent code into its own pages.
    ///
    /// # Errors
    /// Those of the system, if it refuses memory or its protection.
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
