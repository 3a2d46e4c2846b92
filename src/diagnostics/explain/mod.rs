//! Why a value has its dtype: [`Explanation`]s, the [first widening](Widening) and its lint, the inserted casts, and one function
//! under several policies.
//!
//! | question | asked of |
//! |---|---|
//! | why this dtype? | [`Jitted::explain_dtype`](crate::Jitted::explain_dtype), [`Traced::explain_dtype`](crate::jit::Traced::explain_dtype), [`Expr::explain_dtype`](crate::Expr::explain_dtype), [`Array::explain_dtype`](crate::Array::explain_dtype) |
//! | where did a dtype first widen? | [`Jitted::first_widening`](crate::Jitted::first_widening); [`Jitted::on_widening`](crate::Jitted::on_widening) warns of it |
//! | which casts were inserted, and why? | [`Jitted::casts`](crate::Jitted::casts), and the text of [`Stage::Typed`](crate::Stage::Typed) |
//! | what would another policy do? | [`Jitted::policy_diff`](crate::Jitted::policy_diff) |

mod policy_diff;

pub use crate::api::config::Lint;
pub use ndjit_ir::explain::{Explanation, Origin, Rule, Step, Term, Widening, joining};
pub use policy_diff::{DiffRow, PolicyDiff};

use crate::diagnostics::source::Sources;
use ndjit_codegen::Lowered;
use ndjit_ir::explain::{Explainer, Input};
use ndjit_ir::graph::{Graph, NodeKind, Places, Value};
use ndjit_ir::promotion::Policy;
use ndjit_ir::{DType, Error, ErrorCode, LiteralValue, Reduction, Result, ValueType};
use ndjit_runtime::stderr;
use ndjit_transform::inline;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A cast of a compiled program, and what asked for it.
///
/// ```
/// use ndjit::{Array, DType, jit};
///
/// let f = jit(|x, y| x + y);
/// f.call((&Array::from([1.0f32]), &Array::from([1i8])))?;
/// let casts = f.casts();
/// assert_eq!((casts[0].from, casts[0].to), (DType::I8, DType::F32));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertedCast {
    /// The dtype before.
    pub from: DType,
    /// The dtype after.
    pub to: DType,
    /// The uses that asked for it, each with its rule; several if they share the cast.
    pub reasons: Vec<String>,
}

impl fmt::Display for InsertedCast {
    /// `i8 to f32: operand y of add at src/main.rs:10:24: join f32 ∨ i8 = f32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}: {}", self.from, self.to, self.reasons.join(" | "))
    }
}

/// What the array parameters of a function are: for each argument whether it is an array; after them come captured arrays.
pub(crate) fn inputs(arrays: impl Iterator<Item = bool>, captured: usize) -> Vec<Input> {
    let arguments = arrays.enumerate().filter(|(_, array)| *array).map(|(i, _)| Input::Argument(i));
    arguments.chain(std::iter::repeat_n(Input::Captured, captured)).collect()
}

/// Why a value has its dtype. Calls are looked into.
pub(crate) fn value(
    graph: &Graph<ValueType>,
    places: &Places,
    inputs: &[Input],
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

/// Why each value of a graph without calls has its dtype, by its node.
pub(crate) fn all(graph: &Graph<ValueType>, places: &Places, inputs: &[Input], policy: Policy) -> Vec<String> {
    let sources = Sources::default();
    let read = |site| sources.snippet(site);
    let explainer = Explainer::new(graph, places).inputs(inputs).policy(policy).source(&read);
    graph.node_ids().map(|id| explainer.explain(graph.node(id).first()).to_string()).collect()
}

/// The first operation that widened a dtype. Calls and the graphs of control flow are looked into.
pub(crate) fn first_widening(
    graph: &Graph<ValueType>,
    places: &Places,
    inputs: &[Input],
    policy: Policy,
) -> Option<Widening> {
    let sources = Sources::default();
    let (graph, places) = inline(graph, places).ok()?;
    widening_in((&graph, &places), inputs, policy, &sources, &mut HashSet::new())
}

/// Of a graph without calls: as deep as control flow stands in control flow, which is bounded. Graphs that were `seen` have none.
fn widening_in(
    (graph, places): (&Graph<ValueType>, &Places),
    inputs: &[Input],
    policy: Policy,
    sources: &Sources,
    seen: &mut HashSet<*const Graph<ValueType>>,
) -> Option<Widening> {
    let read = |site| sources.snippet(site);
    let own = Explainer::new(graph, places).inputs(inputs).policy(policy).source(&read).first_widening();
    let before = own.as_ref().map_or(usize::MAX, |own| graph.producer(own.value).index());
    let mut next = 0;
    for id in graph.node_ids().take(before) {
        // They are numbered as they are met.
        let NodeKind::Control(n, _) = graph.node(id).kind else { continue };
        if n < next {
            continue;
        }
        next = n + 1;
        for (which, inner) in graph.controls()[n as usize].graphs.iter().enumerate() {
            let places = places.control(n, which);
            let new = seen.insert(Arc::as_ptr(&inner.graph));
            let inputs = vec![Input::Body; inner.graph.params().len()];
            let found = new.then(|| widening_in((&inner.graph, &places), &inputs, policy, sources, seen)).flatten();
            if found.is_some() {
                return found;
            }
        }
    }
    own
}

/// Every cast of a program's typed graph, and after them those of the graphs of its control flow, of each graph once.
pub(crate) fn casts(lowered: &Lowered) -> Vec<InsertedCast> {
    let mut all = Vec::new();
    for Lowered { traced, places, typed, conversions, policy, .. } in std::iter::once(lowered).chain(lowered.bodies()) {
        let explainer = Explainer::new(traced, places).policy(*policy);
        let casts = typed.node_ids().filter(|&id| matches!(typed.node(id).kind, NodeKind::Cast(_)));
        all.extend(casts.map(|id| InsertedCast {
            from: typed.ty(typed.operands(id)[0]),
            to: typed.ty(typed.node(id).first()),
            reasons: conversions.of(id).map(|reason| explainer.reason(reason).to_string()).collect(),
        }));
    }
    all
}

/// Warns of the first widening, or refuses it.
pub(crate) fn check(
    graph: &Graph<ValueType>,
    places: &Places,
    inputs: &[Input],
    policy: Policy,
    lint: Lint,
) -> Result<()> {
    if lint == Lint::Allow {
        return Ok(());
    }
    let Some(widening) = first_widening(graph, places, inputs, policy) else { return Ok(()) };
    let Widening { from, to, explanation, strong, .. } = &widening;
    let cause = explanation.steps.first();
    let what = cause.map_or("widening", |step| step.what);
    let error = Error::new(ErrorCode::Promotion, format!("{what}: {from} in, {to} out"))
        .at(cause.and_then(|step| step.places.first().copied()));
    let error = explanation.to_string().lines().fold(error, |error, line| error.fact(line));
    let numbers: Vec<String> = strong.iter().map(LiteralValue::to_string).collect();
    let bare = match numbers.is_empty() {
        true => String::new(),
        false => format!("drop `strong(…)` around {}, or ", numbers.join(" and ")),
    };
    let reduces = cause.is_some_and(|step| step.what.parse::<Reduction>().is_ok_and(Reduction::takes_dtype));
    let result = match reduces {
        true => format!("ask for it, as in `dtype(DType::{from:?}).{what}(…)`"),
        false => format!("{bare}cast what is wider, or the result, to {from}"),
    };
    let error = error.help(format!(
        "where {to} is meant, cast the array before; else {result}; \
         `.on_widening(Lint::Allow)` allows it"
    ));
    match lint {
        Lint::Deny => Err(error),
        Lint::Allow | Lint::Warn => {
            let report = crate::diagnostics::report::report(&error);
            stderr::line(report.replacen("error[promotion]", "warning[widening]", 1));
            Ok(())
        }
    }
}
