//! The pages as a book: the contents list every page, links resolve, every Rust block is tested, and every example is in the
//! index.

use ndjit_tests::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The files with this ending in a folder.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == ending)).collect();
    files.sort();
    files
}

/// The pages of the book.
fn pages() -> Vec<PathBuf> {
    let folders = ["", "docs", "examples", "examples/pictures/data", "tools"];
    let pages: Vec<PathBuf> = folders.iter().flat_map(|folder| files(folder, "md")).collect();
    assert!(pages.len() > 20, "found only {} pages", pages.len());
    pages
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A page without code blocks and inline code.
fn prose(page: &str) -> String {
    let mut prose = String::new();
    let mut in_block = false;
    for line in page.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            prose.extend(line.split('`').step_by(2));
            prose.push('\n');
        }
    }
    prose
}

/// The link targets of a page, in the form `](target)`.
fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook generate them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut in_block = false;
    let headings = page.lines().filter(|line| {
        in_block ^= line.starts_with("```");
        !in_block && line.starts_with('#')
    });
    let letters = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        kept.chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    headings.map(letters).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut checked = 0;
    for path in pages() {
        let page = read(&path);
        for link in links(&page) {
            if link.contains("://") {
                continue;
            }
            checked += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: nothing is at `{link}`", path.display());
            if !anchor.is_empty() {
                assert!(anchors(&read(&target)).contains(anchor), "{}: no heading is at `{link}`", path.display());
            }
        }
    }
    assert!(checked > 80, "only {checked} links checked");
}

#[test]
fn the_contents_list_every_page_once() {
    let contents = links(&read(&root().join("docs/SUMMARY.md")));
    for page in files("docs", "md") {
        let name = file_name(&page);
        let listed = contents.iter().filter(|link| **link == name).count();
        assert_eq!(listed, usize::from(name != "SUMMARY.md"), "docs/SUMMARY.md lists {name}");
    }
    let book = read(&root().join("book/book.toml"));
    assert!(book.contains("src = \"../docs\""), "the book's pages are those of docs/");
}

/// A Rust block has a name, filled in by `tests/readme.rs`, or its page is a documentation test.
#[test]
fn every_rust_block_is_a_test() {
    let library = read(&root().join("src/lib.rs"));
    let shown = read(&root().join("tests/readme.rs"));
    let mut blocks = 0;
    for path in pages() {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let (tested, filled) = (library.contains(&format!("../{name}\"")), shown.contains(&format!("\"{name}\"")));
        for line in read(&path).lines().filter(|line| line.starts_with("```rust")) {
            blocks += 1;
            let known = if line == "```rust" { tested } else { filled };
            assert!(known, "{name}: no test runs a block that opens with {line}");
        }
    }
    assert!(blocks > 50, "found only {blocks} blocks");
}

#[test]
fn the_indices_list_every_example_and_tool() {
    for (index, folders, least) in [("examples", &["", "pictures"][..], 14), ("tools", &[""], 3)] {
        let page = read(&root().join(index).join("README.md"));
        let mut programs: Vec<String> = Vec::new();
        for folder in folders {
            let folder = Path::new(folder);
            let path = root().join(index).join(folder);
            let inner = fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path().join("main.rs"));
            let files = files(&path.display().to_string(), "rs").into_iter();
            let found = inner.chain(files).filter(|path| path.exists() && read(path).contains("fn main("));
            programs.extend(found.map(|path| path.strip_prefix(root().join(index)).unwrap().display().to_string()));
        }
        assert!(programs.len() >= least, "found only {programs:?}");
        for program in programs {
            assert!(page.contains(&format!("({program})")), "{index}/README.md does not list {program}");
        }
    }
}

/// Files with public items outside of the crate's API: their modules are private.
const PRIVATE: [&str; 2] = ["src/api/creation/make.rs", "src/api/random/draw.rs"];

/// Public items without an example: parts of others that are rarely named, and items of private modules.
const WITHOUT_EXAMPLE: [&str; 8] = [
    "src/jit/erased.rs: Core",
    "src/jit/input.rs: Arg",
    "src/jit/input.rs: Destination",
    "src/jit/output.rs: Collected",
    "src/jit/output.rs: Parts",
    "src/trace/operand.rs: AnyOperand",
    "src/trace/operand.rs: ArrayLike",
    "src/trace/scalar.rs: Sealed",
];

/// The name of the function, type, trait or constant declared in a line.
fn declared(line: &str) -> Option<String> {
    let rest = line.strip_prefix("pub ")?;
    let kinds = ["const fn ", "fn ", "struct ", "enum ", "trait ", "const ", "type "];
    let kind = kinds.into_iter().find(|kind| rest.starts_with(kind))?;
    let name: String = rest[kind.len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// Public items of a file without an example in their documentation. Hidden items are excluded, as are those documented by a macro,
/// whose examples are in tables.
fn without_example(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut doc, mut attribute) = (String::new(), false);
    for line in text.lines().map(str::trim) {
        if line == "#[cfg(test)]" {
            break;
        }
        if attribute || line.starts_with("///") || line.starts_with("#[") {
            // An attribute may span several lines.
            attribute = (attribute || line.starts_with("#[")) && !line.ends_with(']');
            doc += line;
            continue;
        }
        if let Some(name) = declared(line) {
            let shown = doc.contains("```") || doc.contains("doc = ") || doc.contains("doc(hidden)");
            if !shown {
                found.push(name);
            }
        }
        doc.clear();
    }
    found
}

#[test]
fn every_public_item_has_an_example() {
    let mut folders = vec![root().join("src")];
    let (mut missing, mut checked) = (Vec::new(), 0);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
            let file = path.strip_prefix(root()).unwrap().display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if !PRIVATE.contains(&file.as_str()) {
                checked += 1;
                missing.extend(without_example(&read(&path)).into_iter().map(|name| format!("{file}: {name}")));
            }
        }
    }
    assert!(checked > 40, "found only {checked} files");
    missing.retain(|item| !WITHOUT_EXAMPLE.contains(&item.as_str()));
    assert!(missing.is_empty(), "public items without an example: {missing:#?}");
}
