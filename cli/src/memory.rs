//! Amounts of memory: read, written, and what the machine has.

use crate::expression::counted;
use ndjit::{Error, ErrorCode};

/// The limit where the machine does not say what it has.
const OTHERWISE: usize = 4 << 30;

const UNITS: [(&str, usize); 8] = [
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
];

/// Reads an amount: `2GB`, `1.5 GiB`, `4096`.
///
/// ```
/// use ndjit_cli::memory::parse;
/// assert_eq!(parse("1.5GB"), Ok(1_500_000_000));
/// assert_eq!(parse("2GiB"), Ok(2 << 30));
/// assert!(parse("much").is_err() && parse("0B").is_err() && parse("1e30GB").is_err());
/// ```
///
/// # Errors
/// What is wrong with a text that is no amount.
pub fn parse(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (text[..end].parse::<f64>(), text[end..].trim().to_lowercase());
    let unit = if unit.is_empty() { "b".to_owned() } else { unit };
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let (Ok(number), Some(factor)) = (number, factor) else {
        return Err("write a number and a unit: 500MB, 2GB, 1GiB".to_owned());
    };
    let bytes = number * factor as f64;
    match bytes {
        1.0.. if bytes < usize::MAX as f64 => Ok(bytes as usize),
        1.0.. => Err("no machine has so much; write as in 500MB, 2GB, 1GiB".to_owned()),
        _ => Err("nothing can be computed in no memory; write as in 500MB, 2GB, 1GiB".to_owned()),
    }
}

/// An amount as people read it: `1.5 GB`.
pub fn amount(bytes: usize) -> String {
    let (unit, factor) = match bytes {
        0..1_000 => return counted(bytes, "byte"),
        1_000..1_000_000 => ("kB", 1e3),
        1_000_000..1_000_000_000 => ("MB", 1e6),
        1_000_000_000..1_000_000_000_000 => ("GB", 1e9),
        _ => ("TB", 1e12),
    };
    format!("{:.1} {unit}", bytes as f64 / factor)
}

/// The limit without `--memory`: half of the machine's memory.
pub fn default_limit() -> usize {
    total().map_or(OTHERWISE, |total| total / 2)
}

/// How much memory the machine has, where it says so.
pub fn total() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok()?.checked_mul(1024)
}

/// Refuses what needs more than the limit. `parts` are what takes memory, in words and bytes.
pub fn check(limit: usize, parts: &[(&str, usize)]) -> Result<(), Error> {
    let needed = parts.iter().fold(0usize, |sum, (_, bytes)| sum.saturating_add(*bytes));
    if needed <= limit {
        return Ok(());
    }
    let mut error = Error::new(ErrorCode::Allocation, format!("eval: needs {} of memory", amount(needed)));
    for (what, bytes) in parts.iter().filter(|(_, bytes)| *bytes > 0) {
        error = error.fact(format_args!("{what}: {}", amount(*bytes)));
    }
    let error = error.fact(format_args!("the limit: {}", amount(limit)));
    let help = match total() {
        Some(total) if needed > total => format!("the machine has {}; compute less at once", amount(total)),
        _ => format!("raise the limit with `--memory {}MB`, or compute less at once", needed.div_ceil(1_000_000)),
    };
    Err(error.help(help))
}
