//! Control flow: nodes whose graphs run once, never, or repeatedly, depending on run-time values.
//!
//! A node of control flow has one result. Several results are several nodes of the same [`Control`] with the same operands, and one
//! kernel computes them together. The graphs are closed: arrays from outside are operands. Numbers are literals as in any graph:
//! known, or arguments of the program.

use super::{Graph, Type, Value};
use crate::dtype::DType;
use crate::error::{Error, ErrorCode, Result};
use crate::promotion::Policy;
use crate::shape::Shape;
use crate::value_type::ValueType;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// The maximum nesting of control flow.
pub const MAX_NESTING: usize = 32;

/// The kind of control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControlKind {
    /// Graphs: the condition and the body. The first operands are the carry, one per output of the body. While the condition of the
    /// carry and the other operands is true, the body maps the carry to the next one. The results are the last carry.
    While,
    /// The first operand is the condition. Graphs: the branches for true and false, which take the other operands. The results are
    /// those of one branch.
    Cond,
    /// Graph: the body, which runs once for each index along the first axis of the sliced operands, in order.
    Scan(ScanArity),
    /// Graph: the body, which runs once for each index in a half-open range, in order.
    For(ForArity),
}

/// The operands and results of a counted loop. Operands: the carry, which the body maps to the next one; the two bounds; the
/// invariants. The body takes the index as the first bound, and never the second. The results are the last carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ForArity {
    /// The number of operands, and of results, that are the carry.
    pub carried: u32,
    /// The dtype of index and bounds, an integer.
    pub index: DType,
}

impl ForArity {
    /// Returns `true` if the body takes the index for this operand.
    pub fn is_index(self, operand: usize) -> bool {
        operand == self.carried as usize
    }

    /// The trip count for these bounds, each one element in memory.
    pub fn trips(self, start: &[u8], end: &[u8]) -> u64 {
        let distance = self.number(end).saturating_sub(self.number(start)).max(0);
        u64::try_from(distance).unwrap_or(u64::MAX)
    }

    /// The index of a step, as one element in memory padded with zeros.
    pub fn at(self, start: &[u8], step: u64) -> [u8; 16] {
        let mut bytes = self.number(start).wrapping_add(i128::from(step)).to_le_bytes();
        bytes[self.index.bytes()..].fill(0);
        bytes
    }

    /// The index of the first step, as a number whose low bytes, with a step added, are those of [`at`](ForArity::at).
    pub fn first(self, start: &[u8]) -> u64 {
        self.number(start) as u64
    }

    fn number(self, element: &[u8]) -> i128 {
        let bits = match self.index.bytes() {
            1 => element.first_chunk().map(|&bytes| u8::from_le_bytes(bytes).into()),
            2 => element.first_chunk().map(|&bytes| u16::from_le_bytes(bytes).into()),
            4 => element.first_chunk().map(|&bytes| u32::from_le_bytes(bytes).into()),
            _ => element.first_chunk().map(|&bytes| u64::from_le_bytes(bytes)),
        };
        let (number, above) = (i128::from(bits.unwrap_or(0)), 128 - self.index.bits());
        if self.index.is_signed() { number << above >> above } else { number }
    }
}

/// The operands and results of a scan. Operands: the carry, which the body maps to the next one; arrays of which the body takes
/// one slice per step; the invariants. After the carry the body gives one slice per step of each stacked result, whose first axis
/// counts the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanArity {
    /// The trip count: the first extent of sliced operands and stacked results.
    pub length: usize,
    /// The number of operands, and of results, that are the carry.
    pub carried: u32,
    /// The number of sliced operands.
    pub sliced: u32,
    /// True if the first step takes the last slices.
    pub reverse: bool,
}

impl ScanArity {
    /// The index of a step's slices.
    pub fn slice(self, step: usize) -> usize {
        if self.reverse { self.length.saturating_sub(1).saturating_sub(step) } else { step }
    }

    /// Returns `true` if the body takes slices of an operand.
    pub fn slices(self, operand: usize) -> bool {
        let carried = self.carried as usize;
        (carried..carried + self.sliced as usize).contains(&operand)
    }

    /// The shape of an array that stacks a slice of this shape per step.
    fn stacked(self, slice: &Shape) -> Shape {
        let extents: SmallVec<[usize; 6]> = [self.length].into_iter().chain(slice.extents().iter().copied()).collect();
        Shape::from(&extents[..])
    }
}

impl ControlKind {
    /// One of each kind, in the order of their names in text; loops without a carry.
    pub const ALL: [ControlKind; 4] = [
        ControlKind::While,
        ControlKind::Cond,
        ControlKind::Scan(ScanArity { length: 0, carried: 0, sliced: 0, reverse: false }),
        ControlKind::For(ForArity { carried: 0, index: DType::I32 }),
    ];

    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            ControlKind::While => "while",
            ControlKind::Cond => "cond",
            ControlKind::Scan(_) => "scan",
            ControlKind::For(_) => "for",
        }
    }

    /// The [opset](crate::opset) that introduced it.
    pub const fn since(self) -> u16 {
        match self {
            ControlKind::While | ControlKind::Cond | ControlKind::Scan(_) | ControlKind::For(_) => 1,
        }
    }

    /// The kind of a name in text; loops without a carry.
    pub(super) fn named(name: &str) -> Option<ControlKind> {
        ControlKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The names of its graphs.
    pub const fn graphs(self) -> &'static [&'static str] {
        match self {
            ControlKind::While => &["condition", "body"],
            ControlKind::Cond => &["true", "false"],
            ControlKind::Scan(_) | ControlKind::For(_) => &["body"],
        }
    }

    /// The number of leading operands that cannot be literals of the graphs: they change between steps, or are conditions.
    pub const fn arrays(self, results: usize) -> usize {
        match self {
            ControlKind::While => results,
            ControlKind::Cond => 1,
            ControlKind::Scan(ScanArity { carried, sliced, .. }) => carried as usize + sliced as usize,
            ControlKind::For(ForArity { carried, .. }) => carried as usize + 2,
        }
    }
}

/// Control flow, shared by the nodes of its results.
#[derive(Clone, Debug)]
pub struct Control<T: Type> {
    /// The kind.
    pub kind: ControlKind,
    /// The graphs, one per [name](ControlKind::graphs) of the kind.
    pub graphs: Vec<Inner<T>>,
}

/// A graph of control flow.
#[derive(Clone, Debug)]
pub struct Inner<T: Type> {
    /// The graph.
    pub graph: Arc<Graph<T>>,
    /// For each parameter the index of the node's operand.
    pub operands: Vec<u32>,
}

impl<T: Type> Control<T> {
    /// The nesting depth, this control flow included.
    pub fn nesting(&self) -> usize {
        1 + self.graphs.iter().map(|inner| inner.graph.nesting()).max().unwrap_or(0)
    }

    /// The number of nodes of its graphs, callees counted at each call.
    pub fn expanded(&self) -> usize {
        self.graphs.iter().fold(0usize, |all, inner| all.saturating_add(inner.graph.expanded()))
    }

    /// The graph whose outputs are the results: the body, or the last branch.
    pub(crate) fn last(&self) -> Option<&Graph<T>> {
        self.graphs.last().map(|inner| &*inner.graph)
    }

    /// The number of results.
    pub fn results(&self) -> usize {
        self.last().map_or(0, |graph| graph.outputs().len())
    }

    /// The type and shape of a result; `None` if there is no such result.
    pub fn result(&self, n: usize) -> Option<(T, Shape)> {
        let graph = self.last()?;
        let &output = graph.outputs().get(n)?;
        Some((graph.ty(output), self.result_shape(n, Cow::Borrowed(graph.shape(output))).into_owned()))
    }

    /// The shape of a result whose output in the last graph has this shape.
    pub(crate) fn result_shape<'a>(&self, n: usize, made: Cow<'a, Shape>) -> Cow<'a, Shape> {
        match self.kind {
            ControlKind::Scan(steps) if n >= steps.carried as usize => Cow::Owned(steps.stacked(&made)),
            ControlKind::Scan(_) | ControlKind::For(_) | ControlKind::While | ControlKind::Cond => made,
        }
    }

    /// The shape of an operand whose parameter has this shape.
    fn operand(&self, operand: usize, param: &Shape) -> Shape {
        match self.kind {
            ControlKind::Scan(steps) if steps.slices(operand) => steps.stacked(param),
            ControlKind::Scan(_) | ControlKind::For(_) | ControlKind::While | ControlKind::Cond => param.clone(),
        }
    }

    /// The number of operands that are the carry, which the first results are after the last step.
    pub fn carried(&self) -> usize {
        match self.kind {
            ControlKind::While => self.results(),
            ControlKind::Cond => 0,
            ControlKind::Scan(ScanArity { carried, .. }) | ControlKind::For(ForArity { carried, .. }) => {
                carried as usize
            }
        }
    }

    /// The shape of an operand, from the graphs; `None` if no graph takes it.
    pub fn shape(&self, operand: usize) -> Option<Shape> {
        let taken = self.graphs.iter().find_map(|Inner { graph, operands }| {
            let at = operands.iter().position(|&own| own as usize == operand)?;
            graph.params().get(at).map(|&param| self.operand(operand, graph.shape(param)))
        });
        taken.or_else(|| self.result(operand).filter(|_| operand < self.carried()).map(|(_, shape)| shape))
    }
}

impl Control<DType> {
    /// The size in bytes of each operand, as far as the graphs take it, and of each result.
    ///
    /// # Errors
    /// `Verify` if the graphs do not match the number of operands; `Size` if an array cannot exist.
    pub fn sizes(&self, operands: usize) -> Result<(Vec<usize>, Vec<usize>)> {
        let wrong = || Error::new(ErrorCode::Verify, "control flow: its graphs do not fit it");
        let mut taken = vec![0; operands];
        for Inner { graph, operands } in &self.graphs {
            if graph.params().len() != operands.len() {
                return Err(wrong());
            }
            for (&param, &operand) in graph.params().iter().zip(operands) {
                let shape = self.operand(operand as usize, graph.shape(param));
                let taken = taken.get_mut(operand as usize).ok_or_else(wrong)?;
                *taken = shape.bytes(graph.ty(param).bytes())?.max(*taken);
            }
        }
        let bytes = |(dtype, shape): (DType, Shape)| shape.bytes(dtype.bytes());
        let made = (0..self.results()).map(|n| self.result(n).ok_or_else(wrong).and_then(bytes));
        let made: Vec<usize> = made.collect::<Result<_>>()?;
        if self.kind == ControlKind::Cond {
            *taken.first_mut().ok_or_else(wrong)? = 1;
        }
        if let ControlKind::For(counts) = self.kind {
            let first = counts.carried as usize;
            taken.get_mut(first..first + 2).ok_or_else(wrong)?.fill(counts.index.bytes());
        }
        for (n, &bytes) in made.iter().enumerate().take(self.carried()) {
            let taken = taken.get_mut(n).ok_or_else(wrong)?;
            *taken = bytes.max(*taken);
        }
        Ok((taken, made))
    }
}

impl Control<ValueType> {
    /// The storage dtype of a result; in loops the dtype of the carry's parameter.
    pub fn storage_dtype(&self, result: usize, policy: Policy) -> DType {
        let taken = self.takes(result).filter(|_| result < self.carried());
        // The first branch determines it.
        let graph = match self.kind {
            ControlKind::Cond => self.graphs.first(),
            ControlKind::While | ControlKind::Scan(_) | ControlKind::For(_) => self.graphs.last(),
        };
        let made = || graph.map(|inner| inner.graph.storage_dtype(inner.graph.outputs()[result], policy));
        taken.or_else(made).unwrap_or(DType::Bool)
    }

    /// The parameter dtype of an operand; `None` if no graph takes it.
    fn takes(&self, operand: usize) -> Option<DType> {
        self.graphs.iter().find_map(|inner| {
            let at = inner.operands.iter().position(|&own| own as usize == operand)?;
            inner.graph.param_dtype(at)
        })
    }

    /// The parameter dtype of each operand, from the first graph that takes it. A carry that only the body's outputs use has their
    /// storage dtype. `None` for unused operands.
    pub fn operand_dtypes(&self, operands: usize, policy: Policy) -> Vec<Option<DType>> {
        let mut taken = vec![None; operands];
        for inner in &self.graphs {
            for (at, &operand) in inner.operands.iter().enumerate() {
                if let Some(taken) = taken.get_mut(operand as usize) {
                    *taken = taken.or_else(|| inner.graph.param_dtype(at));
                }
            }
        }
        if let Some(body) = self.last() {
            for (taken, &output) in taken.iter_mut().zip(body.outputs()).take(self.carried()) {
                *taken = taken.or_else(|| Some(body.storage_dtype(output, policy)));
            }
        }
        if let ControlKind::For(counts) = self.kind {
            taken.iter_mut().skip(counts.carried as usize).take(2).for_each(|taken| *taken = Some(counts.index));
        }
        taken
    }
}

/// The control flow of a graph.
#[derive(Clone, Debug)]
pub(super) struct Controls<T: Type> {
    all: Vec<Arc<Control<T>>>,
    /// Numbers by address.
    numbers: FxHashMap<usize, u32>,
}

impl<T: Type> Default for Controls<T> {
    fn default() -> Controls<T> {
        Controls { all: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Type> Controls<T> {
    pub(super) fn all(&self) -> &[Arc<Control<T>>] {
        &self.all
    }

    /// Adds control flow, or finds an identical one.
    pub(super) fn number(&mut self, control: Arc<Control<T>>) -> u32 {
        let next = self.all.len() as u32;
        // The list keeps the control flow alive, so its address stays unique.
        let number = *self.numbers.entry(Arc::as_ptr(&control).addr()).or_insert(next);
        if number == next {
            self.all.push(control);
        }
        number
    }
}

/// The type and shape of a value.
type TypeAndShape<T> = (T, Shape);

/// The requirements on the operands of control flow, computed once for all its nodes.
pub(super) struct ControlSignature<T> {
    /// Operand, graph, and the parameter's type and shape; each once.
    operands: Vec<(u32, usize, TypeAndShape<T>)>,
    /// The types and shapes of the first operands.
    begin: Vec<TypeAndShape<T>>,
    /// The problem if they differ.
    otherwise: &'static str,
    /// The problem of the graphs, if the operands match.
    graphs: Option<&'static str>,
}

/// Checks the graphs of control flow.
pub(super) fn wanted<T: Type>(control: &Control<T>) -> Result<ControlSignature<T>, String> {
    let names = control.kind.graphs();
    if names.len() != control.graphs.len() {
        return Err(format!("it has {} graphs, not {}", control.graphs.len(), names.len()));
    }
    let mut operands: Vec<(u32, usize, TypeAndShape<T>)> = Vec::new();
    // List indices of each operand's entries.
    let mut seen: FxHashMap<u32, SmallVec<[usize; 1]>> = FxHashMap::default();
    let mut outputs: Vec<Vec<TypeAndShape<T>>> = Vec::new();
    for (n, (Inner { graph, operands: taken }, what)) in control.graphs.iter().zip(names).enumerate() {
        let typed = |value: &Value| {
            let known = value.index() < graph.value_count();
            known.then(|| (graph.ty(*value), graph.shape(*value).clone()))
        };
        let missing = || format!("the graph `{what}` has a value that does not exist");
        if graph.params().len() != taken.len() {
            return Err(format!(
                "the graph `{what}` has {} parameters, and takes {}",
                graph.params().len(),
                taken.len()
            ));
        }
        for (param, &operand) in graph.params().iter().zip(taken) {
            let (ty, shape) = typed(param).ok_or_else(missing)?;
            let param = (ty, control.operand(operand as usize, &shape));
            let same = seen.entry(operand).or_default();
            if !same.iter().any(|&at| operands[at].2 == param) {
                same.push(operands.len());
                operands.push((operand, n, param));
            }
        }
        outputs.push(graph.outputs().iter().map(typed).collect::<Option<_>>().ok_or_else(missing)?);
    }
    let one = (T::from(DType::Bool), Shape::scalar());
    let mut last = outputs.pop().unwrap_or_default();
    let (begin, otherwise, graphs) = match control.kind {
        ControlKind::While if outputs != [[one.clone()]] => {
            return Err("the condition is not one bool".to_owned());
        }
        ControlKind::While => (last, "the body gives otherwise than it takes", None),
        ControlKind::Cond => {
            let differ = outputs != [last];
            let graphs = differ.then_some("the graphs for true and for false give different types");
            (vec![one], "the first operand is not one bool", graphs)
        }
        ControlKind::Scan(steps) => {
            if last.len() < steps.carried as usize {
                return Err(format!("the carry has {} values, the body gives {}", steps.carried, last.len()));
            }
            last.truncate(steps.carried as usize);
            (last, "the body gives otherwise than it takes", None)
        }
        ControlKind::For(ForArity { carried, index }) => {
            if last.len() != carried as usize {
                return Err(format!("the carry has {carried} values, the body gives {}", last.len()));
            }
            if !index.is_int() {
                return Err(format!("an index of {index}"));
            }
            if let Some(n) = control.graphs[0].operands.iter().position(|&n| n == carried + 1) {
                return Err(format!("parameter {n} of the body is the bound that it has not reached"));
            }
            let bound = (T::from(index), Shape::scalar());
            last.extend([bound.clone(), bound]);
            (last, "the body gives otherwise than it takes, or the bounds are not of the index's dtype", None)
        }
    };
    Ok(ControlSignature { operands, begin, otherwise, graphs })
}

/// Checks the operands of a node of control flow.
pub(super) fn check<T: Type>(
    kind: ControlKind,
    wanted: &ControlSignature<T>,
    operands: &[TypeAndShape<T>],
) -> Result<(), String> {
    for (operand, n, (ty, shape)) in &wanted.operands {
        let what = kind.graphs()[*n];
        match operands.get(*operand as usize) {
            Some((own, of)) if (own, of) == (ty, shape) => {}
            Some((own, of)) => {
                return Err(format!("operand {operand} is {own}{of}, the graph `{what}` takes {ty}{shape}"));
            }
            None => return Err(format!("the graph `{what}` takes operand {operand} of {}", operands.len())),
        }
    }
    if let ControlKind::Scan(steps) = kind {
        let sliced =
            |n: usize| operands.get(n).is_some_and(|(_, shape)| shape.extents().first() == Some(&steps.length));
        if let Some(n) = (0..kind.arrays(0)).find(|&n| steps.slices(n) && !sliced(n)) {
            return Err(format!("operand {n} has no {} slices", steps.length));
        }
    }
    match wanted.graphs {
        _ if !operands.starts_with(&wanted.begin) => Err(wanted.otherwise.to_owned()),
        Some(graphs) => Err(graphs.to_owned()),
        None => Ok(()),
    }
}
