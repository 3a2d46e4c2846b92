//! Runs of programs, compared with the interpreter: shared by the runtime's tests.

use ndjit_codegen::Lowered;
use ndjit_ir::literal::Literal;
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_runtime::{Argument, Buffer, Executable, Output, RunOptions};
use std::sync::Arc;

/// Borrowed arguments, fresh results.
pub fn run(
    executable: &Executable,
    params: &[Tensor],
    scalars: &[(usize, Literal)],
    results: usize,
) -> Vec<Arc<Buffer>> {
    let arguments = params.iter().map(|p| Argument::Borrowed(&p.bytes));
    let mut outputs: Vec<Output> = (0..results).map(|_| Output::Fresh(None)).collect();
    executable.run(arguments, scalars, &mut outputs).unwrap_or_else(|e| panic!("{e}"));
    outputs.into_iter().map(fresh).collect()
}

/// The buffer of a fresh output.
pub fn fresh(output: Output) -> Arc<Buffer> {
    match output {
        Output::Fresh(Some(buffer)) => buffer,
        Output::Fresh(None) | Output::Into(_) | Output::Device(_) => panic!("no buffer"),
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
