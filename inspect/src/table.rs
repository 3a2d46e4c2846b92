//! Tables in text: aligned columns, numbers to the right, with readable units.

use ndjit_ir::spaces::Spaces;
use std::fmt;
use std::time::Duration;

/// Writes rows under a heading, the first column left-aligned and all others right-aligned.
pub fn write(f: &mut fmt::Formatter<'_>, heading: &[&str], rows: &[Vec<String>]) -> fmt::Result {
    let heading: Vec<String> = heading.iter().map(|&name| name.to_owned()).collect();
    let all = || std::iter::once(&heading).chain(rows);
    let width =
        |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    for row in all() {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let missing = Spaces(width - cell.chars().count());
            match column {
                0 => write!(f, "{cell}{missing}")?,
                _ => write!(f, "  {missing}{cell}")?,
            }
        }
        f.write_str("\n")?;
    }
    Ok(())
}

/// The number of a kernel, marked by its depth in control flow.
pub fn number(n: usize, depth: usize) -> String {
    format!("{}{n}", ">".repeat(depth))
}

/// The legend of [`number`]'s marks, below a table with one.
pub const MARKS: &str = "> marks a kernel in a graph of the loop or branch above it, >> one deeper";

/// A kernel in the stages of a program with control flow: `kernel 3`.
pub fn kernel(launch: usize) -> String {
    format!("kernel {launch}")
}

/// The title of a graph's program in stages, memory plans and charts: `kernel 3, for body`.
pub fn title(launch: usize, control: &str, graph: &str) -> String {
    format!("{}, {control} {graph}", kernel(launch))
}

/// What follows the title of a graph whose program stands under another title.
pub fn program_of(title: &str) -> String {
    format!("the program of {title}")
}

/// What is said of a compiled loop instead of the programs of its graphs.
pub const COMPILED_LOOP: &str = "its steps are one loop of a nest";

/// What memory plans and charts say of a compiled loop, with the bytes of its state.
pub fn compiled_loop(launch: usize, control: &str, state: u64) -> String {
    format!("{}; {COMPILED_LOOP}, without arrays", with_state(launch, control, state))
}

/// Control flow with the bytes of its state: `kernel 3, for: state 24 B`. Branches have none.
pub fn with_state(launch: usize, control: &str, state: u64) -> String {
    match state {
        0 => format!("{}, {control}", kernel(launch)),
        state => format!("{}, {control}: state {}", kernel(launch), bytes(state)),
    }
}

/// A number of bytes, as `1.5 MiB`.
pub fn bytes(bytes: u64) -> String {
    let mut size = bytes as f64;
    let mut units = ["B", "KiB", "MiB", "GiB", "TiB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for larger in units {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{size:.1} {unit}") }
}

/// A time, as `1.5µs`.
pub fn time(time: Duration) -> String {
    format!("{time:.1?}")
}

/// A rate in units of 10⁹ per second, as `12.3`.
pub fn giga(count: u64, time: Duration) -> String {
    match time.as_secs_f64() {
        0.0 => "-".to_owned(),
        seconds => format!("{:.1}", count as f64 / seconds * 1e-9),
    }
}
