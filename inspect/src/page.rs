//! The page of a program: its stages side by side in one HTML file. Lines carry the numbers of their source operations; the script
//! highlights lines that share one. Lines of loops and branches also carry the numbers of the enclosing operations.

use crate::explain::ParamSource;
use crate::forms::{self, PictureFormat};
use crate::html::{Escaped, Quoted};
use crate::listing::{Inspection, Listing, OperationNumbers, StageLine};
use crate::source::Sources;
use crate::stage::ProgramStage;
use crate::{chart, explain};
use ndjit_codegen::Lowered;
use ndjit_codegen::passes::tile::Launch;
use ndjit_ir::{Error, ErrorCode, Result};
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::path::Path;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The maximum number of operations on a page: browsers take seconds for more.
const MOST: usize = 5_000;
/// Colours of kernels.
const COLOURS: usize = 6;
/// The stages shown at first, for a program on the processor and for one on a GPU. Reasons refer to values of the first.
const SHOWN: [ProgramStage; 4] =
    [ProgramStage::Graph, ProgramStage::Typed, ProgramStage::Loops, ProgramStage::Assembly];
const SHOWN_ON_GPU: [ProgramStage; 4] =
    [ProgramStage::Graph, ProgramStage::Typed, ProgramStage::Loops, ProgramStage::Wgsl];
/// A hint for the reader.
const HINT: &str = "The pointer on a line lights up what was made from the same operations. A click keeps that lit and brings it \
                    into view in all panels; a second click, or Escape, lets go.";

impl Inspection<'_> {
    /// Writes the page to a file. `source` are the lines of places without a file.
    ///
    /// # Errors
    /// `Io` if the file cannot be written; `Size` for a program too large for a page.
    pub fn write_page(&self, path: &Path, source: Option<&str>) -> Result<()> {
        let failed = |e: std::io::Error| {
            Error::new(ErrorCode::Io, "explain_html: the page cannot be written")
                .fact(format_args!("{}: {e}", path.display()))
        };
        std::fs::write(path, self.page(source)?).map_err(failed)
    }

    /// The page. `source` is the program text, if it is in no file.
    ///
    /// # Errors
    /// `Size` for a program too large for a page.
    pub fn page(&self, source: Option<&str>) -> Result<String> {
        let numbers = OperationNumbers::of(self.lowered);
        if numbers.count > MOST {
            return Err(Error::new(ErrorCode::Size, "explain_html: the program is too large for a page")
                .fact(format_args!("operations: {}, at most {MOST}", numbers.count))
                .help("look at the text of one stage: `f.explain(ProgramStage::Kernels)`"));
        }
        let mut page = String::new();
        let (title, settings) = (self.title(), self.described());
        let _ = write!(
            page,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n<style>\n{STYLE}</style>\n</head>\n\
             <body>\n<header>\n<h1>{0}</h1>\n<p>{1}</p>\n<p>{HINT}</p>\n<nav>",
            Escaped(&title),
            Escaped(&settings)
        );
        let panels: Vec<(&str, &str, Listing)> = std::iter::once(("source", "source", source_lines(&numbers, source)))
            .chain(ProgramStage::ALL.iter().map(|&stage| (stage.name(), stage.name(), self.listing(stage))))
            .collect();
        let stages = if self.device.gpu_number().is_some() { SHOWN_ON_GPU } else { SHOWN };
        for (name, label, _) in &panels {
            let shown = *name == "source" || stages.iter().any(|stage| stage.name() == *name);
            let checked = if shown { " checked" } else { "" };
            let _ = write!(page, "<label><input type=\"checkbox\" data-panel=\"{name}\"{checked}> {label}</label>");
        }
        page.push_str("</nav>\n</header>\n<main>\n");
        for (name, label, listing) in &panels {
            let _ = write!(page, "<section id=\"{name}\"><h2>{label}</h2><div class=\"lines\">");
            listing.lines.iter().try_for_each(|line| write_line(&mut page, line)).unwrap_or_default();
            page.push_str("</div></section>\n");
        }
        let _ = write!(
            page,
            "</main>\n<footer>\n<details open><summary>dtype{}</summary><pre id=\"why\"></pre></details>\n\
             <details open data-shows=\"{simplified}\"><summary>fusion{}</summary><div class=\"drawn\">{}</div></details>\n\
             <details open data-shows=\"{simplified}\"><summary>memory{}</summary><div class=\"drawn\">{}</div></details>\n</footer>\n\
             <script>\nconst reasons = {};\n{SCRIPT}</script>\n</body>\n</html>\n",
            numbered(ProgramStage::Graph),
            numbered(ProgramStage::Simplified),
            self.fusion(),
            numbered(ProgramStage::Simplified),
            chart::memory(self.lowered)?,
            self.reasons(&numbers),
            simplified = ProgramStage::Simplified.name()
        );
        Ok(page)
    }

    /// The picture of the kernels, or the error.
    fn fusion(&self) -> String {
        match forms::stage(self.lowered, ProgramStage::Kernels, PictureFormat::Svg) {
            // Text before the element is for files only.
            Ok(svg) => svg.find("<svg").map_or(String::new(), |start| svg[start..].to_owned()),
            Err(error) => Escaped(error.headline()).to_string(),
        }
    }

    /// The types of parameters and results.
    fn title(&self) -> String {
        let graph = &self.lowered.traced;
        let types = |values: &[ndjit_ir::graph::Value]| {
            values.iter().map(|&v| format!("{}{}", graph.ty(v), graph.shape(v))).collect::<Vec<_>>().join(", ")
        };
        format!("({}) -> ({})", types(graph.params()), types(graph.outputs()))
    }

    fn described(&self) -> String {
        // Including those of branches and loops, as in `kernels()` of a function.
        let programs = OperationNumbers::of(self.lowered).programs;
        let operations = |(program, _): &(&Lowered, u32)| program.traced.node_count() - program.traced.params().len();
        let launches = self.lowered.all_launches();
        let nests = |(program, launch, _): &(&Lowered, &Launch, usize)| program.nests(launch);
        format!(
            "operations: {}, loop nests: {}, kernels: {}; policy {}; on {}; ndjit {}",
            programs.iter().map(operations).sum::<usize>(),
            launches.iter().map(nests).sum::<usize>(),
            launches.len(),
            self.lowered.policy,
            self.device,
            env!("CARGO_PKG_VERSION")
        )
    }

    /// The explanation of each operation's dtype, as a JavaScript list.
    fn reasons(&self, numbers: &OperationNumbers<'_>) -> String {
        let texts = numbers.programs.iter().flat_map(|&(Lowered { traced, places, policy, .. }, first)| {
            let inputs = match first {
                0 => self.inputs.clone(),
                _ => vec![ParamSource::Body; traced.params().len()],
            };
            explain::all(traced, places, &inputs, *policy)
        });
        let texts: Vec<String> = texts.map(|text| Quoted(&text).to_string()).collect();
        format!("[{}]", texts.join(",\n"))
    }
}

/// The source lines of operations, with adjacent lines.
fn source_lines(numbers: &OperationNumbers<'_>, given: Option<&str>) -> Listing {
    let mut files: BTreeMap<&'static str, BTreeMap<usize, Vec<u32>>> = BTreeMap::new();
    for (program, first) in &numbers.programs {
        for id in program.traced.node_ids() {
            for place in program.places.all(id) {
                let nodes = files.entry(place.file).or_default().entry(place.line as usize).or_default();
                if nodes.last() != Some(&(id.0 + first)) {
                    nodes.push(id.0 + first);
                }
            }
        }
    }
    let sources = Sources::default();
    let mut lines = Vec::new();
    for (file, marked) in files {
        lines.push(StageLine::plain(file, None));
        let line_of = |number: usize| match given {
            Some(text) => text.lines().nth(number.checked_sub(1)?).map(str::to_owned),
            None => sources.numbered(file, number),
        };
        let mut before = None;
        for &line in marked.keys() {
            for number in line.saturating_sub(1).max(1)..=line + 1 {
                let beyond = given.is_some_and(|text| number > text.lines().count());
                if beyond || before.is_some_and(|before| number <= before) {
                    continue;
                }
                let text = line_of(number).unwrap_or_default();
                if before.is_some_and(|before| number > before + 1) {
                    lines.push(StageLine::plain("   …", None));
                }
                let nodes = marked.get(&number).cloned().unwrap_or_default();
                lines.push(StageLine { nodes, ..StageLine::plain(format!("{number:4}  {text}"), None) });
                before = Some(number);
            }
        }
    }
    Listing { lines }
}

/// The stage whose value numbers a part of the page uses.
fn numbered(stage: ProgramStage) -> String {
    format!("<span> with the values of {}</span>", stage.name())
}

fn listed(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<String>>().join(" ")
}

fn write_line(page: &mut String, line: &StageLine) -> fmt::Result {
    page.push_str("<div class=\"l");
    if let Some(kernel) = line.kernel {
        write!(page, " k{}", kernel % COLOURS)?;
    }
    page.push('"');
    if !line.nodes.is_empty() {
        write!(page, " data-n=\"{}\"", listed(&line.nodes))?;
    }
    if !line.within.is_empty() {
        write!(page, " data-in=\"{}\"", listed(&line.within))?;
    }
    write!(page, ">{}</div>", Escaped(&line.text))
}
