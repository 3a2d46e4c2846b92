//! Checks of indices: integers of any dtype become `i64`, and negative ones count from the end. For an evaluated array an
//! index out of range is an error.

use crate::api::config;
use crate::api::config::with_parts;
use crate::trace::operand::{AnyOperand, ArrayLike};
use crate::trace::ranges;
use crate::trace::scalar::Scalar;
use ndjit_eval::plan::dump::unasked;
use ndjit_ir::{CastAdvice, Code, DType, Error, ErrorCode, Help, LiteralValue, Op, Result, SourceLoc};

/// Returns the dtype of indices and counts under the current policy, if it can count `n` elements.
pub(crate) fn index_dtype(n: usize) -> Result<DType> {
    counting(config::policy().index_dtype(), n)
}

/// Returns the dtype, if it can count `n` elements.
pub(crate) fn counting(dtype: DType, n: usize) -> Result<DType> {
    match dtype.int_range() {
        Some((_, most)) if n as i128 <= most => Ok(dtype),
        _ => Err(Error::new(ErrorCode::DType, format!("{dtype} cannot count {n} elements"))
            .help("have integers be wider, as in `with_defaults(Defaults::BITS_64, || …)`")),
    }
}

/// Returns indices along an axis of `extent`, `checked` on request where their values are known. Its errors have neither
/// name nor place.
pub(crate) fn checked_indices<R: ArrayLike>(
    what: &'static str,
    index: &AnyOperand,
    axis: usize,
    extent: usize,
    checked: bool,
    place: SourceLoc,
) -> Result<AnyOperand> {
    let (ty, dtype, _) = index.describe(what)?;
    if !dtype.is_int() {
        return Err(match dtype {
            DType::Bool => Error::new(ErrorCode::DType, "a mask names no indices: how many depends on its elements")
                .help(Help::default().code(Code::Select("mask, x, y")).text(" has an element for each of the mask's").rust(", and `size(n).compress(mask, x, axis)` takes `n`; outside of `jit` `x.at(&mask).get()` takes all").text("; beside other indices stand those that `nonzero(mask)` gives; to put elements a mask stands alone").rust(", as in `x.at(mask).set(0)`")),
            _ => Error::new(ErrorCode::DType, format!("indices are integers, not {ty}"))
                .help(Help::from("cast them, as in ").casts([CastAdvice::NamedOperand("index", DType::I64)])),
        });
    }
    if checked && !matches!(index, AnyOperand::Expr(_)) {
        check(index, dtype, axis, extent, place)?;
    }
    Ok(counted::<R>(index, dtype, extent, place))
}

/// Returns an integer as `i64`, clamped so that it does not become negative.
pub(super) fn whole_number<R: ArrayLike>(number: &AnyOperand, dtype: DType, place: SourceLoc) -> AnyOperand {
    let most = AnyOperand::Scalar(Scalar(i64::MAX.into(), None));
    let number = match dtype {
        DType::U64 => with_parts(|| R::compute(Op::Minimum, &[number.clone(), most], place)).operand(),
        _ => number.clone(),
    };
    R::convert(&number, DType::I64, place).operand()
}

/// Returns indices as `i64`, counted from the start.
fn counted<R: ArrayLike>(index: &AnyOperand, dtype: DType, extent: usize, place: SourceLoc) -> AnyOperand {
    let number = |n: i64| AnyOperand::Scalar(Scalar(n.into(), None));
    let compute = |op: Op, operands: &[AnyOperand]| with_parts(|| R::compute(op, operands, place)).operand();
    let index = whole_number::<R>(index, dtype, place);
    // A nonnegative index needs no offset from the end.
    if !dtype.is_signed() || ranges::known(&index).is_some_and(|(least, _)| least >= 0) {
        return index;
    }
    let negative = compute(Op::Less, &[index.clone(), number(0)]);
    let from_end = compute(Op::Add, &[index.clone(), number(extent as i64)]);
    compute(Op::Where, &[negative, from_end, index])
}

/// Checks that all of these indices are in range of an axis.
pub(super) fn check(index: &AnyOperand, dtype: DType, axis: usize, extent: usize, place: SourceLoc) -> Result<()> {
    let all = match index {
        AnyOperand::Scalar(Scalar(number, _)) => match number.value() {
            // Wrapped, as by a cast.
            LiteralValue::Int(n) => vec![n as i64],
            LiteralValue::Bool(_) | LiteralValue::Float(_) | LiteralValue::Complex(..) => Vec::new(),
        },
        AnyOperand::Array(array) => {
            array.eval()?;
            unasked(|| crate::array::lazy::convert(index, DType::I64, place).to_vec::<i64>())?
        }
        AnyOperand::Expr(_) => Vec::new(),
    };
    // An unsigned index beyond `i64` has a wrong sign, but is out of range anyway.
    let unsigned = dtype == DType::U64;
    let extent = extent as i64;
    let outside = |position: i64| position >= extent || position < if unsigned { 0 } else { -extent };
    match all.into_iter().enumerate().find(|&(_, position)| outside(position)) {
        None => Ok(()),
        Some((nth, position)) => {
            let written = if unsigned { (position as u64).to_string() } else { position.to_string() };
            let axis = format_args!("axis {axis} has extent {extent}");
            Err(Error::new(ErrorCode::Index, format!("index {written} is out of range"))
                .fact(axis)
                .fact(format_args!("it is element {nth} of the indices, in row-major order"))
                .help("indices go from 0 to the extent less 1, or count from the end from -1 on; `clip` keeps them in range"))
        }
    }
}
