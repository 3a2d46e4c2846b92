//! Convolution and correlation of two sequences: [`convolve`] and [`correlate`].
//!
//! Types and accuracy are those of [`contractions`](crate::contractions): a result is a sum of as many products as the shorter sequence has elements.

use crate::api::config::with_parts;
use crate::api::contractions::product;
use crate::api::manipulation::{joined, refused};
use crate::api::parts::{FunctionParts, meeting, only_axis};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, BinaryOperand, Operand};
use ndjit_eval::request::NamedFunction;
use ndjit_ir::view::{self, Slice};
use ndjit_ir::{DType, Error, ErrorCode, Op, Result, Shape, SourceLoc};

/// The overlap that each result needs, for sequences of `m` and `n` elements.
///
/// ```
/// use ndjit::{Array, Overlap, convolve};
///
/// let (a, v) = (Array::from([1, 2, 3]), Array::from([1, 1]));
/// let [full, same, valid] = [Overlap::Full, Overlap::Same, Overlap::Valid].map(|overlap| convolve(&a, &v, overlap).to_string());
/// assert_eq!([full, same, valid], ["[1 3 5 3]", "[1 3 5]", "[3 5]"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overlap {
    /// At least one element: `m + n - 1` results.
    Full,
    /// The middle `max(m, n)` results of all.
    Same,
    /// All elements of the shorter one: `max(m, n) - min(m, n) + 1` results.
    Valid,
}

/// The convolution of two sequences: element `k` of [all](Overlap::Full) is the sum of `a[i] * v[k - i]`.
///
/// ```
/// use ndjit::{Array, Overlap, convolve, jit};
///
/// let (a, v) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([0.0f32, 1.0, 0.5]));
/// assert_eq!(convolve(&a, &v, Overlap::Full).to_string(), "[0.  1.  2.5 4.  1.5]");
/// let smooth = jit(|x| convolve(x, Array::from([0.25f32, 0.5, 0.25]), Overlap::Same));
/// assert_eq!(smooth(&a).to_string(), "[1. 2. 2.]");
/// ```
///
/// - Shapes: both have one axis, and so has the result. The [`Overlap`] determines its length.
/// - Types and accuracy: [`contractions`](crate::contractions). Bools are combined by "and" and "or".
/// - Time: `m n` products. A padded copy of the longer sequence is not stored.
///
/// Source: NumPy's [`convolve`](https://numpy.org/doc/stable/reference/generated/numpy.convolve.html).
///
/// # Errors
/// Poisoned with `Shape` unless both have one axis and at least one element; with `Promotion` without a common dtype.
#[track_caller]
pub fn convolve<A: Operand + BinaryOperand<V>, V: Operand>(a: A, v: V, overlap: Overlap) -> A::Out {
    slid("convolve", a.operand(), v.operand(), overlap, SourceLoc::caller())
}

/// The correlation of two sequences: of [all](Overlap::Full) the element at the shift `k`, from `1 - n` to `m - 1`, is the
/// sum of `a[i + k] * conj(v[i])`.
///
/// ```
/// use ndjit::{Array, Overlap, correlate};
///
/// let (a, v) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([0.0f32, 1.0, 0.5]));
/// assert_eq!(correlate(&a, &v, Overlap::Valid).to_string(), "[3.5]");
/// assert_eq!(correlate(&a, &v, Overlap::Full).to_string(), "[0.5 2.  3.5 3.  0. ]");
/// ```
///
/// - Shapes: both have one axis, and so has the result. The [`Overlap`] determines its length. Shifts ascend, even if `v` is
///   longer.
/// - Types and accuracy: [`contractions`](crate::contractions).
///
/// Source: NumPy's [`correlate`](https://numpy.org/doc/stable/reference/generated/numpy.correlate.html).
///
/// # Errors
/// Poisoned with `Shape` unless both have one axis and at least one element; with `Promotion` without a common dtype.
#[doc(alias = "xcorr")]
#[track_caller]
pub fn correlate<A: Operand + BinaryOperand<V>, V: Operand>(a: A, v: V, overlap: Overlap) -> A::Out {
    slid("correlate", a.operand(), v.operand(), overlap, SourceLoc::caller())
}

fn slid<R: ArrayLike>(what: &'static str, a: AnyOperand, v: AnyOperand, overlap: Overlap, place: SourceLoc) -> R {
    let parts = FunctionParts::<R>::new(what, place);
    let function = NamedFunction::new(what, &["a", "v"]);
    match sums(&parts, &a, &v, overlap) {
        Ok(sums) => parts.value(&sums).part_of(function, &[a, v], place),
        Err(error) => refused(function, &[a, v], place, &error),
    }
}

fn sums<R: ArrayLike>(
    parts: &FunctionParts<R>,
    a: &AnyOperand,
    v: &AnyOperand,
    overlap: Overlap,
) -> Result<AnyOperand> {
    let [m, n] = [only_axis(parts.what, "a sequence", a)?, only_axis(parts.what, "a sequence", v)?];
    if m == 0 || n == 0 {
        return Err(Error::new(ErrorCode::Shape, "a sequence has no elements").help("both have one at least"));
    }
    if m.checked_add(n).and_then(|sum| sum.checked_add(n)).is_none_or(|sum| isize::try_from(sum).is_err()) {
        return Err(Error::new(ErrorCode::Size, "more results than memory can address").help("convolve parts"));
    }
    let (_, of_a, _) = a.describe(parts.what)?;
    let (_, of_v, _) = v.describe(parts.what)?;
    let dtype = match [of_a, of_v] {
        [DType::Bool, DType::Bool] => DType::Bool,
        _ => meeting(Op::Multiply, &[a.describe(parts.what)?.0, v.describe(parts.what)?.0])?,
    };
    let [a, v] = [a, v].map(|x| parts.cast(x, dtype));
    let turned = |x: &AnyOperand| parts.seen(x, |shape| view::flip(shape, &[0]));
    let v = match (parts.what, dtype.is_complex()) {
        ("convolve", _) => turned(&v),
        (_, true) => parts.op(Op::Conj, &[&v]),
        _ => v,
    };
    // Result `i` of all has the shift `i + 1 - n`.
    let (short, long) = (m.min(n), m.max(n));
    let (start, count) = match (overlap, m < n) {
        (Overlap::Full, _) => (0, m + n - 1),
        (Overlap::Valid, _) => (short - 1, long - short + 1),
        // NumPy's middle: its convolution swaps the longer sequence to the front.
        (Overlap::Same, true) if parts.what == "correlate" => (m / 2, n),
        (Overlap::Same, _) => (short - 1 - short / 2, long),
    };
    if m >= n {
        return windows(parts, dtype, (&a, m), (&v, n), start, count);
    }
    // The windows have the length of the shorter sequence: shifts are reversed.
    let sums = windows(parts, dtype, (&v, n), (&a, m), m + n - 1 - start - count, count)?;
    Ok(turned(&sums))
}

/// `count` windows from `start` on, where the shorter sequence slides along the longer one. The first has its last element
/// on the longer one's first.
fn windows<R: ArrayLike>(
    parts: &FunctionParts<R>,
    dtype: DType,
    (long, m): (&AnyOperand, usize),
    (short, n): (&AnyOperand, usize),
    start: usize,
    count: usize,
) -> Result<AnyOperand> {
    // Elements `start` to `start + count + n - 2` of the longer one, padded with `n - 1` zeros at both ends.
    let (first, last) = (start as isize - (n as isize - 1), (start + count + n - 2) as isize - (n as isize - 1));
    let [before, after] = [-first, last - (m as isize - 1)].map(|more| more.max(0) as usize);
    let own = Slice::Range { start: Some(first.max(0)), end: Some((last + 1).min(m as isize)), step: 1 };
    let long = parts.seen(long, |shape| view::slice(shape, &[own]));
    let zeros = |count: usize| (count > 0).then(|| parts.filled(&long, &parts.number(0), dtype, &Shape::from(count)));
    let pieces: Vec<AnyOperand> = zeros(before).into_iter().chain([long.clone()]).chain(zeros(after)).collect();
    let long: R =
        if pieces.len() == 1 { parts.value(&long) } else { with_parts(|| joined(parts.what, pieces, 0, parts.place)) };
    let seen = parts.seen(&long.operand(), |shape| view::sliding_window(shape, &[n as isize], &[0]));
    let sums: R = with_parts(|| product(seen, short.clone(), parts.place));
    Ok(sums.operand())
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Convolution and correlation as methods: see the free functions.
        impl $of {
            /// [`convolve`](fn@crate::convolve) as a method.
            ///
            /// ```
            /// use ndjit::{Array, Overlap};
            ///
            /// assert_eq!(Array::from([1, 2]).convolve(&Array::from([1, 10]), Overlap::Full).to_string(), "[ 1 12 20]");
            /// ```
            #[track_caller]
            pub fn convolve<V: Operand>($self: $receiver, v: V, overlap: Overlap) -> <$of as BinaryOperand<V>>::Out
            where
                $of: BinaryOperand<V>,
            {
                slid("convolve", $self.operand(), v.operand(), overlap, SourceLoc::caller())
            }

            /// [`correlate`](fn@crate::correlate) as a method.
            ///
            /// ```
            /// use ndjit::{Array, Overlap};
            ///
            /// assert_eq!(Array::from([1, 2]).correlate(&Array::from([1, 10]), Overlap::Full).to_string(), "[10 21  2]");
            /// ```
            #[track_caller]
            pub fn correlate<V: Operand>($self: $receiver, v: V, overlap: Overlap) -> <$of as BinaryOperand<V>>::Out
            where
                $of: BinaryOperand<V>,
            {
                slid("correlate", $self.operand(), v.operand(), overlap, SourceLoc::caller())
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
