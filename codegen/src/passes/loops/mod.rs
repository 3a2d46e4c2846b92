//! Loop kernels: control flow whose steps are one loop of a nest, so that one call of machine code runs them all.
//!
//! Each element of the state must be an elementwise function of that element, of elements of slices, of invariants and
//! of the index: elements are independent, so each can run its steps separately. For arrays the innermost parallel loop
//! lies within the loop over steps, and each step reads and writes the state in a tile that stays in the cache. For
//! scalars the steps are the innermost loop, and the state stays in registers. A `while` loop is compiled if its state
//! is scalars: it ends by its own condition. Beside scalars there may be arrays that each step reads and stores at a few
//! indices: they stay in memory.
//!
//! Other control flow runs step by step. Control flow runs on the processor, for every device.

mod arrays;
mod branches;

use super::fuse::{MAX_WEIGHT, elementwise_weight};
use super::schedule::{coalesce, stride_class};
use crate::clif::AccumulatorLayout;
use crate::lower::{Lowered, LoweredControl, LoweredStep, MAX_ARRAYS};
use arrays::{ArrayVersion, ElementStore};
use ndjit_ir::graph::{Control, ControlKind, Graph, NodeKind, ScanArity, SlotId, Value};
use ndjit_ir::kernel::{OpBody, ScalarId, StmtKind};
use ndjit_ir::loops::{Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, Role, Stride};
use ndjit_ir::{DType, Op, Result, Shape};
use ndjit_transform::access::{Accesses, contiguous, layout_of};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A loop as a nest.
#[derive(Clone, Debug)]
pub struct LoopKernel {
    /// Loops over ops. The first inputs and outputs are the accumulators, each in the same memory; then inputs, stacked
    /// results, and arrays of the state stored at addresses. A `while` loop has the condition as its last output.
    pub nest: Arc<LoopNest>,
    /// The layout of the accumulators.
    pub form: AccumulatorLayout,
    /// The results that are accumulators: the whole state, or its scalars beside arrays that are read and stored at indices.
    pub accumulators: Vec<u32>,
    /// The loop over steps.
    pub steps: usize,
    /// The sources of the other inputs: the operand (of the state, the current array), or no memory for literals.
    pub inputs: Vec<Option<u32>>,
    /// The results that the other outputs store; none for addresses and conditions.
    pub stored: Vec<Option<u32>>,
    /// Trips of each loop of the nest, 1 for the loop over steps if the operands determine them; layouts of inputs and
    /// outputs.
    pub domain: IterationDomain,
    /// The literals of the body: the program of the graph that has it, the slot, and the dtype.
    pub literals: Vec<(Arc<Lowered>, SlotId, DType)>,
}

/// Makes one nest of each loop whose steps can be one.
///
/// # Errors
/// `Size` if an array cannot exist.
pub(crate) fn loop_kernels(steps: &mut [LoweredStep]) -> Result<()> {
    for step in steps {
        if let LoweredStep::Control(LoweredControl { fused, bodies, compiled }) = step {
            *compiled = loop_kernel(&fused.control.0, bodies)?;
        }
    }
    Ok(())
}

/// Control flow as a nest; `None` if it cannot be one.
fn loop_kernel(control: &Control<DType>, bodies: &[Arc<Lowered>]) -> Result<Option<LoopKernel>> {
    let carried = match control.kind {
        ControlKind::Cond => return Ok(None),
        ControlKind::While => control.results(),
        ControlKind::Scan(arity) => arity.carried as usize,
        ControlKind::For(arity) => arity.carried as usize,
    };
    if let Some(state) = state(control, carried)
        && (control.kind != ControlKind::While || state.rank() == 0)
        && let Some(kernel) = LoopBuilder::new(control, carried, state, (0..carried).collect()).kernel(bodies)?
    {
        return Ok(Some(kernel));
    }
    let one = |n: &usize| control.result(*n).is_some_and(|(_, shape)| is_one(&shape));
    let slice = |n: usize| control.result(n).is_some_and(|(_, shape)| is_one(&Shape::from(&shape.extents()[1..])));
    let scalars: Vec<usize> = (0..carried).filter(one).collect();
    if scalars.len() == carried || !(carried..control.results()).all(slice) {
        return Ok(None);
    }
    LoopBuilder::new(control, carried, Shape::scalar(), scalars).kernel(bodies)
}

/// Returns the common shape of all arrays of the state and of all stacked slices.
fn state(control: &Control<DType>, carried: usize) -> Option<Shape> {
    let slice = |n: usize| {
        let (_, shape) = control.result(n)?;
        Some(if n < carried { shape } else { Shape::from(&shape.extents()[1..]) })
    };
    let first = slice(0)?;
    (1..control.results()).all(|n| slice(n).as_ref() == Some(&first)).then_some(first)
}

/// An input that is not the state, in the shape of the state.
struct StepInput {
    operand: Option<u32>,
    role: Role,
    layout: Layout,
    /// The stride along the steps.
    step: isize,
}

struct LoopBuilder<'a> {
    control: &'a Control<DType>,
    carried: usize,
    /// The shape of each accumulator.
    state: Shape,
    /// The results that are accumulators.
    accumulators: Vec<usize>,
    body: OpBody,
    inputs: Vec<StepInput>,
    literals: Vec<(Arc<Lowered>, SlotId, DType)>,
    /// The weight of all ops.
    weight: usize,
    /// The index of a counted loop.
    index: Option<ScalarId>,
    /// The input with the rows of each array of the state that is read or stored at indices.
    arrays: FxHashMap<usize, u32>,
    /// The integers that need no memory.
    numbers: FxHashMap<usize, ScalarId>,
}

/// A graph being computed.
struct LoopGraph<'a> {
    program: &'a Arc<Lowered>,
    graph: &'a Graph<DType>,
    accesses: Accesses,
    params: Vec<Layout>,
    /// The operand of the loop that each parameter is.
    operands: Vec<Option<u32>>,
    scalars: FxHashMap<Value, ScalarId>,
    versions: FxHashMap<Value, ArrayVersion>,
}

/// An output of a graph.
enum StepOutput {
    Scalar(ScalarId),
    Array(ArrayVersion),
}

impl<'a> LoopBuilder<'a> {
    fn new(control: &'a Control<DType>, carried: usize, state: Shape, accumulators: Vec<usize>) -> LoopBuilder<'a> {
        LoopBuilder {
            control,
            carried,
            state,
            accumulators,
            body: OpBody::default(),
            inputs: Vec::new(),
            literals: Vec::new(),
            weight: 0,
            index: None,
            arrays: FxHashMap::default(),
            numbers: FxHashMap::default(),
        }
    }

    /// The nest of the loop; `None` if it cannot be one.
    fn kernel(mut self, bodies: &[Arc<Lowered>]) -> Result<Option<LoopKernel>> {
        for n in self.accumulators.clone() {
            let Some((dtype, _)) = self.control.result(n) else { return Ok(None) };
            self.body.inputs.push(dtype);
        }
        let load = |n: usize| self.body.push(StmtKind::Load(n as u32), &[], self.body.inputs[n]);
        let states: Vec<ScalarId> = (0..self.accumulators.len()).map(load).collect();
        let (mut outputs, mut stores, mut condition) = (Vec::new(), Vec::new(), None);
        for (number, body) in bodies.iter().enumerate().rev() {
            let Some(made) = self.graph(number, body, &states)? else { return Ok(None) };
            if self.control.kind == ControlKind::While && number == 0 {
                let [StepOutput::Scalar(own)] = made[..] else { return Ok(None) };
                condition = Some(own);
                continue;
            }
            for (n, output) in made.into_iter().enumerate() {
                match output {
                    StepOutput::Scalar(scalar) if n >= self.carried || self.accumulators.contains(&n) => {
                        outputs.push(scalar);
                    }
                    StepOutput::Array(version) if version.state == n => stores.push(version),
                    // Other arrays, or arrays that change places.
                    StepOutput::Scalar(_) | StepOutput::Array(_) => return Ok(None),
                }
            }
        }
        let stacked = (self.carried..self.control.results()).map(|n| Some(n as u32));
        let mut stored: Vec<Option<u32>> = stacked.collect();
        for version in &stores {
            for &ElementStore { row, value } in &version.stores {
                let rows = self.array(version);
                outputs.push(value);
                outputs.push(self.body.push(StmtKind::Address(rows), &[row], DType::I64));
                stored.extend([Some(version.state as u32), None]);
            }
        }
        outputs.extend(condition);
        stored.extend(condition.map(|_| None));
        // No step changes anything.
        if outputs.is_empty() {
            return Ok(None);
        }
        self.body.outputs = outputs;
        self.finish(stored)
    }

    /// Returns the outputs of one of the loop's graphs; `None` if they are not elementwise.
    fn graph(&mut self, number: usize, body: &Arc<Lowered>, states: &[ScalarId]) -> Result<Option<Vec<StepOutput>>> {
        let operands = self.control.graphs[number].operands.iter().map(|&operand| Some(operand)).collect();
        let mut walk = LoopGraph::new(body, operands)?;
        for (&param, &operand) in walk.graph.params().iter().zip(&self.control.graphs[number].operands) {
            let operand = operand as usize;
            if let Some(n) = self.accumulators.iter().position(|&own| own == operand) {
                walk.scalars.insert(param, states[n]);
            } else if operand < self.carried {
                let (elements, dtype) = (walk.graph.shape(param).size()?, walk.graph.ty(param));
                walk.versions.insert(param, ArrayVersion { state: operand, elements, dtype, stores: Vec::new() });
            }
        }
        self.outputs(walk)
    }

    /// Returns the scalars of a graph's outputs, and its arrays of the state; `None` if they are not elementwise.
    fn outputs(&mut self, mut walk: LoopGraph<'_>) -> Result<Option<Vec<StepOutput>>> {
        let graph = walk.graph;
        let mut needed = vec![false; graph.node_count()];
        let mut stack: Vec<Value> = graph.outputs().to_vec();
        while let Some(value) = stack.pop() {
            let id = graph.producer(value);
            if !std::mem::replace(&mut needed[id.index()], true) {
                stack.extend(graph.operands(id));
            }
        }
        for id in graph.node_ids().filter(|id| needed[id.index()]) {
            let value = graph.node(id).first();
            if self.is_long() {
                return Ok(None);
            }
            if let Some(version) = self.stored(&mut walk, value)? {
                walk.versions.insert(value, version);
                continue;
            }
            if let NodeKind::Control(_) = graph.node(id).kind {
                if !self.branches(&mut walk, id)? {
                    return Ok(None);
                }
                continue;
            }
            let Some(own) = elementwise_weight(graph, id) else { continue };
            self.weight += own;
            if !self.compute(&mut walk, value)? {
                return Ok(None);
            }
        }
        if self.is_long() {
            return Ok(None);
        }
        let mut outputs = Vec::with_capacity(graph.outputs().len());
        for &output in graph.outputs() {
            let Some(output) = self.value(&mut walk, output)? else { return Ok(None) };
            outputs.push(output);
        }
        Ok(Some(outputs))
    }

    /// Whether there are more ops or arrays than a kernel has.
    fn is_long(&self) -> bool {
        self.weight > MAX_WEIGHT || self.inputs.len() > MAX_ARRAYS
    }

    /// Returns a scalar, or an array of the state; `None` if the value is neither.
    fn value(&mut self, walk: &mut LoopGraph<'_>, value: Value) -> Result<Option<StepOutput>> {
        Ok(match walk.version(value)? {
            Some(version) => Some(StepOutput::Array(version.clone())),
            None => self.scalar(walk, value)?.map(StepOutput::Scalar),
        })
    }

    /// Computes the value of an op, a cast or a gather, if supported.
    fn compute(&mut self, walk: &mut LoopGraph<'_>, value: Value) -> Result<bool> {
        let graph = walk.graph;
        let id = graph.producer(value);
        let mut operands = graph.operands(id);
        if !self.fits(graph.shape(value)) {
            return Ok(false);
        }
        let kind = match graph.node(id).kind {
            NodeKind::Op(op, ()) => StmtKind::Op(op),
            NodeKind::Cast(()) => StmtKind::Cast,
            NodeKind::Gather => {
                if let Some(version) = walk.version(operands[0])?.cloned() {
                    let rows = graph.shape(operands[0]).extents().first() == Some(&version.elements);
                    let (true, Some(row)) = (rows && is_one(graph.shape(value)), self.scalar(walk, operands[1])?)
                    else {
                        return Ok(false);
                    };
                    let scalar = self.read(&version, row);
                    walk.scalars.insert(value, scalar);
                    return Ok(true);
                }
                let Some(rows) = self.rows(walk, operands[0])? else { return Ok(false) };
                operands = &operands[1..];
                StmtKind::Gather(rows)
            }
            _ => return Ok(false),
        };
        let mut args: SmallVec<[ScalarId; 3]> = SmallVec::new();
        for &operand in operands {
            match self.scalar(walk, operand)? {
                Some(scalar) => args.push(scalar),
                None => return Ok(false),
            }
        }
        let scalar = self.body.push(kind, &args, graph.ty(value));
        walk.scalars.insert(value, scalar);
        Ok(true)
    }

    /// Returns the scalar of a value, computed or loaded; `None` if it is unsupported.
    fn scalar(&mut self, walk: &mut LoopGraph<'_>, value: Value) -> Result<Option<ScalarId>> {
        if let Some(&scalar) = walk.scalars.get(&value) {
            return Ok(Some(scalar));
        }
        let (graph, dtype) = (walk.graph, walk.graph.ty(value));
        let base = walk.accesses.base(value);
        // A view of one element is that element.
        if base != value && is_one(graph.shape(base)) {
            return self.scalar(walk, base);
        }
        if let (Some(version), true) = (walk.versions.get(&base).cloned(), is_one(graph.shape(value))) {
            let row = self.number(walk.layout(value)?.offset / version.dtype.bytes());
            let scalar = self.read(&version, row);
            walk.scalars.insert(value, scalar);
            return Ok(Some(scalar));
        }
        if !self.fits(graph.shape(value)) {
            return Ok(None);
        }
        if let (Some(&scalar), true) = (walk.scalars.get(&base), self.fits(graph.shape(base))) {
            let own = self.spread(&walk.layout(base)?, graph.shape(base));
            let seen = self.spread(&walk.layout(value)?, graph.shape(value));
            // This view maps each element of the state to itself.
            if own.same_elements(&seen, &self.state) {
                return Ok(Some(scalar));
            }
        }
        let scalar = match graph.node(graph.producer(base)).kind {
            NodeKind::Literal(slot) => {
                self.literals.push((Arc::clone(walk.program), slot, dtype));
                self.body.literals.push(dtype);
                let kind = StmtKind::Literal(self.literals.len() as u32 - 1);
                self.body.push(kind, &[], dtype)
            }
            NodeKind::Iota(_) => {
                let layout = self.spread(&walk.layout(value)?, graph.shape(value));
                self.load(StepInput { operand: None, role: Role::Index, layout, step: 0 }, DType::I64)
            }
            NodeKind::Param(n, _) => {
                let Some(operand) = walk.operands[n as usize] else { return Ok(None) };
                match self.control.kind {
                    // An element reads other elements of the state.
                    _ if (operand as usize) < self.carried => return Ok(None),
                    ControlKind::For(counts) if counts.is_index(operand as usize) => self.index(operand, counts.index),
                    _ => {
                        let mut layout = self.spread(&walk.layout(value)?, graph.shape(value));
                        let (first, step) = self.step(walk, base, operand)?;
                        layout.offset = layout.offset.saturating_add(first);
                        self.load(StepInput { operand: Some(operand), role: Role::Memory, layout, step }, dtype)
                    }
                }
            }
            _ => return Ok(None),
        };
        walk.scalars.insert(value, scalar);
        Ok(Some(scalar))
    }

    /// Returns `true` if each element of the state uses one element of an array of this shape.
    fn fits(&self, shape: &Shape) -> bool {
        is_one(shape) || shape.broadcast(&self.state).as_ref() == Some(&self.state)
    }

    /// Returns the layout of an array, broadcast to the state.
    fn spread(&self, layout: &Layout, shape: &Shape) -> Layout {
        match is_one(shape) {
            true => Layout { offset: layout.offset, strides: smallvec![0; self.state.rank()] },
            false => layout.broadcast(shape, &self.state),
        }
    }

    /// Returns the offset of an operand's slice in the first step, and the stride to the next; 0 without slices.
    fn step(&self, walk: &LoopGraph<'_>, param: Value, operand: u32) -> Result<(usize, isize)> {
        match self.control.kind {
            ControlKind::Scan(arity) if arity.slices(operand as usize) => {
                let bytes = walk.graph.shape(param).bytes(walk.graph.ty(param).bytes())?;
                Ok(steps(arity, bytes))
            }
            _ => Ok((0, 0)),
        }
    }

    fn load(&mut self, input: StepInput, dtype: DType) -> ScalarId {
        let n = self.input(input, dtype);
        self.body.push(StmtKind::Load(n), &[], dtype)
    }

    fn input(&mut self, input: StepInput, dtype: DType) -> u32 {
        self.inputs.push(input);
        self.body.inputs.push(dtype);
        self.body.inputs.len() as u32 - 1
    }

    /// An integer without memory.
    fn constant(&self, number: usize) -> StepInput {
        let layout = Layout { offset: number, strides: smallvec![0; self.state.rank()] };
        StepInput { operand: None, role: Role::Index, layout, step: 0 }
    }

    fn number(&mut self, number: usize) -> ScalarId {
        if let Some(&known) = self.numbers.get(&number) {
            return known;
        }
        let input = self.constant(number);
        let scalar = self.load(input, DType::I64);
        self.numbers.insert(number, scalar);
        scalar
    }

    /// Adds the index of a counted loop: its start plus the number of the step, in its dtype.
    fn index(&mut self, start: u32, dtype: DType) -> ScalarId {
        if let Some(index) = self.index {
            return index;
        }
        let none = || Layout { offset: 0, strides: smallvec![0; self.state.rank()] };
        let (own, number) = (none(), none());
        let start = self.load(StepInput { operand: Some(start), role: Role::Memory, layout: own, step: 0 }, dtype);
        let step = self.load(StepInput { operand: None, role: Role::Index, layout: number, step: 1 }, DType::I64);
        let step = if dtype == DType::I64 { step } else { self.body.push(StmtKind::Cast, &[step], dtype) };
        let index = self.body.push(StmtKind::Op(Op::Add), &[start, step], dtype);
        self.index = Some(index);
        index
    }

    /// Returns the input of an invariant whose rows are gathered, with its bound and stride.
    fn rows(&mut self, walk: &mut LoopGraph<'_>, value: Value) -> Result<Option<u32>> {
        let (graph, dtype) = (walk.graph, walk.graph.ty(value));
        let base = walk.accesses.base(value);
        let NodeKind::Param(n, _) = graph.node(graph.producer(base)).kind else { return Ok(None) };
        let Some(operand) = walk.operands[n as usize] else { return Ok(None) };
        let counts = matches!(self.control.kind, ControlKind::For(counts) if counts.is_index(operand as usize));
        let shape = graph.shape(value);
        let seen = Shape::from(shape.extents().get(1..).unwrap_or(&[]));
        if (operand as usize) < self.carried || counts || !self.fits(&seen) {
            return Ok(None);
        }
        let layout = walk.layout(value)?;
        let row = Layout { offset: layout.offset, strides: layout.strides.iter().skip(1).copied().collect() };
        let (bound, between) = (
            self.constant(shape.extents().first().copied().unwrap_or(0).wrapping_sub(1)),
            self.constant(layout.strides.first().copied().unwrap_or(0) as usize),
        );
        let mut layout = self.spread(&row, &seen);
        let (first, step) = self.step(walk, base, operand)?;
        layout.offset = layout.offset.saturating_add(first);
        let rows = self.input(StepInput { operand: Some(operand), role: Role::Rows, layout, step }, dtype);
        self.input(bound, DType::I64);
        self.input(between, DType::I64);
        Ok(Some(rows))
    }

    /// Builds the nest.
    fn finish(self, results: Vec<Option<u32>>) -> Result<Option<LoopKernel>> {
        let LoopBuilder { control, state, accumulators, body, inputs, literals, .. } = self;
        let carried = accumulators.len();
        let own = |&dtype: &DType| contiguous(&state, dtype);
        let dtypes: Vec<DType> = body.outputs.iter().map(|&output| body.dtype(output)).collect();
        let states: Vec<Layout> = body.inputs[..carried].iter().map(own).collect::<Result<_>>()?;
        let stacked = carried..carried + control.results() - self.carried;
        let outputs: Vec<Layout> = dtypes.iter().map(own).collect::<Result<_>>()?;
        let all = states.into_iter().chain(inputs.iter().map(|input| input.layout.clone())).collect();
        let whole = IterationDomain { extents: SmallVec::from_slice(state.extents()), inputs: all, outputs };
        let axes: Vec<usize> = (0..state.rank()).collect();
        let merged = coalesce(&whole, &axes, None);
        let counted = match control.kind {
            ControlKind::Scan(arity) => arity.length,
            ControlKind::For(_) | ControlKind::While | ControlKind::Cond => 1,
        };
        let parallel = !merged.is_empty() && control.kind != ControlKind::While;
        let steps = merged.len() - usize::from(parallel);
        let form = match control.kind {
            ControlKind::While => AccumulatorLayout::While { accumulators: carried },
            _ if parallel => AccumulatorLayout::Plain,
            _ => AccumulatorLayout::Steps { accumulators: carried },
        };
        // The loop over steps comes before the others.
        let along = |layout: &Layout, step: isize| -> Layout {
            let mut strides: SmallVec<[isize; 4]> =
                merged.iter().map(|(_, axis)| axis.map_or(0, |axis| layout.strides[axis])).collect();
            strides.insert(steps, step);
            Layout { offset: layout.offset, strides }
        };
        let mut extents: SmallVec<[usize; 4]> = merged.iter().map(|(extent, _)| *extent).collect();
        extents.insert(steps, counted);
        let elements = state.size().unwrap_or(usize::MAX);
        let step_of = |n: usize| match inputs.get(n.wrapping_sub(carried)) {
            Some(input) => input.step,
            None => 0,
        };
        let input_layouts = whole.inputs.iter().enumerate().map(|(n, layout)| along(layout, step_of(n)));
        let output_layouts = whole.outputs.iter().enumerate().map(|(n, layout)| match control.kind {
            ControlKind::Scan(arity) if stacked.contains(&n) => {
                let (first, step) = self::steps(arity, elements.saturating_mul(dtypes[n].bytes()));
                let layout = along(layout, step);
                Layout { offset: layout.offset.saturating_add(first), ..layout }
            }
            _ => along(layout, 0),
        });
        let domain = IterationDomain { extents, inputs: input_layouts.collect(), outputs: output_layouts.collect() };
        let (rank, inner) = (merged.len() + 1, merged.len());
        let access = |layout: &Layout, dtype: DType, role: Role, stays: bool| {
            let class = match stride_class(layout, inner, dtype) {
                // Each step stores in the place of the previous one.
                Stride::Broadcast if stays && role == Role::Memory => Stride::Strided,
                Stride::Contiguous if role == Role::Index => Stride::Strided,
                class => class,
            };
            Access { dtype, inner: class, role }
        };
        let role = |n: usize| inputs.get(n.wrapping_sub(carried)).map_or(Role::Memory, |input| input.role);
        let accesses = domain.inputs.iter().zip(&body.inputs).enumerate();
        let accesses = accesses.map(|(n, (layout, &dtype))| access(layout, dtype, role(n), n < carried)).collect();
        let output_role = |n: usize| match results.get(n.wrapping_sub(carried)) {
            Some(None) if n + 1 < dtypes.len() || control.kind != ControlKind::While => Role::Index,
            Some(Some(result)) if (*result as usize) < self.carried => Role::Rows,
            _ => Role::Memory,
        };
        let stored = domain.outputs.iter().zip(&dtypes).enumerate();
        let stored = stored.map(|(n, (layout, &dtype))| access(layout, dtype, output_role(n), true));
        let nest = LoopNest {
            rank,
            inputs: accesses,
            literals: body.literals.clone(),
            outputs: stored.collect(),
            body: LoopBody::Ops(Arc::new(body)),
            kind: NestKind::Map,
        };
        let inputs = inputs.into_iter().map(|input| input.operand).collect();
        let accumulators = accumulators.iter().map(|&n| n as u32).collect();
        let nest = Arc::new(nest);
        Ok(Some(LoopKernel { nest, form, accumulators, steps, inputs, stored: results, domain, literals }))
    }
}

/// Returns the offset of the first step's slice, for slices of this size in bytes, and the stride to the next.
fn steps(arity: ScanArity, bytes: usize) -> (usize, isize) {
    let step = isize::try_from(bytes).unwrap_or(isize::MAX);
    match arity.reverse {
        true => (arity.slice(0).saturating_mul(bytes), -step),
        false => (0, step),
    }
}

fn is_one(shape: &Shape) -> bool {
    shape.extents().iter().all(|&extent| extent == 1)
}

impl<'a> LoopGraph<'a> {
    fn new(program: &'a Arc<Lowered>, operands: Vec<Option<u32>>) -> Result<LoopGraph<'a>> {
        let graph = &program.simplified;
        let params = graph.params().iter().map(|&param| contiguous(graph.shape(param), graph.ty(param)));
        let params: Vec<Layout> = params.collect::<Result<_>>()?;
        // The pass owns this analysis: in the nest no view begins at a run-time row, as one of the graph's own program may.
        let accesses = Accesses::new(graph, &params, false)?;
        let (scalars, versions) = Default::default();
        Ok(LoopGraph { program, graph, accesses, params, operands, scalars, versions })
    }

    /// Returns the layout of a value.
    fn layout(&self, value: Value) -> Result<Layout> {
        match self.accesses.view(value) {
            Some((_, layout)) => Ok(layout.clone()),
            None => layout_of(self.graph, value, &self.params),
        }
    }
}
