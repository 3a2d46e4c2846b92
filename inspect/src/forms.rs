//! Stages in other formats than text: pictures and JSON.

#[cfg(feature = "json")]
use crate::json as documents;
use crate::picture::{self, Picture};
use crate::stage::ProgramStage;
use crate::{dot, svg};
use ndjit_codegen::Lowered;
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::{Error, ErrorCode, Result, ValueType};

/// A format of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Graphviz's language.
    Dot,
    /// An SVG document.
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

/// The picture of a traced graph; calls are nodes.
///
/// # Errors
/// `Size` for a graph of more than 10000 nodes.
pub fn traced(graph: &Graph<ValueType>, places: &SourceLocs, form: PictureFormat) -> Result<String> {
    Ok(form.write(&picture::graph(ProgramStage::Graph.name(), graph, Some(places))?))
}

/// The picture of a stage.
///
/// # Errors
/// `Argument` for a stage without a picture; `Size` for one of more than 10000 nodes.
pub fn stage(lowered: &Lowered, stage: ProgramStage, form: PictureFormat) -> Result<String> {
    let name = stage.name();
    let picture = match stage {
        ProgramStage::Graph => picture::graph(name, &lowered.traced, Some(&lowered.places)),
        ProgramStage::Typed => picture::graph(name, &lowered.typed, None),
        ProgramStage::Simplified => picture::graph(name, &lowered.simplified, None),
        ProgramStage::Kernels => picture::kernels(lowered),
        ProgramStage::Loops => picture::loops(lowered),
        _ => Err(Error::new(ErrorCode::Argument, format!("picture: the stage {name} is not drawn"))
            .fact("drawn are: graph typed simplified kernels loops")
            .help("read its text, which `explain` gives")),
    };
    Ok(form.write(&picture?))
}

/// A traced graph, as JSON.
#[cfg(feature = "json")]
pub fn traced_json(graph: &Graph<ValueType>, places: &SourceLocs) -> String {
    documents::graph(ProgramStage::Graph.name(), graph, Some(places))
}

/// A stage as JSON; `text` prints stages without structure.
#[cfg(feature = "json")]
pub fn stage_json(lowered: &Lowered, stage: ProgramStage, text: impl FnOnce() -> String) -> String {
    let name = stage.name();
    match stage {
        ProgramStage::Graph => documents::graph(name, &lowered.traced, Some(&lowered.places)),
        ProgramStage::Typed => documents::graph(name, &lowered.typed, None),
        ProgramStage::Simplified => documents::graph(name, &lowered.simplified, None),
        ProgramStage::Kernels => documents::kernels(name, lowered),
        ProgramStage::Loops => documents::loops(name, lowered),
        _ => documents::text(name, text()),
    }
}
