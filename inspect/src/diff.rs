//! Differences between two stages of a program, or between the programs of two signatures.
//!
//! A pass that removes one value renumbers all later ones. So the second text's values are renamed as in the first: lines that are
//! equal except for value numbers are matched, and so are the values they define.

use similar::{Algorithm, DiffTag, TextDiff, capture_diff_slices_deadline};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::{Duration, Instant};

/// Two texts, line by line. Prints as a unified diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    names: (String, String),
    old: String,
    new: String,
}

/// The time limit of minimal diffs.
const LONG: Duration = Duration::from_secs(1);

impl Diff {
    /// The differences between two texts with these names.
    pub fn new(names: (String, String), old: &str, new: &str) -> Diff {
        let (old, new) = (without_places(old), without_places(new));
        // Each graph has its own value numbers. The last one is the program.
        let (mut before, after) = (blocks(&old), blocks(&new));
        let (last, extra) = (before.pop().unwrap_or_default(), after.len().saturating_sub(before.len() + 1));
        before.extend(std::iter::repeat_n("", extra));
        before.truncate(after.len().saturating_sub(1));
        before.push(last);
        let new: String = before.into_iter().zip(after).map(|(old, new)| renamed(old, new)).collect();
        Diff { names, old, new }
    }

    /// Whether the texts are equal except for value numbers and places.
    pub fn is_empty(&self) -> bool {
        self.old == self.new
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let diff = TextDiff::configure().timeout(LONG).diff_lines(&self.old, &self.new);
        write!(f, "{}", diff.unified_diff().context_radius(3).header(&self.names.0, &self.names.1))
    }
}

/// The text without trailing comments: places and reasons. Comment lines stay.
fn without_places(text: &str) -> String {
    let line = |line: &str| line.split_once("  ;").map_or(line, |(line, _)| line).to_owned() + "\n";
    text.lines().map(line).collect()
}

/// The graphs of a text, or the whole of another text.
fn blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\n}\n").map(|at| at + 3).filter(|_| rest.starts_with("child @")) {
        let (block, after) = rest.split_at(at);
        blocks.push(block);
        rest = after;
    }
    blocks.push(rest);
    blocks
}

/// The second text with the first's value names.
fn renamed(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let without_numbers = |line: &str| with_values(line, |_| Some(String::new()));
    // The same definition gives the same value, even of another type.
    let without_types = |line: &str| match line.split_once(" = ").and_then(|(_, after)| after.rsplit_once(" : ")) {
        Some((operation, _)) => without_numbers(operation),
        None => without_numbers(line),
    };
    let mut names = Names::default();
    names.align(&old, &new, without_numbers);
    names.align(&old, &new, without_types);
    let mut names = names.old;
    let number = |name: &String| name.parse::<u64>().ok();
    let mut next =
        old.iter().flat_map(|line| defined(line)).filter_map(|name| number(&name)).max().map_or(0, |n| n + 1);
    for name in new.iter().flat_map(|line| defined(line)) {
        names.entry(name).or_insert_with(|| {
            next += 1;
            (next - 1).to_string()
        });
    }
    let line = |line: &&str| with_values(line, |name| names.get(name).map(|name| format!("%{name}"))) + "\n";
    new.iter().map(line).collect()
}

/// Names of the second text's values.
#[derive(Default)]
struct Names {
    /// A value's name in the first text.
    old: HashMap<String, String>,
    /// Names in use.
    taken: HashSet<String>,
}

impl Names {
    /// Matches the definitions of lines with equal keys.
    fn align(&mut self, old: &[&str], new: &[&str], key: impl Fn(&str) -> String) {
        let keys = |lines: &[&str]| lines.iter().map(|line| key(line)).collect::<Vec<String>>();
        let deadline = Instant::now() + LONG;
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &keys(old), &keys(new), Some(deadline));
        for op in ops.iter().filter(|op| op.tag() == DiffTag::Equal) {
            for (old_line, new_line) in old[op.old_range()].iter().zip(&new[op.new_range()]) {
                for (old_name, new_name) in defined(old_line).into_iter().zip(defined(new_line)) {
                    if !self.old.contains_key(&new_name) && self.taken.insert(old_name.clone()) {
                        self.old.insert(new_name, old_name);
                    }
                }
            }
        }
    }
}

/// The numbers of a line's defined values: parameters, and results before ` = `.
fn defined(line: &str) -> Vec<String> {
    let definitions = match line.split_once(" = ") {
        Some((before, _)) => before,
        None if line.contains(" (%") || line.starts_with("graph (") => {
            line.split_once(')').map_or(line, |(params, _)| params)
        }
        None => "",
    };
    let mut names = Vec::new();
    with_values(definitions, |name| {
        names.push(name.to_owned());
        None
    });
    names
}

/// The line with its values replaced by `other`, which gets their numbers.
fn with_values(line: &str, mut other: impl FnMut(&str) -> Option<String>) -> String {
    let mut parts = line.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_at(part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        match other(number) {
            Some(other) => out += &other,
            None => out = out + "%" + number,
        }
        out += rest;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        Diff::new(("old".to_owned(), "new".to_owned()), old, new).to_string()
    }

    #[test]
    fn values_keep_their_names() {
        let old = "graph (%0: f32[3]) {\n  %1 = cast %0 : f64[3]\n  %2 = sin %0 : f32[3]  ; a.rs:1:2\n  %3 = cos %2 : f32[3]\n  return %3\n}";
        let new = "graph (%0: f32[3]) {\n  %1 = sin %0 : f32[3]\n  %2 = cos %1 : f32[3]\n  return %2\n}";
        let expected = [
            "--- old",
            "+++ new",
            "@@ -1,5 +1,4 @@",
            " graph (%0: f32[3]) {",
            "-  %1 = cast %0 : f64[3]",
            "   %2 = sin %0 : f32[3]",
            "   %3 = cos %2 : f32[3]",
            "   return %3",
        ];
        assert_eq!(diff(old, new).trim_end(), expected.join("\n"));
        assert_eq!(diff(old, &old.replace("a.rs", "b.rs")), "");
    }

    #[test]
    fn other_operands_are_a_difference() {
        let old = "graph (%0: f32[3]) {\n  %1 = sin %0 : f32[3]\n  %2 = add %0, %1 : f32[3]\n  return %2\n}";
        let new = "graph (%0: f32[3]) {\n  %1 = sin %0 : f32[3]\n  %2 = add %1, %0 : f32[3]\n  return %2\n}";
        assert!(
            diff(old, new).contains("-  %2 = add %0, %1 : f32[3]\n+  %2 = add %1, %0 : f32[3]\n"),
            "{}",
            diff(old, new)
        );
    }
}
