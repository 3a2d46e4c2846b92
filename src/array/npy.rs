//! `.npy` files.

use super::Array;
use ndarray::ArrayD;
use ndarray_npy::{ReadNpyExt, ReadableElement, WritableElement, WriteNpyExt};
use ndjit_ir::{DType, Error, ErrorCode, Result};
use ndjit_runtime::Element;
use num_complex::Complex;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
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
    /// Reads a `.npy` file: every dtype but `f16` and `bf16`, little-endian, in row- or column-major order.
    ///
    /// # Errors
    /// `Io` if the file cannot be read, is truncated, or is not a `.npy` file of such a dtype.
    pub fn read_npy(path: impl AsRef<Path>) -> Result<Array> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|e| failed("read_npy", path, e))?;
        let mut reader = BufReader::new(file);
        let mut header = Vec::new();
        (&mut reader).take(1 << 12).read_to_end(&mut header).map_err(|e| failed("read_npy", path, e))?;
        reader.seek(SeekFrom::Start(0)).map_err(|e| failed("read_npy", path, e))?;
        let Some(dtype) = dtype_in(&header) else {
            return Err(Error::new(ErrorCode::Io, "read_npy: not a .npy file of a dtype ndjit has")
                .fact(format_args!("file: {}", path.display()))
                .fact("dtypes: |b1 |u1 <u2 <u4 <u8 |i1 <i2 <i4 <i8 <f4 <f8 <c8 <c16"));
        };
        fn read<T: Element + ReadableElement>(reader: BufReader<File>) -> Result<Array, String> {
            ArrayD::<T>::read_npy(reader).map(Array::from).map_err(|e| e.to_string())
        }
        for_element!(dtype, read(reader), else Err(format!("{dtype} is not supported")))
            .map_err(|e| failed("read_npy", path, e))
    }

    /// Writes a `.npy` file, replacing one that exists.
    ///
    /// # Errors
    /// `Io` if the file cannot be written, `DType` for `f16` and `bf16`; those of [`eval`](Array::eval).
    pub fn write_npy(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        self.eval()?;
        fn write<T: Element + WritableElement>(array: &Array, path: &Path) -> Result<()> {
            let elements = ArrayD::<T>::try_from(array)?;
            let mut file = BufWriter::new(File::create(path).map_err(|e| failed("write_npy", path, e))?);
            elements.write_npy(&mut file).map_err(|e| failed("write_npy", path, e))?;
            file.flush().map_err(|e| failed("write_npy", path, e))
        }
        let refused = Err(Error::new(ErrorCode::DType, format!("write_npy: {} is not supported", self.dtype()))
            .help("convert with `.cast(DType::F32)`"));
        for_element!(self.dtype(), write(self, path), else refused)
    }
}

/// The dtype named in a header.
fn dtype_in(header: &[u8]) -> Option<DType> {
    let text = String::from_utf8_lossy(header.strip_prefix(b"\x93NUMPY")?);
    let rest = text.split_once("'descr'")?.1;
    let name = rest.split('\'').nth(1)?;
    DType::ALL.into_iter().find(|dtype| dtype.row().npy == Some(name))
}

fn failed(what: &str, path: &Path, error: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::Io, format!("{what}: {error}")).fact(format_args!("file: {}", path.display()))
}
