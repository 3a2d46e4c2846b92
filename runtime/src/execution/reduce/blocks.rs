//! Code for whole blocks, with a block's accumulators in registers.

use super::accumulators::{Accumulated, AccumulatorArray, Cube};
use crate::execution::calls::CallSink;
use crate::execution::code::{CodeOptions, Kernel};
use ndjit_codegen::passes::split::{ACCUMULATE_LOOPS, NestPart, ReduceParts};
use ndjit_ir::Result;
use ndjit_ir::reduction::LANES;
use smallvec::SmallVec;

/// The kernels. The last but one of their loops runs whole steps, the innermost the remainder, and either may be empty.
#[derive(Debug)]
pub struct Blocks {
    pub one: Kernel,
    /// Several blocks at once: the [jam](ReduceParts::jam).
    pub jammed: Option<Kernel>,
    /// Up to [`LANES`] adjacent results of blocks.
    tree: Kernel,
}

impl Blocks {
    /// Compiles them, if the reduction supports them on this machine.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub fn new(parts: &ReduceParts, options: CodeOptions) -> Result<Option<Blocks>> {
        let compile = |part: &Option<NestPart>| match part {
            Some(NestPart { nest, pairs: Some(pairs), .. }) => {
                Kernel::blocks(nest, (&parts.combine.nest, *pairs), options)
            }
            _ => Ok(None),
        };
        let (Some(one), Some(tree)) = (compile(&parts.blocks)?, compile(&parts.tree)?) else { return Ok(None) };
        Ok(Some(Blocks { one, jammed: compile(&parts.blocks_jammed)?, tree }))
    }

    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        [&self.one, &self.tree].into_iter().chain(&self.jammed)
    }

    /// Combines the results of `count` blocks of each row in a balanced tree, into the first of the row.
    ///
    /// # Safety
    /// The arrays of `outputs` have so many results in each row, all written, and nobody else uses them.
    pub unsafe fn combine(
        &self,
        outputs: &[Accumulated],
        arrays: &[AccumulatorArray],
        cube: Cube,
        count: usize,
        sink: &mut dyn CallSink,
    ) -> Result<()> {
        let mut left = count;
        while left > 1 {
            let (whole, rest) = (left / LANES, left % LANES);
            for (first, groups, steps, lanes) in [(0, whole, 1, 0), (whole, usize::from(rest > 0), 0, rest)] {
                if groups == 0 {
                    continue;
                }
                let mut call = KernelArguments::new([cube.rows, 1, groups, steps, lanes]);
                for output in outputs {
                    call.push(output.identity.as_ptr().cast_mut(), [0; ACCUMULATE_LOOPS]);
                }
                // No later group reads where a group's result goes.
                for group in [LANES, 1] {
                    for array in arrays {
                        let [row, group, one] = [cube.row, group, 1].map(|n| (n * array.size) as isize);
                        call.push(array.pointer.wrapping_offset(group * first as isize), [row, 0, group, 0, one]);
                    }
                }
                // SAFETY: the caller's promise. Groups run in order.
                unsafe { call.run(&self.tree, sink)? };
            }
            left = left.div_ceil(LANES);
        }
        Ok(())
    }
}

/// The arguments of a kernel.
pub struct KernelArguments {
    pointers: SmallVec<[*mut u8; 12]>,
    extents: [usize; ACCUMULATE_LOOPS],
    strides: SmallVec<[[isize; ACCUMULATE_LOOPS]; 12]>,
}

impl KernelArguments {
    pub fn new(extents: [usize; ACCUMULATE_LOOPS]) -> KernelArguments {
        KernelArguments { pointers: SmallVec::new(), extents, strides: SmallVec::new() }
    }

    pub fn push(&mut self, pointer: *mut u8, strides: [isize; ACCUMULATE_LOOPS]) {
        self.pointers.push(pointer);
        self.strides.push(strides);
    }

    /// # Safety
    /// As [`Kernel::call`].
    pub unsafe fn run(&self, kernel: &Kernel, sink: &mut dyn CallSink) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { sink.call(kernel, &self.pointers, &self.extents, self.strides.as_flattened()) }
    }
}
