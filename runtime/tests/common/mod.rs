//! Programs from text, their arguments and the interpreter's results: shared by the runtime's tests.

#![allow(dead_code, reason = "each test crate uses some of it")]

use ndjit_codegen::passes::schedule::contiguous;
use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::graph::{Graph, Places};
use ndjit_ir::interp::{Tensor, eval_graph};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Shape, ValueType};
use ndjit_runtime::{Argument, Buffer, Executable, Output, RunOptions};
use std::sync::Arc;

/// Lowers a program whose parameters are C-contiguous.
pub fn lowered(text: &str) -> Lowered {
    let graph: Graph<ValueType> = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let layouts: Vec<Layout> = graph
        .params()
        .iter()
        .map(|&p| match graph.ty(p) {
            ValueType::Strong(dtype) => contiguous(graph.shape(p), dtype).unwrap(),
            ValueType::Weak(weak) => panic!("parameter of type {weak}"),
        })
        .collect();
    lower(&graph, &Places::default(), &layouts, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// `x + y * 2` on two arrays of one dtype and shape.
pub fn axpy(dtype: DType, shape: &[usize]) -> String {
    let ty = format!("{dtype}{}", Shape::new(shape));
    format!(
        "graph (%0: {ty}, %1: {ty}) {{
  %2 = literal #0 2 : i*[]
  %3 = multiply %1, %2 : {ty}
  %4 = add %0, %3 : {ty}
  return %4
}}"
    )
}

/// Elements of every dtype from small numbers that repeat with a period that divides no vector length.
pub fn tensor(dtype: DType, shape: &[usize], seed: usize) -> Tensor {
    Tensor::from_repr(dtype, Shape::new(shape), |i| {
        let n = (i * 7 + seed * 3) % 61;
        let literal = if dtype == DType::Bool { Literal::weak(n.is_multiple_of(2)) } else { Literal::weak(n as i64) };
        literal.to_repr(dtype).unwrap()
    })
    .unwrap()
}

/// Borrowed arguments, fresh results.
pub fn run(
    executable: &Executable,
    params: &[Tensor],
    scalars: &[(usize, Literal)],
    results: usize,
) -> Vec<Arc<Buffer>> {
    let arguments = params.iter().map(|p| Argument::Borrowed(&p.bytes)).collect();
    let mut outputs: Vec<Output> = (0..results).map(|_| Output::Fresh(None)).collect();
    executable.run(arguments, scalars, &mut outputs).unwrap_or_else(|e| panic!("{e}"));
    outputs.into_iter().map(fresh).collect()
}

/// The buffer of a fresh output.
pub fn fresh(output: Output) -> Arc<Buffer> {
    match output {
        Output::Fresh(Some(buffer)) => buffer,
        Output::Fresh(None) | Output::Into(_) => panic!("no buffer"),
    }
}

/// Compares a program's results with the interpreter's, bit for bit (NaNs are not produced here).
pub fn check(lowered: &Lowered, options: &RunOptions, params: &[Tensor], scalars: &[(usize, Literal)]) -> Executable {
    let executable = Executable::new(lowered, options).unwrap_or_else(|e| panic!("{e}"));
    let expected = eval_graph(&lowered.typed, params, scalars).unwrap();
    let results = run(&executable, params, scalars, expected.len());
    for (n, (result, expected)) in results.iter().zip(&expected).enumerate() {
        assert!(result.as_bytes() == expected.bytes, "result {n} differs: {:?}", lowered.simplified);
    }
    executable
}
