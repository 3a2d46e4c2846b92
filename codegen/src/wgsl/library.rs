//! The library of WGSL functions in the repository's `shaders/`, and the text of those that a module calls.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The hand-written files: name and text. A module uses one of the two files that define 64-bit integers.
pub const FILES: &[(&str, &str)] = &[
    ("wide_native.wgsl", include_str!("../../shaders/wide_native.wgsl")),
    ("wide_words.wgsl", include_str!("../../shaders/wide_words.wgsl")),
    ("wide.wgsl", include_str!("../../shaders/wide.wgsl")),
    ("integer.wgsl", include_str!("../../shaders/integer.wgsl")),
    ("float.wgsl", include_str!("../../shaders/float.wgsl")),
    ("soft.wgsl", include_str!("../../shaders/soft.wgsl")),
    ("double.wgsl", include_str!("../../shaders/double.wgsl")),
    ("double_bits.wgsl", include_str!("../../shaders/double_bits.wgsl")),
    ("fused_double.wgsl", include_str!("../../shaders/fused_double.wgsl")),
];

/// A function with the comment before it.
struct LibraryFunction {
    text: &'static str,
    calls: Vec<&'static str>,
}

type LibraryFunctions = HashMap<&'static str, LibraryFunction>;

fn functions(int64: bool) -> &'static LibraryFunctions {
    static NATIVE: LazyLock<LibraryFunctions> = LazyLock::new(|| read("wide_words.wgsl"));
    static WORDS: LazyLock<LibraryFunctions> = LazyLock::new(|| read("wide_native.wgsl"));
    if int64 { &NATIVE } else { &WORDS }
}

/// Reads all functions except those of one file.
fn read(without: &str) -> LibraryFunctions {
    let mut functions = LibraryFunctions::new();
    for (_, file) in FILES.iter().filter(|(name, _)| *name != without) {
        // Functions are separated by empty lines, and contain none.
        for part in file.split("\n\n") {
            let name = part.lines().find_map(|line| line.strip_prefix("fn ")?.split('(').next());
            if let Some(name) = name {
                functions.insert(name, LibraryFunction { text: part.trim_end(), calls: called(part) });
            }
        }
    }
    functions
}

/// Returns the names beginning with `nd` that a text calls.
fn called(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices('(') {
        let start = text[..at].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |n| n + 1);
        let name = &text[start..at];
        if name.starts_with("nd") && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the functions that a text calls, directly or indirectly, in a fixed order, with the type of 64-bit integers.
pub fn text(code: &str, int64: bool) -> String {
    let functions = functions(int64);
    let mut names: Vec<&str> = called(code);
    let mut next = 0;
    while let Some(name) = names.get(next) {
        next += 1;
        for &call in functions.get(name).iter().flat_map(|function| &function.calls) {
            if !names.contains(&call) {
                names.push(call);
            }
        }
    }
    names.sort_unstable();
    let mut out = String::new();
    let texts: Vec<&str> = names.iter().filter_map(|name| functions.get(name)).map(|f| f.text).collect();
    if code.contains("nd_u64") || texts.iter().any(|text| text.contains("nd_u64")) {
        out += if int64 { "alias nd_u64 = u64;\n\n" } else { "alias nd_u64 = vec2<u32>;\n\n" };
    }
    for text in texts {
        out += text;
        out += "\n\n";
    }
    out
}
