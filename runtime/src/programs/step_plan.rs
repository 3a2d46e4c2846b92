//! Plans of single steps: the locations, offsets and strides of their operands, and the lifetimes of arrays.

use crate::programs::regions::Copies;
use ndjit_ir::{DType, Error, ErrorCode};
use smallvec::SmallVec;

/// The location of an array during a run: the parameters first, then the results of kernels.
pub type Location = u32;

/// One kernel's operands.
#[derive(Debug)]
pub struct StepPlan {
    /// Location of each input, and byte offset of the element at index 0. An index has no location: the offset is its value.
    pub inputs: SmallVec<[(Option<Location>, usize); 4]>,
    /// Outputs.
    pub outputs: SmallVec<[OutputPlan; 2]>,
    /// The output's elements that the kernel does not store.
    pub rest: Option<RestPlan>,
    /// Operands that begin at a row.
    pub rows: SmallVec<[RowPlan; 1]>,
    /// Loops of which only some indices have an effect.
    pub ranges: SmallVec<[RangePlan; 1]>,
    /// Strides in bytes, `[operand][loop]`.
    pub strides: Vec<isize>,
    /// Locations whose last read is here.
    pub last_used: SmallVec<[Location; 4]>,
    /// Whether there are no results.
    pub empty: bool,
    /// Whether it copies its only input to its only output, element by element.
    pub copy: bool,
}

impl StepPlan {
    /// The locations of its inputs.
    pub fn reads(&self) -> impl Iterator<Item = Location> {
        let beside = self.rest.iter().map(|rest| rest.location).chain(self.indices().map(|index| index.location));
        self.inputs.iter().filter_map(|input| input.0).chain(beside)
    }

    /// The integers that are row indices, and then the ends of ranges.
    pub fn indices(&self) -> impl Iterator<Item = IndexPlan> {
        let ends = self.ranges.iter().flat_map(|range| range.ends.iter().flatten().map(|end| end.count));
        self.rows.iter().map(|row| row.index).chain(ends)
    }
}

/// An integer known when a step runs.
#[derive(Clone, Copy, Debug)]
pub struct IndexPlan {
    /// Its location.
    pub location: Location,
    /// Its byte offset.
    pub offset: usize,
    /// Its dtype.
    pub dtype: DType,
}

/// A loop of which only some indices have an effect.
#[derive(Clone, Copy, Debug)]
pub struct RangePlan {
    /// The loop.
    pub index: usize,
    /// Its extent.
    pub extent: usize,
    /// The number of its indices per integer.
    pub step: usize,
    /// The first integer, and the one behind the last.
    pub ends: [Option<EndPlan>; 2],
}

/// An end of a range: an integer, and a number to add.
#[derive(Clone, Copy, Debug)]
pub struct EndPlan {
    pub count: IndexPlan,
    pub more: isize,
}

/// An operand that begins at a row, whose index is known when the step runs.
#[derive(Clone, Copy, Debug)]
pub struct RowPlan {
    /// Its index among the inputs, then the outputs.
    pub operand: usize,
    /// The index.
    pub index: IndexPlan,
    /// The last row. An input begins at the nearest existing row; a missing output row is not stored.
    pub last: usize,
    /// Bytes from row to row.
    pub stride: isize,
}

/// An array that fills the part of an output that its kernel does not store. It is copied unless the output takes its memory.
#[derive(Debug)]
pub struct RestPlan {
    /// Its location.
    pub location: Location,
    /// The copied parts.
    pub copies: SmallVec<[Copies; 4]>,
}

/// An output of a kernel.
#[derive(Debug)]
pub struct OutputPlan {
    /// Its location.
    pub location: Location,
    /// Its size in bytes.
    pub bytes: usize,
    /// The byte offset of the kernel's first element.
    pub offset: usize,
    /// Inputs that die here and whose memory it may take: same layout, same element size.
    pub reuse: SmallVec<[Location; 2]>,
    /// The program result, if the caller gives its memory.
    pub result: Option<usize>,
}

/// One result of the program.
#[derive(Debug)]
pub struct ResultPlan {
    /// Its location after all kernels have run.
    pub location: Location,
    /// Its size in bytes.
    pub bytes: usize,
    /// An earlier result that is the same value.
    pub same_as: Option<usize>,
}

/// The error for a kernel that no pass builds.
pub fn wrong(index: usize, what: std::fmt::Arguments<'_>) -> Error {
    Error::new(ErrorCode::Verify, format!("plan: kernel {index} is wrong")).fact(what)
}
