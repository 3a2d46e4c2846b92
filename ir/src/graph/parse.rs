//! Parser of graph text (see [`text`](super::text) for the form). It checks ids, names and counts; the verifier checks types and shapes.
//!
//! The text does not tell whether types may be weak: the requested graph type does.

use super::{Control, ControlKind, Graph, Inner, MAX_NESTING, NodeKind, Scatter, ShapeId, Slot, TextPart, Type, Value};
use crate::dtype::DType;
use crate::error::{Error, ErrorCode, Result};
use crate::infer::Annotation;
use crate::literal::Literal;
use crate::nearest::nearest;
use crate::op::Op;
use crate::promotion::Policy;
use crate::reduction::{AxisFunction, TypeRequest};
use crate::shape::Shape;
use crate::support::CastReason;
use crate::text::{Line, Lines, axes, dtype, dtype_of, shape};
use crate::value_type::{ValueType, Weak};
use crate::view::{AxisIndex, View};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

impl FromStr for Graph<ValueType> {
    type Err = Error;

    /// Parses the text of a traced graph. The result is not verified.
    ///
    /// # Errors
    /// `Parse`, with line, column and the expected text.
    fn from_str(text: &str) -> Result<Graph<ValueType>> {
        parse(text, "a dtype, `i*`, `f*` or `c*`", |name| {
            dtype(name).map(ValueType::Strong).or_else(|| weak(name).map(ValueType::Weak))
        })
    }
}

impl FromStr for Graph<DType> {
    type Err = Error;

    /// Parses the text of a typed graph. The result is not verified.
    ///
    /// # Errors
    /// `Parse`, with line, column and the expected text.
    fn from_str(text: &str) -> Result<Graph<DType>> {
        parse(text, "a dtype", dtype)
    }
}

/// The weak type of a name.
fn weak(name: &str) -> Option<Weak> {
    Weak::ALL.into_iter().find(|weak| weak.name() == name)
}

fn parse<T: Type>(text: &str, type_names: &'static str, read_type: fn(&str) -> Option<T>) -> Result<Graph<T>> {
    let mut parser = Parser { blocks: Vec::new(), type_names, read_type };
    let mut lines = Lines::new("graph text", text);
    loop {
        let mut line = lines.expect("`graph (…) {`")?;
        let is_root = line.eat("graph");
        if !is_root {
            if !line.eat("child") {
                return Err(line.expected("`graph` or `child`"));
            }
            let number = line.id("@", "the child's number, as in `@0`")? as usize;
            if number != parser.blocks.len() {
                return Err(line.error(format_args!("children are numbered in order: @{}", parser.blocks.len())));
            }
        }
        let graph = parser.block(line, &mut lines)?;
        if is_root {
            lines.end()?;
            return Ok(graph);
        }
        parser.blocks.push(Arc::new(graph));
    }
}

struct Parser<T: Type> {
    /// Child graphs parsed so far.
    blocks: Vec<Arc<Graph<T>>>,
    type_names: &'static str,
    read_type: fn(&str) -> Option<T>,
}

/// A graph being parsed.
struct GraphParser<T: Type> {
    graph: Graph<T>,
    /// Slots parsed so far, in any order: a number in the text cannot cause a large allocation.
    slots: FxHashMap<u32, Slot>,
    /// The graph's children, by the numbers of their blocks.
    callees: FxHashMap<usize, u32>,
}

impl<T: Type> Parser<T> {
    fn block(&self, mut header: Line<'_>, lines: &mut Lines<'_>) -> Result<Graph<T>> {
        let mut reading =
            GraphParser { graph: Graph::new(), slots: FxHashMap::default(), callees: FxHashMap::default() };
        self.header(&mut header, &mut reading)?;
        let start = header.number();
        loop {
            let Some(mut line) = lines.next() else {
                let what = format!("graph text, line {start}: the block that begins here has no `return`");
                return Err(Error::new(ErrorCode::Parse, what));
            };
            if line.eat("return") {
                if !line.is_empty() {
                    reading.graph.outputs = line.items(|line| reading.value(line))?;
                }
                line.end()?;
                return reading.finish(&mut line, lines);
            }
            if line.eat("slot") {
                let slot = line.id("#", "a slot, as in `#0`")?;
                let content = read_slot(&mut line)?;
                line.end()?;
                reading.fill(&mut line, slot, content)?;
            } else if line.peek_until_space().starts_with('$') {
                self.control(&mut line, &mut reading)?;
            } else {
                self.node(&mut line, &mut reading)?;
            }
        }
    }

    /// `(%0: f32[3]) calls @0 {`.
    fn header(&self, line: &mut Line<'_>, reading: &mut GraphParser<T>) -> Result<()> {
        line.expect("(")?;
        line.list(")", |line| {
            let next = reading.graph.value_count();
            if line.id("%", "a parameter, as in `%0: f32[3]`")? as usize != next {
                return Err(line.error(format_args!("parameters are numbered in order: %{next}")));
            }
            line.expect(":")?;
            let ty = self.type_name(line)?;
            let mut stored = ty.storage_dtype();
            if line.eat(":") {
                stored = dtype_of(line, "the dtype the parameter is stored in")?;
            }
            let shape = shape(line)?;
            reading.graph.param_stored(ty, stored, &shape);
            Ok(())
        })?;
        if line.eat("calls") {
            line.items(|line| {
                let number = line.id("@", "a child, as in `@0`")? as usize;
                let child = reading.graph.child(Arc::clone(self.child(line, number)?));
                reading.callees.insert(number, child);
                Ok(())
            })?;
        }
        line.expect("{")?;
        line.end()
    }

    /// A child parsed before.
    fn child(&self, line: &mut Line<'_>, number: usize) -> Result<&Arc<Graph<T>>> {
        let unknown = || line.error(format_args!("child @{number} is not known; children come before their callers"));
        self.blocks.get(number).ok_or_else(unknown)
    }

    /// `$0 = while condition @0 of [0, 2] body @1 of [0, 1]`.
    fn control(&self, line: &mut Line<'_>, reading: &mut GraphParser<T>) -> Result<()> {
        line.numbered("$", reading.graph.controls().len())?;
        line.expect("=")?;
        let mut kind = line.word("`while`, `cond`, `scan` or `for`", ControlKind::named)?;
        if let ControlKind::Scan(steps) = &mut kind {
            line.expect("length")?;
            steps.length = line.number_of("the number of steps")?;
            line.expect("carried")?;
            steps.carried = line.number_of("how many operands are carried")?;
            line.expect("sliced")?;
            steps.sliced = line.number_of("how many operands are sliced")?;
            steps.reverse = line.eat("reverse");
        }
        if let ControlKind::For(counts) = &mut kind {
            line.expect("index")?;
            counts.index = dtype_of(line, "the dtype of the index")?;
            line.expect("carried")?;
            counts.carried = line.number_of("how many operands are carried")?;
        }
        let mut inner = |what: &'static str| {
            line.expect(what)?;
            let number = line.id("@", "a child, as in `@0`")? as usize;
            let graph = self.child(line, number)?;
            let nesting = graph.nesting() + 1;
            if nesting > MAX_NESTING {
                return Err(line.error(format_args!("control flow nests {nesting} deep; the limit is {MAX_NESTING}")));
            }
            line.expect("of")?;
            line.expect("[")?;
            let operands = line.list("]", |line| line.number_of("the position of an operand"))?;
            Ok(Inner { graph: Arc::clone(graph), operands })
        };
        let graphs = kind.graphs().iter().map(|what| inner(what)).collect::<Result<Vec<_>>>()?;
        line.end()?;
        reading.graph.control(Arc::new(Control { kind, graphs }));
        Ok(())
    }

    /// `%2 = add %0, %1 : f32[3]`.
    fn node(&self, line: &mut Line<'_>, reading: &mut GraphParser<T>) -> Result<()> {
        let next = reading.graph.value_count();
        let mut results = next;
        line.items(|line| {
            let id = line.id("%", "a result, as in `%2 = …`, or `return`")?;
            if id as usize != results {
                return Err(line.error(format_args!("results are numbered in order: %{results}")));
            }
            results += 1;
            Ok(())
        })?;
        line.expect("=")?;
        let (mut slot, mut view) = (None, None);
        let (mut kind, operands) = self.operation(line, reading, &mut slot, &mut view)?;
        line.expect(":")?;
        let types = line.items(|line| self.result_type(line))?;
        line.end()?;
        if types.len() != results - next {
            let (named, given) = (results - next, types.len());
            return Err(line.error(format_args!("{named} results on the left, {given} types on the right")));
        }
        if let Some((number, content)) = slot {
            let content = match content {
                Content::Slot(slot) => slot,
                Content::Argument(index) => match weak(&types[0].0.to_string()) {
                    Some(ty) => Slot::Argument { index, ty },
                    None => return Err(line.error("an argument of another type names it: `argument 0 f* : f32[]`")),
                },
            };
            reading.fill(line, number, content)?;
        }
        let graph = &mut reading.graph;
        if let Some(view) = view {
            let view = graph.intern_view(view);
            kind = match kind {
                NodeKind::Insert(_) => NodeKind::Insert(view),
                NodeKind::Slice(_) => NodeKind::Slice(view),
                _ => NodeKind::View(view),
            };
        }
        let results: SmallVec<[(T, ShapeId); 1]> = types.iter().map(|(ty, shape)| (*ty, graph.intern(shape))).collect();
        let first = graph.add(kind, &operands, &results);
        if first.index() != next {
            return Err(line.error(format_args!("the same node as {first}; equal nodes are one")));
        }
        Ok(())
    }

    fn operation(
        &self,
        line: &mut Line<'_>,
        reading: &GraphParser<T>,
        slot: &mut Option<(u32, Content)>,
        view: &mut Option<View>,
    ) -> Result<(NodeKind<T>, SmallVec<[Value; 3]>)> {
        let word = line.peek_word();
        let Some(mut kind) = NodeKind::named(word) else { return Err(unknown(line, word)) };
        line.skip(word);
        let (named, mut operands, mut request) = (kind, SmallVec::new(), None);
        for part in kind.parts() {
            match part {
                TextPart::Operands => operands = reading.operands(line, word, named)?,
                TextPart::Policy(policy) => *policy = annotation::<T, Policy>(line)?,
                TextPart::Reason(reason) => *reason = annotation::<T, CastReason>(line)?,
                TextPart::Request(of) => request = Some((of, bracketed(line)?.unwrap_or_default())),
                TextPart::Dtype => {
                    let dtype = asked(line)?;
                    if let Some((of, policy)) = request.take() {
                        *of = traced::<T, _>(line, TypeRequest { dtype, policy })?;
                    }
                }
                TextPart::Slot(number) => {
                    number.0 = line.id("#", "a slot, as in `#0`")?;
                    *slot = Some((number.0, read_content(line)?));
                }
                // Interned once its shape is known.
                TextPart::View(_) => *view = Some(affine_map(line)?),
                TextPart::Axes(of) => *of = axes(line)?,
                TextPart::Axis(axis) => {
                    line.expect("axis")?;
                    *axis = line.number_of("an axis")?;
                }
                TextPart::Keepdims(keepdims) => *keepdims = line.eat("keepdims"),
                TextPart::Contracts(contracts) => *contracts = line.eat("contracts"),
                TextPart::Scatter(scatter) => {
                    *scatter = line.word("`set`, `add`, `min` or `max`", Scatter::named)?;
                }
                TextPart::Variable(number) => {
                    *number = line.number_of("the number of a variable")?;
                    line.expect("of")?;
                }
                TextPart::Output(rule) => {
                    line.expect("output")?;
                    rule.output = line.number_of("the number of an output")?;
                    line.expect("of")?;
                    rule.outputs = line.number_of("how many outputs there are")?;
                    line.expect("of")?;
                }
                TextPart::Control(number) => *number = control_of(line, word, &reading.graph)?,
                TextPart::Call(child) => {
                    let number = line.id("@", "a child, as in `@0`")? as usize;
                    let Some(&known) = reading.callees.get(&number) else {
                        return Err(line.error(format_args!("the header does not say `calls @{number}`")));
                    };
                    *child = known;
                    line.expect("(")?;
                    operands = SmallVec::from_vec(line.list(")", |line| reading.value(line))?);
                }
            }
        }
        Ok((kind, operands))
    }

    /// `f32[8, 3]`.
    fn result_type(&self, line: &mut Line<'_>) -> Result<(T, Shape)> {
        Ok((self.type_name(line)?, shape(line)?))
    }

    fn type_name(&self, line: &mut Line<'_>) -> Result<T> {
        let name = line.peek_word();
        let Some(ty) = (self.read_type)(name) else {
            return Err(line.expected(format_args!("{}, then a shape", self.type_names)));
        };
        line.skip(name);
        Ok(ty)
    }
}

/// `$0`: control flow of this kind, defined above.
fn control_of<T: Type>(line: &mut Line<'_>, kind: &str, graph: &Graph<T>) -> Result<u32> {
    let number = line.id("$", "control flow, as in `$0`")?;
    match graph.controls().get(number as usize).map(|control| control.kind.name()) {
        Some(own) if own == kind => Ok(number),
        Some(own) => Err(line.error(format_args!("${number} is a {own}"))),
        None => Err(line.error(format_args!("${number} is not defined above this line"))),
    }
}

/// The error of an unknown operation.
fn unknown(line: &mut Line<'_>, word: &str) -> Error {
    let others: Vec<&str> = NodeKind::<ValueType>::words().collect();
    let mut quoted: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
    let last = quoted.pop().unwrap_or_default();
    let expected = format_args!("an op, a reduction, a scan, {} or {last}", quoted.join(", "));
    let error = line.expected(expected);
    let ops = Op::ALL.iter().map(|op| op.name());
    let reductions = AxisFunction::all().map(AxisFunction::name);
    match nearest(word, ops.chain(reductions).chain(others)) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// An annotation of traced graphs; an error in typed graphs, if present.
fn traced<T: Type, X: Annotation>(line: &mut Line<'_>, note: X) -> Result<T::Traced<X>> {
    T::traced(note).ok_or_else(|| {
        line.error("a typed graph has no policies, no dtypes that are asked for and no reasons of casts")
    })
}

/// An annotation in brackets, if present.
fn annotation<T: Type, X: Annotation + FromStr<Err: Display>>(line: &mut Line<'_>) -> Result<T::Traced<X>> {
    let note: X = bracketed(line)?.unwrap_or_default();
    traced::<T, X>(line, note)
}

/// `dtype f64`, if present.
fn asked(line: &mut Line<'_>) -> Result<Option<DType>> {
    if !line.eat("dtype") {
        return Ok(None);
    }
    let asked = dtype_of(line, "the dtype that was asked for")?;
    Ok(Some(asked))
}

/// `(d0, d1) -> (d1, -2*d0 + 6)`.
pub(crate) fn affine_map(line: &mut Line<'_>) -> Result<View> {
    line.expect("(")?;
    let mut rank = 0;
    line.list(")", |line| {
        line.numbered("d", rank as usize)?;
        rank += 1;
        Ok(())
    })?;
    line.expect("->")?;
    line.expect("(")?;
    let axes = line.list(")", |line| axis_index(line, rank))?;
    Ok(View { rank: rank as usize, axes: SmallVec::from_vec(axes) })
}

/// `-2*d0 + d1 + 6`.
fn axis_index(line: &mut Line<'_>, rank: u32) -> Result<AxisIndex> {
    let mut index = AxisIndex::default();
    let mut sign = if line.eat("-") { -1 } else { 1 };
    loop {
        let mut step: isize = 1;
        if !line.peek_word().starts_with('d') {
            step = line.number_of("a number, or an index as in `d0`")?;
            // The star is a letter of type names and does not end one.
            if line.peek_until("d") != "*" {
                index.start = sign * step;
                return Ok(index);
            }
            line.skip("*");
        }
        let axis = line.id("d", "an index, as in `d0`")?;
        if axis >= rank {
            return Err(line.error(format_args!("there is no index d{axis}")));
        }
        index.add(axis, sign * step);
        sign = if line.eat("+") {
            1
        } else if line.eat("-") {
            -1
        } else {
            return Ok(index);
        };
    }
}

/// `[up]`, `[strict]`: the brackets after an operation's name, if present.
fn bracketed<T: FromStr<Err: Display>>(line: &mut Line<'_>) -> Result<Option<T>> {
    if !line.eat("[") {
        return Ok(None);
    }
    let name = line.peek_until("]");
    let value = name.parse().map_err(|unknown| line.error(unknown))?;
    line.skip(name);
    line.expect("]")?;
    Ok(Some(value))
}

impl<T: Type> GraphParser<T> {
    /// A value defined above.
    fn value(&self, line: &mut Line<'_>) -> Result<Value> {
        let id = line.id("%", "a value, as in `%0`")?;
        if id as usize >= self.graph.value_count() {
            return Err(line.error(format_args!("%{id} is not defined above this line")));
        }
        Ok(Value(id))
    }

    /// The operands of a kind with this word.
    fn operands(&self, line: &mut Line<'_>, word: &str, kind: NodeKind<T>) -> Result<SmallVec<[Value; 3]>> {
        // A scan may have only steps.
        if word == "scan" && line.peek_until_space() == ":" {
            return Ok(SmallVec::new());
        }
        if let [_] = kind.row().operands {
            return Ok(SmallVec::from_slice(&[self.value(line)?]));
        }
        let operands = line.items(|line| self.value(line))?;
        let given = operands.len();
        let fits = |takes: usize| kind.op().map_or(given <= takes, |_| given == takes);
        let function = || kind.axis_function().map(|function| function.row().operands.len());
        match kind.op().map(Op::arity).or_else(function) {
            Some(takes) if !fits(takes) => {
                Err(line.error(format_args!("{} takes {takes} operands, {given} given", kind.name())))
            }
            _ => Ok(SmallVec::from_vec(operands)),
        }
    }

    fn fill(&mut self, line: &mut Line<'_>, number: u32, content: Slot) -> Result<()> {
        match self.slots.get(&number) {
            Some(known) if *known != content => {
                Err(line.error(format_args!("slot #{number} holds something else above")))
            }
            Some(_) => Ok(()),
            None => {
                self.slots.insert(number, content);
                Ok(())
            }
        }
    }

    /// The closing brace after `return`.
    fn finish(self, last: &mut Line<'_>, lines: &mut Lines<'_>) -> Result<Graph<T>> {
        let GraphParser { mut graph, mut slots, .. } = self;
        let mut filled = Vec::with_capacity(slots.len());
        for number in 0..slots.len() as u32 {
            filled.push(slots.remove(&number).ok_or_else(|| last.error(format_args!("slot #{number} is missing")))?);
        }
        graph.slots = Arc::new(filled);
        let Some(mut line) = lines.next() else { return Err(last.error("no `}` after `return`")) };
        line.expect("}")?;
        line.end()?;
        Ok(graph)
    }
}

/// The content of a literal line's slot.
enum Content {
    Slot(Slot),
    /// An argument of the node's type.
    Argument(usize),
}

fn read_content(line: &mut Line<'_>) -> Result<Content> {
    if !line.eat("argument") {
        return read_literal(line).map(|literal| Content::Slot(Slot::Value(literal)));
    }
    let index = line.number_of("the number of an argument")?;
    let name = line.peek_word();
    let Some(ty) = weak(name) else { return Ok(Content::Argument(index)) };
    line.skip(name);
    Ok(Content::Slot(Slot::Argument { index, ty }))
}

fn read_slot(line: &mut Line<'_>) -> Result<Slot> {
    match read_content(line)? {
        Content::Slot(slot) => Ok(slot),
        Content::Argument(_) => Err(line.expected("`i*`, `f*` or `c*`")),
    }
}

fn read_literal(line: &mut Line<'_>) -> Result<Literal> {
    let text = line.peek_until_space();
    if text.is_empty() || text.starts_with(':') {
        return Err(line.expected("a number, or `argument` and a number"));
    }
    let literal = text.parse().map_err(|error: Error| {
        let at = line.error(error.headline());
        error.facts().iter().fold(at, Error::fact).help(error.help_text().unwrap_or("numbers are written 2, 2.0, true"))
    })?;
    line.skip(text);
    Ok(literal)
}
