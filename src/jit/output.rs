//! Outputs of traced functions: expressions, and tuples, arrays, vectors and structs of them, nested freely.

use crate::array::node::Array;
use crate::trace::arity::for_each_tuple;
use crate::trace::expr::Expr;
use ndjit_eval::plan::compiled::{Lengths, RESULTS};
use ndjit_ir::{Error, ErrorCode};
use smallvec::SmallVec;

/// The output of a traced function. Its caller gets an [`Array`] for each [`Expr`], in the same structure.
///
/// Tuples of up to twelve, `[R; N]` and `Vec<R>` of outputs are outputs. For a struct of your own, generic over the
/// types of its fields, write
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
    note = "a number becomes an `Expr` by `Expr::from(0.0)`, or beside `x` by `zeros_like(x)`; a captured `Array` by `Expr::from(array)`"
)]
pub trait Outputs: Sized {
    /// The same structure of arrays, for the caller.
    type Arrays: ArrayTree;

    /// Collects every expression, in order.
    fn collect(self, into: &mut Collected);

    /// Builds the structure from arrays.
    fn arrays(parts: &mut Parts<Array>) -> Self::Arrays;

    /// Builds the structure from other expressions, for an inlined function.
    fn exprs(parts: &mut Parts<Expr>) -> Self;
}

/// A structure of arrays: the output of a jitted function, and an input of [`trees`](fn@crate::trees). Arrays, tuples,
/// `[T; N]` and `Vec`s of these, and structs declared with [`outputs!`](crate::outputs).
///
/// ```
/// use ndjit::{Array, jit::ArrayTree};
///
/// fn takes(tree: &impl ArrayTree) {}
/// takes(&(Array::from(1), vec![Array::from(2)]));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a structure of arrays",
    note = "it is an `Array`, tuples, arrays or `Vec`s of these, or a struct with `ndjit::outputs!`"
)]
pub trait ArrayTree {
    /// Collects every array, in order.
    fn leaves<'a>(&'a self, into: &mut Leaves<'a>);
}

/// Arrays of a structure, and the lengths of its `Vec`s, in order.
#[doc(hidden)]
#[derive(Default)]
pub struct Leaves<'a> {
    pub(crate) arrays: Vec<&'a Array>,
    pub(crate) lengths: Lengths,
}

/// Expressions of an output, and the lengths of its `Vec`s, in order.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    pub(crate) exprs: Vec<Expr>,
    pub(crate) lengths: Lengths,
}

impl Collected {
    /// Returns the same structure with other expressions.
    pub(crate) fn with(&self, exprs: &[Expr]) -> Collected {
        Collected { exprs: exprs.to_vec(), lengths: self.lengths.clone() }
    }

    /// Checks the structure against a type.
    pub(crate) fn is<R: Outputs>(&self) -> bool {
        let mut parts = Parts::new(self.exprs.clone(), self.lengths.clone());
        R::exprs(&mut parts);
        parts.are_spent()
    }

    /// Returns the numbers of expressions and of lists in a structure with empty lists.
    pub(crate) fn least<R: Outputs>() -> [usize; 2] {
        let mut parts = Parts::<Expr>::new(SmallVec::new(), Lengths::new());
        R::exprs(&mut parts);
        parts.missing
    }
}

/// Returns the leaves of a structure, and the lengths of its lists.
pub(crate) fn collected<C: Outputs>(structure: C) -> Collected {
    let mut collected = Collected::default();
    structure.collect(&mut collected);
    collected
}

/// Builds a structure like another from other leaves.
pub(crate) fn built<C: Outputs>(leaves: &[Expr], like: &Collected) -> C {
    C::exprs(&mut Parts::new(leaves.to_vec(), like.lengths.clone()))
}

/// Returns the leaves of all parameters.
pub(crate) fn flat(parameters: &[Collected]) -> Vec<Expr> {
    parameters.iter().flat_map(|own| own.exprs.iter().copied()).collect()
}

/// Returns parameters of the same structure with other leaves.
pub(crate) fn with_leaves<const N: usize>(parameters: &[Collected; N], leaves: &[Expr]) -> [Collected; N] {
    let mut leaves = leaves.iter().copied();
    parameters
        .each_ref()
        .map(|own| Collected { exprs: leaves.by_ref().take(own.exprs.len()).collect(), lengths: own.lengths.clone() })
}

/// The results of a call.
pub(crate) type Arrays = SmallVec<[Array; RESULTS]>;

/// Results to build a structure from, in the order in which its expressions were [collected](Outputs::collect).
pub struct Parts<T> {
    items: smallvec::IntoIter<[T; RESULTS]>,
    lengths: smallvec::IntoIter<[usize; RESULTS]>,
    /// The number of items and of list lengths that were requested and missing.
    missing: [usize; 2],
}

impl<T> Parts<T> {
    pub(crate) fn new(items: impl Into<SmallVec<[T; RESULTS]>>, lengths: Lengths) -> Parts<T> {
        Parts { items: items.into().into_iter(), lengths: lengths.into_iter(), missing: [0; 2] }
    }

    pub(crate) fn items(&self) -> &[T] {
        self.items.as_slice()
    }

    /// Checks that all items were used and none was missing.
    fn are_spent(&self) -> bool {
        self.items.len() == 0 && self.lengths.len() == 0 && self.missing == [0; 2]
    }

    fn item(&mut self) -> Option<T> {
        let item = self.items.next();
        self.missing[0] += usize::from(item.is_none());
        item
    }

    fn length(&mut self) -> usize {
        let length = self.lengths.next();
        self.missing[1] += usize::from(length.is_none());
        length.unwrap_or(0)
    }
}

impl Outputs for Expr {
    type Arrays = Array;

    fn collect(self, into: &mut Collected) {
        into.exprs.push(self);
    }

    fn arrays(parts: &mut Parts<Array>) -> Array {
        parts.item().unwrap_or_else(|| {
            Array::poisoned(Error::new(ErrorCode::Arity, "return: an output took more parts than it gave"))
        })
    }

    fn exprs(parts: &mut Parts<Expr>) -> Expr {
        parts.item().unwrap_or(crate::trace::escape::STRAY)
    }
}

impl ArrayTree for Array {
    fn leaves<'a>(&'a self, into: &mut Leaves<'a>) {
        into.arrays.push(self);
    }
}

impl ArrayTree for () {
    fn leaves<'a>(&'a self, _into: &mut Leaves<'a>) {}
}

impl<T: ArrayTree> ArrayTree for Vec<T> {
    fn leaves<'a>(&'a self, into: &mut Leaves<'a>) {
        into.lengths.push(self.len());
        self.iter().for_each(|tree| tree.leaves(into));
    }
}

impl<T: ArrayTree, const N: usize> ArrayTree for [T; N] {
    fn leaves<'a>(&'a self, into: &mut Leaves<'a>) {
        self.iter().for_each(|tree| tree.leaves(into));
    }
}

/// No results, as in a `scan` without stacked results.
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
        impl<$($t: ArrayTree),*> ArrayTree for ($($t,)*) {
            #[allow(non_snake_case)]
            fn leaves<'a>(&'a self, into: &mut Leaves<'a>) {
                let ($($t,)*) = self;
                $($t.leaves(into);)*
            }
        }

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

/// Returns the arrays of the field of `S` that `_field` returns.
#[doc(hidden)]
pub fn field_arrays<S, F: Outputs>(_field: fn(S) -> F, parts: &mut Parts<Array>) -> F::Arrays {
    F::arrays(parts)
}
