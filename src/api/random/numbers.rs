//! Random values of each distribution.

use super::draw::draw;
use crate::api::config::defaults;
use crate::trace::operand::{AnyOperand, ArrayLike};
use crate::trace::scalar::Number;
use ndjit_ir::{DType, Shape, SourceLoc};
use std::ops::Range;

pub(super) fn bits_of<R: ArrayLike>(dtype: DType, key: AnyOperand, shape: Shape, place: SourceLoc) -> R {
    draw("bits", key, place, |draw| draw.bits(dtype, &shape))
}

pub(super) fn uniform_of<R: ArrayLike>(
    asked: Option<DType>,
    key: AnyOperand,
    shape: Shape,
    range: Range<impl Number>,
    place: SourceLoc,
) -> R {
    draw("uniform", key, place, |draw| draw.uniform(asked.unwrap_or(defaults().float), &shape, range))
}

pub(super) fn normal_of<R: ArrayLike>(asked: Option<DType>, key: AnyOperand, shape: Shape, place: SourceLoc) -> R {
    draw("normal", key, place, |draw| draw.normal(asked.unwrap_or(defaults().float), &shape))
}

pub(super) fn exponential_of<R: ArrayLike>(asked: Option<DType>, key: AnyOperand, shape: Shape, place: SourceLoc) -> R {
    draw("exponential", key, place, |draw| draw.exponential(asked.unwrap_or(defaults().float), &shape))
}

pub(super) fn randint_of<R: ArrayLike>(
    asked: Option<DType>,
    key: AnyOperand,
    shape: Shape,
    range: Range<impl Number>,
    place: SourceLoc,
) -> R {
    draw("randint", key, place, |draw| draw.integers(asked.unwrap_or(defaults().int), &shape, range))
}
