//! Fuse: gathers elementwise nodes into kernels, each one loop nest with several inputs and outputs.
//!
//! Nodes of one shape join the newest kernel of that shape as long as the kernel graph stays acyclic: every kernel has a
//! level above those of the kernels it reads. A value of a smaller shape is computed again inside the kernel that broadcasts
//! it when that is cheap or when it does not change along the innermost axis (the schedule computes it once per row);
//! else it is stored. A value of the kernel's own shape is computed once and stored if another kernel reads it, so sharing
//! never recomputes.

use ndjit_ir::graph::{Graph, NodeId, NodeKind, SlotId, Value};
use ndjit_ir::kernel::{FusedKernel, KernelInput, OpBody, Scalar, StmtKind};
use ndjit_ir::op::shared_body;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Primitives a kernel may hold: beyond this, register pressure and compile time grow faster than fusion saves.
const MAX_WEIGHT: usize = 400;
/// Arrays a kernel may read.
const MAX_INPUTS: usize = 16;
/// Results of the program a kernel may store.
const MAX_OUTPUTS: usize = 8;
/// Primitives that may be recomputed for each element a small value is broadcast to.
const MAX_RECOMPUTED: usize = 16;
/// Primitives that may be recomputed for each row, or once, in the loop's preheader.
const MAX_HOISTED: usize = 200;

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
    // Last kernels first: what they read decides what earlier ones store.
    for group in groups.groups.iter().rev() {
        let stored: Vec<Value> =
            group.nodes.iter().map(|&id| graph.node(id).first()).filter(|v| needed[v.index()]).collect();
        if !stored.is_empty() {
            kernels.push(build(graph, &groups, fuse, stored, &mut needed));
        }
    }
    // A parameter or literal that is a result of the program is copied.
    let mut copied: FxHashSet<Value> = FxHashSet::default();
    for &output in graph.outputs() {
        let leaf = matches!(graph.node(graph.producer(output)).kind, NodeKind::Param(_) | NodeKind::Literal(_));
        if leaf && copied.insert(output) {
            kernels.push(build(graph, &groups, fuse, vec![output], &mut needed));
        }
    }
    kernels.reverse();
    share_bodies(&mut kernels);
    order(kernels)
}

/// Nodes computed together.
struct Group {
    level: u32,
    weight: usize,
    /// Arrays read; literals are not counted.
    inputs: FxHashSet<Value>,
    outputs: usize,
    nodes: Vec<NodeId>,
}

struct Groups {
    /// By creation, which is the order of their first nodes; levels are not sorted.
    groups: Vec<Group>,
    /// The group of each value; none for parameters and literals.
    of: Vec<u32>,
    /// Primitives needed to compute each value from stored ones; saturates.
    cost: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Groups {
    fn assign(graph: &Graph<DType>, fuse: bool) -> Result<Groups> {
        let mut this =
            Groups { groups: Vec::new(), of: vec![NONE; graph.value_count()], cost: vec![0; graph.value_count()] };
        let results: FxHashSet<Value> = graph.outputs().iter().copied().collect();
        let mut open: FxHashMap<u32, u32> = FxHashMap::default();
        for id in graph.node_ids() {
            let node = graph.node(id);
            let value = node.first();
            let weight = match node.kind {
                NodeKind::Param(_) | NodeKind::Literal(_) => continue,
                NodeKind::Op(op, _) => shared_body(op, graph.compute_dtype(id, op)).insts.len().max(1),
                NodeKind::Cast => 4,
                NodeKind::Call(_) => {
                    return Err(Error::new(ErrorCode::Verify, "fuse: the graph has calls; inline runs before"));
                }
            };
            let operands = graph.operands(id);
            let cost = operands.iter().fold(weight as u32, |sum, o| sum.saturating_add(this.cost[o.index()]));
            this.cost[value.index()] = cost;
            let shape = graph.shape_id(value);
            let reads = this.reads(graph, operands, graph.shape(value), fuse);
            let is_result = results.contains(&value);
            let group = match open.get(&shape.0) {
                Some(&group) if fuse && this.accepts(group, &reads, weight, is_result) => group,
                _ => {
                    let level = this.levels(&reads).max().map_or(0, |l| l + 1);
                    this.groups.push(Group {
                        level,
                        weight: 0,
                        inputs: FxHashSet::default(),
                        outputs: 0,
                        nodes: Vec::new(),
                    });
                    open.insert(shape.0, this.groups.len() as u32 - 1);
                    this.groups.len() as u32 - 1
                }
            };
            let foreign: Vec<Value> = this.foreign(group, &reads).collect();
            let entry = &mut this.groups[group as usize];
            entry.weight += weight;
            entry.outputs += usize::from(is_result);
            entry.inputs.extend(foreign);
            entry.nodes.push(id);
            this.of[value.index()] = group;
        }
        Ok(this)
    }

    /// Operands that a kernel of shape `space` has to read, if it does not compute them: neither literals nor what it
    /// computes again. (All of that: a value costs at least what it is computed from.)
    fn reads(&self, graph: &Graph<DType>, operands: &[Value], space: &Shape, fuse: bool) -> Vec<Value> {
        let read = |o: &Value| match graph.node(graph.producer(*o)).kind {
            NodeKind::Literal(_) => false,
            NodeKind::Param(_) => true,
            NodeKind::Op(..) | NodeKind::Cast | NodeKind::Call(_) => !(fuse && self.recomputed(graph, *o, space)),
        };
        operands.iter().copied().filter(read).collect()
    }

    /// Values that are not computed in `group`.
    fn foreign<'a>(&'a self, group: u32, reads: &'a [Value]) -> impl Iterator<Item = Value> + 'a {
        reads.iter().copied().filter(move |&o| self.of[o.index()] != group)
    }

    fn levels<'a>(&'a self, reads: &'a [Value]) -> impl Iterator<Item = u32> + 'a {
        reads.iter().map(|o| self.of[o.index()]).filter(|&g| g != NONE).map(|g| self.groups[g as usize].level)
    }

    fn accepts(&self, group: u32, reads: &[Value], weight: usize, is_result: bool) -> bool {
        let entry = &self.groups[group as usize];
        let acyclic = self.foreign(group, reads).all(|o| {
            let other = self.of[o.index()];
            other == NONE || self.groups[other as usize].level < entry.level
        });
        let new_inputs = self.foreign(group, reads).filter(|o| !entry.inputs.contains(o)).count();
        acyclic
            && entry.weight + weight <= MAX_WEIGHT
            && entry.inputs.len() + new_inputs <= MAX_INPUTS
            && entry.outputs + usize::from(is_result) <= MAX_OUTPUTS
    }

    /// Whether a kernel of shape `space` computes a value of another group again rather than load it.
    fn recomputed(&self, graph: &Graph<DType>, value: Value, space: &Shape) -> bool {
        let shape = graph.shape(value);
        if shape == space {
            return false;
        }
        let constant_in_rows = space.extents().last() != Some(&1) && matches!(shape.extents().last(), None | Some(&1));
        let scalar = shape.extents().iter().all(|&e| e == 1);
        let limit = if constant_in_rows || scalar { MAX_HOISTED } else { MAX_RECOMPUTED };
        self.cost[value.index()] as usize <= limit
    }
}

/// One kernel that stores `stored` and what it needs for that; notes in `needed` what it loads.
fn build(graph: &Graph<DType>, groups: &Groups, fuse: bool, stored: Vec<Value>, needed: &mut [bool]) -> FusedKernel {
    let group = groups.of[stored[0].index()];
    let space = graph.shape(stored[0]).clone();
    // Values computed in this kernel, found from the last to the first.
    let mut heap: BinaryHeap<Value> = stored.iter().copied().collect();
    let mut computed: Vec<Value> = Vec::new();
    while let Some(value) = heap.pop() {
        if computed.last() == Some(&value) {
            continue;
        }
        let of = groups.of[value.index()];
        if of == NONE {
            continue;
        }
        if of == group || (fuse && groups.recomputed(graph, value, &space)) {
            computed.push(value);
            heap.extend(graph.operands(graph.producer(value)));
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
            NodeKind::Cast => StmtKind::Cast,
            NodeKind::Param(_) | NodeKind::Literal(_) | NodeKind::Call(_) => {
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
            NodeKind::Param(_) | NodeKind::Op(..) | NodeKind::Cast | NodeKind::Call(_) => {
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
