//! Operations of traced graphs.

use super::Operation;
use crate::axes::AxisSet;
use crate::reduction::{AxisFunction, Reduce, TypeRequest};

impl Operation<'static> {
    /// A function along axes; for scans and sorts, the first of these.
    pub fn along(function: impl Into<AxisFunction>, axes: AxisSet, request: TypeRequest) -> Operation<'static> {
        let axis = axes.iter().next().unwrap_or(0) as u32;
        match function.into() {
            AxisFunction::Reduction(reduction) => {
                Operation::Reduce(Reduce { request, ..Reduce::new(reduction, axes, false) })
            }
            AxisFunction::Scan(scan) => Operation::Scan(scan, axis, request),
            AxisFunction::Sort(sort) => Operation::Sort(sort, axis, request, None),
        }
    }
}
