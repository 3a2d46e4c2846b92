//! Inputs of programs: `.npy` files, read during the computation; columns and tables of `.csv` files, read at once;
//! numbers.

use crate::outcome::CommandFailure;
use crate::specs::check_name;
use crate::table;
use ndjit::npy::Reader;
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{Array, Complex, Error, ErrorCode, Scalar, Shape, Spec, Weak, nearest, weak};
use ndjit_expressions::{Budget, Reservation};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The length of a file, and the time of its last change.
type Version = Option<(u64, SystemTime)>;

fn version(path: &Path) -> Version {
    let metadata = path.metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// An input.
pub enum ProgramInput {
    /// A `.npy` file, read during the computation.
    Npy(Box<Reader>, PathBuf, Version),
    /// The contents of a `.csv` file, with their reservation.
    Table { array: Array, _memory: Reservation },
    /// A weak number.
    Number(Scalar),
}

/// Opens each `NAME=INPUT`; tables reserve memory from `budget`.
///
/// # Errors
/// Invalid texts and files.
pub fn named(texts: &[String], budget: &Budget) -> Result<Vec<(String, ProgramInput)>, CommandFailure> {
    let mut inputs: Vec<(String, ProgramInput)> = Vec::new();
    for text in texts {
        let (name, source) = text.split_once('=').ok_or_else(|| {
            wrong(format!("input `{text}`: no `=` after the name"))
                .map(|error| error.help("inputs are written `x=a.npy`, `x=data.csv:column` or `k=2.5`"))
        })?;
        check_name(name).map_err(CommandFailure::Usage)?;
        if inputs.iter().any(|(other, _)| other == name) {
            return Err(wrong(format!("input `{text}`: one of this name was given before")));
        }
        let of_input = |failure: CommandFailure| failure.map(|error| error.of(format!("input `{name}`")));
        let input = ProgramInput::open(source, budget).map_err(of_input)?;
        inputs.push((name.to_owned(), input));
    }
    Ok(inputs)
}

impl ProgramInput {
    /// Opens a file, or parses a number.
    ///
    /// # Errors
    /// `Io` if a file cannot be read; a usage error for other texts.
    pub fn open(source: &str, budget: &Budget) -> Result<ProgramInput, CommandFailure> {
        if let Some(number) = number(source) {
            return Ok(ProgramInput::Number(number));
        }
        let lower = source.to_ascii_lowercase();
        if lower.ends_with(".npy") {
            let path = PathBuf::from(source);
            present(&path)?;
            let version = version(&path);
            return Ok(ProgramInput::Npy(Box::new(Reader::open(&path)?), path, version));
        }
        if let Some(end) = lower.rfind(".csv").map(|at| at + 4) {
            let (path, rest) = (&source[..end], &source[end..]);
            let column = rest.strip_prefix(':');
            if rest.is_empty() || column.is_some() {
                present(Path::new(path))?;
                let (array, _memory) = table::read(path, column, budget)?;
                return Ok(ProgramInput::Table { array, _memory });
            }
        }
        let (what, help) = match source {
            "" => ("nothing is given".to_owned(), "write a file or a number after the `=`"),
            _ => (
                format!("`{source}` is neither a number nor a .npy or .csv file"),
                "write `x=a.npy`, `x=data.csv`, `x=data.csv:column` or `k=2.5`",
            ),
        };
        Err(wrong(what).map(|error| error.help(help)))
    }

    /// The type and shape.
    pub fn spec(&self) -> Spec {
        match self {
            ProgramInput::Npy(reader, ..) => ndjit::spec(reader.dtype(), reader.shape().clone()),
            ProgramInput::Table { array, .. } => Spec::of(array),
            ProgramInput::Number(number) => match number.value_type() {
                ndjit::ValueType::Weak(kind) => Spec::number(kind),
                // True and False are strong.
                ty => ndjit::spec(ty, []),
            },
        }
    }

    /// The input as an argument: all of it, or some rows.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
    pub fn argument(&self, rows: Option<Range<usize>>) -> Result<AnyOperand, Error> {
        Ok(match (self, rows) {
            (ProgramInput::Npy(reader, ..), Some(rows)) => reader.copied_rows(rows)?.operand(),
            (ProgramInput::Npy(reader, ..), None) => reader.copied()?.operand(),
            (ProgramInput::Table { array, .. }, Some(rows)) => array.slice(rows).operand(),
            (ProgramInput::Table { array, .. }, None) => array.operand(),
            (ProgramInput::Number(number), _) if number.is_weak() => number.operand(),
            (ProgramInput::Number(number), _) => Array::scalar(*number).operand(),
        })
    }

    /// Rejects a file that changed since it was opened, as its elements may be of both versions.
    ///
    /// # Errors
    /// `Io` if it changed.
    pub fn unchanged(&self) -> Result<(), Error> {
        match self {
            ProgramInput::Npy(_, path, before) if *before != version(path) => {
                Err(Error::new(ErrorCode::Io, "read_npy: the file changed while it was read")
                    .fact(format_args!("file: {}", path.display()))
                    .help("run the command again when the file is whole"))
            }
            _ => Ok(()),
        }
    }

    /// The number of bytes read for an argument of this number of rows, or of all.
    pub fn read_bytes(&self, rows: Option<usize>) -> usize {
        let ProgramInput::Npy(reader, ..) = self else { return 0 };
        let mut extents = reader.shape().extents().to_vec();
        if let (Some(first), Some(rows)) = (extents.first_mut(), rows) {
            *first = rows;
        }
        Shape::from(extents).bytes(reader.dtype().bytes()).unwrap_or(usize::MAX)
    }
}

/// The error of a malformed input.
fn wrong(what: String) -> CommandFailure {
    CommandFailure::Usage(Error::new(ErrorCode::Parse, what))
}

/// Rejects a missing file, and suggests one with a similar name in its folder.
pub fn present(file: &Path) -> Result<(), Error> {
    if file.exists() {
        return Ok(());
    }
    let error = Error::new(ErrorCode::Io, format!("there is no file {}", file.display()));
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = folder.read_dir() else {
        return Err(error.help(format!("nor is there a folder {}", folder.display())));
    };
    let names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Err(match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => error.help(format!("did you mean {}?", file.with_file_name(near).display())),
        None => error.help("files are named from the folder in which `ndjit` runs"),
    })
}

/// Parses a number in the syntax of expressions.
fn number(text: &str) -> Option<Scalar> {
    match text {
        "True" => return Some(weak(true)),
        "False" => return Some(weak(false)),
        _ => {}
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) && !["inf", "nan"].contains(&text) {
        return None;
    }
    if let Some(imaginary) = text.strip_suffix('j') {
        return imaginary.parse().ok().map(|y: f64| weak(Complex::new(0.0, y)));
    }
    let int = text.parse::<i64>().ok().map(weak).or_else(|| text.parse::<u64>().ok().map(weak));
    int.or_else(|| text.parse::<f64>().ok().map(weak))
}

/// The kind of a number; `None` for True and False.
pub fn kind(number: Scalar) -> Option<Weak> {
    match number.value_type() {
        ndjit::ValueType::Weak(kind) => Some(kind),
        ndjit::ValueType::Strong(_) => None,
    }
}
