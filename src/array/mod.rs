//! [`Array`]: data, or a computation on data that has not run yet.
//!
//! An array is one `Arc`. Concrete arrays hold a buffer of the dtype their type commits to, or see one of another array through
//! strides; lazy ones hold a recipe and get their buffer when read. Results never change, so an array may be read from any thread.

mod convert;
pub(crate) use convert::literal_bytes;
mod display;
pub(crate) mod lazy;
mod node;

pub(crate) use node::{Elements, Node, Source, State};

use crate::array::lazy::{Kept, Recipe};
use crate::trace;
use ndjit_inspect::explain::Explanation;
use ndjit_ir::graph::Graph;
use ndjit_ir::infer::Operation;
use ndjit_ir::lock::Mutex;
use ndjit_ir::loops::Layout;
use ndjit_ir::support::Device;
use ndjit_ir::view::{View, reshaped};
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, ValueType};
use ndjit_runtime::{Buffer, Element, Memory};
use ndjit_transform::access::contiguous;
use std::sync::{Arc, OnceLock};

/// An n-dimensional array: elements of one [`DType`], or a computation that gives them.
///
/// Operators and methods do not compute: they note what is to be done. Reading ([`to_vec`](Array::to_vec),
/// [`item`](Array::item), printing), passing to a jitted function, or [`eval`](Array::eval) compiles and runs what was noted
/// as one program. When more than [`Array::NODE_LIMIT`] operations wait, they run at once, so memory stays bounded.
/// Of operations on the way to what is read nothing is stored at first. An operation that runs again has its result kept in the array that holds it,
/// unless it is cheap: loops that read as they go take as long for each step, and hold no more than arrays computed at once would. Where memory is
/// refused, what was kept is given back and computed when it is needed.
///
/// An operation that fails gives a poisoned array, and whatever reads it, or computes with it, gets the first error; printing shows it. Such
/// an array has neither dtype nor shape: [`dtype`](Array::dtype), [`shape`](Array::shape) and what follows from them are
/// those of a `bool` scalar, so ask [`error`](Array::error) first where an operation may have failed. What is found out only when
/// it runs, such as memory that is refused, is an error of each reading, and the array is not poisoned. `Clone` is cheap and shares the elements.
///
/// ```
/// use ndjit::{Array, DType};
///
/// let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]);
/// let y = (&x * 2).sum(0); // nothing is computed yet
/// assert_eq!((y.dtype(), y.to_vec::<f32>()?), (DType::F32, vec![8.0, 12.0]));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone)]
pub struct Array(pub(crate) Arc<Node>);

impl Array {
    /// The number of operations that may wait to be run. One more runs them.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let mut x = Array::from([0]);
    /// for _ in 0..2 * Array::NODE_LIMIT {
    ///     x = x + 1;
    /// }
    /// assert_eq!(x.item::<i32>()?, 2048);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub const NODE_LIMIT: usize = 1024;

    /// An array of a buffer that holds exactly `shape` elements of `dtype`.
    pub(crate) fn concrete(ty: impl Into<ValueType>, dtype: DType, shape: Shape, buffer: Arc<Buffer>) -> Array {
        Array::made(ty.into(), dtype, shape, Elements::dense(Memory::Host(buffer)), None)
    }

    /// An array of memory that holds exactly `shape` elements of `dtype`.
    pub(crate) fn in_memory(ty: ValueType, dtype: DType, shape: Shape, memory: Memory) -> Array {
        Array::made(ty, dtype, shape, Elements::dense(memory), None)
    }

    /// An array of a buffer that holds its elements where the layout says; without one in row-major order and nothing else.
    pub(crate) fn laid_out(dtype: DType, shape: Shape, buffer: Arc<Buffer>, layout: Option<Layout>) -> Array {
        Array::made(dtype.into(), dtype, shape, Elements { layout, ..Elements::dense(Memory::Host(buffer)) }, None)
    }

    /// An array of a buffer, whose elements can be computed where they are used in a traced function.
    pub(crate) fn created(
        ty: ValueType,
        dtype: DType,
        shape: Shape,
        buffer: Arc<Buffer>,
        formula: Option<Graph<ValueType>>,
    ) -> Array {
        Array::made(ty, dtype, shape, Elements::dense(Memory::Host(buffer)), formula.map(Box::new))
    }

    fn made(
        ty: ValueType,
        dtype: DType,
        shape: Shape,
        elements: Elements,
        formula: Option<Box<Graph<ValueType>>>,
    ) -> Array {
        let device = elements.memory.device();
        let (state, source) = (State::Made(Ok(elements)), Mutex::new(Source::Nothing));
        Array(Arc::new(Node { ty, dtype, shape, device, state, source, waiting: 0, formula, traced: false }))
    }

    /// An array that is an error.
    pub(crate) fn poisoned(error: Error) -> Array {
        let state = State::Made(Err(error));
        let (dtype, shape) = (DType::Bool, Shape::scalar());
        Array(Arc::new(Node {
            ty: dtype.into(),
            dtype,
            shape,
            device: Device::CPU,
            state,
            source: Mutex::new(Source::Nothing),
            waiting: 0,
            formula: None,
            traced: false,
        }))
    }

    /// An array that an operation gives, below which so many operations wait at most.
    pub(crate) fn waiting(
        ty: ValueType,
        dtype: DType,
        shape: Shape,
        device: Device,
        recipe: Recipe,
        waiting: usize,
    ) -> Array {
        Array(Arc::new(Node {
            ty,
            dtype,
            shape,
            device,
            state: State::Waiting(OnceLock::new()),
            source: Mutex::new(Source::Recipe(Arc::new(recipe))),
            waiting,
            formula: None,
            traced: trace::is_tracing(),
        }))
    }

    /// Whether it has no elements.
    pub(crate) fn waits(&self) -> bool {
        self.0.state.get().is_none() && self.0.source.lock().recipe().is_some()
    }

    /// Its elements, if they were kept.
    pub(crate) fn kept(&self) -> Option<Arc<Kept>> {
        match &*self.0.source.lock() {
            Source::Kept(kept) => Some(Arc::clone(kept)),
            Source::Nothing | Source::Recipe(_) => None,
        }
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

    /// The elements in row-major order, on the array's device; copies them if need be, once.
    pub(crate) fn memory(&self) -> Result<&Memory> {
        let elements = self.elements()?;
        if elements.layout.is_none() {
            return Ok(&elements.memory);
        }
        if let Some(dense) = elements.dense.get() {
            return Ok(dense);
        }
        let dense = lazy::copy(self)?;
        Ok(elements.dense.get_or_init(|| dense))
    }

    /// The elements in row-major order in the host's memory.
    pub(crate) fn buffer(&self) -> Result<Arc<Buffer>> {
        let memory = self.memory()?;
        let coming = self.elements()?.coming.lock().take();
        let Some(reading) = coming else { return memory.host() };
        let mut buffer = Buffer::zeroed(memory.len())?;
        reading.finish(buffer.as_bytes_mut()?)?;
        Ok(Arc::new(buffer))
    }

    /// Where the elements are in their buffer, if they are there and not all of it in row-major order.
    pub(crate) fn layout(&self) -> Option<&Layout> {
        self.0.state.get()?.as_ref().ok()?.layout.as_ref()
    }

    /// Where the elements are, or will be, in their memory.
    pub(crate) fn memory_layout(&self) -> Result<Layout> {
        self.layout().map_or_else(|| contiguous(&self.0.shape, self.0.dtype), |layout| Ok(layout.clone()))
    }

    /// What a view shows of elements that are there, in the same memory. `None` where they have to be computed or copied.
    pub(crate) fn seen(&self, operation: &Operation<'_>, shape: &Shape) -> Option<Array> {
        let memory = match self.0.state.get() {
            Some(elements) => elements.as_ref().ok()?.memory.clone(),
            None => self.kept()?.memory.clone(),
        };
        let own = self.memory_layout().ok()?;
        let layout = match operation {
            Operation::View(view, _) => view.layout(&own),
            Operation::Reshape(_) => reshaped(&own, &self.0.shape, shape)?,
            _ => return None,
        };
        let all = shape.bytes(self.0.dtype.bytes()).ok() == Some(memory.len());
        let in_order = all && contiguous(shape, self.0.dtype).is_ok_and(|own| own.same_elements(&layout, shape));
        let layout = (!in_order).then_some(layout);
        let formula = self.0.formula.as_ref().map(|formula| {
            let mut formula = formula.clone();
            let whole = formula.outputs()[0];
            let seen = match operation {
                Operation::View(view, _) => formula.view(whole, View::clone(view), shape),
                _ => formula.reshape(whole, shape),
            };
            formula.set_outputs(vec![seen]);
            formula
        });
        let elements = Elements { layout, ..Elements::dense(memory) };
        Some(Array::made(self.0.ty, self.0.dtype, shape.clone(), elements, formula))
    }

    /// The error, if the operation that made this array failed. Computes nothing: what only [running](Array::eval) finds out is not known yet.
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode};
    ///
    /// let sum = Array::from([1, 2]) + Array::from([1, 2, 3]);
    /// assert_eq!(sum.error().map(|error| error.code()), Some(ErrorCode::Shape));
    /// assert_eq!(format!("{sum:?}"), "Array(error[shape]: add: shapes [2] and [3] do not broadcast)");
    /// assert!(Array::from([1]).error().is_none());
    /// ```
    pub fn error(&self) -> Option<&Error> {
        self.0.state.get()?.as_ref().err()
    }

    /// The extents of the axes, outermost first. Those of a scalar for a poisoned array.
    ///
    /// ```
    /// use ndjit::zeros;
    ///
    /// assert_eq!(zeros([2, 3]).shape().extents(), [2, 3]);
    /// ```
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// The dtype of the elements; of a weak array the default of its kind under the policy it was made with. Bool for a poisoned array.
    ///
    /// ```
    /// use ndjit::{Array, DType, weak};
    ///
    /// assert_eq!(Array::from([1u8]).dtype(), DType::U8);
    /// assert_eq!(Array::scalar(weak(1)).dtype(), DType::I32);
    /// ```
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// The type: a dtype, or weak. Bool for a poisoned array.
    ///
    /// ```
    /// use ndjit::{Array, DType, ValueType, Weak, asarray};
    ///
    /// assert_eq!(Array::from([1u8]).value_type(), ValueType::Strong(DType::U8));
    /// assert_eq!(asarray(1).value_type(), ValueType::Weak(Weak::Int));
    /// ```
    pub fn value_type(&self) -> ValueType {
        self.0.ty
    }

    /// Whether the type is weak: the array takes the dtype of what it meets, as bare numbers do.
    ///
    /// ```
    /// use ndjit::{Array, asarray};
    ///
    /// assert!(asarray(1).is_weak() && !Array::from([1]).is_weak());
    /// ```
    pub fn is_weak(&self) -> bool {
        self.0.ty.is_weak()
    }

    /// Where the elements are, or will be computed.
    ///
    /// ```
    /// use ndjit::{Array, Device};
    ///
    /// assert_eq!(Array::from([1]).device(), Device::CPU);
    /// ```
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// The array on a device: itself if it is there, else a copy. What waits is run, where the array is now, and the copy is made at
    /// once; an error makes a poisoned array. Operations on arrays run where these are, and their results are there; reading an array
    /// copies its elements to the host.
    ///
    /// ```
    /// use ndjit::{Array, Device};
    ///
    /// let x = Array::from([1.0f32, 2.0]).on(Device::gpu());
    /// match (&x * 2).to_vec::<f32>() {
    ///     Ok(elements) => assert_eq!(elements, [2.0, 4.0]),
    ///     // There is no GPU, or this was built without the feature `gpu`.
    ///     Err(error) => assert_eq!(error.code(), ndjit::ErrorCode::Device),
    /// }
    /// ```
    #[track_caller]
    pub fn on(&self, device: Device) -> Array {
        if self.0.device == device || self.error().is_some() {
            return self.clone();
        }
        let place = ndjit_ir::Place::caller();
        match self.memory().and_then(|memory| memory.on(device)) {
            Ok(memory) => Array::in_memory(self.0.ty, self.0.dtype, self.0.shape.clone(), memory),
            Err(error) => Array::poisoned(if error.place().is_some() { error } else { error.at(place) }),
        }
    }

    /// Runs what waits, and returns when the elements are computed: what is asked of a GPU is done later, and whoever reads waits anyway, so
    /// that this is for measuring time. As JAX's method of this name.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let x = Array::from([1.0f32, 2.0]);
    /// assert_eq!((&x * 2).block_until_ready()?.to_vec::<f32>()?, [2.0, 4.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`eval`](Array::eval); `Device` if the device is lost or does not answer.
    pub fn block_until_ready(&self) -> Result<&Array> {
        self.memory()?.wait()?;
        Ok(self)
    }

    /// Asks for a copy of the elements in the host's memory and does not wait: it is made when the device gets to it, and the next reading
    /// of the array takes it. Runs what waits. Nothing happens to an array in the host's memory. As JAX's method of this name.
    ///
    /// ```
    /// use ndjit::{Array, Device};
    ///
    /// let x = Array::from([1.0f32, 2.0]).on(Device::gpu());
    /// let (y, z) = (&x * 2, &x + 1);
    /// if y.copy_to_host_async().is_ok() && z.copy_to_host_async().is_ok() {
    ///     // Both copies are under way.
    ///     assert_eq!((y.to_vec::<f32>()?, z.to_vec::<f32>()?), (vec![2.0, 4.0], vec![2.0, 3.0]));
    /// }
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`eval`](Array::eval); `Device` if the device is lost.
    pub fn copy_to_host_async(&self) -> Result<()> {
        let reading = self.memory()?.reading()?;
        *self.elements()?.coming.lock() = reading;
        Ok(())
    }

    /// The number of elements. One for a poisoned array.
    ///
    /// ```
    /// use ndjit::zeros;
    ///
    /// assert_eq!(zeros([2, 3]).len(), 6);
    /// ```
    pub fn len(&self) -> usize {
        self.0.shape.size().unwrap_or(0)
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// use ndjit::zeros;
    ///
    /// assert!(zeros([2, 0]).is_empty() && !zeros([]).is_empty());
    /// ```
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

    /// Runs what waits. Reading does so too. A GPU may still be computing when this returns.
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode};
    ///
    /// let x = Array::from([1.0f32, 2.0]);
    /// let sum = &x + 1;
    /// assert_eq!(sum.eval()?.to_string(), "[2. 3.]");
    /// assert_eq!((&x + Array::from([1, 2, 3])).eval().unwrap_err().code(), ErrorCode::Shape);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error of the operations that lead here; `Allocation` if memory is refused.
    pub fn eval(&self) -> Result<&Array> {
        self.memory().map(|_| self)
    }

    /// The elements in row-major order.
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode};
    ///
    /// let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.mt().to_vec::<f32>()?, [1.0, 3.0, 2.0, 4.0]);
    /// assert_eq!(x.to_vec::<f64>().unwrap_err().code(), ErrorCode::DType);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `DType` if the dtype is not `T`'s; those of [`eval`](Array::eval).
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.expect_dtype::<T>("to_vec")?;
        ndjit_runtime::pod::read(self.buffer()?.as_bytes())
    }

    /// The elements in row-major order; without a copy if the array has the memory of a `Vec<T>` and nothing else uses it.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let x = Array::from(vec![1.0f32, 2.0]);
    /// assert_eq!(x.into_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
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
        let buffer = self.buffer()?;
        drop(self);
        Ok(buffer)
    }

    /// The one element of an array that has one.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// assert_eq!(Array::from([1, 2, 3]).sum(..).item::<i32>()?, 6);
    /// assert!(Array::from([1, 2]).item::<i32>().is_err());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Shape` if there are more or fewer; those of [`to_vec`](Array::to_vec).
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        self.expect_dtype::<T>("item")?;
        let place = ndjit_ir::Place::caller();
        if self.len() != 1 {
            return Err(Error::new(ErrorCode::Shape, format!("item: the array has {} elements, not one", self.len()))
                .at(place)
                .fact(format_args!("the array: {}{}", self.value_type(), self.shape()))
                .help("`to_vec` reads all elements"));
        }
        let misfit = || Error::new(ErrorCode::Argument, format!("item: its bytes are not an element of {}", T::DTYPE));
        ndjit_runtime::pod::element(self.buffer()?.as_bytes(), 0).ok_or_else(|| misfit().at(place))
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
