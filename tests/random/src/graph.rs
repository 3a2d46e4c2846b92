//! Random traced graphs, well-formed by construction.

use crate::{Rng, tensor};
use ndjit_ir::dtype::{DType, DTypeSet};
use ndjit_ir::error::Result;
use ndjit_ir::graph::{Graph, NodeKind, Slot, Value};
use ndjit_ir::literal::{Literal, LiteralValue};
use ndjit_ir::op::Op;
use ndjit_ir::promotion::reduction_types::gives;
use ndjit_ir::promotion::{Defaults, Policy};
use ndjit_ir::reduction::{AxisFunction, AxisSet, Reduce, Reduction, ReductionRule, TypeRequest};
use ndjit_ir::shape::Shape;
use ndjit_ir::support::CastReason;
use ndjit_ir::value_type::{ValueType, Weak};
use ndjit_math::interp::Tensor;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// The size and variety of a random program.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Requested nodes, without parameters. Casts needed by an op are added.
    pub nodes: usize,
    /// The maximum number of parameters.
    pub params: usize,
    /// The maximum for programs, one in eight, whose kernels read many arrays; as `params` if 0 or larger than this.
    pub many: usize,
    /// The maximum number of outputs.
    pub outputs: usize,
    /// The maximum number of elements of the largest shape.
    pub elements: usize,
    /// The dtypes of parameters, and of ops and their results; bool occurs as well.
    pub dtypes: DTypeSet,
    /// Whether child graphs are called.
    pub calls: bool,
    /// Whether arrays are reduced and scanned. Some reductions compute in `f32`, `f64` or `i64` for any limits.
    pub reductions: bool,
    /// Whether arrays are viewed, reshaped and joined.
    pub movement: bool,
    /// Whether there are branches and loops, also nested; a loop runs three times at most.
    pub control: bool,
}

impl Default for Limits {
    /// Small programs of everything except control flow, for which no kernel code is generated.
    fn default() -> Limits {
        Limits {
            nodes: 20,
            params: 4,
            many: 20,
            outputs: 3,
            elements: 300,
            dtypes: DTypeSet::ALL,
            calls: true,
            reductions: true,
            movement: true,
            control: false,
        }
    }
}

/// A random program with arguments.
#[derive(Clone, Debug)]
pub struct Program {
    /// The traced graph.
    pub graph: Graph<ValueType>,
    /// An array for each parameter; where the parameter is weak, of its default dtype.
    pub params: Vec<Tensor>,
    /// A scalar for each argument slot, by argument index. Arguments are numbered after the parameters.
    pub scalars: Vec<(usize, Literal)>,
}

impl fmt::Display for Program {
    /// The graph's text, after comments with the first elements of each parameter and the scalars.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, tensor) in self.params.iter().enumerate() {
            writeln!(f, "; %{n} = {tensor:?}")?;
        }
        for (index, literal) in &self.scalars {
            writeln!(f, "; argument {index} = {literal}")?;
        }
        write!(f, "{}", self.graph)
    }
}

/// The random program of a seed.
///
/// # Errors
/// `Size` or `Allocation` if the limits require arrays that cannot exist.
pub fn program(seed: u64, limits: &Limits) -> Result<Program> {
    let mut rng = Rng::new(seed);
    let base = base_shape(&mut rng, limits.elements);
    let policy = if rng.one_in(3) { rng.pick(&Policy::ALL) } else { Policy::Standard };
    let wide = policy.with_defaults(Defaults::BITS_64).unwrap_or(policy);
    let policy = if rng.one_in(4) { wide } else { policy };
    let dtypes = limits.dtypes.iter().collect();
    let mut builder = Builder { rng, limits, dtypes, policy, base, ..Builder::empty(limits) };
    let mut count = builder.rng.below(limits.params + 1).max(usize::from(limits.params > 0));
    // Drawn separately: other programs stay unchanged.
    let mut apart = Rng::new(!seed);
    if (1..limits.many).contains(&limits.params) && apart.one_in(8) {
        builder.many = limits.params + 1 + apart.below(limits.many - limits.params);
        count = builder.many;
    }
    let alike = (builder.many > 0 && apart.one_in(2)).then(|| builder.param_type());
    for _ in 0..count {
        let ty = alike.unwrap_or_else(|| builder.param_type());
        let shape = builder.shape();
        builder.graph.param_stored(ty, policy.commit(ty), &shape);
    }
    for _ in 0..limits.nodes {
        match builder.many {
            0 => builder.node(true),
            _ if apart.one_in(3) => builder.read_many(),
            _ => builder.node(true),
        }
    }
    if builder.many > 0 {
        // The last value is a result.
        builder.read_many();
    }
    builder.outputs(limits.outputs);
    let Builder { mut rng, graph, scalars, .. } = builder;
    let params: Result<Vec<Tensor>> = graph
        .params()
        .iter()
        .map(|&param| tensor(&mut rng, graph.storage_dtype(param, policy), graph.shape(param).clone()))
        .collect();
    Ok(Program { params: params?, scalars, graph })
}

/// The shape that all shapes of a program broadcast to.
fn base_shape(rng: &mut Rng, elements: usize) -> Shape {
    let rank = rng.pick(&[0, 1, 1, 1, 2, 2, 2, 3, 4]);
    let mut size = 1;
    let extents: Vec<usize> = (0..rank)
        .map(|_| {
            let extent = rng.pick(&[0, 1, 2, 3, 3, 4, 16, 16, 17, 17, 67, 67]);
            // Extent 0 empties the whole program: rarely is enough.
            let extent = if extent == 0 && !rng.one_in(3) { 5 } else { extent };
            let extent = if size * extent > elements { 1 } else { extent };
            size *= extent.max(1);
            extent
        })
        .collect();
    Shape::from(extents)
}

pub(super) struct Builder<'a> {
    pub(super) rng: Rng,
    pub(super) limits: &'a Limits,
    dtypes: Vec<DType>,
    pub(super) policy: Policy,
    pub(super) base: Shape,
    pub(super) graph: Graph<ValueType>,
    /// The control flow depth of the graph. Scalar arguments there are those drawn outside.
    pub(super) depth: usize,
    /// The value of an integer literal's node.
    pub(super) integers: FxHashMap<Value, i128>,
    scalars: Vec<(usize, Literal)>,
    /// The number of parameters, if the program's kernels read many arrays.
    many: usize,
}

impl<'a> Builder<'a> {
    fn empty(limits: &'a Limits) -> Builder<'a> {
        Builder {
            rng: Rng::new(0),
            limits,
            dtypes: Vec::new(),
            policy: Policy::default(),
            base: Shape::scalar(),
            graph: Graph::new(),
            depth: 0,
            integers: FxHashMap::default(),
            scalars: Vec::new(),
            many: 0,
        }
    }

    fn param_type(&mut self) -> ValueType {
        let dtype = if self.dtypes.is_empty() { DType::Bool } else { self.rng.pick(&self.dtypes) };
        match Weak::ALL.into_iter().find(|&weak| self.policy.default_dtype(weak) == dtype) {
            Some(weak) if self.rng.one_in(4) => weak.into(),
            _ => dtype.into(),
        }
    }

    /// A shape that broadcasts to the base: half of the time the base itself.
    pub(super) fn shape(&mut self) -> Shape {
        if self.rng.one_in(2) {
            return self.base.clone();
        }
        let first = self.rng.below(self.base.rank() + 1);
        let extents: Vec<usize> = self.base.extents()[first..].to_vec();
        Shape::from(extents.into_iter().map(|e| if self.rng.one_in(4) { 1 } else { e }).collect::<Vec<usize>>())
    }

    pub(super) fn node(&mut self, may_call: bool) {
        match self.rng.below(20) {
            0..=2 => {
                self.literal();
            }
            3 => {
                if let Some(value) = self.operand() {
                    let dtype = self.dtype_in(DTypeSet::ALL);
                    self.cast(value, dtype.unwrap_or(DType::Bool));
                }
            }
            4 if may_call && self.limits.calls => self.call(),
            5 | 6 if self.limits.reductions => self.reduce(),
            7..=9 if self.limits.movement => self.movement(),
            10..=12 if self.limits.control => self.control(),
            _ => self.op(),
        }
    }

    /// A dtype in both the set and the limits.
    pub(super) fn dtype_in(&mut self, set: DTypeSet) -> Option<DType> {
        let both: Vec<DType> = self.dtypes.iter().copied().filter(|&dtype| set.contains(dtype)).collect();
        if both.is_empty() { None } else { Some(self.rng.pick(&both)) }
    }

    /// A scalar: weak, of a dtype, or an argument.
    fn literal(&mut self) -> Value {
        if self.depth > 0 && !self.scalars.is_empty() && self.rng.one_in(4) {
            let (index, literal) = self.rng.pick(&self.scalars);
            if let ValueType::Weak(ty) = literal.ty() {
                return self.slot(Slot::Argument { index, ty }, literal);
            }
        }
        let value = self.number();
        let literal = match self.dtype_in(DTypeSet::ALL) {
            // A value that does not fit the dtype stays weak.
            Some(dtype) if self.rng.one_in(4) => Literal::strong(value, dtype).unwrap_or(Literal::weak(value)),
            _ => Literal::weak(value),
        };
        let ty = literal.ty();
        let slot = match ty {
            ValueType::Weak(weak) if self.rng.one_in(4) && self.depth == 0 => {
                let index = self.graph.params().len() + self.scalars.len();
                self.scalars.push((index, literal));
                Slot::Argument { index, ty: weak }
            }
            ValueType::Weak(_) | ValueType::Strong(_) => Slot::Value(literal),
        };
        self.slot(slot, literal)
    }

    /// The value of a new slot with this scalar.
    fn slot(&mut self, slot: Slot, literal: Literal) -> Value {
        let ty = literal.ty();
        let node = self.graph.literal(slot, ty);
        if let (LiteralValue::Int(n), true) = (literal.value(), ty.is_weak()) {
            self.integers.insert(node, n);
        }
        node
    }

    /// A value of a kind whose default dtype is within the limits: integers within `i32`, in which they may be stored.
    fn number(&mut self) -> LiteralValue {
        // A weak literal that is a result is stored under the default policy.
        let stored = |&weak: &Weak| [self.policy, Policy::default()].map(|policy| policy.default_dtype(weak));
        let kinds: Vec<Weak> =
            Weak::ALL.into_iter().filter(|weak| stored(weak).iter().all(|dtype| self.dtypes.contains(dtype))).collect();
        let floats = [0.0, -0.0, 0.5, 1.0, 2.0, -1.5, 3.0, 1e-8, 1e10, 65520.0, 1e300, f64::INFINITY, f64::NAN];
        let integers = [0, 1, 2, 3, 5, 7, 8, 31, 100, 127, -1, -2, -128, 255, 256, 65536, i32::MAX, i32::MIN];
        match if kinds.is_empty() || self.rng.one_in(12) { None } else { Some(self.rng.pick(&kinds)) } {
            None => LiteralValue::Bool(self.rng.one_in(2)),
            // The small ones fit most dtypes.
            Some(Weak::Int) if self.rng.one_in(3) => LiteralValue::Int(self.rng.pick(&integers).into()),
            Some(Weak::Int) => LiteralValue::Int(self.rng.pick(&integers[..10]).into()),
            Some(Weak::Float) => LiteralValue::Float(self.rng.pick(&floats)),
            Some(Weak::Complex) => LiteralValue::Complex(self.rng.pick(&floats), self.rng.pick(&floats)),
        }
    }

    /// An existing value, the last ones more often.
    pub(super) fn operand(&mut self) -> Option<Value> {
        let count = self.graph.value_count();
        let recent = self.rng.one_in(2) && count > 4;
        let index = if recent { count - 1 - self.rng.below(4) } else { self.rng.below(count) };
        (count > 0).then(|| Value::from_index(index))
    }

    pub(super) fn op(&mut self) {
        let op = self.rng.pick(&Op::ALL);
        for _ in 0..3 {
            let Some(mut operands) = self.operands(op.arity()) else { return };
            if let Some(result) = self.result_type(op, &operands) {
                self.add(op, &operands, result);
                return;
            }
            // Casts operands to one dtype of the op.
            let Some(dtype) = self.dtype_in(op.row().domain) else { return };
            for operand in &mut operands[op.joined()] {
                *operand = self.cast(*operand, dtype);
            }
            if let Some(result) = self.result_type(op, &operands) {
                self.add(op, &operands, result);
                return;
            }
        }
    }

    /// The type of the op's result, if it accepts the operands, computes and results in allowed dtypes, and all integer literals
    /// fit.
    pub(super) fn result_type(&self, op: Op, operands: &[Value]) -> Option<ValueType> {
        let types: Vec<ValueType> = operands.iter().map(|&operand| self.graph.ty(operand)).collect();
        let types = self.policy.resolve_op(op, &types).ok()?;
        let compute = self.policy.commit(types.compute);
        if !self.allows(compute) || !self.allows(self.policy.commit(types.result)) {
            return None;
        }
        let mut operands = operands.iter().enumerate();
        operands.all(|(index, &operand)| self.fits(operand, op.operand_dtype(index, compute))).then_some(types.result)
    }

    pub(super) fn allows(&self, dtype: DType) -> bool {
        dtype == DType::Bool || self.limits.dtypes.contains(dtype)
    }

    /// Whether a value is not an integer literal out of the dtype's range.
    pub(super) fn fits(&self, value: Value, dtype: DType) -> bool {
        match (self.integers.get(&value), dtype.int_range()) {
            (Some(n), Some((min, max))) => dtype == DType::Bool || (min..=max).contains(n),
            _ => true,
        }
    }

    /// Values that broadcast together.
    fn operands(&mut self, count: usize) -> Option<Vec<Value>> {
        let mut shape = Shape::scalar();
        let mut operands = Vec::with_capacity(count);
        for _ in 0..count {
            let found = (0..4).find_map(|_| {
                let operand = self.operand()?;
                let shape = shape.broadcast(self.graph.shape(operand))?;
                shape.size().is_ok_and(|size| size <= self.limits.elements).then_some((operand, shape))
            });
            let (operand, broadcast) = found?;
            operands.push(operand);
            shape = broadcast;
        }
        Some(operands)
    }

    pub(super) fn add(&mut self, op: Op, operands: &[Value], result: ValueType) -> Value {
        let mut shape = Shape::scalar();
        for &operand in operands {
            // All shapes broadcast to the base, so they do to each other.
            shape = shape.broadcast(self.graph.shape(operand)).unwrap_or(shape);
        }
        let shape = self.graph.intern(&shape);
        self.graph.add(NodeKind::Op(op, self.policy), operands, &[(result, shape)])
    }

    pub(super) fn cast(&mut self, value: Value, dtype: DType) -> Value {
        let shape = self.graph.shape_id(value);
        self.graph.add(NodeKind::Cast(CastReason::Explicit), &[value], &[(dtype.into(), shape)])
    }

    /// A weak value in a dtype that it takes without an explicit cast: as for a loop's initial state. Others are unchanged.
    pub(super) fn promoted(&mut self, value: Value) -> Value {
        let ValueType::Weak(weak) = self.graph.ty(value) else { return value };
        match self.dtype_in(DTypeSet::ALL).filter(|&dtype| weak.promotes_to(dtype) && self.fits(value, dtype)) {
            Some(dtype) => {
                let shape = self.graph.shape_id(value);
                self.graph.add(NodeKind::Cast(CastReason::Promotion), &[value], &[(dtype.into(), shape)])
            }
            None => value,
        }
    }

    /// A reduction of an existing value, with a shape that broadcasts to the base; or a scan of it.
    fn reduce(&mut self) {
        if let Some(operand) = self.operand() {
            self.reduce_of(operand);
        }
    }

    pub(super) fn reduce_of(&mut self, operand: Value) {
        if self.rng.one_in(4) {
            return self.places(operand);
        }
        let function = self.rng.pick(&AxisFunction::all().collect::<Vec<_>>());
        // Scans have elements in any order in memory.
        let operand = match !matches!(function, AxisFunction::Reduction(_)) && self.rng.one_in(2) {
            true => self.seen(operand),
            false => operand,
        };
        let shape = self.graph.shape(operand).clone();
        let chosen: Vec<isize> = (0..shape.rank() as isize).filter(|_| self.rng.one_in(2)).collect();
        let Ok(mut axes) = AxisSet::new(&chosen, shape.rank()) else { return };
        // A reduction of one element has no effect.
        let longest = (0..shape.rank()).max_by_key(|&axis| shape.extents()[axis]);
        if let Some(longest) = longest.filter(|_| axes.count(&shape) == 1 && !self.rng.one_in(4)) {
            axes = AxisSet::one(longest);
        }
        // A part of the elements along one axis, at times.
        let mut axes_of_part = axes.iter();
        let operand = match (function, axes_of_part.next(), axes_of_part.next()) {
            (AxisFunction::Reduction(reduction), Some(axis), None) if self.rng.one_in(2) => {
                self.masked(operand, reduction, axis).unwrap_or(operand)
            }
            _ => operand,
        };
        if matches!(function, AxisFunction::Reduction(reduction) if reduction.needs_elements())
            && axes.count(&shape) == 0
        {
            return;
        }
        let fits = axes.reduced(&shape, false).broadcast(&self.base).as_ref() == Some(&self.base);
        let keepdims = !fits || self.rng.one_in(2);
        let dtype = match self.dtype_in(gives(function)) {
            Some(dtype) if function.takes_dtype() && self.rng.one_in(4) => Some(dtype),
            _ => None,
        };
        let request = TypeRequest { dtype, policy: self.policy };
        let (kind, shape) = match (function, shape.rank()) {
            (AxisFunction::Scan(_) | AxisFunction::Sort(_), 0) => return,
            (AxisFunction::Scan(scan), rank) => (NodeKind::Scan(scan, self.rng.below(rank) as u32, request), shape),
            (AxisFunction::Sort(sort), rank) => (NodeKind::Sort(sort, self.rng.below(rank) as u32, request), shape),
            (AxisFunction::Reduction(reduction), _) => {
                let reduced = axes.reduced(&shape, keepdims);
                // Only for small arrays, where the order is that of every sum.
                let contracts =
                    reduction == Reduction::Sum && keepdims && shape.size().is_ok_and(|size| size < 1 << 12);
                (NodeKind::Reduce(Reduce { reduction, axes, keepdims, contracts, request }), reduced)
            }
        };
        let Ok(types) = self.policy.resolve_reduction(function, dtype, self.graph.ty(operand)) else { return };
        if types.result != DType::Bool && !self.limits.dtypes.contains(types.result) {
            return;
        }
        // An index along the axes must fit its dtype: other programs are refused.
        let count = match kind {
            NodeKind::Sort(_, axis, _) => shape.extents()[axis as usize],
            _ => axes.count(self.graph.shape(operand)),
        };
        let (count, most) = (count as i128, types.result.int_range().map_or(i128::MAX, |range| range.1));
        if function.row().rule == ReductionRule::Index && count > most {
            return;
        }
        // An integer literal must fit its target dtype.
        if let (Some(n), Some((min, max))) = (self.integers.get(&operand), types.compute.int_range())
            && types.compute != DType::Bool
            && !(min..=max).contains(n)
        {
            return;
        }
        let mut operands = vec![operand];
        for _ in 1..function.row().operands.len().min(1 + self.rng.below(2)) {
            operands.push(self.graph.literal(Slot::Value(Literal::weak(1)), Weak::Int.into()));
        }
        let shape = self.graph.intern(&shape);
        let reduced = self.graph.add(kind, &operands, &[(types.result.into(), shape)]);
        if let Some(beside) = self.beside(operand, reduced)
            && self.rng.one_in(2)
            && axes.count(self.graph.shape(beside)) > 0
        {
            let again = self.rng.pick(&[Reduction::Sum, Reduction::Max, Reduction::Mean]);
            let Ok(types) = self.policy.resolve_reduction(again, None, self.graph.ty(beside)) else { return };
            if self.limits.dtypes.contains(types.result) {
                let shape = self.graph.intern(&axes.reduced(self.graph.shape(beside), true));
                let request = TypeRequest { dtype: None, policy: self.policy };
                let reduce = Reduce { request, ..Reduce::new(again, axes, true) };
                let reduced = self.graph.add(NodeKind::Reduce(reduce), &[beside], &[(types.result.into(), shape)]);
                self.beside(beside, reduced);
            }
        }
    }

    /// Perhaps a value combined with its reduction or scan: such reuse runs tile by tile.
    fn beside(&mut self, operand: Value, reduced: Value) -> Option<Value> {
        let pair = [operand, reduced];
        let op = self.rng.pick(&[Op::Add, Op::Subtract, Op::Multiply, Op::Maximum]);
        let both = self.graph.shape(operand).broadcast(self.graph.shape(reduced));
        if !self.rng.one_in(2) || both.as_ref() != Some(self.graph.shape(operand)) {
            return None;
        }
        let result = self.result_type(op, &pair)?;
        Some(self.add(op, &pair, result))
    }

    /// The builder of a child graph.
    pub(super) fn child(&mut self) -> Builder<'a> {
        Builder {
            rng: Rng::new(self.rng.bits()),
            dtypes: self.dtypes.clone(),
            policy: self.policy,
            base: self.base.clone(),
            depth: self.depth,
            scalars: self.scalars.clone(),
            ..Builder::empty(self.limits)
        }
    }

    /// A call of a small random graph whose parameters have the operands' types.
    fn call(&mut self) {
        let count = 1 + self.rng.below(3);
        let operands: Option<Vec<Value>> = (0..count).map(|_| self.operand()).collect();
        let Some(operands) = operands else { return };
        let mut child = self.child();
        for &operand in &operands {
            let stored = self.graph.storage_dtype(operand, self.policy);
            let param = child.graph.param_stored(self.graph.ty(operand), stored, self.graph.shape(operand));
            // A literal argument must fit the child's uses.
            if let Some(&n) = self.integers.get(&operand) {
                child.integers.insert(param, n);
            }
        }
        for _ in 0..5 {
            child.op();
        }
        child.outputs(2);
        let results: Vec<_> = child
            .graph
            .outputs()
            .iter()
            .map(|&output| (child.graph.ty(output), self.graph.intern(child.graph.shape(output))))
            .collect();
        let child_integers: Vec<Option<i128>> =
            child.graph.outputs().iter().map(|output| child.integers.get(output).copied()).collect();
        let child = self.graph.child(Arc::new(child.graph));
        let first = self.graph.add(NodeKind::Call(child), &operands, &results);
        for (n, integer) in child_integers.into_iter().enumerate() {
            if let Some(integer) = integer {
                self.integers.insert(Value::from_index(first.index() + n), integer);
            }
        }
    }

    fn outputs(&mut self, limit: usize) {
        let count = 1 + self.rng.below(limit.max(1));
        let last = self.graph.value_count().checked_sub(1).map(Value::from_index);
        let mut outputs: Vec<Value> = last.into_iter().collect();
        for _ in 1..count {
            outputs.extend(self.operand());
        }
        self.graph.set_outputs(outputs);
    }
}
