//! The propagation of tangents and cotangents through the nodes between variables and outputs.

use super::cone::{Cone, DerivativeMode, dependent};
use super::control;
use super::maps::{self, summed_to};
use super::nodes::paths;
use super::saved::SavedLoop;
use super::tangent::Tangent;
use super::{rules, segments};
use crate::append::{Appender, TangentSpace, linear};
use ndjit_ir::Op;
use ndjit_ir::graph::{Identity, NodeId, NodeKind, RuleKind, Scatter, Value};
use ndjit_ir::reduction::Reduce;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Outputs of a function with a derivative rule: its kind, and the common operands.
type RuleGroup = (RuleKind, Vec<Value>);

impl Cone {
    pub fn new(to: &Appender, variables: &[Value], outputs: &[Value], mode: DerivativeMode) -> Cone {
        let mut cone = Cone {
            variables: variables.to_vec(),
            outputs: outputs.to_vec(),
            nodes: Vec::new(),
            saved: FxHashMap::default(),
        };
        cone.nodes = to.read(|graph| dependent(graph, variables, outputs, to.policy));
        loop {
            let calls = |&id: &NodeId| to.read(|graph| matches!(graph.node(id).kind, NodeKind::Call(_)));
            if !cone.nodes.iter().any(calls) || to.has_failed() {
                break;
            }
            cone.rewrite(to, |_, id, operands| to.called(id, operands));
        }
        let loops = |&id: &NodeId| to.read(|graph| matches!(graph.node(id).kind, NodeKind::Control(..)));
        if mode == DerivativeMode::Reverse && cone.nodes.iter().any(loops) {
            cone.segment(to);
            cone.rewrite(to, |cone, id, operands| cone.kept(to, id, operands));
        }
        cone
    }

    /// Copies the nodes, some of them as others.
    fn rewrite(&mut self, to: &Appender, mut become_: impl FnMut(&mut Cone, NodeId, &[Value]) -> Option<Vec<Value>>) {
        let (nodes, outputs) = (std::mem::take(&mut self.nodes), std::mem::take(&mut self.outputs));
        if let Some(&first) = nodes.first() {
            self.outputs = to.rewrite(first, &mut FxHashMap::default(), &outputs, |id, operands| {
                nodes.binary_search(&id).ok().and_then(|_| become_(self, id, operands))
            });
        }
        self.nodes = to.read(|graph| dependent(graph, &self.variables, &self.outputs, to.policy));
    }

    /// Replaces loops of constant trip count by scans, and segments scans of too many states, until there are none.
    fn segment(&mut self, to: &Appender) {
        let mut cut = true;
        while std::mem::take(&mut cut) && !to.has_failed() {
            self.rewrite(to, |_, id, operands| {
                let NodeKind::Control(n) = to.read(|graph| graph.node(id).kind) else { return None };
                let results = segments::as_scans(to, n, operands);
                cut |= results.is_some();
                results
            });
        }
    }

    /// Replaces a loop by one that saves states for reverse mode. Returns its results.
    fn kept(&mut self, to: &Appender, id: NodeId, operands: &[Value]) -> Option<Vec<Value>> {
        let NodeKind::Control(n) = to.read(|graph| graph.node(id).kind) else { return None };
        let (key, results, saved) = super::loops::keeping(to, n, operands)?;
        self.saved.insert(key, saved);
        Some(results)
    }

    /// Computes the tangents of the outputs.
    pub fn forward(&self, to: &Appender, tangents: &[Tangent]) -> Vec<Tangent> {
        let mut known: FxHashMap<Value, Tangent> =
            self.variables.iter().copied().zip(tangents.iter().copied()).collect();
        let mut ruled: FxHashMap<RuleGroup, Vec<Tangent>> = FxHashMap::default();
        for &id in &self.nodes {
            let (kind, operands, value) =
                to.read(|graph| (graph.node(id).kind, graph.operands(id).to_vec(), graph.node(id).first()));
            if known.contains_key(&value) {
                continue;
            }
            let own: Vec<Tangent> =
                operands.iter().map(|operand| known.get(operand).copied().unwrap_or(Tangent::Zero)).collect();
            if own.iter().all(|t| t.is_zero()) {
                continue;
            }
            to.at_slope(id);
            if let NodeKind::Control(n) = kind {
                let results: Vec<Value> = to.read(|graph| graph.node(id).results().collect());
                let made = results.into_iter().zip(control::forward(to, n, &operands, &own));
                known.extend(made.filter(|(_, tangent)| !tangent.is_zero()));
                continue;
            }
            let tangent = match kind {
                NodeKind::Identity(Identity::Ruled(rule)) => {
                    let all = ruled.entry((rule.kind, operands[1..].to_vec())).or_insert_with(|| {
                        let inputs = rule.parts(&operands).map_or(&[][..], |parts| parts.inputs);
                        let own = |input| known.get(input).copied().unwrap_or(Tangent::Zero);
                        rules::forward(to, rule, &operands, &inputs.iter().map(own).collect::<Vec<Tangent>>())
                    });
                    all.get(rule.output as usize).copied().unwrap_or(Tangent::Zero)
                }
                _ => node(to, id, &operands, &own, &known),
            };
            if !tangent.is_zero() {
                known.insert(value, tangent);
            }
        }
        self.outputs.iter().map(|output| known.get(output).copied().unwrap_or(Tangent::Zero)).collect()
    }

    /// Computes the cotangents of the variables.
    pub fn reverse(&self, to: &Appender, cotangents: &[Tangent]) -> Vec<Tangent> {
        self.reverse_onto(to, cotangents, FxHashMap::default())
    }

    /// Follows variables of other functions to their operands, up to a variable of this cone.
    fn source(&self, to: &Appender, mut value: Value) -> Value {
        to.read(|graph| {
            while !self.variables.contains(&value) {
                let id = graph.producer(value);
                let NodeKind::Identity(Identity::Variable(_)) = graph.node(id).kind else { break };
                value = graph.operands(id)[0];
            }
            value
        })
    }

    /// Computes the cotangents of the variables, and adds them to the known ones.
    pub fn reverse_onto(
        &self,
        to: &Appender,
        cotangents: &[Tangent],
        mut known: FxHashMap<Value, Tangent>,
    ) -> Vec<Tangent> {
        let add = |known: &mut FxHashMap<Value, Tangent>, value: Value, cotangent: Tangent| {
            if cotangent.is_zero() {
                return;
            }
            let Some(space) = to.space(value) else { return };
            let before = known.get(&value).copied().unwrap_or(Tangent::Zero);
            known.insert(value, before.plus(to, cotangent, &space));
        };
        for (&output, &cotangent) in self.outputs.iter().zip(cotangents) {
            add(&mut known, output, cotangent);
        }
        let dependent: rustc_hash::FxHashSet<Value> = to.read(|graph| {
            let results = self.nodes.iter().flat_map(|&id| graph.node(id).results());
            let has_tangents = |&value: &Value| linear(graph.storage_dtype(value, to.policy)).is_some();
            self.variables.iter().copied().chain(results.filter(has_tangents)).collect()
        });
        // A function with a rule is visited at its first output, which comes last in reverse.
        let mut ruled: FxHashMap<RuleGroup, Vec<(u16, Value)>> = FxHashMap::default();
        for &id in self.nodes.iter().rev() {
            let (kind, operands, value) =
                to.read(|graph| (graph.node(id).kind, graph.operands(id).to_vec(), graph.node(id).first()));
            if let NodeKind::Identity(Identity::Ruled(rule)) = kind {
                ruled.entry((rule.kind, operands[1..].to_vec())).or_default().push((rule.output, value));
            }
        }
        for &id in self.nodes.iter().rev() {
            let (kind, operands, value) =
                to.read(|graph| (graph.node(id).kind, graph.operands(id).to_vec(), graph.node(id).first()));
            if self.variables.contains(&value) {
                continue;
            }
            to.at_slope(id);
            let active: Vec<bool> = operands.iter().map(|operand| dependent.contains(operand)).collect();
            if let NodeKind::Control(n) = kind {
                let key = (n, operands.clone());
                let written = match self.saved.get(&key) {
                    Some(SavedLoop::Slots { of, .. }) => of.0,
                    _ => n,
                };
                let count = to.read(|graph| graph.controls()[written as usize].results());
                let results: Vec<Value> = to.read(|graph| graph.node(id).results().collect());
                let own = results.iter().map(|value| known.remove(value).unwrap_or(Tangent::Zero));
                let mut own: Vec<Tangent> = own.take(count).collect();
                own.resize(count, Tangent::Zero);
                if own.iter().all(|g| g.is_zero()) {
                    continue;
                }
                let saved = self.saved.get(&key);
                // Cotangents are those of the original loop, which a loop with saved states replaces.
                let written = if let Some(SavedLoop::Slots { of, .. }) = saved { of } else { &key };
                let active: Vec<bool> = written.1.iter().map(|operand| dependent.contains(operand)).collect();
                let onto = control::accumulating(to, written, &active, |operand| known.remove(&operand));
                let made = control::reverse(to, written, saved, &active, &own, &onto);
                written.1.iter().zip(made).for_each(|(&operand, g)| add(&mut known, operand, g));
                continue;
            }
            if let NodeKind::Identity(Identity::Ruled(rule)) = kind {
                let all = ruled.get(&(rule.kind, operands[1..].to_vec()));
                let Some(outputs) = all.filter(|all| all.last().is_some_and(|(_, last)| *last == value)) else {
                    continue;
                };
                let mut own = vec![Tangent::Zero; rule.outputs as usize];
                for (output, value) in outputs {
                    own[*output as usize] = known.remove(value).unwrap_or(Tangent::Zero);
                }
                let Some(parts) = rule.parts(&operands).filter(|_| own.iter().any(|g| !g.is_zero())) else { continue };
                // A recomputed function adds to the known cotangents of its inputs.
                let of = |input: Value| if rule.kind == RuleKind::Checkpoint { self.source(to, input) } else { input };
                let made = rules::reverse(to, rule, &operands, &own, |input| known.remove(&of(input)));
                parts.inputs.iter().zip(made).for_each(|(&input, g)| add(&mut known, of(input), g));
                continue;
            }
            let Some(g) = known.remove(&value).filter(|g| !g.is_zero()) else { continue };
            let Some(space) = to.space(value) else { continue };
            let contracted = contraction(to, kind, &operands).filter(|_| dependent.contains(&operands[0]));
            if let Some((product, reduce)) = contracted {
                let made = factors(to, product, reduce, g, &space, |factor| dependent.contains(&factor));
                made.into_iter().for_each(|(factor, g)| add(&mut known, factor, g));
                continue;
            }
            for n in (0..operands.len()).filter(|&n| active[n]) {
                let Some(from) = to.space(operands[n]) else { continue };
                for path in paths(to, id, n) {
                    let mapped = maps::adjoint(to, &path, g, &from);
                    add(&mut known, operands[n], mapped);
                }
            }
        }
        self.variables.iter().map(|variable| known.get(variable).copied().unwrap_or(Tangent::Zero)).collect()
    }
}

/// Returns the product in a contraction, and its sum.
fn contraction(to: &Appender, kind: NodeKind, operands: &[Value]) -> Option<(NodeId, Reduce)> {
    let NodeKind::Reduce(reduce) = kind else { return None };
    let product = to.read(|graph| graph.producer(operands[0]));
    let multiplies = to.read(|graph| matches!(graph.node(product).kind, NodeKind::Op(Op::Multiply, _)));
    (reduce.contracts && multiplies).then_some((product, reduce))
}

/// Computes the cotangents of the factors of a contraction, which are contractions too.
fn factors(
    to: &Appender,
    product: NodeId,
    reduce: Reduce,
    g: Tangent,
    space: &TangentSpace,
    wanted: impl Fn(Value) -> bool,
) -> Vec<(Value, Tangent)> {
    let (value, operands) = to.read(|graph| (graph.node(product).first(), graph.operands(product).to_vec()));
    let whole = to.shape(value);
    let Some((g, negative)) = g.parts(to, space) else { return Vec::new() };
    let g = if g.shape() == space.shape { g } else { g.broadcast(&space.shape) }.flushed();
    let g = g.reshape(&reduce.axes.reduced(&whole, true));
    let mut made = Vec::new();
    for (own, other) in [(operands[0], operands[1]), (operands[1], operands[0])] {
        if !wanted(own) {
            continue;
        }
        let Some(from) = to.space(own) else { continue };
        let other = to.term(other).cast(space.dtype).conj();
        let summed = summed_to((g * other).broadcast(&whole), &from.shape, true);
        made.push((own, Tangent::of(summed.cast(from.dtype)).signed(negative)));
    }
    made
}

/// Computes the tangent of a node that is linear in all operands together: the same node on their tangents.
fn together(
    to: &Appender,
    kind: NodeKind,
    operands: &[Value],
    tangents: &[Tangent],
    space: &TangentSpace,
) -> Option<Tangent> {
    let own = |n: usize| {
        let own = TangentSpace { dtype: space.dtype, shape: to.shape(operands[n]) };
        tangents[n].term(to, &own).cast(space.dtype)
    };
    let made = match kind {
        NodeKind::Concat(axis, _) => {
            let parts: Vec<_> = (0..operands.len()).map(own).collect();
            to.concat(axis as usize, &parts)
        }
        NodeKind::Insert(view) => {
            let view = to.read(|graph| Arc::clone(&graph.views()[view.index()]));
            let given = [own(0).value, own(1).value].into_iter().chain(operands[2..].iter().copied());
            let value = to.add(&NodeKind::Insert(view).into(), &given.collect::<SmallVec<[Value; 4]>>());
            to.term(value)
        }
        NodeKind::Scatter(how @ (Scatter::Set | Scatter::Add | Scatter::Subtract)) => {
            own(0).scatter(how, to.term(operands[1]), own(2))
        }
        _ => return None,
    };
    Some(Tangent::of(made))
}

/// Computes the tangent of a node's result.
fn node(
    to: &Appender,
    id: NodeId,
    operands: &[Value],
    tangents: &[Tangent],
    known: &FxHashMap<Value, Tangent>,
) -> Tangent {
    let (kind, value) = to.read(|graph| (graph.node(id).kind, graph.node(id).first()));
    let Some(space) = to.space(value) else { return Tangent::Zero };
    if let Some(tangent) = together(to, kind, operands, tangents, &space) {
        return tangent;
    }
    if let Some((product, reduce)) = contraction(to, kind, operands) {
        return contracted(to, (product, reduce), known, &space);
    }
    let mut sum = Tangent::Zero;
    for (n, &t) in tangents.iter().enumerate().filter(|(_, t)| !t.is_zero()) {
        let Some(from) = to.space(operands[n]) else { continue };
        for path in paths(to, id, n) {
            let mapped = maps::apply(to, &path, t, &from);
            sum = sum.plus(to, mapped, &space);
        }
    }
    sum
}

/// Computes the tangent of a contraction: the sum of contractions of each factor's tangent with the other factor.
fn contracted(
    to: &Appender,
    (product, reduce): (NodeId, Reduce),
    known: &FxHashMap<Value, Tangent>,
    space: &TangentSpace,
) -> Tangent {
    let (value, operands) = to.read(|graph| (graph.node(product).first(), graph.operands(product).to_vec()));
    let whole = to.shape(value);
    let mut sum = Tangent::Zero;
    for (own, other) in [(operands[0], operands[1]), (operands[1], operands[0])] {
        let Some(t) = known.get(&own).copied() else { continue };
        let Some(from) = to.space(own) else { continue };
        let other = to.term(other).cast(space.dtype);
        let made = t.map(to, &from, |t| (t.cast(space.dtype).flushed() * other).broadcast(&whole).summed(reduce));
        sum = sum.plus(to, made, space);
    }
    sum
}
