//! Which axes two arrays share, as arguments say it.

use crate::api::integers::Integers;
use smallvec::{SmallVec, smallvec};

/// Which axes [`tensordot`](crate::tensordot) sums over: made from a number, the last `n` of the first array with the first `n` of the second, or from two
/// lists of axes, of the first and of the second, in pairs.
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
    message = "`{Self}` says not which axes are summed over",
    label = "not a number or a pair of lists",
    note = "write `2` for the last 2 axes of the first array with the first 2 of the second, or `([0, 1], [1, 0])` for these pairs of axes"
)]
pub trait IntoPairs {
    /// The axes of both, of arrays with so many.
    fn pairs(self, ranks: [usize; 2]) -> [SmallVec<[isize; 4]>; 2];
}

impl IntoPairs for usize {
    fn pairs(self, [x, _]: [usize; 2]) -> [SmallVec<[isize; 4]>; 2] {
        let [x, count] = [x, self].map(|n| isize::try_from(n).unwrap_or(isize::MAX));
        // More axes than there are: the first of them is none.
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
