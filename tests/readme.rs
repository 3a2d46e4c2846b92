//! README.md shows what the library prints. `README_BLESS=1 cargo test --test readme` writes it there.
//!
//! A block that opens with three backquotes and `text NAME` holds the text of that name here.

use ndjit::{Array, Stage, jit, report};
use std::path::Path;

/// What a block should hold.
fn shown(name: &str) -> String {
    let f = jit(|x, y| x + y * 2);
    let (x, y) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([10i8, 20, 30]));
    f.call((&x, &y)).unwrap();
    let text = match name {
        "graph" => f.explain(Stage::Graph),
        "loops" => f.explain(Stage::Loops),
        "error" => {
            let y = Array::from([1i8, 2]);
            report(&f.call((&x, &y)).unwrap_err())
        }
        _ => panic!("README.md shows an unknown text, `{name}`"),
    };
    text.trim_end().replace(file!(), "src/main.rs")
}

#[test]
fn the_page_shows_real_output() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut rest = page.as_str();
    let (mut real, mut blocks) = (String::new(), 0);
    while let Some(start) = rest.find("```text ") {
        let (before, block) = rest.split_at(start);
        let (name, block) = block["```text ".len()..].split_once('\n').unwrap();
        let end = block.find("```\n").unwrap();
        real += &format!("{before}```text {name}\n{}\n", shown(name));
        rest = &block[end..];
        // What follows begins with the closing fence.
        let (fence, after) = rest.split_at("```".len());
        real += fence;
        rest = after;
        blocks += 1;
    }
    real += rest;
    assert!(blocks >= 3, "found only {blocks} blocks");
    if std::env::var_os("README_BLESS").is_some() {
        std::fs::write(&path, real).unwrap();
    } else {
        let differs = page.lines().zip(real.lines()).find(|(a, b)| a != b);
        assert!(page == real, "README.md differs from what is printed (README_BLESS=1 writes it): {differs:?}");
    }
}

#[test]
fn the_diagram_is_of_the_lattice() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/lattice.svg");
    let drawn = ndjit::Lattice::named("jax").expect("a built-in lattice").to_svg();
    if std::env::var_os("README_BLESS").is_some() {
        std::fs::write(&path, drawn).unwrap();
    } else {
        assert_eq!(std::fs::read_to_string(&path).unwrap(), drawn, "README_BLESS=1 draws docs/lattice.svg anew");
    }
}
