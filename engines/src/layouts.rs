//! Random layouts: an array as a part of a larger buffer, with permuted axes, steps, and reversal.

use ndjit_ir::loops::Layout;
use ndjit_ir::{Result, Shape};
use ndjit_math::interp::Tensor;
use ndjit_random::Rng;

/// The generator of a program's layouts, seeded by its arrays: a smaller program with the same arrays has the same
/// layouts.
pub fn rng(params: &[Tensor]) -> Rng {
    let bytes = params.iter().flat_map(|param| param.bytes.iter().copied());
    Rng::new(bytes.fold(0, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into())))
}

/// A buffer with the array's elements among others, and their layout.
pub fn strided(tensor: &Tensor, rng: &mut Rng) -> Result<(Tensor, Layout)> {
    let extents = tensor.shape.extents();
    let size = tensor.dtype.bytes() as isize;
    let mut order: Vec<usize> = (0..extents.len()).collect();
    if rng.one_in(2) {
        (1..order.len()).rev().for_each(|last| order.swap(last, rng.below(last + 1)));
    }
    let mut layout = Layout { offset: 0, strides: extents.iter().map(|_| 0).collect() };
    let mut elements = 1;
    for &axis in order.iter().rev() {
        // The stride of an axis of extent 1 is unused.
        let step = rng.pick(&[1, 1, 1, -1, 2, -2, 3]) * size * elements as isize;
        layout.strides[axis] = step;
        if extents[axis] < 2 {
            continue;
        }
        let steps = step.unsigned_abs() / (size.unsigned_abs() * elements);
        let before = rng.below(2);
        let last = (extents[axis] - 1) * steps;
        let first = if step < 0 { before + last } else { before };
        layout.offset += first * elements * size.unsigned_abs();
        elements *= before + last + 1 + rng.below(2);
    }
    // Memory between the elements is nonzero, so wrong reads show.
    let mut memory = Tensor::zeros(tensor.dtype, Shape::from(elements))?;
    (0..elements)
        .filter(|_| !tensor.is_empty())
        .for_each(|at| memory.set(at, &tensor.get((at * 5 + 1) % tensor.len())));
    for index in 0..tensor.len() {
        let (mut rest, mut at) = (index, layout.offset);
        for (&extent, &stride) in extents.iter().zip(&layout.strides).rev() {
            at = at.wrapping_add_signed((rest % extent) as isize * stride);
            rest /= extent;
        }
        memory.set(at / size.unsigned_abs(), &tensor.get(index));
    }
    Ok((memory, layout))
}
