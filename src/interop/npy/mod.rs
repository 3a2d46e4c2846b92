//! Large `.npy` files: a [`Reader`] maps them into memory, a [`Writer`] writes them in parts. For whole files at once
//! see [`Array::read_npy`] and [`Array::write_npy`].
//!
//! ```
//! use ndjit::npy::{Reader, Writer};
//! use ndjit::{Array, DType};
//!
//! let path = std::env::temp_dir().join(format!("ndjit-doc-{}.npy", std::process::id()));
//! let mut writer = Writer::create(&path, DType::F32, [4, 2])?;
//! writer.write(&Array::from_rows(&[[0.0f32, 1.0], [2.0, 3.0]]))?;
//! writer.write(&Array::from_rows(&[[4.0f32, 5.0], [6.0, 7.0]]))?;
//! writer.finish()?;
//!
//! let reader = Reader::open(&path)?;
//! assert_eq!((reader.dtype(), reader.shape().extents()), (DType::F32, &[4, 2][..]));
//! assert_eq!(reader.rows(1..3)?.to_vec::<f32>()?, [2.0, 3.0, 4.0, 5.0]);
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), ndjit::Error>(())
//! ```

pub(crate) mod whole;

#[doc(hidden)]
pub use ndjit_formats::replacement;

use crate::api::creation::IntoShape;
use crate::array::node::Array;
use ndjit_formats::npy::{self, Header, failed};
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape};
use ndjit_runtime::Buffer;
use replacement::Replacement;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A memory-mapped `.npy` file, whose arrays are read on use. Supports every dtype of NumPy, in row- or column-major
/// order, little-endian.
///
/// The file must not change as long as its arrays live. After a change, elements may be old or new ones; after
/// truncation, the system ends a process that reads beyond the end. [`Writer`] and [`Array::write_npy`] replace a file
/// and never change it.
///
/// ```
/// use ndjit::npy::Reader;
/// use ndjit::{Array, DType};
///
/// # let folder = std::env::temp_dir().join(format!("ndjit-npy-reader-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("a.npy");
/// Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]).write_npy(&path)?;
/// let reader = Reader::open(&path)?;
/// assert_eq!((reader.dtype(), reader.shape().rank()), (DType::F32, 2));
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    file: File,
    path: PathBuf,
    header: Header,
}

impl Reader {
    /// Opens a file and reads its header.
    ///
    /// ```
    /// use ndjit::npy::Reader;
    /// use ndjit::{Array, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-npy-open-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("a.npy");
    /// Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]).write_npy(&path)?;
    /// let reader = Reader::open(&path)?;
    /// assert_eq!(reader.dtype(), DType::F32);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if the file cannot be read, is truncated or longer than its array, or is not a `.npy` file of numbers;
    /// `DType` for another dtype; `Size` for more elements than the address space has.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader> {
        let path = path.as_ref();
        let open = || {
            let mut file = npy::open(path)?;
            let header = Header::read(&mut file)?;
            header.data(file.metadata().map_err(|e| failed(&e))?.len())?;
            Ok(Reader { file, path: path.to_owned(), header })
        };
        open().map_err(|e: Error| e.in_file(path))
    }

    /// Returns the dtype of the elements.
    ///
    /// ```
    /// use ndjit::npy::Reader;
    /// use ndjit::{Array, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-npy-dtype-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("a.npy");
    /// Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]).write_npy(&path)?;
    /// let reader = Reader::open(&path)?;
    /// assert_eq!(reader.dtype(), DType::F32);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn dtype(&self) -> DType {
        self.header.dtype
    }

    /// Returns the extents of the axes, outermost first.
    ///
    /// ```
    /// use ndjit::npy::Reader;
    /// use ndjit::{Array, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-npy-shape-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("a.npy");
    /// Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]).write_npy(&path)?;
    /// let reader = Reader::open(&path)?;
    /// assert_eq!((reader.shape().extents(), reader.dtype()), (&[2, 2][..], DType::F32));
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn shape(&self) -> &Shape {
        &self.header.shape
    }

    /// Maps all elements.
    ///
    /// ```
    /// use ndjit::npy::Reader;
    /// use ndjit::{Array, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-npy-array-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("a.npy");
    /// Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]).write_npy(&path)?;
    /// let reader = Reader::open(&path)?;
    /// assert_eq!((reader.array()?.to_vec::<f32>()?, reader.dtype()), (vec![1.0, 2.0, 3.0, 4.0], DType::F32));
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if the file cannot be mapped, or a bool is neither 0 nor 1; `Allocation` if it must be copied, since its
    /// elements are not aligned, and the allocation fails.
    pub fn array(&self) -> Result<Array> {
        let (shape, axes) = self.header.layout();
        let array = self.mapped(0, shape)?;
        Ok(axes.map_or(array.clone(), |axes| array.permute_dims(axes)))
    }

    /// Maps the elements of a range along axis 0, clipped to its extent.
    ///
    /// ```
    /// use ndjit::npy::Reader;
    /// use ndjit::{Array, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-npy-rows-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("a.npy");
    /// Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]).write_npy(&path)?;
    /// let reader = Reader::open(&path)?;
    /// assert_eq!((reader.rows(1..2)?.to_vec::<f32>()?, reader.dtype()), (vec![3.0, 4.0], DType::F32));
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`array`](Reader::array); `Shape` for a scalar.
    pub fn rows(&self, rows: Range<usize>) -> Result<Array> {
        let (start, end) = self.indices(&rows, "rows")?;
        if self.header.column_major {
            return Ok(self.array()?.slice(start..end));
        }
        let (offset, shape) = self.contiguous(start, end)?;
        self.mapped(offset, shape)
    }

    /// Copies the elements of a range along axis 0, clipped to its extent, to memory. A file truncated meanwhile is an
    /// error here; for a mapped file it ends the process. A file in column-major order is read column by column.
    ///
    /// ```
    /// use ndjit::npy::Reader;
    /// use ndjit::{Array, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-npy-copied-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("a.npy");
    /// Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]).write_npy(&path)?;
    /// let reader = Reader::open(&path)?;
    /// assert_eq!((reader.copied_rows(1..2)?.to_vec::<f32>()?, reader.dtype()), (vec![3.0, 4.0], DType::F32));
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if the file cannot be read, ends early, or a bool is neither 0 nor 1; `Allocation` if an allocation fails;
    /// `Shape` for a scalar.
    pub fn copied_rows(&self, rows: Range<usize>) -> Result<Array> {
        let (start, end) = self.indices(&rows, "copied_rows")?;
        let (offset, mut shape) = self.contiguous(start, end)?;
        if !self.header.column_major {
            return self.read(shape, |bytes| self.read_at(bytes, offset));
        }
        let element = self.header.dtype.bytes();
        let (all, count) = (self.header.shape.extents()[0], end - start);
        let (whole, axes) = self.header.layout();
        let mut extents = whole.extents().to_vec();
        extents.pop();
        extents.push(count);
        shape = Shape::from(extents);
        let array = self.read(shape, |bytes| {
            let mut columns = bytes.chunks_exact_mut((count * element).max(1)).enumerate();
            columns.try_for_each(|(n, column)| self.read_at(column, (n * all + start) * element))
        })?;
        Ok(axes.map_or(array.clone(), |axes| array.permute_dims(axes)))
    }

    /// Copies all elements to memory, like [`copied_rows`](Reader::copied_rows), and also supports scalars.
    ///
    /// ```
    /// use ndjit::npy::Reader;
    /// use ndjit::{Array, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-npy-copied-all-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("a.npy");
    /// Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]).write_npy(&path)?;
    /// let reader = Reader::open(&path)?;
    /// assert_eq!((reader.copied()?.to_vec::<f32>()?, reader.dtype()), (vec![1.0, 2.0, 3.0, 4.0], DType::F32));
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`copied_rows`](Reader::copied_rows).
    pub fn copied(&self) -> Result<Array> {
        let (shape, axes) = self.header.layout();
        let array = self.read(shape, |bytes| self.read_at(bytes, 0))?;
        Ok(axes.map_or(array.clone(), |axes| array.permute_dims(axes)))
    }

    /// Clips a range to the extent of axis 0.
    fn indices(&self, rows: &Range<usize>, what: &str) -> Result<(usize, usize)> {
        let Some(&all) = self.header.shape.extents().first() else {
            return Err(
                Error::new(ErrorCode::Shape, format!("{what}: a scalar has none")).help("`array` and `copied` read it")
            );
        };
        let start = rows.start.min(all);
        Ok((start, rows.end.clamp(start, all)))
    }

    /// Returns the byte offset of rows in a file in row-major order, and their shape.
    fn contiguous(&self, start: usize, end: usize) -> Result<(usize, Shape)> {
        let mut extents = self.header.shape.extents().to_vec();
        let row = Shape::new(&extents[1..]).bytes(self.header.dtype.bytes())?;
        extents[0] = end - start;
        Ok((start.saturating_mul(row), Shape::from(extents)))
    }

    /// Maps an array in row-major order from a byte offset in the data.
    fn mapped(&self, offset: usize, shape: Shape) -> Result<Array> {
        let map = || {
            let dtype = self.header.dtype;
            if cfg!(target_endian = "big") && dtype.bytes() > 1 {
                return Err(failed(&"little-endian files are not mapped on this machine").help("`copied` reads it"));
            }
            let bytes = shape.bytes(dtype.bytes())?;
            let mut buffer = Buffer::mapped(&self.file, (self.header.len + offset) as u64, bytes)?;
            npy::check_bools(dtype, buffer.as_bytes())?;
            if !buffer.as_bytes().as_ptr().addr().is_multiple_of(dtype.bytes()) {
                buffer = Buffer::from_bytes(buffer.as_bytes())?;
            }
            Ok(Array::concrete(dtype, dtype, shape, Arc::new(buffer)))
        };
        map().map_err(|e: Error| e.in_file(&self.path))
    }

    /// Creates an array in row-major order, with bytes read by `fill`.
    fn read(&self, shape: Shape, fill: impl FnOnce(&mut [u8]) -> std::io::Result<()>) -> Result<Array> {
        let read = || {
            let dtype = self.header.dtype;
            let mut buffer = Buffer::zeroed(shape.bytes(dtype.bytes())?)?;
            fill(buffer.as_bytes_mut()?).map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => failed(&"the file ends before its data does")
                    .help("the file was truncated while it was read: copy or write it again"),
                _ => failed(&error),
            })?;
            npy::elements(dtype, buffer.as_bytes_mut()?)?;
            Ok(Array::concrete(dtype, dtype, shape, Arc::new(buffer)))
        };
        read().map_err(|e: Error| e.in_file(&self.path))
    }

    /// Fills `bytes` from a byte offset in the data.
    fn read_at(&self, bytes: &mut [u8], offset: usize) -> std::io::Result<()> {
        let offset = (self.header.len + offset) as u64;
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, offset);
        #[cfg(not(unix))]
        {
            use std::io::{Read, Seek, SeekFrom};
            // The read has its own handle, since the file position of this one is shared.
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(bytes)
        }
    }
}

/// Writes a `.npy` file in row-major order, one array after another. The file replaces an existing one when it is
/// [finished](Writer::finish); until then, and if the writer is dropped before, the existing file is unchanged. Arrays
/// mapped by a [`Reader`] keep the old file, so they may be written to their own file.
///
/// ```
/// use ndjit::npy::Writer;
/// use ndjit::{Array, DType};
///
/// # let folder = std::env::temp_dir().join(format!("ndjit-npy-writer-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("a.npy");
/// let mut writer = Writer::create(&path, DType::F32, [4])?;
/// writer.write(&Array::from([1.0f32, 2.0]))?;
/// writer.write(&Array::from([3.0f32, 4.0]))?;
/// writer.finish()?;
/// assert_eq!(Array::read_npy(&path)?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer {
    file: BufWriter<File>,
    place: Replacement,
    path: PathBuf,
    dtype: DType,
    shape: Shape,
    /// The number of elements still to be written.
    missing: usize,
    /// True if all writes succeeded.
    whole: bool,
}

impl Writer {
    /// Creates a file for an array of this dtype and shape, in the folder of the file to replace.
    ///
    /// ```
    /// use ndjit::npy::Writer;
    /// use ndjit::{Array, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-npy-create-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("a.npy");
    /// let mut writer = Writer::create(&path, DType::F32, [4])?;
    /// writer.write(&Array::from([1.0f32, 2.0]))?;
    /// writer.write(&Array::from([3.0f32, 4.0]))?;
    /// writer.finish()?;
    /// assert_eq!(Array::read_npy(&path)?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if the file cannot be written; `DType` for `bf16`, which NumPy lacks; `Size` if no array can have the
    /// shape.
    pub fn create(path: impl AsRef<Path>, dtype: DType, shape: impl IntoShape) -> Result<Writer> {
        let (path, shape) = (path.as_ref(), shape.shape());
        let missing = shape.size()?;
        let create = || {
            let header = Header::write(dtype, &shape)?;
            let place = Replacement::create(path).map_err(|e| e.unnamed().of("write_npy"))?;
            let mut file = BufWriter::new(File::create(place.path()).map_err(|e| unwritten(&e))?);
            file.write_all(&header).map_err(|e| unwritten(&e))?;
            Ok((file, place))
        };
        let (file, place) = create().map_err(|e: Error| e.in_file(path))?;
        Ok(Writer { file, place, path: path.to_owned(), dtype, shape, missing, whole: true })
    }

    /// Appends the elements of an array.
    ///
    /// ```
    /// use ndjit::npy::Writer;
    /// use ndjit::{Array, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-npy-write-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("a.npy");
    /// let mut writer = Writer::create(&path, DType::F32, [4])?;
    /// writer.write(&Array::from([1.0f32, 2.0]))?;
    /// writer.write(&Array::from([3.0f32, 4.0]))?;
    /// writer.finish()?;
    /// assert_eq!(Array::read_npy(&path)?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` for another dtype than the file's, or too many elements; `Io` if they cannot be written; those of
    /// [`eval`](Array::eval).
    pub fn write(&mut self, array: &Array) -> Result<()> {
        let buffer = array.buffer()?;
        let Some(missing) = self.missing.checked_sub(array.len()).filter(|_| array.dtype() == self.dtype) else {
            return Err(Error::new(ErrorCode::Argument, "write_npy: the elements are not those of the file")
                .fact(format_args!("the file: {}{}, {} elements missing", self.dtype, self.shape, self.missing))
                .fact(format_args!("the array: {}{}", array.dtype(), array.shape()))
                .in_file(&self.path));
        };
        self.missing = missing;
        let written = npy::write_elements(&mut self.file, self.dtype, buffer.as_bytes());
        self.whole &= written.is_ok();
        written.map_err(|e| self.failed(&e))
    }

    /// Finishes the file, and moves it to its path.
    ///
    /// ```
    /// use ndjit::npy::Writer;
    /// use ndjit::{Array, DType};
    ///
    /// # let folder = std::env::temp_dir().join(format!("ndjit-npy-finish-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("a.npy");
    /// let mut writer = Writer::create(&path, DType::F32, [4])?;
    /// writer.write(&Array::from([1.0f32, 2.0]))?;
    /// writer.write(&Array::from([3.0f32, 4.0]))?;
    /// writer.finish()?;
    /// assert_eq!(Array::read_npy(&path)?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` if elements are missing; `Io` if any could not be written. An existing file is unchanged then.
    pub fn finish(mut self) -> Result<()> {
        if self.missing > 0 {
            return Err(Error::new(ErrorCode::Argument, "write_npy: elements are missing")
                .fact(format_args!("the file: {}{}, {} elements missing", self.dtype, self.shape, self.missing))
                .in_file(&self.path));
        }
        if !self.whole {
            return Err(self.failed(&"elements before were not written"));
        }
        self.file.flush().map_err(|e| self.failed(&e))?;
        let Writer { file, place, path, .. } = self;
        drop(file);
        place.finish().map_err(|e| e.unnamed().of("write_npy").in_file(&path))
    }

    fn failed(&self, error: &dyn Display) -> Error {
        unwritten(error).in_file(&self.path)
    }
}

fn unwritten(error: &dyn Display) -> Error {
    Error::new(ErrorCode::Io, format!("write_npy: {error}"))
}
