//! Programs run operation by operation: every intermediate value is a result.

use crate::argument::{ArgumentData, ArgumentLayout, ArgumentType, CallArgument};
use crate::array::ArrayRef;
use crate::options::PlanOptions;
use crate::plan::compiled::{Plan, ResultType};
use crate::settings::Settings;
use ndjit_inspect::clock::Clock;
use ndjit_inspect::elements::{flat, shown};
use ndjit_inspect::interpret::gather;
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Slot, SourceLocs, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::reserve::copy;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, ErrorCode, Result, ValueType};
use ndjit_math::interp::Tensor;
use ndjit_runtime::{Buffer, Memory, Output};
use std::sync::Arc;

/// A program in which every intermediate value is a result, and each operation is a kernel of its own.
pub struct StepProgram {
    /// Calls are inlined.
    pub graph: Graph<ValueType>,
    /// The source locations of its operations.
    pub places: SourceLocs,
    types: Vec<ArgumentType>,
    closed_over: Vec<ArrayRef>,
    options: PlanOptions,
}

/// The inputs of a run.
pub struct RunInputs {
    /// The arrays, captured ones last, in their memory.
    pub memory: Vec<Memory>,
    /// The scalars, each with its argument index.
    pub scalars: Vec<(usize, Literal)>,
}

/// The results of a run, operation by operation.
pub struct StepResults {
    /// The result of each operation, in order.
    pub results: Vec<Tensor>,
    /// For each kernel that a GPU could not run, the missing dtype.
    pub on_processor: Vec<DType>,
    /// The number of kernels.
    pub kernels: usize,
}

impl StepProgram {
    /// The steps of a traced program.
    pub fn new(
        mut graph: Graph<ValueType>,
        places: SourceLocs,
        types: Vec<ArgumentType>,
        closed_over: Vec<ArrayRef>,
        options: &PlanOptions,
    ) -> StepProgram {
        let computed = |id: &NodeId| !matches!(graph.node(*id).kind, NodeKind::Param(..) | NodeKind::Literal(_));
        let values: Vec<Value> = graph.node_ids().filter(computed).flat_map(|id| graph.node(id).results()).collect();
        graph.set_outputs(values);
        StepProgram { graph, places, types, closed_over, options: PlanOptions { fuse: false, ..*options } }
    }

    /// The result of each operation on the device of the settings, in the order of the graph's outputs.
    ///
    /// # Errors
    /// Those of lowering, compiling and running it.
    pub fn run(&self, given: &RunInputs, settings: Settings) -> Result<StepResults> {
        self.run_plan(&self.plan(settings)?, given)
    }

    /// The compiled steps.
    ///
    /// # Errors
    /// Those of lowering and compiling it.
    pub(crate) fn plan(&self, settings: Settings) -> Result<Plan> {
        let StepProgram { graph, places, types, closed_over, options } = self;
        let lowered = Plan::lower(graph, places, types, closed_over, options, settings, &mut Clock::default())?;
        Plan::compile(Arc::new(lowered), types.clone(), closed_over, options, settings, Clock::default())
    }

    /// A graph of its control flow, under the same options.
    pub(crate) fn inner(&self, graph: Graph<ValueType>, places: SourceLocs, types: Vec<ArgumentType>) -> StepProgram {
        StepProgram::new(graph, places, types, Vec::new(), &self.options)
    }

    /// As [`run`](StepProgram::run), for compiled steps.
    ///
    /// # Errors
    /// Those of running it.
    pub(crate) fn run_plan(&self, plan: &Plan, given: &RunInputs) -> Result<StepResults> {
        let mut outputs: Vec<Output<'_>> = plan.results.iter().map(|_| Output::Fresh(None)).collect();
        plan.run(given.memory.iter().map(Memory::argument), &given.scalars, &mut outputs)?;
        let tensor = |(result, output): (&ResultType, Output<'_>)| {
            let Output::Fresh(Some(buffer)) = output else { return Err(no_result()) };
            Ok(Tensor { dtype: result.dtype, shape: result.shape.clone(), bytes: copy("debug", buffer.as_bytes())? })
        };
        let results = plan.results.iter().zip(outputs).map(tensor).collect::<Result<Vec<Tensor>>>()?;
        Ok(StepResults { results, on_processor: plan.on_processor(), kernels: plan.lowered.steps.len() })
    }

    /// The values of a node's operands at an index of its result, each with its name; for elementwise operations only.
    pub fn operands<'a>(
        &self,
        given: &RunInputs,
        node: NodeId,
        index: &[usize],
        known: impl Fn(Value) -> Option<&'a Tensor>,
    ) -> Vec<(String, String)> {
        let (NodeKind::Op(..) | NodeKind::Cast(_)) = self.graph.node(node).kind else { return Vec::new() };
        let mut held: Vec<(String, String)> = Vec::new();
        for &operand in self.graph.operands(node) {
            let name = operand.to_string();
            let value = match known(operand) {
                Some(tensor) => Some(shown(tensor, flat(&tensor.shape, index))),
                None => self.number(given, operand),
            };
            if let Some(value) = value.filter(|_| held.iter().all(|(known, _)| *known != name)) {
                held.push((name, value));
            }
        }
        held
    }

    /// The value of a literal.
    fn number(&self, given: &RunInputs, value: Value) -> Option<String> {
        let NodeKind::Literal(slot) = self.graph.node(self.graph.producer(value)).kind else { return None };
        match self.graph.slots().get(slot.index())? {
            Slot::Value(literal) => Some(literal.to_string()),
            Slot::Argument { index, .. } => {
                given.scalars.iter().find(|(argument, _)| argument == index).map(|(_, literal)| literal.to_string())
            }
        }
    }

    /// The caller's name for an array parameter.
    pub fn param_name(&self, param: usize) -> String {
        let arrays = self.types.iter().enumerate().filter(|(_, ty)| ty.layout != ArgumentLayout::Scalar);
        let arguments: Vec<usize> = arrays.map(|(n, _)| n).collect();
        match arguments.get(param) {
            Some(n) => format!("argument {n}"),
            None => format!("captured array {}", param - arguments.len()),
        }
    }

    /// The elements of the array parameters.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub fn params(&self, given: &RunInputs) -> Result<Vec<Tensor>> {
        let arrays = self.types.iter().filter_map(ArgumentType::memory);
        let layouts = arrays.chain(self.closed_over.iter().map(ArrayRef::memory_layout));
        let params = self.graph.params().iter().zip(layouts).zip(&given.memory);
        params
            .map(|((&param, layout), memory)| {
                let NodeKind::Param(_, dtype) = self.graph.node(self.graph.producer(param)).kind else {
                    return Err(no_result());
                };
                gather(dtype, self.graph.shape(param), &layout?, memory.host()?.as_bytes())
            })
            .collect()
    }
}

impl RunInputs {
    /// Arguments, with copies of borrowed ones, and captured arrays; all in host memory.
    ///
    /// # Errors
    /// `Allocation` if memory is refused; those of evaluating pending arrays.
    pub fn of<'a, 'b: 'a>(
        args: impl IntoIterator<Item = &'a CallArgument<'b>>,
        closed_over: &[ArrayRef],
    ) -> Result<RunInputs> {
        let mut given = RunInputs { memory: Vec::new(), scalars: Vec::new() };
        for (n, arg) in args.into_iter().enumerate() {
            given.memory.push(match &arg.data {
                ArgumentData::Shared(own) => host(own)?,
                ArgumentData::Donated(own) => host(own)?,
                ArgumentData::Borrowed(bytes) => Memory::Host(Arc::new(Buffer::from_bytes(bytes)?)),
                ArgumentData::Inline(bytes) => Memory::Host(Arc::new(Buffer::from_bytes(bytes)?)),
                ArgumentData::Scalar(literal) => {
                    given.scalars.push((n, *literal));
                    continue;
                }
            });
        }
        given.memory.extend(RunInputs::arrays(closed_over, Vec::new())?.memory);
        Ok(given)
    }

    /// The same inputs on a device.
    ///
    /// # Errors
    /// `Device` if there is no such device.
    pub fn on(self, device: Device) -> Result<RunInputs> {
        let memory = self.memory.iter().map(|memory| memory.on(device)).collect::<Result<Vec<Memory>>>()?;
        Ok(RunInputs { memory, ..self })
    }

    /// Arrays, and scalars.
    ///
    /// # Errors
    /// Those of evaluating pending arrays.
    pub fn arrays(arrays: &[ArrayRef], scalars: Vec<(usize, Literal)>) -> Result<RunInputs> {
        let memory = arrays.iter().map(|array| host(&array.elements()?.memory)).collect::<Result<Vec<Memory>>>()?;
        Ok(RunInputs { memory, scalars })
    }
}

fn host(memory: &Memory) -> Result<Memory> {
    Ok(Memory::Host(memory.host()?))
}

/// A node's line in the text of its graph.
pub fn line(graph: &Graph<ValueType>, node: NodeId) -> String {
    graph.display_node(node).to_string().trim().to_owned()
}

fn no_result() -> Error {
    Error::new(ErrorCode::Verify, "call: the program gave no elements")
}
