//! Ops in all dtypes of their domains, and casts between all dtypes.

use crate::accuracy_operands::operands;
use crate::compared::{Compared, hex};
use crate::operands::Operands;
use crate::programs::Program;
use crate::scale::Scale;
use ndjit::{DType, Op, Policy, Result, Shape};
use ndjit_ir::graph::NodeKind;
use ndjit_ir::support::CastReason;
use ndjit_math::interp::Tensor;
use ndjit_runtime::gpu::Gpu;
use std::sync::Arc;

/// An op in a dtype, or a cast.
pub struct Case {
    pub name: String,
    kind: NodeKind,
    operands: Vec<DType>,
    result: DType,
}

/// The ops in the matching dtypes; those with equal operands are adjacent.
pub fn ops(in_dtype: impl Fn(DType) -> bool) -> Vec<Case> {
    let mut all = Vec::new();
    for op in Op::ALL {
        for dtype in DType::ALL.into_iter().filter(|&dtype| op.row().domain.contains(dtype) && in_dtype(dtype)) {
            all.push(Case {
                name: format!("{op} {dtype}"),
                kind: NodeKind::Op(op, Policy::default()),
                operands: operands(op, dtype),
                result: op.result_dtype(dtype),
            });
        }
    }
    all.sort_by(|a, b| a.operands.cmp(&b.operands));
    all
}

/// The casts between all dtypes.
pub fn casts() -> Vec<Case> {
    let pairs = DType::ALL.into_iter().flat_map(|from| DType::ALL.map(|to| (from, to)));
    let case = |(from, to)| Case {
        name: format!("cast {from} {to}"),
        kind: NodeKind::Cast(CastReason::Explicit),
        operands: vec![from],
        result: to,
    };
    pairs.filter(|(from, to)| from != to).map(case).collect()
}

/// Whether an element, or a part of it, has 64 bits.
pub fn is_wide(dtype: DType) -> bool {
    dtype.real().bytes() == 8
}

/// A sample of the elements.
struct Sample {
    indices: Vec<usize>,
    operands: Vec<Tensor>,
}

impl Sample {
    fn new(dtypes: &[DType], memory: &[Vec<u8>], count: usize, wanted: usize) -> Result<Sample> {
        let step = (count / wanted.max(1)).max(1);
        let indices: Vec<usize> = (0..count).step_by(step).collect();
        let operands = dtypes.iter().zip(memory).map(|(&dtype, bytes)| {
            let shape = Shape::from([indices.len()]);
            Ok(Tensor { dtype, shape, bytes: gather(dtype, bytes, &indices) })
        });
        Ok(Sample { operands: operands.collect::<Result<_>>()?, indices })
    }
}

fn gather(dtype: DType, bytes: &[u8], indices: &[usize]) -> Vec<u8> {
    let element = |&n: &usize| &bytes[n * dtype.bytes()..(n + 1) * dtype.bytes()];
    indices.iter().flat_map(element).copied().collect()
}

/// Compares the device with compiled code, and both with the interpreter on some elements. `done` gets the result of each
/// case, without elements if the device lacks a dtype.
///
/// # Errors
/// If memory is refused.
pub fn compare(gpu: &Arc<Gpu>, cases: &[Case], scale: &Scale, mut done: impl FnMut(Compared)) -> Result<()> {
    for alike in cases.chunk_by(|a, b| a.operands == b.operands) {
        let operands = Operands::new(&alike[0].operands, scale);
        let memory = operands.bytes();
        let sample = Sample::new(&alike[0].operands, &memory, operands.count, scale.interpreted)?;
        for case in alike {
            let mut compared = Compared::new(&case.name);
            if let Err(error) = case.compare(gpu, &memory, operands.count, &sample, &mut compared) {
                compared.differs(|| error.to_string());
            }
            done(compared);
        }
    }
    Ok(())
}

impl Case {
    fn compare(
        &self,
        gpu: &Arc<Gpu>,
        memory: &[Vec<u8>],
        count: usize,
        sample: &Sample,
        compared: &mut Compared,
    ) -> Result<()> {
        let program = |count| Program::elementwise(self.kind, &self.operands, self.result, count);
        let whole = program(count)?;
        let Some(given) = whole.on_device(gpu, memory)? else { return Ok(()) };
        let text = |n: usize| {
            let element = |(&dtype, bytes): (&DType, &Vec<u8>)| hex(dtype, &gather(dtype, bytes, &[n]));
            self.operands.iter().zip(memory).map(element).collect::<Vec<String>>().join(", ")
        };
        for (expected, given) in whole.compiled(memory)?.iter().zip(&given) {
            compared.elements(self.result, expected, given, text);
            for law in program(sample.indices.len())?.interpreted(&sample.operands)? {
                let given = gather(self.result, given, &sample.indices);
                compared.elements(self.result, &law.bytes, &given, |n| text(sample.indices[n]));
            }
        }
        Ok(())
    }
}
