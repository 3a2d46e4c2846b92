//! Random values as operations: indices, the words of a key at them, and the values of words.

use crate::api::config::{defaults, policy, with_parts};
use crate::api::indexing::{counting, each_found};
use crate::api::manipulation::{refused, seen};
use crate::api::sorting::{IntoSorting, sorted};
use crate::trace::operand::{AnyOperand, ArrayLike};
use crate::trace::scalar::{Number, Scalar};
use ndjit_eval::request::Movement;
use ndjit_ir::axes::AxisSet;
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::Sort;
use ndjit_ir::view::expand_dims;
use ndjit_ir::{DType, DTypeSet, Error, ErrorCode, Kind, LiteralValue, Op, Result, Shape, SourceLoc, ValueType, Weak};
use std::f64::consts::SQRT_2;
use std::marker::PhantomData;
use std::ops::Range;
use std::slice;

/// Draws values from a key, by operations of one function at one place.
pub(super) struct Sampler<R> {
    what: &'static str,
    place: SourceLoc,
    key: AnyOperand,
    /// The shape of the key, or keys.
    keys: Shape,
    results: PhantomData<R>,
}

/// Returns the result of `make` for a key; all errors are reported as those of the function `what`.
pub(super) fn draw<R: ArrayLike>(
    what: &'static str,
    key: AnyOperand,
    place: SourceLoc,
    make: impl FnOnce(&Sampler<R>) -> Result<R>,
) -> R {
    let (ty, keys) = match key.describe(what) {
        Ok((ty, _, shape)) => (ty, shape),
        Err(error) => return R::failed(error.at(place)),
    };
    if ty != DType::U64.into() {
        let error = Error::new(ErrorCode::DType, format!("the key is {ty}, not u64"))
            .help("make one of a number: `random::key(0)`");
        return refused(what, &[key], place, &error);
    }
    let drawing = Sampler { what, place, key, keys, results: PhantomData };
    match with_parts(|| make(&drawing)) {
        Ok(made) => made.part_of(what, slice::from_ref(&drawing.key), place),
        Err(error) => refused(what, slice::from_ref(&drawing.key), place, &error),
    }
}

/// A scalar of a dtype that contains it.
fn number(value: impl Into<LiteralValue>, dtype: DType) -> Result<AnyOperand> {
    Ok(AnyOperand::Scalar(Scalar(Literal::strong(value, dtype)?, None)))
}

/// Returns a real number rounded once to a float dtype.
fn rounded(number: Literal, dtype: DType) -> Option<f64> {
    match Literal::from_repr(dtype, &number.to_repr(dtype).ok()?).value() {
        LiteralValue::Float(rounded) => Some(rounded),
        _ => None,
    }
}

fn unsupported(dtype: DType, accepted: DTypeSet) -> Error {
    Error::new(ErrorCode::DType, format!("{dtype} is not supported")).fact(format_args!("accepted: {accepted}"))
}

/// The construction of floats from random bits.
#[derive(Clone, Copy)]
struct Mantissa {
    dtype: DType,
    /// The random bits of each float.
    bits: DType,
    /// An integer dtype of the same width with the cheapest casts.
    signed: DType,
    /// The number of bits of the mantissa.
    stored: i32,
}

impl Mantissa {
    fn of(dtype: DType) -> Result<Mantissa> {
        let (bits, signed, stored) = match dtype {
            DType::F64 => (DType::U64, DType::I64, 52),
            DType::F32 => (DType::U32, DType::I32, 23),
            DType::F16 => (DType::U16, DType::I16, 10),
            DType::Bf16 => (DType::U8, DType::I8, 7),
            _ => return Err(unsupported(dtype, DTypeSet::FLOAT).help("ask for a float dtype, or cast the numbers")),
        };
        Ok(Mantissa { dtype, bits, signed, stored })
    }

    /// Returns the number of unused bits.
    fn dropped(self) -> i64 {
        8 * self.bits.bytes() as i64 - i64::from(self.stored)
    }
}

impl<R: ArrayLike> Sampler<R> {
    fn op(&self, op: Op, operands: &[AnyOperand]) -> R {
        R::compute(op, operands, self.place)
    }

    fn cast(&self, x: R, dtype: DType) -> R {
        R::convert(&x.operand(), dtype, self.place)
    }

    /// Returns the word at one index.
    pub fn word(&self, position: u64) -> Result<R> {
        Ok(self.op(Op::Threefry2x32, &[self.key.clone(), number(position, DType::U64)?]))
    }

    /// Returns the words at all indices of a shape, in row-major order.
    pub fn words(&self, shape: &Shape) -> R {
        let rank = shape.rank();
        let of = |_: &[&Shape]| Ok(Operation::iota(AxisSet::all(rank)?, shape.clone()));
        // Only the device of the key matters here.
        let key = self.key.clone();
        let indices = R::movement(&Movement { function: self.what.into(), of: &of }, slice::from_ref(&key), self.place);
        let counters = self.cast(indices, DType::U64).operand();
        let key = if self.keys.rank() == 0 {
            key
        } else {
            let after: Vec<isize> = (0..rank).map(|n| (self.keys.rank() + n) as isize).collect();
            seen::<R>(self.what, key, self.place, |keys| expand_dims(keys, &after)).operand()
        };
        self.op(Op::Threefry2x32, &[key, counters])
    }

    /// Folds integers into the key.
    pub fn folded(&self, data: AnyOperand) -> Result<R> {
        let (ty, ..) = data.describe(self.what)?;
        if !matches!(ty.kind(), Kind::UInt | Kind::Int) {
            return Err(Error::new(ErrorCode::DType, format!("the number is {ty}, not an integer"))
                .help("cast it: `cast(number, DType::U64)`, which truncates"));
        }
        // Literals use two's complement as well.
        let data = match &data {
            AnyOperand::Scalar(Scalar(literal, _)) if ty.is_weak() => match literal.value() {
                LiteralValue::Int(n) => number(i128::from(n as u64), DType::U64)?,
                _ => data,
            },
            _ => R::convert(&data, DType::U64, self.place).operand(),
        };
        Ok(self.op(Op::Threefry2x32, &[self.key.clone(), data]))
    }

    /// Random bits of an unsigned integer dtype: whole words, or the low bits of the exclusive or of their halves.
    pub fn bits(&self, dtype: DType, shape: &Shape) -> Result<R> {
        if !DTypeSet::UNSIGNED.contains(dtype) {
            return Err(unsupported(dtype, DTypeSet::UNSIGNED).help("ask for an unsigned integer dtype"));
        }
        let words = self.words(shape);
        if dtype == DType::U64 {
            return Ok(words);
        }
        let words = words.operand();
        let high = self.op(Op::BitwiseRightShift, &[words.clone(), number(32, DType::U64)?]);
        let halves = [self.cast(high, DType::U32).operand(), R::convert(&words, DType::U32, self.place).operand()];
        let folded = self.op(Op::BitwiseXor, &halves);
        Ok(if dtype == DType::U32 { folded } else { self.cast(folded, dtype) })
    }

    /// Floats in `[0, 1)`.
    fn fractions(&self, mantissa: Mantissa, shape: &Shape) -> Result<R> {
        let bits = self.bits(mantissa.bits, shape)?.operand();
        let kept = self.op(Op::BitwiseRightShift, &[bits, number(mantissa.dropped(), mantissa.bits)?]);
        // At least one bit was dropped, so the sign bit is 0.
        let whole = self.cast(self.cast(kept, mantissa.signed), mantissa.dtype).operand();
        // Both are exact, like the difference of 1 and a float with this mantissa.
        let unit = number(2f64.powi(-mantissa.stored), mantissa.dtype)?;
        Ok(self.op(Op::Multiply, &[whole, unit]))
    }

    /// `x * width + low` of fractions `x`, with a rounding in each operation: at least `low`, and possibly `high` by rounding.
    fn stretched(&self, fractions: R, dtype: DType, [low, high]: [f64; 2]) -> Result<R> {
        // The subtraction is rounded once: `f64` has more than twice the bits of the other dtypes.
        let scaled = self.op(Op::Multiply, &[fractions.operand(), number(high - low, dtype)?]).operand();
        Ok(self.op(Op::Add, &[scaled, number(low, dtype)?]))
    }

    /// Floats in the user's range.
    pub fn uniform(&self, dtype: DType, shape: &Shape, range: Range<impl Number>) -> Result<R> {
        let mantissa = Mantissa::of(dtype)?;
        let given = [range.start.literal(), range.end.literal()];
        let [low, high] = match given.map(|end| rounded(end, dtype)) {
            [Some(low), Some(high)] if low.is_finite() && high.is_finite() && low < high => [low, high],
            ends => {
                let [low, high] = given.map(|end| end.value());
                let mut error = Error::new(ErrorCode::Argument, format!("{low}..{high} is not a range of {dtype}"));
                if let [Some(low), Some(high)] = ends {
                    error = error.fact(format_args!("rounded to {dtype} it is {low:?}..{high:?}"));
                }
                return Err(error.help("give two finite numbers, the smaller one first, as in `0.0..1.0`"));
            }
        };
        let fractions = self.fractions(mantissa, shape)?;
        if [low, high] == [0.0, 1.0] {
            return Ok(fractions);
        }
        let stretched = if rounded(Literal::weak(high - low), dtype).is_some_and(f64::is_finite) {
            self.stretched(fractions, dtype, [low, high])?
        } else {
            // The width overflows, so both ends are large, and halving and doubling are exact.
            let half = self.stretched(fractions, dtype, [low / 2.0, high / 2.0])?.operand();
            self.op(Op::Multiply, &[half, number(2.0, dtype)?])
        };
        let stretched = stretched.operand();
        let inside = self.op(Op::Less, &[stretched.clone(), number(high, dtype)?]).operand();
        Ok(self.op(Op::Where, &[inside, stretched, number(low, dtype)?]))
    }

    /// Values of the inverse error function: normally distributed values divided by `factor`.
    fn deviations(&self, dtype: DType, shape: &Shape) -> Result<R> {
        let mantissa = Mantissa::of(dtype)?;
        // Start at the next float above -1, where the function is infinite. The largest fraction becomes less than 1.
        let low = -1.0 + 2f64.powi(-1 - mantissa.stored);
        let uniform = self.stretched(self.fractions(mantissa, shape)?, dtype, [low, 1.0])?;
        Ok(self.op(Op::Erfinv, &[uniform.operand()]))
    }

    /// Normally distributed values.
    pub fn normal(&self, dtype: DType, shape: &Shape) -> Result<R> {
        if !dtype.is_complex() {
            let accepted = DTypeSet::FLOAT.union(DTypeSet::COMPLEX);
            if !accepted.contains(dtype) {
                return Err(unsupported(dtype, accepted).help("ask for a float or complex dtype, or round the numbers"));
            }
            let deviations = self.deviations(dtype, shape)?.operand();
            return Ok(self.op(Op::Multiply, &[deviations, number(SQRT_2, dtype)?]));
        }
        // The variance of both parts together is 1, so the factor sqrt(2) cancels.
        let part = |n| self.with(self.word(n)?).deviations(dtype.real(), shape).map(|part| part.operand());
        Ok(self.op(Op::Complex, &[part(0)?, part(1)?]))
    }

    /// The same with another key.
    fn with(&self, key: R) -> Sampler<R> {
        Sampler { key: key.operand(), keys: self.keys.clone(), results: PhantomData, ..*self }
    }

    /// Exponentially distributed values.
    pub fn exponential(&self, dtype: DType, shape: &Shape) -> Result<R> {
        let fractions = self.fractions(Mantissa::of(dtype)?, shape)?.operand();
        let minus = self.op(Op::Negative, &[fractions]).operand();
        let log = self.op(Op::Log1p, &[minus]).operand();
        Ok(self.op(Op::Negative, &[log]))
    }

    /// True where fractions are below `p`.
    pub fn below(&self, p: AnyOperand, shape: &Shape) -> Result<R> {
        let (ty, _, own) = p.describe(self.what)?;
        let dtype = match ty {
            ValueType::Strong(dtype) if dtype.is_float() => dtype,
            ValueType::Weak(Weak::Float | Weak::Int) => policy().commit(Weak::Float.into()),
            _ => {
                return Err(Error::new(ErrorCode::DType, format!("the probability is {ty}, not a float"))
                    .help("cast it: `cast(p, DType::F32)`"));
            }
        };
        let all: Vec<usize> = self.keys.extents().iter().chain(shape.extents()).copied().collect();
        let all = Shape::from(all);
        if all.broadcast(&own).as_ref() != Some(&all) {
            let error = format!("probabilities of shape {own} do not broadcast to {all}");
            return Err(
                Error::new(ErrorCode::Shape, error).help("axes are matched from the last; extents must be equal or 1")
            );
        }
        let fractions = self.fractions(Mantissa::of(dtype)?, shape)?.operand();
        let p = R::convert(&p, dtype, self.place).operand();
        Ok(self.op(Op::Less, &[fractions, p]))
    }

    /// Integers in the user's range: remainders of two words where this reduces their bias.
    pub fn integers(&self, dtype: DType, shape: &Shape, range: Range<impl Number>) -> Result<R> {
        let Some((least, most)) = dtype.int_range().filter(|_| dtype.is_int()) else {
            return Err(unsupported(dtype, DTypeSet::INT).help("ask for an integer dtype"));
        };
        let ends = [range.start.literal().value(), range.end.literal().value()];
        let (low, high) = match ends {
            [LiteralValue::Int(low), LiteralValue::Int(high)] if least <= low && low < high && high <= most + 1 => {
                (low, high)
            }
            [low, high] => {
                let error = Error::new(ErrorCode::Argument, format!("{low}..{high} is not a range of {dtype}"));
                return Err(error
                    .fact(format_args!("{dtype} goes from {least} to {most}"))
                    .help("give two integers, the smaller one first, or ask for a wider dtype"));
            }
        };
        let (unsigned, bits) = if dtype.bytes() == 8 { (DType::U64, 64) } else { (DType::U32, 32) };
        // At most 2^64.
        let (words, span) = (1u128 << bits, (high - low) as u128);
        let drawn = |n| self.with(self.word(n)?).bits(unsigned, shape);
        let span_of = |bits: R| -> Result<R> {
            // The range covers all integers of the dtype.
            Ok(if span == words {
                bits
            } else {
                self.op(Op::Remainder, &[bits.operand(), number(span as i128, unsigned)?])
            })
        };
        let mut offset = span_of(drawn(1)?)?;
        // 2^bits modulo the span, if its square root is below the span.
        let root = 1u128 << (bits / 2);
        let multiplier = if span <= root { words % span } else { 0 };
        if multiplier != 0 {
            let high = [span_of(drawn(0)?)?.operand(), number(multiplier as i128, unsigned)?];
            let sum = [self.op(Op::Multiply, &high).operand(), offset.operand()];
            offset = span_of(self.op(Op::Add, &sum))?;
        }
        let offset = if unsigned == dtype { offset } else { self.cast(offset, dtype) };
        if low == 0 {
            return Ok(offset);
        }
        Ok(self.op(Op::Add, &[offset.operand(), number(low, dtype)?]))
    }

    /// The integers below `n` in random order: sorted by random bits, in as many rounds as JAX.
    pub fn order(&self, n: usize) -> Result<R> {
        let dtype = counting(defaults().int, n)?;
        // With three times as many bits as the indices, equal sort keys in every round are unlikely.
        let rounds = (3.0 * (n.max(2) as f64).ln() / f64::from(u32::MAX).ln()).ceil() as usize;
        let axis = self.keys.rank();
        let sorting = |drawing: &Sampler<R>| -> Result<R> {
            let bits = drawing.with(drawing.word(1)?).bits(DType::U32, &Shape::from(n))?.operand();
            Ok(sorted(Sort::ArgSort, Some(DType::I64), bits, (axis as isize).sorting(), self.place))
        };
        let mut order = sorting(self)?;
        let mut drawing = self.with(self.word(0)?);
        for _ in 1..rounds {
            order = each_found(self.what, order.operand(), sorting(&drawing)?.operand(), axis, self.place);
            drawing = drawing.with(drawing.word(0)?);
        }
        Ok(self.cast(order, dtype))
    }
}
