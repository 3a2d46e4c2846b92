//! The typed graph of a program, with what asked for its casts.

use super::explainer::Explainer;
use ndjit_codegen::Lowered;
use ndjit_ir::DType;
use ndjit_ir::graph::{GraphText, NodeId, NodeKind};

/// What asked for a node of the typed graph, in words; nothing for operations of the traced graph that are one operation there.
pub fn reasons(lowered: &Lowered, typed: NodeId) -> impl Iterator<Item = String> {
    let explainer = Explainer::new(&lowered.traced, &lowered.places).policy(lowered.policy);
    lowered.conversions.of(typed).map(move |reason| explainer.reason(reason).to_string())
}

/// The text of the typed graph, each cast, each weak number and each part of a reduction with what asked for it.
pub fn text(lowered: &Lowered) -> GraphText<'_, DType> {
    let noted = move |id| reasons(lowered, id).filter(|reason| !reason.is_empty()).collect::<Vec<String>>().join(" | ");
    lowered.typed.display_noted(noted)
}

/// Every cast of a program's typed graph, and after them those of the graphs of its control flow, of each graph once: from which dtype to which,
/// and what asked for it.
pub fn casts(lowered: &Lowered) -> Vec<(DType, DType, Vec<String>)> {
    let mut all = Vec::new();
    for lowered in std::iter::once(lowered).chain(lowered.bodies()) {
        let typed = &lowered.typed;
        let casts = typed.node_ids().filter(|&id| matches!(typed.node(id).kind, NodeKind::Cast(_)));
        all.extend(casts.map(|id| {
            (typed.ty(typed.operands(id)[0]), typed.ty(typed.node(id).first()), reasons(lowered, id).collect())
        }));
    }
    all
}
