//! The dialect of NumExpr: where its expressions mean less than others. Its dtypes are those of its promotion policy, which
//! selects the dialect.

use crate::error::Problem;
use crate::node::ExprNumber;
use ndjit::{DType, Expr, Policy};

/// Whether expressions are traced as NumExpr's.
fn is_numexpr() -> bool {
    ndjit::policy().name() == Policy::NumExpr.name()
}

/// An integer of more than 32 bits, which is an `i64` in NumExpr: as in C, the digits of a number are its type, and no value
/// that is computed decides.
pub(crate) fn wide(number: i128) -> Option<i64> {
    (is_numexpr() && i32::try_from(number).is_err()).then(|| i64::try_from(number).ok()).flatten()
}

/// Rejects a power of integers with a negative exponent in the text, as NumExpr and NumPy do.
pub(crate) fn power(is_integral: bool, exponent: Option<ExprNumber>, column: u32) -> Result<(), Problem> {
    match exponent {
        Some(ExprNumber::Int(n)) if n < 0 && is_integral && is_numexpr() => {
            Err(Problem::new(column, "integers have no negative integer powers")
                .help(format!("a float exponent gives floats: `** {n}.0`")))
        }
        _ => Ok(()),
    }
}

/// `x ** 2` as a product, as NumExpr and NumPy compute it: a power whose exponent is an argument of the kernel takes twenty times as
/// long. `None` where the two differ in dtype or in special values; a bool stays one in NumExpr.
pub(crate) fn squared(x: Expr) -> Option<Expr> {
    let dtype = x.dtype();
    match () {
        () if dtype.is_int() || dtype.is_float() => Some(x.square()),
        () if dtype == DType::Bool && is_numexpr() => Some(x * x),
        () => None,
    }
}

/// Rejects a negative axis, as NumExpr does.
pub(crate) fn axes(axes: &[isize], column: u32) -> Result<(), Problem> {
    match axes.iter().find(|axis| **axis < 0) {
        Some(axis) if is_numexpr() => {
            Err(Problem::new(column, format!("axis {axis}: NumExpr numbers axes from 0"))
                .help("count from the first axis"))
        }
        _ => Ok(()),
    }
}

/// The value of an expression: in NumExpr of the dtype of its kind, if nothing is computed too.
pub(crate) fn result(value: Expr) -> Expr {
    if is_numexpr() { value.positive() } else { value }
}
