//! Contractions on the CPU: a nest that sums the products of two arrays, as matrix products.
//!
//! A parallel loop along which only the first array moves is a row loop, one along which only the second moves is a column loop, and all
//! others are batch loops. One matrix product covers the longest loop of each kind, and the longest reduced loop; the others surround it.
//!
//! Rows and columns are cut into [blocks](Blocking), and each block is one matrix product on one thread, [packed] or [small]. An element
//! has the same order of summation in all of them.

mod matrices;
mod packed;
#[cfg(target_arch = "x86_64")]
mod small;
mod tiles;

use crate::execution::code::{Composed, Kernel, KernelOperands};
use crate::execution::reduce::Reducer;
use crate::execution::threads::{Threads, catch};
use matrices::{Matrices, MatrixElement, Multiply};
use ndjit_ir::loops::{LoopNest, NestKind};
use ndjit_ir::{DType, Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::num::NonZeroUsize;
use tiles::MicroKernels;

/// The minimum of rows and columns per block, if available: with fewer, the share of packing grows.
const SIDE: usize = 96;
/// The minimum of rows, or columns, per product, in tiled launches.
const STRIP: NonZeroUsize = NonZeroUsize::new(256).unwrap();
/// The minimum of multiplications per block, if available.
const WORK: usize = 1 << 21;
/// Estimated time of one multiply-add of `f32`, ns.
const COST: f64 = 0.015;

/// A nest that sums the products of two arrays.
#[derive(Debug)]
pub struct Contractor {
    multiply: Multiply,
    dtype: DType,
    /// The alignment of its elements, bytes.
    align: usize,
    rank: usize,
    parallel_rank: usize,
    /// The fallback for unaligned elements.
    reducer: Box<Reducer>,
}

macro_rules! reals {
    ($($t:ty: $name:ident;)*) => {$(
        impl MatrixElement for $t {
            const ZERO: $t = 0.0;

            fn tiles() -> impl Iterator<Item = &'static MicroKernels<$t>> {
                tiles::$name()
            }

            #[cfg(target_arch = "x86_64")]
            unsafe fn small(matrices: &Matrices) -> bool {
                // SAFETY: the caller's promise.
                unsafe { small::$name(matrices) }
            }

            #[cfg(not(target_arch = "x86_64"))]
            unsafe fn small(_: &Matrices) -> bool {
                false
            }
        }
    )*};
}

reals! {
    f32: of_f32;
    f64: of_f64;
}

/// Multiplies matrices of elements with so many parts.
///
/// # Errors
/// # Safety
/// As [`Multiply`].
unsafe fn multiply<T: MatrixElement, const PARTS: usize>(matrices: &Matrices) -> Result<()> {
    // SAFETY: the caller's promise; the processor has these tiles.
    unsafe {
        match T::tiles().next() {
            _ if PARTS == 1 && T::small(matrices) => Ok(()),
            Some(tiles) => packed::multiply::<T, PARTS>(tiles, matrices),
            None => Err(Error::new(ErrorCode::Verify, "contract: there are no tiles")),
        }
    }
}

/// The matrix product of a dtype, if supported.
fn of(dtype: DType) -> Option<Multiply> {
    match dtype {
        DType::F32 => Some(multiply::<f32, 1>),
        DType::F64 => Some(multiply::<f64, 1>),
        DType::C64 => Some(multiply::<f32, 2>),
        DType::C128 => Some(multiply::<f64, 2>),
        _ => None,
    }
}

impl Contractor {
    /// The driver of `nest`. Returns the reducer if the nest is not a sum of products of two arrays of a supported dtype.
    pub fn new(nest: &LoopNest, reducer: Box<Reducer>) -> std::result::Result<Contractor, Box<Reducer>> {
        let dtype =
            nest.outputs.first().filter(|_| matches!(nest.kind, NestKind::Contract(_))).map(|access| access.dtype);
        match dtype.and_then(|dtype| Some((dtype, of(dtype)?))) {
            Some((dtype, multiply)) => {
                let align = dtype.real().bytes();
                Ok(Contractor { multiply, dtype, align, rank: nest.rank, parallel_rank: nest.parallel_rank(), reducer })
            }
            None => Err(reducer),
        }
    }

    /// The roles of the loops.
    fn loops(&self, extents: &[usize], strides: &[isize]) -> ContractionLoops {
        // Sizes are powers of 2, and a division takes ten times as long as a shift: a matrix product has nine here.
        let shift = self.dtype.bytes().trailing_zeros();
        let step = |at: usize| StridedLoop {
            extent: extents[at],
            strides: [2, 0, 1].map(|operand: usize| strides[operand * self.rank + at] >> shift),
        };
        let mut loops =
            ContractionLoops { one: [StridedLoop::ONCE; 3], matrices: SmallVec::new(), sums: SmallVec::new() };
        for at in 0..self.rank {
            let own = step(at);
            let kind = match own.strides {
                _ if at >= self.parallel_rank => 2,
                [_, left, 0] if left != 0 => 0,
                [_, 0, right] if right != 0 => 1,
                _ => {
                    loops.matrices.push(own);
                    continue;
                }
            };
            // The longest loop of each kind is inside the product.
            let other =
                if own.extent > loops.one[kind].extent { std::mem::replace(&mut loops.one[kind], own) } else { own };
            match kind {
                _ if other.extent == 1 => {}
                2 => loops.sums.push(other),
                _ => loops.matrices.push(other),
            }
        }
        loops
    }
}

/// A loop: its extent, and its strides in elements of the result, the first and the second array.
#[derive(Clone, Copy, Debug)]
struct StridedLoop {
    extent: usize,
    strides: [isize; 3],
}

impl StridedLoop {
    const ONCE: StridedLoop = StridedLoop { extent: 1, strides: [0; 3] };
}

/// The loops of a contraction.
#[derive(Debug)]
struct ContractionLoops {
    /// Rows, columns and products of one matrix product.
    one: [StridedLoop; 3],
    /// Loops around it over different results.
    matrices: SmallVec<[StridedLoop; 4]>,
    /// Loops around it over the same results.
    sums: SmallVec<[StridedLoop; 4]>,
}

/// The offsets of each operand at the `number`th index of some loops, the last of them innermost, in elements.
fn offsets(steps: &[StridedLoop], mut number: usize) -> [isize; 3] {
    let mut at = [0isize; 3];
    if number == 0 {
        return at;
    }
    for step in steps.iter().rev() {
        let index = (number % step.extent) as isize;
        number /= step.extent;
        for (at, stride) in at.iter_mut().zip(step.strides) {
            *at += index * stride;
        }
    }
    at
}

fn count(steps: &[StridedLoop]) -> usize {
    steps.iter().fold(1, |n, step| n.saturating_mul(step.extent))
}

/// Pointers to result, first and second array, at these offsets.
fn moved(operands: &KernelOperands<'_>, offsets: [isize; 3], size: isize) -> [*mut u8; 3] {
    let [out, left, right] = offsets.map(|offset| offset * size);
    let [first, second, result] = [0, 1, 2].map(|n: usize| operands.pointers[n]);
    [result.wrapping_offset(out), first.wrapping_offset(left), second.wrapping_offset(right)]
}

/// The blocks of a matrix: the numbers of rows and columns of each, except the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Blocking {
    height: usize,
    width: usize,
}

impl Blocking {
    /// Halves the longer side until there are so many blocks, if they stay large.
    fn new([rows, columns, products]: [usize; 3], blocks: usize) -> Blocking {
        let (mut height, mut width, mut count) = (rows, columns, 1);
        while count < blocks
            && height.max(width) >= 2 * SIDE
            && height.saturating_mul(width).saturating_mul(products) >= 2 * WORK
        {
            let longer = if height >= width { &mut height } else { &mut width };
            // Whole tiles, of nearly equal number.
            *longer = longer.div_ceil(2).next_multiple_of(32);
            count *= 2;
        }
        Blocking { height, width }
    }
}

impl Composed for Contractor {
    fn own(&self) -> SmallVec<[&Kernel; 8]> {
        self.reducer.own()
    }

    fn cost(&self) -> f64 {
        let words = self.dtype.real().bytes() as f64 / 4.0;
        COST * words * if self.dtype.is_complex() { 4.0 } else { 1.0 }
    }

    /// Packed matrices use the pool's memory.
    fn scratch(&self, extents: &[usize], output: usize, threads: &Threads) -> usize {
        self.reducer.scratch(extents, output, threads)
    }

    fn least(&self, strides: &[isize], along: usize) -> Option<NonZeroUsize> {
        let moves = |operand: usize| strides[operand * self.rank + along] != 0;
        // One matrix stays whole.
        Some(if moves(0) && moves(1) { NonZeroUsize::MIN } else { STRIP })
    }

    unsafe fn run(&self, operands: KernelOperands<'_>, threads: &Threads) -> Result<()> {
        let KernelOperands { pointers, extents, strides, .. } = operands;
        let size = self.dtype.bytes() as isize;
        let whole = |strides: &[isize]| strides.iter().fold(0, |all, stride| all | stride) & (size - 1) == 0;
        if !pointers.iter().all(|pointer| pointer.addr().is_multiple_of(self.align)) || !whole(strides) {
            // SAFETY: the caller's promise.
            return unsafe { self.reducer.run(operands, threads) };
        }
        if extents.contains(&0) {
            return Err(Error::new(ErrorCode::Verify, "contract: there are no elements to multiply"));
        }
        let loops = self.loops(extents, strides);
        let [rows, columns, products] = loops.one;
        let matrices = count(&loops.matrices);
        let blocks = threads.count().div_ceil(matrices);
        let Blocking { height, width } = Blocking::new([rows.extent, columns.extent, products.extent], blocks);
        let column_blocks = columns.extent.div_ceil(width);
        let blocks = rows.extent.div_ceil(height) * column_blocks;
        let work = |task: usize| {
            let (block, matrix) = (task % blocks, task / blocks);
            let (first_row, first_column) = ((block / column_blocks) * height, (block % column_blocks) * width);
            let (m, n) = (height.min(rows.extent - first_row), width.min(columns.extent - first_column));
            let matrix = offsets(&loops.matrices, matrix);
            for sum in 0..count(&loops.sums) {
                let sum_at = offsets(&loops.sums, sum);
                let mut own = [0; 3];
                for (n, own) in own.iter_mut().enumerate() {
                    let block = rows.strides[n] * first_row as isize + columns.strides[n] * first_column as isize;
                    *own = matrix[n] + sum_at[n] + block;
                }
                let strides = [
                    [rows.strides[0], columns.strides[0]],
                    [rows.strides[1], products.strides[1]],
                    [products.strides[2], columns.strides[2]],
                ];
                let extents = [m, n, products.extent];
                let mut matrices = Matrices { extents, pointers: moved(&operands, own, size), strides, add: sum > 0 };
                // Rows of the result are stored as vectors: for contiguous columns the transposes are multiplied. Stored element by
                // element, 512x512 took eight times as long.
                if rows.strides[0] == 1 && columns.strides[0] != 1 && !self.dtype.is_complex() {
                    matrices = matrices.transposed();
                }
                // SAFETY: the caller's promise: these are some of the kernel's indices, and tasks store distinct results.
                unsafe { (self.multiply)(&matrices)? };
            }
            Ok(())
        };
        let tasks = blocks.saturating_mul(matrices);
        let time = extents.iter().fold(1.0, |n, &extent| n * extent as f64) * self.cost();
        catch(|| threads.each(tasks, time, work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_large_and_cover_all() {
        let of = |extents, blocks| {
            let Blocking { height, width } = Blocking::new(extents, blocks);
            (height, width)
        };
        assert_eq!(of([1024, 1024, 1024], 1), (1024, 1024));
        assert_eq!(of([1024, 1024, 1024], 2), (512, 1024));
        assert_eq!(of([1024, 1024, 1024], 3), (512, 512));
        assert_eq!(of([256, 256, 256], 8), (128, 128));
        assert_eq!(of([128, 128, 128], 8), (128, 128));
        assert_eq!(of([1024, 1024, 8], 8), (512, 512));
        assert_eq!(of([1024, 512, 4], 8), (1024, 512));
        assert_eq!(of([4, 1 << 20, 64], 4), (4, 1 << 18));
        assert_eq!(of([usize::MAX / 4, 1, 1], usize::MAX).1, 1);
    }
}
