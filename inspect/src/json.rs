//! The stages as JSON (feature `json`), for other programs; graphs can also be read.
//!
//! Every document is an object with `"ndjit": 1`, the version of the format, and `"stage"`, its name.
//! - Graphs (`graph`, `typed`, `simplified`): `"graphs"` is a list of graphs, callees before callers; the last is the program. Each has
//!   `"params"` (`value`, `type`, `shape`, and `stored` if a weak one has an unusual stored dtype), `"calls"` (indices in the list),
//!   `"controls"` (if there is control flow: for each piece `kind` and two `graphs`, each with `graph`, its index in the list, and
//!   `operands`, the indices of its parameters among the operands of the piece's nodes), `"slots"` (`{"literal": "2"}` or `{"argument": 0,
//!   "type": "i*"}`), `"nodes"` and `"outputs"`.
//!   A node has `results` (each with `value`, `type`, `shape`), `kind` (an op, a reduction, a scan, or `literal`, `cast`, `view`, `reshape`,
//!   `gather`, `scatter add`, `concat`, `iota`, `while`, `cond`, `call`), `operands`, and the attributes of its kind among `slot`, `policy`,
//!   `reason`, `view`, `axes`, `axis`, `keepdims`, `contracts`, `dtype`, `control` (an index in `"controls"`) and `result`, `call`; and
//!   `places`, if known.
//! - `kernels` and `loops`: `"kernels"` or `"nests"`, a list of objects with `text`, as printed, `inputs` and `outputs` (values of the
//!   simplified graph), and `literals` (slots). Kernels have `shape`, nests `extents`.
//! - Other stages: `"text"`.
//!
//! Values are numbers, as in `%2`. Missing fields are `null` or omitted.

use ndjit_codegen::{Lowered, LoweredControl, LoweredStep};
use ndjit_ir::graph::{
    Control, ControlKind, ForArity, Graph, GraphBlock, NodeId, NodeKind, ScanArity, Slot, SourceLocs, TextPart, Type,
    Value,
};
use ndjit_ir::promotion::Policy;
use ndjit_ir::{Error, ErrorCode, Result, Shape};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write;
use std::str::FromStr;
use std::sync::Arc;

/// The version of the format.
pub const VERSION: u64 = 1;

fn document(stage: &str, content: Map<String, Json>) -> String {
    let mut document = Map::new();
    document.insert("ndjit".to_owned(), json!(VERSION));
    document.insert("stage".to_owned(), json!(stage));
    document.extend(content);
    let mut text = Json::Object(document).to_string();
    text.push('\n');
    text
}

/// A document with one field of content.
fn one(stage: &str, name: &str, content: Json) -> String {
    document(stage, Map::from_iter([(name.to_owned(), content)]))
}

/// A stage with text only.
pub fn text(stage: &str, text: String) -> String {
    one(stage, "text", text.into())
}

/// A graph.
pub fn graph<T: Type>(stage: &str, graph: &Graph<T>, places: Option<&SourceLocs>) -> String {
    let blocks = graph.blocks();
    let last = blocks.len().saturating_sub(1);
    let graphs = blocks.iter().enumerate().map(|(n, block)| block_of(block, places.filter(|_| n == last)));
    one(stage, "graphs", graphs.collect())
}

fn block_of<T: Type>(block: &GraphBlock<'_, T>, places: Option<&SourceLocs>) -> Json {
    let graph = block.graph;
    let param = |&value: &Value| {
        let mut param = result(graph, value);
        if let NodeKind::Param(_, stored) = graph.node(graph.producer(value)).kind
            && stored != graph.ty(value).storage_dtype()
        {
            param["stored"] = json!(stored.name());
        }
        param
    };
    let slot = |slot: &Slot| match slot {
        Slot::Value(literal) => json!({ "literal": literal.to_string() }),
        Slot::Argument { index, ty } => json!({ "argument": index, "type": ty.name() }),
    };
    let is_param = |id: &NodeId| matches!(graph.node(*id).kind, NodeKind::Param(..));
    let mut out = json!({
        "params": graph.params().iter().map(param).collect::<Vec<Json>>(),
        "calls": block.callees,
        "slots": graph.slots().iter().map(slot).collect::<Vec<Json>>(),
        "nodes": graph.node_ids().filter(|id| !is_param(id)).map(|id| node(block, id, places)).collect::<Vec<Json>>(),
        "outputs": values(graph.outputs()),
    });
    let control = |(control, blocks): (&Arc<Control<T>>, &Vec<usize>)| {
        let inner = control.graphs.iter().zip(blocks);
        let graphs = inner.map(|(inner, block)| json!({ "graph": block, "operands": inner.operands }));
        let mut out = json!({ "kind": control.kind.name(), "graphs": graphs.collect::<Vec<Json>>() });
        if let ControlKind::Scan(ScanArity { length, carried, sliced, reverse }) = control.kind {
            out["steps"] = json!({ "length": length, "carried": carried, "sliced": sliced, "reverse": reverse });
        }
        if let ControlKind::For(ForArity { carried, index }) = control.kind {
            out["counts"] = json!({ "index": index.name(), "carried": carried });
        }
        out
    };
    if !graph.controls().is_empty() {
        out["controls"] = graph.controls().iter().zip(&block.controls).map(control).collect();
    }
    out
}

fn node<T: Type>(block: &GraphBlock<'_, T>, id: NodeId, places: Option<&SourceLocs>) -> Json {
    let (graph, mut kind) = (block.graph, block.graph.node(id).kind);
    let mut node = json!({
        "results": graph.node(id).results().map(|value| result(graph, value)).collect::<Vec<Json>>(),
        "kind": graph.operation_name(id),
        "operands": values(graph.operands(id)),
    });
    let mut put = |name: &str, value: Json| node[name] = value;
    let policy = |put: &mut dyn FnMut(&str, Json), policy: Policy| {
        if policy != Policy::default() {
            put("policy", json!(policy.to_string()));
        }
    };
    let request = kind.type_request().map(|(_, request)| T::noted(request)).unwrap_or_default();
    for part in kind.parts() {
        match part {
            TextPart::Policy(own) => policy(&mut put, T::noted(*own)),
            TextPart::Request(_) => policy(&mut put, request.policy),
            TextPart::Dtype => put("dtype", json!(request.dtype.map(|dtype| dtype.name()))),
            TextPart::Reason(reason) => {
                if let Some(name) = T::noted(*reason).name() {
                    put("reason", json!(name));
                }
            }
            TextPart::Slot(slot) => put("slot", json!(slot.0)),
            TextPart::View(view) => put("view", json!(graph.view_of(*view).to_string())),
            TextPart::Axes(axes) => put("axes", axes.iter().collect()),
            TextPart::Axis(axis) => put("axis", json!(*axis)),
            TextPart::Keepdims(keepdims) => put("keepdims", json!(*keepdims)),
            TextPart::Contracts(true) => put("contracts", json!(true)),
            TextPart::Contracts(false) => {}
            TextPart::Scatter(scatter) => put("kind", json!(format!("scatter {}", scatter.name()))),
            TextPart::Control(n) => put("control", json!(*n)),
            TextPart::Call(child) => put("call", json!(block.callees.get(*child as usize))),
            // Their operands are above; attributes of transformations are not in documents.
            TextPart::Operands | TextPart::Variable(_) | TextPart::Output(_) => {}
        }
    }
    if let Some(places) = places {
        put("places", places.all(id).map(|place| json!(place.to_string())).collect());
        if let Some(of) = places.slope_of(id) {
            put("slope_of", json!(of));
        }
    }
    node
}

fn result<T: Type>(graph: &Graph<T>, value: Value) -> Json {
    json!({ "value": value.0, "type": graph.ty(value).to_string(), "shape": graph.shape(value).extents() })
}

fn values(values: &[Value]) -> Json {
    values.iter().map(|value| value.0).collect()
}

/// The kernels of a program.
pub fn kernels(stage: &str, lowered: &Lowered) -> String {
    let kernel = |step: &LoweredStep| {
        let kernel = match step {
            LoweredStep::Kernel(kernel) => &kernel.fused,
            LoweredStep::Control(control) => return controlling(control),
        };
        let inputs: Vec<u32> = kernel.inputs.iter().map(|input| input.value.0).collect();
        let literals: Vec<u32> = kernel.literals.iter().map(|slot| slot.0).collect();
        json!({
            "shape": kernel.shape.extents(), "inputs": inputs, "literals": literals, "outputs": values(&kernel.outputs),
            "text": kernel.to_string(),
        })
    };
    one(stage, "kernels", lowered.steps.iter().map(kernel).collect())
}

/// Control flow among kernels, or among nests.
fn controlling(LoweredControl { fused, .. }: &LoweredControl) -> Json {
    let results = fused.results.iter().map(|(_, value)| value.0).collect::<Vec<u32>>();
    json!({
        "control": fused.control.0.kind.name(), "inputs": values(&fused.operands), "outputs": results,
        "text": fused.to_string(),
    })
}

/// The loop nests of a program.
pub fn loops(stage: &str, lowered: &Lowered) -> String {
    let nest = |step: &LoweredStep| {
        let scheduled = match step {
            LoweredStep::Kernel(kernel) => &kernel.scheduled,
            LoweredStep::Control(control) => return controlling(control),
        };
        let literals: Vec<u32> = scheduled.literals.iter().map(|(slot, _)| slot.0).collect();
        json!({
            "extents": scheduled.domain.extents.as_slice(), "inputs": values(&scheduled.inputs), "literals": literals,
            "outputs": values(&scheduled.outputs), "text": scheduled.to_string(),
        })
    };
    one(stage, "nests", lowered.steps.iter().map(nest).collect())
}

/// Reads a graph from the document of [`graph`]. Places are not read. The result is not verified.
///
/// # Errors
/// `Parse` for other documents or versions.
pub fn read_graph<T: Type>(text: &str) -> Result<Graph<T>>
where
    Graph<T>: FromStr<Err = Error>,
{
    let document: Json = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
    if document["ndjit"] != json!(VERSION) {
        return Err(wrong("not a document of version 1").fact(format_args!("\"ndjit\": {}", document["ndjit"])));
    }
    let Some(graphs) = document["graphs"].as_array() else { return Err(wrong("`graphs` is no list")) };
    // Only the text format is parsed, so all checks are in one place.
    let mut out = String::new();
    for (n, graph) in graphs.iter().enumerate() {
        let header = if n + 1 < graphs.len() { format!("child @{n}") } else { "graph".to_owned() };
        write_block(&mut out, &header, graph).ok_or_else(|| wrong(&format!("graph {n} is not as the form says")))?;
    }
    out.parse().map_err(|error: Error| error.of("graph_from_json"))
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorCode::Parse, format!("graph_from_json: {what}")).help("pass what `json` gave of a graph")
}

/// The text of a graph; `None` if the document is invalid.
fn write_block(out: &mut String, header: &str, graph: &Json) -> Option<()> {
    let params = graph["params"].as_array()?.iter().map(|param| {
        let stored = param["stored"].as_str().map_or(Some(String::new()), |stored| Some(format!(":{}", word(stored)?)));
        let (value, ty) = (param["value"].as_u64()?, word(param["type"].as_str()?)?);
        Some(format!("%{value}: {ty}{}{}", stored?, shape(param)?))
    });
    let params: Vec<String> = params.collect::<Option<_>>()?;
    let calls = numbers(&graph["calls"], "@")?;
    let calls = if calls.is_empty() { calls } else { format!(" calls {calls}") };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{header} ({}){calls} {{", params.join(", "));
    let slots = graph["slots"].as_array()?;
    let slot = |slot: &Json| match slot["literal"].as_str() {
        Some(literal) => Some(word(literal)?.to_owned()),
        None => Some(format!("argument {} {}", slot["argument"].as_u64()?, word(slot["type"].as_str()?)?)),
    };
    for (n, content) in slots.iter().enumerate() {
        let _ = writeln!(out, "  slot #{n} {}", slot(content)?);
    }
    for (n, control) in graph["controls"].as_array().into_iter().flatten().enumerate() {
        let kind = ControlKind::ALL.into_iter().find(|kind| control["kind"] == json!(kind.name()))?;
        let _ = write!(out, "  ${n} = {}", kind.name());
        if let ControlKind::Scan(_) = kind {
            let [length, carried, sliced] = ["length", "carried", "sliced"].map(|of| control["steps"][of].as_u64());
            let _ = write!(out, " length {} carried {} sliced {}", length?, carried?, sliced?);
        }
        if let ControlKind::For(_) = kind {
            let counts = &control["counts"];
            let _ = write!(out, " index {} carried {}", word(counts["index"].as_str()?)?, counts["carried"].as_u64()?);
        }
        let graphs = control["graphs"].as_array().filter(|graphs| graphs.len() == kind.graphs().len())?;
        for (what, inner) in kind.graphs().iter().zip(graphs) {
            let _ = write!(out, " {what} @{} of [{}]", inner["graph"].as_u64()?, numbers(&inner["operands"], "")?);
        }
        out.push('\n');
    }
    for node in graph["nodes"].as_array()? {
        let results = node["results"].as_array()?;
        let types = results.iter().map(|r| Some(format!("{}{}", word(r["type"].as_str()?)?, shape(r)?)));
        let types: Vec<String> = types.collect::<Option<_>>()?;
        let values: Vec<String> =
            results.iter().map(|r| Some(format!("%{}", r["value"].as_u64()?))).collect::<Option<_>>()?;
        let operation = operation(node, |n| slots.get(n).and_then(slot))?;
        let _ = writeln!(out, "  {} = {operation} : {}", values.join(", "), types.join(", "));
    }
    let _ = writeln!(out, "  return {}\n}}", numbers(&graph["outputs"], "%")?);
    Some(())
}

fn operation(node: &Json, slot: impl Fn(usize) -> Option<String>) -> Option<String> {
    // `scatter add` is two words.
    let kind = part(node["kind"].as_str()?)?;
    let operands = numbers(&node["operands"], "%")?;
    if let Some(call) = node["call"].as_u64() {
        return Some(format!("call @{call}({operands})"));
    }
    if let Some(control) = node["control"].as_u64() {
        return Some(format!("{kind} ${control} {operands}"));
    }
    let mut text = kind.to_owned();
    if let Some(name) = node["policy"].as_str().or(node["reason"].as_str()) {
        let _ = write!(text, "[{}]", word(name)?);
    }
    if let Some(number) = node["slot"].as_u64() {
        let _ = write!(text, " #{number} {}", slot(usize::try_from(number).ok()?)?);
    }
    let _ = write!(text, " {operands}");
    if let Some(view) = node["view"].as_str() {
        let _ = write!(text, " {}", part(view)?);
    }
    if !node["axes"].is_null() {
        let _ = write!(text, " axes [{}]", numbers(&node["axes"], "")?);
    }
    if let Some(axis) = node["axis"].as_u64() {
        let _ = write!(text, " axis {axis}");
    }
    if node["keepdims"] == json!(true) {
        text += " keepdims";
    }
    if node["contracts"] == json!(true) {
        text += " contracts";
    }
    if let Some(dtype) = node["dtype"].as_str() {
        let _ = write!(text, " dtype {}", word(dtype)?);
    }
    Some(text)
}

/// Comma-separated numbers, each after a prefix.
fn numbers(list: &Json, prefix: &str) -> Option<String> {
    let numbers = list.as_array()?.iter().map(|n| n.as_u64().map(|n| format!("{prefix}{n}")));
    Some(numbers.collect::<Option<Vec<String>>>()?.join(", "))
}

fn shape(of: &Json) -> Option<Shape> {
    let extents = of["shape"].as_array()?.iter().map(|extent| usize::try_from(extent.as_u64()?).ok());
    Some(Shape::from(extents.collect::<Option<Vec<usize>>>()?))
}

/// The string, if it is one word of the text format.
fn word(text: &str) -> Option<&str> {
    part(text).filter(|text| !text.contains(char::is_whitespace))
}

/// The string, if it fits in a line.
fn part(text: &str) -> Option<&str> {
    (!text.contains(['\n', '\r', ';'])).then_some(text)
}
