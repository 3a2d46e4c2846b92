//! Evaluation of an array's pending operations, through the passes of jitted functions.

use crate::array::node::{ArrayRef, Elements};
use crate::lazy::program::{LazyProgram, Leaf, Numbers};
use crate::lazy::{retain, retained};
use crate::observer::{self, ObservedCall, Observers};
use crate::plan::compiled::Memories;
use crate::plan::dump::unasked;
use crate::settings::settings;
use crate::steps::RunInputs;
use ndjit_inspect::explain::{self, Explanation, Origin, ParamSource};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::{Error, ErrorCode, Result, ValueType};
use ndjit_runtime::{Argument, Memory, Output};
use smallvec::SmallVec;

/// Explains an array's dtype: its pending operations are the steps.
pub fn explain(array: &ArrayRef) -> Result<Explanation> {
    if let Some(error) = array.error() {
        return Err(error.clone());
    }
    let program = LazyProgram::collect(array);
    let (graph, places) = program.graph(Numbers::Known);
    let inputs = vec![ParamSource::Data; graph.params().len()];
    match graph.outputs().first() {
        Some(&value) => explain::value(&graph, &places, &inputs, settings().policy, value),
        None => Ok(Explanation::given(array.value_type(), array.dtype(), Origin::Data)),
    }
}

/// Evaluates an array. Two threads may both compute it; the first result counts.
pub fn evaluate(array: &ArrayRef) -> Result<()> {
    let made =
        array.0.source.lock().pending_op().map(|pending_op| (pending_op.operation.kind.name(), pending_op.place));
    run(array).map_err(|error| match made {
        Some((what, place)) if error.place().is_none() => {
            error.at(place).fact(format_args!("computing {what}: {}{}", array.value_type(), array.shape()))
        }
        _ => error,
    })
}

fn run(array: &ArrayRef) -> Result<()> {
    let mut program = LazyProgram::collect(array);
    if program.pending.is_empty() {
        // They were kept, or another thread was first.
        if let Some(Leaf { kept: Some(kept), .. }) = program.leaves.first() {
            // They were computed unread, and observers see what is read.
            if observer::of_thread().is_some() {
                compute(&program, array)?;
            }
            array.0.store(Elements::dense(kept.memory.clone()));
        }
        return Ok(());
    }
    retain::choose(&mut program, retained::left());
    finish(program, array)
}

/// Computes a program's outputs and stores them.
pub(crate) fn finish(mut program: LazyProgram, array: &ArrayRef) -> Result<()> {
    let results = match compute(&program, array) {
        // Without the kept arrays, less memory is needed.
        Err(error) if error.code() == ErrorCode::Allocation && program.outputs.len() > 1 => {
            program.outputs.truncate(1);
            compute(&program, array)?
        }
        results => results?,
    };
    retain::store(program, results);
    Ok(())
}

/// The elements of a program's outputs: the array read, and the kept ones.
pub(crate) fn compute(program: &LazyProgram, array: &ArrayRef) -> Result<Memories> {
    let plan = program.plan(array.device())?;
    let leaves: SmallVec<[ArrayRef; 4]> = program.leaves.iter().map(Leaf::with_elements).collect();
    let mut arguments: SmallVec<[Argument<'_>; 4]> = SmallVec::new();
    for leaf in &leaves {
        arguments.push(leaf.elements()?.memory.argument());
    }
    let results = plan.results_of(arguments, &program.scalars)?;
    if let Some(observers) = Observers::of(&plan) {
        let inputs = &|| RunInputs::arrays(&leaves, program.scalars.clone());
        // The elements of kept arrays are unread.
        let read: SmallVec<[Output<'_>; 1]> = results.iter().take(1).map(Memory::result).collect();
        observers.after(&ObservedCall { plan: &plan, results: &read, hidden: &[], inputs })?;
    }
    Ok(results)
}

/// A copy of an array's elements in row-major order.
pub fn copy(array: &ArrayRef) -> Result<Memory> {
    let program = LazyProgram::collect(array);
    let plan = unasked(|| program.plan(array.device()))?;
    let copies = plan.results_of([array.elements()?.memory.argument()], &[])?;
    copies.into_iter().next().ok_or_else(|| Error::new(ErrorCode::Verify, "copied, but without elements").of("array"))
}

/// The symbolic constant of an array created during a trace from new arrays only: a program, and its arguments. `None` if it has elements, or
/// depends on such an array.
pub fn symbolic(array: &ArrayRef) -> Option<(Graph<ValueType>, SourceLocs, Vec<ArrayRef>)> {
    if !array.0.traced || array.0.state.get().is_some() || array.value_type().is_weak() {
        return None;
    }
    let program = LazyProgram::collect(array);
    let computed = program.leaves.iter().all(|leaf| leaf.array.0.symbolic.is_some());
    if !computed || program.items.len() > MAX_SYMBOLIC {
        return None;
    }
    let (graph, places) = program.graph(Numbers::Known);
    Some((graph, places, program.leaves.into_iter().map(|leaf| leaf.array).collect()))
}

/// The maximum number of operations of a symbolic constant.
const MAX_SYMBOLIC: usize = 256;
