//! Measured functions as compiled kernels on columns of bits. A real element has one column, a complex one two.

use crate::operands::operands;
use ndjit::{DType, Op, Policy, Result, Shape, ValueType};
use ndjit_codegen::{Options, lower};
use ndjit_ir::SourceLoc;
use ndjit_ir::graph::{Graph, NodeKind, SourceLocs, Value};
use ndjit_ir::support::CastReason;
use ndjit_runtime::{Argument, Executable, Output, RunOptions};
use ndjit_transform::access::contiguous;
use ndjit_transform::derivative::{DerivativeMode, Linearization, variable};
use ndjit_transform::{AppendSettings, OpenGraph};

/// Bits of elements, or of their parts.
pub type Columns = Vec<Vec<u64>>;

/// A compiled op or cast on arrays of one length.
pub struct Kernel {
    operands: Vec<DType>,
    result: DType,
    length: usize,
    executable: Executable,
}

/// A graph under construction, with arrays of one shape.
struct Open {
    graph: Graph<ValueType>,
    places: SourceLocs,
    shape: Shape,
}

impl Open {
    fn add(&mut self, kind: NodeKind, operands: &[Value], result: DType) -> Value {
        let id = self.graph.intern(&self.shape);
        self.graph.add(kind, operands, &[(result.into(), id)])
    }

    fn all(&mut self) -> OpenGraph<'_> {
        (&mut self.graph, &mut self.places, AppendSettings::default())
    }
}

impl Kernel {
    /// # Errors
    /// Those of the compiler.
    pub fn op(op: Op, dtype: DType, length: usize) -> Result<Kernel> {
        let kind = NodeKind::Op(op, Policy::default());
        let result = op.result_dtype(dtype);
        Kernel::new(operands(op, dtype), result, length, |open, params| Ok(open.add(kind, params, result)))
    }

    /// The slope of an op with respect to one operand, or the slope of that, as `grad` of a sum computes it.
    ///
    /// # Errors
    /// Those of the compiler.
    pub fn slope(op: Op, dtype: DType, by: usize, twice: bool, length: usize) -> Result<Kernel> {
        let kind = NodeKind::Op(op, Policy::default());
        Kernel::new(operands(op, dtype), dtype, length, |open, params| {
            let mut params = params.to_vec();
            let mut variables = Vec::new();
            for _ in 0..=u8::from(twice) {
                params[by] = variable(open.all(), params[by], SourceLoc::caller());
                variables.push(params[by]);
            }
            let mut value = open.add(kind, &params, op.result_dtype(dtype));
            // The innermost first.
            for variable in variables.into_iter().rev() {
                let mode = DerivativeMode::Reverse;
                let linear = Linearization::new(open.all(), &[variable], &[value], mode, SourceLoc::caller())?;
                value = linear.gradient(open.all(), SourceLoc::caller())?[0];
            }
            Ok(value)
        })
    }

    /// # Errors
    /// Those of the compiler.
    pub fn cast(from: DType, to: DType, length: usize) -> Result<Kernel> {
        let kind = NodeKind::Cast(CastReason::Explicit);
        Kernel::new(vec![from], to, length, |open, params| Ok(open.add(kind, params, to)))
    }

    fn new(
        operands: Vec<DType>,
        result: DType,
        length: usize,
        make: impl FnOnce(&mut Open, &[Value]) -> Result<Value>,
    ) -> Result<Kernel> {
        let mut open = Open { graph: Graph::new(), places: SourceLocs::default(), shape: Shape::from([length]) };
        let params: Vec<_> = operands.iter().map(|&dtype| open.graph.param(dtype.into(), &open.shape)).collect();
        let value = make(&mut open, &params)?;
        let Open { mut graph, places, shape } = open;
        graph.set_outputs(vec![value]);
        let layouts = operands.iter().map(|&dtype| contiguous(&shape, dtype)).collect::<Result<Vec<_>>>()?;
        let lowered = lower(&graph, &places, &layouts, &Options::default())?;
        let options = RunOptions { threads: Some(1), ..RunOptions::default() };
        Ok(Kernel { operands, result, length, executable: Executable::new(&lowered, &options)? })
    }

    /// The results for operands of at most the kernel's length.
    ///
    /// # Errors
    /// Those of the runtime.
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

    /// The bytes of an array with these first elements.
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

/// Number of columns per element.
fn parts(dtype: DType) -> usize {
    dtype.bytes() / dtype.real().bytes()
}

/// For parts of `N` bytes: a constant size is several times as fast.
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
