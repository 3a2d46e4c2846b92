//! Other bodies of the integer divisions, with the same results as those of [`body`](crate::body): shorter ones for the divisors and loops
//! of processors. GPUs have none of them: their threads compute invariants once each, and small ones have no `f64`.

use crate::integer::{float_quotient, reciprocal};
use ndjit_ir::PrimType;
use ndjit_ir::body::{Body, BodyBuilder};
use ndjit_ir::dtype::DType;
use ndjit_ir::op::Op;

/// A method of integer division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DivisionMethod {
    /// By the reciprocal of an invariant divisor, for vectors: in words as narrow as possible.
    Reciprocal,
    /// The same one lane at a time, in words of 64 bits: a shorter chain of instructions.
    WideReciprocal,
    /// By division of floats, for vectors.
    Floats,
}

impl DivisionMethod {
    /// All methods.
    pub const ALL: [DivisionMethod; 3] =
        [DivisionMethod::Reciprocal, DivisionMethod::WideReciprocal, DivisionMethod::Floats];
}

/// The body of `op` computing in `dtype` by a method; `None` if it is not a division of integers, or the method does not have it.
pub fn division_body(op: Op, dtype: DType, method: DivisionMethod) -> Option<Body> {
    if !matches!(op, Op::FloorDivide | Op::Remainder | Op::Fmod) || !dtype.is_int() {
        return None;
    }
    let ty = dtype.repr()[0];
    let mut b = BodyBuilder::new(&[ty, ty]);
    let (operands, signed) = ((b.inputs()[0], b.inputs()[1]), dtype.is_signed());
    let result = match (method, ty) {
        (DivisionMethod::Floats, _) => float_quotient::by_floats(&mut b, op, signed, operands),
        // Vectors have products of 16 bits, not of 8.
        (DivisionMethod::Reciprocal, PrimType::I8) => {
            reciprocal::by_reciprocal(&mut b, op, signed, operands, PrimType::I16)
        }
        (DivisionMethod::Reciprocal, _) => reciprocal::by_reciprocal(&mut b, op, signed, operands, ty),
        (DivisionMethod::WideReciprocal, _) => reciprocal::by_reciprocal(&mut b, op, signed, operands, PrimType::I64),
    };
    result.map(|result| b.finish(&[result]))
}
