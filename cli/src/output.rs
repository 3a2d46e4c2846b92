//! Results: written to `.npy` and `.csv` files in parts, or printed.
//!
//! A file is written beside its path and moved there once complete (`formats/src/replacement.rs`). An input may have
//! the same path, and a failure leaves no file.

use crate::outcome::CommandFailure;
use ndjit::npy::Writer;
use ndjit::npy::replacement::Replacement;
use ndjit::{Array, Complex, DType, Error, ErrorCode, Shape, Spec, bf16, f16};
use ndjit_expressions::{Budget, Reservation};
use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file being written.
pub struct OutputFile {
    file: FileFormat,
    /// The requested path.
    path: PathBuf,
    /// The memory of text buffers.
    _buffers: Reservation,
}

enum FileFormat {
    Npy(Writer),
    Csv(BufWriter<File>, Replacement),
}

/// Number of elements formatted at once.
const BLOCK: usize = 1 << 13;

impl OutputFile {
    /// Creates a file for a result.
    ///
    /// # Errors
    /// `Io` if it cannot be written, or has an unknown extension; `DType` and `Shape` for unsupported results;
    /// `Allocation` if its buffers exceed the budget.
    pub fn create(path: &Path, result: &Spec, budget: &Budget) -> Result<OutputFile, CommandFailure> {
        let of_file = |error: Error| error.in_file(path);
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        let refused = match extension.as_str() {
            "npy" if result.dtype() == DType::Bf16 => Error::new(ErrorCode::DType, "write_npy: NumPy has no bf16")
                .help("convert the result: `astype(…, f32)`"),
            "csv" if result.shape().rank() > 2 => Error::new(ErrorCode::Shape, "write_csv: a table has two axes")
                .fact(format_args!("the result: {result}"))
                .help("write a .npy file, or reshape it"),
            "npy" | "csv" => {
                let _buffers = budget.reserve("buffers", BLOCK * (result.dtype().bytes() + 1))?;
                let file = match extension.as_str() {
                    "npy" => FileFormat::Npy(Writer::create(path, result.dtype(), result.shape())?),
                    _ => {
                        let place = Replacement::create(path).map_err(of_file)?;
                        let file = File::create(place.path()).map_err(|e| of_file(failed("write_csv", &e)))?;
                        FileFormat::Csv(BufWriter::new(file), place)
                    }
                };
                return Ok(OutputFile { file, path: path.to_owned(), _buffers });
            }
            _ => {
                return Err(CommandFailure::Usage(
                    of_file(Error::new(ErrorCode::Io, "write: the name does not say how"))
                        .help("files that end in .npy or .csv are written, and programs as files that end in .ndjit"),
                ));
            }
        };
        Err(of_file(refused).into())
    }

    /// Appends a part.
    ///
    /// # Errors
    /// `Io` if it cannot be written; those of evaluation.
    pub fn write(&mut self, part: &Array) -> Result<(), Error> {
        let written = match &mut self.file {
            FileFormat::Npy(writer) => writer.write(part),
            FileFormat::Csv(file, _) => write_rows(part, file),
        };
        written.map_err(|e| e.in_file(&self.path))
    }

    /// Moves the complete file to its path.
    ///
    /// # Errors
    /// `Io` if it cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        let written = match self.file {
            FileFormat::Npy(writer) => writer.finish(),
            FileFormat::Csv(mut file, place) => {
                file.flush().map_err(|e| failed("write_csv", &e)).and_then(|()| place.finish())
            }
        };
        written.map_err(|e| e.in_file(&self.path))
    }
}

/// Approximate memory of a printed element: twice its text.
const CELL: usize = 80;

/// Upper bound on the printed elements: the ends of each axis if there are more than 1000, at most of four such axes.
fn shown(shape: &Shape) -> usize {
    const EDGES: usize = 6;
    const MOST: usize = EDGES.pow(4);
    let count = |most: usize| shape.extents().iter().fold(1usize, |n, &extent| n.saturating_mul(extent.min(most)));
    if count(usize::MAX) > 1000 { count(EDGES).min(MOST) } else { count(usize::MAX) }
}

/// Prints a result: its type, and its elements in NumPy's format. `all` is the shape if only the first rows were
/// computed.
pub fn print(array: &Array, all: &Shape, budget: &Budget, out: &mut dyn Write) -> Result<(), CommandFailure> {
    let _text = budget.reserve("the result as text", shown(array.shape()).saturating_mul(CELL))?;
    let stored = if array.is_weak() { format!(", stored as {}", array.dtype()) } else { String::new() };
    writeln!(out, "{}{all}{stored}", array.value_type())?;
    writeln!(out, "{array}")?;
    let (shown, rows) = (array.shape().extents().first(), all.extents().first());
    if let (Some(shown), Some(rows)) = (shown, rows)
        && shown < rows
    {
        writeln!(out, "… the first {shown} of {rows}; `-o FILE` writes all")?;
    }
    Ok(())
}

/// Writes the rows of an array as lines.
fn write_rows(part: &Array, file: &mut impl Write) -> Result<(), Error> {
    let width = match part.shape().extents() {
        [_, columns] => (*columns).max(1),
        _ => 1,
    };
    let (flat, count) = (part.reshape(-1), part.shape().size()?);
    for start in (0..count).step_by(BLOCK) {
        let block = flat.slice(start..(start + BLOCK).min(count));
        write_block(&block, file, |at| if (start + at + 1).is_multiple_of(width) { "\n" } else { "," })?;
    }
    Ok(())
}

/// Writes elements as text, each followed by `after`.
fn write_block(block: &Array, file: &mut impl Write, after: impl Fn(usize) -> &'static str) -> Result<(), Error> {
    macro_rules! of {
        ($($dtype:ident $t:ty, $x:ident => $format:literal, $($value:expr),*;)*) => {
            match block.dtype() {
                $(DType::$dtype => {
                    let elements = block.to_vec::<$t>()?;
                    elements.into_iter().enumerate().try_for_each(|(at, $x)| {
                        write!(file, $format, $($value),*)?;
                        file.write_all(after(at).as_bytes())
                    })
                })*
            }
        };
    }
    let written = of! {
        Bool bool, x => "{}", if x { "True" } else { "False" };
        U8 u8, x => "{}", x;
        U16 u16, x => "{}", x;
        U32 u32, x => "{}", x;
        U64 u64, x => "{}", x;
        I8 i8, x => "{}", x;
        I16 i16, x => "{}", x;
        I32 i32, x => "{}", x;
        I64 i64, x => "{}", x;
        Bf16 bf16, x => "{}", x;
        F16 f16, x => "{}", x;
        F32 f32, x => "{}", x;
        F64 f64, x => "{}", x;
        C64 Complex<f32>, z => "{}{:+}j", z.re, z.im;
        C128 Complex<f64>, z => "{}{:+}j", z.re, z.im;
    };
    written.map_err(|e: std::io::Error| failed("write_csv", &e))
}

fn failed(what: &str, error: &dyn Display) -> Error {
    Error::new(ErrorCode::Io, format!("{what}: {error}"))
}
