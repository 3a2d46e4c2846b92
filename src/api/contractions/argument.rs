//! The `axes` argument of contractions.

use crate::api::integers::Integers;
use smallvec::{SmallVec, smallvec};

/// The axes that [`tensordot`](crate::tensordot) sums over: an integer `n` for the last `n` of the first array with the
/// first `n` of the second, or two lists of axes, of the first and of the second, in pairs.
///
/// ```
/// use ndjit::{arange, tensordot};
///
/// let x = arange(6).reshape([2, 3]);
/// assert_eq!(tensordot(&x, &x, ([0], [0])).shape().extents(), [3, 3]);
/// assert_eq!(tensordot(&x, &x, ([0, 1], [0, 1])).item::<i32>()?, 55);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name axes to sum over",
    label = "not a number or a pair of lists",
    note = "write `2` for the last 2 axes of the first array with the first 2 of the second, or `([0, 1], [1, 0])` for these pairs of axes"
)]
pub trait IntoPairs {
    /// Returns the axes of both arrays, for these ranks.
    fn pairs(self, ranks: [usize; 2]) -> [SmallVec<[isize; 4]>; 2];
}

impl IntoPairs for usize {
    fn pairs(self, [x, _]: [usize; 2]) -> [SmallVec<[isize; 4]>; 2] {
        let [x, count] = [x, self].map(|n| isize::try_from(n).unwrap_or(isize::MAX));
        // For too many axes the first is out of range.
        if count > x {
            return [smallvec![x], smallvec![0]];
        }
        [(x - count..x).collect(), (0..count).collect()]
    }
}

impl<A: Integers, B: Integers> IntoPairs for (A, B) {
    fn pairs(self, _ranks: [usize; 2]) -> [SmallVec<[isize; 4]>; 2] {
        [self.0.integers(), self.1.integers()]
    }
}
