//! Counts of integers: [`bincount`].

use crate::api::indexing::index_dtype;
use crate::api::manipulation::{joined, refused};
use crate::api::parts::{FunctionParts, held, reducing};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand, UnaryOperand};
use crate::trace::scalar::Scalar;
use ndjit_eval::plan::dump::unasked;
use ndjit_eval::request::NamedFunction;
use ndjit_ir::graph::Scatter;
use ndjit_ir::literal::Literal;
use ndjit_ir::{DType, Error, ErrorCode, Op, Reduction, Result, Shape, SourceLoc};
use std::ops::{RangeFrom, RangeFull};

/// The number of occurrences of each of the integers 0, 1, 2 … in `x`, up to the requested length: see [`IntoBinCount`].
///
/// ```
/// use ndjit::{Array, bincount, jit};
///
/// let x = Array::from([0, 3, 3, 1, 3]);
/// assert_eq!(bincount(&x, 5).to_string(), "[1 1 0 3 0]");
/// assert_eq!(bincount(&x, ..).to_string(), "[1 1 0 3]");
/// assert_eq!(jit(|x| bincount(x, 2))(&x).to_string(), "[1 1]");
/// ```
///
/// - Result: one axis, with an element for each integer, of the dtype of indices as in [`argsort`](fn@crate::argsort). Sums
///   of weights: [`weights`](crate::weights).
/// - `x` contains integers or bools, and has any shape: all its elements are counted.
/// - An integer without a bin, such as a negative one, is an error with code `Index` outside of traced functions. In a
///   traced function it is not counted.
///
/// Source: NumPy's [`bincount`](https://numpy.org/doc/stable/reference/generated/numpy.bincount.html), whose `minlength` is
/// the start of a range: `6..`; in traced functions
/// [JAX's](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.bincount.html) `length`.
///
/// # Errors
/// Poisoned with `DType` for non-integer elements, with `Index` for one without a bin, with `Argument` for a negative number
/// of bins, with `Traced` in a traced function without a fixed number of bins.
#[track_caller]
pub fn bincount<X: UnaryOperand>(x: X, length: impl IntoBinCount) -> X::Out {
    counts(x.operand(), length.bin_count(), None, SourceLoc::caller())
}

/// The number of bins of [`bincount`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinCount {
    /// Exactly this number.
    Exactly(i128),
    /// One more than the largest element, but at least this number.
    AtLeast(i128),
}

/// The `length` argument of [`bincount`]: `6` for 0 to 5; `..` up to the largest element; `6..` for the same, and at least
/// 6. A traced function needs a fixed number.
///
/// ```
/// use ndjit::{Array, IntoBinCount, bincount};
///
/// fn most_frequent(x: &Array, length: impl IntoBinCount) -> Array {
///     bincount(x, length).argmax(..)
/// }
/// let x = Array::from([2, 1, 2]);
/// assert_eq!((most_frequent(&x, ..).to_string(), most_frequent(&x, 3).to_string()), ("2".into(), "2".into()));
/// assert_eq!(bincount(&x, 5..).to_string(), "[0 1 2 0 0]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of bins",
    label = "not a number, `..` or a range without an end",
    note = "write `bincount(x, 10)` for the numbers 0 to 9, `bincount(x, ..)` for all that there are, `bincount(x, 10..)` for 10 at least",
    note = "of a traced function shapes are fixed when it is traced: the number is a plain integer, never an `Expr`"
)]
pub trait IntoBinCount {
    #[doc(hidden)]
    fn bin_count(self) -> BinCount;
}

impl IntoBinCount for RangeFull {
    fn bin_count(self) -> BinCount {
        BinCount::AtLeast(0)
    }
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl IntoBinCount for $t {
            fn bin_count(self) -> BinCount {
                BinCount::Exactly(self as i128)
            }
        }

        impl IntoBinCount for RangeFrom<$t> {
            fn bin_count(self) -> BinCount {
                BinCount::AtLeast(self.start as i128)
            }
        }
    )*};
}

numbers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

pub(crate) fn counts<R: ArrayLike>(
    x: AnyOperand,
    length: BinCount,
    weights: Option<AnyOperand>,
    place: SourceLoc,
) -> R {
    let parts = FunctionParts::<R>::new("bincount", place);
    let function = NamedFunction::new(parts.what, &["x", "weights"]);
    let operands: Vec<AnyOperand> = [&x].into_iter().chain(&weights).cloned().collect();
    match of_numbers(&parts, &x, length, weights.as_ref()) {
        Ok(counts) => parts.value(&counts).part_of(function, &operands, place),
        Err(error) => refused(function, &operands, place, &error),
    }
}

fn of_numbers<R: ArrayLike>(
    parts: &FunctionParts<R>,
    x: &AnyOperand,
    length: BinCount,
    weights: Option<&AnyOperand>,
) -> Result<AnyOperand> {
    let (ty, dtype, _) = x.describe(parts.what)?;
    if !dtype.is_int() && dtype != DType::Bool {
        return Err(Error::new(ErrorCode::DType, format!("integers are counted, not {ty}")).help(
            "`histogram(x, bins)` counts numbers of any dtype; cast integral ones, as in `cast(x, DType::I64)`",
        ));
    }
    // Beyond `i64` an index would become negative.
    let index = if dtype == DType::U64 { parts.op(Op::Minimum, &[x, &parts.number(i64::MAX)]) } else { x.clone() };
    let index = parts.cast(&index, DType::I64);
    let length = length_of(parts.what, x, &index, length, parts.place)?;
    counted(parts, &index, length, weights)
}

/// Returns the number of bins, and checks the elements of an evaluated array.
fn length_of(
    what: &'static str,
    x: &AnyOperand,
    index: &AnyOperand,
    asked: BinCount,
    place: SourceLoc,
) -> Result<usize> {
    let (BinCount::Exactly(number) | BinCount::AtLeast(number)) = asked;
    let length = usize::try_from(number).map_err(|_| {
        Error::new(ErrorCode::Argument, format!("{number} bins"))
            .help("the number of bins is 0 or more; `..` has as many as there are")
    })?;
    let Some(array) = held(index).filter(|array| array.shape().size() != Ok(0)) else {
        return match asked {
            BinCount::AtLeast(_) if matches!(x, AnyOperand::Expr(_)) => Err(Error::new(
                ErrorCode::Traced,
                "the shape of its result depends on values, which a traced function does not know",
            )
            .help("say how many numbers there are, as in `bincount(x, 10)` for 0 to 9; larger ones are not counted")),
            _ => Ok(length),
        };
    };
    let parts = FunctionParts::<Array>::new(what, place);
    let ends = [Reduction::Min, Reduction::Max]
        .map(|end| parts.reshaped(&parts.reduced(end, None, &array.operand(), ..), &[1]));
    let ends: Array = joined(what, ends.to_vec(), 0, place);
    let ends = unasked(|| ends.to_vec::<i64>())?;
    let [least, largest] = ends[..] else { return Ok(length) };
    let needed = usize::try_from(largest).map_or(usize::MAX, |largest| largest.saturating_add(1));
    match asked {
        _ if least < 0 => Err(Error::new(ErrorCode::Index, format!("{least} has no bin"))
            .help("0 and more are counted; `x - x.min(..)` begins at 0")),
        BinCount::Exactly(_) if needed > length => {
            Err(Error::new(ErrorCode::Index, format!("{largest} has no bin: there are {length}"))
                .help("`..` in place of the number has as many bins as there are; `clip` keeps elements in range"))
        }
        BinCount::Exactly(_) => Ok(length),
        BinCount::AtLeast(_) => Ok(length.max(needed)),
    }
}

/// Counts the `i64` indices equal to each integer below `length`, or sums their weights. Others are dropped.
pub(crate) fn counted<R: ArrayLike>(
    parts: &FunctionParts<R>,
    index: &AnyOperand,
    length: usize,
    weights: Option<&AnyOperand>,
) -> Result<AnyOperand> {
    let (.., shape) = index.describe(parts.what)?;
    let Some(weights) = weights else {
        let dtype = index_dtype(shape.size()?)?;
        let number =
            |n: i64| -> Result<AnyOperand> { Ok(AnyOperand::Scalar(Scalar(Literal::strong(n, dtype)?, None))) };
        let none = parts.filled(index, &number(0)?, dtype, &Shape::from(length));
        return parts.scattered(Scatter::Add, &none, length, index, &number(1)?);
    };
    let (ty, _, own) = weights.describe(parts.what)?;
    if own.broadcast(&shape).as_ref() != Some(&shape) {
        return Err(Error::new(ErrorCode::Shape, format!("weights of shape {own} for elements of shape {shape}"))
            .help("give a weight for each element, or one for all"));
    }
    let [compute, result] = reducing(Reduction::Sum, None, ty)?;
    let none = parts.filled(index, &parts.number(0), compute, &Shape::from(length));
    let weights = parts.cast(weights, compute);
    let sums = parts.scattered(Scatter::Add, &none, length, index, &weights)?;
    Ok(parts.cast(&sums, result))
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Counting as a method: see the free function.
        impl $of {
            /// [`bincount`](fn@crate::bincount) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from([0, 2, 2]).bincount(3).to_string(), "[1 0 2]");
            /// ```
            #[track_caller]
            pub fn bincount($self: $receiver, length: impl IntoBinCount) -> $of {
                bincount($self, length)
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
