//! Repetition of an array, or of each of its elements.

use super::joins::{joined, part};
use super::views::{refused, seen};
use crate::api::integers::Integers;
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand, UnaryOperand};
use ndjit_eval::request::Movement;
use ndjit_ir::axes::position;
use ndjit_ir::infer::Operation;
use ndjit_ir::view::{self, View};
use ndjit_ir::{Error, ErrorCode, Result, Shape, SourceLoc};

/// Tiles the array: `repetitions[n]` times along axis `n`. Fewer repetitions than axes apply to the last axes; for more, the
/// array gets leading axes.
///
/// ```
/// use ndjit::{Array, tile};
/// assert_eq!(tile(Array::from([1, 2]), [2, 2]).to_string(), "[[1 2 1 2]\n [1 2 1 2]]");
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.tile.html).
///
/// # Errors
/// Poisoned with `Shape` for a negative number of repetitions, with `Size` if the result is larger than memory can address.
#[doc(alias = "repmat")]
#[track_caller]
pub fn tile<X: UnaryOperand>(x: X, repetitions: impl Integers) -> X::Out {
    let (repetitions, place) = (repetitions.integers(), SourceLoc::caller());
    let x = x.operand();
    let described = x.describe("tile").map_err(|error| error.at(place));
    let (_, dtype, shape) = match described {
        Ok(described) => described,
        Err(error) => return X::Out::failed(error),
    };
    let tiled = counts(&repetitions).and_then(|times| {
        let rank = shape.rank().max(times.len());
        let times_along = |axis: usize| (axis + times.len()).checked_sub(rank).map_or(1, |n| times[n]);
        let extent = |axis: usize| (axis + shape.rank()).checked_sub(rank).map_or(1, |n| shape.extents()[n]);
        let pairs: Vec<(usize, usize)> = (0..rank).map(|axis| (times_along(axis), extent(axis))).collect();
        let product = |&(times, extent): &(usize, usize)| times.checked_mul(extent);
        let extents: Option<Vec<usize>> = pairs.iter().map(product).collect();
        let fits = extents.is_some_and(|extents| Shape::from(extents).bytes(dtype.bytes()).is_ok());
        let too_large = Error::new(ErrorCode::Size, "the result has more elements than memory can address")
            .fact(format_args!("the shape: {shape}, repeated {repetitions:?} times"))
            .help("repeat it less often; operators need no repetition, they broadcast");
        if fits { Ok(pairs) } else { Err(too_large) }
    });
    let pairs = match tiled {
        Ok(pairs) => pairs,
        Err(error) => return refused("tile", &[x], place, &error),
    };
    // Each axis becomes an axis of repetitions and one of elements.
    let spread: X::Out = seen("tile", x.clone(), place, |shape| {
        let extents: Vec<usize> = pairs.iter().flat_map(|&(times, extent)| [times, extent]).collect();
        let once = Shape::from(pairs.iter().flat_map(|&(_, extent)| [1, extent]).collect::<Vec<usize>>());
        // Only axes of extent 1 are added: this is a view.
        let apart = view::reshape(shape, &once).unwrap_or(View::identity(shape.rank()));
        let (wide, to) = view::broadcast_to(&once, &Shape::from(extents))?;
        Ok((wide.of(&apart).canonical(&to), to))
    });
    together::<X::Out>("tile", spread.operand(), place, |_| true).part_of("tile", &[x], place)
}

/// Repeats each element along an axis: an integer for all indices of the axis, or a list with one count per index, as in
/// NumPy's `np.repeat(x, [2, 0, 1], axis)`.
///
/// ```
/// use ndjit::{Array, repeat};
/// assert_eq!(repeat(Array::from([1, 2]), 3, 0).to_vec::<i32>()?, [1, 1, 1, 2, 2, 2]);
/// assert_eq!(repeat(Array::from([1, 2, 3]), [2, 0, 1], 0).to_vec::<i32>()?, [1, 1, 3]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Result: the operand's dtype and shape, with the sum of the counts along the axis.
/// - Each run of adjacent elements with the same count is one kernel: many short runs are slow.
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.repeat.html).
///
/// # Errors
/// Poisoned with `Shape` for an axis out of range, for a negative count, and for a list whose length is neither 1 nor the extent.
#[track_caller]
pub fn repeat<X: UnaryOperand>(x: X, times: impl Integers, axis: isize) -> X::Out {
    let (times, place) = (times.integers(), SourceLoc::caller());
    let x = x.operand();
    let found = x.describe("repeat").and_then(|(_, _, shape)| {
        let at = position(axis, shape.rank())?;
        let (times, extent) = (counts(&times)?, shape.extents()[at]);
        if times.len() != 1 && times.len() != extent {
            let error = Error::new(ErrorCode::Shape, format!("{} counts along an axis of {extent}", times.len()));
            let error = error.about_axis().fact(format_args!("axis {at} of shape {shape}"));
            return Err(error.help("give a count for each index of the axis, or one for all"));
        }
        Ok((at, times))
    });
    let (at, times) = match found {
        Ok(found) => found,
        Err(error) => return refused("repeat", &[x], place, &error),
    };
    runs::<X::Out>(&x, &times, at, place).part_of("repeat", &[x], place)
}

/// Joins the runs of indices with equal counts.
fn runs<R: ArrayLike>(x: &AnyOperand, times: &[usize], at: usize, place: SourceLoc) -> R {
    if let &[times] = times {
        return repeated(x.clone(), times, at, place);
    }
    let mut pieces: Vec<AnyOperand> = Vec::new();
    let mut start = 0;
    for run in times.chunk_by(|left, right| left == right) {
        let end = start + run.len();
        if run[0] > 0 {
            let piece: R = seen("repeat", x.clone(), place, |shape| part(shape, at, start, end, 1));
            let piece: R = repeated(piece.operand(), run[0], at, place);
            pieces.push(piece.operand());
        }
        start = end;
    }
    if pieces.is_empty() {
        return repeated(x.clone(), 0, at, place);
    }
    joined("repeat", pieces, at as isize, place)
}

/// Repeats each element equally often.
fn repeated<R: ArrayLike>(x: AnyOperand, times: usize, at: usize, place: SourceLoc) -> R {
    let spread: R = seen("repeat", x, place, |shape| {
        let (apart, narrow) = view::expand_dims(shape, &[at as isize + 1])?;
        let mut extents = narrow.extents().to_vec();
        extents[at + 1] = times;
        let (wide, to) = view::broadcast_to(&narrow, &Shape::from(extents))?;
        Ok((wide.of(&apart).canonical(&to), to))
    });
    together("repeat", spread.operand(), place, |axis| axis == at)
}

/// Joins axes with the next one: pairs `(2n, 2n + 1)` for all `n` if every axis is `paired`, otherwise only the paired axis
/// with the next.
pub(super) fn together<R: ArrayLike>(
    what: &'static str,
    x: AnyOperand,
    place: SourceLoc,
    paired: impl Fn(usize) -> bool,
) -> R {
    let of = |shapes: &[&Shape]| {
        let mut extents = Vec::new();
        let mut all = shapes[0].extents().iter();
        while let Some(&extent) = all.next() {
            let with = if paired(extents.len()) { all.next().copied().unwrap_or(1) } else { 1 };
            let joined = extent.checked_mul(with).ok_or_else(|| {
                Error::new(ErrorCode::Size, format!("{extent} times {with} elements are more than memory can address"))
            });
            extents.push(joined?);
        }
        Ok(Operation::reshape(Shape::from(extents)))
    };
    R::movement(&Movement { function: what.into(), of: &of }, &[x], place)
}

fn counts(numbers: &[isize]) -> Result<Vec<usize>> {
    let count = |&number: &isize| {
        usize::try_from(number).map_err(|_| {
            Error::new(ErrorCode::Shape, format!("{number} is not a number of repetitions"))
                .help("repetitions are 0 or more")
        })
    };
    numbers.iter().map(count).collect()
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Repetition as methods: see the free functions.
        impl $of {
            /// [`tile`](fn@crate::tile) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from([1, 2]).tile(2).to_string(), "[1 2 1 2]");
            /// ```
            #[doc(alias = "repmat")]
            #[track_caller]
            pub fn tile($self: $receiver, repetitions: impl Integers) -> $of {
                tile($self, repetitions)
            }

            /// [`repeat`](fn@crate::repeat) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from([1, 2]).repeat(2, 0).to_string(), "[1 1 2 2]");
            /// ```
            #[track_caller]
            pub fn repeat($self: $receiver, times: impl Integers, axis: isize) -> $of {
                repeat($self, times, axis)
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
