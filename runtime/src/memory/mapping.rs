//! Parts of files in memory, mapped by the system.
//!
//! A mapping is private: writes copy the page and never reach the file.

use memmap2::{MmapMut, MmapOptions};
use ndjit_ir::{Error, ErrorCode, Result};
use std::fs::File;
use std::ptr::NonNull;

/// A part of a file.
pub(crate) struct Mapping(Option<MmapMut>);

impl Mapping {
    /// `bytes` bytes of a file from `offset` on.
    ///
    /// # Errors
    /// `Io` if the system does not map the file, or it is shorter.
    pub(crate) fn new(file: &File, offset: u64, bytes: usize) -> Result<Mapping> {
        if bytes == 0 {
            return Ok(Mapping(None));
        }
        let failed = |error: std::io::Error| Error::new(ErrorCode::Io, error.to_string()).of("map");
        let length = file.metadata().map_err(failed)?.len();
        if offset.checked_add(bytes as u64).is_none_or(|end| end > length) {
            return Err(Error::new(ErrorCode::Io, "the file ends before its data does")
                .of("map")
                .fact(format_args!("bytes {offset} to {} of {length}", offset.saturating_add(bytes as u64))));
        }
        // SAFETY: the range is within the file. Its bytes are read as dtypes for which all bits are values (bools are checked
        // when read); an unchanged file is the user's obligation, as for every mapping.
        let mapping = unsafe { MmapOptions::new().offset(offset).len(bytes).map_copy(file) };
        Ok(Mapping(Some(mapping.map_err(failed)?)))
    }

    /// The first byte; dangling for an empty mapping.
    pub(crate) fn ptr(&mut self) -> NonNull<u8> {
        self.0
            .as_mut()
            .and_then(|mapping| NonNull::new(mapping.as_mut_ptr()))
            .unwrap_or(NonNull::<u128>::dangling().cast())
    }
}
