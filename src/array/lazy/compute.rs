//! Operations on arrays, which are noted: [`Computed`] for [`Array`].

use crate::api::manipulation::refused;
use crate::array::lazy::noting;
use crate::array::node::Array;
use crate::diagnostics::debug::print;
use crate::trace::asked::{Movement, OperationRequest, Request};
use crate::trace::escape::outside;
use crate::trace::operand::{AnyOperand, Computed};
use ndjit_ir::{DType, Error, Op, Place};

impl Computed for Array {
    fn compute(op: Op, operands: &[AnyOperand], place: Place) -> Array {
        noting::apply(OperationRequest::Op(op), operands, place)
    }

    fn reduce(request: &Request, operands: &[AnyOperand], place: Place) -> Array {
        noting::apply(OperationRequest::Reduction(request), operands, place)
    }

    fn movement(movement: &Movement<'_>, operands: &[AnyOperand], place: Place) -> Array {
        noting::apply(OperationRequest::Movement(movement), operands, place)
    }

    fn convert(x: &AnyOperand, dtype: DType, place: Place) -> Array {
        noting::convert(x, dtype, place)
    }

    fn part_of(self, what: &'static str, operands: &[AnyOperand], place: Place) -> Array {
        match self.error() {
            Some(error) if error.place() == Some(place) => {
                refused(what, operands, place, &error.clone().unnamed().without_operands())
            }
            Some(_) | None => self,
        }
    }

    fn constant(array: Array, _place: Place) -> Array {
        array
    }

    fn debug_print(label: &str, x: AnyOperand, place: Place) -> Array {
        match x {
            AnyOperand::Array(array) => print::array(label, array, place),
            AnyOperand::Scalar(number) => print::array(label, Array::scalar(number), place),
            AnyOperand::Expr(x) => Array::poisoned(outside("debug_print", x).at(place)),
        }
    }

    fn failed(error: Error) -> Array {
        Array::poisoned(error)
    }
}
