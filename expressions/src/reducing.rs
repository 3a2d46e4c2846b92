//! Calls of reductions, scans and sorts.

use crate::arguments::BoundArguments;
use crate::dialect;
use crate::error::Problem;
use crate::value::{NodeValue, PlacedArgument};
use ndjit::dynamic::{self, Asked};
use ndjit::operand::Operand;
use ndjit::reductions::IntoAxes;
use ndjit::{Axes, Expr, Reduction, Scan, Sort, keepdims};

/// The result of a reduction.
pub(crate) fn reduce(reduction: Reduction, given: &BoundArguments<'_>) -> Result<Expr, Problem> {
    let (x, asked) = (given.expr("x")?, asked(given)?);
    Ok(dynamic::reduce(reduction, x.operand(), axes(given)?, asked))
}

/// The result of a scan.
pub(crate) fn scan(scan: Scan, given: &BoundArguments<'_>) -> Result<Expr, Problem> {
    let (x, asked) = (given.expr("x")?, asked(given)?);
    Ok(dynamic::scan(scan, x.operand(), axis(x, given)?, asked))
}

/// The result of a sort.
pub(crate) fn sort(sort: Sort, given: &BoundArguments<'_>) -> Result<Expr, Problem> {
    let (x, asked) = (given.expr("x")?, asked(given)?);
    Ok(dynamic::sort(sort, x.operand(), axis(x, given)?, asked))
}

/// The options besides axes.
fn asked(given: &BoundArguments<'_>) -> Result<Asked, Problem> {
    let correction = match given.get("correction") {
        None => None,
        Some(PlacedArgument { value: NodeValue::Number(number), column }) => Some(number.scalar(*column)?),
        Some(other) => {
            let what = format!("`correction`: takes a number, given {}", other.value.kind());
            return Err(given.problem_of("correction", what).help("as in `var(x, correction=1)`"));
        }
    };
    Ok(Asked { dtype: given.dtype()?, correction, include_initial: given.truth("include_initial")?.unwrap_or(false) })
}

/// The given axis, or the only one.
fn axis(x: Expr, given: &BoundArguments<'_>) -> Result<isize, Problem> {
    match given.int("axis")? {
        Some(axis) => Ok(axis),
        None if x.shape().rank() == 1 => Ok(0),
        None => Err(given.problem("`axis` is missing").help("it goes along one axis: `axis=0`")),
    }
}

/// The given axes, or all, with `keepdims`.
pub(crate) fn axes(given: &BoundArguments<'_>) -> Result<Axes, Problem> {
    let axes = match given.ints("axis")? {
        Some(axes) => {
            dialect::axes(&axes, given.get("axis").map_or(given.column, |axis| axis.column))?;
            axes.axes()
        }
        None => (..).axes(),
    };
    Ok(if given.truth("keepdims")?.unwrap_or(false) { keepdims(axes) } else { axes })
}
