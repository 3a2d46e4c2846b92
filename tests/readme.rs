//! README.md and pages of docs/ show what the library prints. `README_BLESS=1 cargo test --workspace --all-features --test readme` writes it there.
//! A block that opens with three backquotes and `text NAME` holds the text of that name: `tests/shown.rs`, or the output of the example
//! in the block `rust NAME`.

use ndjit::ErrorCode;
use ndjit_tests::root;

/// What the examples print is kept.
macro_rules! println {
    ($($text:tt)*) => { crate::print(format!($($text)*)) };
}

mod pages;
mod shown;

thread_local!(static PRINTED: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) });

/// Keeps a printed line.
fn print(line: String) {
    PRINTED.with_borrow_mut(|printed| *printed += &(line + "\n"));
}

/// What an example prints; `None` without the features or the device that it needs.
fn printed(name: &str) -> Option<String> {
    let run = pages::runner(name)?;
    PRINTED.take();
    match run() {
        Err(error) if error.code() == ErrorCode::Device => {
            eprintln!("SKIPPED, there is no device for {name}: {error}");
            return None;
        }
        result => result.unwrap_or_else(|error| panic!("{name}: {error}")),
    }
    let printed = as_main(&PRINTED.take());
    let lines: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
    Some(lines.join("\n"))
}

/// Places in the files of examples, as a reader has them who copied one.
fn as_main(printed: &str) -> String {
    let printed = printed.replace("tests/pages/../../", "");
    let mut parts = printed.split("tests/pages/");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_lowercase() || c == '_' || c == '/' || c == '.');
        text += "src/main.rs";
        text += rest;
    }
    text
}

/// The block of that name: the code of an example, what it prints, or a text of [`shown::shown`].
fn block(language: &str, name: &str, old: &str) -> String {
    match (pages::is_known(name), shown::shown(name)) {
        (true, None) if language == "rust" => pages::code(name).unwrap(),
        (true, None) => printed(name).unwrap_or_else(|| old.to_owned()),
        (false, Some(text)) => text,
        (true, Some(_)) => panic!("`{name}` names an example and a text"),
        (false, None) => panic!("a page shows `{name}`, which is no example and no text"),
    }
}

/// The page as it should be, and the names of the blocks in it.
fn real(page: &str) -> (String, Vec<String>) {
    let (mut real, mut names, mut lines) = (String::new(), Vec::new(), page.lines());
    while let Some(line) = lines.next() {
        real += line;
        real += "\n";
        for (name, table) in TABLES {
            if line == format!("<!-- {name} begins -->") {
                let ends = format!("<!-- {name} ends -->");
                lines.find(|line| **line == ends);
                real += &format!("{}\n{ends}\n", table());
            }
        }
        let Some((language, name)) = line.strip_prefix("```").and_then(|info| info.split_once(' ')) else { continue };
        let old: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        real += &format!("{}\n```\n", block(language, name, &old.join("\n")));
        names.push(name.to_owned());
    }
    (real, names)
}

/// Compares a page, or writes it.
fn check(name: &str, page: &str, real: &str) {
    if std::env::var_os("README_BLESS").is_some() {
        std::fs::write(root().join(name), real).unwrap();
    } else {
        let differs = page.lines().zip(real.lines()).find(|(a, b)| a != b);
        assert!(page == real, "{name} differs from what is real (README_BLESS=1 writes it): {differs:?}");
    }
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The pages.
const PAGES: [&str; 14] = [
    "README.md",
    "docs/arrays.md",
    "docs/debugging.md",
    "docs/dumps.md",
    "docs/examples.md",
    "docs/fusion.md",
    "docs/indexing.md",
    "docs/journey.md",
    "docs/numerics.md",
    "docs/numpy.md",
    "docs/promotion.md",
    "docs/quick-start.md",
    "docs/tour.md",
    "docs/transforms.md",
];

/// Pictures that docs/examples.md shows, and examples write to target/.
const PICTURES: [&str; 6] = ["filters.png", "heat.png", "mandelbrot.png", "neural.png", "neural.svg", "seasons.svg"];

#[test]
fn pages_show_real_output() {
    let mut all = Vec::new();
    for name in PAGES {
        let page = read(name);
        let (real, names) = real(&page);
        check(name, &page, &real);
        all.extend(names);
    }
    for name in PICTURES {
        let [written, shown] = ["target", "docs/examples"].map(|folder| format!("{folder}/{name}"));
        if std::env::var_os("README_BLESS").is_some() {
            std::fs::copy(root().join(written), root().join(shown)).unwrap();
        } else if name.ends_with(".svg") {
            assert!(read(&written) == read(&shown), "{shown} is not what the example writes");
        } else {
            let [written, there] = [&written, &shown].map(|name| ndjit_pictures::read(name).unwrap());
            assert!(written == there, "{shown} is not what the example writes");
        }
    }
    assert!(all.len() > 20, "found only {} blocks", all.len());
    for (example, _) in pages::FILES.iter().flat_map(|(_, examples)| *examples) {
        assert!(all.iter().any(|name| name == example), "no page shows the example `{example}`");
    }
}

/// docs/debugging.md has a line on each pass, with the stage that it makes.
#[test]
fn every_pass_is_explained() {
    let page = read("docs/debugging.md");
    for (pass, stage) in ndjit_codegen::pipeline::passes() {
        assert!(page.contains(&format!("\n| `{pass}` | `{stage}` | ")), "{pass}, {stage}");
    }
}

/// A table that stands between two marks of a page, and what makes it.
type Table = (&'static str, fn() -> String);

const TABLES: [Table; 2] = [("the table", table), ("the table of JAX", table_of_jax)];

/// A row of a table, for NumPy's expression and that here.
fn row(row: &pages::table::Row) -> String {
    // An expression holds no backquote; a bar would end the cell.
    format!("| `{}` | `{}` |", row.numpy, row.ndjit.replace('|', "\\|"))
}

/// JAX's functions, of docs/numpy.md.
fn table_of_jax() -> String {
    let mut text = "| JAX | ndjit | |\n| --- | --- | --- |\n".to_owned();
    for r in pages::jax::rows().unwrap() {
        text += &format!("| `{}` | `{}` | {} |\n", r.jax, r.ndjit.replace('|', "\\|"), r.remark).replace("|  |", "| |");
    }
    text
}

/// NumPy's functions, of docs/numpy.md.
fn table() -> String {
    let mut text = String::new();
    for (heading, rows) in &pages::table::table().unwrap() {
        text +=
            &format!("\n### {heading}\n| NumPy | ndjit | JAX and PyTorch, where they differ |\n| --- | --- | --- |\n");
        for r in rows {
            text += &format!("{} {} |\n", row(r), r.others).replace("|  |", "| |");
        }
    }
    text
}

#[test]
fn the_table_of_numpy_is_true() {
    let table = pages::table::table().unwrap();
    for r in table.iter().flat_map(|(_, rows)| rows) {
        assert_eq!(r.found, r.expected, "{}: `{}`", r.numpy, r.ndjit);
    }
}

/// The times that the README has are those of a page that was measured.
#[test]
fn the_times_of_the_readme_are_measured() {
    let (readme, measured) = (read("README.md"), read("docs/performance.md"));
    let (_, table) = readme.split_once("| ratio |\n|---|---:|---:|---:|\n").unwrap();
    let rows: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() >= 4, "{rows:?}");
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [what, own, peer, ratio] = cells[..] else { panic!("{row}") };
        let (kernel, elements) = what.split_once(", ").unwrap();
        let (kernel, elements) = (kernel.trim_matches('`'), elements.trim_end_matches(" elements"));
        let (time, name) = peer.trim_end_matches(')').split_once(" (").unwrap();
        let begin = format!("| {kernel} | float32 | {elements} | 2 | reused | {own} | ");
        let end = format!(" | {time} | {name} | {ratio} |");
        assert!(measured.lines().any(|line| line.starts_with(&begin) && line.ends_with(&end)), "{row}");
    }
    assert!(readme.lines().count() <= 120);
    let functions = format!("[{} functions]", ndjit::Op::ALL.len());
    assert!(readme.contains(&functions) && read("docs/tour.md").contains(&functions), "{functions}");
}

#[test]
fn the_table_of_jax_is_true() {
    for r in pages::jax::rows().unwrap() {
        assert_eq!(r.found, r.expected, "{}: `{}`", r.jax, r.ndjit);
    }
}

#[test]
fn the_diagram_is_of_the_lattice() {
    let path = root().join("docs/lattice.svg");
    let drawn = ndjit::Lattice::named("jax").expect("a built-in lattice").to_svg();
    if std::env::var_os("README_BLESS").is_some() {
        std::fs::write(&path, drawn).unwrap();
    } else {
        assert_eq!(std::fs::read_to_string(&path).unwrap(), drawn, "README_BLESS=1 draws docs/lattice.svg anew");
    }
}
