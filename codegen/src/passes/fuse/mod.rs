//! Fuse: groups elementwise nodes into kernels, each one loop nest with several inputs and outputs.
//!
//! A node joins the kernels of its shape that share a value with it, as long as the kernel graph stays acyclic: every
//! kernel has a level above those of the kernels it reads, so kernels of one level can be merged. A value of a smaller
//! shape is recomputed in the kernel that broadcasts it if that is cheap, or if it is invariant along the innermost
//! axis and so computed once per row; else it is stored. A value of the kernel's own shape is computed once, and stored
//! if another kernel reads it, so sharing never recomputes. A reduction or a scan has a separate kernel, which computes
//! its operand if nothing else uses it, or if it is cheap. So has each joined array, and a reshape that is a copy.
//! Views are read in place. The sum of a contraction of large matrices (`contract`) has a kernel without other nodes,
//! whose operands are stored.

mod contract;
mod groups;
mod insertions;
mod joins;
mod parts;
mod regroup;

use super::schedule::is_position;
use groups::{Group, Groups, Limits, MAX_OPEN, NONE, is_root};
pub(super) use groups::{MAX_WEIGHT, elementwise_weight};
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Scatter, SlotId, Value};
use ndjit_ir::kernel::{
    ControlRef, FusedControl, FusedKernel, FusedStep, KernelInput, KernelKind, KernelReduce, KernelScan, KernelScatter,
    OpBody, Part, Reads, ScalarId, Statements, StmtKind,
};
use ndjit_ir::loops::Layout;
use ndjit_ir::reduction::{AxisSet, Reduce};
use ndjit_ir::view::{AxisIndex, View, scattered};
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape};
use ndjit_transform::access::Accesses;
use parts::is_join;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Fuses the nodes of a graph into steps, which compute every output of the graph, in an order in which they can run. A
/// kernel uses at most `max_arrays` arrays, not counting outputs for other kernels.
///
/// # Errors
/// `Verify` if the kernel graph has a cycle, or the graph has calls.
pub fn fuse(
    graph: &Graph<DType>,
    accesses: &Accesses,
    params: &[Layout],
    together: bool,
    max_arrays: usize,
) -> Result<Vec<FusedStep>> {
    let groups = Groups::assign(graph, accesses, together, Limits::new(max_arrays))?;
    let fusing = Fusing { graph, accesses, params, groups: &groups, fuse: together };
    let mut steps: Vec<FusedStep> = Vec::new();
    let mut needed = vec![false; graph.value_count()];
    for &output in graph.outputs() {
        needed[accesses.result(graph, output).index()] = true;
    }
    // A parameter, a literal or a view that is a result of the program is copied.
    let mut copied: FxHashSet<Value> = FxHashSet::default();
    for &output in graph.outputs() {
        if !fusing.is_made(accesses.result(graph, output)) && copied.insert(output) {
            steps.push(fusing.build(fusing.elementwise(vec![output]), &mut needed));
        }
    }
    // Iotas and literals are copied if rows are gathered from or scattered into them.
    let has_rows = |id: &NodeId| matches!(graph.node(*id).kind, NodeKind::Gather | NodeKind::Scatter(_));
    for id in graph.node_ids().filter(has_rows) {
        let rows = graph.operands(id)[0];
        let made = fusing.is_made(rows) || matches!(fusing.kind(accesses.in_memory(graph, rows)), NodeKind::Param(..));
        if accesses.in_memory(graph, rows) == rows && !made && copied.insert(rows) {
            steps.push(fusing.build(fusing.elementwise(vec![rows]), &mut needed));
        }
    }
    for id in graph.node_ids().filter(|&id| matches!(graph.node(id).kind, NodeKind::Insert(_))) {
        for &start in &graph.operands(id)[2..] {
            let known = accesses.traced_index(graph, start, true).is_some();
            if !known && !fusing.is_made(start) && copied.insert(start) {
                steps.push(fusing.build(fusing.elementwise(vec![start]), &mut needed));
            }
        }
    }
    // Control flow has whole arrays as operands, and so have the first operands of a scatter and an insertion.
    for id in graph.node_ids() {
        let whole = match graph.node(id).kind {
            NodeKind::Control(..) => graph.operands(id),
            NodeKind::Insert(_) => &graph.operands(id)[..1],
            _ => continue,
        };
        for &operand in whole {
            if !fusing.is_made(operand) && !accesses.is_whole(graph, operand, params) && copied.insert(operand) {
                steps.push(fusing.build(fusing.elementwise(vec![operand]), &mut needed));
            }
        }
    }
    // Last kernels first: their reads determine the stores of earlier ones. Kernels read only from lower levels.
    // Single-node groups come after the others of their level, which may need their operands stored.
    let mut last_first: Vec<(&Group, bool)> = groups.groups.iter().rev().map(|g| (g, fusing.is_root(g))).collect();
    last_first.sort_by_key(|(group, root)| (std::cmp::Reverse(group.level), *root));
    let mut made: FxHashSet<Value> = FxHashSet::default();
    for (n, &(group, root)) in last_first.iter().enumerate() {
        let wanted = |group: &Group, needed: &[bool]| -> Vec<Value> {
            let values = group.nodes.iter().flat_map(|&id| graph.node(id).results());
            values.filter(|value| needed[value.index()] && !made.contains(value)).collect()
        };
        let mut stored = wanted(group, &needed);
        if root && together && stored.iter().any(|&value| is_join(fusing.kind(value))) {
            let beside = last_first[n + 1..].iter().take(MAX_OPEN).take_while(|(other, _)| other.level == group.level);
            let beside = beside.flat_map(|(other, _)| wanted(other, &needed));
            let like: Vec<Value> = beside.filter(|&other| fusing.joins_alike(stored[0], other, &needed)).collect();
            stored.extend(like);
            made.extend(&stored);
        }
        stored.sort_unstable();
        if stored.is_empty() {
            continue;
        }
        if let NodeKind::Control(n) = fusing.kind(stored[0]) {
            steps.push(fusing.controlling(n, &stored, &mut needed));
        } else if root {
            // All plans precede the kernels: loads of one kernel must not cause loads in another.
            for plan in fusing.root_kernels(stored, &needed) {
                steps.push(fusing.build(plan, &mut needed));
            }
        } else {
            steps.push(fusing.build(fusing.elementwise(stored), &mut needed));
        }
    }
    steps.reverse();
    share_bodies(&mut steps);
    order(steps, graph, accesses)
}

/// Returns the number of arrays that a step's kernel binds on a device.
pub fn arrays(step: &FusedStep, graph: &Graph<DType>, accesses: &Accesses) -> usize {
    let FusedStep::Kernel(kernel) = step else { return 0 };
    let each = match kernel.kind {
        // These run on the processor.
        KernelKind::Scatter(_) | KernelKind::Sort(_) => return 0,
        // Scanned blocks also have totals.
        KernelKind::Scan(_) => 2,
        KernelKind::Map | KernelKind::Part(_) | KernelKind::Reduce(_) | KernelKind::Contract(_) => 1,
    };
    let in_memory = |input: &&KernelInput| match input.reads {
        Reads::Elements => !is_position(graph, accesses.base(input.value)),
        Reads::GatherSource => true,
        Reads::GatherBound | Reads::GatherStride => false,
    };
    kernel.inputs.iter().filter(in_memory).count() + kernel.outputs.len() * each
}

/// The plan of a kernel.
struct KernelPlan {
    /// The group of the values.
    group: u32,
    space: Shape,
    /// Stored, reduced or scanned values of the iteration space.
    roots: Vec<Value>,
    /// The stored values.
    stored: Vec<Value>,
    kind: PlanKind,
}

/// The use of a kernel's roots.
enum PlanKind {
    Kind(KernelKind),
    /// Scattered into rows of a value.
    Scatter(Scatter, Value),
}

/// The maximum number of primitives computed both in a single-node group and in the kernel that stores values beside
/// them.
const MAX_REMATERIALIZED: u32 = 32;

/// A graph with groups to make kernels of.
struct Fusing<'a> {
    graph: &'a Graph<DType>,
    accesses: &'a Accesses,
    params: &'a [Layout],
    groups: &'a Groups,
    fuse: bool,
}

impl Fusing<'_> {
    fn kind(&self, value: Value) -> NodeKind<DType> {
        self.graph.node(self.graph.producer(value)).kind
    }

    /// Returns `true` if a kernel computes the value.
    fn is_made(&self, value: Value) -> bool {
        self.groups.group(value) != NONE
    }

    /// Returns `true` if a group is of one reduction or scan, or of one node that moves elements.
    fn is_root(&self, group: &Group) -> bool {
        group.nodes.first().is_some_and(|&id| is_root(self.graph.node(id).kind))
    }

    fn elementwise(&self, stored: Vec<Value>) -> KernelPlan {
        let (group, space) = (self.groups.group(stored[0]), self.graph.shape(stored[0]).clone());
        KernelPlan { group, space, roots: stored.clone(), stored, kind: PlanKind::Kind(KernelKind::Map) }
    }

    /// Plans the kernels of a single-node group: one, or one for each joined array. Several values are those of
    /// reductions.
    fn root_kernels(&self, stored: Vec<Value>, needed: &[bool]) -> Vec<KernelPlan> {
        let value = stored[0];
        let operands = self.graph.operands(self.graph.producer(value));
        let plan = |operand: Value| KernelPlan {
            group: self.computing(operand, needed).unwrap_or(self.groups.group(value)),
            space: self.graph.shape(operand).clone(),
            roots: vec![operand],
            stored: vec![value],
            kind: PlanKind::Kind(KernelKind::Map),
        };
        match self.kind(value) {
            NodeKind::Reduce(Reduce { axes, .. }) => vec![self.reducing(axes, stored, needed)],
            NodeKind::Scan(scan, axis, ()) => {
                let kind = KernelKind::Scan(KernelScan { axis: axis as usize, outputs: smallvec![scan] });
                vec![KernelPlan { kind: PlanKind::Kind(kind), ..plan(operands[0]) }]
            }
            NodeKind::Sort(sort, axis, ()) => {
                let kind = KernelKind::Sort(KernelScan { axis: axis as usize, outputs: smallvec![sort] });
                vec![KernelPlan { kind: PlanKind::Kind(kind), ..plan(operands[0]) }]
            }
            NodeKind::Scatter(scatter) => {
                vec![self.row(scatter, value, needed).unwrap_or_else(|| self.scattering(scatter, value, needed))]
            }
            NodeKind::Insert(view) => {
                let (x, updates, starts) = (operands[0], operands[1], SmallVec::from_slice(&operands[2..]));
                let all = starts.is_empty() && self.graph.shape(x).size() == self.graph.shape(updates).size();
                let into = (!all).then_some(x);
                let elsewhere =
                    !starts.is_empty() && self.reads_elsewhere(updates, (x, self.graph.view_of(view)), &starts);
                let group = if elsewhere { self.groups.group(value) } else { plan(updates).group };
                let kind = KernelKind::Part(Box::new(Part { view: self.graph.view_of(view).clone(), into, starts }));
                vec![KernelPlan { kind: PlanKind::Kind(kind), group, ..plan(updates) }]
            }
            NodeKind::Concat(..) => self.joining(&stored, needed),
            // Stored views and reshapes are copies; other views are never roots.
            NodeKind::View(_)
            | NodeKind::Slice(_)
            | NodeKind::Reshape
            | NodeKind::Param(..)
            | NodeKind::Literal(_)
            | NodeKind::Iota(_)
            | NodeKind::Op(..)
            | NodeKind::Cast(_)
            | NodeKind::Identity(_)
            | NodeKind::Gather
            | NodeKind::Control(..)
            | NodeKind::Call(_) => vec![plan(operands[0])],
        }
    }

    /// Returns the step of a control flow, with its used results.
    fn controlling(&self, n: u32, stored: &[Value], needed: &mut [bool]) -> FusedStep {
        let graph = self.graph;
        let id = graph.producer(stored[0]);
        let which = |&value: &Value| (graph.node(id).result(value) as u32, value);
        let operands = graph.operands(id).to_vec();
        operands.iter().for_each(|value| needed[value.index()] = true);
        let control = ControlRef(Arc::clone(&graph.controls()[n as usize]));
        FusedStep::Control(FusedControl { control, operands, results: stored.iter().map(which).collect() })
    }

    /// Plans the kernel that scatters values into rows of another one. It computes the values and their indices if it
    /// can compute all of them that are not loaded.
    fn scattering(&self, scatter: Scatter, value: Value, needed: &[bool]) -> KernelPlan {
        let [x, index, updates] = [0, 1, 2].map(|n| self.graph.operands(self.graph.producer(value))[n]);
        // The verifier has checked the shapes.
        let space = scattered(self.graph.shape(x), self.graph.shape(index)).unwrap_or_default();
        let roots = vec![updates, index];
        let made = roots.iter().filter(|&&root| self.groups.group(root) != NONE);
        let computed = |root: Value| self.computing(root, needed).filter(|_| *self.graph.shape(root) == space);
        let mut groups = made.map(|&root| computed(root));
        let first = groups.next().flatten().filter(|first| groups.all(|group| group == Some(*first)));
        KernelPlan {
            group: first.unwrap_or(self.groups.group(value)),
            space,
            roots,
            stored: vec![value],
            kind: PlanKind::Scatter(scatter, x),
        }
    }

    /// Plans the kernel that stores a row of another value, for a scatter at one index in memory.
    fn row(&self, scatter: Scatter, value: Value, needed: &[bool]) -> Option<KernelPlan> {
        let &[x, index, updates] = self.graph.operands(self.graph.producer(value)) else { return None };
        let shape = self.graph.shape(x);
        self.accesses.traced_row(self.graph, index, shape, 0, true).filter(|_| scatter == Scatter::Set)?;
        let into = self.accesses.whole(self.graph, x, self.params)?;
        let space = scattered(shape, self.graph.shape(index)).ok()?;
        let apart = space.rank() + 1 - shape.rank();
        let along = |axis: usize| match axis {
            0 => AxisIndex::fixed(0),
            axis => AxisIndex::along(apart + axis - 1, 0, 1),
        };
        let view = View { rank: space.rank(), axes: (0..shape.rank()).map(along).collect() }.canonical(&space);
        let view = view.with_starts(&[(0, 1)]);
        let part = Part { view, into: Some(into), starts: smallvec![index] };
        let computed = self.computing(updates, needed).filter(|_| *self.graph.shape(updates) == space);
        Some(KernelPlan {
            group: computed.unwrap_or(self.groups.group(value)),
            space,
            roots: vec![updates],
            stored: vec![value],
            kind: PlanKind::Kind(KernelKind::Part(Box::new(part))),
        })
    }

    /// Plans the kernel of reductions along these axes. It computes their operands if it can compute all of them that
    /// are not loaded.
    fn reducing(&self, axes: AxisSet, stored: Vec<Value>, needed: &[bool]) -> KernelPlan {
        let operand = |&value: &Value| self.graph.operands(self.graph.producer(value))[0];
        let reduction = |&value: &Value| match self.kind(value) {
            NodeKind::Reduce(Reduce { reduction, .. }) => Some(reduction),
            _ => None,
        };
        let roots: Vec<Value> = stored.iter().map(operand).collect();
        let made = roots.iter().filter(|&&root| self.groups.group(root) != NONE);
        let mut groups = made.map(|&root| self.computing(root, needed));
        let first = groups.next().flatten().filter(|first| groups.all(|group| group == Some(*first)));
        let of = self.groups.products.get(&roots[0]);
        let contracts = stored.len() == 1 && first.is_some() && of == Some(&self.graph.producer(stored[0]));
        let reduce = KernelReduce { axes, outputs: stored.iter().filter_map(reduction).collect() };
        let kind = if contracts { KernelKind::Contract(reduce) } else { KernelKind::Reduce(reduce) };
        KernelPlan {
            group: first.unwrap_or(self.groups.group(stored[0])),
            space: self.graph.shape(roots[0]).clone(),
            kind: PlanKind::Kind(kind),
            roots,
            stored,
        }
    }

    /// Returns the group of an operand that the kernel of a single-node group recomputes. It is `None` if the operand
    /// is stored anyway, or if it is expensive and has other users: another such node, or kernels that need its group.
    fn computing(&self, operand: Value, needed: &[bool]) -> Option<u32> {
        let of = self.groups.group(operand);
        if !self.fuse || of == NONE || needed[operand.index()] {
            return None;
        }
        let group = &self.groups.groups[of as usize];
        let unshared = !self.groups.is_wanted_twice(operand)
            && group.nodes.iter().all(|&id| self.graph.node(id).results().all(|value| !needed[value.index()]));
        (!self.is_root(group) && (unshared || self.groups.cost(operand) <= MAX_REMATERIALIZED)).then_some(of)
    }

    /// Builds one kernel; records its loads in `needed`.
    fn build(&self, plan: KernelPlan, needed: &mut [bool]) -> FusedStep {
        let Fusing { graph, groups, fuse, .. } = *self;
        let KernelPlan { group, space, roots, stored, kind } = plan;
        // The operands of matrix products are stored.
        let fuse = fuse && !matches!(kind, PlanKind::Kind(KernelKind::Contract(_)));
        // A kernel that changes part of an array in place reads no other part of it.
        let changed = kind.changed().map(|x| self.accesses.base(x));
        // Values computed in this kernel, found from the last to the first.
        let mut heap: BinaryHeap<(Value, bool)> = roots.iter().map(|&v| (v, false)).collect();
        let mut computed: Vec<Value> = Vec::new();
        // Each value comes with a flag whether its user is recomputed: then it is recomputed too.
        while let Some((value, again)) = heap.pop() {
            needed[self.accesses.base(value).index()] |= self.accesses.view(value).is_some();
            self.accesses.rows(value).iter().for_each(|row| needed[row.index.value.index()] = true);
            let of = groups.group(value);
            if computed.last() == Some(&value) || of == NONE {
                continue;
            }
            let root = is_root(self.kind(value));
            let apart = !root && of != group && fuse;
            let instead = || {
                !needed[value.index()]
                    && *graph.shape(value) == space
                    && groups
                        .is_cheaper_than_loaded(graph, value, group, |leaf| Some(self.accesses.base(leaf)) != changed)
            };
            let again = !root && (again || apart && (groups.recomputed(graph, value, &space) || instead()));
            if of == group && !root || again {
                computed.push(value);
                let mut operands = graph.operands(graph.producer(value));
                if self.kind(value) == NodeKind::Gather {
                    needed[self.accesses.in_memory(graph, operands[0]).index()] = true;
                    self.accesses.rows(operands[0]).iter().for_each(|row| needed[row.index.value.index()] = true);
                    operands = &operands[1..];
                }
                heap.extend(operands.iter().map(|&o| (o, again)));
            } else {
                needed[value.index()] = true;
            }
        }
        computed.reverse();
        let mut builder = KernelBuilder {
            graph,
            accesses: self.accesses,
            scalars: FxHashMap::default(),
            rows: FxHashMap::default(),
            inputs: Vec::new(),
            literals: Vec::new(),
            body: OpBody::default(),
            statements: Statements::default(),
        };
        for value in computed {
            builder.compute(value);
        }
        for &value in &roots {
            let scalar = builder.scalar(value);
            builder.body.outputs.push(scalar);
        }
        let kind = match kind {
            PlanKind::Scatter(scatter, x) => {
                needed[self.accesses.in_memory(graph, x).index()] = true;
                self.accesses.rows(x).iter().for_each(|row| needed[row.index.value.index()] = true);
                KernelKind::Scatter(KernelScatter { scatter, into: builder.rows(x) })
            }
            PlanKind::Kind(KernelKind::Contract(reduce)) if !builder.body.is_product() => KernelKind::Reduce(reduce),
            PlanKind::Kind(kind) => {
                if let Some(part) = kind.part() {
                    part.into.iter().for_each(|x| needed[x.index()] = true);
                    let index = |&start: &Value| self.accesses.start(graph, start).value;
                    part.starts.iter().for_each(|start| needed[index(start).index()] = true);
                }
                kind
            }
        };
        let KernelBuilder { inputs, literals, body, statements, .. } = builder;
        let body = Arc::new(body);
        FusedStep::Kernel(FusedKernel { shape: space, inputs, literals, body, outputs: stored, kind, statements })
    }
}

struct KernelBuilder<'a> {
    graph: &'a Graph<DType>,
    accesses: &'a Accesses,
    scalars: FxHashMap<Value, ScalarId>,
    /// The input of each value whose rows are gathered.
    rows: FxHashMap<Value, u32>,
    inputs: Vec<KernelInput>,
    literals: Vec<SlotId>,
    body: OpBody,
    statements: Statements,
}

impl KernelBuilder<'_> {
    fn compute(&mut self, value: Value) {
        let id = self.graph.producer(value);
        let mut operands = self.graph.operands(id);
        let rows = (self.graph.node(id).kind == NodeKind::Gather).then(|| self.rows(operands[0]));
        if rows.is_some() {
            operands = &operands[1..];
        }
        let args: Vec<ScalarId> = operands.iter().map(|&o| self.scalar(o)).collect();
        let kind = match self.graph.node(id).kind {
            NodeKind::Op(op, _) => StmtKind::Op(op),
            NodeKind::Gather => StmtKind::Gather(rows.unwrap_or_default()),
            NodeKind::Cast(_) => StmtKind::Cast,
            _ => {
                unreachable!("only ops, casts and gathers belong to groups")
            }
        };
        let scalar = self.body.push(kind, &args, self.graph.ty(value));
        self.statements.0.push(value);
        self.scalars.insert(value, scalar);
    }

    /// Returns the scalar of a value: an earlier one, a literal, or a load.
    fn scalar(&mut self, value: Value) -> ScalarId {
        if let Some(&scalar) = self.scalars.get(&value) {
            return scalar;
        }
        let dtype = self.graph.ty(value);
        let kind = match self.graph.node(self.graph.producer(self.accesses.base(value))).kind {
            NodeKind::Literal(slot) => self.literal(slot, dtype),
            _ => StmtKind::Load(self.input(value, Reads::Elements, dtype)),
        };
        let scalar = self.body.push(kind, &[], dtype);
        self.statements.0.push(value);
        self.scalars.insert(value, scalar);
        scalar
    }

    fn input(&mut self, value: Value, reads: Reads, dtype: DType) -> u32 {
        self.inputs.push(KernelInput { value, shape: self.graph.shape(value).clone(), reads });
        self.body.inputs.push(dtype);
        self.inputs.len() as u32 - 1
    }

    /// Returns the input of a value whose rows are gathered, with its bound and stride.
    fn rows(&mut self, value: Value) -> u32 {
        if let Some(&input) = self.rows.get(&value) {
            return input;
        }
        let input = self.input(value, Reads::GatherSource, self.graph.ty(value));
        self.input(value, Reads::GatherBound, DType::I64);
        self.input(value, Reads::GatherStride, DType::I64);
        self.rows.insert(value, input);
        input
    }

    fn literal(&mut self, slot: SlotId, dtype: DType) -> StmtKind {
        self.literals.push(slot);
        self.body.literals.push(dtype);
        StmtKind::Literal(self.literals.len() as u32 - 1)
    }
}

/// Shares the bodies of kernels with equal computations: long programs have few distinct ones.
fn share_bodies(steps: &mut [FusedStep]) {
    let mut known: FxHashSet<Arc<OpBody>> = FxHashSet::default();
    for step in steps {
        let FusedStep::Kernel(kernel) = step else { continue };
        match known.get(&kernel.body) {
            Some(body) => kernel.body = Arc::clone(body),
            None => {
                known.insert(Arc::clone(&kernel.body));
            }
        }
    }
}

/// Sorts steps by their dependencies.
fn order(steps: Vec<FusedStep>, graph: &Graph<DType>, accesses: &Accesses) -> Result<Vec<FusedStep>> {
    let mut makers: FxHashMap<Value, SmallVec<[usize; 1]>> = FxHashMap::default();
    for (i, step) in steps.iter().enumerate() {
        step.makes().for_each(|v| makers.entry(v).or_default().push(i));
    }
    let mut users: Vec<SmallVec<[usize; 2]>> = vec![SmallVec::new(); steps.len()];
    for (user, step) in steps.iter().enumerate() {
        let starts = step.kernel().and_then(|kernel| kernel.kind.part()).into_iter().flat_map(|part| &part.starts);
        for value in step.reads().chain(starts.map(|&start| accesses.start(graph, start).value)) {
            // Iotas and literals are stored so that rows can be gathered from them.
            let stored: SmallVec<[Value; 4]> =
                accesses.rows(value).iter().map(|row| row.index.value).chain([accesses.base(value), value]).collect();
            for &maker in stored.iter().filter_map(|value| makers.get(value)).flatten().filter(|&&maker| maker != user)
            {
                users[maker].push(user);
            }
        }
    }
    let sorted = topological(&users);
    let mut places = vec![0; steps.len()];
    sorted.iter().enumerate().for_each(|(place, &step)| places[step] = place);
    if let Some(step) = (0..steps.len()).find(|&step| users[step].iter().any(|&user| places[user] < places[step])) {
        return Err(Error::new(ErrorCode::Verify, format!("fuse: step {step} reads its own results")));
    }
    let mut slots: Vec<Option<FusedStep>> = steps.into_iter().map(Some).collect();
    Ok(sorted.into_iter().filter_map(|i| slots[i].take()).collect())
}

/// A topological order of steps with these users, if there are no cycles: the postorder of a depth-first search, in reverse.
fn topological(users: &[SmallVec<[usize; 2]>]) -> Vec<usize> {
    let (mut found, mut finished) = (vec![false; users.len()], vec![false; users.len()]);
    let (mut sorted, mut stack) = (Vec::with_capacity(users.len()), Vec::new());
    for first in 0..users.len() {
        stack.push(first);
        while let Some(&step) = stack.last() {
            if !std::mem::replace(&mut found[step], true) {
                stack.extend(users[step].iter().rev().filter(|&&user| !found[user]));
                continue;
            }
            stack.pop();
            if !std::mem::replace(&mut finished[step], true) {
                sorted.push(step);
            }
        }
    }
    sorted.reverse();
    sorted
}
