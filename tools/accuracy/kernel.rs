//! What is measured, as compiled kernels on columns of bits. A real element is in one column, a complex one in two.

use crate::operands::operands;
use ndjit::{DType, Op, Policy, Result, Shape, ValueType};
use ndjit_codegen::{Options, lower};
use ndjit_ir::graph::{Graph, NodeKind, Places};
use ndjit_ir::support::CastReason;
use ndjit_runtime::{Argument, Executable, Output, RunOptions};
use ndjit_transform::access::contiguous;

/// Bits of elements, or of their parts.
pub type Columns = Vec<Vec<u64>>;

/// A compiled op or cast on arrays of one length.
pub struct Kernel {
    operands: Vec<DType>,
    result: DType,
    length: usize,
    executable: Executable,
}

impl Kernel {
    /// # Errors
    /// Of the compiler.
    pub fn op(op: Op, dtype: DType, length: usize) -> Result<Kernel> {
        let kind = NodeKind::Op(op, Policy::default());
        Kernel::new(kind, operands(op, dtype), op.result_dtype(dtype), length)
    }

    /// # Errors
    /// Of the compiler.
    pub fn cast(from: DType, to: DType, length: usize) -> Result<Kernel> {
        Kernel::new(NodeKind::Cast(CastReason::Explicit), vec![from], to, length)
    }

    fn new(kind: NodeKind, operands: Vec<DType>, result: DType, length: usize) -> Result<Kernel> {
        let shape = Shape::from([length]);
        let mut graph: Graph<ValueType> = Graph::new();
        let params: Vec<_> = operands.iter().map(|&dtype| graph.param(dtype.into(), &shape)).collect();
        let id = graph.intern(&shape);
        let value = graph.add(kind, &params, &[(result.into(), id)]);
        graph.set_outputs(vec![value]);
        let layouts = operands.iter().map(|&dtype| contiguous(&shape, dtype)).collect::<Result<Vec<_>>>()?;
        let lowered = lower(&graph, &Places::default(), &layouts, &Options::default())?;
        let options = RunOptions { threads: Some(1), ..RunOptions::default() };
        Ok(Kernel { operands, result, length, executable: Executable::new(&lowered, &options)? })
    }

    /// The results for operands of at most the kernel's length.
    ///
    /// # Errors
    /// Of the runtime.
    pub fn run(&self, columns: &[Vec<u64>]) -> Result<Columns> {
        let mut rest = columns;
        let mut bytes = Vec::new();
        for dtype in &self.operands {
            let (own, others) = rest.split_at(parts(*dtype));
            bytes.push(self.bytes(*dtype, own));
            rest = others;
        }
        let arguments: Vec<Argument<'_>> = bytes.iter().map(|bytes| Argument::Borrowed(bytes)).collect();
        let mut results = vec![0u8; self.length * self.result.bytes()];
        self.executable.run(arguments, &[], &mut [Output::Into(&mut results)])?;
        let count = columns.first().map_or(0, Vec::len);
        Ok((0..parts(self.result)).map(|part| column(&results, self.result, part, count)).collect())
    }

    /// The bytes of an array whose first elements are given.
    fn bytes(&self, dtype: DType, columns: &[Vec<u64>]) -> Vec<u8> {
        let mut bytes = vec![0; self.length * dtype.bytes()];
        match dtype.real().bytes() {
            1 => write::<1>(&mut bytes, columns),
            2 => write::<2>(&mut bytes, columns),
            4 => write::<4>(&mut bytes, columns),
            _ => write::<8>(&mut bytes, columns),
        }
        bytes
    }
}

/// Columns of an element.
fn parts(dtype: DType) -> usize {
    dtype.bytes() / dtype.real().bytes()
}

/// Of parts of `N` bytes: a size that is known is several times as fast.
fn write<const N: usize>(bytes: &mut [u8], columns: &[Vec<u64>]) {
    for (part, column) in columns.iter().enumerate() {
        let places = bytes.as_chunks_mut::<N>().0.iter_mut().skip(part).step_by(columns.len());
        places.zip(column).for_each(|(place, bits)| place.copy_from_slice(&bits.to_le_bytes()[..N]));
    }
}

fn column(bytes: &[u8], dtype: DType, part: usize, count: usize) -> Vec<u64> {
    let parts = parts(dtype);
    match dtype.real().bytes() {
        1 => read::<1>(bytes, part, parts, count),
        2 => read::<2>(bytes, part, parts, count),
        4 => read::<4>(bytes, part, parts, count),
        _ => read::<8>(bytes, part, parts, count),
    }
}

fn read<const N: usize>(bytes: &[u8], part: usize, parts: usize, count: usize) -> Vec<u64> {
    let word = |bytes: &[u8; N]| {
        let mut word = [0; 8];
        word[..N].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    bytes.as_chunks::<N>().0.iter().skip(part).step_by(parts).take(count).map(word).collect()
}
