//! Arrays without computation: constructors, types, shapes, devices, views of existing elements.

use crate::array::node::{ArrayNode, ArrayRef, ElementSource, ElementState, Elements, PendingOp, Retained};
use crate::literal::literal_bytes;
use crate::traces;
use ndjit_ir::graph::{Graph, NodeKind};
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::lock::Mutex;
use ndjit_ir::loops::Layout;
use ndjit_ir::support::Device;
use ndjit_ir::view::{View, reshaped};
use ndjit_ir::{DType, Error, Result, Shape, ValueType};
use ndjit_runtime::{Buffer, Memory};
use ndjit_transform::access::contiguous;
use std::sync::{Arc, OnceLock};

impl ArrayRef {
    /// An array of a buffer with exactly `shape` elements of `dtype`.
    #[inline]
    pub fn concrete(ty: impl Into<ValueType>, dtype: DType, shape: Shape, buffer: Arc<Buffer>) -> ArrayRef {
        ArrayRef::made(ty.into(), dtype, shape, Elements::dense(Memory::Host(buffer)), None)
    }

    /// An array of memory with exactly `shape` elements of `dtype`.
    #[inline]
    pub fn in_memory(ty: ValueType, dtype: DType, shape: Shape, memory: Memory) -> ArrayRef {
        ArrayRef::made(ty, dtype, shape, Elements::dense(memory), None)
    }

    /// An array of a buffer with this layout; without one, of all of it in row-major order.
    pub fn laid_out(dtype: DType, shape: Shape, buffer: Arc<Buffer>, layout: Option<Layout>) -> ArrayRef {
        ArrayRef::made(dtype.into(), dtype, shape, Elements { layout, ..Elements::dense(Memory::Host(buffer)) }, None)
    }

    /// An array of a buffer, with a symbolic constant that traced functions may compute instead.
    pub fn created(
        ty: ValueType,
        dtype: DType,
        shape: Shape,
        buffer: Arc<Buffer>,
        symbolic: Option<Graph<ValueType>>,
    ) -> ArrayRef {
        ArrayRef::made(ty, dtype, shape, Elements::dense(Memory::Host(buffer)), symbolic.map(Box::new))
    }

    #[inline]
    fn made(
        ty: ValueType,
        dtype: DType,
        shape: Shape,
        elements: Elements,
        symbolic: Option<Box<Graph<ValueType>>>,
    ) -> ArrayRef {
        let device = elements.memory.device();
        let (state, source) = (ElementState::Made(Ok(elements)), Mutex::new(ElementSource::Nothing));
        ArrayRef(Arc::new(ArrayNode { ty, dtype, shape, device, state, source, waiting: 0, symbolic, traced: false }))
    }

    /// An array that contains an error.
    pub fn poisoned(error: Error) -> ArrayRef {
        let state = ElementState::Made(Err(error));
        let (dtype, shape) = (DType::Bool, Shape::scalar());
        ArrayRef(Arc::new(ArrayNode {
            ty: dtype.into(),
            dtype,
            shape,
            device: Device::CPU,
            state,
            source: Mutex::new(ElementSource::Nothing),
            waiting: 0,
            symbolic: None,
            traced: false,
        }))
    }

    /// An array of a pending operation, with at most so many operations below it.
    pub(crate) fn waiting(
        ty: ValueType,
        dtype: DType,
        shape: Shape,
        device: Device,
        pending_op: PendingOp,
        waiting: usize,
    ) -> ArrayRef {
        ArrayRef(Arc::new(ArrayNode {
            ty,
            dtype,
            shape,
            device,
            state: ElementState::Waiting(OnceLock::new()),
            source: Mutex::new(ElementSource::Pending(Arc::new(pending_op))),
            waiting,
            symbolic: None,
            traced: traces::are_open(),
        }))
    }

    /// Whether it has no elements.
    #[inline]
    pub fn waits(&self) -> bool {
        self.0.state.get().is_none() && self.0.source.lock().pending_op().is_some()
    }

    /// Its elements, if they were kept by another evaluation.
    pub(crate) fn kept(&self) -> Option<Arc<Retained>> {
        match &*self.0.source.lock() {
            ElementSource::Retained(kept) => Some(Arc::clone(kept)),
            ElementSource::Nothing | ElementSource::Pending(_) => None,
        }
    }

    /// The address that identifies this array.
    #[inline]
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// The layout of computed elements, if it is not all of the buffer in row-major order.
    #[inline]
    pub fn layout(&self) -> Option<&Layout> {
        self.0.state.get()?.as_ref().ok()?.layout.as_ref()
    }

    /// The layout of the elements, now or once computed.
    pub fn memory_layout(&self) -> Result<Layout> {
        self.layout().map_or_else(|| contiguous(&self.0.shape, self.0.dtype), |layout| Ok(layout.clone()))
    }

    /// A view of computed elements, in the same memory. `None` if the operation needs computation or a copy.
    pub fn seen(&self, operation: &Operation<'_>, shape: &Shape) -> Option<ArrayRef> {
        let memory = match self.0.state.get() {
            Some(elements) => elements.as_ref().ok()?.memory.clone(),
            None => self.kept()?.memory.clone(),
        };
        let own = self.memory_layout().ok()?;
        let layout = match &operation.kind {
            NodeKind::View(view) => view.layout(&own),
            NodeKind::Reshape => reshaped(&own, &self.0.shape, shape)?,
            _ => return None,
        };
        let all = shape.bytes(self.0.dtype.bytes()).ok() == Some(memory.len());
        let in_order = all && contiguous(shape, self.0.dtype).is_ok_and(|own| own.same_elements(&layout, shape));
        let layout = (!in_order).then_some(layout);
        let symbolic = self.0.symbolic.as_ref().map(|symbolic| {
            let mut symbolic = symbolic.clone();
            let whole = symbolic.outputs()[0];
            let seen = match &operation.kind {
                NodeKind::View(view) => symbolic.view(whole, View::clone(view), shape),
                _ => symbolic.reshape(whole, shape),
            };
            symbolic.set_outputs(vec![seen]);
            symbolic
        });
        let elements = Elements { layout, ..Elements::dense(memory) };
        Some(ArrayRef::made(self.0.ty, self.0.dtype, shape.clone(), elements, symbolic))
    }

    /// A scalar of a type, stored as `dtype`.
    ///
    /// # Errors
    /// `Literal` if the dtype cannot represent it; `Allocation` if memory is refused.
    pub fn from_literal(literal: &Literal, ty: ValueType, dtype: DType) -> Result<ArrayRef> {
        let buffer = Buffer::from_bytes(&literal_bytes(literal, dtype)?)?;
        Ok(ArrayRef::concrete(ty, dtype, Shape::scalar(), Arc::new(buffer)))
    }

    /// The elements, or the error, if computed.
    #[inline]
    pub fn state(&self) -> Option<&Result<Elements>> {
        self.0.state.get()
    }

    /// The symbolic constant of the elements: a program without arguments, of one result.
    pub fn own_symbolic(&self) -> Option<&Graph<ValueType>> {
        self.0.symbolic.as_deref()
    }

    /// The error, if this array's operation failed.
    #[inline]
    pub fn error(&self) -> Option<&Error> {
        self.0.state.get()?.as_ref().err()
    }

    /// The extents of the axes, outermost first.
    #[inline]
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// The dtype of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// The type: a dtype, or weak.
    #[inline]
    pub fn value_type(&self) -> ValueType {
        self.0.ty
    }

    /// The device of the elements, now or once computed.
    #[inline]
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// The number of elements.
    pub(crate) fn size(&self) -> usize {
        self.0.shape.size().unwrap_or(0)
    }
}

const _: () = {
    const fn is_shareable<T: Send + Sync>() {}
    is_shareable::<ArrayRef>();
};
