//! Names of dtypes: short and long names, and the descriptors of `.npy` files.
//!
//! Sizes in short names are in bits. NumPy's codes count bytes: they are refused, and the error suggests a name. Ambiguous names
//! are refused too. A text that is a dtype's short name (`i8`, `u8`, `f16`) is that dtype.

use super::set::DTypeSet;
use super::table::{DType, ROWS, Row};
use crate::error::{Error, ErrorCode, Result};
use crate::help::{Code, Help};
use std::fmt;
use std::str::FromStr;

impl fmt::Display for DType {
    /// Writes the short name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    /// Reads a short (`f32`) or long (`float32`) name.
    ///
    /// ```
    /// use ndjit_ir::DType;
    ///
    /// assert_eq!("float32".parse(), Ok(DType::F32));
    /// assert_eq!("i8".parse(), Ok(DType::I8)); // 8 bits; NumPy's code `i8` counts bytes
    /// assert!("f8".parse::<DType>().is_err());
    /// ```
    ///
    /// # Errors
    /// `DType` for unknown names, for NumPy's codes, which count bytes (`f4`, `u1`), for ambiguous names (`c8`, `f8`), and for
    /// names without a size (`float`).
    fn from_str(text: &str) -> Result<DType> {
        let row = ROWS.iter().find(|row| row.name == text || row.long == text);
        row.map(|row| row.dtype).ok_or_else(|| not_a_name(text))
    }
}

impl FromStr for DTypeSet {
    type Err = Error;

    /// Parses the name of a class or of a dtype.
    fn from_str(text: &str) -> Result<DTypeSet> {
        let class = DTypeSet::CLASSES.into_iter().find(|(name, _)| *name == text);
        class.map(|(_, set)| Ok(set)).unwrap_or_else(|| {
            let names = || DTypeSet::CLASSES.map(|(name, _)| format!("`{name}`")).join(" ");
            text.parse::<DType>().map(DTypeSet::from).map_err(|e| e.fact(format_args!("classes: {}", names())))
        })
    }
}

impl DType {
    /// The dtype of a type descriptor in the header of a `.npy` file, such as `<f4` or `|u1`: a byte order (`<`, or `|` for
    /// single bytes), a letter, and a size in bytes. See the
    /// [format](https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
    ///
    /// The inverse is [`Row::npy`].
    ///
    /// ```
    /// use ndjit_ir::DType;
    ///
    /// assert_eq!(DType::from_npy("<c8"), Ok(DType::C64));
    /// assert!(DType::from_npy(">f4").is_err());
    /// ```
    ///
    /// `DType` for big-endian data, a descriptor without byte order, raw bytes (NumPy's form of bfloat16), and all other texts.
    pub fn from_npy(descriptor: &str) -> Result<DType> {
        let row = ROWS.iter().find(|row| row.npy == Some(descriptor));
        row.map(|row| row.dtype).ok_or_else(|| not_a_descriptor(descriptor))
    }
}

/// The code and size of a row's descriptor, without byte order: NumPy's code for the dtype, `f4`.
fn numpy_code(row: &Row) -> Option<&'static str> {
    row.npy.map(|npy| npy.trim_start_matches(['<', '|']))
}

fn not_a_name(text: &str) -> Error {
    ambiguous(text).or_else(|| in_bytes(text)).or_else(|| no_size(text)).unwrap_or_else(|| {
        let help = match (DType::from_npy(text), elsewhere(text)) {
            (Ok(dtype), _) => written_as(&[dtype]).rust("; descriptors of .npy files are read by `DType::from_npy`"),
            (_, Some(dtype)) => written_as(&[dtype]),
            _ => Help::from("long names such as `float32` are read too"),
        };
        Error::new(ErrorCode::DType, format!("unknown dtype `{text}`"))
            .fact(format_args!("dtypes: {}", DTypeSet::ALL))
            .help(help)
    })
}

/// The names here of a dtype with a name elsewhere.
fn written_as(dtypes: &[DType]) -> Help {
    Help::from("write ").code(Code::DTypes(dtypes.to_vec()))
}

/// Other names of NumPy and PyTorch, each for one dtype on every platform.
const ELSEWHERE: [(&str, DType); 5] = [
    ("bool_", DType::Bool),
    ("short", DType::I16),
    ("half", DType::F16),
    ("single", DType::F32),
    ("double", DType::F64),
];

/// The dtype of another library's name, with or without the module: `torch.float16`, `double`.
fn elsewhere(text: &str) -> Option<DType> {
    let name = text.rsplit('.').next()?;
    let row = ROWS.iter().find(|row| text != name && (row.name == name || row.long == name));
    let other = ELSEWHERE.iter().find(|(other, _)| *other == name);
    row.map(|row| row.dtype).or(other.map(|(_, dtype)| *dtype))
}

/// Ambiguous names: libraries give them to two dtypes. In JAX's
/// [first tables](https://github.com/jax-ml/jax/blob/d958f3007d/docs/type_promotion.rst) sizes of complex dtypes are of one part.
const AMBIGUOUS: [(&str, [&str; 2], &[DType]); 3] = [
    ("f8", ["8 bytes, as NumPy counts: f64", "8 bits: a float that ndjit does not have"], &[DType::F64]),
    (
        "c4",
        ["4 bytes per part, as in JAX's first tables: c64", "4 bytes: two f16, a dtype that ndjit does not have"],
        &[DType::C64],
    ),
    (
        "c8",
        ["8 bytes, as NumPy counts: c64", "8 bytes per part, as in JAX's first tables: c128"],
        &[DType::C64, DType::C128],
    ),
];

fn ambiguous(text: &str) -> Option<Error> {
    let (_, [one, other], dtypes) = AMBIGUOUS.into_iter().find(|(name, ..)| *name == text)?;
    let error = Error::new(ErrorCode::DType, format!("dtype `{text}` is ambiguous"));
    Some(error.fact(one).fact(other).help(written_as(dtypes)))
}

/// Refuses NumPy's codes: their sizes are in bytes.
fn in_bytes(text: &str) -> Option<Error> {
    let row = ROWS.iter().find(|row| numpy_code(row) == Some(text))?;
    let error = Error::new(ErrorCode::DType, format!("dtype `{text}` is a code of NumPy's, which counts bytes"));
    Some(error.fact("sizes in names are in bits here").help(written_as(&[row.dtype])))
}

/// Names of a kind of numbers without a size, and their dtypes in libraries.
const NO_SIZE: [(&str, &str, &[DType]); 4] = [
    ("int", "i64 in NumPy, i32 in PyTorch, the default integer in JAX", &[DType::I32, DType::I64]),
    ("uint", "u64 in NumPy, the default unsigned integer in JAX", &[DType::U32, DType::U64]),
    ("float", "f64 in NumPy, f32 in PyTorch, the default float in JAX", &[DType::F32, DType::F64]),
    ("complex", "c128 in NumPy, the default complex dtype in JAX", &[DType::C64, DType::C128]),
];

fn no_size(text: &str) -> Option<Error> {
    let (_, readings, dtypes) = NO_SIZE.into_iter().find(|(name, ..)| *name == text)?;
    Some(Error::new(ErrorCode::DType, format!("dtype `{text}` has no size")).fact(readings).help(written_as(dtypes)))
}

fn not_a_descriptor(text: &str) -> Error {
    let error = |what: &str| Error::new(ErrorCode::DType, format!("`{text}` {what}"));
    let code = text.trim_start_matches(['<', '>', '|', '=']);
    if let Some(npy) = ROWS.iter().find(|row| numpy_code(row) == Some(code)).and_then(|row| row.npy) {
        return if text.starts_with('>') {
            error("is big-endian").help(format!("save `a.astype('{npy}')`"))
        } else {
            error("does not name its byte order as .npy files do").help(format!("write `{npy}`"))
        };
    }
    if code == "V2" {
        return error("is raw bytes, as which NumPy saves bfloat16 without saying so").help(
            Help::from("save `a.astype('<f4')`, which keeps every value, and convert with ")
                .code(Code::CastAfter(DType::Bf16))
                .text(" after reading"),
        );
    }
    let known: Vec<&str> = ROWS.iter().filter_map(|row| row.npy).collect();
    error("is no .npy descriptor of a dtype")
        .fact(format_args!("descriptors: {}", known.join(" ")))
        .help("convert with `.astype` before saving; save each field of a structured array by itself")
}
