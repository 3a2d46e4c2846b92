//! `.npy` files.

use super::Array;
use ndarray::ArrayD;
use ndarray_npy::{ReadNpyExt, ReadableElement, WritableElement, WriteNpyExt};
use ndjit_ir::{DType, Error, ErrorCode, Place, Result, Shape};
use ndjit_runtime::Element;
use num_complex::Complex;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, BufWriter, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Calls a generic function for the element type of a dtype that `.npy` files can hold and the crate behind this reads.
macro_rules! for_element {
    ($dtype:expr, $function:ident ($($argument:expr),*), else $other:expr) => {
        match $dtype {
            DType::Bool => $function::<bool>($($argument),*),
            DType::U8 => $function::<u8>($($argument),*),
            DType::U16 => $function::<u16>($($argument),*),
            DType::U32 => $function::<u32>($($argument),*),
            DType::U64 => $function::<u64>($($argument),*),
            DType::I8 => $function::<i8>($($argument),*),
            DType::I16 => $function::<i16>($($argument),*),
            DType::I32 => $function::<i32>($($argument),*),
            DType::I64 => $function::<i64>($($argument),*),
            DType::F32 => $function::<f32>($($argument),*),
            DType::F64 => $function::<f64>($($argument),*),
            DType::C64 => $function::<Complex<f32>>($($argument),*),
            DType::C128 => $function::<Complex<f64>>($($argument),*),
            DType::F16 | DType::Bf16 => $other,
        }
    };
}

impl Array {
    /// Reads a `.npy` file: little-endian, in row- or column-major order, of every dtype but `f16` and `bf16`. (NumPy can
    /// write `f16`, as `<f2`; the crate that reads files here has no such element. NumPy has no `bf16`.)
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
    /// `Io` if the file cannot be read, is truncated, or is not a `.npy` file of numbers; `DType` if it is of another dtype;
    /// `Size` if it claims more elements than memory can address; `Allocation` if memory is refused.
    #[track_caller]
    pub fn read_npy(path: impl AsRef<Path>) -> Result<Array> {
        let place = Place::caller();
        read_file(path.as_ref()).map_err(|e| e.fact(format_args!("file: {}", path.as_ref().display())).at(place))
    }

    /// Reads what is in memory as a `.npy` file would hold it: a part of an archive, or what came over a network.
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
        let place = Place::caller();
        read(Cursor::new(bytes), bytes.len() as u64).map_err(|e| e.unnamed().of("from_npy").at(place))
    }

    /// Writes a `.npy` file, replacing one that exists.
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
    /// `Io` if the file cannot be written, `DType` for `f16` and `bf16`; those of [`eval`](Array::eval).
    #[track_caller]
    pub fn write_npy(&self, path: impl AsRef<Path>) -> Result<()> {
        let (path, place) = (path.as_ref(), Place::caller());
        fn write<T: Element + WritableElement>(array: &Array, path: &Path) -> Result<()> {
            let elements = ArrayD::<T>::try_from(array)?;
            let failed = |e: &dyn Display| {
                Error::new(ErrorCode::Io, format!("write_npy: {e}")).fact(format_args!("file: {}", path.display()))
            };
            let mut file = BufWriter::new(File::create(path).map_err(|e| failed(&e))?);
            elements.write_npy(&mut file).map_err(|e| failed(&e))?;
            file.flush().map_err(|e| failed(&e))
        }
        let refused = Err(Error::new(ErrorCode::DType, format!("write_npy: {} is not supported", self.dtype()))
            .help("convert with `.cast(DType::F32)`"));
        self.eval()?;
        for_element!(self.dtype(), write(self, path), else refused).map_err(|e| e.at(place))
    }
}

fn read_file(path: &Path) -> Result<Array> {
    let file = File::open(path).map_err(|e| failed(&e))?;
    let bytes = file.metadata().map_err(|e| failed(&e))?.len();
    read(file, bytes)
}

/// Reads a source of so many bytes from its beginning.
fn read<R: Read + Seek>(mut source: R, bytes: u64) -> Result<Array> {
    fn elements<T: Element + ReadableElement>(source: impl Read) -> Result<Array> {
        ArrayD::<T>::read_npy(BufReader::new(source)).map(Array::from).map_err(|e| failed(&e))
    }
    let header = Header::read(&mut source)?;
    let promised = header.data(bytes)?;
    // The crate that reads aborts where memory is refused, so ask before.
    Vec::<u8>::new().try_reserve_exact(promised).map_err(|_| {
        Error::new(ErrorCode::Allocation, format!("read_npy: the system refused {promised} bytes"))
            .fact(format_args!("the header says {}{}", header.dtype, header.shape))
    })?;
    source.seek(SeekFrom::Start(0)).map_err(|e| failed(&e))?;
    let refused = Err(Error::new(ErrorCode::DType, format!("read_npy: {} is not supported", header.dtype))
        .help("save `a.astype('<f4')`"));
    for_element!(header.dtype, elements(source), else refused)
}

/// More than a header of plain numbers in 64 dimensions needs.
const LONGEST_HEADER: usize = 4096;

/// What a file says of itself. Read before the file is handed on, so that neither a size no memory holds nor a header
/// nested a thousand deep gets further than here.
pub(crate) struct Header {
    pub dtype: DType,
    pub shape: Shape,
    /// Whether the first axis is the innermost one.
    pub column_major: bool,
    /// Bytes before the data.
    pub len: usize,
}

impl Header {
    /// The header at the beginning of a source.
    pub fn read(source: &mut impl Read) -> Result<Header> {
        let mut start = Vec::new();
        source.take(LONGEST_HEADER as u64).read_to_end(&mut start).map_err(|e| failed(&e))?;
        Header::parse(&start)
    }

    /// How many bytes of data the header promises, all of which a source of so many `bytes` holds.
    pub fn data(&self, bytes: u64) -> Result<usize> {
        let promised = self.shape.bytes(self.dtype.bytes())?;
        let data = bytes.saturating_sub(self.len as u64);
        if data >= promised as u64 {
            return Ok(promised);
        }
        Err(failed(&"the file ends before its data does")
            .fact(format_args!("the header says {}{}: {promised} bytes", self.dtype, self.shape))
            .fact(format_args!("bytes after the header: {data}"))
            .help("the file is truncated: copy or write it again"))
    }

    /// The text of a file's beginning, for an array in row-major order; `None` for a dtype that NumPy has not.
    pub fn write(dtype: DType, shape: &Shape) -> Option<Vec<u8>> {
        let extents: String = shape.extents().iter().map(|extent| format!("{extent}, ")).collect();
        let extents = if shape.rank() == 1 { extents.trim_end() } else { extents.trim_end_matches(", ") };
        let fields = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({extents}), }}", dtype.row().npy?);
        // Data begins at a multiple of 64 bytes; the shapes of 64 axes are short enough for the first version of the format.
        let text = (10 + fields.len() + 1).next_multiple_of(64) - 10;
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&u16::try_from(text).ok()?.to_le_bytes());
        bytes.extend_from_slice(fields.as_bytes());
        bytes.resize(10 + text - 1, b' ');
        bytes.push(b'\n');
        Some(bytes)
    }

    fn parse(start: &[u8]) -> Result<Header> {
        let (descriptor, shape, column_major, len) = Header::fields(start).ok_or_else(|| {
            failed(&"not a .npy file of numbers")
                .help("`numpy.save` writes such files, of arrays that are not structured")
        })?;
        let dtype = DType::from_npy(descriptor).map_err(|e| e.of("read_npy"))?;
        Ok(Header { dtype, shape, column_major, len })
    }

    /// The type descriptor, the shape, whether it is column-major, and the bytes before the data.
    fn fields(start: &[u8]) -> Option<(&str, Shape, bool, usize)> {
        let after = start.strip_prefix(b"\x93NUMPY")?;
        let (before, len): (usize, usize) = match *after {
            [1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([a, b]))),
            [2 | 3, _, a, b, c, d, ..] => (12, usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?),
            _ => return None,
        };
        let text = std::str::from_utf8(start.get(before..before.checked_add(len)?)?).ok()?;
        if text.matches(['(', '[', '{']).count() > 2 {
            return None;
        }
        let descriptor = text.split_once("'descr'")?.1.split('\'').nth(1)?;
        let extents = text.split_once("'shape'")?.1.split_once('(')?.1.split_once(')')?.0;
        let extents = extents.split(',').map(str::trim).filter(|e| !e.is_empty());
        let extents: Vec<usize> = extents.map(|e| e.parse().ok()).collect::<Option<_>>()?;
        let column_major = text.split_once("'fortran_order'")?.1.split([',', '}']).next()?.contains("True");
        Some((descriptor, Shape::new(&extents), column_major, before + len))
    }
}

fn failed(error: &dyn Display) -> Error {
    Error::new(ErrorCode::Io, format!("read_npy: {error}"))
}
