//! Stages in other forms than text: pictures and JSON.

use crate::jit::stage::Stage;
use ndjit_codegen::Lowered;
#[cfg(feature = "json")]
use ndjit_inspect::json as documents;
use ndjit_inspect::picture::{self, Picture};
use ndjit_inspect::{dot, svg};
use ndjit_ir::graph::{Graph, Places};
use ndjit_ir::{Error, ErrorCode, Result, ValueType};

/// A form that pictures have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PictureFormat {
    Dot,
    Svg,
}

impl PictureFormat {
    fn write(self, picture: &Picture) -> String {
        match self {
            PictureFormat::Dot => dot::dot(picture),
            PictureFormat::Svg => svg::svg(picture),
        }
    }
}

/// The picture of a graph as traced, in which calls are nodes.
pub(crate) fn traced(graph: &Graph<ValueType>, places: &Places, form: PictureFormat) -> Result<String> {
    Ok(form.write(&picture::graph(Stage::Graph.name(), graph, Some(places))?))
}

/// The picture of a stage.
pub(crate) fn stage(lowered: &Lowered, stage: Stage, form: PictureFormat) -> Result<String> {
    let name = stage.name();
    let picture = match stage {
        Stage::Graph => picture::graph(name, &lowered.traced, Some(&lowered.places)),
        Stage::Typed => picture::graph(name, &lowered.typed, None),
        Stage::Simplified => picture::graph(name, &lowered.simplified, None),
        Stage::Kernels => picture::kernels(lowered),
        Stage::Loops => picture::loops(lowered),
        _ => Err(Error::new(ErrorCode::Argument, format!("picture: the stage {name} is not drawn"))
            .fact("drawn are: graph typed simplified kernels loops")
            .help("read its text, which `explain` gives")),
    };
    Ok(form.write(&picture?))
}

/// A graph as traced, as JSON.
#[cfg(feature = "json")]
pub(crate) fn traced_json(graph: &Graph<ValueType>, places: &Places) -> String {
    documents::graph(Stage::Graph.name(), graph, Some(places))
}

/// A stage as JSON; `text` prints those that have no more than that.
#[cfg(feature = "json")]
pub(crate) fn stage_json(lowered: &Lowered, stage: Stage, text: impl FnOnce() -> String) -> String {
    let name = stage.name();
    match stage {
        Stage::Graph => documents::graph(name, &lowered.traced, Some(&lowered.places)),
        Stage::Typed => documents::graph(name, &lowered.typed, None),
        Stage::Simplified => documents::graph(name, &lowered.simplified, None),
        Stage::Kernels => documents::kernels(name, lowered),
        Stage::Loops => documents::loops(name, lowered),
        _ => documents::text(name, text()),
    }
}

/// What to say where a function was not called yet.
pub(crate) fn not_called() -> Error {
    Error::new(ErrorCode::Argument, "explain: the function was not called yet")
        .help("call it, or ask for a signature: `f.trace(&[spec(DType::F32, [3])])?.lower()?`")
}
