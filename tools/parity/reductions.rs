//! Reductions and scans in all dtypes, of arrays of many lengths, along all axes, dense and with gaps, forwards and backwards.

use crate::compared::{Compared, hex};
use crate::format::Format;
use crate::programs::Program;
use crate::scale::Scale;
use ndjit::{DType, Policy, Result, Shape};
use ndjit_ir::loops::Layout;
use ndjit_ir::reduction::AxisFunction;
use ndjit_math::interp::Tensor;
use ndjit_random::{Rng, tensor};
use ndjit_runtime::gpu::Gpu;
use std::sync::Arc;

/// The maximum number of elements for the interpreter.
const INTERPRETED: usize = 400;

/// Compares the device with compiled code for `wanted` names and dtypes, and both with the interpreter on small arrays. `done`
/// gets the result of each reduction in each dtype, without elements if the device lacks a dtype.
///
/// # Errors
/// If memory is refused.
pub fn compare(
    gpu: &Arc<Gpu>,
    scale: &Scale,
    wanted: impl Fn(&str, DType) -> bool,
    mut done: impl FnMut(Compared),
) -> Result<()> {
    for dtype in DType::ALL {
        let mut names: Vec<_> = AxisFunction::all().map(|function| (function, format!("{function} {dtype}"))).collect();
        names.retain(|(function, name)| {
            Policy::default().resolve_reduction(*function, None, dtype.into()).is_ok() && wanted(name, dtype)
        });
        let operands = if names.is_empty() { Vec::new() } else { operands(dtype, scale)? };
        for (function, name) in names {
            let mut compared = Compared::new(name);
            for operand in &operands {
                let shape = &operand.values.shape;
                for axes in &operand.axes {
                    let none = axes.iter().any(|&axis| shape.extents()[axis as usize] == 0);
                    let needs = matches!(function, AxisFunction::Reduction(reduction) if reduction.needs_elements());
                    if none && needs {
                        continue;
                    }
                    if let Err(error) = one(gpu, function, operand, axes, &mut compared) {
                        compared.differs(|| format!("{shape} along {axes:?}: {error}"));
                    }
                }
            }
            done(compared);
        }
    }
    Ok(())
}

/// An array, and its reduced axes.
struct Operand {
    values: Tensor,
    axes: Vec<Vec<isize>>,
    step: isize,
    memory: [Vec<u8>; 1],
    layout: Layout,
}

fn operands(dtype: DType, scale: &Scale) -> Result<Vec<Operand>> {
    let mut rng = Rng::new(dtype as u64);
    let mut all = Vec::new();
    for (shape, axes) in scale.shapes() {
        for (n, &step) in scale.steps().iter().enumerate() {
            let values = match n % 2 {
                0 => tensor(&mut rng, dtype, shape.clone()),
                _ => moderate(&mut rng, dtype, &shape),
            }?;
            let (bytes, layout) = placed(&values, step);
            all.push(Operand { values, axes: axes.clone(), step, memory: [bytes], layout });
        }
    }
    Ok(all)
}

/// Values of similar size and both signs, with finite, nonzero sums and products; any integers.
fn moderate(rng: &mut Rng, dtype: DType, shape: &Shape) -> Result<Tensor> {
    let Some(format) = Format::of(dtype) else { return tensor(rng, dtype, shape.clone()) };
    let mut word = || {
        let bits = rng.bits();
        // The mean of the logarithm is about 0.
        let size = 0.5 + 1.1 * (bits >> 40) as f64 / (1 << 24) as f64;
        format.encode(if bits & 1 == 1 { -size } else { size })
    };
    Tensor::from_words(dtype, shape.clone(), |_| dtype.storage().iter().map(|_| word()).collect::<Vec<u64>>())
}

/// The memory of an array with stride `step` in elements along the last axis, and its layout.
fn placed(values: &Tensor, step: isize) -> (Vec<u8>, Layout) {
    let (size, apart) = (values.dtype.bytes(), step.unsigned_abs());
    let mut strides: Vec<isize> =
        values.shape.contiguous_strides().iter().map(|&s| s * size as isize * apart as isize).collect();
    if apart == 1 && step > 0 {
        return (values.bytes.clone(), Layout { offset: 0, strides: strides.into_iter().collect() });
    }
    let mut bytes = vec![0; (values.len() * apart).max(1) * size];
    let back = step < 0;
    for (n, element) in values.bytes.chunks(size).enumerate() {
        let at = if back { values.len() - 1 - n } else { n } * apart * size;
        bytes[at..at + size].copy_from_slice(element);
    }
    let offset = if back { (values.len() * apart).saturating_sub(apart) * size } else { 0 };
    if back {
        strides.iter_mut().for_each(|stride| *stride = -*stride);
    }
    (bytes, Layout { offset, strides: strides.into_iter().collect() })
}

fn one(
    gpu: &Arc<Gpu>,
    function: AxisFunction,
    operand: &Operand,
    axes: &[isize],
    compared: &mut Compared,
) -> Result<()> {
    let Operand { values, step, memory, layout, .. } = operand;
    let program = Program::reduction(function, values.dtype, &values.shape, axes, layout)?;
    let Some(given) = program.on_device(gpu, memory)? else { return Ok(()) };
    let text = |n: usize| {
        let first: Vec<String> =
            values.bytes.chunks(values.dtype.bytes()).take(4).map(|x| hex(values.dtype, x)).collect();
        format!(
            "result {n} of {} {:?} along {axes:?}, step {step} ({} …)",
            values.dtype,
            values.shape,
            first.join(", ")
        )
    };
    // Reductions count operands, scans results.
    let elements = compared.elements + values.len() as u64;
    for (expected, given) in program.compiled(memory)?.iter().zip(&given) {
        compared.elements(program.dtype(), expected, given, text);
        if values.len() <= INTERPRETED {
            for law in program.interpreted(std::slice::from_ref(values))? {
                compared.elements(program.dtype(), &law.bytes, given, text);
            }
        }
    }
    compared.elements = elements;
    Ok(())
}
