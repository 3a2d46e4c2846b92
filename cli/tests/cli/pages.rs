//! docs/cli.md and commands.txt show the output of commands. `README_BLESS=1 cargo test -p ndjit-cli` updates them.

use crate::shell::run;
use std::path::Path;

/// Replaces the output below each `$ ndjit …` in `console` blocks with the actual one, and counts them. A failed
/// command is followed by its exit code.
fn real(page: &str) -> (String, usize) {
    let (mut out, mut count) = (String::new(), 0);
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        out += line;
        out += "\n";
        if line != "```console" {
            continue;
        }
        for line in lines.by_ref() {
            if line == "```" {
                out += "```\n";
                break;
            }
            let Some(command) = line.strip_prefix("$ ") else { continue };
            count += 1;
            let done = run(command);
            let gap = if out.ends_with("```console\n") { "" } else { "\n" };
            out += &format!("{gap}$ {command}\n");
            if !done.text.is_empty() {
                out += &format!("{}\n", done.text);
            }
            if done.code != 0 {
                out += &format!("(exit code {})\n", done.code);
            }
        }
    }
    (out, count)
}

#[test]
fn pages_show_what_commands_print() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, least) in [("../docs/cli.md", 15), ("tests/cli/commands.txt", 40)] {
        let path = folder.join(name);
        let page = std::fs::read_to_string(&path).unwrap();
        let (real, count) = real(&page);
        assert!(count >= least, "{name} has only {count} commands");
        if std::env::var_os("README_BLESS").is_some() {
            std::fs::write(&path, real).unwrap();
            continue;
        }
        let differs = page.lines().zip(real.lines()).find(|(page, real)| page != real);
        assert!(page == real, "{name} differs from what is real (README_BLESS=1 writes it): {differs:?}");
    }
}

#[test]
fn the_doctor_finds_this_machine_well() {
    let done = run("ndjit doctor");
    assert_eq!(done.code, 0, "{}", done.text);
    for row in ["machine code for", "CPU features used", "threads", "executable memory", "code cache", "GPUs"] {
        assert!(done.text.contains(&format!("\n{row}")), "{row} is missing:\n{}", done.text);
    }
    assert!(done.text.contains("self-test          passed"), "{}", done.text);
}

#[test]
#[cfg(not(feature = "gpu"))]
fn gpus_are_a_feature() {
    let done = run("ndjit eval 'x' x=1 --device gpu");
    assert_eq!(done.code, 2);
    assert!(done.text.starts_with("error[device]: this is built without the feature `gpu`"), "{}", done.text);
}
