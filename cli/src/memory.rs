//! Memory: amounts in arguments, the machine's memory, and the [`Budget`] of a command, from which code reserves memory
//! whose size depends on data or an expression. The program's own memory, including kernels, is not counted.

use ndjit::{Error, ErrorCode};
use ndjit_expressions::Budget;

/// The limit if the machine's memory is unknown.
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

/// Parses an amount: `2GB`, `1.5 GiB`, `4096`.
///
/// ```
/// use ndjit_cli::memory::parse;
/// assert_eq!(parse("1.5GB"), Ok(1_500_000_000));
/// assert_eq!(parse("2GiB"), Ok(2 << 30));
/// assert!(parse("much").is_err() && parse("0B").is_err() && parse("1e30GB").is_err());
/// ```
///
/// # Errors
/// A message for invalid text.
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

/// The limit without `--memory`: half of the machine's memory.
pub fn default_limit() -> usize {
    total().map_or(OTHERWISE, |total| total / 2)
}

/// The memory of the machine or of its container, if known.
pub fn total() -> Option<usize> {
    ndjit::host().ok()?.memory
}

/// The budget of a command with this limit.
pub fn budget(limit: usize) -> Budget {
    Budget::new(limit).raised_by("--memory")
}

/// Reserves room in a list for more items.
///
/// # Errors
/// `Allocation` if the system refuses it.
pub(crate) fn grow<T>(items: &mut Vec<T>, more: usize) -> Result<(), Error> {
    items.try_reserve_exact(more).map_err(|_| {
        let bytes = (items.len().saturating_add(more)).saturating_mul(size_of::<T>());
        Error::new(ErrorCode::Allocation, "the system refused memory")
            .fact(format_args!("{bytes} bytes were requested"))
            .help("close other programs, or let this one take less: `--memory`")
    })
}
