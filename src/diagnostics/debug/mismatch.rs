//! [`first_mismatch`]: the first operation whose results differ between a GPU and the processor.

use super::traced;
use crate::jit::arguments::CallArgs;
use crate::jit::caller;
use crate::jit::function::JitFn;
use crate::jit::input::{Arg, Inputs, known};
use crate::jit::jitted::Jitted;
use ndjit_eval::argument::CallArgument;
use ndjit_eval::steps::{RunInputs, StepProgram, line};
use ndjit_inspect::elements::{indices, shown};
use ndjit_ir::graph::Value;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, SourceLoc};
use ndjit_math::interp::Tensor;
use rustc_hash::FxHashMap;
use std::fmt;

/// The first operation of a function that gives other bits on a GPU than on the processor, from equal operands.
///
/// ```
/// use ndjit::{Array, first_mismatch, jit};
///
/// let f = jit!(|x| x.exp());
/// if let Ok(Some(found)) = first_mismatch(&f, (&Array::from([1.0f32]),)) {
///     println!("{} at {:?}: {} on the processor, {} on the GPU", found.operation, found.index, found.cpu.0, found.gpu.0);
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The operation, in the format of the traced graph.
    pub operation: String,
    /// Its place in the source.
    pub place: Option<SourceLoc>,
    /// The dtype of its result.
    pub dtype: DType,
    /// The number of elements that differ.
    pub elements: usize,
    /// The number of elements of the result.
    pub of: usize,
    /// The index of the first differing element.
    pub index: Vec<usize>,
    /// The elements of its operands at this index, each with its name in `operation`. Only for elementwise operations.
    pub operands: Vec<(String, String)>,
    /// The element on the processor, and its bits.
    pub cpu: (String, Vec<u64>),
    /// The element on the GPU, and its bits.
    pub gpu: (String, Vec<u64>),
    /// The maximum distance in ULP over all elements; `None` if one is NaN, and for dtypes other than real floats.
    pub ulp: Option<u64>,
    /// The GPU.
    pub device: Device,
}

impl fmt::Display for Mismatch {
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

/// Runs a function on the processor and on a GPU, operation by operation, and compares all intermediate values, bit by
/// bit (NaN equals NaN). Returns the first operation that differs, in the order of the trace; `None` if no operation
/// does, as guaranteed for GPUs with IEEE 754 arithmetic. The GPU is that of the [function](Jitted::on), else of the
/// arguments, else the first.
///
/// All intermediate arrays are in memory at once, on both devices. Operations that a [fallback](crate::Fallback) runs
/// on the processor cannot differ: if no other operation does, the result is an error.
///
/// ```
/// use ndjit::{Array, ErrorCode, exp, first_mismatch, jit};
///
/// let f = jit(|x| exp(x) * 2 + 1);
/// match first_mismatch(&f, (&Array::from([0.5f32, 1.5]),)) {
///     Ok(mismatch) => assert!(mismatch.is_none()),
///     // There is no GPU, or this was built without the feature `gpu`.
///     Err(error) => assert_eq!(error.code(), ErrorCode::Device),
/// }
/// ```
///
/// # Errors
/// Those of [`Jitted::call`]; `Device` if there is no GPU, or if operations did not run there.
#[track_caller]
pub fn first_mismatch<'a, M, const N: usize, F: JitFn<M, N>>(
    function: &Jitted<M, N, F>,
    inputs: impl Inputs<'a, N>,
) -> Result<Option<Mismatch>> {
    let place = SourceLoc::caller();
    let mut args = CallArgs::of::<M, F>(inputs).map_err(|e| caller::called(e, Some(place)))?;
    find(function, args.parts(), place).map_err(|e| caller::called(e, Some(place)))
}

/// Calls [`first_mismatch`], under its former name.
///
/// ```
/// # #![allow(deprecated)]
/// use ndjit::{Array, divergence, first_mismatch, jit};
///
/// let f = jit(|x| x + 1);
/// let x = Array::from([1.0f32]);
/// assert_eq!(divergence(&f, (&x,)).is_ok(), first_mismatch(&f, (&x,)).is_ok());
/// ```
///
/// # Errors
/// Those of [`first_mismatch`].
#[deprecated(since = "0.1.0", note = "renamed to `first_mismatch`")]
#[track_caller]
pub fn divergence<'a, M, const N: usize, F: JitFn<M, N>>(
    function: &Jitted<M, N, F>,
    inputs: impl Inputs<'a, N>,
) -> Result<Option<Mismatch>> {
    first_mismatch(function, inputs)
}

/// The former name of [`Mismatch`].
///
/// ```
/// # #![allow(deprecated)]
/// fn same(found: ndjit::Divergence) -> ndjit::Mismatch {
///     found
/// }
/// ```
#[deprecated(since = "0.1.0", note = "renamed to `Mismatch`")]
pub type Divergence = Mismatch;

fn find<M, const N: usize, F: JitFn<M, N>>(
    function: &Jitted<M, N, F>,
    (args, structure): (&mut [Arg<'_>], &[usize]),
    place: SourceLoc,
) -> Result<Option<Mismatch>> {
    let on_gpu = |device: &Device| device.gpu_number().is_some();
    let theirs = known(args).filter_map(CallArgument::device).find(on_gpu);
    let device = function.config().device.filter(on_gpu).or(theirs).unwrap_or(Device::gpu());
    let here = function.core.config.settings();
    let there = here.on(device)?;
    let (steps, given, _) = traced::steps(&function.core, (args, structure), there, place)?;
    let (cpu, gpu) = (steps.run(&given, here.on(Device::CPU)?)?, steps.run(&given, there)?);
    let params = steps.params(&given)?;
    let mut known: FxHashMap<Value, &Tensor> = steps.graph.params().iter().copied().zip(&params).collect();
    for ((&value, cpu), gpu) in steps.graph.outputs().iter().zip(&cpu.results).zip(&gpu.results) {
        if let Some(first) = cpu.first_difference(gpu) {
            return Ok(Some(describe((&steps, &given), &known, value, (cpu, gpu, first), device)));
        }
        known.insert(value, cpu);
    }
    let Some(dtype) = gpu.on_processor.first() else { return Ok(None) };
    let (own, all) = (gpu.on_processor.len(), gpu.kernels);
    let headline =
        format!("first_mismatch: {own} of {all} operations ran on the processor, and were compared with themselves");
    Err(Error::new(ErrorCode::Device, headline)
        .fact(format_args!("{device} has no {dtype}, and the fallback is the processor"))
        .fact("the others give the same bits on both")
        .help("compare the function without `Fallback::Cpu`, on arrays of a dtype that the device has"))
}

fn describe(
    (steps, given): (&StepProgram, &RunInputs),
    known: &FxHashMap<Value, &Tensor>,
    value: Value,
    (cpu, gpu, first): (&Tensor, &Tensor, usize),
    device: Device,
) -> Mismatch {
    let node = steps.graph.producer(value);
    let index = indices(&cpu.shape, first);
    let differing = || (0..cpu.len()).filter(|&i| differs(cpu, gpu, i));
    let distances = differing().map(|i| distance(cpu.dtype, cpu.get(i)[0], gpu.get(i)[0]));
    let ulp = distances.reduce(|most, distance| Some(most?.max(distance?))).flatten();
    Mismatch {
        operation: line(&steps.graph, node),
        place: steps.places.first(node),
        dtype: cpu.dtype,
        elements: differing().count(),
        of: cpu.len(),
        operands: steps.operands(given, node, &index, |value| known.get(&value).copied()),
        index,
        cpu: (shown(cpu, first), cpu.get(first).to_vec()),
        gpu: (shown(gpu, first), gpu.get(first).to_vec()),
        ulp,
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

/// Returns the distance of two floats in ULP.
fn distance(dtype: DType, a: u64, b: u64) -> Option<u64> {
    // This maps bits to integers of the same order as the floats.
    let infinity = dtype.infinity_bits()?;
    let key = |value: u64| {
        let size = value & !(1u64 << (dtype.bits() - 1));
        let signed = if size == value { size as i64 } else { -(size as i64) };
        (size <= infinity).then_some(signed)
    };
    Some(key(a)?.abs_diff(key(b)?))
}
