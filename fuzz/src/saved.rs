//! Saved programs: files of any bytes, and files whose lengths and checksum are right, so that text, verifier and the checks behind them are
//! reached.

use crate::outcome::Outcome;
use ndjit::{LoadLimits, Program, Stage, SymbolicProgram};
use ndjit_formats::saved::{MAGIC, seal};
use ndjit_ir::ValueType;
use ndjit_ir::graph::Graph;

/// Programs of more operations are not lowered, for speed.
const MOST_LOWERED: usize = 60;

/// A file, as it is.
pub fn saved(data: &[u8]) -> Outcome {
    loaded(data)
}

/// A file whose magic, lengths and checksum are put right first.
pub fn sealed(data: &[u8]) -> Outcome {
    loaded(&repaired(data))
}

/// Loads a file. What loads has the same text and the same bytes when it is saved and loaded again, and its stages up to loops are made
/// without a panic.
fn loaded(bytes: &[u8]) -> Outcome {
    // Inputs are a few kilobytes, so an estimate of megabytes is of large arrays.
    let limits = LoadLimits::default().file(1 << 20).memory(1 << 30);
    if SymbolicProgram::is_symbolic(bytes) {
        return symbolic(bytes, limits);
    }
    let program = match Program::from_bytes_within(bytes, limits) {
        Ok(program) => program,
        Err(error) => {
            assert!(error.help_text().is_some() || error.code() != ndjit::ErrorCode::Io, "no help: {error}");
            return crate::outcome(&error);
        }
    };
    let text = program.to_string();
    let again = program.to_bytes().unwrap_or_else(|error| panic!("it is not saved again: {error}\n{text}"));
    match Program::from_bytes_within(&again, limits.file(usize::MAX)) {
        Ok(same) => {
            assert_eq!(same.to_string(), text, "it is another program after it was saved");
            assert!(
                same.to_bytes().is_ok_and(|bytes| bytes == again),
                "it is another file after it was loaded\n{text}"
            );
        }
        Err(error) => panic!("it is not loaded again: {error}\n{text}"),
    }
    // One of 16: lowering takes a hundred times as long as loading.
    let chosen = again.last().is_some_and(|byte| byte % 16 == 0);
    if chosen && Program::count_operations(&text).is_ok_and(|operations| operations <= MOST_LOWERED) {
        return match program.explain(Stage::Loops) {
            Ok(_) => "a program with loops".to_owned(),
            Err(error) => format!("a program, {}", error.code().name()),
        };
    }
    format!("a program of {} arguments", program.inputs().len().min(9))
}

/// Loads a program for all sizes, and makes that of some.
fn symbolic(bytes: &[u8], limits: LoadLimits) -> Outcome {
    let program = match SymbolicProgram::from_bytes_within(bytes, limits) {
        Ok(program) => program,
        Err(error) => return crate::outcome(&error),
    };
    let again = program.to_bytes().unwrap_or_else(|error| panic!("it is not saved again: {error}\n{program}"));
    let same = SymbolicProgram::from_bytes_within(&again, limits.file(usize::MAX));
    let same = same.unwrap_or_else(|error| panic!("it is not loaded again: {error}\n{program}"));
    assert_eq!(same.to_string(), program.to_string(), "it is another template after it was saved");
    let made = |size: usize| match program.with_sizes(&vec![size; program.extents().len()]) {
        Ok(program) => {
            let text = program.to_string();
            let parsed: Graph<ValueType> = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
            parsed.verify().unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(parsed.to_string(), text, "it reads back otherwise");
            "a program; ".to_owned()
        }
        // A function may have a least size.
        Err(error) => format!("no program, {}; ", error.code().name()),
    };
    [0, 1, 5].map(made).concat()
}

/// The sections of a file, in order.
const TAGS: [&[u8; 4]; 8] = [b"GRPH", b"SIZE", b"PLCY", b"ARGS", b"CNST", b"PRNT", b"PLAC", b"WRIT"];
/// The length of a tag and of the length after it.
const HEAD: usize = 12;

/// The file with right magic, lengths and checksum, as far as its tags are there.
fn repaired(data: &[u8]) -> Vec<u8> {
    let find = |tag: &[u8; 4], from: usize| {
        let rest = data.get(from..).unwrap_or_default();
        rest.windows(tag.len()).position(|word| word == tag).map(|at| from + at)
    };
    let end = data.len().saturating_sub(32);
    let mut starts = Vec::with_capacity(TAGS.len());
    let mut from = 0;
    for tag in TAGS {
        let Some(at) = find(tag, from) else { return data.to_vec() };
        starts.push(at);
        from = at + tag.len();
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(data.get(10..12).unwrap_or(&[1, 0]));
    bytes.extend([0; 8]);
    for (n, tag) in TAGS.iter().enumerate() {
        let next = starts.get(n + 1).copied().unwrap_or(end);
        let content = data.get(starts[n] + HEAD..next).unwrap_or_default();
        bytes.extend(*tag);
        bytes.extend((content.len() as u64).to_le_bytes());
        // The graph and the policy are one text each.
        match (n == 0 || n == 2, content.get(4..)) {
            (true, Some(text)) => {
                bytes.extend((text.len() as u32).to_le_bytes());
                bytes.extend(text);
            }
            _ => bytes.extend(content),
        }
    }
    bytes.extend([0; 32]);
    seal(&mut bytes);
    bytes
}
