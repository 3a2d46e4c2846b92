//! Runs of a plan: the path of every call. It holds the [observers](ndjit_eval::observer) of the call, and knows no diagnostic by name.

use crate::array::node::Array;
use crate::jit::input::{Arg, Destination, Sink, known};
use crate::jit::output::Arrays;
use ndjit_eval::argument::ArgumentData;
use ndjit_eval::array::ArrayRef;
use ndjit_eval::observer::{ObservedCall, Observers};
use ndjit_eval::plan::compiled::{Plan, RESULTS};
use ndjit_eval::steps::RunInputs;
use ndjit_ir::literal::Literal;
use ndjit_ir::{Error, ErrorCode, Result};
use ndjit_runtime::{Buffer, Output};
use smallvec::SmallVec;

/// The outputs of a call.
type CallOutputs<'a> = SmallVec<[Output<'a>; RESULTS]>;

/// Runs a plan on matching arguments. The results are new arrays.
pub(crate) fn run_fresh(plan: &Plan, args: &mut [Arg<'_>]) -> Result<Arrays> {
    // Results are pushed one by one: collecting into a list moves it, at 10 ns a call for each.
    let mut outputs = CallOutputs::new();
    plan.results.iter().for_each(|_| outputs.push(plan.fresh()));
    run(plan, args, &mut outputs)?;
    let mut arrays = Arrays::new();
    for (result, output) in plan.results.iter().zip(outputs) {
        arrays.push(Array(plan.array(result, output)?));
    }
    Ok(arrays)
}

/// The scalar arguments of a call, each with its index.
type Scalars = SmallVec<[(usize, Literal); 8]>;

/// Runs a plan on matching arguments, with its observers.
fn run(plan: &Plan, args: &mut [Arg<'_>], outputs: &mut CallOutputs<'_>) -> Result<()> {
    let mut scalars = Scalars::new();
    for (i, arg) in args.iter().enumerate() {
        if let ArgumentData::Scalar(literal) = arg.argument.data {
            scalars.push((i, literal));
        }
    }
    for array in &plan.closed_over {
        array.elements()?;
    }
    match Observers::of(plan) {
        None => execute(plan, args, &scalars, outputs),
        Some(observers) => observed(&observers, (plan, args), &scalars, outputs),
    }
}

/// Executes a plan whose captured arrays are evaluated.
#[inline]
fn execute(plan: &Plan, args: &mut [Arg<'_>], scalars: &Scalars, outputs: &mut CallOutputs<'_>) -> Result<()> {
    let closed_over = plan.closed_over.iter().filter_map(|array| Some(array.elements().ok()?.memory.argument()));
    let arguments = args.iter_mut().filter_map(|arg| arg.argument.argument()).chain(closed_over);
    plan.run(arguments, scalars, outputs)
}

/// Executes a plan, and tells its observers of the results.
#[cold]
fn observed(
    observers: &Observers<'_>,
    (plan, args): (&Plan, &mut [Arg<'_>]),
    scalars: &Scalars,
    outputs: &mut CallOutputs<'_>,
) -> Result<()> {
    let donated = observers.retain(known(args));
    let own = outputs.len();
    outputs.extend(plan.hidden.iter().map(|_| plan.fresh()));
    execute(plan, args, scalars, outputs)?;
    for (n, memory) in donated {
        args[n].argument.data = ArgumentData::Donated(memory);
    }
    let hidden = plan.hidden.iter().zip(outputs.drain(own..)).map(|(result, output)| plan.array(result, output));
    let hidden = hidden.collect::<Result<Vec<ArrayRef>>>()?;
    let inputs = &|| RunInputs::of(known(args), &plan.closed_over);
    observers.after(&ObservedCall { plan, results: outputs, hidden: &hidden, inputs })
}

/// Runs a plan on matching arguments, into [matching](fits) destinations.
pub(crate) fn run_into(plan: &Plan, args: &mut [Arg<'_>], destinations: &mut [Destination<'_>]) -> Result<()> {
    // A byte may be an invalid bool, so bools are written to a buffer and checked.
    let mut checked: SmallVec<[Buffer; 1]> = SmallVec::new();
    for destination in &*destinations {
        if let Sink::Truths(_) = destination.into {
            checked.push(Buffer::zeroed(destination.len)?);
        }
    }
    let mut bytes = checked.iter_mut();
    let mut outputs = CallOutputs::new();
    for destination in &mut *destinations {
        match &mut destination.into {
            Sink::Bytes(bytes) => outputs.push(Output::Into(bytes)),
            Sink::Truths(_) => {
                if let Some(buffer) = bytes.next() {
                    outputs.push(Output::Into(buffer.as_bytes_mut()?));
                }
            }
        }
    }
    run(plan, args, &mut outputs)?;
    drop(outputs);
    let truths = destinations.iter_mut().filter_map(|destination| match &mut destination.into {
        Sink::Truths(truths) => Some(truths),
        Sink::Bytes(_) => None,
    });
    truths.zip(&checked).try_for_each(|(truths, buffer)| {
        truths.copy_from_slice(buffer.as_slice()?);
        Ok(())
    })
}

/// Checks that results of `plan` can be written into `destinations`.
pub(crate) fn fits(plan: &Plan, destinations: &[Destination<'_>]) -> Result<()> {
    if plan.results.len() != destinations.len() {
        let (results, given) = (plan.results.len(), destinations.len());
        return Err(Error::new(ErrorCode::Arity, "call_into: not as many destinations as results")
            .fact(format_args!("results: {results}, destinations: {given}"))
            .help("several results take a tuple of slices: `f.call_into(args, (&mut a[..], &mut b[..]))`"));
    }
    for (i, (result, destination)) in plan.results.iter().zip(destinations).enumerate() {
        let size = result.shape.size()?;
        if result.dtype != destination.dtype || size != destination.len {
            return Err(Error::new(ErrorCode::Argument, format!("call_into: result {i} does not fit its destination"))
                .fact(format_args!("result:      {}{}", result.dtype, result.shape))
                .fact(format_args!("destination: {}[{}]", destination.dtype, destination.len))
                .help(format!("pass a `&mut [{}]` of {size} elements", result.dtype.row().rust)));
        }
    }
    Ok(())
}
