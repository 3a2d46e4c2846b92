//! Making a failing random program small.

use super::Program;
use crate::graph::{Graph, NodeId, NodeKind, Type, Value};
use crate::value_type::ValueType;

/// A smaller graph to try: these outputs alone, and one value read in another's place.
type Change = (Vec<Value>, Option<(Value, Value)>);

/// The smallest program found by leaving things out for which `fails` still says true: outputs, and nodes whose users can
/// read one of their operands of the same type and shape instead. `fails` is asked a few times per node. Parameters, slots
/// and children stay, so that the same arrays and numbers fit.
pub fn shrink(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let with = |program: &Program, outputs: &[Value], instead: Option<(Value, Value)>| {
        let graph = rebuild(&program.graph, outputs, instead);
        Program { graph, params: program.params.clone(), scalars: program.scalars.clone() }
    };
    loop {
        let outputs = best.graph.outputs();
        // What no output needs goes first. Then one output alone; an operand of an output's node in its place; a value replaced by an operand of its like.
        let mut candidates: Vec<Change> = vec![(outputs.to_vec(), None)];
        if outputs.len() > 1 {
            candidates.extend(outputs.iter().map(|&output| (vec![output], None)));
        }
        for &output in outputs {
            let operands = best.graph.operands(best.graph.producer(output));
            candidates.extend(operands.iter().map(|&operand| (vec![operand], None)));
        }
        for id in best.graph.node_ids() {
            let value = best.graph.node(id).first();
            let like = |&&operand: &&Value| {
                best.graph.ty(operand) == best.graph.ty(value)
                    && best.graph.shape_id(operand) == best.graph.shape_id(value)
            };
            let same = best.graph.operands(id).iter().filter(like);
            candidates.extend(same.map(|&operand| (outputs.to_vec(), Some((value, operand)))));
        }
        let smaller =
            candidates.into_iter().map(|(outputs, instead)| with(&best, &outputs, instead)).find(|candidate| {
                let size = |program: &Program| (program.graph.node_count(), program.graph.outputs().len());
                size(candidate) < size(&best) && candidate.graph.verify().is_ok() && fails(candidate)
            });
        match smaller {
            Some(program) => best = program,
            None => return best,
        }
    }
}

/// The graph with these outputs and what they need, one value replaced by another. Parameters and slots stay.
fn rebuild(graph: &Graph<ValueType>, outputs: &[Value], instead: Option<(Value, Value)>) -> Graph<ValueType> {
    let read = |value: Value| match instead {
        Some((from, to)) if from == value => to,
        _ => value,
    };
    let mut needed = vec![false; graph.node_count()];
    let mut stack: Vec<Value> = outputs.iter().map(|&output| read(output)).collect();
    while let Some(value) = stack.pop() {
        let id = graph.producer(value);
        if !std::mem::replace(&mut needed[id.index()], true) {
            stack.extend(graph.operands(id).iter().map(|&operand| read(operand)));
        }
    }
    let mut out = Graph::with_slots(graph);
    let mut map: Vec<Value> = (0..graph.value_count()).map(Value::from_index).collect();
    for child in graph.children() {
        out.child(child.clone());
    }
    for id in graph.node_ids() {
        copy(graph, id, needed[id.index()], &read, &mut out, &mut map);
    }
    out.set_outputs(outputs.iter().map(|&output| map[read(output).index()]).collect());
    out
}

fn copy<T: Type>(
    graph: &Graph<T>,
    id: NodeId,
    needed: bool,
    read: &impl Fn(Value) -> Value,
    out: &mut Graph<T>,
    map: &mut [Value],
) {
    let node = graph.node(id);
    let first = match node.kind {
        NodeKind::Param(_, stored) => out.param_stored(graph.ty(node.first()), stored, graph.shape(node.first())),
        _ if needed => {
            let operands: Vec<Value> = graph.operands(id).iter().map(|&operand| map[read(operand).index()]).collect();
            let results: Vec<_> = node.results().map(|v| (graph.ty(v), out.intern(graph.shape(v)))).collect();
            let kind = graph.kind_in(node.kind, out);
            out.add(kind, &operands, &results)
        }
        _ => return,
    };
    for (n, value) in node.results().enumerate() {
        map[value.index()] = Value::from_index(first.index() + n);
    }
}
