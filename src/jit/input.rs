//! Arguments of jitted functions: what can be passed, without a copy, and how it is described to a plan.

use crate::array::literal::literal_bytes;
use crate::array::node::Array;
use crate::jit::output::RESULTS;
use crate::trace::arity::for_each_tuple;
use crate::trace::operand::AnyOperand;
use crate::trace::scalar::{Scalar, each_number};
use ndjit_ir::graph::Type;
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, ValueType};
use ndjit_runtime::element::bytes_of;
use ndjit_runtime::pod::{ElementsMut, elements_mut};
use ndjit_runtime::{Argument, Buffer, Element, Memory};
use smallvec::SmallVec;
use std::sync::Arc;

/// One argument of a call.
pub struct Arg<'a> {
    pub(crate) ty: ValueType,
    /// The dtype of the elements; of a weak number without meaning.
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    /// `None` is row-major from the start.
    pub(crate) layout: Option<Layout>,
    pub(crate) data: Data<'a>,
}

pub(crate) enum Data<'a> {
    Shared(&'a Memory),
    /// Memory that may be used for a result.
    Donated(Memory),
    Borrowed(&'a [u8]),
    /// The bytes of a strong scalar.
    Inline(SmallVec<[u8; 16]>),
    /// A weak scalar: a literal slot that is filled at each call.
    Scalar(Literal),
}

impl<'a> Arg<'a> {
    pub(crate) fn slice<T: Element>(elements: &'a [T]) -> Arg<'a> {
        Arg {
            ty: ValueType::Strong(T::DTYPE),
            dtype: T::DTYPE,
            shape: Shape::new(&[elements.len()]),
            layout: None,
            data: Data::Borrowed(bytes_of(elements)),
        }
    }

    fn literal(literal: Literal) -> Result<Arg<'a>> {
        let data = match literal.ty() {
            ValueType::Weak(_) => Data::Scalar(literal),
            ValueType::Strong(dtype) => Data::Inline(literal_bytes(&literal, dtype)?),
        };
        let ty = literal.ty();
        Ok(Arg { ty, dtype: ty.storage_dtype(), shape: Shape::scalar(), layout: None, data })
    }

    /// Where the elements are; `None` for numbers, which go anywhere.
    pub(crate) fn device(&self) -> Option<Device> {
        match &self.data {
            Data::Shared(memory) => Some(memory.device()),
            Data::Donated(memory) => Some(memory.device()),
            Data::Borrowed(_) => Some(Device::CPU),
            Data::Inline(_) | Data::Scalar(_) => None,
        }
    }

    /// The array for the runtime; `None` for a weak scalar.
    pub(crate) fn argument<'b>(&'b mut self) -> Option<Argument<'b>> {
        match &mut self.data {
            Data::Shared(memory) => Some(memory.argument()),
            Data::Donated(Memory::Host(buffer)) => {
                // The runtime must be the only owner to reuse the memory.
                let given = std::mem::replace(buffer, empty());
                Some(Argument::Donated(given))
            }
            Data::Donated(memory) => Some(memory.argument()),
            Data::Borrowed(bytes) => Some(Argument::Borrowed(bytes)),
            Data::Inline(bytes) => Some(Argument::Borrowed(bytes)),
            Data::Scalar(_) => None,
        }
    }
}

fn empty() -> Arc<Buffer> {
    static EMPTY: std::sync::LazyLock<Arc<Buffer>> =
        std::sync::LazyLock::new(|| Arc::new(Buffer::from_vec(Vec::<u8>::new())));
    Arc::clone(&EMPTY)
}

/// What can be passed to a jitted function: `&Array`; an owned or [donated](Array::donate) `Array`, whose memory may become
/// a result's; `&[T]`, `&Vec<T>` and `&[T; N]` as one axis, read in place; numbers; views of `ndarray` with that feature.
///
/// Bare numbers are weak, as in expressions, and exact: no plan is made anew for another number.
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
    fn arg(self) -> Result<Arg<'a>>;
}

impl<'a> Input<'a> for &'a Array {
    fn arg(self) -> Result<Arg<'a>> {
        let elements = self.elements()?;
        let (layout, data) = (elements.layout.clone(), Data::Shared(&elements.memory));
        Ok(Arg { ty: self.value_type(), dtype: self.dtype(), shape: self.shape().clone(), layout, data })
    }
}

impl<'a> Input<'a> for Array {
    fn arg(self) -> Result<Arg<'a>> {
        let (ty, dtype, shape) = (self.value_type(), self.dtype(), self.shape().clone());
        let layout = self.elements()?.layout.clone();
        let memory = self.elements()?.memory.clone();
        drop(self);
        Ok(Arg { ty, dtype, shape, layout, data: Data::Donated(memory) })
    }
}

/// An array given to a call: see [`Array::donate`].
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
    /// Gives the array's memory to a call, which may write a result into it if no clone of the array is left.
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
    /// An array or a number, for functions of any number of arguments. An expression is an error: it has no elements.
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
    note = "write `f.call((&x, &y))`; one argument is `f.call((&x,))`"
)]
pub trait Inputs<'a, const N: usize> {
    #[doc(hidden)]
    fn args(self) -> Result<[Arg<'a>; N]>;
}

macro_rules! tuples {
    ($($n:literal $($t:ident)*;)*) => {$(
        impl<'a, $($t: Input<'a>),*> Inputs<'a, $n> for ($($t,)*) {
            #[allow(non_snake_case)]
            fn args(self) -> Result<[Arg<'a>; $n]> {
                let ($($t,)*) = self;
                Ok([$($t.arg()?),*])
            }
        }
    )*};
}

for_each_tuple!(tuples);

/// Memory that a result is written into.
pub struct Destination<'a> {
    pub(crate) dtype: DType,
    pub(crate) len: usize,
    pub(crate) into: Sink<'a>,
}

pub(crate) enum Sink<'a> {
    Bytes(&'a mut [u8]),
    /// Not every byte is one of these.
    Truths(&'a mut [bool]),
}

/// The destinations of a call.
pub(crate) type Sinks<'a> = SmallVec<[Destination<'a>; RESULTS]>;

/// Where results are written: `&mut [T]`, `&mut Vec<T>` or `&mut [T; N]`, as many elements as the result has; tuples of them
/// for several results.
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
