//! The common model of pictures of a stage: clusters of nodes, with edges within and between them. A graph is one cluster, as is each graph
//! of its control flow; each kernel or loop nest is a cluster.

use ndjit_codegen::{Lowered, LoweredControl, LoweredKernel, LoweredStep};
use ndjit_ir::graph::{Graph, NodeKind, Slot, SourceLocs, Type, Value};
use ndjit_ir::kernel::{FusedControl, OpBody, StmtKind};
use ndjit_ir::loops::LoopBody;
use ndjit_ir::{DType, Error, ErrorCode, Kind, Result, ValueType};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The maximum number of nodes of a readable picture.
pub(crate) const MAX_NODES: usize = 10_000;

/// A box with some lines of text.
pub(crate) struct PictureNode {
    pub lines: Vec<String>,
    /// The kind of its result's dtype.
    pub kind: Option<Kind>,
    /// Whether its dtype is weak.
    pub weak: bool,
    /// Whether it is a result of the program, or an output of a kernel.
    pub result: bool,
    /// Its source location.
    pub places: String,
}

impl PictureNode {
    fn new(lines: Vec<String>, kind: Option<Kind>) -> PictureNode {
        PictureNode { lines, kind, weak: false, result: false, places: String::new() }
    }
}

/// A group of nodes; edges lead from a node to its users.
#[derive(Default)]
pub(crate) struct Cluster {
    pub title: Option<String>,
    pub nodes: Vec<PictureNode>,
    pub edges: Vec<(usize, usize)>,
}

impl Cluster {
    fn edge(&mut self, from: usize, to: usize) {
        // `x * x` uses its operand twice; the edges of a node are adjacent.
        let known = self.edges.iter().rev().take_while(|edge| edge.1 == to).any(|edge| edge.0 == from);
        if !known {
            self.edges.push((from, to));
        }
    }
}

/// A node of a cluster.
pub(crate) type ClusterNode = (usize, usize);

/// A picture of a stage.
pub struct Picture {
    pub(crate) title: String,
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) edges: Vec<(ClusterNode, ClusterNode)>,
}

impl Picture {
    fn checked(self) -> Result<Picture> {
        let nodes: usize = self.clusters.iter().map(|cluster| cluster.nodes.len()).sum();
        if nodes <= MAX_NODES {
            return Ok(self);
        }
        Err(Error::new(ErrorCode::Size, format!("picture: {nodes} nodes are too many to draw"))
            .fact(format_args!("limit: {MAX_NODES} nodes"))
            .help("read the stage's text, or draw a part of the function"))
    }
}

/// The types of drawn graphs.
pub trait Drawn: Type {
    /// Its kind, and whether it is weak.
    fn look(self) -> (Kind, bool);
}

impl Drawn for ValueType {
    fn look(self) -> (Kind, bool) {
        (self.kind(), self.is_weak())
    }
}

impl Drawn for DType {
    fn look(self) -> (Kind, bool) {
        (self.kind(), false)
    }
}

/// A graph: a node for each of its nodes except literals, which are shown at their uses. The graphs of control flow precede it, each with
/// an edge to its node.
pub fn graph<T: Drawn>(title: &str, graph: &Graph<T>, places: Option<&SourceLocs>) -> Result<Picture> {
    let blocks = graph.blocks();
    let mut picture = Picture { title: title.to_owned(), clusters: Vec::new(), edges: Vec::new() };
    // The control flow of the graph; graphs of calls are not drawn.
    let mut titles: Vec<Option<String>> = vec![None; blocks.len()];
    for (number, block) in blocks.iter().enumerate().rev() {
        if number + 1 < blocks.len() && titles[number].is_none() {
            continue;
        }
        for (n, (control, used)) in block.graph.controls().iter().zip(&block.controls).enumerate() {
            for (what, &used) in control.kind.graphs().iter().zip(used) {
                titles[used] = Some(format!("@{used}: ${n} {} {what}", control.kind.name()));
            }
        }
    }
    let mut at: Vec<Option<usize>> = vec![None; blocks.len()];
    for (number, (block, name)) in blocks.iter().zip(titles).enumerate() {
        let is_root = number + 1 == blocks.len();
        if !is_root && name.is_none() {
            continue;
        }
        let cluster = picture.clusters.len();
        let (drawn, controls) = cluster_of(block.graph, places.filter(|_| is_root));
        for (node, n) in controls {
            let used = block.controls.get(n as usize).into_iter().flatten();
            let from = used.filter_map(|&block| at[block]).filter(|&c| !picture.clusters[c].nodes.is_empty());
            let edges = from.map(|from| ((from, picture.clusters[from].nodes.len() - 1), (cluster, node)));
            picture.edges.extend(edges.collect::<Vec<_>>());
        }
        at[number] = Some(cluster);
        picture.clusters.push(Cluster { title: name, ..drawn });
    }
    picture.checked()
}

/// The cluster of a graph, and its nodes of each control flow.
fn cluster_of<T: Drawn>(graph: &Graph<T>, places: Option<&SourceLocs>) -> (Cluster, Vec<(usize, u32)>) {
    let mut cluster = Cluster::default();
    let mut controls = Vec::new();
    let mut drawn: HashMap<usize, usize> = HashMap::new();
    let mut outputs: HashMap<Value, Vec<String>> = HashMap::new();
    for (n, &output) in graph.outputs().iter().enumerate() {
        outputs.entry(output).or_default().push(format!("result {n}"));
    }
    let number = |value: Value| number(graph, value).filter(|_| !outputs.contains_key(&value));
    for id in graph.node_ids() {
        let results: Vec<Value> = graph.node(id).results().collect();
        let Some(&first) = results.first() else { continue };
        if number(first).is_some() {
            continue;
        }
        let mut lines = match graph.node(id).kind {
            NodeKind::Param(n, _) => vec![format!("argument {n}")],
            _ => wrapped(&graph.operation_text(id, number)),
        };
        let names: Vec<String> = results.iter().map(Value::to_string).collect();
        lines.push(format!("{} : {}", names.join(", "), graph.types_text(id)));
        let stored: Vec<&String> = results.iter().filter_map(|value| outputs.get(value)).flatten().collect();
        lines.extend(stored.iter().map(|name| format!("→ {name}")));
        let (kind, weak) = graph.ty(first).look();
        let written: Vec<String> =
            places.into_iter().flat_map(|places| places.written(id)).map(|place| place.to_string()).collect();
        let node = cluster.nodes.len();
        for operand in graph.operands(id) {
            if let Some(&from) = drawn.get(&graph.producer(*operand).index()) {
                cluster.edge(from, node);
            }
        }
        if let NodeKind::Control(n) = graph.node(id).kind {
            controls.push((node, n));
        }
        drawn.insert(id.index(), node);
        let look = PictureNode {
            weak,
            result: !stored.is_empty(),
            places: written.join(", "),
            ..PictureNode::new(lines, Some(kind))
        };
        cluster.nodes.push(look);
    }
    (cluster, controls)
}

/// The value of a literal.
fn number<T: Type>(graph: &Graph<T>, value: Value) -> Option<String> {
    if value.index() >= graph.value_count() {
        return None;
    }
    match graph.node(graph.producer(value)).kind {
        NodeKind::Literal(slot) => graph.slots().get(slot.index()).map(slot_text),
        _ => None,
    }
}

fn slot_text(slot: &Slot) -> String {
    match slot {
        Slot::Value(literal) => literal.to_string(),
        Slot::Argument { index, .. } => format!("argument {index}"),
    }
}

/// Wraps text at blanks to about this width.
fn wrapped(text: &str) -> Vec<String> {
    const LONG: usize = 36;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < LONG => *line = format!("{line} {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The kernels of a program, and those of the graphs of its control flow.
pub fn kernels(lowered: &Lowered) -> Result<Picture> {
    drawn("kernels", lowered, |parts, n, LoweredKernel { fused: kernel, .. }| {
        let graph = parts.graph;
        let header = format!("step {n} {}", kernel.loops_text());
        let numbers =
            kernel.literals.iter().map(|slot| graph.slots().get(slot.index()).map_or(String::new(), slot_text));
        let numbers: Vec<String> = numbers.collect();
        let inputs: Vec<(Value, String)> =
            kernel.inputs.iter().map(|input| (input.value, format!("{}", input.shape))).collect();
        let outputs = kernel.outputs.iter().enumerate().map(|(i, &value)| {
            let function = kernel.kind.function(i);
            (value, function.map_or(String::new(), |function| format!("{function} ")), format!("→ {value}"))
        });
        parts.body(header, &kernel.body, &numbers, &inputs, outputs.collect());
    })
}

/// The loop nests of a program, before expansion, and those of the graphs of its control flow.
pub fn loops(lowered: &Lowered) -> Result<Picture> {
    drawn("loops", lowered, |parts, n, LoweredKernel { scheduled, .. }| {
        let nest = &scheduled.nest;
        let LoopBody::Ops(body) = &nest.body else { return };
        let extents: Vec<String> = scheduled.domain.extents.iter().map(usize::to_string).collect();
        let title = format!("nest {n}: {} of {}", nest.loops_text(), extents.join(", "));
        let numbers: Vec<String> = (0..scheduled.literals.len()).map(|n| format!("l{n}")).collect();
        let accesses = nest.inputs.iter().map(|access| format!(" {}{}", access.role.prefix(), access.inner));
        let inputs: Vec<(Value, String)> = scheduled.inputs.iter().copied().zip(accesses).collect();
        let outputs = scheduled.outputs.iter().enumerate().map(|(i, &value)| {
            let function = nest.kind.function(i);
            let inner = nest.outputs.get(i).map_or("", |access| access.inner.name());
            (
                value,
                function.map_or("store ".to_owned(), |function| format!("{function} ")),
                format!("→ {value} {inner}"),
            )
        });
        parts.body(title, body, &numbers, &inputs, outputs.collect());
    })
}

/// Adds a kernel, with its step number.
type DrawKernel = fn(&mut PictureBuilder<'_>, usize, &LoweredKernel);

/// A picture of all kernels.
fn drawn(title: &str, lowered: &Lowered, draw: DrawKernel) -> Result<Picture> {
    let picture = Picture { title: title.to_owned(), clusters: Vec::new(), edges: Vec::new() };
    program(picture, lowered, "", draw, &mut HashSet::new()).checked()
}

/// Adds the kernels of a program `within` others. The graphs of control flow, each once, precede their users, as in a picture of a graph.
fn program(
    picture: Picture,
    lowered: &Lowered,
    within: &str,
    draw: DrawKernel,
    drawn: &mut HashSet<*const Lowered>,
) -> Picture {
    let mut parts = PictureBuilder::new(picture, &lowered.simplified, within);
    for (n, step) in lowered.steps.iter().enumerate() {
        match step {
            LoweredStep::Kernel(kernel) => draw(&mut parts, n, kernel),
            LoweredStep::Control(LoweredControl { fused, bodies, compiled }) => {
                let kind = fused.control.0.kind;
                let mut given: Vec<ClusterNode> = Vec::new();
                // A compiled loop has no kernels.
                for (what, body) in kind.graphs().iter().zip(bodies).filter(|_| compiled.is_none()) {
                    if !drawn.insert(Arc::as_ptr(body)) {
                        continue;
                    }
                    let first = parts.picture.clusters.len();
                    let place = format!("{within}step {n}, {} {what}: ", kind.name());
                    parts.picture = program(parts.picture, body, &place, draw, drawn);
                    let last = parts.picture.clusters.iter().enumerate().skip(first).next_back();
                    given.extend(last.and_then(|(at, last)| Some((at, last.nodes.len().checked_sub(1)?))));
                }
                let at = parts.control(n, fused);
                parts.picture.edges.extend(given.into_iter().map(|from| (from, (at, 0))));
            }
        }
    }
    parts.picture
}

/// A picture under construction, with edges from the stores of values to their reads.
struct PictureBuilder<'a> {
    picture: Picture,
    graph: &'a Graph<DType>,
    /// The enclosing control flow, as a prefix of titles.
    within: String,
    /// The nodes that store a value.
    made: HashMap<Value, Vec<ClusterNode>>,
}

impl<'a> PictureBuilder<'a> {
    /// The parameters, without a border.
    fn new(picture: Picture, graph: &'a Graph<DType>, within: &str) -> PictureBuilder<'a> {
        let mut parts = PictureBuilder { picture, graph, within: within.to_owned(), made: HashMap::new() };
        for (n, &param) in graph.params().iter().enumerate() {
            let name = if within.is_empty() { format!("argument {n}") } else { format!("{within}parameter {n}") };
            let lines = vec![name, format!("{param} : {}{}", graph.ty(param), graph.shape(param))];
            let node = PictureNode::new(lines, Some(graph.ty(param).kind()));
            parts.made.insert(param, vec![(parts.picture.clusters.len(), 0)]);
            parts.picture.clusters.push(Cluster { title: None, nodes: vec![node], edges: Vec::new() });
        }
        parts
    }

    /// The nodes that store a value's memory: for a view, that of its operand.
    fn makers(&self, value: Value) -> Vec<ClusterNode> {
        let mut value = value;
        loop {
            if let Some(made) = self.made.get(&value) {
                return made.clone();
            }
            let id = self.graph.producer(value);
            match (self.graph.node(id).kind, self.graph.operands(id).first()) {
                (NodeKind::View(_) | NodeKind::Reshape, Some(&operand)) => value = operand,
                _ => return Vec::new(),
            }
        }
    }

    /// Control flow: its operands, and its used results. Returns its cluster.
    fn control(&mut self, step: usize, fused: &FusedControl) -> usize {
        let at = self.picture.clusters.len();
        let kind = fused.control.0.kind;
        let title = format!("{}step {step}: {}", self.within, kind.name());
        let taken: Vec<String> = fused.operands.iter().map(Value::to_string).collect();
        let lines = vec![format!("{} of {}", kind.name(), taken.join(", ")), kind.graphs().join(", ")];
        let mut cluster =
            Cluster { title: Some(title), nodes: vec![PictureNode::new(lines, None)], ..Cluster::default() };
        for &value in &fused.operands {
            self.picture.edges.extend(self.makers(value).into_iter().map(|from| (from, (at, 0))));
        }
        for (n, &(result, value)) in fused.results.iter().enumerate() {
            let node = cluster.nodes.len();
            let lines = vec![format!("out{n} = result {result}"), format!("→ {value}")];
            let lines = lines.into_iter().chain(self.results(value)).collect();
            cluster.edge(0, node);
            cluster
                .nodes
                .push(PictureNode { result: true, ..PictureNode::new(lines, Some(self.graph.ty(value).kind())) });
            self.made.entry(value).or_default().push((at, node));
        }
        self.picture.clusters.push(cluster);
        at
    }

    /// The result names of a value.
    fn results(&self, value: Value) -> impl Iterator<Item = String> {
        let results = self.graph.outputs().iter().enumerate().filter(move |&(_, &output)| output == value);
        results.map(|(n, _)| format!("→ result {n}"))
    }

    /// A kernel or a nest: its inputs, statements and outputs.
    fn body(
        &mut self,
        title: String,
        body: &OpBody,
        numbers: &[String],
        inputs: &[(Value, String)],
        outputs: Vec<(Value, String, String)>,
    ) {
        let title = Some(format!("{}{title}", self.within));
        let (at, mut cluster) = (self.picture.clusters.len(), Cluster { title, ..Cluster::default() });
        // The node of each statement, or its scalar.
        let mut known: Vec<Result<usize, String>> = Vec::new();
        for (index, stmt) in body.stmts.iter().enumerate() {
            let node = cluster.nodes.len();
            let (name, ty) = (format!("t{index}"), stmt.dtype);
            let lines = match stmt.kind {
                StmtKind::Literal(n) => {
                    known.push(Err(numbers.get(n as usize).cloned().unwrap_or_default()));
                    continue;
                }
                StmtKind::Load(n) => match inputs.get(n as usize) {
                    Some((value, how)) => {
                        self.picture.edges.extend(self.makers(*value).into_iter().map(|from| (from, (at, node))));
                        vec![format!("in{n} = {value}"), format!("{name} : {ty}{how}")]
                    }
                    None => vec![format!("in{n}"), format!("{name} : {ty}")],
                },
                StmtKind::Op(_) | StmtKind::Cast | StmtKind::Gather(_) | StmtKind::Address(_) => {
                    let operands = stmt.args.iter().map(|arg| match known.get(arg.index()) {
                        Some(Err(number)) => number.clone(),
                        _ => arg.to_string(),
                    });
                    let operands: Vec<String> = operands.collect();
                    let op = match stmt.kind {
                        StmtKind::Op(op) => op.to_string(),
                        StmtKind::Gather(n) => match inputs.get(n as usize) {
                            Some((value, _)) => {
                                let made = self.makers(*value).into_iter().map(|from| (from, (at, node)));
                                self.picture.edges.extend(made);
                                format!("gather in{n} = {value},")
                            }
                            None => format!("gather in{n},"),
                        },
                        StmtKind::Address(n) => format!("address in{n},"),
                        _ => "cast".to_owned(),
                    };
                    vec![format!("{op} {}", operands.join(", ")), format!("{name} : {ty}")]
                }
            };
            for arg in &stmt.args {
                if let Some(Ok(from)) = known.get(arg.index()) {
                    cluster.edge(*from, node);
                }
            }
            known.push(Ok(node));
            cluster.nodes.push(PictureNode::new(lines, Some(ty.kind())));
        }
        let mut made = Vec::new();
        for (n, (scalar, (value, does, stored))) in body.outputs.iter().zip(outputs).enumerate() {
            let node = cluster.nodes.len();
            let (operand, ty) = match known.get(scalar.index()) {
                Some(Err(number)) => (number.clone(), None),
                Some(Ok(from)) => {
                    cluster.edge(*from, node);
                    (scalar.to_string(), Some(body.dtype(*scalar).kind()))
                }
                None => (scalar.to_string(), None),
            };
            let mut lines = vec![format!("out{n} = {does}{operand}"), stored];
            lines.extend(self.results(value));
            cluster.nodes.push(PictureNode { result: true, ..PictureNode::new(lines, ty) });
            made.push((value, (at, node)));
        }
        made.into_iter().for_each(|(value, node)| self.made.entry(value).or_default().push(node));
        self.picture.clusters.push(cluster);
    }
}
