//! Groups of nodes computed together. Their nodes have one shape. They grow node by node, under limits, without cycles.
//! Reductions of the same elements along the same axes are a separate group, and so are scans, and nodes that move
//! elements: joins, and reshapes without strides.

use super::super::schedule::is_position;
use super::contract::products;
use super::parts::parts;
use ndjit_ir::body::{Body, Inst, InstKind, Prim};
use ndjit_ir::graph::{Fusion, Graph, NodeId, NodeKind, ShapeId, Value};
use ndjit_ir::reduction::Reduce;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape};
use ndjit_math::shared_body;
use ndjit_transform::access::Accesses;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The maximum number of primitives of a kernel: beyond it, register pressure and compile time outgrow the savings of
/// fusion.
pub(in super::super) const MAX_WEIGHT: usize = 400;
/// The maximum number of reductions of the same elements in a kernel: each has accumulators in registers.
const MAX_REDUCED: usize = 4;
/// The maximum number of primitives recomputed for each element to which a small value is broadcast, from one array:
/// several arrays would cost more loads than the value.
const MAX_RECOMPUTED: usize = 16;
/// The maximum number of primitives recomputed for each element of a value of the kernel's shape, from at most one array of that shape:
/// reading that array costs what reading the value would, and nobody stores the value. (Maxima of `likely[:, None] + moves` and their
/// indices, 200 by 200: 21 us a step with stored sums, 60 if two threads share them.)
const MAX_INSTEAD_OF_LOADED: usize = 4;
/// The maximum number of primitives computed for each row, before the innermost loop, for a value with one element per
/// row.
const MAX_HOISTED: usize = 200;
/// The weight of a gather, in primitives.
const GATHER: usize = 8;
/// The weight of a cast.
const CAST: usize = 4;

/// The bits of integers per unit of a division's weight: narrow ones are divided as floats, in up to four times as many registers, and
/// those of 64 bits one lane at a time.
const DIVIDED: usize = 256;

/// Returns the number of a body's primitives for which there is code. (A hundred divisions of bytes in one kernel took
/// 59 ms to compile.)
fn weight(body: &Body) -> usize {
    let of = |inst: &Inst| match &inst.kind {
        InstKind::Prim(Prim::Sdiv | Prim::Udiv | Prim::Srem | Prim::Urem) => {
            DIVIDED / body.ty(inst.first).bits() as usize
        }
        _ => 1,
    };
    body.insts.iter().map(of).sum()
}

/// Returns the weight of a node in the kernel that computes it; `None` if it is not elementwise.
pub(in super::super) fn elementwise_weight(graph: &Graph<DType>, id: NodeId) -> Option<usize> {
    let kind = graph.node(id).kind;
    match (kind.row().fusion, kind) {
        (Fusion::Root | Fusion::Leaf, _) => None,
        (Fusion::Elementwise, NodeKind::Op(op, ())) => {
            Some(weight(shared_body(op, graph.compute_dtype(id, op))).max(1))
        }
        (Fusion::Elementwise, NodeKind::Cast(())) => Some(CAST),
        (Fusion::Elementwise, _) => Some(GATHER),
    }
}

/// The maximum numbers of a kernel's arrays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Inputs.
    inputs: usize,
    /// Results of the program.
    pub(super) outputs: usize,
}

impl Limits {
    /// Divides the arrays of a kernel: a third of them are for results.
    pub(super) fn new(max_arrays: usize) -> Limits {
        let outputs = (max_arrays / 3).max(1);
        Limits { inputs: max_arrays.saturating_sub(outputs), outputs }
    }

    /// Returns the maximum number of reductions of the same elements in a kernel.
    pub(super) fn reduced(self) -> usize {
        MAX_REDUCED.min(self.outputs)
    }
}

/// Nodes computed together.
#[derive(Default)]
pub(super) struct Group {
    pub(super) level: u32,
    /// The number of primitives, including recomputed values.
    weight: usize,
    /// Arrays read, and values recomputed, without literals.
    inputs: FxHashSet<Value>,
    /// The maximum number of arrays that recomputed values read.
    leaves: usize,
    outputs: usize,
    pub(super) nodes: Vec<NodeId>,
}

/// The group of each value.
pub(super) struct Groups {
    /// Groups by creation; levels are not sorted. A merged group is empty.
    pub(super) groups: Vec<Group>,
    /// For each group its merged one, or itself.
    merged: Vec<u32>,
    /// The first group of each value; none for parameters, literals and indices.
    of: Vec<u32>,
    /// The number of primitives and arrays of each value from stored ones on (parameters, results of reductions),
    /// counted as for a tree; saturating.
    cone: Vec<(u32, u32)>,
    /// The least level of a kernel that recomputes each value: above those of its reductions.
    after: Vec<u32>,
    /// The number of single-node groups that read each value, and of the reads.
    root_reads: Vec<u32>,
    /// The number of nodes that read each value, directly or through views, and of results; empty for a graph without
    /// joins of joins.
    reads: Vec<u32>,
    /// The groups of reductions, by creation.
    pub(super) reductions: Vec<u32>,
    /// Products that contractions sum, each with its contraction. Neither is fused with other nodes, and the factors
    /// are stored.
    pub(super) products: FxHashMap<Value, NodeId>,
    pub(super) limits: Limits,
}

pub(super) const NONE: u32 = u32::MAX;
/// Kernels of one shape that may still grow.
pub(super) const MAX_OPEN: usize = 8;

/// The requirements of a node on its kernel.
struct FusionRequest {
    weight: usize,
    /// Operands to read, unless the kernel computes them.
    reads: SmallVec<[Value; 3]>,
    /// Operands of smaller shapes that the kernel recomputes, with their dependencies.
    again: SmallVec<[Value; 3]>,
    /// Operands that are views of an earlier kernel's output.
    views: SmallVec<[Value; 3]>,
    /// The operand whose rows it gathers, and the least level of a kernel that can.
    rows: Option<Value>,
    ready: u32,
    is_result: bool,
    /// The highest level of the kernel.
    at_most: u32,
}

/// Counts the nodes that read each value of a graph with joins of joins.
fn reads(graph: &Graph<DType>, accesses: &Accesses) -> Vec<u32> {
    let joins = |value: Value| matches!(graph.node(graph.producer(value)).kind, NodeKind::Concat(..));
    if !graph.node_ids().any(|id| joins(graph.node(id).first()) && graph.operands(id).iter().any(|&of| joins(of))) {
        return Vec::new();
    }
    let mut reads = vec![0; graph.value_count()];
    let nodes = graph.node_ids().filter(|&id| accesses.view(graph.node(id).first()).is_none());
    let operands = nodes.flat_map(|id| graph.operands(id));
    operands.chain(graph.outputs()).for_each(|&value| reads[accesses.base(value).index()] += 1);
    reads
}

impl Groups {
    /// Assigns groups twice: reductions that could share the kernel of a later one wait for it in the second pass. A
    /// value with a single later kernel as its reader is computed in that kernel.
    pub(super) fn assign(graph: &Graph<DType>, accesses: &Accesses, fuse: bool, limits: Limits) -> Result<Groups> {
        let mut groups = Groups::grow(graph, accesses, fuse, limits, &Waiting::default())?;
        if fuse {
            let waiting = groups.waiting(graph);
            if !waiting.levels.is_empty() {
                groups = Groups::grow(graph, accesses, fuse, limits, &waiting)?;
            }
            groups.sink(graph, accesses);
        }
        Ok(groups)
    }

    fn grow(
        graph: &Graph<DType>,
        accesses: &Accesses,
        fuse: bool,
        limits: Limits,
        waiting: &Waiting,
    ) -> Result<Groups> {
        let values = graph.value_count();
        let mut this = Groups {
            groups: Vec::new(),
            merged: Vec::new(),
            of: vec![NONE; values],
            cone: vec![(0, 0); values],
            after: vec![0; values],
            root_reads: vec![0; values],
            reads: reads(graph, accesses),
            reductions: Vec::new(),
            products: if fuse { products(graph) } else { FxHashMap::default() },
            limits,
        };
        let results: FxHashSet<Value> = graph.outputs().iter().copied().collect();
        let parts = if fuse { parts(graph) } else { Vec::new() };
        let mut open: FxHashMap<(ShapeId, u32), SmallVec<[u32; MAX_OPEN]>> = FxHashMap::default();
        for id in graph.node_ids() {
            let node = graph.node(id);
            let value = node.first();
            let weight = match node.kind {
                NodeKind::Literal(_) => continue,
                NodeKind::Call(_) => {
                    return Err(Error::new(ErrorCode::Verify, "fuse: the graph has calls; inline runs before"));
                }
                _ if accesses.view(value).is_some() => {
                    this.cone[value.index()] = (0, u32::from(!is_position(graph, accesses.base(value))));
                    let stored = accesses.rows(value).iter().map(|row| row.index.value).chain([accesses.base(value)]);
                    this.after[value.index()] = stored.map(|value| this.after_storing(value)).max().unwrap_or(0);
                    continue;
                }
                kind => match (elementwise_weight(graph, id), kind.row().fusion) {
                    (Some(weight), _) => weight,
                    (None, Fusion::Root) => {
                        this.add_root(graph, id, accesses, fuse, waiting.levels.get(&id).copied());
                        continue;
                    }
                    (None, Fusion::Leaf | Fusion::Elementwise) => {
                        // An index is in no memory: a mask of indices is computed where it is read.
                        this.cone[value.index()] = (0, u32::from(!is_position(graph, value)));
                        continue;
                    }
                },
            };
            let operands = graph.operands(id);
            this.cone[value.index()] = operands.iter().fold((weight as u32, 0u32), |(cost, leaves), o| {
                let (c, l) = this.cone[o.index()];
                (cost.saturating_add(c), leaves.saturating_add(l))
            });
            // Rows are read in any order: their array is stored before.
            let (rows, operands) = match node.kind {
                NodeKind::Gather => (Some(operands[0]), &operands[1..]),
                _ => (None, operands),
            };
            let ready = rows
                .map_or(0, |rows| this.after[rows.index()].max(this.after_storing(accesses.in_memory(graph, rows))));
            this.after[value.index()] = operands.iter().map(|o| this.after[o.index()]).fold(ready, u32::max);
            let apart = this.products.contains_key(&value);
            let mut wants = this.wants(graph, value, operands, weight, results.contains(&value), fuse && !apart);
            (wants.rows, wants.ready) = (rows, ready);
            let after_others =
                |&o: &Value| this.group(accesses.base(o)) != this.group(o) || !accesses.rows(o).is_empty();
            wants.views = wants.reads.iter().copied().filter(after_others).collect();
            let again = wants.again.iter().chain(&wants.views).map(|o| this.after[o.index()]);
            let foreign = this.levels(&wants.reads).map(|l| l + 1);
            let level = again.chain(foreign).fold(ready, u32::max);
            wants.at_most = if waiting.prompt.contains(&value) { level } else { u32::MAX };
            let part = parts.get(value.index()).copied().unwrap_or(0);
            let shape = graph.shape_id(value);
            let own = open.entry((shape, part)).or_default();
            let mut found = this.accepting(fuse && !apart, own, &wants);
            if let (None, Some(shared)) = (found, open.get_mut(&(shape, 0)).filter(|_| part != 0)) {
                found = this.accepting(fuse && !apart, shared, &wants);
            }
            let group = found.unwrap_or_else(|| {
                let candidates = open.entry((shape, part)).or_default();
                let (inputs, nodes) = (FxHashSet::default(), Vec::new());
                this.groups.push(Group { level, weight: 0, inputs, leaves: 0, outputs: 0, nodes });
                if !apart {
                    if candidates.len() == MAX_OPEN {
                        candidates.remove(0);
                    }
                    candidates.push(this.groups.len() as u32 - 1);
                }
                this.merged.push(this.groups.len() as u32 - 1);
                this.groups.len() as u32 - 1
            });
            this.join(group, id, value, &wants);
        }
        Ok(this)
    }

    /// Returns the least level of a kernel that reads a stored value: the one above its kernel's.
    fn after_storing(&self, value: Value) -> u32 {
        match self.group(value) {
            NONE => 0,
            group => self.groups[group as usize].level + 1,
        }
    }

    /// Adds a group for a reduction, a scan, or a node that moves elements. Only reductions of the same elements join
    /// it.
    fn add_root(&mut self, graph: &Graph<DType>, id: NodeId, accesses: &Accesses, fuse: bool, wait: Option<u32>) {
        let operands = graph.operands(id);
        let after = operands.iter().map(|o| self.after[o.index()].max(self.after_storing(accesses.base(*o))));
        let level = self.levels(operands).map(|l| l + 1).chain(after).chain(wait).max().unwrap_or(0);
        let found = if fuse { self.sibling(graph, id, level) } else { None };
        let group = found.unwrap_or_else(|| {
            self.groups.push(Group { level, ..Group::default() });
            self.merged.push(self.groups.len() as u32 - 1);
            if let NodeKind::Reduce(_) = graph.node(id).kind {
                self.reductions.push(self.groups.len() as u32 - 1);
            }
            self.groups.len() as u32 - 1
        });
        let entry = &mut self.groups[group as usize];
        for operand in operands {
            self.root_reads[operand.index()] += u32::from(entry.inputs.insert(*operand));
        }
        entry.nodes.push(id);
        for value in graph.node(id).results() {
            self.cone[value.index()] = (0, 1);
            self.of[value.index()] = group;
            self.after[value.index()] = entry.level + 1;
        }
    }

    /// Finds the group of a reduction of the same space along the same axes with the same reads, if its operand is
    /// available.
    fn sibling(&self, graph: &Graph<DType>, id: NodeId, level: u32) -> Option<u32> {
        self.reductions.iter().rev().take(MAX_OPEN).copied().find(|&group| {
            let Group { level: own, nodes, .. } = &self.groups[group as usize];
            *own >= level
                && nodes.len() < self.limits.reduced()
                && nodes.iter().all(|&other| self.beside(graph, id, other))
        })
    }

    /// Returns `true` if two reductions are of the same space, along the same axes, with the same reads.
    pub(super) fn beside(&self, graph: &Graph<DType>, a: NodeId, b: NodeId) -> bool {
        let (NodeKind::Reduce(Reduce { axes, .. }), NodeKind::Reduce(Reduce { axes: along, .. })) =
            (graph.node(a).kind, graph.node(b).kind)
        else {
            return false;
        };
        let [a, b] = [a, b].map(|id| graph.operands(id)[0]);
        along == axes
            && graph.shape_id(a) == graph.shape_id(b)
            && (a == b || self.computes(a, b) || self.computes(b, a))
    }

    /// Returns `true` if the group of `value` computes or reads `other`.
    fn computes(&self, value: Value, other: Value) -> bool {
        let group = self.group(value);
        group != NONE && (self.group(other) == group || self.groups[group as usize].inputs.contains(&other))
    }

    fn wants(
        &self,
        graph: &Graph<DType>,
        value: Value,
        operands: &[Value],
        weight: usize,
        is_result: bool,
        fuse: bool,
    ) -> FusionRequest {
        let (reads, again, views) = (SmallVec::new(), SmallVec::new(), SmallVec::new());
        let mut wants =
            FusionRequest { weight, reads, again, views, rows: None, ready: 0, is_result, at_most: u32::MAX };
        for &operand in operands {
            match graph.node(graph.producer(operand)).kind {
                NodeKind::Literal(_) => {}
                NodeKind::View(_) => wants.reads.push(operand),
                kind if kind.row().fusion == Fusion::Leaf => wants.reads.push(operand),
                _ => {
                    let again = fuse && self.recomputed(graph, operand, graph.shape(value));
                    if again { wants.again.push(operand) } else { wants.reads.push(operand) }
                }
            }
        }
        wants
    }

    /// Returns the current group of a value; `NONE` for parameters and literals.
    pub(super) fn group(&self, value: Value) -> u32 {
        match self.of[value.index()] {
            NONE => NONE,
            group => self.merged(group),
        }
    }

    /// Returns the group into which a group was merged, or itself.
    pub(super) fn merged(&self, mut group: u32) -> u32 {
        while self.merged[group as usize] != group {
            group = self.merged[group as usize];
        }
        group
    }

    /// Returns the values among `reads` that `group` does not compute.
    fn foreign<'a>(&'a self, group: u32, reads: &'a [Value]) -> impl Iterator<Item = Value> + 'a {
        reads.iter().copied().filter(move |&o| self.group(o) != group)
    }

    fn levels<'a>(&'a self, reads: &'a [Value]) -> impl Iterator<Item = u32> + 'a {
        reads.iter().map(|&o| self.group(o)).filter(|&g| g != NONE).map(|g| self.groups[g as usize].level)
    }

    /// Finds an open group for a node. Groups of one level are independent, so the groups that the node reads are
    /// merged.
    fn accepting(&mut self, fuse: bool, open: &mut SmallVec<[u32; MAX_OPEN]>, wants: &FusionRequest) -> Option<u32> {
        if !fuse {
            return None;
        }
        let mut read: SmallVec<[u32; 3]> = wants.reads.iter().map(|&o| self.group(o)).collect();
        read.retain(|group| open.contains(group));
        read.sort_unstable();
        read.dedup();
        if let Some(level) = read.iter().map(|&g| self.groups[g as usize].level).max() {
            read.retain(|group| self.groups[*group as usize].level == level);
            self.merge(&read, open);
        }
        open.iter().rev().copied().find(|&group| self.accepts(group, wants))
    }

    /// Merges groups of one shape and level into the first of them, if the limits allow.
    pub(super) fn merge(&mut self, groups: &[u32], open: &mut SmallVec<[u32; MAX_OPEN]>) {
        let Some((&into, others)) = groups.split_first() else { return };
        for &other in others {
            let (a, b) = (&self.groups[into as usize], &self.groups[other as usize]);
            let new_inputs = b.inputs.iter().filter(|v| !a.inputs.contains(v)).count();
            if a.weight + b.weight > MAX_WEIGHT
                || a.inputs.len() + new_inputs + a.leaves + b.leaves > self.limits.inputs
                || a.outputs + b.outputs > self.limits.outputs
            {
                continue;
            }
            let b = std::mem::take(&mut self.groups[other as usize]);
            let a = &mut self.groups[into as usize];
            a.weight += b.weight;
            a.outputs += b.outputs;
            a.leaves += b.leaves;
            a.inputs.extend(b.inputs);
            a.nodes.extend(b.nodes);
            self.merged[other as usize] = into;
            open.retain(|group| *group != other);
        }
    }

    /// Returns the weight and the number of arrays that a node adds to a group.
    fn growth(&self, group: u32, wants: &FusionRequest) -> (usize, usize) {
        let known = &self.groups[group as usize].inputs;
        let rows = usize::from(wants.rows.is_some_and(|rows| !known.contains(&rows)));
        let mut growth =
            (wants.weight, rows + self.foreign(group, &wants.reads).filter(|o| !known.contains(o)).count());
        for value in wants.again.iter().filter(|v| !known.contains(v)) {
            let (cost, leaves) = self.cone[value.index()];
            growth = (growth.0 + cost as usize, growth.1 + leaves as usize);
        }
        growth
    }

    fn accepts(&self, group: u32, wants: &FusionRequest) -> bool {
        let entry = &self.groups[group as usize];
        // Without a common value, two programs would share a kernel only because their shapes are equal now.
        let connected = wants.reads.iter().any(|&o| self.group(o) == group)
            || wants.reads.iter().chain(&wants.again).chain(&wants.rows).any(|o| entry.inputs.contains(o));
        let acyclic = self.foreign(group, &wants.reads).all(|o| {
            let other = self.group(o);
            other == NONE || self.groups[other as usize].level < entry.level
        });
        let (weight, arrays) = self.growth(group, wants);
        connected
            && acyclic
            && (wants.ready..=wants.at_most).contains(&entry.level)
            && wants.again.iter().chain(&wants.views).all(|o| self.after[o.index()] <= entry.level)
            && entry.weight + weight <= MAX_WEIGHT
            && entry.inputs.len() + entry.leaves + arrays <= self.limits.inputs
            && entry.outputs + usize::from(wants.is_result) <= self.limits.outputs
    }

    fn join(&mut self, group: u32, id: NodeId, value: Value, wants: &FusionRequest) {
        let (weight, _) = self.growth(group, wants);
        let foreign: SmallVec<[Value; 3]> = self.foreign(group, &wants.reads).collect();
        let entry = &mut self.groups[group as usize];
        entry.weight += weight;
        entry.outputs += usize::from(wants.is_result);
        entry.inputs.extend(foreign.into_iter().chain(wants.rows));
        for &again in &wants.again {
            if entry.inputs.insert(again) {
                entry.leaves += self.cone[again.index()].1 as usize;
            }
        }
        entry.nodes.push(id);
        self.of[value.index()] = group;
    }

    /// Returns the number of primitives of a value from stored ones on.
    pub(super) fn cost(&self, value: Value) -> u32 {
        self.cone[value.index()].0
    }

    /// Returns `true` if exactly one node reads a value, and none a view of it.
    pub(super) fn is_read_once(&self, value: Value) -> bool {
        self.reads.get(value.index()) == Some(&1)
    }

    /// Returns `true` if several single-node groups read a value.
    pub(super) fn is_wanted_twice(&self, value: Value) -> bool {
        self.root_reads[value.index()] > 1
    }

    /// Returns `true` if a kernel of shape `space` recomputes a value of another group instead of loading it.
    pub(super) fn recomputed(&self, graph: &Graph<DType>, value: Value, space: &Shape) -> bool {
        let shape = graph.shape(value);
        if shape == space || !is_computed(graph, value) {
            return false;
        }
        let one_per_row = space.extents().last() != Some(&1)
            && shape.extents().last() == Some(&1)
            && shape.extents().iter().any(|&e| e != 1);
        let (most, arrays) = if one_per_row { (MAX_HOISTED, self.limits.inputs / 2) } else { (MAX_RECOMPUTED, 1) };
        let (cost, leaves) = self.cone[value.index()];
        cost as usize <= most && leaves as usize <= arrays
    }

    /// Returns `true` if a kernel of another group recomputes a value of its own shape, which nobody stores, instead of loading it. It can
    /// only if it `may_read` the operands.
    pub(super) fn is_cheaper_than_loaded(
        &self,
        graph: &Graph<DType>,
        value: Value,
        group: u32,
        may_read: impl Fn(Value) -> bool,
    ) -> bool {
        let (cost, leaves) = self.cone[value.index()];
        let room = self.groups[group as usize].inputs.len() + 1 < self.limits.inputs;
        if !room || !is_computed(graph, value) || cost as usize > 2 * MAX_INSTEAD_OF_LOADED || leaves > 2 {
            return false;
        }
        let (mut open, mut whole) = (vec![value], 0);
        while let Some(other) = open.pop() {
            if self.cone[other.index()].0 > 0 {
                open.extend(graph.operands(graph.producer(other)));
            } else if !may_read(other) {
                return false;
            } else if self.cone[other.index()].1 > 0 && graph.shape(other) == graph.shape(value) {
                whole += 1;
                if graph.ty(other).bytes() > graph.ty(value).bytes() {
                    return false;
                }
            }
        }
        // Positions and numbers alone are computed without a load.
        whole == 0 || whole == 1 && cost as usize <= MAX_INSTEAD_OF_LOADED
    }
}

/// Returns `true` if an op or a cast computes a value.
fn is_computed(graph: &Graph<DType>, value: Value) -> bool {
    matches!(graph.node(graph.producer(value)).kind, NodeKind::Op(..) | NodeKind::Cast(_))
}

/// Constraints on the second pass.
#[derive(Default)]
pub(super) struct Waiting {
    /// The least level of waiting reductions.
    pub(super) levels: FxHashMap<NodeId, u32>,
    /// The dependencies of awaited reductions: they join no kernel later than necessary.
    pub(super) prompt: FxHashSet<Value>,
}

/// Returns `true` if a node has a group of its own.
pub(super) fn is_root(kind: NodeKind<DType>) -> bool {
    kind.row().fusion == Fusion::Root
}
