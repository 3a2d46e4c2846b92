//! Fuse: gathers elementwise nodes into kernels, each one loop nest with several inputs and outputs.
//!
//! A node joins the kernels of its shape with which it shares a value, as long as the kernel graph stays acyclic: every
//! kernel has a level above those of the kernels it reads, so kernels of one level can be merged. A value of a
//! smaller shape is computed again inside the kernel that broadcasts it when that is cheap, or when it does not change along
//! the innermost axis and so is computed once per row; else it is stored. A value of the kernel's own shape is computed once,
//! and stored if another kernel reads it, so sharing never recomputes. A reduction has a kernel of its own, in which its operand
//! is computed if nothing else wants that, or if it is cheap.

mod groups;

use groups::{Group, Groups, NONE};
use ndjit_ir::graph::{Graph, NodeKind, SlotId, Value};
use ndjit_ir::kernel::{FusedKernel, KernelInput, KernelReduce, OpBody, Scalar, StmtKind};
use ndjit_ir::reduction::Reduce;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;
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
    // Last kernels first: what they read decides what earlier ones store. A kernel reads from lower levels only. Reductions come
    // after the others of their level, which may want their operands stored.
    let mut last_first: Vec<(&Group, Option<Reducing>)> =
        groups.groups.iter().rev().map(|g| (g, g.reduces(graph))).collect();
    last_first.sort_by_key(|(group, reduces)| (std::cmp::Reverse(group.level), reduces.is_some()));
    for (group, reduces) in last_first {
        let mut stored: Vec<Value> =
            group.nodes.iter().map(|&id| graph.node(id).first()).filter(|v| needed[v.index()]).collect();
        stored.sort_unstable();
        let Some(&first) = stored.first() else { continue };
        let plan = match reduces {
            Some(reduction) => reduction.plan(graph, &groups, fuse, first, &needed),
            None => KernelPlan::elementwise(graph, &groups, stored),
        };
        kernels.push(build(graph, &groups, fuse, plan, &mut needed));
    }
    // A parameter or literal that is a result of the program is copied.
    let mut copied: FxHashSet<Value> = FxHashSet::default();
    for &output in graph.outputs() {
        let leaf = matches!(
            graph.node(graph.producer(output)).kind,
            NodeKind::Param(..) | NodeKind::Literal(_) | NodeKind::Iota(_)
        );
        if leaf && copied.insert(output) {
            kernels.push(build(
                graph,
                &groups,
                fuse,
                KernelPlan::elementwise(graph, &groups, vec![output]),
                &mut needed,
            ));
        }
    }
    kernels.reverse();
    share_bodies(&mut kernels);
    order(kernels)
}

/// What a kernel is to compute.
struct KernelPlan {
    /// The group whose values it computes.
    group: u32,
    space: Shape,
    /// Values of the iteration space that are stored, or reduced.
    roots: Vec<Value>,
    /// The values stored.
    stored: Vec<Value>,
    reduce: Option<KernelReduce>,
}

impl KernelPlan {
    fn elementwise(graph: &Graph<DType>, groups: &Groups, stored: Vec<Value>) -> KernelPlan {
        let (group, space) = (groups.group(stored[0]), graph.shape(stored[0]).clone());
        KernelPlan { group, space, roots: stored.clone(), stored, reduce: None }
    }
}

/// A reduction with a kernel of its own.
#[derive(Clone, Copy)]
struct Reducing {
    operand: Value,
    reduce: Reduce,
}

/// Primitives that may be computed both in a reduction and in the kernel that stores values beside them.
const MAX_TWICE: u32 = 32;

impl Group {
    fn reduces(&self, graph: &Graph<DType>) -> Option<Reducing> {
        let &id = self.nodes.first()?;
        match graph.node(id).kind {
            NodeKind::Reduce(reduce) => Some(Reducing { operand: graph.operands(id)[0], reduce }),
            _ => None,
        }
    }
}

impl Reducing {
    /// The kernel of this reduction, with the operand computed in it unless it is stored anyway, or is dear and wanted elsewhere: by
    /// another reduction, or because its group is computed for others.
    fn plan(self, graph: &Graph<DType>, groups: &Groups, fuse: bool, value: Value, needed: &[bool]) -> KernelPlan {
        let Reducing { operand, reduce } = self;
        let of = groups.group(operand);
        let computed = fuse && of != NONE && !needed[operand.index()] && {
            let group = &groups.groups[of as usize];
            let alone = !groups.is_reduced_twice(operand)
                && group.nodes.iter().all(|&id| !needed[graph.node(id).first().index()]);
            group.reduces(graph).is_none() && (alone || groups.cost(operand) <= MAX_TWICE)
        };
        KernelPlan {
            group: if computed { of } else { groups.group(value) },
            space: graph.shape(operand).clone(),
            roots: vec![operand],
            stored: vec![value],
            reduce: Some(KernelReduce { axes: reduce.axes, outputs: smallvec![reduce.reduction] }),
        }
    }
}

/// One kernel; notes in `needed` what it loads.
fn build(graph: &Graph<DType>, groups: &Groups, fuse: bool, plan: KernelPlan, needed: &mut [bool]) -> FusedKernel {
    let KernelPlan { group, space, roots, stored, reduce } = plan;
    // Values computed in this kernel, found from the last to the first.
    let mut heap: BinaryHeap<(Value, bool)> = roots.iter().map(|&v| (v, false)).collect();
    let mut computed: Vec<Value> = Vec::new();
    // With each value goes whether what uses it is computed again: then so is the value.
    while let Some((value, again)) = heap.pop() {
        let of = groups.group(value);
        if computed.last() == Some(&value) || of == NONE {
            continue;
        }
        let reduction = matches!(graph.node(graph.producer(value)).kind, NodeKind::Reduce(_));
        let again = !reduction && (again || (of != group && fuse && groups.recomputed(graph, value, &space)));
        if of == group && !reduction || again {
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
    for &value in &roots {
        let scalar = builder.scalar(value);
        builder.body.outputs.push(scalar);
    }
    let KernelBuilder { inputs, literals, body, .. } = builder;
    FusedKernel { shape: space, inputs, literals, body: Arc::new(body), outputs: stored, reduce }
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
            NodeKind::Param(..)
            | NodeKind::Literal(_)
            | NodeKind::Reduce(_)
            | NodeKind::Iota(_)
            | NodeKind::Call(_) => {
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
            NodeKind::Param(..)
            | NodeKind::Op(..)
            | NodeKind::Cast(_)
            | NodeKind::Reduce(_)
            | NodeKind::Iota(_)
            | NodeKind::Call(_) => {
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
