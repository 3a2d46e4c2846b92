//! Traceable closures: `Fn(Expr, …) -> R` with one to twelve parameters, without annotations.
//!
//! The marker type `fn(Expr, …) -> R` permits one implementation of the trait per number of parameters. The compiler
//! infers the parameters' types from it.

use crate::array::node::Array;
use crate::diagnostics::report::report;
use crate::jit::caller;
use crate::jit::erased::Core;
use crate::jit::input::Input;
use crate::jit::output::{Collected, Outputs, built, collected};
use crate::trace::arity::for_each_tuple;
use crate::trace::expr::Expr;
use crate::trace::operand::Operand;
use ndjit_eval::plan::compiled::Lengths;
use ndjit_ir::{Error, ErrorCode, Result};
use std::sync::Arc;

/// A traceable function: a closure or `fn` of one to twelve [`Expr`]s that returns [`Outputs`].
///
/// ```
/// use ndjit::{Jitted, jit, jit::JitFn};
///
/// fn traces<M, F: JitFn<M, 1>>(f: &Jitted<M, 1, F>) -> u64 {
///     f.trace_count()
/// }
/// assert_eq!(traces(&jit(|x| x + 1)), 0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be traced",
    label = "does not take 1 to 12 `Expr`s, or returns something else than `Expr`s",
    note = "return an `Expr`, or tuples, arrays or `Vec`s of them; `ndjit::outputs!` adds structs of your own",
    note = "return a captured `Array` as `Expr::from(array)`",
    note = "a traced function is `Send + Sync + 'static`: `move` what it uses into it"
)]
pub trait JitFn<M, const N: usize>: Send + Sync + Sized + 'static {
    /// The return type.
    type Outputs: Outputs;

    /// The first parameter; [`grad`](fn@crate::grad) differentiates with respect to it.
    type First: Outputs + 'static;

    /// The compiled function's signature: `dyn Fn(&Array, …) -> Arrays`.
    type Call: ?Sized + Send + Sync;

    /// A function with the same parameters and other outputs, such as a transformation of this one.
    type With<Q: Outputs + 'static>;

    #[doc(hidden)]
    fn apply(&self, parameters: &[Collected; N]) -> Self::Outputs;

    #[doc(hidden)]
    fn with<Q: Outputs + 'static>(function: impl Fn(&[Collected; N]) -> Q + Send + Sync + 'static) -> Self::With<Q>;

    /// Builds the parameters from the leaves of a call, in their structure.
    #[doc(hidden)]
    fn parameters(leaves: &Collected) -> Result<[Collected; N]>;

    /// Returns the number of leaves of the parameters, and their structure, if all lists are empty.
    #[doc(hidden)]
    fn leaves() -> (usize, Lengths) {
        (N, Lengths::new())
    }

    /// True if parameters may be structures.
    #[doc(hidden)]
    const TREES: bool = false;

    #[doc(hidden)]
    fn callable(core: Arc<Core>) -> Box<Self::Call>;
}

macro_rules! arities {
    ($($n:literal $($t:ident $x:ident)*;)*) => {$(
        impl<F, R> JitFn<fn($($t),*) -> R, $n> for F
        where
            F: Fn($($t),*) -> R + Send + Sync + 'static,
            R: Outputs + 'static,
        {
            type Outputs = R;
            type First = Expr;
            type Call = dyn Fn($(by_reference!($t)),*) -> R::Arrays + Send + Sync;
            type With<Q: Outputs + 'static> = Box<dyn Fn($($t),*) -> Q + Send + Sync>;

            fn with<Q: Outputs + 'static>(
                function: impl Fn(&[Collected; $n]) -> Q + Send + Sync + 'static,
            ) -> Self::With<Q> {
                Box::new(move |$($x: Expr),*| function(&[$(collected($x)),*]))
            }

            fn apply(&self, parameters: &[Collected; $n]) -> R {
                let [$($x),*] = parameters;
                self($(built(&$x.exprs, $x)),*)
            }

            fn parameters(leaves: &Collected) -> Result<[Collected; $n]> {
                let own: [Expr; $n] = leaves.exprs[..].try_into().map_err(|_| miscounted($n, leaves.exprs.len()))?;
                Ok(own.map(collected))
            }

            fn callable(core: Arc<Core>) -> Box<Self::Call> {
                Box::new(move |$($x: &Array),*| {
                    let place = caller::take(&core);
                    let called = (|| core.call(&mut [$($x.arg()?),*], &[], place))();
                    match called {
                        Ok(mut parts) => R::arrays(&mut parts),
                        Err(error) => panic!("{}", report(&caller::called(error, place))),
                    }
                })
            }
        }
    )*};
}

/// Returns the error of a number of leaves that differs from that of the parameters.
fn miscounted(takes: usize, given: usize) -> Error {
    Error::new(ErrorCode::Arity, format!("call: the function takes {takes} values, {given} given"))
}

macro_rules! by_reference {
    ($t:ident) => {
        &Array
    };
}

arities! {
    1 Expr a;
    2 Expr a Expr b;
    3 Expr a Expr b Expr c;
    4 Expr a Expr b Expr c Expr d;
    5 Expr a Expr b Expr c Expr d Expr e;
    6 Expr a Expr b Expr c Expr d Expr e Expr f;
    7 Expr a Expr b Expr c Expr d Expr e Expr f Expr g;
    8 Expr a Expr b Expr c Expr d Expr e Expr f Expr g Expr h;
    9 Expr a Expr b Expr c Expr d Expr e Expr f Expr g Expr h Expr i;
    10 Expr a Expr b Expr c Expr d Expr e Expr f Expr g Expr h Expr i Expr j;
    11 Expr a Expr b Expr c Expr d Expr e Expr f Expr g Expr h Expr i Expr j Expr k;
    12 Expr a Expr b Expr c Expr d Expr e Expr f Expr g Expr h Expr i Expr j Expr k Expr l;
}

/// Exactly `N` operands: the arguments of an inlined function.
///
/// ```
/// use ndjit::{Array, jit};
///
/// let add = jit(|x, y| x + y);
/// let f = jit(move |x| add.inline((x, 2)));
/// assert_eq!(f(&Array::from([1])).item::<i32>()?, 3);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the function takes {N} argument(s), `{Self}` is not a tuple of that many operands",
    note = "one operand per closure parameter: write `f.inline((x, y))`; one operand is `f.inline((x,))`"
)]
pub trait Operands<const N: usize> {
    #[doc(hidden)]
    fn operands(self) -> [crate::trace::operand::AnyOperand; N];
}

macro_rules! tuples {
    ($($n:literal $($t:ident)*;)*) => {$(
        impl<$($t: Operand),*> Operands<$n> for ($($t,)*) {
            #[allow(non_snake_case)]
            fn operands(self) -> [crate::trace::operand::AnyOperand; $n] {
                let ($($t,)*) = self;
                [$($t.operand()),*]
            }
        }
    )*};
}

for_each_tuple!(tuples);
