//! The charts of a program's memory: one row for each array, one column for each step. Graphs of control flow have charts of their own.

use crate::html::Escaped;
use crate::table;
use ndjit_codegen::{Lowered, NumberedControl};
use ndjit_ir::Result;
use ndjit_runtime::planned::{Allocation, BufferSlice, PlannedArray, PlannedControl, PlannedProgram};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::sync::Arc;

const ROW: usize = 18;
const COLUMN: usize = 46;
/// The maximum average width of a character in a label: browsers have different fonts.
const CHARACTER: usize = 7;
const HEAD: usize = 22;
/// The maximum number of characters in a label, including the shape.
const LABEL: usize = 44;

/// SVG charts of the live arrays during each step: of the program, then of each graph of its control flow, under a title.
///
/// # Errors
/// Those of [`PlannedProgram::of`].
pub fn memory(lowered: &Lowered) -> Result<String> {
    let mut charts = Charts::default();
    charts.program(lowered, &PlannedProgram::of(lowered)?, 0);
    Ok(charts.html)
}

#[derive(Default)]
struct Charts {
    html: String,
    /// The titles of the programs drawn so far, by address.
    titles: FxHashMap<*const PlannedProgram, String>,
}

impl Charts {
    /// Adds a program whose first launch has this number. Recursion is bounded by the nesting of control flow.
    fn program(&mut self, lowered: &Lowered, planned: &PlannedProgram, first: usize) {
        self.html += &chart(lowered, &planned.arrays);
        let controls = lowered.numbered_controls(first).into_iter().zip(&planned.controls);
        for (NumberedControl { step, launch, control, bodies }, PlannedControl { state, bodies: planned, .. }) in
            controls
        {
            let kind = control.fused.control.0.kind;
            if control.compiled.is_some() {
                let compiled = table::compiled_loop(launch, kind.name(), *state);
                let _ = write!(self.html, "<p>step {step}: {}</p>", Escaped(&compiled));
            }
            for ((graph, (body, first)), planned) in kind.graphs().iter().zip(bodies).zip(planned) {
                let title = table::title(launch, kind.name(), graph);
                if let Some(before) = self.titles.get(&Arc::as_ptr(planned)) {
                    let program = table::program_of(before);
                    let _ = write!(self.html, "<p>step {step}: {}: {}</p>", Escaped(&title), Escaped(&program));
                    continue;
                }
                let _ = write!(self.html, "<p>step {step}: {}</p><div class=\"inner\">", Escaped(&title));
                self.titles.insert(Arc::as_ptr(planned), title);
                self.program(body, planned, first);
                self.html.push_str("</div>");
            }
        }
    }
}

/// The chart of one program's arrays.
fn chart(lowered: &Lowered, arrays: &[PlannedArray]) -> String {
    let kernels = lowered.steps.len();
    let labels: Vec<(String, String)> = arrays.iter().map(|array| label(lowered, array, arrays)).collect();
    let left = 16 + CHARACTER * labels.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let (width, height) = (left + COLUMN * (kernels + 1) + 10, HEAD + ROW * arrays.len() + 8);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">"
    );
    let mut text = |x: usize, y: usize, anchor: &str, what: &str, all: &str| {
        let (what, all) = (Escaped(what), Escaped(all));
        let title = if all.0.is_empty() { String::new() } else { format!("<title>{all}</title>") };
        let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"#1d2330\">{what}{title}</text>");
    };
    for kernel in 0..kernels {
        text(left + COLUMN * kernel + COLUMN / 2, 14, "middle", &format!("step {kernel}"), "");
    }
    for (row, (label, all)) in labels.iter().enumerate() {
        text(left - 8, HEAD + ROW * row + 13, "end", label, all);
    }
    for (row, array) in arrays.iter().enumerate() {
        let first = array.made.unwrap_or(0);
        // A result lives to the end.
        let end = match (array.result, array.last) {
            (Some(_), _) => kernels + 1,
            (None, Some(last)) => last + 1,
            (None, None) => first,
        };
        let (x, y) = (left + COLUMN * first, HEAD + ROW * row + 3);
        let colour = match (array.made, array.result) {
            (None, _) => "#a9b4c8",
            (_, Some(_)) => "#1f8a5b",
            (Some(_), None) => "#2f6fde",
        };
        let length = COLUMN * end.saturating_sub(first);
        let _ = write!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{length}\" height=\"{}\" rx=\"3\" fill=\"{colour}\"/>",
            ROW - 6
        );
    }
    svg.push_str("</svg>");
    svg
}

/// A short label of an array, with its location.
fn label(lowered: &Lowered, array: &PlannedArray, arrays: &[PlannedArray]) -> (String, String) {
    let graph = &lowered.simplified;
    let role = match (array.made, array.result) {
        (None, _) => "parameter ".to_owned(),
        (_, Some(result)) => format!("result {result} "),
        (Some(_), None) => String::new(),
    };
    let taken: Vec<String> = array.takes.iter().filter_map(|&n| Some(arrays.get(n)?.value.to_string())).collect();
    let takes = if taken.is_empty() { String::new() } else { format!(", may take {}", taken.join(" or ")) };
    let place = array.slice.filter(|_| array.result.is_none()).map_or_else(
        String::new,
        |BufferSlice { allocation, offset, .. }| match allocation {
            Allocation::Arena => format!(", arena + {offset}"),
            Allocation::Result(result) if offset == 0 => format!(", in result {result}"),
            Allocation::Result(result) => format!(", in result {result} + {offset}"),
            Allocation::Tile(_) => format!(", tile + {offset}"),
        },
    );
    let (ty, shape) = (graph.ty(array.value), graph.shape(array.value));
    let what = format!("{role}{} : {ty}{shape}, {} bytes", array.value, array.bytes);
    let all = format!("{what}{place}{takes}");
    // Shapes may have any rank.
    let short = match what.chars().count() {
        0..=LABEL => what,
        _ => format!("{role}{}, {} bytes", array.value, array.bytes),
    };
    (short, all)
}
