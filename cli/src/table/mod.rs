//! `.csv` files: columns of numbers, separated by commas, semicolons or tabs, with decimal commas if commas are not
//! separators.
//!
//! A file is read once from start to end, so it may be a pipe. Memory for the requested numbers and for the names of
//! the first line is reserved from a [`Budget`].

mod cells;
mod fields;

use crate::memory::grow;
use cells::{Cells, Growing, RefusedField};
use fields::{Field, FieldReader, Wrong};
use ndjit::{Array, Error, ErrorCode};
use ndjit_expressions::{Budget, Reservation, counted};
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};

/// Separators; the last is the default for a file of one column.
const SEPARATORS: [u8; 3] = *b";\t,";
/// Size of a read in bytes, and of the part of the first line that determines the separator.
const BUFFER: usize = 1 << 16;

/// Reads a column of a `.csv` file, or all as a matrix. Integers if all are; else `f64`, with NaN for empty fields.
///
/// # Errors
/// `Io` for an invalid file, with the line if known; `Allocation` for more numbers than the budget permits.
pub fn read(path: &str, column: Option<&str>, budget: &Budget) -> Result<(Array, Reservation), Error> {
    let read = || parse(File::open(path).map_err(|e| failed(&e))?, column, budget);
    read().map_err(|error: Error| error.fact(format_args!("file: {path}")))
}

/// Variant of [`read`] for any source.
///
/// ```
/// use ndjit_expressions::Budget;
/// use ndjit_cli::table::parse;
///
/// let budget = Budget::new(1 << 20);
/// let (temp, _reservation) = parse(&b"day,temp\n1,19.5\n2,21\n"[..], Some("temp"), &budget)?;
/// assert_eq!(temp.to_vec::<f64>()?, [19.5, 21.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Those of [`read`].
pub fn parse(source: impl Read, column: Option<&str>, budget: &Budget) -> Result<(Array, Reservation), Error> {
    let _buffers = budget.reserve("buffers", 4 * BUFFER + fields::LONGEST)?;
    let mut source = BufReader::with_capacity(BUFFER, source);
    let mut line = Vec::new();
    source.by_ref().take(BUFFER as u64).read_until(b'\n', &mut line).map_err(|e| failed(&e))?;
    let line = line.strip_prefix("\u{feff}".as_bytes()).map_or(line.clone(), <[u8]>::to_vec);
    let separator = separator(&line);
    let mut fields = FieldReader::new(Cursor::new(line).chain(source), separator);
    let mut cells = Cells::new(budget, separator != b',')?;
    let first = First::read(&mut fields, budget)?;
    let width = first.ends.items().len();
    let is_header = first.names().any(|field| !field.is_empty() && cells.number(field).is_none());
    let chosen = column.map(|wanted| first.column(wanted, is_header)).transpose()?;
    if is_header {
        let is_number = |field: &str| cells.number(field).is_some();
        match (column, chosen) {
            (_, None) => {
                first.check(budget)?;
                first.refuse_mixed(is_number)?;
            }
            // A matching name indicates a header.
            (Some(wanted), Some(at)) if wanted == first.name(at) && !wanted.parse().is_ok_and(|n: usize| n < width) => {
            }
            (_, Some(_)) => first.refuse_mixed(is_number)?,
        }
    }
    let is_chosen = |at: usize| chosen.is_none_or(|chosen| chosen == at);
    let name = |at: usize| match is_header {
        true => first.name(at).to_owned(),
        false => at.to_string(),
    };
    let mut add = |at: usize, text: &str, line: u64| match cells.push(text) {
        Ok(()) => Ok(()),
        Err(RefusedField::Memory(error)) => Err(error.of(format_args!("read_csv: line {line}"))),
        Err(RefusedField::Text) => Err(failed(&format_args!(
            "line {line}: `{}` in column `{}` is not a number",
            shown(text),
            shown(&name(at))
        ))
        .help(cells.way_out(text))),
    };
    if !is_header {
        for (at, text) in first.names().enumerate().filter(|(at, _)| is_chosen(*at)) {
            add(at, text, first.line)?;
        }
    }
    let mut at = 0;
    while let Some(field) = fields.next(is_chosen(at)).map_err(unread)? {
        let (line, last) = (field.line, field.last);
        if at == width || last && at + 1 < width {
            let fields =
                if at == width { format!("more than {}", counted(width, "field")) } else { counted(at + 1, "field") };
            return Err(failed(&format_args!("line {line}: {fields}, {width} in the lines before"))
                .help("numbers with decimal commas are read where fields are separated by `;`"));
        }
        if is_chosen(at) {
            add(at, text(&field)?, line)?;
        }
        at = if last { 0 } else { at + 1 };
    }
    let count = cells.count();
    let (array, reservation) = cells.array();
    let shaped = if chosen.is_some() { array } else { array.reshape([count / width, width]) };
    shaped.eval()?;
    Ok((shaped, reservation))
}

/// The separator of fields in the first line, outside of quotes. With another separator, commas may be part of numbers.
fn separator(line: &[u8]) -> u8 {
    let mut quoted = false;
    let mut is_outside = |byte: u8| {
        quoted ^= byte == b'"';
        !quoted
    };
    let outside: Vec<u8> = line.iter().copied().filter(|byte| is_outside(*byte)).collect();
    SEPARATORS.into_iter().find(|separator| outside.contains(separator)).unwrap_or(b',')
}

/// The label of memory for the first record.
const FIRST: &str = "first lines of tables";

/// The fields of the first record: names, or numbers.
struct First {
    text: Growing<u8>,
    ends: Growing<usize>,
    line: u64,
}

impl First {
    fn read(fields: &mut FieldReader<impl BufRead>, budget: &Budget) -> Result<First, Error> {
        let mut first = First { text: Growing::new(budget, FIRST)?, ends: Growing::new(budget, FIRST)?, line: 1 };
        loop {
            let Some(field) = fields.next(true).map_err(unread)? else {
                return Err(failed(&"the file is empty").help("give one with numbers"));
            };
            let (text, last) = (text(&field)?, field.last);
            if first.ends.items().is_empty() {
                first.line = field.line;
            }
            let of_line = |error: Error| error.of(format_args!("read_csv: line {}", field.line));
            text.bytes().try_for_each(|byte| first.text.push(byte)).map_err(of_line)?;
            first.ends.push(first.text.items().len()).map_err(of_line)?;
            if last {
                return Ok(first);
            }
        }
    }

    fn name(&self, at: usize) -> &str {
        let ends = self.ends.items();
        let start = at.checked_sub(1).map_or(0, |before| ends[before]);
        // Built from valid texts.
        std::str::from_utf8(&self.text.items()[start..ends[at]]).unwrap_or_default()
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.items().len()).map(|at| self.name(at))
    }

    /// The index of the column with this name, or else this number.
    fn column(&self, wanted: &str, is_header: bool) -> Result<usize, Error> {
        let mut named = (0..self.ends.items().len()).filter(|&at| is_header && self.name(at) == wanted);
        match (named.next(), named.next()) {
            (Some(one), Some(other)) => return Err(self.twice(one, other)),
            (Some(one), None) => return Ok(one),
            (None, _) => {}
        }
        wanted.parse().ok().filter(|&at| at < self.ends.items().len()).ok_or_else(|| {
            const SHOWN: usize = 20;
            let mut names: Vec<String> = match is_header {
                true => self.names().take(SHOWN).map(shown).collect(),
                false => (0..self.ends.items().len()).take(SHOWN).map(|at| at.to_string()).collect(),
            };
            if self.ends.items().len() > SHOWN {
                names.push(format!("… and {} more", self.ends.items().len() - SHOWN));
            }
            failed(&format_args!("there is no column `{wanted}`")).help(format!("the columns are {}", names.join(", ")))
        })
    }

    /// Rejects columns without names and duplicate names.
    fn check(&self, budget: &Budget) -> Result<(), Error> {
        let _order = budget.reserve(FIRST, size_of_val(self.ends.items()))?;
        let mut order: Vec<usize> = Vec::new();
        grow(&mut order, self.ends.items().len())?;
        order.extend(0..self.ends.items().len());
        order.sort_unstable_by_key(|&at| (self.name(at), at));
        if let Some(&at) = order.first().filter(|&&at| self.name(at).is_empty()) {
            return Err(failed(&format_args!("line {}: column {at} has no name", self.line))
                .help("give it one, or choose columns: `x=data.csv:COLUMN`, by name or number from 0"));
        }
        match order.windows(2).find(|pair| self.name(pair[0]) == self.name(pair[1])) {
            Some(pair) => Err(self.twice(pair[0], pair[1])),
            None => Ok(()),
        }
    }

    /// Rejects numbers among names: this may be a row of data with a text in it, whose numbers would be lost.
    fn refuse_mixed(&self, is_number: impl Fn(&str) -> bool) -> Result<(), Error> {
        let number = self.names().find(|field| is_number(field));
        let other = self.names().find(|field| !field.is_empty() && !is_number(field));
        let (Some(number), Some(other)) = (number, other) else { return Ok(()) };
        Err(failed(&format_args!(
            "line {}: `{}` is a number and `{}` is none, so it is neither names nor numbers",
            self.line,
            shown(number),
            shown(other)
        ))
        .help("begin the file with a line of names, or choose a column by its name: `x=data.csv:name`"))
    }

    fn twice(&self, one: usize, other: usize) -> Error {
        let (line, name) = (self.line, shown(self.name(one)));
        failed(&format_args!("line {line}: columns {one} and {other} are both named `{name}`"))
            .help(format!("rename one, or choose by number: `x=data.csv:{one}`"))
    }
}

/// The text of a kept field, without surrounding blanks.
fn text<'a>(field: &Field<'a>) -> Result<&'a str, Error> {
    std::str::from_utf8(field.bytes).map(str::trim).map_err(|_| {
        failed(&format_args!("line {}: not UTF-8", field.line))
            .help("save the file as UTF-8, of a spreadsheet as \"CSV UTF-8\"")
    })
}

/// The start of a text, without control characters.
fn shown(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = text
        .chars()
        .take(SHOWN)
        .flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] })
        .collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn unread(wrong: Wrong) -> Error {
    match wrong {
        Wrong::Open(line) => failed(&format_args!("line {line}: a quote opens here that does not close"))
            .help("close it, or write two quotes for one in a quoted field"),
        Wrong::Nul(line) => failed(&format_args!("line {line}: a NUL byte, which no text has"))
            .help("save the file as UTF-8: it is none, or UTF-16"),
        Wrong::Long { line, quoted, begins } => {
            let what =
                format!("line {line}: a field of more than {} bytes is neither number nor name", fields::LONGEST);
            let error =
                failed(&what).fact(format_args!("it begins with `{}`", shown(&String::from_utf8_lossy(&begins))));
            error.help(match quoted {
                true => "a quote opens it: close that, or choose a column of numbers, `x=data.csv:column`",
                false => "choose a column of numbers: `x=data.csv:column`",
            })
        }
        Wrong::Source(error) => failed(&error),
    }
}

fn failed(what: &dyn Display) -> Error {
    Error::new(ErrorCode::Io, format!("read_csv: {what}"))
}
