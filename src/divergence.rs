//! [`divergence`]: where a function's results on a GPU begin to differ from those on the processor.

use crate::array::Array;
use crate::jit::input::{Arg, Inputs};
use crate::jit::{JitFn, Jitted, caller};
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Places, Value};
use ndjit_ir::interp::Tensor;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Place, Result, Shape, ValueType};
use ndjit_runtime::Buffer;
use std::fmt;
use std::sync::Arc;

/// The first operation of a function that gives other bits on a GPU than on the processor, though its operands are equal.
///
/// ```
/// use ndjit::{Array, divergence, jit};
///
/// let f = jit!(|x| x.exp());
/// if let Ok(Some(found)) = divergence(&f, (&Array::from([1.0f32]),)) {
///     println!("{} at {:?}: {} on the processor, {} on the GPU", found.operation, found.index, found.cpu.0, found.gpu.0);
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Divergence {
    /// The operation, as the traced graph prints it.
    pub operation: String,
    /// Where it was written.
    pub place: Option<Place>,
    /// The dtype of its result.
    pub dtype: DType,
    /// Elements that differ.
    pub elements: usize,
    /// Elements of the result.
    pub of: usize,
    /// The index of the first that does.
    pub index: Vec<usize>,
    /// What its operands hold there, each with its name in `operation`: of operations element by element.
    pub operands: Vec<(String, String)>,
    /// The element on the processor, and its bits.
    pub cpu: (String, Vec<u64>),
    /// The element on the GPU, and its bits.
    pub gpu: (String, Vec<u64>),
    /// How many numbers of the dtype the two are apart, at most over all elements; `None` where one is NaN, and for what is no real float.
    pub ulp: Option<u64>,
    /// The GPU.
    pub device: Device,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operation)?;
        if let Some(place) = self.place {
            write!(f, "\n  at {place}")?;
        }
        write!(f, "\n  {} of {} elements differ, first that at {:?}", self.elements, self.of, self.index)?;
        for (name, value) in &self.operands {
            write!(f, "\n  {name} = {value}")?;
        }
        let bits = |bits: &[u64]| bits.iter().map(|word| format!("{word:#x}")).collect::<Vec<String>>().join(" ");
        write!(f, "\n  on cpu: {} ({})", self.cpu.0, bits(&self.cpu.1))?;
        write!(f, "\n  on {}: {} ({})", self.device, self.gpu.0, bits(&self.gpu.1))?;
        match self.ulp {
            Some(ulp) => write!(f, "\n  at most {ulp} ULP apart"),
            None => Ok(()),
        }
    }
}

/// Runs a function on the processor and on a GPU, operation by operation, and compares all that is computed on the way, bit by
/// bit (NaN equals NaN): the first operation that differs, in the order of the trace. `None` if nothing does, which is what is promised
/// of GPUs that do arithmetic as IEEE-754 says. The GPU is that of the [function](Jitted::on), or of the arguments, or the first.
///
/// Memory for all intermediate arrays is needed at once, on both devices.
///
/// ```
/// use ndjit::{Array, ErrorCode, divergence, exp, jit};
///
/// let f = jit(|x| exp(x) * 2 + 1);
/// match divergence(&f, (&Array::from([0.5f32, 1.5]),)) {
///     Ok(divergence) => assert!(divergence.is_none()),
///     // There is no GPU, or this was built without the feature `gpu`.
///     Err(error) => assert_eq!(error.code(), ErrorCode::Device),
/// }
/// ```
///
/// # Errors
/// Those of [`Jitted::call`]; `Device` if there is no GPU.
#[track_caller]
pub fn divergence<'a, M, const N: usize, F: JitFn<M, N>>(
    function: &Jitted<M, N, F>,
    inputs: impl Inputs<'a, N>,
) -> Result<Option<Divergence>> {
    let place = Place::caller();
    let args = inputs.args().map_err(|e| caller::called(e, Some(place)))?;
    find(function, &args).map_err(|e| caller::called(e, Some(place)))
}

fn find<M, const N: usize, F: JitFn<M, N>>(function: &Jitted<M, N, F>, args: &[Arg<'_>]) -> Result<Option<Divergence>> {
    let on_gpu = |device: &Device| device.gpu_number().is_some();
    let theirs = args.iter().filter_map(Arg::device).find(on_gpu);
    let device = function.config().device.filter(on_gpu).or(theirs).unwrap_or(Device::gpu());
    let runs = function.core.run_everywhere(args, device)?;
    let graph = &runs.graph;
    for ((&value, cpu), gpu) in graph.outputs().iter().zip(&runs.cpu).zip(&runs.gpu) {
        let first = cpu.first_difference(gpu);
        if let Some(first) = first {
            return Ok(Some(describe(graph, &runs.places, &runs.cpu, value, (cpu, gpu, first), device)));
        }
    }
    Ok(None)
}

/// A function run on the processor and on a GPU: what every operation gave.
pub(crate) struct Runs {
    /// The graph, of which everything that is computed is a result.
    pub graph: Graph<ValueType>,
    pub places: Places,
    pub cpu: Vec<Tensor>,
    pub gpu: Vec<Tensor>,
}

/// The values of a graph that operations compute, as its results.
pub(crate) fn all_computed(graph: &Graph<ValueType>) -> Vec<Value> {
    let computed = |id: &NodeId| !matches!(graph.node(*id).kind, NodeKind::Param(..) | NodeKind::Literal(_));
    graph.node_ids().filter(computed).map(|id| graph.node(id).first()).collect()
}

fn describe(
    graph: &Graph<ValueType>,
    places: &Places,
    values: &[Tensor],
    value: Value,
    (cpu, gpu, first): (&Tensor, &Tensor, usize),
    device: Device,
) -> Divergence {
    let node = graph.producer(value);
    let text = graph.to_string();
    let operation =
        text.lines().map(str::trim).find(|line| line.starts_with(&format!("{value} = "))).unwrap_or_default();
    let index = indices(&cpu.shape, first);
    let mut operands = Vec::new();
    if let NodeKind::Op(..) | NodeKind::Cast(_) = graph.node(node).kind {
        for &operand in graph.operands(node) {
            let known = graph.outputs().iter().position(|&output| output == operand);
            if let Some(tensor) = known.map(|n| &values[n]) {
                operands.push((operand.to_string(), shown(tensor, flat(&tensor.shape, &index))));
            }
        }
    }
    let differing: Vec<usize> = (0..cpu.len()).filter(|&i| differs(cpu, gpu, i)).collect();
    let distances: Option<Vec<u64>> =
        differing.iter().map(|&i| distance(cpu.dtype, cpu.get(i)[0], gpu.get(i)[0])).collect();
    Divergence {
        operation: operation.to_owned(),
        place: places.first(node),
        dtype: cpu.dtype,
        elements: differing.len(),
        of: cpu.len(),
        index,
        operands,
        cpu: (shown(cpu, first), cpu.get(first).to_vec()),
        gpu: (shown(gpu, first), gpu.get(first).to_vec()),
        ulp: distances.and_then(|distances| distances.into_iter().max()),
        device,
    }
}

fn differs(a: &Tensor, b: &Tensor, at: usize) -> bool {
    let one = |tensor: &Tensor| {
        let bytes = tensor.dtype.bytes();
        Tensor { dtype: tensor.dtype, shape: Shape::scalar(), bytes: tensor.bytes[at * bytes..][..bytes].to_vec() }
    };
    !one(a).same_bits(&one(b))
}

/// How many floats lie between two, and one.
fn distance(dtype: DType, a: u64, b: u64) -> Option<u64> {
    // Bits that are ordered as the numbers are, and the largest of a number.
    let (bits, infinity) = match dtype {
        DType::F16 => (16, 0x7c00),
        DType::Bf16 => (16, 0x7f80),
        DType::F32 => (32, 0x7f80_0000),
        DType::F64 => (64, 0x7ff0_0000_0000_0000),
        _ => return None,
    };
    let key = |value: u64| {
        let size = value & !(1u64 << (bits - 1));
        let signed = if size == value { size as i64 } else { -(size as i64) };
        (size <= infinity).then_some(signed)
    };
    Some(key(a)?.abs_diff(key(b)?))
}

fn shown(tensor: &Tensor, at: usize) -> String {
    let bytes = tensor.dtype.bytes();
    match Buffer::from_bytes(&tensor.bytes[at * bytes..][..bytes]) {
        Ok(buffer) => Array::concrete(tensor.dtype, tensor.dtype, Shape::scalar(), Arc::new(buffer)).to_string(),
        Err(error) => error.to_string(),
    }
}

fn indices(shape: &Shape, flat: usize) -> Vec<usize> {
    let mut rest = flat;
    let mut indices: Vec<usize> = shape
        .extents()
        .iter()
        .rev()
        .map(|&extent| {
            let index = rest % extent.max(1);
            rest /= extent.max(1);
            index
        })
        .collect();
    indices.reverse();
    indices
}

/// The number of the element at an index of an array that this one is broadcast to.
fn flat(shape: &Shape, index: &[usize]) -> usize {
    let own = &index[index.len() - shape.rank()..];
    shape.extents().iter().zip(own).fold(0, |flat, (&extent, &index)| flat * extent + index.min(extent - 1))
}
