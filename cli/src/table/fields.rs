//! The fields of separated values: a state machine over bytes, with one field of bounded length in memory. Quotes
//! follow RFC 4180.
//!
//! Must not interpret fields.

use std::io::{BufRead, ErrorKind};

/// Maximum length of a kept field in bytes, longer than any number or name.
pub const LONGEST: usize = 4096;

/// The fields of a source.
pub struct FieldReader<R> {
    source: R,
    separator: u8,
    field: Vec<u8>,
    /// The line of the next byte, from 1.
    line: u64,
    /// True if the last byte was a carriage return, which may precede a line feed.
    returned: bool,
    /// True if the next field is the first of its record.
    first: bool,
}

/// A field.
pub struct Field<'a> {
    /// Its bytes; empty if it is not kept.
    pub bytes: &'a [u8],
    /// Its first line.
    pub line: u64,
    /// True if it is the last of its record.
    pub last: bool,
}

/// The reason for the lack of a next field.
#[derive(Debug)]
pub enum Wrong {
    /// An unclosed quote on a line.
    Open(u64),
    /// A NUL byte on a line.
    Nul(u64),
    /// A field longer than [`LONGEST`].
    Long {
        /// Its first line.
        line: u64,
        /// True if a quote opens it.
        quoted: bool,
        /// Its bytes so far.
        begins: Vec<u8>,
    },
    /// A read error of the source.
    Source(std::io::Error),
}

/// The state in a field.
#[derive(Clone, Copy, PartialEq)]
enum FieldState {
    Start,
    Plain,
    Quoted,
    /// After a quote within quotes: the end, or the first of two that represent one.
    Closed,
}

impl<R: BufRead> FieldReader<R> {
    pub fn new(source: R, separator: u8) -> FieldReader<R> {
        FieldReader { source, separator, field: Vec::with_capacity(LONGEST), line: 1, returned: false, first: true }
    }

    /// Reads the next field, and keeps its bytes on request. Empty lines are not records.
    ///
    /// # Errors
    /// Errors of the source.
    pub fn next(&mut self, keep: bool) -> Result<Option<Field<'_>>, Wrong> {
        self.field.clear();
        let (mut state, mut begun) = (FieldState::Start, self.line);
        let last = 'field: loop {
            let bytes = match self.source.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Wrong::Source(error)),
            };
            if bytes.is_empty() {
                match state {
                    FieldState::Quoted => return Err(Wrong::Open(begun)),
                    FieldState::Start if self.first => return Ok(None),
                    _ => break true,
                }
            }
            let mut used = 0;
            for &byte in bytes {
                used += 1;
                if byte == 0 {
                    return Err(Wrong::Nul(self.line));
                }
                let ends_line = byte == b'\r' || byte == b'\n' && !self.returned;
                self.returned = byte == b'\r';
                self.line += u64::from(ends_line);
                state = match (state, byte) {
                    (FieldState::Start, b'"') => FieldState::Quoted,
                    (FieldState::Start, b'\r' | b'\n') if self.first => {
                        begun = self.line;
                        continue;
                    }
                    (FieldState::Quoted, b'"') => FieldState::Closed,
                    (FieldState::Start | FieldState::Plain | FieldState::Closed, b'\r' | b'\n') => {
                        self.source.consume(used);
                        break 'field true;
                    }
                    (FieldState::Start | FieldState::Plain | FieldState::Closed, byte) if byte == self.separator => {
                        self.source.consume(used);
                        break 'field false;
                    }
                    (before, byte) => {
                        if keep && self.field.len() == LONGEST {
                            let (quoted, begins) = (before != FieldState::Plain, std::mem::take(&mut self.field));
                            return Err(Wrong::Long { line: begun, quoted, begins });
                        }
                        if keep {
                            self.field.push(byte);
                        }
                        match before {
                            FieldState::Closed if byte == b'"' => FieldState::Quoted,
                            FieldState::Quoted => FieldState::Quoted,
                            FieldState::Start | FieldState::Plain | FieldState::Closed => FieldState::Plain,
                        }
                    }
                };
            }
            self.source.consume(used);
        };
        self.first = last;
        Ok(Some(Field { bytes: &self.field, line: begun, last }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// The records of a text, read a few bytes at a time.
    fn records(text: &[u8], buffer: usize) -> Result<Vec<Vec<String>>, String> {
        let mut fields = FieldReader::new(BufReader::with_capacity(buffer, text), b',');
        let (mut records, mut record) = (Vec::new(), Vec::new());
        while let Some(field) = fields.next(true).map_err(|wrong| format!("{wrong:?}"))? {
            record.push(format!("{}@{}", String::from_utf8_lossy(field.bytes), field.line));
            if field.last {
                records.push(std::mem::take(&mut record));
            }
        }
        assert!(record.is_empty(), "the last field of a record says so");
        Ok(records)
    }

    #[test]
    fn records_are_those_of_rfc_4180() {
        let cases: [(&[u8], &[&[&str]]); 8] = [
            (b"a,b\n1,2\n", &[&["a@1", "b@1"], &["1@2", "2@2"]]),
            (b"\n\r\n\n1\r\n\r\n2", &[&["1@4"], &["2@6"]]),
            (b"1\r2\r\r3", &[&["1@1"], &["2@2"], &["3@4"]]),
            (b"\"a\n\"\"b\",2\n3,", &[&["a\n\"b@1", "2@2"], &["3@3", "@3"]]),
            (b",\n,", &[&["@1", "@1"], &["@2", "@2"]]),
            (b"\"\"\n\"\"", &[&["@1"], &["@2"]]),
            (b"a\"b,\"c\"d", &[&["a\"b@1", "cd@1"]]),
            (b"", &[]),
        ];
        for (text, expected) in cases {
            for buffer in [1, 2, 3, 1000] {
                assert_eq!(records(text, buffer).unwrap(), expected, "{}", String::from_utf8_lossy(text));
            }
        }
        assert_eq!(records(b"1\n2,\"3\n4", 2).unwrap_err(), "Open(2)");
        assert_eq!(records(b"1\n2,\0", 2).unwrap_err(), "Nul(2)");
    }

    #[test]
    fn long_fields_are_passed_over_or_refused() {
        for (quote, expected) in [("", false), ("\"", true)] {
            let text = format!("1\n{quote}{}{quote}\n2", "7".repeat(LONGEST + 1));
            let mut fields = FieldReader::new(text.as_bytes(), b',');
            let lines: Vec<u64> = std::iter::from_fn(|| fields.next(false).unwrap().map(|field| field.line)).collect();
            assert_eq!(lines, [1, 2, 3]);
            let mut fields = FieldReader::new(text.as_bytes(), b',');
            assert!(fields.next(true).is_ok());
            let Err(Wrong::Long { line, quoted, begins }) = fields.next(true) else { panic!("it is kept") };
            assert_eq!((line, quoted, begins.len()), (2, expected, LONGEST));
            let text = text.replacen('7', "", 1);
            assert!(records(text.as_bytes(), 1000).is_ok(), "one of {LONGEST} bytes");
        }
    }
}
