//! Fuse: gathers elementwise nodes into kernels, each one loop nest with several inputs and outputs.
//!
//! A node joins the kernels of its shape with which it shares a value, as long as the kernel graph stays acyclic: every
//! kernel has a level above those of the kernels it reads, so kernels of one level can be merged. A value of a
//! smaller shape is computed again inside the kernel that broadcasts it when that is cheap, or when it does not change along
//! the innermost axis and so is computed once per row; else it is stored. A value of the kernel's own shape is computed once,
//! and stored if another kernel reads it, so sharing never recomputes.

mod groups;

use groups::{Group, Groups, NONE};
use ndjit_ir::graph::{Graph, NodeKind, SlotId, Value};
use ndjit_ir::kernel::{FusedKernel, KernelInput, OpBody, Scalar, StmtKind};
use ndjit_ir::{DType, Error, ErrorCode, Result};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Kernels in an order in which they can run. Every output of the graph is an output of a kernel.
///
/// # Errors
/// `Verify` if the kernel graph had a cycle, or the graph has calls.
pub fn fuse(graph: &Graph<DType>, fuse: bool) -> Result<Vec<FusedKernel>> {
    let groups = Groups::assign(graph, fuse)?;
    let mut kernels: Vec<FusedKernel> = Vec::new();
    let mut needed = vec![false; graph.value_count()];
    for output in graph.outputs() {
        needed[output.index()] = true;
    }
    // Last kernels first: what they read decides what earlier ones store. A kernel reads from lower levels only.
    let mut last_first: Vec<&Group> = groups.groups.iter().rev().collect();
    last_first.sort_by_key(|group| std::cmp::Reverse(group.level));
    for group in last_first {
        let mut stored: Vec<Value> =
            group.nodes.iter().map(|&id| graph.node(id).first()).filter(|v| needed[v.index()]).collect();
        stored.sort_unstable();
        if !stored.is_empty() {
            kernels.push(build(graph, &groups, fuse, stored, &mut needed));
        }
    }
    // A parameter or literal that is a result of the program is copied.
    let mut copied: FxHashSet<Value> = FxHashSet::default();
    for &output in graph.outputs() {
        let leaf = matches!(graph.node(graph.producer(output)).kind, NodeKind::Param(..) | NodeKind::Literal(_));
        if leaf && copied.insert(output) {
            kernels.push(build(graph, &groups, fuse, vec![output], &mut needed));
        }
    }
    kernels.reverse();
    share_bodies(&mut kernels);
    order(kernels)
}

/// One kernel that stores `stored` and what it needs for that; notes in `needed` what it loads.
fn build(graph: &Graph<DType>, groups: &Groups, fuse: bool, stored: Vec<Value>, needed: &mut [bool]) -> FusedKernel {
    let group = groups.group(stored[0]);
    let space = graph.shape(stored[0]).clone();
    // Values computed in this kernel, found from the last to the first.
    let mut heap: BinaryHeap<(Value, bool)> = stored.iter().map(|&v| (v, false)).collect();
    let mut computed: Vec<Value> = Vec::new();
    // With each value goes whether what uses it is computed again: then so is the value.
    while let Some((value, again)) = heap.pop() {
        let of = groups.group(value);
        if computed.last() == Some(&value) || of == NONE {
            continue;
        }
        let again = again || (of != group && fuse && groups.recomputed(graph, value, &space));
        if of == group || again {
            computed.push(value);
            heap.extend(graph.operands(graph.producer(value)).iter().map(|&o| (o, again)));
        } else {
            needed[value.index()] = true;
        }
    }
    computed.reverse();
    let mut builder = KernelBuilder {
        graph,
        scalars: FxHashMap::default(),
        inputs: Vec::new(),
        literals: Vec::new(),
        body: OpBody::default(),
    };
    for value in computed {
        builder.compute(value);
    }
    for &value in &stored {
        let scalar = builder.scalar(value);
        builder.body.outputs.push(scalar);
    }
    let KernelBuilder { inputs, literals, body, .. } = builder;
    FusedKernel { shape: space, inputs, literals, body: Arc::new(body), outputs: stored }
}

struct KernelBuilder<'a> {
    graph: &'a Graph<DType>,
    scalars: FxHashMap<Value, Scalar>,
    inputs: Vec<KernelInput>,
    literals: Vec<SlotId>,
    body: OpBody,
}

impl KernelBuilder<'_> {
    fn compute(&mut self, value: Value) {
        let id = self.graph.producer(value);
        let args: Vec<Scalar> = self.graph.operands(id).iter().map(|&o| self.scalar(o)).collect();
        let kind = match self.graph.node(id).kind {
            NodeKind::Op(op, _) => StmtKind::Op(op),
            NodeKind::Cast(_) => StmtKind::Cast,
            NodeKind::Param(..) | NodeKind::Literal(_) | NodeKind::Call(_) => {
                unreachable!("only ops and casts belong to groups")
            }
        };
        let scalar = self.body.push(kind, &args, self.graph.ty(value));
        self.scalars.insert(value, scalar);
    }

    /// The scalar of a value: computed here before, or a literal, or loaded.
    fn scalar(&mut self, value: Value) -> Scalar {
        if let Some(&scalar) = self.scalars.get(&value) {
            return scalar;
        }
        let dtype = self.graph.ty(value);
        let kind = match self.graph.node(self.graph.producer(value)).kind {
            NodeKind::Literal(slot) => self.literal(slot, dtype),
            NodeKind::Param(..) | NodeKind::Op(..) | NodeKind::Cast(_) | NodeKind::Call(_) => {
                self.inputs.push(KernelInput { value, shape: self.graph.shape(value).clone() });
                self.body.inputs.push(dtype);
                StmtKind::Load(self.inputs.len() as u32 - 1)
            }
        };
        let scalar = self.body.push(kind, &[], dtype);
        self.scalars.insert(value, scalar);
        scalar
    }

    fn literal(&mut self, slot: SlotId, dtype: DType) -> StmtKind {
        self.literals.push(slot);
        self.body.literals.push(dtype);
        StmtKind::Literal(self.literals.len() as u32 - 1)
    }
}

/// Makes kernels that compute the same share one body: a long program repeats few of them.
fn share_bodies(kernels: &mut [FusedKernel]) {
    let mut known: FxHashSet<Arc<OpBody>> = FxHashSet::default();
    for kernel in kernels {
        match known.get(&kernel.body) {
            Some(body) => kernel.body = Arc::clone(body),
            None => {
                known.insert(Arc::clone(&kernel.body));
            }
        }
    }
}

/// Sorts kernels so that each runs after those it reads from.
fn order(kernels: Vec<FusedKernel>) -> Result<Vec<FusedKernel>> {
    let mut makers: FxHashMap<Value, NodeIndex> = FxHashMap::default();
    let mut deps: DiGraph<(), ()> = DiGraph::with_capacity(kernels.len(), kernels.len());
    for kernel in &kernels {
        let index = deps.add_node(());
        makers.extend(kernel.outputs.iter().map(|&v| (v, index)));
    }
    for (i, kernel) in kernels.iter().enumerate() {
        let user = NodeIndex::new(i);
        for input in &kernel.inputs {
            if let Some(&maker) = makers.get(&input.value).filter(|&&maker| maker != user) {
                deps.add_edge(maker, user, ());
            }
        }
    }
    let sorted = petgraph::algo::toposort(&deps, None).map_err(|cycle| {
        let kernel = cycle.node_id().index();
        Error::new(ErrorCode::Verify, format!("fuse: kernel {kernel} reads its own results"))
    })?;
    let mut slots: Vec<Option<FusedKernel>> = kernels.into_iter().map(Some).collect();
    Ok(sorted.into_iter().filter_map(|i| slots[i.index()].take()).collect())
}
