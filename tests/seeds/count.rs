//! Whether every example of the pages has its test: the numbers above the tests of this folder, counted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A page: the letter of its numbers, its name, how many examples it has. Numbers are `J01`, `J02`, …
const PAGES: &[(char, &str, usize)] = &[
    ('J', "JAX, Type promotion semantics", 27),
    ('K', "JAX, Type promotion semantics, December 2019", 8),
    ('P', "JEP 9407", 72),
    ('I', "Ivy, Data Types", 88),
    ('R', "pages and docstrings around Ivy's page", 20),
];

/// Examples that ndjit has no way to write, and why.
const NOT_EXPRESSIBLE: &[(&str, &str)] = &[
    ("I71", "cumsum_support_by_version: support is data of ndjit's one version, without ranges of versions"),
];

/// The files that hold examples.
fn files() -> Vec<PathBuf> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let entries = fs::read_dir(tests.join("seeds")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).chain([tests.join("seeds_global.rs")]).collect()
}

/// The number that a word is: `J06`.
fn number(word: &str) -> Option<&str> {
    let digits = word.get(1..)?;
    let is_page = PAGES.iter().any(|(letter, ..)| word.starts_with(*letter));
    (is_page && digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit())).then_some(word)
}

/// The numbers of examples above functions, each with the name of its last one. A function that is neither a test nor called
/// by one would not compile without a warning.
fn tested() -> BTreeMap<String, String> {
    let mut tested = BTreeMap::new();
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let mut above = Vec::new();
        for line in text.lines() {
            if let Some(comment) = line.strip_prefix("// ") {
                above.extend(comment.split(' ').next().and_then(number));
            } else if let Some(name) = line.strip_prefix("fn ") {
                let name = name.split('(').next().unwrap_or_default();
                tested.extend(above.drain(..).map(|number| (number.to_owned(), name.to_owned())));
            }
        }
        assert!(above.is_empty(), "{}: no test below {above:?}", path.display());
    }
    tested
}

#[test]
fn every_example_is_tested_or_listed() {
    let tested = tested();
    for (number, reason) in NOT_EXPRESSIBLE {
        assert!(!tested.contains_key(*number), "{number} has a test");
        println!("not expressible: {number}: {reason}");
    }
    let (mut missing, mut all) = (Vec::new(), 0);
    for (letter, page, examples) in PAGES {
        let of_page = |number: &str| number.starts_with(*letter);
        let tests = tested.keys().filter(|number| of_page(number)).count();
        let listed = NOT_EXPRESSIBLE.iter().filter(|(number, _)| of_page(number)).count();
        println!("{page}: {examples} examples, {tests} tested, {listed} not expressible");
        let numbers = (1..=*examples).map(|i| format!("{letter}{i:02}"));
        let is_listed = |number: &str| NOT_EXPRESSIBLE.iter().any(|(listed, _)| *listed == number);
        missing.extend(numbers.filter(|number| !tested.contains_key(number) && !is_listed(number)));
        all += examples;
    }
    assert!(missing.is_empty(), "no test and not listed: {missing:?}");
    assert_eq!(tested.len() + NOT_EXPRESSIBLE.len(), all, "a number that is no page's");
}
