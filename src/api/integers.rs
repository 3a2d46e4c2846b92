//! One or several integers as an argument: axes, extents, shifts.

use smallvec::SmallVec;

/// The integers argument: an integer, or an array, a slice or a `Vec` of integers: axes, extents, counts. Any of Rust's
/// integer types up to 64 bits.
///
/// ```
/// use ndjit::arange;
///
/// let extents: Vec<usize> = vec![2, 3];
/// assert_eq!(arange(6).reshape(&extents).shape().extents(), [2, 3]);
/// assert_eq!(arange(6).reshape([3, -1]).shape().extents(), [3, 2]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number or a list of numbers",
    label = "not `0`, `[0, -1]`, a slice or a `Vec`",
    note = "write a number, `[2, 3]`, `&numbers[..]` or `vec![2, 3]`, of integers up to 64 bits"
)]
pub trait Integers {
    /// Returns the integers, clamped to the range of `isize`.
    fn integers(self) -> SmallVec<[isize; 4]>;
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Integers for $t {
            fn integers(self) -> SmallVec<[isize; 4]> {
                [self].integers()
            }
        }
        impl<const N: usize> Integers for [$t; N] {
            fn integers(self) -> SmallVec<[isize; 4]> {
                self[..].integers()
            }
        }
        impl<const N: usize> Integers for &[$t; N] {
            fn integers(self) -> SmallVec<[isize; 4]> {
                self[..].integers()
            }
        }
        impl Integers for Vec<$t> {
            fn integers(self) -> SmallVec<[isize; 4]> {
                self[..].integers()
            }
        }
        impl Integers for &Vec<$t> {
            fn integers(self) -> SmallVec<[isize; 4]> {
                self[..].integers()
            }
        }
        impl Integers for &[$t] {
            fn integers(self) -> SmallVec<[isize; 4]> {
                // No array has an axis or an extent that is out of range.
                self.iter().map(|&number| isize::try_from(number).unwrap_or(isize::MAX)).collect()
            }
        }
    )*};
}

numbers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }
