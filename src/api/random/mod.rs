//! Random numbers from explicit keys. The same key gives the same numbers on every device, with any number of threads, fused
//! or not, in any order of use.
//!
//! ```
//! use ndjit::{Array, Expr, jit, random};
//!
//! let key = random::key(42);
//! assert_eq!(random::uniform(&key, 3, 0.0..1.0).to_string(), "[0.48870957 0.6797972  0.6162715 ]");
//!
//! // Numbers that are to differ have keys of their own.
//! let [first, second] = random::split(&key);
//! let noise = jit(|key: Expr, x: Expr| x + 0.5 * random::normal(key, [2, 3]));
//! let x = Array::from([1.0f32, 2.0, 3.0]);
//! assert_ne!(noise(&first, &x).to_vec::<f32>()?, noise(&second, &x).to_vec::<f32>()?);
//! # Ok::<(), ndjit::Error>(())
//! ```
//!
//! - A key is one `u64`, an array without axes. [`key`](fn@key) makes one from a seed; [`split`], [`keys`](fn@keys) and
//!   [`fold_in`] derive others. No function changes a key: two calls with one key give the same numbers, so use each key
//!   once.
//! - A number depends only on the key and its index, by the op [`threefry2x32`](fn@crate::threefry2x32): number `i` of a
//!   shape, in row-major order, uses the word of the key at `i`. Kernels therefore compute random numbers in place, without
//!   memory.
//! - Keys and bits are those of JAX with `jax_threefry_partitionable`, its default: `random::key(seed)` contains the two
//!   words of `jax.random.key(seed)`, the first in the high half. [`bits`], [`uniform`] from 0 to 1, [`randint`],
//!   [`bernoulli`], [`permutation`] and [`choice`] give JAX's numbers bit for bit; [`normal`] and [`exponential`] up to the
//!   rounding of their functions.
//! - An array of keys gives an array for each: keys of shape `[4]` and the shape `[2, 3]` give the shape `[4, 2, 3]`.
//! - The dtype is set as everywhere: [`dtype(DType::F64).normal(&key, 3)`](crate::dtype).
//!
//! Shapes and ranges are constants of a trace; keys may be traced values. `docs/random.md` has the statistical tests.

mod draw;
mod numbers;
mod order;

pub use order::{choice, permutation, shuffle};

use crate::api::creation::{IntoShape, Typed};
use crate::array::node::Array;
use crate::trace::operand::{BinaryOperand, Operand, UnaryOperand};
use crate::trace::scalar::Number;
use draw::draw;
use ndjit_ir::{DType, Shape, SourceLoc};
use numbers::{bits_of, exponential_of, normal_of, randint_of, uniform_of};
use std::ops::Range;

/// The key of a seed: the seed itself, as `jax.random.key(seed)`. Adjacent seeds give unrelated numbers.
///
/// ```
/// use ndjit::{DType, random};
///
/// assert_eq!(random::key(7).dtype(), DType::U64);
/// ```
#[doc(alias = "seed")]
#[doc(alias = "PRNGKey")]
pub fn key(seed: u64) -> Array {
    Array::from(seed)
}

/// Splits a key into as many new keys as the pattern has: `let [a, b] = random::split(&key)`. They are the first of
/// [`keys`](fn@keys).
///
/// ```
/// use ndjit::random;
///
/// let [a, b] = random::split(&random::key(0));
/// assert_eq!([a.item::<u64>()?, b.item::<u64>()?], [0x6b20_0159_99ba_4efe, 0x375f_238f_cddb_151d]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Poisoned with `DType` if the key is not a `u64`, as all functions here are.
#[track_caller]
pub fn split<K: UnaryOperand, const N: usize>(key: K) -> [K::Out; N] {
    let (key, place) = (key.operand(), SourceLoc::caller());
    std::array::from_fn(|n| draw("split", key.clone(), place, |draw| draw.word(n as u64)))
}

/// `n` new keys from a key, as an array: JAX's `split(key, n)`.
///
/// ```
/// use ndjit::random;
///
/// let each = random::keys(&random::key(0), 4);
/// assert_eq!(random::normal(&each, [2, 3]).shape().extents(), [4, 2, 3]);
/// ```
#[doc(alias = "split")]
#[track_caller]
pub fn keys<K: UnaryOperand>(key: K, n: usize) -> K::Out {
    draw("keys", key.operand(), SourceLoc::caller(), |draw| Ok(draw.words(&Shape::from(n))))
}

/// Folds an integer, such as the index of a loop, into a key: JAX's `fold_in`, with 64 bits of the integer instead of 32. An
/// array of integers gives an array of keys.
///
/// ```
/// use ndjit::{Array, random};
///
/// let key = random::key(0);
/// let steps = random::fold_in(&key, Array::from([0, 1, 2]));
/// assert_eq!(steps.slice(2).item::<u64>()?, random::fold_in(&key, 2).item::<u64>()?);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Poisoned with `DType` if the key is not a `u64` or the data not integers.
#[track_caller]
pub fn fold_in<K: UnaryOperand + BinaryOperand<D>, D: Operand>(key: K, data: D) -> <K as BinaryOperand<D>>::Out {
    let (key, data, place) = (key.operand(), data.operand(), SourceLoc::caller());
    draw("fold_in", key, place, |draw| draw.folded(data))
}

/// Random bits, 32 in each `u32`; [`dtype(DType::U8).bits(…)`](Typed::bits) for other unsigned integers.
///
/// ```
/// use ndjit::{DType, random};
///
/// assert_eq!(random::bits(&random::key(0), [2, 3]).dtype(), DType::U32);
/// ```
#[track_caller]
pub fn bits<K: UnaryOperand>(key: K, shape: impl IntoShape) -> K::Out {
    bits_of(DType::U32, key.operand(), shape.shape(), SourceLoc::caller())
}

/// Uniformly distributed numbers in `[low, high)`, of the default float dtype: `uniform(&key, [2, 3], 0.0..1.0)`.
///
/// ```
/// use ndjit::{DType, dtype, random};
///
/// let x = random::uniform(&random::key(0), 1000, -1.0..1.0);
/// assert!(x.min(..).item::<f32>()? >= -1.0 && x.max(..).item::<f32>()? < 1.0);
/// assert_eq!(dtype(DType::F64).uniform(&random::key(0), 2, 0..1).dtype(), DType::F64);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// From 0 to 1 the values are the multiples of `2^-m`, with equal probability, where `m` is the number of stored mantissa
/// bits of the dtype: 52 in `f64`, 23 in `f32`, 10 in `f16`, 7 in `bf16`. Other ranges are `x * (high - low) + low`, with a
/// rounding in each operation. A result that rounds to `high` becomes `low`, so `high` is never drawn. In a range so narrow
/// that its floats are equally spaced, each is therefore equally likely: half a step rounds to `low` from above, and the
/// last half step becomes `low` too. If `high - low` overflows, both ends are halved and the result is doubled, which is
/// exact.
///
/// ```
/// use ndjit::{DType, dtype, random};
///
/// let x = dtype(DType::F16).uniform(&random::key(0), 1000, 1000..1001);
/// let x = x.cast(DType::F32);
/// assert_eq!((x.min(..).item::<f32>()?, x.max(..).item::<f32>()?), (1000.0, 1000.5));
/// let x = random::uniform(&random::key(0), 1000, f32::MIN..f32::MAX);
/// assert!(x.isfinite().all(..).item::<bool>()?);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Poisoned with `DType` if the requested dtype is not a float, with `Argument` unless the ends, rounded to the dtype, are
/// finite and `low < high`.
#[track_caller]
pub fn uniform<K: UnaryOperand>(key: K, shape: impl IntoShape, range: Range<impl Number>) -> K::Out {
    uniform_of(None, key.operand(), shape.shape(), range, SourceLoc::caller())
}

/// Normally distributed numbers of mean 0 and variance 1, of the default float dtype. For another mean and deviation:
/// `mean + deviation * normal(&key, shape)`.
///
/// ```
/// use ndjit::random;
///
/// let x = random::normal(&random::key(0), 10_000);
/// assert!(x.mean(..).item::<f32>()?.abs() < 0.03 && (x.var(..).item::<f32>()? - 1.0).abs() < 0.05);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Each is `sqrt(2) * erfinv(u)` of a `u` from [`uniform`] between -1 and 1. There are therefore as many different values as
/// `u` has, none beyond 5.5 in `f32`, 8.3 in `f64`. The parts of a complex number have variance 1/2 each.
///
/// # Errors
/// Poisoned with `DType` if the requested dtype is neither float nor complex.
#[doc(alias = "randn")]
#[doc(alias = "gaussian")]
#[track_caller]
pub fn normal<K: UnaryOperand>(key: K, shape: impl IntoShape) -> K::Out {
    normal_of(None, key.operand(), shape.shape(), SourceLoc::caller())
}

/// Exponentially distributed numbers of mean 1, of the default float dtype: `-log1p(-u)` of a `u` from [`uniform`] between 0 and 1.
///
/// ```
/// use ndjit::random;
///
/// let x = random::exponential(&random::key(0), 10_000);
/// assert!(x.min(..).item::<f32>()? >= 0.0 && (x.mean(..).item::<f32>()? - 1.0).abs() < 0.05);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Poisoned with `DType` if the requested dtype is not a float.
#[track_caller]
pub fn exponential<K: UnaryOperand>(key: K, shape: impl IntoShape) -> K::Out {
    exponential_of(None, key.operand(), shape.shape(), SourceLoc::caller())
}

/// Integers in `[low, high)`, of the default integer dtype: `randint(&key, 10, 1..7)` for dice.
///
/// ```
/// use ndjit::{DType, dtype, random};
///
/// let dice = random::randint(&random::key(0), 1000, 1..7);
/// assert_eq!((dice.min(..).item::<i32>()?, dice.max(..).item::<i32>()?), (1, 6));
/// let bytes = dtype(DType::U8).randint(&random::key(0), 1000, 0..256);
/// assert_eq!(bytes.max(..).item::<u8>()?, 255);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// They are remainders of random 64-bit integers. If the width of the range is not a power of two, the probabilities differ
/// by at most `width / 2^64`. As in JAX, ranges wider than `2^16` use 32-bit integers: there it is `width / 2^32`. For `i64`
/// and `u64` all these exponents are twice as large; request one of them for a smaller bias.
///
/// # Errors
/// Poisoned with `DType` if the requested dtype is not an integer, with `Argument` if the range is empty, its ends are not
/// integers, or the dtype does not contain it.
#[doc(alias = "integers")]
#[track_caller]
pub fn randint<K: UnaryOperand>(key: K, shape: impl IntoShape, range: Range<impl Number>) -> K::Out {
    randint_of(None, key.operand(), shape.shape(), range, SourceLoc::caller())
}

/// Bools, each true with probability `p`: a scalar, or an array that broadcasts to the shape.
///
/// ```
/// use ndjit::{Array, random};
///
/// let kept = random::bernoulli(&random::key(0), 1000, 0.9);
/// assert!((850..950).contains(&kept.count_nonzero(..).item::<i32>()?));
/// let p = Array::from([0.0f32, 1.0]);
/// assert_eq!(random::bernoulli(&random::key(0), [2, 2], &p).to_vec::<bool>()?, [false, true, false, true]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// An element is true if [`uniform`] from 0 to 1, of the dtype of `p`, is less than `p`; a literal has the default float
/// dtype. The resolution of a probability is therefore `2^-m`, with the `m` of [`uniform`].
///
/// # Errors
/// Poisoned with `DType` if `p` is not a float, with `Shape` if it does not broadcast to the shape.
#[track_caller]
pub fn bernoulli<K, P>(key: K, shape: impl IntoShape, p: P) -> <K as BinaryOperand<P>>::Out
where
    K: UnaryOperand + BinaryOperand<P>,
    P: Operand,
{
    let (shape, p, place) = (shape.shape(), p.operand(), SourceLoc::caller());
    draw("bernoulli", key.operand(), place, |draw| draw.below(p, &shape))
}

/// Random numbers of this dtype: see the free functions.
impl Typed {
    /// [`bits`](fn@bits) of this dtype, an unsigned integer.
    ///
    /// ```
    /// use ndjit::{DType, dtype, random};
    ///
    /// assert_eq!(dtype(DType::U64).bits(&random::key(0), 1).to_vec::<u64>()?, [0x6b20_0159_99ba_4efe]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Poisoned with `DType` if it is not an unsigned integer.
    #[track_caller]
    pub fn bits<K: UnaryOperand>(self, key: K, shape: impl IntoShape) -> K::Out {
        bits_of(self.asked_width().unwrap_or(DType::U32), key.operand(), shape.shape(), SourceLoc::caller())
    }

    /// [`uniform`](fn@uniform) of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype, random};
    ///
    /// let x = dtype(DType::F16).uniform(&random::key(0), 4, 0.0..1.0);
    /// assert_eq!(x.dtype(), DType::F16);
    /// ```
    #[track_caller]
    pub fn uniform<K: UnaryOperand>(self, key: K, shape: impl IntoShape, range: Range<impl Number>) -> K::Out {
        uniform_of(self.asked_width(), key.operand(), shape.shape(), range, SourceLoc::caller())
    }

    /// [`normal`](fn@normal) of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype, random};
    ///
    /// let z = dtype(DType::C128).normal(&random::key(0), 4);
    /// assert_eq!(z.dtype(), DType::C128);
    /// ```
    #[track_caller]
    pub fn normal<K: UnaryOperand>(self, key: K, shape: impl IntoShape) -> K::Out {
        normal_of(self.asked_width(), key.operand(), shape.shape(), SourceLoc::caller())
    }

    /// [`exponential`](fn@exponential) of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype, random};
    ///
    /// let x = dtype(DType::F64).exponential(&random::key(0), 4);
    /// assert_eq!(x.dtype(), DType::F64);
    /// ```
    #[track_caller]
    pub fn exponential<K: UnaryOperand>(self, key: K, shape: impl IntoShape) -> K::Out {
        exponential_of(self.asked_width(), key.operand(), shape.shape(), SourceLoc::caller())
    }

    /// [`randint`](fn@randint) of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype, random};
    ///
    /// let x = dtype(DType::I64).randint(&random::key(0), 4, 0..1i64 << 40);
    /// assert_eq!(x.dtype(), DType::I64);
    /// ```
    #[track_caller]
    pub fn randint<K: UnaryOperand>(self, key: K, shape: impl IntoShape, range: Range<impl Number>) -> K::Out {
        randint_of(self.asked_width(), key.operand(), shape.shape(), range, SourceLoc::caller())
    }
}
