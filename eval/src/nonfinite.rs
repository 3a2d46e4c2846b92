//! The search for the operation with the first NaN or infinity, and a check of the results of every call.

use crate::nonfinite_within;
use crate::observer::{CallObserver, ObservedCall, with_observer};
use crate::settings::Settings;
use crate::steps::{RunInputs, StepProgram, line};
use ndjit_inspect::elements::{flat, indices, shown};
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Scatter, SourceLocs, Value};
use ndjit_ir::reserve::{collect, copy};
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, SourceLoc};
use ndjit_math::interp::Tensor;
use ndjit_runtime::devices::memory::result_memory;
use ndjit_runtime::{Output, environment};
use rustc_hash::FxHashMap;

/// The first operation of a function with NaN (or infinity) in its result but not in its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstFound {
    /// The node of the traced graph; `None` for an argument or a captured array.
    pub node: Option<NodeId>,
    /// The name of the operation; `call` without one.
    pub name: &'static str,
    /// The operation, as the traced graph prints it; `argument 0` or `captured array 0` if an array already contains one that reaches a
    /// result.
    pub operation: String,
    /// Its source location.
    pub place: Option<SourceLoc>,
    /// The operation at this place, if the node is part of its derivative.
    pub slope_of: Option<&'static str>,
    /// The enclosing steps of loops and branches, the outermost first.
    pub within: Vec<String>,
    /// The dtype of its result.
    pub dtype: DType,
    /// Elements of the result that are NaN (or infinite) while their operands' are not.
    pub elements: usize,
    /// Elements of the result.
    pub of: usize,
    /// The index of the first of them.
    pub index: Vec<usize>,
    /// Its value.
    pub value: String,
    /// The operands' values there, each with its name in `operation`: for elementwise operations.
    pub operands: Vec<(String, String)>,
}

impl FirstFound {
    /// Facts beside the operation and its place.
    pub fn facts(&self) -> impl Iterator<Item = String> {
        facts([self.elements, self.of], &self.index, &self.value, &self.operands)
    }
}

/// Facts about elements of a result: their number, of how many, the first index and value, and the operands' values.
pub fn facts(
    [elements, of]: [usize; 2],
    index: &[usize],
    value: &str,
    operands: &[(String, String)],
) -> impl Iterator<Item = String> {
    let found = format!("{value} in {elements} of {of} elements, first at {index:?}");
    let operands = operands.iter().map(|(name, value)| format!("{name} = {value}"));
    std::iter::once(found).chain(operands)
}

/// The kind of value sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// NaN.
    Nan,
    /// NaN, or an infinity.
    NonFinite,
}

impl Sought {
    fn is(self, tensor: &Tensor, index: usize) -> bool {
        match self {
            Sought::Nan => tensor.is_nan(index),
            Sought::NonFinite => !tensor.is_finite(index),
        }
    }

    /// The matching elements.
    fn all(self, tensor: &Tensor) -> impl Iterator<Item = usize> {
        (0..tensor.len()).filter(move |&index| self.is(tensor, index))
    }

    /// Whether any element matches.
    fn any(self, tensor: &Tensor) -> bool {
        self.all(tensor).next().is_some()
    }

    /// Whether each element matches.
    fn of(self, tensor: &Tensor) -> Result<Vec<bool>> {
        collect("debug", (0..tensor.len()).map(|index| self.is(tensor, index)))
    }
}

/// The observer that makes a NaN in the results of a call an error.
pub(crate) struct NanCheck;

impl CallObserver for NanCheck {
    /// The call runs again, operation by operation.
    fn reads_inputs(&self) -> bool {
        true
    }

    fn after(&self, call: &ObservedCall<'_>) -> Result<()> {
        check(call)
    }
}

/// Runs `body` with a check of the results of calls and evaluations: a NaN is an error.
pub fn with_check<R>(body: impl FnOnce() -> R) -> R {
    with_observer(&NanCheck, body)
}

/// The check of all results of the process, if the environment asks for it.
pub(crate) fn of_environment() -> Option<&'static dyn CallObserver> {
    environment::is_on("NDJIT_DEBUG_NANS").then_some(&NanCheck as &dyn CallObserver)
}

/// Checks the results of a call: `Nan` if one contains NaN.
fn check(call: &ObservedCall<'_>) -> Result<()> {
    let plan = call.plan;
    let mut first = None;
    for (n, (result, output)) in plan.results.iter().zip(call.results).enumerate() {
        if result.dtype.real().infinity_bits().is_none() {
            continue;
        }
        let bytes = match output {
            Output::Into(bytes) => copy("debug", bytes)?,
            Output::Fresh(buffer) => copy("debug", result_memory(Output::Fresh(buffer.clone()))?.host()?.as_bytes())?,
            Output::Device(memory) => copy("debug", result_memory(Output::Device(memory.clone()))?.host()?.as_bytes())?,
        };
        let tensor = Tensor { dtype: result.dtype, shape: result.shape.clone(), bytes };
        if let Some(at) = (0..tensor.len()).find(|&at| tensor.is_nan(at)) {
            first = Some((n, indices(&tensor.shape, at)));
            break;
        }
    }
    let Some((result, index)) = first else { return Ok(()) };
    let steps = StepProgram::new(
        Graph::clone(&plan.lowered.traced),
        SourceLocs::clone(&plan.lowered.places),
        plan.arguments.clone(),
        plan.closed_over.clone(),
        &plan.options,
    );
    let results = plan.lowered.traced.outputs();
    let found = find(&steps, &(call.inputs)()?, results, Sought::Nan, plan.settings)?;
    let error = |what: &str| Error::new(ErrorCode::Nan, format!("{what}: a result is NaN"));
    let error = match found {
        None => error("call"),
        Some(found) => {
            let error = error(found.name).at(found.place).fact(&found.operation);
            let error = match found.slope_of {
                Some(of) => error.fact(format_args!("it is in the slope of {of}")),
                None => error,
            };
            let error = found.within.iter().fold(error, |error, within| error.fact(format_args!("in {within}")));
            found.facts().fold(error, Error::fact)
        }
    };
    Err(error
        .fact(format_args!("result {result} of the call is NaN at {index:?}"))
        .help("`debug::first_nan` finds the operation without the check; `nan_to_num` and `where_` replace NaN"))
}

/// The first operation with a matching result.
///
/// # Errors
/// Those of running the program.
pub fn find(
    steps: &StepProgram,
    given: &RunInputs,
    results: &[Value],
    sought: Sought,
    settings: Settings,
) -> Result<Option<FirstFound>> {
    let computed = steps.run(given, settings)?.results;
    search((steps, given, settings), &computed, results, sought)
}

/// The same, for the results of operations.
///
/// # Errors
/// Those of running control flow step by step.
pub(crate) fn search(
    (steps, given, settings): (&StepProgram, &RunInputs, Settings),
    computed: &[Tensor],
    results: &[Value],
    sought: Sought,
) -> Result<Option<FirstFound>> {
    let graph = &steps.graph;
    let params = steps.params(given)?;
    let mut known: FxHashMap<Value, &Tensor> = graph.params().iter().copied().zip(&params).collect();
    for (&value, tensor) in graph.outputs().iter().zip(computed) {
        let node = graph.producer(value);
        let made = made(steps, &known, node, tensor, sought)?;
        if let Some(first) = made.iter().position(|&made| made) {
            let within = nonfinite_within::search((steps, given, settings), &known, node, sought)?;
            if within.is_some() {
                return Ok(within);
            }
            return Ok(Some(describe((steps, given), &known, node, tensor, (first, &made))));
        }
        known.insert(value, tensor);
    }
    let reaches = |value: &Value| known.get(value).is_some_and(|tensor| sought.any(tensor));
    if !results.iter().any(reaches) {
        return Ok(None);
    }
    for (n, tensor) in params.iter().enumerate() {
        if let Some(first) = sought.all(tensor).next() {
            return Ok(Some(FirstFound {
                node: None,
                name: "call",
                operation: steps.param_name(n),
                place: None,
                slope_of: None,
                within: Vec::new(),
                dtype: tensor.dtype,
                elements: sought.all(tensor).count(),
                of: tensor.len(),
                index: indices(&tensor.shape, first),
                value: shown(tensor, first),
                operands: Vec::new(),
            }));
        }
    }
    Ok(None)
}

/// For each element of a node's result whether it matches and none of its operand elements does.
///
/// # Errors
/// `Allocation` if memory is refused.
fn made(
    steps: &StepProgram,
    known: &FxHashMap<Value, &Tensor>,
    node: NodeId,
    tensor: &Tensor,
    sought: Sought,
) -> Result<Vec<bool>> {
    let graph = &steps.graph;
    let mut made = sought.of(tensor)?;
    if !made.contains(&true) {
        return Ok(made);
    }
    let operands: Vec<&Tensor> =
        graph.operands(node).iter().filter_map(|operand| known.get(operand).copied()).collect();
    match graph.node(node).kind {
        NodeKind::Op(..) | NodeKind::Cast(_) => {
            for (at, made) in made.iter_mut().enumerate().filter(|(_, made)| **made) {
                let index = indices(&tensor.shape, at);
                *made = !operands.iter().any(|operand| sought.is(operand, flat(&operand.shape, &index)));
            }
        }
        NodeKind::Reduce(reduce) => {
            let Some(x) = operands.first() else { return Ok(made) };
            let kept = reduce.axes.reduced(&x.shape, true);
            for at in sought.all(x) {
                if let Some(made) = made.get_mut(flat(&kept, &indices(&x.shape, at))) {
                    *made = false;
                }
            }
        }
        NodeKind::Scan(_, axis, _) => {
            let Some(x) = operands.first() else { return Ok(made) };
            let axis = axis as usize;
            let step = step_along(&x.shape, axis);
            let mut held = sought.of(x)?;
            for at in 0..held.len() {
                let first = indices(&x.shape, at).get(axis).is_none_or(|&index| index == 0);
                held[at] |= !first && held[at - step];
                made[at] &= !held[at];
            }
        }
        // The dependence of elements on operands is unknown.
        NodeKind::Control(..) if operands.iter().any(|operand| sought.any(operand)) => made.fill(false),
        NodeKind::Control(..) => {}
        // Finite values may overflow together.
        NodeKind::Scatter(Scatter::Add | Scatter::Subtract | Scatter::Multiply | Scatter::Divide) => {
            let [x, _, updates] = operands[..] else { return Ok(made) };
            let put = sought.any(updates);
            made.iter_mut().enumerate().for_each(|(at, made)| *made &= !sought.is(x, at) && !put);
        }
        // Moves of elements create none.
        _ => made.fill(false),
    }
    Ok(made)
}

/// Elements between adjacent indices of an axis.
fn step_along(shape: &Shape, axis: usize) -> usize {
    shape.extents().iter().skip(axis + 1).product()
}

fn describe(
    (steps, given): (&StepProgram, &RunInputs),
    known: &FxHashMap<Value, &Tensor>,
    node: NodeId,
    tensor: &Tensor,
    (first, made): (usize, &[bool]),
) -> FirstFound {
    let index = indices(&tensor.shape, first);
    FirstFound {
        node: Some(node),
        name: steps.graph.operation_name(node),
        operation: line(&steps.graph, node),
        place: steps.places.first(node),
        slope_of: steps.places.slope_of(node),
        within: Vec::new(),
        dtype: tensor.dtype,
        elements: made.iter().filter(|&&made| made).count(),
        of: tensor.len(),
        value: shown(tensor, first),
        operands: steps.operands(given, node, &index, |value| known.get(&value).copied()),
        index,
    }
}
