//! The matrices of a product, and their elements.

use super::tiles::MicroKernels;
use ndjit_ir::Result;
use std::ops::Add;

/// A matrix product in one dtype.
///
/// # Errors
/// `Allocation` if there is no memory to pack into.
///
/// # Safety
/// Pointers are aligned; all elements of the matrices are readable, those of the result writable, and nobody else accesses them.
pub(super) type Multiply = unsafe fn(&Matrices) -> Result<()>;

/// The result, the first and the second matrix of a product.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrices {
    /// Rows, columns and products per sum.
    pub extents: [usize; 3],
    pub pointers: [*mut u8; 3],
    /// In elements: of the result along rows and columns, of the first matrix along rows and products, of the second along products and
    /// columns.
    pub strides: [[isize; 2]; 3],
    /// Whether to accumulate into the result.
    pub add: bool,
}

impl Matrices {
    /// The transposed product: each element is the same sum.
    pub fn transposed(self) -> Matrices {
        let [rows, columns, products] = self.extents;
        let [result, first, second] = self.pointers;
        let [out, left, right] = self.strides.map(|[a, b]| [b, a]);
        Matrices {
            extents: [columns, rows, products],
            pointers: [result, second, first],
            strides: [out, right, left],
            ..self
        }
    }
}

/// An element type of matrices.
pub(super) trait MatrixElement: Copy + Add<Output = Self> + 'static {
    const ZERO: Self;

    /// The tiles supported by this processor, the widest first.
    fn tiles() -> impl Iterator<Item = &'static MicroKernels<Self>>;

    /// Multiplies matrices if they are small; returns whether it did.
    ///
    /// # Safety
    /// As [`Multiply`].
    unsafe fn small(matrices: &Matrices) -> bool;
}
