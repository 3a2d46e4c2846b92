//! Arrays as data: elements in memory, a pending operation, or elements kept from a program.
//!
//! An array is one `Arc`. Concrete arrays have a buffer of their type's stored dtype, or a strided view of another array's. Lazy ones have
//! a pending operation, and get their buffer when read. Results never change, so any thread may read an array.

use ndjit_ir::graph::Graph;
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::lock::Mutex;
use ndjit_ir::loops::Layout;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Result, Shape, SourceLoc, ValueType};
use ndjit_runtime::{Fallback, Memory, Reading};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, Weak};

/// The maximum number of pending operations. One more evaluates them.
pub const NODE_LIMIT: usize = 1024;

/// An n-dimensional array: elements of one dtype, or a pending computation. Clones share them.
#[derive(Clone)]
pub struct ArrayRef(pub(crate) Arc<ArrayNode>);

/// The data of an [`ArrayRef`].
pub(crate) struct ArrayNode {
    /// The type: a dtype, or weak.
    pub ty: ValueType,
    /// The dtype of the elements: for a weak array one of its kind.
    pub dtype: DType,
    /// The extents of the axes.
    pub shape: Shape,
    /// The device of the elements, now or once computed.
    pub device: Device,
    /// The elements, or an error.
    pub state: ElementState,
    /// The source of missing elements.
    pub source: Mutex<ElementSource>,
    /// The number of pending operations below, at most.
    pub waiting: usize,
    /// The symbolic constant of the elements: a program without arguments, of one result.
    pub symbolic: Option<Box<Graph<ValueType>>>,
    /// Whether it was created during a trace, which computes it as part of the program if possible.
    pub traced: bool,
}

/// The source of an array's elements. Behind pointers: most arrays of calls have no source, and are moved on creation.
pub(crate) enum ElementSource {
    /// None: the elements or an error exist.
    Nothing,
    /// A pending operation.
    Pending(Arc<PendingOp>),
    /// Elements kept while others were read. They are unread, and may be freed.
    Retained(Arc<Retained>),
}

impl ElementSource {
    /// The pending operation, if any.
    pub fn pending_op(&self) -> Option<&Arc<PendingOp>> {
        match self {
            ElementSource::Pending(pending_op) => Some(pending_op),
            ElementSource::Nothing | ElementSource::Retained(_) => None,
        }
    }

    /// Removes the source, and returns its operation.
    pub fn take_pending_op(&mut self) -> Option<Arc<PendingOp>> {
        match std::mem::replace(self, ElementSource::Nothing) {
            ElementSource::Pending(pending_op) => Some(pending_op),
            ElementSource::Nothing | ElementSource::Retained(_) => None,
        }
    }
}

/// The elements, or an error.
pub enum ElementState {
    /// Known at creation.
    Made(Result<Elements>),
    /// Computed on demand. (Filling a lock for known elements took 15 ns of a call.)
    Waiting(OnceLock<Result<Elements>>),
}

impl ElementState {
    /// The elements or the error, if known.
    #[inline]
    pub fn get(&self) -> Option<&Result<Elements>> {
        match self {
            ElementState::Made(elements) => Some(elements),
            ElementState::Waiting(elements) => elements.get(),
        }
    }

    /// Stores the computed elements; the first call counts.
    pub fn set(&self, computed: Result<Elements>) {
        if let ElementState::Waiting(elements) = self {
            let _ = elements.set(computed);
        }
    }
}

/// Elements in memory.
pub struct Elements {
    /// Their memory, possibly shared.
    pub memory: Memory,
    /// Their layout; `None` for all of the memory, in row-major order.
    pub layout: Option<Layout>,
    /// A copy in row-major order, once needed.
    pub dense: OnceLock<Memory>,
    /// A copy to the host in progress, for the next read.
    pub coming: Mutex<Option<Box<dyn Reading>>>,
}

impl Elements {
    /// All of some memory, in row-major order.
    #[inline]
    pub fn dense(memory: Memory) -> Elements {
        Elements { memory, layout: None, dense: OnceLock::new(), coming: Mutex::new(None) }
    }
}

impl Drop for ArrayNode {
    fn drop(&mut self) {
        if let Some(pending_op) = self.source.get_mut().take_pending_op() {
            dismantle(pending_op);
        }
    }
}

impl ArrayNode {
    /// Stores computed elements. Another thread may have stored equal ones first.
    pub fn store(&self, elements: Elements) {
        self.state.set(Ok(elements));
        self.change_source(|_| true, ElementSource::Nothing);
    }

    /// Replaces the source if it satisfies `is_meant`; returns whether it did.
    pub fn change_source(&self, is_meant: impl FnOnce(&ElementSource) -> bool, new: ElementSource) -> bool {
        let mut source = self.source.lock();
        let changed = is_meant(&source);
        let old = if changed { std::mem::replace(&mut *source, new) } else { new };
        // Dropped outside the lock: destructors of foreign memory run foreign code.
        drop(source);
        if let ElementSource::Pending(pending_op) = old {
            dismantle(pending_op);
        }
        changed
    }
}

/// A pending operation.
pub(crate) struct PendingOp {
    pub(crate) operation: Operation<'static>,
    pub(crate) operands: SmallVec<[LazyOperand; 2]>,
    pub(crate) place: SourceLoc,
    /// The fallback for dtypes that its device lacks.
    pub(crate) fallback: Fallback,
    /// Whether it has run, in a program with other outputs.
    pub(crate) has_run: AtomicBool,
}

impl PendingOp {
    pub(crate) fn new(
        operation: Operation<'static>,
        operands: SmallVec<[LazyOperand; 2]>,
        place: SourceLoc,
        fallback: Fallback,
    ) -> PendingOp {
        PendingOp { operation, operands, place, fallback, has_run: AtomicBool::new(false) }
    }
}

/// An operand of a pending operation.
#[derive(Clone)]
pub enum LazyOperand {
    /// An array.
    Array(ArrayRef),
    /// A scalar, and its source location, if known.
    Literal(Literal, Option<SourceLoc>),
}

impl LazyOperand {
    pub(crate) fn array(&self) -> Option<&ArrayRef> {
        match self {
            LazyOperand::Array(array) => Some(array),
            LazyOperand::Literal(..) => None,
        }
    }
}

/// Drops a pending operation without recursion, at any depth.
pub(crate) fn dismantle(pending_op: Arc<PendingOp>) {
    let mut stack = vec![pending_op];
    while let Some(pending_op) = stack.pop() {
        // A program in construction or execution may own it too, and then drops it.
        let Some(pending_op) = Arc::into_inner(pending_op) else { continue };
        for operand in pending_op.operands {
            if let LazyOperand::Array(array) = operand
                && let Some(mut node) = Arc::into_inner(array.0)
            {
                stack.extend(node.source.get_mut().take_pending_op());
            }
        }
    }
}

/// Elements kept while other arrays were read.
pub(crate) struct Retained {
    /// The elements, in row-major order.
    pub memory: Memory,
    pub(crate) past: Arc<Past>,
    /// The item of the past that they belong to.
    pub(crate) item: usize,
    /// Whether a pending array is computed from them.
    pub(crate) needed: AtomicBool,
}

/// A program that ran, without its arrays.
pub(crate) struct Past {
    pub(crate) items: Vec<ProgramItem>,
    pub(crate) places: Vec<Option<SourceLoc>>,
    pub(crate) origins: Vec<OperandSource>,
    pub(crate) fallback: Fallback,
}

/// The source of an item that is an operand.
pub(crate) enum OperandSource {
    /// An array with elements, or with kept elements.
    Array(Weak<ArrayNode>),
    Number(Literal, Option<SourceLoc>),
    /// An operation of this dtype, without kept elements.
    Operation(DType),
}

/// The bytes of all kept elements.
static RETAINED_BYTES: AtomicUsize = AtomicUsize::new(0);

impl Retained {
    pub(crate) fn new(memory: Memory, past: Arc<Past>, item: usize) -> Retained {
        RETAINED_BYTES.fetch_add(memory.len(), Relaxed);
        Retained { memory, past, item, needed: AtomicBool::new(false) }
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        RETAINED_BYTES.fetch_sub(self.memory.len(), Relaxed);
    }
}

/// The bytes of all kept elements.
pub fn retained_bytes() -> usize {
    RETAINED_BYTES.load(Relaxed)
}

/// An item of a program, as a part of its plan's key.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum ProgramItem {
    /// An array of this type, stored as this dtype, with this layout if it is not in row-major order.
    Leaf(ValueType, DType, Shape, Option<Layout>),
    Argument(ndjit_ir::Weak),
    Value(Literal),
    Step(Operation<'static>, SmallVec<[u32; 3]>, ValueType, Shape),
}
