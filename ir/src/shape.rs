//! Shapes: extents of array axes, broadcasting, sizes checked for overflow, and mismatches of shapes.

use crate::error::{Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::fmt;
use std::ops::Index;
use std::slice::SliceIndex;

/// The extents of an array's axes, outermost first, in elements. Rank 0 is a scalar.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Shape(SmallVec<[usize; 4]>);

impl Shape {
    /// A shape of these extents. All extents are valid; [`Shape::size`] checks that an array of the shape can exist.
    pub fn new(extents: &[usize]) -> Shape {
        Shape(SmallVec::from_slice(extents))
    }

    /// The shape of a scalar.
    pub fn scalar() -> Shape {
        Shape::default()
    }

    /// The extents, outermost first.
    pub fn extents(&self) -> &[usize] {
        &self.0
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The number of elements.
    ///
    /// # Errors
    /// `Size` if the product of the non-zero extents exceeds `isize::MAX`: even an empty array's strides must be
    /// representable.
    pub fn size(&self) -> Result<usize> {
        let mut product: usize = 1;
        for &extent in self.0.iter().filter(|&&e| e != 0) {
            product = product.checked_mul(extent).filter(|&p| p <= isize::MAX as usize).ok_or_else(|| {
                Error::new(ErrorCode::Size, format!("shape {self} has more elements than memory can address"))
                    .fact(format_args!("limit: {} elements", isize::MAX))
                    .help("use smaller extents, or evaluate the array in parts")
            })?;
        }
        Ok(if self.0.contains(&0) { 0 } else { product })
    }

    /// The size in bytes of an array of this shape whose elements have `element` bytes.
    ///
    /// # Errors
    /// `Size` if it exceeds `isize::MAX`.
    pub fn bytes(&self, element: usize) -> Result<usize> {
        let size = self.size()?;
        size.checked_mul(element).filter(|&b| b <= isize::MAX as usize).ok_or_else(|| {
            Error::new(ErrorCode::Size, format!("shape {self} needs more bytes than memory can address"))
                .fact(format_args!("{size} elements of {element} bytes; limit: {} bytes", isize::MAX))
                .help("use smaller extents, or evaluate the array in parts")
        })
    }

    /// The common shape of two operands: axes are matched from the last; extents must be equal or one of them 1
    /// (Array API, "Broadcasting"). `None` if they do not match.
    pub fn broadcast(&self, other: &Shape) -> Option<Shape> {
        let rank = self.rank().max(other.rank());
        let mut out = SmallVec::from_elem(1, rank);
        for (axis, slot) in out.iter_mut().enumerate() {
            let of = |s: &Shape| (axis + s.rank()).checked_sub(rank).map_or(1, |i| s.0[i]);
            *slot = match (of(self), of(other)) {
                (a, b) if a == b => a,
                (1, b) => b,
                (a, 1) => a,
                _ => return None,
            };
        }
        Some(Shape(out))
    }

    /// Strides in elements of a C-contiguous array of this shape. Saturates instead of overflowing; shapes that pass
    /// [`Shape::size`] never saturate.
    pub fn contiguous_strides(&self) -> SmallVec<[isize; 4]> {
        let mut strides = SmallVec::from_elem(1isize, self.rank());
        let mut step: isize = 1;
        for axis in (0..self.rank()).rev() {
            strides[axis] = step;
            step = step.saturating_mul(self.0[axis].max(1) as isize);
        }
        strides
    }
}

/// The extents at an index or a range: `shape[0]`, `shape[1..]`.
///
/// ```
/// let shape = ndjit_ir::Shape::new(&[2, 3]);
/// assert_eq!((shape[0], &shape[1..]), (2, &[3][..]));
/// ```
///
/// # Panics
/// If there is no such axis; `shape.extents().get(axis)` gives an `Option`.
impl<I: SliceIndex<[usize]>> Index<I> for Shape {
    type Output = I::Output;

    fn index(&self, axis: I) -> &I::Output {
        &self.0[axis]
    }
}

impl From<&[usize]> for Shape {
    fn from(extents: &[usize]) -> Shape {
        Shape::new(extents)
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(extents: [usize; N]) -> Shape {
        Shape::new(&extents)
    }
}

impl From<Vec<usize>> for Shape {
    fn from(extents: Vec<usize>) -> Shape {
        Shape::new(&extents)
    }
}

impl From<usize> for Shape {
    fn from(extent: usize) -> Shape {
        Shape::new(&[extent])
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, extent) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{extent}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A mismatch of shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeMismatch {
    /// The shapes do not broadcast.
    Broadcast(Shape, Shape),
    /// The first shape does not broadcast to the second.
    BroadcastTo(Shape, Shape),
    /// Rows and indices do not broadcast.
    Rows(Shape, Shape),
    /// A scalar has no rows.
    NoRows,
    /// Elements of this shape are taken from an array without rows.
    NoneToTake(Shape),
    /// There are no arrays to join.
    NoArrays,
    /// The first joined array has no such axis.
    Axis(usize, Shape),
    /// A joined array has another rank than the first.
    Ranks {
        /// The index of the array.
        operand: usize,
        /// Its rank, and the first array's.
        ranks: [usize; 2],
    },
    /// A joined array has another extent than the first along another axis.
    Extents {
        /// The index of the array.
        operand: usize,
        /// The axis.
        axis: usize,
        /// Its extent there, and the first array's.
        extents: [usize; 2],
    },
}

impl fmt::Display for ShapeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeMismatch::Broadcast(a, b) => write!(f, "shapes {a} and {b} do not broadcast"),
            ShapeMismatch::BroadcastTo(shape, to) => write!(f, "{shape} does not broadcast to {to}"),
            ShapeMismatch::Rows(rows, index) => {
                write!(f, "rows of shape {rows} and indices {index} do not broadcast")
            }
            ShapeMismatch::NoRows => f.write_str("a scalar has no rows"),
            ShapeMismatch::NoneToTake(shape) => write!(f, "{shape} elements of an array without rows"),
            ShapeMismatch::NoArrays => f.write_str("a join of no arrays"),
            ShapeMismatch::Axis(axis, shape) => write!(f, "axis {axis} of shape {shape}"),
            ShapeMismatch::Ranks { operand, ranks: [own, first] } => {
                write!(f, "x{operand} has {own} axes, x0 has {first}")
            }
            ShapeMismatch::Extents { operand, axis, extents: [own, first] } => {
                write!(f, "x{operand} has {own} along axis {axis}, x0 has {first}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcast_follows_the_array_api() {
        let b = |a: &[usize], b: &[usize]| Shape::new(a).broadcast(&Shape::new(b)).map(|s| s.extents().to_vec());
        assert_eq!(b(&[8, 1, 6, 1], &[7, 1, 5]), Some(vec![8, 7, 6, 5]));
        assert_eq!(b(&[2, 3], &[]), Some(vec![2, 3]));
        assert_eq!(b(&[0], &[1]), Some(vec![0]));
        assert_eq!(b(&[3], &[4]), None);
        assert_eq!(b(&[0], &[2]), None);
    }

    #[test]
    fn sizes_cannot_overflow() {
        assert!(Shape::from([1 << 40, 1 << 40]).size().is_err());
        assert!(Shape::from([usize::MAX, 0]).size().is_err());
        assert!(Shape::from([1 << 40, 0, 1 << 40]).size().is_err());
        assert_eq!(Shape::from([5, 0, 7]).size().unwrap(), 0);
        assert!(Shape::from([isize::MAX as usize]).bytes(2).is_err());
    }
}
