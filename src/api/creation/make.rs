//! Elements of new arrays: values are checked against the dtype before memory is allocated.

use super::argument::Eye;
use crate::api::config;
use crate::array::node::Array;
use ndjit_eval::array::ArrayRef;
use ndjit_eval::literal::literal_bytes;
use ndjit_eval::settings::check_value;
use ndjit_eval::symbolic;
use ndjit_ir::graph::Graph;
use ndjit_ir::literal::Literal;
use ndjit_ir::{Code, DType, DTypeSet, Error, ErrorCode, Help, LiteralValue, Result, Shape, SourceLoc, ValueType};
use ndjit_math::progression::Progression;
use ndjit_runtime::{Buffer, check_cancelled};
use std::sync::Arc;

/// The type of a new array.
#[derive(Clone, Copy)]
pub(super) struct ArrayType {
    pub ty: ValueType,
    /// The dtype of the elements.
    pub dtype: DType,
    /// True if the user requested it.
    pub asked: bool,
}

impl ArrayType {
    pub fn asked(dtype: DType) -> ArrayType {
        ArrayType { ty: dtype.into(), dtype, asked: true }
    }

    fn array(self, shape: Shape, elements: Buffer, symbolic: Option<Graph<ValueType>>) -> Array {
        Array(ArrayRef::created(self.ty, self.dtype, shape, Arc::new(elements), symbolic))
    }

    /// Returns the bytes of a value, or an error if the dtype does not contain it.
    fn bytes_of(self, what: &str, number: Literal) -> Result<impl AsRef<[u8]> + use<>> {
        literal_bytes(&number, self.dtype).map_err(|error| self.misfit(what, number.value(), &error))
    }

    fn misfit(self, what: &str, value: LiteralValue, cause: &Error) -> Error {
        let dtype = self.dtype;
        let mut error = Error::new(cause.code(), cause.headline()).of(what);
        for fact in cause.facts() {
            error = error.fact(fact);
        }
        error = error.fact(format_args!("{dtype} was {}", if self.asked { "asked for" } else { "inferred" }));
        let number = Literal::weak(value);
        let wider = [DType::I16, DType::I32, DType::I64, DType::U64, DType::F32, DType::C64];
        match wider.into_iter().find(|&wider| number.to_repr(wider).is_ok()) {
            _ if dtype == DType::Bool => {
                error.help(Help::from("give ").code(Code::Bools).text(", or ask for a dtype of numbers"))
            }
            Some(wider) => {
                let ask = Code::WithDType(what.to_owned().into(), wider);
                error.help(Help::from("ask for a dtype that holds it: ").code(ask))
            }
            None => error,
        }
    }
}

/// An array filled with one value.
pub(super) fn filled(what: &str, ty: ArrayType, shape: Shape, fill: Literal, place: SourceLoc) -> Array {
    let made = ty.bytes_of(what, fill).and_then(|element| {
        let mut elements = zeroed(what, ty.dtype, &shape)?;
        if element.as_ref().iter().any(|&byte| byte != 0) {
            repeat(elements.as_bytes_mut()?, element.as_ref());
        }
        let symbolic = symbolic::filled((ty.ty, ty.dtype), fill, &shape);
        Ok(ty.array(shape, elements, symbolic))
    });
    made.unwrap_or_else(|e| Array::poisoned(e.at(place)))
}

/// Ones on a diagonal.
pub(super) fn diagonal(ty: ArrayType, eye: Eye, place: SourceLoc) -> Array {
    let shape = Shape::from([eye.rows, eye.columns]);
    let made = ty.bytes_of("eye", Literal::weak(true)).and_then(|one| {
        let mut elements = zeroed("eye", ty.dtype, &shape)?;
        let one = one.as_ref();
        let rows = elements.as_bytes_mut()?.chunks_exact_mut(eye.columns.saturating_mul(one.len()).max(1));
        for (row, cells) in rows.enumerate() {
            let column = row as i128 + eye.diagonal as i128;
            let at =
                usize::try_from(column).ok().filter(|&column| column < eye.columns).map(|column| column * one.len());
            if let Some(cell) = at.and_then(|at| cells.get_mut(at..at + one.len())) {
                cell.copy_from_slice(one);
            }
        }
        Ok(ty.array(shape, elements, symbolic::diagonal(ty.dtype, [eye.rows, eye.columns], eye.diagonal)))
    });
    made.unwrap_or_else(|e| Array::poisoned(e.at(place)))
}

/// Checks that the dtype contains values of the kinds of a sequence's arguments. Integers may be out of its range, like the
/// end and the step of a sequence in range.
pub(super) fn kinds(what: &str, ty: ArrayType, numbers: impl IntoIterator<Item = Literal>) -> Result<()> {
    let mut numbers = numbers.into_iter().filter(|number| !matches!(number.value(), LiteralValue::Int(_)));
    numbers.try_for_each(|number| ty.bytes_of(what, number).map(drop))
}

/// The values of a sequence. Both ends fit the dtype, so all do.
pub(super) fn progression(what: &str, ty: ArrayType, terms: &Progression) -> Result<Array> {
    let number = |i| Literal::weak(terms.at(i));
    if let Some(last) = terms.len().checked_sub(1) {
        ty.bytes_of(what, number(0))?;
        ty.bytes_of(what, number(last))?;
    }
    let shape = Shape::from(terms.len());
    let mut elements = zeroed(what, ty.dtype, &shape)?;
    let size = ty.dtype.bytes();
    for (n, part) in elements.as_bytes_mut()?.chunks_mut(UNWATCHED * size).enumerate() {
        check_cancelled()?;
        let first = n * UNWATCHED;
        if !terms.write(ty.dtype, first, part) {
            for (i, element) in part.chunks_exact_mut(size).enumerate() {
                element.copy_from_slice(&literal_bytes(&number(first + i), ty.dtype)?);
            }
        }
    }
    Ok(ty.array(shape, elements, symbolic::progression(ty.dtype, terms)))
}

/// Returns the type, if it is float or complex.
pub(super) fn inexact(what: &str, ty: ArrayType) -> Result<ArrayType> {
    let accepted = DTypeSet::FLOAT.union(DTypeSet::COMPLEX);
    if accepted.contains(ty.dtype) {
        return Ok(ty);
    }
    Err(Error::new(ErrorCode::DType, format!("{} is not supported", ty.dtype))
        .of(what)
        .fact(format_args!("accepted: {accepted}"))
        .help(format!(
            "the numbers are fractions; say how they are rounded, as in `{what}(…).floor().cast(DType::I32)`"
        )))
}

fn zeroed(what: &str, dtype: DType, shape: &Shape) -> Result<Buffer> {
    check_value(config::settings(), what, dtype)?;
    Buffer::zeroed(shape.bytes(dtype.bytes()).map_err(|e| e.of(what))?).map_err(|refused| {
        let mut error = Error::new(refused.code(), format!("the system refused memory for {dtype}{shape}")).of(what);
        for fact in refused.facts() {
            error = error.fact(fact);
        }
        error.help("use smaller extents, or let go of arrays that are no longer needed")
    })
}

/// The number of elements that are written between two looks at flags of cancellation.
const UNWATCHED: usize = 1 << 16;

/// Fills memory with copies of an element, doubling the filled part each time.
fn repeat(memory: &mut [u8], element: &[u8]) {
    let Some(first) = memory.get_mut(..element.len()) else { return };
    first.copy_from_slice(element);
    let mut done = element.len();
    while done < memory.len() {
        let next = done.min(memory.len() - done);
        memory.copy_within(..next, done);
        done += next;
    }
}
