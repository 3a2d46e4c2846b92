//! Saved programs: a container of a program's text, its captured arrays, names and places.
//!
//! ```text
//! magic (8 bytes)  format (u16)  opset (u16)  length of the file (u64)
//! sections, in this order, each: tag (4 bytes)  length (u64)  content
//!   GRPH  the text of the graph
//!   SIZE  nothing, or the names of extents of which the text is a template, and the types of arguments with these names
//!   PLCY  the promotion policy of the program
//!   ARGS  arguments: "array", or the weak type of a number; a name, or nothing; then the tree, a text of front ends
//!   CNST  captured arrays: dtype, rank, extents (u64), elements in row-major order
//!   PRNT  values that each call prints: label, file, line, column
//!   PLAC  files; for each block of the text its nodes' places: node, file, line, column, slope; empty without places
//!   WRIT  the operation that needs the opset, the first version of ndjit with that opset, the version that wrote the file
//! SHA-256 of all bytes before it (32 bytes)
//! ```
//!
//! Numbers are little-endian, those without a type above `u32`. Texts are UTF-8 after their length. Equal programs have equal files.
//!
//! Files are untrusted: damage is an error, and no memory is reserved by a file's claims. The checksum finds damage; it is no signature.
//! The content is checked by its readers: this module knows no graph.

use ndjit_ir::opset::{OPSET, version};
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, Weak};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// The first bytes. As PNG's, they change where a transfer changes the ends of lines.
pub const MAGIC: [u8; 8] = *b"\x89NDJIT\r\n";
/// The format that this version writes. It reads all formats from 1 on.
pub const FORMAT: u16 = 1;
/// The length of magic, format, opset and length.
const HEADER: usize = MAGIC.len() + 2 + 2 + 8;
/// The length of the checksum.
const CHECKSUM: usize = 32;

/// The content of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedProgram<'a> {
    /// The least opset of its operations.
    pub opset: u16,
    /// The text of the graph.
    pub text: Cow<'a, str>,
    /// The names of extents, if the text is a template of programs for all sizes.
    pub extents: Vec<Cow<'a, str>>,
    /// The types of arguments with these names; empty without them.
    pub inputs: Vec<Cow<'a, str>>,
    /// The name of the policy.
    pub policy: Cow<'a, str>,
    /// The arguments, in order.
    pub arguments: Vec<SavedArgument<'a>>,
    /// The structure of arguments and results, in the words of the front end that wrote it.
    pub tree: Cow<'a, str>,
    /// The captured arrays: the last parameters of the graph.
    pub constants: Vec<SavedConstant<'a>>,
    /// The values that each call prints: the last results of the graph.
    pub printed: Vec<SavedPrint<'a>>,
    /// The files of places.
    pub files: Vec<Cow<'a, str>>,
    /// The places of each block of the text; empty if they are not saved.
    pub places: Vec<Vec<SavedPlace<'a>>>,
    /// The operation that needs the opset.
    pub operation: Cow<'a, str>,
    /// The first version of ndjit with that opset.
    pub least: Cow<'a, str>,
    /// The version of ndjit that wrote the file.
    pub writer: Cow<'a, str>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedArgument<'a> {
    /// The kind of a number; `None` for an array.
    pub number: Option<Weak>,
    /// Its name; empty without one.
    pub name: Cow<'a, str>,
}

/// A captured array.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedConstant<'a> {
    /// The dtype of its elements.
    pub dtype: DType,
    /// Its extents.
    pub shape: Shape,
    /// Its elements, little-endian, in row-major order.
    pub bytes: Cow<'a, [u8]>,
}

/// A printed value.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedPrint<'a> {
    /// Its label.
    pub label: Cow<'a, str>,
    /// The file of the print.
    pub file: Cow<'a, str>,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// A place of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedPlace<'a> {
    /// The node's number in its block.
    pub node: u32,
    /// The number of the file.
    pub file: u32,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The operation whose slope the node is of; empty for none.
    pub slope: Cow<'a, str>,
}

impl<'a> SavedProgram<'a> {
    /// Writes a file.
    ///
    /// # Errors
    /// `Size` for a text of 4 GiB.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend(self.opset.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        section(&mut bytes, b"GRPH", |to| text(to, &self.text))?;
        section(&mut bytes, b"SIZE", |to| {
            if self.extents.is_empty() {
                return Ok(());
            }
            for texts in [&self.extents, &self.inputs] {
                number(to, texts.len())?;
                texts.iter().try_for_each(|one| text(to, one))?;
            }
            Ok(())
        })?;
        section(&mut bytes, b"PLCY", |to| text(to, &self.policy))?;
        section(&mut bytes, b"ARGS", |to| {
            number(to, self.arguments.len())?;
            for argument in &self.arguments {
                text(to, argument.number.map_or(ARRAY, Weak::name))?;
                text(to, &argument.name)?;
            }
            text(to, &self.tree)
        })?;
        section(&mut bytes, b"CNST", |to| {
            number(to, self.constants.len())?;
            for constant in &self.constants {
                text(to, &constant.dtype.to_string())?;
                number(to, constant.shape.rank())?;
                for &extent in constant.shape.extents() {
                    to.extend((extent as u64).to_le_bytes());
                }
                to.extend_from_slice(&constant.bytes);
            }
            Ok(())
        })?;
        section(&mut bytes, b"PRNT", |to| {
            number(to, self.printed.len())?;
            for print in &self.printed {
                text(to, &print.label)?;
                text(to, &print.file)?;
                to.extend(print.line.to_le_bytes());
                to.extend(print.column.to_le_bytes());
            }
            Ok(())
        })?;
        section(&mut bytes, b"PLAC", |to| {
            if self.places.is_empty() {
                return Ok(());
            }
            number(to, self.files.len())?;
            self.files.iter().try_for_each(|file| text(to, file))?;
            number(to, self.places.len())?;
            for places in &self.places {
                number(to, places.len())?;
                for place in places {
                    to.extend([place.node, place.file, place.line, place.column].map(u32::to_le_bytes).as_flattened());
                    text(to, &place.slope)?;
                }
            }
            Ok(())
        })?;
        section(&mut bytes, b"WRIT", |to| {
            text(to, &self.operation)?;
            text(to, &self.least)?;
            text(to, &self.writer)
        })?;
        bytes.resize(bytes.len() + CHECKSUM, 0);
        seal(&mut bytes);
        Ok(bytes)
    }

    /// Reads a file. The content refers to its bytes.
    ///
    /// # Errors
    /// `Io`, with what to do: bytes that are no saved program, a newer format or opset, missing or changed bytes.
    pub fn decode(bytes: &'a [u8]) -> Result<SavedProgram<'a>> {
        let mut from = SavedSection { rest: checked(bytes)?, name: "header" };
        let opset = from.u16()?;
        from.take(8)?;
        let saved =
            SavedProgram { opset, text: from.section(b"GRPH", "graph", SavedSection::text)?, ..SavedProgram::empty() };
        let (extents, inputs) = from.section(b"SIZE", "extents", |from| match from.rest.is_empty() {
            true => Ok((Vec::new(), Vec::new())),
            false => Ok((from.list(SavedSection::text)?, from.list(SavedSection::text)?)),
        })?;
        let saved =
            SavedProgram { extents, inputs, policy: from.section(b"PLCY", "policy", SavedSection::text)?, ..saved };
        let (arguments, tree) =
            from.section(b"ARGS", "arguments", |from| Ok((from.list(SavedSection::argument)?, from.text()?)))?;
        let constants = from.section(b"CNST", "constants", |from| from.list(SavedSection::constant))?;
        let printed = from.section(b"PRNT", "prints", |from| from.list(SavedSection::print))?;
        let (files, places) = from.section(b"PLAC", "places", |from| match from.rest.is_empty() {
            true => Ok((Vec::new(), Vec::new())),
            false => Ok((from.list(SavedSection::text)?, from.list(|from| from.list(SavedSection::place))?)),
        })?;
        let (operation, least, writer) =
            from.section(b"WRIT", "writer", |from| Ok((from.text()?, from.text()?, from.text()?)))?;
        from.end()?;
        let saved =
            SavedProgram { arguments, tree, constants, printed, files, places, operation, least, writer, ..saved };
        saved.known()?;
        Ok(saved)
    }

    /// The same content, independent of the bytes it was read from.
    pub fn into_owned(self) -> SavedProgram<'static> {
        fn own<T: ToOwned + ?Sized>(text: Cow<'_, T>) -> Cow<'static, T> {
            Cow::Owned(text.into_owned())
        }
        let argument = |a: SavedArgument<'_>| SavedArgument { number: a.number, name: own(a.name) };
        let constant = |c: SavedConstant<'_>| SavedConstant { dtype: c.dtype, shape: c.shape, bytes: own(c.bytes) };
        let print =
            |p: SavedPrint<'_>| SavedPrint { label: own(p.label), file: own(p.file), line: p.line, column: p.column };
        let place = |p: SavedPlace<'_>| SavedPlace {
            node: p.node,
            file: p.file,
            line: p.line,
            column: p.column,
            slope: own(p.slope),
        };
        SavedProgram {
            opset: self.opset,
            text: own(self.text),
            extents: self.extents.into_iter().map(own).collect(),
            inputs: self.inputs.into_iter().map(own).collect(),
            policy: own(self.policy),
            arguments: self.arguments.into_iter().map(argument).collect(),
            tree: own(self.tree),
            constants: self.constants.into_iter().map(constant).collect(),
            printed: self.printed.into_iter().map(print).collect(),
            files: self.files.into_iter().map(own).collect(),
            places: self.places.into_iter().map(|block| block.into_iter().map(place).collect()).collect(),
            operation: own(self.operation),
            least: own(self.least),
            writer: own(self.writer),
        }
    }

    fn empty() -> SavedProgram<'a> {
        SavedProgram {
            opset: 1,
            text: "".into(),
            extents: Vec::new(),
            inputs: Vec::new(),
            policy: "".into(),
            arguments: Vec::new(),
            tree: "".into(),
            constants: Vec::new(),
            printed: Vec::new(),
            files: Vec::new(),
            places: Vec::new(),
            operation: "".into(),
            least: "".into(),
            writer: "".into(),
        }
    }

    /// Rejects a newer opset.
    fn known(&self) -> Result<()> {
        match version(self.opset) {
            Some(_) => Ok(()),
            None if self.opset == 0 => Err(damaged("opset 0, which no operation has")),
            None => {
                let (operation, least) = (self.operation.escape_debug(), self.least.escape_debug());
                Err(failed(format!("`{operation}` needs opset {}, this ndjit has {OPSET}", self.opset))
                    .fact(format_args!("written by ndjit {}", self.writer.escape_debug()))
                    .help(format!("update ndjit: opset {} is known from version {least} on", self.opset)))
            }
        }
    }
}

/// The bytes after the format and before the checksum, both of which are right.
fn checked(bytes: &[u8]) -> Result<&[u8]> {
    let begins = bytes.len().min(MAGIC.len());
    if bytes[..begins] != MAGIC[..begins] || bytes.is_empty() {
        return Err(failed("these bytes are no saved program")
            .help("`Program::save` writes one; the text of a graph is read with `Program::parse`"));
    }
    let ends = || {
        failed(format!("the program ends after {} bytes", bytes.len()))
            .help("its end is missing: copy it again, or save it again")
    };
    let Some(format) = bytes[begins..].first_chunk().map(|&format| u16::from_le_bytes(format)) else {
        return Err(ends());
    };
    if !(1..=FORMAT).contains(&format) {
        return Err(failed(format!(
            "the program is saved in format {format}, this ndjit reads formats up to {FORMAT}"
        ))
        .help("update ndjit, or save the program with an older version"));
    }
    let length =
        bytes.get(HEADER - 8..).and_then(|bytes| bytes.first_chunk()).map(|&length| u64::from_le_bytes(length));
    let Some(length) = length else { return Err(ends()) };
    if bytes.len() < HEADER + CHECKSUM || length > bytes.len() as u64 {
        return Err(ends().fact(format_args!("its length is {} bytes", length.max((HEADER + CHECKSUM) as u64))));
    }
    if length < bytes.len() as u64 {
        return Err(failed(format!("{} bytes follow the end of the program", bytes.len() as u64 - length))
            .help("give the bytes of one saved program, without others"));
    }
    let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    if Sha256::digest(content)[..] != *checksum {
        return Err(failed("the checksum is wrong: some bytes have changed since the program was saved")
            .help("copy it again, or save it again"));
    }
    Ok(&content[MAGIC.len() + 2..])
}

/// Writes the length and the checksum of a file into it. For tests that change its content.
pub fn seal(bytes: &mut [u8]) {
    let length = bytes.len();
    if length < HEADER + CHECKSUM {
        return;
    }
    bytes[HEADER - 8..HEADER].copy_from_slice(&(length as u64).to_le_bytes());
    let checksum = Sha256::digest(&bytes[..length - CHECKSUM]);
    bytes[length - CHECKSUM..].copy_from_slice(&checksum);
}

/// The word of an argument that is an array.
const ARRAY: &str = "array";

fn section(to: &mut Vec<u8>, tag: &[u8; 4], write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    to.extend(tag);
    to.extend(0u64.to_le_bytes());
    let start = to.len();
    write(to)?;
    let length = (to.len() - start) as u64;
    to[start - 8..start].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

fn number(to: &mut Vec<u8>, number: usize) -> Result<()> {
    let large = |_| Error::new(ErrorCode::Size, "save: a text or a list of 4 GiB").help("save parts of the program");
    to.extend(u32::try_from(number).map_err(large)?.to_le_bytes());
    Ok(())
}

fn text(to: &mut Vec<u8>, text: &str) -> Result<()> {
    number(to, text.len())?;
    to.extend(text.bytes());
    Ok(())
}

/// The rest of a section in reading.
struct SavedSection<'a> {
    rest: &'a [u8],
    name: &'static str,
}

impl<'a> SavedSection<'a> {
    fn damaged(&self, what: &str) -> Error {
        damaged(&format!("{} {what}", self.name))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(|| self.damaged("end early"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(|| self.damaged("end early"))?;
        self.rest = rest;
        Ok(*taken)
    }

    fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<Cow<'a, str>> {
        let length = self.u32()?;
        let bytes = self.take(length as usize)?;
        std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| self.damaged("have a text that is not UTF-8"))
    }

    /// A list, whose length is a claim: the memory grows with the items found.
    fn list<T>(&mut self, mut item: impl FnMut(&mut SavedSection<'a>) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        for _ in 0..self.u32()? {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn argument(&mut self) -> Result<SavedArgument<'a>> {
        let kind = self.text()?;
        let number = Weak::ALL.into_iter().find(|weak| weak.name() == kind);
        if number.is_none() && kind != ARRAY {
            return Err(self.damaged("have one of an unknown kind"));
        }
        Ok(SavedArgument { number, name: self.text()? })
    }

    fn constant(&mut self) -> Result<SavedConstant<'a>> {
        let dtype = self.text()?.parse::<DType>().map_err(|_| self.damaged("have an unknown dtype"))?;
        let extents = self.list(|from| {
            usize::try_from(from.u64()?).map_err(|_| from.damaged("have an array larger than memory can address"))
        })?;
        let shape = Shape::from(extents);
        let bytes = self.take(shape.bytes(dtype.bytes())?)?;
        crate::npy::check_bools(dtype, bytes)
            .map_err(|error| self.damaged("have bools of no value").fact(error.headline()))?;
        Ok(SavedConstant { dtype, shape, bytes: Cow::Borrowed(bytes) })
    }

    fn print(&mut self) -> Result<SavedPrint<'a>> {
        Ok(SavedPrint { label: self.text()?, file: self.text()?, line: self.u32()?, column: self.u32()? })
    }

    fn place(&mut self) -> Result<SavedPlace<'a>> {
        let [node, file, line, column] = [self.u32()?, self.u32()?, self.u32()?, self.u32()?];
        Ok(SavedPlace { node, file, line, column, slope: self.text()? })
    }

    /// The next section of the file, read to its end.
    fn section<T>(
        &mut self,
        tag: &[u8; 4],
        name: &'static str,
        read: impl FnOnce(&mut SavedSection<'a>) -> Result<T>,
    ) -> Result<T> {
        let mut section = SavedSection { rest: self.rest, name };
        if section.array::<4>()? != *tag {
            return Err(section.damaged("are missing"));
        }
        let length = section.u64()?;
        self.rest = section.rest;
        section.rest = self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        let content = read(&mut section)?;
        section.end()?;
        Ok(content)
    }

    fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.damaged("have bytes of no use")) }
    }
}

/// An error of loading.
pub fn failed(what: impl Into<String>) -> Error {
    Error::new(ErrorCode::Io, what).of("load")
}

/// The error of a file whose checksum is right, and whose content is not: another program wrote it.
pub fn damaged(what: &str) -> Error {
    failed(format!("not a valid program: {what}"))
        .help("`Program::save` writes valid ones; this one was made otherwise")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> SavedProgram<'static> {
        SavedProgram {
            text: "graph () {\n  return\n}".into(),
            extents: vec!["n".into()],
            inputs: vec!["f32[n]".into(), "f*".into()],
            policy: "standard".into(),
            arguments: vec![
                SavedArgument { number: None, name: "x".into() },
                SavedArgument { number: Some(Weak::Float), name: "k".into() },
            ],
            tree: "(x, k)".into(),
            constants: vec![SavedConstant {
                dtype: DType::I16,
                shape: Shape::new(&[2, 1]),
                bytes: vec![1, 0, 2, 0].into(),
            }],
            printed: vec![SavedPrint { label: "x".into(), file: "a.rs".into(), line: 1, column: 2 }],
            files: vec!["a.rs".into()],
            places: vec![vec![SavedPlace { node: 0, file: 0, line: 3, column: 4, slope: "sin".into() }]],
            writer: "0.1.0".into(),
            least: "0.1.0".into(),
            ..SavedProgram::empty()
        }
    }

    /// The headline and the help of the error of changed bytes.
    fn error_of(change: impl FnOnce(&mut Vec<u8>), sealed: bool) -> String {
        let mut bytes = example().encode().unwrap();
        change(&mut bytes);
        if sealed {
            seal(&mut bytes);
        }
        let error = SavedProgram::decode(&bytes).unwrap_err();
        format!("{}; {}", error.headline(), error.help_text().unwrap())
    }

    #[test]
    fn reads_what_it_writes() {
        let bytes = example().encode().unwrap();
        let read = SavedProgram::decode(&bytes).unwrap();
        assert_eq!(read, example());
        assert_eq!(read.encode().unwrap(), bytes);
    }

    #[test]
    fn changed_bytes_are_errors() {
        let bytes = example().encode().unwrap();
        for at in 0..bytes.len() {
            assert!(SavedProgram::decode(&bytes[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                assert!(SavedProgram::decode(&changed).is_err(), "bit {bit} of byte {at}");
                // With a right checksum, no change panics, and what is read is written back.
                seal(&mut changed);
                if let Ok(read) = SavedProgram::decode(&changed) {
                    assert_eq!(read.encode().unwrap(), changed, "bit {bit} of byte {at}");
                }
            }
        }
    }

    #[test]
    fn errors_say_what_to_do() {
        let damage = error_of(|bytes| bytes[HEADER + 20] ^= 1, false);
        assert_eq!(
            damage,
            "load: the checksum is wrong: some bytes have changed since the program was saved; copy it again, or save it again"
        );
        assert!(
            error_of(|bytes| bytes[0] = b'g', true)
                .starts_with("load: these bytes are no saved program; `Program::save`")
        );
        assert!(
            error_of(|bytes| bytes.truncate(99), false).starts_with("load: the program ends after 99 bytes; its end")
        );
        assert!(
            error_of(|bytes| bytes.push(0), false).starts_with("load: 1 bytes follow the end of the program; give")
        );
        assert_eq!(
            error_of(|bytes| bytes[8] = 9, true),
            "load: the program is saved in format 9, this ndjit reads formats up to 1; update ndjit, or save the program \
             with an older version"
        );
        let newer = SavedProgram { opset: 7, operation: "wibble".into(), least: "0.9.0".into(), ..example() };
        let error = SavedProgram::decode(&newer.encode().unwrap()).unwrap_err();
        assert_eq!(error.headline(), "load: `wibble` needs opset 7, this ndjit has 1");
        assert_eq!(error.help_text(), Some("update ndjit: opset 7 is known from version 0.9.0 on"));
    }

    #[test]
    fn claims_reserve_no_memory() {
        // Lists and texts of four billion items.
        let mut bytes = example().encode().unwrap();
        for at in HEADER..bytes.len() - CHECKSUM - 4 {
            let saved = bytes[at..at + 4].to_vec();
            bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            seal(&mut bytes);
            drop(SavedProgram::decode(&bytes));
            bytes[at..at + 4].copy_from_slice(&saved);
        }
    }
}
