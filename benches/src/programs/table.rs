//! A table of lines measured here and for other libraries.

use serde_json::Value;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

/// The lines of a file.
pub fn lines(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    Ok(text.lines().filter(|line| line.starts_with('{')).map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn number(line: &Value, name: &str) -> f64 {
    line[name].as_f64().unwrap_or(f64::NAN)
}

fn text<'a>(line: &'a Value, name: &str) -> &'a str {
    line[name].as_str().unwrap_or_default()
}

/// A line for each backend, program and size, with the minimum times.
fn fastest(lines: &[Value]) -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    for line in lines {
        let same = |row: &&mut Value| ["backend", "program", "size"].iter().all(|name| row[name] == line[name]);
        let Some(row) = rows.iter_mut().find(same) else {
            rows.push(line.clone());
            continue;
        };
        for name in ["min_s", "rust_s", "first_s"] {
            if number(line, name) < number(row, name) {
                row[name] = line[name].clone();
            }
        }
    }
    rows
}

/// A row for each line of ours: the fastest peer, and the loop in Rust. A peer with a different sum is excluded, and named below. Several
/// lines for one program are reduced to the minimum times. A first call counts the time beyond later ones.
pub fn table(ours: &[Value], peers: &[Value]) -> String {
    let mut out = String::from(
        "| program | size | ours ms | best peer ms | | best peer / ours | Rust / ours | first call, more ms | of the peer, more ms |\n\
         |---|---|---:|---:|---|---:|---:|---:|---:|\n",
    );
    let (mut ratios, mut loops, mut wrong) = (Vec::new(), Vec::new(), String::new());
    let (rows, peers) = (fastest(ours), fastest(peers));
    for line in &rows {
        let least = number(line, "min_s");
        let same = |peer: &&Value| peer["program"] == line["program"] && peer["size"] == line["size"];
        let right = |peer: &&Value| {
            let (sum, own) = (number(peer, "sum"), number(line, "sum"));
            let right = sum.is_nan() || (sum - own).abs() <= 1e-6 * own.abs().max(1e-3);
            if !right {
                let _ = writeln!(
                    wrong,
                    "{} {} of {}: {sum} instead of {own}",
                    peer["program"], peer["size"], peer["backend"]
                );
            }
            right
        };
        let best =
            peers.iter().filter(same).filter(right).min_by(|a, b| number(a, "min_s").total_cmp(&number(b, "min_s")));
        let rust = number(line, "rust_s") / least;
        let (name, what) = (text(line, "program"), format!("{} ({})", text(line, "size"), text(line, "what")));
        let more = |line: &Value| (number(line, "first_s") - number(line, "min_s")) * 1e3;
        let first = more(line);
        loops.push(rust);
        let _ = match best {
            Some(peer) => {
                let (time, of) = (number(peer, "min_s"), text(peer, "backend"));
                ratios.push(time / least);
                writeln!(
                    out,
                    "| {name} | {what} | {:.3} | {:.3} | {of} | {:.2} | {rust:.2} | {first:.1} | {:.0} |",
                    least * 1e3,
                    time * 1e3,
                    time / least,
                    more(peer)
                )
            }
            None => writeln!(out, "| {name} | {what} | {:.3} | | | | {rust:.2} | {first:.1} | |", least * 1e3),
        };
    }
    let mean = |all: &[f64]| (all.iter().map(|x| x.ln()).sum::<f64>() / all.len() as f64).exp();
    let _ = writeln!(out, "| geometric mean | | | | | {:.2} | {:.2} | | |", mean(&ratios), mean(&loops));
    out + &wrong
}
