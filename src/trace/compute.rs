//! Operations on expressions in the current trace: [`ArrayLike`] for [`Expr`], and for [operands of any type](AnyOperand).

use crate::api::config;
use crate::api::manipulation::refused;
use crate::array::node::Array;
use crate::trace::expr::{Expr, ExprValue};
use crate::trace::operand::{AnyOperand, ArrayLike};
use crate::trace::recorder::{self, TRACES, Trace};
use crate::trace::{cast, print, written};
use ndjit_eval::request::{Movement, NamedFunction, OperationRequest, Request};
use ndjit_ir::{DType, Error, Op, Result, Shape, SourceLoc, ValueType};

impl ArrayLike for Expr {
    fn compute(op: Op, operands: &[AnyOperand], place: SourceLoc) -> Expr {
        recorder::apply(OperationRequest::Op(op), operands, place)
    }

    fn reduce(request: &Request, operands: &[AnyOperand], place: SourceLoc) -> Expr {
        recorder::apply(OperationRequest::Reduction(request), operands, place)
    }

    fn movement(movement: &Movement<'_>, operands: &[AnyOperand], place: SourceLoc) -> Expr {
        recorder::apply(OperationRequest::Movement(movement), operands, place)
    }

    fn convert(x: &AnyOperand, dtype: DType, place: SourceLoc) -> Expr {
        cast::convert(x, dtype, place)
    }

    fn part_of<'a>(self, function: impl Into<NamedFunction<'a>>, operands: &[AnyOperand], place: SourceLoc) -> Expr {
        part_of(self, function.into(), operands, place);
        self
    }

    fn constant(array: Array, place: SourceLoc) -> Expr {
        recorder::constant(&AnyOperand::Array(array), place)
    }

    fn debug_print(label: &str, x: AnyOperand, place: SourceLoc) -> Expr {
        print::print(label, &x, place)
    }

    fn failed(error: Error) -> Expr {
        recorder::failed(error)
    }
}

/// Traced if an operand is, otherwise an array.
impl ArrayLike for AnyOperand {
    fn compute(op: Op, operands: &[AnyOperand], place: SourceLoc) -> AnyOperand {
        match any_traced(operands) {
            true => AnyOperand::Expr(Expr::compute(op, operands, place)),
            false => AnyOperand::Array(Array::compute(op, operands, place)),
        }
    }

    fn reduce(request: &Request, operands: &[AnyOperand], place: SourceLoc) -> AnyOperand {
        match any_traced(operands) {
            true => AnyOperand::Expr(Expr::reduce(request, operands, place)),
            false => AnyOperand::Array(Array::reduce(request, operands, place)),
        }
    }

    fn movement(movement: &Movement<'_>, operands: &[AnyOperand], place: SourceLoc) -> AnyOperand {
        match any_traced(operands) {
            true => AnyOperand::Expr(Expr::movement(movement, operands, place)),
            false => AnyOperand::Array(Array::movement(movement, operands, place)),
        }
    }

    fn convert(x: &AnyOperand, dtype: DType, place: SourceLoc) -> AnyOperand {
        match x {
            AnyOperand::Expr(_) => AnyOperand::Expr(Expr::convert(x, dtype, place)),
            AnyOperand::Array(_) | AnyOperand::Scalar(_) => AnyOperand::Array(Array::convert(x, dtype, place)),
        }
    }

    fn part_of<'a>(
        self,
        function: impl Into<NamedFunction<'a>>,
        operands: &[AnyOperand],
        place: SourceLoc,
    ) -> AnyOperand {
        match self {
            AnyOperand::Expr(x) => AnyOperand::Expr(x.part_of(function, operands, place)),
            AnyOperand::Array(x) => AnyOperand::Array(x.part_of(function, operands, place)),
            AnyOperand::Scalar(_) => self,
        }
    }

    fn constant(array: Array, _place: SourceLoc) -> AnyOperand {
        AnyOperand::Array(array)
    }

    fn debug_print(label: &str, x: AnyOperand, place: SourceLoc) -> AnyOperand {
        match x {
            AnyOperand::Expr(_) => AnyOperand::Expr(Expr::debug_print(label, x, place)),
            AnyOperand::Array(_) | AnyOperand::Scalar(_) => AnyOperand::Array(Array::debug_print(label, x, place)),
        }
    }

    fn failed(error: Error) -> AnyOperand {
        AnyOperand::Array(Array::failed(error))
    }
}

fn any_traced(operands: &[AnyOperand]) -> bool {
    operands.iter().any(|operand| matches!(operand, AnyOperand::Expr(_)))
}

impl AnyOperand {
    /// Returns type, dtype of the elements, and shape, or the error of a poisoned operand. `what` is the requesting
    /// operation.
    pub(crate) fn describe(&self, what: &str) -> Result<(ValueType, DType, Shape)> {
        match self {
            AnyOperand::Expr(x) => recorder::describe(*x, what),
            AnyOperand::Array(array) => match array.error() {
                Some(error) => Err(error.clone()),
                None => Ok((array.value_type(), array.dtype(), array.shape().clone())),
            },
            AnyOperand::Scalar(number) => {
                let ty = number.value_type();
                Ok((ty, config::policy().commit(ty), Shape::scalar()))
            }
        }
    }
}

/// Attributes the error of an expression, if it was created at this place, to this function with these operands.
fn part_of(x: Expr, function: NamedFunction<'_>, operands: &[AnyOperand], place: SourceLoc) {
    let ExprValue::Poisoned(number) = x.node else { return };
    let at = |trace: &Trace, number: u32| trace.errors.get(number as usize).filter(|_| trace.id == x.trace).cloned();
    let last = |number| TRACES.with_borrow(|traces| traces.last().and_then(|trace| at(trace, number)));
    let Some(error) = last(number).filter(|error| error.place() == Some(written::place(place))) else { return };
    let whole: Expr = refused(function, operands, place, &error.unnamed().without_operands());
    let ExprValue::Poisoned(worded) = whole.node else { return };
    TRACES.with_borrow_mut(|traces| {
        let Some(trace) = traces.last_mut().filter(|_| worded != number) else { return };
        // The error replaces that of the part, so errors keep their order.
        let worded = trace.errors.get(worded as usize).cloned();
        if let (Some(worded), Some(error)) = (worded, trace.errors.get_mut(number as usize)) {
            *error = worded;
        }
    });
}
