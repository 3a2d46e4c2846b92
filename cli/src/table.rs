//! `.csv` files: columns of numbers, separated by commas, semicolons or tabs; with decimal commas where commas separate nothing.

use ndjit::{Array, Error, ErrorCode};
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// What separates fields, the likeliest last where there is none of them: a file of one column.
const SEPARATORS: [u8; 3] = *b";\t,";

/// A column of a `.csv` file, or all of them as a matrix. Integers where all are; else `f64`, NaN where nothing is written.
///
/// # Errors
/// `Io` for what is no such file, with the line where that shows.
pub fn read(path: &str, column: Option<&str>, most_bytes: usize) -> Result<Array, Error> {
    let failed =
        |what: &dyn Display| Error::new(ErrorCode::Io, format!("read_csv: {what}")).fact(format_args!("file: {path}"));
    let unread = |error: csv::Error| match error.kind() {
        csv::ErrorKind::Utf8 { pos, .. } => failed(&format!("line {}: not UTF-8", line(pos.as_ref())))
            .help("save the file as UTF-8, of a spreadsheet as \"CSV UTF-8\""),
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            failed(&format!("line {}: {len} fields, {expected_len} in the lines before", line(pos.as_ref())))
                .help("numbers with decimal commas are read where fields are separated by `;`")
        }
        _ => failed(&error),
    };
    let mut file = BufReader::new(File::open(path).map_err(|e| failed(&e))?);
    let separator = separator(file.fill_buf().map_err(|e| failed(&e))?);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator)
        .trim(csv::Trim::All)
        .from_reader(without_mark(file).map_err(|e| failed(&e))?);
    let mut rows = reader.records();
    let first =
        rows.next().ok_or_else(|| failed(&"the file is empty").help("give one with numbers"))?.map_err(unread)?;
    let width = first.len();
    let mut cells = Cells { floats: Vec::new(), ints: Some(Vec::new()), mark: None, commas: separator != b',' };
    let is_header = first.iter().any(|field| !field.is_empty() && cells.number(field).is_none());
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
    let mut count = 0;
    let begin = if is_header { None } else { Some(Ok(first)) };
    for row in begin.into_iter().chain(rows) {
        let row = row.map_err(unread)?;
        count += 1;
        for &at in &columns {
            let text = row.get(at).unwrap_or_default();
            cells.push(text).ok_or_else(|| {
                let (line, name) = (line(row.position()), &names[at]);
                failed(&format!("line {line}: `{text}` in column `{name}` is no number")).help(cells.way_out(text))
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
    let shaped = if column.is_some() { array } else { array.reshape([count, width]) };
    shaped.eval()?;
    Ok(shaped)
}

fn line(position: Option<&csv::Position>) -> u64 {
    position.map_or(1, csv::Position::line)
}

/// What separates the fields of the first line, outside of quotes: a comma may be part of numbers where there are others.
fn separator(beginning: &[u8]) -> u8 {
    let mut quoted = false;
    let outside: Vec<u8> = beginning
        .iter()
        .copied()
        .take_while(|byte| *byte != b'\n')
        .filter(|byte| {
            quoted ^= *byte == b'"';
            !quoted
        })
        .collect();
    SEPARATORS.into_iter().find(|separator| outside.contains(separator)).unwrap_or(b',')
}

/// The rest of a file after the mark with which some programs begin UTF-8.
fn without_mark(mut file: BufReader<File>) -> std::io::Result<impl Read> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    if file.fill_buf()?.starts_with(MARK) {
        file.consume(MARK.len());
    }
    Ok(file)
}

/// Numbers that were read; as integers too, as long as all are.
struct Cells {
    floats: Vec<f64>,
    ints: Option<Vec<i64>>,
    /// The decimal mark that was read first.
    mark: Option<char>,
    /// Whether a comma may be one.
    commas: bool,
}

impl Cells {
    fn push(&mut self, text: &str) -> Option<()> {
        let value = if text.is_empty() { f64::NAN } else { self.number(text)? };
        let mark = text.chars().find(|c| matches!(c, '.' | ','));
        if self.mark.is_some() && mark.is_some() && self.mark != mark {
            return None;
        }
        self.mark = self.mark.or(mark);
        self.floats.push(value);
        match (text.parse(), &mut self.ints) {
            (Ok(int), Some(ints)) => ints.push(int),
            _ => self.ints = None,
        }
        Some(())
    }

    /// A number with a decimal point, or a decimal comma where those separate nothing.
    fn number(&self, text: &str) -> Option<f64> {
        let parsed = text.parse().ok();
        parsed
            .or_else(|| (self.commas && !text.contains('.')).then(|| text.replacen(',', ".", 1).parse().ok()).flatten())
    }

    fn way_out(&self, text: &str) -> String {
        let digits = text.chars().all(|c| c.is_ascii_digit() || "+-.,' \u{a0}".contains(c));
        match self.mark {
            Some(mark) if digits => {
                format!("`{mark}` is the decimal mark of the numbers before; write them without marks of thousands")
            }
            None if digits && !self.commas => "decimal commas are read where fields are separated by `;`".to_owned(),
            None if digits => "write numbers without marks of thousands".to_owned(),
            _ => "choose a column of numbers: `x=data.csv:column`; nothing between two separators is NaN".to_owned(),
        }
    }
}
