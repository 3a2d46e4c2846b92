//! First-order linear recurrences, as scans.

use crate::append::SlopeTerm;
use ndjit_ir::Shape;
use ndjit_ir::graph::{ControlKind, ScanArity};

/// Computes `h[i] = a[i] h[i - 1] + t[i]` along an axis, with `h[-1] = 0`; in reverse, `h[i] = a[i] h[i + 1] + t[i]`.
/// In the products zero wins over infinities and NaN.
pub(super) fn recurrence<'a>(a: SlopeTerm<'a>, t: SlopeTerm<'a>, axis: usize, reverse: bool) -> SlopeTerm<'a> {
    let (to, dtype) = (t.to, t.dtype());
    let [a, t] = [a, t].map(|term| term.moveaxis(axis, 0));
    let shape = t.shape();
    let (length, rest) = (shape.extents()[0], Shape::from(&shape.extents()[1..]));
    let each = (dtype.into(), dtype, rest.clone());
    let body = to.graph(&[each.clone(), each.clone(), each], |inner, params| {
        let [h, factor, added] = [0, 1, 2].map(|n| inner.term(params[n]));
        let next = (h.scaled(factor) + added).value;
        vec![next, next]
    });
    let kind = ControlKind::Scan(ScanArity { length, carried: 1, sliced: 2, reverse });
    let zeros = t.number(0.0).broadcast(&rest);
    let results = to.control(kind, vec![(body, vec![0, 1, 2])], &[zeros.value, a.value, t.value]);
    to.term(results[1]).moveaxis(0, axis)
}
