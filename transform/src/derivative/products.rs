//! Products of the other elements along an axis, without quotients: exact with zeros.

use super::maps::shifted;
use crate::append::SlopeTerm;
use ndjit_ir::Shape;
use ndjit_ir::reduction::{AxisSet, Reduction, Scan};

/// The number of elements from which an axis is cut into rows: a scan of one row is sequential, one along rows is
/// vectorized. (The products of 100,000 `f32` took 530 us as one row, 200 us in 328 rows.)
const CUT: usize = 1024;
/// Rows have a multiple of this number of elements.
const VECTOR: usize = 16;

/// Computes, for each element along the last axis, the product of the others.
pub(super) fn others(x: SlopeTerm<'_>) -> SlopeTerm<'_> {
    let extents = x.shape().extents().to_vec();
    let Some((&count, kept)) = extents.split_last() else { return x.number(1.0) };
    let axis = kept.len();
    let with = |last: &[usize]| Shape::from(&[kept, last].concat()[..]);
    let one = x.number(1.0).broadcast(&with(&[1]));
    if count < CUT {
        return beside(x, axis, one);
    }
    let columns = (count.isqrt() / VECTOR * VECTOR).max(VECTOR);
    let rows = count / columns;
    let grid = x.slice(axis, 0, rows * columns).reshape(&with(&[rows, columns]));
    let column = product(grid, axis);
    let is_whole = rows * columns == count;
    let rest = if is_whole { one } else { x.slice(axis, rows * columns, count) };
    // First the product of the other columns and the rest, then that of the column.
    let outside = beside(column, axis, product(rest, axis).reshape(&with(&[1])));
    let of_grid = beside(grid, axis, outside.reshape(&with(&[1, columns]))).reshape(&with(&[rows * columns]));
    if is_whole {
        return of_grid;
    }
    x.to.concat(axis, &[of_grid, beside(rest, axis, product(column, axis).reshape(&with(&[1])))])
}

fn product(x: SlopeTerm<'_>, axis: usize) -> SlopeTerm<'_> {
    x.reduce(Reduction::Prod, AxisSet::one(axis), false)
}

/// Multiplies a first factor by the elements before and by those after each element. Shifts precede products: a join
/// after a scan is a kernel for each part.
fn beside<'a>(x: SlopeTerm<'a>, axis: usize, first: SlopeTerm<'a>) -> SlopeTerm<'a> {
    let extent = x.shape().extents()[axis];
    if extent == 0 {
        return x;
    }
    let before = x.to.concat(axis, &[first, x.slice(axis, 0, extent - 1)]);
    let after = shifted(x.flip(axis), axis, false, 1.0);
    let [before, after] = [before, after].map(|term| term.scan(Scan::CumulativeProd, axis));
    before.scaled(after.flip(axis))
}
