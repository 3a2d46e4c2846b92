//! Arrays of what is known without computing anything: constructors, types, shapes, devices, views of elements that are there.

use crate::array::lazy::kept::Kept;
use crate::array::node::{Array, ArrayNode, ElementSource, ElementState, Elements, PendingOp};
use crate::trace::escape::is_tracing;
use ndjit_ir::graph::Graph;
use ndjit_ir::infer::Operation;
use ndjit_ir::lock::Mutex;
use ndjit_ir::loops::Layout;
use ndjit_ir::support::Device;
use ndjit_ir::view::{View, reshaped};
use ndjit_ir::{DType, Error, Result, Shape, ValueType};
use ndjit_runtime::{Buffer, Memory};
use ndjit_transform::access::contiguous;
use std::sync::{Arc, OnceLock};

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
        let (state, source) = (ElementState::Made(Ok(elements)), Mutex::new(ElementSource::Nothing));
        Array(Arc::new(ArrayNode { ty, dtype, shape, device, state, source, waiting: 0, formula, traced: false }))
    }

    /// An array that is an error.
    pub(crate) fn poisoned(error: Error) -> Array {
        let state = ElementState::Made(Err(error));
        let (dtype, shape) = (DType::Bool, Shape::scalar());
        Array(Arc::new(ArrayNode {
            ty: dtype.into(),
            dtype,
            shape,
            device: Device::CPU,
            state,
            source: Mutex::new(ElementSource::Nothing),
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
        pending_op: PendingOp,
        waiting: usize,
    ) -> Array {
        Array(Arc::new(ArrayNode {
            ty,
            dtype,
            shape,
            device,
            state: ElementState::Waiting(OnceLock::new()),
            source: Mutex::new(ElementSource::Pending(Arc::new(pending_op))),
            waiting,
            formula: None,
            traced: is_tracing(),
        }))
    }

    /// Whether it has no elements.
    pub(crate) fn waits(&self) -> bool {
        self.0.state.get().is_none() && self.0.source.lock().pending_op().is_some()
    }

    /// Its elements, if they were kept.
    pub(crate) fn kept(&self) -> Option<Arc<Kept>> {
        match &*self.0.source.lock() {
            ElementSource::Kept(kept) => Some(Arc::clone(kept)),
            ElementSource::Nothing | ElementSource::Pending(_) => None,
        }
    }

    /// The address that tells this array from others.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
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
}

const _: () = {
    const fn is_shareable<T: Send + Sync>() {}
    is_shareable::<Array>();
};
