//! Structs as outputs and arguments of functions.

/// Declares a struct of [`Outputs`](crate::Outputs) as an output. `outputs!(Polar<Expr> => Polar<Array> { radius, angles });` lists the
/// fields of the returned struct and names the caller's struct. See [`Outputs`](crate::Outputs). The caller's struct is also an
/// argument of functions with struct parameters: see [`trees`](fn@crate::trees).
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

        impl $crate::jit::ArrayTree for $to {
            fn leaves<'a>(&'a self, into: &mut $crate::jit::Leaves<'a>) {
                $($crate::jit::ArrayTree::leaves(&self.$field, into);)*
            }
        }

        impl<'a> $crate::jit::Input<'a> for &'a $to {
            const IS_TREE: bool = true;

            fn arg(self) -> $crate::Result<$crate::jit::Arg<'a>> {
                $crate::jit::only_leaf(self)
            }

            fn args(self, into: &mut $crate::jit::TreeArgs<'a>) -> $crate::Result<()> {
                into.tree(self)
            }
        }

        impl<'a> $crate::jit::Input<'a> for $to {
            const IS_TREE: bool = true;

            fn arg(self) -> $crate::Result<$crate::jit::Arg<'a>> {
                $crate::jit::only_array(self)
            }

            fn args(self, into: &mut $crate::jit::TreeArgs<'a>) -> $crate::Result<()> {
                into.donated(self)
            }
        }
    };
}
