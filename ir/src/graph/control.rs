//! Control flow: nodes whose graphs run once, not at all, or again and again, as values say that are not known when a program is made.
//!
//! A node of control flow has one result: one with several is as many nodes of the same [`Control`] with the same operands, which one kernel
//! computes together. Its graphs are closed: the arrays that they use from outside are operands. Numbers are in them as they are in any graph:
//! known, or passed at each call of the program, as the argument of a position.

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

/// How deep control flow may stand in control flow.
pub const MAX_NESTING: usize = 32;

/// What a node of control flow does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControlKind {
    /// Its graphs are the condition and the body. The first operands are the carry, as many as the body has outputs: while the condition, of
    /// the carry and the other operands, is true, the carry becomes what the body makes of them. The results are the carry.
    While,
    /// Its first operand is a condition, its graphs are for true and for false: the results are those of one of them, of the other operands.
    Cond,
    /// Its graph is the body, which runs once for each index along the first axis of some operands, in order.
    Scan(ScanArity),
    /// Its graph is the body, which runs once for each index from one bound to before the other, in order.
    For(ForArity),
}

/// The operands and results of a loop that counts: first the carry, which becomes what the body makes of it, then the bounds, of which the first is what
/// the body takes as the index; then what is the same in each step. The body never takes the second bound. The results are the carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ForArity {
    /// How many operands, and results, are the carry.
    pub carried: u32,
    /// The dtype of index and bounds, an integer.
    pub index: DType,
}

impl ForArity {
    /// Returns `true` if the body takes the index where it takes an operand.
    pub fn is_index(self, operand: usize) -> bool {
        operand == self.carried as usize
    }

    /// How often the body runs with these bounds, each one element in memory.
    pub fn trips(self, start: &[u8], end: &[u8]) -> u64 {
        let distance = self.number(end).saturating_sub(self.number(start)).max(0);
        u64::try_from(distance).unwrap_or(u64::MAX)
    }

    /// The index of a step, as one element in memory and then zeros.
    pub fn at(self, start: &[u8], step: u64) -> [u8; 16] {
        let mut bytes = self.number(start).wrapping_add(i128::from(step)).to_le_bytes();
        bytes[self.index.bytes()..].fill(0);
        bytes
    }

    fn number(self, element: &[u8]) -> i128 {
        let mut bytes = [0; 16];
        for (byte, &own) in bytes.iter_mut().zip(element).take(self.index.bytes()) {
            *byte = own;
        }
        let above = 128 - self.index.bits();
        let shifted = i128::from_le_bytes(bytes) << above;
        if self.index.is_signed() { shifted >> above } else { i128::from_le_bytes(bytes) }
    }
}

/// The operands and results of a scan: first the carry, which becomes what the body makes of it; then arrays with a slice for each step, of
/// which the body takes that slice; then what is the same in each step. After the carry the body gives what is stacked: a slice for each step
/// of an array that has one more axis, the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanArity {
    /// How often the body runs: the first extent of what is sliced and of what is stacked.
    pub length: usize,
    /// How many operands, and results, are the carry.
    pub carried: u32,
    /// How many operands are sliced.
    pub sliced: u32,
    /// True if the first step takes the last slices.
    pub reverse: bool,
}

impl ScanArity {
    /// The number of the slices that a step takes and gives.
    pub fn slice(self, step: usize) -> usize {
        if self.reverse { self.length.saturating_sub(1).saturating_sub(step) } else { step }
    }

    /// Returns `true` if the body takes slices of an operand.
    pub fn slices(self, operand: usize) -> bool {
        let carried = self.carried as usize;
        (carried..carried + self.sliced as usize).contains(&operand)
    }

    /// The shape of an array with a slice of this shape for each step.
    fn stacked(self, slice: &Shape) -> Shape {
        let extents: SmallVec<[usize; 6]> = [self.length].into_iter().chain(slice.extents().iter().copied()).collect();
        Shape::from(&extents[..])
    }
}

impl ControlKind {
    /// One of each, in the order of their names in text; loops without a carry.
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

    /// The kind of a name in text; a loop without a carry.
    pub(super) fn named(name: &str) -> Option<ControlKind> {
        ControlKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What its graphs are called.
    pub const fn graphs(self) -> &'static [&'static str] {
        match self {
            ControlKind::While => &["condition", "body"],
            ControlKind::Cond => &["true", "false"],
            ControlKind::Scan(_) | ControlKind::For(_) => &["body"],
        }
    }

    /// How many operands, the first, are no numbers that its graphs may have written in them: they change, or decide.
    pub const fn arrays(self, results: usize) -> usize {
        match self {
            ControlKind::While => results,
            ControlKind::Cond => 1,
            ControlKind::Scan(ScanArity { carried, sliced, .. }) => carried as usize + sliced as usize,
            ControlKind::For(ForArity { carried, .. }) => carried as usize + 2,
        }
    }
}

/// What nodes of control flow have in common that are of the same piece of it.
#[derive(Clone, Debug)]
pub struct Control<T: Type> {
    /// What it does.
    pub kind: ControlKind,
    /// Its graphs, as many as the kind has [names](ControlKind::graphs) for.
    pub graphs: Vec<Inner<T>>,
}

/// A graph in a node of control flow.
#[derive(Clone, Debug)]
pub struct Inner<T: Type> {
    /// The graph.
    pub graph: Arc<Graph<T>>,
    /// For each parameter the operand of the node that it is.
    pub operands: Vec<u32>,
}

impl<T: Type> Control<T> {
    /// How deep control flow stands in it, itself counted.
    pub fn nesting(&self) -> usize {
        1 + self.graphs.iter().map(|inner| inner.graph.nesting()).max().unwrap_or(0)
    }

    /// Nodes of its graphs, those of what they call at each call.
    pub fn expanded(&self) -> usize {
        self.graphs.iter().fold(0usize, |all, inner| all.saturating_add(inner.graph.expanded()))
    }

    /// The graph whose outputs are its results: the body, or the last branch.
    fn last(&self) -> Option<&Graph<T>> {
        self.graphs.last().map(|inner| &*inner.graph)
    }

    /// How many results it has.
    pub fn results(&self) -> usize {
        self.last().map_or(0, |graph| graph.outputs().len())
    }

    /// Type and shape of a result, if there is such.
    pub fn result(&self, n: usize) -> Option<(T, Shape)> {
        let graph = self.last()?;
        let &output = graph.outputs().get(n)?;
        Some((graph.ty(output), self.result_shape(n, Cow::Borrowed(graph.shape(output))).into_owned()))
    }

    /// The shape of a result that the last graph gives in this shape.
    pub(crate) fn result_shape<'a>(&self, n: usize, made: Cow<'a, Shape>) -> Cow<'a, Shape> {
        match self.kind {
            ControlKind::Scan(steps) if n >= steps.carried as usize => Cow::Owned(steps.stacked(&made)),
            ControlKind::Scan(_) | ControlKind::For(_) | ControlKind::While | ControlKind::Cond => made,
        }
    }

    /// The shape of an operand that a graph takes as a parameter of this shape.
    fn operand(&self, operand: usize, param: &Shape) -> Shape {
        match self.kind {
            ControlKind::Scan(steps) if steps.slices(operand) => steps.stacked(param),
            ControlKind::Scan(_) | ControlKind::For(_) | ControlKind::While | ControlKind::Cond => param.clone(),
        }
    }

    /// The operands that are the carry, which the first results are after the last step.
    pub fn carried(&self) -> usize {
        match self.kind {
            ControlKind::While => self.results(),
            ControlKind::Cond => 0,
            ControlKind::Scan(ScanArity { carried, .. }) | ControlKind::For(ForArity { carried, .. }) => {
                carried as usize
            }
        }
    }

    /// The shape that an operand has, as its graphs say; `None` if nothing depends on it.
    pub fn shape(&self, operand: usize) -> Option<Shape> {
        let taken = self.graphs.iter().find_map(|Inner { graph, operands }| {
            let at = operands.iter().position(|&own| own as usize == operand)?;
            graph.params().get(at).map(|&param| self.operand(operand, graph.shape(param)))
        });
        taken.or_else(|| self.result(operand).filter(|_| operand < self.carried()).map(|(_, shape)| shape))
    }
}

impl Control<DType> {
    /// Bytes of each of so many operands, as far as its graphs take it, and of each result.
    ///
    /// # Errors
    /// `Verify` if its graphs do not fit so many operands; `Size` if an array cannot exist.
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
    /// The dtype that a result is stored in: of a loop as its graphs take it.
    pub fn storage_dtype(&self, result: usize, policy: Policy) -> DType {
        let taken = self.takes(result).filter(|_| result < self.carried());
        // Of branches it is the first that says so.
        let graph = match self.kind {
            ControlKind::Cond => self.graphs.first(),
            ControlKind::While | ControlKind::Scan(_) | ControlKind::For(_) => self.graphs.last(),
        };
        let made = || graph.map(|inner| inner.graph.storage_dtype(inner.graph.outputs()[result], policy));
        taken.or_else(made).unwrap_or(DType::Bool)
    }

    /// The dtype in which its graphs take an operand; `None` if none takes it.
    fn takes(&self, operand: usize) -> Option<DType> {
        self.graphs.iter().find_map(|inner| {
            let at = inner.operands.iter().position(|&own| own as usize == operand)?;
            inner.graph.param_dtype(at)
        })
    }

    /// The dtypes in which its graphs take so many operands, each as its first graph that takes it: of a loop what a body alone gives is taken as
    /// that stores it. `None` for those that nothing takes.
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
    /// Their numbers, by address.
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

    /// Adds a piece, or finds the same.
    pub(super) fn number(&mut self, control: Arc<Control<T>>) -> u32 {
        let next = self.all.len() as u32;
        // An address is that of one piece as long as the list holds it.
        let number = *self.numbers.entry(Arc::as_ptr(&control).addr()).or_insert(next);
        if number == next {
            self.all.push(control);
        }
        number
    }
}

/// Type and shape of a value.
type TypeAndShape<T> = (T, Shape);

/// What control flow asks of the operands of its nodes: found once, however many nodes it has.
pub(super) struct ControlSignature<T> {
    /// Operand, graph and what that takes; each once.
    operands: Vec<(u32, usize, TypeAndShape<T>)>,
    /// What the operands begin with.
    begin: Vec<TypeAndShape<T>>,
    /// What is wrong where they do not.
    otherwise: &'static str,
    /// What is wrong with the graphs, where the operands are right.
    graphs: Option<&'static str>,
}

/// Checks the graphs of control flow.
pub(super) fn wanted<T: Type>(control: &Control<T>) -> Result<ControlSignature<T>, String> {
    let names = control.kind.graphs();
    if names.len() != control.graphs.len() {
        return Err(format!("it has {} graphs, not {}", control.graphs.len(), names.len()));
    }
    let mut operands: Vec<(u32, usize, TypeAndShape<T>)> = Vec::new();
    // Those of an operand, by position in the list.
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
            return Err("the condition is not one truth value".to_owned());
        }
        ControlKind::While => (last, "the body gives otherwise than it takes", None),
        ControlKind::Cond => {
            let differ = outputs != [last];
            let graphs = differ.then_some("the graphs for true and for false give different types");
            (vec![one], "the first operand is not one truth value", graphs)
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

/// Checks the operands that a node of control flow has.
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
