//! Split: the generated part of a nest that sorts. The driver has memory for the elements of some rows, calls
//! *elements* to compute them, and sorts them there in the order of [`sorted`](ndjit_ir::reduction::sorted).

use super::part::NestPart;
use crate::clif::AccumulatorLayout;
use ndjit_ir::kernel::OpBody;
use ndjit_ir::loops::{Access, LoopBody, LoopNest, NestKind, Stride};
use ndjit_ir::reduction::Sort;
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// Loops of [`SortParts::elements`].
pub const SORT_LOOPS: usize = 3;

/// A loop of [`SortParts::elements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortLoop {
    /// The last but one of the parallel loops.
    Outer,
    /// The last of the parallel loops.
    Parallel,
    /// The sorted elements.
    Element,
}

impl fmt::Display for SortLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SortLoop::Outer => "outer",
            SortLoop::Parallel => "parallel",
            SortLoop::Element => "element",
        })
    }
}

/// The parts of a nest that sorts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortParts {
    /// The sort of each output.
    pub outputs: SmallVec<[Sort; 1]>,
    /// The elements. Inputs: the nest's; outputs: the elements to sort for each of the nest's, in their dtype,
    /// contiguous along the innermost loop.
    pub elements: NestPart,
}

impl SortParts {
    /// The loops, outermost first. The innermost is vectorized.
    pub const LOOPS: [SortLoop; SORT_LOOPS] = [SortLoop::Outer, SortLoop::Parallel, SortLoop::Element];
}

pub(super) fn split(nest: &LoopNest, sorts: &SmallVec<[Sort; 1]>, body: &Arc<OpBody>) -> SortParts {
    let outputs = body.outputs.iter().map(|&scalar| Access::memory(body.dtype(scalar), Stride::Contiguous));
    let elements = LoopNest {
        rank: SORT_LOOPS,
        inputs: nest.inputs.clone(),
        literals: nest.literals.clone(),
        outputs: outputs.collect(),
        body: LoopBody::Ops(Arc::clone(body)),
        kind: NestKind::Map,
    };
    SortParts { outputs: sorts.clone(), elements: NestPart::new("elements", elements, AccumulatorLayout::Plain) }
}
