//! Layouts of arrays in memory.

use crate::shape::Shape;
use smallvec::SmallVec;

/// The layout of an operand's elements, in bytes from the start of its buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Layout {
    /// The element at index 0.
    pub offset: usize,
    /// Step along each loop, outermost first; of outputs 0 along reduction loops.
    pub strides: SmallVec<[isize; 4]>,
}

impl Layout {
    /// Returns `true` if the elements of an array of this shape have the same addresses in both layouts: strides may differ only along
    /// axes of extent 1.
    pub fn same_elements(&self, other: &Layout, shape: &Shape) -> bool {
        let mut strides = self.strides.iter().zip(&other.strides).zip(shape.extents());
        self.offset == other.offset && strides.all(|((a, b), &extent)| a == b || extent <= 1)
    }

    /// The layout of an array of `shape` broadcast to `space`: stride 0 along axes that it lacks or that are 1.
    pub fn broadcast(&self, shape: &Shape, space: &Shape) -> Layout {
        let missing = space.rank() - shape.rank();
        let strides = (0..space.rank())
            .map(|axis| match axis.checked_sub(missing) {
                Some(own) if shape.extents()[own] == space.extents()[axis] => self.strides[own],
                _ => 0,
            })
            .collect();
        Layout { offset: self.offset, strides }
    }
}
