//! Differences between two stages of a program, or between the programs of two signatures.
//!
//! A pass that removes one value renumbers all later ones. So the second listing's values are renamed as in the first: lines that
//! are equal except for value numbers are matched, and so are the values they define.

use crate::listing::{Listing, StageLine};
use ndjit_ir::graph::Value;
use ndjit_ir::lines::{LineSpan, SpanKind};
use similar::{Algorithm, DiffTag, TextDiff, capture_diff_slices_deadline};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::{Duration, Instant};

/// Two listings, line by line. Prints as a unified diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    names: (String, String),
    old: Vec<String>,
    new: Vec<String>,
}

/// The time limit of minimal diffs.
const LONG: Duration = Duration::from_secs(1);

impl Diff {
    /// The differences between two listings with these names.
    pub fn new(names: (String, String), old: &Listing, new: &Listing) -> Diff {
        let lines = |blocks: &[Vec<DiffLine>]| blocks.iter().flatten().map(|line| line.text.clone()).collect();
        // Each graph has its own value numbers. The last one is the program.
        let (mut before, after) = (blocks(&old.lines), blocks(&new.lines));
        let old = lines(&before);
        let last = before.pop().unwrap_or_default();
        before.resize(after.len().saturating_sub(1), Vec::new());
        before.push(last);
        let new = before.iter().zip(&after).flat_map(|(old, new)| renamed(old, new)).collect();
        Diff { names, old, new }
    }

    /// Whether the texts are equal except for value numbers and places.
    pub fn is_empty(&self) -> bool {
        self.old == self.new
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [old, new] = [&self.old, &self.new].map(|lines| lines.iter().map(String::as_str).collect::<Vec<&str>>());
        let diff = TextDiff::configure().timeout(LONG).diff_slices(&old, &new);
        write!(f, "{}", diff.unified_diff().context_radius(3).header(&self.names.0, &self.names.1))
    }
}

/// A line without its notes.
#[derive(Clone, Default)]
struct DiffLine {
    text: String,
    spans: Vec<LineSpan>,
}

impl DiffLine {
    fn of(line: &StageLine) -> DiffLine {
        let mut code = DiffLine::default();
        // The note ends a line.
        let note = line.spans.iter().position(|span| span.kind == SpanKind::Note);
        code.spans.extend_from_slice(&line.spans[..note.unwrap_or(line.spans.len())]);
        code.text.push_str(note.map_or(&line.text, |note| &line.text[..line.spans[note].range.start]));
        code
    }

    /// The text with other texts for some spans.
    fn with(&self, other: impl Fn(SpanKind) -> Option<String>) -> String {
        let (mut text, mut end) = (String::new(), 0);
        for LineSpan { range, kind } in &self.spans {
            text += &self.text[end..range.start];
            match other(*kind) {
                Some(other) => text += &other,
                None => text += &self.text[range.clone()],
            }
            end = range.end;
        }
        text + &self.text[end..]
    }

    /// The defined values: parameters, results.
    fn defined(&self) -> impl Iterator<Item = Value> {
        self.spans.iter().filter_map(|span| match span.kind {
            SpanKind::Definition(value) => Some(value),
            SpanKind::Use(_) | SpanKind::Types | SpanKind::Note => None,
        })
    }
}

/// The lines of each graph, or all of another stage.
fn blocks(lines: &[StageLine]) -> Vec<Vec<DiffLine>> {
    lines.chunk_by(|a, b| a.block == b.block).map(|block| block.iter().map(DiffLine::of).collect()).collect()
}

/// The second block's lines with the first's value names.
fn renamed(old: &[DiffLine], new: &[DiffLine]) -> Vec<String> {
    let without_values = |line: &DiffLine| {
        line.with(|kind| matches!(kind, SpanKind::Definition(_) | SpanKind::Use(_)).then(String::new))
    };
    let mut names = Names::default();
    names.align(old, new, without_values);
    // The same definition gives the same value, even of another type.
    names.align(old, new, |line| line.with(|_| Some(String::new())));
    let mut names = names.old;
    let mut next = old.iter().flat_map(DiffLine::defined).max().map_or(0, |last| last.0 + 1);
    for value in new.iter().flat_map(DiffLine::defined) {
        names.entry(value).or_insert_with(|| {
            next += 1;
            Value(next - 1)
        });
    }
    let name = |kind| match kind {
        SpanKind::Definition(value) | SpanKind::Use(value) => names.get(&value).map(Value::to_string),
        SpanKind::Types | SpanKind::Note => None,
    };
    new.iter().map(|line| line.with(name)).collect()
}

/// Names of the second block's values.
#[derive(Default)]
struct Names {
    /// A value's name in the first block.
    old: HashMap<Value, Value>,
    /// Names in use.
    taken: HashSet<Value>,
}

impl Names {
    /// Matches the definitions of lines with equal keys.
    fn align(&mut self, old: &[DiffLine], new: &[DiffLine], key: impl Fn(&DiffLine) -> String) {
        let keys = |lines: &[DiffLine]| lines.iter().map(&key).collect::<Vec<String>>();
        let deadline = Instant::now() + LONG;
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &keys(old), &keys(new), Some(deadline));
        for op in ops.iter().filter(|op| op.tag() == DiffTag::Equal) {
            for (old_line, new_line) in old[op.old_range()].iter().zip(&new[op.new_range()]) {
                for (old_name, new_name) in old_line.defined().zip(new_line.defined()) {
                    if !self.old.contains_key(&new_name) && self.taken.insert(old_name) {
                        self.old.insert(new_name, old_name);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndjit_ir::DType;
    use ndjit_ir::graph::{Graph, GraphLine};
    use ndjit_ir::lines::TextLine;

    /// The lines of a graph's text, each operation with a note.
    fn listing(text: &str, note: &str) -> Listing {
        let graph: Graph<DType> = text.parse().unwrap();
        let lines = graph.display_noted(|_, _| note.to_owned()).lines().into_iter();
        let line = |line: TextLine<GraphLine>| StageLine { spans: line.spans, ..StageLine::plain(line.text, None) };
        Listing { lines: lines.map(line).collect() }
    }

    fn diff(old: &str, new: &str) -> String {
        Diff::new(("old".to_owned(), "new".to_owned()), &listing(old, "a.rs:1:2"), &listing(new, "b.rs:3:4"))
            .to_string()
    }

    #[test]
    fn values_keep_their_names() {
        let old = "graph (%0: f32[3]) {\n  %1 = cast %0 : f64[3]\n  %2 = sin %0 : f32[3]\n  %3 = cos %2 : f32[3]\n  return %3\n}";
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
        assert_eq!(diff(old, old), "");
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
