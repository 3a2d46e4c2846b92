//! Calls of reductions and scans.

use super::arguments::Arguments;
use super::error::Problem;
use super::value::{Argument, Value};
use ndjit::dynamic::{self, Asked};
use ndjit::operand::Operand;
use ndjit::reductions::IntoAxes;
use ndjit::{Axes, Expr, Reduction, keepdims};

/// The result of a reduction or a scan.
pub(super) fn call(reduction: Reduction, given: &Arguments<'_>) -> Result<Expr, Problem> {
    let x = given.expr("x")?;
    let correction = match given.get("correction") {
        None => None,
        Some(Argument { value: Value::Number(number), column }) => Some(number.scalar(*column)?),
        Some(other) => {
            let what = format!("`correction`: takes a number, given {}", other.value.kind());
            return Err(given.problem_of("correction", what).help("as in `var(x, correction=1)`"));
        }
    };
    let asked =
        Asked { dtype: given.dtype()?, correction, include_initial: given.truth("include_initial")?.unwrap_or(false) };
    if reduction.scans() {
        let axis = match given.int("axis")? {
            Some(axis) => axis,
            None if x.shape().rank() == 1 => 0,
            None => return Err(given.problem("`axis` is missing").help("it goes along one axis: `axis=0`")),
        };
        return Ok(dynamic::scan(reduction, x.operand(), axis, asked));
    }
    Ok(dynamic::reduce(reduction, x.operand(), axes(given)?, asked))
}

/// The axes that are given, or all, and whether they stay.
pub(super) fn axes(given: &Arguments<'_>) -> Result<Axes, Problem> {
    let axes = match given.ints("axis")? {
        Some(axes) => axes.axes(),
        None => (..).axes(),
    };
    Ok(if given.truth("keepdims")?.unwrap_or(false) { keepdims(axes) } else { axes })
}
