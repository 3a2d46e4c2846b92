//! Inputs of jitted functions, passed without a copy, and their descriptions for plans.

use crate::array::node::Array;
use crate::jit::arguments::{CallArgs, TreeArgs};
use crate::trace::arity::for_each_tuple;
use crate::trace::operand::AnyOperand;
use crate::trace::scalar::{Scalar, each_number};
use ndjit_eval::argument::{ArgumentData, CallArgument};
use ndjit_eval::plan::compiled::RESULTS;
use ndjit_ir::literal::Literal;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use ndjit_runtime::Element;
use ndjit_runtime::pod::{ElementsMut, elements_mut};
use smallvec::SmallVec;

/// One argument of a call.
pub struct Arg<'a> {
    pub(crate) argument: CallArgument<'a>,
}

impl<'a> Arg<'a> {
    fn slice<T: Element>(elements: &'a [T]) -> Arg<'a> {
        Arg { argument: CallArgument::slice(elements) }
    }

    fn literal(literal: Literal) -> Result<Arg<'a>> {
        Ok(Arg { argument: CallArgument::literal(literal)? })
    }
}

/// Returns the descriptions of arguments for plans.
pub(crate) fn known<'s, 'a>(args: &'s [Arg<'a>]) -> impl ExactSizeIterator<Item = &'s CallArgument<'a>> + Clone {
    args.iter().map(|arg| &arg.argument)
}

/// An input of a jitted function:
/// - `&Array`, read in place;
/// - an owned or [donated](Array::donate) `Array`, whose memory a result may reuse;
/// - `&[T]`, `&Vec<T>` and `&[T; N]` as one axis, read in place;
/// - numbers;
/// - views of `ndarray`, with that feature;
/// - structures of arrays, for functions that [take them](fn@crate::trees).
///
/// Bare numbers are weak, as in expressions, and exact. Another number of the same kind uses the same plan.
///
/// ```
/// use ndjit::{Array, jit};
///
/// let f = jit(|x, y| x + y);
/// let x = Array::from([1.0f32]);
/// assert_eq!(f.call((&x, 0.5))?.item::<f32>()?, 1.5);
/// assert_eq!(f.call((&[1.0f32], x.donate()))?.item::<f32>()?, 2.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a jitted function",
    label = "not an array, a slice or a number",
    note = "arguments are `&Array`, `Array`, `&[T]`, `&Vec<T>`, `&[T; N]`, and numbers; `vec` is passed as `&vec`"
)]
pub trait Input<'a> {
    #[doc(hidden)]
    const IS_TREE: bool = false;

    #[doc(hidden)]
    fn arg(self) -> Result<Arg<'a>>;

    #[doc(hidden)]
    fn args(self, into: &mut TreeArgs<'a>) -> Result<()>
    where
        Self: Sized,
    {
        into.leaf(self.arg()?);
        Ok(())
    }
}

impl<'a> Input<'a> for &'a Array {
    fn arg(self) -> Result<Arg<'a>> {
        let elements = self.elements()?;
        let (layout, data) = (elements.layout.clone(), ArgumentData::Shared(&elements.memory));
        let (ty, dtype, shape) = (self.value_type(), self.dtype(), self.shape().clone());
        Ok(Arg { argument: CallArgument { ty, dtype, shape, layout, data } })
    }
}

impl<'a> Input<'a> for Array {
    fn arg(self) -> Result<Arg<'a>> {
        let (ty, dtype, shape) = (self.value_type(), self.dtype(), self.shape().clone());
        let layout = self.elements()?.layout.clone();
        let memory = self.elements()?.memory.clone();
        drop(self);
        Ok(Arg { argument: CallArgument { ty, dtype, shape, layout, data: ArgumentData::Donated(memory) } })
    }
}

/// An array whose memory is given to a call: see [`Array::donate`].
///
/// ```
/// use ndjit::{Array, jit};
///
/// let f = jit(|x| x + 1);
/// let x = Array::from([1.0f32, 2.0]);
/// assert_eq!(f.call((x.donate(),))?.to_vec::<f32>()?, [2.0, 3.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub struct Donated(Array);

impl Array {
    /// Donates the array's memory to a call, which may store a result there if the array has no other clones.
    ///
    /// ```
    /// use ndjit::{Array, assert_in_place, jit};
    ///
    /// let f = jit(|x| x + 1);
    /// assert_in_place!(f, (Array::from([1.0f32, 2.0]).donate(),));
    /// ```
    pub fn donate(self) -> Donated {
        Donated(self)
    }
}

impl<'a> Input<'a> for Donated {
    fn arg(self) -> Result<Arg<'a>> {
        self.0.arg()
    }
}

impl<'a, T: Element> Input<'a> for &'a [T] {
    fn arg(self) -> Result<Arg<'a>> {
        Ok(Arg::slice(self))
    }
}

impl<'a, T: Element> Input<'a> for &'a Vec<T> {
    fn arg(self) -> Result<Arg<'a>> {
        Ok(Arg::slice(self))
    }
}

impl<'a, T: Element, const N: usize> Input<'a> for &'a [T; N] {
    fn arg(self) -> Result<Arg<'a>> {
        Ok(Arg::slice(self))
    }
}

impl<'a> Input<'a> for Scalar {
    fn arg(self) -> Result<Arg<'a>> {
        Arg::literal(self.0)
    }
}

impl<'a> Input<'a> for &'a AnyOperand {
    /// Returns an array or a number, for functions with any number of arguments. An expression is an error: it has no
    /// elements.
    fn arg(self) -> Result<Arg<'a>> {
        match self {
            AnyOperand::Array(array) => array.arg(),
            AnyOperand::Scalar(number) => number.arg(),
            AnyOperand::Expr(_) => Err(Error::new(ErrorCode::Traced, "call: a traced value has no elements")
                .help("pass arrays and numbers; inside a traced function use its operations")),
        }
    }
}

macro_rules! number_inputs {
    ($($t:ty)*) => {$(
        impl<'a> Input<'a> for $t {
            fn arg(self) -> Result<Arg<'a>> {
                Arg::literal(Literal::from(self))
            }
        }
    )*};
}

each_number!(number_inputs);

/// Exactly `N` arguments: a tuple of [`Input`]s; one argument is `(&x,)`.
///
/// ```
/// use ndjit::{Array, jit};
///
/// let f = jit(|x, y| x + y);
/// assert_eq!(f.call((&[1.0f32, 2.0], 1))?.to_vec::<f32>()?, [2.0, 3.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the function takes {N} argument(s), `{Self}` is not a tuple of that many inputs",
    label = "expected a tuple of {N} input(s)",
    note = "one input per closure parameter: write `f.call((&x, &y))`; one input is `f.call((&x,))`"
)]
pub trait Inputs<'a, const N: usize> {
    #[doc(hidden)]
    fn args(self) -> Result<CallArgs<'a, N>>;
}

macro_rules! tuples {
    ($($n:literal $($t:ident)*;)*) => {$(
        impl<'a, $($t: Input<'a>),*> Inputs<'a, $n> for ($($t,)*) {
            #[allow(non_snake_case)]
            fn args(self) -> Result<CallArgs<'a, $n>> {
                let ($($t,)*) = self;
                if $($t::IS_TREE)||* {
                    let mut trees = TreeArgs::default();
                    $($t.args(&mut trees)?;)*
                    return Ok(CallArgs::Trees(trees));
                }
                Ok(CallArgs::Leaves([$($t.arg()?),*]))
            }
        }
    )*};
}

for_each_tuple!(tuples);

/// Memory for a result.
pub struct Destination<'a> {
    pub(crate) dtype: DType,
    pub(crate) len: usize,
    pub(crate) into: Sink<'a>,
}

pub(crate) enum Sink<'a> {
    Bytes(&'a mut [u8]),
    /// Separate, since not every byte is a valid bool.
    Truths(&'a mut [bool]),
}

/// The destinations of a call.
pub(crate) type Sinks<'a> = SmallVec<[Destination<'a>; RESULTS]>;

/// Destinations of results: `&mut [T]`, `&mut Vec<T>` or `&mut [T; N]` with the number of elements of the result;
/// tuples of them for several results.
///
/// ```
/// use ndjit::jit;
///
/// let f = jit(|x| (x + 1, x * 2));
/// let (mut sums, mut products) = ([0i32; 2], [0i32; 2]);
/// f.call_into((&[5, 6],), (&mut sums[..], &mut products))?;
/// assert_eq!((sums, products), ([6, 7], [10, 12]));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "results cannot be written into `{Self}`",
    label = "not `&mut [T]`, nor a tuple of them"
)]
pub trait Destinations<'a> {
    #[doc(hidden)]
    fn destinations(self, into: &mut SmallVec<[Destination<'a>; RESULTS]>);
}

impl<'a, T: Element> Destinations<'a> for &'a mut [T] {
    fn destinations(self, into: &mut SmallVec<[Destination<'a>; RESULTS]>) {
        let len = self.len();
        let destination = match elements_mut(self) {
            ElementsMut::Bytes(bytes) => Sink::Bytes(bytes),
            ElementsMut::Truths(truths) => Sink::Truths(truths),
        };
        into.push(Destination { dtype: T::DTYPE, len, into: destination });
    }
}

impl<'a, T: Element> Destinations<'a> for &'a mut Vec<T> {
    fn destinations(self, into: &mut SmallVec<[Destination<'a>; RESULTS]>) {
        self.as_mut_slice().destinations(into);
    }
}

impl<'a, T: Element, const N: usize> Destinations<'a> for &'a mut [T; N] {
    fn destinations(self, into: &mut SmallVec<[Destination<'a>; RESULTS]>) {
        self.as_mut_slice().destinations(into);
    }
}

macro_rules! destination_tuples {
    ($($n:literal $($t:ident)*;)*) => {$(
        impl<'a, $($t: Destinations<'a>),*> Destinations<'a> for ($($t,)*) {
            #[allow(non_snake_case)]
            fn destinations(self, into: &mut SmallVec<[Destination<'a>; RESULTS]>) {
                let ($($t,)*) = self;
                $($t.destinations(into);)*
            }
        }
    )*};
}

for_each_tuple!(destination_tuples);
