//! Inputs of a program in memory, and the comparison of results: shared by all engines.

use crate::layouts;
use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::loops::Layout;
use ndjit_ir::{Result, ValueType};
use ndjit_math::interp::Tensor;
use ndjit_random::Program;
use ndjit_transform::access::contiguous;

/// The difference between an engine and the interpreter.
#[derive(Debug)]
pub struct Difference {
    /// The engine and configuration.
    pub engine: String,
    /// The difference.
    pub what: String,
}

/// The memory of a program's parameters, with layouts.
pub struct ProgramInputs {
    /// The memory of each.
    pub memory: Vec<Tensor>,
    /// The layout of each in its memory.
    pub layouts: Vec<Layout>,
}

impl ProgramInputs {
    /// Dense arrays, or strided parts of larger buffers.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub fn new(program: &Program, strided: bool) -> Result<ProgramInputs> {
        let mut rng = layouts::rng(&program.params);
        let placed = program.params.iter().map(|param| match strided {
            true => layouts::strided(param, &mut rng),
            false => Ok((param.clone(), contiguous(&param.shape, param.dtype)?)),
        });
        let (memory, layouts) = placed.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok(ProgramInputs { memory, layouts })
    }
}

/// The program of a graph for arrays with these layouts, verified after each pass.
///
/// # Errors
/// Those of lowering it.
pub fn lowered(graph: &Graph<ValueType>, layouts: &[Layout], options: Options) -> Result<Lowered> {
    lower(graph, &SourceLocs::default(), layouts, &Options { verify: true, ..options })
}

/// Compares results with the expected ones.
///
/// # Errors
/// The first difference.
///
/// # Panics
/// If their numbers differ.
pub fn compare(engine: &str, expected: &[Tensor], results: &[Tensor]) -> Result<(), Difference> {
    assert_eq!(expected.len(), results.len(), "{engine}");
    for (n, (a, b)) in expected.iter().zip(results).enumerate() {
        if !a.same_bits(b) {
            let what = match a.first_difference(b) {
                Some(i) if i < a.len() && i < b.len() => {
                    format!("result {n}, element {i}: expected {:x?}, got {:x?}", a.get(i), b.get(i))
                }
                _ => format!("result {n}: expected {}{}, got {}{}", a.dtype, a.shape, b.dtype, b.shape),
            };
            return Err(Difference { engine: engine.into(), what });
        }
    }
    Ok(())
}
