//! Explanations for whole programs: of a value's dtype, and of the first widening. They expand calls and control flow, and read the user's
//! source.

use super::chain::Explanation;
use super::explainer::Explainer;
use super::site::ParamSource;
use super::widening::Widening;
use crate::source::Sources;
use ndjit_ir::graph::{Graph, NodeKind, SourceLocs, Value};
use ndjit_ir::promotion::Policy;
use ndjit_ir::reduction::AxisFunction;
use ndjit_ir::{Error, ErrorCode, LiteralValue, Result, ValueType};
use ndjit_transform::inline;
use std::collections::HashSet;
use std::sync::Arc;

/// The sources of a function's array parameters: the arguments that are arrays, then captured arrays.
pub fn inputs(arrays: impl Iterator<Item = bool>, captured: usize) -> Vec<ParamSource> {
    let arguments = arrays.enumerate().filter(|(_, array)| *array).map(|(i, _)| ParamSource::Argument(i));
    arguments.chain(std::iter::repeat_n(ParamSource::Captured, captured)).collect()
}

/// Explains a value's dtype. Calls are expanded.
///
/// # Errors
/// Those of [`inline`]; `Verify` if the value is not in the graph.
pub fn value(
    graph: &Graph<ValueType>,
    places: &SourceLocs,
    inputs: &[ParamSource],
    policy: Policy,
    value: Value,
) -> Result<Explanation> {
    let sources = Sources::default();
    let read = |site| sources.snippet(site);
    if graph.children().is_empty() {
        return Ok(Explainer::new(graph, places).inputs(inputs).policy(policy).source(&read).explain(value));
    }
    let mut asked = graph.clone();
    asked.set_outputs(vec![value]);
    let (graph, places) = inline(&asked, places)?;
    let explainer = Explainer::new(&graph, &places).inputs(inputs).policy(policy).source(&read);
    match graph.outputs() {
        [value] => Ok(explainer.explain(*value)),
        _ => Err(Error::new(ErrorCode::Verify, "explain_dtype: inlining lost the value")),
    }
}

/// Explains the dtypes of each node's results in a graph without calls.
pub fn all(graph: &Graph<ValueType>, places: &SourceLocs, inputs: &[ParamSource], policy: Policy) -> Vec<String> {
    let sources = Sources::default();
    let read = |site| sources.snippet(site);
    let explainer = Explainer::new(graph, places).inputs(inputs).policy(policy).source(&read);
    let of = |id| graph.node(id).results().map(|value| explainer.explain(value).to_string()).collect::<Vec<String>>();
    graph.node_ids().map(|id| of(id).join("\n")).collect()
}

/// The first operation that widened a dtype. Calls and control flow are expanded.
pub fn first_widening(
    graph: &Graph<ValueType>,
    places: &SourceLocs,
    inputs: &[ParamSource],
    policy: Policy,
) -> Option<Widening> {
    let sources = Sources::default();
    let (graph, places) = inline(graph, places).ok()?;
    widening_in((&graph, &places), inputs, policy, &sources, &mut HashSet::new())
}

/// The first widening in a graph without calls; recurses into control flow, whose depth is bounded. `seen` graphs have none.
fn widening_in(
    (graph, places): (&Graph<ValueType>, &SourceLocs),
    inputs: &[ParamSource],
    policy: Policy,
    sources: &Sources,
    seen: &mut HashSet<*const Graph<ValueType>>,
) -> Option<Widening> {
    let read = |site| sources.snippet(site);
    let own = Explainer::new(graph, places).inputs(inputs).policy(policy).source(&read).first_widening();
    let before = own.as_ref().map_or(usize::MAX, |own| graph.producer(own.value).index());
    let mut next = 0;
    for id in graph.node_ids().take(before) {
        // They are numbered in order of appearance.
        let NodeKind::Control(n) = graph.node(id).kind else { continue };
        if n < next {
            continue;
        }
        next = n + 1;
        for (which, inner) in graph.controls()[n as usize].graphs.iter().enumerate() {
            let places = places.control(n, which);
            let new = seen.insert(Arc::as_ptr(&inner.graph));
            let inputs = vec![ParamSource::Body; inner.graph.params().len()];
            let found = new.then(|| widening_in((&inner.graph, &places), &inputs, policy, sources, seen)).flatten();
            if found.is_some() {
                return found;
            }
        }
    }
    own
}

/// The error of an unintended widening.
pub fn widened(widening: &Widening) -> Error {
    let Widening { from, to, explanation, strong, .. } = widening;
    let cause = explanation.steps.first();
    let what = cause.map_or("widening", |step| step.what);
    let error = Error::new(ErrorCode::Promotion, format!("{what}: {from} in, {to} out"))
        .at(cause.and_then(|step| step.places.first().copied()));
    let error = explanation.lines().iter().fold(error, |error, line| error.fact(line));
    let numbers: Vec<String> = strong.iter().map(LiteralValue::to_string).collect();
    let bare = match numbers.is_empty() {
        true => String::new(),
        false => format!("drop `strong(…)` around {}, or ", numbers.join(" and ")),
    };
    let reduces = cause.is_some_and(|step| step.what.parse::<AxisFunction>().is_ok_and(AxisFunction::takes_dtype));
    let result = match reduces {
        true => format!("ask for it, as in `dtype(DType::{from:?}).{what}(…)`"),
        false => format!("{bare}cast what is wider, or the result, to {from}"),
    };
    error.help(format!(
        "where {to} is meant, cast the array before; else {result}; \
         `.on_widening(Lint::Allow)` allows it"
    ))
}
