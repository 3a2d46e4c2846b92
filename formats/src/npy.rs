//! The header of a `.npy` file, for all readers and writers.
//!
//! The header is a Python dict of three keys and plain values, parsed in one pass over at most 65,535 bytes, without recursion. It is
//! independent of the elements' destination.

use ndjit_ir::{Code, DType, Error, ErrorCode, Help, Result, Shape};
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// The maximum length of a header of format version 1.0, bytes. Later versions are for structured dtypes, which are not supported.
const LONGEST: usize = u16::MAX as usize;
/// NumPy's maximum number of axes.
const MOST_AXES: usize = 64;
const MAGIC: &[u8] = b"\x93NUMPY";

/// The dtype, shape and memory order of the array in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The dtype of the elements.
    pub dtype: DType,
    /// The extents of the axes, outermost first.
    pub shape: Shape,
    /// Whether the first axis is the innermost one.
    pub column_major: bool,
    /// Bytes before the data.
    pub len: usize,
}

impl Header {
    /// Reads the header at the start of a source.
    ///
    /// # Errors
    /// `Io` for a source that cannot be read or is not a `.npy` file of numbers; `DType` for another dtype; `Size` for an impossible shape.
    pub fn read(source: &mut impl Read) -> Result<Header> {
        let mut version = [0; 8];
        fill(source, &mut version)?;
        let Some(&[major, minor]) = version.strip_prefix(MAGIC) else {
            return Err(refused(&"it does not begin with \\x93NUMPY"));
        };
        let mut length = [0; 4];
        let width = match (major, minor) {
            (1, 0) => 2,
            (2 | 3, 0) => 4,
            _ => return Err(refused(&format_args!("version {major}.{minor}; known are 1.0, 2.0 and 3.0"))),
        };
        fill(source, &mut length[..width])?;
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > LONGEST {
            return Err(refused(&format_args!("a header of {length} bytes; at most {LONGEST} are read")));
        }
        let mut text = vec![0; length];
        fill(source, &mut text)?;
        Fields::read(&text)?.header(MAGIC.len() + 2 + width + length)
    }

    /// The number of bytes of data, which must be the rest of a source of so many `bytes`.
    ///
    /// # Errors
    /// `Io` if the source contains fewer or more.
    pub fn data(&self, bytes: u64) -> Result<usize> {
        let promised = self.shape.bytes(self.dtype.bytes())?;
        let data = bytes.saturating_sub(self.len as u64);
        let (what, help) = match data.cmp(&(promised as u64)) {
            std::cmp::Ordering::Equal => return Ok(promised),
            std::cmp::Ordering::Less => {
                ("the file ends before its data does", "the file is truncated: copy or write it again")
            }
            std::cmp::Ordering::Greater => {
                ("the file goes on after its data", "save one array in each file; `numpy.savez` is for several")
            }
        };
        Err(failed(&what)
            .fact(format_args!("the header says {}{}: {promised} bytes", self.dtype, self.shape))
            .fact(format_args!("bytes after the header: {data}"))
            .help(help))
    }

    /// The extents of the array in the file, outermost first, and the permutation to the array's axes.
    pub fn layout(&self) -> (Shape, Option<Vec<isize>>) {
        if !self.column_major {
            return (self.shape.clone(), None);
        }
        let reversed: Vec<usize> = self.shape.extents().iter().rev().copied().collect();
        let axes = (0..reversed.len() as isize).rev().collect();
        (Shape::from(reversed), Some(axes))
    }

    /// The header of an array in row-major order, as text.
    ///
    /// # Errors
    /// `DType` for `bf16`, which NumPy lacks; `Size` for more axes than a header can express.
    pub fn write(dtype: DType, shape: &Shape) -> Result<Vec<u8>> {
        let descriptor = dtype.row().npy.ok_or_else(|| {
            Error::new(ErrorCode::DType, format!("{dtype} is not supported"))
                .of("write_npy")
                .help(Help::from("convert with ").code(Code::CastAfter(DType::F32)))
        })?;
        let too_long = || {
            Error::new(ErrorCode::Size, "a header holds no such shape")
                .of("write_npy")
                .fact(format_args!("{} axes; arrays of NumPy have {MOST_AXES} at most", shape.rank()))
        };
        if shape.rank() > MOST_AXES {
            return Err(too_long());
        }
        let extents: String = shape.extents().iter().map(|extent| format!("{extent}, ")).collect();
        let extents = if shape.rank() == 1 { extents.trim_end() } else { extents.trim_end_matches(", ") };
        let fields = format!("{{'descr': '{descriptor}', 'fortran_order': False, 'shape': ({extents}), }}");
        let before = MAGIC.len() + 4;
        // Data begins at a multiple of 64 bytes.
        let text = (before + fields.len() + 1).next_multiple_of(64) - before;
        let length = u16::try_from(text).map_err(|_| too_long())?;
        let mut bytes = [MAGIC, &[1, 0], &length.to_le_bytes(), fields.as_bytes()].concat();
        bytes.resize(before + text - 1, b' ');
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// Swaps elements between the file's little-endian order and that of this machine; rejects invalid bytes.
///
/// # Errors
/// `Io` for bools that are neither 0 nor 1.
pub fn elements(dtype: DType, bytes: &mut [u8]) -> Result<()> {
    if cfg!(target_endian = "big") {
        let part = dtype.real().bytes();
        bytes.chunks_exact_mut(part).for_each(<[u8]>::reverse);
    }
    check_bools(dtype, bytes)
}

/// Writes elements in the file's byte order.
///
/// # Errors
/// Those of writing.
pub fn write_elements(to: &mut impl Write, dtype: DType, bytes: &[u8]) -> std::io::Result<()> {
    if cfg!(target_endian = "little") {
        return to.write_all(bytes);
    }
    let part = dtype.real().bytes();
    bytes.chunks_exact(part).try_for_each(|element| {
        let reversed: Vec<u8> = element.iter().rev().copied().collect();
        to.write_all(&reversed)
    })
}

/// Opens a file for reading. Devices, pipes and folders are rejected: their length is unknown.
///
/// # Errors
/// `Io` if it is not a regular file, or cannot be opened.
pub fn open(path: &Path) -> Result<File> {
    // Before it is opened: opening a pipe without a writer would block.
    match std::fs::metadata(path).map_err(|e| failed(&e))?.is_file() {
        true => File::open(path).map_err(|e| failed(&e)),
        false => Err(failed(&"a folder, device or pipe, no file").help("copy what it gives to a file")),
    }
}

/// Rejects invalid bools.
///
/// # Errors
/// `Io` for bools that are neither 0 nor 1.
pub fn check_bools(dtype: DType, bytes: &[u8]) -> Result<()> {
    if dtype != DType::Bool {
        return Ok(());
    }
    match bytes.iter().position(|&byte| byte > 1) {
        Some(at) => {
            Err(failed(&"bools that are neither 0 nor 1").fact(format_args!("byte {at} of the data: {}", bytes[at])))
        }
        None => Ok(()),
    }
}

/// An error of reading a file.
pub fn failed(error: &dyn Display) -> Error {
    Error::new(ErrorCode::Io, error.to_string()).of("read_npy")
}

/// The error of an invalid file, with the reason.
fn refused(why: &dyn Display) -> Error {
    failed(&"not a .npy file of numbers")
        .fact(why)
        .help("`numpy.save` writes such files, of arrays that are not structured")
}

/// The maximum number of digits of a number in an error.
const DIGITS: usize = 40;

/// The error of an extent that is too large.
fn beyond(extent: &str) -> Error {
    let more = if extent.len() > DIGITS { "…" } else { "" };
    let shown = &extent[..extent.len().min(DIGITS)];
    Error::new(ErrorCode::Size, format!("an extent of {shown}{more} is more than memory can address"))
        .of("read_npy")
        .fact(format_args!("limit: {} elements", isize::MAX))
        .help("the header is damaged, or made to be refused: write the file again")
}

fn fill(source: &mut impl Read, bytes: &mut [u8]) -> Result<()> {
    source.read_exact(bytes).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => refused(&"it ends before its header does"),
        _ => failed(&error),
    })
}

/// The values of the dict.
#[derive(Default)]
struct Fields<'a> {
    descriptor: Option<&'a str>,
    column_major: Option<bool>,
    extents: Option<Vec<usize>>,
}

impl<'a> Fields<'a> {
    fn read(text: &'a [u8]) -> Result<Fields<'a>> {
        let at = text.iter().position(|byte| !byte.is_ascii() || *byte == 0);
        let (Ok(text), None) = (std::str::from_utf8(text), at) else {
            return Err(refused(&format_args!("byte {} of its header is not ASCII text", at.unwrap_or(0))));
        };
        let mut words = HeaderReader { text, at: 0, beyond: None };
        words.dict().ok_or_else(|| {
            if let Some(extent) = words.beyond {
                return beyond(extent);
            }
            let found = words.rest().chars().next().map_or("the end".to_owned(), |c| format!("`{c}`"));
            refused(&format_args!(
                "its header is not a dict of 'descr', 'fortran_order' and 'shape': {found} at byte {}",
                words.at
            ))
        })
    }

    fn header(self, len: usize) -> Result<Header> {
        let missing = |key: &str| refused(&format_args!("its header has no '{key}'"));
        let descriptor = self.descriptor.ok_or_else(|| missing("descr"))?;
        let column_major = self.column_major.ok_or_else(|| missing("fortran_order"))?;
        let shape = Shape::from(self.extents.ok_or_else(|| missing("shape"))?);
        if shape.rank() > MOST_AXES {
            return Err(refused(&format_args!("{} axes; arrays of NumPy have {MOST_AXES} at most", shape.rank())));
        }
        let dtype = DType::from_npy(descriptor).map_err(|e| e.of("read_npy"))?;
        shape.bytes(dtype.bytes()).map_err(|e| e.of("read_npy"))?;
        Ok(Header { dtype, shape, column_major, len })
    }
}

/// A header's text, and the offset of the parser.
struct HeaderReader<'a> {
    text: &'a str,
    at: usize,
    /// The first integer that is too large for an extent, where parsing stopped.
    beyond: Option<&'a str>,
}

impl<'a> HeaderReader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips blanks, and `word` if it is next.
    fn take(&mut self, word: &str) -> Option<()> {
        let rest = self.rest().trim_start_matches([' ', '\n', '\t']);
        self.at = self.text.len() - rest.len();
        rest.starts_with(word).then(|| self.at += word.len())
    }

    /// Parses the whole dict. `None` for invalid text, with the offset where parsing stopped.
    fn dict(&mut self) -> Option<Fields<'a>> {
        let mut fields = Fields::default();
        self.take("{")?;
        while self.take("}").is_none() {
            let start = self.at;
            let key = self.quoted()?;
            self.take(":")?;
            let first = match key {
                "descr" => fields.descriptor.replace(self.quoted()?).is_none(),
                "fortran_order" => fields.column_major.replace(self.bool()?).is_none(),
                "shape" => fields.extents.replace(self.tuple()?).is_none(),
                _ => false,
            };
            if !first {
                self.at = start;
                return None;
            }
            if self.take(",").is_none() {
                self.take("}")?;
                break;
            }
        }
        self.take("")?;
        self.rest().is_empty().then_some(fields)
    }

    fn quoted(&mut self) -> Option<&'a str> {
        self.take("")?;
        let quote = self.rest().chars().next().filter(|c| ['\'', '"'].contains(c))?;
        let inside = self.rest()[1..].split(quote).next()?;
        // An unterminated string reaches to the end of the text; descriptors contain no escapes.
        let whole = self.at + inside.len() + 2 <= self.text.len() && !inside.contains('\\');
        whole.then(|| self.at += inside.len() + 2)?;
        Some(inside)
    }

    fn bool(&mut self) -> Option<bool> {
        match self.take("True") {
            Some(()) => Some(true),
            None => self.take("False").map(|()| false),
        }
    }

    /// `()`, `(2,)`, `(2, 3)`: integers in the range of extents. `(2)` is not a tuple in Python either.
    fn tuple(&mut self) -> Option<Vec<usize>> {
        self.take("(")?;
        let mut extents = Vec::new();
        let mut comma = true;
        while self.take(")").is_none() {
            if !comma {
                return None;
            }
            let digits = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
            let number = &self.rest()[..digits];
            if number.len() > 1 && number.starts_with('0') {
                return None;
            }
            match number.parse() {
                Ok(extent) => extents.push(extent),
                Err(_) => {
                    self.beyond = Some(number).filter(|number| !number.is_empty());
                    return None;
                }
            }
            self.at += digits;
            // Python 2 writes long integers with a suffix.
            if self.rest().starts_with('L') {
                self.at += 1;
            }
            comma = self.take(",").is_some();
        }
        (extents.len() != 1 || comma).then_some(extents)
    }
}
