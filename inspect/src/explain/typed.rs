//! The typed graph of a program, with the reasons of its casts.

use super::explainer::Explainer;
use ndjit_codegen::Lowered;
use ndjit_ir::DType;
use ndjit_ir::graph::{Graph, GraphText, NodeId, NodeKind};
use std::collections::HashMap;
use std::sync::Arc;

/// The reasons of a typed graph's node, in words; empty for operations that come from one operation of the traced graph.
pub fn reasons(lowered: &Lowered, typed: NodeId) -> impl Iterator<Item = String> {
    let explainer = Explainer::new(&lowered.traced, &lowered.places).policy(lowered.policy);
    lowered.conversions.of(typed).map(move |reason| explainer.reason(reason).to_string())
}

/// The text of the typed graph and of those of its control flow, with the reason of each cast, each weak scalar and each part of a
/// reduction.
pub fn text(lowered: &Lowered) -> GraphText<'_, DType> {
    let programs = std::iter::once(lowered).chain(lowered.bodies());
    let programs: HashMap<*const Graph<DType>, &Lowered> = programs.map(|own| (Arc::as_ptr(&own.typed), own)).collect();
    // A graph that no step uses has no program.
    let noted = move |graph: &Graph<DType>, id| {
        let reasons = programs.get(&std::ptr::from_ref(graph)).into_iter().flat_map(|own| reasons(own, id));
        reasons.filter(|reason| !reason.is_empty()).collect::<Vec<String>>().join(" | ")
    };
    lowered.typed.display_noted(noted)
}

/// Every cast of a program's typed graph, followed by those of its control flow, each graph once: source and target dtype, and the reasons.
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
