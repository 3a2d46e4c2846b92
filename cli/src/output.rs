//! Results: written to `.npy` and `.csv` files part by part, or printed.
//!
//! A file is written beside its place and put there once it is whole: an input may have the same name, and what fails leaves nothing
//! behind.

use crate::Failure;
use ndjit::npy::Writer;
use ndjit::{Array, Complex, DType, Error, ErrorCode, Shape, Spec, bf16, f16};
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file being written.
pub struct Output {
    file: Format,
    path: PathBuf,
    /// Where it is until it is whole.
    partial: PathBuf,
}

/// The way out where a file cannot be made.
const ELSEWHERE: &str = "the file is made in its folder: name one in which you may write";

enum Format {
    Npy(Option<Writer>),
    Csv(BufWriter<File>),
}

impl Output {
    /// Creates a file for a result.
    ///
    /// # Errors
    /// `Io` if it cannot be written, or its name does not say how; `DType` and `Shape` for results it cannot hold.
    pub fn create(path: &Path, result: &Spec) -> Result<Output, Failure> {
        let of_file = |error: Error| named(&error, path);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(of_file(failed("write", &format!("there is no folder {}", folder.display())))
                .help("make it, or write to another")
                .into());
        }
        if path.is_dir() {
            return Err(of_file(failed("write", &"that is a folder"))
                .help("name a file in it that ends in .npy or .csv")
                .into());
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(name);
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        let file = match extension.as_str() {
            "npy" if result.dtype() == DType::Bf16 => {
                return Err(of_file(Error::new(ErrorCode::DType, "write_npy: NumPy has no bf16"))
                    .help("convert the result: `astype(…, f32)`")
                    .into());
            }
            "npy" => {
                let writer = Writer::create(&partial, result.dtype(), result.shape().clone());
                Format::Npy(Some(writer.map_err(|e| of_file(e).help(ELSEWHERE))?))
            }
            "csv" if result.shape().rank() > 2 => {
                return Err(of_file(Error::new(ErrorCode::Shape, "write_csv: a table has two axes"))
                    .fact(format_args!("the result: {result}"))
                    .help("write a .npy file, or reshape it")
                    .into());
            }
            "csv" => {
                let file = File::create(&partial).map_err(|e| of_file(failed("write_csv", &e)).help(ELSEWHERE))?;
                Format::Csv(BufWriter::new(file))
            }
            _ => {
                return Err(Failure::Usage(
                    of_file(Error::new(ErrorCode::Io, "write: the name does not say how"))
                        .help("files that end in .npy or .csv are written"),
                ));
            }
        };
        Ok(Output { file, path: path.to_owned(), partial })
    }

    /// Writes the next part.
    ///
    /// # Errors
    /// `Io` if it cannot be written; those of evaluation.
    pub fn write(&mut self, part: &Array) -> Result<(), Error> {
        match &mut self.file {
            Format::Npy(Some(writer)) => writer.write(part).map_err(|e| named(&e, &self.path)),
            Format::Npy(None) => Ok(()),
            Format::Csv(file) => {
                let width = match part.shape().extents() {
                    [_, columns] => (*columns).max(1),
                    _ => 1,
                };
                for row in texts(part)?.chunks(width) {
                    let written = writeln!(file, "{}", row.join(","));
                    written.map_err(|e| named(&failed("write_csv", &e), &self.path))?;
                }
                Ok(())
            }
        }
    }

    /// Puts the file to its place.
    ///
    /// # Errors
    /// `Io` if it cannot be written.
    pub fn finish(mut self) -> Result<(), Error> {
        let written = match &mut self.file {
            Format::Npy(writer) => writer.take().map_or(Ok(()), Writer::finish),
            Format::Csv(file) => file.flush().map_err(|e| failed("write_csv", &e)),
        };
        let placed = written.and_then(|()| fs::rename(&self.partial, &self.path).map_err(|e| failed("write", &e)));
        placed.map_err(|e| named(&e, &self.path))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Of a finished file there is none.
        let _ = fs::remove_file(&self.partial);
    }
}

/// Prints a result: its type, and its elements as NumPy prints them. Of more rows than these: `rows`.
pub fn print(array: &Array, all: &Shape, out: &mut dyn Write) -> Result<(), Failure> {
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

/// The elements as text, in row-major order.
fn texts(array: &Array) -> Result<Vec<String>, Error> {
    macro_rules! of {
        ($($dtype:ident $t:ty, $text:expr;)*) => {
            match array.dtype() {
                $(DType::$dtype => array.to_vec::<$t>()?.into_iter().map($text).collect(),)*
            }
        };
    }
    fn complex<T: Display>(z: Complex<T>) -> String {
        format!("{}{:+}j", z.re, z.im)
    }
    Ok(of! {
        Bool bool, |x| if x { "True".to_owned() } else { "False".to_owned() };
        U8 u8, |x| x.to_string();
        U16 u16, |x| x.to_string();
        U32 u32, |x| x.to_string();
        U64 u64, |x| x.to_string();
        I8 i8, |x| x.to_string();
        I16 i16, |x| x.to_string();
        I32 i32, |x| x.to_string();
        I64 i64, |x| x.to_string();
        Bf16 bf16, |x| x.to_string();
        F16 f16, |x| x.to_string();
        F32 f32, |x| x.to_string();
        F64 f64, |x| x.to_string();
        C64 Complex<f32>, complex;
        C128 Complex<f64>, complex;
    })
}

/// The error with the file that was asked for, in place of that which is not whole yet.
fn named(error: &Error, path: &Path) -> Error {
    let facts = error.facts().iter().filter(|fact| !fact.starts_with("file: "));
    let named = facts.fold(Error::new(error.code(), error.headline()), Error::fact);
    let named = named.fact(format_args!("file: {}", path.display()));
    match error.help_text() {
        Some(help) => named.help(help),
        None => named,
    }
}

fn failed(what: &str, error: &dyn Display) -> Error {
    Error::new(ErrorCode::Io, format!("{what}: {error}"))
}
