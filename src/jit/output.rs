//! What traced functions return: expressions, alone or in tuples, arrays, vectors and structs of them, nested at will.

use crate::array::node::Array;
use crate::trace::arity::for_each_tuple;
use crate::trace::expr::Expr;
use ndjit_eval::plan::compiled::{Lengths, RESULTS};
use ndjit_ir::{Error, ErrorCode};
use smallvec::SmallVec;

/// What a traced function returns, and what its caller gets for it: an [`Array`] for each [`Expr`], in the same structure.
///
/// Tuples of up to twelve, `[R; N]` and `Vec<R>` of outputs are outputs. For a struct of your own, generic over what its
/// fields hold, write
///
/// ```
/// use ndjit::{Array, Expr, jit, outputs};
///
/// struct Polar<T> {
///     radius: T,
///     angles: Vec<T>,
/// }
/// outputs!(Polar<Expr> => Polar<Array> { radius, angles });
///
/// let f = jit(|x, y| Polar { radius: ndjit::sqrt(x * x + y * y), angles: vec![x, y] });
/// let polar = f(&Array::from([3.0f32]), &Array::from([4.0f32]));
/// assert_eq!(polar.radius.to_vec::<f32>()?, [5.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a traced function cannot return `{Self}`, and a loop cannot carry it",
    label = "not an `Expr`, nor made of them",
    note = "return `Expr`, tuples, arrays or `Vec`s of outputs, or a struct with `ndjit::outputs!`; the state of a loop is the same",
    note = "a number becomes an `Expr` by `Expr::from(0.0)`, an `Array` by `Expr::from(array)`"
)]
pub trait Outputs: Sized {
    /// What the caller gets.
    type Arrays;

    /// Hands over every expression, in order.
    fn collect(self, into: &mut Collected);

    /// The same structure of arrays.
    fn arrays(parts: &mut Parts<Array>) -> Self::Arrays;

    /// The same structure of other expressions, for a function that is inlined.
    fn exprs(parts: &mut Parts<Expr>) -> Self;
}

/// Expressions of an output, and the lengths of its `Vec`s, in order.
#[derive(Debug, Default)]
pub struct Collected {
    pub(crate) exprs: Vec<Expr>,
    pub(crate) lengths: Lengths,
}

/// The results of a call.
pub(crate) type Arrays = SmallVec<[Array; RESULTS]>;

/// Results to be put into a structure, in the order in which its expressions were [collected](Outputs::collect).
pub struct Parts<T> {
    items: smallvec::IntoIter<[T; RESULTS]>,
    lengths: smallvec::IntoIter<[usize; RESULTS]>,
}

impl<T> Parts<T> {
    pub(crate) fn new(items: impl Into<SmallVec<[T; RESULTS]>>, lengths: Lengths) -> Parts<T> {
        Parts { items: items.into().into_iter(), lengths: lengths.into_iter() }
    }

    pub(crate) fn items(&self) -> &[T] {
        self.items.as_slice()
    }

    fn length(&mut self) -> usize {
        self.lengths.next().unwrap_or(0)
    }
}

impl Outputs for Expr {
    type Arrays = Array;

    fn collect(self, into: &mut Collected) {
        into.exprs.push(self);
    }

    fn arrays(parts: &mut Parts<Array>) -> Array {
        parts.items.next().unwrap_or_else(|| {
            Array::poisoned(Error::new(ErrorCode::Arity, "return: an output took more parts than it gave"))
        })
    }

    fn exprs(parts: &mut Parts<Expr>) -> Expr {
        parts.items.next().unwrap_or(crate::trace::escape::STRAY)
    }
}

/// No results, as of a `scan` that stacks nothing.
impl Outputs for () {
    type Arrays = ();

    fn collect(self, _into: &mut Collected) {}

    fn arrays(_parts: &mut Parts<Array>) {}

    fn exprs(_parts: &mut Parts<Expr>) {}
}

impl<R: Outputs> Outputs for Vec<R> {
    type Arrays = Vec<R::Arrays>;

    fn collect(self, into: &mut Collected) {
        into.lengths.push(self.len());
        self.into_iter().for_each(|r| r.collect(into));
    }

    fn arrays(parts: &mut Parts<Array>) -> Vec<R::Arrays> {
        (0..parts.length()).map(|_| R::arrays(parts)).collect()
    }

    fn exprs(parts: &mut Parts<Expr>) -> Vec<R> {
        (0..parts.length()).map(|_| R::exprs(parts)).collect()
    }
}

impl<R: Outputs, const N: usize> Outputs for [R; N] {
    type Arrays = [R::Arrays; N];

    fn collect(self, into: &mut Collected) {
        self.into_iter().for_each(|r| r.collect(into));
    }

    fn arrays(parts: &mut Parts<Array>) -> [R::Arrays; N] {
        std::array::from_fn(|_| R::arrays(parts))
    }

    fn exprs(parts: &mut Parts<Expr>) -> [R; N] {
        std::array::from_fn(|_| R::exprs(parts))
    }
}

macro_rules! tuples {
    ($($n:literal $($t:ident)*;)*) => {$(
        impl<$($t: Outputs),*> Outputs for ($($t,)*) {
            type Arrays = ($($t::Arrays,)*);

            #[allow(non_snake_case)]
            fn collect(self, into: &mut Collected) {
                let ($($t,)*) = self;
                $($t.collect(into);)*
            }

            fn arrays(parts: &mut Parts<Array>) -> Self::Arrays {
                ($($t::arrays(parts),)*)
            }

            fn exprs(parts: &mut Parts<Expr>) -> Self {
                ($($t::exprs(parts),)*)
            }
        }
    )*};
}

for_each_tuple!(tuples);

/// Makes a struct of [`Outputs`] an output: `outputs!(Polar<Expr> => Polar<Array> { radius, angles });` lists the fields of
/// the struct a traced function returns and names the struct its caller gets. See [`Outputs`].
///
/// ```
/// use ndjit::{Array, Expr, jit, outputs};
///
/// struct Bounds<T> {
///     low: T,
///     high: T,
/// }
/// outputs!(Bounds<Expr> => Bounds<Array> { low, high });
///
/// let f = jit(|x: Expr| Bounds { low: x.min(..), high: x.max(..) });
/// let found = f(&Array::from([3, 1, 2]));
/// assert_eq!((found.low.item::<i32>()?, found.high.item::<i32>()?), (1, 3));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[macro_export]
macro_rules! outputs {
    ($from:ty => $to:ty { $($field:ident),* $(,)? }) => {
        impl $crate::Outputs for $from {
            type Arrays = $to;

            fn collect(self, into: &mut $crate::jit::Collected) {
                $($crate::Outputs::collect(self.$field, into);)*
            }

            fn arrays(parts: &mut $crate::jit::Parts<$crate::Array>) -> $to {
                type To = $to;
                To { $($field: $crate::jit::field_arrays(|of: Self| of.$field, parts)),* }
            }

            fn exprs(parts: &mut $crate::jit::Parts<$crate::Expr>) -> Self {
                Self { $($field: $crate::Outputs::exprs(parts)),* }
            }
        }
    };
}

/// The arrays of a field that `_field` takes out of `S`.
#[doc(hidden)]
pub fn field_arrays<S, F: Outputs>(_field: fn(S) -> F, parts: &mut Parts<Array>) -> F::Arrays {
    F::arrays(parts)
}
