//! Programs with memory for their parameters, and the comparison of results: what every engine needs.

#[path = "layouts.rs"]
mod layouts;

use ndjit_codegen::passes::access::contiguous;
use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::graph::{Graph, Places};
use ndjit_ir::interp::Tensor;
use ndjit_ir::loops::Layout;
use ndjit_ir::random::Program;
use ndjit_ir::{Result, ValueType};

/// The difference between an engine and the interpreter.
#[derive(Debug)]
pub struct Difference {
    /// Which engine and configuration.
    pub engine: String,
    /// What differs.
    pub what: String,
}

/// The memory of a program's parameters, and where their elements lie there.
pub struct Given {
    pub memory: Vec<Tensor>,
    pub layouts: Vec<Layout>,
}

impl Given {
    pub fn new(program: &Program, strided: bool) -> Result<Given> {
        let mut rng = layouts::rng(&program.params);
        let placed = program.params.iter().map(|param| match strided {
            true => layouts::strided(param, &mut rng),
            false => Ok((param.clone(), contiguous(&param.shape, param.dtype)?)),
        });
        let (memory, layouts) = placed.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok(Given { memory, layouts })
    }
}

pub fn lowered(graph: &Graph<ValueType>, layouts: &[Layout], options: Options) -> Result<Lowered> {
    lower(graph, &Places::default(), layouts, &Options { verify: true, ..options })
}

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
