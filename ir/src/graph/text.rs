//! The text form of graphs. It [parses](super::parse) to the same graph with the same ids.
//!
//! ```text
//! child @0 (%0: f32[3]) {
//!   %1 = sin %0 : f32[3]
//!   return %1
//! }
//! graph (%0: f32[3], %1: i8[3]) calls @0 {
//!   %2 = literal #0 2 : i*[]
//!   %3 = multiply[strict] %1, %2 : i8[3]  ; src/main.rs:3:20
//!   %4 = call @0(%0) : f32[3]
//!   return %4, %3
//! }
//! ```
//!
//! An implicit cast has a reason: `%2 = cast[up] %1 : f32[3]`.
//!
//! A reduction has its axes, `keepdims`, and the requested dtype:
//! `%2 = sum[numpy2] %1 axes [0, 1] keepdims dtype f64 : f64[1, 1]`.
//!
//! A scan has one axis: `%2 = cumulative_sum %1 axis 0 dtype f64 : f64[3]`.
//!
//! A view has an affine map from its indices to the operand's: `%2 = view %1 (d0, d1) -> (d1, -d0 + 2) : f32[3, 4]`. A derivative rule
//! has an output: `%9 = custom_jvp output 0 of 1 of %3, %4, %5, %8 : f32[3]`. A join has an axis: `%3 = concat %1, %2 axis 0 : f32[5]`.
//!
//! A weak parameter of unusual storage dtype names it: `%0: f*:f64[3]`.
//!
//! One line per node: results, operation, operands, types. A literal line repeats the slot's content: a number, or `argument 2` for
//! a number passed at each call, followed by the argument's weak type if the node's differs. Unused slots have lines `slot #0 2`.
//! Child graphs come before their callers; each is printed once. A comment runs from `;` to the end of the line.
//!
//! The graphs of control flow are children too. A line has their numbers, and the indices of the operands of their parameters:
//!
//! ```text
//!   $0 = while condition @0 of [0, 2] body @1 of [0, 1]
//!   $1 = scan length 5 carried 1 sliced 1 body @2 of [0, 1]
//!   %5, %6 = while $0 %2, %0, %1 : i32[], f32[3]
//! ```

use super::{
    ControlKind, ForArity, Graph, Node, NodeId, NodeKind, ScanArity, Slot, SlotId, SourceLocs, TextPart, Type, Value,
};
use crate::lines::{LineSink, SpanKind, TextLine, lines};
use crate::promotion::Policy;
use crate::reduction::TypeRequest;
use rustc_hash::FxHashMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

impl<T: Type> Display for Graph<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl<T: Type> Graph<T> {
    /// The text.
    pub fn text(&self) -> GraphText<'_, T> {
        GraphText { blocks: blocks(self), note: Box::new(|_, _| String::new()) }
    }

    /// The text with the places of each node in a comment; parameters have none. Callees and graphs of control flow have their own places:
    /// a shared graph has those of its last user.
    pub fn display_with<'a>(&'a self, places: &'a SourceLocs) -> GraphText<'a, T> {
        let blocks = blocks(self);
        let inner = inner_places(&blocks, places);
        let note = move |block: usize, id| {
            let own = inner.get(block).and_then(Option::as_deref).unwrap_or(places);
            own.written(id).map(|place| place.to_string()).collect::<Vec<_>>().join(", ")
        };
        GraphText { blocks, note: Box::new(note) }
    }

    /// The text with a custom comment after each node line of it and its children, if not empty. Parameters have none.
    pub fn display_noted<'a>(&'a self, note: impl Fn(&Graph<T>, NodeId) -> String + 'a) -> GraphText<'a, T> {
        let blocks = blocks(self);
        let graphs: Vec<&Graph<T>> = blocks.iter().map(|block| block.graph).collect();
        GraphText { blocks, note: Box::new(move |block, id| note(graphs[block], id)) }
    }

    /// The graph and its callees, each once, callees first: the blocks of the text.
    pub fn blocks(&self) -> Vec<GraphBlock<'_, T>> {
        blocks(self)
    }

    /// The places of each [block](Graph::blocks), as [`display_with`](Graph::display_with) shows them.
    pub fn block_places(&self, places: &SourceLocs) -> Vec<Arc<SourceLocs>> {
        let inner = inner_places(&blocks(self), places);
        inner.into_iter().map(|own| own.unwrap_or_else(|| Arc::new(places.clone()))).collect()
    }

    /// One node's line, without indentation. Callees have their indices among this graph's children.
    pub fn display_node(&self, id: NodeId) -> impl Display + '_ {
        NodeLine { graph: self, id, callees: None }
    }

    /// The operation's word in a node's line.
    pub fn operation_name(&self, id: NodeId) -> &'static str {
        match self.node(id).kind {
            NodeKind::Control(n) => self.controls().get(n as usize).map_or("control", |control| control.kind.name()),
            kind => kind.name(),
        }
    }

    /// The operation in a node's line, with other names for some operands: `add %0, 2`.
    pub fn operation_text(&self, id: NodeId, name: impl Fn(Value) -> Option<String>) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = NodeLine { graph: self, id, callees: None }.write_operation(&mut text, &name);
        text
    }

    /// The result types in a node's line: `f32[3]`.
    pub fn types_text(&self, id: NodeId) -> String {
        let mut text = String::new();
        let _ = NodeLine { graph: self, id, callees: None }.write_types(&mut text);
        text
    }
}

/// The text of a graph and its callees.
pub struct GraphText<'a, T: Type> {
    blocks: Vec<GraphBlock<'a, T>>,
    /// The comment of a node of a block.
    note: Box<dyn Fn(usize, NodeId) -> String + 'a>,
}

/// A line of a graph's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLine {
    /// The index of the [block](Graph::blocks).
    pub block: usize,
    /// The part of the block.
    pub part: GraphPart,
}

/// The part of a graph that a line prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphPart {
    /// The parameters.
    Params,
    /// The control flow of this number.
    Control(usize),
    /// A node.
    Node(NodeId),
    /// The outputs.
    Outputs,
    /// Anything else.
    Other,
}

type GraphSink<'a> = dyn LineSink<GraphLine> + 'a;

impl<T: Type> Display for GraphText<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl<T: Type> GraphText<'_, T> {
    /// The lines of the text.
    pub fn lines(&self) -> Vec<TextLine<GraphLine>> {
        lines(|f| self.write(f))
    }

    fn write(&self, f: &mut GraphSink<'_>) -> fmt::Result {
        for number in 0..self.blocks.len() {
            let inner = number + 1 < self.blocks.len();
            f.of(Some(GraphLine { block: number, part: GraphPart::Params }));
            match inner {
                true => write!(f, "child @{number} ")?,
                false => f.write_str("graph ")?,
            }
            self.write_block(number, f)?;
            f.write_str(if inner { "\n" } else { "" })?;
        }
        Ok(())
    }

    fn write_block(&self, number: usize, f: &mut GraphSink<'_>) -> fmt::Result {
        let block = &self.blocks[number];
        let graph = block.graph;
        let of = |part| Some(GraphLine { block: number, part });
        f.write_str("(")?;
        for (i, &param) in graph.params.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write_value(SpanKind::Definition(param), param, f)?;
            f.write_str(": ")?;
            write_param_type(graph, param, f)?;
        }
        f.write_str(")")?;
        for (i, number) in block.callees.iter().enumerate() {
            write!(f, "{}@{number}", if i == 0 { " calls " } else { ", " })?;
        }
        f.write_str(" {\n")?;
        f.of(of(GraphPart::Other));
        write_unused_slots(graph, f)?;
        for (n, (control, blocks)) in graph.controls().iter().zip(&block.controls).enumerate() {
            f.of(of(GraphPart::Control(n)));
            write!(f, "  ${n} = {}", control.kind.name())?;
            if let ControlKind::Scan(ScanArity { length, carried, sliced, reverse }) = control.kind {
                let order = if reverse { " reverse" } else { "" };
                write!(f, " length {length} carried {carried} sliced {sliced}{order}")?;
            }
            if let ControlKind::For(ForArity { carried, index }) = control.kind {
                write!(f, " index {index} carried {carried}")?;
            }
            for ((what, inner), number) in control.kind.graphs().iter().zip(&control.graphs).zip(blocks) {
                write!(f, " {what} @{number} of {:?}", inner.operands)?;
            }
            f.write_str("\n")?;
        }
        for id in graph.node_ids() {
            if matches!(graph.node(id).kind, NodeKind::Param(..)) {
                continue;
            }
            f.of(of(GraphPart::Node(id)));
            f.write_str("  ")?;
            NodeLine { graph, id, callees: Some(&block.callees) }.write(f)?;
            let note = (self.note)(number, id);
            if !note.is_empty() {
                f.begin(SpanKind::Note);
                write!(f, "  ; {note}")?;
                f.end();
            }
            f.write_str("\n")?;
        }
        f.of(of(GraphPart::Outputs));
        f.write_str("  return")?;
        write_named(&graph.outputs, &|_| None, f)?;
        f.write_str("\n")?;
        f.of(of(GraphPart::Other));
        f.write_str("}")
    }
}

/// The places of each block's nodes; `None` for the last block, the whole graph.
fn inner_places<T: Type>(blocks: &[GraphBlock<'_, T>], places: &SourceLocs) -> Vec<Option<Arc<SourceLocs>>> {
    let mut inner: Vec<Option<Arc<SourceLocs>>> = vec![None; blocks.len()];
    // Users of a graph come after it.
    for (number, block) in blocks.iter().enumerate().rev() {
        let own = inner[number].clone();
        let own = own.as_deref().unwrap_or(places);
        for (n, &callee) in block.callees.iter().enumerate() {
            inner[callee].get_or_insert_with(|| own.child(n as u32));
        }
        for (n, graphs) in block.controls.iter().enumerate() {
            for (which, &graph) in graphs.iter().enumerate() {
                inner[graph].get_or_insert_with(|| own.control(n as u32, which));
            }
        }
    }
    inner
}

/// A graph to print and the numbers of its children's blocks.
pub struct GraphBlock<'a, T: Type> {
    /// The graph.
    pub graph: &'a Graph<T>,
    /// The block number of each child.
    pub callees: Vec<usize>,
    /// The block numbers of the graphs of each control flow.
    pub controls: Vec<Vec<usize>>,
}

/// A graph whose callees are being numbered.
struct NumberingFrame<'a, T: Type> {
    graph: &'a Graph<T>,
    /// The numbers known so far: of its children, and of the graphs of its control flow.
    callees: Vec<usize>,
    controls: Vec<Vec<usize>>,
}

impl<'a, T: Type> NumberingFrame<'a, T> {
    fn new(graph: &'a Graph<T>) -> NumberingFrame<'a, T> {
        NumberingFrame { graph, callees: Vec::new(), controls: Vec::new() }
    }

    /// The next child, or graph of control flow.
    fn next(&self) -> Option<&'a Arc<Graph<T>>> {
        if let Some(child) = self.graph.children().get(self.callees.len()) {
            return Some(child);
        }
        let known = self.controls.last().map_or(0, Vec::len);
        let within = self.graph.controls().get(self.controls.len().saturating_sub(1));
        let within = within.and_then(|control| control.graphs.get(known));
        let next = || self.graph.controls().get(self.controls.len())?.graphs.first();
        within.or_else(next).map(|inner| &inner.graph)
    }

    /// Adds the number of the next one.
    fn found(&mut self, number: usize) {
        if self.callees.len() < self.graph.children().len() {
            self.callees.push(number);
            return;
        }
        let number_of_graphs = |n: usize| self.graph.controls().get(n).map_or(0, |control| control.graphs.len());
        match self.controls.len().checked_sub(1) {
            Some(last) if self.controls[last].len() < number_of_graphs(last) => self.controls[last].push(number),
            _ => self.controls.push(vec![number]),
        }
    }

    fn finished(self) -> GraphBlock<'a, T> {
        GraphBlock { graph: self.graph, callees: self.callees, controls: self.controls }
    }
}

/// A child that several graphs share has one block.
fn blocks<T: Type>(root: &Graph<T>) -> Vec<GraphBlock<'_, T>> {
    let mut done: FxHashMap<*const Graph<T>, usize> = FxHashMap::default();
    let mut blocks = Vec::new();
    let mut stack = vec![NumberingFrame::new(root)];
    while let Some(frame) = stack.last_mut() {
        let Some(child) = frame.next() else {
            if let Some(frame) = stack.pop() {
                done.insert(std::ptr::from_ref(frame.graph), blocks.len());
                blocks.push(frame.finished());
            }
            continue;
        };
        match done.get(&Arc::as_ptr(child)) {
            Some(&number) => frame.found(number),
            None => stack.push(NumberingFrame::new(child)),
        }
    }
    blocks
}

fn write_unused_slots<T: Type>(graph: &Graph<T>, f: &mut dyn fmt::Write) -> fmt::Result {
    let mut used = vec![false; graph.slots.len()];
    for node in &graph.nodes {
        if let NodeKind::Literal(slot) = node.kind
            && let Some(used) = used.get_mut(slot.index())
        {
            *used = true;
        }
    }
    for (index, slot) in graph.slots.iter().enumerate().filter(|&(index, _)| !used[index]) {
        match slot {
            Slot::Value(literal) => writeln!(f, "  slot #{index} {literal}")?,
            Slot::Argument { index: argument, ty } => writeln!(f, "  slot #{index} argument {argument} {ty}")?,
        }
    }
    Ok(())
}

struct NodeLine<'a, T: Type> {
    graph: &'a Graph<T>,
    id: NodeId,
    /// Block numbers of the graph's children; `None` prints their indices.
    callees: Option<&'a [usize]>,
}

impl<T: Type> Display for NodeLine<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl<T: Type> NodeLine<'_, T> {
    fn write(&self, f: &mut GraphSink<'_>) -> fmt::Result {
        let node: &Node<T> = self.graph.node(self.id);
        for (i, result) in node.results().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            write_value(SpanKind::Definition(result), result, f)?;
        }
        f.write_str(if node.result_count() > 0 { " = " } else { "= " })?;
        self.write_operation(f, &|_| None)?;
        f.begin(SpanKind::Types);
        f.write_str(if node.result_count() > 0 { " : " } else { " :" })?;
        self.write_types(f)?;
        f.end();
        Ok(())
    }

    /// The operation and its operands, each by a given name or its own.
    fn write_operation(&self, f: &mut GraphSink<'_>, name: &dyn Fn(Value) -> Option<String>) -> fmt::Result {
        let node: &Node<T> = self.graph.node(self.id);
        if let NodeKind::Param(n, _) = node.kind {
            return write!(f, "param {n}");
        }
        f.write_str(self.graph.operation_name(self.id))?;
        let operands = self.graph.operands(self.id);
        let mut kind = node.kind;
        let TypeRequest { dtype, policy: requested } =
            kind.type_request().map(|(_, of)| T::noted(of)).unwrap_or_default();
        for part in kind.parts() {
            match part {
                TextPart::Operands => write_named(operands, name, f)?,
                TextPart::Policy(policy) => write_policy(T::noted(*policy), f)?,
                TextPart::Request(_) => write_policy(requested, f)?,
                TextPart::Dtype => dtype.map_or(Ok(()), |dtype| write!(f, " dtype {dtype}"))?,
                TextPart::Reason(reason) => T::noted(*reason).name().map_or(Ok(()), |name| write!(f, "[{name}]"))?,
                TextPart::Slot(slot) => self.write_slot(*slot, f)?,
                TextPart::View(view) => match self.graph.views.get(view.index()) {
                    Some(view) => write!(f, " {view}")?,
                    None => f.write_str(" unknown")?,
                },
                TextPart::Axes(axes) => write!(f, " axes {axes}")?,
                TextPart::Axis(axis) => write!(f, " axis {axis}")?,
                TextPart::Keepdims(keepdims) => f.write_str(if *keepdims { " keepdims" } else { "" })?,
                TextPart::Contracts(contracts) => f.write_str(if *contracts { " contracts" } else { "" })?,
                TextPart::Scatter(scatter) => write!(f, " {}", scatter.name())?,
                TextPart::Variable(n) => write!(f, " {n} of")?,
                TextPart::Output(rule) => write!(f, " output {} of {} of", rule.output, rule.outputs)?,
                TextPart::Control(n) => write!(f, " ${n}")?,
                TextPart::Call(child) => {
                    let child = *child as usize;
                    let number = self.callees.and_then(|callees| callees.get(child).copied()).unwrap_or(child);
                    write!(f, " @{number}(")?;
                    write_list(operands, name, f)?;
                    f.write_str(")")?;
                }
            }
        }
        Ok(())
    }

    /// A slot, and its content.
    fn write_slot(&self, slot: SlotId, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, " {slot}")?;
        match self.graph.slots.get(slot.index()) {
            Some(Slot::Value(literal)) => write!(f, " {literal}"),
            Some(Slot::Argument { index, ty }) => {
                write!(f, " argument {index}")?;
                let mut results = self.graph.node(self.id).results();
                match results.next().is_some_and(|result| self.graph.ty(result).to_string() == ty.name()) {
                    true => Ok(()),
                    false => write!(f, " {ty}"),
                }
            }
            None => f.write_str(" unknown"),
        }
    }

    /// The types of its results.
    fn write_types(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        for (i, result) in self.graph.node(self.id).results().enumerate() {
            write!(f, "{}{}{}", if i > 0 { ", " } else { "" }, self.graph.ty(result), self.graph.shape(result))?;
        }
        Ok(())
    }
}

/// The policy in brackets, unless it is the default one.
fn write_policy(policy: Policy, f: &mut dyn fmt::Write) -> fmt::Result {
    if policy == Policy::default() { Ok(()) } else { write!(f, "[{policy}]") }
}

/// A space and the values, if any.
fn write_named(values: &[Value], name: &dyn Fn(Value) -> Option<String>, f: &mut GraphSink<'_>) -> fmt::Result {
    f.write_str(if values.is_empty() { "" } else { " " })?;
    write_list(values, name, f)
}

/// The values, separated by commas.
fn write_list(values: &[Value], name: &dyn Fn(Value) -> Option<String>, f: &mut GraphSink<'_>) -> fmt::Result {
    for (i, &value) in values.iter().enumerate() {
        f.write_str(if i > 0 { ", " } else { "" })?;
        match name(value) {
            Some(name) => f.write_str(&name)?,
            None => write_value(SpanKind::Use(value), value, f)?,
        }
    }
    Ok(())
}

fn write_value(kind: SpanKind, value: Value, f: &mut GraphSink<'_>) -> fmt::Result {
    f.begin(kind);
    write!(f, "{value}")?;
    f.end();
    Ok(())
}

/// The type of a parameter, with an unusual storage dtype of a weak one: `f*:f64[3]`.
fn write_param_type<T: Type>(graph: &Graph<T>, param: Value, f: &mut dyn fmt::Write) -> fmt::Result {
    let (ty, shape) = (graph.ty(param), graph.shape(param));
    match graph.node(graph.producer(param)).kind {
        NodeKind::Param(_, stored) if stored != ty.storage_dtype() => write!(f, "{ty}:{stored}{shape}"),
        _ => write!(f, "{ty}{shape}"),
    }
}
