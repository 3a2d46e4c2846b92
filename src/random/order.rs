//! Elements in random order, and elements drawn from an array.

use super::{bits, randint, split};
use crate::array::Array;
use crate::config::defaults;
use crate::indexing::take;
use crate::operand::{Computed, Math, Meet, Operand};
use ndjit_ir::axes::position;
use ndjit_ir::{Error, ErrorCode, Place, Result, Shape};

/// The integers from 0 on and below `n` in random order, of the default integer dtype: `jax.random.permutation(key, n)`. It is computed at once: a
/// key that is a value of a traced function is not taken.
///
/// ```
/// use ndjit::random;
///
/// let order = random::permutation(&random::key(0), 5).to_vec::<i32>()?;
/// assert_eq!(order.iter().sum::<i32>(), 10);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// As in JAX, numbers are sorted by random keys of 32 bits, more than once where there are so many that some keys may be equal.
///
/// # Errors
/// Poisoned with `DType` if the key is no `u64`, or if the default integer dtype cannot count so many.
#[track_caller]
pub fn permutation(key: &Array, n: usize) -> Array {
    let place = Place::caller();
    ordered(key, n).unwrap_or_else(|error| Array::poisoned(error.of("permutation").at(place)))
}

/// The parts of an array along an axis in random order: `jax.random.permutation(key, x, axis)`. As [`permutation`], which says in which
/// order, it is for arrays alone.
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
/// Those of [`permutation`]; poisoned with `Shape` for an axis that is not there.
#[track_caller]
pub fn shuffle(key: &Array, x: &Array, axis: isize) -> Array {
    let place = Place::caller();
    if let Some(error) = x.error() {
        return Array::poisoned(error.clone());
    }
    let order = position(axis, x.shape().rank()).and_then(|axis| ordered(key, x.shape().extents()[axis]));
    match order {
        Ok(order) => take(x, order, axis).part_of("shuffle", place),
        Err(error) => Array::poisoned(error.of("shuffle").at(place)),
    }
}

/// Parts of an array along its first axis, drawn with replacement: `jax.random.choice(key, x, shape)`.
///
/// ```
/// use ndjit::{Array, random};
///
/// let drawn = random::choice(&random::key(0), Array::from([10, 20, 30]), [2, 4]);
/// assert_eq!(drawn.shape().extents(), [2, 4]);
/// ```
///
/// Positions are those of [`randint`](fn@randint).
///
/// # Errors
/// Poisoned with `Shape` if the array has no axis, or no elements along it; those of [`randint`](fn@randint).
#[track_caller]
pub fn choice<K, X>(key: K, x: X, shape: impl Into<Shape>) -> <K::Out as Meet<X>>::Out
where
    K: Math,
    K::Out: Meet<X>,
    X: Operand + Clone + Meet<K::Out, Out = <K::Out as Meet<X>>::Out>,
{
    let place = Place::caller();
    let extents = x.clone().operand().describe("choice");
    let n = match extents.map(|(_, _, shape)| shape.extents().first().copied()) {
        Ok(Some(n)) if n > 0 => n,
        Ok(_) => {
            let error = Error::new(ErrorCode::Shape, "choice: there is nothing to draw from");
            return Computed::failed(error.at(place).help("give an array with elements along its first axis"));
        }
        Err(error) => return Computed::failed(error.at(place)),
    };
    take(x, randint(key, shape, 0..n), 0).part_of("choice", place)
}

/// Numbers sorted by random keys, as often as JAX does.
fn ordered(key: &Array, n: usize) -> Result<Array> {
    // Whether it is a key.
    bits(key, 0).eval().map_err(Error::unnamed)?;
    let dtype = defaults().int;
    let most = dtype.int_range().map_or(0, |(_, most)| most);
    if n as i128 > most {
        return Err(Error::new(ErrorCode::DType, format!("{dtype} cannot count {n} elements"))
            .help("have integers be wider, as in `with_defaults(Defaults::BITS_64, || …)`"));
    }
    // After three times as many bits as positions have, keys of two elements are hardly equal in each round.
    let rounds = (3.0 * (n.max(1) as f64).ln() / f64::from(u32::MAX).ln()).ceil() as usize;
    let mut order: Vec<i64> = (0..n as i64).collect();
    let mut key = key.clone();
    for _ in 0..rounds {
        let [next, now] = split(&key);
        let keys = bits(&now, n).to_vec::<u32>().map_err(Error::unnamed)?;
        let mut sorted: Vec<(u32, i64)> = keys.into_iter().zip(order).collect();
        sorted.sort_by_key(|&(key, _)| key);
        order = sorted.into_iter().map(|(_, position)| position).collect();
        key = next;
    }
    Ok(Array::from(order).cast(dtype))
}
