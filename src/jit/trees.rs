//! [`trees`]: functions whose parameters are structures of arrays.

use crate::diagnostics::report::report;
use crate::jit::arguments::TreeArgs;
use crate::jit::caller;
use crate::jit::erased::Core;
use crate::jit::function::JitFn;
use crate::jit::output::{Collected, Outputs, built, collected};
use crate::trace::arity::for_each_tuple;
use ndjit_eval::plan::compiled::Lengths;
use ndjit_ir::{Error, ErrorCode, Result};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// A function whose parameters are structures, created by [`trees`].
///
/// ```
/// use ndjit::{Array, Expr, jit, trees};
///
/// let f = jit(trees(|(x, y): (Expr, Expr)| x + y));
/// assert_eq!(f(&(Array::from(1), Array::from(2))).item::<i32>()?, 3);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub struct Trees<F, M> {
    function: F,
    marker: PhantomData<fn() -> M>,
}

/// Declares a function whose parameters are structures: tuples, arrays and `Vec`s of [`Expr`](crate::Expr)s, and
/// structs declared with [`outputs!`](crate::outputs), nested freely. The jitted or transformed function takes the same
/// structures of [`Array`](crate::Array)s. The closure's parameters need annotations.
///
/// ```
/// use ndjit::{Array, Expr, grad, jit, outputs, sum, trees};
///
/// struct Line<T> {
///     slope: T,
///     offset: T,
/// }
/// outputs!(Line<Expr> => Line<Array> { slope, offset });
///
/// let loss = |line: Line<Expr>, x: Expr, y: Expr| {
///     let error = line.slope * x + line.offset - y;
///     sum(error * error, ..)
/// };
/// let slopes = jit(grad(trees(loss)));
/// let line = Line { slope: Array::from(1.0f32), offset: Array::from(0.0f32) };
/// let (x, y) = (Array::from([1.0f32, 2.0]), Array::from([3.0f32, 5.0]));
/// let by: Line<Array> = slopes(&line, &x, &y);
/// assert_eq!((by.slope.item::<f32>()?, by.offset.item::<f32>()?), (-16.0, -10.0));
///
/// // Errors as values; an owned structure gives its memory to the results.
/// assert!(slopes.call((line, &x, &y)).is_ok());
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Each array is an argument of the compiled function, in the order of the structure. Other lengths of lists make
/// another signature. `trace` and other methods with [specs](crate::Spec) have one spec for each array, and empty
/// lists.
pub fn trees<M, const N: usize, F>(function: F) -> Trees<F, M>
where
    Trees<F, M>: JitFn<Trees<(), M>, N>,
{
    Trees { function, marker: PhantomData }
}

impl<F, M> Deref for Trees<F, M> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.function
    }
}

/// Returns the leaves of each of `N` parameters.
fn parameters<const N: usize>(leaves: &Collected) -> Option<[Collected; N]> {
    let (mut exprs, mut structure) = (&leaves.exprs[..], &leaves.lengths[..]);
    let mut all = [const { None }; N];
    for own in &mut all {
        let (&[count, lists], rest) = structure.split_first_chunk()?;
        let (lengths, others) = rest.split_at_checked(lists)?;
        let (own_exprs, rest) = exprs.split_at_checked(count)?;
        *own = Some(Collected { exprs: own_exprs.to_vec(), lengths: Lengths::from_slice(lengths) });
        (exprs, structure) = (rest, others);
    }
    let all = all.map(Option::unwrap_or_default);
    (exprs.is_empty() && structure.is_empty()).then_some(all)
}

/// Returns the error of an argument whose structure differs from the parameter's.
fn other_structure(n: usize, given: &Collected) -> Error {
    let lists = match &given.lengths[..] {
        [] => String::new(),
        lengths => format!(", with lists of {lengths:?}"),
    };
    Error::new(ErrorCode::Arity, format!("call: argument {n} has another structure than the parameter"))
        .fact(format_args!("it has {} arrays{lists}", given.exprs.len()))
        .help("pass arrays where the parameter has expressions: `&Params<Array>` for `Params<Expr>`")
}

macro_rules! arities {
    ($($n:literal $first:ident $($t:ident)*;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<Func, Out, $first, $($t),*> JitFn<Trees<(), fn($first, $($t),*) -> Out>, $n>
            for Trees<Func, fn($first, $($t),*) -> Out>
        where
            Func: Fn($first, $($t),*) -> Out + Send + Sync + 'static,
            Out: Outputs + 'static,
            $first: Outputs + 'static,
            $($t: Outputs + 'static,)*
        {
            type Outputs = Out;
            type First = $first;
            type Call = dyn Fn(&$first::Arrays, $(&$t::Arrays),*) -> Out::Arrays + Send + Sync;
            type With<Other: Outputs + 'static> =
                Trees<Box<dyn Fn($first, $($t),*) -> Other + Send + Sync>, fn($first, $($t),*) -> Other>;

            const TREES: bool = true;

            #[allow(non_snake_case)]
            fn with<Other: Outputs + 'static>(
                function: impl Fn(&[Collected; $n]) -> Other + Send + Sync + 'static,
            ) -> Self::With<Other> {
                Trees {
                    function: Box::new(move |$first: $first, $($t: $t),*| {
                        function(&[collected($first), $(collected($t)),*])
                    }),
                    marker: PhantomData,
                }
            }

            #[allow(non_snake_case)]
            fn apply(&self, parameters: &[Collected; $n]) -> Out {
                let [$first, $($t),*] = parameters;
                (self.function)(built(&$first.exprs, $first), $(built(&$t.exprs, $t)),*)
            }

            #[allow(non_snake_case)]
            fn parameters(leaves: &Collected) -> Result<[Collected; $n]> {
                let all = parameters::<$n>(leaves).ok_or_else(|| other_structure(0, leaves))?;
                let [$first, $($t),*] = &all;
                let fit = [$first.is::<$first>(), $($t.is::<$t>()),*];
                match fit.iter().position(|fits| !fits) {
                    Some(n) => Err(other_structure(n, &all[n])),
                    None => Ok(all),
                }
            }

            fn leaves() -> (usize, Lengths) {
                let (mut arity, mut structure) = (0, Lengths::new());
                for [exprs, lists] in [Collected::least::<$first>(), $(Collected::least::<$t>()),*] {
                    arity += exprs;
                    structure.extend([exprs, lists]);
                    structure.extend(std::iter::repeat_n(0, lists));
                }
                (arity, structure)
            }

            #[allow(non_snake_case)]
            fn callable(core: Arc<Core>) -> Box<Self::Call> {
                Box::new(move |$first: &$first::Arrays, $($t: &$t::Arrays),*| {
                    let place = caller::take(&core);
                    let called = (|| {
                        let mut args = TreeArgs::default();
                        args.tree($first)?;
                        $(args.tree($t)?;)*
                        let (args, structure) = args.parts();
                        core.call(args, structure, place)
                    })();
                    match called {
                        Ok(mut parts) => Out::arrays(&mut parts),
                        Err(error) => panic!("{}", report(&caller::called(error, place))),
                    }
                })
            }
        }
    )*};
}

for_each_tuple!(arities);
