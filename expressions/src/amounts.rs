//! Numbers in messages, with their nouns and units.

/// A count with its noun.
///
/// ```
/// use ndjit_expressions::counted;
///
/// assert_eq!([counted(1, "argument"), counted(2, "argument")], ["1 argument", "2 arguments"]);
/// ```
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// An amount of memory.
///
/// ```
/// use ndjit_expressions::amount;
///
/// assert_eq!([amount(12), amount(1_500_000_000)], ["12 bytes", "1.5 GB"]);
/// ```
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
