//! Operations on arrays, recorded when written: [`ArrayLike`] for [`Array`].

use crate::api::manipulation::refused;
use crate::array::node::Array;
use crate::diagnostics::debug::print;
use crate::trace::escape;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, apart};
use crate::trace::written;
use ndjit_eval::array::node::LazyOperand;
use ndjit_eval::lazy::noting::{self, LazyOperands};
use ndjit_eval::request::{Movement, NamedFunction, OperationRequest, Request};
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, Op, SourceLoc};

impl ArrayLike for Array {
    fn compute(op: Op, operands: &[AnyOperand], place: SourceLoc) -> Array {
        apply(OperationRequest::Op(op), operands, place)
    }

    fn reduce(request: &Request, operands: &[AnyOperand], place: SourceLoc) -> Array {
        apply(OperationRequest::Reduction(request), operands, place)
    }

    fn movement(movement: &Movement<'_>, operands: &[AnyOperand], place: SourceLoc) -> Array {
        apply(OperationRequest::Movement(movement), operands, place)
    }

    fn convert(x: &AnyOperand, dtype: DType, place: SourceLoc) -> Array {
        convert(x, dtype, place)
    }

    fn part_of<'a>(self, function: impl Into<NamedFunction<'a>>, operands: &[AnyOperand], place: SourceLoc) -> Array {
        match self.error() {
            Some(error) if error.place() == Some(written::place(place)) => {
                refused(function, operands, place, &error.clone().unnamed().without_operands())
            }
            Some(_) | None => self,
        }
    }

    fn constant(array: Array, _place: SourceLoc) -> Array {
        array
    }

    fn debug_print(label: &str, x: AnyOperand, place: SourceLoc) -> Array {
        match x {
            AnyOperand::Array(array) => print::array(label, array, place),
            AnyOperand::Scalar(number) => print::array(label, Array::scalar(number), place),
            AnyOperand::Expr(x) => Array::poisoned(escape::outside("debug_print", x).at(place)),
        }
    }

    fn failed(error: Error) -> Array {
        Array::poisoned(written::error(error))
    }
}

/// Collects the operands into a list, or returns the first poisoned one.
fn gather(what: &'static str, operands: &[AnyOperand], place: SourceLoc, own: &mut LazyOperands) -> Result<(), Array> {
    let mut device: Option<(Device, usize)> = None;
    for (n, operand) in operands.iter().enumerate() {
        own.push(match operand {
            AnyOperand::Array(array) => {
                if let Some(error) = array.error() {
                    return Err(Array::poisoned(error.clone()));
                }
                match device {
                    Some((first, at)) if first != array.device() => {
                        return Err(Array::poisoned(apart(what, operands, [at, n], place)));
                    }
                    _ => device = Some((array.device(), n)),
                }
                LazyOperand::Array(array.0.clone())
            }
            AnyOperand::Scalar(number) => LazyOperand::Literal(number.0, number.1),
            AnyOperand::Expr(x) => return Err(outside(what, *x, place)),
        });
    }
    Ok(())
}

fn outside(what: &str, x: Expr, place: SourceLoc) -> Array {
    Array::poisoned(escape::outside(what, x).at(place))
}

/// Records an operation on arrays and numbers.
fn apply(asked: OperationRequest<'_>, operands: &[AnyOperand], place: SourceLoc) -> Array {
    let place = written::place(place);
    // An operand is as large as a cache line, so operands are not moved.
    let mut own = LazyOperands::new();
    match gather(asked.what(), operands, place, &mut own) {
        Ok(()) => Array(noting::apply(asked, &mut own, place)),
        Err(poisoned) => poisoned,
    }
}

/// Records a cast of an operand of any type.
pub(crate) fn convert(x: &AnyOperand, dtype: DType, place: SourceLoc) -> Array {
    let place = written::place(place);
    match x {
        AnyOperand::Array(array) => Array(noting::convert(LazyOperand::Array(array.0.clone()), dtype, place)),
        AnyOperand::Scalar(number) => Array(noting::convert(LazyOperand::Literal(number.0, number.1), dtype, place)),
        AnyOperand::Expr(x) => outside("cast", *x, place),
    }
}

/// Records a cast to the dtype that the policy chooses for the requested one.
pub(crate) fn cast(array: &Array, dtype: DType, place: SourceLoc) -> Array {
    Array(noting::cast(&array.0, dtype, written::place(place)))
}
