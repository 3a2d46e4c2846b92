//! `.npy` files larger than one wants to read at once: a [`Reader`] maps them, a [`Writer`] writes one array after the other. For a
//! whole file at once there are [`Array::read_npy`] and [`Array::write_npy`].
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

use crate::array::Array;
use crate::array::npy::Header;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape};
use ndjit_runtime::{Buffer, Element};
use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A `.npy` file whose arrays are read when they are computed with: its memory is mapped. Of every dtype that NumPy has, in row- or
/// column-major order, little-endian.
///
/// The file must not change as long as its arrays live. Where it does, elements may be the old or the new ones; where it is
/// truncated, the system ends the process that reads beyond its end.
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
    dtype: DType,
    shape: Shape,
    column_major: bool,
    /// Where the data begins.
    start: usize,
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
    /// `Io` if the file cannot be read, is truncated, or is not a `.npy` file of numbers; `DType` if it is of another dtype;
    /// `Size` if it claims more elements than memory can address.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader> {
        let path = path.as_ref();
        let open = || {
            let mut file = File::open(path).map_err(|e| failed("read_npy", &e))?;
            let Header { dtype, shape, column_major, len } = {
                let header = Header::read(&mut file)?;
                header.data(file.metadata().map_err(|e| failed("read_npy", &e))?.len())?;
                header
            };
            if cfg!(target_endian = "big") && dtype.bytes() > 1 {
                return Err(failed("read_npy", &"little-endian files are not mapped on this machine"));
            }
            Ok(Reader { file, path: path.to_owned(), dtype, shape, column_major, start: len })
        };
        open().map_err(|e: Error| e.fact(format_args!("file: {}", path.display())))
    }

    /// The dtype of the elements.
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
        self.dtype
    }

    /// The extents of the axes, outermost first.
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
        &self.shape
    }

    /// All elements, mapped.
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
    /// `Io` if the system does not map the file, or bools in it are neither 0 nor 1; `Allocation` if it must be copied, since its
    /// elements are not aligned, and memory is refused.
    pub fn array(&self) -> Result<Array> {
        let extents = self.shape.extents();
        if !self.column_major {
            return self.part(0, self.shape.clone());
        }
        let reversed: Vec<usize> = extents.iter().rev().copied().collect();
        let axes: Vec<isize> = (0..extents.len() as isize).rev().collect();
        Ok(self.part(0, Shape::from(reversed))?.permute_dims(axes))
    }

    /// The elements of some indices along axis 0, mapped; those that there are.
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
        let Some((&all, others)) = self.shape.extents().split_first() else {
            return Err(Error::new(ErrorCode::Shape, "rows: a scalar has none").help("`array` reads it"));
        };
        let (start, end) = (rows.start.min(all), rows.end.min(all));
        let count = end.saturating_sub(start);
        if self.column_major {
            return Ok(self.array()?.slice(start..end));
        }
        let row = Shape::new(others).bytes(self.dtype.bytes())?;
        let mut extents = self.shape.extents().to_vec();
        extents[0] = count;
        self.part(start.saturating_mul(row), Shape::from(extents))
    }

    /// An array in row-major order, from a byte of the data on.
    fn part(&self, offset: usize, shape: Shape) -> Result<Array> {
        let map = || {
            let bytes = shape.bytes(self.dtype.bytes())?;
            let offset = (self.start + offset) as u64;
            let mut buffer = Buffer::mapped(&self.file, offset, bytes)?;
            if self.dtype == DType::Bool && !bool::valid(buffer.as_bytes()) {
                return Err(failed("read_npy", &"bools that are neither 0 nor 1"));
            }
            if !buffer.as_bytes().as_ptr().addr().is_multiple_of(self.dtype.bytes()) {
                buffer = Buffer::from_bytes(buffer.as_bytes())?;
            }
            Ok(Array::concrete(self.dtype, self.dtype, shape, Arc::new(buffer)))
        };
        map().map_err(|e: Error| e.fact(format_args!("file: {}", self.path.display())))
    }
}

/// A `.npy` file being written, in row-major order, one array after the other. A file that is there is replaced.
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
    path: PathBuf,
    dtype: DType,
    shape: Shape,
    /// Elements that are still to be written.
    missing: usize,
}

impl Writer {
    /// Creates a file for an array of this dtype and shape.
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
    /// `Io` if the file cannot be written; `DType` for `bf16`, which NumPy has not; `Size` if no array can have the shape.
    pub fn create(path: impl AsRef<Path>, dtype: DType, shape: impl Into<Shape>) -> Result<Writer> {
        let (path, shape) = (path.as_ref(), shape.into());
        let missing = shape.size()?;
        let create = || {
            let header = Header::write(dtype, &shape).ok_or_else(|| {
                Error::new(ErrorCode::DType, format!("write_npy: {dtype} is not supported"))
                    .help("convert with `.cast(DType::F32)`")
            })?;
            let mut file = BufWriter::new(File::create(path).map_err(|e| failed("write_npy", &e))?);
            file.write_all(&header).map_err(|e| failed("write_npy", &e))?;
            Ok(file)
        };
        let file = create().map_err(|e: Error| e.fact(format_args!("file: {}", path.display())))?;
        Ok(Writer { file, path: path.to_owned(), dtype, shape, missing })
    }

    /// Writes the elements of an array after those before.
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
    /// `Argument` for another dtype than the file's, or more elements than it has; `Io` if they cannot be written; those of
    /// [`eval`](Array::eval).
    pub fn write(&mut self, array: &Array) -> Result<()> {
        let buffer = array.buffer()?;
        let Some(missing) = self.missing.checked_sub(array.len()).filter(|_| array.dtype() == self.dtype) else {
            return Err(Error::new(ErrorCode::Argument, "write_npy: the elements are not those of the file")
                .fact(format_args!("the file: {}{}, {} elements missing", self.dtype, self.shape, self.missing))
                .fact(format_args!("the array: {}{}", array.dtype(), array.shape()))
                .fact(format_args!("file: {}", self.path.display())));
        };
        self.missing = missing;
        self.file.write_all(buffer.as_bytes()).map_err(|e| self.failed(&e))
    }

    /// Finishes the file.
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
    /// `Argument` if elements are missing; `Io` if they cannot be written.
    pub fn finish(mut self) -> Result<()> {
        if self.missing > 0 {
            return Err(Error::new(ErrorCode::Argument, "write_npy: elements are missing")
                .fact(format_args!("the file: {}{}, {} elements missing", self.dtype, self.shape, self.missing))
                .fact(format_args!("file: {}", self.path.display())));
        }
        self.file.flush().map_err(|e| self.failed(&e))
    }

    fn failed(&self, error: &dyn Display) -> Error {
        failed("write_npy", error).fact(format_args!("file: {}", self.path.display()))
    }
}

fn failed(what: &str, error: &dyn Display) -> Error {
    Error::new(ErrorCode::Io, format!("{what}: {error}"))
}
