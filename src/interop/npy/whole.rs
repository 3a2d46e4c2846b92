//! Whole `.npy` files as arrays. For files in parts see `src/interop/npy/mod.rs`; for supported formats,
//! `formats/src/npy.rs`.

use crate::array::node::Array;
use crate::interop::npy::Writer;
use ndjit_formats::npy::{self, Header, failed};
use ndjit_ir::{Error, Result, SourceLoc};
use ndjit_runtime::Buffer;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

impl Array {
    /// Reads a `.npy` file: little-endian, in row- or column-major order, of every dtype except `bf16`, which NumPy
    /// lacks.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let path = std::env::temp_dir().join("ndjit-read-example.npy");
    /// Array::from([1.0f32, 2.0]).write_npy(&path)?;
    /// assert_eq!(Array::read_npy(&path)?.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if the file cannot be read, is truncated or longer than its array, or is not a `.npy` file of numbers;
    /// `DType` for another dtype; `Size` for more elements than the address space has; `Allocation` if an allocation
    /// fails.
    #[track_caller]
    pub fn read_npy(path: impl AsRef<Path>) -> Result<Array> {
        let place = SourceLoc::caller();
        let read = |path: &Path| {
            let file = npy::open(path)?;
            let bytes = file.metadata().map_err(|e| failed(&e))?.len();
            read(file, bytes)
        };
        read(path.as_ref()).map_err(|e| e.in_file(path.as_ref()).at(place))
    }

    /// Reads the bytes of a `.npy` file from memory, such as a part of an archive, or from a network.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let mut file = b"\x93NUMPY\x01\x00\x3e\x00".to_vec();
    /// file.extend(format!("{:<61}\n", "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }").bytes());
    /// file.extend([1, 0, 2, 0]);
    /// assert_eq!(Array::from_npy(&file)?.to_vec::<i16>()?, [1, 2]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`read_npy`](Array::read_npy).
    #[track_caller]
    pub fn from_npy(bytes: &[u8]) -> Result<Array> {
        let place = SourceLoc::caller();
        read(bytes, bytes.len() as u64).map_err(|e| e.unnamed().of("from_npy").at(place))
    }

    /// Writes a `.npy` file, which replaces an existing one when it is complete. Arrays [mapped](crate::npy::Reader)
    /// from the existing file keep it.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let path = std::env::temp_dir().join("ndjit-write-example.npy");
    /// Array::from([1.0f32, 2.0]).write_npy(&path)?;
    /// assert_eq!(Array::read_npy(&path)?.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if the file cannot be written, `DType` for `bf16`; those of [`eval`](Array::eval).
    #[track_caller]
    pub fn write_npy(&self, path: impl AsRef<Path>) -> Result<()> {
        let (path, place) = (path.as_ref(), SourceLoc::caller());
        let write = || {
            self.eval()?;
            let mut writer = Writer::create(path, self.dtype(), self.shape())?;
            writer.write(self)?;
            writer.finish()
        };
        write().map_err(|e: Error| e.at(place))
    }
}

/// Reads a source of this many bytes from its start.
fn read(mut source: impl Read, bytes: u64) -> Result<Array> {
    let header = Header::read(&mut source)?;
    let promised = header.data(bytes)?;
    let refused = |e: Error| {
        Error::new(e.code(), format!("the system refused {promised} bytes"))
            .of("read_npy")
            .fact(format_args!("the header says {}{}", header.dtype, header.shape))
    };
    let mut elements = Buffer::zeroed(promised).map_err(refused)?;
    source.read_exact(elements.as_bytes_mut()?).map_err(|e| failed(&e))?;
    npy::elements(header.dtype, elements.as_bytes_mut()?)?;
    let (shape, axes) = header.layout();
    let array = Array::concrete(header.dtype, header.dtype, shape, Arc::new(elements));
    Ok(axes.map_or(array.clone(), |axes| array.permute_dims(axes)))
}
