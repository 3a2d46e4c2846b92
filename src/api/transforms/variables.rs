//! The variables of derivatives.

use super::gradients;
use crate::jit::function::JitFn;
use crate::jit::output::{Collected, Outputs, Parts, collected};
use crate::trace::expr::Expr;
use crate::trace::operand::ArrayLike;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};

/// Differentiation variables: the index of one parameter, or a tuple of several.
///
/// ```
/// use ndjit::transforms::Wrt;
///
/// assert_eq!((1, 3).numbers(), [1, 3]);
/// ```
pub trait Wrt: Send + Sync + 'static {
    /// The gradients with respect to them.
    type Gradients: Outputs + 'static;

    /// Returns their indices, counted from 0.
    fn numbers(&self) -> Vec<usize>;
}

impl Wrt for usize {
    type Gradients = Expr;

    fn numbers(&self) -> Vec<usize> {
        vec![*self]
    }
}

macro_rules! tuples {
    ($([$($n:tt $t:ty => $gradient:ty),*])*) => {$(
        impl Wrt for ($($t,)*) {
            type Gradients = ($($gradient,)*);

            fn numbers(&self) -> Vec<usize> {
                vec![$(self.$n),*]
            }
        }
    )*};
}

tuples! {
    [0 usize => Expr]
    [0 usize => Expr, 1 usize => Expr]
    [0 usize => Expr, 1 usize => Expr, 2 usize => Expr]
    [0 usize => Expr, 1 usize => Expr, 2 usize => Expr, 3 usize => Expr]
    [0 usize => Expr, 1 usize => Expr, 2 usize => Expr, 3 usize => Expr, 4 usize => Expr]
    [0 usize => Expr, 1 usize => Expr, 2 usize => Expr, 3 usize => Expr, 4 usize => Expr, 5 usize => Expr]
}

/// Differentiation variables. Made by [`wrt`].
///
/// ```
/// use ndjit::{Array, jit, wrt};
///
/// let by_second = jit(wrt(1).grad(|x, y| x * y));
/// assert_eq!(by_second(&Array::from(2.0f32), &Array::from(5.0f32)).item::<f32>()?, 2.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WrtVariables<W>(W);

/// Derivatives with respect to other parameters than the first, or several: their indices, counted from 0.
///
/// ```
/// use ndjit::{Array, jit, sum, wrt};
///
/// let f = jit(wrt((0, 1)).grad(|x, y| sum(x * y, ..)));
/// let (x, y) = (Array::from([1.0f32, 2.0]), Array::from([3.0f32, 4.0]));
/// let (by_x, by_y) = f(&x, &y);
/// assert_eq!((by_x.to_vec::<f32>()?, by_y.to_vec::<f32>()?), (vec![3.0, 4.0], vec![1.0, 2.0]));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: `argnums` of [`jax.grad`](https://docs.jax.dev/en/latest/_autosummary/jax.grad.html).
pub fn wrt<W: Wrt>(variables: W) -> WrtVariables<W> {
    WrtVariables(variables)
}

impl<W: Wrt> WrtVariables<W> {
    /// The gradients of a function with respect to these parameters.
    ///
    /// ```
    /// use ndjit::{Array, jit, wrt};
    ///
    /// let f = jit(wrt((1, 0)).grad(|x, y| x * y));
    /// let (by_y, by_x) = f(&Array::from(2.0f32), &Array::from(5.0f32));
    /// assert_eq!([by_y.item::<f32>()?, by_x.item()?], [2.0, 5.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`grad`](super::grad); poisoned with `Arity` for an index out of range.
    #[track_caller]
    pub fn grad<M, const N: usize, F: JitFn<M, N, Outputs = Expr>>(self, function: F) -> F::With<W::Gradients> {
        let place = SourceLoc::caller();
        F::with(move |parameters| self.by(("grad", place), &function, parameters).1)
    }

    /// The value of a function and its gradients with respect to these parameters.
    ///
    /// ```
    /// use ndjit::{Array, jit, wrt};
    ///
    /// let f = jit(wrt((0, 1)).value_and_grad(|x, y| x * y));
    /// let (value, (by_x, by_y)) = f(&Array::from(2.0f32), &Array::from(5.0f32));
    /// assert_eq!([value.item::<f32>()?, by_x.item()?, by_y.item()?], [10.0, 5.0, 2.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`grad`](Self::grad).
    #[track_caller]
    pub fn value_and_grad<M, const N: usize, F: JitFn<M, N, Outputs = Expr>>(
        self,
        function: F,
    ) -> F::With<(Expr, W::Gradients)> {
        let place = SourceLoc::caller();
        F::with(move |parameters| self.by(("value_and_grad", place), &function, parameters))
    }

    fn by<M, const N: usize, F: JitFn<M, N, Outputs = Expr>>(
        &self,
        written: (&'static str, SourceLoc),
        function: &F,
        parameters: &[Collected; N],
    ) -> (Expr, W::Gradients) {
        let numbers = self.0.numbers();
        let values: Result<Vec<Expr>> = numbers.iter().map(|&n| leaf(written, n, parameters)).collect();
        let made = values.and_then(|values| {
            gradients(written, &values, true, |variables| {
                let mut parameters = parameters.clone();
                numbers.iter().zip(variables).for_each(|(&n, &variable)| parameters[n] = collected(variable));
                vec![function.apply(&parameters)]
            })
        });
        let (value, gradients) = match made {
            Ok((outputs, gradients)) => (outputs[0], gradients),
            Err(error) => {
                let failed = Expr::failed(error);
                (failed, vec![failed; numbers.len()])
            }
        };
        (value, W::Gradients::exprs(&mut Parts::new(gradients, Default::default())))
    }
}

/// Returns the parameter of this index, which must be one array.
fn leaf((what, place): (&str, SourceLoc), n: usize, parameters: &[Collected]) -> Result<Expr> {
    let error = match parameters.get(n).map(|own| &own.exprs[..]) {
        Some(&[leaf]) => return Ok(leaf),
        Some(leaves) => {
            let headline = format!("{what}: parameter {n} is a structure of {} arrays", leaves.len());
            Error::new(ErrorCode::Arity, headline)
                .help("`grad` derives by the first parameter, a structure too: put it there, or use `grad_at`")
        }
        None => Error::new(ErrorCode::Arity, format!("{what}: there is no parameter {n}"))
            .fact(format_args!("the function has {}, counted from 0", parameters.len())),
    };
    Err(error.at(place))
}
