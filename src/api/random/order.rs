//! Random permutations and choices.

use super::draw::draw;
use super::numbers::randint_of;
use crate::api::creation::IntoShape;
use crate::api::indexing::taken;
use crate::api::manipulation::refused;
use crate::trace::operand::{ArrayLike, BinaryOperand, Operand, UnaryOperand};
use ndjit_ir::axes::position;
use ndjit_ir::{Error, ErrorCode, SourceLoc};

/// The integers in `[0, n)` in random order, of the default integer dtype: `jax.random.permutation(key, n)`.
///
/// ```
/// use ndjit::{Expr, jit, random};
///
/// let order = random::permutation(&random::key(0), 5);
/// assert_eq!(order.sum(..).item::<i32>()?, 10);
/// let traced = jit(|key: Expr| random::permutation(key, 5));
/// assert_eq!(traced(&random::key(0)).to_vec::<i32>()?, order.to_vec::<i32>()?);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// As in JAX, the integers are sorted by random 32-bit keys, several times if equal keys are likely.
///
/// # Errors
/// Poisoned with `DType` if the key is not a `u64`, or if the default integer dtype cannot count to `n`.
#[track_caller]
pub fn permutation<K: UnaryOperand>(key: K, n: usize) -> K::Out {
    draw("permutation", key.operand(), SourceLoc::caller(), |draw| draw.order(n))
}

/// The slices of an array along an axis in random order: `jax.random.permutation(key, x, axis)`, in the order of [`permutation`].
///
/// ```
/// use ndjit::{Array, random};
///
/// let x = Array::from_rows(&[[1, 2], [3, 4], [5, 6]]);
/// let y = random::shuffle(&random::key(1), &x, 0);
/// assert_eq!(y.sum(0).to_vec::<i32>()?, [9, 12]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Those of [`permutation`]; poisoned with `Shape` for an axis out of range.
#[track_caller]
pub fn shuffle<K, X>(key: K, x: X, axis: isize) -> <K::Out as BinaryOperand<X>>::Out
where
    K: UnaryOperand,
    K::Out: BinaryOperand<X>,
    X: Operand + Clone + BinaryOperand<K::Out, Out = <K::Out as BinaryOperand<X>>::Out>,
{
    let place = SourceLoc::caller();
    let own = x.clone().operand();
    let extent = own.describe("shuffle").and_then(|(.., shape)| Ok(shape.extents()[position(axis, shape.rank())?]));
    match extent {
        Ok(n) => {
            let operands = [key.operand(), own.clone()];
            let order: K::Out = draw("shuffle", operands[0].clone(), place, |draw| draw.order(n));
            taken::<<K::Out as BinaryOperand<X>>::Out>("shuffle", own, order.operand(), axis, false, place)
                .part_of("shuffle", &operands, place)
        }
        Err(error) => refused("shuffle", &[own], place, &error),
    }
}

/// Slices of an array along its first axis, drawn with replacement: `jax.random.choice(key, x, shape)`.
///
/// ```
/// use ndjit::{Array, random};
///
/// let drawn = random::choice(&random::key(0), Array::from([10, 20, 30]), [2, 4]);
/// assert_eq!(drawn.shape().extents(), [2, 4]);
/// ```
///
/// The indices are those of [`randint`](fn@crate::random::randint).
///
/// # Errors
/// Poisoned with `Shape` for an array without axes, or with an empty first axis; those of [`randint`](fn@crate::random::randint).
#[track_caller]
pub fn choice<K, X>(key: K, x: X, shape: impl IntoShape) -> <K::Out as BinaryOperand<X>>::Out
where
    K: UnaryOperand,
    K::Out: BinaryOperand<X>,
    X: Operand + Clone + BinaryOperand<K::Out, Out = <K::Out as BinaryOperand<X>>::Out>,
{
    let place = SourceLoc::caller();
    let extents = x.clone().operand().describe("choice");
    let n = match extents.map(|(_, _, shape)| shape.extents().first().copied()) {
        Ok(Some(n)) if n > 0 => n,
        Ok(_) => {
            let error = Error::new(ErrorCode::Shape, "there is nothing to draw from").of("choice");
            return ArrayLike::failed(error.at(place).help("give an array with elements along its first axis"));
        }
        Err(error) => return ArrayLike::failed(error.at(place)),
    };
    let operands = [key.operand(), x.operand()];
    let drawn: K::Out = randint_of(None, operands[0].clone(), shape.shape(), 0..n, place);
    taken::<<K::Out as BinaryOperand<X>>::Out>("choice", operands[1].clone(), drawn.operand(), 0, false, place)
        .part_of("choice", &operands, place)
}
