//! Debugging of compilation, performance and results: causes of compilation, statistics, printing, NaN, the interpreter.

mod environment;
mod escapes;
#[cfg(feature = "gpu")]
mod gpu;
mod interpreter;
mod memory;
mod misses;
mod nonfinite;
mod print;
mod shrink;
mod stats;

/// Text without the lines and columns of this crate's tests.
fn without_places(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("tests/debug/") {
        let (before, place) = rest.split_at(at);
        out += before;
        let end = place.find(".rs").map_or(place.len(), |end| end + 3);
        out += place[..end].rsplit('/').next().unwrap_or_default();
        rest = place[end..].trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
    }
    out + rest
}
