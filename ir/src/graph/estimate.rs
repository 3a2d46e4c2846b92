//! What a program needs, from its graph alone: its policies, and an estimate of its memory. Nothing is compiled for it.
//!
//! The estimate is for programs of others, before they are compiled: each node stores its results, for as long as they are used. Fusion
//! stores less. Reductions, scans, sorts and products store their operands in other dtypes and orders.

use super::{Fusion, Graph, NodeKind, Type, Value};
use crate::dtype::{DType, Kind};
use crate::promotion::Policy;
use crate::value_type::ValueType;

impl<T: Type> Graph<T> {
    /// The policies of the operations of the program, each once.
    pub fn policies(&self) -> Vec<Policy> {
        let mut policies = Vec::new();
        for graph in self.whole() {
            for id in graph.node_ids() {
                let kind = graph.node(id).kind;
                let own = kind.policy().map(T::noted);
                let requested = kind.type_request().map(|(_, request)| T::noted(request).policy);
                for policy in own.into_iter().chain(requested) {
                    if !policies.contains(&policy) {
                        policies.push(policy);
                    }
                }
            }
        }
        policies
    }
}

impl Graph<ValueType> {
    /// An upper estimate in bytes of the memory of a run: results, intermediate arrays, and temporary memory of kernels, without
    /// parameters. Weak values count with 64 bits in each part. Saturates at `u64::MAX`. Takes time in proportion to the graph.
    ///
    /// ```
    /// use ndjit_ir::graph::Graph;
    /// use ndjit_ir::ValueType;
    ///
    /// let text = "graph (%0: f32[100]) {\n  %1 = sin %0 : f32[100]\n  %2 = cos %1 : f32[100]\n  return %2\n}";
    /// let graph: Graph<ValueType> = text.parse()?;
    /// assert_eq!(graph.estimated_bytes(), 800);
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    pub fn estimated_bytes(&self) -> u64 {
        let mut estimates: Vec<u64> = Vec::new();
        // Graphs come before those that run them.
        for block in self.blocks() {
            let of = |numbers: &[usize]| numbers.iter().filter_map(|&n| estimates.get(n)).copied().max().unwrap_or(0);
            let callees: Vec<u64> = block.callees.iter().map(|&n| of(&[n])).collect();
            let controls: Vec<u64> = block.controls.iter().map(|numbers| of(numbers)).collect();
            estimates.push(estimate(block.graph, &callees, &controls));
        }
        estimates.pop().unwrap_or(0)
    }
}

/// The estimate of one graph, from those of its callees and its control flow.
fn estimate(graph: &Graph<ValueType>, callees: &[u64], controls: &[u64]) -> u64 {
    let of = |value: Value, dtype: DType| -> u64 {
        graph.shape(value).bytes(dtype.bytes()).map_or(u64::MAX, |bytes| bytes as u64)
    };
    let wide = |value: Value| {
        let complex = graph.ty(value).kind() == Kind::Complex;
        of(value, if complex { DType::C128 } else { DType::F64 })
    };
    let bytes = |value: Value| match graph.ty(value) {
        ValueType::Strong(dtype) => of(value, dtype),
        ValueType::Weak(_) => wide(value),
    };
    // Views are read in the memory of their operand.
    let mut memory: Vec<Value> = (0..graph.value_count()).map(Value::from_index).collect();
    let mut last = vec![0; graph.value_count()];
    for id in graph.node_ids() {
        let (node, operands) = (graph.node(id), graph.operands(id));
        if let (true, &[operand]) = (node.kind.row().is_view, operands) {
            memory[node.first().index()] = memory[operand.index()];
        }
        operands.iter().for_each(|operand| last[memory[operand.index()].index()] = id.index());
    }
    let mut live: u64 = 0;
    for &output in graph.outputs() {
        let stored = memory[output.index()];
        last[stored.index()] = usize::MAX;
        // A result is in memory of its own.
        if stored != output || matches!(graph.node(graph.producer(output)).kind, NodeKind::Param(..)) {
            live = live.saturating_add(bytes(output));
        }
    }
    let mut peak = live;
    for id in graph.node_ids() {
        let node = graph.node(id);
        if matches!(node.kind, NodeKind::Param(..)) || memory[node.first().index()] != node.first() {
            continue;
        }
        let results = node.results().fold(0u64, |sum, result| sum.saturating_add(bytes(result)));
        live = live.saturating_add(results);
        let operands = graph.operands(id);
        let taken = || operands.iter().fold(0u64, |sum, &operand| sum.saturating_add(wide(operand)));
        let within = match node.kind {
            // States are copied between steps.
            NodeKind::Control(n) => controls.get(n as usize).copied().unwrap_or(0).saturating_add(taken()),
            NodeKind::Call(n) => callees.get(n as usize).copied().unwrap_or(0),
            kind if kind.row().fusion == Fusion::Root => taken().saturating_mul(2).saturating_add(results),
            _ => 0,
        };
        peak = peak.max(live.saturating_add(within));
        let mut freed: Vec<Value> = operands.iter().map(|operand| memory[operand.index()]).collect();
        freed.extend(node.results());
        freed.sort_unstable();
        freed.dedup();
        for value in freed.into_iter().filter(|value| last[value.index()] <= id.index()) {
            if !matches!(graph.node(graph.producer(value)).kind, NodeKind::Param(..)) {
                live = live.saturating_sub(bytes(value));
            }
        }
    }
    peak
}
