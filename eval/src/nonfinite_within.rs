//! The search for the first NaN or infinity within control flow: its steps run one by one, as in the interpreter, and each is searched like
//! a program.

use crate::argument::{ArgumentLayout, ArgumentType};
use crate::nonfinite::{self, FirstFound, Sought};
use crate::plan::compiled::Plan;
use crate::settings::Settings;
use crate::steps::{RunInputs, StepProgram};
use ndjit_ir::graph::{ControlKind, Graph, Inner, NodeId, NodeKind, Slot, SourceLocs, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Result, Shape, ValueType};
use ndjit_math::interp::Tensor;
use ndjit_runtime::{Buffer, Memory};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The maximum number of searched steps; a longer loop is reported as a whole.
const STEPS: usize = 1 << 16;

/// The first matching operation in the graphs of a control flow node, if any.
///
/// # Errors
/// Those of running its graphs.
pub(crate) fn search(
    (steps, given, settings): (&StepProgram, &RunInputs, Settings),
    known: &FxHashMap<Value, &Tensor>,
    node: NodeId,
    sought: Sought,
) -> Result<Option<FirstFound>> {
    let graph = &steps.graph;
    let NodeKind::Control(number) = graph.node(node).kind else { return Ok(None) };
    let Some(control) = graph.controls().get(number as usize).cloned() else { return Ok(None) };
    let taken = control.operand_dtypes(graph.operands(node).len(), settings.policy);
    let mut operands: Vec<Option<Tensor>> = Vec::new();
    for (&operand, taken) in graph.operands(node).iter().zip(taken) {
        operands.push(match (known.get(&operand), taken) {
            (Some(tensor), _) => Some(tensor.copied()?),
            (None, Some(dtype)) => number_of(graph, operand, dtype, &given.scalars)?,
            (None, None) => None,
        });
    }
    let mut bodies: Vec<BodyProgram> = Vec::new();
    let settings = settings.on(Device::CPU)?;
    for (n, inner) in control.graphs.iter().enumerate() {
        bodies.push(BodyProgram::new(inner, SourceLocs::clone(&steps.places.control(number, n)), steps, settings)?);
    }
    let mut walk = ControlWalk { operands, scalars: &given.scalars, settings, sought };
    let name = control.kind.name();
    let at = steps.places.first(node).map_or(String::new(), |place| format!(" at {place}"));
    let found = walk.steps(control.kind, control.results(), &bodies)?;
    Ok(found.map(|(step, mut found)| {
        let step = match control.kind {
            ControlKind::Cond => format!("the branch `{}` of {name}{at}", control.kind.graphs()[step]),
            _ => format!("step {step} of {name}{at}, counted from 0"),
        };
        found.within.insert(0, step);
        found
    }))
}

/// A scalar value, in a dtype.
fn number_of(
    graph: &Graph<ValueType>,
    value: Value,
    dtype: DType,
    scalars: &[(usize, Literal)],
) -> Result<Option<Tensor>> {
    let NodeKind::Literal(slot) = graph.node(graph.producer(value)).kind else { return Ok(None) };
    let literal = match graph.slots().get(slot.index()) {
        Some(Slot::Value(literal)) => *literal,
        Some(Slot::Argument { index, .. }) => match scalars.iter().find(|(argument, _)| argument == index) {
            Some((_, literal)) => *literal,
            None => return Ok(None),
        },
        None => return Ok(None),
    };
    let words = literal.to_repr(dtype)?;
    Tensor::from_repr(dtype, Shape::scalar(), |_| words.clone()).map(Some)
}

/// A graph of control flow, as a program run operation by operation.
struct BodyProgram {
    program: StepProgram,
    plan: Plan,
    /// Its results.
    results: Vec<Value>,
    /// The operands that are its parameters, with their dtypes.
    taken: Vec<(u32, DType)>,
}

impl BodyProgram {
    fn new(
        inner: &Inner<ValueType>,
        places: SourceLocs,
        around: &StepProgram,
        settings: Settings,
    ) -> Result<BodyProgram> {
        let graph = Graph::clone(&inner.graph);
        let (mut types, mut taken) = (Vec::new(), Vec::new());
        for (n, (&param, &operand)) in graph.params().iter().zip(&inner.operands).enumerate() {
            let (ty, shape) = (graph.ty(param), graph.shape(param).clone());
            let dtype = graph.param_dtype(n).unwrap_or(settings.policy.commit(ty));
            types.push(ArgumentType { ty, dtype, shape, layout: ArgumentLayout::Contiguous });
            taken.push((operand, dtype));
        }
        let results = graph.outputs().to_vec();
        let program = around.inner(graph, places, types);
        let plan = program.plan(settings)?;
        Ok(BodyProgram { program, plan, results, taken })
    }
}

/// Steps of control flow.
struct ControlWalk<'a> {
    /// The operands; `None` if unused or unknown.
    operands: Vec<Option<Tensor>>,
    scalars: &'a [(usize, Literal)],
    settings: Settings,
    sought: Sought,
}

/// The outcome of a step: its results, as far as known, or a match.
enum StepOutcome {
    Results(Vec<Option<Tensor>>),
    Found(FirstFound),
    /// It cannot run: an operand is unknown.
    Unknown,
}

impl ControlWalk<'_> {
    /// The matching step; for a branch, the one taken.
    fn steps(
        &mut self,
        kind: ControlKind,
        results: usize,
        bodies: &[BodyProgram],
    ) -> Result<Option<(usize, FirstFound)>> {
        let holds = |condition: Option<&Tensor>| condition.map(|condition| condition.bytes.first() == Some(&1));
        let (body, carried, trips) = match kind {
            ControlKind::Cond => {
                let Some(holds) = holds(self.operands.first().and_then(Option::as_ref)) else { return Ok(None) };
                let branch = usize::from(!holds);
                return Ok(match self.step(&bodies[branch])? {
                    StepOutcome::Found(found) => Some((branch, found)),
                    StepOutcome::Results(_) | StepOutcome::Unknown => None,
                });
            }
            ControlKind::While => (&bodies[1], results, usize::MAX),
            ControlKind::For(counts) => {
                let carried = counts.carried as usize;
                let [Some(start), Some(end)] = [carried, carried + 1].map(|n| self.operands[n].as_ref()) else {
                    return Ok(None);
                };
                let trips = counts.trips(&start.bytes[..counts.index.bytes()], &end.bytes[..counts.index.bytes()]);
                (&bodies[0], carried, usize::try_from(trips).unwrap_or(usize::MAX))
            }
            ControlKind::Scan(arity) => (&bodies[0], arity.carried as usize, arity.length),
        };
        let copied = |operand: &Option<Tensor>| operand.as_ref().map(Tensor::copied).transpose();
        let begin: Vec<Option<Tensor>> = self.operands.iter().map(copied).collect::<Result<_>>()?;
        for step in 0..trips.min(STEPS) {
            match kind {
                ControlKind::While => {
                    // Intermediate values of a condition are searched, too.
                    let condition = match self.step(&bodies[0])? {
                        StepOutcome::Results(results) => holds(results.first().and_then(Option::as_ref)),
                        StepOutcome::Found(found) => return Ok(Some((step, found))),
                        StepOutcome::Unknown => None,
                    };
                    if condition != Some(true) {
                        return Ok(None);
                    }
                }
                ControlKind::For(counts) => {
                    let (Some(start), Some(index)) = (&begin[carried], &mut self.operands[carried]) else {
                        return Ok(None);
                    };
                    let at = counts.at(&start.bytes[..counts.index.bytes()], step as _);
                    index.bytes.copy_from_slice(&at[..counts.index.bytes()]);
                }
                ControlKind::Scan(arity) => {
                    let sliced = self.operands.iter_mut().zip(&begin).skip(carried).take(arity.sliced as usize);
                    for (operand, all) in sliced {
                        *operand = all.as_ref().map(|all| all.slice(step)).transpose()?;
                    }
                }
                ControlKind::Cond => {}
            }
            match self.step(body)? {
                StepOutcome::Found(found) => return Ok(Some((step, found))),
                StepOutcome::Unknown => return Ok(None),
                StepOutcome::Results(next) => {
                    for (operand, next) in self.operands.iter_mut().zip(next.into_iter().take(carried)) {
                        *operand = next;
                    }
                }
            }
        }
        Ok(None)
    }

    fn step(&self, body: &BodyProgram) -> Result<StepOutcome> {
        let mut given = RunInputs { memory: Vec::new(), scalars: self.scalars.to_vec() };
        let mut params: FxHashMap<Value, Tensor> = FxHashMap::default();
        for (&param, &(operand, dtype)) in body.program.graph.params().iter().zip(&body.taken) {
            let tensor = self.operands.get(operand as usize).and_then(Option::as_ref);
            let Some(tensor) = tensor.filter(|tensor| tensor.dtype == dtype) else { return Ok(StepOutcome::Unknown) };
            given.memory.push(Memory::Host(Arc::new(Buffer::from_bytes(&tensor.bytes)?)));
            params.insert(param, tensor.copied()?);
        }
        let computed = body.program.run_plan(&body.plan, &given)?.results;
        let about = (&body.program, &given, self.settings);
        let found = nonfinite::search(about, &computed, &body.results, self.sought)?;
        // Values of parameters have an earlier origin.
        if let Some(found) = found.filter(|found| found.node.is_some() || !found.within.is_empty()) {
            return Ok(StepOutcome::Found(found));
        }
        let graph = &body.program.graph;
        let made: FxHashMap<Value, &Tensor> = graph.outputs().iter().copied().zip(&computed).collect();
        let result =
            |(n, value): (usize, &Value)| match (made.get(value).copied().or(params.get(value)), body.taken.get(n)) {
                (Some(tensor), _) => tensor.copied().map(Some),
                // A scalar has the dtype of the state.
                (None, Some(&(_, dtype))) => number_of(graph, *value, dtype, self.scalars),
                (None, None) => Ok(None),
            };
        Ok(StepOutcome::Results(body.results.iter().enumerate().map(result).collect::<Result<_>>()?))
    }
}
