//! Random programs of many ops, in kernels of several steps, against the interpreter.

use crate::compared::Compared;
use crate::programs::Program;
use crate::scale::Scale;
use ndjit::{DType, Result};
use ndjit_random::Limits;
use ndjit_runtime::gpu::Gpu;
use std::sync::Arc;

/// Compares random programs, in the number of the scale. `done` gets the result of each, without elements if the device lacks a
/// dtype.
///
/// # Errors
/// If memory is refused.
pub fn compare(
    gpu: &Arc<Gpu>,
    scale: &Scale,
    in_dtype: impl Fn(DType) -> bool,
    mut done: impl FnMut(Compared),
) -> Result<()> {
    let dtypes = DType::ALL.into_iter().filter(|&dtype| in_dtype(dtype)).collect();
    let limits = Limits { nodes: 12, elements: 3000, dtypes, ..Limits::default() };
    for seed in 0..scale.graphs {
        let program = ndjit_random::program(seed, &limits)?;
        let mut compared = Compared::new(format!("graph {seed}"));
        if let Err(error) = one(gpu, &program, &mut compared) {
            compared.differs(|| error.to_string());
        }
        done(compared);
    }
    Ok(())
}

fn one(gpu: &Arc<Gpu>, random: &ndjit_random::Program, compared: &mut Compared) -> Result<()> {
    let program = Program::of_graph(random)?;
    let memory: Vec<Vec<u8>> = random.params.iter().map(|tensor| tensor.bytes.clone()).collect();
    let Some(given) = program.on_device(gpu, &memory)? else { return Ok(()) };
    for (n, (law, given)) in program.interpreted(&random.params)?.iter().zip(&given).enumerate() {
        compared.elements(law.dtype, &law.bytes, given, |element| format!("result {n}, element {element}"));
    }
    Ok(())
}
