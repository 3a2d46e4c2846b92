//! Checks that every example of the pages has a test: counts the numbers above the tests of this folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// A page: the letter of its numbers, its name, its number of examples. Numbers are `J01`, `J02`, …
const PAGES: &[(char, &str, usize)] = &[
    ('J', "JAX, Type promotion semantics", 27),
    ('K', "JAX, Type promotion semantics, December 2019", 8),
    ('P', "JEP 9407", 72),
    ('I', "Ivy, Data Types", 88),
    ('R', "pages and docstrings around Ivy's page", 20),
];

/// The files with examples.
fn files() -> Vec<PathBuf> {
    let tests = ndjit_tests::root().join("tests");
    let entries = fs::read_dir(tests.join("seeds")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).chain([tests.join("seeds_global.rs")]).collect()
}

/// The number in a word: `J06`.
fn number(word: &str) -> Option<&str> {
    let digits = word.get(1..)?;
    let is_page = PAGES.iter().any(|(letter, ..)| word.starts_with(*letter));
    (is_page && digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit())).then_some(word)
}

/// The numbers of examples above functions. A function that is neither a test nor called by one would be
/// a compiler warning.
fn tested() -> BTreeSet<String> {
    let mut tested = BTreeSet::new();
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let mut above = Vec::new();
        for line in text.lines() {
            if let Some(comment) = line.strip_prefix("// ") {
                above.extend(comment.split(' ').next().and_then(number));
            } else if line.starts_with("fn ") {
                tested.extend(above.drain(..).map(str::to_owned));
            }
        }
        assert!(above.is_empty(), "{}: no test below {above:?}", path.display());
    }
    tested
}

#[test]
fn every_example_is_tested() {
    let tested = tested();
    let (mut missing, mut all) = (Vec::new(), 0);
    for (letter, page, examples) in PAGES {
        let tests = tested.iter().filter(|number| number.starts_with(*letter)).count();
        println!("{page}: {examples} examples, {tests} tested");
        let numbers = (1..=*examples).map(|i| format!("{letter}{i:02}"));
        missing.extend(numbers.filter(|number| !tested.contains(number)));
        all += examples;
    }
    assert!(missing.is_empty(), "no test: {missing:?}");
    assert_eq!(tested.len(), all, "a number that is no page's");
}
