//! [`Array`]: data, or a computation on data that has not run yet.
//!
//! An array is one `Arc`. Concrete arrays hold a buffer of the dtype their type commits to, or see one of another array through
//! strides; lazy ones hold a recipe and get their buffer when read. Results never change, so an array may be read from any thread.

mod convert;
pub(crate) use convert::literal_bytes;
mod display;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "npy")]
mod npy;

use crate::explain::Explanation;
use crate::lazy::{self, Recipe};
use crate::manipulation::Move;
use ndjit_codegen::passes::access::contiguous;
use ndjit_ir::graph::Graph;
use ndjit_ir::loops::Layout;
use ndjit_ir::view::reshaped;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, ValueType};
use ndjit_runtime::{Buffer, Element};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// An n-dimensional array: elements of one [`DType`], or a computation that gives them.
///
/// Operators and methods do not compute: they note what is to be done. Reading ([`to_vec`](Array::to_vec),
/// [`item`](Array::item), printing), passing to a jitted function, or [`eval`](Array::eval) compiles and runs what was noted
/// as one program. When more than [`Array::NODE_LIMIT`] operations wait, they run at once, so memory stays bounded.
///
/// An operation that fails gives a poisoned array, and whatever reads it gets the first error. `Clone` is cheap and shares
/// the elements.
#[derive(Clone)]
pub struct Array(pub(crate) Arc<Node>);

/// What an [`Array`] points to.
pub(crate) struct Node {
    pub ty: ValueType,
    /// The dtype of the elements: of a weak array one of its kind.
    pub dtype: DType,
    pub shape: Shape,
    /// The elements, or why there are none.
    pub state: OnceLock<Result<Elements>>,
    /// How to get the elements, while there are none.
    pub recipe: Mutex<Option<Recipe>>,
    /// How many operations wait below, at most.
    pub waiting: usize,
    /// How a kernel computes the elements instead of reading them: a program without arguments, of one result.
    pub formula: Option<Graph<ValueType>>,
    /// Whether it waits for its elements since a function was traced, which computes them itself if it can.
    pub traced: bool,
}

/// Elements in memory.
pub(crate) struct Elements {
    pub buffer: Arc<Buffer>,
    /// Where they are in the buffer; `None` where they are all of it, in row-major order.
    pub layout: Option<Layout>,
    /// A copy in row-major order, once one was needed.
    dense: OnceLock<Arc<Buffer>>,
}

impl Elements {
    /// All of a buffer, in row-major order.
    pub fn dense(buffer: Arc<Buffer>) -> Elements {
        Elements { buffer, layout: None, dense: OnceLock::new() }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(recipe) = self.recipe.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            lazy::dismantle(recipe);
        }
    }
}

impl Array {
    /// The number of operations that may wait to be run. One more runs them.
    pub const NODE_LIMIT: usize = 1024;

    /// An array of a buffer that holds exactly `shape` elements of `dtype`.
    pub(crate) fn concrete(ty: impl Into<ValueType>, dtype: DType, shape: Shape, buffer: Arc<Buffer>) -> Array {
        Array::created(ty.into(), dtype, shape, buffer, None)
    }

    /// An array of a buffer, whose elements can be computed where they are used in a traced function.
    pub(crate) fn created(
        ty: ValueType,
        dtype: DType,
        shape: Shape,
        buffer: Arc<Buffer>,
        formula: Option<Graph<ValueType>>,
    ) -> Array {
        let (state, recipe) = (OnceLock::from(Ok(Elements::dense(buffer))), Mutex::new(None));
        Array(Arc::new(Node { ty, dtype, shape, state, recipe, waiting: 0, formula, traced: false }))
    }

    /// An array that is an error.
    pub(crate) fn poisoned(error: Error) -> Array {
        let state = OnceLock::from(Err(error));
        let (dtype, shape) = (DType::Bool, Shape::scalar());
        Array(Arc::new(Node {
            ty: dtype.into(),
            dtype,
            shape,
            state,
            recipe: Mutex::new(None),
            waiting: 0,
            formula: None,
            traced: false,
        }))
    }

    /// The address that tells this array from others.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// The elements; computes them if need be.
    pub(crate) fn elements(&self) -> Result<&Elements> {
        if self.0.state.get().is_none() {
            lazy::evaluate(self)?;
        }
        match self.0.state.get() {
            Some(Ok(elements)) => Ok(elements),
            Some(Err(error)) => Err(error.clone()),
            None => Err(Error::new(ErrorCode::Verify, "array: evaluated, but without elements")),
        }
    }

    /// The elements in row-major order; copies them if need be, once.
    pub(crate) fn buffer(&self) -> Result<&Arc<Buffer>> {
        let elements = self.elements()?;
        if elements.layout.is_none() {
            return Ok(&elements.buffer);
        }
        if let Some(dense) = elements.dense.get() {
            return Ok(dense);
        }
        let dense = lazy::copy(self)?;
        Ok(elements.dense.get_or_init(|| dense))
    }

    /// Where the elements are in their buffer, if they are there and not all of it in row-major order.
    pub(crate) fn layout(&self) -> Option<&Layout> {
        self.0.state.get()?.as_ref().ok()?.layout.as_ref()
    }

    /// What a view shows of elements that are there, in the same memory. `None` where they have to be computed or copied.
    pub(crate) fn seen(&self, step: &Move, shape: &Shape) -> Option<Array> {
        let elements = self.0.state.get()?.as_ref().ok()?;
        let own = match &elements.layout {
            Some(layout) => layout.clone(),
            None => contiguous(&self.0.shape, self.0.dtype).ok()?,
        };
        let layout = match step {
            Move::View(view) => view.layout(&own),
            Move::Reshape => reshaped(&own, &self.0.shape, shape)?,
            Move::Concat(_) | Move::Iota(_) => return None,
        };
        let all = shape.bytes(self.0.dtype.bytes()).ok() == Some(elements.buffer.len());
        let in_order = all && contiguous(shape, self.0.dtype).is_ok_and(|own| own.same_elements(&layout, shape));
        let layout = (!in_order).then_some(layout);
        let formula = self.0.formula.as_ref().map(|formula| {
            let mut formula = formula.clone();
            let whole = formula.outputs()[0];
            let seen = match step {
                Move::View(view) => formula.view(whole, view.clone(), shape),
                _ => formula.reshape(whole, shape),
            };
            formula.set_outputs(vec![seen]);
            formula
        });
        let elements = Elements { buffer: Arc::clone(&elements.buffer), layout, dense: OnceLock::new() };
        let (state, recipe) = (OnceLock::from(Ok(elements)), Mutex::new(None));
        let (ty, dtype, shape) = (self.0.ty, self.0.dtype, shape.clone());
        Some(Array(Arc::new(Node { ty, dtype, shape, state, recipe, waiting: 0, formula, traced: false })))
    }

    /// The error, if the operation that made this array failed.
    pub fn error(&self) -> Option<&Error> {
        self.0.state.get()?.as_ref().err()
    }

    /// The extents of the axes, outermost first. Those of a scalar for a poisoned array.
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// The dtype of the elements; of a weak array the default of its kind under the policy it was made with.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// The type: a dtype, or weak.
    pub fn value_type(&self) -> ValueType {
        self.0.ty
    }

    /// Whether the type is weak: the array takes the dtype of what it meets, as bare numbers do.
    pub fn is_weak(&self) -> bool {
        self.0.ty.is_weak()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.0.shape.size().unwrap_or(0)
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Why the array has its dtype: the operations that wait, back to the arrays and numbers that decided it. Operations that
    /// have run are forgotten; of an array that holds its elements nothing more is known than that it does.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let x = Array::from([1u8, 2]);
    /// assert!((&x / 2).explain_dtype()?.to_string().ends_with("join u8 ∨ i* = u8; u8 becomes the float f32"));
    /// assert_eq!(x.explain_dtype()?.to_string(), "u8 held as data");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error, if the operation that made this array failed.
    pub fn explain_dtype(&self) -> Result<Explanation> {
        lazy::explain(self)
    }

    /// Runs what waits. Reading does so too.
    ///
    /// # Errors
    /// The first error of the operations that lead here; `Allocation` if memory is refused.
    pub fn eval(&self) -> Result<&Array> {
        self.buffer().map(|_| self)
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// `DType` if the dtype is not `T`'s; those of [`eval`](Array::eval).
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.expect_dtype::<T>("to_vec")?;
        ndjit_runtime::pod::read(self.buffer()?.as_bytes())
    }

    /// The elements in row-major order; without a copy if the array was made from a `Vec<T>` and nothing else uses it.
    ///
    /// # Errors
    /// As [`to_vec`](Array::to_vec).
    #[track_caller]
    pub fn into_vec<T: Element>(self) -> Result<Vec<T>> {
        self.expect_dtype::<T>("into_vec")?;
        self.into_buffer()?.into_vec()
    }

    /// The buffer, of which this was the only owner if the array was the only one.
    pub(crate) fn into_buffer(self) -> Result<Arc<Buffer>> {
        let buffer = Arc::clone(self.buffer()?);
        drop(self);
        Ok(buffer)
    }

    /// The one element of an array that has one.
    ///
    /// # Errors
    /// `Shape` if there are more or fewer; those of [`to_vec`](Array::to_vec).
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        self.expect_dtype::<T>("item")?;
        let place = ndjit_ir::Place::caller();
        let elements = ndjit_runtime::pod::read::<T>(self.buffer()?.as_bytes())?;
        match elements[..] {
            [element] => Ok(element),
            _ => Err(Error::new(ErrorCode::Shape, format!("item: the array has {} elements, not one", elements.len()))
                .at(place)
                .fact(format_args!("the array: {}{}", self.value_type(), self.shape()))
                .help("`to_vec` reads all elements")),
        }
    }

    #[track_caller]
    fn expect_dtype<T: Element>(&self, what: &str) -> Result<()> {
        let dtype = self.dtype();
        if let Some(error) = self.error() {
            return Err(error.clone());
        }
        if dtype == T::DTYPE {
            return Ok(());
        }
        Err(Error::new(ErrorCode::DType, format!("{what}: the elements are {dtype}, not {}", T::DTYPE))
            .at(ndjit_ir::Place::caller())
            .fact(format_args!("the array: {}{}", self.value_type(), self.shape()))
            .help(format!("read `{}`, or convert with `.cast(DType::{:?})`", dtype.row().rust, T::DTYPE)))
    }
}

const _: () = {
    const fn is_shareable<T: Send + Sync>() {}
    is_shareable::<Array>();
};
