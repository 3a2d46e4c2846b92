//! Runs one program on every engine and configuration and compares all results with the reference interpreter, bit for bit (NaNs
//! compare as NaN). Used by tests and the fuzzer.

#![forbid(unsafe_code)]

mod inputs;
mod layouts;

pub use inputs::{Difference, ProgramInputs, compare, lowered};
use ndjit_codegen::pipeline;
use ndjit_codegen::target::{Target, VectorWidth};
use ndjit_codegen::{LoopRange, Lowered, LoweredControl, LoweredKernel, LoweredStep, Options, RangeEnd, Scheduled};
use ndjit_ir::graph::{Slot, Value};
use ndjit_ir::loops::{IterationDomain, LoopNest};
use ndjit_ir::{DType, Error, ErrorCode, Literal, LiteralValue, Result, Shape};
use ndjit_math::interp::{Tensor, Tensors, eval_control, eval_graph, eval_nest};
use ndjit_random::Program;
use ndjit_runtime::{Argument, Buffer, Executable, Execution, Output, RunOptions};
use ndjit_transform::access::TracedIndex;
use std::collections::HashMap;
use std::sync::Arc;

/// The configurations of compiled code.
#[derive(Clone, Copy)]
pub struct Matrix {
    /// Whether elementwise ops share kernels.
    pub fuse: &'static [bool],
    /// Lanes of the innermost loops.
    pub vector: &'static [VectorWidth],
    /// The numbers of threads.
    pub threads: &'static [usize],
    /// The executor of the loops.
    pub execution: Execution,
    /// Whether parameters are strided parts of larger buffers, or dense.
    pub strided: &'static [bool],
    /// Whether products and sums of floats are contracted: a different program, with its own interpreter results.
    pub fp_contract: bool,
}

/// Every configuration.
pub const ALL: Matrix = Matrix {
    fuse: &[true, false],
    vector: &VectorWidth::ALL,
    threads: &[1, 2, 8],
    execution: Execution::Compiled,
    strided: &[false, true],
    fp_contract: false,
};

/// Runs `program` everywhere.
///
/// # Errors
/// The first difference.
pub fn check(program: &Program, matrix: Matrix) -> Result<(), Difference> {
    let failed = |engine: &str, e: ndjit_ir::Error| Difference { engine: engine.into(), what: e.to_string() };
    let dense = ProgramInputs::new(program, false).map_err(|e| failed("layouts", e))?;
    let options = Options { fp_contract: matrix.fp_contract, ..Options::default() };
    let unchanged = Options { simplify: false, ..options.clone() };
    let plain = lowered(&program.graph, &dense.layouts, unchanged).map_err(|e| failed("lower", e))?;
    let expected = eval_graph(&plain.typed, &program.params, &program.scalars).map_err(|e| failed("interpreter", e))?;
    let simplified =
        eval_graph(&plain.simplified, &program.params, &program.scalars).map_err(|e| failed("simplified", e))?;
    compare("simplified graph", &expected, &simplified)?;
    for &strided in matrix.strided {
        let given = ProgramInputs::new(program, strided).map_err(|e| failed("layouts", e))?;
        for &fuse in matrix.fuse {
            let options = Options { fuse, ..options.clone() };
            let lowered = lowered(&program.graph, &given.layouts, options).map_err(|e| failed("lower", e))?;
            let of = |what: &str| format!("{what}, fuse {fuse}, strided {strided}");
            for expanded in [false, true] {
                let engine = of(&format!("loops, expanded {expanded}"));
                let results = loops(&lowered, program, &given, expanded).map_err(|e| failed(&engine, e))?;
                compare(&engine, &expected, &results)?;
            }
            for &vector in matrix.vector {
                for &threads in matrix.threads {
                    let engine = of(&format!("{:?}, {vector:?}, threads {threads}", matrix.execution));
                    // Tiles of one index, some, or all.
                    let tile = Some([1, 3, usize::MAX][threads % 3]);
                    let options = RunOptions { threads: Some(threads), vector, tile, execution: matrix.execution };
                    let results = compiled(&lowered, program, &given, &options).map_err(|e| failed(&engine, e))?;
                    compare(&engine, &expected, &results)?;
                }
            }
        }
    }
    Ok(())
}

/// The loops, interpreted kernel by kernel.
fn loops(lowered: &Lowered, program: &Program, given: &ProgramInputs, expanded: bool) -> Result<Vec<Tensor>> {
    let graph = &lowered.simplified;
    let params: HashMap<Value, &Tensor> = graph.params().iter().copied().zip(&given.memory).collect();
    // Outputs of kernels; a parameter that is a result is copied.
    let mut made: HashMap<Value, Tensor> = HashMap::new();
    // Control flow, and the rest of an array, need row-major order: other parameters are copied.
    let whole = |made: &HashMap<Value, Tensor>, v: &Value| {
        let (dtype, shape) = (graph.ty(*v), graph.shape(*v).clone());
        let mut whole = Tensor { dtype, ..made.get(v).unwrap_or_else(|| params[v]).clone() };
        whole.bytes.truncate(shape.bytes(dtype.bytes())?);
        Ok(Tensor { shape, ..whole })
    };
    for step in &lowered.steps {
        if let LoweredStep::Control(LoweredControl { fused, .. }) = step {
            let operands = fused.operands.iter().map(|v| whole(&made, v)).collect::<Result<Vec<Tensor>>>()?;
            let operands: Vec<&Tensor> = operands.iter().collect();
            let results = eval_control(&fused.control.0, &operands, &program.scalars)?;
            made.extend(fused.results.iter().map(|&(n, v)| (v, results[n as usize].clone())));
            continue;
        }
        let Some(LoweredKernel { scheduled, .. }) = step.kernel() else { continue };
        let nest: LoopNest = if expanded {
            pipeline::expanded(&scheduled.nest, &Target::interpreter())?
        } else {
            scheduled.nest.clone()
        };
        let mut literals: Vec<u64> = Vec::new();
        for &(slot, dtype) in &scheduled.literals {
            let literal: Literal = match &graph.slots()[slot.index()] {
                Slot::Value(literal) => *literal,
                Slot::Argument { index, .. } => {
                    program.scalars.iter().find(|(i, _)| i == index).map(|(_, l)| *l).expect("a scalar argument")
                }
            };
            literals.extend(literal.to_repr(dtype)?);
        }
        // Indices have no memory.
        let none = Tensor::zeros(DType::I64, Shape::from(0))?;
        let read = |v: &Value| match (params.get(v).copied(), made.get(v)) {
            (Some(own), _) => own.clone(),
            (None, made) => made.unwrap_or(&none).clone(),
        };
        let inputs: Vec<Tensor> = scheduled.inputs.iter().map(read).collect();
        let mut outputs: Vec<Tensor> = scheduled
            .outputs
            .iter()
            .map(|v| match (made.get(v), &scheduled.rest) {
                // Another kernel stored a part of it.
                (Some(made), _) => Ok(made.clone()),
                (None, Some(rest)) => whole(&made, rest),
                (None, None) => {
                    let mut memory = Tensor::zeros(graph.ty(*v), graph.shape(*v).clone())?;
                    // What lies outside of ranges has no effect.
                    if !scheduled.ranges.is_empty() && memory.dtype != DType::Bool {
                        memory.bytes.fill(0xa5);
                    }
                    Ok(memory)
                }
            })
            .collect::<Result<_>>()?;
        let sizes = |tensors: &[Tensor]| tensors.iter().map(|t| t.bytes.len()).collect::<Vec<usize>>();
        if let Some(domain) = at_rows(scheduled, &read) {
            domain.verify(&nest, &sizes(&inputs), &sizes(&outputs))?;
            eval_nest(&nest, &domain, &literals, &mut Tensors { inputs: &inputs, outputs: &mut outputs })?;
        }
        made.extend(scheduled.outputs.iter().copied().zip(outputs));
    }
    let shaped =
        |(output, stored): (&Value, &Value)| Tensor { shape: graph.shape(*output).clone(), ..made[stored].clone() };
    Ok(graph.outputs().iter().zip(&lowered.stored).map(shaped).collect())
}

/// The domain with operands at their rows, and loops restricted to their ranges; `None` if the stored row does not exist.
fn at_rows(scheduled: &Scheduled, read: &dyn Fn(&Value) -> Tensor) -> Option<IterationDomain> {
    let mut domain = scheduled.domain.clone();
    let number = |index: TracedIndex| {
        let memory = read(&index.value);
        let mut word = [0; 8];
        word[..index.dtype.bytes()].copy_from_slice(&memory.bytes[index.offset..index.offset + index.dtype.bytes()]);
        match Literal::from_repr(index.dtype, &[u64::from_le_bytes(word)]).value() {
            LiteralValue::Int(index) => index,
            _ => panic!("indices are integers"),
        }
    };
    for (operand, row) in &scheduled.rows {
        let (index, last) = (number(row.index), row.last as i128);
        let layout = match operand.checked_sub(domain.inputs.len()) {
            None => &mut domain.inputs[*operand],
            Some(_) if !(0..=last).contains(&index) => return None,
            Some(output) => &mut domain.outputs[output],
        };
        layout.offset = layout.offset.wrapping_add_signed(row.stride * index.clamp(0, last) as isize);
    }
    for LoopRange { index, step, from, to } in &scheduled.ranges {
        let count = (domain.extents[*index] / step) as i128;
        let end = |end: RangeEnd| number(end.count) + end.more as i128;
        let from = from.map_or(0, end).clamp(0, (count - 1).max(0));
        let to = to.map_or(count, end).clamp((from + 1).min(count), count);
        for layout in domain.inputs.iter_mut().chain(&mut domain.outputs) {
            layout.offset = layout.offset.wrapping_add_signed(layout.strides[*index] * from as isize * *step as isize);
        }
        domain.extents[*index] = (to - from) as usize * step;
    }
    Some(domain)
}

/// Machine code: into new arrays from borrowed arguments, then from donated arguments, then into the caller's memory. Locations of
/// arrays differ, results do not.
fn compiled(lowered: &Lowered, program: &Program, given: &ProgramInputs, options: &RunOptions) -> Result<Vec<Tensor>> {
    let executable = Executable::new(lowered, options)?;
    let graph = &lowered.simplified;
    let fresh = |arguments: Vec<Argument<'_>>| -> Result<Vec<Arc<Buffer>>> {
        let mut outputs: Vec<Output<'_>> = graph.outputs().iter().map(|_| Output::Fresh(None)).collect();
        executable.run(arguments, &program.scalars, &mut outputs)?;
        let buffer = |output| match output {
            Output::Fresh(Some(buffer)) => buffer,
            _ => panic!("a fresh output stays empty"),
        };
        Ok(outputs.into_iter().map(buffer).collect())
    };
    let borrowed = || given.memory.iter().map(|t| Argument::Borrowed(&t.bytes)).collect::<Vec<_>>();
    let buffers = fresh(borrowed())?;
    let donated = given.memory.iter().map(|t| Ok(Argument::Donated(Arc::new(Buffer::from_bytes(&t.bytes)?))));
    let again = fresh(donated.collect::<Result<_>>()?)?;
    let mut into: Vec<Vec<u8>> = buffers.iter().map(|buffer| vec![0xa5; buffer.len()]).collect();
    let mut outputs: Vec<Output<'_>> = into.iter_mut().map(|bytes| Output::Into(bytes)).collect();
    executable.run(borrowed(), &program.scalars, &mut outputs)?;
    for (n, buffer) in buffers.iter().enumerate() {
        let same = |what: &str, bytes: &[u8]| match buffer.as_bytes() == bytes {
            true => Ok(()),
            false => Err(Error::new(ErrorCode::Verify, format!("result {n} differs {what}"))),
        };
        same("from arguments given away", again[n].as_bytes())?;
        same("in the caller's memory", &into[n])?;
    }
    let results = graph.outputs().iter().zip(buffers);
    results
        .map(|(&value, buffer)| {
            let (dtype, shape): (DType, _) = (graph.ty(value), graph.shape(value).clone());
            let mut tensor = Tensor::zeros(dtype, shape)?;
            let bytes = tensor.bytes.len();
            tensor.bytes.copy_from_slice(&buffer.as_bytes()[..bytes]);
            Ok(tensor)
        })
        .collect()
}
