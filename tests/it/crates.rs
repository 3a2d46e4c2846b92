//! The picture of the library's crates: generated from the workspace's manifests and folders, and compared with docs/crates.svg,
//! which ARCHITECTURE.md shows. An arrow leads to a dependency; transitive ones are omitted.

use crate::house::dependencies;
use ndjit_drawing::{escape, layout, path, text_width};
use ndjit_tests::root;
use std::fmt::Write;
use std::fs;

/// A crate, as its box in the picture.
struct Crate {
    name: String,
    folder: String,
    description: Vec<String>,
    /// The folders of its source.
    rooms: Vec<String>,
    /// Its direct dependencies, by index.
    dependencies: Vec<usize>,
}

/// The maximum number of characters of a line of a box.
const COLUMNS: usize = 120;
/// Sizes of letters, and distances, in pixels.
const NAME: f64 = 15.0;
const TEXT: f64 = 12.0;
const LINE: f64 = 18.0;
const PADDING: f64 = 14.0;
const GAP: f64 = 28.0;
const MARGIN: f64 = 20.0;

/// The value of the first line `key = "value"` of a manifest.
fn field(manifest: &str, key: &str) -> String {
    let begin = format!("{key} = \"");
    let value = manifest.lines().find_map(|line| line.strip_prefix(&begin)?.strip_suffix('"'));
    value.unwrap_or_else(|| panic!("no `{key}` in\n{manifest}")).to_owned()
}

/// Words in lines of at most [`COLUMNS`] characters.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The folders in a folder, in order.
fn folders(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|e| panic!("{folder}: {e}")).flatten();
    let inner = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = inner.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The published crates of the workspace.
fn crates() -> Vec<Crate> {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, members) = workspace.split_once("members = [").expect("the workspace lists its members");
    let members = members.split(']').next().unwrap_or_default();
    let own = std::iter::once("").chain(members.split('"').skip(1).step_by(2));
    let (mut found, mut needed) = (Vec::new(), Vec::new());
    for member in own {
        let folder = if member.is_empty() { String::new() } else { format!("{member}/") };
        let manifest = fs::read_to_string(root().join(format!("{folder}Cargo.toml"))).unwrap();
        if manifest.contains("publish = false") {
            continue;
        }
        needed.push(dependencies(&format!("{folder}Cargo.toml")));
        found.push(Crate {
            name: field(&manifest, "name"),
            description: wrapped(&field(&manifest, "description")),
            rooms: wrapped(&folders(&format!("{folder}src")).join(" ")),
            folder: if member.is_empty() { "src/".to_owned() } else { folder },
            dependencies: Vec::new(),
        });
    }
    let index: Vec<Vec<usize>> = needed
        .iter()
        .map(|names| names.iter().filter_map(|name| found.iter().position(|own| own.name == *name)).collect())
        .collect();
    for (own, dependencies) in found.iter_mut().zip(index) {
        own.dependencies = dependencies;
    }
    found
}

/// Whether a crate depends on another, directly or transitively.
fn reaches(crates: &[Crate], from: usize, to: usize) -> bool {
    let (mut open, mut seen) = (vec![from], vec![false; crates.len()]);
    while let Some(next) = open.pop() {
        for &dependency in &crates[next].dependencies {
            if !std::mem::replace(&mut seen[dependency], true) {
                open.push(dependency);
            }
        }
    }
    seen[to]
}

/// The arrows without transitive ones, each as the dependency and its user.
fn edges(crates: &[Crate]) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    for (upper, own) in crates.iter().enumerate() {
        for &lower in &own.dependencies {
            let follows = own.dependencies.iter().any(|&other| other != lower && reaches(crates, other, lower));
            if !follows {
                edges.push((lower, upper));
            }
        }
    }
    edges
}

/// The picture, an SVG document.
fn picture(crates: &[Crate]) -> String {
    let texts = crates.iter().flat_map(|own| own.description.iter().chain(&own.rooms));
    let width = texts.map(|line| text_width(line, TEXT)).fold(0.0, f64::max) + 2.0 * PADDING;
    let lines = crates.iter().map(|own| own.description.len() + own.rooms.len()).max().unwrap_or(0);
    let height = 2.0 * PADDING + LINE * lines as f64 + NAME;
    let plan = layout(&vec![width; crates.len()], &edges(crates));
    let top = plan.layer.iter().max().copied().unwrap_or(0);
    let page = (plan.width + 2.0 * MARGIN, top as f64 * (height + GAP) + height + 2.0 * MARGIN);
    // The middle of a box.
    let at = |(x, layer): (f64, usize)| (MARGIN + x, page.1 - MARGIN - height / 2.0 - layer as f64 * (height + GAP));
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0} {1:.0}" width="{0:.0}" height="{1:.0}" font-family="sans-serif" font-size="{TEXT}">"#,
        page.0, page.1
    );
    svg += "\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    for route in &plan.routes {
        // From the user down to its dependency, vertical through layers.
        let ends = route.iter().rev().map(|&point| at(point));
        let corners = ends.flat_map(|(x, y)| [(x, y - height / 2.0), (x, y + height / 2.0)]);
        let mut points: Vec<(f64, f64)> = corners.skip(1).collect();
        points.pop();
        let Some(&(x, y)) = points.last() else { continue };
        let line = path(&points, f64::INFINITY);
        // Writing to a string cannot fail.
        let _ = writeln!(svg, r##"<path d="{line}" fill="none" stroke="#777" stroke-width="1.5"/>"##);
        let (left, right, above) = (x - 5.0, x + 5.0, y - 9.0);
        let _ =
            writeln!(svg, r##"<path d="M{x:.0} {y:.0} L{left:.0} {above:.0} L{right:.0} {above:.0} Z" fill="#777"/>"##);
    }
    for (index, own) in crates.iter().enumerate() {
        let (x, y) = at((plan.x[index], plan.layer[index]));
        let (left, above) = (x - width / 2.0, y - height / 2.0);
        let _ = writeln!(
            svg,
            r##"<rect x="{left:.0}" y="{above:.0}" width="{width:.0}" height="{height:.0}" rx="8" fill="#d7e8fb" stroke="#2c6cb0" stroke-width="1.5"/>"##
        );
        let (left, mut base) = (left + PADDING, above + PADDING + NAME - 3.0);
        let (name, folder) = (escape(&own.name), escape(&own.folder));
        let _ = writeln!(
            svg,
            r##"<text x="{left:.0}" y="{base:.0}"><tspan font-size="{NAME}" font-weight="bold">{name}</tspan> <tspan fill="#555">{folder}</tspan></text>"##
        );
        let described = own.description.iter().map(|line| (line, "#111"));
        for (line, colour) in described.chain(own.rooms.iter().map(|line| (line, "#555"))) {
            base += LINE;
            let line = escape(line);
            let _ = writeln!(svg, r#"<text x="{left:.0}" y="{base:.0}" fill="{colour}">{line}</text>"#);
        }
    }
    svg += "</svg>\n";
    svg
}

#[test]
fn the_picture_is_of_the_crates() {
    let crates = crates();
    assert!(crates.len() >= 7 && edges(&crates).len() >= crates.len() - 1, "found only {} crates", crates.len());
    let (file, drawn) = (root().join("docs/crates.svg"), picture(&crates));
    if std::env::var_os("README_BLESS").is_some() {
        fs::write(&file, drawn).unwrap();
    } else {
        let there = fs::read_to_string(&file).unwrap_or_default();
        assert!(there == drawn, "docs/crates.svg is not of these crates: README_BLESS=1 draws it anew");
    }
}
