//! Custom derivative rules, and functions recomputed for their derivatives.
//!
//! A rule is nodes of the same graph: variables represent tangents or cotangents, and the rule's results are copied
//! with the actual ones. A rule is linear in its tangents or cotangents, so its adjoint gives the other mode: one rule
//! serves both.

use super::cone::{Cone, DerivativeMode};
use super::pullback::pullback;
use super::segments::with_extent;
use super::tangent::{Tangent, written};
use crate::append::{Appender, LocatedGraph, OpenGraph, TangentSpace, appended};
use ndjit_ir::graph::{
    ControlKind, DerivativeRule, Graph, Identity, NodeId, NodeKind, RuleKind, RuleParts, ScanArity, Value,
};
use ndjit_ir::{Result, SourceLoc, ValueType};
use rustc_hash::{FxHashMap, FxHashSet};

/// Adds the outputs of a function with a rule. `beside` are its other operands, as the [kind](RuleKind) defines them.
///
/// # Errors
/// `Size` if an array is too large.
pub fn ruled(
    graph: OpenGraph<'_>,
    kind: RuleKind,
    outputs: &[Value],
    beside: &[Value],
    place: SourceLoc,
) -> Result<Vec<Value>> {
    appended(graph, place, |to| {
        let output = |(n, &value): (usize, &Value)| {
            output(to, DerivativeRule { kind, output: n as u16, outputs: outputs.len() as u16 }, value, beside)
        };
        outputs.iter().enumerate().map(output).collect()
    })
}

/// Adds an output with a rule.
pub(super) fn output(to: &Appender, rule: DerivativeRule, value: Value, beside: &[Value]) -> Value {
    let operands: Vec<Value> = [value].into_iter().chain(beside.iter().copied()).collect();
    let ty = to.read(|graph| (graph.ty(value), graph.shape(value).clone()));
    to.results(NodeKind::Identity(Identity::Ruled(rule)), &operands, &[ty])[0]
}

/// Adds the outputs of a function of variables, which derivatives recompute. The function's nodes start at `first`;
/// earlier values that they use are inputs, too.
///
/// # Errors
/// `Size` if an array is too large.
pub fn checkpointed(
    graph: OpenGraph<'_>,
    variables: &[Value],
    outputs: &[Value],
    first: NodeId,
    place: SourceLoc,
) -> Result<Vec<Value>> {
    let captured = captured(graph.0, variables, outputs, first);
    let beside: Vec<Value> = outputs.iter().chain(variables).copied().chain(captured).collect();
    ruled(graph, RuleKind::Checkpoint, outputs, &beside, place)
}

/// Returns the values before a node on which the outputs depend, without literals.
fn captured(graph: &Graph<ValueType>, variables: &[Value], outputs: &[Value], first: NodeId) -> Vec<Value> {
    let (mut seen, mut captured): (FxHashSet<Value>, Vec<Value>) = (variables.iter().copied().collect(), Vec::new());
    let mut open = outputs.to_vec();
    while let Some(value) = open.pop() {
        let id = graph.producer(value);
        if !seen.insert(value) || matches!(graph.node(id).kind, NodeKind::Literal(_)) {
            continue;
        }
        // In a loop or branch, values from outside are parameters that are created at their first use.
        match id < first || matches!(graph.node(id).kind, NodeKind::Param(..)) {
            true => captured.push(value),
            false => open.extend(graph.operands(id)),
        }
    }
    captured.sort_unstable();
    captured
}

/// Computes the tangents of all outputs, given those of the inputs.
pub(super) fn forward(to: &Appender, rule: DerivativeRule, operands: &[Value], inputs: &[Tangent]) -> Vec<Tangent> {
    let Some(parts) = rule.parts(operands) else { return Vec::new() };
    match rule.kind {
        RuleKind::Jvp => {
            let mut new = completed(to, rule, operands, parts);
            new.extend(parts.inputs.iter().zip(inputs).map(|(&input, &t)| (input, written(to, input, t))));
            linear(to, parts.outputs, &to.substituted(new, parts.mapped))
        }
        RuleKind::Vjp => {
            let cone = Cone::new(to, parts.outputs, parts.mapped, DerivativeMode::Reverse);
            cone.reverse(to, inputs)
        }
        RuleKind::Checkpoint => again(to, parts, DerivativeMode::Forward).forward(to, inputs),
    }
}

/// Computes the cotangents of the inputs, given those of all outputs. A recomputed function adds them to the known
/// ones, which `take` returns, as the original function does.
pub(super) fn reverse(
    to: &Appender,
    rule: DerivativeRule,
    operands: &[Value],
    outputs: &[Tangent],
    mut take: impl FnMut(Value) -> Option<Tangent>,
) -> Vec<Tangent> {
    let Some(parts) = rule.parts(operands) else { return Vec::new() };
    match rule.kind {
        RuleKind::Jvp => {
            // The inputs become variables of this derivative: the outputs' own variables are constants for the rule.
            let inputs: Vec<Value> = parts.inputs.iter().map(|&input| to.variable(input)).collect();
            let mut new = completed(to, rule, operands, parts);
            new.extend(parts.inputs.iter().copied().zip(inputs.iter().copied()));
            let mapped = to.substituted(new, parts.mapped);
            Cone::new(to, &inputs, &mapped, DerivativeMode::Reverse).reverse(to, outputs)
        }
        RuleKind::Vjp => {
            let given = parts.outputs.iter().zip(outputs).map(|(&output, &g)| (output, written(to, output, g)));
            linear(to, parts.inputs, &to.substituted(given.collect(), parts.mapped))
        }
        // A step of a loop is recomputed anyway, and its arrays do not outlive it.
        RuleKind::Checkpoint => match (!to.in_step.get()).then(|| to.function(parts.inputs, parts.outputs)).flatten() {
            Some(function) => computed_later(to, &function, parts, outputs, take),
            None => {
                let cone = again(to, parts, DerivativeMode::Reverse);
                let known = cone.variables.iter().zip(parts.inputs);
                let known = known.filter_map(|(&variable, &input)| Some((variable, take(input)?))).collect();
                cone.reverse_onto(to, outputs, known)
            }
        },
    }
}

/// Computes the outputs that the rule uses, with the rule, for higher derivatives.
fn completed(
    to: &Appender,
    rule: DerivativeRule,
    operands: &[Value],
    parts: RuleParts<'_, Value>,
) -> FxHashMap<Value, Value> {
    let complete = |(n, &variable): (usize, &Value)| {
        let value = to.read(|graph| {
            let id = graph.producer(variable);
            match graph.node(id).kind {
                NodeKind::Identity(Identity::Variable(_)) => graph.operands(id)[0],
                _ => variable,
            }
        });
        (variable, output(to, DerivativeRule { output: n as u16, ..rule }, value, &operands[1..]))
    };
    parts.outputs.iter().enumerate().map(complete).collect()
}

/// Returns a rule's results as tangents of values.
fn linear(to: &Appender, of: &[Value], made: &[Value]) -> Vec<Tangent> {
    let one = |(&value, &made): (&Value, &Value)| match to.space(value) {
        Some(space) => Tangent::of(to.term(made).cast(space.dtype)),
        None => Tangent::Zero,
    };
    of.iter().zip(made).map(one).collect()
}

/// Computes the cotangents of the inputs of a recomputed function from those of its outputs, by a scan of one step. No
/// node is shared with earlier computations, and the function's arrays exist only while the scan runs.
fn computed_later(
    to: &Appender,
    function: &LocatedGraph,
    RuleParts { inputs, outputs, .. }: RuleParts<'_, Value>,
    cotangents: &[Tangent],
    mut take: impl FnMut(Value) -> Option<Tangent>,
) -> Vec<Tangent> {
    let (mut all, mut types) = (inputs.to_vec(), to.param_types(inputs));
    let mut given = |tangent: Tangent, of: Value| {
        let space = to.space(of).filter(|_| !tangent.is_zero())?;
        all.push(tangent.term(to, &space).value);
        types.push((space.dtype.into(), space.dtype, space.shape));
        Some(all.len() - 1)
    };
    let seeds: Vec<Option<usize>> = outputs.iter().zip(cotangents).map(|(&output, &g)| given(g, output)).collect();
    let spaces: Vec<Option<TangentSpace>> = inputs.iter().map(|&input| to.space(input)).collect();
    let wanted: Vec<usize> = (0..inputs.len()).filter(|&n| spaces[n].is_some()).collect();
    let so_far: Vec<Option<usize>> =
        inputs.iter().map(|&input| take(input).and_then(|known| given(known, input))).collect();
    let mut order = Vec::new();
    let body = to.graph(&types, |inner, params| {
        let of = |at: &Option<usize>| at.map_or(Tangent::Zero, |at| Tangent::of(inner.term(params[at])));
        let seeds: Vec<Tangent> = seeds.iter().map(of).collect();
        let made = pullback(inner, function, &params[..inputs.len()], &wanted, &seeds, |n| of(&so_far[n]));
        let own = wanted.iter().zip(made).filter(|(_, g)| !g.is_zero());
        let own = own.filter_map(|(&n, g)| Some((n, g.term(inner, spaces[n].as_ref()?).value)));
        let (wanted, values) = own.unzip();
        order = wanted;
        values
    });
    let mut made = vec![Tangent::Zero; inputs.len()];
    if order.is_empty() {
        return made;
    }
    let sliced: Vec<Value> =
        all.iter().map(|&value| to.term(value).reshape(&with_extent(1, &to.shape(value))).value).collect();
    let steps = ScanArity { length: 1, carried: 0, sliced: sliced.len() as u32, reverse: false };
    let results = to.control(ControlKind::Scan(steps), vec![(body, (0..sliced.len() as u32).collect())], &sliced);
    for (n, value) in order.into_iter().zip(results) {
        made[n] = Tangent::of(to.term(value).reshape(&to.shape(inputs[n])));
    }
    made
}

/// Recomputes the outputs from other inputs.
fn again(to: &Appender, parts: RuleParts<'_, Value>, mode: DerivativeMode) -> Cone {
    let inputs: Vec<Value> = parts.inputs.iter().map(|&input| to.variable(input)).collect();
    let new = parts.inputs.iter().copied().zip(inputs.iter().copied()).collect();
    let outputs = to.substituted(new, parts.outputs);
    Cone::new(to, &inputs, &outputs, mode)
}
