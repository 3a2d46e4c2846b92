//! Control flow: nodes whose graphs run once, not at all, or again and again, as values say that are not known when a program is made.
//!
//! A node of control flow has one result: one with several is as many nodes of the same [`Control`] with the same operands, which one kernel
//! computes together. Its graphs are closed: what they use from outside are operands.

use super::{Graph, Value};
use crate::dtype::DType;
use crate::shape::Shape;
use crate::value_type::ValueType;
use std::sync::Arc;

/// How deep control flow may stand in control flow.
pub const MAX_NESTING: usize = 32;

/// What a node of control flow does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControlKind {
    /// Its graphs are the condition and the body. The first operands are the carry, as many as the body has outputs: while the condition, of
    /// the carry and the other operands, is true, the carry becomes what the body makes of them. The results are the carry.
    While,
    /// Its first operand is a condition, its graphs are for true and for false: the results are those of one of them, of the other operands.
    Cond,
}

impl ControlKind {
    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            ControlKind::While => "while",
            ControlKind::Cond => "cond",
        }
    }

    /// What its graphs are called.
    pub const fn graphs(self) -> [&'static str; 2] {
        match self {
            ControlKind::While => ["condition", "body"],
            ControlKind::Cond => ["true", "false"],
        }
    }
}

/// What nodes of control flow have in common that are of the same piece of it.
#[derive(Clone, Debug)]
pub struct Control {
    /// What it does.
    pub kind: ControlKind,
    /// Its two graphs.
    pub graphs: [Inner; 2],
}

/// A graph in a node of control flow.
#[derive(Clone, Debug)]
pub struct Inner {
    /// The graph.
    pub graph: InnerGraph,
    /// For each parameter the operand of the node that it is.
    pub operands: Vec<u32>,
}

/// A graph as it is traced, or as it is committed.
#[derive(Clone, Debug)]
pub enum InnerGraph {
    /// As traced.
    Traced(Arc<Graph<ValueType>>),
    /// With every dtype resolved.
    Typed(Arc<Graph<DType>>),
}

impl InnerGraph {
    /// How deep control flow stands in it.
    pub fn nesting(&self) -> usize {
        let controls = match self {
            InnerGraph::Traced(graph) => graph.controls(),
            InnerGraph::Typed(graph) => graph.controls(),
        };
        controls.iter().map(|control| control.nesting()).max().unwrap_or(0)
    }
}

impl Control {
    /// How deep control flow stands in it, itself counted.
    pub fn nesting(&self) -> usize {
        1 + self.graphs.iter().map(|inner| inner.graph.nesting()).max().unwrap_or(0)
    }

    /// Its graph at this position, with every dtype resolved.
    pub fn typed(&self, n: usize) -> Option<&Graph<DType>> {
        match &self.graphs.get(n)?.graph {
            InnerGraph::Typed(graph) => Some(graph),
            InnerGraph::Traced(_) => None,
        }
    }
}

/// Type and shape of a value.
type Seen<T> = (T, Shape);

/// Checks a node of control flow: `operands` and `result` are what it has, `result_at` says which of the results it is.
pub(super) fn check<T: super::Type>(
    control: &Control,
    operands: &[Seen<T>],
    result_at: usize,
    result: &Seen<T>,
    truth: T,
) -> Result<(), String> {
    if control.nesting() > MAX_NESTING {
        return Err(format!("control flow stands more than {MAX_NESTING} deep in control flow"));
    }
    let mut outputs: Vec<Vec<Seen<T>>> = Vec::new();
    for (inner, what) in control.graphs.iter().zip(control.kind.graphs()) {
        let Some(graph) = T::inner(&inner.graph) else { return Err(format!("the graph `{what}` is of another stage")) };
        let seen = |value: &Value| (graph.ty(*value), graph.shape(*value).clone());
        let params: Vec<Seen<T>> = graph.params().iter().map(seen).collect();
        let given: Option<Vec<Seen<T>>> = inner.operands.iter().map(|&n| operands.get(n as usize).cloned()).collect();
        if given.as_ref() != Some(&params) {
            return Err(format!("the graph `{what}` takes {params:?}, not {given:?}"));
        }
        outputs.push(graph.outputs().iter().map(seen).collect());
    }
    let condition = (truth, Shape::scalar());
    let results = match control.kind {
        ControlKind::While if outputs[0][..] != [condition.clone()] => {
            return Err("the condition is no truth value".to_owned());
        }
        ControlKind::While if !operands.starts_with(&outputs[1]) => {
            return Err("what the body gives is not the carry".to_owned());
        }
        ControlKind::While => &outputs[1],
        ControlKind::Cond if operands.first() != Some(&condition) => return Err("there is no condition".to_owned()),
        ControlKind::Cond if outputs[0] != outputs[1] => {
            return Err("for true and false the results differ in type".to_owned());
        }
        ControlKind::Cond => &outputs[0],
    };
    match results.get(result_at) {
        Some(own) if own == result => Ok(()),
        own => Err(format!("the result is {own:?}, not {result:?}")),
    }
}
