//! Inputs of programs: `.npy` files, mapped; columns and tables of `.csv` files, read; numbers.

use crate::specs::check_name;
use ndjit::npy::Reader;
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{Array, Complex, Error, ErrorCode, Scalar, Spec, Weak, weak};
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// What an input is.
pub enum Input {
    /// A `.npy` file, whose elements are read when they are computed with.
    Npy(Box<Reader>),
    /// What a `.csv` file holds.
    Table(Array),
    /// A number, weak as bare numbers are.
    Number(Scalar),
}

/// Reads `NAME=INPUT`, for each of them; tables take `most_bytes` at most.
///
/// # Errors
/// What is wrong with one.
pub fn named(texts: &[String], most_bytes: usize) -> Result<Vec<(String, Input)>, Error> {
    let mut inputs: Vec<(String, Input)> = Vec::new();
    for text in texts {
        let (name, source) = text.split_once('=').ok_or_else(|| {
            Error::new(ErrorCode::Parse, format!("input `{text}`: no `=` after the name"))
                .help("inputs are written `x=a.npy`, `x=data.csv:column` or `k=2.5`")
        })?;
        check_name(name)?;
        if inputs.iter().any(|(other, _)| other == name) {
            return Err(Error::new(ErrorCode::Parse, format!("input `{text}`: one of this name was given before")));
        }
        inputs.push((name.to_owned(), Input::open(source, most_bytes)?));
    }
    Ok(inputs)
}

impl Input {
    /// A file or a number.
    ///
    /// # Errors
    /// `Io` if a file cannot be read; `Parse` for what is neither.
    pub fn open(source: &str, most_bytes: usize) -> Result<Input, Error> {
        if let Some(number) = number(source) {
            return Ok(Input::Number(number));
        }
        let lower = source.to_ascii_lowercase();
        if lower.ends_with(".npy") {
            return Ok(Input::Npy(Box::new(Reader::open(source)?)));
        }
        if let Some(end) = lower.rfind(".csv").map(|at| at + 4) {
            match (&source[..end], &source[end..]) {
                (path, "") => return table(path, None, most_bytes).map(Input::Table),
                (path, rest) if rest.starts_with(':') => {
                    return table(path, Some(&rest[1..]), most_bytes).map(Input::Table);
                }
                _ => {}
            }
        }
        Err(Error::new(ErrorCode::Parse, format!("input `{source}`: neither a number nor a .npy or .csv file"))
            .help("write `x=a.npy`, `x=data.csv`, `x=data.csv:column` or `k=2.5`"))
    }

    /// Its type and shape.
    pub fn spec(&self) -> Spec {
        match self {
            Input::Npy(reader) => ndjit::spec(reader.dtype(), reader.shape().clone()),
            Input::Table(array) => Spec::of(array),
            Input::Number(number) => match number.value_type() {
                ndjit::ValueType::Weak(kind) => Spec::number(kind),
                // True and False have a dtype.
                ty => ndjit::spec(ty, []),
            },
        }
    }

    /// As an argument: all of it, or some rows.
    ///
    /// # Errors
    /// `Io` if the file cannot be mapped.
    pub fn argument(&self, rows: Option<Range<usize>>) -> Result<AnyOperand, Error> {
        Ok(match (self, rows) {
            (Input::Npy(reader), Some(rows)) => reader.rows(rows)?.operand(),
            (Input::Npy(reader), None) => reader.array()?.operand(),
            (Input::Table(array), Some(rows)) => array.slice(rows).operand(),
            (Input::Table(array), None) => array.operand(),
            (Input::Number(number), _) if number.is_weak() => number.operand(),
            (Input::Number(number), _) => Array::scalar(*number).operand(),
        })
    }

    /// How much memory it takes beside what the system keeps of files.
    pub fn bytes(&self) -> usize {
        match self {
            Input::Table(array) => array.shape().bytes(array.dtype().bytes()).unwrap_or(usize::MAX),
            Input::Npy(_) | Input::Number(_) => 0,
        }
    }
}

/// A number as it is written in an expression.
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

/// The kind of a number; none of True and False.
pub fn kind(number: Scalar) -> Option<Weak> {
    match number.value_type() {
        ndjit::ValueType::Weak(kind) => Some(kind),
        ndjit::ValueType::Strong(_) => None,
    }
}

/// A column of a `.csv` file, or all of them as a matrix. Integers where all are; else `f64`, NaN where nothing is written.
fn table(path: &str, column: Option<&str>, most_bytes: usize) -> Result<Array, Error> {
    let failed = |what: &dyn std::fmt::Display| {
        Error::new(ErrorCode::Io, format!("read_csv: {what}")).fact(format_args!("file: {path}"))
    };
    let file = File::open(Path::new(path)).map_err(|e| failed(&e))?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(file);
    let mut rows = reader.records();
    let first = rows.next().ok_or_else(|| failed(&"the file is empty"))?.map_err(|e| failed(&e))?;
    let width = first.len();
    let is_header = first.iter().any(|field| !field.is_empty() && field.parse::<f64>().is_err());
    let names: Vec<String> = match is_header {
        true => first.iter().map(str::to_owned).collect(),
        false => (0..width).map(|n| n.to_string()).collect(),
    };
    let columns: Vec<usize> = match column {
        None => (0..width).collect(),
        Some(wanted) => {
            let by_name = names.iter().position(|name| name == wanted);
            let by_number = || wanted.parse::<usize>().ok().filter(|&n| n < width);
            let found = by_name.or_else(by_number).ok_or_else(|| {
                failed(&format!("there is no column `{wanted}`")).help(format!("the columns are {}", names.join(", ")))
            })?;
            vec![found]
        }
    };
    let mut cells = Cells { floats: Vec::new(), ints: Some(Vec::new()) };
    let mut count = 0;
    let begin = if is_header { None } else { Some(Ok(first)) };
    for row in begin.into_iter().chain(rows) {
        let row = row.map_err(|e| failed(&e))?;
        count += 1;
        for &at in &columns {
            let text = row.get(at).unwrap_or_default();
            cells.push(text).ok_or_else(|| {
                let line = row.position().map_or(count, |position| position.line());
                failed(&format!("line {line}: `{text}` in column `{}` is no number", names[at]))
                    .help("choose a column of numbers: `x=data.csv:column`")
            })?;
        }
        if cells.floats.len().saturating_mul(8) > most_bytes {
            return Err(
                failed(&"more numbers than the memory limit has room for").help("raise the limit with `--memory`")
            );
        }
    }
    let array = match cells.ints {
        Some(ints) if !ints.is_empty() => Array::from(ints),
        _ => Array::from(cells.floats),
    };
    let shaped = if column.is_some() { array } else { array.reshape([count as usize, width]) };
    shaped.eval()?;
    Ok(shaped)
}

/// Numbers that were read; as integers too, as long as all are.
struct Cells {
    floats: Vec<f64>,
    ints: Option<Vec<i64>>,
}

impl Cells {
    fn push(&mut self, text: &str) -> Option<()> {
        let value = if text.is_empty() { f64::NAN } else { text.parse().ok()? };
        self.floats.push(value);
        match (text.parse(), &mut self.ints) {
            (Ok(int), Some(ints)) => ints.push(int),
            _ => self.ints = None,
        }
        Some(())
    }
}
